/* inherited.c - what a process has from whoever started it: every attribute of a Linux process that a
 * fork or an exec passes on, one line each (`NAME<tab>VALUE`), so that two ways of starting a program
 * can be compared.
 *
 *   inherited as SIDE PROGRAM...         takes on the attributes of a side, 1 or 2, as far as this
 *                                        machine allows it, and runs the program
 *   inherited only NAME SIDE PROGRAM...  that one alone
 *   inherited sides                      the names that `as` takes on, each with "yes" or "no": whether
 *                                        this machine allows it
 *   inherited show                       writes its own to SEEN.RANK
 *   inherited again                      likewise, when SEEN.tried is there; else makes it, and exits
 *                                        with 3
 *   inherited parent                     likewise, what can be seen of its parent from outside
 *   inherited random                     likewise, what has to differ between any two processes
 *   inherited wait FILE FIFO             writes its number to FILE, and stays until FIFO is opened for
 *                                        writing
 *
 * INHERITED_DIR is a folder with `dir1` and `dir2`, where the sides note the numbers of what has no
 * other name; SEEN is INHERITED_DIR/seen. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <grp.h>
#include <unistd.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#ifdef SODIUM
#include <sodium.h>
#endif

#ifndef PR_SET_THP_DISABLE
#define PR_SET_THP_DISABLE 41
#define PR_GET_THP_DISABLE 42
#endif
#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66
#endif
#ifndef PR_GET_IO_FLUSHER
#define PR_GET_IO_FLUSHER 58
#endif

extern char **environ;

/* The value that a `show` fills in; and all lines of the output, which is written at once, so that its
 * file is none of the descriptors. */
static char value[1 << 16];
static char lines[1 << 18];
static size_t nlines;

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    size_t len = strlen(value);
    va_list args;

    va_start(args, format);
    vsnprintf(value + len, sizeof value - len, format, args);
    va_end(args);
}

static void line(const char *name)
{
    for (char *c = value; *c; c++) {
        if ((unsigned char)*c < ' ')
            *c = ' ';
    }
    nlines += (size_t)snprintf(lines + nlines, sizeof lines - nlines, "%s\t%s\n", name, value);
    value[0] = '\0';
}

static ssize_t read_file(const char *path, char *to, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n, have = 0;

    while (fd >= 0 && (n = read(fd, to + have, room - 1 - (size_t)have)) > 0)
        have += n;
    if (fd >= 0)
        close(fd);
    to[have] = '\0';
    return have;
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return good;
}

/* ---- what has only a number: a side notes it ---- */

static int taking; /* the side that is being taken on; 0: none */

static const char *dir(void)
{
    const char *at = getenv("INHERITED_DIR");

    return at ? at : "/tmp";
}

static bool note(const char *name, const char *number)
{
    char path[PATH_MAX];
    FILE *f;

    snprintf(path, sizeof path, "%s/side%d.%s", dir(), taking, name);
    f = fopen(path, "w");
    return f && fputs(number, f) >= 0 && fclose(f) == 0;
}

/* Which side's it is. */
static void put_side(const char *name, const char *number)
{
    put("another's");
    for (int side = 1; side <= 2; side++) {
        char path[PATH_MAX], noted[256];
        snprintf(path, sizeof path, "%s/side%d.%s", dir(), side, name);
        if (read_file(path, noted, sizeof noted) > 0 && !strcmp(noted, number))
            put("side %d's", side);
    }
}

/* ---- environment, directory, mask ---- */

/* Variables by which Wireup tells a process what it is, and those of shells on its way. */
static bool is_given(const char *variable)
{
    static const char *const heads[] = {
        "PMI_",         "PMIX_",     "WIREUP_",   "OMPI_",
        "MV2_COMM_",    "MPI_LOCAL", "MPIR_CVAR", "PWD=",
        "OLDPWD=",      "_=",        "SHLVL=",    "GFORTRAN_UNBUFFERED_PRECONNECTED=",
        "TORCHELASTIC_"
    };

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        if (!strncmp(variable, heads[i], strlen(heads[i])))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names, and a sum over the whole; text: variables with a NUL behind each. */
static void put_environment(char *text, size_t len)
{
    static char *all[4096];
    uint64_t sum = 14695981039346656037u;
    size_t n = 0;

    for (char *at = text; at < text + len && n < sizeof all / sizeof *all; at += strlen(at) + 1) {
        if (*at && !is_given(at))
            all[n++] = at;
    }
    qsort(all, n, sizeof *all, by_name);
    put("%zu:", n);
    for (size_t i = 0; i < n; i++) {
        for (const char *c = all[i]; *c; c++)
            sum = (sum ^ (unsigned char)*c) * 1099511628211u;
        add(" %.*s", (int)strcspn(all[i], "="), all[i]);
    }
    add(" %016llx", (unsigned long long)sum);
}

static void show_environment(void)
{
    static char text[1 << 18];
    size_t len = 0;

    for (char **e = environ; *e; e++) {
        if (len + strlen(*e) + 1 < sizeof text)
            len += (size_t)sprintf(text + len, "%s", *e) + 1;
    }
    put_environment(text, len);
}

static bool take_environment(int side)
{
    return setenv("INHERITED", side == 1 ? "one" : "two", 1) == 0 &&
           setenv("TZ", side == 1 ? "UTC-1" : "UTC-2", 1) == 0 &&
           setenv("LC_TIME", side == 1 ? "C" : "POSIX", 1) == 0 &&
           (side == 1 ? setenv("INHERITED_ONE", "1", 1) : unsetenv("INHERITED_ONE")) == 0;
}

static void show_directory(void)
{
    char path[PATH_MAX];

    put("%s", getcwd(path, sizeof path) ? path : "none");
}

static bool take_directory(int side)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/dir%d", dir(), side);
    return chdir(path) == 0;
}

