/* zygote.c - see zygote.h. */
#include "io/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd_pass.h"
#include "base/limit.h"
#include "io/zygote_msg.h"

/* Above all numbers that a zygote is given, and below those that a child has to copy. */
enum { OWN_FDS_FROM = 16, PRELOAD_LEN = sizeof "LD_PRELOAD=" - 1 };

/* ---- its environment ---- */

struct preload {
    char **env;
    char *words, *variable; /* ours, in env */
};

static void preload_free(struct preload *p)
{
    free(p->env);
    free(p->words);
    free(p->variable);
}

static bool is_preload(const char *variable)
{
    return !strncmp(variable, "LD_PRELOAD=", PRELOAD_LEN);
}

/* The environment with our library behind those that the user preloads.  The last of several
 * variables is the one that the loader takes. */
static int preload_make(struct preload *p, char *const *env, const char *library, bool bound)
{
    const char *users = "";
    size_t n = 0, kept = 0;

    while (env && env[n]) {
        users = is_preload(env[n]) ? env[n] + PRELOAD_LEN : users;
        n++;
    }
    p->env = calloc(n + 3, sizeof *p->env);
    if (asprintf(&p->words, "LD_PRELOAD=%s%s%s", users, *users ? ":" : "", library) < 0)
        p->words = NULL;
    if (asprintf(&p->variable, "%s=%zu%s", ZYGOTE_VARIABLE, strlen(users), bound ? ",bound" : "") <
        0)
        p->variable = NULL;
    if (!p->env || !p->words || !p->variable) {
        preload_free(p);
        return -ENOMEM;
    }
    p->env[kept++] = p->words;
    p->env[kept++] = p->variable;
    for (size_t i = 0; i < n; i++) {
        if (!is_preload(env[i]))
            p->env[kept++] = env[i];
    }
    return 0;
}

/* ---- its start ---- */

static void decide(struct zygote *z, const char *why)
{
    watch_close(&z->watch);
    timer_stop(&z->timer);
    z->decided(z->arg, why);
}

static void on_word(void *arg)
{
    struct zygote *z = arg;
    char why[ZYGOTE_SENTENCE];
    ssize_t n = recv(z->fd, why, sizeof why - 1, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    why[n > 0 ? n : 0] = '\0';
    if (n <= 0)
        decide(z, "it ends while it is loaded");
    else
        decide(z, strcmp(why, ZYGOTE_READY) ? why : NULL);
}

static void on_late(void *arg)
{
    struct zygote *z = arg;

    decide(z, "it takes too long to be loaded");
}

/* High, so that placing one descriptor for it overwrites no other. */
static void move_up(int *fd)
{
    int high = fcntl(*fd, F_DUPFD_CLOEXEC, OWN_FDS_FROM);

    if (high < 0)
        return;
    close(*fd);
    *fd = high;
}

/* What it gets, and closes when it is started. */
struct given {
    int null, output, fd, block;
};

static void close_given(const struct given *e)
{
    const int all[] = { e->null, e->output, e->fd, e->block };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i] >= 0)
            close(all[i]);
    }
}

