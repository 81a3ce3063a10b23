/* main.c - the node daemon: reads its record, links to its parent, starts the daemons below it, and
 * stays until it is asked to quit or has lost its connection to the launcher.  One of a DVM that
 * outlives its launcher (up -keep) looks for another launcher then, and joins it; what launchers of
 * jobs have started here goes on meanwhile.
 *
 * Errors before the link is up are one line on standard output (bootstrap.h), which the starter
 * passes to the user; later ones are messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/log.h"
#include "base/privilege.h"
#include "base/slice.h"
#include "cluster/msg.h"
#include "io/child.h"
#include "io/daemon_link.h"
#include "io/daemon_link_address.h"
#include "io/secret.h"
#include "io/tool_files.h"
#include "topo/cpus.h"
#include "daemon/bootstrap.h"
#include "daemon/bootstrap_overlay.h"
#include "daemon/child_daemons.h"
#include "daemon/dvm_exec.h"
#include "daemon/hardware_look.h"
#include "daemon/joining.h"
#include "daemon/staging_child.h"
#include "daemon/phase.h"
#include "daemon/supervisor.h"
#include "daemon/cluster_io.h"

extern char **environ;

/* A record of a few nodes is a few hundred bytes, and its buffer is wiped whole: the first read
 * asks for no more than the smallest buffer has. */
enum { FIRST_READ = 4095, NEXT_READ = 65536 };

/* What the command line says. */
struct daemon_words {
    const char *record;        /* a file; NULL: standard input */
    const char *join;          /* where a launcher is to be joined; NULL: it is not */
    const char *token, *name;  /* the files of the token; NULL: the environment, the host's name */
    uint32_t slots, timeout_s; /* 0: as many as processors; for ever */
};

/* What is left of a record when the launcher is lost. */
struct daemon_hold {
    char *file;  /* that has the addresses of the launcher; NULL: none */
    char *known; /* ... where the lost one was */
    char *name;  /* of this node */
    unsigned char *token;
    uint32_t bound_s;
};

struct daemon {
    struct log log;
    int control_fd;
    bool again; /* it has lost a launcher before */
    struct arena arena;
    struct bootstrap boot;
    struct bootstrap_overlay known; /* of the others, when it joins */
    const char *name;               /* of this node, as the user wrote it */
    char host[256];
    struct node *node;
    struct cluster_io cluster;
    struct child_daemons child_daemons;
    struct dvm_exec_list dvm_execs;
    struct hardware_look hardware;
    struct session_dir sessions;
    struct daemon_words words;
    int answers;  /* the original standard output: leads to the command that started us */
    bool by_hand; /* the record came by file: a user may be watching */
    bool waits;   /* its job has not begun (dvm_warm.h) */
    int input;    /* that has the record */
    int pipe_ends[STREAM_KINDS];
    struct log people;                      /* it joins: nobody but people read its answers */
    char reached[DAEMON_LINK_ADDRESS_TEXT]; /* ... the launcher, at this address */
    int code;
};

/* ---- answers ---- */

/* To people, who have started it themselves. */
static void print_answer(const struct daemon *d, enum bootstrap_answer what, const char *text)
{
    switch (what) {
    case BOOTSTRAP_READY:
        log_line(&d->people, LOG_WARN, "node %s has joined the launcher at %s", d->name,
                 d->reached);
        break;
    case BOOTSTRAP_TROUBLE: log_error(&d->people, "%s", text); break;
    case BOOTSTRAP_REMARK: log_warn(&d->people, "%s", text); break;
    case BOOTSTRAP_NOISE:
    case BOOTSTRAP_STARTED: break;
    }
}

static void answer(const struct daemon *d, enum bootstrap_answer what, const char *text)
{
    struct buf line = BUF_NULL(ERRMSG_MAX + 100);

    if (d->words.join) {
        print_answer(d, what, text);
        return;
    }
    bootstrap_answer_write(&line, what, d->boot.count ? d->boot.position : BOOTSTRAP_BY_NAME, text);
    if (write(d->answers, buf_slice(&line).ptr, buf_len(&line)) < 0) {
        /* The command that started us has gone; the link shows whether the launcher has. */
    }
    buf_free(&line);
}

