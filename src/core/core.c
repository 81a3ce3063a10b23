/* core.c - see core.h. */
#include "core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "core/core_names.h"
#include "core/key_store.h"
#include "core/effect.h"
#include "core/group_bootstrap.h"
#include "core/host_calls.h"
#include "core/job_connect.h"
#include "core/job_restart.h"
#include "core/modex.h"
#include "core/name_batch.h"
#include "core/store_counters.h"

void core_init(struct core *c, uint64_t seed)
{
    memset(c, 0, sizeof *c);
    c->seed = seed;
    c->effects.tick_ns = UINT64_MAX;
    list_init(&c->jobs);
    list_init(&c->foreign);
    nameservice_init(&c->names, seed);
    list_init(&c->lookups);
    list_init(&c->name_batches);
    list_init(&c->sets);
    list_init(&c->host_calls);
    pendings_init(&c->waits, seed);
    collective_set_init(&c->meetings, seed);
    group_store_init(&c->group_data);
    list_init(&c->bootstraps);
    c->bootstraps_due_ns = UINT64_MAX;
}

static void free_with_store(struct job *j)
{
    key_store_free(j->key_store);
    store_counters_free(j->counters);
    job_free(j);
}

void core_free(struct core *c)
{
    LIST_EACH(l, &c->jobs)
    free_with_store(LIST_OF(l, struct job, link));
    LIST_EACH(l, &c->foreign)
    free_with_store(LIST_OF(l, struct job, link));
    LIST_EACH(l, &c->lookups)
    nameservice_wait_free(LIST_OF(l, struct nameservice_wait, link));
    LIST_EACH(l, &c->name_batches)
    free(LIST_OF(l, struct name_batch, link));
    nameservice_free(&c->names);
    psets_free(&c->sets);
    host_calls_free(&c->host_calls);
    pendings_free(&c->waits);
    collective_set_free(&c->meetings);
    group_store_free(&c->group_data);
    group_bootstraps_free(c);
    effects_free(&c->effects);
    free(c->ended_jobs);
}

/* The processes of an application that has a name for them join those that have it already.
 * Without memory there is no set. */
static void define_set(struct core *c, const struct job *j, const struct job_map_app *app)
{
    struct pset_member *list = calloc(app->nprocs + (size_t)1, sizeof *list);

    for (uint32_t i = 0; list && i < app->nprocs; i++) {
        strncpy(list[i].nspace, j->nspace, sizeof list[i].nspace - 1);
        list[i].rank = app->first_rank + i;
    }
    if (list)
        psets_add(&c->sets, app->pset, list, app->nprocs);
    free(list);
}

/* The ends of its processes are news; that they run is none. */
static void take_part(struct job *j)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        j->procs[r].state = PROC_STATE_ATTACHED;
        j->procs[r].joined = true;
    }
    j->started = j->plan.nprocs;
}

struct job *core_job_order(struct core *c, const struct job_order *o)
{
    const struct job *from = core_job(c, o->parent);
    uint32_t id = o->numbered ? o->id : c->next_job;
    uint32_t base = o->numbered ? o->base : c->next_base;
    struct job *j = job_new(&(struct job_params){ .id = id,
                                                  .parent = o->parent,
                                                  .base = base,
                                                  .nspace = o->nspace,
                                                  .parent_name = from ? from->nspace : NULL,
                                                  .parent_rank = o->parent_rank,
                                                  .plan = o->plan,
                                                  .region = o->region,
                                                  .seed = c->seed,
                                                  .keep_going = o->keep_going,
                                                  .here = o->here,
                                                  .follows = o->follows,
                                                  .effects = &c->effects,
                                                  .meetings = &c->meetings });

    if (!j)
        return NULL;
    j->core = c;
    j->wdir = c->wdir;
    j->sessions = o->is_tool || o->is_foreign ? NULL : c->sessions;
    j->is_tool = o->is_tool;
    j->is_asked = o->is_asked;
    j->is_adopted = o->is_adopted;
    j->is_foreign = o->is_foreign;
    j->session = o->session;
    if (o->epoch)
        job_restart_join(j, o->epoch);
    c->next_job = id >= c->next_job ? id + 1 : c->next_job;
    base += j->plan.nprocs;
    c->next_base = base > c->next_base ? base : c->next_base;
    list_append(o->is_foreign ? &c->foreign : &c->jobs, &j->link);
    if (o->is_foreign)
        take_part(j);
    for (uint32_t i = 0; i < j->plan.napps && !o->is_foreign; i++) {
        if (j->plan.apps[i].pset)
            define_set(c, j, &j->plan.apps[i]);
    }
    return j;
}

struct job *core_job_add(struct core *c, const char *nspace, struct job_map *plan,
                         struct seg_region *region, uint32_t parent, bool keep_going)
{
    return core_job_order(c, &(struct job_order){ .nspace = nspace,
                                                  .plan = plan,
                                                  .region = region,
                                                  .parent = parent,
                                                  .keep_going = keep_going,
                                                  .here = JOB_ALL_HERE });
}

