/* job_table.c - see job_table.h. */
#include "launch/job_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { CELL_MAX = 256 };

/* ---- cells ----------------------------------------------------------------------------------- */

/* "512", "1.2K", "3.4G" */
static void put_size(uint64_t bytes, char *cell)
{
    static const char units[] = "BKMGTP";
    double v = (double)bytes;
    int u = 0;

    while (v >= 1000 && u < 5) {
        v /= 1024;
        u++;
    }
    snprintf(cell, CELL_MAX, u && v < 10 ? "%.1f%c" : "%.0f%c", v, units[u]);
}

/* "12s", "3:04", "5:06:07", "8d 09h" */
static void put_time(uint64_t s, char *cell)
{
    unsigned long long d = s / 86400, h = s / 3600 % 24, m = s / 60 % 60, rest = s % 60;

    if (d)
        snprintf(cell, CELL_MAX, "%llud %02lluh", d, h);
    else if (h)
        snprintf(cell, CELL_MAX, "%llu:%02llu:%02llu", h, m, rest);
    else if (m)
        snprintf(cell, CELL_MAX, "%llu:%02llu", m, rest);
    else
        snprintf(cell, CELL_MAX, "%llus", rest);
}

static const char *state_of(const struct listed_job *j)
{
    if (j->launcher->state != LISTED_ANSWERS)
        return j->launcher->state == LISTED_STOPPED ? "stopped" : "no answer";
    if (j->is_none)
        return j->launcher->row.is_dvm ? "standing" : "no job";
    return job_row_state_name(j->row.state);
}

/* "4 of 6 slots free, 2 jobs wait; lost: n2; draining: n3" */
static void put_dvm(const struct launcher_row *r, char *cell)
{
    char waiting[64] = "";

    if (r->waiting)
        snprintf(waiting, sizeof waiting, ", %u job%s", r->waiting,
                 r->waiting == 1 ? " waits" : "s wait");
    snprintf(cell, CELL_MAX, "%llu of %llu slots free%s%s" SLICE_FMT "%s" SLICE_FMT,
             (unsigned long long)r->free, (unsigned long long)r->slots, waiting,
             r->lost.len ? "; lost: " : "", SLICE_ARG(slice_head(r->lost, CELL_MAX / 4)),
             r->draining.len ? "; draining: " : "",
             SLICE_ARG(slice_head(r->draining, CELL_MAX / 4)));
}

static void put_waits(const struct listed_job *j, char *cell)
{
    const struct launcher_row *l = &j->launcher->row;
    struct slice silent = l->silent;

    if (j->launcher->state == LISTED_STOPPED)
        snprintf(cell, CELL_MAX, "the launcher is stopped");
    else if (j->launcher->state == LISTED_SILENT)
        snprintf(cell, CELL_MAX, "the launcher does not answer");
    else if (j->is_none && l->is_dvm)
        put_dvm(l, cell);
    else if (silent.len)
        snprintf(cell, CELL_MAX, "no answer from " SLICE_FMT, SLICE_ARG(silent));
    else if (j->row.waits.len)
        snprintf(cell, CELL_MAX, SLICE_FMT, SLICE_ARG(j->row.waits));
    else
        snprintf(cell, CELL_MAX, "-");
}

static void put_nodes(const struct listed_job *j, char *cell)
{
    snprintf(cell, CELL_MAX, "%u", j->is_none ? j->launcher->row.nodes : j->row.nodes);
}