static void show_link(const char *path)
{
    ssize_t n = readlink(path, value, sizeof value - 1);

    value[n > 0 ? n : 0] = '\0';
}

static void show_root(void)
{
    show_link("/proc/self/root");
}

static void show_umask(void)
{
    mode_t mask = umask(0);

    umask(mask);
    put("%03o", (unsigned)mask);
}

static bool take_umask(int side)
{
    umask(side == 1 ? 027 : 077);
    return true;
}

/* ---- scheduling, memory ---- */

static void show_nice(void)
{
    put("%d", getpriority(PRIO_PROCESS, 0));
}

static bool take_nice(int side)
{
    return setpriority(PRIO_PROCESS, 0, side == 1 ? 3 : 5) == 0;
}

static void show_policy(void)
{
    struct sched_param p = { 0 };

    sched_getparam(0, &p);
    put("%d %d", sched_getscheduler(0), p.sched_priority);
}

static bool take_policy(int side)
{
    const struct sched_param p = { 0 };

    return sched_setscheduler(0, side == 1 ? SCHED_BATCH : SCHED_OTHER, &p) == 0;
}

static void show_io_priority(void)
{
    put("%ld", syscall(SYS_ioprio_get, 1, 0));
}

static bool take_io_priority(int side)
{
    return syscall(SYS_ioprio_set, 1, 0, 2 << 13 | (side == 1 ? 5 : 6)) == 0;
}

static void show_processors(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set))
            add("%s%d", value[0] ? "," : "", i);
    }
}

/* The first that may be used, or the second. */
static bool take_processors(int side)
{
    for (int i = 0; i < CPU_SETSIZE; i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0 && --side == 0)
            return true;
    }
    return false;
}

enum { NODE_WORDS = 64, BIND = 2, INTERLEAVE = 3 };

static void show_memory_policy(void)
{
    unsigned long nodes[NODE_WORDS] = { 0 };
    int policy = -1;

    if (syscall(SYS_get_mempolicy, &policy, nodes, sizeof nodes * 8, NULL, 0) < 0)
        put("not known");
    else
        put("%d %lx", policy, nodes[0]);
}

static bool take_memory_policy(int side)
{
    unsigned long first = 1;

    return syscall(SYS_set_mempolicy, side == 1 ? INTERLEAVE : BIND, &first, sizeof first * 8) == 0;
}

static void show_prctl(int what)
{
    put("%d", prctl(what, 0, 0, 0, 0));
}

static void show_large_pages(void)
{
    show_prctl(PR_GET_THP_DISABLE);
}

static bool take_large_pages(int side)
{
    return prctl(PR_SET_THP_DISABLE, side == 1, 0, 0, 0) == 0;
}

static void show_memory_errors(void)
{
    show_prctl(PR_MCE_KILL_GET);
}

static bool take_memory_errors(int side)
{
    return prctl(PR_MCE_KILL, PR_MCE_KILL_SET, side == 1 ? PR_MCE_KILL_EARLY : PR_MCE_KILL_LATE, 0,
                 0) == 0;
}

static void show_timer_slack(void)
{
    show_prctl(PR_GET_TIMERSLACK);
}

static bool take_timer_slack(int side)
{
    return prctl(PR_SET_TIMERSLACK, side == 1 ? 60000UL : 70000UL) == 0;
}

static void show_personality(void)
{
    put("%x", (unsigned)personality(0xffffffff));
}

/* Two bits that no kernel of today looks at. */
static bool take_personality(int side)
{
    return personality(side == 1 ? 0x1000000 : 0x2000000) != -1;
}

static void show_text(const char *path)
{
    read_file(path, value, sizeof value);
}

static void show_oom(void)
{
    show_text("/proc/self/oom_score_adj");
}

static bool take_oom(int side)
{
    return write_file("/proc/self/oom_score_adj", side == 1 ? "300" : "400");
}

static void show_core_filter(void)
{
    show_text("/proc/self/coredump_filter");
}

