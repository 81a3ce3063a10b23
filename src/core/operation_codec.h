/* operation_codec.h - an operation as parts (wire/parts.h): the form in which messages and traces
 * have it.
 *
 * The flat form of a row has numbers of 64 bits, bytes and lists, and the words of enumerations
 * instead of their numbers.  Each form borrows the texts and lists of the other.
 */
#ifndef WIREUP_CORE_OPERATION_CODEC_H
#define WIREUP_CORE_OPERATION_CODEC_H

#include "base/arena.h"
#include "core/operation.h"

/* The parts that a member of each kind becomes. */
#define FLAT_JOB(id, member, name)        PART(id, INT, member, name)
#define FLAT_ID(id, member, name)         PART(id, INT, member, name)
#define FLAT_RANK(id, member, name)       PART(id, INT, member, name)
#define FLAT_PROC(id, member, name)       PART(id, INT, member, name)
#define FLAT_CONNECTION(id, member, name) PART(id, UINT, member, name)
#define FLAT_TICKET(id, member, name)                                                              \
    PART(id, UINT, member##_connection, "connection") PART(id, UINT, member##_token, "token")
#define FLAT_U64(id, member, name)        PART(id, UINT, member, name)
#define FLAT_U32(id, member, name)        PART(id, UINT, member, name)
#define FLAT_U16(id, member, name)        PART(id, UINT, member, name)
#define FLAT_U8(id, member, name)         PART(id, UINT, member, name)
#define FLAT_I64(id, member, name)        PART(id, INT, member, name)
#define FLAT_INT(id, member, name)        PART(id, INT, member, name)
#define FLAT_BOOL(id, member, name)       PART(id, UINT, member, name)
#define FLAT_STATUS(id, member, name)     PART(id, BYTES, member, name)
#define FLAT_PROC_EVENT(id, member, name) PART(id, BYTES, member, name)
#define FLAT_TEXT(id, member, name)       PART(id, BYTES, member, name)
#define FLAT_WHY(id, member, name)        PART(id, BYTES, member, name)
#define FLAT_SECRET(id, member, name)
#define FLAT_UINTS(id, member, name) PART(id, UINTS, member, name)
#define FLAT_INTS(id, member, name)  PART(id, INTS, member, name)
#define FLAT_TEXTS(id, member, name) PART(id, TEXTS, member, name)
#define FLAT_COLL_ID(id, member, name)                                                             \
    PART(id, BYTES, member##_kind, "kind")                                                         \
    PART(id, UINT, member##_job, "of_job")                                                         \
    PART(id, BYTES, member##_group, "group") PART(id, UINT, member##_generation, "generation")
#define FLAT_SPAWN(id, member, name)                                                               \
    PART(id, UINT, member##_processes, "processes") PART(id, BYTES, member##_program, "program")
#define FLAT_QUERY(id, member, name)                                                               \
    PART(id, BYTES, member##_op, "op")                                                             \
    PART(id, BYTES, member##_service, "service")                                                   \
    PART(id, BYTES, member##_port, "port")                                                         \
    PART(id, INT, member##_job, "of_job")                                                          \
    PART(id, INT, member##_rank, "of_rank")                                                        \
    PART(id, UINT, member##_type, "type")                                                          \
    PART(id, UINT, member##_wait, "wait")                                                          \
    PART(id, UINT, member##_persistence, "persistence")                                            \
    PART(id, UINT, member##_timeout_ns, "timeout_ns")                                              \
    PART(id, UINT, member##_deadline_ns, "deadline_ns")                                            \
    PART(id, UINT, member##_own, "own")                                                            \
    PART(id, UINT, member##_range, "range")                                                        \
    PART(id, UINT, member##_preferred, "preferred")                                                \
    PART(id, TEXTS, member##_nspaces, "nspaces")                                                   \
    PART(id, UINTS, member##_ranks, "ranks")                                                       \
    PART(id, UINT, member##_batch, "batch")                                                        \
    PART(id, UINT, member##_batch_needed, "batch_needed")                                          \
    PART(id, UINT, member##_batch_total, "batch_total")                                            \
    PART(id, UINTS, member##_uids, "uids")                                                         \
    PART(id, UINTS, member##_gids, "gids")                                                         \
    PART(id, UINT, member##_uid, "uid")                                                            \
    PART(id, UINT, member##_gid, "gid")
#define FLAT_CONTRIBUTION(id, member, name)                                                        \
    FLAT_COLL_ID(id, member, name)                                                                 \
    PART(id, UINT, member##_collect, "collect") PART(id, BYTES, member##_block, "block")

/* struct flat_answer { ... } for each row. */
#define PART(id, kind, member, name)   PART_TYPE_##kind member;
#define OPERATION(id, name, E, M, I)   struct flat_##id {
#define MEMBER(id, KIND, member, name) FLAT_##KIND(id, member, name)
#define DONE(id)                                                                                   \
    }                                                                                              \
    ;
#include "proto/operations.def"
#undef PART

union flat {
#define OPERATION(id, name, E, M, I) struct flat_##id id;
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

/* The name and the parts (in union flat) of each row. */
struct operation_row {
    const char *name;
    uint32_t nparts;
    const struct part *parts;
};

extern const struct operation_row operation_rows[OPERATIONS];

/* The members (struct op_...) as parts. */
void operation_flatten(enum operation op, const void *members, union flat *f_p);

/* And back, into a struct op_... ; a query lives in the arena.  False: a number or a word that the
 * member cannot have, or no memory. */
bool operation_take(enum operation op, const union flat *f, struct arena *a, void *members_p);

#endif
