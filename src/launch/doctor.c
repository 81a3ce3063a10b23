/* doctor.c - see doctor.h.  Reading order: the nodes; our addresses; one node's command; all of
 * them; the command.
 *
 * Each node runs probe.h by the launch method, all at the same time.  What it says is read line by
 * line; its clock is asked for when it has errors all, so that the answer takes one round trip.
 */
#include "launch/doctor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/limit.h"
#include "daemon/launch_methods.h"
#include "daemon/path_search.h"
#include "io/addresses.h"
#include "io/child.h"
#include "launch/allocation.h"
#include "launch/hosts.h"
#include "launch/localhost.h"
#include "launch/probe.h"

extern char **environ;

enum {
    ASK_PATIENCE_S = 30,
    ASK_LINE_MAX = 64 << 10,
    ASK_ERRORS_MAX = 4096,
    ROUTE_ADDRESSES = 8,
    CLOCK_BAD_MS = 1000
};

/* ---- the nodes ------------------------------------------------------------------------------- */

/* A machine that is asked. */
struct patient {
    const struct host *host;
    bool here;
    pid_t pid;
    int in, out, err; /* -1: closed */
    struct buf line, errors;
    bool answered, ready; /* it has written a line; all of them */
    uint64_t begun_ns, first_ns, asked_wall_ns, asked_ns;
};

struct asking {
    const struct doctor_wish *wish;
    const struct log *log;
    struct doctor_report *report;
    struct arena arena;
    struct host_list hosts;
    struct agent_spec spec;
    struct localhost machine;
    struct patient *patients;
    uint32_t n, begun, running;
    char self[PATH_MAX];
    struct buf route;
    const char *program; /* absolute if it names a directory */
    int listener;
};

static int read_file(void *arg, const char *path, struct buf *out)
{
    (void)arg;
    return localhost_read_file(path, out);
}

static int run_program(void *arg, const char *const *argv, struct buf *out)
{
    (void)arg;
    return localhost_run(argv, environ, out, LIMIT_CONTROL_REPLY_MS);
}

static int read_hostfile(struct asking *k, const char *path, struct errmsg *err)
{
    struct buf text = BUF_NULL(16 << 20);
    int rc = localhost_read_file(path, &text);

    if (rc < 0)
        errmsg_set(err, rc, "cannot read %s: %s", path, err_text(rc));
    else
        rc = hosts_parse_file(&k->arena, &k->hosts, path, arena_copy(&k->arena, buf_slice(&text)),
                              err);
    buf_free(&text);
    return rc;
}

static int find_hosts(struct asking *k, struct errmsg *err)
{
    const struct allocation_world world = { environ, read_file, run_program, NULL };
    const char *name = NULL;
    int rc = 0;

    if (k->wish->hosts)
        rc = hosts_parse_list(&k->arena, &k->hosts, slice_str(k->wish->hosts), err);
    else if (k->wish->hostfile)
        rc = read_hostfile(k, k->wish->hostfile, err);
    else
        rc = allocation_read(&world, NULL, &k->arena, &k->hosts, &name, err);
    if (rc == ALLOCATION_NONE)
        rc = 0;
    if (rc == 0 && k->hosts.count == 0)
        rc = hosts_add(&k->arena, &k->hosts, (struct host){ .name = "localhost", .slots = 1 });
    return rc;
}

static int open_report(struct asking *k, struct errmsg *err)
{
    const char **names = arena_array(&k->arena, k->hosts.count, sizeof *names);

    k->n = k->hosts.count;
    k->patients = arena_array(&k->arena, k->n, sizeof *k->patients);
    if (!names || !k->patients)
        return errmsg_set(err, -ENOMEM, "out of memory");
    for (uint32_t i = 0; i < k->n; i++) {
        struct patient *p = &k->patients[i];
        p->host = &k->hosts.items[i];
        p->here = localhost_is_here(&k->machine, p->host->name);
        p->in = p->out = p->err = -1;
        buf_init(&p->line, ASK_LINE_MAX);
        buf_init(&p->errors, ASK_ERRORS_MAX);
        names[i] = p->host->name;
    }
    return doctor_report_open(k->report, names, k->n);
}

