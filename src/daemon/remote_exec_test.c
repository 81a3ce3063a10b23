/* remote_exec_test.c - starting daemons by commands of every kind of behaviour: they come up, fail,
 * report why, hang, print anything; all at once; and no process of them is left.
 *
 * The "remote shell" is sh running a script that this test gives it: $1 is the node's name. */
#include "daemon/remote_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/dvm_asked.h"
#include "io/rendezvous.h"
#include "daemon/remote_command.h"
#include "tests/log_capture.h"
#include "tests/tap.h"

extern char **environ;

static struct loop loop;
static struct watch chld;
static struct timer guard;
static struct remote_exec *agent;
static struct daemon_states daemons;
static struct log_capture complaints; /* of events without a row in daemon_state.def */
static char dir[] = "agent-test.XXXXXX";
static unsigned failed, reaped, want_failed, ups;
static char last_failure[ERRMSG_MAX], remarks[4096];
static bool stop_when_idle, stop_at_remark, up_by_remark;
static int records, stop_at_record; /* 0: none */

enum { DAEMONS = 100 };

static void hang(void *arg)
{
    (void)arg;
    printf("Bail out! nothing happened for five minutes\n");
    exit(1);
}

static void check_done(void)
{
    if ((want_failed && failed >= want_failed) || (stop_when_idle && remote_exec_idle(agent)))
        loop_stop(&loop);
}

static int record(void *arg, uint32_t position, struct buf *out)
{
    (void)arg;
    records++;
    if (records == stop_at_record)
        loop_stop(&loop);
    if (position == BOOTSTRAP_BY_NAME)
        buf_str(out, "all\n");
    else
        buf_printf(out, "%u\n", position);
    return 0;
}

static void on_failed(void *arg, uint32_t position, const struct errmsg *why)
{
    (void)arg;
    (void)position;
    failed++;
    snprintf(last_failure, sizeof last_failure, "%s", why->text);
    check_done();
}

static void on_remark(void *arg, const char *node, struct slice line)
{
    size_t n = strlen(remarks);

    (void)arg;
    snprintf(remarks + n, sizeof remarks - n, "%s: " SLICE_FMT "\n", node, SLICE_ARG(line));
    if (stop_at_remark)
        loop_stop(&loop);
    if (up_by_remark && slice_starts(line, SLICE("up "))) {
        uint32_t position;
        if (slice_u32(slice_skip(line, 3), &position)) {
            remote_exec_up(agent, position);
            ups++;
        }
    }
}

static void on_ended(void *arg)
{
    (void)arg;
    check_done();
}

static void on_child(void *arg)
{
    struct signalfd_siginfo info;
    pid_t pid;
    int status;

    (void)arg;
    if (read(chld.fd, &info, sizeof info) < 0)
        return;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        reaped += remote_exec_reaped(agent, pid, status);
    check_done();
}

/* Opens a remote_exec whose remote shell runs this script. */
static void open_agent(const char *script, struct agent_spec spec, uint32_t up_ms)
{
    static char exec[200];
    char path[100];
    struct remote_exec_config c = { .loop = &loop,
                                    .envp = environ,
                                    .calls = { record, on_failed, on_remark, on_ended },
                                    .up_ms = up_ms,
                                    .daemons = &daemons };
    struct errmsg err;
    FILE *f;

    snprintf(path, sizeof path, "%s/shell", dir);
    f = fopen(path, "w");
    fprintf(f, "%s\n", script);
    fclose(f);
    snprintf(exec, sizeof exec, "/bin/sh %s", path);
    c.spec = spec;
    if (spec.kind != AGENT_FORK && spec.kind != AGENT_MANUAL)
        c.spec.exec = exec;
    if (!c.spec.wireupd)
        c.spec.wireupd = "/somewhere/wireupd";
    daemon_states_close(&daemons);
    if (daemon_states_open(&daemons, DAEMONS, log_capture_open(&complaints)) < 0)
        abort();
    agent = remote_exec_new(&c, &err);
    if (!agent)
        abort();
    failed = reaped = ups = 0;
    want_failed = 0;
    records = stop_at_record = 0;
    stop_when_idle = stop_at_remark = up_by_remark = false;
    last_failure[0] = remarks[0] = '\0';
}

