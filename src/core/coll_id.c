/* coll_id.c - see coll_id.h. */
#include "core/coll_id.h"

#include <stdlib.h>
#include <string.h>

static const char *const words[COLL_KINDS] = {
    [COLL_FENCE] = "fence",           [COLL_RING] = "ring",
    [COLL_MEET_FENCE] = "meet",       [COLL_CONNECT] = "connect",
    [COLL_DISCONNECT] = "disconnect", [COLL_GROUP] = "group",
    [COLL_UNGROUP] = "ungroup",       [COLL_GROUP_OPTIONAL] = "optgroup",
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

static int by_name(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = slice_cmp(x->nspace, y->nspace);

    return order ? order : x->rank < y->rank ? -1 : x->rank > y->rank;
}

uint32_t coll_meeting_sort(struct member *members, uint32_t n)
{
    uint32_t kept = 0;

    if (n)
        qsort(members, n, sizeof *members, by_name);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || by_name(&members[i], &members[kept - 1]) != 0)
            members[kept++] = members[i];
    }
    return kept;
}

void coll_meeting_write(const struct coll_meeting *m, struct buf *out)
{
    buf_str(out, words[m->kind]);
    put_counted(out, m->name);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        put_counted(out, m->members[i].nspace);
        put_rank(out, m->members[i].rank);
    }
}

void coll_id_write(const struct coll_id *id, struct buf *out)
{
    if (coll_kind_is_meeting(id->kind)) {
        buf_slice_put(out, id->group);
        return;
    }
    buf_str(out, words[id->kind]);
    buf_byte(out, ' ');
    buf_u64(out, id->job);
    if (id->kind == COLL_FENCE)
        put_counted(out, id->group);
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

    if (!coll_kind_find(word, kind_p))
        return false;
    *rest = slice_skip(*rest, word.len);
    return true;
}

/* All but the members; they follow. */
static bool take_meeting(struct slice *rest, struct coll_meeting *m_p)
{
    *m_p = (struct coll_meeting){ .kind = COLL_KINDS };
    return take_kind(rest, &m_p->kind) && coll_kind_is_meeting(m_p->kind) &&
           take_counted(rest, &m_p->name);
}

bool coll_meeting_read(struct slice group, struct coll_meeting *m_p)
{
    struct member m;

    if (!take_meeting(&group, m_p))
        return false;
    while (group.len) {
        if (!take_member(&group, &m))
            return false;
        m_p->nmembers++;
    }
    return true;
}

void coll_meeting_members(struct slice group, struct member *members)
{
    struct coll_meeting m;

    if (!take_meeting(&group, &m))
        return;
    while (group.len && take_member(&group, members))
        members++;
}

static bool read_own(struct slice rest, struct coll_id *id_p)
{
    if (!take_kind(&rest, &id_p->kind) || coll_kind_is_meeting(id_p->kind) ||
        !take_byte(&rest, ' ') || !take_number(&rest, &id_p->job))
        return false;
    if (id_p->kind == COLL_RING)
        id_p->group = SLICE(JOB_RING);
    else if (!take_counted(&rest, &id_p->group))
        return false;
    return rest.len == 0;
}

bool coll_id_read(struct slice text, uint64_t generation, struct coll_id *id_p)
{
    struct coll_meeting m;

    *id_p = (struct coll_id){ .kind = COLL_KINDS, .generation = generation };
    if (!coll_meeting_read(text, &m))
        return read_own(text, id_p);
    id_p->kind = m.kind;
    id_p->group = text;
    return true;
}

bool coll_id_purpose(struct slice purpose, struct coll_meeting *m_p)
{
    *m_p = (struct coll_meeting){ .kind = COLL_KINDS };
    if (slice_is(purpose, "fence"))
        m_p->kind = COLL_MEET_FENCE;
    else if (!take_kind(&purpose, &m_p->kind) || !coll_kind_is_meeting(m_p->kind))
        return false;
    else if (take_byte(&purpose, ' '))
        m_p->name = purpose;
    return true;
}

bool coll_id_same(const struct coll_id *a, const struct coll_id *b)
{
    return a->kind == b->kind && a->job == b->job && slice_eq(a->group, b->group) &&
           a->generation == b->generation;
}

const char *coll_kind_name(enum coll_kind kind)
{
    return words[kind];
}

bool coll_kind_find(struct slice name, enum coll_kind *kind_p)
{
    for (uint32_t k = 0; k < COLL_KINDS; k++) {
        if (slice_is(name, words[k])) {
            *kind_p = (enum coll_kind)k;
            return true;
        }
    }
    return false;
}

/* ---- for people ------------------------------------------------------------------------------ */

void coll_group_show(struct slice group, struct buf *out)
{
    struct slice rest = group;
    struct coll_meeting all;
    struct member m;

    if (!coll_meeting_read(group, &all) || !take_meeting(&rest, &all)) {
        buf_slice_put(out, group);
        return;
    }
    buf_str(out, all.kind == COLL_MEET_FENCE ? words[COLL_FENCE] : words[all.kind]);
    if (all.name.len) {
        buf_byte(out, ' ');
        buf_slice_put(out, all.name);
    }
    while (rest.len && take_member(&rest, &m)) {
        buf_byte(out, ' ');
        buf_slice_put(out, m.nspace);
        put_rank(out, m.rank);
    }
}
