/* child_test.c - the state that a child inherits, or must not; every step that can fail; and
 * that no descendant remains.  As `child-test look` this program is the child, and prints its
 * findings.
 */
#include "io/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

static char self[PATH_MAX];

/* With AddressSanitizer: the processes that we start have almost no environment and few
 * descriptors, which its leak check does not survive.  Leaks end with the processes. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

/* ---- the child ------------------------------------------------------------------------------- */

static void list_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    struct dirent *e;
    bool open[64] = { false };

    while (d && (e = readdir(d))) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] != '.' && fd < 64 && fd != dirfd(d))
            open[fd] = true;
    }
    if (d)
        closedir(d);
    printf("fds");
    for (int fd = 0; fd < 64; fd++) {
        if (open[fd])
            printf(" %d", fd);
    }
    printf("\n");
}

static void list_signals(void)
{
    sigset_t mask;
    int blocked = 0, ignored = 0;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int sig = 1; sig < 32; sig++) {
        struct sigaction a;
        blocked += sigismember(&mask, sig) == 1;
        if (sigaction(sig, NULL, &a) == 0 && a.sa_handler == SIG_IGN)
            ignored++;
    }
    printf("signals blocked %d ignored %d\n", blocked, ignored);
}

static int look(void)
{
    char cwd[PATH_MAX];
    struct rlimit r;
    cpu_set_t cpus;
    int death = 0;

    list_fds();
    list_signals();
    prctl(PR_GET_PDEATHSIG, &death);
    getrlimit(RLIMIT_NOFILE, &r);
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("group %s session %s\n", getpgrp() == getpid() ? "own" : "other",
           getsid(0) == getpid() ? "own" : "other");
    printf("death %d nofile %llu cpus %d wdir %s word %s\n", death, (unsigned long long)r.rlim_cur,
           CPU_COUNT(&cpus), getcwd(cwd, sizeof cwd), getenv("WORD") ? getenv("WORD") : "none");
    return 7;
}

/* A typical daemon: a session of its own, its parent gone, all signals ignored that can be. */
static int be_daemon(void)
{
    char byte = 0;
    int ready[2];

    if (pipe(ready) < 0)
        return 1;
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        if (fork() == 0) {
            if (write(ready[1], "x", 1) == 1)
                pause();
            _exit(0);
        }
        _exit(0);
    }
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
}

/* ---- the parent ------------------------------------------------------------------------------ */

