/* supervisor_test.c - the two processes of the launcher, and how each acts when the other is
 * killed.
 *
 * Each test is a launcher of its own: a child that splits; its worker reports through a pipe. */
#include "daemon/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/child.h"
#include "tests/tap.h"

static int report[2]; /* from the worker */

typedef void worker_fn(int control);

/* Returns the supervisor's pid; its worker runs fn and then exits with 0. */
static pid_t launch_with(worker_fn *fn, supervisor_word *word)
{
    struct log log = LOG_SILENT;
    int control = -1;
    pid_t pid;

    if (pipe2(report, O_CLOEXEC) < 0)
        abort();
    pid = fork();
    if (pid == 0) {
        close(report[0]);
        if (supervisor_split(&log, word, &log, &control) < 0)
            _exit(99);
        fn(control);
        _exit(0);
    }
    close(report[1]);
    return pid;
}

static pid_t launch(worker_fn *fn)
{
    return launch_with(fn, NULL);
}

static void send_bytes(const void *bytes, size_t n)
{
    if (write(report[1], bytes, n) != (ssize_t)n)
        _exit(98);
}

static int received(void)
{
    unsigned char c;

    return read(report[0], &c, 1) == 1 ? c : -1;
}

static pid_t received_pid(void)
{
    pid_t pid;

    return read(report[0], &pid, sizeof pid) == (ssize_t)sizeof pid ? pid : -1;
}

/* The supervisor's end; afterwards no descendant may be left (they would be ours by now). */
static int end_of(pid_t guard)
{
    int status = -1;

    waitpid(guard, &status, 0);
    close(report[0]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool nobody_is_left(void)
{
    return waitpid(-1, NULL, 0) < 0 && errno == ECHILD;
}

static void exit_with_code(int control)
{
    (void)control;
    _exit(42);
}

/* A process group with a daemon in it that ignores signals. */
static void leave_processes(int control)
{
    pid_t self = getpid();

    (void)control;
    if (fork() == 0) {
        setpgid(0, 0);
        signal(SIGTERM, SIG_IGN);
        if (fork() == 0) {
            setsid();
            send_bytes(&self, sizeof self);
            pause();
        }
        pause();
    }
    pause();
}

/* Writes every signal that arrives on the socket, then 'E' at EOF. */
static void pass_on(int control)
{
    unsigned char c;
    ssize_t n;

    fcntl(control, F_SETFL, 0);
    supervisor_listening();
    send_bytes("!", 1);
    while ((n = read(control, &c, 1)) == 1 || (n < 0 && errno == EINTR)) {
        send_bytes(&c, 1);
        if (c == SIGHUP)
            _exit(3);
    }
    send_bytes("E", 1);
}

static void test_codes(void)
{
    EQ(end_of(launch(exit_with_code)), 42);
    OK(nobody_is_left());
}

/* Our parent ignores signals that we need. */
static void test_deaf_parent(void)
{
    pid_t pid = fork();
    int status = -1;

    if (pid == 0) {
        signal(SIGCHLD, SIG_IGN);
        supervisor_tidy();
        _exit(end_of(launch(exit_with_code)));
    }
    waitpid(pid, &status, 0);
    OK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    OK(nobody_is_left());
}

static void test_worker_killed(void)
{
    pid_t guard = launch(leave_processes);
    pid_t worker = received_pid();

    OK(worker > 0 && kill(worker, SIGKILL) == 0);
    EQ(end_of(guard), 128 + SIGKILL);
    OK_F(nobody_is_left(), "the processes of the worker are gone with it");
}

/* In the supervisor: its sentence goes where the worker reports. */
static void pass_word(void *arg, const char *sentence)
{
    (void)arg;
    if (!strstr(sentence, "killed by signal 9 (SIGKILL)") || write(report[1], "W", 1) != 1)
        _exit(97);
}

static void test_word(void)
{
    pid_t guard = launch_with(leave_processes, pass_word);
    pid_t worker = received_pid();

    kill(worker, SIGKILL);
    OK_F(received() == 'W', "the guard's sentence goes where it is told to");
    EQ(end_of(guard), 128 + SIGKILL);
    OK(nobody_is_left());
}

static void send_pid_and_pass_on(int control)
{
    pid_t self = getpid();

    send_bytes(&self, sizeof self);
    pass_on(control);
}

static void test_guard_killed_while_stopped(void)
{
    pid_t guard = launch(send_pid_and_pass_on);
    pid_t worker = received_pid();
    int status;

    EQ(received(), '!');
    kill(worker, SIGSTOP);
    kill(guard, SIGKILL);
    waitpid(guard, &status, 0);
    OK_F(received() == 'E', "a worker that is stopped notices it too");
    waitpid(-1, &status, 0);
    close(report[0]);
    OK(nobody_is_left());
}

static void test_guard_killed(void)
{
    pid_t guard = launch(pass_on);
    int status;

    EQ(received(), '!');
    kill(guard, SIGKILL);
    waitpid(guard, &status, 0);
    OK_F(received() == 'E', "the worker notices the end of the guard");
    waitpid(-1, &status, 0); /* it has become ours */
    close(report[0]);
    OK(nobody_is_left());
}

static void test_signals(void)
{
    static const int passed[] = { SIGUSR1, SIGUSR2, SIGWINCH, SIGINT, SIGTERM, SIGQUIT };
    pid_t guard = launch(pass_on);
    int status;

    EQ(received(), '!');
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        kill(guard, passed[i]);
        EQ(received(), passed[i]);
    }
    kill(guard, SIGTSTP);
    EQ(received(), SIGTSTP);
    OK_F(waitpid(guard, &status, WUNTRACED) == guard && WIFSTOPPED(status),
         "the guard stops as the shell expects");
    kill(guard, SIGCONT);
    EQ(received(), SIGCONT);
    kill(guard, SIGHUP);
    EQ(received(), SIGHUP);
    EQ(end_of(guard), 3);
    OK(nobody_is_left());
}

/* It reads options, asks a resource manager ... and has a child that is doing so. */
static void prepare(int control)
{
    pid_t self = getpid();

    (void)control;
    if (fork() == 0) {
        setpgid(0, 0);
        send_bytes(&self, sizeof self);
        pause();
    }
    pause();
}

static void test_interrupted_early(void)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        pid_t guard = launch(prepare);
        OK(received_pid() > 0);
        kill(guard, SIGQUIT); /* goes to a worker that reads the socket */
        kill(guard, ends[i]);
        EQ(end_of(guard), 128 + ends[i]);
        OK_F(nobody_is_left(), "who has not begun is ended at once");
    }
}