static int open_given(struct zygote *z, struct given *e)
{
    int pair[2];

    e->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (e->null < 0 || pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    z->output = pair[0];
    e->output = pair[1];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    z->fd = pair[0];
    e->fd = pair[1];
    z->block = memfd_create("wireup-prefork", MFD_CLOEXEC);
    e->block = z->block < 0 ? -1 : fcntl(z->block, F_DUPFD_CLOEXEC, OWN_FDS_FROM);
    if (e->block < 0)
        return -errno;
    move_up(&e->null);
    move_up(&e->output);
    move_up(&e->fd);
    return 0;
}

static int start(struct zygote *z, const struct given *e, const struct child_plan *like,
                 const char *library, bool bound, struct errmsg *err)
{
    const struct child_fd fds[] = { { e->null, 0 },
                                    { e->output, 1 },
                                    { e->output, 2 },
                                    { e->fd, ZYGOTE_FD },
                                    { e->block, ZYGOTE_BLOCK_FD } };
    struct child_plan plan = { .path = like->path,
                               .argv = like->argv,
                               .wdir = like->wdir,
                               .fds = fds,
                               .nfds = sizeof fds / sizeof *fds };
    struct preload p = { 0 };
    int rc = preload_make(&p, like->env, library, bound);

    if (rc < 0)
        return errmsg_set(err, rc, "out of memory for the environment of %s", like->path);
    plan.env = p.env;
    rc = child_start(&plan, &z->pid, err);
    preload_free(&p);
    return rc;
}

static int follow(struct zygote *z, struct loop *loop, struct errmsg *err)
{
    int rc;

    watch_open(&z->watch, loop, z->fd, on_word, NULL, z);
    timer_init(&z->timer, loop, on_late, z);
    rc = watch_want(&z->watch, LOOP_READ);
    if (rc == 0)
        rc = timer_set(&z->timer, LIMIT_PREFORK_LOAD_MS);
    return rc < 0 ? errmsg_set(err, rc, "its words cannot be read: %s", err_text(rc)) : 0;
}

int zygote_open(struct zygote *z, struct loop *loop, const struct child_plan *like,
                const char *library, bool bound, void (*decided)(void *arg, const char *why),
                void *arg, struct errmsg *err)
{
    struct given e = { -1, -1, -1, -1 };
    int rc;

    *z = ZYGOTE_NULL;
    z->decided = decided;
    z->arg = arg;
    rc = open_given(z, &e);
    if (rc < 0)
        errmsg_set(err, rc, "its descriptors cannot be made: %s", err_text(rc));
    else
        rc = start(z, &e, like, library, bound, err);
    close_given(&e);
    if (rc == 0)
        rc = follow(z, loop, err);
    if (rc < 0)
        zygote_close(z);
    return rc;
}

/* ---- one rank ---- */

static size_t env_bytes(char *const *env, uint32_t *n_p)
{
    size_t bytes = 0;

    for (*n_p = 0; env[*n_p]; ++*n_p)
        bytes += strlen(env[*n_p]) + 1;
    return bytes;
}

/* By write: a file that is mapped could be cut by the other side. */
static bool write_block(const struct zygote *z, const struct child_plan *p)
{
    struct zygote_block *b;
    uint32_t nenv;
    size_t env = env_bytes(p->env, &nenv), cpus = p->cpus ? p->cpus_bytes : 0;
    size_t all = sizeof *b + cpus + env;
    bool ok = all <= ZYGOTE_BLOCK_ROOM && p->nfds <= ZYGOTE_RANK_FDS;
    char *at;

    b = ok ? calloc(1, all) : NULL;
    if (!b)
        return false;
    b->cpus_bytes = (uint32_t)cpus;
    b->env_bytes = (uint32_t)env;
    b->nenv = nenv;
    b->nfds = (uint32_t)p->nfds;
    for (size_t i = 0; i < p->nfds; i++)
        b->to[i] = p->fds[i].to;
    at = (char *)(b + 1);
    if (cpus)
        memcpy(at, p->cpus, cpus);
    at += cpus;
    for (uint32_t i = 0; i < nenv; i++)
        at = stpcpy(at, p->env[i]) + 1;
    ok = pwrite(z->block, b, all, 0) == (ssize_t)all;
    free(b);
    return ok;
}

static bool send_order(const struct zygote *z, const struct child_plan *p, int result)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int) * (ZYGOTE_RANK_FDS + 1))];
        struct cmsghdr align;
    } control = { { 0 } };
    char byte = 0;
    struct iovec iov = { &byte, 1 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = CMSG_SPACE(sizeof(int) * (p->nfds + 1)) };
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fds[ZYGOTE_RANK_FDS + 1] = { result };

    for (size_t i = 0; i < p->nfds; i++)
        fds[i + 1] = p->fds[i].from;
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * (p->nfds + 1));
    memcpy(CMSG_DATA(c), fds, sizeof(int) * (p->nfds + 1));
    return sendmsg(z->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/* Who has sent ZYGOTE_DONE there; 0: nobody, and the other end is closed; -EAGAIN: not yet. */
static pid_t sender(int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    char byte;
    struct iovec iov = { &byte, 1 };
    struct msghdr m = { .msg_iov = &iov,
                        .msg_iovlen = 1,
                        .msg_control = control.bytes,
                        .msg_controllen = sizeof control.bytes };
    struct ucred who;
    struct cmsghdr *c;
    ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return -EAGAIN;
    if (n >= 0)
        fd_pass_take(&m, NULL, 0);
    c = n == 1 && byte == ZYGOTE_DONE[0] ? CMSG_FIRSTHDR(&m) : NULL;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
        return 0;
    memcpy(&who, CMSG_DATA(c), sizeof who);
    return who.pid;
}

static pid_t await_sender(const struct zygote *z, int fd)
{
    uint64_t until = clock_now_ns() + LIMIT_PREFORK_MS * NS_PER_MS;
    pid_t pid;

    while ((pid = sender(fd)) == -EAGAIN) {
        uint64_t now = clock_now_ns();
        struct pollfd p = { .fd = fd, .events = POLLIN };

        if (now >= until) {
            /* From here on a child that is not done yet ends by itself. */
            kill(-z->pid, SIGKILL);
            shutdown(fd, SHUT_RD);
            pid = sender(fd);
            break;
        }
        poll(&p, 1, (int)((until - now) / NS_PER_MS) + 1);
    }
    return pid > 0 ? pid : 0;
}

/* Nobody but a child of ours is a rank. */
static bool is_child(const struct zygote *z, pid_t pid)
{
    siginfo_t info;

    return pid > 0 && pid != z->pid &&
           waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

int zygote_child(struct zygote *z, const struct child_plan *p, pid_t *pid_p)
{
    int result[2], on = 1;
    pid_t pid = 0;
    bool sent;

    if (z->fd < 0 || z->pid == 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, result) < 0)
        return ZYGOTE_GONE;
    sent = setsockopt(result[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) == 0 &&
           write_block(z, p) && send_order(z, p, result[1]);
    close(result[1]);
    if (sent)
        pid = await_sender(z, result[0]);
    close(result[0]);
    if (!is_child(z, pid))
        return ZYGOTE_GONE;
    *pid_p = pid;
    return 0;
}

/* ---- the end ---- */

bool zygote_reaped(struct zygote *z, pid_t pid)
{
    if (z->pid == 0 || z->pid != pid)
        return false;
    z->pid = 0;
    return true;
}

void zygote_close(struct zygote *z)
{
    int *const fds[] = { &z->fd, &z->block, &z->output };

    watch_close(&z->watch);
    timer_stop(&z->timer);
    if (z->pid > 0)
        kill(-z->pid, SIGKILL);
    z->pid = 0;
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}
