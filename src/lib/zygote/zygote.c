/* zygote.c - libwireup-prefork.so: stops a program before its main function, and forks it there for
 * each rank (io/zygote_msg.h).
 *
 * The program's first instructions call __libc_start_main() of the C library; ours comes first.  At
 * that point the loader has loaded and bound all libraries and run their constructors; those of the
 * program itself and main() are still to come, and run in each rank.
 *
 * A rank's parent is the daemon (CLONE_PARENT): the daemon waits for it, and it dies with the
 * daemon as any other rank does.  The C library's fork() has no such flag.  What it does besides
 * the system call is done here: the number of the thread in its memory is set (by the kernel, at
 * the address that it knows), the list of robust mutexes is registered again, and the fork handlers
 * run (fork_handlers.h).  There is one thread, and it holds no lock of the C library.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd_pass.h"
#include "io/zygote_msg.h"
#include "lib/zygote/checks.h"
#include "lib/zygote/env_area.h"
#include "lib/zygote/fork_handlers.h"
#include "lib/zygote/names.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#define EXPORT __attribute__((visibility("default")))

enum { CPUS_BYTES = 8192, CHILD_FAILED = 127, RANDOM_BYTES = 16 };

extern char **environ;

typedef int main_fn(int argc, char **argv, char **env);
typedef void hook(void);
typedef int start_fn(main_fn *m, int argc, char **argv, hook *init, hook *fini, hook *loader_fini,
                     void *stack_end);

/* Filled by the constructor, which runs before all others. */
static struct {
    bool asked;
    bool bound;
    long ncpus;
    char cpus[CPUS_BYTES], now[CPUS_BYTES];
} zygote;

/* One rank, as the zygote has received it. */
struct rank {
    const struct zygote_block *block;
    char *memory; /* the block, and the array of the environment behind it */
    size_t bytes;
    char **env;
    int result;
    int fds[ZYGOTE_RANK_FDS];
};

/* ---- before all constructors ---- */

static long read_cpus(char *to)
{
    return syscall(SYS_sched_getaffinity, 0, (size_t)CPUS_BYTES, to);
}

static char **find_variable(char **env, const char *name)
{
    size_t len = strlen(name);

    for (char **e = env; e && *e; e++) {
        if (!strncmp(*e, name, len) && (*e)[len] == '=')
            return e;
    }
    return NULL;
}

static void remove_variable(char **at)
{
    for (; at && *at; at++)
        at[0] = at[1];
}

/* A program that a constructor starts inherits the variables, but is no child of the daemon. */
static bool is_ours(void)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return getsockopt(ZYGOTE_FD, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
           peer.pid == getppid();
}

/* The constructors see the user's environment.  In place: memory cannot be had yet. */
static void restore_environment(char **env, char **asked)
{
    char *end, **preload = find_variable(env, "LD_PRELOAD");
    unsigned long users = strtoul(strchr(*asked, '=') + 1, &end, 10);

    zygote.bound = !strcmp(end, ",bound");
    if (preload && users > 0 && users < strlen(strchr(*preload, '=') + 1))
        strchr(*preload, '=')[1 + users] = '\0';
    else if (preload && users == 0)
        remove_variable(preload);
    remove_variable(find_variable(env, ZYGOTE_VARIABLE));
}

/* The C library's own constructor comes later, and with it `environ`. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **env)
{
    char **asked = find_variable(env, ZYGOTE_VARIABLE);

    (void)argc;
    (void)argv;
    if (!asked)
        return;
    zygote.asked = is_ours();
    restore_environment(env, asked);
    if (!zygote.asked)
        return;
    fcntl(ZYGOTE_FD, F_SETFD, FD_CLOEXEC);
    fcntl(ZYGOTE_BLOCK_FD, F_SETFD, FD_CLOEXEC);
    zygote.ncpus = read_cpus(zygote.cpus);
    fork_handlers_begin();
}

/* ---- the child ---- */

static bool place(const struct rank *r)
{
    close(ZYGOTE_FD);
    close(ZYGOTE_BLOCK_FD);
    for (uint32_t i = 0; i < r->block->nfds; i++) {
        if (dup2(r->fds[i], r->block->to[i]) < 0)
            return false;
    }
    for (uint32_t i = 0; i < r->block->nfds; i++)
        close(r->fds[i]);
    return true;
}

/* What an ordinary rank gets between clone and exec (io/child.c), and the zygote has not. */
static bool prepare(const struct rank *r)
{
    const void *cpus = r->block + 1;

    return setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && place(r) &&
           (!r->block->cpus_bytes ||
            syscall(SYS_sched_setaffinity, 0, (size_t)r->block->cpus_bytes, cpus) >= 0);
}

/* The kernel gives each program random bytes, which run-time libraries take as a seed.  The loader
 * has made its guards of ours already, and these stay. */
static void renew_random(void)
{
    void *bytes = (void *)(uintptr_t)getauxval(AT_RANDOM);

    if (bytes)
        syscall(SYS_getrandom, bytes, (size_t)RANDOM_BYTES, 0);
}

