/* name_query.c - see name_query.h. */
#include "daemon/name_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/core_names.h"
#include "core/effect.h"
#include "core/input.h"
#include "daemon/distant_launchers.h"
#include "daemon/node_context.h"
#include "io/procstat.h"
#include "io/rendezvous.h"

/* As long as a line may be at the other end. */
enum { NAME_QUERY_LINE_MAX = 64 << 10 };

struct name_query;

struct neighbour {
    struct name_query *of;
    int fd; /* -1: has answered or is closed */
    struct watch watch;
    struct buf in;
};

enum name_query_stage {
    NAME_QUERY_WAITS,    /* for a search that begins after it: one under way may miss a launcher */
    NAME_QUERY_SEARCHES, /* the launchers are being searched for */
    NAME_QUERY_ASKS,     /* they are asked */
};

/* One query to all other launchers. */
struct name_query {
    struct list link;
    enum name_query_stage stage;
    const struct node_context *context;
    uint64_t ticket;
    struct nameservice_query *query;
    struct timer patience;
    struct neighbour *neighbours;
    int count, open;
    int nlocal;                  /* of them on this machine, the first ones */
    struct launcher_name *asked; /* a publish: all that were asked */
    struct name_queries *among;
    bool again; /* a launcher has published the name since it was asked */
};

static void neighbour_close(struct neighbour *b)
{
    if (b->fd < 0)
        return;
    watch_close(&b->watch);
    close(b->fd);
    b->fd = -1;
    b->of->open--;
}

static void close_neighbours(struct name_query *q)
{
    timer_stop(&q->patience);
    for (int i = 0; i < q->count; i++) {
        neighbour_close(&q->neighbours[i]);
        buf_free(&q->neighbours[i].in);
    }
    free(q->neighbours);
    q->neighbours = NULL;
    q->count = 0;
}

static void name_query_free(struct name_query *q)
{
    close_neighbours(q);
    list_unlink(&q->link);
    free(q->asked);
    free(q->query);
    free(q);
}

/* A stopped launcher is not asked: each query of each process would wait for it. */
static bool may_answer(pid_t pid)
{
    struct procstat st;

    return procstat_read(pid, &st) < 0 || (st.state != 'T' && st.state != 't');
}

