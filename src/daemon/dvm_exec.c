/* dvm_exec.c - see dvm_exec.h. */
#include "daemon/dvm_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "cluster/msg.h"
#include "daemon/cluster_io.h"
#include "daemon/dvm_leases.h"
#include "daemon/dvm_request.h"
#include "daemon/node_context.h"
#include "daemon/trace_writer.h"
#include "io/child.h"

extern char **environ;

struct dvm_exec {
    struct list link;
    struct dvm_exec_list *all;
    uint32_t number, position; /* of the daemon; on the daemon 0, the launcher's */
    pid_t pid;                 /* on the daemon: the process; 0: it has ended */
    struct channel in, out;
    int notify_fd;          /* launcher: a socket for how it ends; -1: nobody waits for that */
    dvm_exec_done_fn *done; /* of the launcher's own; or NULL */
    void *arg;
    bool cut; /* ... not all of its output has been written */
};

struct dvm_held {
    struct list link;
    struct dvm_exec_list *all;
    pid_t pid; /* 0: it has ended */
    int out;   /* its output, which nobody reads; -1: it has ended */
    struct watch watch;
};

static void send_to(struct dvm_exec_list *e, struct msg *m, uint32_t position)
{
    m->to = position;
    router_send(&e->cluster->router, m);
}

static void on_data(void *arg, struct channel *c, struct slice bytes)
{
    struct dvm_exec *r = arg;
    struct msg m = channel_data_msg(c, bytes);

    send_to(r->all, &m, r->position);
}

static void on_credit(void *arg, struct channel *c, uint64_t count)
{
    struct dvm_exec *r = arg;
    struct msg m = channel_credit_msg(c, count);

    send_to(r->all, &m, r->position);
}

static void on_unread(void *arg, struct channel *c)
{
    struct dvm_exec *r = arg;
    struct msg m = channel_unread_msg(c);

    r->cut = true;
    send_to(r->all, &m, r->position);
}

uint32_t dvm_execs_at(const struct dvm_exec_list *e, uint32_t position)
{
    uint32_t n = 0;

    LIST_EACH(l, &e->all)
    n += LIST_OF(l, struct dvm_exec, link)->position == position;
    return n + (e->held_there ? e->held_there[position] : 0);
}

static void dvm_exec_free(struct dvm_exec *r)
{
    const struct node_config *config = r->all->cluster->context->config;
    dvm_exec_done_fn *done = r->done;
    void *arg = r->arg;
    bool whole = !r->cut && r->out.eof && r->out.fd < 0;

    channel_close(&r->in);
    channel_close(&r->out);
    if (r->notify_fd >= 0)
        close(r->notify_fd);
    list_unlink(&r->link);
    r->all->count--;
    free(r);
    if (done)
        done(arg, whole);
    if (config->dvm_leases) /* a node that is to leave may be free now */
        dvm_leases_changed(config->dvm_leases);
}

/* ---- processes whose requesters are gone ----------------------------------------------------- */

static void report(struct dvm_exec_list *e)
{
    struct msg m = { .kind = MSG_held };

    LIST_EACH(l, &e->held)
    m.u.held.count++;
    send_to(e, &m, 0);
}

void dvm_execs_report(struct dvm_exec_list *e)
{
    if (!list_empty(&e->held))
        report(e);
}

static void dvm_held_free(struct dvm_held *h)
{
    watch_close(&h->watch);
    if (h->out >= 0)
        close(h->out);
    list_unlink(&h->link);
    free(h);
}

static void held_ended(struct dvm_held *h)
{
    struct dvm_exec_list *e = h->all;

    if (h->pid || h->out >= 0)
        return;
    dvm_held_free(h);
    report(e);
}

static void drop_output(void *arg)
{
    struct dvm_held *h = arg;
    char piece[16 << 10];
    ssize_t n = read(h->out, piece, sizeof piece);

    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    watch_close(&h->watch);
    close(h->out);
    h->out = -1;
    held_ended(h);
}