/* It becomes the rank, or ends: nobody has heard of it yet. */
static void be_rank(const struct rank *r)
{
    if (!prepare(r) || send(r->result, ZYGOTE_DONE, 1, MSG_NOSIGNAL) != 1)
        _exit(CHILD_FAILED);
    close(r->result);
    renew_random();
    environ = r->env;
    env_area_set(r->env[0], r->block->env_bytes);
    fork_handlers_child();
}

/* ---- the zygote ---- */

/* In the child: 0. */
static long fork_beside(void *thread_number)
{
    struct clone_args args = { .flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID,
                               .child_tid = (uintptr_t)thread_number };
    void *robust = NULL;
    size_t len = 0;
    long pid;

    syscall(SYS_get_robust_list, 0, &robust, &len);
    pid = syscall(SYS_clone3, &args, sizeof args);
    if (pid == 0 && robust)
        syscall(SYS_set_robust_list, robust, len);
    return pid;
}

/* The descriptors of one message; false: the daemon is done with us. */
static bool receive(int *fds, uint32_t *nfds_p)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * (ZYGOTE_RANK_FDS + 1))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec iov = { &byte, 1 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    ssize_t n;

    do
        n = recvmsg(ZYGOTE_FD, &m, 0);
    while (n < 0 && errno == EINTR);
    *nfds_p = 0;
    if (n != 1)
        return false;
    *nfds_p = (uint32_t)fd_pass_take(&m, fds, ZYGOTE_RANK_FDS + 1);
    return true;
}

/* The strings of the environment, behind the block and the processors. */
static bool read_env(struct rank *r, size_t used)
{
    char *at = r->memory + sizeof *r->block + r->block->cpus_bytes, *end = r->memory + used;

    r->env = (char **)(r->memory + (used + sizeof(char *) - 1) / sizeof(char *) * sizeof(char *));
    for (uint32_t i = 0; i < r->block->nenv; i++) {
        size_t len = strnlen(at, (size_t)(end - at));
        if (len == (size_t)(end - at))
            return false;
        r->env[i] = at;
        at += len + 1;
    }
    r->env[r->block->nenv] = NULL;
    return at == end;
}

static bool read_block(struct rank *r)
{
    struct zygote_block head;
    size_t used;

    if (pread(ZYGOTE_BLOCK_FD, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        head.nfds > ZYGOTE_RANK_FDS || head.cpus_bytes > ZYGOTE_BLOCK_ROOM ||
        head.env_bytes > ZYGOTE_BLOCK_ROOM || head.nenv > head.env_bytes)
        return false;
    used = sizeof head + head.cpus_bytes + head.env_bytes;
    r->bytes = used + (head.nenv + 2) * sizeof(char *);
    r->memory = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (r->memory == MAP_FAILED)
        r->memory = NULL;
    r->block = (const struct zygote_block *)r->memory;
    return r->memory && pread(ZYGOTE_BLOCK_FD, r->memory, used, 0) == (ssize_t)used &&
           read_env(r, used);
}

/* True: this is the rank. */
static bool fork_one(void *thread_number, const int *fds, uint32_t nfds)
{
    struct rank r = { .result = fds[0] };
    long pid;

    if (read_block(&r) && nfds == r.block->nfds + 1) {
        memcpy(r.fds, fds + 1, r.block->nfds * sizeof *r.fds);
        fork_handlers_prepare();
        pid = fork_beside(thread_number);
        if (pid == 0) {
            be_rank(&r);
            return true;
        }
        fork_handlers_parent();
    }
    if (r.memory)
        munmap(r.memory, r.bytes);
    return false;
}

/* Returns in the ranks only. */
static void serve(void)
{
    struct checks c = { .bound = zygote.bound, .handlers_lost = !fork_handlers_end() };
    const char *why;
    int fds[ZYGOTE_RANK_FDS + 1];
    uint32_t nfds;

    c.bound_itself = read_cpus(zygote.now) != zygote.ncpus ||
                     memcmp(zygote.now, zygote.cpus, sizeof zygote.cpus) != 0;
    why = checks_why_not(&c);
    env_area_look();
    send(ZYGOTE_FD, why ? why : ZYGOTE_READY, strlen(why ? why : ZYGOTE_READY), MSG_NOSIGNAL);
    while (!why && receive(fds, &nfds)) {
        if (nfds > 0 && fork_one(c.thread_number, fds, nfds))
            return;
        for (uint32_t i = 0; i < nfds; i++)
            close(fds[i]);
    }
    _exit(0);
}

EXPORT start_fn __libc_start_main;

EXPORT int __libc_start_main(main_fn *m, int argc, char **argv, hook *init, hook *fini,
                             hook *loader_fini, void *stack_end)
{
    start_fn *next = (start_fn *)names_hidden("__libc_start_main");

    if (!next)
        _exit(CHILD_FAILED);
    if (zygote.asked)
        serve();
    return next(m, argc, argv, init, fini, loader_fini, stack_end);
}
