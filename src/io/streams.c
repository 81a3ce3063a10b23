/* streams.c - see streams.h.  The path of a byte: read from a source into the scratch, cut at the
 * last newline, the front to the sink (directly while its queue is empty), the rest to the tail.
 */
#include "io/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"

enum {
    STDIO_MOMENT_MS = 100,    /* an unfinished line, perhaps a prompt, is shown */
    STDIO_PATIENCE_MS = 1000, /* an owner that is silent this long yields to waiting sources */
    PUMP_LATER_MS = 250,
    STDIO_SAFE_WRITE = 4096 /* bytes that a pipe takes without blocking once it is writable */
};

/* ---- sinks ----------------------------------------------------------------------------------- */

static void sink_writable(void *arg);
static void sink_read_on(struct sink *k);

/* Opens the same pipe or terminal again, so that O_NONBLOCK does not affect others who share the
 * description. */
static int reopen(int fd)
{
    char path[40];
    struct stat st;

    if (fstat(fd, &st) < 0 || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

static void out_of_patience(void *arg)
{
    struct sink *k = arg;

    k->owner = NULL;
    sink_read_on(k);
}

bool sink_is_same(int one, int other)
{
    struct stat a, b;

    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino && !S_ISREG(a.st_mode);
}

int sink_open_own(struct sink *k, struct loop *l, int fd, char *scratch)
{
    struct stat st;

    memset(k, 0, sizeof *k);
    k->loop = l;
    k->fd = fd;
    k->own = true;
    k->regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    k->scratch = scratch;
    k->patience_ms = STDIO_PATIENCE_MS;
    k->moment_ms = STDIO_MOMENT_MS;
    list_init(&k->sources);
    buf_init(&k->queue, SIZE_MAX / 4); /* bounded by stopping the sources */
    watch_open(&k->watch, l, k->fd, NULL, sink_writable, k);
    timer_init(&k->patience, l, out_of_patience, k);
    return 0;
}

int sink_open(struct sink *k, struct loop *l, int fd, char *scratch)
{
    int again = reopen(fd), rc = sink_open_own(k, l, again >= 0 ? again : fd, scratch);

    k->own = k->reopened = again >= 0;
    return rc;
}

void sink_expect(struct sink *k, int n)
{
    k->nsources += (uint32_t)n;
}

static void sink_break(struct sink *k, int error)
{
    k->broken = true;
    k->error = error == EPIPE || error == ECONNRESET ? 0 : -error;
    buf_free(&k->queue);
    watch_want(&k->watch, 0);
}

/* One non-blocking write.  -1 with errno. */
static ssize_t write_some(const struct sink *k, struct slice s)
{
    ssize_t n;

    if (k->own || k->regular)
        return write(k->fd, s.ptr, s.len);
    n = send(k->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK) {
        struct pollfd p = { k->fd, POLLOUT, 0 };
        if (poll(&p, 1, 0) == 1)
            return write(k->fd, s.ptr, s.len < STDIO_SAFE_WRITE ? s.len : STDIO_SAFE_WRITE);
        errno = EAGAIN;
    }
    return n;
}

/* Writes as much as possible; returns the rest. */
static struct slice write_now(struct sink *k, struct slice s)
{
    while (s.len) {
        ssize_t n = write_some(k, s);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return s;
        if (n < 0) {
            sink_break(k, errno);
            return SLICE_NULL;
        }
        s = slice_skip(s, (size_t)n);
    }
    return s;
}

static bool source_may_read(const struct sink *k, const struct source *s)
{
    return !k->full && (!k->owner || k->owner == s);
}

/* Switches reading from every source of the sink on or off, by the state of the sink. */
static void sink_read_on(struct sink *k)
{
    LIST_EACH(l, &k->sources)
    {
        struct source *s = LIST_OF(l, struct source, link);
        if (s->fd >= 0)
            watch_want(&s->watch, source_may_read(k, s) ? LOOP_READ : 0);
    }
}

static void sink_put(struct sink *k, struct slice s)
{
    if (k->broken || s.len == 0)
        return;
    k->midline = s.ptr[s.len - 1] != '\n';
    if (buf_len(&k->queue) == 0)
        s = write_now(k, s);
    buf_slice_put(&k->queue, s);
    if (!buf_ok(&k->queue))
        sink_break(k, ENOMEM);
    if (buf_len(&k->queue) == 0)
        return;
    watch_want(&k->watch, LOOP_WRITE);
    if (!k->full && buf_len(&k->queue) > LIMIT_STDIO_QUEUE) {
        k->full = true;
        timer_stop(&k->patience);
        sink_read_on(k);
    }
}

void sink_print(struct sink *k, struct slice text)
{
    if (text.len == 0)
        return;
    if (k->midline)
        sink_put(k, SLICE("\n"));
    k->last = k;
    sink_put(k, text);
    if (k->midline)
        sink_put(k, SLICE("\n"));
}

static void sink_writable(void *arg)
{
    struct sink *k = arg;
    struct slice all = buf_slice(&k->queue), rest = write_now(k, all);

    if (k->broken)
        rest = SLICE_NULL;
    else
        buf_take(&k->queue, all.len - rest.len);
    if (rest.len == 0)
        watch_want(&k->watch, 0);
    if (k->full && rest.len < LIMIT_STDIO_QUEUE / 2) {
        k->full = false;
        if (k->owner)
            timer_set(&k->patience, k->patience_ms);
        sink_read_on(k);
    }
    if (sink_idle(k) && k->on_idle)
        k->on_idle(k->arg);
}

void sink_drop(struct sink *k)
{
    if (k->loop && !k->broken)
        sink_break(k, EPIPE);
}

void sink_detach(struct sink *k)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (!k->loop || k->broken || null < 0) {
        if (null >= 0)
            close(null);
        sink_drop(k);
        return;
    }
    watch_close(&k->watch);
    if (k->reopened)
        close(k->fd);
    k->fd = null;
    k->reopened = k->own = k->regular = true;
    k->full = k->midline = false;
    buf_clear(&k->queue);
    watch_open(&k->watch, k->loop, k->fd, NULL, sink_writable, k);
    sink_read_on(k);
}

bool sink_idle(const struct sink *k)
{
    return k->broken || buf_len(&k->queue) == 0;
}

void sink_close(struct sink *k)
{
    struct slice rest = buf_slice(&k->queue);

    if (!k->loop)
        return;
    watch_close(&k->watch);
    timer_stop(&k->patience);
    while (rest.len && !k->broken) {
        struct pollfd p = { k->fd, POLLOUT, 0 };
        if (poll(&p, 1, -1) < 0 && errno != EINTR)
            break;
        rest = write_now(k, rest);
    }
    buf_free(&k->queue);
    if (k->reopened)
        close(k->fd);
    k->loop = NULL;
}

/* ---- sources --------------------------------------------------------------------------------- */

static void put_labelled(struct source *s, struct slice line, bool whole, struct buf *out)
{
    if (!s->labelled)
        buf_str(out, s->label(s->arg));
    s->labelled = !whole;
    buf_slice_put(out, line);
}

/* Writes lines (or, at the end, pieces), each in its shape or with the label before it. */
static void put_lines(struct source *s, struct slice text)
{
    struct buf out = BUF_NULL(SIZE_MAX / 4);

    while (text.len) {
        size_t n = slice_find(text, '\n');
        bool whole = n < text.len;
        struct slice line = slice_head(text, n + (whole ? 1 : 0));
        if (s->shape)
            s->shape(s, line, &out);
        else
            put_labelled(s, line, whole, &out);
        text = slice_skip(text, line.len);
    }
    sink_put(s->sink, buf_slice(&out));
    buf_free(&out);
}

static bool is_raw(const struct source *s)
{
    return s->raw || (s->relays && s->sink->raw);
}

/* Passes bytes to the sink, which may be in the middle of another source's line. */
static void source_put(struct source *s, struct slice text)
{
    struct sink *k = s->sink;

    if (text.len == 0)
        return;
    if (k->midline && k->last && k->last != s && !is_raw(s))
        sink_put(k, SLICE("\n"));
    k->last = s;
    if (s->label || s->shape)
        put_lines(s, text);
    else
        sink_put(k, text);
}

static void flush_tail(struct source *s)
{
    source_put(s, buf_slice(&s->tail));
    buf_clear(&s->tail);
}

/* All other sources wait until this one has ended its line. */
static void take_over(struct source *s)
{
    struct sink *k = s->sink;

    flush_tail(s);
    if (k->nsources > 1) {
        k->owner = s;
        sink_read_on(k);
    }
    if (!k->full)
        timer_set(&k->patience, k->patience_ms);
}

static void hand_back(struct source *s)
{
    struct sink *k = s->sink;

    if (k->owner != s)
        return;
    k->owner = NULL;
    timer_stop(&k->patience);
    sink_read_on(k);
}

static void moment_over(void *arg)
{
    struct source *s = arg;

    if (s->fd >= 0 && buf_len(&s->tail) && source_may_read(s->sink, s))
        take_over(s);
}

static size_t last_newline(struct slice s)
{
    const char *hit = s.len ? memrchr(s.ptr, '\n', s.len) : NULL;

    return hit ? (size_t)(hit - s.ptr) + 1 : 0;
}

/* The owner's bytes are written as they come; its line may end in them. */
static void take_owned(struct source *s, struct slice bytes)
{
    source_put(s, bytes);
    if (bytes.ptr[bytes.len - 1] == '\n')
        hand_back(s);
    else if (!s->sink->full)
        timer_set(&s->sink->patience, s->sink->patience_ms);
}

/* Holds back only a complete first line. */
static bool hold_back(struct source *s, struct slice bytes)
{
    hold_fn *hold = s->hold;

    s->hold = NULL;
    if (!hold || !hold(bytes))
        return false;
    buf_slice_put(&s->tail, bytes);
    s->held = buf_ok(&s->tail);
    return s->held;
}

struct slice source_held(const struct source *s)
{
    return s->held ? buf_slice(&s->tail) : SLICE_NULL;
}

void source_drop_held(struct source *s)
{
    if (s->held)
        buf_clear(&s->tail);
    source_show_held(s);
}

static void take_raw(struct source *s, struct slice bytes)
{
    flush_tail(s);
    source_put(s, bytes);
    hand_back(s);
}

static void take_bytes(struct source *s, struct slice bytes)
{
    size_t whole = last_newline(bytes);

    if (hold_back(s, bytes))
        return;
    if (s->held)
        flush_tail(s);
    s->held = false;
    if (is_raw(s)) {
        take_raw(s, bytes);
        return;
    }
    if (s->sink->owner == s || (s->sink->nsources == 1 && buf_len(&s->tail) == 0)) {
        take_owned(s, bytes);
        return;
    }
    if (whole) {
        if (buf_len(&s->tail)) {
            buf_slice_put(&s->tail, slice_head(bytes, whole));
            flush_tail(s);
        } else {
            source_put(s, slice_head(bytes, whole));
        }
    }
    buf_slice_put(&s->tail, slice_skip(bytes, whole));
    if (!buf_ok(&s->tail) || buf_len(&s->tail) > LIMIT_STDIO_TAIL)
        take_over(s);
    else if (buf_len(&s->tail) && s->prompts)
        timer_set(&s->moment, s->sink->moment_ms);
}

static void let_go(struct source *s)
{
    flush_tail(s);
    buf_free(&s->tail);
    if (s->sink->last == s)
        s->sink->last = s->sink;
}

/* Held-back bytes outlive the pipe: the caller that asks for them knows more after the process has
 * ended. */
static void source_end(struct source *s)
{
    loop_fn *on_end = s->on_end;

    if (s->tap)
        s->tap(s, SLICE_NULL);
    timer_stop(&s->moment);
    watch_close(&s->watch);
    close(s->fd);
    s->fd = -1;
    if (!s->held)
        let_go(s);
    hand_back(s);
    list_unlink(&s->link);
    s->on_end = NULL;
    if (on_end)
        on_end(s->arg);
}

/* False: nothing more to read. */
static bool source_read(struct source *s)
{
    ssize_t n = read(s->fd, s->sink->scratch, STDIO_CHUNK);
    bool read_any;

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (n <= 0)
        return false;
    read_any = s->tap && s->tap(s, slice_mem(s->sink->scratch, (size_t)n));
    if (s->sink->broken)
        return read_any; /* else the process's next write fails, as with `| head` */
    if (!s->redirected)
        take_bytes(s, slice_mem(s->sink->scratch, (size_t)n));
    return true;
}

static void source_readable(void *arg)
{
    struct source *s = arg;

    if (!source_read(s))
        source_end(s);
}

int source_open(struct source *s, struct sink *k, int fd, label_fn *label, loop_fn *on_end,
                void *arg)
{
    int rc = 0;

    memset(s, 0, sizeof *s);
    s->sink = k;
    s->fd = fd;
    s->label = label;
    s->on_end = on_end;
    s->arg = arg;
    buf_init(&s->tail, LIMIT_STDIO_TAIL + (size_t)STDIO_CHUNK);
    timer_init(&s->moment, k->loop, moment_over, s);
    watch_open(&s->watch, k->loop, fd, source_readable, NULL, s);
    if (source_may_read(k, s))
        rc = watch_want(&s->watch, LOOP_READ);
    if (rc < 0) {
        s->fd = -1;
        return rc;
    }
    list_append(&k->sources, &s->link);
    k->nsources++;
    return 0;
}

void source_catch_up(struct source *s)
{
    int waiting = 0, left;

    if (s->fd < 0 || !s->sink)
        return;
    /* Output written before the end is shown, whichever source owns the sink now; output that is
     * still being written is not waited for. */
    for (left = ioctl(s->fd, FIONREAD, &waiting) == 0 ? waiting : 0; left > 0;
         left -= STDIO_CHUNK) {
        if (ioctl(s->fd, FIONREAD, &waiting) < 0 || waiting <= 0 || !source_read(s))
            break;
    }
}

void source_show_held(struct source *s)
{
    bool held = s->held;

    s->held = false;
    if (held && s->fd < 0)
        let_go(s);
    else if (held)
        flush_tail(s);
}

void source_close(struct source *s)
{
    source_catch_up(s);
    source_show_held(s);
    if (s->fd >= 0 && s->sink)
        source_end(s);
}

/* ---- input ----------------------------------------------------------------------------------- */

static void pump_close_end(struct pump_end *e)
{
    if (e->fd < 0)
        return;
    watch_close(&e->watch);
    close(e->fd);
    e->fd = -1;
}

static void pump_finish(struct pump *p)
{
    loop_fn *on_end = p->on_end;

    timer_stop(&p->later);
    watch_close(&p->watch);
    for (uint32_t i = 0; i < p->nends; i++)
        pump_close_end(&p->ends[i]);
    p->on_end = NULL;
    if (on_end)
        on_end(p->arg);
}

/* All open ends have the whole chunk: true. */
static bool pump_sent(const struct pump *p, bool *any_open_p)
{
    bool sent = true;

    *any_open_p = false;
    for (uint32_t i = 0; i < p->nends; i++) {
        if (p->ends[i].fd < 0)
            continue;
        *any_open_p = true;
        sent = sent && p->ends[i].sent == p->len;
    }
    return sent;
}

static void pump_write(struct pump_end *e)
{
    struct pump *p = e->pump;

    while (e->fd >= 0 && e->sent < p->len) {
        ssize_t n = write(e->fd, p->chunk + e->sent, p->len - e->sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            watch_want(&e->watch, LOOP_WRITE);
            return;
        }
        if (n < 0) {
            pump_close_end(e); /* this process does not read its input */
            return;
        }
        e->sent += (size_t)n;
    }
    if (e->fd >= 0)
        watch_want(&e->watch, 0);
}

/* In the background the terminal's input is not ours.  There is no notification of coming to the
 * foreground, so while input waits that we may not read we check again periodically. */
static bool in_background(const struct pump *p)
{
    return p->tty && tcgetpgrp(p->fd) != getpgrp();
}

static bool pump_read(struct pump *p)
{
    ssize_t n;

    if (in_background(p)) {
        watch_want(&p->watch, 0);
        timer_set(&p->later, PUMP_LATER_MS);
        return false;
    }
    n = read(p->fd, p->chunk, STDIO_CHUNK);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n <= 0) {
        p->eof = true;
        pump_finish(p);
        return false;
    }
    p->len = (size_t)n;
    for (uint32_t i = 0; i < p->nends; i++) {
        p->ends[i].sent = 0;
        pump_write(&p->ends[i]);
    }
    return true;
}

