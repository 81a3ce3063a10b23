/* node.c - see node.h.  Reading order: birth; jobs and the starting of their processes; effects;
 * the doors (processes ended, control pipe, PMI_PORT listener, timers); running and ending. */
#include "wireupd/node.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "core/procmap.h"
#include "io/cred.h"
#include "io/holder.h"
#include "topo/plan_bind.h"
#include "wireupd/orders.h"
#include "wireupd/roots.h"
#include "wireupd/share.h"
#include "wireupd/task.h"

/* Processes started in one turn of the loop, so that Ctrl-C and clients are heard meanwhile. */
enum { NODE_START_BATCH = 64 };

enum { NODE_RELISTEN_MS = 100 };

/* The launcher's exit code when a machine cannot do what is asked. */
enum { NODE_REFUSED = 125 };

static void child_door(void *arg);
static void control_door(void *arg);
static void listen_door(void *arg);
static void listen_again(void *arg);
static void out_of_time(void *arg);
static void promise_due(void *arg);
static void start_some(void *arg);
static void skip_rest(struct work *w);
static void maybe_done(void *arg);

/* ---- birth
 * --------------------------------------------------------------------------------------- */

void node_raise_nofile(struct node_config *config)
{
    struct rlimit most;

    if (getrlimit(RLIMIT_NOFILE, &config->nofile) < 0)
        return;
    most = config->nofile;
    most.rlim_cur = most.rlim_max;
    config->raised = setrlimit(RLIMIT_NOFILE, &most) == 0;
}

static int open_child_door(struct node *n)
{
    sigset_t chld;

    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &chld, NULL);
    n->chld_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
    if (n->chld_fd < 0)
        return -errno;
    watch_open(&n->chld, &n->loop, n->chld_fd, child_door, NULL, n);
    return watch_want(&n->chld, LOOP_READ);
}

static int open_listener(struct node *n)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof at;

    n->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (n->listen_fd < 0 || bind(n->listen_fd, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(n->listen_fd, SOMAXCONN) < 0 ||
        getsockname(n->listen_fd, (struct sockaddr *)&at, &len) < 0)
        return -errno;
    n->port = ntohs(at.sin_port);
    watch_open(&n->listener, &n->loop, n->listen_fd, listen_door, NULL, n);
    return watch_want(&n->listener, LOOP_READ);
}

static bool find_by_port_id(void *arg, int64_t id, struct job **job_p, uint32_t *rank_p)
{
    struct node *n = arg;
    struct job *job = core_job(&n->server.core, n->first_job);

    for (uint32_t r = 0; job && n->port_ids && r < job->plan.nprocs; r++) {
        if (n->port_ids[r] == (uint64_t)id) {
            *job_p = job;
            *rank_p = r;
            return true;
        }
    }
    return false;
}

/* The question itself needs a descriptor, and that is a rare one. */
static bool may_join(void *arg, const struct peer *newcomer, const struct job *job, uint32_t rank)
{
    const struct link *l = newcomer->host;
    ino_t socket;

    (void)arg;
    return cred_peer_socket(l->fd, &socket) == 0 && holder_is_below(job->procs[rank].pid, socket);
}