void core_place(struct core *c, const struct job *j, uint32_t rank)
{
    bool one = rank < j->plan.nprocs;

    if (j->sessions)
        effects_push(&c->effects,
                     EFFECT_WITH(session_dir, .job = j->id, .rank = one ? rank : JOB_NO_RANK));
}

enum { ENDED_JOBS_FIRST = 8 }; /* grows to CORE_ENDED_JOBS */

/* Without memory it is forgotten. */
static void bury(struct core *c, const struct job *j)
{
    struct ended_job *all =
        c->nended >= CORE_ENDED_JOBS
            ? c->ended_jobs
            : grow_by_one(c->ended_jobs, sizeof *all, c->nended, &c->ended_room, ENDED_JOBS_FIRST);
    struct ended_job *g;

    if (!all)
        return;
    c->ended_jobs = all;
    g = &all[c->nended++ % CORE_ENDED_JOBS];
    *g = (struct ended_job){
        .id = j->id, .parent = j->parent, .failed = j->failed, .exit_code = j->exit_code
    };
    snprintf(g->nspace, sizeof g->nspace, "%s", j->nspace);
}

static bool has_name(const struct ended_job *g, const void *nspace)
{
    return slice_is(*(const struct slice *)nspace, g->nspace);
}

static bool has_number(const struct ended_job *g, const void *id)
{
    return g->id == *(const uint32_t *)id;
}

/* The most recent one; NULL: none. */
static const struct ended_job *find_ended(const struct core *c,
                                          bool (*is)(const struct ended_job *g, const void *what),
                                          const void *what)
{
    for (uint32_t i = c->nended; i > 0 && c->nended - i < CORE_ENDED_JOBS; i--) {
        const struct ended_job *g = &c->ended_jobs[(i - 1) % CORE_ENDED_JOBS];
        if (is(g, what))
            return g;
    }
    return NULL;
}

const struct ended_job *core_ended_job(const struct core *c, struct slice nspace)
{
    return find_ended(c, has_name, &nspace);
}

const struct ended_job *core_ended_number(const struct core *c, uint32_t id)
{
    return find_ended(c, has_number, &id);
}

void core_job_remove(struct core *c, struct job *j)
{
    if (!j->is_tool)
        bury(c, j);
    if (j->is_foreign)
        modex_job_gone(j);
    core_names_job_ended(c, j);
    if (!j->facts.count) /* a host of others deletes its own */
        psets_job_ended(&c->sets, j->nspace);
    group_store_job_ended(&c->group_data, j->id);
    LIST_EACH(l, &c->jobs)
    job_forget(LIST_OF(l, struct job, link), j->id);
    free_with_store(j);
    group_bootstrap_job_ended(c);
}

static struct job *find_id(const struct list *jobs, uint32_t id)
{
    LIST_EACH(l, jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (j->id == id)
            return j;
    }
    return NULL;
}

struct job *core_job(const struct core *c, uint32_t id)
{
    struct job *j = find_id(&c->jobs, id);

    return j ? j : find_id(&c->foreign, id);
}

bool core_job_number(const struct core *c, struct slice nspace, uint32_t *id_p)
{
    const struct job *j = core_job_named(c, nspace);
    const struct ended_job *g = j ? NULL : core_ended_job(c, nspace);

    *id_p = j ? j->id : g ? g->id : JOB_NO_RANK;
    return j || g;
}

const char *core_job_name(const struct core *c, uint32_t id)
{
    const struct job *j = core_job(c, id);
    const struct ended_job *g = j ? NULL : core_ended_number(c, id);

    return j ? j->nspace : g ? g->nspace : NULL;
}

struct job *core_job_of_id(const struct core *c, uint32_t id)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (id >= j->base && id - j->base < j->plan.nprocs)
            return j;
    }
    return NULL;
}

static struct job *find_name(const struct list *jobs, struct slice nspace)
{
    LIST_EACH(l, jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (slice_is(nspace, j->nspace))
            return j;
    }
    return NULL;
}

struct job *core_job_named(const struct core *c, struct slice nspace)
{
    return find_name(&c->jobs, nspace);
}

struct job *core_known_job(const struct core *c, struct slice nspace)
{
    struct job *j = find_name(&c->jobs, nspace);

    return j ? j : find_name(&c->foreign, nspace);
}

uint32_t core_running(const struct core *c)
{
    uint32_t n = 0;

    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        n += j->is_tool ? 0 : j->plan.nprocs - j->ended;
    }
    return n;
}

struct job *core_first_job(const struct core *c)
{
    LIST_EACH(l, &c->jobs)
    {
        struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool)
            return j;
    }
    return NULL;
}
