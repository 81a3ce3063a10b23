/* plan_print.c - see plan_print.h. */
#include "launch/plan_print.h"

#include <string.h>

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
        buf_printf(out, "%8u  %-*s  %5u  %7u  %s\n", r, width, p->nodes[q->node].name,
                   q->local_rank, q->app, q->binding ? q->binding : "not bound");
    }
}

static void json_string(struct buf *out, const char *text)
{
    buf_byte(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < ' ')
            buf_printf(out, "\\u%04x", c);
        else
            buf_byte(out, (char)c);
    }
    buf_byte(out, '"');
}

static void json_string_or_null(struct buf *out, const char *text)
{
    if (text)
        json_string(out, text);
    else
        buf_str(out, "null");
}

static void json_app(const struct job_map_app *a, struct buf *out)
{
    buf_printf(out, "{\"first_rank\": %u, \"processes\": %u, \"path\": ", a->first_rank, a->nprocs);
    json_string(out, a->path);
    buf_str(out, ", \"argv\": [");
    for (uint32_t i = 0; i < a->argc; i++) {
        buf_str(out, i ? ", " : "");
        json_string(out, a->argv[i]);
    }
    buf_str(out, "], \"directory\": ");
    json_string_or_null(out, a->wdir);
    buf_byte(out, '}');
}

void plan_print_json(const struct job_map *p, struct buf *out)
{
    buf_printf(out, "{\"processes\": %u, \"universe\": %lld,\n \"programs\": [", p->nprocs,
               (long long)p->universe);
    for (uint32_t i = 0; i < p->napps; i++) {
        buf_str(out, i ? ",\n  " : "\n  ");
        json_app(&p->apps[i], out);
    }
    buf_str(out, "],\n \"nodes\": [");
    for (uint32_t i = 0; i < p->nnodes; i++) {
        buf_str(out, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
        json_string(out, p->nodes[i].name);
        buf_printf(out, ", \"slots\": %u, \"processes\": %u}", p->nodes[i].slots,
                   p->nodes[i].nprocs);
    }
    buf_str(out, "],\n \"ranks\": [");
    for (uint32_t r = 0; r < p->nprocs && buf_ok(out); r++) {
        const struct job_map_proc *q = &p->procs[r];
        buf_printf(out, "%s{\"rank\": %u, \"node\": %u, \"local_rank\": %u, \"program\": %u, ",
                   r ? ",\n  " : "\n  ", r, q->node, q->local_rank, q->app);
        buf_str(out, "\"binding\": ");
        json_string_or_null(out, q->binding);
        buf_byte(out, '}');
    }
    buf_str(out, "]}\n");
}

void plan_print_bindings(const struct job_map *p, struct buf *out)
{
    for (uint32_t r = 0; r < p->nprocs && buf_ok(out); r++) {
        const struct job_map_proc *q = &p->procs[r];
        buf_printf(out, "rank %u on %s: %s\n", r, p->nodes[q->node].name,
                   q->binding ? q->binding : "not bound");
    }
}
