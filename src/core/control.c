/* control.c - see control.h. */
#include "core/control.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/job_connect.h"
#include "core/request.h"

/* ---- signals --------------------------------------------------------------------------------- */

enum answer_status control_members(const struct core *c, const struct job *j,
                                   const struct member *members, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct job *target = core_job_named(c, members[i].nspace);
        uint32_t rank = members[i].rank;
        if (!target || (rank != REQUEST_ALL_RANKS && rank >= target->plan.nprocs))
            return ANSWER_NOT_FOUND;
        if (!job_may_act_on(j, target))
            return ANSWER_RESERVED;
    }
    return ANSWER_OK;
}

void control_commanded(struct job *j, uint32_t rank)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        j->procs[r].commanded = j->procs[r].commanded || rank == REQUEST_ALL_RANKS || rank == r;
    j->asked_to_end = j->asked_to_end || rank == REQUEST_ALL_RANKS;
}

/* The rank of a member of a request, as effects have it. */
static uint32_t all_or_one(uint32_t rank)
{
    return rank == REQUEST_ALL_RANKS ? JOB_NO_RANK : rank;
}

static void send_signal(struct core *c, struct job *j, uint32_t rank,
                        const struct request_signal *rq)
{
    if (rq->ends_procs)
        control_commanded(j, rank);
    effects_push(&c->effects, EFFECT_WITH(signal, .job = j->id, .rank = all_or_one(rank),
                                          .signal = rq->signal, .ends_procs = rq->ends_procs));
}

void control_continue(struct job *j, uint32_t rank)
{
    effects_push(j->effects, EFFECT_WITH(signal, .job = j->id, .rank = rank, .signal = SIGCONT));
}

enum answer_status control_signal(struct core *c, struct job *j, const struct request_signal *rq)
{
    enum answer_status st = control_members(c, j, rq->members, rq->count);

    if (st != ANSWER_OK)
        return st;
    if (rq->signal <= 0 || rq->signal > SIGRTMAX)
        return ANSWER_BAD_VALUE;
    if (rq->count == 0)
        send_signal(c, j, REQUEST_ALL_RANKS, rq);
    for (uint32_t i = 0; i < rq->count; i++)
        send_signal(c, core_job_named(c, rq->members[i].nspace), rq->members[i].rank, rq);
    return ANSWER_OK;
}

/* ---- subscriptions to output ----------------------------------------------------------------- */

void control_iof_subscribe(struct core *c, uint64_t subscription, struct slice nspace,
                           uint32_t rank, uint16_t channels)
{
    struct effect e = EFFECT_WITH(iof_subscribe, .nspace = nspace, .rank = all_or_one(rank),
                                  .channels = channels, .subscription = subscription);

    if (c->has_others && effect_own(&e))
        effects_push(&c->effects, e);
}

/* ---- standard input -------------------------------------------------------------------------- */

enum answer_status control_input(struct core *c, struct job *j, uint64_t ticket,
                                 const struct request_input *rq)
{
    enum answer_status st = control_members(c, j, rq->members, rq->count);

    if (st != ANSWER_OK || rq->count == 0)
        return st == ANSWER_OK ? ANSWER_BAD_VALUE : st;
    for (uint32_t i = 0; i < rq->count; i++) {
        const struct member *m = &rq->members[i];
        struct effect e =
            EFFECT_WITH(input, .job = core_job_named(c, m->nspace)->id, .rank = all_or_one(m->rank),
                        .bytes = rq->bytes, .ticket = i + 1 == rq->count ? ticket : 0);
        if (!effect_own(&e) || !effects_push(&c->effects, e))
            return ANSWER_NO_MEMORY;
    }
    return ANSWER_LATER;
}

/* ---- cleanup --------------------------------------------------------------------------------- */

struct cleanup_path {
    struct list link;
    uint32_t rank; /* the process whose end it waits for; JOB_NO_RANK: all */
    uint32_t by;   /* the requester */
    uint32_t flags;
    struct slice path, stay, id; /* stored after the struct */
    char text[];
};

static bool is_clean_path(struct slice path)
{
    struct slice rest = path;

    if (path.len < 2 || path.len >= LIMIT_CLEANUP_PATH || path.ptr[0] != '/' ||
        slice_find(path, '\0') < path.len)
        return false;
    while (rest.len) {
        if (slice_is(slice_cut(&rest, '/'), ".."))
            return false;
    }
    return true;
}