/* Resident, and not shared with others. */
static uint64_t memory_of(int pid)
{
    unsigned long pages = 0, shared = 0;
    char path[64] = "/proc/self/statm";
    FILE *f;

    if (pid)
        snprintf(path, sizeof path, "/proc/%d/statm", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    if (fscanf(f, "%*u %lu %lu", &pages, &shared) != 2 || shared > pages)
        pages = shared = 0;
    fclose(f);
    return (uint64_t)(pages - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t random_seed(void)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = clock_now_ns(); /* hashing only */
    return seed;
}

static bool knows_way(struct slice words)
{
    enum overlay_schedule schedule;

    return overlay_schedule_known(words, &schedule);
}

static int open_doors(struct node *n)
{
    char wdir[PATH_MAX];
    int rc = loop_init(&n->loop);

    if (rc < 0)
        return rc;
    sink_open(&n->out, &n->loop, STDOUT_FILENO, n->scratch);
    sink_open(&n->err, &n->loop, STDERR_FILENO, n->scratch);
    n->one_stream = sink_is_same(STDOUT_FILENO, STDERR_FILENO);
    n->out.on_idle = n->err.on_idle = maybe_done;
    n->out.arg = n->err.arg = n;
    timer_init(&n->timeout, &n->loop, out_of_time, n);
    timer_init(&n->starter, &n->loop, start_some, n);
    timer_init(&n->relisten, &n->loop, listen_again, n);
    timer_init(&n->promises, &n->loop, promise_due, n);
    n->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (n->null_fd < 0)
        return -errno;
    n->spare_fd = fcntl(n->null_fd, F_DUPFD_CLOEXEC, 3);
    if (n->spare_fd < 0)
        return -errno;
    inquests_open(&n->inquests, n);
    desk_open(&n->desk, n);
    n->server.core.has_neighbours = n->desk.fd >= 0;
    n->server.core.has_topology = true;
    n->server.core.memory_of = memory_of;
    n->server.core.knows_way = knows_way;
    if (getcwd(wdir, sizeof wdir))
        n->wdir = strdup(wdir); /* NULL: nobody is told */
    n->server.core.wdir = n->wdir;
    rc = open_child_door(n);
    if (rc == 0)
        rc = open_listener(n);
    if (rc == 0)
        tools_open(&n->tools, n);
    if (rc == 0 && n->config.control_fd >= 0) {
        watch_open(&n->control, &n->loop, n->config.control_fd, control_door, NULL, n);
        rc = watch_want(&n->control, LOOP_READ);
    }
    return rc;
}

struct node *node_new(const struct node_config *config, struct errmsg *err)
{
    struct node *n = calloc(1, sizeof *n);
    int rc;

    if (!n) {
        errmsg_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    n->config = *config;
    n->started_ns = clock_now_ns();
    n->topology = TOPOLOGY_NULL;
    n->tape = TAPE_NULL;
    n->spare_fd = n->null_fd = n->chld_fd = n->listen_fd = -1;
    list_init(&n->tasks);
    list_init(&n->works);
    list_init(&n->files);
    list_init(&n->strangers);
    list_init(&n->roots);
    arena_init(&n->env_arena, 64 << 20);
    arena_init(&n->kept, 16 << 20);
    server_init(&n->server, random_seed(), &n->config.log);
    map_init(&n->by_pid, n->server.core.seed);
    n->server.identify = find_by_port_id;
    n->server.admit = may_join;
    n->server.arg = n;
    n->scratch = malloc(STDIO_CHUNK);
    rc = n->scratch ? open_doors(n) : -ENOMEM;
    if (rc < 0) {
        errmsg_set(err, rc, "cannot open what the launcher needs: %s", err_text(rc));
        return node_free(n);
    }
    if (n->config.trace_file && node_record(n, n->config.trace_file, err) < 0)
        return node_free(n);
    return n;
}

int node_record(struct node *n, const char *file, struct errmsg *err)
{
    return tape_open(&n->tape, &n->server, &n->loop, file, n->config.name, &n->config.log, err);
}

static void close_files(struct node *n)
{
    LIST_EACH(l, &n->files)
    {
        struct file_sink *f = LIST_OF(l, struct file_sink, link);
        sink_close(&f->sink);
        close(f->fd);
        list_unlink(&f->link);
        free(f->name);
        free(f);
    }
}

static void work_free(struct work *w)
{
    timer_stop(&w->grace);
    server_job_remove(&w->node->server, w->job);
    segment_close(&w->store);
    list_unlink(&w->link);
    free(w->codes);
    free(w);
}

static void close_works(struct node *n)
{
    LIST_EACH(l, &n->works)
    work_free(LIST_OF(l, struct work, link));
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

struct node *node_free(struct node *n)
{
    if (!n)
        return NULL;
    pump_close(&n->pump);
    LIST_EACH(l, &n->tasks)
    task_close(LIST_OF(l, struct task, link));
    roots_free(n);
    LIST_EACH(l, &n->strangers)
    link_close(LIST_OF(l, struct link, strange));
    tape_close(&n->tape);
    close_files(n);
    sink_close(&n->out);
    sink_close(&n->err);
    desk_close(&n->desk);
    tools_close(&n->tools);
    inquests_close(&n->inquests);
    watch_close(&n->chld);
    watch_close(&n->control);
    watch_close(&n->listener);
    timer_stop(&n->timeout);
    timer_stop(&n->starter);
    timer_stop(&n->relisten);
    timer_stop(&n->promises);
    close_works(n);
    server_free(&n->server);
    topology_close(&n->topology);
    map_free(&n->by_pid);
    arena_free(&n->env_arena);
    arena_free(&n->kept);
    loop_free(&n->loop);
    close_fd(&n->null_fd);
    close_fd(&n->spare_fd);
    close_fd(&n->chld_fd);
    close_fd(&n->listen_fd);
    free(n->stdin_ends);
    free(n->port_ids);
    free(n->wdir);
    free(n->scratch);
    free(n);
    return NULL;
}

struct sink *node_file(struct node *n, const char *name, struct errmsg *err)
{
    struct file_sink *f;

    LIST_EACH(l, &n->files)
    {
        f = LIST_OF(l, struct file_sink, link);
        if (!strcmp(f->name, name))
            return &f->sink;
    }
    f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        errmsg_set(err, -ENOMEM, "out of memory");
        return NULL;
    }
    f->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->fd < 0) {
        errmsg_set(err, -errno, "cannot write %s: %s; the output goes to the terminal", name,
                   err_text(errno));
        free(f->name);
        free(f);
        return NULL;
    }
    sink_open(&f->sink, &n->loop, f->fd, n->scratch);
    list_append(&n->files, &f->link);
    return &f->sink;
}

/* ---- jobs
 * ---------------------------------------------------------------------------------------- */

struct work *node_work(struct node *n, const struct job *job)
{
    LIST_EACH(l, &n->works)
    {
        struct work *w = LIST_OF(l, struct work, link);
        if (w->job == job)
            return w;
    }
    return NULL;
}

static void grace_over(void *arg);

/* Legacy clients read at most LIMIT_PMI_VALUE bytes; a map that is longer is better unknown. */
static void preset_map(struct node *n, struct job *job)
{
    struct buf text = BUF_NULL(LIMIT_PMI_VALUE - 1);

    procmap_of_plan(&job->plan, &text);
    if (buf_ok(&text))
        server_preset(&n->server, job, SLICE("PMI_process_mapping"), buf_slice(&text));
    buf_free(&text);
}

/* What the user gives comes last, and wins. */
static void preset_all(struct node *n, struct job *job)
{
    char size[24];

    preset_map(n, job);
    snprintf(size, sizeof size, "%lld", (long long)job->plan.universe);
    server_preset(&n->server, job, SLICE("universeSize"), slice_str(size));
    if (n->config.memory_kinds)
        server_preset(&n->server, job, SLICE("PMI_mpi_memory_alloc_kinds"),
                      slice_str(n->config.memory_kinds));
    for (uint32_t i = 0; i < n->config.njob_attrs; i++)
        server_preset(&n->server, job, n->config.job_attrs[i].key, n->config.job_attrs[i].value);
}

static void job_name(const struct node *n, char *name, size_t room)
{
    static const char hex[] = "0123456789abcdef";
    char salt[9] = "";
    uint64_t r = random_seed();

    for (int i = 0; i < 8; i++, r >>= 4)
        salt[i] = hex[r & 15];
    snprintf(name, room, "kvs_%d_%u_%s_%.60s", (int)getpid(), n->server.core.next_job, salt,
             n->config.name);
}

static uint32_t node_here(const uint32_t *positions, uint32_t n, uint32_t me)
{
    for (uint32_t i = 0; i < n; i++) {
        if (positions[i] == me)
            return i;
    }
    return JOB_NONE_HERE;
}

/* The job that an order describes, with its store. */
static struct work *work_new(struct node *n, struct job_order *o)
{
    struct work *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->node = n;
    list_init(&w->link);
    timer_init(&w->grace, &n->loop, grace_over, w);
    if (segment_open(&w->store) == 0) {
        o->region = &w->store.region;
        w->job = server_job_order(&n->server, o);
    }
    if (!w->job) {
        segment_close(&w->store);
        free(w);
        return NULL;
    }
    list_append(&n->works, &w->link);
    return w;
}

/* A job that we decide about. */
static struct work *work_lead(struct node *n, struct plan *plan, const struct job *parent,
                              bool keep_going, struct errmsg *err)
{
    const uint32_t *positions = n->share ? share_places(n->share, plan, err) : NULL;
    struct job_order o = {
        .plan = plan, .parent = JOB_NO_RANK, .keep_going = keep_going, .here = JOB_ALL_HERE
    };
    char name[160];
    struct work *w;

    if (n->share && !positions)
        return NULL;
    if (positions)
        o.here = node_here(positions, plan->nnodes, 0);
    if (parent && parent->is_tool) /* nobody's child: MPI would look for its parent */
        o.is_asked = true;
    else if (parent)
        o.parent = parent->id;
    if (n->given_name)
        snprintf(name, sizeof name, "%.120s", n->given_name);
    else
        job_name(n, name, sizeof name);
    n->given_name = NULL;
    o.nspace = name;
    w = work_new(n, &o);
    if (!w) {
        errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", plan->nprocs);
        return NULL;
    }
    w->positions = positions;
    preset_all(n, w->job);
    return w;
}

/* As other nodes are told it. */
static int64_t push_of(const struct work *w)
{
    switch (w->push_to) {
    case NODE_STDIN_ALL: return -1;
    case NODE_STDIN_ONE: return (int64_t)w->push_rank + 1;
    case NODE_STDIN_NONE: break;
    }
    return 0;
}

/* Everything of the job is known now: the other nodes start their parts. */
static void announce(struct work *w, const struct spawn_request *rq)
{
    if (w->node->share)
        share_announce(w->node->share, w->job, w->positions, push_of(w), rq);
}

/* This machine's hardware; the launcher's own part has been bound with the plan. */
static int bind_here(struct plan *plan, uint32_t here, struct errmsg *err)
{
    struct bind_machine machine = { .looked = false };

    return here < plan->nnodes ? plan_bind(plan, here, &machine, err) : 0;
}

/* This node's hardware has not what the plan says: none of its processes is started. */
static void refuse_part(struct work *w, const struct errmsg *why)
{
    struct node *n = w->node;
    char text[ERRMSG_MAX];

    snprintf(text, sizeof text, "node %.200s: %.700s", n->config.name, why->text);
    share_ask_end(n->share, w->job, JOB_NO_RANK, NODE_REFUSED, text);
    skip_rest(w);
}

struct job *node_follow(struct node *n, struct plan *plan, const struct msg_job *m, uint32_t here,
                        struct errmsg *err)
{
    struct job_order o = { .plan = plan,
                           .parent = m->parent < 0 ? JOB_NO_RANK : (uint32_t)m->parent,
                           .keep_going = m->keep_going != 0,
                           .here = here,
                           .follows = true,
                           .numbered = true,
                           .id = (uint32_t)m->job,
                           .base = (uint32_t)m->base,
                           .is_asked = m->flags & JOB_FLAG_ASKED };
    char name[256];
    struct work *w;

    bool bound = bind_here(plan, here, err) == 0;

    if (m->nspace.len >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(m->nspace));
    o.nspace = name;
    if (list_empty(&n->works) && n->first_job == JOB_NO_RANK) {
        n->first_job = o.id;
        n->stdin_ends = calloc((size_t)plan->nprocs + 1, sizeof *n->stdin_ends);
    }
    w = n->stdin_ends ? work_new(n, &o) : NULL;
    if (!w) {
        errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", plan->nprocs);
        return NULL;
    }
    if (m->push_to < 0)
        w->push_to = NODE_STDIN_ALL;
    else if (m->push_to > 0)
        w->push_to = NODE_STDIN_ONE;
    w->push_rank = m->push_to > 0 ? (uint32_t)(m->push_to - 1) : 0;
    preset_all(n, w->job);
    for (uint32_t i = 0; i + 1 < m->presets.n; i += 2)
        server_preset(&n->server, w->job, m->presets.items[i], m->presets.items[i + 1]);
    if (bound)
        timer_set(&n->starter, 0);
    else
        refuse_part(w, err);
    return w->job;
}

static int make_port_ids(struct node *n, uint32_t count)
{
    n->port_ids = calloc(count ? count : 1, sizeof *n->port_ids);
    if (!n->port_ids)
        return -ENOMEM;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t base;
        if (getrandom(&base, sizeof base, 0) != (ssize_t)sizeof base)
            return -EIO;
        /* Clients read an int.  Distinct by construction when the count is small. */
        n->port_ids[r] = (base & 0x7fffffff) % (0x7fffffff / count) * count + r;
    }
    return 0;
}

int node_start(struct node *n, struct plan *plan, struct errmsg *err)
{
    struct work *w;
    uint32_t count = plan->nprocs;

    if (n->config.pmi_port && make_port_ids(n, count) < 0)
        return errmsg_set(err, -ENOMEM, "out of memory for %u processes", count);
    n->stdin_ends = calloc(count ? count : 1, sizeof *n->stdin_ends);
    if (!n->stdin_ends)
        return errmsg_set(err, -ENOMEM, "out of memory for a job of %u processes", count);
    w = work_lead(n, plan, NULL, n->config.keep_going, err);
    if (!w)
        return -EINVAL;
    n->first_job = w->job->id;
    announce(w, NULL);
    if (n->config.timeout_s)
        timer_set(&n->timeout, n->config.timeout_s * UINT64_C(1000));
    n->running = true;
    return 0;
}

/* Processes on this node that are not ours to start. */
static int plan_of_others(struct node *n, struct plan *p, uint32_t count)
{
    plan_init(p);
    p->napps = p->nnodes = 1;
    p->nprocs = count;
    p->apps = arena_array(&p->arena, 1, sizeof *p->apps);
    p->nodes = arena_array(&p->arena, 1, sizeof *p->nodes);
    p->procs = arena_array(&p->arena, count, sizeof *p->procs);
    if (!arena_ok(&p->arena))
        return -ENOMEM;
    p->apps[0].nprocs = count;
    p->apps[0].env = environ;
    p->nodes[0] = (struct plan_node){ .name = arena_str(&p->arena, slice_str(n->config.name)),
                                      .slots = count,
                                      .nprocs = count };
    for (uint32_t r = 0; r < count; r++)
        p->procs[r] = (struct plan_proc){ .rank = r, .local_rank = r };
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

struct job *node_tool_job(struct node *n, const char *name, uint32_t nprocs)
{
    struct plan plan;
    struct job_order o = { .nspace = name,
                           .plan = &plan,
                           .parent = JOB_NO_RANK,
                           .keep_going = true,
                           .here = JOB_ALL_HERE,
                           .is_tool = true };
    struct work *w = NULL;

    if (plan_of_others(n, &plan, nprocs) == 0)
        w = work_new(n, &o);
    if (!w) {
        plan_free(&plan);
        return NULL;
    }
    w->next = nprocs;
    server_event(&n->server, w->job, nprocs - 1, LIFE_STARTED, 0);
    return w->job;
}

static int connect_loopback(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc;

    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* The job of one process behind this connection; the descriptor is ours from here on. */
static struct peer *adopt_connection(struct node *n, int fd, bool can_pass_fd, int pid,
                                     struct errmsg *err)
{
    struct link *l = calloc(1, sizeof *l);
    struct peer *peer = NULL;
    struct plan plan;

    if (l && plan_of_others(n, &plan, 1) == 0 && node_start(n, &plan, err) == 0) {
        LIST_OF(list_first(&n->works), struct work, link)->next = 1;
        peer =
            server_peer_new(&n->server, core_job(&n->server.core, n->first_job), 0, can_pass_fd, l);
    }
    if (!peer) {
        errmsg_set(err, -ENOMEM, "out of memory for a job of one process");
        close(fd);
        free(l);
        return NULL;
    }
    peer->job->procs[0].pid = pid;
    link_open(l, n, fd, peer, NULL);
    l->lone = true;
    list_append(&n->strangers, &l->strange);
    server_event(&n->server, peer->job, 0, LIFE_STARTED, 0);
    return peer;
}

int node_adopt(struct node *n, uint16_t port, int pid, struct errmsg *err)
{
    int fd = connect_loopback(port);
    struct peer *peer;

    if (fd < 0)
        return errmsg_set(err, fd, "cannot reach the program that waits on port %u: %s", port,
                          err_text(fd));
    peer = adopt_connection(n, fd, false, pid, err);
    if (!peer || server_greet_singleton(&n->server, peer) < 0)
        return -ENOMEM;
    node_settle(n);
    return 0;
}

int node_adopt_fd(struct node *n, int fd, const char *name, int pid, struct errmsg *err)
{
    int type;
    socklen_t len = sizeof type;

    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
        return errmsg_set(err, -errno, "descriptor %d is no connection: %s", fd, err_text(errno));
    n->given_name = name;
    return adopt_connection(n, fd, true, pid, err) ? 0 : -ENOMEM;
}

static void start_pump(struct node *n)
{
    if (n->nstdin_ends)
        pump_open(&n->pump, &n->loop, STDIN_FILENO, n->stdin_ends, n->nstdin_ends);
    n->nstdin_ends = 0;
}

/* The others will not be started either. */
static void skip_rest(struct work *w)
{
    for (; w->next < w->job->plan.nprocs; w->next++) {
        if (job_rank_is_here(w->job, w->next))
            server_event(&w->node->server, w->job, w->next, LIFE_NOT_STARTED, 1);
    }
}

/* Other nodes' processes of a job may still have to be tried. */
static bool all_tried(const struct job *job)
{
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        if (job->procs[r].state == LIFE_PLANNED)
            return false;
    }
    return true;
}

static void answer_spawn(struct node *n, uint64_t ticket, const struct answer *a)
{
    if (!n->share || !share_answer(n->share, ticket, a))
        server_answer(&n->server, ticket, a);
}

/* Everybody of a spawned job has been tried: the process that asked for it may go on. */
static void answer_spawner(struct work *w)
{
    struct job *job = w->job;
    struct answer a = {
        .status = ANSWER_OK, .value = slice_str(job->nspace), .codes = w->codes, .ncodes = w->ncodes
    };

    if (!w->spawned || w->answered || (job->spread && !all_tried(job)))
        return;
    w->answered = true;
    for (uint32_t i = 0; i < w->ncodes && i < job->plan.nprocs; i++) {
        if (job->procs[i].state == LIFE_GONE && job->procs[i].pid == 0) {
            w->codes[i] = -1;
            a.status = ANSWER_FAILED;
        }
    }
    if (a.status == ANSWER_OK)
        a.ncodes = 0; /* all started: nothing to list */
    answer_spawn(w->node, w->ticket, &a);
    if (a.status == ANSWER_OK && job->failed) /* it has, and died meanwhile */
        server_abort_connected(&w->node->server, job);
}

void node_heard(struct node *n, struct job *j)
{
    struct work *w = node_work(n, j);

    if (w)
        answer_spawner(w);
}

/* What the user types goes to ranks of other nodes as well: one end for each of those nodes. */
static void pump_far(struct node *n, const struct job *job)
{
    uint32_t last = 0;

    if (!n->share || n->config.stdin_to == NODE_STDIN_NONE || job->follows)
        return;
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        uint32_t at = share_position(n->share, job, r);
        int end;
        if (at == 0 || at == last ||
            (n->config.stdin_to == NODE_STDIN_ONE && r != n->config.stdin_rank))
            continue;
        last = at;
        end = streams_stdin(&n->share->streams, at);
        if (end >= 0)
            n->stdin_ends[n->nstdin_ends++] = end;
    }
}

/* All of ours have been tried. */
static void all_started(struct work *w)
{
    struct node *n = w->node;

    if (w->job->id == n->first_job) {
        pump_far(n, w->job);
        start_pump(n);
    }
    answer_spawner(w);
}

static void start_one(struct work *w)
{
    struct node *n = w->node;
    struct errmsg err;
    int end;

    if (w->job->phase != JOB_RUNNING) {
        skip_rest(w);
        answer_spawner(w);
        return;
    }
    if (job_rank_is_here(w->job, w->next)) {
        task_start(n, w->job, w->next, &end, &err); /* what fails, the job's report says */
        if (end >= 0)
            n->stdin_ends[n->nstdin_ends++] = end;
    }
    w->next++;
    if (w->next == w->job->plan.nprocs)
        all_started(w);
}

static void start_some(void *arg)
{
    struct node *n = arg;
    int room = NODE_START_BATCH;

    LIST_EACH(l, &n->works)
    {
        struct work *w = LIST_OF(l, struct work, link);
        while (room > 0 && w->next < w->job->plan.nprocs) {
            room -= job_rank_is_here(w->job, w->next);
            start_one(w);
        }
    }
    if (room == 0)
        timer_set(&n->starter, 0);
    node_settle(n);
}

/* ---- effects
 * ------------------------------------------------------------------------------------- */

/* job NULL: all jobs; rank < 0: all ranks. */
static void signal_tasks(struct node *n, const struct job *j, int64_t rank, int sig)
{
    LIST_EACH(l, &n->tasks)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if ((!j || t->job == j) && (rank < 0 || t->rank == rank))
            task_signal(t, sig);
    }
}

