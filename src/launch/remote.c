/* remote.c - see remote.h. */
#include "launch/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "cluster/tree.h"
#include "io/daemon_link_address.h"
#include "io/write_all.h"
#include "topo/view_pack.h"
#include "launch/plan_builder.h"
#include "launch/allocation.h"
#include "daemon/dvm_asked.h"
#include "daemon/node_failure.h"

extern char **environ;

enum { REMOTE_PROGRESS_MS = 500, REMOTE_EXIT_CODE = 125 };

/* ---- nodes and commands ---- */

/* Their names are the options', as long-lived as we. */
static void number_spares(struct remote *f)
{
    struct bootstrap *b = &f->boot;

    for (uint32_t i = 0; i < f->opt->spares.count; i++) {
        const struct host *h = &f->opt->spares.items[i];
        f->names[++b->nnodes] = h->name;
        f->slots[b->nnodes] = h->slots;
        b->nodes[b->nnodes - 1] = (struct bootstrap_node){
            .position = b->nnodes, .name = h->name, .user = h->user, .port = h->port
        };
    }
}

static int number_nodes(struct remote *f, const struct job_map *p, uint32_t more)
{
    struct bootstrap *b = &f->boot;
    size_t room = (size_t)p->nnodes + f->opt->spares.count + 1 + more;

    f->names = arena_array(&f->arena, room, sizeof *f->names);
    b->nodes = arena_array(&f->arena, room, sizeof *b->nodes);
    f->slots = arena_array(&f->arena, room, sizeof *f->slots);
    f->failed = arena_array(&f->arena, room, sizeof *f->failed);
    f->settled = 1;
    if (f->opt->scouting)
        f->machines = arena_array(&f->arena, room, sizeof(struct bind_machine *));
    if (!f->names || !b->nodes || !f->slots || !f->failed || (f->opt->scouting && !f->machines))
        return -ENOMEM;
    f->names[0] = f->opt->here;
    for (uint32_t n = 0; n < p->nnodes; n++) {
        const char *name = arena_str(&f->arena, slice_str(p->nodes[n].name)); /* outlives plans */
        if (!name)
            return -ENOMEM;
        if (f->opt->here && !strcmp(name, f->opt->here)) {
            f->slots[0] = p->nodes[n].slots;
            continue;
        }
        f->names[++b->nnodes] = name;
        f->slots[b->nnodes] = p->nodes[n].slots;
        b->nodes[b->nnodes - 1] = (struct bootstrap_node){ .position = b->nnodes,
                                                           .name = name,
                                                           .user = f->opt->node_hosts[n]->user,
                                                           .port = f->opt->node_hosts[n]->port };
    }
    number_spares(f);
    f->expected = b->nnodes;
    b->count = b->nnodes + 1 + more;
    return more ? rank_set_add(&f->members, 0, b->nnodes + 1) : 0;
}

static enum agent_kind kind_of(const struct launch_options *o)
{
    enum agent_kind kind = AGENT_SSH;

    if (o->launcher != LAUNCHER_AUTO)
        return launcher_kind(o->launcher);
    if (o->dvm_launcher)
        return AGENT_DVM;
    if (o->launcher_exec)
        return agent_kind_of(o->launcher_exec);
    if (o->rm)
        agent_kind_read(allocation_launcher(o->rm), &kind);
    return kind;
}

static const char *const schedules[] = {
    [OVERLAY_AUTO] = "auto",
    [OVERLAY_TREE] = "tree",
    [OVERLAY_EXCHANGE] = "exchange",
};

/* ---- progress ---- */

static void wipe_line(struct remote *f)
{
    if (f->shown && write(STDERR_FILENO, "\r\033[K", 4) < 0)
        f->terminal = false;
    f->shown = false;
}

static uint32_t serving(const struct remote *f)
{
    return f->cluster.daemons.in[DAEMON_STATE_SERVING];
}

