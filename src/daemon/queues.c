/* queues.c - see queues.h. */
#include "daemon/queues.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limit.h"
#include "daemon/node_context.h"
#include "daemon/path_search.h"
#include "io/child.h"
#include "io/loop.h"

enum { QUEUES_OUTPUT_MAX = 1 << 20, QUEUES_CHUNK = 4 << 10 };

/* The variable that tells that we are in a job, and the words of the command. */
static const struct {
    const char *variable, *words[5];
} commands[] = {
    { "SLURM_JOB_ID", { "sinfo", "-h", "-o", "%R %a" } },
};

/* One run of the command. */
struct queue_question {
    struct list link;
    struct queues *of;
    pid_t pid; /* 0: reaped */
    int fd;    /* its output */
    struct watch watch;
    struct timer patience;
    struct buf output;
    queues_fn *done;
    void *arg;
};

static void question_free(struct queue_question *k)
{
    if (k->pid)
        kill(k->pid, SIGKILL);
    watch_close(&k->watch);
    timer_stop(&k->patience);
    close(k->fd);
    list_unlink(&k->link);
    buf_free(&k->output);
    free(k);
}

static void answer(struct queue_question *k, bool whole)
{
    const struct turn *turn = k->of->context->turn;
    struct buf lines = k->output;
    queues_fn *done = k->done;
    void *arg = k->arg;

    buf_init(&k->output, 0);
    question_free(k);
    done(arg, whole && buf_ok(&lines) ? buf_slice(&lines) : SLICE_NULL);
    buf_free(&lines);
    turn_end(turn);
}

static void on_output(void *arg)
{
    struct queue_question *k = arg;
    char *room = buf_room(&k->output, QUEUES_CHUNK);
    ssize_t n = room ? read(k->fd, room, QUEUES_CHUNK) : 0;

    if (n > 0)
        buf_commit(&k->output, (size_t)n);
    else if (n == 0 || (errno != EINTR && errno != EAGAIN))
        answer(k, n == 0);
}

static void on_late(void *arg)
{
    answer(arg, false);
}

static int start(struct queue_question *k, const char *const *words, int out)
{
    const struct child_fd fds[] = { { k->of->context->null_fd, 0 },
                                    { out, 1 },
                                    { k->of->context->null_fd, 2 } };
    struct child_plan plan = {
        .argv = (char *const *)(uintptr_t)words, .env = environ, .fds = fds, .nfds = 3
    };
    struct arena a = ARENA_NULL(1 << 16);
    struct errmsg err;
    int rc = path_search_program(&a, words[0], NULL, getenv("PATH"), true, &plan.path, &err);

    if (rc == 0)
        rc = child_start(&plan, &k->pid, &err);
    arena_free(&a);
    return rc;
}

static bool begin(struct queue_question *k, const char *const *words)
{
    struct loop *loop = k->of->context->loop;
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    rc = fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : start(k, words, ends[1]);
    close(ends[1]);
    if (rc) {
        close(ends[0]);
        return false;
    }
    k->fd = ends[0];
    watch_open(&k->watch, loop, k->fd, on_output, NULL, k);
    watch_want(&k->watch, LOOP_READ);
    timer_init(&k->patience, loop, on_late, k);
    timer_set(&k->patience, LIMIT_QUEUES_MS);
    list_append(&k->of->all, &k->link);
    return true;
}

bool queues_ask(struct queues *q, queues_fn *done, void *arg)
{
    struct queue_question *k;
    size_t i = 0, n = sizeof commands / sizeof *commands;

    while (i < n && !getenv(commands[i].variable))
        i++;
    k = i < n ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return false;
    *k = (struct queue_question){ .of = q, .done = done, .arg = arg };
    list_init(&k->link);
    buf_init(&k->output, QUEUES_OUTPUT_MAX);
    if (begin(k, commands[i].words))
        return true;
    buf_free(&k->output);
    free(k);
    return false;
}

void queues_forget(struct queues *q, const void *arg)
{
    LIST_EACH(l, &q->all)
    {
        struct queue_question *k = LIST_OF(l, struct queue_question, link);
        if (k->arg == arg)
            question_free(k);
    }
}

bool queues_reaped(struct queues *q, pid_t pid)
{
    LIST_EACH(l, &q->all)
    {
        struct queue_question *k = LIST_OF(l, struct queue_question, link);
        if (k->pid == pid) {
            k->pid = 0;
            return true;
        }
    }
    return false;
}

void queues_open(struct queues *q, const struct node_context *c)
{
    *q = (struct queues){ .context = c };
    list_init(&q->all);
}

void queues_close(struct queues *q)
{
    if (!q->context)
        return;
    LIST_EACH(l, &q->all)
    question_free(LIST_OF(l, struct queue_question, link));
    q->context = NULL;
}
