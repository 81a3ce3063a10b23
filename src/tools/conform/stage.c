/* stage.c - see stage.h. */
#include "tools/conform/stage.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd_pass.h"
#include "tools/conform/rank.h"

extern char **environ;

enum {
    WORDS_MAX = 200,
    ENV_ROOM = POST_ROOM,
    PATIENCE_MS = 5000 /* for a launcher that is sent to end */
};

/* ---- the launcher ---------------------------------------------------------------------------- */

/* Its output is not ours; what it complains about is for people. */
static int start(struct stage *s, const struct stage_config *c)
{
    char *argv[WORDS_MAX + 8], count[16], option[] = "-n", as_rank[] = RANK_WORD;
    posix_spawn_file_actions_t actions;
    size_t n = 0;
    int rc;

    while (c->launcher[n] && n < WORDS_MAX) {
        argv[n] = c->launcher[n];
        n++;
    }
    snprintf(count, sizeof count, "%u", s->n);
    argv[n++] = option;
    argv[n++] = count;
    argv[n++] = (char *)(uintptr_t)c->self;
    argv[n++] = as_rank;
    argv[n++] = s->name;
    argv[n] = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    rc = posix_spawnp(&s->launcher, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (rc) {
        s->launcher = 0;
        return -rc;
    }
    s->pidfd = (int)syscall(SYS_pidfd_open, s->launcher, 0);
    return s->pidfd < 0 ? -errno : 0;
}

/* ---- the ranks ------------------------------------------------------------------------------- */

/* The environment of a rank, and the descriptor that comes with it. */
static int receive(int control, struct stage_seat *seat)
{
    char *env = malloc(ENV_ROOM);
    ssize_t n;

    *seat = (struct stage_seat){ .control = control, .server = -1, .env = env };
    n = env ? fd_pass_receive(control, env, ENV_ROOM, 0, &seat->server) : -1;
    seat->env_len = n > 0 ? (size_t)n : 0;
    return n <= 0 || env[n - 1] != '\0' ? -1 : 0;
}

static const char *value_in(const struct stage_seat *seat, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = seat->env; at && at < seat->env + seat->env_len; at += strlen(at) + 1) {
        if (!strncmp(at, name, len) && at[len] == '=')
            return at + len + 1;
    }
    return NULL;
}

static void seat_free(struct stage_seat *seat)
{
    if (seat->control >= 0)
        close(seat->control);
    if (seat->server >= 0)
        close(seat->server);
    free(seat->env);
    *seat = (struct stage_seat){ .control = -1, .server = -1 };
}

/* By the number that the process manager has given it. */
static int take_rank(struct stage *s, struct errmsg *err)
{
    static const char *const names[] = { "PMI_RANK", "PMI_ID", "PMIX_RANK" };
    struct stage_seat seat;
    int control = post_accept(s->listener);
    uint32_t rank = UINT32_MAX;

    if (control < 0 || receive(control, &seat) < 0)
        return errmsg_set(err, -1, "a rank came and went");
    for (size_t i = 0; i < sizeof names / sizeof *names && rank == UINT32_MAX; i++) {
        const char *text = value_in(&seat, names[i]);
        if (text)
            slice_u32(slice_str(text), &rank);
    }
    if (rank >= s->n || s->seats[rank].control >= 0) {
        seat_free(&seat);
        return errmsg_set(
            err, -1, "a process has no rank of its own: neither PMI_RANK nor PMIX_RANK tells it");
    }
    s->seats[rank] = seat;
    return 0;
}

static int left_ms(uint64_t end_ns)
{
    uint64_t now = clock_now_ns();

    return now >= end_ns ? 0 : (int)((end_ns - now) / 1000000) + 1;
}

int stage_begin(struct stage *s, const struct stage_config *c, uint32_t n, struct errmsg *err)
{
    uint64_t end = clock_now_ns() + (uint64_t)c->timeout_ms * 1000000;
    int rc;

    *s = (struct stage){ .listener = -1, .pidfd = -1, .n = n };
    for (uint32_t i = 0; i < TRANSCRIPT_RANKS; i++)
        s->seats[i] = (struct stage_seat){ .control = -1, .server = -1 };
    s->listener = post_listen(s->name);
    if (s->listener < 0)
        return errmsg_set(err, -1, "cannot listen: %s", err_text(-errno));
    rc = start(s, c);
    if (rc < 0)
        return errmsg_set(err, -1, "cannot start %s: %s", c->launcher[0], err_text(rc));
    for (uint32_t come = 0; come < n; come++) {
        struct pollfd p[2] = { { s->listener, POLLIN, 0 }, { s->pidfd, POLLIN, 0 } };
        int ready = poll(p, 2, left_ms(end));
        if (ready == 0)
            return errmsg_set(err, -1, "only %u of %u ranks have come", come, n);
        if (!(p[0].revents & POLLIN))
            return errmsg_set(err, -1, "%s ended before its %u ranks had come", c->launcher[0], n);
        if (take_rank(s, err) < 0)
            return -1;
    }
    return 0;
}

const char *stage_env(const struct stage *s, uint32_t rank, const char *name)
{
    return rank < s->n ? value_in(&s->seats[rank], name) : NULL;
}

static const char *variable(const void *seat, const char *name)
{
    return value_in(seat, name);
}

bool stage_offers(const struct stage *s, uint32_t rank, enum transcript_way way)
{
    char host[256];
    uint16_t port;

    if (transcript_way_is_inherited(way))
        return s->seats[rank].server >= 0;
    return rank_address(way, variable, &s->seats[rank], host, sizeof host, &port);
}

/* Some servers do nothing else between a connection and its first message. */
int stage_connection(struct stage *s, uint32_t rank, enum transcript_way way)
{
    struct stage_seat *seat = &s->seats[rank];
    char host[256];
    uint16_t port;

    if (!transcript_way_is_inherited(way) && !seat->connected) {
        if (seat->server >= 0)
            close(seat->server);
        seat->server = rank_address(way, variable, seat, host, sizeof host, &port)
                           ? rank_connect(host, port)
                           : -1;
        seat->connected = true;
    }
    return seat->server;
}

void stage_end(struct stage *s, int timeout_ms, int *status_p)
{
    struct pollfd p = { s->pidfd, POLLIN, 0 };
    siginfo_t end = { 0 };

    for (uint32_t i = 0; i < TRANSCRIPT_RANKS; i++)
        seat_free(&s->seats[i]); /* the rank sees that, and leaves */
    *status_p = -1;
    if (s->launcher && poll(&p, 1, timeout_ms) != 1)
        kill(s->launcher, SIGTERM);
    if (s->launcher && !p.revents && poll(&p, 1, PATIENCE_MS) != 1)
        kill(s->launcher, SIGKILL);
    if (s->launcher && waitid(P_PID, (id_t)s->launcher, &end, WEXITED) == 0)
        *status_p = end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
    if (s->listener >= 0)
        close(s->listener);
    if (s->pidfd >= 0)
        close(s->pidfd);
}
