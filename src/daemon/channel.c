/* channel.c - see channel.h. */
#include "daemon/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "cluster/msg.h"

/* The data of one message; small enough not to delay other messages. */
enum { CHANNEL_PIECE = 32 << 10 };

static void end(struct channel *c)
{
    if (c->fd < 0)
        return;
    channel_close(c);
    c->ops->ended(c->arg, c);
}

/* False: there is nothing (more) to read now. */
static bool read_piece(struct channel *c)
{
    char piece[CHANNEL_PIECE];
    size_t left = window_room(&c->window), room = left < sizeof piece ? left : sizeof piece;
    ssize_t n = read(c->fd, piece, room);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    if (n <= 0) {
        c->ops->data(c->arg, c, SLICE_NULL);
        end(c);
        return false;
    }
    window_take(&c->window, (uint64_t)n);
    if (window_room(&c->window) == 0)
        watch_want(&c->watch, 0);
    c->ops->data(c->arg, c, slice_mem(piece, (size_t)n));
    return true;
}

static void read_some(void *arg)
{
    read_piece(arg);
}

void channel_catch_up(struct channel *c)
{
    while (c->fd >= 0 && !c->writes && window_room(&c->window) && read_piece(c))
        continue;
}

static void write_some(void *arg)
{
    struct channel *c = arg;
    size_t before = buf_len(&c->queue);

    while (buf_len(&c->queue)) {
        struct slice s = buf_slice(&c->queue);
        ssize_t n = write(c->fd, s.ptr, s.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0) {
            c->ops->unread(c->arg, c);
            end(c);
            return;
        }
        buf_take(&c->queue, (size_t)n);
    }
    if (buf_len(&c->queue) < before) {
        window_give(&c->window, before - buf_len(&c->queue));
        c->ops->credit(c->arg, c, before - buf_len(&c->queue));
    }
    if (c->fd < 0)
        return;
    if (buf_len(&c->queue))
        watch_want(&c->watch, LOOP_WRITE);
    else if (c->eof)
        end(c);
    else
        watch_want(&c->watch, 0);
}

int channel_open(struct channel *c, struct loop *l, int fd, bool writes,
                 const struct channel_ops *ops, void *arg)
{
    uint32_t position = c->position, number = c->number;

    memset(c, 0, sizeof *c);
    c->position = position;
    c->number = number;
    c->ops = ops;
    c->arg = arg;
    c->fd = fd;
    c->writes = writes;
    buf_init(&c->queue, LIMIT_CHANNEL_WINDOW);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return -errno;
    watch_open(&c->watch, l, fd, read_some, write_some, c);
    return writes ? 0 : watch_want(&c->watch, LOOP_READ);
}

void channel_close(struct channel *c)
{
    watch_close(&c->watch);
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    buf_free(&c->queue);
}

struct msg channel_data_msg(const struct channel *c, struct slice bytes)
{
    struct msg m = { .kind = MSG_data };

    m.u.data.channel = c->number;
    m.u.data.bytes = bytes;
    return m;
}

struct msg channel_credit_msg(const struct channel *c, uint64_t count)
{
    struct msg m = { .kind = MSG_window_update };

    m.u.window_update.channel = c->number;
    m.u.window_update.count = count;
    return m;
}

struct msg channel_unread_msg(const struct channel *c)
{
    struct msg m = { .kind = MSG_unread };

    m.u.unread.channel = c->number;
    return m;
}

void channel_unread(struct channel *c)
{
    if (c->fd >= 0 && !c->writes)
        end(c);
}

bool channel_data(struct channel *c, struct slice bytes)
{
    if (c->fd < 0 || !c->writes)
        return true; /* that end has gone: nothing depends on it */
    if (c->eof || !window_take(&c->window, bytes.len))
        return false;
    if (bytes.len == 0)
        c->eof = true;
    buf_slice_put(&c->queue, bytes);
    if (!buf_ok(&c->queue)) { /* no memory: the data is lost, and the stream with it */
        end(c);
        return true;
    }
    write_some(c);
    return true;
}

bool channel_credit(struct channel *c, uint64_t count)
{
    if (c->fd < 0 || c->writes)
        return true;
    if (!window_give(&c->window, count))
        return false;
    if (window_room(&c->window))
        watch_want(&c->watch, LOOP_READ);
    return true;
}

void channel_cut(struct channel *c)
{
    if (c->fd < 0)
        return;
    if (!c->writes) {
        end(c);
        return;
    }
    c->eof = true;
    write_some(c);
}