/* ---- our addresses --------------------------------------------------------------------------- */

struct route {
    struct buf *out;
    uint16_t port;
    uint32_t n;
};

/* Not those of loopback, and of links, which mean nothing elsewhere. */
static void add_address(void *arg, int family, const unsigned char *bytes, unsigned bits,
                        unsigned interface)
{
    struct route *r = arg;
    char text[INET6_ADDRSTRLEN];
    bool local = family == AF_INET ? bytes[0] == 127
                                   : (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) ||
                                         (bytes[0] == 0 && bytes[15] == 1);

    (void)bits;
    (void)interface;
    if (local || r->n == ROUTE_ADDRESSES || !inet_ntop(family, bytes, text, sizeof text))
        return;
    buf_printf(r->out, "%s%s/%u", r->n++ ? "," : "", text, r->port);
}

/* The kernel makes the connections by itself: nobody has to accept them. */
static int open_route(struct asking *k)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6 };
    socklen_t len = sizeof at;
    struct route r = { .out = &k->route };
    int off = 0;

    k->listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (k->listener < 0 ||
        setsockopt(k->listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0 ||
        bind(k->listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(k->listener, 4096) < 0 ||
        getsockname(k->listener, (struct sockaddr *)&at, &len) < 0)
        return -errno;
    r.port = ntohs(at.sin6_port);
    addresses_each(add_address, &r);
    return 0;
}

/* ---- one node's command ---------------------------------------------------------------------- */

/* Behind the words that the launch method needs. */
static int add_words(struct asking *k, const struct patient *p, char **argv, char ***argv_p)
{
    const char *path = env_value(environ, "PATH");
    const char *library_path = env_value(environ, "LD_LIBRARY_PATH");
    const char *route = p->here || !buf_len(&k->route) ? NULL : buf_cstr(&k->route);
    /* Options with their values; a job gets our environment, so its program is found by that. */
    const char *words[] = { "doctor",
                            "--here",
                            route ? "--route" : NULL,
                            route,
                            k->program ? "--program" : NULL,
                            k->program,
                            k->program && path ? "--path" : NULL,
                            path,
                            k->program && library_path ? "--library-path" : NULL,
                            library_path };
    size_t n = 0;
    char **all;

    while (argv[n])
        n++;
    all = arena_array(&k->arena, n + sizeof words / sizeof *words + 1, sizeof *all);
    if (!all)
        return -ENOMEM;
    memcpy(all, argv, n * sizeof *all);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i] || (i > 1 && i % 2 && !words[i - 1]))
            continue;
        all[n++] =
            p->here ? arena_str(&k->arena, slice_str(words[i])) : agent_word(&k->arena, words[i]);
    }
    *argv_p = all;
    return arena_ok(&k->arena) ? 0 : -ENOMEM;
}