static void signal_job(struct node *n, const struct job *job, int sig)
{
    signal_tasks(n, job, -1, sig);
}

static void end_job(struct node *n, struct job *job)
{
    struct work *w = node_work(n, job);

    if (!job->follows) {
        /* Until a spawn is answered, its failure is the answer, and no end of who asked for it. */
        if (!w || !w->spawned || w->answered)
            server_abort_connected(&n->server, job);
        if (n->share)
            share_kill(n->share, job);
    }
    signal_job(n, job, SIGTERM);
    signal_job(n, job, SIGCONT); /* who is stopped has to run to end */
    if (w)
        timer_set(&w->grace, LIMIT_KILL_GRACE_MS);
}

static void grace_over(void *arg)
{
    struct work *w = arg;

    signal_job(w->node, w->job, SIGKILL);
}

static void print_codes(struct node *n, const struct job *job)
{
    for (uint32_t r = 0; r < job->plan.nprocs; r++) {
        const struct proc *p = &job->procs[r];
        log_error(&n->config.log, "rank %u: %s %d", r, p->signalled ? "signal" : "exit code",
                  p->code);
    }
}

/* Several jobs may end for one reason, which is said once; by the job that had it, if it can. */
static void say_reason(struct node *n, const struct errmsg *reason)
{
    if (n->said.text[0] &&
        (strstr(n->said.text, reason->text) || strstr(reason->text, n->said.text)))
        return;
    log_error(&n->config.log, "%s", reason->text);
    n->said = *reason;
}

