/* job_row.c - see job_row.h.  Reading order: one line, written and read; the lines of a core. */
#include "report/job_row.h"

#include <stdio.h>

#include "core/proc_look.h"
#include "core/rank_ranges.h"
#include "core/request.h"

enum { WAITS_MAX = 1 << 12 };

static const char *const state_names[JOB_ROW_STATES] = {
    [JOB_ROW_STARTING] = "starting",
    [JOB_ROW_RUNNING] = "running",
    [JOB_ROW_STOPPED] = "stopped",
    [JOB_ROW_ENDING] = "ending",
};

const char *job_row_state_name(enum job_row_state state)
{
    return state_names[state];
}

void job_row_id(uint32_t number, bool is_first, uint32_t job, char id[JOB_ID_MAX])
{
    if (is_first)
        snprintf(id, JOB_ID_MAX, "%u", number);
    else
        snprintf(id, JOB_ID_MAX, "%u.%u", number, job);
}

/* ---- one line -------------------------------------------------------------------------------- */

static void put_u64(struct buf *out, uint64_t v)
{
    buf_byte(out, '\t');
    buf_u64(out, v);
}

static void put_text(struct buf *out, struct slice text)
{
    buf_byte(out, '\t');
    buf_slice_put(out, text);
}

void launcher_row_put(const struct launcher_row *r, struct buf *out)
{
    buf_str(out, "launcher");
    put_u64(out, JOB_ROWS_VERSION);
    put_u64(out, r->number);
    put_u64(out, (uint64_t)r->pid);
    put_u64(out, r->is_dvm);
    put_text(out, r->dvm_name);
    put_u64(out, r->nodes);
    put_u64(out, r->slots);
    put_u64(out, r->free);
    put_u64(out, r->waiting);
    put_text(out, r->lost);
    put_text(out, r->draining);
    put_text(out, r->silent);
    buf_byte(out, '\n');
}

static void job_row_put(const struct job_row *r, struct buf *out)
{
    buf_str(out, "job");
    put_u64(out, r->job);
    put_u64(out, r->is_first);
    put_text(out, r->nspace);
    put_text(out, r->label);
    put_text(out, r->program);
    put_u64(out, r->ranks);
    put_u64(out, r->nodes);
    put_u64(out, r->state);
    put_u64(out, r->age_s);
    put_u64(out, r->looked);
    put_u64(out, r->permille);
    put_u64(out, r->cpu_ms);
    put_u64(out, r->memory);
    put_u64(out, r->waiting);
    put_text(out, r->waits);
    buf_byte(out, '\n');
}

static uint64_t get_u64(struct slice *line, uint64_t most, bool *good)
{
    uint64_t v = 0;

    if (!slice_u64(slice_cut(line, '\t'), &v) || v > most)
        *good = false;
    return *good ? v : 0;
}

static uint32_t get_u32(struct slice *line, bool *good)
{
    return (uint32_t)get_u64(line, UINT32_MAX, good);
}

bool launcher_row_get(struct slice line, struct launcher_row *r)
{
    bool good = slice_is(slice_cut(&line, '\t'), "launcher");

    good = get_u64(&line, JOB_ROWS_VERSION, &good) == JOB_ROWS_VERSION && good;
    r->number = get_u32(&line, &good);
    r->pid = (int)get_u64(&line, INT32_MAX, &good);
    r->is_dvm = get_u64(&line, 1, &good) != 0;
    r->dvm_name = slice_cut(&line, '\t');
    r->nodes = get_u32(&line, &good);
    r->slots = get_u64(&line, UINT64_MAX, &good);
    r->free = get_u64(&line, UINT64_MAX, &good);
    r->waiting = get_u32(&line, &good);
    r->lost = slice_cut(&line, '\t');
    r->draining = slice_cut(&line, '\t');
    r->silent = line;
    return good;
}

bool job_row_get(struct slice line, struct job_row *r)
{
    bool good = slice_is(slice_cut(&line, '\t'), "job");

    r->job = get_u32(&line, &good);
    r->is_first = get_u64(&line, 1, &good) != 0;
    r->nspace = slice_cut(&line, '\t');
    r->label = slice_cut(&line, '\t');
    r->program = slice_cut(&line, '\t');
    r->ranks = get_u32(&line, &good);
    r->nodes = get_u32(&line, &good);
    r->state = (enum job_row_state)get_u64(&line, JOB_ROW_STATES - 1, &good);
    r->age_s = get_u64(&line, UINT64_MAX, &good);
    r->looked = get_u32(&line, &good);
    r->permille = get_u32(&line, &good);
    r->cpu_ms = get_u64(&line, UINT64_MAX, &good);
    r->memory = get_u64(&line, UINT64_MAX, &good);
    r->waiting = get_u32(&line, &good);
    r->waits = line;
    return good && r->nspace.len > 0;
}

/* ---- what a job uses ------------------------------------------------------------------------- */

