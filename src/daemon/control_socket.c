/* control_socket.c - see control_socket.h. */
#include "daemon/control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/signal_name.h"
#include "base/clock.h"
#include "base/fd_pass.h"
#include "base/json.h"
#include "base/limit.h"
#include "core/modex.h"
#include "io/rendezvous.h"
#include "daemon/allocations.h"
#include "daemon/dvm_exec.h"
#include "daemon/dvm_leases.h"
#include "daemon/launcher_links.h"
#include "daemon/launcher_search.h"
#include "daemon/listener.h"
#include "daemon/local_job.h"
#include "daemon/cluster_io.h"
#include "daemon/name_query.h"
#include "daemon/pending_query.h"
#include "daemon/served_vars.h"
#include "daemon/shutdown.h"
#include "daemon/signals.h"
#include "daemon/tools.h"
#include "daemon/trace_writer.h"

enum { CONTROL_SOCKET_LINE_MAX = 64 << 10, CONTROL_SOCKET_ANSWER_MAX = 64 << 20 };

static const struct node_context *context_of(const struct control_socket *d)
{
    return d->config.jobs->context;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool names_wants(const struct name_entry *e, uint32_t only)
{
    return only == JOB_NO_RANK || e->owner.job == only;
}

static void names_json(const struct core *c, uint32_t only, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_array(&j, NULL);
    LIST_EACH(l, &c->names.all)
    {
        const struct name_entry *e = LIST_OF(l, struct name_entry, link);
        const struct job *job = core_job(c, e->owner.job);
        if (!names_wants(e, only))
            continue;
        json_object(&j, NULL);
        json_text(&j, "service", e->service);
        json_text(&j, "port", e->port);
        json_str(&j, "job", job ? job->nspace : "");
        json_u64(&j, "rank", e->owner.rank);
        json_bool(&j, "stays", e->persistence == NAME_STAYS);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

static void names_text(const struct core *c, uint32_t only, struct buf *out)
{
    LIST_EACH(l, &c->names.all)
    {
        const struct name_entry *e = LIST_OF(l, struct name_entry, link);
        const struct job *job = core_job(c, e->owner.job);
        if (!names_wants(e, only))
            continue;
        buf_printf(out, SLICE_FMT "\t" SLICE_FMT "\trank %u of %s\n", SLICE_ARG(e->service),
                   SLICE_ARG(e->port), e->owner.rank, job ? job->nspace : "a job that has ended");
    }
}

/* `[json] [JOB]` */
static void reply_names(struct control_socket *d, struct slice args, struct buf *out)
{
    const struct core *c = &context_of(d)->server->core;
    struct slice rest = slice_trim(args), word = rest;
    bool json = slice_is(slice_cut(&word, ' '), "json");
    uint32_t only = JOB_NO_RANK;

    if (json)
        rest = slice_trim(word);
    if (rest.len && (!slice_u32(rest, &only) || !core_job(c, only)))
        buf_str(out, "error: no such job here\n");
    else if (json)
        names_json(c, only, out);
    else
        names_text(c, only, out);
}

static bool cut_u32(struct slice *rest, uint32_t *v_p)
{
    uint64_t v;
    bool good = slice_u64(slice_cut(rest, ' '), &v) && v < UINT32_MAX;

    *v_p = good ? (uint32_t)v : 0;
    return good;
}

/* RANGE RANK UID GID NODE NSPACE: a process of another launcher.  (Whoever asks leaves the name in
 * rest.)
 */
static bool cut_proc(struct slice *rest, struct name_proc *who_p, struct name_scope *scope_p)
{
    uint32_t range, rank, uid, gid;
    bool good = cut_u32(rest, &range) && range < NAME_RANGES && cut_u32(rest, &rank) &&
                cut_u32(rest, &uid) && cut_u32(rest, &gid);

    *who_p = (struct name_proc){
        .job = NAME_NO_JOB, .rank = good ? rank : 0, .uid = good ? uid : 0, .gid = good ? gid : 0
    };
    *scope_p = (struct name_scope){ .range = good ? (enum name_range)range : NAME_RANGE_RM };
    who_p->node = slice_cut(rest, ' ');
    who_p->nspace = slice_cut(rest, ' ');
    return good;
}

/* Whether a process of another launcher cannot publish this name. */
static void reply_taken(struct control_socket *d, struct slice args, struct buf *out)
{
    struct name_entry like = { .persistence = NAME_OF_JOB };
    bool good = cut_proc(&args, &like.owner, &like.scope);

    like.service = args;
    buf_str(out, good && nameservice_rival(&context_of(d)->server->core.names, &like) ? "found\n"
                                                                                      : "none\n");
}

/* Lookup for a process of another launcher: removes a read-once name, as it has been read. */
static void reply_read(struct control_socket *d, struct slice args, struct buf *out)
{
    struct name_proc who;
    struct name_scope scope;
    bool good = cut_proc(&args, &who, &scope);
    const struct name_entry *e =
        good ? nameservice_find(&context_of(d)->server->core.names, args, &who, &scope, NULL)
             : NULL;

    if (e && e->type && e->type != MODEX_STRING)
        buf_printf(out, "typed %u\n", e->type);
    else
        buf_str(out, e ? "found\n" : "none\n");
    if (e)
        buf_slice_put(out, e->port);
    if (e && e->persistence == NAME_READ_ONCE)
        server_unpublish(context_of(d)->server, args, e);
}

static void reply_published(struct control_socket *d, struct slice service, struct buf *out)
{
    name_queries_published(d->config.name_queries, service);
    buf_str(out, "ok\n");
}

static void reply_unpublish(struct control_socket *d, struct slice service, struct buf *out)
{
    buf_str(out, server_unpublish(context_of(d)->server, service, NULL) ? "found\n" : "none\n");
}

static const char *node_word(const struct dvm_slots_node *n)
{
    if (n->usable)
        return "up";
    return n->lost ? "lost" : n->draining ? "draining" : n->reserved ? "reserved" : "coming";
}

/* The DVM's name, and a line for each node. */
static void reply_dvm(struct control_socket *d, struct slice args, struct buf *out)
{
    const struct dvm_leases *l = context_of(d)->config->dvm_leases;
    struct arena a = ARENA_NULL(64 << 20);
    struct dvm_slots_node *nodes;
    uint32_t n = 0;

    (void)args;
    if (!l || !l->cluster) {
        buf_str(out, "none\n");
        return;
    }
    nodes = dvm_leases_nodes(l, &a, &n);
    buf_printf(out, "standing %d %s\n", (int)getpid(), l->config.name);
    for (uint32_t i = 0; nodes && i < n; i++)
        buf_printf(out, "%s %u %u %s\n", nodes[i].name, nodes[i].slots, nodes[i].used,
                   node_word(&nodes[i]));
    arena_free(&a);
}

/* PID NAME: of a DVM that has lost its launcher. */
static void reply_successor(struct control_socket *d, struct slice args, struct buf *out)
{
    const struct node_config *c = context_of(d)->config;
    uint32_t pid;
    bool good = cut_u32(&args, &pid) && pid <= INT32_MAX && c->successor;

    if (good)
        c->successor(c->arg, (pid_t)pid, args);
    buf_str(out, good ? "ok\n" : "none\n");
}

static void reply_down(struct control_socket *d, struct slice args, struct buf *out)
{
    (void)args;
    if (!context_of(d)->config->dvm_leases) {
        buf_str(out, "error: this is not a DVM\n");
        return;
    }
    buf_str(out, "down\n");
    shutdown_give_up(d->config.shutdown, 0);
}

static void reply_jobs(struct control_socket *d, struct slice args, struct buf *out)
{
    (void)args;
    pending_query_jobs(d->config.pending_queries, out);
}

/* SIGNAL JOB: numbers; to all processes of the job, on all nodes. */
static void reply_signal(struct control_socket *d, struct slice args, struct buf *out)
{
    uint32_t sig, id;
    bool good = cut_u32(&args, &sig) && slice_u32(args, &id) && sig > 0 && (int)sig <= SIGRTMAX;
    const struct job *j = good ? core_job(&context_of(d)->server->core, id) : NULL;

    if (!good || !j || j->is_tool || j->follows) {
        buf_str(out, good ? "none\n" : "error: not a signal\n");
        return;
    }
    if (signal_asks_end((int)sig))
        signals_end(d->config.processes, j, (int)sig);
    else
        signals_everywhere(d->config.processes, j, (int)sig);
    buf_str(out, "ok\n");
}

/* The words that reach a node, or ! and a sentence. */
static void put_reach(const struct control_socket *d, const char *node, struct arena *a,
                      struct buf *out)
{
    const struct node_config *c = context_of(d)->config;
    struct errmsg err = { "out of memory" };
    const char *words = "";
    int rc = c->reach ? c->reach(c->arg, node, a, &words, &err) : 0;

    buf_printf(out, "\t%s%s\n", rc ? "!" : "", rc ? err.text : words);
}

/* JOB: a number. */
static void reply_ranks(struct control_socket *d, struct slice args, struct buf *out)
{
    uint32_t id;
    const struct job *j = slice_u32(args, &id) ? core_job(&context_of(d)->server->core, id) : NULL;
    struct arena a = ARENA_NULL(64 << 20);

    if (!j || j->is_tool || j->follows) {
        buf_str(out, "none\n");
        return;
    }
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        const char *node = j->plan.nodes[j->plan.procs[r].node].name;
        if (j->procs[r].pid <= 0 || j->procs[r].state == PROC_STATE_GONE)
            continue;
        buf_printf(out, "%u %d %s", r, (int)j->procs[r].pid, node);
        if (job_rank_is_here(j, r))
            buf_str(out, "\t\n");
        else
            put_reach(d, node, &a, out);
    }
    arena_free(&a);
}

/* JOB RANK|- shell|json|vars */
static void reply_enter(struct control_socket *d, struct slice args, struct buf *out)
{
    uint32_t job = 0, rank = JOB_NO_RANK;
    bool good = slice_u32(slice_cut(&args, ' '), &job);
    struct slice word = slice_cut(&args, ' ');

    if (!good || (!slice_is(word, "-") && !slice_u32(word, &rank)))
        buf_str(out, "error: the request must be `enter JOB RANK FORM`\n");
    else
        served_vars_enter(d->config.jobs, d->config.processes, job, rank,
                          slice_is(args, "json")   ? SERVED_VARS_JSON
                          : slice_is(args, "vars") ? SERVED_VARS_LINES
                                                   : SERVED_VARS_SHELL,
                          out);
}

/* Daemons accept no tools: these connect to the launcher. */
static bool has_tools(const struct control_socket *d)
{
    const struct cluster_io *s = context_of(d)->cluster;

    return !s || s->router.config.me == 0;
}

static void uri_json(int pid, const char *uri, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_array(&j, NULL);
    json_object(&j, NULL);
    json_i64(&j, "pid", pid);
    json_str(&j, "uri", uri);
    json_object_end(&j);
    json_array_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

/* `[json]`: for PMIx tools; the pid that users see is the supervisor's. */
static void reply_uri(struct control_socket *d, struct slice args, struct buf *out)
{
    pid_t pid;

    if (!has_tools(d))
        return;
    pid = context_of(d)->config->guard;
    pid = pid ? pid : getpid();
    if (slice_is(slice_trim(args), "json"))
        uri_json((int)pid, d->config.tools->uri, out);
    else
        buf_printf(out, "%d\t%s\n", (int)pid, d->config.tools->uri);
}

static void reply_tools(struct control_socket *d, struct slice args, struct buf *out)
{
    struct errmsg err;

    if (!has_tools(d))
        return;
    if (tools_write(d->config.tools, &err) < 0)
        buf_printf(out, "error: %s\n", err.text);
    else
        reply_uri(d, args, out);
}

static void reply_trace(struct control_socket *d, struct slice args, struct buf *out)
{
    struct trace_writer *t = d->config.trace_writer;
    char here[PATH_MAX];

    (void)args;
    if (!t->server || !t->path) {
        buf_str(out, "none\n");
        return;
    }
    trace_writer_flush(t);
    if (t->path[0] != '/' && getcwd(here, sizeof here))
        buf_printf(out, "%s/", here);
    buf_printf(out, "%s\n", t->path);
}

static const struct {
    const char *word;
    void (*reply)(struct control_socket *d, struct slice args, struct buf *out);
} verbs[] = {
    { "names", reply_names },         { "taken", reply_taken },
    { "read", reply_read },           { "unpublish", reply_unpublish },
    { "published", reply_published }, { "standing", reply_dvm },
    { "down", reply_down },           { "jobs", reply_jobs },
    { "signal", reply_signal },       { "uri", reply_uri },
    { "tools", reply_tools },         { "trace", reply_trace },
    { "ranks", reply_ranks },         { "enter", reply_enter },
    { "successor", reply_successor },
};

/* ---- clients --------------------------------------------------------------------------------- */

struct visitor {
    struct list link;
    struct control_socket *of;
    int fd;
    struct watch watch;
    struct greeting greeting;
    struct buf in, out;
    int attached; /* a descriptor that has come with the request; -1: none */
    bool distant; /* a launcher on another machine */
};

static void visitor_free(struct visitor *v)
{
    pending_query_forget(v->of->config.pending_queries, v);
    watch_close(&v->watch);
    greeting_end(&v->greeting);
    close(v->fd);
    if (v->attached >= 0)
        close(v->attached);
    list_unlink(&v->link);
    buf_free(&v->in);
    buf_free(&v->out);
    free(v);
}

static void visitor_write(void *arg)
{
    struct visitor *v = arg;
    struct slice s = buf_slice(&v->out);
    ssize_t n = send(v->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_take(&v->out, (size_t)n);
    if (n < 0 || buf_len(&v->out) == 0)
        visitor_free(v);
}

static void answer_line(struct visitor *v, struct slice line)
{
    struct slice rest = line, word = slice_cut(&rest, ' ');

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (slice_is(word, verbs[i].word)) {
            verbs[i].reply(v->of, rest, &v->out);
            return;
        }
    }
    buf_str(&v->out, "error: unknown question; this launcher knows who, names, taken, read, "
                     "published, unpublish, standing, lease, "
                     "grow, more, shrink, down, jobs, usage, signal, on, uri, tools, trace, ranks, "
                     "link, pmix\n");
}

/* The connection, for whoever takes it over from the visitor; -1: err has the reason. */
static int hand_over(const struct visitor *v, bool is_dvm, struct errmsg *err)
{
    int fd = is_dvm ? fcntl(v->fd, F_DUPFD_CLOEXEC, 3) : -1;

    if (!is_dvm)
        errmsg_set(err, -1, "this is not a DVM");
    else if (fd < 0)
        errmsg_set(err, -1, "the DVM cannot take the request: %s", err_text(errno));
    return fd;
}

/* `on NODE WORDS`: the connection becomes the program's.  True: the visitor is freed. */
static bool take_exec(struct visitor *v, struct slice line)
{
    struct cluster_io *s = context_of(v->of)->cluster;
    struct dvm_exec_list *e = s && context_of(v->of)->config->dvm_leases ? s->dvm_execs : NULL;
    struct errmsg err;
    int fd = hand_over(v, e != NULL, &err);

    if (fd >= 0 && dvm_exec_take(e, line, fd, v->attached, &err)) {
        v->attached = -1;
        visitor_free(v);
        return true;
    }
    if (fd >= 0)
        close(fd);
    buf_printf(&v->out, "error: %s\n", err.text);
    return false;
}

/* `lease PROCESSES now|wait NODES`: the connection becomes the lease.  False: it does not. */
static bool take_lease(struct visitor *v, struct slice words)
{
    struct dvm_leases *l = context_of(v->of)->config->dvm_leases;
    struct arena a = ARENA_NULL(CONTROL_SOCKET_LINE_MAX);
    const char *kept = arena_str(&a, words);
    struct errmsg err = { "out of memory" };
    int fd = kept ? hand_over(v, l && l->cluster, &err) : -1;

    if (fd < 0) {
        buf_printf(&v->out, "error: %s\n", err.text);
    } else {
        visitor_free(v);
        dvm_leases_take(l, fd, slice_str(kept));
    }
    arena_free(&a);
    return fd >= 0;
}

/* `link VERSION NSPACE`: the connection becomes a link of launchers.  False: that job is none of
 * ours.
 */
static bool take_link(struct visitor *v, struct slice question)
{
    const struct control_socket_config *c = &v->of->config;
    int fd = has_tools(v->of) ? fcntl(v->fd, F_DUPFD_CLOEXEC, 3) : -1;

    if (fd >= 0 && launcher_links_accept(c->launcher_links, question, fd)) {
        visitor_free(v);
        return true;
    }
    if (fd >= 0)
        close(fd);
    buf_str(&v->out, LAUNCHER_LINK_NO);
    return false;
}

/* `grow HOSTS`, `shrink HOW HOSTS`: the connection becomes the request's.  False: it does not. */
static bool take_resize(struct visitor *v, struct slice words)
{
    const struct node_config *c = context_of(v->of)->config;
    struct arena a = ARENA_NULL(CONTROL_SOCKET_LINE_MAX);
    const char *kept = arena_str(&a, words);
    struct errmsg err = { "out of memory" };
    int fd = kept ? hand_over(v, c->resize != NULL, &err) : -1;

    if (fd < 0) {
        buf_printf(&v->out, "error: %s\n", err.text);
    } else {
        visitor_free(v);
        c->resize(c->arg, fd, slice_str(kept));
    }
    arena_free(&a);
    return fd >= 0;
}

/* `pmix`: the connection becomes a PMIx client's or tool's. */
static void take_client(struct visitor *v)
{
    struct listener *to = v->of->config.listener;
    int fd = fcntl(v->fd, F_DUPFD_CLOEXEC, 3);

    if (fd < 0)
        log_warn(context_of(v->of)->log, "closed the connection of a PMIx client: %s",
                 err_text(errno));
    visitor_free(v);
    if (fd >= 0)
        listener_take(to, fd);
}

static void begin_answer(struct visitor *v)
{
    if (!buf_ok(&v->out))
        buf_clear(&v->out);
    watch_want(&v->watch, LOOP_WRITE);
}

/* The pending report has arrived. */
static void visitor_report(void *arg, struct slice report)
{
    struct visitor *v = arg;

    buf_slice_put(&v->out, report);
    begin_answer(v);
}

/* What launchers ask each other. */
static bool is_of_launchers(struct slice line)
{
    static const char *const words[] = { "taken", "read", "unpublish", "published", "link" };
    struct slice word = slice_cut(&line, ' ');

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (slice_is(word, words[i]))
            return true;
    }
    return false;
}

static void visitor_read(void *arg)
{
    struct visitor *v = arg;
    char *room = buf_room(&v->in, 4096);
    ssize_t n = room ? fd_pass_receive(v->fd, room, 4096, MSG_DONTWAIT, &v->attached) : 0;
    struct slice all;
    size_t end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || !greeting_received(&v->greeting, (size_t)n, clock_now_ns())) {
        /* closed, or the line is too long, or all lines together are */
        visitor_free(v);
        return;
    }
    buf_commit(&v->in, (size_t)n);
    all = buf_slice(&v->in);
    end = slice_find(all, '\n');
    if (end == all.len)
        return;
    greeting_end(&v->greeting);
    if (v->distant && !is_of_launchers(slice_head(all, end))) {
        buf_str(&v->out, "error: this is not for launchers on other machines\n");
        begin_answer(v);
        return;
    }
    if (slice_is(slice_head(all, end), "pmix")) {
        take_client(v);
        return;
    }
    if (slice_starts(all, SLICE("lease "))) {
        if (take_lease(v, slice_head(slice_skip(all, 6), end - 6)))
            return;
    } else if (slice_starts(all, SLICE("link "))) {
        if (take_link(v, slice_head(slice_skip(all, 5), end - 5)))
            return;
    } else if (slice_starts(all, SLICE("grow ")) || slice_starts(all, SLICE("more ")) ||
               slice_starts(all, SLICE("shrink "))) {
        if (take_resize(v, slice_head(all, end)))
            return;
    } else if (slice_starts(all, SLICE("on "))) {
        if (take_exec(v, slice_head(slice_skip(all, 3), end - 3)))
            return;
    } else if (slice_is(slice_head(all, end), "who") || slice_starts(all, SLICE("who "))) {
        watch_want(&v->watch, 0);
        pending_query_begin(v->of->config.pending_queries, slice_skip(slice_head(all, end), 3),
                            visitor_report, v);
        return;
    } else if (slice_is(slice_head(all, end), "usage")) {
        watch_want(&v->watch, 0);
        pending_query_begin(v->of->config.pending_queries, SLICE("usage"), visitor_report, v);
        return;
    } else {
        answer_line(v, slice_head(all, end));
    }
    begin_answer(v);
    visitor_write(v); /* at once: what was asked for may end the job, and us, in this turn */
}

static void visitor_late(void *arg, struct greeting *g)
{
    struct control_socket *d = arg;

    quota_warn(d->config.quota, &g->who, clock_now_ns() / NS_PER_MS, context_of(d)->log,
               "closed a connection to the control socket: no question came within %u s",
               LIMIT_GREETING_MS / 1000);
    visitor_free(LIST_OF(g, struct visitor, greeting));
}

static void visitor_new(struct control_socket *d, int fd, bool distant)
{
    struct quota_source who = quota_user(getuid()); /* others are not served */
    struct visitor *v = calloc(1, sizeof *v);

    if (!v) {
        close(fd);
        return;
    }
    v->of = d;
    v->fd = fd;
    v->attached = -1;
    v->distant = distant;
    buf_init(&v->in, CONTROL_SOCKET_LINE_MAX);
    buf_init(&v->out, CONTROL_SOCKET_ANSWER_MAX);
    list_append(&d->visitors, &v->link);
    watch_open(&v->watch, context_of(d)->loop, fd, visitor_read, visitor_write, v);
    if (watch_want(&v->watch, LOOP_READ) < 0 ||
        greeting_timer_add(&d->greetings, &v->greeting, &who) < 0)
        visitor_free(v);
}

static void control_socket_called(void *arg, int fd, const struct sockaddr_storage *from)
{
    (void)from;
    if (rendezvous_is_ours(fd))
        visitor_new(arg, fd, false);
    else
        close(fd); /* not served: any user may know the socket's name */
}

void control_socket_take(struct control_socket *d, int fd)
{
    visitor_new(d, fd, true);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/* Without it they ask all launchers. */
static void put_alias(struct control_socket *d)
{
    int rc =
        d->alias && control_socket_is_open(d) ? rendezvous_set_alias(&d->rendezvous, d->alias) : 0;

    if (rc < 0)
        log_info(context_of(d)->log, "the alias %s cannot be taken: %s", d->alias, err_text(rc));
}

static void listen_to_neighbours(struct control_socket *d)
{
    const struct acceptor_calls calls = { control_socket_called, NULL };
    const struct node_context *c = context_of(d);
    int rc = rendezvous_open(&d->rendezvous);

    if (rc == 0)
        rc = acceptor_open(&d->acceptor, c->loop, d->rendezvous.fd, &calls, d);
    if (rc < 0) {
        rendezvous_close(&d->rendezvous);
        log_line(c->log, c->config->dvm_leases ? LOG_WARN : LOG_INFO,
                 "wireup run, who, ps and the like do not find this launcher: %s", err_text(rc));
        return;
    }
    d->rendezvous.fd = -1; /* owned by the acceptor now */
    put_alias(d);
    timer_set(&d->unwatched, LIMIT_RENDEZVOUS_WATCH_MS);
}

static void stop_listening(struct control_socket *d)
{
    timer_stop(&d->soon);
    timer_stop(&d->unwatched);
    watch_close(&d->presence);
    acceptor_close(&d->acceptor);
    rendezvous_close(&d->rendezvous);
}

/* The user's run-time directory is removed with the last session, but we may stay. */
static void check_presence(void *arg)
{
    struct control_socket *d = arg;

    if (!rendezvous_is_lost(&d->rendezvous))
        return;
    stop_listening(d);
    listen_to_neighbours(d);
}

/* Where the user has no instance of inotify left, it is tried again, and looked. */
static void watch_presence(void *arg)
{
    struct control_socket *d = arg;
    int rc = rendezvous_watch(&d->rendezvous);

    if (rc < 0) {
        timer_set(&d->unwatched, LIMIT_RENDEZVOUS_LOOK_MS);
    } else if (d->rendezvous.watch >= 0) {
        watch_open(&d->presence, context_of(d)->loop, d->rendezvous.watch, check_presence, NULL, d);
        watch_want(&d->presence, LOOP_READ);
    }
    check_presence(d);
}

void control_socket_listen(struct control_socket *d)
{
    if (d->listens)
        return;
    d->listens = true;
    timer_stop(&d->soon);
    listen_to_neighbours(d);
}

static void listen_now(void *arg)
{
    control_socket_listen(arg);
}

void control_socket_listen_soon(struct control_socket *d)
{
    if (!d->listens && timer_set(&d->soon, 0) < 0)
        control_socket_listen(d);
}

void control_socket_open(struct control_socket *d, const struct control_socket_config *config)
{
    d->config = *config;
    d->rendezvous = RENDEZVOUS_CLOSED;
    d->alias = NULL;
    d->listens = false;
    d->acceptor = ACCEPTOR_CLOSED;
    greeting_timer_init(&d->greetings, context_of(d)->loop, config->quota, LIMIT_GREETING_MS,
                        visitor_late, d);
    list_init(&d->visitors);
    timer_init(&d->unwatched, context_of(d)->loop, watch_presence, d);
    timer_init(&d->soon, context_of(d)->loop, listen_now, d);
}

void control_socket_set_alias(struct control_socket *d, const char *alias)
{
    d->alias = alias;
    put_alias(d);
}

bool control_socket_is_open(const struct control_socket *d)
{
    return d->acceptor.fd >= 0;
}

void control_socket_close(struct control_socket *d)
{
    if (!d->config.jobs)
        return;
    LIST_EACH(l, &d->visitors)
    visitor_free(LIST_OF(l, struct visitor, link));
    stop_listening(d);
    greeting_timer_stop(&d->greetings);
    d->config.jobs = NULL;
}
