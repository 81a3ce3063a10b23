/* checks.c - see checks.h. */
#include "lib/zygote/checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/zygote_msg.h"
#include "lib/zygote/names.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

/* Without stdio, which the program may buffer: reads a file of /proc line by line; stops when
 * `line` returns true. */
static bool any_line(const char *path, bool (*line)(const char *text))
{
    char text[4096];
    size_t have = 0;
    bool found = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && !found) {
        ssize_t n = read(fd, text + have, sizeof text - 1 - have);
        char *at = text, *end;

        if (n <= 0)
            break;
        have += (size_t)n;
        text[have] = '\0';
        for (; !found && (end = strchr(at, '\n')); at = end + 1) {
            *end = '\0';
            found = line(at);
        }
        have = strlen(at);
        if (have == sizeof text - 1)
            have = 0; /* a line longer than all that matter */
        memmove(text, at, have);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static bool counts_threads(const char *line)
{
    return !strncmp(line, "Threads:", 8) && strtol(line + 8, NULL, 10) > 1;
}

static bool has_threads(struct checks *c)
{
    (void)c;
    return any_line("/proc/self/status", counts_threads);
}

static bool counts_locked(const char *line)
{
    return !strncmp(line, "VmLck:", 6) && strtol(line + 6, NULL, 10) > 0;
}

static bool locks_memory(struct checks *c)
{
    (void)c;
    return any_line("/proc/self/status", counts_locked);
}

/* "ADDRESS-ADDRESS rw-s OFFSET DEVICE INODE PATH": what one rank writes there, all would see. */
static bool is_shared(const char *line)
{
    const char *rights = strchr(line, ' ');

    return rights && strlen(rights) > 4 && rights[2] == 'w' && rights[4] == 's';
}

static bool shares_memory(struct checks *c)
{
    (void)c;
    return any_line("/proc/self/maps", is_shared);
}

/* MADV_DONTFORK: a rank would end at the first look at it. */
static bool is_kept_back(const char *line)
{
    return !strncmp(line, "VmFlags:", 8) && strstr(line + 8, " dc");
}

static bool keeps_memory_back(struct checks *c)
{
    (void)c;
    return any_line("/proc/self/smaps", is_kept_back);
}

static bool has_pending_signals(struct checks *c)
{
    sigset_t pending;

    (void)c;
    return sigpending(&pending) < 0 || !sigisemptyset(&pending);
}

static bool adopts_orphans(struct checks *c)
{
    int adopts = 0;

    (void)c;
    return prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts;
}

static bool has_children(struct checks *c)
{
    siginfo_t info;

    (void)c;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

static bool has_descriptors(struct checks *c)
{
    DIR *all = opendir("/proc/self/fd");
    bool found = !all;
    struct dirent *e;

    (void)c;
    while (all && !found && (e = readdir(all))) {
        int fd = e->d_name[0] == '.' ? -1 : atoi(e->d_name);
        found = fd >= ZYGOTE_FDS_END && fd != dirfd(all);
    }
    if (all)
        closedir(all);
    return found;
}

static bool has_written(struct checks *c)
{
    int n;

    (void)c;
    return ioctl(STDOUT_FILENO, FIONREAD, &n) < 0 || n > 0;
}

static bool has_timers(struct checks *c)
{
    static const enum __itimer_which kinds[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
    struct itimerval t;
    char byte;
    int fd = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && read(fd, &byte, 1) > 0;

    (void)c;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; !found && i < sizeof kinds / sizeof *kinds; i++)
        found = getitimer(kinds[i], &t) < 0 || t.it_value.tv_sec || t.it_value.tv_usec;
    return found;
}

static bool has_any(const char *const *names)
{
    for (; *names; names++) {
        if (names_exist(*names))
            return true;
    }
    return false;
}

static bool is_sanitized(struct checks *c)
{
    static const char *const names[] = { "__asan_init", "__tsan_init",   "__msan_init",
                                         "__lsan_init", "__hwasan_init", NULL };

    (void)c;
    return has_any(names);
}

static bool counts_processors(struct checks *c)
{
    static const char *const names[] = { "omp_get_max_threads", "__kmpc_fork_call", NULL };

    return c->bound && has_any(names);
}

static bool is_bound(struct checks *c)
{
    return c->bound_itself;
}

static bool has_lost_handlers(struct checks *c)
{
    return c->handlers_lost;
}

/* Before 2.25 getpid() answered from memory. */
static bool is_old(struct checks *c)
{
    const char *version = gnu_get_libc_version();
    char *end;
    long major = strtol(version, &end, 10);

    (void)c;
    return major < 2 || (major == 2 && (*end != '.' || strtol(end + 1, NULL, 10) < 25));
}

static bool cannot_fork(struct checks *c)
{
    return prctl(PR_GET_TID_ADDRESS, &c->thread_number) < 0 || !c->thread_number ||
           (syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
}

static const struct {
    bool (*is_so)(struct checks *c);
    const char *why;
} rows[] = {
    { is_sanitized, "it is built with a sanitizer" },
    { is_old, "its C library is older than 2.25" },
    { cannot_fork, "this kernel lacks calls for it (clone3, PR_GET_TID_ADDRESS)" },
    { has_threads, "its libraries start threads while they are loaded" },
    { has_children, "its libraries start processes while they are loaded" },
    { has_descriptors, "its libraries open files or connections while they are loaded" },
    { shares_memory, "its libraries share memory while they are loaded" },
    { locks_memory, "its libraries lock memory while they are loaded" },
    { keeps_memory_back, "its libraries keep memory from forked processes while they are loaded" },
    { has_pending_signals, "its libraries send themselves signals while they are loaded" },
    { adopts_orphans, "its libraries adopt processes while they are loaded" },
    { has_timers, "its libraries set timers while they are loaded" },
    { has_written, "its libraries write to standard output or error while they are loaded" },
    { is_bound, "its libraries bind it to processors while they are loaded" },
    { counts_processors, "OpenMP counts a rank's processors while it is loaded" },
    { has_lost_handlers, "its libraries register too many fork handlers" },
};

const char *checks_why_not(struct checks *c)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].is_so(c))
            return rows[i].why;
    }
    return NULL;
}
