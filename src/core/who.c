/* who.c - see who.h.  One walk over jobs, fences and members; `struct writer` has the two ways to
 * say what is found. */
#include "core/who.h"

#include <string.h>

/* So many missing processes are described one by one; of more, only the numbers are told. */
enum { WHO_DETAILS_MAX = 64 };

struct writer {
    const struct who_options *o;
    struct buf *out;
    bool first; /* the next item of a JSON list needs no comma */
};

static double seconds(uint64_t from, uint64_t to)
{
    return from && to > from ? (double)(to - from) / 1e9 : 0;
}

static void item(struct writer *w)
{
    if (!w->first)
        buf_byte(w->out, ',');
    w->first = false;
}

/* ---- one process
 * ---------------------------------------------------------------------------------- */

static const char *machine_state(const struct writer *w, const struct proc *p)
{
    const char *s = NULL;

    if (w->o->machine_state && p->pid && p->state != LIFE_GONE)
        s = w->o->machine_state(w->o->arg, p->pid);
    return s ? s : "";
}

static void proc_text(struct writer *w, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];
    const char *state = machine_state(w, p);

    buf_printf(w->out, "    rank %u on %s (pid %d) %s%s%s", rank,
               j->plan.nodes[j->plan.procs[rank].node].name, p->pid, life_state_name(p->state),
               *state ? ", " : "", state);
    if (p->last_word)
        buf_printf(w->out, "; last request: %s, %.1f s ago\n", p->last_word,
                   seconds(p->last_ns, w->o->now_ns));
    else
        buf_str(w->out, "; has not said anything yet\n");
}

static void proc_json(struct writer *w, const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];

    item(w);
    buf_printf(w->out, "{\"rank\":%u,\"node\":", rank);
    buf_json(w->out, slice_str(j->plan.nodes[j->plan.procs[rank].node].name));
    buf_printf(w->out, ",\"pid\":%d,\"state\":\"%s\",\"machine_state\":\"%s\"", p->pid,
               life_state_name(p->state), machine_state(w, p));
    if (p->last_word)
        buf_printf(w->out, ",\"last_request\":\"%s\",\"seconds_ago\":%.3f", p->last_word,
                   seconds(p->last_ns, w->o->now_ns));
    buf_byte(w->out, '}');
}

/* ---- one fence
 * ------------------------------------------------------------------------------------ */

/* "3-5,9" */
static void missing_ranges(struct buf *out, const struct coll *c)
{
    uint32_t n = c->group->count;
    bool first = true;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = i;
        if (coll_is_here(c, i))
            continue;
        while (i + 1 < n && !coll_is_here(c, i + 1) &&
               coll_member(c->group, i + 1) == coll_member(c->group, i) + 1)
            i++;
        buf_printf(out, "%s%u", first ? "" : ",", coll_member(c->group, from));
        if (i > from)
            buf_printf(out, "-%u", coll_member(c->group, i));
        first = false;
    }
}

/* Some of the missing were here, and waited in vain. */
static void withdrawn_list(struct buf *out, const struct coll *c)
{
    bool first = true;

    for (uint32_t i = 0; c->withdrawn && i < c->group->count; i++) {
        if (!coll_has_withdrawn(c, i))
            continue;
        buf_printf(out, "%s%u", first ? "; timed out: " : ",", coll_member(c->group, i));
        first = false;
    }
}

static void each_missing(struct writer *w, const struct job *j, const struct coll *c)
{
    uint32_t told = 0;

    for (uint32_t i = 0; i < c->group->count && told < WHO_DETAILS_MAX; i++) {
        if (coll_is_here(c, i))
            continue;
        told++;
        if (w->o->json)
            proc_json(w, j, coll_member(c->group, i));
        else
            proc_text(w, j, coll_member(c->group, i));
    }
}