static bool take_core_filter(int side)
{
    return write_file("/proc/self/coredump_filter", side == 1 ? "0x21" : "0x31");
}

/* ---- limits ---- */

static const struct {
    const char *name;
    int which;
} limits[] = {
    { "cpu", RLIMIT_CPU },           { "fsize", RLIMIT_FSIZE },
    { "data", RLIMIT_DATA },         { "stack", RLIMIT_STACK },
    { "core", RLIMIT_CORE },         { "rss", RLIMIT_RSS },
    { "nproc", RLIMIT_NPROC },       { "nofile", RLIMIT_NOFILE },
    { "memlock", RLIMIT_MEMLOCK },   { "as", RLIMIT_AS },
    { "locks", RLIMIT_LOCKS },       { "sigpending", RLIMIT_SIGPENDING },
    { "msgqueue", RLIMIT_MSGQUEUE }, { "nice", RLIMIT_NICE },
    { "rtprio", RLIMIT_RTPRIO },     { "rttime", RLIMIT_RTTIME },
};

enum { NLIMITS = sizeof limits / sizeof *limits };

static void show_limits(void)
{
    for (size_t i = 0; i < NLIMITS; i++) {
        struct rlimit r = { 0, 0 };
        char name[64];
        getrlimit((__rlimit_resource_t)limits[i].which, &r);
        put("%llu", (unsigned long long)r.rlim_cur);
        snprintf(name, sizeof name, "limit %s", limits[i].name);
        line(name);
        put("%llu", (unsigned long long)r.rlim_max);
        snprintf(name, sizeof name, "limit %s, hard", limits[i].name);
        line(name);
    }
}

/* Below the ones of now, since not everybody may raise them, also from one side to the other; and far
 * above what anything here needs, where there was none. */
static bool take_limit(size_t i, int side)
{
    const rlim_t none = (rlim_t)1 << 50,
                 step = (rlim_t)(side == 2 && getenv("INHERITED_ONE") ? 1 : side);
    const rlim_t usual = limits[i].which == RLIMIT_NOFILE  ? 400
                         : limits[i].which == RLIMIT_STACK ? 8 << 20
                                                           : none;
    struct rlimit r;

    getrlimit((__rlimit_resource_t)limits[i].which, &r);
    if (r.rlim_max == RLIM_INFINITY || r.rlim_max > none)
        r.rlim_max = none;
    if (r.rlim_max <= 32) /* of priorities there are none for most users */
        r.rlim_max = 32;
    r.rlim_max -= step;
    r.rlim_cur = (r.rlim_max < usual ? r.rlim_max : usual) - (rlim_t)(8 * side);
    return setrlimit((__rlimit_resource_t)limits[i].which, &r) == 0;
}

/* ---- signals, timers ---- */

static void show_status(const char *who, const char *name)
{
    static char text[1 << 16];
    char path[64];
    char *at, *rest;

    snprintf(path, sizeof path, "/proc/%s/status", who);
    read_file(path, text, sizeof text);
    put("none");
    for (at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
        if (!strncmp(at, name, strlen(name)) && at[strlen(name)] == ':')
            put("%s", at + strlen(name) + 1 + strspn(at + strlen(name) + 1, " \t"));
    }
}

static void show_blocked(void)
{
    show_status("self", "SigBlk");
}

static bool take_blocked(int side)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, side == 1 ? SIGPROF : SIGVTALRM);
    sigaddset(&set, side == 1 ? 40 : 41); /* 40 is pending */
    return sigprocmask(SIG_SETMASK, &set, NULL) == 0;
}

static void show_ignored(void)
{
    show_status("self", "SigIgn");
}

/* By the raw system call: the C library lets nobody touch its own signals. */
static void handle(int sig, void (*handler)(int))
{
    uint64_t action[8] = { (uintptr_t)handler };

    syscall(SYS_rt_sigaction, sig, action, NULL, _NSIG / 8);
}

static bool take_ignored(int side)
{
    /* (32 and 33 are the C library's own, which its posix_spawn leaves ignored.) */
    static const int all[2][5] = { { SIGHUP, SIGALRM, SIGXFSZ, 32, 50 },
                                   { SIGUSR1, SIGXCPU, SIGPIPE, 33, 51 } };

    for (int sig = 1; sig < _NSIG; sig++)
        handle(sig, SIG_DFL);
    for (size_t i = 0; i < 5; i++)
        handle(all[side - 1][i], SIG_IGN);
    return true;
}

static void show_caught(void)
{
    show_status("self", "SigCgt");
}

static void show_pending(void)
{
    char shared[64];

    show_status("self", "ShdPnd");
    snprintf(shared, sizeof shared, "%.40s", value);
    show_status("self", "SigPnd");
    add(" %s", shared);
}

/* It is blocked, or would end us.  The other side has none: on the way of daemons are shells, some of
 * which let signals through. */
static bool take_pending(int side)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, 40);
    return side == 2 || (sigprocmask(SIG_BLOCK, &set, NULL) == 0 && kill(getpid(), 40) == 0);
}

