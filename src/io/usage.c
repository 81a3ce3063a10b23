/* usage.c - see usage.h. */
#include "io/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { PROC_TEXT = 8192 };

static int read_text(const char *path, char text[PROC_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return -errno;
    n = read(fd, text, PROC_TEXT - 1);
    close(fd);
    if (n <= 0)
        return -ESRCH;
    text[n] = '\0';
    return 0;
}

static int read_proc_text(int pid, const char *file, char text[PROC_TEXT])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    return read_text(path, text);
}

/* The number after `name` at the beginning of a line, in kB; as bytes. */
static uint64_t kilobytes(const char *text, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, len))
            return strtoull(line + len, NULL, 10) * 1024;
    }
    return 0;
}

/* ---- processes ---- */

static uint64_t pages(unsigned long n)
{
    return (uint64_t)n * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int read_memory(int pid, struct proc_usage *u)
{
    unsigned long size, resident, shared;
    char text[PROC_TEXT];
    int rc = read_proc_text(pid, "statm", text);

    if (rc < 0)
        return rc;
    if (sscanf(text, "%lu %lu %lu", &size, &resident, &shared) != 3)
        return -EINVAL;
    u->vsize = pages(size);
    u->rss = pages(resident);
    u->unshared = resident > shared ? pages(resident - shared) : 0;
    rc = read_proc_text(pid, "status", text);
    if (rc == 0)
        u->peak_vsize = kilobytes(text, "VmPeak:");
    return rc;
}

/* Of its life until now, as ps has it. */
static float percent_of_life(uint64_t cpu_us, unsigned long long start_ticks)
{
    double born = (double)start_ticks / (double)sysconf(_SC_CLK_TCK);
    struct timespec now;
    double lived;

    if (clock_gettime(CLOCK_BOOTTIME, &now) < 0)
        return 0;
    lived = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - born;
    return lived > 0 ? (float)((double)cpu_us / 1e4 / lived) : 0;
}

int usage_of_proc(int pid, struct proc_usage *u)
{
    unsigned long long user, system, start;
    long priority, threads;
    int cpu = 0, rc;
    char text[PROC_TEXT], *end;

    memset(u, 0, sizeof *u);
    rc = read_proc_text(pid, "stat", text);
    if (rc < 0)
        return rc;
    end = strrchr(text, ')'); /* the name before it may contain anything */
    if (!end || sscanf(end + 1,
                       " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %ld %*d %ld"
                       " %*d %llu %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d"
                       " %d",
                       u->state, &user, &system, &priority, &threads, &start, &cpu) < 6)
        return -EINVAL;
    u->cpu_us = (user + system) * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
    u->percent_cpu = percent_of_life(u->cpu_us, start);
    u->priority = (int32_t)priority;
    u->threads = (uint16_t)(threads > UINT16_MAX ? UINT16_MAX : threads);
    u->cpu = (uint16_t)cpu;
    u->time_s = time(NULL);
    return read_memory(pid, u);
}

/* ---- the node ---- */

static void read_meminfo(const char *text, struct node_usage *u)
{
    const struct {
        const char *name;
        uint64_t *to;
    } rows[] = {
        { "MemTotal:", &u->mem_total },  { "MemFree:", &u->mem_free },
        { "Buffers:", &u->mem_buffers }, { "Cached:", &u->mem_cached },
        { "Mapped:", &u->mem_mapped },   { "SwapTotal:", &u->swap_total },
        { "SwapFree:", &u->swap_free },  { "SwapCached:", &u->swap_cached },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        *rows[i].to = kilobytes(text, rows[i].name);
}

int usage_of_node(struct node_usage *u)
{
    char text[PROC_TEXT];
    struct proc_usage own;
    int rc;

    memset(u, 0, sizeof *u);
    rc = read_text("/proc/meminfo", text);
    if (rc < 0)
        return rc;
    read_meminfo(text, u);
    rc = read_text("/proc/loadavg", text);
    if (rc < 0)
        return rc;
    if (sscanf(text, "%f %f %f", &u->load_1, &u->load_5, &u->load_15) != 3)
        return -EINVAL;
    rc = usage_of_proc((int)getpid(), &own);
    u->daemon = own.unshared;
    u->time_s = time(NULL);
    return rc;
}

/* ---- storage ---- */

/* The file systems that keep files; all others (proc, cgroup ...) show something of the kernel. */
static const struct file_system {
    const char *type;
    bool is_shared, in_memory;
} file_systems[] = {
    { "ext2", false, false },  { "ext3", false, false },    { "ext4", false, false },
    { "xfs", false, false },   { "btrfs", false, false },   { "zfs", false, false },
    { "f2fs", false, false },  { "overlay", false, false }, { "tmpfs", false, true },
    { "nfs", true, false },    { "nfs4", true, false },     { "cifs", true, false },
    { "lustre", true, false }, { "gpfs", true, false },     { "beegfs", true, false },
    { "ceph", true, false },   { "panfs", true, false },    { "orangefs", true, false },
    { "9p", true, false },
};

static const struct file_system *file_system_of(const char *type)
{
    for (size_t i = 0; i < sizeof file_systems / sizeof *file_systems; i++) {
        if (!strcmp(type, file_systems[i].type))
            return &file_systems[i];
    }
    return NULL;
}

static void measure(struct storage_usage *u)
{
    struct statvfs fs;

    if (statvfs(u->path, &fs) < 0 || fs.f_blocks == 0)
        return;
    u->is_measured = true;
    u->fragment = fs.f_frsize;
    u->block = fs.f_bsize;
    u->capacity = (uint64_t)fs.f_blocks * fs.f_frsize;
    u->used = (uint64_t)(fs.f_blocks - fs.f_bfree) * fs.f_frsize;
    u->objects = fs.f_files;
    u->objects_used = fs.f_files - fs.f_ffree;
}

/* NFS and SMB have `vers=4.2` among their options, 9P `version=9p2000.L`. */
static void read_version(const struct mntent *m, struct storage_usage *u)
{
    static const char *const names[] = { "vers", "version" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *option = hasmntopt(m, names[i]);
        const char *value = option ? option + strlen(names[i]) : "";
        size_t len = *value == '=' ? strcspn(++value, ",") : 0;
        if (len && len < sizeof u->version)
            memcpy(u->version, value, len);
    }
}

int usage_of_mounts(const char *table, storage_fn *fn, void *arg)
{
    FILE *mounts = setmntent(table, "re");
    char text[PROC_TEXT];
    struct mntent m;

    if (!mounts)
        return -errno;
    while (getmntent_r(mounts, &m, text, sizeof text)) {
        const struct file_system *fs = file_system_of(m.mnt_type);
        struct storage_usage u = { .source = m.mnt_fsname, .path = m.mnt_dir, .type = m.mnt_type };
        if (!fs)
            continue;
        u.is_shared = fs->is_shared;
        u.in_memory = fs->in_memory;
        read_version(&m, &u);
        u.is_read_only = hasmntopt(&m, MNTOPT_RO) != NULL;
        if (!fs->is_shared) /* a server that is down would not answer */
            measure(&u);
        fn(arg, &u);
    }
    endmntent(mounts);
    return 0;
}

int usage_of_storages(storage_fn *fn, void *arg)
{
    return usage_of_mounts("/proc/self/mounts", fn, arg);
}
