/* coll_id.c - see coll_id.h. */
#include "core/coll_id.h"

#include <string.h>

static const char *const words[COLL_KINDS] = {
    [COLL_FENCE] = "fence",           [COLL_RING] = "ring",
    [COLL_MEET_FENCE] = "meet",       [COLL_CONNECT] = "connect",
    [COLL_DISCONNECT] = "disconnect", [COLL_GROUP] = "group",
    [COLL_UNGROUP] = "ungroup",
};

/* ---- writing --------------------------------------------------------------------------------- */

static void put_counted(struct buf *out, struct slice s)
{
    buf_byte(out, ' ');
    buf_u64(out, s.len);
    buf_byte(out, ':');
    buf_slice_put(out, s);
}

static void put_rank(struct buf *out, uint32_t rank)
{
    buf_byte(out, '.');
    if (rank == REQUEST_ALL_RANKS)
        buf_byte(out, '*');
    else
        buf_u64(out, rank);
}

void coll_id_write(const struct coll_id *id, struct buf *out)
{
    buf_str(out, words[id->kind]);
    if (!coll_kind_is_meeting(id->kind)) {
        buf_byte(out, ' ');
        buf_u64(out, id->job);
    }
    if (id->kind != COLL_RING)
        put_counted(out, id->name);
    for (uint32_t i = 0; i < id->nmembers; i++) {
        put_counted(out, id->members[i].nspace);
        put_rank(out, id->members[i].rank);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool take_byte(struct slice *rest, char byte)
{
    if (rest->len == 0 || rest->ptr[0] != byte)
        return false;
    *rest = slice_skip(*rest, 1);
    return true;
}

/* A number as buf_u64() writes it. */
static bool take_number(struct slice *rest, uint32_t *n_p)
{
    size_t len = 0;

    while (len < rest->len && rest->ptr[len] >= '0' && rest->ptr[len] <= '9')
        len++;
    if (!slice_u32(slice_head(*rest, len), n_p) || (len > 1 && rest->ptr[0] == '0'))
        return false;
    *rest = slice_skip(*rest, len);
    return true;
}

static bool take_counted(struct slice *rest, struct slice *s_p)
{
    uint32_t len;

    if (!take_byte(rest, ' ') || !take_number(rest, &len) || !take_byte(rest, ':') ||
        len > rest->len)
        return false;
    *s_p = slice_head(*rest, len);
    *rest = slice_skip(*rest, len);
    return true;
}

static bool take_member(struct slice *rest, struct member *m_p)
{
    m_p->rank = REQUEST_ALL_RANKS;
    if (!take_counted(rest, &m_p->nspace) || !take_byte(rest, '.'))
        return false;
    return take_byte(rest, '*') || take_number(rest, &m_p->rank);
}

static bool take_kind(struct slice *rest, enum coll_kind *kind_p)
{
    struct slice word = slice_head(*rest, slice_find(*rest, ' '));

    for (uint32_t k = 0; k < COLL_KINDS; k++) {
        if (slice_is(word, words[k])) {
            *rest = slice_skip(*rest, word.len);
            *kind_p = (enum coll_kind)k;
            return true;
        }
    }
    return false;
}

/* All but the members; what follows them. */
static bool take_head(struct slice *rest, struct coll_id *id_p)
{
    *id_p = (struct coll_id){ .kind = COLL_KINDS };
    if (!take_kind(rest, &id_p->kind))
        return false;
    if (!coll_kind_is_meeting(id_p->kind) &&
        !(take_byte(rest, ' ') && take_number(rest, &id_p->job)))
        return false;
    return id_p->kind == COLL_RING || take_counted(rest, &id_p->name);
}

bool coll_id_read(struct slice text, struct coll_id *id_p)
{
    struct member m;

    if (!take_head(&text, id_p))
        return false;
    while (coll_kind_is_meeting(id_p->kind) && text.len) {
        if (!take_member(&text, &m))
            return false;
        id_p->nmembers++;
    }
    return text.len == 0;
}

bool coll_id_purpose(struct slice purpose, struct coll_id *id_p)
{
    *id_p = (struct coll_id){ .kind = COLL_KINDS };
    if (slice_is(purpose, "fence"))
        id_p->kind = COLL_MEET_FENCE;
    else if (!take_kind(&purpose, &id_p->kind) || !coll_kind_is_meeting(id_p->kind))
        return false;
    else if (take_byte(&purpose, ' '))
        id_p->name = purpose;
    return true;
}

/* ---- for people ------------------------------------------------------------------------------ */

void coll_id_show(struct slice text, struct buf *out)
{
    struct slice rest = text;
    struct coll_id id;
    struct member m;

    if (!coll_id_read(text, &id) || !take_head(&rest, &id)) {
        buf_slice_put(out, text);
        return;
    }
    buf_str(out, id.kind == COLL_MEET_FENCE ? words[COLL_FENCE] : words[id.kind]);
    if (id.name.len) {
        buf_byte(out, ' ');
        buf_slice_put(out, id.name);
    }
    while (rest.len && take_member(&rest, &m)) {
        buf_byte(out, ' ');
        buf_slice_put(out, m.nspace);
        put_rank(out, m.rank);
    }
}