void remote_progress(const struct remote *f, struct node_progress *p)
{
    struct remote_exec_progress a = { .all = 0 };

    if (f->counted) {
        f->counted(f->arg, p);
        return;
    }
    *p = (struct node_progress){ .up = serving(f), .all = f->expected };
    if (f->child_daemons.agent)
        remote_exec_progress(f->child_daemons.agent, &a);
    if (a.slowest)
        snprintf(p->awaited, sizeof p->awaited, "%.60s: %.40s has not answered for %llu s",
                 a.slowest, a.at, (unsigned long long)((clock_now_ns() - a.since_ns) / NS_PER_S));
}

static void show_progress(void *arg)
{
    struct remote *f = arg;
    struct node_progress p;
    struct buf line = BUF_NULL(512);
    struct slice s;

    if (!launcher_state_is_rising(node_state(f->node)) || !f->terminal)
        return;
    remote_progress(f, &p);
    wipe_line(f);
    buf_printf(&line, "%u of %u %s are up%s%s", p.up, p.all, p.slots ? "slots" : "nodes",
               p.awaited[0] ? "; " : "", p.awaited);
    s = buf_slice(&line);
    f->shown = buf_ok(&line) && write(STDERR_FILENO, s.ptr, s.len) > 0;
    buf_free(&line);
    timer_set(&f->progress, REMOTE_PROGRESS_MS);
}

/* ---- hardware of the nodes ---- */

static struct bind_machine *machine_named(void *arg, const char *name)
{
    struct remote *f = arg;

    return map_get(&f->by_name, slice_str(name));
}

static int name_machines(struct remote *f)
{
    int rc = 0;

    for (uint32_t i = 1; i < f->boot.count && f->machines && rc == 0; i++) {
        if (remote_is_ready(f, i))
            rc = map_put(&f->by_name, slice_str(f->names[i]), f->machines[i], NULL);
    }
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(((const struct host *)a)->name, ((const struct host *)b)->name);
}

/* This node, then those that have joined, by their names. */
static int list_nodes(struct remote *f, struct host_list *list)
{
    *list = (struct host_list){ .items = arena_array(&f->arena, f->boot.count, sizeof *list->items),
                                .room = f->boot.count };
    if (!list->items)
        return -ENOMEM;
    if (!f->opt->join_only)
        list->items[list->count++] = (struct host){ .name = f->names[0], .slots = f->slots[0] };
    for (uint32_t i = 1; i < f->boot.count; i++) {
        if (remote_is_ready(f, i))
            list->items[list->count++] = (struct host){ .name = f->names[i], .slots = f->slots[i] };
    }
    qsort(list->items + !f->opt->join_only, list->count - !f->opt->join_only, sizeof *list->items,
          by_name);
    return 0;
}

static int plan_joined(struct remote *f, struct errmsg *err)
{
    struct host_list nodes;
    int rc = list_nodes(f, &nodes);

    if (rc < 0)
        return errmsg_set(err, rc, "%s", err_text(rc));
    return launch_prepare_joined(f->opt, f->plan, &nodes, f->opt->scouting ? machine_named : NULL,
                                 f, err);
}

/* The plan was for the daemons only; now that they have reported their hardware, make the real one.
 */
static int plan_again(struct remote *f, struct errmsg *err)
{
    struct slice shown;
    int rc = name_machines(f);

    if (rc < 0)
        return errmsg_set(err, rc, "%s", err_text(rc));
    rc = f->enough ? plan_joined(f, err)
                   : launch_prepare_again(f->opt, f->plan, machine_named, f, err);
    shown = buf_slice(&f->opt->answer);
    if (rc == LAUNCH_GO && shown.len && write(STDERR_FILENO, shown.ptr, shown.len) < 0)
        log_info(&f->log, "cannot show the bindings: %s", err_text(errno));
    return rc;
}

/* ---- up, failed, lost ---- */