/* Reads when all earlier input has been sent.  A file is always ready and cannot be watched: there
 * the first writable end keeps us going, one chunk per turn of the loop. */
static void pump_on(struct pump *p)
{
    bool any_open;

    if (p->eof || p->paused)
        return;
    if (pump_sent(p, &any_open) && any_open && p->regular)
        pump_read(p);
    if (p->eof)
        return;
    if (!pump_sent(p, &any_open)) {
        watch_want(&p->watch, 0);
    } else if (!any_open) {
        pump_finish(p);
    } else if (!p->regular) {
        watch_want(&p->watch, LOOP_READ);
    } else {
        for (uint32_t i = 0; i < p->nends; i++) {
            if (p->ends[i].fd >= 0) {
                watch_want(&p->ends[i].watch, LOOP_WRITE);
                return;
            }
        }
    }
}

static void pump_readable(void *arg)
{
    struct pump *p = arg;

    pump_read(p);
    if (!p->later.set)
        pump_on(p);
}

static void pump_look_again(void *arg)
{
    pump_on(arg);
}

static void pump_writable(void *arg)
{
    struct pump_end *e = arg;

    pump_write(e);
    pump_on(e->pump);
}

/* Files and devices that epoll refuses are those that are always ready. */
static bool always_ready(int fd)
{
    struct epoll_event none = { .events = EPOLLIN };
    int ep = epoll_create1(EPOLL_CLOEXEC);
    bool refused = ep >= 0 && epoll_ctl(ep, EPOLL_CTL_ADD, fd, &none) < 0 && errno == EPERM;

    if (ep >= 0)
        close(ep);
    return refused;
}