static void show_timers(void)
{
    static const char *const names[] = { "real ", "virtual ", "profiling " };

    for (int i = 0; i < 3; i++) {
        struct itimerval t;
        if (getitimer((__itimer_which_t)i, &t) == 0 && t.it_value.tv_sec)
            add("%s", names[i]);
    }
}

static bool take_timers(int side)
{
    const struct itimerval t = { .it_value = { .tv_sec = 1000000 } },
                           off = { .it_value = { .tv_sec = 0 } };

    return setitimer(ITIMER_REAL, side == 1 ? &t : &off, NULL) == 0 &&
           setitimer(ITIMER_VIRTUAL, side == 1 ? &off : &t, NULL) == 0;
}

static void show_stack_of_signals(void)
{
    stack_t s = { .ss_flags = 0 };

    sigaltstack(NULL, &s);
    put("%s", s.ss_flags & SS_DISABLE ? "none" : "some");
}

static void show_death(void)
{
    int sig = 0;

    prctl(PR_GET_PDEATHSIG, &sig);
    put("%d", sig);
}

static bool take_death(int side)
{
    return prctl(PR_SET_PDEATHSIG, side == 1 ? SIGWINCH : SIGURG) == 0;
}

static void show_adopts(void)
{
    int on = 0;

    prctl(PR_GET_CHILD_SUBREAPER, &on);
    put("%d", on);
}

static bool take_adopts(int side)
{
    (void)side;
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

/* ---- descriptors, terminal, session ---- */

static void add_descriptor(const char *who, int fd)
{
    static const struct {
        const char *head, *kind;
    } kinds[] = { { "pipe:", "pipe" },     { "socket:", "socket" },
                  { "/dev/null", "null" }, { "/dev/pts/", "a terminal" },
                  { "/memfd:", "memory" }, { "anon_inode:", "event" },
                  { "/proc/", "proc" } };
    char path[64], to[PATH_MAX];
    const char *kind = "file";
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%s/fd/%d", who, fd);
    n = readlink(path, to, sizeof to - 1);
    to[n > 0 ? n : 0] = '\0';
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!strncmp(to, kinds[i].head, strlen(kinds[i].head)))
            kind = kinds[i].kind;
    }
    add("%s", n > 0 ? kind : "closed");
}

/* Access, append, non-blocking. */
static void show_stream(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    add_descriptor("self", fd);
    add(" %s%s%s",
        (flags & O_ACCMODE) == O_RDONLY   ? "r"
        : (flags & O_ACCMODE) == O_WRONLY ? "w"
                                          : "rw",
        flags & O_APPEND ? " append" : "", flags & O_NONBLOCK ? " non-blocking" : "");
}

static void show_input(void)
{
    show_stream(0);
}

static void show_output(void)
{
    show_stream(1);
}

static void show_errors(void)
{
    show_stream(2);
}

static void show_descriptors(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            continue;
        add("%s%d ", value[0] ? ", " : "", fd);
        add_descriptor("self", fd);
    }
}

static bool take_descriptors(int side)
{
    int null;

    syscall(SYS_close_range, 3U, ~0U, 0U);
    null = open("/dev/null", O_RDONLY);
    return null > 2 && null != 7 && null != 8 && dup2(null, side == 1 ? 7 : 8) > 0 &&
           (side == 2 || dup2(null, 200) > 0) && close(null) == 0;
}

static void show_session(void)
{
    char number[32];

    snprintf(number, sizeof number, "%d", getsid(0));
    put_side("session", number);
}

/* Of the terminal; the other side has none.  Our parent keeps its other end until we have ended. */
static bool take_session(int side)
{
    int master = side == 1 ? posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) : -1, status = 0, slave;
    char number[32];
    pid_t pid;

    if (side == 1 && (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0))
        return false;
    pid = fork();
    if (pid < 0)
        return false;
    if (pid > 0) {
        waitpid(pid, &status, 0);
        exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    setsid();
    snprintf(number, sizeof number, "%d", getsid(0));
    if (side == 1) {
        slave = open(ptsname(master), O_RDWR | O_CLOEXEC);
        if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) < 0)
            return false;
        close(slave);
        close(master);
    }
    return note("session", number);
}

static void show_group(void)
{
    put("%s", getpgrp() == getpid() ? "its own" : "another's");
}

static void show_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    put("%s", fd < 0 ? "none" : "one");
    if (fd >= 0)
        close(fd);
}

/* ---- rights ---- */

static void show_user(void)
{
    show_status("self", "Uid");
}

static void show_main_group(void)
{
    show_status("self", "Gid");
}

static void show_groups(void)
{
    show_status("self", "Groups");
}

static bool take_groups(int side)
{
    const gid_t one = side == 1 ? 65101 : 65102;

    return setgroups(1, &one) == 0;
}