/* No job is to be run: its plan was asked for, or there is none. */
static void show_or_fail(struct remote *f, int rc, const struct errmsg *err)
{
    if (rc != LAUNCH_SHOW)
        log_error(&f->log, "%s", err->text);
    else if (write_all_slice(STDOUT_FILENO, buf_slice(&f->opt->answer)) < 0)
        rc = LAUNCH_REFUSED;
    node_give_up(f->node, launch_exit_code(rc));
}

static void begin(struct remote *f)
{
    struct errmsg err;
    int rc = LAUNCH_GO;

    timer_stop(&f->progress);
    wipe_line(f);
    if (f->on_up) {
        node_stands(f->node);
        f->on_up(f->arg);
        return;
    }
    if (f->opt->scouting || f->enough)
        rc = plan_again(f, &err);
    if (rc != LAUNCH_GO) {
        show_or_fail(f, rc, &err);
        return;
    }
    rc = node_start(f->node, f->plan, &err);
    if (rc != 0) {
        log_error(&f->log, "%s", err.text);
        node_give_up(f->node,
                     rc == NODE_BAD_FILE ? launch_exit_code(LAUNCH_USAGE) : REMOTE_EXIT_CODE);
        return;
    }
    node_begin(f->node);
}

static bool is_complete(const struct remote *f)
{
    if (f->enough)
        return f->enough(f->arg);
    return serving(f) == f->expected && (!f->opt->scouting || f->nreported == f->expected);
}

static void maybe_begin(struct remote *f)
{
    if (node_state(f->node) != LAUNCHER_STATE_RAISING || !is_complete(f))
        return;
    node_event(f->node, LAUNCHER_EVENT_READY);
    begin(f);
}

/* Nodes join, and may be lost. */
static bool is_open(const struct remote *f)
{
    enum launcher_state state = node_state(f->node);

    return state == LAUNCHER_STATE_STANDING || (f->enough && state == LAUNCHER_STATE_RAISING) ||
           (f->on_member && state == LAUNCHER_STATE_RUNNING);
}

/* It is up or has failed; or it is below one that has, and whoever would report its failure is not
 * there. */
static bool is_settled(const struct remote *f, uint32_t position)
{
    bool settled = remote_is_ready(f, position);

    for (uint32_t p = position; !settled && p != 0; p = tree_parent(f->boot.width, p))
        settled = f->failed[p] || f->cluster.daemons.states[p] == DAEMON_STATE_FAILED ||
                  f->cluster.daemons.states[p] == DAEMON_STATE_LOST;
    return settled;
}

/* The launch has failed: it ends as soon as no other failure can come. */
static void maybe_known(struct remote *f)
{
    if (node_state(f->node) != LAUNCHER_STATE_FAILING || f->settled > f->expected)
        return;
    while (f->settled <= f->expected && is_settled(f, f->settled))
        f->settled++;
    if (f->settled <= f->expected)
        return;
    log_info(&f->log, "each of the %u nodes is up or has failed", f->expected);
    timer_set(&f->more, 0);
}

static void on_ready(void *arg, uint32_t position)
{
    struct remote *f = arg;

    if (is_open(f)) {
        log_info(&f->log, "node %s is up", f->names[position]);
        if (f->on_member)
            f->on_member(f->arg, position);
        maybe_begin(f);
        return;
    }

    log_info(&f->log, "node %s is up (%u of %u)", f->names[position], serving(f), f->expected);
    maybe_begin(f);
    maybe_known(f);
}

static void on_alive(void *arg, uint32_t position)
{
    struct remote *f = arg;

    if (f->on_alive)
        f->on_alive(f->arg, position);
}

static void on_near(void *arg, uint32_t position)
{
    struct remote *f = arg;

    child_daemons_up(&f->child_daemons, position);
}

