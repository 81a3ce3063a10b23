/* who.c - see who.h.  One walk over jobs, fences, collectives across jobs and other pending
 * requests; `struct writer` has the two output formats. */
#include "report/who.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/limit.h"
#include "core/coll_id.h"
#include "core/rank_ranges.h"
#include "core/request.h"
#include "core/store_counters.h"
#include "report/findings.h"
#include "report/job_row.h"
#include "report/stack_tree.h"

/* At most this many missing processes, and this many pending requests, are described one by one; of
 * more, only the numbers are reported. */
enum { WHO_DETAILS_MAX = 64, WHO_IDLE_MAX = 16 };

struct writer {
    const struct core *core;
    const struct who_options *o;
    struct buf *out;
    struct json *json; /* NULL: the report is text */
};

static double seconds(uint64_t from, uint64_t to)
{
    return from && to > from ? (double)(to - from) / 1e9 : 0;
}

/* ---- one process ----------------------------------------------------------------------------- */

static const char *machine_state(const struct proc *p)
{
    const char *s =
        p->look && p->state != PROC_STATE_GONE ? findings_state_word(p->look->state) : NULL;

    return s ? s : "";
}

static void proc_text(struct writer *w, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];
    const char *state = machine_state(p);

    buf_printf(w->out, "    rank %u on %s (pid %d) %s%s%s", rank,
               j->plan.nodes[j->plan.procs[rank].node].name, p->pid, proc_state_name(p->state),
               *state ? ", " : "", state);
    if (*state && p->look->waits_in[0])
        buf_printf(w->out, " in %s", p->look->waits_in);
    if (*state)
        findings_cpu(p->look, w->out);
    if (p->last_word)
        buf_printf(w->out, "; last request: %s, %.1f s ago\n", p->last_word,
                   seconds(p->last_ns, w->o->now_ns));
    else
        buf_str(w->out, "; has not said anything yet\n");
}

static void json_proc_head(struct writer *w, const struct job *j, uint32_t rank)
{
    json_u64(w->json, "rank", rank);
    json_str(w->json, "node", j->plan.nodes[j->plan.procs[rank].node].name);
    json_i64(w->json, "pid", j->procs[rank].pid);
    json_str(w->json, "state", proc_state_name(j->procs[rank].state));
}

static void json_look(struct json *j, const struct proc_look *look)
{
    json_i64(j, "looked_at", look->pid);
    json_str(j, "waits_in", look->waits_in);
    if (look->over_ns) {
        json_decimal(j, "cpu_seconds", (double)look->cpu_ns / 1e9, 3);
        json_decimal(j, "cpu_within_seconds", (double)look->over_ns / 1e9, 3);
    }
    json_str(j, "mpi_library", look->mpi);
}

static void proc_json(struct writer *w, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];

    json_object(w->json, NULL);
    json_proc_head(w, j, rank);
    json_str(w->json, "machine_state", machine_state(p));
    if (*machine_state(p))
        json_look(w->json, p->look);
    if (p->last_word) {
        json_str(w->json, "last_request", p->last_word);
        json_decimal(w->json, "seconds_ago", seconds(p->last_ns, w->o->now_ns), 3);
    }
    json_object_end(w->json);
}

/* ---- one fence ------------------------------------------------------------------------------- */

/* The member's job and rank: of the job j, or, in a collective across jobs (j NULL), of whichever
 * job it is in.  NULL: its job has gone. */
static const struct job *whose(const struct writer *w, const struct job *j, uint32_t member,
                               uint32_t *rank_p)
{
    *rank_p = member;
    if (j)
        return j;
    LIST_EACH(l, &w->core->jobs)
    {
        const struct job *one = LIST_OF(l, struct job, link);
        *rank_p = member - one->base;
        if (member >= one->base && *rank_p < one->plan.nprocs)
            return one;
    }
    return NULL;
}

struct range {
    const struct job *job;
    uint32_t first, last;
};

static bool joins(const struct range *r, const struct job *job, uint32_t rank)
{
    return job == r->job && rank == r->last + 1;
}