/* "/dev/shm/name" of "shm:/name", and the number alone; room has LIMIT_CLEANUP_PATH bytes.  False:
 * it is neither a path nor one of these. */
static bool read_resource(struct slice text, struct slice *path_p, uint32_t *flags_p, char *room)
{
    struct slice name;
    uint32_t id;

    *path_p = text;
    if (slice_starts(text, SLICE(CLEANUP_SYSV)) && !(*flags_p & CLEANUP_DIRECTORY)) {
        *path_p = slice_skip(text, strlen(CLEANUP_SYSV));
        *flags_p |= CLEANUP_SEGMENT;
        return slice_u32(*path_p, &id) && id <= INT32_MAX;
    }
    if (slice_starts(text, SLICE(CLEANUP_SHM)) && !(*flags_p & CLEANUP_DIRECTORY)) {
        name = slice_skip(text, strlen(CLEANUP_SHM));
        if (!name.len || name.len > LIMIT_CLEANUP_PATH / 2 || slice_find(name, '/') < name.len)
            return false;
        *path_p = slice_mem(room, (size_t)snprintf(room, LIMIT_CLEANUP_PATH, "/dev/shm/" SLICE_FMT,
                                                   SLICE_ARG(name)));
    }
    return is_clean_path(*path_p);
}

/* Of a process of the own job, or of all of it. */
static enum answer_status whose_end(const struct job *j, const struct request_register_cleanup *rq,
                                    uint32_t *rank_p)
{
    *rank_p = JOB_NO_RANK;
    if (rq->count == 0)
        return ANSWER_OK;
    if (rq->count > 1 || !slice_is(rq->members[0].nspace, j->nspace))
        return ANSWER_RESERVED;
    if (rq->members[0].rank == REQUEST_ALL_RANKS)
        return ANSWER_OK;
    *rank_p = rq->members[0].rank;
    return *rank_p < j->plan.nprocs ? ANSWER_OK : ANSWER_NOT_FOUND;
}

static bool is_known(const struct job *j, uint32_t rank, uint32_t flags, struct slice path,
                     struct slice id)
{
    LIST_EACH(l, &j->cleanups)
    {
        const struct cleanup_path *s = LIST_OF(l, struct cleanup_path, link);
        if (s->rank == rank && s->flags == flags && slice_eq(s->path, path) && slice_eq(s->id, id))
            return true;
    }
    return false;
}

/* A copy of the text at *at_p, which goes behind it. */
static struct slice store_text(char **at_p, struct slice text)
{
    struct slice copy = slice_mem(*at_p, text.len);

    if (text.len)
        memcpy(*at_p, text.ptr, text.len);
    *at_p += text.len;
    return copy;
}

static size_t text_size(struct slice path, const struct request_register_cleanup *rq)
{
    return path.len + rq->keep.len + rq->id.len;
}

static struct cleanup_path *new_path(struct slice path, const struct request_register_cleanup *rq)
{
    struct cleanup_path *s = calloc(1, sizeof *s + text_size(path, rq));
    char *at = s ? s->text : NULL;

    if (!s)
        return NULL;
    s->path = store_text(&at, path);
    s->stay = store_text(&at, rq->keep);
    s->id = store_text(&at, rq->id);
    return s;
}

enum answer_status control_register_cleanup(struct core *c, struct job *j, uint32_t rank,
                                            const struct request_register_cleanup *rq)
{
    uint32_t whose, flags = rq->flags;
    enum answer_status st = whose_end(j, rq, &whose);
    struct cleanup_path *s;
    struct slice path;
    char room[LIMIT_CLEANUP_PATH];

    if (st != ANSWER_OK)
        return st;
    if (!read_resource(rq->path, &path, &flags, room) || rq->keep.len > LIMIT_CLEANUP_PATH ||
        rq->id.len > LIMIT_CLEANUP_PATH)
        return ANSWER_BAD_VALUE;
    if (is_known(j, whose, flags, path, rq->id))
        return ANSWER_OK;
    if (!proc_can_keep(&j->procs[rank], text_size(path, rq)) || j->ncleanups >= LIMIT_JOB_CLEANUPS)
        return ANSWER_OVER_QUOTA;
    s = new_path(path, rq);
    if (!s)
        return ANSWER_NO_MEMORY;
    s->rank = whose;
    s->by = rank;
    s->flags = flags;
    list_append(&j->cleanups, &s->link);
    j->ncleanups++;
    proc_keeps(&j->procs[rank], text_size(path, rq));
    effects_push(&c->effects, EFFECT_WITH(proc_root, .job = j->id, .rank = rank));
    return ANSWER_OK;
}