static void read_held(struct dvm_held *h)
{
    watch_open(&h->watch, h->all->cluster->context->loop, h->out, drop_output, NULL, h);
    watch_want(&h->watch, LOOP_READ); /* fails: it waits when its pipe is full */
}

/* The loop is another one than before. */
static void watch_held(struct dvm_exec_list *e)
{
    LIST_EACH(l, &e->held)
    {
        struct dvm_held *h = LIST_OF(l, struct dvm_held, link);
        if (h->pid && waitpid(h->pid, NULL, WNOHANG) == h->pid)
            h->pid = 0; /* nobody was there to see it */
        if (h->pid == 0 && h->out < 0)
            dvm_held_free(h);
        else if (h->out >= 0)
            read_held(h);
    }
}

/* Takes the process over, and its output.  False: no memory. */
static bool hold_one(struct dvm_exec_list *e, struct dvm_exec *r)
{
    struct dvm_held *h = calloc(1, sizeof *h);

    if (!h)
        return false;
    watch_close(&r->out.watch);
    *h = (struct dvm_held){ .all = e, .pid = r->pid, .out = r->out.fd };
    r->out.fd = -1;
    r->pid = 0; /* not to be killed with its connection */
    list_append(&e->held, &h->link);
    return true;
}

pid_t *dvm_execs_held(const struct dvm_exec_list *e, size_t *n_p)
{
    size_t n = 0;
    pid_t *pids;

    LIST_EACH(l, &e->held)
    n++;
    pids = calloc(n + 1, sizeof *pids);
    *n_p = 0;
    LIST_EACH(l, &e->held)
    {
        if (pids)
            pids[(*n_p)++] = LIST_OF(l, struct dvm_held, link)->pid;
    }
    return pids;
}

static bool held_reaped(struct dvm_exec_list *e, pid_t pid)
{
    LIST_EACH(l, &e->held)
    {
        struct dvm_held *h = LIST_OF(l, struct dvm_held, link);
        if (h->pid != pid)
            continue;
        h->pid = 0;
        held_ended(h);
        return true;
    }
    return false;
}