/* Sends a sentence about a node to the launcher; before the link is up, to our starter. */
static void send_error(struct daemon *d, uint32_t position, uint8_t fatal, const char *text)
{
    struct msg m = { .kind = MSG_launch_error, .to = 0 };

    m.u.launch_error.position = position;
    m.u.launch_error.fatal = fatal;
    m.u.launch_error.text = slice_str(text);
    if (router_send(&d->cluster.router, &m) < 0) /* without a way it waits */
        answer(d, fatal ? BOOTSTRAP_TROUBLE : BOOTSTRAP_REMARK, text);
}

/* ---- the record ---- */

/* Reads up to the end of the record, or until the time limit.  0 or -errno. */
static int read_input(int fd, struct buf *text)
{
    uint64_t until = clock_now_ns() + LIMIT_BOOTSTRAP_MS * NS_PER_MS;

    while (bootstrap_length(buf_slice(text)) == 0) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint64_t now = clock_now_ns();
        size_t most = buf_len(text) ? NEXT_READ : FIRST_READ;
        char *to = buf_room(text, most);
        ssize_t n;

        if (!to)
            return text->error == BUF_TOO_LONG ? -EMSGSIZE : -ENOMEM;
        if (now >= until || poll(&p, 1, (int)((until - now) / NS_PER_MS + 1)) == 0)
            return -ETIMEDOUT;
        n = read(fd, to, most);
        if (n == 0)
            return -ENODATA;
        if (n < 0 && errno != EINTR && errno != EAGAIN)
            return -errno;
        buf_commit(text, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

/* Only we may read and write the file: it holds the job's key. */
static int open_record(const char *file, struct errmsg *err)
{
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return errmsg_set(err, -errno, "cannot read the record %.300s: %s", file, err_text(errno));
    if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
        return fd;
    close(fd);
    return errmsg_set(err, -EPERM,
                      "the record %.300s must be a file of yours that nobody else may "
                      "read (mode 0600)",
                      file);
}

static int no_record(int rc, struct errmsg *err)
{
    switch (rc) {
    case -ETIMEDOUT:
        return errmsg_set(err, rc,
                          "no record on standard input within %u s; does the command that started "
                          "wireupd forward its standard input?",
                          LIMIT_BOOTSTRAP_MS / 1000);
    case -ENODATA:
        return errmsg_set(
            err, rc,
            "standard input ended before the record; the command that started wireupd "
            "must pass its standard input on (kubectl exec -i, docker exec -i)");
    default: return errmsg_set(err, rc, "cannot read the record: %s", err_text(rc));
    }
}

static uint32_t processors(struct arena *a)
{
    struct cpus set;
    uint32_t n = cpus_allowed(a, &set) == 0 ? cpus_count(set) : 0;

    return n ? n : 1;
}

/* The number of the launcher's own request for this node; 0: it has made none. */
static uint32_t request_number(void)
{
    const char *text = getenv(JOIN_REQUEST_VARIABLE);
    uint32_t number = 0;

    return text && slice_u32(slice_str(text), &number) ? number : 0;
}

/* The resource manager's name for this node, where it has been asked for the node by name. */
static const char *own_name(const struct daemon *d, const struct join_request *q)
{
    const char *managers = q->request ? getenv("SLURMD_NODENAME") : NULL;

    return d->words.name ? d->words.name : managers ? managers : d->host;
}

/* What this node asks for.  No program inherits the variables that are for us alone. */
static int make_request(struct daemon *d, struct join_request *q, struct errmsg *err)
{
    const char *name;

    q->request = request_number();
    unsetenv(JOIN_REQUEST_VARIABLE);
    name = own_name(d, q);
    if (!join_request_is_name(slice_str(name)))
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "'%.200s' cannot be the name of a node; give another one by --name",
                          name);
    snprintf(q->name, sizeof q->name, "%s", name);
    q->slots = d->words.slots ? d->words.slots : processors(&d->arena);
    return 0;
}

/* ---- a launcher that is lost ----------------------------------------------------------------- */

static void hold_free(struct daemon_hold *h)
{
    free(h->file);
    free(h->known);
    free(h->name);
    secret_free(h->token, BOOTSTRAP_KEY);
    *h = (struct daemon_hold){ NULL };
}

/* False: no memory. */
static bool remember(const struct daemon *d, struct daemon_hold *h)
{
    const char *file = bootstrap_option(&d->boot, "keep-file");
    const char *bound = bootstrap_option(&d->boot, "keep");

    h->file = file ? strdup(file) : NULL;
    h->known = strdup(d->boot.addresses);
    h->name = strdup(d->name);
    h->token = secret_new(BOOTSTRAP_KEY);
    if (h->token)
        memcpy(h->token, d->boot.token, BOOTSTRAP_KEY);
    return h->known && h->name && h->token && (h->file || !file) && bound &&
           slice_u32(slice_str(bound), &h->bound_s);
}

/* The processes that are held live. */
static bool end_others(const struct daemon *d)
{
    size_t n;
    pid_t *held = dvm_execs_held(&d->dvm_execs, &n);

    if (held)
        child_end_except(held, n);
    free(held);
    return held != NULL;
}

static void close_node(struct daemon *d)
{
    hardware_look_close(&d->hardware);
    child_daemons_close(&d->child_daemons);
    cluster_io_close(&d->cluster);
    d->node = node_free(d->node);
    bootstrap_wipe(&d->boot);
    bootstrap_overlay_free(&d->known);
    arena_free(&d->arena);
}

/* As at the beginning, but for what is held. */
static bool part(struct daemon *d, struct daemon_hold *h)
{
    size_t n;

    if (!remember(d, h))
        return false;
    d->again = true;
    dvm_execs_hold(&d->dvm_execs);
    free(dvm_execs_held(&d->dvm_execs, &n));
    log_warn(&d->people,
             "node %s: the launcher is lost (%.300s): %zu program%s of launchers go%s on; waiting "
             "%u s for another launcher",
             h->name, d->cluster.why, n, n == 1 ? "" : "s", n == 1 ? "es" : "", h->bound_s);
    close_node(d);
    d->arena = (struct arena){ .max = 1u << 30 };
    d->log = d->people;
    memset(&d->cluster, 0, sizeof d->cluster);
    memset(&d->child_daemons, 0, sizeof d->child_daemons);
    return end_others(d);
}

/* The way by which the launcher was reached works, whatever it takes for its own addresses. */
static int add_reached(struct daemon *d)
{
    d->boot.addresses = arena_printf(&d->arena, "%s %s", d->reached, d->boot.addresses);
    return d->boot.addresses ? 0 : -ENOMEM;
}

static int take_record(struct daemon *d, struct slice text, struct errmsg *err)
{
    int rc = bootstrap_read(&d->boot, &d->arena, text, err);

    return rc == 0 ? add_reached(d) : rc;
}

static int ask_for_record(struct daemon *d, struct errmsg *err)
{
    struct buf text = BUF_NULL(LIMIT_BOOTSTRAP_RECORD);
    struct join_request request = { .slots = 0 };
    const struct joining_config config = { .log = &d->people,
                                           .where = d->words.join,
                                           .token_file = d->words.token,
                                           .request = &request,
                                           .timeout_s = d->words.timeout_s };
    int rc = make_request(d, &request, err);

    text.secret = true;
    if (rc == 0)
        rc = joining_ask(&config, &text, d->reached, err);
    if (rc == 0)
        rc = take_record(d, buf_slice(&text), err);
    buf_free(&text);
    return rc;
}

static int read_record(struct daemon *d, const char *file, struct errmsg *err)
{
    struct buf text = BUF_NULL(LIMIT_BOOTSTRAP_RECORD);
    int fd = file ? open_record(file, err) : d->input, rc;

    text.secret = true;
    if (fd < 0)
        return fd;
    rc = read_input(fd, &text);
    if (rc < 0)
        rc = no_record(rc, err);
    if (rc == 0)
        rc = bootstrap_read(&d->boot, &d->arena, buf_slice(&text), err);
    buf_free(&text);
    if (fd != STDIN_FILENO)
        close(fd);
    return rc;
}

/* When one command starts all daemons: finds us by the resource manager's name for this node, or by
 * our host name. */
static int find_self(struct daemon *d, struct errmsg *err)
{
    const char *names[] = { getenv("SLURMD_NODENAME"), d->host, NULL };

    if (d->boot.position == BOOTSTRAP_BY_NAME &&
        !bootstrap_find(&d->boot, names, 2, &d->boot.position))
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "the name of this node is %s, and no node of the job has this name",
                          names[0] ? names[0] : d->host);
    d->name = d->host;
    for (uint32_t i = 0; i < d->boot.nnodes; i++) {
        if (d->boot.nodes[i].position == d->boot.position)
            d->name = d->boot.nodes[i].name;
    }
    if (d->boot.parent >= d->boot.count || d->boot.position == d->boot.parent)
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "the record from the launcher is damaged (the position)");
    return 0;
}