static void fence_text(struct writer *w, const struct job *j, const struct coll *c)
{
    buf_printf(w->out, "  fence %s, generation %llu, for %.1f s: %u of %u have arrived; missing: ",
               c->group->name, (unsigned long long)c->generation,
               seconds(c->since_ns, w->o->now_ns), c->arrived, c->group->count);
    missing_ranges(w->out, c);
    withdrawn_list(w->out, c);
    buf_byte(w->out, '\n');
    each_missing(w, j, c);
}

static void fence_json(struct writer *w, const struct job *j, const struct coll *c)
{
    item(w);
    buf_str(w->out, "{\"fence\":");
    buf_json(w->out, slice_str(c->group->name));
    buf_printf(w->out, ",\"generation\":%llu,\"seconds\":%.3f,\"members\":%u,\"arrived\":%u",
               (unsigned long long)c->generation, seconds(c->since_ns, w->o->now_ns),
               c->group->count, c->arrived);
    buf_str(w->out, ",\"missing\":\"");
    missing_ranges(w->out, c);
    buf_str(w->out, "\",\"processes\":[");
    w->first = true;
    each_missing(w, j, c);
    buf_str(w->out, "]}");
    w->first = false;
}

static uint32_t each_fence(struct writer *w, const struct job *j)
{
    uint32_t n = 0;

    LIST_EACH(gl, &j->colls.all)
    {
        struct coll_group *g = LIST_OF(gl, struct coll_group, link);
        LIST_EACH(cl, &g->rounds)
        {
            const struct coll *c = LIST_OF(cl, struct coll, link);
            n++;
            if (w->o->json)
                fence_json(w, j, c);
            else
                fence_text(w, j, c);
        }
    }
    return n;
}

/* ---- one job
 * -------------------------------------------------------------------------------------- */

static void count_states(const struct job *j, uint32_t *counts)
{
    memset(counts, 0, LIFE_STATES * sizeof *counts);
    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        counts[j->procs[r].state]++;
}

static void job_text(struct writer *w, const struct job *j)
{
    uint32_t counts[LIFE_STATES];

    count_states(j, counts);
    buf_printf(w->out, "job %u %s, %u processes:", j->id, j->nspace, j->plan.nprocs);
    for (int s = 0; s < LIFE_STATES; s++) {
        if (counts[s])
            buf_printf(w->out, " %u %s", counts[s], life_state_name((enum life_state)s));
    }
    buf_byte(w->out, '\n');
    if (each_fence(w, j) == 0)
        buf_str(w->out, "  nobody waits for anybody\n");
}

static void job_json(struct writer *w, const struct job *j)
{
    uint32_t counts[LIFE_STATES];

    count_states(j, counts);
    item(w);
    buf_printf(w->out, "{\"job\":%u,\"name\":", j->id);
    buf_json(w->out, slice_str(j->nspace));
    buf_printf(w->out, ",\"processes\":%u,\"states\":{", j->plan.nprocs);
    w->first = true;
    for (int s = 0; s < LIFE_STATES; s++) {
        item(w);
        buf_printf(w->out, "\"%s\":%u", life_state_name((enum life_state)s), counts[s]);
    }
    buf_str(w->out, "},\"pending\":[");
    w->first = true;
    each_fence(w, j);
    buf_str(w->out, "]}");
    w->first = false;
}

static bool is_wanted(const struct job *j, struct slice which)
{
    uint32_t id;

    return which.len == 0 || slice_is(which, j->nspace) || (slice_u32(which, &id) && id == j->id);
}

int who_report(const struct core *c, const struct who_options *o, struct buf *out)
{
    struct writer w = { o, out, true };
    uint32_t found = 0;

    if (o->json)
        buf_byte(out, '[');
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!is_wanted(j, o->job))
            continue;
        found++;
        if (o->json)
            job_json(&w, j);
        else
            job_text(&w, j);
    }
    if (o->json)
        buf_str(out, "]\n");
    return found || o->job.len == 0 ? 0 : WHO_NO_SUCH_JOB;
}
