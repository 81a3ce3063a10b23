/* output.c - see output.h. */
#include "daemon/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/create.h"
#include "daemon/output_format.h"

struct file_sink {
    struct list link;
    char *name;
    struct sink sink;
    int fd;
};

void output_open(struct node *n, loop_fn *on_idle)
{
    int (*open_sink)(struct sink *, struct loop *, int, char *) =
        n->config.diverted ? sink_open_own : sink_open;

    open_sink(&n->out, &n->loop, STDOUT_FILENO, n->scratch);
    open_sink(&n->err, &n->loop, STDERR_FILENO, n->scratch);
    n->one_stream = !n->config.diverted && sink_is_same(STDOUT_FILENO, STDERR_FILENO);
    n->out.on_idle = n->err.on_idle = on_idle;
    n->out.arg = n->err.arg = n;
    log_sink_open(&n->log, n->one_stream ? &n->out : &n->err, &n->config.log);
}

/* The sink of a file name, opened once per name; NULL with a sentence. */
static struct sink *file_sink(struct node *n, const char *name, struct errmsg *err)
{
    struct file_sink *f;

    LIST_EACH(l, &n->files)
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
    f->fd = create_named(name, 0666, err);
    if (f->fd < 0) {
        free(f->name);
        free(f);
        return NULL;
    }
    sink_open(&f->sink, &n->loop, f->fd, n->scratch);
    list_append(&n->files, &f->link);
    return &f->sink;
}

static struct sink *rank_sink(struct node *n, const char *pattern, const struct job *job,
                              uint32_t rank, struct errmsg *err)
{
    struct buf name = BUF_NULL(4096);
    struct sink *k = NULL;

    output_format_fill(pattern, job, rank, 0, &name);
    if (buf_ok(&name))
        k = file_sink(n, buf_cstr(&name), err);
    else
        errmsg_set(err, -ENAMETOOLONG,
                   "cannot write the output of rank %u: the name of its file "
                   "is too long",
                   rank);
    buf_free(&name);
    return k;
}

int output_prepare(struct node *n, const struct job *job, struct errmsg *err)
{
    const char *const patterns[] = { n->config.outfile, n->config.errfile };
    static const char *const options[] = { "-outfile-pattern", "-errfile-pattern" };
    struct errmsg why;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        for (uint32_t r = 0; patterns[i] && r < job->plan.nprocs; r++) {
            if (job_rank_is_here(job, r) && !rank_sink(n, patterns[i], job, r, &why))
                return errmsg_set(err, OUTPUT_BAD, "%s: %s; nothing was started", options[i],
                                  why.text);
        }
    }
    return 0;
}

/* Its file is open already (output_prepare()). */
struct sink *output_of(struct node *n, const char *pattern, const struct job *job, uint32_t rank,
                       struct sink *standard)
{
    struct errmsg err;
    struct sink *k = pattern ? rank_sink(n, pattern, job, rank, &err) : standard;

    if (k)
        return k;
    log_error(&n->config.log, "%s; its output is shown here", err.text);
    n->exit_code = n->exit_code ? n->exit_code : 1;
    return standard;
}

static void close_files(struct node *n)
{
    LIST_EACH(l, &n->files)
    {
        struct file_sink *f = LIST_OF(l, struct file_sink, link);
        sink_close(&f->sink);
        close(f->fd);
        list_unlink(&f->link);
        free(f->name);
        free(f);
    }
}

static void tell_lost(struct node *n, const struct sink *k, const char *name)
{
    if (k->error == 0)
        return;
    log_error(&n->config.log, "cannot write %s: %s; output is lost", name, err_text(k->error));
    n->exit_code = n->exit_code ? n->exit_code : 1;
}

void output_tell_lost(struct node *n)
{
    tell_lost(n, &n->out, "standard output");
    tell_lost(n, &n->err, "standard error");
    LIST_EACH(l, &n->files)
    {
        struct file_sink *f = LIST_OF(l, struct file_sink, link);
        tell_lost(n, &f->sink, f->name);
    }
}

void output_drop(struct node *n)
{
    sink_drop(&n->out);
    sink_drop(&n->err);
    LIST_EACH(l, &n->files)
    sink_drop(&LIST_OF(l, struct file_sink, link)->sink);
}

void output_close(struct node *n)
{
    close_files(n);
    log_sink_close(&n->log, &n->config.log);
    sink_close(&n->out);
    sink_close(&n->err);
}