/* Nodes that do not come up end the launch: the job has been placed on all of them. */
static void print_failed(struct remote *f)
{
    struct buf out = BUF_NULL(64 << 20);
    struct slice rest;

    wipe_line(f);
    if (f->opt->json)
        node_failures_json(&f->failures, &out);
    else
        node_failures_text(&f->failures, f->expected, &out);
    rest = buf_slice(&out);
    if (f->opt->json)
        log_text(&f->log, rest);
    while (rest.len && !f->opt->json) {
        struct slice line = slice_cut(&rest, '\n');
        log_error(&f->log, SLICE_FMT, SLICE_ARG(line));
    }
    buf_free(&out);
}

/* Nodes that have been asked for long enough, and have not answered. */
static void print_silent(struct remote *f)
{
    struct remote_exec_times t;
    uint64_t now = clock_now_ns();

    for (uint32_t i = 0; f->child_daemons.agent && remote_exec_times(f->child_daemons.agent, i, &t);
         i++) {
        uint64_t s = t.asked_ns ? (now - t.asked_ns) / NS_PER_S : 0;
        if (s >= LIMIT_FAILED_MORE_MS / 1000 - 1 &&
            remote_exec_waits(f->child_daemons.agent, t.position))
            log_error(&f->log, "node %s: %s has not answered for %llu s", f->names[t.position],
                      remote_exec_how(f->child_daemons.agent), (unsigned long long)s);
    }
}

static void all_failures(void *arg)
{
    struct remote *f = arg;

    if (node_event(f->node, LAUNCHER_EVENT_KNOWN) != LAUNCHER_ACTION_report_failures)
        return;
    print_failed(f);
    print_silent(f);
    node_give_up(f->node, REMOTE_EXIT_CODE);
}

/* The others are awaited, though not for long: a host list with one mistake mostly has several. */
static void fail(struct remote *f, uint32_t position, struct slice text)
{
    if (is_open(f) && f->on_no_member) {
        wipe_line(f);
        f->on_no_member(f->arg, position, text);
    }
    if (f->enough && is_open(f))
        return; /* others may come */
    if (node_event(f->node, LAUNCHER_EVENT_FAIL) != LAUNCHER_ACTION_keep_failure)
        return;
    if (!f->failures.count)
        timer_set(&f->more, LIMIT_FAILED_MORE_MS);
    node_failures_add(&f->failures, f->names[position], text);
    f->failed[position] = true;
    maybe_known(f);
}

static void on_failed(void *arg, uint32_t position, const struct errmsg *why)
{
    struct remote *f = arg;
    const char *better = node_failure_why(&f->cluster, NULL);
    char line[ERRMSG_MAX];

    snprintf(line, sizeof line, "node %.200s: %.700s", f->names[position], better ? better : "");
    fail(f, position, slice_str(better ? line : why->text));
}

/* Given up: no more daemons are started, and those being started find no record. */
static void on_quit(void *arg, enum launcher_state before)
{
    struct remote *f = arg;

    timer_stop(&f->progress);
    timer_stop(&f->more);
    wipe_line(f);
    if (launcher_state_is_rising(before))
        print_failed(f);
    if (node_state(f->node) == LAUNCHER_STATE_ABANDONING)
        child_daemons_stop(&f->child_daemons);
}

/* A sentence from a daemon: about a node that does not come up or is lost, or only for the user. */
static void on_trouble(void *arg, int64_t position, struct slice text)
{
    struct remote *f = arg;
    char line[ERRMSG_MAX];

    if (position >= 0 && position < f->boot.count && !slice_starts(text, SLICE("node ")))
        snprintf(line, sizeof line, "node %.200s: " SLICE_FMT, f->names[position], SLICE_ARG(text));
    else
        snprintf(line, sizeof line, SLICE_FMT, SLICE_ARG(text));
    if (position >= 0 && position < f->boot.count) {
        fail(f, (uint32_t)position, slice_str(line));
        return;
    }
    wipe_line(f);
    if (position < 0)
        log_warn(&f->log, "%s", line);
}

