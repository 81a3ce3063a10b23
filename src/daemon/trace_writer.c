/* trace_writer.c - see trace_writer.h. */
#include "daemon/trace_writer.h"

#include "base/clock.h"
#include "trace/record.h"

static void give_up(struct trace_writer *t, int rc)
{
    log_warn(t->log, "the trace %s is incomplete: %s", t->path, err_text(rc));
    t->server->recorder = NULL;
    t->server = NULL;
    trace_mask_free(&t->mask);
    async_writer_close(&t->file);
}

static void append(void *arg, const struct record *r)
{
    struct trace_writer *t = arg;

    record_write(&t->writer, r, &t->file.out);
}

static void keep(void *arg, struct record *r)
{
    struct trace_writer *t = arg;
    int rc;

    if (!r->time_ns)
        r->time_ns = clock_now_ns();
    rc = trace_mask_record(&t->mask, r, append, t);
    if (rc == 0)
        rc = async_writer_kick(&t->file);
    if (rc < 0)
        give_up(t, rc);
}

int trace_writer_open(struct trace_writer *t, struct server *s, struct loop *l, const char *path,
                      const char *node, const struct log *log, struct errmsg *err)
{
    struct errmsg why;

    if (async_writer_open(&t->file, l, path, &why) < 0)
        return errmsg_set(err, TRACE_WRITER_BAD, "-trace: %s; nothing was started", why.text);
    t->server = s;
    t->log = log;
    t->path = path;
    trace_mask_init(&t->mask);
    server_record(s, keep, t, clock_wall_ns(), node);
    return 0;
}

void trace_writer_clock(struct trace_writer *t, uint64_t asked_ns, uint64_t answer_ns)
{
    struct record r = { .kind = RECORD_clock,
                        .u.clock = { .asked_ns = asked_ns, .answer_ns = answer_ns } };

    if (t->server)
        keep(t, &r);
}

void trace_writer_daemon(struct trace_writer *t, const char *host, uint64_t asked_ns,
                         uint64_t runs_ns)
{
    struct record r = { .kind = RECORD_daemon,
                        .u.daemon = {
                            .host = slice_str(host), .asked_ns = asked_ns, .runs_ns = runs_ns } };

    if (t->server)
        keep(t, &r);
}

void trace_writer_lost(struct trace_writer *t, const char *host, const char *why)
{
    struct record r = { .kind = RECORD_node_lost,
                        .u.node_lost = { .host = slice_str(host),
                                         .why = slice_str(why ? why : "") } };

    if (t->server)
        keep(t, &r);
}

bool trace_writer_section(struct trace_writer *t, const char *host, struct slice bytes, bool whole,
                          const char *why)
{
    struct record r = { .kind = RECORD_section,
                        .time_ns = clock_now_ns(),
                        .u.section = { .host = slice_str(host),
                                       .whole = whole,
                                       .why = slice_str(why ? why : ""),
                                       .bytes = bytes } };
    int rc;

    if (!t->server)
        return false;
    append(t, &r); /* that node has overwritten the credentials */
    rc = async_writer_kick(&t->file);
    if (rc < 0)
        give_up(t, rc);
    return t->server != NULL;
}

void trace_writer_flush(struct trace_writer *t)
{
    int rc = t->server ? async_writer_flush(&t->file) : 0;

    if (rc < 0)
        give_up(t, rc);
}

void trace_writer_close(struct trace_writer *t)
{
    int rc;

    if (!t->server)
        return;
    server_record_end(t->server);
    if (!t->server) /* the last record could not be written */
        return;
    t->server = NULL;
    trace_mask_free(&t->mask);
    rc = async_writer_close(&t->file);
    if (rc < 0)
        log_warn(t->log, "the trace %s is incomplete: %s", t->path, err_text(rc));
}
