/* process.c - see process.h.  Reading order: descriptors, start; then the end. */
#include "daemon/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/spawn.h"
#include "daemon/path_search.h"
#include "daemon/output.h"
#include "daemon/output_format.h"
#include "daemon/cluster_io.h"
#include "daemon/listener.h"
#include "daemon/local_job.h"
#include "daemon/prefork.h"
#include "daemon/process_env.h"
#include "daemon/staging.h"
#include "daemon/startup_timing.h"
#include "io/child.h"
#include "server/iof_xml.h"

enum { OWN_ENDS_FROM = 64, LOADER_CODE = 127, WALK_ROOM = 64 << 20 };

/* Values as in PMIx. */
enum { CHANNEL_OUT = 2, CHANNEL_ERR = 4 };

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Both ends of every descriptor that a child is given; index 0 is ours. */
struct wires {
    int in[2], out[2], err[2], pmi[2];
};

#define WIRES_NONE ((struct wires){ { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } })

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_side(struct wires *w, int side)
{
    close_one(&w->in[side]);
    close_one(&w->out[side]);
    close_one(&w->err[side]);
    close_one(&w->pmi[side]);
}

/* (Who is started again does not: the input is read already.) */
static bool gets_stdin(const struct processes *p, const struct job *job, uint32_t rank)
{
    if (job->id != p->config.jobs->first || job->procs[rank].restarts)
        return false;
    return p->config.context->config->stdin_to == NODE_STDIN_ALL ||
           (p->config.context->config->stdin_to == NODE_STDIN_ONE &&
            rank == p->config.context->config->stdin_rank);
}

/* Our ends are moved to high numbers, so that the child's are always the same few low numbers, and
 * the table that a child has to copy (io/child.c) does not grow. */
static void move_away(int *fd)
{
    int high = *fd < 0 ? -1 : fcntl(*fd, F_DUPFD_CLOEXEC, OWN_ENDS_FROM);

    if (high < 0) /* or the limit is lower: then it keeps its number */
        return;
    close(*fd);
    *fd = high;
}

static int open_wires(const struct processes *p, const struct job *job, uint32_t rank,
                      struct wires *w)
{
    int flip[2];

    if (gets_stdin(p, job, rank) || local_job_is_fed(p->config.jobs, job, rank)) {
        if (pipe2(flip, O_CLOEXEC) < 0)
            return -errno;
        w->in[0] = flip[1];
        w->in[1] = flip[0];
        if (fcntl(w->in[0], F_SETFL, O_NONBLOCK) < 0)
            return -errno;
    }
    if (pipe2(w->out, O_CLOEXEC) < 0 || pipe2(w->err, O_CLOEXEC) < 0)
        return -errno;
    if (!(p->config.context->config->pmi_port && job->id == p->config.jobs->first) &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, w->pmi) < 0)
        return -errno;
    if (w->pmi[0] >= 0 && peer_cred_mark(w->pmi[0]) < 0)
        return -errno;
    move_away(&w->in[0]);
    move_away(&w->out[0]);
    move_away(&w->err[0]);
    move_away(&w->pmi[0]);
    return 0;
}

/* ---- start ----------------------------------------------------------------------------------- */

static bool is_silent(const struct processes *p, uint32_t rank)
{
    return p->config.context->config->one_rank_speaks && rank != p->config.context->config->speaker;
}

static const char *search_path(char *const *env)
{
    for (; env && *env; env++) {
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    }
    return NULL;
}

/* Each of several nodes looks for the program by itself, once. */
static int find_program(const struct node_config *c, struct job *job, struct job_map_app *app,
                        struct errmsg *err)
{
    struct arena *a = &job->plan.arena;
    const char *wdir = app->wdir, *path;
    int rc = 0;