int pump_open(struct pump *p, struct loop *l, int fd, const int *ends, uint32_t n)
{
    memset(p, 0, sizeof *p);
    p->loop = l;
    p->fd = fd;
    p->regular = always_ready(fd);
    p->tty = isatty(fd) == 1;
    timer_init(&p->later, l, pump_look_again, p);
    p->chunk = malloc(STDIO_CHUNK);
    p->ends = calloc(n ? n : 1, sizeof *p->ends);
    if (!p->chunk || !p->ends) {
        for (uint32_t i = 0; i < n; i++)
            close(ends[i]);
        pump_close(p);
        return -ENOMEM;
    }
    p->nends = n;
    watch_open(&p->watch, l, fd, pump_readable, NULL, p);
    for (uint32_t i = 0; i < n; i++) {
        p->ends[i] = (struct pump_end){ .fd = ends[i], .pump = p };
        watch_open(&p->ends[i].watch, l, ends[i], NULL, pump_writable, &p->ends[i]);
    }
    pump_on(p);
    return 0;
}

void pump_pause(struct pump *p, bool pause)
{
    if (!p->loop || p->eof)
        return;
    p->paused = pause;
    if (pause)
        watch_want(&p->watch, 0);
    else
        pump_on(p);
}

void pump_close(struct pump *p)
{
    if (!p->loop)
        return;
    pump_finish(p);
    free(p->chunk);
    free(p->ends);
    memset(p, 0, sizeof *p);
}