/* Consecutive members from *at on, of one job, that are missing; false: no more. */
static bool next_missing(const struct writer *w, const struct job *j, const struct collective *c,
                         uint32_t *at, struct range *r_p)
{
    const struct job *job;
    bool begun = false;
    uint32_t rank;

    for (; *at < c->group->count; ++*at) {
        if (collective_is_here(c, *at) && begun)
            break;
        if (collective_is_here(c, *at))
            continue;
        job = whose(w, j, collective_member(c->group, *at), &rank);
        if (begun && !joins(r_p, job, rank))
            break;
        *r_p = (struct range){ job, begun ? r_p->first : rank, rank };
        begun = true;
    }
    return begun;
}

/* "3-5,9", and across jobs "3-5 of wireup-1, 9 of wireup-2". */
static void missing_ranges(const struct writer *w, const struct job *j, const struct collective *c,
                           struct buf *out)
{
    const char *between = "";
    uint32_t at = 0;
    struct range r = { NULL, 0, 0 };

    while (next_missing(w, j, c, &at, &r)) {
        buf_str(out, between);
        rank_range_put(out, r.first, r.last);
        if (!j)
            buf_printf(out, " of %s", r.job ? r.job->nspace : "a job that has ended");
        between = j ? "," : ", ";
    }
}

/* Some of the missing members had arrived and timed out. */
static void withdrawn_list(const struct writer *w, const struct job *j, const struct collective *c)
{
    const char *between = "; timed out: ";
    uint32_t rank;

    for (uint32_t i = 0; c->withdrawn && i < c->group->count; i++) {
        const struct job *job = whose(w, j, collective_member(c->group, i), &rank);
        if (!collective_has_withdrawn(c, i))
            continue;
        buf_printf(w->out, "%s%u", between, rank);
        if (!j && job)
            buf_printf(w->out, " of %s", job->nspace);
        between = ",";
    }
}

static void one_proc(struct writer *w, const struct job *j, uint32_t rank)
{
    if (w->json)
        proc_json(w, j, rank);
    else
        proc_text(w, j, rank);
}

static void each_missing(struct writer *w, const struct job *j, const struct collective *c)
{
    uint32_t shown = 0, rank;

    for (uint32_t i = 0; i < c->group->count && shown < WHO_DETAILS_MAX; i++) {
        const struct job *job = whose(w, j, collective_member(c->group, i), &rank);
        if (collective_is_here(c, i) || !job)
            continue;
        shown++;
        one_proc(w, job, rank);
    }
}

static void fence_text(struct writer *w, const struct job *j, const struct collective *c)
{
    buf_str(w->out, j ? "  fence " : "  meeting ");
    coll_group_show(slice_str(c->group->name), w->out);
    buf_printf(w->out, ", generation %llu, for %.1f s: %u of %u have arrived; missing: ",
               (unsigned long long)c->generation, seconds(c->since_ns, w->o->now_ns), c->arrived,
               c->group->count);
    missing_ranges(w, j, c, w->out);
    withdrawn_list(w, j, c);
    buf_byte(w->out, '\n');
    each_missing(w, j, c);
}

static void fence_json(struct writer *w, const struct job *j, const struct collective *c)
{
    struct buf text = BUF_NULL(w->out->max);

    json_object(w->json, NULL);
    coll_group_show(slice_str(c->group->name), &text);
    json_text(w->json, j ? "fence" : "meeting", buf_slice(&text));
    json_u64(w->json, "generation", c->generation);
    json_decimal(w->json, "seconds", seconds(c->since_ns, w->o->now_ns), 3);
    json_u64(w->json, "members", c->group->count);
    json_u64(w->json, "arrived", c->arrived);
    buf_clear(&text);
    missing_ranges(w, j, c, &text);
    json_text(w->json, "missing", buf_slice(&text));
    if (!buf_ok(&text))
        w->out->error = text.error;
    buf_free(&text);
    json_array(w->json, "processes");
    each_missing(w, j, c);
    json_array_end(w->json);
    json_object_end(w->json);
}

static void one_fence(struct writer *w, const struct job *j, const struct collective *c)
{
    if (w->json)
        fence_json(w, j, c);
    else
        fence_text(w, j, c);
}

static uint32_t each_round(struct writer *w, const struct job *j, const struct collective_group *g)
{
    uint32_t n = 0;

    LIST_EACH(l, &g->rounds)
    {
        one_fence(w, j, LIST_OF(l, struct collective, link));
        n++;
    }
    return n;
}