    path = job->plan.staged && !app->looked ? staging_program(c, job, app->argv[0], a) : NULL;
    if (path) {
        app->path = path;
        app->copied = true;
    }
    if (app->path[0] == '/')
        return 0;
    if (wdir && path_search_wdir(a, wdir, &wdir, err) != 0)
        return -EACCES;
    rc = path_search_program(a, app->argv[0], wdir, search_path(app->env), job->plan.path_only,
                             &path, err);
    if (rc == 0)
        app->path = path;
    return rc == PATH_SEARCH_NOT_FOUND ? -ENOENT : rc > 0 ? -EACCES : rc;
}

/* The directory to start in: made here, if it is the session's. */
static int choose_wdir(struct processes *p, const struct job *job, const struct job_map_app *app,
                       const char **wdir_p, struct errmsg *err)
{
    struct session_dir *d = p->config.context->config->sessions;
    int rc;

    *wdir_p = app->wdir;
    if (!(app->flags & JOB_MAP_APP_SESSION))
        return 0;
    if (!d || !d->path[0])
        return errmsg_set(err, -EACCES, "no session directory can be made where TMPDIR points");
    rc = session_dir_make(d, job->id, SESSION_DIR_JOB);
    if (rc < 0)
        return errmsg_set(err, -EACCES, "cannot make the session directory %s: %s", d->path,
                          err_text(rc));
    *wdir_p = job->plan.staged ? staging_dir(p->config.context->config, job, &p->env_arena)
                               : arena_printf(&p->env_arena, "%s/%u", d->path, job->id);
    return *wdir_p ? 0 : -ENOMEM;
}

/* The words of the program.  The first one is the path of a copy, by which Python finds its
 * modules; of an application that wants it, it tells the rank. */
static char **choose_argv(struct processes *p, const struct job_map_app *app, uint32_t rank)
{
    const char *first = app->copied ? app->path : app->argv[0];
    char **argv;

    if (!(app->flags & JOB_MAP_APP_INDEX) && !app->copied)
        return app->argv;
    argv = arena_array(&p->env_arena, (size_t)app->argc + 1, sizeof *argv);
    for (uint32_t i = 1; argv && i <= app->argc; i++)
        argv[i] = app->argv[i];
    if (argv && app->flags & JOB_MAP_APP_INDEX)
        argv[0] = arena_printf(&p->env_arena, "%s-%u", first, rank);
    else if (argv)
        argv[0] = arena_str(&p->env_arena, slice_str(first));
    return argv && argv[0] ? argv : NULL;
}

static bool is_stopped(const struct job *job, uint32_t rank)
{
    return job->plan.procs[rank].stops & job_map_stop_bit(JOB_MAP_STOP_ON_EXEC);
}

/* What the files of its program say, once for all of its processes on this node. */
static int look_at_program(struct processes *p, struct job *job, struct job_map_app *app,
                           struct errmsg *err)
{
    struct arena walk = ARENA_NULL(WALK_ROOM);
    struct elf_object *first = NULL;
    struct errmsg why = { "" };
    int rc;

    if (app->looked)
        return 0;
    elf_cache_trim(&p->files);
    rc = elf_walk(&p->files, app->path, app->env, &pmi_offer_marks, &walk, &first);
    if (rc == -ENOMEM) {
        arena_free(&walk);
        return errmsg_set(err, rc, "out of memory for the libraries that %s loads", app->path);
    }
    if (rc)
        first = NULL;
    if (app->pmi == JOB_MAP_PMI_AUTO)
        app->offer = pmi_offer_choose(&p->files, app, first);
    rc = own_libraries_choose(&p->files, app->path, app->env, first, &job->plan.arena,
                              &app->library_path, &why);
    arena_free(&walk);
    if (rc == OWN_LIBRARIES_REFUSED)
        return errmsg_set(err, -EPERM, "%s", why.text);
    app->looked = rc == 0;
    if (app->library_path)
        log_info(p->config.context->log, "%s takes Wireup's libraries: LD_LIBRARY_PATH=%s",
                 app->path, app->library_path);
    else if (why.text[0])
        log_info(p->config.context->log, "%s", why.text);
    return rc;
}

