/* pmix_fabric.c - see pmix_fabric.h. */
#include "server/pmix_fabric.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/request.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "wire/pmix_message.h"

enum { OUR_FABRIC = 0, WORDS = 3 };

/* The words by which a part of the fabric is meant, and what a device must have for each. */
static const struct {
    const char *key, *of_device;
} meant_by[WORDS] = { { PMIX_FABRIC_PLANE, PMIX_FABRIC_DEVICE_NAME },
                      { PMIX_FABRIC_IDENTIFIER, PMIX_FABRIC_DEVICE_TYPE },
                      { PMIX_FABRIC_VENDOR, PMIX_FABRIC_DEVICE_VENDOR } };

/* Its index is its place in the list and one; the whole fabric is not in it. */
struct fabric_part {
    char *words[WORDS]; /* NULL: any */
};

static void free_part(struct fabric_part *f)
{
    for (size_t w = 0; w < WORDS; w++)
        free(f->words[w]);
}

void pmix_forget_fabrics(struct pmix_session *s)
{
    for (uint32_t i = 0; i < s->nfabrics; i++)
        free_part(&s->fabrics[i]);
    free(s->fabrics);
    s->fabrics = NULL;
    s->nfabrics = 0;
}

/* ---- which part ------------------------------------------------------------------------------ */

static pmix_status_t read_part(const pmix_info_t *infos, size_t n, struct fabric_part *f_p)
{
    const char *word;

    for (size_t w = 0; w < WORDS; w++) {
        word = info_find_text(infos, n, meant_by[w].key);
        if (word && strlen(word) > LIMIT_FABRIC_WORD)
            return PMIX_ERR_BAD_PARAM;
        f_p->words[w] = word ? strdup(word) : NULL;
        if (word && !f_p->words[w])
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

static bool is_same(const struct fabric_part *a, const struct fabric_part *b)
{
    for (size_t w = 0; w < WORDS; w++) {
        if (!a->words[w] != !b->words[w] || (a->words[w] && strcmp(a->words[w], b->words[w]) != 0))
            return false;
    }
    return true;
}

/* Takes the words over if it returns success. */
static pmix_status_t find_index(struct pmix_session *s, struct fabric_part *f, uint32_t *index_p)
{
    struct fabric_part *more;

    for (*index_p = OUR_FABRIC + 1; *index_p <= s->nfabrics; ++*index_p) {
        if (is_same(&s->fabrics[*index_p - 1], f)) {
            free_part(f);
            return PMIX_SUCCESS;
        }
    }
    if (s->nfabrics == LIMIT_CLIENT_FABRICS)
        return PMIX_ERR_OUT_OF_RESOURCE;
    more = realloc(s->fabrics, (s->nfabrics + 1) * sizeof *more);
    if (!more)
        return PMIX_ERR_NOMEM;
    s->fabrics = more;
    s->fabrics[s->nfabrics++] = *f;
    return PMIX_SUCCESS;
}

static pmix_status_t index_of(struct pmix_session *s, const pmix_info_t *infos, size_t n,
                              uint32_t *index_p)
{
    const struct fabric_part all = { .words = { NULL } };
    struct fabric_part f = all;
    pmix_status_t status = read_part(infos, n, &f);

    *index_p = OUR_FABRIC;
    if (status == PMIX_SUCCESS && !is_same(&f, &all))
        status = find_index(s, &f, index_p);
    if (status != PMIX_SUCCESS)
        free_part(&f);
    return status;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void ask_devices(struct command *c, uint32_t index)
{
    struct request_node_parts rq = { .local = true, .parts = NODE_PART_DEVICES };
    struct pmix_pending *p;

    if (!c->s->base.peer->core->is_manager) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_SUPPORTED);
        return;
    }
    p = pmix_ask(c, (struct request){ .kind = REQ_node_parts, .u.node_parts = rq });
    if (p)
        p->fabric = index;
}

void pmix_read_fabric(struct command *c)
{
    struct pmsg_infos m;
    pmix_status_t status;
    uint32_t index;

    if (pmsg_read_infos(&c->r, c->s->release, &m) == PTYPE_FINE) {
        status = index_of(c->s, m.infos.items, m.infos.n, &index);
        if (status == PMIX_SUCCESS)
            ask_devices(c, index);
        else
            pmix_reply_status(c->s, c->tag, status);
    }
    pmsg_free_infos(&m, NULL);
}

void pmix_read_fabric_update(struct command *c)
{
    struct pmsg_fabric_update m;

    if (pmsg_read_fabric_update(&c->r, c->s->release, &m) != PTYPE_FINE)
        return;
    if (m.index <= c->s->nfabrics)
        ask_devices(c, (uint32_t)m.index);
    else
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
}

/* ---- the reply ------------------------------------------------------------------------------- */

static void send_fabric(struct pmix_session *s, uint32_t tag, const struct info_array *l)
{
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos),
                                   .status = PMIX_SUCCESS,
                                   .infos = { l->n, l->items } };
    struct ppack w;

    if (l->no_memory) {
        pmix_reply_status(s, tag, PMIX_ERR_NOMEM);
        return;
    }
    w = pmix_writer(s);
    pmsg_write_status_infos(&w, s->release, &m);
    pmix_send_or_fail(s, tag, &w);
}

