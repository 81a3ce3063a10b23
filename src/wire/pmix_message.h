/* pmix_message.h - the messages of proto/pmix_commands.def as C: structs, descriptors, and one
 * reader and one writer for all of them.
 *
 *   struct pmsg_get m;
 *   if (pmsg_read_get(&r, release, &m) == PTYPE_FINE)
 *       ... m.nspace, m.rank, m.infos.n, PMSG_HAS(&m, get, key) ...
 *   pmsg_free_get(&m, r.foreign);
 *
 * The reader starts after the COMMAND of a request, or at the start of a reply.  Texts, bytes and
 * the fields that last to the end of the message are lent from it; the rest is malloc'ed.  After an
 * error the fields before the bad one are there, and the reader is at that one.  Bytes after the
 * last field are not read.
 *
 * A field that lasts to the end is read one item after the other,
 *
 *   struct punpack all = pmsg_inside(&r, m.jobs);
 *   while (pmsg_next_connected_jobs(&all, release, &job))
 *       ... job.nspace, job.values ...
 *
 * and written so after the fields before it, a part in a buffer of its own:
 *
 *   struct ppack part = pmsg_part(&w, &buf);
 *   pmsg_write_job_info(&part, release, &(struct pmsg_job_info){ .nspace = name });
 *   ... ppack_kval(&part, ...) ...
 *   pmsg_add_connected_jobs(&w, &part);
 */
#ifndef WIREUP_WIRE_PMIX_MESSAGE_H
#define WIREUP_WIRE_PMIX_MESSAGE_H

#include "wire/pmix_command.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_unpack.h"

/* A release of OpenPMIx, comparable; 0: not known, which counts as the oldest. */
#define PMSG_RELEASE(major, minor, release)                                                        \
    ((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(release))

/* Of a version's text: "4.2.2rc2", "v3.2.5". */
uint32_t pmsg_release(const char *version);

enum pmsg_shape {
    PMSG_ONE,
    PMSG_TEXT,
    PMSG_BYTES,
    PMSG_SECRET,
    PMSG_LIST,
    PMSG_EACH,
    PMSG_TEXTS,
    PMSG_MAYBE,
    PMSG_BUFFER,
    PMSG_ALL, /* this and the following last to the end of the message */
    PMSG_KVALS,
    PMSG_PARTS,
    PMSG_OBJECTS
};

enum pmsg_need { PMSG_REQ, PMSG_OPT, PMSG_GOOD, PMSG_TRY };
enum pmsg_who { PMSG_NOBODY, PMSG_CLIENT };

/* The data types of fields. */
enum pmsg_type {
#define TYPE(name, number, ctype, member, shape, state) PMSG_TYPE_##name = (number),
#include "proto/pmix_types.def"
#undef TYPE
};

/* The C type of each data type. */
#define TYPE(name, number, ctype, member, shape, state) typedef ctype pmsg_##name##_t;
#include "proto/pmix_types.def"
#undef TYPE

struct pmsg_texts {
    size_t n;
    struct slice *items;
};

struct pmsg_buffer {
    struct slice bytes;
    bool described;
};

/* The key of job information whose value is a BYTE_OBJECT with a message rank_values. */
#define PMSG_RANK_VALUES "pmix.pblob"

/* The C type of each shape. */
#define PMSG_CTYPE_ONE(type)    pmsg_##type##_t
#define PMSG_CTYPE_TEXT(type)   struct slice
#define PMSG_CTYPE_BYTES(type)  struct slice
#define PMSG_CTYPE_SECRET(type) struct slice
#define PMSG_CTYPE_LIST(type)                                                                      \
    struct {                                                                                       \
        size_t n;                                                                                  \
        pmsg_##type##_t *items;                                                                    \
    }
#define PMSG_CTYPE_EACH(type)  PMSG_CTYPE_LIST(type)
#define PMSG_CTYPE_TEXTS(type) struct pmsg_texts
#define PMSG_CTYPE_MAYBE(type)                                                                     \
    struct {                                                                                       \
        pmsg_##type##_t value;                                                                     \
        bool is;                                                                                   \
    }
#define PMSG_CTYPE_BUFFER(type)  struct pmsg_buffer
#define PMSG_CTYPE_ALL(type)     struct slice
#define PMSG_CTYPE_KVALS(type)   struct slice
#define PMSG_CTYPE_PARTS(type)   struct slice
#define PMSG_CTYPE_OBJECTS(type) struct slice

/* The structs.  Bit i of `has` says that field i is there. */
#define COMMAND(NAME, number, name, who, request, reply, since)
#define MSG(id)                                                                                    \
    struct pmsg_##id {                                                                             \
        uint32_t has;
#define FIELD(id, shape, type, member, need, first, last) PMSG_CTYPE_##shape(type) member;
#define END(id)                                                                                    \
    }                                                                                              \
    ;
