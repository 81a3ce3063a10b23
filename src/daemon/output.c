/* output.c - see output.h. */
#include "daemon/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/create.h"
#include "daemon/node.h"
#include "daemon/output_format.h"

struct file_sink {
    struct list link;
    char *name;
    struct sink sink;
    int fd;
};

int output_open(struct output *o, struct loop *l, struct log *log, bool diverted, loop_fn *on_idle,
                void *arg)
{
    int (*open_sink)(struct sink *, struct loop *, int, char *) =
        diverted ? sink_open_own : sink_open;

    list_init(&o->files);
    o->loop = l;
    o->log = log;
    o->scratch = malloc(STDIO_CHUNK);
    if (!o->scratch)
        return -ENOMEM;
    open_sink(&o->out, l, STDOUT_FILENO, o->scratch);
    open_sink(&o->err, l, STDERR_FILENO, o->scratch);
    o->one_stream = !diverted && sink_is_same(STDOUT_FILENO, STDERR_FILENO);
    o->out.on_idle = o->err.on_idle = on_idle;
    o->out.arg = o->err.arg = arg;
    log_sink_open(&o->log_sink, output_err(o), log);
    return 0;
}

void output_relay_raw(struct output *o)
{
    o->out.raw = o->err.raw = true;
}

struct sink *output_err(struct output *o)
{
    return o->one_stream ? &o->out : &o->err;
}

bool output_is_idle(const struct output *o)
{
    return sink_idle(&o->out) && sink_idle(&o->err);
}

void output_end(struct output *o)
{
    sink_close(&o->out);
    sink_close(&o->err);
}

/* The sink of a file name, opened once per name; parents: its directories are made.  NULL with a
 * sentence. */
static struct sink *file_sink(struct output *o, const char *name, bool parents, struct errmsg *err)
{
    struct file_sink *f;

    LIST_EACH(l, &o->files)
    {
        f = LIST_OF(l, struct file_sink, link);
        if (!strcmp(f->name, name))
            return &f->sink;
    }
    f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        errmsg_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    f->fd = parents && create_parents(name, err) < 0 ? -1 : create_named(name, 0666, err);
    if (f->fd < 0) {
        free(f->name);
        free(f);
        return NULL;
    }
    sink_open(&f->sink, o->loop, f->fd, o->scratch);
    list_append(&o->files, &f->link);
    return &f->sink;
}

static struct sink *rank_sink(struct output *o, const char *pattern, const struct job *job,
                              uint32_t rank, struct errmsg *err)
{
    struct buf name = BUF_NULL(4096);
    struct sink *k = NULL;

    output_format_fill(pattern, job, rank, 0, &name);
    if (buf_ok(&name))
        k = file_sink(o, buf_cstr(&name), job->plan.output.outfile != NULL, err);
    else
        errmsg_set(err, -ENAMETOOLONG,
                   "cannot write the output of rank %u: the name of its file "
                   "is too long",
                   rank);
    buf_free(&name);
    return k;
}

struct job_map_output output_ways(const struct node_config *c, const struct job *job)
{
    const struct job_map_output *own = &job->plan.output;
    bool files = own->outfile != NULL; /* both, or none */

    return (struct job_map_output){ .label = own->label ? own->label : c->label,
                                    .outfile = files ? own->outfile : c->outfile,
                                    .errfile = files ? own->errfile : c->errfile,
                                    .merged = own->merged,
                                    .raw = own->raw,
                                    .xml = own->xml,
                                    .timed = own->timed };
}

int output_prepare(struct output *o, const char *out, const char *err_file, const struct job *job,
                   struct errmsg *err)
{
    const char *const patterns[] = { out, err_file };
    static const char *const options[] = { "-outfile-pattern", "-errfile-pattern" };
    struct errmsg why;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        for (uint32_t r = 0; patterns[i] && r < job->plan.nprocs; r++) {
            if (job_rank_is_here(job, r) && !rank_sink(o, patterns[i], job, r, &why))
                return errmsg_set(err, OUTPUT_BAD, "%s: %s; nothing was started",
                                  job->plan.output.outfile ? "the output files" : options[i],
                                  why.text);
        }
    }
    return 0;
}

/* Its file is open already (output_prepare()). */
struct sink *output_of(struct output *o, const char *pattern, const struct job *job, uint32_t rank,
                       struct sink *standard)
{
    struct errmsg err;
    struct sink *k = pattern ? rank_sink(o, pattern, job, rank, &err) : standard;

    if (k)
        return k;
    log_error(o->log, "%s; its output is shown here", err.text);
    o->failed = true;
    return standard;
}

static void close_files(struct output *o)
{
    LIST_EACH(l, &o->files)
    {
        struct file_sink *f = LIST_OF(l, struct file_sink, link);
        sink_close(&f->sink);
        close(f->fd);
        list_unlink(&f->link);
        free(f->name);
        free(f);
    }
}

static void report_lost(struct output *o, const struct sink *k, const char *name)
{
    if (k->error == 0)
        return;
    log_error(o->log, "cannot write %s: %s; output is lost", name, err_text(k->error));
    o->failed = true;
}

void output_report_lost(struct output *o)
{
    report_lost(o, &o->out, "standard output");
    report_lost(o, &o->err, "standard error");
    LIST_EACH(l, &o->files)
    {
        struct file_sink *f = LIST_OF(l, struct file_sink, link);
        report_lost(o, &f->sink, f->name);
    }
}

void output_drop(struct output *o)
{
    sink_drop(&o->out);
    sink_drop(&o->err);
    LIST_EACH(l, &o->files)
    sink_drop(&LIST_OF(l, struct file_sink, link)->sink);
}

void output_detach(struct output *o)
{
    sink_detach(&o->out);
    sink_detach(&o->err);
}

void output_close(struct output *o)
{
    if (!o->loop)
        return;
    close_files(o);
    if (o->scratch)
        log_sink_close(&o->log_sink, o->log);
    output_end(o);
    free(o->scratch);
    *o = (struct output){ .loop = NULL };
}