/* Launcher. */
static void note_held(struct dvm_exec_list *e, uint32_t position, uint32_t count)
{
    const struct node_config *config = e->cluster->context->config;

    if (!e->held_there)
        e->held_there = calloc(e->cluster->router.config.count, sizeof *e->held_there);
    if (e->held_there)
        e->held_there[position] = count;
    if (config->dvm_leases)
        dvm_leases_changed(config->dvm_leases);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* It is over with the process and its output, and when its requester, if it wants to, knows how it
 * has ended.  A requester that no longer reads is not waited for: its end closes the
 * program's input, upon which a daemon ends. */
static void end_if_over(struct dvm_exec *r)
{
    if (r->pid || r->notify_fd >= 0 || r->out.fd >= 0)
        return;
    if (r->in.fd >= 0)
        channel_cut(&r->in); /* calls on_ended(), now or later */
    else
        dvm_exec_free(r);
}

static void on_ended(void *arg, struct channel *c)
{
    (void)c;
    end_if_over(arg);
}

static const struct channel_ops ops = { on_data, on_credit, on_unread, on_ended };

static struct dvm_exec *dvm_exec_new(struct dvm_exec_list *e, uint32_t number, uint32_t position)
{
    struct dvm_exec *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->all = e;
    r->number = number;
    r->position = position;
    r->in.fd = r->out.fd = r->notify_fd = -1;
    r->in.position = r->out.position = position;
    r->in.number = DVM_EXEC_CHANNELS + 2 * number;
    r->out.number = r->in.number + 1;
    list_append(&e->all, &r->link);
    e->count++;
    return r;
}

static struct loop *loop_of(const struct dvm_exec_list *e)
{
    return e->cluster->context->loop;
}

static struct dvm_exec *find(struct dvm_exec_list *e, uint32_t from, uint64_t channel)
{
    LIST_EACH(l, &e->all)
    {
        struct dvm_exec *r = LIST_OF(l, struct dvm_exec, link);
        if (r->position == from && r->number == (channel - DVM_EXEC_CHANNELS) / 2)
            return r;
    }
    return NULL;
}

/* ---- launcher ---- */

/* Its position; 0: it cannot be asked, and err has the reason. */
static uint32_t find_node(const struct cluster_io *s, struct slice name, struct errmsg *err)
{
    const char *why = "is not a node of the DVM";

    for (uint32_t p = 1; p < s->router.config.count; p++) {
        if (!s->names[p] || !slice_is(name, s->names[p]))
            continue;
        if (!router_is_lost(&s->router, p))
            return p;
        why = "of the DVM is lost";
    }
    if (s->names[0] && slice_is(name, s->names[0]))
        why = "of the DVM is this machine: run the command without `wireup on`";
    errmsg_set(err, 1, "node " SLICE_FMT " %s", SLICE_ARG(slice_head(name, 200)), why);
    return 0;
}

/* Two descriptors for the one socket: each has a watch.  Fails: the socket stays open. */
static int open_connection(struct dvm_exec *r, int fd)
{
    int other = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int rc = other < 0 ? -errno : channel_open(&r->out, loop_of(r->all), other, true, &ops, r);

    if (rc == 0)
        rc = channel_open(&r->in, loop_of(r->all), fd, false, &ops, r);
    if (rc < 0 && r->in.fd >= 0) {
        watch_close(&r->in.watch);
        r->in.fd = -1;
    }
    return rc;
}

static bool begin(struct dvm_exec_list *e, uint32_t position, const struct part_texts *words,
                  int fd, int notify_fd, struct errmsg *err)
{
    struct dvm_exec *r = dvm_exec_new(e, e->next++, position);
    int rc = r ? open_connection(r, fd) : -ENOMEM;
    struct msg m = { .kind = MSG_exec };

    if (rc < 0) {
        errmsg_set(err, rc, "the DVM cannot have another daemon: %s", err_text(rc));
        if (r)
            dvm_exec_free(r);
        return false;
    }
    r->notify_fd = notify_fd;
    if (write(fd, "ok\n", 3) < 0)
        m.from = 0; /* the requester has gone: its connection will report the end */
    m.u.exec.number = r->number;
    m.u.exec.words = *words;
    send_to(e, &m, position);
    return true;
}

bool dvm_exec_trace(struct dvm_exec_list *e, uint32_t position, const struct part_texts *words,
                    int out, dvm_exec_done_fn *done, void *arg)
{
    struct dvm_exec *r = e->count < DVM_EXEC_MOST ? dvm_exec_new(e, e->next++, position) : NULL;
    struct msg m = { .kind = MSG_exec };

    if (!r) {
        close(out);
        return false;
    }
    if (channel_open(&r->out, loop_of(e), out, true, &ops, r) < 0) {
        dvm_exec_free(r);
        return false;
    }
    r->done = done;
    r->arg = arg;
    m.u.exec.number = r->number;
    m.u.exec.words = *words;
    m.u.exec.trace = true;
    send_to(e, &m, position);
    return true;
}

bool dvm_exec_take(struct dvm_exec_list *e, struct slice text, int fd, int notify_fd,
                   struct errmsg *err)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct slice *words = arena_array(&a, text.len / 2 + 2, sizeof *words);
    uint32_t n = 0, position;
    bool good = false;

    if (!words || !dvm_request_read(text, &a, words, &n)) {
        errmsg_set(err, 1, "the request to a DVM must be `on NODE WORDS`");
    } else if (e->count >= DVM_EXEC_MOST) {
        errmsg_set(err, 1, "the DVM already runs %u daemons", e->count);
    } else if ((position = find_node(e->cluster, words[0], err)) != 0) {
        struct part_texts rest = { words + 1, n - 1 };
        good = begin(e, position, &rest, fd, notify_fd, err);
    }
    arena_free(&a);
    return good;
}