/* Once the job runs, its own report covers it. */
static void on_lost(void *arg, uint32_t position, const char *why)
{
    struct remote *f = arg;
    char line[ERRMSG_MAX];

    snprintf(line, sizeof line, "node %.200s: %.700s", f->names[position],
             node_failure_why(&f->cluster, why));
    fail(f, position, slice_str(line));
}

/* Most nodes have the same hardware as the one before them. */
static int keep_machine(struct remote *f, uint32_t position, struct slice view, struct errmsg *err)
{
    struct bind_machine *m = f->last_machine;
    int rc;

    if (!m || !slice_eq(view, buf_slice(&f->last_view))) {
        m = arena_array(&f->arena, 1, sizeof *m);
        rc = m ? view_unpack(&f->arena, view, m, err) : -ENOMEM;
        if (rc)
            return rc < 0 ? errmsg_set(err, rc, "%s", err_text(rc)) : rc;
        buf_clear(&f->last_view);
        buf_slice_put(&f->last_view, view);
        f->last_machine = buf_ok(&f->last_view) ? m : NULL;
    }
    f->machines[position] = m;
    return 0;
}

static void on_hardware(void *arg, uint32_t position, struct slice view, struct slice why_not)
{
    struct remote *f = arg;
    struct errmsg err = { "" };
    char line[ERRMSG_MAX];
    int rc;

    if (!f->machines || position >= f->boot.count || f->machines[position])
        return;
    rc = view.len ? keep_machine(f, position, view, &err)
                  : errmsg_set(&err, 1, SLICE_FMT, SLICE_ARG(slice_head(why_not, 700)));
    if (rc) {
        snprintf(line, sizeof line, "node %.200s: %.700s", f->names[position], err.text);
        fail(f, position, slice_str(line));
        return;
    }
    f->nreported++;
    maybe_begin(f);
    maybe_known(f);
}

static void on_remark(void *arg, const char *node, struct slice line)
{
    struct remote *f = arg;

    wipe_line(f);
    log_warn(&f->log, "node %s: " SLICE_FMT, node, SLICE_ARG(line));
}

static void stopped(void *arg)
{
    struct remote *f = arg;

    timer_stop(&f->stopping);
    shutdown_commands_ended(f->cluster.shutdown);
}

/* Commands that have been asked to end get a moment for it. */
static void on_gone(void *arg)
{
    struct remote *f = arg;

    child_daemons_end(&f->child_daemons);
    if (node_state(f->node) != LAUNCHER_STATE_STOPPING)
        return;
    if (child_daemons_idle(&f->child_daemons))
        stopped(f);
    else
        timer_set(&f->stopping, LIMIT_AGENT_STOP_MS);
}

/* A lost node has joined again, at another position. */
static bool is_named_again(const struct remote *f, uint32_t position)
{
    for (uint32_t p = position + 1; p < f->boot.count && f->names[p]; p++) {
        if (!strcmp(f->names[p], f->names[position]))
            return true;
    }
    return false;
}

uint32_t remote_lost(struct remote *f, const char *const **names_p)
{
    uint32_t n = 0;

    if (!f->node)
        return 0;
    if (!f->lost)
        f->lost = arena_array(&f->arena, f->boot.count, sizeof *f->lost);
    for (uint32_t p = 1; f->lost && p < f->boot.count; p++) {
        if (f->names[p] && !is_named_again(f, p) &&
            f->cluster.daemons.states[p] == DAEMON_STATE_LOST)
            f->lost[n++] = f->names[p];
    }
    *names_p = f->lost;
    return n;
}

static void on_ended(void *arg)
{
    struct remote *f = arg;

    if (f->stopping.set && child_daemons_idle(&f->child_daemons))
        stopped(f);
}

void remote_reaped(struct remote *f, pid_t pid, int status)
{
    child_daemons_reaped(&f->child_daemons, pid, status);
    on_ended(f);
}

