/* probe.c - see probe.h.  Reading order: the system; directories; the network; the environment; the
 * program; the whole. */
#include "launch/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "daemon/path_search.h"
#include "daemon/program_check.h"
#include "io/elf_walk.h"
#include "io/tool_files.h"
#include "io/write_all.h"
#include "report/doctor_report.h"

extern char **environ;

enum { PROBE_OUT = 4 << 20, PROBE_ROOM = 64 << 20, ROUTE_MS = 3000, MIB = 20, SHM_LEAST_MIB = 64 };

/* ---- the system ------------------------------------------------------------------------------ */

static void find_system(struct buf *out)
{
    struct utsname u;
    char libc[128] = "";

    confstr(_CS_GNU_LIBC_VERSION, libc, sizeof libc);
    doctor_line_put(out, DOCTOR_VERSION, DOCTOR_OK, "%s", WIREUP_VERSION);
    if (uname(&u) == 0)
        doctor_line_put(out, DOCTOR_SYSTEM, DOCTOR_OK, "%s %s, %s", u.sysname, u.machine, libc);
}

static void put_limit(struct buf *out, const char *name, int which, unsigned shift,
                      const char *unit)
{
    struct rlimit r;

    if (getrlimit((__rlimit_resource_t)which, &r) != 0)
        return;
    if (r.rlim_max == RLIM_INFINITY)
        buf_printf(out, "%s%s any", buf_len(out) ? ", " : "", name);
    else
        buf_printf(out, "%s%s %llu%s", buf_len(out) ? ", " : "", name,
                   (unsigned long long)(r.rlim_max >> shift), unit);
}

static void find_limits(struct buf *out)
{
    struct buf text = BUF_NULL(1024);
    struct rlimit files;
    bool few = getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_max < 1024;

    put_limit(&text, "open files", RLIMIT_NOFILE, 0, "");
    put_limit(&text, "processes", RLIMIT_NPROC, 0, "");
    put_limit(&text, "locked memory", RLIMIT_MEMLOCK, MIB, " MiB");
    put_limit(&text, "stack", RLIMIT_STACK, MIB, " MiB");
    doctor_line_put(out, DOCTOR_LIMITS, few ? DOCTOR_WARN : DOCTOR_OK, "%s%s",
                    few ? "few open files are allowed (ulimit -Hn): " : "",
                    buf_cstr(&text) ? buf_cstr(&text) : "");
    buf_free(&text);
}

/* ---- directories ----------------------------------------------------------------------------- */

/* Free space in MiB; false: the directory cannot be used. */
static bool free_space(const char *dir, uint64_t *mib_p, bool *noexec_p)
{
    struct statvfs s;

    if (statvfs(dir, &s) != 0)
        return false;
    *mib_p = (uint64_t)s.f_bavail * s.f_frsize >> MIB;
    *noexec_p = (s.f_flag & ST_NOEXEC) != 0;
    return true;
}

static void find_directory(struct buf *out, enum doctor_check check, const char *dir,
                           uint64_t least_mib)
{
    uint64_t mib = 0;
    bool noexec = false;

    if (!free_space(dir, &mib, &noexec))
        doctor_line_put(out, check, DOCTOR_BAD, "%s: %s", dir, err_text(errno));
    else if (access(dir, W_OK | X_OK) != 0)
        doctor_line_put(out, check, DOCTOR_BAD, "%s: we may not write there", dir);
    else if (mib < least_mib)
        doctor_line_put(out, check, DOCTOR_BAD, "%s: only %llu MiB are free", dir,
                        (unsigned long long)mib);
    else
        doctor_line_put(out, check, DOCTOR_OK, "%s: %llu MiB free", dir, (unsigned long long)mib);
}

/* A directory of a launch, by its name PID-RANDOM, whose process has ended. */
static bool is_stale(const char *name)
{
    struct slice rest = slice_str(name);
    int pid;

    return slice_int(slice_cut(&rest, '-'), &pid) && rest.len && pid > 0 && kill(pid, 0) != 0 &&
           errno == ESRCH;
}

static void find_stale(struct buf *out, const char *tmp)
{
    char path[PATH_MAX];
    struct dirent *e;
    uint32_t n = 0;
    DIR *d;

    snprintf(path, sizeof path, "%s/wireup-%u", tmp, (unsigned)getuid());
    d = opendir(path);
    while (d && (e = readdir(d)))
        n += is_stale(e->d_name);
    if (d)
        closedir(d);
    if (n)
        doctor_line_put(out, DOCTOR_STALE, DOCTOR_WARN,
                        "%s has %u director%s of launches that were killed; the next launch there "
                        "removes them",
                        path, n, n == 1 ? "y" : "ies");
    else
        doctor_line_put(out, DOCTOR_STALE, DOCTOR_OK, "none");
}

