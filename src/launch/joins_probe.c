/* joins_probe.c - see joins_probe.h. */
#include "launch/joins_probe.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limit.h"

static void judge(struct joins_probe *p, uint32_t position, enum joins_answer answer)
{
    p->all[position].answer = answer;
    p->judged(p->arg);
    p->all[position].answer = JOINS_ANSWER_UNKNOWN;
}

void joins_probe_alive(struct joins_probe *p, uint32_t position)
{
    if (p->all && p->all[position].answer == JOINS_ANSWER_AWAITED)
        judge(p, position, JOINS_ANSWER_ALIVE);
}

static void out_of_patience(void *arg)
{
    struct joins_probe *p = arg;
    uint64_t now = clock_now_ns(), next = UINT64_MAX;

    for (uint32_t i = 1; i < p->remote->boot.count; i++) {
        if (p->all[i].answer != JOINS_ANSWER_AWAITED)
            continue;
        if (p->all[i].until_ns <= now)
            judge(p, i, JOINS_ANSWER_NONE);
        else if (p->all[i].until_ns < next)
            next = p->all[i].until_ns;
    }
    timer_at(&p->patience, next);
}

static void ask(struct joins_probe *p, uint32_t position)
{
    p->all[position] =
        (struct joins_probed){ .answer = JOINS_ANSWER_AWAITED,
                               .until_ns = clock_now_ns() + LIMIT_JOIN_PROBE_MS * NS_PER_MS };
    cluster_io_probe(&p->remote->cluster, position);
    if (!p->patience.set)
        timer_at(&p->patience, p->all[position].until_ns);
}

enum joins_answer joins_probe_ask(struct joins_probe *p, uint32_t position)
{
    if (p->all[position].answer == JOINS_ANSWER_UNKNOWN)
        ask(p, position);
    return p->all[position].answer;
}

int joins_probe_open(struct joins_probe *p, struct remote *f, void (*judged)(void *arg), void *arg)
{
    *p = (struct joins_probe){ .remote = f, .judged = judged, .arg = arg };
    timer_init(&p->patience, node_loop(f->node), out_of_patience, p);
    p->all = calloc(f->boot.count, sizeof *p->all);
    return p->all ? 0 : -ENOMEM;
}

void joins_probe_close(struct joins_probe *p)
{
    if (!p->judged)
        return;
    timer_stop(&p->patience);
    free(p->all);
    *p = (struct joins_probe){ .all = NULL };
}
