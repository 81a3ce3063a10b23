/* look.c - see look.h. */
#include "io/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    LOOK_TEXT = 1024,
    LOOK_PASTS = 1024,  /* a power of two */
    LOOK_CHILDREN = 8,  /* scripts that start scripts */
    LOOK_AGAIN_MS = 500 /* looks that follow each other faster count from the same one */
};

/* An earlier look at a process; they share a slot when their pids are that far apart. */
struct look_past {
    int pid;
    unsigned long long start; /* of the process, in ticks: the pid may be another's by now */
    uint64_t at_ns, cpu_ns;
};

/* ---- files in /proc ---- */

static bool read_proc(int pid, const char *file, char text[LOOK_TEXT])
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, LOOK_TEXT - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

struct stat_line {
    char state;
    unsigned long long cpu_ticks, start;
    long pages; /* resident */
};

static bool read_stat(int pid, struct stat_line *s)
{
    unsigned long long user, system;
    char text[LOOK_TEXT], *end;

    if (!read_proc(pid, "stat", text))
        return false;
    end = strrchr(text, ')'); /* the name before it may contain anything */
    if (!end || sscanf(end + 1,
                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d"
                       " %*d %llu %*u %ld",
                       &s->state, &user, &system, &s->start, &s->pages) != 5)
        return false;
    s->cpu_ticks = user + system;
    return true;
}

/* ---- what it waits in ---- */

/* Those that programs wait in. */
static const struct {
    long number;
    const char *name;
} calls[] = {
    { SYS_read, "read" },
    { SYS_readv, "readv" },
    { SYS_write, "write" },
    { SYS_writev, "writev" },
    { SYS_pread64, "pread" },
    { SYS_pwrite64, "pwrite" },
    { SYS_ppoll, "poll" },
    { SYS_pselect6, "select" },
    { SYS_epoll_pwait, "epoll_wait" },
    { SYS_futex, "futex" },
    { SYS_nanosleep, "nanosleep" },
    { SYS_clock_nanosleep, "nanosleep" },
    { SYS_rt_sigsuspend, "sigsuspend" },
    { SYS_rt_sigtimedwait, "sigwait" },
    { SYS_wait4, "wait" },
    { SYS_waitid, "wait" },
    { SYS_accept, "accept" },
    { SYS_accept4, "accept" },
    { SYS_connect, "connect" },
    { SYS_recvfrom, "recv" },
    { SYS_recvmsg, "recv" },
    { SYS_sendto, "send" },
    { SYS_sendmsg, "send" },
    { SYS_openat, "open" },
    { SYS_close, "close" },
    { SYS_fsync, "fsync" },
    { SYS_fcntl, "fcntl" },
    { SYS_flock, "flock" },
    { SYS_semtimedop, "semop" },
    { SYS_msgrcv, "msgrcv" },
#ifdef SYS_poll /* older machines have these besides */
    { SYS_poll, "poll" },
    { SYS_select, "select" },
    { SYS_epoll_wait, "epoll_wait" },
    { SYS_pause, "pause" },
    { SYS_open, "open" },
#endif
};

/* `running`, or the number of a system call, -1 if it is in none, and its arguments. */
static bool waits_in_call(const char *text, char *name, size_t size)
{
    long number;

    if (sscanf(text, "%ld", &number) != 1 || number < 0)
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].number == number) {
            snprintf(name, size, "%s", calls[i].name);
            return true;
        }
    }
    snprintf(name, size, "system call %ld", number);
    return true;
}

static void find_wait(int pid, struct proc_look *look)
{
    char text[LOOK_TEXT];

    look->waits_in[0] = '\0';
    if (look->state == 'R' || look->state == 'T' || look->state == 't' || look->state == 'Z')
        return;
    if (read_proc(pid, "syscall", text) &&
        waits_in_call(text, look->waits_in, sizeof look->waits_in))
        return;
    if (read_proc(pid, "wchan", text) && strcmp(text, "0") != 0)
        snprintf(look->waits_in, sizeof look->waits_in, "%.*s", PROC_LOOK_WAIT_MAX - 1, text);
}

