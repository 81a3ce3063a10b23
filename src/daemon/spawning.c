/* spawning.c - see spawning.h. */
#include "daemon/spawning.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/effect.h"
#include "daemon/allocations.h"
#include "daemon/colocate.h"
#include "daemon/cospawn.h"
#include "daemon/dvm_leases.h"
#include "daemon/job_msgs.h"
#include "daemon/preflight.h"
#include "daemon/cluster_io.h"
#include "daemon/spawn_growth.h"
#include "daemon/spawn_limit.h"

/* Processes of the job on other nodes may not have been tried yet. */
static bool all_tried(const struct job *job)
{
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        if (job->procs[r].state == PROC_STATE_PLANNED)
            return false;
    }
    return true;
}

static void answer_spawn(const struct node_context *c, uint64_t ticket, const struct answer *a)
{
    if (!c->cluster || !rpc_answer(&c->cluster->dispatch.rpc, ticket, a))
        server_answer(c->server, ticket, a);
}

/* Who is answered: the requester, or both jobs of its request are tried first. */
struct spawn_asker {
    uint64_t ticket;
    struct cospawn *both; /* NULL: the request is one job */
    bool beside;
    uint32_t session;  /* what a scheduler has granted to it; 0: nothing */
    uint64_t since_ns; /* the request was made then */
};

/* What the requester has been told is no failure of its own. */
static void end_both(struct local_jobs *jobs, const struct cospawn *k)
{
    struct server *s = jobs->context->server;

    for (uint32_t i = 0; i < k->njobs; i++) {
        const struct job *j = core_job(&s->core, k->jobs[i]);
        struct local_job *w = j ? local_job_of(jobs, j) : NULL;
        if (!w)
            continue;
        w->late = true;
        server_abort(s, j, JOB_NO_RANK, 1,
                     "the spawned job %s is ended: the one beside it could not be started",
                     j->nspace);
    }
}

static void answer_spawner(struct local_jobs *jobs, const struct spawn_asker *who, uint32_t job,
                           const struct answer *a)
{
    const struct node_context *c = jobs->context;
    struct cospawn *k = who->both;
    struct answer of_both;

    if (!k) {
        answer_spawn(c, who->ticket, a);
        return;
    }
    if (!cospawn_tried(k, !who->beside, job, a))
        return;
    of_both = cospawn_answer(k);
    answer_spawn(c, k->ticket, &of_both);
    if (k->failure)
        end_both(jobs, k);
    cospawn_free(k);
}

/* By the code of a process that has not been started. */
static enum spawn_failure failure_of(int code)
{
    switch (code) {
    case SPAWN_CODE_NO_PROGRAM: return SPAWN_NO_PROGRAM;
    case SPAWN_CODE_NOT_EXECUTABLE: return SPAWN_NOT_EXECUTABLE;
    case SPAWN_CODE_NO_DIRECTORY: return SPAWN_NO_DIRECTORY;
    default: return SPAWN_NOT_STARTED;
    }
}

/* The reason of the first one that has one of its own: the others are skipped because of it. */
static enum spawn_failure mark_failures(struct local_job *w)
{
    const struct job *job = w->job;
    enum spawn_failure why = w->refusal;

    for (uint32_t i = 0; i < w->ncodes && i < job->plan.nprocs; i++) {
        const struct proc *p = &job->procs[i];
        if (!proc_was_not_started(p))
            continue;
        w->codes[i] = -1;
        if (!why || why == SPAWN_NOT_STARTED)
            why = failure_of(p->start_code);
    }
    if (why == SPAWN_NOT_STARTED && job->failed && job->exit_code == SPAWN_CODE_REFUSED)
        return SPAWN_NO_PLACE;
    return why;
}