/* ---- the network ----------------------------------------------------------------------------- */

static void find_name(struct buf *out)
{
    struct addrinfo *found = NULL;
    char name[HOST_NAME_MAX + 1] = "";
    int rc;

    gethostname(name, sizeof name - 1);
    rc = getaddrinfo(name, NULL, NULL, &found);
    if (rc != 0)
        doctor_line_put(out, DOCTOR_NAME, DOCTOR_WARN, "%s does not resolve there: %s", name,
                        gai_strerror(rc));
    else
        doctor_line_put(out, DOCTOR_NAME, DOCTOR_OK, "%s", name);
    if (rc == 0)
        freeaddrinfo(found);
}

/* Waits until the connection is there.  0 or an errno. */
static int await_connection(int fd)
{
    struct pollfd p = { fd, POLLOUT, 0 };
    int error = 0;
    socklen_t len = sizeof error;

    if (poll(&p, 1, ROUTE_MS) != 1)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
}

/* ADDRESS/PORT.  0 or an errno. */
static int try_address(struct slice one)
{
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                    .ai_socktype = SOCK_STREAM };
    struct addrinfo *to = NULL;
    char text[128];
    char *port;
    int fd, rc = EINVAL;

    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(one));
    port = strchr(text, '/');
    if (!port)
        return rc;
    *port++ = '\0';
    if (getaddrinfo(text, port, &hints, &to) != 0)
        return rc;
    fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = fd < 0                                          ? errno
         : connect(fd, to->ai_addr, to->ai_addrlen) == 0 ? 0
         : errno == EINPROGRESS                          ? await_connection(fd)
                                                         : errno;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(to);
    return rc;
}

static void find_route(struct buf *out, const char *route)
{
    struct slice rest = slice_str(route);
    int rc = 0;

    while (rest.len) {
        struct slice one = slice_cut(&rest, ',');
        rc = try_address(one);
        if (rc == 0) {
            doctor_line_put(out, DOCTOR_ROUTE, DOCTOR_OK, "connects to the launcher");
            return;
        }
    }
    doctor_line_put(out, DOCTOR_ROUTE, DOCTOR_BAD,
                    "cannot connect to the launcher (%.200s): %s; see -iface and -port-range, or "
                    "the firewall",
                    route, err_text(rc));
}

/* ---- the environment ------------------------------------------------------------------------- */

/* Of a process of a job: they make a program believe that it is one. */
static const char *const rank_names[] = { "PMI_RANK",  "PMI_FD",         "PMI_PORT",
                                          "PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK" };

static void find_environment(struct buf *out)
{
    struct buf found = BUF_NULL(1024);
    const char *job = env_value(environ, "SLURM_JOB_ID");
    uint32_t settings = 0;

    for (size_t i = 0; i < sizeof rank_names / sizeof *rank_names; i++) {
        if (env_value(environ, rank_names[i]))
            buf_printf(&found, "%s%s", buf_len(&found) ? ", " : "", rank_names[i]);
    }
    for (char **e = environ; *e; e++)
        settings += !strncmp(*e, "PMIX_MCA_", 9) || !strncmp(*e, "OMPI_MCA_", 9);
    if (buf_len(&found))
        doctor_line_put(out, DOCTOR_ENV, DOCTOR_WARN,
                        "the environment is that of a process of a job (%s): unset them",
                        buf_cstr(&found));
    else
        doctor_line_put(out, DOCTOR_ENV, DOCTOR_OK, "%s%.20s%s%u settings of PMIx and Open MPI",
                        job ? "Slurm job " : "", job ? job : "", job ? ", " : "", settings);
    buf_free(&found);
}

/* ---- the program ----------------------------------------------------------------------------- */

static void id_of(const char *path, char id[ELF_BUILD_ID_ROOM])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    id[0] = '\0';
    if (fd < 0)
        return;
    elf_file_build_id(fd, id);
    close(fd);
}

static bool is_slurms(const struct elf_object *o)
{
    for (uint32_t i = 0; o->file && i < o->file->nneeded; i++) {
        if (!strncmp(o->file->needed[i], "libslurm", 8))
            return true;
    }
    return false;
}

/* Our libraries look for variables that no other one has. */
static bool is_ours(const char *path)
{
    static const char *const marks[] = { "WIREUP_FD", "WIREUP_PMI_KVS" };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool ours = false;

    for (size_t i = 0; fd >= 0 && !ours && i < sizeof marks / sizeof *marks; i++)
        ours = elf_file_has_names(fd, &marks[i], 1);
    if (fd >= 0)
        close(fd);
    return ours;
}

