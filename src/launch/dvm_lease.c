/* dvm_lease.c - see dvm_lease.h. */
#include "launch/dvm_lease.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/daemon_link.h"
#include "io/rendezvous.h"
#include "io/write_all.h"
#include "launch/remote.h"
#include "daemon/launch_methods.h"

enum { DVM_LEASE_ANSWER = 16 << 20, DVM_LEASE_LINE = 1 << 20 };

/* ---- the question ---- */

/* The sum of all -n; 0: one of them is not given. */
static uint32_t processes_of(const struct launch_options *opt)
{
    uint64_t sum = 0;

    for (const struct launch_block *b = opt->blocks; b; b = b->next) {
        if (b->nprocs == 0)
            return 0;
        sum += b->nprocs;
    }
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

static int ask(const struct dvm_lease *l, const struct launch_options *opt)
{
    struct buf line = BUF_NULL(DVM_LEASE_LINE);
    int rc;

    buf_printf(&line, "lease %u %s ", processes_of(opt), opt->wait ? "wait" : "now");
    for (uint32_t i = 0; i < opt->hosts.count; i++)
        buf_printf(&line, "%s%s", i ? "," : "", opt->hosts.items[i].name);
    buf_str(&line, opt->hosts.count ? "\n" : "*\n");
    rc = buf_ok(&line) ? write_all_slice(l->fd, buf_slice(&line)) : -ENOMEM;
    buf_free(&line);
    return rc;
}

/* ---- the answer ---- */

/* The next line, for as long as it takes; it is valid until the next call.  False: the connection
 * has ended. */
static bool next_line(const struct dvm_lease *l, struct buf *in, size_t *used, struct slice *line_p)
{
    struct slice all;

    buf_take(in, *used);
    *used = 0;
    for (;;) {
        struct pollfd p = { l->fd, POLLIN, 0 };
        char *room;
        ssize_t n;
        all = buf_slice(in);
        if (slice_find(all, '\n') < all.len)
            break;
        room = buf_room(in, 4096);
        if (!room)
            return false;
        n = poll(&p, 1, -1) < 0 ? -1 : recv(l->fd, room, 4096, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (n > 0)
            buf_commit(in, (size_t)n);
    }
    *line_p = slice_head(all, slice_find(all, '\n'));
    *used = line_p->len + 1;
    return true;
}

/* Somebody at a terminal wants to know why nothing happens. */
static void print_queued(const struct dvm_lease *l, struct slice rest)
{
    struct slice free_slots = slice_cut(&rest, ' '), slots = slice_cut(&rest, ' ');
    enum log_level level = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? LOG_WARN : LOG_INFO;

    if (rest.len)
        log_line(&l->log, level,
                 "waiting for the end of a job: DVM %s runs " SLICE_FMT
                 ", and has no more at once (-jobs)",
                 l->place.name, SLICE_ARG(rest));
    else
        log_line(&l->log, level,
                 "waiting for slots: " SLICE_FMT " of " SLICE_FMT " of DVM %s are free",
                 SLICE_ARG(free_slots), SLICE_ARG(slots), l->place.name);
}

/* What `granted` says. */
struct dvm_grant {
    uint32_t layers, free, slots;
};

static bool read_grant(const struct dvm_lease *l, struct slice words, struct dvm_grant *g)
{
    bool good = slice_u32(slice_cut(&words, ' '), &g->layers) &&
                slice_u32(slice_cut(&words, ' '), &g->free) &&
                slice_u32(slice_cut(&words, ' '), &g->slots);

    if (good && !slice_is(words, "-"))
        log_warn(&l->log, "DVM %s has lost " SLICE_FMT "; the job uses its other nodes",
                 l->place.name, SLICE_ARG(words));
    return good;
}

/* "NAME SLOTS" */
static bool add_node(struct arena *a, struct slice line, struct host_list *list)
{
    struct host h = { .name = arena_str(a, slice_cut(&line, ' ')) };

    return h.name && slice_u32(line, &h.slots) && h.slots && hosts_add(a, list, h) == 0;
}

static int refused(struct slice line, const char *name, struct errmsg *err)
{
    if (slice_starts(line, SLICE("error: ")))
        return errmsg_set(err, LAUNCH_REFUSED, SLICE_FMT, SLICE_ARG(slice_skip(line, 7)));
    return errmsg_set(err, LAUNCH_REFUSED, "the DVM %s has ended, or is of another release", name);
}

/* Until the offer is complete; list NULL: the user has named the nodes. */
static int receive(struct dvm_lease *l, struct arena *a, struct host_list *list,
                   struct dvm_grant *g, struct errmsg *err)
{
    struct buf in = BUF_NULL(DVM_LEASE_ANSWER);
    struct slice line = SLICE_NULL, rest, word;
    bool granted = false, good = true;
    size_t used = 0;

    while (good && next_line(l, &in, &used, &line) && !slice_is(line, ".")) {
        rest = line;
        word = slice_cut(&rest, ' ');
        if (granted)
            good = !list || add_node(a, line, list);
        else if (slice_is(word, "queued"))
            print_queued(l, rest);
        else if (slice_is(word, "limits"))
            good = dvm_limits_read(rest, &l->limits);
        else if (slice_is(line, "keeps"))
            l->keeps = true;
        else
            good = granted = slice_is(word, "granted") && read_grant(l, rest, g);
    }
    good = good && granted && slice_is(line, ".");
    if (!good)
        refused(line, l->place.name, err);
    buf_free(&in);
    return good ? 0 : LAUNCH_REFUSED;
}

/* ---- the lease ---- */

/* How daemons are started on its nodes, and (launcher_exec) how a user reaches them. */
static int set_launcher(const struct dvm_lease *l, struct launch_options *opt)
{
    char self[4096], *word;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);

    if (n <= 0 || (size_t)n >= sizeof self)
        return -ENOENT;
    self[n] = '\0';
    word = agent_word(&opt->arena, self); /* blanks in it are quoted */
    opt->launcher_exec =
        word ? arena_printf(&opt->arena, "%s on --dvm %s", word, l->place.name) : NULL;
    opt->dvm_launcher = &l->place.where.pid;
    opt->tree_width = 0; /* only this machine can ask the DVM: we start all daemons */
    return opt->launcher_exec ? 0 : -ENOMEM;
}

static int check_full(const struct dvm_lease *l, const struct dvm_wish *wish,
                      const struct launch_options *opt, const struct dvm_grant *g,
                      struct errmsg *err)
{
    if (g->layers < 2 || wish->over != OVER_NO)
        return 0;
    if (processes_of(opt) > g->slots)
        return errmsg_set(err, LAUNCH_REFUSED,
                          "the job has %u processes, more than the %u slots of DVM %s",
                          processes_of(opt), g->slots, l->place.name);
    return errmsg_set(
        err, LAUNCH_REFUSED,
        "%u of %u slots of DVM %s are free, and the job has %u process%s; -wait waits "
        "for slots",
        g->free, g->slots, l->place.name, processes_of(opt), processes_of(opt) == 1 ? "" : "es");
}

static int lease(struct dvm_lease *l, struct launch_options *opt, const struct dvm_wish *wish,
                 struct errmsg *err)
{
    struct dvm_grant g = { 0, 0, 0 };
    int rc = ask(l, opt);

    /* While the DVM works at its answer. */
    daemon_link_prepare();
    remote_find_wireupd(opt);
    if (rc < 0 || !dvm_answers(&l->place, l->fd))
        return errmsg_set(err, LAUNCH_REFUSED, "the DVM %s does not answer%s%s", l->place.name,
                          rc < 0 ? ": " : "", rc < 0 ? err_text(rc) : "");
    rc = receive(l, &opt->arena, opt->hosts.count ? NULL : &opt->hosts, &g, err);
    if (rc == 0)
        rc = check_full(l, wish, opt, &g, err);
    return rc ? rc : set_launcher(l, opt);
}

int dvm_lease_nodes(void *arg, struct launch_options *opt, const struct dvm_wish *wish,
                    bool *used_p, struct errmsg *err)
{
    struct dvm_lease *l = arg;
    int rc;

    *used_p = false;
    if (!opt->dvm && (!l->by_rule || wish->named) && !opt->wait)
        return 0;
    rc = dvm_connect(opt->dvm, &l->place, &l->fd, err);
    if (rc == DVM_FIND_NONE && !opt->dvm && !opt->wait) {
        if (l->place.silent)
            log_warn(
                &l->log,
                "the launcher with pid %d does not answer; if it leads a DVM, this job does not "
                "use it",
                (int)l->place.silent);
        return 0;
    }
    if (rc)
        return rc < 0 ? rc : LAUNCH_REFUSED;
    *used_p = opt->on_dvm = true;
    opt->any_node = !opt->hosts.count;
    return lease(l, opt, wish, err);
}

int dvm_lease_take(struct dvm_lease *l, const struct job_map *plan, struct errmsg *err)
{
    struct buf line = BUF_NULL(DVM_LEASE_LINE);
    int rc;

    if (l->fd < 0)
        return 0;
    buf_str(&line, "took");
    for (uint32_t n = 0; n < plan->nnodes; n++)
        buf_printf(&line, " %s %u", plan->nodes[n].name, plan->nodes[n].nprocs);
    buf_byte(&line, '\n');
    rc = buf_ok(&line) ? write_all_slice(l->fd, buf_slice(&line)) : -ENOMEM;
    buf_free(&line);
    if (rc == 0)
        return 0;
    return errmsg_set(err, LAUNCH_REFUSED, "the DVM %s has ended: nothing was started",
                      l->place.name);
}

/* ---- news ------------------------------------------------------------------------------------ */

/* CODE NAME SLOTS */
static void take_news(const struct dvm_lease *l, struct slice line)
{
    struct slice code = slice_cut(&line, ' '), name = slice_cut(&line, ' ');
    uint32_t number, slots;

    if (!slice_starts(code, SLICE("-")) || !slice_u32(slice_skip(code, 1), &number) ||
        number > INT32_MAX || !slice_u32(line, &slots))
        return;
    node_dvm_news(l->node, -(int)number, name, slots);
    if (l->calls.news)
        l->calls.news(l->calls.arg, -(int)number, name, slots);
}

/* NAME SLOTS, or NAME SENTENCE if it is `not`. */
static void take_answer(const struct dvm_lease *l, struct slice line, bool is)
{
    struct slice name = slice_cut(&line, ' ');
    uint32_t slots = 0;

    if (l->calls.answer && (!is || slice_u32(line, &slots)))
        l->calls.answer(l->calls.arg, name, slots, is ? SLICE_NULL : line);
}

static void take_node(const struct dvm_lease *l, struct slice line)
{
    struct slice name = slice_cut(&line, ' ');
    uint32_t slots;

    if (l->calls.node && slice_u32(line, &slots))
        l->calls.node(l->calls.arg, name, slots);
}

static void send_need(const struct dvm_lease *l)
{
    if (buf_len(&l->need) && buf_ok(&l->need))
        write_all_slice(l->fd, buf_slice(&l->need));
}

static void take_line(struct dvm_lease *l, struct slice line)
{
    struct slice word = slice_cut(&line, ' ');

    if (slice_is(word, "ends") && !line.len) {
        l->announced = true;
        node_dvm_ends(l->node);
    } else if (slice_is(word, "held"))
        send_need(l);
    else if (slice_is(word, "news"))
        take_news(l, line);
    else if (slice_is(word, "node"))
        take_node(l, line);
    else if (slice_is(word, "is") || slice_is(word, "not"))
        take_answer(l, line, slice_is(word, "is"));
}

static void gone(const struct dvm_lease *l)
{
    if (l->calls.gone)
        l->calls.gone(l->calls.arg);
}

/* When the DVM has ended, its daemons end with it, which others notice. */
static void on_read(void *arg)
{
    struct dvm_lease *l = arg;
    char *room = buf_room(&l->in, 4096);
    ssize_t n = room ? recv(l->fd, room, 4096, MSG_DONTWAIT) : 0;
    struct slice all;

    if (n > 0)
        buf_commit(&l->in, (size_t)n);
    else if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    all = buf_slice(&l->in);
    while (slice_find(all, '\n') < all.len)
        take_line(l, slice_cut(&all, '\n'));
    buf_take(&l->in, buf_len(&l->in) - all.len);
    if (n > 0)
        return;
    watch_close(&l->watch);
    l->ended = true;
    gone(l);
}

/* Other connections may tell the end earlier than this one. */
static bool has_ended(struct dvm_lease *l)
{
    struct pollfd p = { l->fd, POLLRDHUP, 0 };
    int wait_ms = l->waited ? 0 : LIMIT_DVM_CLOSING_MS;

    l->waited = true;
    return l->ended || poll(&p, 1, wait_ms) > 0;
}

const char *dvm_lease_loss(struct dvm_lease *l)
{
    if (l->fd < 0 || l->keeps || l->announced || !has_ended(l))
        return NULL;
    errmsg_set(&l->loss, 0,
               "your DVM %s has ended, and the job's daemons with it: its launcher (pid %d) was "
               "killed or has crashed; `wireup up` starts another DVM, and with -keep jobs outlive "
               "its launcher",
               l->place.name, (int)l->place.where.pid);
    return l->loss.text;
}

void dvm_lease_follow(struct dvm_lease *l, struct node *n)
{
    if (l->fd < 0)
        return;
    l->node = n;
    buf_init(&l->in, DVM_LEASE_LINE);
    buf_init(&l->need, DVM_LEASE_LINE);
    watch_open(&l->watch, node_loop(n), l->fd, on_read, NULL, l);
    watch_want(&l->watch, LOOP_READ); /* fails: nothing is heard of the DVM */
}

/* verb, and what the job uses.  Fails: the DVM has ended. */
static void send_use(struct dvm_lease *l, const char *verb)
{
    struct buf line = BUF_NULL(DVM_LEASE_LINE);

    buf_str(&line, verb);
    if (l->calls.uses)
        l->calls.uses(l->calls.arg, &line);
    else
        node_places(l->node, &line);
    if (l->calls.soon)
        l->calls.soon(l->calls.arg, &line);
    buf_byte(&line, '\n');
    if (buf_ok(&line))
        write_all_slice(l->fd, buf_slice(&line));
    buf_free(&line);
}

/* "NAME RANKS NAME RANKS ..." */
static uint32_t sum_of_ranks(struct slice words)
{
    uint64_t sum = 0;
    uint32_t ranks;

    words = slice_trim(words);
    while (words.len) {
        slice_cut(&words, ' ');
        sum += slice_u32(slice_cut(&words, ' '), &ranks) ? ranks : 0;
    }
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

void dvm_lease_bind(const struct dvm_lease *l, struct launch_options *opt)
{
    struct buf used = BUF_NULL(DVM_LEASE_LINE);

    if (l->fd < 0 || !l->node || !l->limits.slots)
        return;
    node_places(l->node, &used);
    opt->limits = (struct dvm_limits){ .slots = l->limits.slots };
    opt->in_use = buf_ok(&used) ? sum_of_ranks(buf_slice(&used)) : UINT32_MAX;
    opt->dvm_name = l->place.name;
    buf_free(&used);
}

void dvm_lease_renew(struct dvm_lease *l)
{
    if (l->fd >= 0 && l->node)
        send_use(l, "took");
}

void dvm_lease_seen(struct dvm_lease *l)
{
    if (l->fd >= 0 && l->node)
        send_use(l, "seen");
}

void dvm_lease_need(struct dvm_lease *l, uint32_t ranks, struct slice but)
{
    if (l->fd < 0 || !l->node)
        return;
    buf_clear(&l->need);
    buf_printf(&l->need, "need %u " SLICE_FMT "\n", ranks, SLICE_ARG(but.len ? but : SLICE("-")));
    send_need(l);
}

void dvm_lease_ask(struct dvm_lease *l, struct slice name)
{
    struct buf line = BUF_NULL(DVM_LEASE_LINE);

    if (l->fd < 0 || !l->node)
        return;
    buf_printf(&line, "ask " SLICE_FMT "\n", SLICE_ARG(name));
    if (!buf_ok(&line) || write_all_slice(l->fd, buf_slice(&line)) < 0)
        gone(l);
    buf_free(&line);
}

/* The connection is another one; what has come on the old one is of no use. */
static void move_to(struct dvm_lease *l, pid_t pid, int fd)
{
    watch_close(&l->watch);
    gone(l);
    close(l->fd);
    buf_clear(&l->in);
    l->fd = fd;
    l->place.where.pid = pid;
    l->ended = l->waited = false;
    watch_open(&l->watch, node_loop(l->node), l->fd, on_read, NULL, l);
    watch_want(&l->watch, LOOP_READ);
    send_use(l, "lease 0 again");
}

void dvm_lease_again(struct dvm_lease *l, pid_t pid, struct slice name)
{
    int fd;

    if (l->fd < 0 || !l->node || !slice_is(name, l->place.name))
        return;
    if (pid == l->place.where.pid) {
        send_use(l, "took");
        return;
    }
    fd = rendezvous_connect_pid(pid);
    if (fd >= 0)
        move_to(l, pid, fd);
}

void dvm_lease_unfollow(struct dvm_lease *l)
{
    watch_close(&l->watch);
    if (l->node) {
        buf_free(&l->in);
        buf_free(&l->need);
    }
    l->node = NULL;
}

void dvm_lease_end(struct dvm_lease *l)
{
    dvm_asked_close(&l->asked);
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}