/* As under nohup(1). */
static void test_hangup_ignored(void)
{
    pid_t guard;

    signal(SIGHUP, SIG_IGN);
    guard = launch(prepare);
    OK(received_pid() > 0);
    kill(guard, SIGHUP);
    kill(guard, SIGTERM);
    EQ(end_of(guard), 128 + SIGTERM);
    signal(SIGHUP, SIG_DFL);
    OK(nobody_is_left());
}

/* Its time limit has long passed. */
static void limited(int control)
{
    supervisor_limit(control, clock_now_ns() - 10 * NS_PER_S, 5);
    pause();
}

/* It begins all the same: the meaning of the limit is its own decision now. */
static void limited_no_more(int control)
{
    supervisor_limit(control, clock_now_ns(), 1000);
    supervisor_limit(control, 0, 0);
    supervisor_listening();
    _exit(7);
}

static void test_limit(void)
{
    EQ(end_of(launch(limited)), 124);
    EQ(end_of(launch(limited_no_more)), 7);
    OK(nobody_is_left());
}

static void test_guard_killed_early(void)
{
    pid_t guard = launch(prepare), worker = received_pid();
    int status;

    kill(guard, SIGKILL);
    waitpid(guard, &status, 0);
    OK_F(waitpid(worker, &status, 0) == worker && WIFSIGNALED(status),
         "a worker that does not listen yet dies with its guard");
    child_end_all();
    close(report[0]);
    OK(nobody_is_left());
}

static char registered[] = "/tmp/wireup-supervisor.XXXXXX";

/* The supervisor is killed when the worker reads its socket no more. */
static void finish_alone(int control)
{
    struct cleanup_order o = { .path = slice_str(registered), .uid = geteuid() };
    int signal_of_death = 0;

    leftovers_begin(supervisor_leftovers());
    leftovers_add(supervisor_leftovers(), &o, false);
    leftovers_end(supervisor_leftovers());
    supervisor_listening();
    kill(getppid(), SIGKILL);
    fcntl(control, F_SETFL, 0);
    if (recv(control, &o, sizeof o, 0) != 0)
        _exit(96);
    if (fork() == 0)
        pause();
    supervisor_finish();
    prctl(PR_GET_PDEATHSIG, &signal_of_death);
    send_bytes(waitpid(-1, NULL, WNOHANG) < 0 ? "!" : "?", 1);
    send_bytes(signal_of_death == SIGKILL ? "!" : "?", 1);
}

static void test_guard_killed_late(void)
{
    int fd = mkstemp(registered), status;
    pid_t guard = launch(finish_alone);

    close(fd);
    OK_F(received() == '!', "a worker that ends has no processes any more");
    OK_F(received() == '!', "and may be killed");
    OK_F(access(registered, F_OK) < 0, "what was registered is gone");
    waitpid(guard, &status, 0);
    child_end_all();
    close(report[0]);
    unlink(registered);
}

int main(void)
{
    if (child_adopt_orphans() < 0)
        return 1;
    signal(SIGHUP, SIG_DFL); /* even if our parent (nohup) ignores it */
    test_codes();
    test_deaf_parent();
    test_worker_killed();
    test_word();
    test_guard_killed();
    test_guard_killed_while_stopped();
    test_signals();
    test_interrupted_early();
    test_hangup_ignored();
    test_limit();
    test_guard_killed_early();
    test_guard_killed_late();
    return tap_done();
}