/* Program, words and directory. */
static int plan_program(struct processes *p, struct job *job, uint32_t rank,
                        struct child_plan *plan, struct errmsg *err)
{
    const struct node_config *c = p->config.context->config;
    struct job_map_app *app = &job->plan.apps[job->plan.procs[rank].app];
    int rc = find_program(c, job, app, err);

    if (rc == 0)
        rc = choose_wdir(p, job, app, &plan->wdir, err);
    if (rc < 0)
        return rc;
    plan->path = app->path;
    plan->argv = choose_argv(p, app, rank);
    rc = look_at_program(p, job, app, err);
    if (rc == 0 && !plan->argv)
        rc = errmsg_set(err, -ENOMEM, "out of memory for the words of rank %u", rank);
    return rc;
}

bool process_load(struct processes *p, struct job *job, uint32_t rank)
{
    struct local_job *w = local_job_of(p->config.jobs, job);
    struct child_plan plan = { .stopped = false };
    struct errmsg ignored;
    bool loading = false;

    /* A program that cannot be started is reported when its rank is tried. */
    if (!w || !prefork_is_wanted(w, rank))
        return false;
    if (plan_program(p, job, rank, &plan, &ignored) == 0 &&
        (plan.env = process_env_common(p, &job->plan.apps[job->plan.procs[rank].app])))
        loading = prefork_load(w, rank, &p->files, &plan);
    arena_free(&p->env_arena);
    return loading;
}

/* Forked, where its program is loaded already. */
static int start_child(struct processes *p, struct job *job, uint32_t rank,
                       const struct child_plan *plan, pid_t *pid_p, struct errmsg *err)
{
    struct local_job *w = local_job_of(p->config.jobs, job);

    if (w && prefork_start(w, rank, plan, pid_p) == 0)
        return 0;
    return child_start(plan, pid_p, err);
}

static int launch(struct processes *p, struct job *job, uint32_t rank, const struct wires *w,
                  pid_t *pid_p, struct errmsg *err)
{
    const struct job_map_proc *proc = &job->plan.procs[rank];
    struct job_map_app *app = &job->plan.apps[proc->app];
    bool silent = is_silent(p, rank);
    const struct child_fd fds[] = {
        { w->in[1] >= 0 ? w->in[1] : p->config.context->null_fd, 0 },
        { silent ? p->config.context->null_fd : w->out[1], 1 },
        { silent                    ? p->config.context->null_fd
          : job->plan.output.merged ? w->out[1]
                                    : w->err[1],
          2 },
        { w->pmi[1], PROCESS_ENV_FD },
    };
    struct child_plan plan = { .fds = fds,
                               .nfds = w->pmi[1] >= 0 ? 4 : 3,
                               .cpus = proc->cpus,
                               .cpus_bytes = proc->cpus_bytes,
                               .stopped = is_stopped(job, rank) };
    char **shell;
    int rc = plan_program(p, job, rank, &plan, err);

    if (rc < 0)
        return rc;
    plan.env = process_env(p, job, rank);
    if (!plan.env)
        return errmsg_set(err, -ENOMEM, "out of memory for the environment of rank %u", rank);
    rc = start_child(p, job, rank, &plan, pid_p, err);
    if (rc != -ENOEXEC)
        return rc;
    if (program_is_foreign(plan.path, err))
        return rc;
    /* A script without a `#!` line: run it by the shell, as shells do. */
    shell = arena_array(&p->env_arena, app->argc + 2, sizeof *shell);
    if (!shell)
        return -ENOMEM;
    shell[0] = arena_str(&p->env_arena, SLICE("/bin/sh"));
    shell[1] = arena_str(&p->env_arena, slice_str(app->path));
    for (uint32_t i = 1; i < app->argc; i++)
        shell[i + 1] = app->argv[i];
    plan.path = shell[0];
    plan.argv = shell;
    return arena_ok(&p->env_arena) ? child_start(&plan, pid_p, err) : -ENOMEM;
}

