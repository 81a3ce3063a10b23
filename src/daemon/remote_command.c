/* remote_command.c - see remote_command.h. */
#include "daemon/remote_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/dvm_request.h"
#include "io/child.h"
#include "io/create.h"
#include "io/write_all.h"

enum { LINE_MAX_BYTES = 8192, READ_STEP = 4096, REQUEST_MAX = 60 << 10, REFUSED = 1 << 8 };

static void feed(void *arg);

/* ---- lines of output ------------------------------------------------------------------------- */

/* Unless it was told to end before it answered. */
static void begin_feed(struct remote_command *k)
{
    if (k->in >= 0 && buf_len(&k->record))
        feed(k);
    if (k->in >= 0 && buf_len(&k->record))
        watch_want(&k->feed, LOOP_WRITE); /* fails: the daemon says that it has no record */
}

/* The first line of a DVM is its answer; a refusal is for the user, as an error of a process. */
static void take_answer(struct remote_command *k, struct slice line)
{
    k->accepted = slice_is(line, "ok");
    if (k->accepted)
        begin_feed(k);
    else
        k->on_line(k->arg, false, line);
}

static void take_line(struct remote_stream *s, struct slice line)
{
    struct remote_command *k = s->command;

    if (k->on_end && !k->accepted)
        take_answer(k, line);
    else
        k->on_line(k->arg, s->answers, line);
}

static void take_lines(struct remote_stream *s)
{
    for (;;) {
        struct slice all = buf_slice(&s->line);
        size_t n = slice_find(all, '\n');
        if (n == all.len && n < LINE_MAX_BYTES / 2)
            return;
        take_line(s, slice_head(all, n));
        buf_take(&s->line, n + 1);
    }
}

static void connection_ended(struct remote_command *k)
{
    remote_command_end_fn *on_end = k->on_end;

    k->on_end = NULL;
    remote_command_close_in(k);
    on_end(k->arg, k->accepted ? 0 : REFUSED);
}

static void stream_close(struct remote_stream *s)
{
    struct remote_command *k = s->command;

    if (s->fd < 0)
        return;
    watch_close(&s->watch);
    close(s->fd);
    s->fd = -1;
    if (buf_len(&s->line))
        take_line(s, buf_slice(&s->line));
    buf_free(&s->line);
    if (k->on_end)
        connection_ended(k);
}

/* False: nothing to read now, or EOF. */
static bool stream_read(struct remote_stream *s)
{
    char *to = s->fd >= 0 ? buf_room(&s->line, READ_STEP) : NULL;
    ssize_t n = to ? read(s->fd, to, READ_STEP) : 0;

    if (n > 0) {
        buf_commit(&s->line, (size_t)n);
        take_lines(s);
        return true;
    }
    if (n < 0 && errno == EINTR)
        return true;
    if (n == 0 || errno != EAGAIN)
        stream_close(s);
    return false;
}

static void stream_readable(void *arg)
{
    stream_read(arg);
}

static int stream_open(struct remote_stream *s, struct remote_command *k, int fd, bool answers)
{
    s->command = k;
    s->fd = fd;
    s->answers = answers;
    buf_init(&s->line, LINE_MAX_BYTES);
    watch_open(&s->watch, k->loop, fd, stream_readable, NULL, s);
    return watch_want(&s->watch, LOOP_READ);
}

/* ---- the record ------------------------------------------------------------------------------ */

void remote_command_close_in(struct remote_command *k)
{
    if (k->in < 0)
        return;
    watch_close(&k->feed);
    if (k->on_end)
        shutdown(k->in, SHUT_WR); /* its other direction is another descriptor */
    close(k->in);
    k->in = -1;
}

static void feed(void *arg)
{
    struct remote_command *k = arg;
    struct slice s = buf_slice(&k->record);
    ssize_t n = s.len ? write(k->in, s.ptr, s.len) : 0;

    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        remote_command_close_in(k); /* the reason is reported at its end */
        return;
    }
    if (n > 0) {
        explicit_bzero(k->record.mem + k->record.start, (size_t)n);
        buf_take(&k->record, (size_t)n);
    }
    if (buf_len(&k->record) == 0) {
        watch_want(&k->feed, 0); /* it stays open as long as we live */
        buf_free(&k->record);
    }
}

int remote_command_write_file(struct remote_command *k, struct errmsg *err)
{
    const char *home = getenv("HOME");
    uint64_t r = 0;
    struct slice s = buf_slice(&k->record);
    int fd, rc;

    if (!home || home[0] != '/')
        return errmsg_set(err, -ENOENT,
                          "HOME is not set; the records of daemons are written there");
    if (getrandom(&r, sizeof r, 0) != sizeof r || asprintf(&k->file, "%s/.wireup", home) < 0) {
        k->file = NULL;
        return errmsg_set(err, -ENOMEM, "cannot name a file for the record: out of memory");
    }
    rc = create_private(k->file);
    if (rc < 0)
        rc = errmsg_set(
            err, rc, "%s must be a directory of yours that nobody else may enter (mode 0700): %s",
            k->file, err_text(rc));
    free(k->file);
    k->file = NULL;
    if (rc < 0)
        return rc;
    if (asprintf(&k->file, "%s/.wireup/record-%016llx", home, (unsigned long long)r) < 0) {
        k->file = NULL;
        return errmsg_set(err, -ENOMEM, "cannot name a file for the record: out of memory");
    }
    fd = create_new(k->file);
    rc = fd < 0 ? fd : write_all_slice(fd, s);
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot write %s: %s", k->file, err_text(rc));
    buf_free(&k->record);
    return 0;
}