static void start(uint32_t n)
{
    struct bootstrap_node *nodes = calloc(n, sizeof *nodes);
    struct errmsg err = { "" };
    char name[20];
    int rc;

    for (uint32_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%u", i + 1);
        nodes[i] = (struct bootstrap_node){ i + 1, strdup(name), NULL };
    }
    rc = remote_exec_start(agent, nodes, n, &err);
    if (rc)
        OK_F(false, "agent_start: %d %s", rc, err.text);
    for (uint32_t i = 0; i < n; i++)
        free((void *)(uintptr_t)nodes[i].name);
    free(nodes);
}

static void run(void)
{
    timer_set(&guard, 300000);
    loop_run(&loop);
    timer_stop(&guard);
}

static bool childless(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void stop_now(void *arg)
{
    (void)arg;
    loop_stop(&loop);
}

/* Each reads its record, reports itself, and stays until EOF on its standard input. */
static void test_good(void)
{
    struct remote_exec_progress p;

    open_agent("echo Welcome; read position; echo wireup-boot started $position; "
               "echo wireup-boot remark $position up $position; echo noise >&2; cat >/dev/null",
               (struct agent_spec){ .kind = AGENT_EXEC }, 0);
    up_by_remark = true;
    start(70);
    remote_exec_progress(agent, &p);
    EQ(p.all, 70);
    stop_when_idle = false;
    while (ups < 70) {
        struct timer t;
        timer_init(&t, &loop, stop_now, NULL);
        timer_set(&t, 10);
        run();
    }
    remote_exec_progress(agent, &p);
    OK_F(p.up == 70 && p.failed == 0 && !p.slowest && records == 70, "70 daemons come up");
    OK(!remote_exec_idle(agent) && strstr(remarks, "n1: up 1\n"));
    stop_when_idle = true;
    remote_exec_end(agent);
    run();
    OK_F(reaped == 70 && failed == 0 && remote_exec_idle(agent), "and go when they are told");
    remote_exec_free(agent);
    OK(childless());
}

static void one_failure(const char *script, const char *want)
{
    open_agent(script, (struct agent_spec){ .kind = AGENT_EXEC }, 0);
    want_failed = 1;
    start(1);
    run();
    OK_F(failed == 1 && strstr(last_failure, want) && !strncmp(last_failure, "node n1: ", 9),
         "%s: %s", want, last_failure);
    remote_exec_free(agent);
    OK(childless());
}

static void test_failures(void)
{
    one_failure(
        "echo \"ssh: Could not resolve hostname $1: Name or service not known\" >&2; exit 255",
        "does not resolve");
    one_failure(
        "read p; echo wireup-boot started -; echo wireup-boot trouble $p the sky is falling; "
        "exit 1",
        "the sky is falling");
    one_failure("echo wireup-boot started -; kill -KILL $$", "SIGKILL");
    one_failure("yes 0123456789 | head -c 100000; echo the last word; exit 3", "the last word");
    one_failure("printf 'no newline' >&2; exit 3", "no newline");
    one_failure("head -c 100000 /dev/zero; exit 3", "status 3");
    one_failure("exec <&-; sleep 0.05; exit 9", "status 9");
}

/* The last error of a daemon that was up goes into the report of its broken link. */
static void test_last_word(void)
{
    struct errmsg how = { "" };

    open_agent(
        "read p; echo wireup-boot remark $p up $p; echo wireup-boot trouble - it fell; exit 9",
        (struct agent_spec){ .kind = AGENT_EXEC }, 0);
    up_by_remark = stop_when_idle = true;
    start(1);
    OK(!remote_exec_how_ended(agent, 1, &how));
    run();
    OK_F(ups == 1 && failed == 0 && !strstr(remarks, "fell"), "it is no remark: %s", remarks);
    OK_F(remote_exec_how_ended(agent, 1, &how) && !strcmp(how.text, "it fell"), "%s", how.text);
    remote_exec_free(agent);
    OK(childless());
}

static void test_late(void)
{
    open_agent("sleep 1000", (struct agent_spec){ .kind = AGENT_EXEC }, 200);
    want_failed = 2;
    start(2);
    run();
    OK_F(failed == 2 && strstr(last_failure, "no daemon has come up"), "%s", last_failure);
    want_failed = 0;
    stop_when_idle = true;
    run();
    OK_F(reaped == 2, "commands whose daemons come too late are ended");
    remote_exec_free(agent);
    /* It must have time enough to report that it has started. */
    last_failure[0] = '\0';
    for (uint32_t ms = 300; ms <= 30000 && !strstr(last_failure, "has not connected to its parent");
         ms *= 10) {
        open_agent("echo wireup-boot started -; sleep 1000",
                   (struct agent_spec){ .kind = AGENT_EXEC }, ms);
        want_failed = 1;
        start(1);
        run();
        remote_exec_free(agent);
        OK(childless());
    }
    OK_F(strstr(last_failure, "has not connected to its parent") != NULL, "%s", last_failure);
}

/* Our path of the daemon does not exist there: then the bare name, unless the user has named a
 * path. */
static void test_not_found(void)
{
    struct agent_spec s = { .kind = AGENT_EXEC };
    const char *script = "case $2 in /*) exit 127;; wireupd) echo wireup-boot trouble - bare name; "
                         "exit 1;; esac";

    one_failure(script, "bare name");
    s.wireupd = "/my/wireupd";
    s.wireupd_given = true;
    open_agent(script, s, 0);
    want_failed = 1;
    start(1);
    run();
    OK_F(strstr(last_failure, "/my/wireupd does not exist") != NULL, "%s", last_failure);
    remote_exec_free(agent);
    one_failure("exit 127", "-wireupd");
}

/* A busy sshd refuses at random: the same command is run again, a number of times; others are not.
 */
static void test_refused(void)
{
    const char *twice =
        "echo x >>$HOME/tries; test $(wc -l <$HOME/tries) -gt 2 && "
        "{ echo wireup-boot trouble - third; exit 1; }; "
        "echo 'kex_exchange_identification: Connection closed by remote host' >&2; exit 255";

    one_failure(twice, "third");
    OK_F(records == 3, "it was run %d times", records);
    one_failure("echo 'kex_exchange_identification: read: Connection reset by peer' >&2; exit 255",
                "see its sshd's log");
    OK_F(records == 1 + LIMIT_AGENT_RETRIES, "%d times", records);
    one_failure("echo 'Permission denied (publickey).' >&2; exit 255", "refuses a login");
    OK_F(records == 1, "a refused login is not tried again");
}

/* One command for all: which daemons fail alone, and which fail with it. */
static void test_at_once(void)
{
    open_agent("read all; echo wireup-boot started 1; echo wireup-boot trouble 2 not with me; "
               "echo wireup-boot remark 3 up 3; echo srun: error: something is wrong >&2; exit 5",
               (struct agent_spec){ .kind = AGENT_SLURM }, 0);
    up_by_remark = true;
    want_failed = 2;
    start(4);
    run();
    OK_F(failed == 2 && ups == 1 && records == 1, "one is up, three are not: two sentences");
    OK_F(strstr(last_failure, "node n1 and 1 more: ") && strstr(last_failure, "something is wrong"),
         "%s", last_failure);
    remote_exec_free(agent);
    OK(childless());
}

static void test_no_program(void)
{
    struct agent_spec s = { .kind = AGENT_FORK,
                            .wireupd = "/no/such/wireupd",
                            .wireupd_given = true };
    struct bootstrap_node bad[] = { { 1, "fine", NULL }, { 2, "-evil", NULL } };
    struct errmsg err;

    open_agent("", s, 0);
    want_failed = 3;
    start(3);
    run();
    OK_F(failed == 3 && strstr(last_failure, "/no/such/wireupd"), "%s", last_failure);
    remote_exec_free(agent);
    open_agent("", (struct agent_spec){ .kind = AGENT_EXEC }, 0);
    OK_F(remote_exec_start(agent, bad, 2, &err) == BOOTSTRAP_BAD && remote_exec_idle(agent), "%s",
         err.text);
    remote_exec_free(agent);
    OK(childless());
}

/* Records in files: readable by us alone, and removed afterwards. */
static void test_file(void)
{
    char command[200];

    open_agent("stat -c '%a' $4; cat $4; test -s $4 && echo wireup-boot trouble - it was there",
               (struct agent_spec){ .kind = AGENT_PBS }, 0);
    want_failed = 1;
    start(1);
    run();
    OK_F(strstr(last_failure, "it was there") != NULL, "%s", last_failure);
    remote_exec_free(agent);
    snprintf(command, sizeof command, "test -z \"$(ls %s/.wireup)\"", dir);
    OK_F(system(command) == 0, "no record is left");
    open_agent("", (struct agent_spec){ .kind = AGENT_MANUAL }, 10);
    want_failed = 1;
    start(1);
    run();
    OK_F(strstr(remarks, "n1: to be run there: /somewhere/wireupd --record /") != NULL, "%s",
         remarks);
    remote_exec_free(agent);
    OK_F(system(command) == 0, "no record is left");
    OK(childless());
}

/* The launch ends before any command was run: none is. */
static void test_ended_early(void)
{
    open_agent("exit 3", (struct agent_spec){ .kind = AGENT_EXEC }, 0);
    start(3);
    remote_exec_end(agent);
    OK_F(remote_exec_idle(agent) && daemons.states[1] == DAEMON_STATE_STOPPED, "nothing is queued");
    remote_exec_free(agent);
    OK_F(records == 0 && failed == 0 && childless(), "nothing was run");
}

/* ... or before they are up: then their ends are no failures, and none is tried once more. */
static void test_stopped(void)
{
    open_agent("read p; echo wireup-boot remark $p runs; trap 'exit 127' TERM; sleep 1000 & wait",
               (struct agent_spec){ .kind = AGENT_EXEC }, 0);
    stop_at_remark = true;
    start(1);
    run();
    remote_exec_stop(agent);
    OK(daemons.states[1] == DAEMON_STATE_STOPPED && !remote_exec_idle(agent));
    stop_when_idle = true;
    run();
    OK_F(reaped == 1 && records == 1 && failed == 0, "the end of one that was stopped is none");
    remote_exec_up(agent, 1);
    OK_F(daemons.states[1] == DAEMON_STATE_FAILED, "and it may come up too late");
    remote_exec_free(agent);
    OK(childless());
}

/* ---- a DVM that is asked --------------------------------------------------------------------- */

/* Answers each request by this text, `reads` lines of what follows as remarks, and stays until
 * the end of its input, if it says so; or is slow, and answers at the end of its input only. */
struct fake_dvm {
    const char *answer;
    int reads;
    bool stays, slow;
};

static void answer_one(const struct fake_dvm *d, int fd)
{
    FILE *f = fdopen(fd, "r+");
    char line[4096];

    if (!f)
        _exit(1);
    if (fgets(line, sizeof line, f) && strcmp(line, "on n1 /somewhere/wireupd\n") != 0)
        _exit(1);
    while (d->slow && fgets(line, sizeof line, f))
        continue;
    dprintf(fd, "%s", d->answer);
    for (int i = 0; i < d->reads && fgets(line, sizeof line, f); i++)
        dprintf(fd, "wireup-boot remark 1 up %s", line);
    while (d->stays && fgets(line, sizeof line, f))
        continue;
    fclose(f);
}

static void be_dvm(const struct fake_dvm *d, int ready)
{
    struct rendezvous r;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (rendezvous_open(&r) < 0 || write(ready, "r", 1) != 1)
        _exit(1);
    for (;;) {
        struct pollfd p = { r.fd, POLLIN, 0 };
        int fd = poll(&p, 1, -1) == 1 ? accept(r.fd, NULL, NULL) : -1;
        if (fd >= 0)
            answer_one(d, fd);
    }
}

static pid_t start_dvm(const struct fake_dvm *d)
{
    int ready[2];
    char c;
    pid_t pid;

    if (pipe2(ready, O_CLOEXEC) < 0 || (pid = fork()) < 0)
        abort();
    if (pid == 0)
        be_dvm(d, ready[1]);
    close(ready[1]);
    if (read(ready[0], &c, 1) != 1)
        abort();
    close(ready[0]);
    return pid;
}

static void end_dvm(pid_t pid)
{
    remote_exec_free(agent);
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void until_idle(void)
{
    stop_when_idle = true;
    if (!remote_exec_idle(agent))
        run();
    OK_F(remote_exec_idle(agent), "the end of the connection is reported");
}

static void dvm_failure(const struct fake_dvm *d, uint32_t up_ms, const char *want)
{
    pid_t pid = start_dvm(d);

    open_agent("", (struct agent_spec){ .kind = AGENT_DVM, .dvm = &pid }, up_ms);
    want_failed = 1;
    start(1);
    run();
    want_failed = 0;
    until_idle();
    OK_F(failed == 1 && strstr(last_failure, want), "%s: %s", want, last_failure);
    end_dvm(pid);
}

/* It accepts nothing for a while, and others have taken all places in its backlog. */
static void test_dvm_busy(void)
{
    const struct fake_dvm good = { "ok\nwireup-boot started 1\n", 1, true };
    enum { MOST = 4096 };
    int others[MOST], n = 0, rc = 0;
    pid_t pid = start_dvm(&good);

    kill(pid, SIGSTOP);
    while (n < MOST && (rc = rendezvous_connect_pid(pid)) >= 0)
        others[n++] = rc;
    OK_F(rc == -EAGAIN, "its backlog is full: %d after %d", rc, n);
    open_agent("", (struct agent_spec){ .kind = AGENT_DVM, .dvm = &pid }, 0);
    want_failed = 1;
    stop_at_record = 2;
    start(1);
    run();
    OK_F(failed == 0 && records == 2, "it is asked again: %s", last_failure);
    want_failed = 0;
    while (n > 0)
        close(others[--n]);
    kill(pid, SIGCONT);
    stop_at_remark = up_by_remark = true;
    if (failed == 0)
        run();
    OK_F(strstr(remarks, "n1: up 1\n") != NULL, "and answers: %s", remarks);
    remote_exec_end(agent);
    until_idle();
    end_dvm(pid);
}

/* It answers after it has been told that the end has come. */
static void test_dvm_late(void)
{
    const struct fake_dvm slow = { "ok\n", .slow = true };
    pid_t pid = start_dvm(&slow);

    open_agent("", (struct agent_spec){ .kind = AGENT_DVM, .dvm = &pid }, 0);
    stop_at_record = 1;
    start(1);
    run();
    OK_F(!remote_exec_idle(agent), "it has been asked");
    remote_exec_end(agent);
    until_idle();
    OK_F(failed == 0 && records == 1, "it gets no record, and its end is no failure");
    end_dvm(pid);
}

static void test_dvm_failures(void)
{
    pid_t nobody = getpid();

    dvm_failure(&(struct fake_dvm){ "error: there is no room\n" }, 0, "there is no room");
    dvm_failure(&(struct fake_dvm){ "error: cut" }, 0, "error: cut");
    dvm_failure(&(struct fake_dvm){ "" }, 0, "the DVM has closed the connection");
    dvm_failure(&(struct fake_dvm){ "ok\nlast words\n" }, 0, "last words");
    dvm_failure(&(struct fake_dvm){ "ok\nwireup-boot trouble 1 it rains\n" }, 0, "it rains");
    dvm_failure(&(struct fake_dvm){ "ok\n", .stays = true }, 200, "no daemon has come up");
    dvm_failure(&(struct fake_dvm){ "", .stays = true }, 200, "no daemon has come up");
    open_agent("", (struct agent_spec){ .kind = AGENT_DVM, .dvm = &nobody }, 0);
    want_failed = 1;
    start(1);
    run();
    OK_F(strstr(last_failure, "the DVM does not answer: it has ended") != NULL, "%s", last_failure);
    remote_exec_free(agent);
}

/* Its record comes behind the answer; it stays until it is told to go, or is stopped. */
static void test_dvm(void)
{
    const struct fake_dvm good = { "ok\nwireup-boot started 1\n", 1, true };

    for (int stopped = 0; stopped < 2; stopped++) {
        pid_t pid = start_dvm(&good);
        open_agent("", (struct agent_spec){ .kind = AGENT_DVM, .dvm = &pid }, 0);
        stop_at_remark = true;
        up_by_remark = !stopped;
        start(1);
        run();
        OK_F(strstr(remarks, "n1: up 1\n") && !remote_exec_idle(agent), "it has its record: %s",
             remarks);
        if (stopped)
            remote_exec_stop(agent);
        else
            remote_exec_end(agent);
        until_idle();
        OK_F(failed == 0, "its end is no failure");
        end_dvm(pid);
    }
    OK(childless());
}

static void ask_before(struct dvm_asked *q, pid_t pid, const char *node)
{
    char on[] = "n1", program[] = "/somewhere/wireupd";
    char *const words[] = { on, program, NULL };
    struct launcher_name *names = NULL;
    int n = rendezvous_list(&names);

    for (int i = 0; i < n; i++) {
        if (names[i].pid == pid)
            dvm_asked_add(q, &names[i], node, words);
    }
    free(names);
}

/* Nothing is asked again: nobody else would answer. */
static void test_dvm_asked(void)
{
    const struct fake_dvm good = { "ok\nwireup-boot started 1\n", 1, true };
    pid_t pid = start_dvm(&good), nobody = getpid();
    struct dvm_asked asked = { .count = 0 };

    ask_before(&asked, pid, "n1");
    OK_F(asked.count == 1 && dvm_asked_take(&asked, "n2") == -1, "n1 has been asked for, n2 not");
    open_agent("", (struct agent_spec){ .kind = AGENT_DVM, .dvm = &nobody, .asked = &asked }, 0);
    stop_at_remark = up_by_remark = true;
    start(1);
    run();
    OK_F(strstr(remarks, "n1: up 1\n") && records == 1 && failed == 0, "it has its record: %s",
         remarks);
    OK_F(asked.count == 0, "by the connection on which it was asked");
    remote_exec_end(agent);
    until_idle();
    end_dvm(pid);
}

/* A daemon that was asked for and is not used ends. */
static void test_dvm_asked_in_vain(void)
{
    const struct fake_dvm good = { "ok\n", 0, true };
    pid_t pid = start_dvm(&good);
    struct dvm_asked asked = { .count = 0 };
    char answer[4];
    int fd, here;

    ask_before(&asked, pid, "n2");
    ask_before(&asked, pid, "n1");
    fd = dvm_asked_take(&asked, "n2");
    here = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    fcntl(here, F_SETFL, 0);
    OK_F(read(here, answer, 3) == 3, "the DVM runs it");
    close(fd);
    OK_F(asked.count == 1 && dvm_asked_take(&asked, "n2") == -1, "one is left");
    dvm_asked_close(&asked);
    shutdown(here, SHUT_WR);
    OK_F(asked.count == 0 && read(here, answer, 1) == 0, "its end is that of its input");
    close(here);
    ask_before(&asked, getpid(), "n1");
    OK_F(asked.count == 0, "nobody is asked who is no DVM");
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void never(void *arg, int status)
{
    (void)arg;
    (void)status;
    OK_F(false, "a connection that was not opened has no end");
}

/* A file cannot be watched: then nothing of the connection stays. */
static void test_connect_fails(void)
{
    char path[] = "agent-test.XXXXXX";
    int file = mkstemp(path);
    struct remote_command k;
    struct errmsg err = { "" };

    if (file < 0 || unlink(path) < 0)
        abort();
    remote_command_init(&k, &loop, NULL, NULL);
    EQ(remote_command_connect(&k, file, never, &err), -EPERM);
    OK_F(strstr(err.text, "the DVM cannot be asked: ") != NULL, "it says so: %s", err.text);
    OK_F(!remote_command_runs(&k), "it does not run");
    OK_F(k.in == -1 && k.out.fd == -1 && fcntl(file, F_GETFD) < 0, "its descriptors are closed");
    remote_command_ended(&k);
    remote_command_free(&k);
}

int main(void)
{
    sigset_t set;
    char command[100], cwd[2000];

    if (loop_init(&loop) < 0 || !mkdtemp(dir) || !getcwd(cwd, sizeof cwd))
        return 1;
    snprintf(cwd + strlen(cwd), 100, "/%s", dir);
    setenv("HOME", cwd, 1);
    setenv("XDG_RUNTIME_DIR", cwd, 1);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    watch_open(&chld, &loop, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), on_child, NULL, NULL);
    watch_want(&chld, LOOP_READ);
    timer_init(&guard, &loop, hang, NULL);
    test_good();
    test_failures();
    test_last_word();
    test_late();
    test_not_found();
    test_refused();
    test_at_once();
    test_no_program();
    test_file();
    test_ended_early();
    test_stopped();
    test_dvm_failures();
    test_dvm();
    test_dvm_late();
    test_dvm_asked();
    test_dvm_asked_in_vain();
    test_dvm_busy();
    test_connect_fails();
    OK_F(complaints.count == 0, "no event of a daemon was unexpected");
    daemon_states_close(&daemons);
    watch_close(&chld);
    close(chld.fd);
    loop_free(&loop);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    if (system(command))
        return 1;
    return tap_done();
}