static void say_why(struct node *n, const struct job *job)
{
    const struct job *blamed =
        job->blames == JOB_NO_RANK ? NULL : core_job(&n->server.core, job->blames);

    if (!blamed || !blamed->failed)
        say_reason(n, &job->reason);
}

static void report_end(struct node *n, const struct job *job)
{
    if (job->follows || job->is_tool) /* the launcher's to say; nobody's */
        return;
    if (job->failed)
        say_why(n, job);
    if (n->config.print_exit_codes)
        print_codes(n, job);
    if (job->id == n->first_job)
        n->exit_code = job_exit_code(job);
}

static void put_presets(struct node *n, struct job *job, const struct spawn_request *rq)
{
    for (uint32_t i = 0; i < rq->npreputs; i++)
        server_preset(&n->server, job, rq->preputs[i].key, rq->preputs[i].value);
}

/* Whose standard input the spawner wants to feed. */
static void choose_fed(struct work *w, const struct spawn_request *rq)
{
    struct slice who = rq->ncommands ? spawn_info(&rq->commands[0], "stdin") : SLICE_NULL;

    if (slice_is(who, "all"))
        w->push_to = NODE_STDIN_ALL;
    else if (slice_u32(who, &w->push_rank))
        w->push_to = NODE_STDIN_ONE;
}