bool control_is_cleanup_key(struct slice key)
{
    return slice_is(key, CLEANUP_KEY) || slice_starts(key, SLICE(CLEANUP_KEY "."));
}

enum answer_status control_register_resources(struct core *c, struct job *j, uint32_t rank,
                                              struct slice resources)
{
    enum answer_status st = resources.len ? ANSWER_OK : ANSWER_BAD_VALUE;

    while (resources.len && st == ANSWER_OK) {
        const struct request_register_cleanup rq = { .path =
                                                         slice_trim(slice_cut(&resources, ',')) };
        st = control_register_cleanup(c, j, rank, &rq);
    }
    return st;
}

static void drop_cleanup(struct job *j, struct cleanup_path *s)
{
    list_unlink(&s->link);
    j->ncleanups--;
    free(s);
}

static struct effect cleanup_effect(const struct job *j, const struct cleanup_path *s)
{
    return EFFECT_WITH(cleanup, .job = j->id, .rank = s->rank, .owner = s->by, .flags = s->flags,
                       .path = s->path, .keep = s->stay);
}

void control_each_cleanup(const struct job *j, control_cleanup_fn *fn, void *arg)
{
    LIST_EACH(l, &j->cleanups)
    {
        struct effect e = cleanup_effect(j, LIST_OF(l, const struct cleanup_path, link));
        fn(arg, &e.u.cleanup);
    }
}

enum answer_status control_cancel_cleanup(struct job *j, uint32_t rank, struct slice id)
{
    enum answer_status st = ANSWER_NOT_FOUND;

    LIST_EACH(l, &j->cleanups)
    {
        struct cleanup_path *s = LIST_OF(l, struct cleanup_path, link);
        if (s->by != rank || (id.len && !slice_eq(s->id, id)))
            continue;
        proc_drops(&j->procs[rank], s->path.len + s->stay.len + s->id.len);
        drop_cleanup(j, s);
        st = ANSWER_OK;
    }
    if (st == ANSWER_OK)
        effects_push(j->effects, EFFECT_WITH(proc_root, .job = j->id, .rank = rank));
    return st;
}

void control_ended(struct job *j, uint32_t rank)
{
    LIST_EACH(l, &j->cleanups)
    {
        struct cleanup_path *s = LIST_OF(l, struct cleanup_path, link);
        struct effect e = cleanup_effect(j, s);
        if (s->rank != rank)
            continue;
        if (effect_own(&e))
            effects_push(j->effects, e);
        drop_cleanup(j, s);
    }
}

/* ---- logs and credentials -------------------------------------------------------------------- */

enum answer_status control_log(struct core *c, struct job *j, uint32_t rank,
                               const struct request_log *rq)
{
    struct effect e =
        rq->topic.len
            ? EFFECT_WITH(help, .job = j->id, .rank = rank, .topic = rq->topic, .text = rq->text)
            : EFFECT_WITH(log, .job = j->id, .rank = rank, .channel = rq->channel, .text = rq->text,
                          .priority = rq->priority, .format = rq->format, .time_s = rq->time_s);

    if (rq->text.len > LIMIT_STDIO_TAIL)
        return ANSWER_BAD_VALUE;
    if (!effect_own(&e) || !effects_push(&c->effects, e))
        return ANSWER_NO_MEMORY;
    return ANSWER_OK;
}

enum answer_status control_credential(struct core *c, struct job *j, uint32_t rank, uint64_t ticket,
                                      const struct request_credential *rq)
{
    struct effect e =
        EFFECT_WITH(credential, .job = j->id, .ticket = ticket, .validate = rq->validate,
                    .credential = rq->credential, .kinds = rq->kinds, .rank = rank);

    if (!effect_own(&e) || !effects_push(&c->effects, e))
        return ANSWER_NO_MEMORY;
    return ANSWER_LATER;
}