static const char *label_now(void *arg)
{
    struct task *t = arg;
    const struct processes *p = t->all;
    const char *label = output_ways(p->config.context->config, t->job).label;

    if (buf_len(&t->label) == 0 || output_format_ticks(label)) {
        buf_clear(&t->label);
        output_format_fill(label, t->job, t->rank, (clock_now_ns() - p->started_ns) / NS_PER_S,
                           &t->label);
    }
    return buf_ok(&t->label) ? buf_cstr(&t->label) : "";
}

static void shape_xml(struct source *s, struct slice line, struct buf *out)
{
    const struct task *t = s->arg;
    const struct iof_xml x = { s == &t->out ? "stdout" : "stderr", t->job->nspace, t->rank,
                               t->job->plan.output.timed ? clock_wall_ns() : 0 };

    iof_xml_line(&x, line, out);
}

/* Others may have subscribed.  This has no other effects now, so the answers are written at once.
 */
static bool deliver_output(struct source *s, struct slice bytes)
{
    struct task *t = s->arg;
    uint16_t channel = s == &t->out ? CHANNEL_OUT : CHANNEL_ERR;
    const struct node_context *c = t->all->config.context;
    struct iof_forward *f = c->cluster ? &c->cluster->dispatch.iof : NULL;
    bool subscribed = server_output(c->server, t->job, t->rank, channel, bytes);

    if (f && iof_forward_output(f, t->job, t->rank, channel, bytes))
        subscribed = true;
    s->redirected =
        c->server->output_redirected || (f && iof_forward_redirects(f, t->job, t->rank, channel));
    turn_flush(c->turn);
    return subscribed;
}

/* Fails: who writes there gets EPIPE. */
static void open_output(struct task *t, struct source *s, struct sink *to, int fd, label_fn *label)
{
    int rc = source_open(s, to, fd, label, NULL, t);

    if (rc == 0)
        return;
    log_error(t->all->config.context->log, "the output of rank %u cannot be read: %s", t->rank,
              err_text(rc));
    close(fd);
}

static void open_streams(struct task *t, const struct wires *w)
{
    struct processes *p = t->all;
    struct job_map_output ways = output_ways(p->config.context->config, t->job);
    label_fn *label = ways.label ? label_now : NULL;
    bool prompts = gets_stdin(p, t->job, t->rank);
    /* (A single process can only cut its own lines.) */
    struct output *o = p->config.context->output;
    struct sink *err = t->job->plan.nprocs > 1 ? output_err(o) : &o->err;

    open_output(t, &t->out, output_of(o, ways.outfile, t->job, t->rank, &o->out), w->out[0], label);
    open_output(t, &t->err, output_of(o, ways.errfile, t->job, t->rank, err), w->err[0], label);
    t->out.raw = t->err.raw = ways.raw;
    t->out.shape = t->err.shape = ways.xml ? shape_xml : NULL;
    t->out.prompts = t->err.prompts = prompts;
    t->out.tap = t->err.tap = deliver_output;
    if (!ways.errfile)
        t->err.hold = program_is_unloaded;
}

static struct task *process_new(struct processes *p, struct job *job, uint32_t rank)
{
    struct task *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    list_init(&t->link);
    t->all = p;
    t->job = job;
    t->rank = rank;
    t->out.fd = t->err.fd = t->in.fd = -1;
    buf_init(&t->label, 4096);
    return t;
}

static struct slice pid_key(const pid_t *pid)
{
    return slice_mem(pid, sizeof *pid);
}

/* A piece that others have pushed is taken. */
static void push_taken(void *arg, uint64_t ticket, bool taken)
{
    struct task *t = arg;

    if (!ticket)
        return;
    server_answer(t->all->config.context->server, ticket,
                  &(struct answer){ .status = taken ? ANSWER_OK : ANSWER_NOT_FOUND });
    turn_flush(t->all->config.context->turn);
}