bool node_is_fed(const struct node *n, const struct job *j, uint32_t rank)
{
    const struct work *w = node_work((struct node *)(uintptr_t)n, j);

    return w &&
           (w->push_to == NODE_STDIN_ALL || (w->push_to == NODE_STDIN_ONE && w->push_rank == rank));
}

static bool is_recoverable(const struct spawn_request *rq)
{
    for (uint32_t i = 0; i < rq->ncommands; i++) {
        if (spawn_info(&rq->commands[i], SPAWN_RECOVERABLE).len)
            return true;
    }
    return false;
}

/* 0, or the request is refused with a sentence. */
static int begin_spawn(struct node *n, struct effect *e, struct job *parent, int *codes,
                       uint32_t ncodes, struct errmsg *err)
{
    /* A tool has no nodes and no environment of its own here. */
    const struct job *like = parent->is_tool ? core_first_job(&n->server.core) : parent;
    struct plan plan;
    struct work *w;
    int rc = n->config.plan_spawn && like
                 ? n->config.plan_spawn(n->config.arg, like, e->spawn, &plan, codes, err)
                 : errmsg_set(err, 1, "this launcher cannot start more processes");

    if (rc)
        return rc;
    w = work_lead(n, &plan, parent, n->config.keep_going || is_recoverable(e->spawn), err);
    if (!w) {
        plan_free(&plan);
        return 1;
    }
    choose_fed(w, e->spawn);
    put_presets(n, w->job, e->spawn);
    announce(w, e->spawn);
    w->spawned = true;
    w->ticket = e->ticket;
    w->codes = codes;
    w->ncodes = ncodes;
    timer_set(&n->starter, 0);
    return 0;
}

