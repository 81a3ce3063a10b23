/* launcher_link.c - see launcher_link.h. */
#include "daemon/launcher_link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "cluster/msg.h"

enum { HEAD = 4, PIECE = 64 << 10 };

struct announced_job {
    struct list link;
    uint32_t job;
};

/* ---- messages in ----------------------------------------------------------------------------- */

static uint32_t read_length(const char *bytes)
{
    uint32_t n = 0;

    for (int i = HEAD; i-- > 0;)
        n = n << 8 | (unsigned char)bytes[i];
    return n;
}

static bool take_message(struct launcher_link *k, struct slice bytes)
{
    struct arena a = ARENA_NULL(LIMIT_DAEMON_LINK_MESSAGE);
    struct errmsg err;
    struct msg m;
    bool good = msg_read(bytes, &a, &m, &err) == 0 && k->calls->on_message(k->arg, k, &m);

    arena_free(&a);
    return good;
}

/* All that are there.  False: one is none. */
static bool take_messages(struct launcher_link *k)
{
    for (;;) {
        struct slice all = buf_slice(&k->in);
        uint32_t len = all.len < HEAD ? 0 : read_length(all.ptr);
        if (len > LIMIT_DAEMON_LINK_MESSAGE)
            return false;
        if (all.len < HEAD || all.len - HEAD < len)
            return true;
        if (!take_message(k, slice_head(slice_skip(all, HEAD), len)))
            return false;
        buf_take(&k->in, HEAD + (size_t)len);
    }
}

static void on_read(void *arg)
{
    struct launcher_link *k = arg;
    char *room = buf_room(&k->in, PIECE);
    ssize_t n = room ? recv(k->fd, room, PIECE, MSG_DONTWAIT) : 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_commit(&k->in, (size_t)n);
    if (n <= 0 || !take_messages(k))
        k->calls->on_closed(k->arg, k);
}

/* ---- messages out ---------------------------------------------------------------------------- */

/* The other end may have sent its last words before it went: they are read first, then the end. */
static void on_write(void *arg)
{
    struct launcher_link *k = arg;
    struct slice s = buf_slice(&k->out);
    ssize_t n = buf_ok(&k->out) ? send(k->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (!buf_ok(&k->out)) {
        k->calls->on_closed(k->arg, k);
        return;
    }
    buf_take(&k->out, n < 0 ? s.len : (size_t)n);
    if (!buf_len(&k->out))
        watch_want(&k->watch, LOOP_READ);
}

/* As much as the connection takes: this launcher may end in this turn.  Errors are for the loop. */
static void write_now(struct launcher_link *k)
{
    struct slice s = buf_slice(&k->out);
    ssize_t n = buf_ok(&k->out) ? send(k->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

    if (n > 0)
        buf_take(&k->out, (size_t)n);
}

void launcher_link_send(struct launcher_link *k, const struct msg *m)
{
    struct buf bytes = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE);
    size_t len;

    msg_write(m, &bytes);
    len = buf_len(&bytes);
    for (unsigned i = 0; i < HEAD; i++)
        buf_byte(&k->out, (char)(len >> (8 * i) & 0xff));
    if (buf_ok(&bytes))
        buf_slice_put(&k->out, buf_slice(&bytes));
    else
        k->out.error = bytes.error;
    buf_free(&bytes);
    write_now(k);
    watch_want(&k->watch,
               buf_len(&k->out) || !buf_ok(&k->out) ? LOOP_READ | LOOP_WRITE : LOOP_READ);
}

/* ---- own jobs -------------------------------------------------------------------------------- */

static struct announced_job *announced(const struct launcher_link *k, uint32_t job)
{
    LIST_EACH(l, &k->announced)
    {
        struct announced_job *a = LIST_OF(l, struct announced_job, link);
        if (a->job == job)
            return a;
    }
    return NULL;
}

bool launcher_link_knows(const struct launcher_link *k, uint32_t job)
{
    return announced(k, job) != NULL;
}

bool launcher_link_note(struct launcher_link *k, uint32_t job)
{
    struct announced_job *a = calloc(1, sizeof *a);

    if (!a)
        return false;
    a->job = job;
    list_append(&k->announced, &a->link);
    return true;
}

void launcher_link_forget(struct launcher_link *k, uint32_t job)
{
    struct announced_job *a = announced(k, job);

    if (a)
        list_unlink(&a->link);
    free(a);
}

/* ---- opening and closing --------------------------------------------------------------------- */

struct launcher_link *launcher_link_new(struct loop *loop, int fd, struct slice greeting,
                                        const struct launcher_link_calls *calls, void *arg)
{
    struct launcher_link *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    list_init(&k->link);
    list_init(&k->announced);
    k->fd = fd;
    k->calls = calls;
    k->arg = arg;
    buf_init(&k->in, HEAD + (size_t)LIMIT_DAEMON_LINK_MESSAGE + PIECE);
    buf_init(&k->out, 2 * (size_t)LIMIT_DAEMON_LINK_MESSAGE);
    buf_slice_put(&k->out, greeting);
    watch_open(&k->watch, loop, fd, on_read, on_write, k);
    if (buf_ok(&k->out) && watch_want(&k->watch, LOOP_READ | (greeting.len ? LOOP_WRITE : 0U)) == 0)
        return k;
    k->fd = -1;
    launcher_link_free(k);
    return NULL;
}

void launcher_link_free(struct launcher_link *k)
{
    watch_close(&k->watch);
    if (k->fd >= 0)
        close(k->fd);
    list_unlink(&k->link);
    LIST_EACH(l, &k->announced)
    {
        list_unlink(l);
        free(LIST_OF(l, struct announced_job, link));
    }
    buf_free(&k->in);
    buf_free(&k->out);
    free(k);
}