/* Nothing in Wireup depends on the clock except time stamps. */
static void check_clock(struct daemon *d)
{
    uint64_t now = clock_wall_ns() / NS_PER_MS, then = d->boot.wall_ms;
    uint64_t off = now > then ? now - then : then - now;
    char text[200];

    if (then == 0 || off < LIMIT_CLOCK_OFF_MS)
        return;
    snprintf(
        text, sizeof text,
        "its clock is %llu s %s that of the node that started it; times in traces will be wrong",
        (unsigned long long)(off / 1000), now > then ? "ahead of" : "behind");
    answer(d, BOOTSTRAP_REMARK, text);
}

/* ---- daemons below ---- */

static void on_child_failed(void *arg, uint32_t position, const struct errmsg *why)
{
    send_error(arg, position, LAUNCH_ERROR_FAILED, why->text);
}

static void on_child_remark(void *arg, const char *node, struct slice line)
{
    char text[ERRMSG_MAX];

    snprintf(text, sizeof text, "%s: " SLICE_FMT, node, SLICE_ARG(line));
    send_error(arg, UINT32_MAX, LAUNCH_ERROR_REMARK, text);
}

static int open_child_daemons(struct daemon *d, struct errmsg *err)
{
    struct child_daemons_config c = { .loop = node_loop(d->node),
                                      .boot = &d->boot,
                                      .me = d->boot.position,
                                      .overlay = &d->cluster.overlay_io.member.overlay,
                                      .envp = environ,
                                      .daemons = &d->cluster.daemons,
                                      .calls = { .on_failed = on_child_failed,
                                                 .on_remark = on_child_remark },
                                      .arg = d };
    struct buf ours = BUF_NULL(65536);
    int rc;

    rc = agent_spec_get(&c.spec, &d->boot, err);
    if (rc == 0)
        rc = router_io_addresses(&d->cluster.router_io, &ours, err);
    c.addresses = buf_cstr(&ours);
    if (rc == 0)
        rc = c.addresses ? child_daemons_open(&d->child_daemons, &c, err) : -ENOMEM;
    buf_free(&ours);
    return rc;
}

