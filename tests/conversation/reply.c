/* reply.c - see reply.h. */
#include "tests/conversation/reply.h"

#include <string.h>

static const char *line_manners(struct slice line)
{
    size_t n;

    if (!slice_starts(line, SLICE("cmd=")))
        return "does not begin with cmd=";
    if (slice_find(line, '\0') < line.len)
        return "holds a NUL";
    while (line.len) {
        struct slice tuple = slice_cut(&line, ' ');
        n = slice_find(tuple, '=');
        if (n == 0 || n == tuple.len)
            return "has a word that is no tuple, or two blanks in a row";
        if (n + 1 == tuple.len)
            return "has an empty value";
        if (slice_is(slice_head(tuple, n), "value") || slice_is(slice_head(tuple, n), "val"))
            return NULL; /* up to the end of the line */
    }
    return NULL;
}

/* A tuple of PMI-2 ends at a single `;`. */
static void skip_tuple(struct slice *body)
{
    do
        slice_cut(body, ';');
    while (slice_starts(*body, SLICE(";")) && (*body = slice_skip(*body, 1), true));
}

static const char *frame_manners(struct slice body)
{
    slice_cut(&body, ';');
    if (slice_starts(body, SLICE("thrid=")))
        skip_tuple(&body);
    if (!slice_starts(body, SLICE("rc=")))
        return "has no rc where all clients find it";
    if (!slice_is(slice_cut(&body, ';'), "rc=0") && !slice_starts(body, SLICE("errmsg=")))
        return "fails without an errmsg";
    return NULL;
}

/* `cmd=put_ranks2hosts <bytes> <hosts>`, then that many bytes. */
static const char *cut_hosts(struct slice line, uint32_t *raw_p)
{
    uint32_t hosts;

    slice_cut(&line, ' ');
    if (!slice_u32(slice_cut(&line, ' '), raw_p) || !slice_u32(line, &hosts))
        return "put_ranks2hosts without its two numbers";
    return NULL;
}

/* Reads r->line by the tables; *raw_p gets how many raw bytes follow. */
static const char *read_line(struct reply *r, bool ours, struct arena *arena, uint32_t *raw_p)
{
    bool line = r->proto == &pmi1_proto;
    const union pmi1_any *m1 = &r->m.pmi1;
    const union pmi2_any *m2 = &r->m.pmi2;
    const char *fault;
    unsigned msg;

    if (slice_starts(r->line, SLICE("cmd=put_ranks2hosts ")))
        return cut_hosts(r->line, raw_p);
    if (text_decode(r->proto, line ? TEXT_BLANKS : TEXT_SEMICOLONS, r->line, arena, &msg, &r->m,
                    sizeof r->m, NULL))
        return "is not in the table, or not as the table says";
    if (!(r->proto->msgs[msg].who & TEXT_SERVER))
        return "is a message of clients";
    fault = !line ? frame_manners(r->line) : ours ? NULL : line_manners(r->line);
    if (fault)
        return fault;
    r->msg = &r->proto->msgs[msg];
    if (line && msg == PMI1_value_wireup && PMI1_HAS(&m1->value_wireup, value_wireup, bytes))
        *raw_p = m1->value_wireup.bytes;
    if (!line && msg == PMI2_get_wireup_response &&
        PMI2_HAS(&m2->get_wireup_response, get_wireup_response, bytes))
        *raw_p = m2->get_wireup_response.bytes;
    return NULL;
}

static const char *cut_frame(struct slice *behind, struct reply *r, bool *whole_p)
{
    switch (pmi2_frame(*behind, &r->line)) {
    case PMI2_FRAME_SHORT: return NULL;
    case PMI2_FRAME_BAD: *whole_p = true; return "has no length";
    default: break;
    }
    *behind = slice_skip(*behind, PMI2_HEAD + r->line.len);
    *whole_p = true;
    return NULL;
}

const char *reply_cut(struct slice *rest, bool ours, struct arena *arena, struct reply *r,
                      bool *whole_p)
{
    struct slice behind = *rest;
    bool line = rest->len && (rest->ptr[0] == 'c' || rest->ptr[0] == '\n');
    const char *fault = NULL;
    uint32_t raw = 0;

    memset(r, 0, sizeof *r);
    r->proto = line ? &pmi1_proto : &pmi2_proto;
    *whole_p = false;
    if (line) {
        r->line = slice_cut(&behind, '\n');
        *whole_p = r->line.len < rest->len;
    } else {
        fault = cut_frame(&behind, r, whole_p);
    }
    if (*whole_p && !fault)
        fault = read_line(r, ours, arena, &raw);
    *whole_p = *whole_p && behind.len >= raw;
    r->raw = slice_head(behind, raw);
    if (*whole_p)
        *rest = slice_skip(behind, raw);
    return fault;
}

bool reply_refuses(const struct reply *r)
{
    int rc = -1;

    for (int i = 0; r->msg && i < r->msg->nfields; i++) {
        if (!strcmp(r->msg->fields[i].name, "rc"))
            rc = i;
    }
    return rc >= 0 && r->m.head.has >> rc & 1 &&
           *(const int64_t *)(const void *)((const char *)&r->m + r->msg->fields[rc].offset) != 0;
}

bool reply_is_ours(const struct reply *r)
{
    return r->msg == &pmi1_proto.msgs[PMI1_response_to_init] &&
           PMI1_HAS(&r->m.pmi1.response_to_init, response_to_init, wireup);
}
