/* prefork.c - a program that is started as usual, or forked; each rank says what it sees of itself.
 *
 *   prefork state WORDS...   all that a start decides: one line each, without numbers of processes
 *   prefork how              "forked" or "started", and the marks of the fork handlers
 *   prefork exit             rank 1 exits with 4
 *   prefork signal           rank 1 kills itself
 *   prefork wait             says so, and waits
 *   prefork again FILE       as how; rank 1 makes FILE, and exits with 3 if it was not there
 *   prefork alone FILE       likewise, and first it kills what its parent forks for its ranks
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;
extern char odd_marks[];

static const char *rank;
static char text[1 << 16];
static int begun; /* by a constructor of the program itself, with the rank's environment */

__attribute__((constructor)) static void begin(void)
{
    begun += getenv("PMI_RANK") != NULL;
}

static void print(const char *name, const char *value)
{
    printf("%s %s: %s\n", rank, name, value);
}

static void print_number(const char *name, long value)
{
    printf("%s %s: %ld\n", rank, name, value);
}

/* Numbers of pipes and sockets are different each time. */
static void print_masked(const char *name, char *value)
{
    for (char *c = value; *c; c++) {
        if (isdigit((unsigned char)*c))
            *c = '#';
    }
    print(name, value);
}

/* With each NUL as '|'. */
static const char *read_all(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n, have = 0;

    while (fd >= 0 && (n = read(fd, text + have, sizeof text - 1 - (size_t)have)) > 0)
        have += n;
    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i < have; i++)
        text[i] = text[i] ? text[i] : '|';
    text[have] = '\0';
    return text;
}

static void print_file(const char *path)
{
    print(path, read_all(path));
}

static void print_descriptors(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char path[64], to[256], name[96];
        ssize_t n;

        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        n = readlink(path, to, sizeof to - 1);
        if (n < 0)
            continue;
        to[n] = '\0';
        snprintf(name, sizeof name, "descriptor %d (%o, %d)", fd, fcntl(fd, F_GETFL),
                 fcntl(fd, F_GETFD));
        print_masked(name, to);
    }
}

/* Lines of /proc/self/status that a start decides. */
static void print_status(void)
{
    static const char *const names[] = { "Name",
                                         "Umask",
                                         "Uid",
                                         "Gid",
                                         "Groups",
                                         "Threads",
                                         "SigQ",
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
                                         "Cpus_allowed_list",
                                         "Mems_allowed_list",
                                         "TracerPid" };
    char *line, *rest;

    read_all("/proc/self/status");
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t len = strlen(names[i]);
            if (!strncmp(line, names[i], len) && line[len] == ':' && strcmp(names[i], "SigQ"))
                print(names[i], line + len + 1);
        }
    }
}

static void print_environment(char **env)
{
    char *copy;

    for (char **e = environ; *e; e++) {
        char *value = strchr(*e, '='), name[256];
        snprintf(name, sizeof name, "variable %.*s", (int)(value ? value - *e : 0), *e);
        copy = strdup(value ? value + 1 : *e);
        /* Names of jobs, addresses and secrets differ in each run. */
        if (strstr(name, "URI") || strstr(name, "uri") || strstr(name, "NAMESPACE") ||
            strstr(name, "PMI_ID") || strstr(name, "PMI_PORT"))
            print(name, "some");
        else
            print(name, copy);
        free(copy);
    }
    print("the third argument of main", env == environ ? "the environment" : "another");
}

/* What /proc shows is what the program has. */
static void print_shown(void)
{
    const char *shown = read_all("/proc/self/environ"), *at = shown;
    int wrong = 0;

    for (char **e = environ; *e; e++) {
        size_t len = strlen(*e);
        wrong += strncmp(at, *e, len) != 0 || at[len] != '|';
        at += strlen(at) > len ? len + 1 : 0;
    }
    print_number("variables shown wrongly in /proc", wrong + (*at != '\0'));
}

/* By the number that the C library keeps of the thread. */
static int owner_of_mutex(void)
{
    pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

    pthread_mutex_lock(&m);
    return m.__data.__owner;
}

static void print_numbers(void)
{
    char parent[64];
    int value = 0;

    print_number("begun", begun);
    print_number("leads its group", getpgrp() == getpid());
    print_number("is its thread", syscall(SYS_gettid) == getpid());
    print_number("is its thread to mutexes, too", owner_of_mutex() == getpid());
    snprintf(parent, sizeof parent, "/proc/%d/comm", (int)getppid());
    print("parent", read_all(parent));
    snprintf(parent, sizeof parent, "%d %d", sched_getscheduler(0), getpriority(PRIO_PROCESS, 0));
    print("policy, priority", parent);
    prctl(PR_GET_PDEATHSIG, &value);
    print_number("signal at the parent's death", value);
    prctl(PR_GET_CHILD_SUBREAPER, &value);
    print_number("adopts", value);
    print_number("can be traced", prctl(PR_GET_DUMPABLE));
    print_number("session is the parent's", getsid(0) == getsid(getppid()));
}

static int print_state(int argc, char **argv, char **env)
{
    char path[4096] = "";

    for (int i = 0; i < argc; i++)
        print("word", argv[i]);
    print("directory", getcwd(path, sizeof path) ? path : "none");
    path[readlink("/proc/self/exe", path, sizeof path - 1)] = '\0';
    print("program", path);
    print("short name", program_invocation_short_name);
    print_environment(env);
    print_shown();
    print_descriptors();
    print_status();
    print_file("/proc/self/limits");
    print_file("/proc/self/cgroup");
    print_file("/proc/self/cmdline");
    print_file("/proc/self/oom_score_adj");
    print_file("/proc/self/timerslack_ns");
    print_file("/proc/self/personality");
    print_numbers();
    return 0;
}

static int print_how(void)
{
    printf("%s %s%s\n", rank,
           strstr(read_all("/proc/self/maps"), "libwireup-prefork") ? "forked" : "started",
           odd_marks);
    return 0;
}

/* A child of our parent that is no rank. */
static bool is_zygote(const char *pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    return !strstr(read_all(path), "PMI_RANK=");
}

static void kill_zygotes(void)
{
    char path[64], all[4096], *rest = all;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", getppid(), getppid());
    snprintf(all, sizeof all, "%s", read_all(path));
    for (char *pid; (pid = strsep(&rest, " "));) {
        if (*pid && is_zygote(pid))
            kill(atoi(pid), SIGKILL);
    }
}

static int fail_once(const char *file, bool alone)
{
    print_how();
    fflush(stdout);
    if (strcmp(rank, "1") || open(file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) < 0)
        return 0;
    if (alone)
        kill_zygotes();
    return 3;
}

static int wait_here(void)
{
    puts("waiting");
    fflush(stdout);
    for (;;)
        pause();
}

int main(int argc, char **argv, char **env)
{
    const char *what = argc > 1 ? argv[1] : "";

    rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("PMI_ID") ? getenv("PMI_ID") : "?";
    if (!strcmp(what, "state"))
        return print_state(argc, argv, env);
    if (!strcmp(what, "how"))
        return print_how();
    if (argc > 2 && (!strcmp(what, "again") || !strcmp(what, "alone")))
        return fail_once(argv[2], !strcmp(what, "alone"));
    if (!strcmp(what, "exit"))
        return strcmp(rank, "1") ? 0 : 4;
    if (!strcmp(what, "signal") && !strcmp(rank, "1"))
        kill(getpid(), SIGKILL);
    return strcmp(what, "wait") ? 0 : wait_here();
}