static int make_argv(struct asking *k, const struct patient *p, char ***argv_p, struct errmsg *err)
{
    const struct bootstrap_node node = {
        .position = 1, .name = p->host->name, .user = p->host->user, .port = p->host->port
    };
    struct agent_spec spec = k->spec;
    char **argv = NULL;
    int rc;

    if (p->here)
        spec = (struct agent_spec){ .kind = AGENT_FORK, .wireupd = k->self };
    if (!agent_command_is_last(&spec))
        return errmsg_set(err, BOOTSTRAP_BAD, "--launcher-exec must end with {command} here");
    rc = agent_argv(&spec, &node, 1, k->self, NULL, &k->arena, &argv, err);
    return rc ? rc : add_words(k, p, argv, argv_p);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Each end above the standard streams, which the launcher has. */
static int open_pipes(int ends[3][2])
{
    for (int i = 0; i < 3; i++)
        ends[i][0] = ends[i][1] = -1;
    for (int i = 0; i < 3; i++) {
        if (pipe2(ends[i], O_CLOEXEC) < 0)
            return -errno;
    }
    return 0;
}

/* The agent is found as one that starts daemons is, so that its absence is not taken for ours on
 * the node. */
static int start_command(struct asking *k, struct patient *p, char **argv, struct errmsg *err)
{
    const char *path = NULL;
    int ends[3][2],
        rc = path_search_program(&k->arena, argv[0], NULL, getenv("PATH"), true, &path, err);
    struct child_fd fds[3];

    if (rc)
        return rc < 0 ? errmsg_set(err, rc, "out of memory") : rc;
    rc = open_pipes(ends);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot start %s: %s", path, err_text(rc));
    for (int i = 0; i < 3; i++)
        fds[i] = (struct child_fd){ ends[i][i > 0], i };
    rc = child_start(
        &(struct child_plan){ .path = path, .argv = argv, .env = environ, .fds = fds, .nfds = 3 },
        &p->pid, err);
    close(ends[0][0]);
    close(ends[1][1]);
    close(ends[2][1]);
    p->in = ends[0][1];
    p->out = ends[1][0];
    p->err = ends[2][0];
    return rc;
}

static void start(struct asking *k, uint32_t i)
{
    struct patient *p = &k->patients[i];
    struct errmsg err = { "out of memory" };
    char **argv = NULL;
    int rc = make_argv(k, p, &argv, &err);

    p->begun_ns = clock_now_ns();
    if (rc == 0)
        rc = start_command(k, p, argv, &err);
    if (rc) {
        doctor_report_set(k->report, i, DOCTOR_REACH, DOCTOR_BAD, "%s", err.text);
        close_end(&p->in);
        close_end(&p->out);
        close_end(&p->err);
        return;
    }
    k->running++;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static const char *way_of(const struct asking *k, const struct patient *p)
{
    return p->here ? "here" : k->spec.exec ? k->spec.exec : agent_kind_name(k->spec.kind);
}

static void ask_clock(struct patient *p)
{
    p->ready = true;
    p->asked_ns = clock_now_ns();
    p->asked_wall_ns = clock_wall_ns();
    if (write(p->in, "now\n", 4) < 0)
        close_end(&p->in);
}

/* Its clock showed that between the question and now. */
static void take_clock(struct asking *k, uint32_t i, uint64_t wall_ns)
{
    const struct patient *p = &k->patients[i];
    double trip = (double)(clock_now_ns() - p->asked_ns) / 1e9;
    double ahead = (double)((int64_t)wall_ns - (int64_t)p->asked_wall_ns) / 1e9 - trip / 2;
    double sure = (ahead < 0 ? -ahead : ahead) - trip / 2;

    if (sure * 1000 > CLOCK_BAD_MS)
        doctor_report_set(k->report, i, DOCTOR_CLOCK, DOCTOR_WARN,
                          "%+.1f s from ours (files and certificates depend on it)", ahead);
    else
        doctor_report_set(k->report, i, DOCTOR_CLOCK, DOCTOR_OK, "within %.3f s of ours",
                          sure > 0 ? sure + trip : trip);
}

static void take_line(struct asking *k, uint32_t i, struct slice line)
{
    struct patient *p = &k->patients[i];
    struct slice rest = line, word = slice_cut(&rest, '\t');
    uint64_t ns;

    if (slice_is(line, "ready")) {
        ask_clock(p);
        return;
    }
    if (slice_is(word, "clock") && p->ready && slice_u64(rest, &ns)) {
        take_clock(k, i, ns);
        return;
    }
    if (!doctor_report_line(k->report, i, line))
        return; /* what start-up files of a shell print */
    if (!p->answered)
        p->first_ns = clock_now_ns();
    p->answered = true;
}

/* False: the end of the stream. */
static bool read_stream(int fd, struct buf *to)
{
    char piece[4096];
    ssize_t n = read(fd, piece, sizeof piece);

    if (n > 0)
        buf_put(to, piece, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static void read_lines(struct asking *k, uint32_t i)
{
    struct patient *p = &k->patients[i];
    bool more = read_stream(p->out, &p->line);
    struct slice all = buf_slice(&p->line);
    size_t at;

    while ((at = slice_find(all, '\n')) < all.len) {
        take_line(k, i, slice_head(all, at));
        buf_take(&p->line, at + 1);
        all = buf_slice(&p->line);
    }
    if (!more || !buf_ok(&p->line))
        close_end(&p->out);
}

/* ---- its end --------------------------------------------------------------------------------- */

/* 127, or 126: our program is not there. */
static void set_reach(struct asking *k, uint32_t i, int status, bool late)
{
    struct patient *p = &k->patients[i];
    const struct agent_seen seen = { late ? -1 : status, false,
                                     (uint32_t)((clock_now_ns() - p->begun_ns) / NS_PER_S),
                                     SLICE_NULL, buf_slice(&p->errors) };
    struct errmsg why;

    if (p->ready) {
        doctor_report_set(k->report, i, DOCTOR_REACH, DOCTOR_OK, "%s%s, %.2f s",
                          p->here ? "" : "by ", way_of(k, p),
                          (double)(p->first_ns - p->begun_ns) / 1e9);
        return;
    }
    agent_diagnose(&k->spec, p->host->name, k->self, &seen, &why);
    doctor_report_set(k->report, i, DOCTOR_REACH, DOCTOR_BAD, "%s%s",
                      late && p->answered ? "it has begun to answer, and hangs; " : "", why.text);
}

static void finish(struct asking *k, uint32_t i, bool late)
{
    struct patient *p = &k->patients[i];
    int status = 0;

    close_end(&p->in);
    close_end(&p->out);
    close_end(&p->err);
    if (late)
        kill(-p->pid, SIGKILL);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    set_reach(k, i, status, late);
    p->pid = 0;
    k->running--;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_late(const struct asking *k, const struct patient *p)
{
    return clock_now_ns() - p->begun_ns > k->wish->patience_s * NS_PER_S;
}

static void serve(struct asking *k, uint32_t i, const struct pollfd *p)
{
    struct patient *one = &k->patients[i];

    if (p[0].revents && one->out >= 0)
        read_lines(k, i);
    if (p[1].revents && one->err >= 0 && !read_stream(one->err, &one->errors))
        close_end(&one->err);
    if (one->out < 0 && (one->err < 0 || one->ready))
        finish(k, i, false);
    else if (is_late(k, one))
        finish(k, i, true);
}

/* One round: what has come from those that run; at most a second. */
static int round_of(struct asking *k)
{
    struct pollfd *p = calloc((size_t)2 * k->n + 1, sizeof *p);

    if (!p)
        return -ENOMEM;
    for (uint32_t i = 0; i < k->n; i++) {
        p[2 * i] = (struct pollfd){ k->patients[i].pid ? k->patients[i].out : -1, POLLIN, 0 };
        p[2 * i + 1] = (struct pollfd){ k->patients[i].pid ? k->patients[i].err : -1, POLLIN, 0 };
    }
    if (poll(p, (nfds_t)(2 * k->n), 1000) >= 0 || errno == EINTR) {
        for (uint32_t i = 0; i < k->n; i++) {
            if (k->patients[i].pid)
                serve(k, i, &p[2 * i]);
        }
    }
    free(p);
    return 0;
}

static int ask_all(struct asking *k)
{
    int rc = 0;

    while (rc == 0 && (k->begun < k->n || k->running)) {
        while (k->begun < k->n && k->running < LIMIT_AGENT_AT_ONCE)
            start(k, k->begun++);
        if (k->running)
            rc = round_of(k);
    }
    doctor_report_compare(k->report);
    return rc;
}

static void begin(struct asking *k)
{
    ssize_t n = readlink("/proc/self/exe", k->self, sizeof k->self - 1);
    char here[PATH_MAX];

    k->self[n > 0 ? n : 0] = '\0';
    k->spec =
        (struct agent_spec){ .kind = k->wish->launcher_exec ? agent_kind_of(k->wish->launcher_exec)
                                                            : AGENT_SSH,
                             .exec = k->wish->launcher_exec,
                             .wireupd = k->self };
    buf_init(&k->route, 4096);
    localhost_init(&k->machine, NULL);
    signal(SIGPIPE, SIG_IGN); /* a node that has gone */
    k->program = k->wish->program;
    if (k->program && strchr(k->program, '/') && k->program[0] != '/' && getcwd(here, sizeof here))
        k->program = arena_printf(&k->arena, "%s/%s", here, k->program);
}

static void end(struct asking *k)
{
    for (uint32_t i = 0; i < k->n; i++) {
        buf_free(&k->patients[i].line);
        buf_free(&k->patients[i].errors);
    }
    if (k->listener >= 0)
        close(k->listener);
    buf_free(&k->route);
    localhost_free(&k->machine);
    arena_free(&k->arena);
}

int doctor_ask(const struct doctor_wish *w, const struct log *log, struct doctor_report *r)
{
    struct asking k = {
        .wish = w, .log = log, .report = r, .arena = ARENA_NULL(256 << 20), .listener = -1
    };
    struct errmsg err = { "out of memory" };
    int rc;

    *r = (struct doctor_report){ .nnodes = 0 };
    begin(&k);
    rc = find_hosts(&k, &err);
    if (rc == 0)
        rc = open_report(&k, &err);
    if (rc == 0 && open_route(&k) < 0)
        log_warn(log, "the route to here is not tried: %s", err_text(errno));
    if (rc == 0)
        rc = ask_all(&k);
    else
        log_error(log, "doctor: %s", err.text);
    end(&k);
    return rc ? 2 : 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool read_wish(const struct command_line *l, struct doctor_wish *w)
{
    const char *const *c = l->choices;

    *w = (struct doctor_wish){ l->operand, c[CHOICE_doctor_hostfile], c[CHOICE_doctor_program],
                               c[CHOICE_doctor_launcher_exec], ASK_PATIENCE_S };
    if (!c[CHOICE_doctor_timeout] ||
        (slice_u32(slice_str(c[CHOICE_doctor_timeout]), &w->patience_s) && w->patience_s > 0))
        return true;
    log_error(l->log, "doctor: --timeout must be a number of seconds, not '%s'",
              c[CHOICE_doctor_timeout]);
    return false;
}

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) && !(no && *no);
}

int doctor_command(const struct command_line *l)
{
    struct buf out = BUF_NULL(256 << 20);
    struct doctor_report r;
    struct doctor_wish w;
    int code;

    if (l->choices[CHOICE_doctor_here])
        return probe_run(&(struct probe_question){
            l->choices[CHOICE_doctor_program], l->choices[CHOICE_doctor_path],
            l->choices[CHOICE_doctor_library_path], l->choices[CHOICE_doctor_route] });
    if (!read_wish(l, &w))
        return 2;
    code = doctor_ask(&w, l->log, &r);
    if (code == 0 && l->choices[CHOICE_doctor_json])
        doctor_report_json(&r, &out);
    else if (code == 0)
        doctor_report_text(&r, wants_colour(), &out);
    if (code == 0)
        code = doctor_report_count(&r, DOCTOR_BAD) ? 1 : 0;
    if (fwrite(buf_slice(&out).ptr, 1, buf_len(&out), stdout) < buf_len(&out) ||
        fflush(stdout) != 0)
        code = 1;
    buf_free(&out);
    doctor_report_close(&r);
    return code;
}