void node_spawn(struct node *n, struct effect *e)
{
    struct job *parent = core_job(&n->server.core, e->job);
    uint64_t count = spawn_nprocs(e->spawn);
    int *codes = count <= LIMIT_JOB_PROCS ? calloc(count + 1, sizeof *codes) : NULL;
    struct errmsg err = { "too many processes in one spawn request" };

    if (!parent || !codes || begin_spawn(n, e, parent, codes, (uint32_t)count, &err) != 0) {
        struct answer a = { .status = ANSWER_FAILED,
                            .text = slice_str(err.text),
                            .codes = codes,
                            .ncodes = codes ? (uint32_t)count : 0 };
        if (!parent || parent->phase == JOB_RUNNING) /* else it has a worse reason to tell */
            log_error(&n->config.log, "spawn: %s", err.text);
        answer_spawn(n, e->ticket, &a);
        free(codes);
    }
    e->spawn = spawn_free(e->spawn);
}

/* Nothing of the job stays. */
static void forget(struct node *n, struct work *w)
{
    struct job *job = w->job;

    LIST_EACH(l, &n->tasks)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if (t->job == job)
            task_close(t);
    }
    LIST_EACH(l, &n->strangers)
    {
        struct link *stranger = LIST_OF(l, struct link, strange);
        if (stranger->peer->job == job)
            link_close(stranger);
    }
    work_free(w);
}

/* A spawned job leaves nothing behind, so that a thousand of them in a row cost what one does. */
static void bury(struct node *n, struct job *job)
{
    struct work *w = node_work(n, job);

    if (w && job->is_tool) {
        forget(n, w);
        return;
    }
    if (!w || !w->spawned || job->follows)
        return;
    answer_spawner(w);
    report_end(n, job);
    if (n->share)
        share_over(n->share, job);
    forget(n, w);
}

void node_forget(struct node *n, struct job *j)
{
    struct work *w = node_work(n, j);

    if (w)
        forget(n, w);
}

/* PMI_hwloc_xmlfile, the only one that takes time; known to the job from now on. */
static void find_attr(struct node *n, struct job *job, struct effect *e)
{
    struct answer a = { .status = ANSWER_NOT_FOUND };
    struct errmsg err = { "" };
    const char *path = NULL;
    struct slice text = SLICE_NULL;

    if (slice_is(effect_key(e), CORE_TOPOLOGY))
        text = topology_text(&n->topology);
    else
        path = topology_path(&n->topology, &err);
    if (text.len) {
        a = (struct answer){ .status = ANSWER_OK, .value = text };
    } else if (path) {
        a = (struct answer){ .status = ANSWER_OK, .value = slice_str(path) };
        if (job)
            server_preset(&n->server, job, effect_key(e), a.value);
    } else if (err.text[0]) {
        log_warn(&n->config.log, "programs look at the machine by themselves: %s", err.text);
    }
    server_answer(&n->server, e->ticket, &a);
    effect_drop(e);
}

/* Tools do not keep us here. */
static bool all_ended(const struct node *n)
{
    LIST_EACH(l, &n->works)
    {
        const struct job *j = LIST_OF(l, struct work, link)->job;
        if (j->phase != JOB_ENDED && !j->is_tool)
            return false;
    }
    return true;
}

/* Every process we started is reaped.  What they left behind goes too, then their last output. */
static void drain(struct node *n)
{
    bool alone = !n->share || n->unshared;

    n->draining = true;
    pump_close(&n->pump);
    timer_stop(&n->timeout);
    if (alone) /* else what starts daemons is among them */
        child_end_all();
    LIST_EACH(l, &n->tasks)
    task_close(LIST_OF(l, struct task, link));
    LIST_EACH(l, &n->works)
    report_end(n, LIST_OF(l, struct work, link)->job);
    if (!alone)
        share_quit(n->share); /* node_unshared() comes */
    maybe_done(n);
}

void node_unshared(struct node *n)
{
    n->unshared = true;
    child_end_all();
    if (!n->draining)
        drain(n);
    maybe_done(n);
}

/* Output that was lost is no success. */
static void tell_lost(struct node *n, const struct sink *k, const char *name)
{
    if (k->error == 0)
        return;
    log_error(&n->config.log, "cannot write %s: %s; output is lost", name, err_text(k->error));
    n->exit_code = n->exit_code ? n->exit_code : 1;
}

/* A daemon's output goes through its own channels: only when all of it is in there does it stop to
 * write.  (To wait for that here would be to wait for oneself.) */
static void maybe_leave(struct node *n)
{
    if (!n->leaving || !sink_idle(&n->out) || !sink_idle(&n->err))
        return;
    n->leaving = false;
    sink_close(&n->out);
    sink_close(&n->err);
    streams_end(&n->share->streams);
}

static void maybe_done(void *arg)
{
    struct node *n = arg;

    maybe_leave(n);
    if (n->draining && (!n->share || n->unshared) && sink_idle(&n->out) && sink_idle(&n->err) &&
        !n->done) {
        n->done = true;
        tell_lost(n, &n->out, "standard output");
        tell_lost(n, &n->err, "standard error");
        LIST_EACH(l, &n->files)
        {
            struct file_sink *f = LIST_OF(l, struct file_sink, link);
            tell_lost(n, &f->sink, f->name);
        }
        loop_stop(&n->loop);
    }
}

/* Who waits, waits for the last one of ours. */
bool node_input(struct node *n, const struct job *j, uint32_t rank, struct slice bytes,
                uint64_t ticket)
{
    struct task *last = NULL;

    LIST_EACH(l, &n->tasks)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if (t->job != j || (rank != JOB_NO_RANK && t->rank != rank) || !feed_is_open(&t->in))
            continue;
        if (last)
            feed_write(&last->in, bytes, 0);
        last = t;
    }
    if (last)
        feed_write(&last->in, bytes, ticket);
    return last != NULL;
}

static void push_input(struct node *n, struct job *j, struct effect *e)
{
    struct answer a = { .status = j && j->spread ? ANSWER_OK : ANSWER_NOT_FOUND };
    bool ours = j && (e->rank == JOB_NO_RANK || job_rank_is_here(j, e->rank));

    if (j && j->spread && (e->rank == JOB_NO_RANK || !ours))
        share_input(n->share, j, e->rank, effect_value(e));
    if (!ours || !node_input(n, j, e->rank, effect_value(e), e->ticket)) {
        if (e->ticket) /* nobody waits for other nodes */
            server_answer(&n->server, e->ticket, &a);
    }
    effect_drop(e);
}