static void show_capabilities(void)
{
    static const char *const names[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
    char all[512] = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        show_status("self", names[i]);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%.40s ", value);
    }
    put("%s", all);
}

static bool inherit_lease(bool on)
{
    struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct caps[2];

    if (syscall(SYS_capget, &head, caps) < 0)
        return false;
    caps[0].inheritable = on ? 1u << CAP_LEASE : 0;
    caps[1].inheritable = 0;
    return syscall(SYS_capset, &head, caps) == 0;
}

static bool take_capabilities(int side)
{
    if (side == 1)
        return inherit_lease(true) &&
               prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_LEASE, 0, 0) == 0;
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0 && inherit_lease(false) &&
           prctl(PR_CAPBSET_DROP, CAP_WAKE_ALARM, 0, 0, 0) == 0;
}

static void show_secure_bits(void)
{
    show_prctl(PR_GET_SECUREBITS);
}

static bool take_secure_bits(int side)
{
    return prctl(PR_SET_SECUREBITS, side == 1 ? 1UL << 2 : 1UL << 6) == 0;
}

static void show_new_privileges(void)
{
    show_status("self", "NoNewPrivs");
}

static bool take_new_privileges(int side)
{
    return side == 1 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static void show_filters(void)
{
    show_status("self", "Seccomp_filters");
}

static bool take_filters(int side)
{
    struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog program = { 1, all };

    return side == 1 || (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void show_dumpable(void)
{
    show_prctl(PR_GET_DUMPABLE);
}

static void show_written_code(void)
{
    show_prctl(PR_GET_MDWE);
}

static void show_io_flusher(void)
{
    show_prctl(PR_GET_IO_FLUSHER);
}

static void show_kept_capabilities(void)
{
    show_prctl(PR_GET_KEEPCAPS);
}

static void show_tracer(void)
{
    show_status("self", "TracerPid");
}

static void show_label(void)
{
    show_text("/proc/self/attr/current");
}

static void show_audit(void)
{
    show_text("/proc/self/loginuid");
}

/* ---- keys, name spaces, control group ---- */

enum { GET_KEYRING = 0, JOIN_SESSION_KEYRING = 1, SESSION_KEYRING = -3 };

static void keyring(char number[32])
{
    snprintf(number, 32, "%ld", syscall(SYS_keyctl, GET_KEYRING, SESSION_KEYRING, 0));
}

static void show_keys(void)
{
    char number[32];

    keyring(number);
    put_side("keys", number);
}

static bool take_keys(int side)
{
    char number[32];
    bool good = syscall(SYS_keyctl, JOIN_SESSION_KEYRING, NULL) > 0;

    (void)side;
    keyring(number);
    return good && note("keys", number);
}

static const struct {
    const char *name, *file;
    int flag; /* a side has one of its own; 0: not */
} spaces[] = {
    { "mounts", "mnt", CLONE_NEWNS },  { "IPC", "ipc", CLONE_NEWIPC },
    { "network", "net", 0 },           { "users", "user", 0 },
    { "processes", "pid", 0 },         { "host name", "uts", 0 },
    { "control groups", "cgroup", 0 }, { "time", "time", 0 },
};

enum { NSPACES = sizeof spaces / sizeof *spaces };

static void read_space(size_t i, char *number, size_t room)
{
    char path[64];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/self/ns/%s", spaces[i].file);
    n = readlink(path, number, room - 1);
    number[n > 0 ? n : 0] = '\0';
}

static void show_spaces(void)
{
    for (size_t i = 0; i < NSPACES; i++) {
        char number[128], name[64];
        read_space(i, number, sizeof number);
        if (spaces[i].flag)
            put_side(spaces[i].file, number);
        else
            put("%s", number);
        snprintf(name, sizeof name, "name space of %s", spaces[i].name);
        line(name);
    }
}

static bool take_space(size_t i, int side)
{
    char number[128];
    bool good = unshare(spaces[i].flag) == 0;

    (void)side;
    read_space(i, number, sizeof number);
    return good && note(spaces[i].file, number);
}

static void show_host_name(void)
{
    char name[256] = "";

    gethostname(name, sizeof name - 1);
    put("%s", name);
}

static void show_control_group(void)
{
    show_text("/proc/self/cgroup");
}

/* ---- the process itself ---- */

static void show_short_name(void)
{
    char name[32] = "";

    prctl(PR_GET_NAME, name);
    put("%s", name);
}

static void show_program(void)
{
    show_link("/proc/self/exe");
}

static char **words;

static void show_words(void)
{
    static char text[1 << 14];
    ssize_t n = read_file("/proc/self/cmdline", text, sizeof text);
    const char *at = text;
    int count = 0;

    for (; words[count] && !strcmp(words[count], at) && at < text + n; count++)
        at += strlen(at) + 1;
    put("%s, %d%s", words[0], count, words[count] || at != text + n ? ", SHOWN WRONGLY" : "");
}

static void show_threads(void)
{
    show_status("self", "Threads");
}

static void show_locked_memory(void)
{
    show_status("self", "VmLck");
}

static void show_shared_memory(void)
{
    static char text[1 << 18];
    int n = 0;

    read_file("/proc/self/maps", text, sizeof text);
    for (char *at = text; (at = strstr(at, " rw-s ")); at++)
        n++;
    put("%d", n);
}

static volatile sig_atomic_t arrived;

static void on_signal(int sig)
{
    arrived = sig;
}

/* The C library keeps numbers of its own: they are those of this process. */
static void show_own_numbers(void)
{
    pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    void (*before)(int) = signal(SIGUSR2, on_signal);

    pthread_mutex_lock(&m);
    raise(SIGUSR2);
    signal(SIGUSR2, before);
    put("%s, %s, %s",
        getpid() == syscall(SYS_getpid) && getpid() == syscall(SYS_gettid) ? "good" : "WRONG",
        m.__data.__owner == getpid() ? "good" : "WRONG", arrived == SIGUSR2 ? "good" : "WRONG");
}

static void show_registered(void)
{
    void *list = NULL;
    size_t len = 0;

    syscall(SYS_get_robust_list, 0, &list, &len);
    put("robust mutexes %s", list ? "yes" : "no");
#if __has_include(<sys/rseq.h>)
    if (__rseq_size) {
        const struct rseq *r =
            (const struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
        add(", restartable sequences %s", (int)r->cpu_id >= 0 ? "yes" : "no");
    }
#endif
}

/* ---- all of them ---- */

/* In the order in which a side takes them on: the session is a process of its own, rights are given
 * up last. */
static const struct attribute {
    const char *name;
    void (*show)(void);
    bool (*take)(int side); /* NULL: it cannot be chosen, or another one brings it */
} all[] = {
    { "session", show_session, take_session },
    { "terminal", show_terminal, NULL },
    { "process group", show_group, NULL },
    { "environment", show_environment, take_environment },
    { "directory", show_directory, take_directory },
    { "root directory", show_root, NULL },
    { "umask", show_umask, take_umask },
    { "nice", show_nice, take_nice },
    { "scheduling policy", show_policy, take_policy },
    { "I/O priority", show_io_priority, take_io_priority },
    { "processors", show_processors, take_processors },
    { "memory policy", show_memory_policy, take_memory_policy },
    { "large pages", show_large_pages, take_large_pages },
    { "memory errors", show_memory_errors, take_memory_errors },
    { "timer slack", show_timer_slack, take_timer_slack },
    { "personality", show_personality, take_personality },
    { "OOM score", show_oom, take_oom },
    { "core dump filter", show_core_filter, take_core_filter },
    { "signals blocked", show_blocked, take_blocked },
    { "signals ignored", show_ignored, take_ignored },
    { "signals caught", show_caught, NULL },
    { "signals pending", show_pending, take_pending },
    { "signal stack", show_stack_of_signals, NULL },
    { "timers", show_timers, take_timers },
    { "signal at the parent's death", show_death, take_death },
    { "adopts orphans", show_adopts, take_adopts },
    { "input", show_input, NULL },
    { "output", show_output, NULL },
    { "errors", show_errors, NULL },
    { "descriptors", show_descriptors, take_descriptors },
    { "user", show_user, NULL },
    { "group", show_main_group, NULL },
    { "groups", show_groups, take_groups },
    { "session keyring", show_keys, take_keys },
    { "host name", show_host_name, NULL },
    { "control group", show_control_group, NULL },
    { "security label", show_label, NULL },
    { "audit id", show_audit, NULL },
    { "dumpable", show_dumpable, NULL },
    { "memory writable and executable", show_written_code, NULL },
    { "I/O flusher", show_io_flusher, NULL },
    { "kept capabilities", show_kept_capabilities, NULL },
    { "tracer", show_tracer, NULL },
    { "short name", show_short_name, NULL },
    { "program", show_program, NULL },
    { "words", show_words, NULL },
    { "threads", show_threads, NULL },
    { "locked memory", show_locked_memory, NULL },
    { "shared memory", show_shared_memory, NULL },
    { "own numbers", show_own_numbers, NULL },
    { "registered with the kernel", show_registered, NULL },
    { "capabilities", show_capabilities, take_capabilities },
    { "secure bits", show_secure_bits, take_secure_bits },
    { "no new privileges", show_new_privileges, take_new_privileges },
    { "system call filters", show_filters, take_filters },
};

enum { NALL = sizeof all / sizeof *all };

/* `take` of the at-th name that a side takes on: limits and name spaces come before what needs no more
 * right than it has. */
static bool take(size_t at, int side)
{
    if (at < NLIMITS)
        return take_limit(at, side);
    at -= NLIMITS;
    if (at < NSPACES)
        return spaces[at].flag == 0 || take_space(at, side);
    return !all[at - NSPACES].take || all[at - NSPACES].take(side);
}

/* NULL: nobody chooses it. */
static const char *name_of(size_t at)
{
    static char name[64];

    if (at < NLIMITS)
        snprintf(name, sizeof name, "limit %s", limits[at].name);
    else if (at - NLIMITS < NSPACES)
        snprintf(name, sizeof name, "name space of %s", spaces[at - NLIMITS].name);
    else
        return all[at - NLIMITS - NSPACES].take ? all[at - NLIMITS - NSPACES].name : NULL;
    return at < NLIMITS || spaces[at - NLIMITS].flag ? name : NULL;
}

enum { NTAKEN = NLIMITS + NSPACES + NALL };

/* The session first: it is a process of its own, and what comes next is that one's. */
static void take_all(int side)
{
    taking = side;
    take_session(side);
    for (size_t i = 0; i < NTAKEN; i++) {
        if (i != NLIMITS + NSPACES)
            take(i, side);
    }
}

static int be_side(char **argv)
{
    take_all(atoi(argv[2]));
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}

static int be_side_in(char **argv)
{
    bool good = false;

    taking = atoi(argv[3]);
    for (size_t i = 0; i < NTAKEN; i++) {
        const char *name = name_of(i);
        if (name && !strcmp(name, argv[2]))
            good = take(i, taking);
    }
    if (!good)
        return 126;
    execvp(argv[4], argv + 4);
    return 127;
}

static bool can_take(size_t i)
{
    int status = 1;
    pid_t pid;

    for (int side = 1; side <= 2; side++) {
        fflush(stdout);
        pid = fork();
        if (pid == 0) {
            taking = side;
            _exit(!take(i, side));
        }
        if (waitpid(pid, &status, 0) < 0 || status)
            return false;
    }
    return true;
}

static int print_sides(void)
{
    for (size_t i = 0; i < NTAKEN; i++) {
        if (name_of(i))
            printf("%s\t%s\n", name_of(i), can_take(i) ? "yes" : "no");
    }
    return 0;
}

/* ---- output ---- */

/* Whoever waits for the file finds all of it. */
static int write_whole(const char *path, const char *text, size_t n)
{
    char made[PATH_MAX];
    FILE *f;

    snprintf(made, sizeof made, "%.4000s.new", path);
    f = fopen(made, "w");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) || rename(made, path) < 0) {
        perror(path);
        return 1;
    }
    return 0;
}

static int write_lines(void)
{
    const char *rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMIX_RANK");
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/seen.%s", dir(), rank ? rank : "0");
    return write_whole(path, lines, nlines);
}

static int show(void)
{
    for (size_t i = 0; i < NALL; i++) {
        all[i].show();
        line(all[i].name);
    }
    show_limits();
    show_spaces();
    return write_lines();
}

static int show_again(void)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/seen.tried", dir());
    if (open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) < 0 && errno == EEXIST)
        return show();
    return 3;
}