static bool takes_part(const struct job *j, const struct collective_group *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t member = collective_member(g, i);
        if (member >= j->base && member - j->base < j->plan.nprocs)
            return true;
    }
    return false;
}

static uint32_t each_fence(struct writer *w, const struct job *j)
{
    uint32_t n = 0;

    LIST_EACH(l, &j->colls.all)
    n += each_round(w, j, LIST_OF(l, struct collective_group, link));
    LIST_EACH(l, &w->core->meetings.all)
    {
        const struct collective_group *g = LIST_OF(l, struct collective_group, link);
        if (takes_part(j, g))
            n += each_round(w, NULL, g);
    }
    return n;
}

/* ---- counters of a store --------------------------------------------------------------------- */

/* Processes that ask again and again have asked so lately. */
enum { WHO_ASKED_NS = 2000000000 };

/* Somebody waits for the rest: PyTorch waits for a key that begins with the counter's. */
static bool is_awaited(const struct writer *w, const struct job *j, const struct store_counter *c)
{
    if (c->asked_ns && w->o->now_ns - c->asked_ns < WHO_ASKED_NS)
        return true;
    LIST_EACH(l, &w->core->waits.all)
    {
        const struct pending *one = LIST_OF(l, struct pending, link);
        if (one->job == j->id && one->kind == REQ_store &&
            slice_starts(one->name, store_counter_key(c)))
            return true;
    }
    return false;
}

static void uncounted_ranges(const struct job *j, const struct store_counter *c, struct buf *out)
{
    struct rank_ranges all = { .out = out };

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (!store_counter_has(c, r))
            rank_ranges_add(&all, r);
    }
    rank_ranges_end(&all);
}

static void each_uncounted(struct writer *w, const struct job *j, const struct store_counter *c)
{
    uint32_t shown = 0;

    for (uint32_t r = 0; r < j->plan.nprocs && shown < WHO_DETAILS_MAX; r++) {
        if (!store_counter_has(c, r)) {
            one_proc(w, j, r);
            shown++;
        }
    }
}

static void counter_text(struct writer *w, const struct job *j, const struct store_counter *c)
{
    buf_str(w->out, "  barrier of its store \"");
    buf_escaped(w->out, store_counter_key(c));
    buf_printf(w->out, "\", for %.1f s: %u of %u have arrived; missing: ",
               seconds(c->since_ns, w->o->now_ns), c->count, j->plan.nprocs);
    uncounted_ranges(j, c, w->out);
    buf_byte(w->out, '\n');
    each_uncounted(w, j, c);
}

static void counter_json(struct writer *w, const struct job *j, const struct store_counter *c)
{
    struct buf text = BUF_NULL(w->out->max);

    json_object(w->json, NULL);
    json_text(w->json, "store_barrier", store_counter_key(c));
    json_decimal(w->json, "seconds", seconds(c->since_ns, w->o->now_ns), 3);
    json_u64(w->json, "members", j->plan.nprocs);
    json_u64(w->json, "arrived", c->count);
    uncounted_ranges(j, c, &text);
    json_text(w->json, "missing", buf_slice(&text));
    if (!buf_ok(&text))
        w->out->error = text.error;
    buf_free(&text);
    json_array(w->json, "processes");
    each_uncounted(w, j, c);
    json_array_end(w->json);
    json_object_end(w->json);
}

static uint32_t each_counter(struct writer *w, const struct job *j)
{
    const struct store_counters *s = j->counters;
    uint32_t n = 0;

    for (int i = 0; s && i < STORE_COUNTERS; i++) {
        if (!s->all[i].ranks || !is_awaited(w, j, &s->all[i]))
            continue;
        if (w->json)
            counter_json(w, j, &s->all[i]);
        else
            counter_text(w, j, &s->all[i]);
        n++;
    }
    return n;
}

/* ---- one pending request --------------------------------------------------------------------- */

/* Of the requests that are reported. */
static const char *const reasons[REQ_KINDS] = {
    [REQ_get] = "it is being found out",
    [REQ_job_attr] = "it is being found out",
    [REQ_node_get] = "no process of the node has put it",
    [REQ_modex_get] = "no process has put it",
    [REQ_group_bootstrap] = "not all leaders, or not all that they add, have called",
    [REQ_collective] = "not all members have called",
    [REQ_lookup] = "no process is known to have published it",
    [REQ_publish] = "other launchers are being asked",
    [REQ_unpublish] = "other launchers are being asked",
    [REQ_spawn] = "it is being started",
    [REQ_store] = "no process has set it",
};