/* For the requester that waits for it. */
static void notify_end(struct dvm_exec *r, const struct op_exec_end *m)
{
    struct buf line = BUF_NULL(ERRMSG_MAX);
    struct slice text;

    if (r->notify_fd < 0)
        return;
    dvm_request_end_write((int)m->status, slice_head(m->why_not, ERRMSG_MAX / 2), &line);
    text = buf_slice(&line);
    send(r->notify_fd, text.ptr, text.len, MSG_DONTWAIT | MSG_NOSIGNAL); /* fails: nobody waits */
    buf_free(&line);
    close(r->notify_fd);
    r->notify_fd = -1;
}

/* The sentence is the output for those who want to know nothing else.  (The requester may have
 * gone: then this is the end of r.) */
static void put_why_not(struct dvm_exec *r, struct slice why_not)
{
    struct buf line = BUF_NULL(ERRMSG_MAX);

    buf_printf(&line, "cannot start it on this node: " SLICE_FMT "\n",
               SLICE_ARG(slice_head(why_not, ERRMSG_MAX / 2)));
    channel_data(&r->out, buf_slice(&line));
    buf_free(&line);
}

static void take_end(struct dvm_exec_list *e, uint32_t from, const struct op_exec_end *m)
{
    uint64_t channel = DVM_EXEC_CHANNELS + 2 * (uint64_t)m->number;
    struct dvm_exec *r = find(e, from, channel);

    if (r && m->why_not.len && r->notify_fd < 0 && !r->done) {
        put_why_not(r, m->why_not);
        r = find(e, from, channel);
    }
    if (!r)
        return;
    notify_end(r, m);
    if (!m->why_not.len || r->out.fd < 0) {
        end_if_over(r);
        return;
    }
    r->cut = true;
    channel_data(&r->out, SLICE_NULL); /* its end: calls on_ended() */
}

/* ---- daemon ---- */

/* Joins the words to one command line for the shell, as ssh does. */
static char **shell_line(struct arena *a, const struct part_texts *words)
{
    struct buf line = BUF_NULL(1 << 20);
    char **argv = arena_array(a, 4, sizeof *argv);

    for (uint32_t i = 0; i < words->n; i++) {
        if (i)
            buf_byte(&line, ' ');
        buf_slice_put(&line, words->items[i]);
    }
    if (argv && buf_ok(&line)) {
        argv[0] = arena_str(a, SLICE("/bin/sh"));
        argv[1] = arena_str(a, SLICE("-c"));
        argv[2] = arena_str(a, buf_slice(&line));
        argv[3] = NULL;
    }
    buf_free(&line);
    return arena_ok(a) ? argv : NULL;
}

/* By a shell, as ssh does; our own program alone is forked, if it can be, and else is our child
 * without a shell between us, so that it ends with us however we end. */
static int start(struct dvm_exec_list *e, struct dvm_exec *r, const struct part_texts *words,
                 bool own, const struct child_fd fds[3], struct errmsg *err)
{
    struct arena a = ARENA_NULL(1 << 22);
    char **argv = shell_line(&a, words);
    struct child_plan plan = { .env = environ, .fds = fds, .nfds = 3 };
    int rc = argv ? DVM_ZYGOTE_NOT : errmsg_set(err, -ENOMEM, "no memory");

    if (argv && own) {
        char *const alone[] = { argv[2], NULL };
        plan.path = alone[0];
        plan.argv = alone;
        rc = dvm_zygote_start(&e->zygote, loop_of(e), e->cluster->context->log, &plan, &r->pid);
        if (rc == DVM_ZYGOTE_NOT)
            rc = child_start(&plan, &r->pid, err);
    } else if (argv) {
        plan.path = argv[0];
        plan.argv = argv;
        rc = child_start(&plan, &r->pid, err);
    }
    arena_free(&a);
    return rc;
}