static int wait_here(const char *file, const char *fifo)
{
    char number[32];
    int n = snprintf(number, sizeof number, "%d\n", getpid());

    return write_whole(file, number, (size_t)n) || open(fifo, O_RDONLY | O_CLOEXEC) < 0;
}

/* ---- what is seen of another process ---- */

static void show_of(const char *who, const char *name, const char *file)
{
    static char text[1 << 18];
    char path[64];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%s/%s", who, file);
    n = read_file(path, text, sizeof text);
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    put("%s", text);
    line(name);
}

static void show_link_of(const char *who, const char *name, const char *file)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%s/%s", who, file);
    show_link(path);
    line(name);
}

static void show_status_of(const char *who)
{
    static const char *const names[] = { "Name",
                                         "Umask",
                                         "Uid",
                                         "Gid",
                                         "Groups",
                                         "Threads",
                                         "SigPnd",
                                         "ShdPnd",
                                         "SigBlk",
                                         "SigIgn",
                                         "SigCgt",
                                         "CapInh",
                                         "CapPrm",
                                         "CapEff",
                                         "CapBnd",
                                         "CapAmb",
                                         "NoNewPrivs",
                                         "Seccomp",
                                         "Seccomp_filters",
                                         "Cpus_allowed_list",
                                         "Mems_allowed_list",
                                         "TracerPid",
                                         "VmLck" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        do /* while it starts us, it blocks all signals */
            show_status(who, names[i]);
        while (!strcmp(names[i], "SigBlk") && !strncmp(value, "ffff", 4) && usleep(1000) == 0);
        line(names[i]);
    }
}