static void answer(struct local_job *w)
{
    struct job *job = w->job;
    struct spawn_asker who = { w->ticket, w->both, w->beside };
    enum spawn_failure failed = mark_failures(w);
    struct answer a;

    spawning_state_event(&w->spawning, SPAWNING_EVENT_ANSWER, w->jobs->context->log);
    spawn_limit_started(w);
    /* When all are started, there is nothing to list. */
    a = ANSWER_TO(spawn, failed ? ANSWER_FAILED : ANSWER_OK, .nspace = slice_str(job->nspace),
                  .codes = { w->codes, failed ? w->ncodes : 0 }, .failure = failed);
    w->both = NULL;
    answer_spawner(w->jobs, &who, job->id, &a);
    if (!failed && w->ended_early && !w->late) /* it was started, and failed meanwhile */
        server_abort_connected(w->jobs->context->server, job);
}

void spawning_answer(struct local_job *w)
{
    if (w->spawning == SPAWNING_STATE_AWAITED && (!w->job->spread || all_tried(w->job)))
        answer(w);
}

void spawning_on_state(struct local_jobs *jobs, struct job *j)
{
    struct local_job *w = local_job_of(jobs, j);

    if (!w)
        return;
    local_job_list(w);
    spawning_answer(w);
}

static void put_presets(struct server *s, struct job *job, const struct spawn_request *rq)
{
    for (uint32_t i = 0; i < rq->npreputs; i++)
        server_preset(s, job, rq->preputs[i].key, rq->preputs[i].value);
}

/* Selects the processes whose standard input the spawner wants to feed. */
static void choose_fed(struct local_job *w, const struct spawn_request *rq)
{
    struct slice who = spawn_info_of_all(rq->commands, rq->ncommands, "stdin");

    if (slice_is(who, "all"))
        w->push_to = NODE_STDIN_ALL;
    else if (slice_u32(who, &w->push_rank))
        w->push_to = NODE_STDIN_ONE;
}

static bool is_recoverable(const struct spawn_request *rq)
{
    for (uint32_t i = 0; i < rq->ncommands; i++) {
        if (spawn_info(&rq->commands[i], SPAWN_RECOVERABLE).len)
            return true;
    }
    return false;
}

static void report(const struct node_context *c, const struct job_map *plan)
{
    struct slice rest = slice_str(plan->report);

    while (rest.len) {
        struct slice line = slice_cut(&rest, '\n');
        log_error(c->log, SLICE_FMT, SLICE_ARG(line));
    }
}

/* Nothing is started: the plan was all that was wanted. */
static int stop_here(struct local_jobs *jobs, const struct spawn_asker *who, struct job_map *plan,
                     int *codes)
{
    char name[160];
    struct answer a;

    local_job_next_name(jobs, name, sizeof name);
    a = ANSWER_TO(spawn, ANSWER_OK, .nspace = slice_str(name));
    answer_spawner(jobs, who, JOB_NO_RANK, &a);
    job_map_free(plan);
    free(codes);
    return 0;
}

/* Takes the plan over.  0, or the request is refused with a sentence: enum spawn_failure. */
static int start(struct local_jobs *jobs, const struct op_spawn *e, struct job *parent,
                 uint32_t session, struct job_map *plan, struct local_job **w_p, struct errmsg *err)
{
    const struct node_context *c = jobs->context;
    bool strict = plan->ways & JOB_MAP_STRICT;
    bool keep_going = !strict && (c->config->keep_going || is_recoverable(e->request));
    struct local_job *w;

    jobs->session = session;
    w = *w_p = local_job_lead(jobs, plan, parent, e->request->requestor, keep_going, err);

    if (!w) {
        job_map_free(plan);
        return SPAWN_NO_NODES;
    }
    if (preflight_here(w, err) != 0) {
        local_job_free(w);
        return SPAWN_NO_FILES;
    }
    choose_fed(w, e->request);
    put_presets(c->server, w->job, e->request);
    if (c->cluster)
        job_msgs_announce(c->cluster, w, e->request);
    spawning_state_event(&w->spawning, SPAWNING_EVENT_REQUEST, c->log);
    w->ticket = e->ticket;
    local_jobs_start(jobs);
    return 0;
}

/* The plan whose nodes and environment a job of this requester gets; NULL: there is none.  (A tool
 * has none of its own here.) */
