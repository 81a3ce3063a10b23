/* queues.c - see queues.h. */
#include "daemon/queues.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "base/limit.h"
#include "daemon/node_context.h"

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
    struct side_command *command;
    queues_fn *done;
    void *arg;
};

static void question_free(struct queue_question *k)
{
    list_unlink(&k->link);
    free(k);
}

static void answer(void *arg, struct side_command *command, int status, bool late)
{
    struct queue_question *k = arg;
    const struct turn *turn = k->of->context->turn;
    queues_fn *done = k->done;
    void *whom = k->arg;

    question_free(k);
    done(whom, !late && WIFEXITED(status) ? side_command_out(command) : SLICE_NULL);
    turn_end(turn);
}

bool queues_ask(struct queues *q, queues_fn *done, void *arg)
{
    struct side_command_config config = { .patience_ms = LIMIT_QUEUES_MS, .done = answer };
    struct queue_question *k;
    struct errmsg err;
    size_t i = 0, n = sizeof commands / sizeof *commands;

    while (i < n && !getenv(commands[i].variable))
        i++;
    k = i < n ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return false;
    *k = (struct queue_question){ .of = q, .done = done, .arg = arg };
    list_append(&q->all, &k->link);
    config.words = commands[i].words;
    config.arg = k;
    k->command = side_command_start(&q->commands, &config, &err);
    if (!k->command)
        question_free(k);
    return k->command != NULL;
}

void queues_forget(struct queues *q, const void *arg)
{
    LIST_EACH(l, &q->all)
    {
        struct queue_question *k = LIST_OF(l, struct queue_question, link);
        if (k->arg != arg)
            continue;
        side_command_free(k->command);
        question_free(k);
    }
}

bool queues_reaped(struct queues *q, pid_t pid, int status)
{
    return side_commands_reaped(&q->commands, pid, status);
}

void queues_open(struct queues *q, const struct node_context *c)
{
    *q = (struct queues){ .context = c };
    side_commands_open(&q->commands, c->loop);
    list_init(&q->all);
}

void queues_close(struct queues *q)
{
    if (!q->context)
        return;
    side_commands_close(&q->commands);
    LIST_EACH(l, &q->all)
    question_free(LIST_OF(l, struct queue_question, link));
    q->context = NULL;
}