/* The kinds of its descriptors, each once, and those that a program would inherit. */
static void show_descriptors_of(const char *who)
{
    char path[64], info[4096], kinds[1024] = "";
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%s/fd", who);
    d = opendir(path);
    while (d && (e = readdir(d))) {
        int fd = atoi(e->d_name);
        if (e->d_name[0] == '.' || fd < 3)
            continue;
        snprintf(path, sizeof path, "/proc/%s/fdinfo/%d", who, fd);
        read_file(path, info, sizeof info);
        if (strstr(info, "flags:") && !(strtol(strstr(info, "flags:") + 6, NULL, 8) & O_CLOEXEC))
            snprintf(kinds + strlen(kinds), sizeof kinds - strlen(kinds), "%d ", fd);
    }
    if (d)
        closedir(d);
    put("%s", kinds);
    line("descriptors for programs");
    for (int fd = 0; fd < 3; fd++) {
        add_descriptor(who, fd);
        add(" ");
    }
    line("standard streams");
}

static void show_ids_of(const char *who)
{
    pid_t pid = atoi(who);
    char number[32];

    put("%s", getpgid(pid) == pid ? "its own" : "another's");
    line("process group");
    snprintf(number, sizeof number, "%d", getsid(pid));
    put_side("session", number);
    line("session");
    put("%d %d %ld", sched_getscheduler(pid), getpriority(PRIO_PROCESS, (id_t)pid),
        syscall(SYS_ioprio_get, 1, pid));
    line("policy, nice, I/O priority");
}