/* While our link comes up: each level of the tree would wait two round trips for it.  What those
 * below say meanwhile, and an error, goes up when there is a way. */
static void start_child_daemons(struct daemon *d)
{
    struct errmsg err = { "" };

    if (child_daemons_wanted(&d->boot, d->boot.position) && open_child_daemons(d, &err))
        send_error(d, d->boot.position, LAUNCH_ERROR_FAILED, err.text);
}

/* A node that joins below us. */
static int start_one(struct daemon *d, const struct bootstrap_node *node, struct errmsg *err)
{
    struct bootstrap *b = &d->boot;
    struct bootstrap_node *more = arena_array(&d->arena, (size_t)b->nnodes + 1, sizeof *more);
    int rc = child_daemons_is_open(&d->child_daemons) ? 0 : open_child_daemons(d, err);

    if (rc)
        return rc;
    if (!more)
        return errmsg_set(err, -ENOMEM, "out of memory for another daemon");
    if (b->nnodes)
        memcpy(more, b->nodes, b->nnodes * sizeof *more);
    more[b->nnodes] = *node;
    b->nodes = more;
    b->nnodes++;
    return child_daemons_add(&d->child_daemons, node, 1, err);
}

static void on_grow(void *arg, const struct bootstrap_node *joins)
{
    struct daemon *d = arg;
    struct errmsg err = { "out of memory for another daemon" };
    struct bootstrap_node node = *joins;

    node.name = arena_str(&d->arena, slice_str(joins->name));
    if (joins->user)
        node.user = arena_str(&d->arena, slice_str(joins->user));
    if (!arena_ok(&d->arena) || start_one(d, &node, &err))
        send_error(d, node.position, LAUNCH_ERROR_FAILED, err.text);
}

/* ---- router ---- */