static void carry_out(struct node *n, struct effect *e)
{
    struct job *job = core_job(&n->server.core, e->job);

    switch (e->kind) {
    case EFFECT_KILL:
        if (job)
            end_job(n, job);
        break;
    case EFFECT_SPAWN:
        if (job && job->follows)
            share_effect(n->share, e);
        else
            node_spawn(n, e);
        break;
    case EFFECT_ATTR: find_attr(n, job, e); break;
    case EFFECT_NAMES:
        if (n->server.core.names_elsewhere)
            share_effect(n->share, e);
        else
            desk_ask(&n->desk, e->ticket, e->names);
        break;
    case EFFECT_JOB_ENDED:
        if (job)
            bury(n, job);
        break;
    case EFFECT_SIGNAL:
    case EFFECT_ROOT:
    case EFFECT_SWEEP:
    case EFFECT_LOG:
    case EFFECT_CREDENTIAL: orders_carry_out(n, e); break;
    case EFFECT_INPUT: push_input(n, job, e); break;
    case EFFECT_TOOL: tools_admit(n, e); break;
    case EFFECT_ANSWER: break;
    default: /* for other nodes */
        if (n->share)
            share_effect(n->share, e);
        else
            effect_drop(e);
        break;
    }
}

/* Sets the timer for what the core has promised to answer by then. */
static void keep_promises(void *arg)
{
    struct node *n = arg;
    uint64_t now = clock_now_ns(), due = server_tick(&n->server, now);

    if (due == UINT64_MAX)
        timer_stop(&n->promises);
    else
        timer_set(&n->promises, (due - now) / NS_PER_MS + 1);
}

static void promise_due(void *arg)
{
    node_settle(arg);
}

void node_flush(struct node *n)
{
    struct peer *p;

    while ((p = server_dirty(&n->server)))
        link_flush(p->host);
}

void node_settle(struct node *n)
{
    struct effect e;

    do {
        while (server_effect(&n->server, &e))
            carry_out(n, &e);
        node_flush(n);
        keep_promises(n);
    } while (n->server.core.effects.count || !list_empty(&n->server.dirty));
    if (n->share)
        share_settle(n->share);
    if (n->running && !n->draining && all_ended(n))
        drain(n);
}

/* ---- doors
 * --------------------------------------------------------------------------------------- */

static void child_door(void *arg)
{
    struct node *n = arg;
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    while (read(n->chld_fd, &info, sizeof info) > 0) {
        /* only the news matters: several ends may share one signal */
    }
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        struct task *t = map_get(&n->by_pid, slice_mem(&pid, sizeof pid));
        if (t)
            task_ended(t, status);
        else if (n->config.reaped) /* … or an orphan of one of ours */
            n->config.reaped(n->config.arg, pid, status);
    }
    node_settle(n);
}

/* Who is missing, to standard error, in one write per line. */
static void print_report(void *arg, struct slice report)
{
    struct node *n = arg;

    while (report.len) {
        struct slice line = slice_cut(&report, '\n');
        log_error(&n->config.log, SLICE_FMT, SLICE_ARG(line));
    }
}

static void begin_report(struct node *n, inquest_fn *done)
{
    tape_flush(&n->tape);
    inquest_begin(&n->inquests, SLICE_NULL, done, n);
}

/* To all processes of all nodes. */
static void signal_all(struct node *n, int sig)
{
    signal_job(n, NULL, sig);
    if (n->share)
        share_signal(n->share, NULL, JOB_NO_RANK, sig, false);
}

void node_signal(struct node *n, int64_t job, int64_t rank, int sig, bool meant)
{
    struct job *j = job < 0 ? NULL : core_job(&n->server.core, (uint32_t)job);

    if ((job >= 0 && !j) || (j && rank >= (int64_t)j->plan.nprocs) || sig <= 0 || sig > SIGRTMAX)
        return;
    if (j && meant)
        server_commanded(&n->server, j, rank < 0 ? JOB_NO_RANK : (uint32_t)rank);
    signal_tasks(n, j, rank, sig);
    if (meant && sig == SIGTERM) /* who is stopped has to run to end */
        signal_tasks(n, j, rank, SIGCONT);
}

static void interrupt(struct node *n, int sig)
{
    struct job *job = core_job(&n->server.core, n->first_job);
    struct work *w = job ? node_work(n, job) : NULL;

    if (++n->interrupts > 1) {
        log_error(&n->config.log, "interrupted again: all processes are killed");
        server_abort(&n->server, job, JOB_NO_RANK, 128 + sig, "the job was interrupted");
        signal_all(n, SIGKILL);
        return;
    }
    if (w && w->next < job->plan.nprocs) { /* who is not started yet could not hear it */
        log_error(&n->config.log, "interrupted while it was starting: the job ends");
        server_abort(&n->server, job, JOB_NO_RANK, 128 + sig, "the job was interrupted");
        return;
    }
    log_error(&n->config.log, "interrupted: asking all processes to end; once more kills them");
    signal_all(n, sig);
}

static void take_signal(struct node *n, int sig)
{
    if (n->share && n->share->cluster.config.me != 0) { /* users signal the launcher */
        if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP)
            node_orphan(n, "");
        return;
    }
    switch (sig) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP: interrupt(n, sig); break;
    case SIGQUIT: begin_report(n, print_report); break;
    case SIGTSTP:
        pump_pause(&n->pump, true);
        signal_all(n, SIGTSTP);
        break;
    case SIGCONT:
        signal_all(n, SIGCONT);
        pump_pause(&n->pump, false);
        break;
    default: signal_all(n, sig); break;
    }
}

/* The guard has gone (kill -9): nobody waits for us any more, and nothing may stay. */
static void guard_lost(struct node *n)
{
    signal_job(n, NULL, SIGKILL);
    child_end_all();
    tape_flush(&n->tape);
    tools_close(&n->tools);
    _exit(1);
}

static void control_door(void *arg)
{
    struct node *n = arg;
    unsigned char signals[64];
    ssize_t got = read(n->config.control_fd, signals, sizeof signals);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0)
        guard_lost(n);
    for (ssize_t i = 0; i < got; i++)
        take_signal(n, signals[i]);
    node_settle(n);
}