static void show_environment_of(const char *who)
{
    static char text[1 << 18];
    char path[64];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%s/environ", who);
    n = read_file(path, text, sizeof text);
    put_environment(text, (size_t)n);
    line("environment");
}

static int show_parent(void)
{
    char who[32];

    snprintf(who, sizeof who, "%d", getppid());
    show_of(who, "words", "cmdline");
    show_link_of(who, "program", "exe");
    show_link_of(who, "directory", "cwd");
    show_link_of(who, "root directory", "root");
    show_environment_of(who);
    show_status_of(who);
    show_of(who, "limits", "limits");
    show_of(who, "OOM score", "oom_score_adj");
    show_of(who, "core dump filter", "coredump_filter");
    show_of(who, "timer slack", "timerslack_ns");
    show_of(who, "personality", "personality");
    show_of(who, "control group", "cgroup");
    for (size_t i = 0; i < NSPACES; i++) {
        char path[32];
        snprintf(path, sizeof path, "ns/%s", spaces[i].file);
        show_link_of(who, spaces[i].name, path);
    }
    show_ids_of(who);
    show_descriptors_of(who);
    return write_lines();
}

/* ---- what has to differ ---- */

static void line_bytes(const char *name, const void *bytes, size_t n)
{
    value[0] = '\0';
    for (size_t i = 0; i < n; i++)
        add("%02x", ((const unsigned char *)bytes)[i]);
    line(name);
}

static void line_address(const char *name, const void *at)
{
    put("%p", at);
    line(name);
}

#if defined __x86_64__
static uint64_t canary(void)
{
    uint64_t v;

    __asm__("mov %%fs:0x28, %0" : "=r"(v));
    return v;
}
#else
extern uintptr_t __stack_chk_guard;
static uint64_t canary(void)
{
    return __stack_chk_guard;
}
#endif

static void show_generators(void)
{
    unsigned char bytes[16];

    syscall(SYS_getrandom, bytes, sizeof bytes, 0);
    line_bytes("random: of the kernel", bytes, sizeof bytes);
#if __GLIBC_PREREQ(2, 36)
    arc4random_buf(bytes, sizeof bytes);
    line_bytes("random: of the C library", bytes, sizeof bytes);
#endif
#ifdef SODIUM
    if (sodium_init() >= 0) {
        unsigned char *secret = sodium_malloc(16);
        randombytes_buf(bytes, sizeof bytes);
        line_bytes("random: of libsodium", bytes, sizeof bytes);
        if (secret) /* its guard is just before */
            line_bytes("random: libsodium's guard", secret - 16, 16);
        sodium_free(secret);
    }
#endif
}

static int show_random(void)
{
    uint64_t guard = canary();
    const void *bytes = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    void *heap = malloc(100);

    put("%d", getpid());
    line("random: number of the process");
    if (bytes)
        line_bytes("random: bytes of the start", bytes, 16);
    line_bytes("random: guard of the stack", &guard, sizeof guard);
    line_address("random: address of the program", (const void *)(uintptr_t)show_random);
    line_address("random: address of libraries", (const void *)(uintptr_t)puts);
    line_address("random: address of the stack", &guard);
    line_address("random: address of the heap", heap);
    free(heap);
    show_generators();
    return write_lines();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    words = argv;
    if (argc > 3 && !strcmp(what, "as"))
        return be_side(argv);
    if (argc > 4 && !strcmp(what, "only"))
        return be_side_in(argv);
    if (!strcmp(what, "sides"))
        return print_sides();
    if (!strcmp(what, "show"))
        return show();
    if (!strcmp(what, "again"))
        return show_again();
    if (argc > 3 && !strcmp(what, "wait"))
        return wait_here(argv[2], argv[3]);
    if (!strcmp(what, "parent"))
        return show_parent();
    return strcmp(what, "random") ? 2 : show_random();
}