/* ---- nodes that join ---- */

static void on_grow(void *arg, const struct bootstrap_node *node)
{
    struct remote *f = arg;
    struct errmsg err = { "out of memory" };

    if (child_daemons_add(&f->child_daemons, &f->boot.nodes[node->position - 1], 1, &err))
        fail(f, node->position, slice_str(err.text));
}

uint32_t remote_add(struct remote *f, const struct host *h)
{
    struct bootstrap *b = &f->boot;
    uint32_t p = b->nnodes + 1;
    const char *name = arena_str(&f->arena, slice_str(h->name));
    const char *user = h->user ? arena_str(&f->arena, slice_str(h->user)) : NULL;

    if (p >= b->count || !name || (h->user && !user))
        return 0;
    f->names[p] = name;
    f->slots[p] = h->slots;
    b->nodes[b->nnodes++] =
        (struct bootstrap_node){ .position = p, .name = name, .user = user, .port = h->port };
    f->opt->remote = true;
    return p;
}

int remote_record(struct remote *f, uint32_t position, struct buf *out)
{
    return child_daemons_record(&f->child_daemons, position, out);
}

bool remote_is_ready(const struct remote *f, uint32_t position)
{
    return f->cluster.daemons.states[position] == DAEMON_STATE_SERVING &&
           (!f->opt->scouting || f->machines[position]);
}

void remote_lose(struct remote *f, uint32_t position, const char *why)
{
    wipe_line(f);
    node_failure_reason(&f->cluster, position, why);
    membership_lose(&f->cluster.overlay_io.member, position);
}

int remote_start(struct remote *f, uint32_t position, uint32_t parent)
{
    return cluster_io_grow(&f->cluster, &f->boot.nodes[position - 1], parent);
}

/* ---- opening ---- */

const struct distant_launchers_config *remote_distant(const struct launch_options *o,
                                                      struct distant_launchers_config *room)
{
    *room = (struct distant_launchers_config){ .dir = o->launchers_dir,
                                               .interface = o->interface,
                                               .port_low = (uint16_t)o->port_low,
                                               .port_high = (uint16_t)o->port_high };
    return o->launchers_dir ? room : NULL;
}

/* Other daemons run in other directories. */
static const char *absolute(struct remote *f, const char *path)
{
    char here[PATH_MAX];

    if (path[0] == '/' || !getcwd(here, sizeof here))
        return path;
    return arena_printf(&f->arena, "%s/%s", here, path);
}

static int open_cluster(struct remote *f, struct errmsg *err)
{
    uint32_t port = f->opt->join_port;
    struct router_io_config config = { .router = { .log = &f->log,
                                                   .me = 0,
                                                   .count = f->boot.count,
                                                   .width = f->boot.width,
                                                   .host = f->host },
                                       .loop = node_loop(f->node),
                                       .key = f->boot.key,
                                       .interface = f->opt->interface,
                                       .port_low = (uint16_t)(port ? port : f->opt->port_low),
                                       .port_high = (uint16_t)(port ? port : f->opt->port_high) };
    struct overlay_io_config overlay_io = { .schedule = f->opt->collective,
                                            .members = f->members.count ? &f->members : NULL };
    int rc = cluster_io_open(&f->cluster, f->node, &config, &overlay_io, NULL, err);

    if (rc < 0)
        return rc;
    f->cluster.child_daemons = &f->child_daemons;
    f->cluster.names = f->names;
    f->cluster.slots = f->slots;
    f->cluster.calls = (struct cluster_io_calls){ .on_ready = on_ready,
                                                  .on_near = on_near,
                                                  .on_lost = on_lost,
                                                  .on_trouble = on_trouble,
                                                  .on_hardware = on_hardware,
                                                  .on_alive = on_alive,
                                                  .on_grow = on_grow,
                                                  .on_quit = on_quit,
                                                  .on_gone = on_gone };
    f->cluster.arg = f;
    node_share(f->node, &f->cluster);
    if (!f->opt->trace_file)
        return 0;
    f->cluster.trace = absolute(f, f->opt->trace_file);
    return f->cluster.trace ? node_record(f->node, f->opt->trace_file, err)
                            : errmsg_set(err, -ENOMEM, "out of memory");
}