static void listen_again(void *arg)
{
    struct node *n = arg;

    watch_want(&n->listener, LOOP_READ);
}

/* Out of descriptors: the oldest of those who have not said who they are has to go.  Without one,
 * nobody is let in for a while: a listener that cannot accept would keep the loop busy. */
static void make_place(struct node *n)
{
    LIST_EACH(l, &n->strangers)
    {
        struct link *stranger = LIST_OF(l, struct link, strange);
        if (!stranger->peer->job) {
            link_close(stranger);
            return;
        }
    }
    watch_want(&n->listener, 0);
    timer_set(&n->relisten, NODE_RELISTEN_MS);
}

/* The question itself needs a descriptor. */
static bool is_ours(struct node *n, int fd)
{
    uid_t uid;
    bool ours;

    close_fd(&n->spare_fd);
    ours = cred_peer_uid(fd, &uid) == 0 && uid == getuid();
    n->spare_fd = fcntl(n->null_fd, F_DUPFD_CLOEXEC, 3);
    return ours;
}

static void listen_door(void *arg)
{
    struct node *n = arg;
    int fd = accept4(n->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct link *l;
    struct peer *peer;

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            make_place(n);
        return;
    }
    if (!is_ours(n, fd)) {
        log_warn(&n->config.log, "refused a connection of another user to the job's port");
        close(fd);
        return;
    }
    l = calloc(1, sizeof *l);
    peer = l ? server_peer_new(&n->server, NULL, 0, false, l) : NULL;
    if (!peer) {
        close(fd);
        free(l);
        return;
    }
    link_open(l, n, fd, peer, NULL);
    list_append(&n->strangers, &l->strange);
}

static void end_late(void *arg, struct slice report)
{
    struct node *n = arg;
    struct job *job = core_job(&n->server.core, n->first_job);

    if (!job || n->draining) /* it has ended meanwhile */
        return;
    print_report(n, report);
    server_abort(&n->server, job, JOB_NO_RANK, 124,
                 "the job did not end within its time limit of %u s", n->config.timeout_s);
    node_settle(n);
}

static void out_of_time(void *arg)
{
    begin_report(arg, end_late);
}

/* ---- other nodes
 * --------------------------------------------------------------------------------- */

void node_share(struct node *n, struct share *s)
{
    n->share = s;
    n->server.core.position = s->cluster.config.me;
    n->server.core.has_others = true;
    n->server.core.names_elsewhere = s->cluster.config.me != 0;
    if (s->cluster.config.me != 0)
        n->first_job = JOB_NO_RANK;
}

/* Kills what there is; the launcher knows of the ends it wants to know of. */
void node_quit(struct node *n)
{
    n->draining = true;
    pump_close(&n->pump);
    timer_stop(&n->starter);
    signal_job(n, NULL, SIGKILL);
    LIST_EACH(l, &n->tasks)
    task_close(LIST_OF(l, struct task, link));
    n->leaving = true;
    maybe_leave(n);
}

void node_gone(struct node *n)
{
    child_end_all();
    loop_stop(&n->loop);
}

static bool has_ranks_at(const struct node *n, const struct job *j, uint32_t position)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (share_position(n->share, j, r) == position && j->procs[r].state != LIFE_GONE)
            return true;
    }
    return false;
}

/* Its processes have gone with it, as far as anybody can say. */
static void lose_ranks(struct node *n, struct job *j, uint32_t position, const char *why)
{
    uint32_t plan_node = share_node_at(n->share, j, position);
    struct errmsg text;

    if (!has_ranks_at(n, j, position))
        return;
    errmsg_set(&text, 0, "node %s is lost: %s", n->share->names[position], why);
    if (j->keep_going) {
        server_blame(&n->server, j, 1, text.text);
        if (j->phase == JOB_RUNNING)
            say_reason(n, &text); /* at the end it is old */
    } else {
        server_abort(&n->server, j, JOB_NO_RANK, 1, "%s", text.text);
    }
    if (plan_node < j->plan.nnodes)
        server_node_down(&n->server, j, plan_node);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (share_position(n->share, j, r) != position || j->procs[r].state == LIFE_GONE)
            continue;
        /* Who could not be started ends every job; here it may as well have been. */
        if (j->procs[r].state == LIFE_PLANNED && j->phase == JOB_RUNNING)
            server_event(&n->server, j, r, LIFE_STARTED, 0);
        server_event(&n->server, j, r,
                     j->procs[r].state == LIFE_PLANNED ? LIFE_NOT_STARTED : LIFE_DEATH, SIGKILL);
    }
    node_heard(n, j);
}

void node_lost(struct node *n, uint32_t position, const char *why)
{
    if (n->draining) {     /* what it still had to show is lost with it */
        if (!n->lost_late) /* nor who was below it */
            log_error(&n->config.log,
                      "node %s is lost at the end of the job, and output with it: %s",
                      n->share->names[position], why);
        n->lost_late = true;
        n->exit_code = n->exit_code ? n->exit_code : 1;
        return;
    }
    LIST_EACH(l, &n->works)
    {
        struct work *w = LIST_OF(l, struct work, link);
        if (w->job->phase != JOB_ENDED && !w->job->is_tool)
            lose_ranks(n, w->job, position, why);
    }
}

void node_orphan(struct node *n, const char *why)
{
    (void)why; /* nobody is left to be told */
    signal_job(n, NULL, SIGKILL);
    child_end_all();
    n->exit_code = 1;
    loop_stop(&n->loop);
}

/* ---- running
 * --------------------------------------------------------------------------------------- */

struct loop *node_loop(struct node *n)
{
    return &n->loop;
}

void node_begin(struct node *n)
{
    timer_set(&n->starter, 0);
}

void node_give_up(struct node *n, int exit_code)
{
    n->exit_code = exit_code;
    if (n->share)
        share_quit(n->share);
    else
        loop_stop(&n->loop);
}

int node_run(struct node *n)
{
    timer_set(&n->starter, 0);
    if (loop_run(&n->loop) < 0) {
        log_error(&n->config.log, "the event loop failed; all processes are killed");
        signal_job(n, NULL, SIGKILL);
        child_end_all();
        return 1;
    }
    return n->exit_code;
}