static const struct job *owner_of(const struct writer *w, const struct pending *one)
{
    const struct job *j =
        one->owner_job == PENDING_NOBODY ? NULL : core_job(w->core, one->owner_job);

    return j && one->owner_rank < j->plan.nprocs ? j : NULL;
}

static void wait_text(struct writer *w, const struct job *j, const struct pending *one)
{
    const struct job *owner = owner_of(w, one);

    buf_printf(w->out, "  %s ", request_word((enum request_kind)one->kind));
    if (one->name.len) {
        buf_byte(w->out, '"');
        buf_escaped(w->out, one->name);
        buf_byte(w->out, '"');
    } else {
        buf_str(w->out, "everything");
    }
    if (one->kind == REQ_spawn)
        buf_printf(w->out, ", %llu process%s", (unsigned long long)one->count,
                   one->count == 1 ? "" : "es");
    if (owner)
        buf_printf(w->out, " of rank %u", one->owner_rank);
    if (owner && owner != j)
        buf_printf(w->out, " of %s", owner->nspace);
    buf_printf(w->out, ", for %.1f s, by rank %u: ", seconds(one->since_ns, w->o->now_ns),
               one->rank);
    if (owner)
        buf_printf(w->out, "missing: %u\n", one->owner_rank);
    else
        buf_printf(w->out, "%s\n", reasons[one->kind]);
    if (owner)
        proc_text(w, owner, one->owner_rank);
}

static void wait_json(struct writer *w, const struct pending *one)
{
    const struct job *owner = owner_of(w, one);
    char rank[16];

    json_object(w->json, NULL);
    json_str(w->json, "request", request_word((enum request_kind)one->kind));
    json_text(w->json, "name", one->name);
    json_u64(w->json, "rank", one->rank);
    json_decimal(w->json, "seconds", seconds(one->since_ns, w->o->now_ns), 3);
    if (one->kind == REQ_spawn)
        json_u64(w->json, "count", one->count);
    json_str(w->json, "job", owner ? owner->nspace : "");
    if (owner) { /* a text, as the ranges of a fence */
        snprintf(rank, sizeof rank, "%u", one->owner_rank);
        json_str(w->json, "missing", rank);
    }
    json_array(w->json, "processes");
    if (owner)
        proc_json(w, owner, one->owner_rank);
    json_array_end(w->json);
    json_object_end(w->json);
}

static uint32_t each_wait(struct writer *w, const struct job *j)
{
    uint32_t n = 0;

    LIST_EACH(l, &w->core->waits.all)
    {
        const struct pending *one = LIST_OF(l, struct pending, link);
        if (one->job != j->id || n++ >= WHO_DETAILS_MAX)
            continue;
        if (w->json)
            wait_json(w, one);
        else
            wait_text(w, j, one);
    }
    if (n > WHO_DETAILS_MAX && !w->json)
        buf_printf(w->out, "  and %u requests more\n", n - WHO_DETAILS_MAX);
    return n;
}

/* ---- one job --------------------------------------------------------------------------------- */

static void count_states(const struct job *j, uint32_t *counts)
{
    memset(counts, 0, PROC_STATES * sizeof *counts);
    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        counts[j->procs[r].state]++;
}

/* It takes part in nothing any more, and did not end normally. */
static bool is_dead(const struct proc *p)
{
    if (p->state == PROC_STATE_GONE)
        return p->signalled || p->code != 0 || (p->unreachable && !p->left);
    return p->state == PROC_STATE_LOST;
}

static void dead_text(struct writer *w, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];
    const char *abbrev = p->signalled ? sigabbrev_np(p->code) : NULL;

    buf_printf(w->out, "  dead: rank %u on %s (pid %d), ", rank,
               j->plan.nodes[j->plan.procs[rank].node].name, p->pid);
    if (p->state == PROC_STATE_LOST)
        buf_str(w->out, "which has closed its connection\n");
    else if (p->signalled)
        buf_printf(w->out, "killed by signal %d (SIG%s)\n", p->code, abbrev ? abbrev : "?");
    else
        buf_printf(w->out, "exit code %d\n", p->code);
}