/* Who does not take the line at once is not waited for. */
static void send_news(const struct name_query *q, int fd, struct slice line)
{
    if (fd < 0)
        return;
    if (send(fd, line.ptr, line.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        log_info(q->context->log, "another launcher does not take the news of a name");
    close(fd);
}

/* The name is there now. */
static void notify_neighbours(const struct name_query *q, int count)
{
    struct buf line = BUF_NULL(NAME_QUERY_LINE_MAX);
    int *fds, ndistant = distant_launchers_call(q->context->distant, &fds);
    struct slice news;

    buf_str(&line, "published ");
    buf_slice_put(&line, q->query->service);
    buf_byte(&line, '\n');
    news = buf_ok(&line) ? buf_slice(&line) : SLICE_NULL;
    for (int i = 0; q->asked && i < count; i++)
        send_news(q, may_answer(q->asked[i].pid) ? rendezvous_connect(&q->asked[i]) : -1, news);
    for (int i = 0; i < ndistant; i++)
        send_news(q, fds[i], news);
    buf_free(&line);
    free(fds);
}

static void begin_look(struct name_queries *d);

static void ask_again(struct name_query *q)
{
    close_neighbours(q);
    q->again = false;
    q->stage = NAME_QUERY_WAITS;
    begin_look(q->among);
}

static void name_query_end(struct name_query *q, bool found, struct slice port, uint16_t type)
{
    const struct node_context *c = q->context;
    int count = q->nlocal;

    if (q->again && !found) {
        ask_again(q);
        return;
    }
    server_deliver(c->server, INPUT(names_reply, .ticket = q->ticket, .query = q->query,
                                    .found = found, .value = port, .type = type));
    if (q->query->op == NAMESERVICE_PUBLISH && !found)
        notify_neighbours(q, count);
    name_query_free(q);
    turn_end(c->turn);
}

static void out_of_patience(void *arg)
{
    name_query_end(arg, false, SLICE_NULL, 0);
}

/* Leaves the port.  False: it does not have the name. */
static bool read_answer(struct slice *answer, uint16_t *type_p)
{
    struct slice line = slice_cut(answer, '\n');
    uint32_t type = 0;

    if (slice_starts(line, SLICE("typed ")) && slice_u32(slice_skip(line, 6), &type) &&
        type <= UINT16_MAX) {
        *type_p = (uint16_t)type;
        return true;
    }
    *type_p = 0;
    return slice_is(line, "found");
}

static void neighbour_read(void *arg)
{
    struct neighbour *b = arg;
    struct name_query *q = b->of;
    char *room = buf_room(&b->in, 4096);
    ssize_t n = room ? recv(b->fd, room, 4096, MSG_DONTWAIT) : 0;
    struct slice answer;
    uint16_t type;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        buf_commit(&b->in, (size_t)n);
        return;
    }
    neighbour_close(b); /* the answer is complete */
    answer = buf_slice(&b->in);
    if (read_answer(&answer, &type))
        name_query_end(q, true, answer, type);
    else if (q->open == 0)
        name_query_end(q, false, SLICE_NULL, 0);
}

/* False: the words could not be told apart. */
static bool put_proc(struct buf *line, const struct name_proc *who, enum name_range range)
{
    if (slice_find(who->node, ' ') < who->node.len ||
        slice_find(who->nspace, ' ') < who->nspace.len)
        return false;
    buf_printf(line, "%u %u %u %u " SLICE_FMT " " SLICE_FMT " ", (unsigned)range, who->rank,
               who->uid, who->gid, SLICE_ARG(who->node), SLICE_ARG(who->nspace));
    return true;
}

/* See control_socket.h. */
static bool put_question(struct buf *line, const struct core *c, const struct nameservice_query *q)
{
    static const char *const verbs[] = { [NAMESERVICE_LOOKUP] = "read ",
                                         [NAMESERVICE_PUBLISH] = "taken ",
                                         [NAMESERVICE_UNPUBLISH] = "unpublish " };
    struct name_proc who = core_names_proc(c, q->job, q->rank);
    enum name_range range = q->scope.range;

    who.uid = q->uid;
    who.gid = q->gid;
    if (q->op == NAMESERVICE_PUBLISH && range == NAME_RANGE_DEFAULT)
        range = NAME_RANGE_SESSION;
    if (q->scope.preferred)
        range = NAME_RANGE_DEFAULT;
    buf_str(line, verbs[q->op]);
    if (q->op != NAMESERVICE_UNPUBLISH && !put_proc(line, &who, range))
        return false;
    buf_slice_put(line, q->service);
    buf_byte(line, '\n');
    return buf_ok(line) && slice_find(q->service, '\n') == q->service.len;
}

/* At that connection; below 0: it is not reached. */
static void ask_neighbour(struct name_query *q, struct neighbour *b, int fd)
{
    struct buf line = BUF_NULL(NAME_QUERY_LINE_MAX);

    b->of = q;
    buf_init(&b->in, LIMIT_PMI_LINE);
    b->fd = fd;
    if (b->fd < 0)
        return;
    q->open++;
    watch_open(&b->watch, q->context->loop, b->fd, neighbour_read, NULL, b);
    if (!put_question(&line, &q->context->server->core, q->query) ||
        send(b->fd, buf_slice(&line).ptr, buf_len(&line), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ||
        watch_want(&b->watch, LOOP_READ) < 0)
        neighbour_close(b);
    buf_free(&line);
}

static unsigned patience_ms(const struct nameservice_query *q)
{
    uint64_t ms = q->timeout_ns / NS_PER_MS;

    return q->timeout_ns && ms < LIMIT_CONTROL_REPLY_MS ? (unsigned)ms : LIMIT_CONTROL_REPLY_MS;
}

/* Even if no launcher is reached, the answer comes from the loop, not from this call. */
static void ask_all(struct name_query *q, const struct launcher_name *all, int n)
{
    int *fds, ndistant = distant_launchers_call(q->context->distant, &fds), nlocal = n > 0 ? n : 0;

    q->stage = NAME_QUERY_ASKS;
    q->neighbours = calloc((size_t)nlocal + (size_t)ndistant + 1, sizeof *q->neighbours);
    q->count = q->neighbours ? nlocal + ndistant : 0;
    q->nlocal = q->neighbours ? nlocal : 0;
    if (q->query->op == NAMESERVICE_PUBLISH && n > 0)
        q->asked = malloc((size_t)n * sizeof *q->asked);
    if (q->asked)
        memcpy(q->asked, all, (size_t)n * sizeof *q->asked);
    for (int i = 0; i < nlocal && i < q->count; i++)
        ask_neighbour(q, &q->neighbours[i],
                      may_answer(all[i].pid) ? rendezvous_connect(&all[i]) : -1);
    for (int i = 0; i < ndistant; i++) {
        if (q->neighbours)
            ask_neighbour(q, &q->neighbours[nlocal + i], fds[i]);
        else
            close(fds[i]);
    }
    free(fds);
    timer_set(&q->patience, q->open ? patience_ms(q->query) : 0);
}

/* All queries that have come before the search. */
static void begin_search(struct name_queries *d)
{
    d->search = rendezvous_search_begin();
    LIST_EACH(l, &d->all)
    {
        struct name_query *q = LIST_OF(l, struct name_query, link);
        if (q->stage == NAME_QUERY_WAITS)
            q->stage = NAME_QUERY_SEARCHES;
    }
}

/* True: those that have come meanwhile wait for another one. */
static bool end_search(struct name_queries *d)
{
    struct launcher_name *all = NULL;
    int n = d->search ? rendezvous_search_end(d->search, &all) : -ENOMEM;
    bool some = false;

    d->search = NULL;
    LIST_EACH(l, &d->all)
    {
        struct name_query *q = LIST_OF(l, struct name_query, link);
        some = some || q->stage == NAME_QUERY_WAITS;
        if (q->stage == NAME_QUERY_SEARCHES)
            ask_all(q, all, n);
    }
    free(all);
    return some;
}

static bool search_goes_on(struct name_queries *d)
{
    uint64_t until_ns = clock_now_ns() + LIMIT_SEARCH_TURN_MS * NS_PER_MS;

    while (d->search && rendezvous_search_more(d->search)) {
        if (clock_now_ns() >= until_ns)
            return true;
    }
    return false;
}

static void look_on(void *arg)
{
    struct name_queries *d = arg;

    if (!d->search)
        begin_search(d);
    while ((search_goes_on(d) || end_search(d)) && timer_set(&d->look, 0) < 0) {
        /* without memory for a timer, at once */
        if (!d->search)
            begin_search(d);
    }
    if (d->news) {
        d->news = false;
        turn_end(d->context->turn);
    }
}

static void begin_look(struct name_queries *d)
{
    if (!d->look.set && timer_set(&d->look, 0) < 0)
        look_on(d);
}

void name_queries_published(struct name_queries *d, struct slice service)
{
    LIST_EACH(l, &d->all)
    {
        struct name_query *q = LIST_OF(l, struct name_query, link);
        if (q->stage == NAME_QUERY_ASKS && q->query->op == NAMESERVICE_LOOKUP && q->query->wait)
            q->again = q->again || slice_eq(q->query->service, service);
    }
    server_deliver(d->context->server, INPUT(name_published, .service = service));
    d->news = true;
    begin_look(d);
}

void name_query_ask(struct name_queries *d, struct op_names *e)
{
    struct name_query *q = calloc(1, sizeof *q);

    if (!q) {
        server_answer(d->context->server, e->ticket,
                      &(struct answer){ .status = ANSWER_NO_MEMORY });
        return;
    }
    q->context = d->context;
    q->among = d;
    q->ticket = e->ticket;
    q->query = e->query;
    e->query = NULL;
    list_append(&d->all, &q->link);
    timer_init(&q->patience, d->context->loop, out_of_patience, q);
    begin_look(d);
}

void name_queries_open(struct name_queries *d, const struct node_context *c)
{
    d->context = c;
    d->search = NULL;
    timer_init(&d->look, c->loop, look_on, d);
    list_init(&d->all);
}

void name_queries_close(struct name_queries *d)
{
    if (!d->context)
        return;
    LIST_EACH(l, &d->all)
    name_query_free(LIST_OF(l, struct name_query, link));
    timer_stop(&d->look);
    if (d->search)
        end_search(d);
    d->context = NULL;
}