static const struct job_map *plan_like(const struct node_context *c, const struct job *parent)
{
    const struct job *first;

    if (!parent->is_tool)
        return &parent->plan;
    if (c->config->tools_like)
        return c->config->tools_like;
    first = core_first_job(&c->server->core);
    return first ? &first->plan : NULL;
}

/* A job that a tool gives to a DVM goes where slots are free, like those of launchers. */
static int offer_free(const struct node_config *c, const struct spawn_request *rq,
                      struct job_map *view, struct errmsg *err)
{
    bool shares = !spawn_info_of_all(rq->commands, rq->ncommands, SPAWN_NOT_OVER).len;

    return dvm_leases_offer(c->dvm_leases, spawn_nprocs(rq), shares, view)
               ? errmsg_set(err, SPAWN_NO_RESOURCES, "out of memory")
               : 0;
}

/* On the nodes that jobs of this session may use; debuggers' daemons go where their targets are. */
static int make_plan(struct local_jobs *jobs, const struct op_spawn *e, const struct job *parent,
                     uint32_t session, struct job_map *plan, int *codes, struct errmsg *err)
{
    const struct node_config *c = jobs->context->config;
    const struct job_map *like = plan_like(jobs->context, parent);
    struct job_map view;
    int rc;

    if (!c->plan_spawn || !like)
        return errmsg_set(err, SPAWN_NOT_STARTED, "this launcher cannot start more processes");
    if (spawn_info_of_all(e->request->commands, e->request->ncommands, SPAWN_COLOCATE).len)
        return c->plan_spawn(c->arg, like, e->request, plan, codes, err);
    rc = allocations_view(jobs->allocations, like, session, &view, err);
    if (rc == 0 && parent->is_tool && !session && c->dvm_leases)
        rc = offer_free(c, e->request, &view, err);
    if (rc == 0)
        rc = c->plan_spawn(c->arg, &view, e->request, plan, codes, err);
    arena_free(&view.arena);
    if (rc == 0 && (rc = allocations_check(jobs->allocations, plan, session, err)) != 0)
        job_map_free(plan);
    return rc;
}

/* Takes the codes over if it succeeds.  0, or as above; *job_p: the job that was started, or NULL.
 */
static int plan_and_start(struct local_jobs *jobs, const struct op_spawn *e,
                          const struct spawn_asker *who, struct job *parent, uint32_t session,
                          int *codes, uint32_t ncodes, const struct job **job_p, struct errmsg *err)
{
    const struct node_context *c = jobs->context;
    struct local_job *w;
    struct job_map plan;
    int rc = make_plan(jobs, e, parent, session, &plan, codes, err);

    *job_p = NULL;
    if (rc)
        return rc;
    report(c, &plan);
    if (plan.ways & JOB_MAP_NO_LAUNCH)
        return stop_here(jobs, who, &plan, codes);
    rc = start(jobs, e, parent, session, &plan, &w, err);
    if (rc)
        return rc;
    *job_p = w->job;
    w->both = who->both;
    w->beside = who->beside;
    w->codes = codes;
    w->ncodes = ncodes;
    spawn_limit_begin(w, e->request, who->since_ns, answer);
    return 0;
}

/* Likewise, with the nodes that the request reserves.  What a scheduler has granted is dropped by
 * the caller if this fails. */
static int begin_spawn(struct local_jobs *jobs, const struct op_spawn *e,
                       const struct spawn_asker *who, struct job *parent, int *codes,
                       uint32_t ncodes, struct errmsg *err)
{
    const struct job *started = NULL;
    uint32_t session = who->session;
    bool made = session != 0;
    int rc = 0;

    if (!session)
        rc = allocations_for_spawn(jobs->allocations, e->request, parent, &session, &made, err);
    if (rc)
        return rc;
    rc = plan_and_start(jobs, e, who, parent, session, codes, ncodes, &started, err);
    if (made && started)
        allocations_give(jobs->allocations, session, started);
    else if (made && (rc == 0 || !who->session))
        allocations_drop(jobs->allocations, session);
    return rc;
}

