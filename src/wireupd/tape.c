/* tape.c - see tape.h. */
#include "wireupd/tape.h"

#include "base/clock.h"

static void give_up(struct tape *t, int rc)
{
    log_warn(t->log, "the recording %s is incomplete: %s", t->path, err_text(rc));
    t->server->recorder = NULL;
    t->server = NULL;
    spool_close(&t->file);
}

static void keep(void *arg, struct record *r)
{
    struct tape *t = arg;
    int rc;

    if (!r->time_ns)
        r->time_ns = clock_now_ns();
    record_write(&t->writer, r, &t->file.out);
    rc = spool_kick(&t->file);
    if (rc < 0)
        give_up(t, rc);
}

int tape_open(struct tape *t, struct server *s, struct loop *l, const char *path, const char *node,
              const struct log *log, struct errmsg *err)
{
    struct errmsg why;

    if (spool_open(&t->file, l, path, &why) < 0)
        return errmsg_set(err, TAPE_BAD, "-trace: %s; nothing was started", why.text);
    t->server = s;
    t->log = log;
    t->path = path;
    server_record(s, keep, t, clock_wall_ns(), node);
    return 0;
}

void tape_flush(struct tape *t)
{
    int rc = t->server ? spool_flush(&t->file) : 0;

    if (rc < 0)
        give_up(t, rc);
}

void tape_close(struct tape *t)
{
    int rc;

    if (!t->server)
        return;
    server_record_end(t->server);
    if (!t->server) /* the last record was one too many */
        return;
    t->server = NULL;
    rc = spool_close(&t->file);
    if (rc < 0)
        log_warn(t->log, "the recording %s is incomplete: %s", t->path, err_text(rc));
}