const char *remote_find_wireupd(struct launch_options *o)
{
    char path[PATH_MAX];

    if (!o->own_wireupd) {
        remote_exec_find_wireupd(path);
        o->own_wireupd = arena_str(&o->arena, slice_str(path));
    }
    return o->own_wireupd ? o->own_wireupd : "wireupd"; /* no memory */
}

static struct agent_spec spec_of(const struct launch_options *o, const char *wireupd)
{
    return (struct agent_spec){ .kind = kind_of(o),
                                .exec = o->launcher_exec,
                                .args = o->launcher_args,
                                .user = o->launcher_user,
                                .port = o->launcher_port,
                                .dvm = o->dvm_launcher,
                                .asked = o->dvm_asked,
                                .wireupd = o->wireupd ? o->wireupd : wireupd,
                                .wireupd_given = o->wireupd != NULL };
}

void remote_ask_dvm(const struct launcher_name *dvm, struct launch_options *o,
                    const struct job_map *plan)
{
    struct agent_spec spec = spec_of(o, remote_find_wireupd(o));
    struct errmsg err;

    if (spec.kind != AGENT_DVM || !spec.asked)
        return;
    for (uint32_t n = 0; n < plan->nnodes; n++) {
        struct bootstrap_node node = { .name = arena_str(&o->arena, slice_str(plan->nodes[n].name)),
                                       .user = o->node_hosts[n]->user,
                                       .port = o->node_hosts[n]->port };
        char **words;
        /* What cannot be asked is told when the daemon is to be started. */
        if (node.name && !(o->here && !strcmp(node.name, o->here)) &&
            agent_argv(&spec, &node, 1, spec.wireupd, NULL, &o->arena, &words, &err) == 0)
            dvm_asked_add(spec.asked, dvm, node.name, words);
    }
}

int remote_reach(const struct remote *f, const char *node, struct arena *a, const char **words_p,
                 struct errmsg *err)
{
    const struct agent_spec spec = f->opt ? spec_of(f->opt, "") : (struct agent_spec){ 0 };

    for (uint32_t i = 0; i < f->boot.nnodes; i++) {
        if (!strcmp(f->boot.nodes[i].name, node))
            return agent_reach(&spec, &f->boot.nodes[i], a, words_p, err);
    }
    return errmsg_set(err, BOOTSTRAP_BAD, "node %.200s: the launcher has not started its daemon",
                      node);
}

/* Of a DVM whose daemons outlive us. */
static int put_keep(struct remote *f)
{
    const char *file = f->opt->join_file ? absolute(f, f->opt->join_file) : NULL;
    const char *bound = arena_printf(&f->arena, "%u", f->opt->keep_time);
    int rc = !bound || (f->opt->join_file && !file) ? -ENOMEM : 0;

    if (rc == 0)
        rc = bootstrap_put_option(&f->arena, &f->boot, "keep", bound);
    return rc == 0 ? bootstrap_put_option(&f->arena, &f->boot, "keep-file", file) : rc;
}