static void refuse(struct local_jobs *jobs, const struct op_spawn *e, const struct spawn_asker *who,
                   struct answer *a, const char *why)
{
    const struct job *parent = core_job(&jobs->context->server->core, e->job);

    a->text = slice_str(why);
    if (!parent || parent->phase == JOB_RUNNING) /* else there is a worse failure to report */
        log_error(jobs->context->log, "spawn: %s", why);
    answer_spawner(jobs, who, JOB_NO_RANK, a);
}

static void begin(struct local_jobs *jobs, const struct op_spawn *e, const struct spawn_asker *who)
{
    struct job *parent = core_job(&jobs->context->server->core, e->job);
    struct errmsg err = { "too many processes in one spawn request" };
    int rc = colocate(&jobs->context->server->core, e->request, &err);
    uint64_t count = spawn_nprocs(e->request);
    int *codes = count <= LIMIT_JOB_PROCS ? calloc(count + 1, sizeof *codes) : NULL;

    if (rc == 0 && (!parent || !codes))
        rc = SPAWN_NO_RESOURCES;
    else if (rc == 0)
        rc = begin_spawn(jobs, e, who, parent, codes, (uint32_t)count, &err);
    if (rc) {
        struct answer a = ANSWER_TO(spawn, ANSWER_FAILED,
                                    .codes = { codes, codes ? (uint32_t)count : 0 }, .failure = rc);
        if (who->session)
            allocations_drop(jobs->allocations, who->session);
        refuse(jobs, e, who, &a, err.text);
        free(codes);
    }
}

/* The second job is begun unless the first one has been refused at once. */
static void begin_both(struct local_jobs *jobs, const struct op_spawn *e, struct spawn_asker who,
                       struct spawn_request parts[2])
{
    const struct answer skipped = ANSWER_TO(spawn, ANSWER_FAILED, .failure = SPAWN_NOT_STARTED);
    struct op_spawn part = *e;

    part.request = &parts[0];
    begin(jobs, &part, &who);
    who.beside = true;
    part.request = &parts[1];
    if (who.both->failure)
        answer_spawner(jobs, &who, JOB_NO_RANK, &skipped);
    else
        begin(jobs, &part, &who);
}

static void refuse_whole(struct local_jobs *jobs, const struct op_spawn *e, int failure,
                         const char *why)
{
    const struct spawn_asker who = { .ticket = e->ticket };
    struct answer a = ANSWER_TO(spawn, ANSWER_FAILED, .failure = failure);

    refuse(jobs, e, &who, &a, why);
}

static void begin_request(struct local_jobs *jobs, const struct op_spawn *e,
                          const struct spawn_held *h)
{
    struct spawn_asker who = { .ticket = e->ticket,
                               .session = h->session,
                               .since_ns = h->since_ns };
    struct errmsg err = { "out of memory" };
    struct spawn_request parts[2];
    int rc = 0;

    if (!cospawn_is_wanted(e->request)) {
        begin(jobs, e, &who);
        return;
    }
    rc = cospawn_split(e->request, parts, &err);
    if (rc == 0)
        who.both = cospawn_new(&jobs->cospawns, e->ticket);
    if (who.both)
        begin_both(jobs, e, who, parts);
    else
        refuse_whole(jobs, e, rc > 0 ? rc : SPAWN_NO_RESOURCES, err.text);
}

void spawning_go_on(struct local_jobs *jobs, const struct spawn_held *h)
{
    const struct op_spawn e = { .job = h->job, .ticket = h->ticket, .request = h->request };

    if (h->failure)
        refuse_whole(jobs, &e, h->failure, h->why.text);
    else if (h->session || !jobs->allocations || !allocations_ask(jobs->allocations, h))
        begin_request(jobs, &e, h);
}

void spawning_begin(struct local_jobs *jobs, const struct op_spawn *e)
{
    const struct spawn_held h = {
        .job = e->job, .ticket = e->ticket, .request = e->request, .since_ns = clock_now_ns()
    };

    if (!jobs->growths || !spawn_growth_begin(jobs->growths, &h))
        spawning_go_on(jobs, &h);
}