/* The words that the devices have for the key, each once; nothing if none is known. */
static void report_words(struct pmix_findings *f, const char *key, const char *of_device)
{
    struct buf words = BUF_NULL(1 << 12);
    const pmix_info_t *part = NULL;

    while ((part = pmix_next_part(f, NODE_PART_OF_DEVICE, part))) {
        const char *word = info_inside_text(part, of_device);
        if (word && !pmix_has_word(buf_slice(&words), slice_str(word)))
            buf_printf(&words, "%s%s", buf_len(&words) ? "," : "", word);
    }
    if (buf_len(&words))
        pmix_found_text(f, key, &words);
    buf_free(&words);
}

static bool is_in(const struct fabric_part *f, const pmix_info_t *part)
{
    for (size_t w = 0; w < WORDS; w++) {
        const char *is = info_inside_text(part, meant_by[w].of_device);
        if (f->words[w] && (!is || strcmp(f->words[w], is) != 0))
            return false;
    }
    return true;
}

/* Leaves the devices of that part. */
static void choose(const struct fabric_part *f, struct info_array *parts)
{
    struct info_array all = *parts;

    *parts = (struct info_array){ .no_memory = all.no_memory };
    for (size_t i = 0; i < all.n; i++) {
        if (is_in(f, &all.items[i]))
            info_array_copy(parts, all.items[i].key, &all.items[i].value);
    }
    info_array_free(&all);
}

/* (A node without devices has a fabric of none, but no part of it.) */
void pmix_reply_fabric(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    const pmix_query_t all = { .keys = NULL };
    const struct query_subject about = { .query = &all };
    struct pmix_findings f = { .s = s };

    pmix_read_parts(answer_to_node_parts(a).parts, &f.parts);
    if (p->fabric != OUR_FABRIC)
        choose(&s->fabrics[p->fabric - 1], &f.parts);
    if (p->fabric != OUR_FABRIC && !f.parts.n && !f.parts.no_memory) {
        pmix_reply_status(s, p->tag, PMIX_ERR_NOT_FOUND);
        info_array_free(&f.parts);
        return;
    }
    info_array_add(&f.list, PMIX_FABRIC_INDEX,
                   (pmix_value_t){ .type = PMIX_SIZE, .data.size = p->fabric });
    pmix_find_device_count(&f, PMIX_FABRIC_NUM_DEVICES, &about);
    pmix_find_devices(&f, PMIX_FABRIC_DEVICES, &about);
    report_words(&f, PMIX_FABRIC_IDENTIFIER, PMIX_FABRIC_DEVICE_TYPE);
    report_words(&f, PMIX_FABRIC_VENDOR, PMIX_FABRIC_DEVICE_VENDOR);
    f.list.no_memory = f.list.no_memory || f.parts.no_memory;
    send_fabric(s, p->tag, &f.list);
    info_array_free(&f.list);
    info_array_free(&f.parts);
}
