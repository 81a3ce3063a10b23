/* dvm_growth.c - see dvm_growth.h.  The DVM takes requests as lines on a connection;
 * ours is the other end of one. */
#include "daemon/dvm_growth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/node_context.h"
#include "io/loop.h"

enum { DVM_GROWTH_TEXT = 1 << 20 };

struct dvm_growth {
    struct list link;
    struct dvm_growths *of;
    void *request; /* NULL: it goes on, or is forgotten */
    bool by_number;
    int fd;
    struct watch watch;
    struct buf in, joined;
    struct errmsg why;
};

static void dvm_growth_free(struct dvm_growth *g)
{
    watch_close(&g->watch);
    close(g->fd);
    list_unlink(&g->link);
    buf_free(&g->in);
    buf_free(&g->joined);
    if (g->request)
        g->of->calls.drop(g->request);
    free(g);
}

/* Our end of a connection with that request on it; -errno. */
static int ask(const struct dvm_growths *g, const char *words, struct slice nodes)
{
    const struct node_context *c = g->context;
    struct buf line = BUF_NULL(DVM_GROWTH_TEXT);
    int ends[2], rc;

    buf_printf(&line, "%s " SLICE_FMT, words, SLICE_ARG(nodes));
    rc = !g->resize ? -ENOTSUP : buf_ok(&line) ? 0 : -ENOMEM;
    if (rc == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        rc = -errno;
    if (rc == 0)
        g->resize(c->config->arg, ends[1], buf_slice(&line));
    buf_free(&line);
    return rc < 0 ? rc : ends[0];
}

static void take_reason(struct dvm_growth *g, struct slice why)
{
    if (!g->why.text[0])
        errmsg_set(&g->why, 0, SLICE_FMT, SLICE_ARG(why));
}

/* `submitted ID MANAGER`, `up NAME SLOTS`, `failed NAME WHY`, `error: WHY`, `end`; true: it was the
 * last line. */
static bool take_line(struct dvm_growth *g, struct slice line)
{
    struct slice word = slice_cut(&line, ' ');

    if (slice_is(word, "up") && !g->request) {
        dvm_growth_undo(g->of, slice_cut(&line, ' '));
    } else if (slice_is(word, "up")) {
        if (buf_len(&g->joined))
            buf_byte(&g->joined, ',');
        buf_slice_put(&g->joined, slice_cut(&line, ' '));
    } else if (slice_is(word, "failed")) {
        slice_cut(&line, ' ');
        take_reason(g, line);
    } else if (slice_is(word, "error:")) {
        take_reason(g, line);
    }
    return slice_is(word, "end") || slice_is(word, "error:");
}

static void finish(struct dvm_growth *g)
{
    struct dvm_growths *of = g->of;
    void *request = g->request;

    g->request = NULL;
    list_unlink(&g->link);
    list_init(&g->link);
    if (request)
        of->calls.go_on(of->calls.arg, request, buf_slice(&g->joined), g->why.text);
    dvm_growth_free(g);
}

static void on_read(void *arg)
{
    struct dvm_growth *g = arg;
    char *room = buf_room(&g->in, 4096);
    ssize_t n = room ? recv(g->fd, room, 4096, MSG_DONTWAIT) : 0;
    bool ended = n == 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_commit(&g->in, (size_t)n);
    while (n > 0 && !ended && slice_find(buf_slice(&g->in), '\n') < buf_len(&g->in)) {
        struct slice all = buf_slice(&g->in), line = slice_cut(&all, '\n');
        ended = take_line(g, line);
        buf_take(&g->in, line.len + 1);
    }
    if (ended || n < 0)
        finish(g);
}

static int ask_for(const struct dvm_growths *g, const char *verb, struct slice what,
                   struct slice all)
{
    struct buf words = BUF_NULL(DVM_GROWTH_TEXT);
    int fd;

    buf_printf(&words, "job " SLICE_FMT " %s", SLICE_ARG(all.len ? all : SLICE("-")), verb);
    fd = buf_cstr(&words) ? ask(g, buf_cstr(&words), what) : -ENOMEM;
    buf_free(&words);
    return fd;
}

static bool begin(struct dvm_growths *g, void *request, const char *verb, struct slice what,
                  struct slice all)
{
    struct dvm_growth *new = calloc(1, sizeof *new);

    if (!new)
        return false;
    *new = (struct dvm_growth){ .of = g, .request = request };
    buf_init(&new->in, DVM_GROWTH_TEXT);
    buf_init(&new->joined, DVM_GROWTH_TEXT);
    new->fd = ask_for(g, verb, what, all);
    if (new->fd < 0) {
        free(new);
        return false;
    }
    new->by_number = !strcmp(verb, "more");
    list_append(&g->all, &new->link);
    watch_open(&new->watch, g->context->loop, new->fd, on_read, NULL, new);
    watch_want(&new->watch, LOOP_READ);
    return true;
}

bool dvm_growth_begin(struct dvm_growths *g, void *request, struct slice nodes, struct slice all)
{
    return begin(g, request, "grow", nodes, all);
}

bool dvm_growth_more(struct dvm_growths *g, void *request, uint64_t nodes)
{
    char number[24];

    snprintf(number, sizeof number, "%llu", (unsigned long long)nodes);
    return begin(g, request, "more", slice_str(number), SLICE_NULL);
}

/* The end of the connection withdraws it. */
void *dvm_growth_withdraw(struct dvm_growths *g, bool (*is)(const void *arg, const void *request),
                          const void *arg)
{
    LIST_EACH(l, &g->all)
    {
        struct dvm_growth *k = LIST_OF(l, struct dvm_growth, link);
        void *request = k->request;
        if (!k->by_number || !request || !is(arg, request))
            continue;
        k->request = NULL;
        dvm_growth_free(k);
        return request;
    }
    return NULL;
}

/* One by one: one that is lost meanwhile does not keep the others. */
void dvm_growth_undo(const struct dvm_growths *g, struct slice nodes)
{
    while (nodes.len) {
        int fd = ask(g, "shrink drain", slice_cut(&nodes, ','));
        if (fd >= 0)
            close(fd);
    }
}

/* Fails: they can when the connection ends. */
static void let_leave(const struct dvm_growth *k)
{
    while (send(k->fd, "\n", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
}

void dvm_growth_forget(struct dvm_growths *g, const void *request)
{
    LIST_EACH(l, &g->all)
    {
        struct dvm_growth *k = LIST_OF(l, struct dvm_growth, link);
        if (k->request != request)
            continue;
        k->request = NULL;
        dvm_growth_undo(g, buf_slice(&k->joined));
        let_leave(k);
    }
}

void dvm_growths_open(struct dvm_growths *g, const struct node_context *c,
                      const struct dvm_growth_calls *calls)
{
    *g = (struct dvm_growths){ .context = c, .calls = *calls, .resize = c->config->resize };
    list_init(&g->all);
}

void dvm_growths_close(struct dvm_growths *g)
{
    if (!g->context)
        return;
    LIST_EACH(l, &g->all)
    dvm_growth_free(LIST_OF(l, struct dvm_growth, link));
    g->context = NULL;
}
