/* plan_print.c - see plan_print.h. */
#include "launch/plan_print.h"

#include <string.h>

#include "base/json.h"

static size_t column(const struct job_map *p, size_t least)
{
    for (uint32_t i = 0; i < p->nnodes; i++) {
        size_t n = strlen(p->nodes[i].name);
        if (n > least)
            least = n < 40 ? n : 40;
    }
    return least;
}

static void plan_print_command(const struct job_map_app *a, struct buf *out)
{
    for (uint32_t i = 0; i < a->argc; i++)
        buf_printf(out, "%s%s", i ? " " : "", a->argv[i]);
}

void plan_print_table(const struct job_map *p, struct buf *out)
{
    int width = (int)column(p, 4);

    buf_printf(out, "%u process%s on %u node%s\n", p->nprocs, p->nprocs == 1 ? "" : "es", p->nnodes,
               p->nnodes == 1 ? "" : "s");
    for (uint32_t i = 0; i < p->napps; i++) {
        const struct job_map_app *a = &p->apps[i];
        buf_printf(out, "program %u: %u process%s of %s\n  command: ", i, a->nprocs,
                   a->nprocs == 1 ? "" : "es", a->path);
        plan_print_command(a, out);
        buf_printf(out, "\n  directory: %s\n", a->wdir ? a->wdir : "(current)");
    }
    buf_printf(out, "%8s  %-*s  %5s  %7s  %s\n", "rank", width, "node", "local", "program",
               "processors");
    for (uint32_t r = 0; r < p->nprocs && buf_ok(out); r++) {
        const struct job_map_proc *q = &p->procs[r];
        buf_printf(out, "%8u  %-*s  %5u  %7u  %s%s%s\n", r, width, p->nodes[q->node].name,
                   q->local_rank, q->app, q->binding ? q->binding : "not bound",
                   q->devices ? "; " : "", q->devices ? q->devices : "");
    }
}

void plan_print_allocation(const struct job_map *p, struct buf *out)
{
    buf_printf(out, "%u node%s\n", p->nnodes, p->nnodes == 1 ? "" : "s");
    for (uint32_t i = 0; i < p->nnodes && buf_ok(out); i++)
        buf_printf(out, "  %s: %u slot%s\n", p->nodes[i].name, p->nodes[i].slots,
                   p->nodes[i].slots == 1 ? "" : "s");
}

static void json_app(struct json *j, const struct job_map_app *a)
{
    json_break(j);
    json_object(j, NULL);
    json_u64(j, "first_rank", a->first_rank);
    json_u64(j, "processes", a->nprocs);
    json_str(j, "path", a->path);
    json_array(j, "argv");
    for (uint32_t i = 0; i < a->argc; i++)
        json_str(j, NULL, a->argv[i]);
    json_array_end(j);
    json_str(j, "directory", a->wdir);
    json_object_end(j);
}

static void json_nodes(struct json *j, const struct job_map *p)
{
    json_break(j);
    json_array(j, "nodes");
    for (uint32_t i = 0; i < p->nnodes; i++) {
        json_break(j);
        json_object(j, NULL);
        json_str(j, "name", p->nodes[i].name);
        json_u64(j, "slots", p->nodes[i].slots);
        json_u64(j, "processes", p->nodes[i].nprocs);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_ranks(struct json *j, const struct job_map *p)
{
    json_break(j);
    json_array(j, "ranks");
    for (uint32_t r = 0; r < p->nprocs && buf_ok(j->out); r++) {
        const struct job_map_proc *q = &p->procs[r];
        json_break(j);
        json_object(j, NULL);
        json_u64(j, "rank", r);
        json_u64(j, "node", q->node);
        json_u64(j, "local_rank", q->local_rank);
        json_u64(j, "program", q->app);
        json_str(j, "binding", q->binding);
        if (q->devices)
            json_str(j, "devices", q->devices);
        json_object_end(j);
    }
    json_array_end(j);
}

void plan_print_json(const struct job_map *p, struct buf *out)
{
    struct json j;

    json_init_spaced(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-plan-1");
    json_u64(&j, "processes", p->nprocs);
    json_i64(&j, "universe", p->universe);
    json_break(&j);
    json_array(&j, "programs");
    for (uint32_t i = 0; i < p->napps; i++)
        json_app(&j, &p->apps[i]);
    json_array_end(&j);
    json_nodes(&j, p);
    json_ranks(&j, p);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

void plan_print_bindings(const struct job_map *p, struct buf *out)
{
    for (uint32_t r = 0; r < p->nprocs && buf_ok(out); r++) {
        const struct job_map_proc *q = &p->procs[r];
        buf_printf(out, "rank %u on %s: %s%s%s\n", r, p->nodes[q->node].name,
                   q->binding ? q->binding : "not bound", q->devices ? "; " : "",
                   q->devices ? q->devices : "");
    }
}
