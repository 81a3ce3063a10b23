/* output.c - see output.h. */
#include "wireupd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
}

struct sink *output_file(struct node *n, const char *name, struct errmsg *err)
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
    f->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        errmsg_set(err, -errno, "cannot write %s: %s; the output goes to the terminal", name,
                   err_text(errno));
        free(f->name);
        free(f);
        return NULL;
    }
    sink_open(&f->sink, &n->loop, f->fd, n->scratch);
    list_append(&n->files, &f->link);
    return &f->sink;
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

void output_close(struct node *n)
{
    close_files(n);
    sink_close(&n->out);
    sink_close(&n->err);
}
