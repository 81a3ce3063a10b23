/* launcher_search.c - see launcher_search.h. */
#include "daemon/launcher_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "daemon/distant_launchers.h"
#include "daemon/node_context.h"
#include "io/rendezvous.h"

enum { ANSWER_LENGTH = sizeof LAUNCHER_LINK_YES - 1, LINE_MAX_BYTES = 512 };

static void close_asked(struct asked_launcher *a)
{
    if (a->fd < 0)
        return;
    watch_close(&a->watch);
    close(a->fd);
    a->fd = -1;
    a->of->open--;
}

static void stop(struct launcher_search *s)
{
    struct launcher_name *none = NULL;

    timer_stop(&s->timer);
    if (s->names)
        rendezvous_search_end(s->names, &none);
    s->names = NULL;
    free(none);
    for (int i = 0; i < s->count; i++)
        close_asked(&s->all[i]);
    free(s->all);
    s->all = NULL;
    s->count = 0;
}

static void over(struct launcher_search *s, int fd)
{
    stop(s);
    s->calls->over(s->arg, s, fd);
}

/* It stays open for the callee. */
static int keep_connection(struct asked_launcher *a)
{
    int fd = a->fd;

    watch_close(&a->watch);
    a->fd = -1;
    a->of->open--;
    return fd;
}

static void on_answer(void *arg)
{
    struct asked_launcher *a = arg;
    struct launcher_search *s = a->of;
    ssize_t n = recv(a->fd, a->answer + a->got, ANSWER_LENGTH - a->got, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    a->got += n > 0 ? (size_t)n : 0;
    if (n > 0 && a->got < ANSWER_LENGTH)
        return;
    if (n > 0 && !memcmp(a->answer, LAUNCHER_LINK_YES, ANSWER_LENGTH)) {
        over(s, keep_connection(a));
        return;
    }
    close_asked(a);
    if (!s->open)
        over(s, -1);
}

static void no_answer(void *arg)
{
    over(arg, -1);
}

/* At that connection; below 0: it is not reached. */
static void ask(struct launcher_search *s, struct asked_launcher *a, int fd)
{
    char line[LINE_MAX_BYTES];
    int n = snprintf(line, sizeof line, "link " LAUNCHER_LINK_VERSION " %s\n", s->nspace);

    a->of = s;
    a->fd = fd;
    if (a->fd < 0)
        return;
    s->open++;
    watch_open(&a->watch, s->context->loop, a->fd, on_answer, NULL, a);
    if (n <= 0 || (size_t)n >= sizeof line ||
        send(a->fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL) != n ||
        watch_want(&a->watch, LOOP_READ) < 0)
        close_asked(a);
}

/* Even if no launcher is reached, the answer comes from the loop. */
static void ask_all(struct launcher_search *s)
{
    struct launcher_name *names = NULL;
    int n = rendezvous_search_end(s->names, &names), *fds, nlocal = n > 0 ? n : 0;
    int ndistant = distant_launchers_call(s->context->distant, &fds);

    s->names = NULL;
    s->all = calloc((size_t)nlocal + (size_t)ndistant + 1, sizeof *s->all);
    s->count = s->all ? nlocal + ndistant : 0;
    for (int i = 0; i < s->count; i++)
        ask(s, &s->all[i], i < nlocal ? rendezvous_connect(&names[i]) : fds[i - nlocal]);
    for (int i = 0; !s->all && i < ndistant; i++)
        close(fds[i]);
    free(names);
    free(fds);
    timer_init(&s->timer, s->context->loop, no_answer, s);
    timer_set(&s->timer, s->open ? LIMIT_CONTROL_REPLY_MS : 0);
}

static void look_on(void *arg)
{
    struct launcher_search *s = arg;
    uint64_t until_ns = clock_now_ns() + LIMIT_SEARCH_TURN_MS * NS_PER_MS;

    while (rendezvous_search_more(s->names)) {
        if (clock_now_ns() >= until_ns && timer_set(&s->timer, 0) == 0)
            return;
    }
    ask_all(s);
}

struct launcher_search *launcher_search_new(const struct node_context *c, struct slice nspace,
                                            const struct launcher_search_calls *calls, void *arg)
{
    struct launcher_search *s = calloc(1, sizeof *s + nspace.len + 1);

    if (!s)
        return NULL;
    list_init(&s->link);
    s->context = c;
    s->calls = calls;
    s->arg = arg;
    if (nspace.len)
        memcpy(s->nspace, nspace.ptr, nspace.len);
    timer_init(&s->timer, c->loop, look_on, s);
    s->names = rendezvous_search_begin();
    if (s->names && timer_set(&s->timer, 0) == 0)
        return s;
    launcher_search_free(s);
    return NULL;
}

void launcher_search_free(struct launcher_search *s)
{
    stop(s);
    list_unlink(&s->link);
    free(s);
}
