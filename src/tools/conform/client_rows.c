/* client_rows.c - see client_rows.h. */
#include "tools/conform/client_rows.h"

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
#include "tools/conform/manner.h"
#include "tools/conform/post.h"
#include "tools/conform/rank.h"

extern char **environ;

enum { WORDS_MAX = 200, PROTOCOLS = 3, LINE_ROOM = 512, PATIENCE_MS = 5000 };

static const char *const protocols[PROTOCOLS] = { "pmi1", "pmi2", "pmix" };

struct run {
    const struct stage_config *config;
    enum manner manner;
    char name[POST_NAME];
    int listener;
    int status;                       /* of the launcher; -1: it had to be killed */
    bool spoken[PROTOCOLS];           /* by any rank, in this run or before */
    char wrong[PROTOCOLS][LINE_ROOM]; /* the first thing, with the rules of the tables */
};

/* ---- one run --------------------------------------------------------------------------------- */

/* "wireup" beside this program. */
static void find_wireup(const char *self, char *path, size_t room)
{
    const char *slash = strrchr(self, '/');

    snprintf(path, room, "%.*swireup", slash ? (int)(slash - self) + 1 : 0, self);
}

static int start(const struct run *r, uint32_t ranks, pid_t *pid_p)
{
    char launcher[4096], option[] = "-n", count[16], as_relay[] = RELAY_WORD, *argv[WORDS_MAX + 8];
    posix_spawn_file_actions_t actions;
    size_t n = 0;
    int rc;

    find_wireup(r->config->self, launcher, sizeof launcher);
    snprintf(count, sizeof count, "%u", ranks);
    argv[n++] = launcher;
    argv[n++] = option;
    argv[n++] = count;
    argv[n++] = (char *)(uintptr_t)r->config->self;
    argv[n++] = as_relay;
    argv[n++] = (char *)(uintptr_t)r->name;
    argv[n++] = (char *)(uintptr_t)manner_names[r->manner];
    for (size_t i = 0; r->config->launcher[i] && i < WORDS_MAX; i++)
        argv[n++] = r->config->launcher[i];
    argv[n] = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    rc = posix_spawn(pid_p, launcher, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return -rc;
}

/* ---- what the relays tell ------------------------------------------------------------ */

/* "pmi1 readable", TAB, why. */
static void read_line(struct run *r, char *line, struct verdicts *v)
{
    char *why = strchr(line, '\t');

    if (!why)
        return;
    *why++ = '\0';
    why[strcspn(why, "\n")] = '\0';
    if (r->manner == MANNER_PLAIN)
        verdicts_add(v, line, *why ? VERDICT_DIFFERS : VERDICT_CONFORMS, why);
    for (int i = 0; i < PROTOCOLS; i++) {
        if (strncmp(line, protocols[i], strlen(protocols[i])) != 0)
            continue;
        r->spoken[i] = true;
        if (*why && !r->wrong[i][0])
            snprintf(r->wrong[i], sizeof r->wrong[i], "%s", why);
    }
}

static void take_message(struct run *r, struct verdicts *v)
{
    int fd = post_accept(r->listener);
    char *text = calloc(1, POST_ROOM + 1), *rest = text, *line;

    if (fd >= 0 && text && recv(fd, text, POST_ROOM, 0) > 0) {
        while ((line = strsep(&rest, "\n")) != NULL)
            read_line(r, line, v);
    }
    if (fd >= 0)
        close(fd);
    free(text);
}

/* Until the launcher has ended; what the relays have sent by then is there. */
static int wait_for(struct run *r, pid_t pid, struct verdicts *v)
{
    struct pollfd p[2] = { { r->listener, POLLIN, 0 },
                           { (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 } };
    uint64_t end = clock_now_ns() + (uint64_t)r->config->timeout_ms * 1000000;
    siginfo_t how = { 0 };
    int signals[] = { SIGTERM, SIGKILL }, sent = 0, ready;

    for (;;) {
        uint64_t now = clock_now_ns();
        ready = poll(p, 2, sent ? PATIENCE_MS : now < end ? (int)((end - now) / 1000000) + 1 : 0);
        if (ready > 0 && p[0].revents)
            take_message(r, v);
        else if (ready > 0)
            break;
        else if (ready == 0 && sent < 2)
            kill(pid, signals[sent++]);
    }
    waitid(P_PID, (id_t)pid, &how, WEXITED);
    close(p[1].fd);
    return sent ? -1 : how.si_code == CLD_EXITED ? how.si_status : 128 + how.si_status;
}

static void judge(const struct run *r, struct verdicts *v)
{
    char name[64], why[LINE_ROOM] = "";

    if (r->status < 0)
        snprintf(why, sizeof why, "it does not end within %d s", r->config->timeout_ms / 1000);
    else if (r->status)
        snprintf(why, sizeof why, "its exit status is %d", r->status);
    for (int i = 0; i < PROTOCOLS; i++) {
        const char *text = why[0] ? why : r->manner == MANNER_PLAIN ? "" : r->wrong[i];
        snprintf(name, sizeof name, "%s %s", protocols[i], manner_names[r->manner]);
        if (r->spoken[i] && (i < 2 || r->manner == MANNER_PLAIN || r->manner == MANNER_PIECES))
            verdicts_add(v, name, text[0] ? VERDICT_DIFFERS : VERDICT_CONFORMS, text);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool run_once(struct run *r, uint32_t ranks, struct verdicts *v, struct errmsg *err)
{
    pid_t pid;
    int rc;

    r->listener = post_listen(r->name);
    rc = r->listener < 0 ? -errno : start(r, ranks, &pid);
    if (rc == 0)
        r->status = wait_for(r, pid, v);
    if (r->listener >= 0)
        close(r->listener);
    judge(r, v);
    if (rc < 0)
        errmsg_set(err, rc, "cannot start wireup beside this program: %s", err_text(rc));
    else if (!r->spoken[0] && !r->spoken[1] && !r->spoken[2])
        errmsg_set(err, -1, "%s has spoken none of PMI-1, PMI-2 and PMIx (its exit status: %d)",
                   r->config->launcher[0], r->status);
    return rc == 0 && (r->spoken[0] || r->spoken[1] || r->spoken[2]);
}

bool client_rows(const struct stage_config *c, uint32_t ranks, struct verdicts *v,
                 struct errmsg *err)
{
    bool spoken[PROTOCOLS] = { false }, good = true;

    for (int m = 0; m < MANNERS && good; m++) {
        struct run r = { .config = c, .manner = (enum manner)m };
        memcpy(r.spoken, spoken, sizeof spoken);
        if (m > MANNER_PIECES && !spoken[0] && !spoken[1]) /* only texts have tuples */
            break;
        good = run_once(&r, ranks, v, err);
        if (m == MANNER_PLAIN && r.status) /* what would fail in any manner tells nothing */
            break;
        memcpy(spoken, r.spoken, sizeof spoken);
    }
    return good;
}