/* Ranks are placed by it. */
static void send_hardware(void *arg, struct slice view, const char *why_not)
{
    struct daemon *d = arg;
    struct msg m = { .kind = MSG_hardware, .to = 0 };

    m.u.hardware.view = view;
    m.u.hardware.text = slice_str(why_not);
    router_send(&d->cluster.router, &m);
}

static void on_near(void *arg, uint32_t position)
{
    struct daemon *d = arg;

    child_daemons_up(&d->child_daemons, position);
}

static void on_joined(void *arg)
{
    struct daemon *d = arg;

    d->cluster.outlives = d->boot.token != NULL;
    if (d->by_hand) /* otherwise the parent sees the link itself */
        answer(d, BOOTSTRAP_READY, "");
    if (bootstrap_option(&d->boot, "hardware")) /* the launcher wants it */
        hardware_look_begin(&d->hardware, node_loop(d->node), send_hardware, d);
    dvm_execs_report(&d->dvm_execs);
}

static void on_lost(void *arg, uint32_t position, const char *why)
{
    struct daemon *d = arg;
    struct errmsg how;
    char text[ERRMSG_MAX];

    if (d->child_daemons.agent && remote_exec_how_ended(d->child_daemons.agent, position, &how))
        snprintf(text, sizeof text, "%.500s; %.400s", why, how.text);
    else
        snprintf(text, sizeof text, "%.900s", why);
    send_error(d, position, LAUNCH_ERROR_LOST, text);
}

/* ---- start and end ---- */

static void on_reaped(void *arg, pid_t pid, int status)
{
    struct daemon *d = arg;

    if (!dvm_exec_reaped(&d->dvm_execs, pid, status))
        child_daemons_reaped(&d->child_daemons, pid, status);
}

/* The launcher's choice; the same on all nodes. */
static enum overlay_schedule schedule_of(const struct bootstrap *b)
{
    const char *word = bootstrap_option(b, "collective");
    enum overlay_schedule schedule = OVERLAY_AUTO;

    if (word)
        overlay_schedule_named(slice_str(word), &schedule);
    return schedule;
}

/* Our parent, and the daemons above it for when it is lost. */
static int look_up(struct daemon *d, struct overlay_io_config *w)
{
    const struct bootstrap *b = &d->boot;
    struct bootstrap_above *above = arena_array(&d->arena, (size_t)b->nabove + 1, sizeof *above);

    if (!above)
        return -ENOMEM;
    above[0] = (struct bootstrap_above){ b->parent, b->addresses };
    for (uint32_t i = 0; i < b->nabove; i++)
        above[i + 1] = b->above[i];
    *w = (struct overlay_io_config){ .schedule = schedule_of(b),
                                     .above = above,
                                     .nabove = b->nabove + 1 };
    if (d->known.given) {
        w->members = &d->known.members;
        w->lost = &d->known.lost;
        w->last_broadcast = d->known.last_broadcast;
    }
    return 0;
}

static int join(struct daemon *d, struct errmsg *err)
{
    struct router_io_config c = { .router = { .log = &d->log,
                                              .me = d->boot.position,
                                              .count = d->boot.count,
                                              .width = d->boot.width,
                                              .host = d->host },
                                  .loop = node_loop(d->node),
                                  .key = d->boot.key,
                                  .interface = d->boot.interface,
                                  .port_low = (uint16_t)d->boot.port_low,
                                  .port_high = (uint16_t)d->boot.port_high,
                                  .members = d->known.members.count };
    struct overlay_io_config w;
    int rc = look_up(d, &w);
    if (rc == 0)
        rc = cluster_io_open(&d->cluster, d->node, &c, &w, d->pipe_ends, err);

    if (rc)
        return rc;
    d->cluster.calls = (struct cluster_io_calls){
        .on_near = on_near, .on_joined = on_joined, .on_lost = on_lost, .on_grow = on_grow
    };
    d->cluster.arg = d;
    d->cluster.outlives = d->boot.token && d->again; /* else from its link on */
    dvm_execs_open(&d->dvm_execs, &d->cluster);
    d->cluster.dvm_execs = &d->dvm_execs;
    d->cluster.child_daemons = &d->child_daemons;
    node_share(d->node, &d->cluster);
    rc = router_io_join(&d->cluster.router_io, d->boot.parent, slice_str(d->boot.addresses), err);
    if (rc == 0)
        start_child_daemons(d);
    node_listen_soon(d->node); /* while the link comes up */
    return rc;
}

