/* msg.c - see msg.h. */
#include "cluster/msg.h"

#include <string.h>

#define MSG(id, name)                static const struct part parts_##id[] = {
#define PART(id, kind, member, name) { name, PART_##kind, offsetof(struct msg, u.id.member) },
/* An extra, unused row keeps messages without parts from being empty arrays. */
#define DONE(id)                                                                                   \
    {                                                                                              \
        NULL, PART_UINT, 0                                                                         \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/overlay.def"
#undef MSG
#undef PART
#undef DONE

static const struct {
    const char *name;
    uint32_t nparts;
    const struct part *parts;
} rows[MSG_KINDS] = {
#define MSG(id, name) { name, sizeof parts_##id / sizeof *parts_##id - 1, parts_##id },
#define PART(id, kind, member, name)
#define DONE(id)
#include "proto/overlay.def"
#undef MSG
#undef PART
#undef DONE
};

const char *msg_name(enum msg_kind kind)
{
    return (unsigned)kind < MSG_KINDS ? rows[kind].name : "?";
}

/* In a message with this bit the numbers follow the address. */
enum { NUMBERED = 128 };

void msg_write(const struct msg *m, struct buf *out)
{
    bool numbered = m->number || m->heard;

    parts_put_uint(out, (uint64_t)m->kind | (numbered ? NUMBERED : 0));
    parts_put_uint(out, m->from);
    parts_put_uint(out, m->to);
    if (numbered) {
        parts_put_uint(out, m->number);
        parts_put_uint(out, m->heard);
    }
    parts_write(rows[m->kind].parts, rows[m->kind].nparts, m, out);
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
    return parts_get_uint(rest, &m->number) && parts_get_uint(rest, &m->heard);
}

int msg_read(struct slice bytes, struct arena *a, struct msg *m_p, struct errmsg *err)
{
    uint64_t kind;

    memset(m_p, 0, sizeof *m_p);
    if (!read_head(&bytes, &kind, &m_p->from, &m_p->to) || !read_numbers(&bytes, m_p, &kind))
        return errmsg_set(err, 1, "a message between daemons without an address");
    if (kind >= MSG_KINDS)
        return errmsg_set(err, 1, "a message between daemons of unknown kind %llu",
                          (unsigned long long)kind);
    m_p->kind = (enum msg_kind)kind;
    if (!parts_read(rows[kind].parts, rows[kind].nparts, bytes, a, m_p))
        return errmsg_set(err, 1, "a message `%s` between daemons with invalid parts",
                          rows[kind].name);
    return 0;
}

bool msg_address(struct slice bytes, uint32_t *from_p, uint32_t *to_p)
{
    uint64_t kind;

    return read_head(&bytes, &kind, from_p, to_p);
}