static void put_cell(const struct listed_job *j, enum job_column column, char *cell)
{
    const struct job_row *r = &j->row;
    bool unknown = j->is_none || r->looked == 0, silent = j->launcher->state != LISTED_ANSWERS;

    snprintf(cell, CELL_MAX, "-");
    if (silent && (column == JOB_COLUMN_RANKS || column == JOB_COLUMN_NODES))
        return;
    switch (column) {
    case JOB_COLUMN_ID: snprintf(cell, CELL_MAX, "%s", j->id); break;
    case JOB_COLUMN_NAME: snprintf(cell, CELL_MAX, "%s", j->name); break;
    case JOB_COLUMN_RANKS: snprintf(cell, CELL_MAX, "%u", r->ranks); break;
    case JOB_COLUMN_NODES: put_nodes(j, cell); break;
    case JOB_COLUMN_STATE: snprintf(cell, CELL_MAX, "%s", state_of(j)); break;
    case JOB_COLUMN_TIME:
        if (!j->is_none)
            put_time(r->age_s, cell);
        break;
    case JOB_COLUMN_CPU:
        if (!unknown)
            snprintf(cell, CELL_MAX, "%.1f%%", (double)r->permille / 10);
        break;
    case JOB_COLUMN_MEMORY:
        if (!unknown)
            put_size(r->memory, cell);
        break;
    case JOB_COLUMN_LAUNCHER: snprintf(cell, CELL_MAX, "%d", j->launcher->row.pid); break;
    case JOB_COLUMN_WAITS: put_waits(j, cell); break;
    case JOB_COLUMN_NAMESPACE:
        if (!j->is_none)
            snprintf(cell, CELL_MAX, SLICE_FMT, SLICE_ARG(r->nspace));
        break;
    case JOB_COLUMNS: break;
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
    const char *title;
    bool right;    /* numbers */
    uint32_t most; /* longer cells are cut, for people */
} columns[JOB_COLUMNS] = {
    [JOB_COLUMN_ID] = { "ID", true, 12 },
    [JOB_COLUMN_NAME] = { "NAME", false, 24 },
    [JOB_COLUMN_RANKS] = { "RANKS", true, 8 },
    [JOB_COLUMN_NODES] = { "NODES", true, 8 },
    [JOB_COLUMN_STATE] = { "STATE", false, 10 },
    [JOB_COLUMN_TIME] = { "TIME", true, 10 },
    [JOB_COLUMN_CPU] = { "CPU", true, 10 },
    [JOB_COLUMN_MEMORY] = { "MEMORY", true, 8 },
    [JOB_COLUMN_LAUNCHER] = { "LAUNCHER", true, 10 },
    [JOB_COLUMN_WAITS] = { "WAITING FOR OTHERS", false, CELL_MAX - 1 },
    [JOB_COLUMN_NAMESPACE] = { "NAMESPACE", false, CELL_MAX - 1 },
};

static uint32_t width_of(const struct job_list *l, enum job_column c, bool cut)
{
    uint32_t w = (uint32_t)strlen(columns[c].title);
    char cell[CELL_MAX];

    for (uint32_t i = 0; i < l->njobs; i++) {
        uint32_t n;
        put_cell(&l->jobs[i], c, cell);
        n = (uint32_t)strlen(cell);
        w = n > w ? n : w;
    }
    return cut && w > columns[c].most ? columns[c].most : w;
}

/* NULL: the titles. */
static void put_line(const struct listed_job *j, const uint32_t *widths, uint32_t width,
                     struct buf *out)
{
    struct buf line = BUF_NULL(JOB_COLUMNS * CELL_MAX * 2);
    int last = width ? JOB_COLUMN_WAITS : JOB_COLUMN_NAMESPACE;
    struct slice text;

    for (int c = 0; c <= last; c++) {
        char cell[CELL_MAX];
        int w = (int)widths[c];
        if (j)
            put_cell(j, (enum job_column)c, cell);
        else
            snprintf(cell, sizeof cell, "%s", columns[c].title);
        buf_printf(&line, "%s%*.*s", c ? "  " : "",
                   columns[c].right ? w
                   : c == last      ? 0
                                    : -w,
                   w, cell);
    }
    text = buf_slice(&line);
    buf_slice_put(out, width ? slice_head(text, width) : text);
    buf_byte(out, '\n');
    buf_free(&line);
}

void job_table_text(const struct job_list *l, uint32_t width, struct buf *out)
{
    uint32_t widths[JOB_COLUMNS];

    for (int c = 0; c < JOB_COLUMNS; c++)
        widths[c] = width_of(l, (enum job_column)c, width != 0);
    put_line(NULL, widths, width, out);
    for (uint32_t i = 0; i < l->njobs; i++)
        put_line(&l->jobs[i], widths, width, out);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void put_nodes_of(const struct listed_launcher *l, int dvm, int node, struct buf *out)
{
    struct slice rest = l->nodes;
    struct listed_node n;

    while (job_list_next_node(&rest, &n))
        buf_printf(out, "%-*.*s  %-*.*s  %5u  %5u  " SLICE_FMT "\n", dvm, (int)l->row.dvm_name.len,
                   l->row.dvm_name.ptr, node, (int)n.name.len, n.name.ptr, n.slots,
                   n.slots > n.used ? n.slots - n.used : 0, SLICE_ARG(n.state));
}

static void widen(int *width, struct slice text)
{
    *width = (int)text.len > *width ? (int)text.len : *width;
}

void job_table_nodes(const struct job_list *l, struct buf *out)
{
    int dvm = 3, node = 4;
    struct listed_node n;

    for (uint32_t i = 0; i < l->nlaunchers; i++) {
        struct slice rest = l->launchers[i].nodes;
        while (job_list_next_node(&rest, &n)) {
            widen(&dvm, l->launchers[i].row.dvm_name);
            widen(&node, n.name);
        }
    }
    buf_printf(out, "%-*s  %-*s  SLOTS   FREE  STATE\n", dvm, "DVM", node, "NODE");
    for (uint32_t i = 0; i < l->nlaunchers; i++)
        put_nodes_of(&l->launchers[i], dvm, node, out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_names(struct json *j, const char *key, struct slice names)
{
    json_array(j, key);
    while (names.len)
        json_text(j, NULL, slice_cut(&names, ','));
    json_array_end(j);
}

static void nodes_json(struct json *j, struct slice nodes)
{
    struct listed_node n;

    json_array(j, "nodes");
    while (job_list_next_node(&nodes, &n)) {
        json_object(j, NULL);
        json_text(j, "name", n.name);
        json_u64(j, "slots", n.slots);
        json_u64(j, "used", n.used);
        json_text(j, "state", n.state);
        json_object_end(j);
    }
    json_array_end(j);
}

static void launcher_json(struct json *j, const struct listed_launcher *l)
{
    static const char *const states[] = {
        [LISTED_ANSWERS] = "answers", [LISTED_STOPPED] = "stopped", [LISTED_SILENT] = "no_answer"
    };

    json_object(j, NULL);
    json_u64(j, "number", l->row.number);
    json_i64(j, "pid", l->row.pid);
    json_str(j, "state", states[l->state]);
    json_bool(j, "dvm", l->row.is_dvm);
    json_text(j, "name", l->row.dvm_name);
    json_u64(j, "nodes_up", l->row.nodes);
    json_u64(j, "slots", l->row.slots);
    json_u64(j, "slots_free", l->row.free);
    json_u64(j, "waiting", l->row.waiting);
    put_names(j, "lost", l->row.lost);
    put_names(j, "draining", l->row.draining);
    nodes_json(j, l->nodes);
    json_u64(j, "jobs", l->njobs);
    put_names(j, "no_answer", l->row.silent);
    json_object_end(j);
}

static void job_json(struct json *j, const struct listed_job *job)
{
    const struct job_row *r = &job->row;

    json_object(j, NULL);
    json_str(j, "id", job->id);
    json_str(j, "name", job->name);
    json_text(j, "namespace", r->nspace);
    json_text(j, "program", r->program);
    json_i64(j, "launcher", job->launcher->row.pid);
    json_u64(j, "ranks", r->ranks);
    json_u64(j, "nodes", r->nodes);
    json_str(j, "state", state_of(job));
    json_u64(j, "seconds", r->age_s);
    json_u64(j, "measured_ranks", r->looked);
    json_decimal(j, "cpu_percent", (double)r->permille / 10, 1);
    json_decimal(j, "cpu_seconds", (double)r->cpu_ms / 1000, 3);
    json_u64(j, "memory_bytes", r->memory);
    json_u64(j, "waiting", r->waiting);
    json_text(j, "waits", r->waits);
    json_object_end(j);
}

void job_table_json(const struct job_list *l, const char *schema, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", schema);
    json_array(&j, "launchers");
    for (uint32_t i = 0; i < l->nlaunchers; i++)
        launcher_json(&j, &l->launchers[i]);
    json_array_end(&j);
    json_array(&j, "jobs");
    for (uint32_t i = 0; i < l->njobs; i++) {
        if (!l->jobs[i].is_none)
            job_json(&j, &l->jobs[i]);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

/* ---- sorting --------------------------------------------------------------------------------- */

static uint64_t number_of(const struct listed_job *j, enum job_column by)
{
    switch (by) {
    case JOB_COLUMN_RANKS: return j->row.ranks;
    case JOB_COLUMN_NODES: return j->is_none ? j->launcher->row.nodes : j->row.nodes;
    case JOB_COLUMN_TIME: return j->row.age_s;
    case JOB_COLUMN_CPU: return j->row.permille;
    case JOB_COLUMN_MEMORY: return j->row.memory;
    case JOB_COLUMN_WAITS: return j->row.waiting;
    default: return 0;
    }
}

static int text_order(const struct listed_job *a, const struct listed_job *b, enum job_column by)
{
    int order = by == JOB_COLUMN_NAME    ? strcmp(a->name, b->name)
                : by == JOB_COLUMN_STATE ? strcmp(state_of(a), state_of(b))
                                         : 0;

    return order ? order : job_list_order(a, b);
}

/* Does b belong before a? */
static bool is_later(const struct listed_job *a, const struct listed_job *b, enum job_column by)
{
    uint64_t x = number_of(a, by), y = number_of(b, by);

    return x != y ? x < y : text_order(a, b, by) > 0;
}

/* A user's jobs are few. */
void job_table_sort(struct job_list *l, enum job_column by)
{
    for (uint32_t i = 1; i < l->njobs; i++) {
        struct listed_job one = l->jobs[i];
        uint32_t at = i;
        for (; at > 0 && is_later(&l->jobs[at - 1], &one, by); at--)
            l->jobs[at] = l->jobs[at - 1];
        l->jobs[at] = one;
    }
}