static void add_look(struct job_row *r, const struct proc_look *look, uint32_t *stopped)
{
    uint64_t share = look->over_ns ? look->cpu_ns / (look->over_ns / 1000 + 1) : 0;

    r->looked++;
    r->permille += (uint32_t)(share > UINT16_MAX ? UINT16_MAX : share);
    r->cpu_ms += look->total_ns / 1000000;
    r->memory += look->rss;
    *stopped += look->state == 'T';
}

static void count_procs(const struct job *merged, struct job_row *r)
{
    uint32_t planned = 0, stopped = 0;

    for (uint32_t i = 0; i < merged->plan.nprocs; i++) {
        const struct proc *p = &merged->procs[i];
        planned += p->state == PROC_STATE_PLANNED;
        if (p->look && p->state != PROC_STATE_GONE)
            add_look(r, p->look, &stopped);
    }
    if (planned)
        r->state = JOB_ROW_STARTING;
    else if (stopped && stopped == r->looked)
        r->state = JOB_ROW_STOPPED;
}

/* ---- who waits ------------------------------------------------------------------------------- */

static void put_missing(const struct collective *c, struct buf *out)
{
    struct rank_ranges missing = { .out = out };

    for (uint32_t i = 0; i < c->group->count; i++) {
        if (!collective_is_here(c, i))
            rank_ranges_add(&missing, collective_member(c->group, i));
    }
    rank_ranges_end(&missing);
}

/* The round that most processes wait in. */
static const struct collective *fullest(const struct job *j, struct job_row *r)
{
    const struct collective *most = NULL;

    LIST_EACH(gl, &j->colls.all)
    {
        const struct collective_group *g = LIST_OF(gl, struct collective_group, link);
        LIST_EACH(l, &g->rounds)
        {
            const struct collective *c = LIST_OF(l, struct collective, link);
            r->waiting += c->arrived;
            if (!most || c->arrived > most->arrived)
                most = c;
        }
    }
    return most;
}

static const struct pending *first_wait(const struct core *c, uint32_t job, struct job_row *r)
{
    const struct pending *first = NULL;

    LIST_EACH(l, &c->waits.all)
    {
        const struct pending *one = LIST_OF(l, struct pending, link);
        if (one->job != job)
            continue;
        r->waiting++;
        first = first ? first : one;
    }
    return first;
}

static void find_waits(const struct core *c, const struct job *j, struct job_row *r,
                       struct buf *text)
{
    const struct collective *fence = fullest(j, r);
    const struct pending *wait = first_wait(c, j->id, r);

    if (fence && fence->arrived) {
        buf_printf(text, "fence: %u of %u, missing ", fence->arrived, fence->group->count);
        put_missing(fence, text);
    } else if (wait) {
        buf_printf(text, "%s, by rank %u", request_word((enum request_kind)wait->kind), wait->rank);
    }
    r->waits = buf_slice(text);
}

/* ---- the lines of a core --------------------------------------------------------------------- */

static struct slice escaped(struct buf *b, const char *text)
{
    buf_escaped(b, slice_str(text ? text : ""));
    return buf_slice(b);
}

static const char *program_of(const struct job *j)
{
    const struct job_map_app *app = j->plan.napps ? &j->plan.apps[0] : NULL;

    return app && app->argv && app->argv[0] ? app->argv[0] : "";
}

static void write_job(const struct core *merged, const struct job *j,
                      const struct job_rows_options *o, struct buf *out)
{
    struct buf texts[4];
    const struct job *found = core_job(merged, j->id);
    struct job_row r = { .job = j->id,
                         .is_first = !o->is_dvm && j->id == o->first,
                         .ranks = j->plan.nprocs,
                         .nodes = j->plan.nnodes,
                         .state = JOB_ROW_RUNNING };

    for (int i = 0; i < 4; i++)
        buf_init(&texts[i], WAITS_MAX);
    r.nspace = escaped(&texts[0], j->nspace);
    r.label = escaped(&texts[1], r.is_first ? o->label : NULL);
    r.program = escaped(&texts[2], program_of(j));
    if (j->begun_ns && j->begun_ns < o->now_ns)
        r.age_s = (o->now_ns - j->begun_ns) / 1000000000;
    if (found) {
        count_procs(found, &r);
        find_waits(merged, found, &r, &texts[3]);
    }
    if (j->phase == JOB_ENDING)
        r.state = JOB_ROW_ENDING;
    job_row_put(&r, out);
    for (int i = 0; i < 4; i++)
        buf_free(&texts[i]);
}

void job_rows_write(const struct core *c, const struct core *merged,
                    const struct job_rows_options *o, struct buf *out)
{
    LIST_EACH(l, &c->jobs)
    {
        const struct job *j = LIST_OF(l, struct job, link);
        if (!j->is_tool && !j->follows)
            write_job(merged, j, o, out);
    }
}
