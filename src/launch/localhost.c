/* localhost.c - see localhost.h. */
#include "launch/localhost.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/slice.h"
#include "io/ip_address.h"

/* Descriptors that the launcher holds for each local process: its PMI socket, its two output pipes
 * and one for its exit; and those it needs for itself. */
enum { FDS_PER_PROC = 4, FDS_OWN = 64 };

/* Jobs below this size are far from any pid_max, thread or cgroup limit of a sane machine. */
enum { SMALL_JOB = 256 };

/* /etc/hosts larger than this is not read. */
enum { HOSTS_FILE_MAX = 4 << 20 };

void localhost_init(struct localhost *m, const char *localhost)
{
    memset(m, 0, sizeof *m);
    buf_init(&m->hosts_file, HOSTS_FILE_MAX);
    if (gethostname(m->system_name, sizeof m->system_name - 1) != 0 || !m->system_name[0])
        snprintf(m->system_name, sizeof m->system_name, "localhost");
    snprintf(m->name, sizeof m->name, "%s", localhost ? localhost : m->system_name);
}

void localhost_free(struct localhost *m)
{
    if (m->addresses)
        freeifaddrs(m->addresses);
    m->addresses = NULL;
    buf_free(&m->hosts_file);
}

static int read_all(int fd, struct buf *out)
{
    ssize_t n = 1;

    while (n > 0) {
        char *room = buf_room(out, 4096);
        if (!room) {
            /* The maximum need not be a multiple of the step. */
            n = out->error == BUF_TOO_LONG ? -EFBIG : -ENOMEM;
            break;
        }
        n = read(fd, room, 4096);
        if (n > 0)
            buf_commit(out, (size_t)n);
        else if (n < 0)
            n = errno == EINTR ? 1 : -errno;
    }
    return n < 0 ? (int)n : 0;
}

int localhost_read_file(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int rc = fd < 0 ? -errno : read_all(fd, out);

    if (fd >= 0)
        close(fd);
    return rc;
}

int localhost_read_plain_file(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    int rc = fd < 0 || fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;

    if (rc == 0)
        rc = read_all(fd, out);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* Until the program closes its end, or the time is up. */
static int collect(int fd, struct buf *out, unsigned ms)
{
    uint64_t until = clock_now_ns() + ms * NS_PER_MS;

    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        uint64_t now = clock_now_ns();
        char *room = buf_room(out, 4096);
        ssize_t n;

        if (!room)
            return -ENOMEM;
        if (now >= until || poll(&p, 1, (int)((until - now) / NS_PER_MS + 1)) == 0)
            return -ETIMEDOUT;
        n = read(fd, room, 4096);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        buf_commit(out, n > 0 ? (size_t)n : 0);
    }
}

/* With default signal dispositions, whatever we ignore, and in a group of its own, which can be
 * killed as one. */
static int spawn(const char *const *argv, char *const *envp, int out, pid_t *pid_p)
{
    posix_spawn_file_actions_t acts;
    posix_spawnattr_t attr;
    sigset_t all, none;
    int rc;

    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_init(&acts);
    posix_spawn_file_actions_addopen(&acts, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&acts, out, 1);
    rc = -posix_spawnp(pid_p, argv[0], &acts, &attr, (char *const *)(uintptr_t)argv, envp);
    posix_spawn_file_actions_destroy(&acts);
    posix_spawnattr_destroy(&attr);
    return rc;
}