/* The only child of a process that waits for it; 0: there is none. */
static int only_child(int pid)
{
    char file[48], text[LOOK_TEXT], wait[PROC_LOOK_WAIT_MAX];
    int child, further;

    snprintf(file, sizeof file, "task/%d/children", pid);
    if (!read_proc(pid, "syscall", text) || !waits_in_call(text, wait, sizeof wait) ||
        strcmp(wait, "wait") != 0 || !read_proc(pid, file, text))
        return 0;
    return sscanf(text, "%d %d", &child, &further) == 1 && child > 0 ? child : 0;
}

static int follow(int pid)
{
    int child;

    for (int i = 0; i < LOOK_CHILDREN && (child = only_child(pid)) != 0; i++)
        pid = child;
    return pid;
}

/* ---- its MPI library ---- */

static bool is_mpi_library(const char *path)
{
    const char *name = strrchr(path, '/');

    return name && (!strncmp(name, "/libmpi.so", 10) || !strncmp(name, "/libmpich.so", 12) ||
                    !strncmp(name, "/libmpi_cray.so", 15) || !strncmp(name, "/libmpi_abi.so", 14));
}

static void find_mpi(int pid, struct proc_look *look)
{
    char path[64], *line = NULL;
    size_t room = 0;
    FILE *f;

    look->mpi[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/maps", pid);
    f = fopen(path, "re");
    while (f && getline(&line, &room, f) > 0) {
        char *file = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (file && is_mpi_library(file)) {
            snprintf(look->mpi, sizeof look->mpi, "%s", file);
            break;
        }
    }
    free(line);
    if (f)
        fclose(f);
}

/* ---- CPU time ---- */

static uint64_t ns_of_ticks(unsigned long long ticks)
{
    return ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

static uint64_t lived_ns(const struct stat_line *s)
{
    uint64_t born = ns_of_ticks(s->start), now;
    struct timespec t;

    if (clock_gettime(CLOCK_BOOTTIME, &t) < 0)
        return 0;
    now = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
    return now > born ? now - born : 0;
}

static void count_cpu(struct proc_looks *l, int pid, const struct stat_line *s,
                      struct proc_look *look)
{
    uint64_t now = clock_now_ns(), cpu = ns_of_ticks(s->cpu_ticks);
    struct look_past *p;
    bool known;

    look->cpu_ns = look->total_ns = cpu;
    look->over_ns = lived_ns(s);
    if (!l->past)
        l->past = calloc(LOOK_PASTS, sizeof *l->past);
    if (!l->past)
        return;
    p = &l->past[(unsigned)pid % LOOK_PASTS];
    known = p->pid == pid && p->start == s->start && cpu >= p->cpu_ns;
    if (known && now - p->at_ns < LOOK_AGAIN_MS * NS_PER_MS)
        return;
    if (known) {
        look->cpu_ns = cpu - p->cpu_ns;
        look->over_ns = now - p->at_ns;
    }
    *p = (struct look_past){ pid, s->start, now, cpu };
}

int proc_look_usage(struct proc_looks *l, int pid, struct proc_look *look)
{
    struct stat_line s;

    memset(look, 0, sizeof *look);
    pid = follow(pid);
    if (!read_stat(pid, &s))
        return -ESRCH;
    look->pid = pid;
    look->state = s.state;
    look->rss = s.pages > 0 ? (uint64_t)s.pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
    count_cpu(l, pid, &s, look);
    return 0;
}

int proc_look_at(struct proc_looks *l, int pid, struct proc_look *look)
{
    int rc = proc_look_usage(l, pid, look);

    if (rc < 0)
        return rc;
    find_wait(look->pid, look);
    find_mpi(look->pid, look);
    return 0;
}

void proc_looks_free(struct proc_looks *l)
{
    free(l->past);
    l->past = NULL;
}