static int open_node(struct daemon *d, struct errmsg *err)
{
    struct node_config c = { .log = d->log,
                             .name = d->name,
                             .control_fd = d->control_fd,
                             .diverted = true,
                             .listens_late = true,
                             .sessions = &d->sessions,
                             .reaped = on_reaped,
                             .arg = d };
    int rc;

    for (int i = 0; i < STREAM_KINDS; i++)
        d->pipe_ends[i] = -1;
    rc = streams_divert(d->pipe_ends);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot make pipes: %s", err_text(rc));
    child_raise_nofile();
    d->node = node_new(&c, err);
    if (!d->node)
        return -EIO;
    d->log = *node_log(d->node);
    return 0;
}

/* Waits for its job, and has the node open when the record comes. */
static int await_job(struct daemon *d, struct errmsg *err)
{
    char byte;
    ssize_t n;

    daemon_link_prepare();
    do
        n = read(STDIN_FILENO, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return no_record(n < 0 ? -errno : -ENODATA, err);
    d->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (d->input < 0)
        return no_record(-errno, err);
    d->name = d->host;
    return open_node(d, err);
}

/* With a record. */
static int begin(struct daemon *d, struct errmsg *err)
{
    int rc = find_self(d, err);

    if (rc == 0)
        rc = bootstrap_overlay_get(&d->boot, &d->known, err);
    if (rc)
        return rc;
    check_clock(d);
    rc = d->node ? 0 : open_node(d, err);
    if (rc)
        return rc;
    node_rename(d->node, d->name);
    return join(d, err);
}

static int start(struct daemon *d, struct errmsg *err)
{
    int rc = d->waits ? await_job(d, err) : 0;

    if (rc == 0)
        rc = d->words.join ? ask_for_record(d, err) : read_record(d, d->words.record, err);
    return rc == 0 ? begin(d, err) : rc;
}

static bool is_asked_to_end(int control_fd)
{
    unsigned char signals[64];
    ssize_t n = read(control_fd, signals, sizeof signals);
    bool ends = n == 0;

    for (ssize_t i = 0; i < n; i++)
        ends |= phase_is_end(signals[i]);
    return ends;
}

/* The record of the next launcher. */
static int ask_again(struct daemon *d, const struct daemon_hold *h, struct errmsg *err)
{
    struct buf text = BUF_NULL(LIMIT_BOOTSTRAP_RECORD);
    struct join_request request = { .slots = processors(&d->arena) };
    const struct joining_config config = { .log = &d->people,
                                           .where = h->file ? h->file : h->known,
                                           .known = h->known,
                                           .key = h->token,
                                           .request = &request,
                                           .timeout_s = h->bound_s,
                                           .ends = is_asked_to_end,
                                           .control_fd = d->control_fd };
    int rc;

    snprintf(request.name, sizeof request.name, "%s", h->name);
    text.secret = true;
    rc = joining_ask(&config, &text, d->reached, err);
    if (rc == 0)
        rc = take_record(d, buf_slice(&text), err);
    buf_free(&text);
    return rc;
}

/* True: another launcher has taken over. */
static bool join_again(struct daemon *d)
{
    struct daemon_hold h = { NULL };
    struct errmsg err = { "out of memory" };
    bool good = part(d, &h) && ask_again(d, &h, &err) == 0 && begin(d, &err) == 0;

    if (!good) {
        log_error(&d->people, "node %s: %s: it ends, and so does what runs on it",
                  h.name ? h.name : d->host, err.text);
        d->code = 1;
    }
    hold_free(&h);
    return good;
}

static void serve(struct daemon *d)
{
    do {
        d->code = node_run(d->node);
    } while (d->cluster.own == OWN_STATE_HOLDING && join_again(d));
    if (d->cluster.dismissed)
        d->code = 0;
    if (d->node && !own_state_has_joined(d->cluster.own) && d->cluster.why[0])
        answer(d, BOOTSTRAP_TROUBLE, d->cluster.why);
}

static void finish(struct daemon *d)
{
    dvm_execs_close(&d->dvm_execs);
    close_node(d);
    supervisor_finish();
}

/* Runs in the supervisor, which knows no position. */
static void send_killed(void *arg, const char *sentence)
{
    struct daemon *d = arg;

    session_dir_remove(&d->sessions);
    answer(d, BOOTSTRAP_TROUBLE, sentence);
}

static int usage(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts("wireupd " WIREUP_VERSION);
        return 0;
    }
    fputs("wireupd is Wireup's daemon on a node of a job.  wireup starts it, and gives it a record "
          "on\n"
          "standard input or, by --record FILE, in a file; or it joins a launcher:\n"
          "wireupd --join [ADDRESS|FILE] [--token-file FILE] [--name NAME] [--slots N] [--timeout "
          "S]\n"
          "See wireupd(1).\n",
          argc == 2 && !strcmp(argv[1], "--help") ? stdout : stderr);
    return argc == 2 && !strcmp(argv[1], "--help") ? 0 : 2;
}

