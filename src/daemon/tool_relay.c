/* tool_relay.c - see tool_relay.h.  Reading order: writing; from the tool; from the server; the
 * whole. */
#include "daemon/tool_relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/listener.h"
#include "pmix_common.h"
#include "wire/pmix_greeting.h"
#include "wire/pmix_handshake.h"

enum { RELAY_PIECE = 64 << 10, RELAY_ROOM = 1 << 20, BUFFER_NOT_DESCRIBED = 1, RANKS_MAX = 1024 };

/* ---- writing --------------------------------------------------------------------------------- */

static void way_close(struct tool_relay_way *w)
{
    watch_close(&w->watch);
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    buf_free(&w->out);
}

static void relay_end(struct tool_relay *r)
{
    way_close(&r->tool);
    way_close(&r->server);
    buf_free(&r->greeting);
    r->open = false;
}

/* False: the other end has gone. */
static bool flush(struct tool_relay_way *w)
{
    while (buf_len(&w->out)) {
        struct slice bytes = buf_slice(&w->out);
        ssize_t n = send(w->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n >= 0)
            buf_take(&w->out, (size_t)n);
        else if (errno == EAGAIN)
            return true;
        else if (errno != EINTR)
            return false;
    }
    return buf_ok(&w->out);
}

/* One end is read only while the other one takes what it sends. */
static void watch_one(const struct tool_relay_way *from, const struct tool_relay_way *to,
                      struct watch *w)
{
    bool room = buf_len(&to->out) < RELAY_ROOM;

    watch_want(w, (room ? LOOP_READ : 0u) | (buf_len(&from->out) ? LOOP_WRITE : 0u));
}

static void go_on(struct tool_relay *r, bool good)
{
    if (!good || !flush(&r->tool) || !flush(&r->server)) {
        relay_end(r);
        return;
    }
    watch_one(&r->tool, &r->server, &r->tool.watch);
    watch_one(&r->server, &r->tool, &r->server.watch);
}

static void on_write(void *arg)
{
    go_on(arg, true);
}

/* What read() returns; -1 with EAGAIN: nothing now. */
static ssize_t take(const struct tool_relay_way *w, char *piece)
{
    ssize_t n;

    do
        n = recv(w->fd, piece, RELAY_PIECE, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n;
}

/* ---- from the tool --------------------------------------------------------------------------- */

static void take_head(struct tool_relay *r, struct slice *bytes)
{
    size_t n = sizeof r->head - r->nhead;
    uint32_t words[TOOL_CALLBACK_HEADER / 4];

    n = bytes->len < n ? bytes->len : n;
    memcpy(r->head + r->nhead, bytes->ptr, n);
    r->nhead += n;
    *bytes = slice_skip(*bytes, n);
    if (r->nhead < sizeof r->head)
        return;
    memcpy(words, r->head, sizeof words);
    r->left = ntohl(words[2]);
    r->wanted = tool_callback_is_request(ntohl(words[1]));
    if (r->wanted)
        buf_put(&r->server.out, r->head, sizeof r->head);
}

static void take_body(struct tool_relay *r, struct slice *bytes)
{
    struct slice part = slice_head(*bytes, bytes->len < r->left ? bytes->len : r->left);

    if (r->wanted)
        buf_slice_put(&r->server.out, part);
    *bytes = slice_skip(*bytes, part.len);
    r->left -= part.len;
}

static void take_messages(struct tool_relay *r, struct slice bytes)
{
    while (bytes.len || (r->nhead == sizeof r->head && r->left == 0)) {
        if (r->nhead < sizeof r->head)
            take_head(r, &bytes);
        else if (r->left)
            take_body(r, &bytes);
        else
            r->nhead = 0;
    }
}

static void on_tool(void *arg)
{
    struct tool_relay *r = arg;
    char piece[RELAY_PIECE];
    ssize_t n = take(&r->tool, piece);

    if (n > 0)
        take_messages(r, slice_mem(piece, (size_t)n));
    go_on(r, n > 0 || (n < 0 && errno == EAGAIN));
}

/* ---- from the server ------------------------------------------------------------------------- */

/* The go-ahead and the welcome; what follows is for the tool.  False: the tool is refused. */
static bool take_greeting(struct tool_relay *r, struct slice bytes)
{
    struct handshake_tool_welcome m = { .status = PMIX_ERROR };
    struct handshake_read read;
    struct slice all;

    buf_slice_put(&r->greeting, bytes);
    all = slice_skip(buf_slice(&r->greeting), sizeof LISTENER_GO_AHEAD - 1);
    if (!buf_ok(&r->greeting))
        return false;
    if (buf_len(&r->greeting) < sizeof LISTENER_GO_AHEAD - 1 ||
        !handshake_read(HANDSHAKE_tool_welcome, HELLO_TOOL_NAMED, all, &m, &read))
        return true;
    r->greeted = true;
    buf_slice_put(&r->tool.out, slice_skip(all, read.bytes));
    buf_free(&r->greeting);
    return m.status == PMIX_SUCCESS;
}

static bool take_from_server(struct tool_relay *r, struct slice bytes)
{
    if (!r->greeted)
        return take_greeting(r, bytes);
    buf_slice_put(&r->tool.out, bytes);
    return true;
}

static void on_server(void *arg)
{
    struct tool_relay *r = arg;
    char piece[RELAY_PIECE];
    ssize_t n = take(&r->server, piece);
    bool good = n > 0 ? take_from_server(r, slice_mem(piece, (size_t)n)) : n < 0 && errno == EAGAIN;

    go_on(r, good);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void greet(struct tool_relay *r, const struct tool_callback *c)
{
    uint32_t ids[2] = { (uint32_t)geteuid(), (uint32_t)getegid() };

    handshake_put_hello(&r->server.out,
                        &(struct handshake_hello){ .security = SLICE("native"),
                                                   .credential = slice_mem(ids, sizeof ids),
                                                   .kind = HELLO_TOOL_NAMED,
                                                   .user = ids[0],
                                                   .group = ids[1],
                                                   .nspace = slice_str(c->nspace),
                                                   .rank = c->rank < RANKS_MAX ? c->rank : 0,
                                                   .version = slice_str(c->version),
                                                   .encoding = slice_str(c->encoding),
                                                   .buffers = BUFFER_NOT_DESCRIBED,
                                                   .store = SLICE("hash") });
}

int tool_relay_open(struct tool_relay *r, struct tool_callback *c, struct listener *l,
                    struct loop *loop)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return -errno;
    *r = (struct tool_relay){ .tool = { .fd = c->fd, .out = BUF_NULL(LIMIT_PMIX_MESSAGE) },
                              .server = { .fd = ends[1], .out = BUF_NULL(LIMIT_PMIX_MESSAGE) },
                              .greeting = BUF_NULL(1 << 16),
                              .open = true };
    c->fd = -1;
    watch_open(&r->tool.watch, loop, r->tool.fd, on_tool, on_write, r);
    watch_open(&r->server.watch, loop, r->server.fd, on_server, on_write, r);
    listener_take(l, ends[0]);
    greet(r, c);
    take_messages(r, buf_slice(&c->early));
    buf_free(&c->early);
    go_on(r, true);
    return 0;
}

void tool_relay_close(struct tool_relay *r)
{
    char piece[RELAY_PIECE];
    ssize_t n;

    if (!r->open)
        return;
    while ((n = take(&r->server, piece)) > 0 && take_from_server(r, slice_mem(piece, (size_t)n)))
        continue;
    flush(&r->tool);
    relay_end(r);
}
