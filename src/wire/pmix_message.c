/* pmix_message.c - see pmix_message.h.  Reading order: the descriptors; reading; releasing;
 * writing. */
#include "wire/pmix_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pmix_mem.h"

/* ---- the descriptors ------------------------------------------------------------------------- */

enum { FIRST_ANY = 0 };
#define LAST_ANY                 UINT32_MAX
#define FIRST_R(major, minor, r) PMSG_RELEASE(major, minor, r)
#define LAST_R(major, minor, r)  PMSG_RELEASE(major, minor, r)

#define FLAG_ONE(id, member)   0
#define FLAG_TEXT(id, member)  0
#define FLAG_BYTES(id, member) 0
#define FLAG_LIST(id, member)  0
#define FLAG_EACH(id, member)  0
#define FLAG_TEXTS(id, member) 0
#define FLAG_MAYBE(id, member) offsetof(struct pmsg_##id, member.is)
#define FLAG_ALL(id, member)   0

#define COMMAND(NAME, number, name, who, request, reply, since)
#define MSG(id) static const struct pmsg_field fields_##id[] = {
#define FIELD(id, shape, type, member, need, first, last)                                          \
    { #member,                                                                                     \
      PMSG_##shape,                                                                                \
      PMSG_##need,                                                                                 \
      PMSG_TYPE_##type,                                                                            \
      offsetof(struct pmsg_##id, member),                                                          \
      FLAG_##shape(id, member),                                                                    \
      FIRST_##first,                                                                               \
      LAST_##last },
#define END(id)                                                                                    \
    {                                                                                              \
        0                                                                                          \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/pmix_commands.def"
#undef MSG
#undef FIELD
#undef END

#define FIELD(id, shape, type, member, need, first, last)
#define END(id)
const struct pmsg pmsg_rows[PMSG_COUNT] = {
#define MSG(id) [PMSG_##id] = { #id, fields_##id, PMSG_FIELDS_##id, sizeof(struct pmsg_##id) },
#include "proto/pmix_commands.def"
#undef MSG
};
#undef COMMAND

const struct pmsg_command pmsg_commands[PMSG_COMMANDS] = {
#define MSG(id)
#define COMMAND(NAME, number, text, sender, request_id, reply_id, first)                           \
    [number] = { .name = (text),                                                                   \
                 .request = &pmsg_rows[PMSG_##request_id],                                         \
                 .reply = &pmsg_rows[PMSG_##reply_id],                                             \
                 .since = FIRST_##first,                                                           \
                 .who = PMSG_##sender },
#include "proto/pmix_commands.def"
#undef COMMAND
#undef MSG
#undef FIELD
#undef END
};

uint32_t pmsg_release(const char *version)
{
    unsigned major = 0, minor = 0, release = 0;

    if (sscanf(version + (*version == 'v'), "%u.%u.%u", &major, &minor, &release) < 2 ||
        major > UINT8_MAX || minor > UINT8_MAX || release > UINT8_MAX)
        return 0;
    return PMSG_RELEASE(major, minor, release);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The layout of LIST and EACH, whatever their items are. */
struct list {
    size_t n;
    void *items;
};

static struct list get_list(const char *at)
{
    struct list l;

    memcpy(&l.n, at, sizeof l.n);
    memcpy(&l.items, at + sizeof l.n, sizeof l.items);
    return l;
}

static void set_list(char *at, struct list l)
{
    memcpy(at, &l.n, sizeof l.n);
    memcpy(at + sizeof l.n, &l.items, sizeof l.items);
}

/* A unit of exactly one.  True: there is an item, even if the unit had more. */
static bool read_one(struct punpack *r, uint16_t type, void *to)
{
    int32_t n = 1;

    if (punpack(r, to, &n, type) == PTYPE_FINE && n != 1)
        r->error = PTYPE_MALFORMED;
    return n == 1;
}

/* A unit takes at least a byte, so more of them than bytes cannot come. */
static size_t read_count(struct punpack *r)
{
    size_t n = punpack_size(r);

    if (punpack_ok(r) && n > punpack_left(r))
        r->error = PTYPE_CUT;
    return punpack_ok(r) ? n : 0;
}

static void read_each(struct punpack *r, uint16_t type, char *at)
{
    const struct ptype *t = ptype_find(type);
    size_t n = read_count(r);
    struct list l = { 0, NULL };

    while (l.n < n && punpack_ok(r)) {
        /* Memory grows as items arrive. */
        if ((l.n & (l.n - 1)) == 0) {
            char *more = realloc(l.items, (l.n ? l.n * 2 : 1) * t->size);
            if (!more) {
                r->error = PTYPE_NO_MEMORY;
                break;
            }
            l.items = more;
        }
        l.n += read_one(r, type, (char *)l.items + l.n * t->size);
    }
    set_list(at, l);
}

static void read_texts(struct punpack *r, struct pmsg_texts *to)
{
    size_t n = read_count(r);

    while (to->n < n && punpack_ok(r)) {
        if ((to->n & (to->n - 1)) == 0) {
            size_t room = to->n ? to->n * 2 : 1;
            struct slice *more = realloc(to->items, room * sizeof *more);
            if (!more) {
                r->error = PTYPE_NO_MEMORY;
                return;
            }
            to->items = more;
        }
        to->items[to->n] = punpack_text(r);
        to->n += punpack_ok(r);
    }
}

/* True: something of it is there, even in error. */
static bool read_field(const struct pmsg_field *f, struct punpack *r, char *m)
{
    void *at = m + f->offset;
    struct list l;

    switch (f->shape) {
    case PMSG_ONE: return read_one(r, f->type, at);
    case PMSG_TEXT: *(struct slice *)at = punpack_text(r); break;
    case PMSG_BYTES: *(struct slice *)at = punpack_bytes(r); break;
    case PMSG_LIST:
        l.items = punpack_list(r, f->type, &l.n);
        set_list(at, l);
        break;
    case PMSG_EACH: read_each(r, f->type, at); return true;
    case PMSG_TEXTS: read_texts(r, at); return true;
    case PMSG_MAYBE:
        *(bool *)(m + f->flag) = punpack_byte(r, PMIX_BOOL) != 0;
        return *(bool *)(m + f->flag) ? read_one(r, f->type, at) : punpack_ok(r);
    default:
        *(struct slice *)at = slice_mem(r->at, punpack_left(r));
        r->at = r->end;
        break;
    }
    return punpack_ok(r);
}

/* The status of a reply is its first field. */
static bool may_end(const struct pmsg *row, const struct pmsg_field *f, const char *m)
{
    pmix_status_t status;

    if (f->need != PMSG_GOOD)
        return f->need == PMSG_OPT;
    memcpy(&status, m + row->fields[0].offset, sizeof status);
    return status != PMIX_SUCCESS;
}

static void read_fields(const struct pmsg *row, unsigned from, struct punpack *r, uint32_t release,
                        char *m, bool tries)
{
    uint32_t *has = (uint32_t *)(void *)m;

    for (unsigned i = from; i < row->nfields && punpack_ok(r); i++) {
        const struct pmsg_field *f = &row->fields[i];
        if (!pmsg_in(f, release) || (f->need == PMSG_TRY && !tries) ||
            (!punpack_left(r) && may_end(row, f, m)))
            continue;
        if (read_field(f, r, m))
            *has |= UINT32_C(1) << i;
    }
}

static bool fits(const struct punpack *r)
{
    return punpack_ok(r) && !punpack_left(r);
}

static bool has_try(const struct pmsg *row)
{
    for (unsigned i = 0; i < row->nfields; i++) {
        if (row->fields[i].need == PMSG_TRY)
            return true;
    }
    return false;
}

enum ptype_error pmsg_read(const struct pmsg *row, struct punpack *r, uint32_t release, void *m)
{
    const struct punpack before = *r;

    memset(m, 0, row->size);
    read_fields(row, 0, r, release, m, true);
    for (bool tries = false; !fits(r) && has_try(row); tries = true) {
        pmsg_free(row, m, r->foreign);
        *r = before;
        read_fields(row, 0, r, release, m, tries);
        if (tries) /* neither fits */
            break;
    }
    return r->error;
}

enum ptype_error pmsg_read_tail(const struct pmsg *row, struct punpack *r, uint32_t release,
                                pmix_status_t status, void *m)
{
    memset(m, 0, row->size);
    memcpy((char *)m + row->fields[0].offset, &status, sizeof status);
    read_fields(row, 1, r, release, m, true);
    return r->error;
}

/* ---- releasing ------------------------------------------------------------------------------- */

void pmsg_free(const struct pmsg *row, void *m, const struct ptype_foreign *foreign)
{
    uint32_t has;

    memcpy(&has, m, sizeof has);
    for (unsigned i = 0; i < row->nfields; i++) {
        const struct pmsg_field *f = &row->fields[i];
        char *at = (char *)m + f->offset;
        struct list l;
        if (!(has >> i & 1))
            continue;
        if (f->shape == PMSG_LIST || f->shape == PMSG_EACH) {
            l = get_list(at);
            pmem_free(ptype_find(f->type), l.items, l.n, foreign);
            free(l.items);
        } else if (f->shape == PMSG_TEXTS) {
            free(((struct pmsg_texts *)(void *)at)->items);
        } else if (f->shape == PMSG_ONE || f->shape == PMSG_MAYBE) {
            pmem_free(ptype_find(f->type), at, 1, foreign);
        }
    }
    memset(m, 0, row->size);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_list(struct ppack *w, uint16_t type, struct list l)
{
    ppack_size(w, l.n);
    if (l.n > INT32_MAX)
        w->error = PTYPE_TOO_LONG;
    else if (l.n)
        ppack(w, l.items, (int32_t)l.n, type);
}

static void write_each(struct ppack *w, uint16_t type, struct list l)
{
    ppack_size(w, l.n);
    for (size_t i = 0; i < l.n; i++)
        ppack(w, (const char *)l.items + i * ptype_find(type)->size, 1, type);
}

static void write_texts(struct ppack *w, const struct pmsg_texts *t)
{
    ppack_size(w, t->n);
    for (size_t i = 0; i < t->n; i++)
        ppack_text(w, t->items[i]);
}

static void write_maybe(struct ppack *w, uint16_t type, bool is, const void *value)
{
    ppack_byte(w, PMIX_BOOL, is);
    if (is)
        ppack(w, value, 1, type);
}

static void write_field(const struct pmsg_field *f, struct ppack *w, const char *m)
{
    const void *at = m + f->offset;

    switch (f->shape) {
    case PMSG_ONE: ppack(w, at, 1, f->type); break;
    case PMSG_TEXT: ppack_text(w, *(const struct slice *)at); break;
    case PMSG_BYTES: ppack_bytes(w, *(const struct slice *)at); break;
    case PMSG_LIST: write_list(w, f->type, get_list(at)); break;
    case PMSG_EACH: write_each(w, f->type, get_list(at)); break;
    case PMSG_TEXTS: write_texts(w, at); break;
    case PMSG_MAYBE: write_maybe(w, f->type, *(const bool *)(m + f->flag), at); break;
    default: buf_slice_put(w->out, *(const struct slice *)at); break;
    }
}

void pmsg_write(const struct pmsg *row, struct ppack *w, uint32_t release, const void *m)
{
    uint32_t has;

    memcpy(&has, m, sizeof has);
    for (unsigned i = 0; i < row->nfields; i++) {
        const struct pmsg_field *f = &row->fields[i];
        if (pmsg_in(f, release) && (f->need == PMSG_REQ || has >> i & 1))
            write_field(f, w, m);
    }
}