/* --join may stand alone: then the environment has the address. */
static bool read_join(int argc, char **argv, int *at, struct daemon_words *w)
{
    bool given = *at + 1 < argc && strncmp(argv[*at + 1], "--", 2) != 0;

    w->join = given ? argv[++*at] : getenv(JOIN_ADDRESS_VARIABLE);
    return w->join && *w->join;
}

static bool read_number(const char *text, uint32_t most, uint32_t *value_p)
{
    return slice_u32(slice_str(text), value_p) && *value_p > 0 && *value_p <= most;
}

/* An option that has a value. */
static bool read_option(const char *name, const char *value, struct daemon_words *w)
{
    if (!strcmp(name, "--record"))
        w->record = value;
    else if (!strcmp(name, "--token-file"))
        w->token = value;
    else if (!strcmp(name, "--name"))
        w->name = value;
    else if (!strcmp(name, "--slots"))
        return read_number(value, JOIN_REQUEST_SLOTS, &w->slots);
    else if (!strcmp(name, "--timeout"))
        return read_number(value, UINT32_MAX, &w->timeout_s);
    else
        return false;
    return true;
}

static bool read_words(int argc, char **argv, struct daemon_words *w)
{
    bool good = true;

    for (int i = 1; i < argc && good; i++) {
        if (!strcmp(argv[i], "--join"))
            good = read_join(argc, argv, &i, w);
        else if (i + 1 < argc)
            good = read_option(argv[i], argv[i + 1], w), i++;
        else
            good = false;
    }
    if (w->join)
        return good && !w->record;
    return good && !w->token && !w->name && !w->slots && !w->timeout_s;
}

int main(int argc, char **argv)
{
    struct daemon d = { .log = { STDERR_FILENO, LOG_WARN, "wireupd", NULL },
                        .arena = { .max = 1u << 30 } };
    bool good = read_words(argc, argv, &d.words);
    struct errmsg err = { "" };
    int rc;

    if (privilege_check(&err) < 0) {
        log_error(&d.log, "%s", err.text);
        return 1;
    }
    if (staging_child_main(argc, argv, &d.code))
        return d.code;
    if (!good || (!d.words.record && !d.words.join && isatty(STDIN_FILENO)))
        return usage(argc, argv);
    d.by_hand = d.words.record || d.words.join;
    d.waits = getenv(BOOTSTRAP_WAITS_VARIABLE) && !d.by_hand;
    unsetenv(BOOTSTRAP_WAITS_VARIABLE);
    supervisor_tidy();
    if (gethostname(d.host, sizeof d.host - 1) < 0 || !d.host[0])
        snprintf(d.host, sizeof d.host, "localhost");
    d.answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    d.people = (struct log){ fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), LOG_WARN, "wireupd", NULL };
    answer(&d, BOOTSTRAP_STARTED, "");
    session_dir_name(&d.sessions, tool_files_dir(NULL, "TMPDIR"));
    rc = supervisor_split(&d.log, send_killed, &d, &d.control_fd);
    if (rc < 0) {
        errmsg_set(&err, rc, "the daemon cannot start its second process: %s",
                   err_text_of_start(rc));
        answer(&d, BOOTSTRAP_TROUBLE, err.text);
        return 1;
    }
    if (start(&d, &err)) {
        answer(&d, BOOTSTRAP_TROUBLE, err.text);
        d.code = 1;
    } else {
        serve(&d);
    }
    finish(&d);
    return d.code;
}