/* The process runs: from here on the node owns everything of it. */
static int adopt(struct task *t, struct wires *w, int *stdin_p)
{
    struct processes *p = t->all;

    list_append(&p->all, &t->link);
    t->job->procs[t->rank].pid = t->pid;
    open_streams(t, w);
    w->out[0] = w->err[0] = -1;
    if (w->in[0] >= 0 && local_job_is_fed(p->config.jobs, t->job, t->rank))
        stdin_push_open(&t->in, p->config.context->loop, w->in[0], push_taken, t);
    else
        *stdin_p = w->in[0];
    w->in[0] = -1;
    if (map_put(&p->by_pid, pid_key(&t->pid), t, NULL) < 0) {
        /* Its end would not be noticed, so we kill it now. */
        kill(-t->pid, SIGKILL);
        waitpid(t->pid, NULL, 0);
        t->ended = true;
        return -ENOMEM;
    }
    if (w->pmi[0] < 0)
        return 0;
    t->conn = peer_conn_open(&p->config.listener->conns, w->pmi[0], t->job, t->rank, true);
    if (!t->conn)
        return -ENOMEM;
    t->conn->owner = t;
    w->pmi[0] = -1;
    return 0;
}

/* For the report, and for the answer to a spawn. */
static int code_of(const struct job *job, uint32_t rank, int rc)
{
    const char *wdir = job->plan.apps[job->plan.procs[rank].app].wdir;

    if (wdir && access(wdir, X_OK) < 0)
        return SPAWN_CODE_NO_DIRECTORY;
    return rc == -ENOENT ? SPAWN_CODE_NO_PROGRAM : SPAWN_CODE_NOT_EXECUTABLE;
}

int process_start(struct processes *p, struct job *job, uint32_t rank, int *stdin_p,
                  struct errmsg *err)
{
    struct wires w = WIRES_NONE;
    struct task *t = process_new(p, job, rank);
    int rc = t ? open_wires(p, job, rank, &w) : -ENOMEM;

    *stdin_p = -1;
    if (rc < 0)
        errmsg_set(err, rc, "rank %u cannot be connected: %s", rank, err_text(rc));
    else
        rc = launch(p, job, rank, &w, &t->pid, err);
    arena_free(&p->env_arena);
    close_side(&w, 1);
    if (rc < 0) {
        int code = code_of(job, rank, rc);

        close_side(&w, 0);
        free(t);
        p->config.calls.cannot_run(p->config.calls.arg, job, rank, code & 0xff, err->text);
        server_proc_state(p->config.context->server, job, rank, PROC_EVENT_NOT_STARTED, code, 0);
        return rc;
    }
    startup_timing_note(p->config.context->timing, job, rank, STARTUP_STARTED);
    log_debug(p->config.context->log, "rank %u of job %s is started: pid %d, %s%s%s", rank,
              job->nspace, (int)t->pid, job->plan.apps[job->plan.procs[rank].app].path,
              job->plan.procs[rank].binding ? ", bound to " : "",
              job->plan.procs[rank].binding ? job->plan.procs[rank].binding : "");
    rc = adopt(t, &w, stdin_p);
    close_side(&w, 0);
    server_proc_state(p->config.context->server, job, rank, PROC_EVENT_STARTED,
                      (int)job->procs[rank].restarts, job->procs[rank].pid);
    if (is_stopped(job, rank))
        server_proc_state(p->config.context->server, job, rank, PROC_EVENT_READY,
                          JOB_MAP_STOP_ON_EXEC, 0);
    if (rc < 0) {
        errmsg_set(err, rc, "out of memory for rank %u", rank);
        p->config.calls.cannot_run(p->config.calls.arg, job, rank, 1, err->text);
        if (t->ended)
            server_proc_state(p->config.context->server, job, rank, PROC_EVENT_DEATH, SIGKILL, 0);
        process_signal(t, SIGKILL);
    }
    return rc;
}