void remote_command_drop_file(struct remote_command *k)
{
    if (k->file)
        unlink(k->file);
    free(k->file);
    k->file = NULL;
}

struct buf *remote_command_record(struct remote_command *k)
{
    remote_command_drop_file(k);
    buf_free(&k->record);
    buf_init_secret(&k->record, LIMIT_BOOTSTRAP_RECORD);
    return &k->record;
}

/* ---- the process ----------------------------------------------------------------------------- */

static void close_pair(int *ends)
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
}

static bool open_pair(int *ends, int ours)
{
    if (pipe2(ends, O_CLOEXEC) < 0) {
        ends[0] = ends[1] = -1;
        return false;
    }
    return fcntl(ends[ours], F_SETFL, O_NONBLOCK) == 0;
}

/* The child's descriptors must not be below 3 (child.h); our 0 to 2 are always open. */
int remote_command_start(struct remote_command *k, const char *path, char **argv, char **env,
                         struct errmsg *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, errs[2] = { -1, -1 };
    struct child_fd fds[3];
    struct child_plan plan = { .path = path, .argv = argv, .env = env, .fds = fds, .nfds = 3 };
    int rc = 0;

    if (!open_pair(in, 1) || !open_pair(out, 0) || !open_pair(errs, 0))
        rc = errmsg_set(err, -errno, "cannot make pipes: %s", err_text(errno));
    fds[0] = (struct child_fd){ in[0], 0 };
    fds[1] = (struct child_fd){ out[1], 1 };
    fds[2] = (struct child_fd){ errs[1], 2 };
    if (rc == 0)
        rc = child_start(&plan, &k->pid, err);
    if (rc) {
        close_pair(in);
        close_pair(out);
        close_pair(errs);
        return rc;
    }
    close(in[0]);
    close(out[1]);
    close(errs[1]);
    k->in = in[1];
    watch_open(&k->feed, k->loop, k->in, NULL, feed, k);
    rc = stream_open(&k->out, k, out[0], true);
    if (stream_open(&k->err, k, errs[0], false) < 0)
        rc = -ENOMEM;
    if (rc == 0 && buf_len(&k->record))
        rc = watch_want(&k->feed, LOOP_WRITE);
    if (rc == 0)
        return 0;
    kill(-k->pid, SIGKILL); /* it is reaped as one that runs */
    return errmsg_set(err, rc, "its output cannot be followed: %s", err_text(rc));
}

static void stream_free(struct remote_stream *s)
{
    watch_close(&s->watch);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    buf_free(&s->line);
}

/* A connection ends without a word to its owner. */
static void drop_connection(struct remote_command *k)
{
    remote_command_close_in(k);
    stream_free(&k->out);
    k->on_end = NULL;
}

int remote_command_ask(int fd, char *const *words)
{
    struct buf request = BUF_NULL(REQUEST_MAX);
    int rc;

    dvm_request_write(words, &request);
    rc = buf_ok(&request) ? write_all_slice(fd, buf_slice(&request)) : -E2BIG;
    buf_free(&request);
    return rc;
}

/* Two descriptors for the one socket: each has a watch. */
int remote_command_connect(struct remote_command *k, int fd, remote_command_end_fn *on_end,
                           struct errmsg *err)
{
    int in = fcntl(fd, F_DUPFD_CLOEXEC, 3), rc;

    if (in < 0) {
        rc = -errno;
        close(fd);
        return errmsg_set(err, rc, "the DVM cannot be asked: %s", err_text(rc));
    }
    k->in = in;
    k->on_end = on_end;
    k->accepted = false;
    watch_open(&k->feed, k->loop, k->in, NULL, feed, k);
    rc = stream_open(&k->out, k, fd, true);
    if (rc == 0) {
        stream_read(&k->out); /* who has been asked before may have answered */
        return 0;
    }
    drop_connection(k);
    return errmsg_set(err, rc, "the DVM cannot be asked: %s", err_text(rc));
}

void remote_command_signal(struct remote_command *k, int sig)
{
    if (k->pid)
        kill(-k->pid, sig);
    if (k->on_end)
        drop_connection(k);
}

bool remote_command_runs(const struct remote_command *k)
{
    return k->pid || k->on_end;
}

void remote_command_ended(struct remote_command *k)
{
    k->pid = 0;
    remote_command_close_in(k);
    while (stream_read(&k->out))
        continue;
    while (stream_read(&k->err))
        continue;
    stream_close(&k->out);
    stream_close(&k->err);
}

void remote_command_init(struct remote_command *k, struct loop *loop,
                         remote_command_line_fn *on_line, void *arg)
{
    *k = (struct remote_command){ .loop = loop, .on_line = on_line, .arg = arg };
    k->in = k->out.fd = k->err.fd = -1;
}

void remote_command_free(struct remote_command *k)
{
    remote_command_close_in(k);
    stream_free(&k->out);
    stream_free(&k->err);
    if (k->pid) {
        kill(-k->pid, SIGKILL);
        while (waitpid(k->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    remote_command_drop_file(k);
    buf_free(&k->record);
}
