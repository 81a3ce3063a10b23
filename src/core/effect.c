/* effect.c - see effect.h. */
#include "core/effect.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

/* ---- the table ------------------------------------------------------------------------------- */

enum member_kind {
    MEMBER_JOB,
    MEMBER_ID,
    MEMBER_RANK,
    MEMBER_PROC,
    MEMBER_CONNECTION,
    MEMBER_TICKET,
    MEMBER_U64,
    MEMBER_U32,
    MEMBER_U16,
    MEMBER_U8,
    MEMBER_I64,
    MEMBER_INT,
    MEMBER_BOOL,
    MEMBER_STATUS,
    MEMBER_PROC_EVENT,
    MEMBER_TEXT,
    MEMBER_WHY,
    MEMBER_SECRET,
    MEMBER_UINTS,
    MEMBER_INTS,
    MEMBER_TEXTS,
    MEMBER_COLL_ID,
    MEMBER_SPAWN,
    MEMBER_QUERY,
    MEMBER_CONTRIBUTION,
    MEMBER_END /* ends a row */
};

struct member_row {
    enum member_kind kind;
    size_t offset; /* in its struct */
    char name[16]; /* no pointer, which would be relocated at the start of every process */
};

#define OPERATION(id, name, E, M, I)   static const struct member_row members_##id[] = {
#define MEMBER(id, KIND, member, name) { MEMBER_##KIND, offsetof(struct op_##id, member), name },
#define DONE(id)                                                                                   \
    {                                                                                              \
        MEMBER_END, 0, ""                                                                          \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/operations.def"

static const struct member_row *const rows[OPERATIONS] = {
#define OPERATION(id, name, E, M, I) members_##id,
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

/* Of each row the members that hold memory or refer to it: every effect is copied and dropped, and
 * most members need nothing then. */
#define ROW(id, KIND, member, name) { MEMBER_##KIND, offsetof(struct op_##id, member), name },
#define NO_ROW(id, KIND, member, name)
#define HELD_JOB          NO_ROW
#define HELD_ID           NO_ROW
#define HELD_RANK         NO_ROW
#define HELD_PROC         NO_ROW
#define HELD_CONNECTION   NO_ROW
#define HELD_TICKET       NO_ROW
#define HELD_U64          NO_ROW
#define HELD_U32          NO_ROW
#define HELD_U16          NO_ROW
#define HELD_U8           NO_ROW
#define HELD_I64          NO_ROW
#define HELD_INT          NO_ROW
#define HELD_BOOL         NO_ROW
#define HELD_STATUS       NO_ROW
#define HELD_PROC_EVENT   NO_ROW
#define HELD_TEXT         ROW
#define HELD_WHY          ROW
#define HELD_SECRET       ROW
#define HELD_UINTS        NO_ROW
#define HELD_INTS         NO_ROW
#define HELD_TEXTS        NO_ROW
#define HELD_COLL_ID      ROW
#define HELD_SPAWN        ROW
#define HELD_QUERY        ROW
#define HELD_CONTRIBUTION ROW

#define OPERATION(id, name, E, M, I)   static const struct member_row held_##id[] = {
#define MEMBER(id, KIND, member, name) HELD_##KIND(id, KIND, member, name)
#define DONE(id)                                                                                   \
    {                                                                                              \
        MEMBER_END, 0, ""                                                                          \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/operations.def"

static const struct member_row *const held[OPERATIONS] = {
#define OPERATION(id, name, E, M, I) held_##id,
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

#define EACH_ROW(m, row)  for (const struct member_row *m = (row); m->kind != MEMBER_END; m++)
#define EACH_HELD(m, e)   EACH_ROW(m, held[(e)->kind])
#define EACH_MEMBER(m, e) EACH_ROW(m, rows[(e)->kind])

static void *member_at(struct effect *e, const struct member_row *m)
{
    return (char *)&e->u + m->offset;
}

/* The bytes that a member refers to; NULL: it refers to none. */
static struct slice *text_of(struct effect *e, const struct member_row *m)
{
    switch (m->kind) {
    case MEMBER_TEXT:
    case MEMBER_WHY:
    case MEMBER_SECRET: return member_at(e, m);
    case MEMBER_COLL_ID: return &((struct coll_id *)member_at(e, m))->group;
    default: return NULL;
    }
}

uint32_t effect_job(const struct effect *e)
{
    EACH_MEMBER(m, e)
    {
        if ((m->kind == MEMBER_JOB || m->kind == MEMBER_ID) && !strcmp(m->name, "job"))
            return *(const uint32_t *)(const void *)((const char *)&e->u + m->offset);
    }
    return UINT32_MAX;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t text_bytes(struct effect *e)
{
    size_t n = 0;

    EACH_HELD(m, e)
    {
        const struct slice *s = text_of(e, m);
        n += s ? s->len : 0;
    }
    return n;
}

bool effect_own(struct effect *e)
{
    size_t n = e->bytes ? 0 : text_bytes(e), at = 0;
    char *bytes = n ? malloc(n) : NULL;

    if (!n)
        return true;
    if (!bytes)
        return false;
    EACH_HELD(m, e)
    {
        struct slice *s = text_of(e, m);
        if (!s || s->len == 0)
            continue;
        memcpy(bytes + at, s->ptr, s->len);
        s->ptr = bytes + at;
        at += s->len;
    }
    e->bytes = bytes;
    return true;
}

/* There is no memory for its texts.  False: it makes no sense without them. */
static bool do_without_texts(struct effect *e)
{
    bool good = false;

    EACH_MEMBER(m, e)
    {
        if (m->kind == MEMBER_STATUS)
            *(enum answer_status *)member_at(e, m) = ANSWER_NO_MEMORY;
        if (text_of(e, m))
            *text_of(e, m) = SLICE_NULL;
        good = good || m->kind == MEMBER_STATUS || m->kind == MEMBER_WHY;
    }
    return good;
}

static void drop_member(struct effect *e, const struct member_row *m)
{
    void *at = member_at(e, m);

    switch (m->kind) {
    case MEMBER_SPAWN:
        *(struct spawn_request **)at = spawn_free(*(struct spawn_request **)at);
        break;
    case MEMBER_QUERY:
        free(*(struct nameservice_query **)at);
        *(struct nameservice_query **)at = NULL;
        break;
    case MEMBER_CONTRIBUTION:
        *(struct contribution **)at = contribution_free(*(struct contribution **)at);
        break;
    default:
        if (text_of(e, m))
            *text_of(e, m) = SLICE_NULL;
        break;
    }
}

void effect_drop(struct effect *e)
{
    EACH_HELD(m, e)
    drop_member(e, m);
    free(e->bytes);
    e->bytes = NULL;
}

/* ---- the queue ------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct effect) <= EFFECT_WORDS * sizeof(uint64_t), "EFFECT_WORDS");

static struct effect *ring_of(struct effects *q)
{
    return q->ring ? q->ring : (struct effect *)(void *)q->first;
}

static size_t cap_of(const struct effects *q)
{
    return q->ring ? q->cap : EFFECTS_FIRST;
}

void effects_free(struct effects *q)
{
    struct effect e;

    while (effects_pop(q, &e))
        effect_drop(&e);
    free(q->ring);
    *q = (struct effects){ .ring = NULL };
}

static bool grow(struct effects *q)
{
    size_t cap = cap_of(q) * 4;
    struct effect *ring = calloc(cap, sizeof *ring);

    if (!ring)
        return false;
    for (size_t i = 0; i < q->count; i++)
        ring[i] = ring_of(q)[(q->head + i) % cap_of(q)];
    free(q->ring);
    q->ring = ring;
    q->head = 0;
    q->cap = cap;
    return true;
}

bool effects_push(struct effects *q, struct effect e)
{
    if ((!effect_own(&e) && !do_without_texts(&e)) || (q->count == cap_of(q) && !grow(q))) {
        q->lost = true;
        effect_drop(&e);
        return false;
    }
    ring_of(q)[(q->head + q->count++) % cap_of(q)] = e;
    return true;
}

bool effects_answer(struct effects *q, uint64_t ticket, struct answer a)
{
    return effects_push(q, EFFECT_WITH(answer, .ticket = ticket, .status = a.status,
                                       .number = a.parts.number, .key = a.parts.key,
                                       .value = a.parts.value));
}

bool effects_contribute(struct effects *q, uint32_t job, struct contribution *k)
{
    return effects_push(q, EFFECT_WITH(contribute, .job = job, .contribution = k));
}

bool effects_pop(struct effects *q, struct effect *e_p)
{
    if (q->count == 0)
        return false;
    *e_p = ring_of(q)[q->head];
    q->head = (q->head + 1) % cap_of(q);
    q->count--;
    return true;
}