static int start_daemons(struct remote *f, struct errmsg *err)
{
    struct buf addresses = BUF_NULL(1 << 16);
    struct child_daemons_config config = { .loop = node_loop(f->node),
                                           .boot = &f->boot,
                                           .spec = spec_of(f->opt, remote_find_wireupd(f->opt)),
                                           .overlay = &f->cluster.overlay_io.member.overlay,
                                           .envp = environ,
                                           .daemons = &f->cluster.daemons,
                                           .calls = { NULL, on_failed, on_remark, on_ended },
                                           .arg = f };
    int rc;

    rc = agent_spec_put(&config.spec, &f->arena, &f->boot);
    if (rc == 0)
        rc = bootstrap_put_option(&f->arena, &f->boot, "collective", schedules[f->opt->collective]);
    if (rc == 0 && f->opt->scouting)
        rc = bootstrap_put_option(&f->arena, &f->boot, "hardware", "1");
    if (rc == 0 && f->opt->keep_token)
        rc = put_keep(f);
    if (rc == 0)
        rc = router_io_addresses(&f->cluster.router_io, &addresses, err);
    config.addresses = buf_cstr(&addresses);
    if (rc == 0)
        rc = config.addresses ? child_daemons_open(&f->child_daemons, &config, err) : -ENOMEM;
    buf_free(&addresses);
    return rc;
}

int remote_open(struct remote *f, struct launch_options *opt, struct node *node,
                struct job_map *plan, uint32_t room, struct log log, struct errmsg *err)
{
    int rc;

    memset(f, 0, sizeof *f);
    f->opt = opt;
    f->node = node;
    f->plan = plan;
    f->log = log;
    f->since_ns = clock_now_ns();
    f->terminal = isatty(STDERR_FILENO) == 1;
    buf_init(&f->last_view, LIMIT_DAEMON_LINK_MESSAGE);
    map_init(&f->by_name, 0);
    arena_init(&f->arena, (size_t)1 << 30);
    timer_init(&f->progress, node_loop(node), show_progress, f);
    timer_init(&f->more, node_loop(node), all_failures, f);
    timer_init(&f->stopping, node_loop(node), stopped, f);
    node_failures_init(&f->failures);
    if (gethostname(f->host, sizeof f->host - 1) < 0)
        memcpy(f->host, "localhost", sizeof "localhost");
    if (bootstrap_make_key(&f->boot) < 0)
        return errmsg_set(err, -ENOMEM, "out of memory");
    if (getrandom(f->boot.key, BOOTSTRAP_KEY, 0) != BOOTSTRAP_KEY)
        return errmsg_set(err, -EIO, "cannot make a key for the job: %s", err_text(errno));
    if (opt->keep_token && bootstrap_make_token(&f->boot) < 0)
        return errmsg_set(err, -ENOMEM, "out of memory");
    if (opt->keep_token)
        memcpy(f->boot.token, opt->keep_token, BOOTSTRAP_KEY);
    rc = number_nodes(f, plan, room);
    f->boot.width = child_daemons_width(kind_of(opt), f->boot.count, opt->tree_width);
    f->boot.interface = opt->interface;
    if (opt->interface &&
        daemon_link_address_network(opt->interface, f->network, sizeof f->network))
        f->boot.interface = f->network;
    f->boot.port_low = opt->port_low;
    f->boot.port_high = opt->port_high;
    f->boot.verbose = opt->verbose || opt->very_verbose;
    if (rc < 0)
        return errmsg_set(err, rc, "out of memory for %u nodes", plan->nnodes);
    rc = open_cluster(f, err);
    if (rc == 0)
        rc = start_daemons(f, err);
    node_listen_soon(node); /* while they start */
    if (rc == 0 && f->terminal)
        timer_set(&f->progress, REMOTE_PROGRESS_MS);
    return rc;
}

void remote_go(struct remote *f)
{
    maybe_begin(f);
}

void remote_close(struct remote *f)
{
    if (!f->node)
        return;
    timer_stop(&f->progress);
    timer_stop(&f->more);
    timer_stop(&f->stopping);
    node_failures_free(&f->failures);
    wipe_line(f);
    child_daemons_close(&f->child_daemons);
    cluster_io_close(&f->cluster);
    bootstrap_wipe(&f->boot);
    buf_free(&f->last_view);
    map_free(&f->by_name);
    rank_set_free(&f->members);
    arena_free(&f->arena);
}