#include "proto/pmix_commands.def"
#undef MSG
#undef FIELD
#undef END

/* The place of each field. */
#define MSG(id)                                                                                    \
    enum pmsg_fields_##id                                                                          \
    {
#define FIELD(id, shape, type, member, need, first, last) PMSG_AT_##id##_##member,
#define END(id)                                                                                    \
    PMSG_FIELDS_##id                                                                               \
    }                                                                                              \
    ;
#include "proto/pmix_commands.def"
#undef MSG
#undef FIELD
#undef END

/* The numbers of the messages, and room for any of them. */
#define FIELD(id, shape, type, member, need, first, last)
#define END(id)
enum pmsg_id {
#define MSG(id) PMSG_##id,
#include "proto/pmix_commands.def"
#undef MSG
    PMSG_COUNT
};

union pmsg_any {
    uint32_t has;
#define MSG(id) struct pmsg_##id id;
#include "proto/pmix_commands.def"
#undef MSG
};
#undef FIELD
#undef END

/* For writing: the items of a list are not changed. */
#define PMSG_LENT(list, count)                                                                     \
    {                                                                                              \
        (count), (void *)(uintptr_t)(list)                                                         \
    }

#define PMSG_BIT(id, member)    (UINT32_C(1) << PMSG_AT_##id##_##member)
#define PMSG_HAS(m, id, member) (((m)->has & PMSG_BIT(id, member)) != 0)

/* The names are no pointers: each of these is relocated at the start of every process. */
struct pmsg_field {
    char name[20];
    uint8_t shape, need;  /* enum pmsg_shape, enum pmsg_need */
    uint16_t type;        /* a data type, or (BUFFER, PARTS, OBJECTS) enum pmsg_id */
    uint16_t offset;      /* in the struct */
    uint16_t flag;        /* MAYBE: offset of the bool */
    uint32_t first, last; /* releases */
};

struct pmsg {
    char name[20];
    const struct pmsg_field *fields;
    uint16_t nfields;
    uint16_t size;   /* of the struct */
    uint32_t owners; /* bit i: field i may own memory */
};

struct pmsg_command {
    const char *name; /* NULL: no such command */
    const struct pmsg *request, *reply;
    uint32_t since;
    uint8_t who; /* enum pmsg_who */
};

enum { PMSG_COMMANDS = 39 };

extern const struct pmsg pmsg_rows[PMSG_COUNT];
extern const struct pmsg_command pmsg_commands[PMSG_COMMANDS];

/* Whether the field belongs to messages of this release. */
static inline bool pmsg_in(const struct pmsg_field *f, uint32_t release)
{
    return release >= f->first && release <= f->last;
}

/* Returns r->error: those of pmix_unpack.h. */
enum ptype_error pmsg_read(const struct pmsg *row, struct punpack *r, uint32_t release, void *m);

/* The same after the status of a reply, which is its first field. */
enum ptype_error pmsg_read_tail(const struct pmsg *row, struct punpack *r, uint32_t release,
                                pmix_status_t status, void *m);

/* Releases the memory that the fields own; then none is there.  Harmless twice. */
void pmsg_free(const struct pmsg *row, void *m, const struct ptype_foreign *foreign);

/* Appends the fields from this one on: those that are REQ, and the others that are marked in `has`.
 */
void pmsg_write_from(const struct pmsg *row, unsigned from, struct ppack *w, uint32_t release,
                     const void *m);

