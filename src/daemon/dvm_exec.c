/* dvm_exec.c - see dvm_exec.h. */
#include "daemon/dvm_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* False: no memory. */
static bool hold_one(struct dvm_exec_list *e, pid_t pid, int out)
{
    struct dvm_held *h = calloc(1, sizeof *h);

    if (!h)
        return false;
    *h = (struct dvm_held){ .all = e,
                            .pid = pid,
                            .out = out < 0 ? -1 : fcntl(out, F_DUPFD_CLOEXEC, 3) };
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

/* The program's output ends with the program.  A requester that no longer reads is not waited for:
 * its end closes the program's input, upon which a daemon ends. */
static void on_ended(void *arg, struct channel *c)
{
    struct dvm_exec *r = arg;

    if (r->pid)
        return;
    if (r->in.fd < 0 && r->out.fd < 0)
        dvm_exec_free(r);
    else if (c == &r->out)
        channel_cut(&r->in); /* calls this function again */
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
    r->in.fd = r->out.fd = -1;
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

/* ---- launcher ---- */

static uint32_t find_node(const struct cluster_io *s, struct slice name)
{
    for (uint32_t p = 1; p < s->router.config.count; p++) {
        if (s->names[p] && slice_is(name, s->names[p]) && !router_is_lost(&s->router, p))
            return p;
    }
    return 0;
}

static bool begin(struct dvm_exec_list *e, uint32_t position, const struct part_texts *words,
                  int fd, struct errmsg *err)
{
    struct dvm_exec *r = dvm_exec_new(e, e->next++, position);
    int other = r ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
    struct msg m = { .kind = MSG_exec };

    if (!r || other < 0) {
        errmsg_set(err, -ENOMEM, "the DVM cannot have another daemon");
        if (r)
            dvm_exec_free(r);
        return false;
    }
    if (write(fd, "ok\n", 3) < 0)
        m.from = 0; /* the requester has gone: its connection will report the end */
    m.u.exec.number = r->number;
    m.u.exec.words = *words;
    send_to(e, &m, position);
    channel_open(&r->out, loop_of(e), other, true, &ops, r);
    channel_open(&r->in, loop_of(e), fd, false, &ops, r);
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
    r->done = done;
    r->arg = arg;
    m.u.exec.number = r->number;
    m.u.exec.words = *words;
    m.u.exec.trace = true;
    send_to(e, &m, position);
    channel_open(&r->out, loop_of(e), out, true, &ops, r);
    return true;
}

bool dvm_exec_take(struct dvm_exec_list *e, struct slice text, int fd, struct errmsg *err)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct slice *words = arena_array(&a, text.len / 2 + 2, sizeof *words);
    uint32_t n = 0, position;
    bool good = false;

    if (!words || !dvm_request_read(text, &a, words, &n)) {
        errmsg_set(err, 1, "the request to a DVM must be `on NODE WORDS`");
    } else if ((position = find_node(e->cluster, words[0])) == 0) {
        errmsg_set(err, 1, "node " SLICE_FMT " is not a node of the DVM",
                   SLICE_ARG(slice_head(words[0], 200)));
    } else if (router_is_lost(&e->cluster->router, position)) {
        errmsg_set(err, 1, "node " SLICE_FMT " of the DVM is lost",
                   SLICE_ARG(slice_head(words[0], 200)));
    } else if (e->count >= DVM_EXEC_MOST) {
        errmsg_set(err, 1, "the DVM already runs %u daemons", e->count);
    } else {
        struct part_texts rest = { words + 1, n - 1 };
        good = begin(e, position, &rest, fd, err);
    }
    arena_free(&a);
    return good;
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

/* Our ends of its pipes; an error is its output. */
static void start_new(struct dvm_exec_list *e, struct dvm_exec *r, const struct part_texts *words,
                      bool own, int *in_p, int *out_p)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    struct errmsg err = { "no memory" };
    int rc = -ENOMEM;

    if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0) {
        const struct child_fd fds[] = { { in[0], 0 }, { out[1], 1 }, { out[1], 2 } };
        rc = start(e, r, words, own, fds, &err);
    }
    if (in[0] >= 0)
        close(in[0]);
    if (rc < 0 && out[1] >= 0)
        dprintf(out[1], "cannot start it on this node: %s\n", err.text);
    if (out[1] >= 0)
        close(out[1]);
    *in_p = in[1];
    *out_p = out[0];
}

static void run(struct dvm_exec_list *e, const struct op_exec *m)
{
    struct dvm_exec *r = dvm_exec_new(e, (uint32_t)m->number, 0);
    bool own = m->words.n == 1 && dvm_zygote_is_own(m->words.items[0]);
    int in = -1, out = -1;

    if (!r)
        return;
    if (!own || !dvm_warm_take(&e->warm, &r->pid, &in, &out))
        start_new(e, r, &m->words, own, &in, &out);
    if (own)
        dvm_warm_started(&e->warm);
    if (in >= 0)
        channel_open(&r->in, loop_of(e), in, true, &ops, r);
    if (out >= 0)
        channel_open(&r->out, loop_of(e), out, false, &ops, r);
}

bool dvm_exec_reaped(struct dvm_exec_list *e, pid_t pid)
{
    LIST_EACH(l, &e->all)
    {
        struct dvm_exec *r = LIST_OF(l, struct dvm_exec, link);
        if (r->pid != pid)
            continue;
        r->pid = 0;
        dvm_warm_ended(&e->warm);
        if (r->out.fd < 0)
            channel_cut(&r->in);
        return true;
    }
    return held_reaped(e, pid) || dvm_warm_reaped(&e->warm, pid) ||
           dvm_zygote_reaped(&e->zygote, pid);
}

/* ---- both ---- */

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
        run(e, &m->u.exec);
    } else if (m->kind == MSG_held && e->cluster->router.config.me == 0) {
        note_held(e, m->from, m->u.held.count);
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
        if (r->pid && hold_one(e, r->pid, r->out.fd))
            r->pid = 0; /* not to be killed with its connection */
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
