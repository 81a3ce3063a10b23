/* operation_codec.c - see operation_codec.h.  Reading order: the rows; members as parts; parts as
 * members. */
#include "core/operation_codec.h"

#include <limits.h>
#include <string.h>

#include "core/contribution.h"
#include "core/job.h"
#include "core/nameservice.h"
#include "core/spawn.h"

#define OPERATION(id, name, E, M, I)   static const struct part parts_##id[] = {
#define PART(id, kind, member, name)   { name, PART_##kind, offsetof(struct flat_##id, member) },
#define MEMBER(id, KIND, member, name) FLAT_##KIND(id, member, name)
/* An extra, unused row keeps those without parts from being empty arrays. */
#define DONE(id)                                                                                   \
    {                                                                                              \
        "", PART_UINT, 0                                                                           \
    }                                                                                              \
    }                                                                                              \
    ;
#include "proto/operations.def"
#undef PART

const struct operation_row operation_rows[OPERATIONS] = {
#define OPERATION(id, name, E, M, I)                                                               \
    { name, sizeof parts_##id / sizeof *parts_##id - 1, parts_##id },
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
};

/* ---- members as parts ------------------------------------------------------------------------ */

static int64_t signed_id(uint32_t id)
{
    return id == UINT32_MAX ? -1 : (int64_t)id;
}

static struct slice first_program(const struct spawn_request *rq)
{
    return rq && rq->ncommands ? slice_str(rq->commands[0].program) : SLICE_NULL;
}

/* A member m of the operation o, as parts of f. */
#define FILL_COLL_ID_OF(m, id)                                                                     \
    f->m##_kind = slice_str(coll_kind_name((id).kind));                                            \
    f->m##_job = (id).job;                                                                         \
    f->m##_group = (id).group;                                                                     \
    f->m##_generation = (id).generation;
#define FILL_NUMBER(m)     f->m = o->m;
#define FILL_SIGNED_ID(m)  f->m = signed_id(o->m);
#define FILL_JOB(m)        FILL_SIGNED_ID(m)
#define FILL_ID(m)         FILL_SIGNED_ID(m)
#define FILL_RANK(m)       FILL_SIGNED_ID(m)
#define FILL_PROC(m)       FILL_SIGNED_ID(m)
#define FILL_CONNECTION(m) FILL_NUMBER(m)
#define FILL_TICKET(m)     f->m##_connection = o->m >> 32, f->m##_token = o->m & UINT32_MAX;
#define FILL_U64(m)        FILL_NUMBER(m)
#define FILL_U32(m)        FILL_NUMBER(m)
#define FILL_U16(m)        FILL_NUMBER(m)
#define FILL_U8(m)         FILL_NUMBER(m)
#define FILL_I64(m)        FILL_NUMBER(m)
#define FILL_INT(m)        FILL_NUMBER(m)
#define FILL_BOOL(m)       FILL_NUMBER(m)
#define FILL_STATUS(m)     f->m = slice_str(answer_word(o->m));
#define FILL_PROC_EVENT(m) f->m = slice_str(proc_event_name(o->m));
#define FILL_TEXT(m)       f->m = o->m;
#define FILL_WHY(m)        f->m = o->m;
#define FILL_SECRET(m)
#define FILL_UINTS(m)   f->m = o->m;
#define FILL_INTS(m)    f->m = o->m;
#define FILL_TEXTS(m)   f->m = o->m;
#define FILL_COLL_ID(m) FILL_COLL_ID_OF(m, o->m)
#define FILL_SPAWN(m)                                                                              \
    f->m##_processes = o->m ? spawn_nprocs(o->m) : 0;                                              \
    f->m##_program = first_program(o->m);
#define FILL_QUERY(m)                                                                              \
    if (o->m) {                                                                                    \
        f->m##_op = slice_str(nameservice_op_name(o->m->op));                                      \
        f->m##_service = o->m->service;                                                            \
        f->m##_port = o->m->port;                                                                  \
        f->m##_job = signed_id(o->m->job);                                                         \
        f->m##_rank = signed_id(o->m->rank);                                                       \
        f->m##_type = o->m->type;                                                                  \
        f->m##_wait = o->m->wait;                                                                  \
        f->m##_persistence = (uint64_t)o->m->persistence;                                          \
        f->m##_timeout_ns = o->m->timeout_ns;                                                      \
        f->m##_deadline_ns = o->m->deadline_ns;                                                    \
        f->m##_own = o->m->own;                                                                    \
        f->m##_range = (uint64_t)o->m->scope.range;                                                \
        f->m##_preferred = o->m->scope.preferred;                                                  \
        f->m##_nspaces = o->m->scope.nspaces;                                                      \
        f->m##_ranks = o->m->scope.ranks;                                                          \
        f->m##_batch = o->m->batch;                                                                \
        f->m##_batch_needed = o->m->batch_needed;                                                  \
        f->m##_batch_total = o->m->batch_total;                                                    \
        f->m##_uids = o->m->access.uids;                                                           \
        f->m##_gids = o->m->access.gids;                                                           \
        f->m##_uid = o->m->uid;                                                                    \
        f->m##_gid = o->m->gid;                                                                    \
    }
#define FILL_CONTRIBUTION(m)                                                                       \
    if (o->m) {                                                                                    \
        FILL_COLL_ID_OF(m, o->m->id)                                                               \
        f->m##_collect = o->m->collect;                                                            \
        f->m##_block = buf_slice(&o->m->block);                                                    \
    }

/* One function per row: fill_ and its id. */
#define OPERATION(id, name, E, M, I)                                                               \
    static void fill_##id(const struct op_##id *o, struct flat_##id *f)                            \
    {                                                                                              \
        (void)o;                                                                                   \
        memset(f, 0, sizeof *f);
#define MEMBER(id, KIND, member, name) FILL_##KIND(member)
#define DONE(id)                       }
#include "proto/operations.def"

void operation_flatten(enum operation op, const void *members, union flat *f_p)
{
    switch (op) {
#define OPERATION(id, name, E, M, I)                                                               \
    case OP_##id:                                                                                  \
        fill_##id(members, &f_p->id);                                                              \
        break;
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    case OPERATIONS: break;
    }
}

/* ---- parts as members ------------------------------------------------------------------------ */

static bool take_number(uint64_t v, uint64_t max, uint64_t *v_p)
{
    *v_p = v;
    return v <= max;
}

static bool take_id(int64_t v, uint32_t *id_p)
{
    *id_p = (uint32_t)v;
    return v >= -1 && v < (int64_t)UINT32_MAX;
}

static bool take_int(int64_t v, int *v_p)
{
    *v_p = (int)v;
    return v >= INT_MIN && v <= INT_MAX;
}

static bool take_ticket(uint64_t connection, uint64_t token, uint64_t *ticket_p)
{
    *ticket_p = connection << 32 | token;
    return connection <= UINT32_MAX && token <= UINT32_MAX;
}

static bool take_status(struct slice word, enum answer_status *status_p)
{
    for (int s = ANSWER_OK; s <= ANSWER_RESTARTED; s++) {
        *status_p = (enum answer_status)s;
        if (s != ANSWER_LATER && slice_is(word, answer_word(*status_p)))
            return true;
    }
    return false;
}

static bool take_proc_event(struct slice word, enum proc_event *event_p)
{
    for (int e = 0; e < PROC_EVENTS; e++) {
        *event_p = (enum proc_event)e;
        if (slice_is(word, proc_event_name(*event_p)))
            return true;
    }
    return false;
}

static bool take_coll_id(struct slice kind, uint64_t job, struct slice group, uint64_t generation,
                         struct coll_id *id_p)
{
    *id_p = (struct coll_id){ .job = (uint32_t)job, .group = group, .generation = generation };
    return job <= UINT32_MAX && coll_kind_find(kind, &id_p->kind);
}

static bool take_op(struct slice word, enum nameservice_op *op_p)
{
    for (int o = 0; o <= NAMESERVICE_UNPUBLISH; o++) {
        *op_p = (enum nameservice_op)o;
        if (slice_is(word, nameservice_op_name(*op_p)))
            return true;
    }
    return false;
}

/* The parts m of f as a member of the operation o. */
#define TAKE_NUMBER(m, type, max)                                                                  \
    {                                                                                              \
        uint64_t v;                                                                                \
        good = take_number(f->m, max, &v) && good;                                                 \
        o->m = (type)v;                                                                            \
    }
#define TAKE_JOB(m)        good = take_id(f->m, &o->m) && good;
#define TAKE_ID(m)         good = take_id(f->m, &o->m) && good;
#define TAKE_RANK(m)       good = take_id(f->m, &o->m) && good;
#define TAKE_PROC(m)       good = take_id(f->m, &o->m) && good;
#define TAKE_CONNECTION(m) TAKE_NUMBER(m, uint32_t, UINT32_MAX)
#define TAKE_TICKET(m)     good = take_ticket(f->m##_connection, f->m##_token, &o->m) && good;
#define TAKE_U64(m)        o->m = f->m;
#define TAKE_U32(m)        TAKE_NUMBER(m, uint32_t, UINT32_MAX)
#define TAKE_U16(m)        TAKE_NUMBER(m, uint16_t, UINT16_MAX)
#define TAKE_U8(m)         TAKE_NUMBER(m, uint8_t, UINT8_MAX)
#define TAKE_I64(m)        o->m = f->m;
#define TAKE_INT(m)        good = take_int(f->m, &o->m) && good;
#define TAKE_BOOL(m)       TAKE_NUMBER(m, bool, 1)
#define TAKE_STATUS(m)     good = take_status(f->m, &o->m) && good;
#define TAKE_PROC_EVENT(m) good = take_proc_event(f->m, &o->m) && good;
#define TAKE_TEXT(m)       o->m = f->m;
#define TAKE_WHY(m)        o->m = f->m;
#define TAKE_SECRET(m)     good = false; /* it is not written */
#define TAKE_UINTS(m)      o->m = f->m;
#define TAKE_INTS(m)       o->m = f->m;
#define TAKE_TEXTS(m)      o->m = f->m;
#define TAKE_COLL_ID(m)                                                                            \
    good = take_coll_id(f->m##_kind, f->m##_job, f->m##_group, f->m##_generation, &o->m) && good;
#define TAKE_SPAWN(m)        good = false; /* as a summary only */
#define TAKE_CONTRIBUTION(m) good = false;
#define TAKE_QUERY(m)                                                                              \
    if (f->m##_op.len) {                                                                           \
        struct nameservice_query *q = arena_alloc(a, sizeof *q);                                   \
        if (!q)                                                                                    \
            return false;                                                                          \
        *q = (struct nameservice_query){ .type = (uint16_t)f->m##_type,                            \
                                         .wait = f->m##_wait != 0,                                 \
                                         .persistence = (enum name_persistence)f->m##_persistence, \
                                         .access = { f->m##_uids, f->m##_gids },                   \
                                         .uid = (uint32_t)f->m##_uid,                              \
                                         .gid = (uint32_t)f->m##_gid,                              \
                                         .batch = f->m##_batch,                                    \
                                         .batch_needed = (uint32_t)f->m##_batch_needed,            \
                                         .batch_total = (uint32_t)f->m##_batch_total,              \
                                         .own = f->m##_own != 0,                                   \
                                         .scope = { .range = (enum name_range)f->m##_range,        \
                                                    .preferred = f->m##_preferred != 0,            \
                                                    .nspaces = f->m##_nspaces,                     \
                                                    .ranks = f->m##_ranks },                       \
                                         .timeout_ns = f->m##_timeout_ns,                          \
                                         .deadline_ns = f->m##_deadline_ns,                        \
                                         .service = f->m##_service,                                \
                                         .port = f->m##_port };                                    \
        good = take_op(f->m##_op, &q->op) && take_id(f->m##_job, &q->job) &&                       \
               take_id(f->m##_rank, &q->rank) && f->m##_type <= UINT16_MAX &&                      \
               f->m##_persistence < NAME_PERSISTENCES && f->m##_range < NAME_RANGES &&             \
               f->m##_uid <= UINT32_MAX && f->m##_gid <= UINT32_MAX &&                             \
               f->m##_batch_needed <= UINT32_MAX && f->m##_batch_total <= UINT32_MAX && good;      \
        o->m = q;                                                                                  \
    }

/* One function per row: take_op_ and its id. */
#define OPERATION(id, name, E, M, I)                                                               \
    static bool take_op_##id(const struct flat_##id *f, struct arena *a, struct op_##id *o)        \
    {                                                                                              \
        bool good = true;                                                                          \
        (void)a;                                                                                   \
        (void)f;                                                                                   \
        memset(o, 0, sizeof *o);
#define MEMBER(id, KIND, member, name) TAKE_##KIND(member)
#define DONE(id)                                                                                   \
    return good;                                                                                   \
    }
#include "proto/operations.def"

bool operation_take(enum operation op, const union flat *f, struct arena *a, void *members_p)
{
    switch (op) {
#define OPERATION(id, name, E, M, I)                                                               \
    case OP_##id:                                                                                  \
        return take_op_##id(&f->id, a, members_p);
#define MEMBER(id, KIND, member, name)
#define DONE(id)
#include "proto/operations.def"
    case OPERATIONS: break;
    }
    return false;
}