static void dead_json(struct writer *w, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];

    json_object(w->json, NULL);
    json_proc_head(w, j, rank);
    json_i64(w->json, p->signalled ? "signal" : "code", p->code);
    json_object_end(w->json);
}

static void each_dead(struct writer *w, const struct job *j,
                      void (*print)(struct writer *w, const struct job *j, uint32_t rank))
{
    uint32_t shown = 0;

    for (uint32_t r = 0; r < j->plan.nprocs && shown < WHO_DETAILS_MAX; r++) {
        if (is_dead(&j->procs[r])) {
            print(w, j, r);
            shown++;
        }
    }
}

/* Of a job whose processes something else starts: "2-3", those that have not connected. */
static bool late_ranges(const struct job *j, struct buf *out)
{
    const char *between = "";
    uint32_t end;

    for (uint32_t r = 0; j->is_adopted && r < j->plan.nprocs; r = end + 1) {
        for (end = r; end < j->plan.nprocs && j->procs[end].state == PROC_STATE_RUNNING; end++)
            continue;
        if (end == r)
            continue;
        buf_str(out, between);
        rank_range_put(out, r, end - 1);
        between = ",";
    }
    return *between;
}

static void late_text(struct writer *w, const struct job *j)
{
    struct buf ranks = BUF_NULL(w->out->max);

    if (late_ranges(j, &ranks) && buf_cstr(&ranks))
        buf_printf(w->out, "  not connected: %s\n", buf_cstr(&ranks));
    buf_free(&ranks);
}

static void late_json(struct writer *w, const struct job *j)
{
    struct buf ranks = BUF_NULL(w->out->max);

    if (late_ranges(j, &ranks))
        json_text(w->json, "not_connected", buf_slice(&ranks));
    buf_free(&ranks);
}

/* ---- what is wrong, and where the processes are ---- */

static void finding_text(void *arg, const struct finding *f)
{
    struct writer *w = arg;

    buf_printf(w->out, "  " SLICE_FMT "\n", SLICE_ARG(f->text));
}

static void finding_json(void *arg, const struct finding *f)
{
    struct writer *w = arg;

    json_object(w->json, NULL);
    json_str(w->json, "kind", f->kind);
    json_text(w->json, "ranks", f->ranks);
    json_text(w->json, "text", f->text);
    json_object_end(w->json);
}

/* The ranks that are in this state, of those that were looked at. */
static void put_state(struct writer *w, const struct job *j, char state)
{
    struct buf ranks = BUF_NULL(w->out->max);
    struct rank_ranges all = { .out = &ranks };

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->procs[r].look && j->procs[r].look->state == state)
            rank_ranges_add(&all, r);
    }
    rank_ranges_end(&all);
    if (buf_len(&ranks))
        buf_printf(w->out, "    %s: " SLICE_FMT "\n", findings_state_word(state),
                   SLICE_ARG(buf_slice(&ranks)));
    buf_free(&ranks);
}

/* Few processes are described one by one. */
static void idle_text(struct writer *w, const struct job *j)
{
    static const char states[] = "RSDTtZ";

    buf_str(w->out, "  nobody waits in the process manager: the program itself is busy or stuck\n");
    for (const char *s = states; *s && j->plan.nprocs > WHO_IDLE_MAX; s++)
        put_state(w, j, *s);
    for (uint32_t r = 0; r < j->plan.nprocs && j->plan.nprocs <= WHO_IDLE_MAX; r++) {
        if (*machine_state(&j->procs[r]))
            proc_text(w, j, r);
    }
}

/* Of those that were looked at. */
static void each_rank_json(struct writer *w, const struct job *j)
{
    json_array(w->json, "ranks");
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->procs[r].look)
            proc_json(w, j, r);
    }
    json_array_end(w->json);
}

static void make_tree(const struct job *j, struct stack_tree *t)
{
    stack_tree_init(t);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        const struct proc_look *look = j->procs[r].look;
        if (look && look->stack && j->procs[r].state != PROC_STATE_GONE)
            stack_tree_add(t, r, look->stack);
    }
    stack_tree_sort(t);
}

static void stacks_text(struct writer *w, const struct stack_tree *t)
{
    if (t->ngroups) {
        buf_str(w->out, "  calls, the few first:\n");
        stack_tree_text(t, 4, w->out);
    }
    if (w->o->no_stacks)
        buf_printf(w->out, "  no stacks %s\n", w->o->no_stacks);
}