/* ---- fields that last to the end ---- */

/* A reader of bytes of the message that r reads; and a writer of a part of the message that w
 * writes, to a buffer of its own. */
struct punpack pmsg_inside(const struct punpack *r, struct slice bytes);
struct punpack pmsg_inside_buffer(const struct punpack *r, const struct pmsg_buffer *b);
struct ppack pmsg_part(const struct ppack *w, struct buf *out);

/* Reads the next item (a value of the data type, or the struct of the part) of a field ALL, PARTS
 * or OBJECTS.  False: there is none, or it cannot be read (all->error). */
bool pmsg_next(const struct pmsg_field *f, struct punpack *all, uint32_t release, void *item);

/* Appends a part, which is written already, to a field OBJECTS, and empties its buffer. */
void pmsg_add_object(struct ppack *w, struct ppack *part);

/* The same with the types of the structs and items. */
#define PMSG_NEXT_ONE(id, item, member)
#define PMSG_NEXT_TEXT(id, item, member)
#define PMSG_NEXT_BYTES(id, item, member)
#define PMSG_NEXT_SECRET(id, item, member)
#define PMSG_NEXT_LIST(id, item, member)
#define PMSG_NEXT_EACH(id, item, member)
#define PMSG_NEXT_TEXTS(id, item, member)
#define PMSG_NEXT_MAYBE(id, item, member)
#define PMSG_NEXT_BUFFER(id, item, member)
#define PMSG_NEXT_KVALS(id, item, member)
#define PMSG_NEXT(id, ctype, member)                                                               \
    static inline bool pmsg_next_##id##_##member(struct punpack *all, uint32_t release,            \
                                                 ctype *item)                                      \
    {                                                                                              \
        return pmsg_next(&pmsg_rows[PMSG_##id].fields[PMSG_AT_##id##_##member], all, release,      \
                         item);                                                                    \
    }
#define PMSG_NEXT_ALL(id, type, member)                                                            \
    PMSG_NEXT(id, pmsg_##type##_t, member)                                                         \
    static inline void pmsg_add_##id##_##member(struct ppack *w, const pmsg_##type##_t *item)      \
    {                                                                                              \
        ppack(w, item, 1, PMIX_##type);                                                            \
    }
#define PMSG_NEXT_PARTS(id, part, member)                                                          \
    PMSG_NEXT(id, struct pmsg_##part, member)                                                      \
    static inline void pmsg_add_##id##_##member(struct ppack *w, uint32_t release,                 \
                                                const struct pmsg_##part *item)                    \
    {                                                                                              \
        pmsg_write_from(&pmsg_rows[PMSG_##part], 0, w, release, item);                             \
    }
#define PMSG_NEXT_OBJECTS(id, part, member)                                                        \
    PMSG_NEXT(id, struct pmsg_##part, member)                                                      \
    static inline void pmsg_add_##id##_##member(struct ppack *w, struct ppack *item)               \
    {                                                                                              \
        pmsg_add_object(w, item);                                                                  \
    }

#define FIELD(id, shape, type, member, need, first, last) PMSG_NEXT_##shape(id, type, member)
#define END(id)
#define MSG(id)                                                                                    \
    static inline enum ptype_error pmsg_read_##id(struct punpack *r, uint32_t release,             \
                                                  struct pmsg_##id *m)                             \
    {                                                                                              \
        return pmsg_read(&pmsg_rows[PMSG_##id], r, release, m);                                    \
    }                                                                                              \
    static inline void pmsg_free_##id(struct pmsg_##id *m, const struct ptype_foreign *foreign)    \
    {                                                                                              \
        pmsg_free(&pmsg_rows[PMSG_##id], m, foreign);                                              \
    }                                                                                              \
    static inline void pmsg_write_##id(struct ppack *w, uint32_t release,                          \
                                       const struct pmsg_##id *m)                                  \
    {                                                                                              \
        pmsg_write_from(&pmsg_rows[PMSG_##id], 0, w, release, m);                                  \
    }
#include "proto/pmix_commands.def"
#undef COMMAND
#undef MSG
#undef FIELD
#undef END

#endif