/* One end is the channel's, the other one the program's: *fd_p. */
static int open_pipe(struct dvm_exec *r, struct channel *c, bool writes, int *fd_p)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    *fd_p = ends[!writes];
    return channel_open(c, loop_of(r->all), ends[writes], writes, &ops, r);
}

static int start_new(struct dvm_exec *r, const struct part_texts *words, bool own,
                     struct errmsg *err)
{
    int in = -1, out = -1, rc = open_pipe(r, &r->in, true, &in);

    if (rc == 0)
        rc = open_pipe(r, &r->out, false, &out);
    if (rc < 0) {
        errmsg_set(err, rc, "no pipes for it: %s", err_text(rc));
    } else {
        const struct child_fd fds[] = { { in, 0 }, { out, 1 }, { out, 2 } };
        rc = start(r->all, r, words, own, fds, err);
    }
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return rc;
}

/* Its process waits for this, and both pipes are there. */
static int take_warm(struct dvm_exec *r, int in, int out, struct errmsg *err)
{
    int rc = channel_open(&r->in, loop_of(r->all), in, true, &ops, r);
    int also = channel_open(&r->out, loop_of(r->all), out, false, &ops, r);

    rc = rc < 0 ? rc : also;
    return rc < 0 ? errmsg_set(err, rc, "its pipes cannot be used: %s", err_text(rc)) : 0;
}

static int run(struct dvm_exec_list *e, struct dvm_exec *r, const struct op_exec *m,
               struct errmsg *err)
{
    bool own = m->words.n == 1 && dvm_zygote_is_own(m->words.items[0]);
    int in = -1, out = -1, rc;

    if (own && dvm_warm_take(&e->warm, &r->pid, &in, &out))
        rc = take_warm(r, in, out, err);
    else
        rc = start_new(r, &m->words, own, err);
    if (own)
        dvm_warm_started(&e->warm);
    return rc;
}

static void send_end(struct dvm_exec_list *e, uint32_t number, int status, struct slice why_not)
{
    struct msg m = { .kind = MSG_exec_end };

    m.u.exec_end.number = number;
    m.u.exec_end.status = status;
    m.u.exec_end.why_not = why_not;
    send_to(e, &m, 0);
}

static void run_or_refuse(struct dvm_exec_list *e, const struct op_exec *m)
{
    struct dvm_exec *r = dvm_exec_new(e, (uint32_t)m->number, 0);
    struct errmsg err = { "out of memory" };

    if (r && run(e, r, m, &err) == 0)
        return;
    send_end(e, (uint32_t)m->number, 0, slice_str(err.text));
    if (r)
        dvm_exec_free(r);
}

static void ended(struct dvm_exec *r, int status)
{
    r->pid = 0;
    dvm_warm_ended(&r->all->warm);
    send_end(r->all, r->number, status, SLICE_NULL);
    end_if_over(r);
}

bool dvm_exec_reaped(struct dvm_exec_list *e, pid_t pid, int status)
{
    LIST_EACH(l, &e->all)
    {
        struct dvm_exec *r = LIST_OF(l, struct dvm_exec, link);
        if (r->pid != pid)
            continue;
        ended(r, status);
        return true;
    }
    return held_reaped(e, pid) || dvm_warm_reaped(&e->warm, pid) ||
           dvm_zygote_reaped(&e->zygote, pid);
}

/* ---- both ---- */

static void take_data(struct dvm_exec_list *e, const struct msg *m)
{
    struct dvm_exec *r = find(e, m->from, m->u.data.channel);

    if (r)
        channel_data(m->u.data.channel % 2 ? &r->out : &r->in, m->u.data.bytes);
}