static void stacks_json(struct writer *w, const struct stack_tree *t)
{
    struct buf scratch = BUF_NULL(w->out->max);

    json_array(w->json, "stacks");
    stack_tree_json(t, w->json, &scratch);
    json_array_end(w->json);
    json_str(w->json, "no_stacks", w->o->no_stacks);
    buf_free(&scratch);
}

static void put_id(const struct writer *w, const struct job *j, char id[JOB_ID_MAX])
{
    if (w->o->number)
        job_row_id(w->o->number, j->id == w->o->first, j->id, id);
    else
        snprintf(id, JOB_ID_MAX, "%u", j->id);
}

static void job_text(struct writer *w, const struct job *j)
{
    uint32_t counts[PROC_STATES];
    struct stack_tree t;
    char id[JOB_ID_MAX];

    count_states(j, counts);
    put_id(w, j, id);
    buf_printf(w->out, "job %s %s, %u process%s:", id, j->nspace, j->plan.nprocs,
               j->plan.nprocs == 1 ? "" : "es");
    for (int s = 0; s < PROC_STATES; s++) {
        if (counts[s])
            buf_printf(w->out, " %u %s", counts[s], proc_state_name((enum proc_state)s));
    }
    buf_byte(w->out, '\n');
    make_tree(j, &t);
    findings_each(j, w->o, &t, finding_text, w);
    each_dead(w, j, dead_text);
    late_text(w, j);
    if (each_fence(w, j) + each_counter(w, j) + each_wait(w, j) == 0)
        idle_text(w, j);
    stacks_text(w, &t);
    stack_tree_free(&t);
}

static void job_json_head(struct writer *w, const struct job *j)
{
    uint32_t counts[PROC_STATES];
    char id[JOB_ID_MAX];

    count_states(j, counts);
    put_id(w, j, id);
    json_str(w->json, "id", id);
    json_u64(w->json, "job", j->id);
    json_str(w->json, "name", j->nspace);
    json_u64(w->json, "processes", j->plan.nprocs);
    json_object(w->json, "states");
    for (int s = 0; s < PROC_STATES; s++)
        json_u64(w->json, proc_state_name((enum proc_state)s), counts[s]);
    json_object_end(w->json);
}

static void job_json(struct writer *w, const struct job *j)
{
    struct stack_tree t;

    make_tree(j, &t);
    json_object(w->json, NULL);
    job_json_head(w, j);
    json_array(w->json, "findings");
    findings_each(j, w->o, &t, finding_json, w);
    json_array_end(w->json);
    late_json(w, j);
    json_array(w->json, "pending");
    each_fence(w, j);
    each_counter(w, j);
    each_wait(w, j);
    json_array_end(w->json);
    json_array(w->json, "dead");
    each_dead(w, j, dead_json);
    json_array_end(w->json);
    json_array(w->json, "no_answer");
    for (uint32_t i = 0; i < w->o->nsilent; i++)
        json_str(w->json, NULL, w->o->silent[i].name);
    json_array_end(w->json);
    each_rank_json(w, j);
    stacks_json(w, &t);
    json_object_end(w->json);
    stack_tree_free(&t);
}

bool who_knows(uint32_t kind)
{
    return kind < REQ_KINDS && reasons[kind];
}

bool who_wants(const struct job *j, struct slice which)
{
    uint32_t id;

    return which.len == 0 || slice_is(which, j->nspace) || (slice_u32(which, &id) && id == j->id);
}

static uint32_t each_job(struct writer *w)
{
    uint32_t found = 0;

    LIST_EACH(l, &w->core->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (j->is_tool || !who_wants(j, w->o->job))
            continue;
        found++;
        if (w->json)
            job_json(w, j);
        else
            job_text(w, j);
    }
    return found;
}

int who_report(const struct core *c, const struct who_options *o, struct buf *out)
{
    struct json json;
    struct writer w = { c, o, out, o->json ? &json : NULL };
    uint32_t found;

    if (!o->json) {
        found = each_job(&w);
    } else {
        json_init(&json, out);
        json_array(&json, NULL);
        found = each_job(&w);
        json_array_end(&json);
        json_done(&json);
        buf_byte(out, '\n');
    }
    return found || o->job.len == 0 ? 0 : WHO_NO_SUCH_JOB;
}