/* Starts the plan with its output in a pipe; returns its output, and its wait status. */
static const char *run(struct child_plan plan, int *status_p)
{
    static char text[4096];
    struct child_fd fds[3];
    struct errmsg err = { "" };
    int out[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
    ssize_t n;
    size_t len = 0;
    pid_t pid;

    if (pipe2(out, O_CLOEXEC) < 0)
        abort();
    fds[0] = (struct child_fd){ null, 0 };
    fds[1] = (struct child_fd){ out[1], 1 };
    fds[2] = (struct child_fd){ null, 2 };
    if (!plan.fds) {
        plan.fds = fds;
        plan.nfds = 3;
    }
    if (!OK_F(child_start(&plan, &pid, &err) == 0, "started %s", err.text))
        abort();
    close(out[1]);
    while ((n = read(out[0], text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)n;
    text[len] = '\0';
    waitpid(pid, status_p, 0);
    close(out[0]);
    close(null);
    return text;
}

static bool contains(const char *text, const char *part)
{
    bool found = strstr(text, part) != NULL;

    if (!found)
        printf("# %s\n", text);
    return found;
}

static char *const LOOK[] = { self, (char *)"look", NULL };
static char *const NO_ENV[] = { NULL };

static void test_inheritance(void)
{
    char *const env[] = { (char *)"WORD=here", NULL };
    struct child_plan plan = { .path = self, .argv = LOOK, .env = env, .wdir = "/" };
    int status, leak = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const char *text;

    setenv("WORD", "there", 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    text = run(plan, &status);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGUSR1, SIG_DFL);
    OK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    OK(contains(text, "fds 0 1 2\n"));
    OK(contains(text, "signals blocked 0 ignored 0\n"));
    OK(contains(text, "group own session other\n"));
    OK(contains(text, "death 9 "));
    OK(contains(text, "wdir / word here"));
    close(leak);
}

static bool has_limit(rlim_t files)
{
    struct child_plan plan = { .path = self, .argv = LOOK, .env = NO_ENV };
    char want[64];
    int status;

    snprintf(want, sizeof want, " nofile %llu ", (unsigned long long)files);
    return contains(run(plan, &status), want);
}

/* Ours is raised for us alone, however often. */
static void test_limit(void)
{
    struct rlimit was, now;

    getrlimit(RLIMIT_NOFILE, &was);
    now = was;
    now.rlim_cur = 77;
    if (!OK(setrlimit(RLIMIT_NOFILE, &now) == 0))
        return;
    OK(has_limit(77));
    for (int i = 0; i < 2; i++) {
        child_raise_nofile();
        OK(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == was.rlim_max);
        OK(has_limit(77));
    }
    now.rlim_max = now.rlim_cur = 70; /* as by prlimit(1) */
    OK(setrlimit(RLIMIT_NOFILE, &now) == 0);
    OK(has_limit(70));
}

/* What our parent ignores is not ignored by our children; what is ours to ignore, by us alone. */
static void test_ignored(void)
{
    struct child_plan plan = { .path = self, .argv = LOOK, .env = NO_ENV };
    struct sigaction now;
    int status;

    signal(SIGALRM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    child_restore_signals();
    OK(contains(run(plan, &status), "signals blocked 0 ignored 0\n"));
    OK(sigaction(SIGALRM, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    OK(sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
    signal(SIGHUP, SIG_DFL);
}

/* Descriptors arrive at the requested numbers, whatever their numbers are here. */
static void test_descriptors(void)
{
    int out[2], a, b, status;
    const char *text;
    struct child_fd fds[5];
    struct child_plan plan = { .path = self, .argv = LOOK, .env = NO_ENV, .fds = fds, .nfds = 5 };
    char c[4096] = "";
    struct errmsg err;
    pid_t pid;
    ssize_t n;

    if (pipe2(out, O_CLOEXEC) < 0)
        abort();
    a = open("/dev/null", O_RDONLY | O_CLOEXEC);
    b = fcntl(a, F_DUPFD_CLOEXEC, 40);
    fds[0] = (struct child_fd){ b, 0 };
    fds[1] = (struct child_fd){ out[1], 1 };
    fds[2] = (struct child_fd){ a, 2 };
    fds[3] = (struct child_fd){ b, 17 };
    fds[4] = (struct child_fd){ b, 40 }; /* the same number: only no longer close-on-exec */
    OK(child_start(&plan, &pid, &err) == 0);
    close(out[1]);
    while ((n = read(out[0], c, sizeof c - 1)) > 0)
        c[n] = '\0';
    text = c;
    waitpid(pid, &status, 0);
    OK(contains(text, "fds 0 1 2 17 40\n"));
    OK_F(fcntl(b, F_GETFD) == FD_CLOEXEC, "with us it stays close-on-exec");
    close(out[0]);
    close(a);
    close(b);
}

static void test_binding(void)
{
    unsigned long cpus[128] = { 0 };
    cpu_set_t ours;
    struct child_plan plan = {
        .path = self, .argv = LOOK, .env = NO_ENV, .cpus = cpus, .cpus_bytes = sizeof cpus
    };
    size_t first = 0;
    int status;

    sched_getaffinity(0, sizeof ours, &ours);
    while (first < CPU_SETSIZE && !CPU_ISSET(first, &ours))
        first++;
    cpus[first / (8 * sizeof *cpus)] = 1ul << first % (8 * sizeof *cpus);
    OK(contains(run(plan, &status), " cpus 1 "));
    sched_getaffinity(0, sizeof ours, &ours);
    OK_F(CPU_COUNT(&ours) >= 1, "we are bound as before");
}

/* ---- failures -------------------------------------------------------------------------------- */

static bool nobody_is_left(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void fails(struct child_plan plan, int rc, const char *sentence)
{
    struct errmsg err = { "" };
    pid_t pid = 12345;
    int got = child_start(&plan, &pid, &err);

    if (!OK_F(got == rc && contains(err.text, sentence), "%s", sentence))
        printf("# %d: %s\n", got, err.text);
    OK_F(pid == 12345 && nobody_is_left(), "nothing was started, nothing is left");
}

static void test_failures(void)
{
    static char script[] = "/tmp/child-test-XXXXXX";
    static const unsigned long no_cpus[4] = { 0 };
    const struct child_fd gone[] = { { 987, 0 } };
    const struct child_plan good = { .path = self, .argv = LOOK, .env = NO_ENV };
    struct child_plan p;
    int fd;

    p = good, p.path = "/no/such/program";
    fails(p, -ENOENT, "cannot run /no/such/program: No such file");
    p = good, p.path = "/etc/passwd";
    fails(p, -EACCES, "cannot run /etc/passwd: Permission denied");
    p = good, p.path = "/";
    fails(p, -EACCES, "cannot run /: Permission denied");
    p = good, p.wdir = "/no/such/dir";
    fails(p, -ENOENT, "cannot enter the working directory of");
    p = good, p.wdir = "/etc/passwd";
    fails(p, -ENOTDIR, "/etc/passwd: Not a directory");
    p = good, p.cpus = no_cpus, p.cpus_bytes = sizeof no_cpus;
    fails(p, -EINVAL, "cannot bind to its processors");
    p = good, p.fds = gone, p.nfds = 1;
    fails(p, -EBADF, "cannot pass a descriptor to");

    fd = mkstemp(script);
    OK(dprintf(fd, "echo no line that begins with a hash\n") > 0 && fchmod(fd, 0700) == 0);
    close(fd);
    p = good, p.path = script;
    fails(p, -ENOEXEC, "Exec format error");
    unlink(script);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void test_end_all(void)
{
    char *const leaver[] = { self, (char *)"daemon", NULL };
    int status = -1, null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct child_fd fds[] = { { null, 0 }, { null, 1 }, { null, 2 } };
    struct child_plan plan = { .path = self, .argv = leaver, .env = NO_ENV, .fds = fds, .nfds = 3 };
    struct errmsg err;
    pid_t pid;

    OK(child_adopt_orphans() == 0);
    OK(child_start(&plan, &pid, &err) == 0 && waitpid(pid, &status, 0) == pid);
    OK_F(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child left a daemon behind");
    OK(!nobody_is_left());
    plan.argv = (char *const[]){ (char *)"sleep", (char *)"1000", NULL };
    plan.path = "/bin/sleep";
    for (int i = 0; i < 3; i++)
        OK(child_start(&plan, &pid, &err) == 0);
    OK_F(child_end_all() >= 4, "all are ended");
    OK(nobody_is_left());
    EQ(child_end_all(), 0);
    close(null);
}

/* One that goes on, one that has ended and is not reaped, and what must go. */
static void test_end_except(void)
{
    char *const forever[] = { (char *)"sleep", (char *)"1000", NULL };
    char *const ends[] = { (char *)"true", NULL };
    char *const breeds[] = { (char *)"sh", (char *)"-c",
                             (char *)"sleep 1000 & setsid sleep 1000 & exit 0", NULL };
    struct child_plan plan = { .path = "/bin/sleep", .argv = forever, .env = environ };
    struct errmsg err;
    pid_t spared[2], others[3];
    siginfo_t info;

    OK(child_start(&plan, &spared[0], &err) == 0 && child_start(&plan, &others[0], &err) == 0);
    plan = (struct child_plan){ .path = "/bin/true", .argv = ends, .env = environ };
    OK(child_start(&plan, &spared[1], &err) == 0 && child_start(&plan, &others[1], &err) == 0);
    plan = (struct child_plan){ .path = "/bin/sh", .argv = breeds, .env = environ };
    OK(child_start(&plan, &others[2], &err) == 0);
    OK(waitid(P_PID, (id_t)others[2], &info, WEXITED | WNOWAIT) == 0);
    child_end_except(spared, 2);
    OK_F(kill(spared[0], 0) == 0 && waitpid(spared[0], NULL, WNOHANG) == 0, "it goes on");
    OK_F(waitpid(spared[1], NULL, 0) == spared[1], "its end is not taken from who waits for it");
    for (int i = 0; i < 3; i++)
        OK_F(waitpid(others[i], NULL, WNOHANG) < 0, "the others are gone");
    EQ(child_end_all(), 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "look"))
        return look();
    if (argc > 1 && !strcmp(argv[1], "daemon"))
        return be_daemon();
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return 1;
    for (int fd = 3; fd < 20; fd++)
        close(fd); /* the test's own parent may have left some open */
    test_inheritance();
    test_ignored();
    test_descriptors();
    test_binding();
    test_failures();
    test_end_all();
    test_end_except();
    test_limit(); /* it lowers ours for good */
    return tap_done();
}