static void take_window_update(struct dvm_exec_list *e, const struct msg *m)
{
    struct dvm_exec *r = find(e, m->from, m->u.window_update.channel);

    if (r)
        channel_credit(m->u.window_update.channel % 2 ? &r->out : &r->in, m->u.window_update.count);
}

static void take_unread(struct dvm_exec_list *e, const struct msg *m)
{
    struct dvm_exec *r = find(e, m->from, m->u.unread.channel);

    if (r)
        channel_unread(m->u.unread.channel % 2 ? &r->out : &r->in);
}

bool dvm_exec_receive(struct dvm_exec_list *e, const struct msg *m)
{
    if (m->kind == MSG_exec && m->from == 0) {
        if (m->u.exec.trace)
            trace_writer_close(e->cluster->trace_writer);
        run_or_refuse(e, &m->u.exec);
    } else if (m->kind == MSG_held && e->cluster->router.config.me == 0) {
        note_held(e, m->from, m->u.held.count);
    } else if (m->kind == MSG_exec_end && e->cluster->router.config.me == 0) {
        take_end(e, m->from, &m->u.exec_end);
    } else if (m->kind == MSG_data && m->u.data.channel >= DVM_EXEC_CHANNELS)
        take_data(e, m);
    else if (m->kind == MSG_window_update && m->u.window_update.channel >= DVM_EXEC_CHANNELS)
        take_window_update(e, m);
    else if (m->kind == MSG_unread && m->u.unread.channel >= DVM_EXEC_CHANNELS)
        take_unread(e, m);
    else
        return false;
    return true;
}

void dvm_execs_lost(struct dvm_exec_list *e, uint32_t position)
{
    LIST_EACH(l, &e->all)
    {
        struct dvm_exec *r = LIST_OF(l, struct dvm_exec, link);
        if (r->position == position)
            dvm_exec_free(r);
    }
    if (e->held_there)
        e->held_there[position] = 0;
}

void dvm_execs_open(struct dvm_exec_list *e, struct cluster_io *s)
{
    e->cluster = s;
    e->next = e->count = 0;
    e->held_there = NULL;
    list_init(&e->all);
    dvm_warm_open(&e->warm, &e->zygote, loop_of(e), s->context->log);
    if (!e->held.next)
        list_init(&e->held);
    watch_held(e);
}

/* Who asked is gone, so what was started for them ends. */
static void end_all(struct dvm_exec_list *e)
{
    LIST_EACH(l, &e->all)
    {
        struct dvm_exec *r = LIST_OF(l, struct dvm_exec, link);
        if (r->pid)
            kill(-r->pid, SIGKILL);
        dvm_exec_free(r);
    }
    e->cluster = NULL;
}

void dvm_execs_hold(struct dvm_exec_list *e)
{
    LIST_EACH(l, &e->all)
    {
        struct dvm_exec *r = LIST_OF(l, struct dvm_exec, link);
        if (r->pid && !hold_one(e, r))
            log_warn(e->cluster->context->log,
                     "process %d of a launcher is ended: no memory to let it go on", (int)r->pid);
    }
    LIST_EACH(l, &e->held)
    watch_close(&LIST_OF(l, struct dvm_held, link)->watch);
    dvm_warm_close(&e->warm); /* its loop ends */
    dvm_zygote_close(&e->zygote);
    end_all(e);
}

static void end_held(struct dvm_exec_list *e)
{
    if (!e->held.next)
        return;
    LIST_EACH(l, &e->held)
    {
        struct dvm_held *h = LIST_OF(l, struct dvm_held, link);
        if (h->pid)
            kill(-h->pid, SIGKILL);
        dvm_held_free(h);
    }
}

void dvm_execs_close(struct dvm_exec_list *e)
{
    end_held(e);
    dvm_warm_close(&e->warm);
    dvm_zygote_close(&e->zygote);
    free(e->held_there);
    e->held_there = NULL;
    if (!e->cluster)
        return;
    end_all(e);
}