/* The ticket is answered by the last of our processes. */
bool process_input(struct processes *p, const struct job *j, uint32_t rank, struct slice bytes,
                   uint64_t ticket)
{
    struct task *last = NULL;

    LIST_EACH(l, &p->all)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if (t->job != j || (rank != JOB_NO_RANK && t->rank != rank) || !stdin_push_is_open(&t->in))
            continue;
        if (last)
            stdin_push_write(&last->in, bytes, 0);
        last = t;
    }
    if (last)
        stdin_push_write(&last->in, bytes, ticket);
    return last != NULL;
}

/* ---- end ------------------------------------------------------------------------------------- */

void process_signal(struct task *t, int sig)
{
    if (!t->ended)
        kill(-t->pid, sig);
}

/* Or ended by us, between its line and its exit, because another process failed first. */
static bool ended_by_loader(int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL;
    return WEXITSTATUS(status) == LOADER_CODE;
}

/* The loader's line of a process whose program never started: reported once for all ranks. */
static void keep_unloaded(struct task *t)
{
    struct slice line;

    source_catch_up(&t->err);
    line = source_held(&t->err);
    if (!line.len || t->job->procs[t->rank].state != PROC_STATE_RUNNING)
        return;
    t->all->config.calls.unloaded(t->all->config.calls.arg, t->job, t->rank, line);
    source_drop_held(&t->err);
}

static void log_end(const struct task *t, int wait_status)
{
    bool killed = WIFSIGNALED(wait_status);

    log_debug(t->all->config.context->log, "rank %u of job %s has ended: pid %d, %s %d", t->rank,
              t->job->nspace, (int)t->pid, killed ? "signal" : "exit code",
              killed ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status));
}

/* It has failed before it joined the job or asked for anything (PyTorch's processes only use the
 * store), so that no process knows of it, and has not been ended on purpose.  A program that cannot
 * be loaded is not tried again. */
static bool is_to_start_again(struct task *t, int status)
{
    const struct job *job = t->job;
    const struct proc *p = &job->procs[t->rank];

    if (p->restarts >= job->plan.apps[job->plan.procs[t->rank].app].restarts ||
        p->state != PROC_STATE_RUNNING || p->last_word || p->commanded || job->asked_to_end ||
        job->phase != JOB_RUNNING || status == 0)
        return false;
    source_catch_up(&t->err);
    return !ended_by_loader(status) || !source_held(&t->err).len;
}

static void start_again(struct processes *p, struct job *job, uint32_t rank, enum proc_event how,
                        int code)
{
    const struct job_map_app *app = &job->plan.apps[job->plan.procs[rank].app];
    const char *node = job->plan.nodes[job->plan.procs[rank].node].name;
    struct errmsg err;
    int end;

    if (how == PROC_EVENT_HANGUP)
        log_error(p->config.context->log,
                  "rank %u of %s was lost with its node; it is started again on %s (%u of %u)",
                  rank, app->argv[0], node, job->procs[rank].restarts, app->restarts);
    else
        log_error(p->config.context->log,
                  "rank %u of %s on %s %s %d; it is started again (%u of %u)", rank, app->argv[0],
                  node, how == PROC_EVENT_DEATH ? "was killed by signal" : "exited with code", code,
                  job->procs[rank].restarts, app->restarts);
    process_start(p, job, rank, &end, &err); /* a failure is in the job's report */
}