static void find_pmi(struct buf *out, const struct elf_object *first)
{
    static const char *const names[] = { "libpmi.so.", "libpmi2.so.", "libpmix.so." };
    struct buf text = BUF_NULL(1 << 16);
    enum doctor_state state = DOCTOR_OK;

    for (const struct elf_object *o = first; o; o = o->next) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strncmp(o->name, names[i], strlen(names[i])) != 0)
                continue;
            if (!o->path || is_slurms(o))
                state = DOCTOR_BAD;
            buf_printf(&text, "%s%s: %s", buf_len(&text) ? "; " : "", o->name,
                       !o->path ? "not found" : o->path);
            if (o->path)
                buf_str(&text, is_slurms(o)       ? " is Slurm's, which only srun serves: put ours "
                                                    "first on LD_LIBRARY_PATH"
                               : is_ours(o->path) ? " (Wireup's)"
                                                  : " (fits)");
        }
    }
    if (!buf_len(&text))
        buf_str(&text, "none is linked; a client within the MPI library, or one that is opened "
                       "later");
    doctor_line_put(out, DOCTOR_PMI, state, "%s", buf_cstr(&text) ? buf_cstr(&text) : "");
    buf_free(&text);
}

static void find_libraries(struct buf *out, const struct elf_object *first)
{
    char id[ELF_BUILD_ID_ROOM];

    for (const struct elf_object *o = first->next; o; o = o->next) {
        id[0] = '\0';
        if (o->path)
            id_of(o->path, id);
        doctor_line_library(out, o->name, o->path ? o->path : "", id);
    }
}

static void find_objects(struct buf *out, const char *path, struct arena *a)
{
    const struct elf_marks marks = { NULL, 0, "-", true };
    struct elf_object *first = NULL;
    struct elf_cache cache;
    char id[ELF_BUILD_ID_ROOM];
    struct errmsg why;

    elf_cache_init(&cache, 1);
    id_of(path, id);
    if (elf_walk(&cache, path, environ, &marks, a, &first) == 0 && first) {
        doctor_line_put(out, DOCTOR_PROGRAM, DOCTOR_OK, "%s, %s %s", path,
                        id[0] ? "build id" : "without a build id", id);
        find_pmi(out, first);
        find_libraries(out, first);
    } else if (program_is_foreign(path, &why)) {
        doctor_line_put(out, DOCTOR_PROGRAM, DOCTOR_BAD, "%s", why.text);
    } else {
        doctor_line_put(out, DOCTOR_PROGRAM, DOCTOR_OK, "%s, a script", path);
    }
    elf_cache_free(&cache);
}

static void find_program(struct buf *out, const char *program)
{
    struct arena a = ARENA_NULL(PROBE_ROOM);
    struct errmsg err = { "out of memory" };
    const char *path;

    if (path_search_program(&a, program, NULL, env_value(environ, "PATH"), false, &path, &err) == 0)
        find_objects(out, path, &a);
    else
        doctor_line_put(out, DOCTOR_PROGRAM, DOCTOR_BAD, "%s", err.text);
    arena_free(&a);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int answer_clock(void)
{
    struct buf out = BUF_NULL(64);
    char line[16];
    int rc = 0;

    if (read(STDIN_FILENO, line, sizeof line) > 0) {
        buf_printf(&out, "clock\t%llu\n", (unsigned long long)clock_wall_ns());
        rc = write_all_slice(STDOUT_FILENO, buf_slice(&out));
    }
    buf_free(&out);
    return rc < 0 ? 1 : 0;
}

int probe_run(const struct probe_question *p)
{
    const char *tmp = tool_files_dir(NULL, "TMPDIR");
    struct buf out = BUF_NULL(PROBE_OUT);
    int rc;

    if ((p->path && setenv("PATH", p->path, 1) != 0) ||
        (p->library_path && setenv("LD_LIBRARY_PATH", p->library_path, 1) != 0))
        return 1;
    find_system(&out);
    find_name(&out);
    if (p->route)
        find_route(&out, p->route);
    find_limits(&out);
    find_directory(&out, DOCTOR_SHM, "/dev/shm", SHM_LEAST_MIB);
    find_directory(&out, DOCTOR_TMP, tmp, 1);
    find_environment(&out);
    find_stale(&out, tmp);
    if (p->program)
        find_program(&out, p->program);
    buf_str(&out, "ready\n");
    rc = buf_ok(&out) ? write_all_slice(STDOUT_FILENO, buf_slice(&out)) : -ENOMEM;
    buf_free(&out);
    return rc < 0 ? 1 : answer_clock();
}