int localhost_run(const char *const *argv, char *const *envp, struct buf *out, unsigned ms)
{
    int ends[2], status = 0, rc;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    rc = spawn(argv, envp, ends[1], &pid);
    close(ends[1]);
    if (rc == 0) {
        rc = collect(ends[0], out, ms);
        if (rc)
            kill(-pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
        if (rc == 0 && status != 0)
            rc = -EIO;
    }
    close(ends[0]);
    return rc;
}

/* ---- names ---- */

/* Equal, or equal up to the first dot when one of them has no domain. */
static bool same_name(const char *a, const char *b)
{
    size_t na = strcspn(a, "."), nb = strcspn(b, ".");

    if (strcasecmp(a, b) == 0)
        return true;
    return na == nb && strncasecmp(a, b, na) == 0 && (!a[na] || !b[nb]);
}

static bool is_loopback(const struct ip_address *a)
{
    static const unsigned char six[16] = { [15] = 1 };

    return a->family == AF_INET ? a->bytes[0] == 127 : memcmp(a->bytes, six, 16) == 0;
}

static void ask_addresses(struct localhost *m)
{
    if (!m->asked && getifaddrs(&m->addresses) != 0)
        m->addresses = NULL;
    m->asked = true;
}

static bool is_ours(struct localhost *m, const struct ip_address *a)
{
    ask_addresses(m);
    for (const struct ifaddrs *i = m->addresses; i; i = i->ifa_next) {
        struct ip_address own = ip_address_of(i->ifa_addr);
        if (ip_address_equal(&own, a))
            return true;
    }
    return false;
}

static void read_hosts_file(struct localhost *m)
{
    if (!m->read && localhost_read_file("/etc/hosts", &m->hosts_file) < 0)
        buf_free(&m->hosts_file);
    m->read = true;
}

static bool address_is_here(struct localhost *m, const struct ip_address *a)
{
    return is_loopback(a) || is_ours(m, a);
}

static struct slice next_word(struct slice *rest)
{
    struct slice word;

    *rest = slice_trim(*rest);
    for (size_t i = 0; i <= rest->len; i++) {
        if (i == rest->len || rest->ptr[i] == ' ' || rest->ptr[i] == '\t') {
            word = slice_head(*rest, i);
            *rest = slice_skip(*rest, i);
            return word;
        }
    }
    return SLICE_NULL;
}

/* Whether a line of /etc/hosts gives `name` an address of ours. */
static bool line_names_us(struct localhost *m, struct slice line, struct slice name)
{
    struct slice rest = slice_head(line, slice_find(line, '#'));
    struct slice first = next_word(&rest), word;
    struct ip_address a;

    while ((word = next_word(&rest)).len) {
        if (word.len == name.len && strncasecmp(word.ptr, name.ptr, name.len) == 0)
            break;
    }
    return word.len && ip_address_read(first, &a) && address_is_here(m, &a);
}

bool localhost_is_here(struct localhost *m, const char *name)
{
    struct ip_address a;
    struct slice rest;

    if (strcasecmp(name, "localhost") == 0 || same_name(name, m->name) ||
        same_name(name, m->system_name))
        return true;
    ip_address_read(slice_str(name), &a);
    if (a.family)
        return address_is_here(m, &a);
    read_hosts_file(m);
    rest = buf_slice(&m->hosts_file);
    while (rest.len) {
        if (line_names_us(m, slice_cut(&rest, '\n'), slice_str(name)))
            return true;
    }
    return false;
}

/* ---- room ---- */

uint32_t localhost_processors(void)
{
    cpu_set_t few;
    cpu_set_t *set;
    size_t bytes;
    int n = 0;

    if (sched_getaffinity(0, sizeof few, &few) == 0)
        return (uint32_t)CPU_COUNT(&few);
    /* There are more processors than the fixed set has bits. */
    for (size_t bits = 8192; n == 0 && bits <= 1 << 20; bits *= 8) {
        bytes = CPU_ALLOC_SIZE(bits);
        set = CPU_ALLOC(bits);
        if (set && sched_getaffinity(0, bytes, set) == 0)
            n = CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
    }
    return n > 0 ? (uint32_t)n : 1;
}

static bool read_number(const char *path, uint64_t *value_p)
{
    struct buf text = BUF_NULL(8192);
    bool good = localhost_read_file(path, &text) == 0;
    struct slice first = buf_slice(&text);

    first = slice_cut(&first, '\n');
    good = good && slice_u64(slice_trim(first), value_p);
    buf_free(&text);
    return good;
}

static int full(uint64_t nprocs, const char *what, uint64_t limit, struct errmsg *err)
{
    return errmsg_set(err, LOCALHOST_FULL,
                      "%llu processes do not fit on this machine: %s allows %llu",
                      (unsigned long long)nprocs, what, (unsigned long long)limit);
}

static bool is_over(int resource, uint64_t need, uint64_t *most_p)
{
    struct rlimit r;

    if (getrlimit((__rlimit_resource_t)resource, &r) != 0 || r.rlim_max == RLIM_INFINITY)
        return false;
    *most_p = r.rlim_max;
    return need > r.rlim_max;
}

/* "0::/path" (or, in the v1 layout, "8:pids:/path") of /proc/self/cgroup: the limit of the group
 * and of each one around it. */
static int check_cgroup(uint64_t nprocs, const char *root, struct slice path, struct errmsg *err)
{
    uint64_t most;

    for (;;) {
        char file[4200];
        int n = snprintf(file, sizeof file, "%s" SLICE_FMT "/pids.max", root, SLICE_ARG(path));
        if (n < (int)sizeof file && read_number(file, &most) && nprocs > most)
            return full(nprocs, "the pids limit of its control group", most, err);
        while (path.len && path.ptr[path.len - 1] != '/')
            path.len--;
        if (path.len == 0)
            return 0;
        path.len--;
    }
}

static int check_cgroups(uint64_t nprocs, struct errmsg *err)
{
    struct buf text = BUF_NULL(65536);
    struct slice rest;
    int rc = 0;

    if (localhost_read_file("/proc/self/cgroup", &text) == 0) {
        rest = buf_slice(&text);
        while (rest.len && rc == 0) {
            struct slice path = slice_cut(&rest, '\n');
            struct slice number = slice_cut(&path, ':'), control = slice_cut(&path, ':');
            if (control.len == 0)
                rc = check_cgroup(nprocs, "/sys/fs/cgroup", path, err);
            else if (slice_is(control, "pids"))
                rc = check_cgroup(nprocs, "/sys/fs/cgroup/pids", path, err);
            (void)number;
        }
    }
    buf_free(&text);
    return rc;
}

int localhost_has_room(uint64_t nprocs, uint32_t files, struct errmsg *err)
{
    uint64_t need = nprocs * (FDS_PER_PROC + files) + FDS_OWN, most;

    if (nprocs && is_over(RLIMIT_NOFILE, need, &most))
        return errmsg_set(
            err, LOCALHOST_FULL,
            "%llu process%s need%s %llu open files; the hard limit is %llu (ulimit -Hn)",
            (unsigned long long)nprocs, nprocs == 1 ? "" : "es", nprocs == 1 ? "s" : "",
            (unsigned long long)need, (unsigned long long)most);
    /* The kernel does not count root's processes. */
    if (geteuid() != 0 && is_over(RLIMIT_NPROC, nprocs, &most))
        return full(nprocs, "the limit of user processes (ulimit -Hu)", most, err);
    if (nprocs <= SMALL_JOB)
        return 0;
    if (read_number("/proc/sys/kernel/pid_max", &most) && nprocs > most)
        return full(nprocs, "/proc/sys/kernel/pid_max", most, err);
    if (read_number("/proc/sys/kernel/threads-max", &most) && nprocs > most)
        return full(nprocs, "/proc/sys/kernel/threads-max", most, err);
    return check_cgroups(nprocs, err);
}