static void start_unjoined(struct task *t, int status)
{
    struct processes *p = t->all;
    struct job *job = t->job;
    uint32_t rank = t->rank;
    bool killed = WIFSIGNALED(status);

    job->procs[rank].restarts++;
    process_close(t);
    start_again(p, job, rank, killed ? PROC_EVENT_DEATH : PROC_EVENT_EXIT,
                killed ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* A child of the process that has ended may still hold its connections. */
static void close_connections(struct processes *p, const struct job *job, uint32_t rank)
{
    LIST_EACH(l, &p->config.listener->conns.accepted)
    {
        struct peer_conn *c = LIST_OF(l, struct peer_conn, link);
        if (c->peer->job == job && c->peer->rank == rank)
            peer_conn_close(c);
    }
}

/* The job has been asked to end since the order came: it stays as it was before. */
static void stay_ended(const struct processes *p, const struct job *job, uint32_t rank,
                       enum proc_event how, int code)
{
    struct server *s = p->config.context->server;
    const struct proc *of = &job->procs[rank];

    server_proc_state(s, job, rank, PROC_EVENT_STARTED, (int)of->restarts, of->pid);
    if (how == PROC_EVENT_HANGUP) /* with its node */
        server_proc_state(s, job, rank, PROC_EVENT_DEATH, SIGKILL, 0);
    else
        server_proc_state(s, job, rank, how, code, 0);
}

void process_restart(struct processes *p, struct job *job, uint32_t rank, enum proc_event how,
                     int code)
{
    LIST_EACH(l, &p->all)
    {
        struct task *t = LIST_OF(l, struct task, link);
        if (t->job == job && t->rank == rank)
            process_close(t);
    }
    close_connections(p, job, rank);
    if (job->asked_to_end)
        stay_ended(p, job, rank, how, code);
    else
        start_again(p, job, rank, how, code);
}

void process_ended(struct task *t, int wait_status)
{
    log_end(t, wait_status);
    t->ended = true;
    map_del(&t->all->by_pid, pid_key(&t->pid));
    if (t->all->config.context->cluster &&
        iof_forward_wanted(&t->all->config.context->cluster->dispatch.iof, t->job, t->rank)) {
        source_catch_up(&t->out); /* before its end is reported */
        source_catch_up(&t->err);
    }
    /* Its last messages (finalize, abort) may still be in a socket: they come before its end. */
    if (t->conn)
        peer_conn_drain(t->conn);
    LIST_EACH(l, &t->all->config.listener->conns.accepted)
    {
        struct peer_conn *c = LIST_OF(l, struct peer_conn, link);
        if (c->peer->job == t->job && c->peer->rank == t->rank)
            peer_conn_drain(c);
    }
    if (is_to_start_again(t, wait_status)) {
        start_unjoined(t, wait_status);
        return;
    }
    startup_timing_note(t->all->config.context->timing, t->job, t->rank, STARTUP_GONE);
    if (ended_by_loader(wait_status))
        keep_unloaded(t);
    source_show_held(&t->err);
    if (WIFSIGNALED(wait_status))
        server_proc_state(t->all->config.context->server, t->job, t->rank, PROC_EVENT_DEATH,
                          WTERMSIG(wait_status), 0);
    else
        server_proc_state(t->all->config.context->server, t->job, t->rank, PROC_EVENT_EXIT,
                          WEXITSTATUS(wait_status), 0);
}

void process_close(struct task *t)
{
    source_close(&t->out);
    source_close(&t->err);
    stdin_push_close(&t->in);
    peer_conn_close(t->conn);
    if (!t->ended)
        map_del(&t->all->by_pid, pid_key(&t->pid));
    list_unlink(&t->link);
    buf_free(&t->label);
    free(t);
}

void processes_end(struct processes *p)
{
    LIST_EACH(l, &p->all)
    process_close(LIST_OF(l, struct task, link));
}

struct task *processes_find(const struct processes *p, pid_t pid)
{
    return map_get(&p->by_pid, pid_key(&pid));
}

void processes_open(struct processes *p, uint64_t seed, const struct processes_config *config)
{
    p->config = *config;
    p->started_ns = clock_now_ns();
    list_init(&p->all);
    map_init(&p->by_pid, seed);
    elf_cache_init(&p->files, seed);
    arena_init(&p->env_arena, 64 << 20);
}

void processes_close(struct processes *p)
{
    processes_end(p);
    map_free(&p->by_pid);
    elf_cache_free(&p->files);
    arena_free(&p->env_arena);
}
