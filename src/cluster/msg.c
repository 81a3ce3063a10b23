/* msg.c - see msg.h. */
#include "cluster/msg.h"

#include <string.h>

#include "core/effect.h"
#include "core/input.h"
#include "core/operation_codec.h"

/* Which rows are messages. */
#define IS_MSG_MESSAGE true
#define IS_MSG_NONE    false

static const bool is_msg[OPERATIONS] = {
#define OPERATION(id, name, E, M, I) IS_MSG_##M,
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

const char *msg_name(enum msg_kind kind)
{
    return (unsigned)kind < OPERATIONS ? operation_rows[kind].name : "?";
}

/* ---- as effects and inputs ------------------------------------------------------------------- */

#define FROM_EFFECT_MESSAGE(id)                                                                    \
    case EFFECT_##id:                                                                              \
        m_p->kind = MSG_##id;                                                                      \
        m_p->u.id = e->u.id;                                                                       \
        return true;
#define FROM_EFFECT_NONE(id)
#define FROM_NONE_MESSAGE(id)
#define FROM_NONE_NONE(id)

bool msg_effect(const struct effect *e, struct msg *m_p)
{
    memset(m_p, 0, sizeof *m_p);
    switch (e->kind) {
#define OPERATION(id, name, E, M, I) FROM_##E##_##M(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    default: return false;
    }
}

#define TO_MESSAGE_INPUT(id)                                                                       \
    case MSG_##id:                                                                                 \
        in_p->kind = INPUT_##id;                                                                   \
        in_p->u.id = m->u.id;                                                                      \
        return true;
#define TO_MESSAGE_NONE(id)
#define TO_NONE_INPUT(id)
#define TO_NONE_NONE(id)

bool msg_input(const struct msg *m, uint64_t now_ns, struct input *in_p)
{
    in_p->now_ns = now_ns;
    switch (m->kind) {
#define OPERATION(id, name, E, M, I) TO_##M##_##I(id)
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    default: return false;
    }
}

/* ---- as bytes -------------------------------------------------------------------------------- */

/* In a message with this bit the numbers follow the address. */
enum { NUMBERED = 128 };

_Static_assert((int)OPERATIONS <= (int)NUMBERED, "kinds and the bit fit a byte");

void msg_write(const struct msg *m, struct buf *out)
{
    const struct operation_row *row = &operation_rows[m->kind];
    bool numbered = m->number || m->acked;
    union flat flat;

    parts_put_uint(out, (uint64_t)m->kind | (numbered ? NUMBERED : 0));
    parts_put_uint(out, m->from);
    parts_put_uint(out, m->to);
    if (numbered) {
        parts_put_uint(out, m->number);
        parts_put_uint(out, m->acked);
    }
    operation_flatten((enum operation)m->kind, &m->u, &flat);
    parts_write(row->parts, row->nparts, &flat, out);
}

static bool read_head(struct slice *rest, uint64_t *kind_p, uint32_t *from_p, uint32_t *to_p)
{
    return parts_get_uint(rest, kind_p) && parts_get_u32(rest, from_p) && parts_get_u32(rest, to_p);
}

static bool read_numbers(struct slice *rest, struct msg *m, uint64_t *kind_p)
{
    if (!(*kind_p & NUMBERED))
        return true;
    *kind_p &= ~(uint64_t)NUMBERED;
    return parts_get_uint(rest, &m->number) && parts_get_uint(rest, &m->acked);
}

int msg_read(struct slice bytes, struct arena *a, struct msg *m_p, struct errmsg *err)
{
    const struct operation_row *row;
    union flat flat;
    uint64_t kind;

    memset(m_p, 0, sizeof *m_p);
    memset(&flat, 0, sizeof flat);
    if (!read_head(&bytes, &kind, &m_p->from, &m_p->to) || !read_numbers(&bytes, m_p, &kind))
        return errmsg_set(err, 1, "a message between daemons without an address");
    if (kind >= OPERATIONS || !is_msg[kind])
        return errmsg_set(err, 1, "a message between daemons of unknown kind %llu",
                          (unsigned long long)kind);
    m_p->kind = (enum msg_kind)kind;
    row = &operation_rows[kind];
    if (!parts_read(row->parts, row->nparts, bytes, a, &flat) ||
        !operation_take((enum operation)kind, &flat, a, &m_p->u))
        return errmsg_set(err, 1, "a message `%s` between daemons with invalid parts", row->name);
    return 0;
}

bool msg_address(struct slice bytes, uint32_t *from_p, uint32_t *to_p)
{
    uint64_t kind;

    return read_head(&bytes, &kind, from_p, to_p);
}
