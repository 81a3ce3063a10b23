/* job_restart.c - see job_restart.h. */
#include "core/job_restart.h"

#include <errno.h>
#include <stdlib.h>

#include "core/effect.h"
#include "core/job_end.h"
#include "core/job_fence.h"
#include "core/job_node.h"
#include "core/key_store.h"
#include "core/modex.h"
#include "core/modex_keys.h"

static uint32_t most_restarts(const struct job *j, uint32_t rank)
{
    return j->plan.apps[j->plan.procs[rank].app].restarts;
}

/* It may be started again, on another machine if its node is lost. */
static bool may_move(const struct job *j, uint32_t rank)
{
    const struct proc *p = &j->procs[rank];

    return j->keep_going && j->phase == JOB_RUNNING && !j->asked_to_end &&
           p->restarts < most_restarts(j, rank) && !p->commanded && !p->aborted &&
           !p->unreachable && !j->is_tool && !j->is_adopted && !j->is_foreign;
}

bool job_list_moving(const struct job *j, uint32_t node, uint32_t *ranks, uint32_t *times,
                     uint32_t *n_p)
{
    *n_p = 0;
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].node != node || j->procs[r].state == PROC_STATE_GONE)
            continue;
        if (!may_move(j, r))
            return false;
        if (ranks) {
            ranks[*n_p] = r;
            times[*n_p] = j->procs[r].restarts + 1;
        }
        (*n_p)++;
    }
    return true;
}

bool job_may_restart(const struct job *j, uint32_t rank)
{
    return may_move(j, rank) && !j->plan.nodes[j->plan.procs[rank].node].lost;
}

/* Values that fences of this node were to bring to others have not come there. */
static void renew_values(struct job *j)
{
    for (uint32_t i = 0; i < j->nmine; i++) {
        if (modex_keys_renew(j, j->mine[i]) < 0)
            job_abort(j, j->mine[i], 1, "out of memory for the values of rank %u", j->mine[i]);
    }
}

static void count_anew(struct job *j)
{
    collective_set_renew(&j->colls, job_restart_first_round(j->epoch));
}

/* Those that wait know of it thereby. */
static void end_rounds(struct job *j)
{
    struct collective *c;
    bool sent = false;

    while ((c = collective_take_any(&j->colls))) {
        sent = sent || (c->contributed && c->group == j->world);
        for (uint32_t i = 0; i < c->group->count; i++) {
            if (collective_is_here(c, i))
                j->procs[collective_member(c->group, i)].epoch = j->epoch;
        }
        job_answer_round(j, c, ANSWER_RESTARTED);
        collective_free(&j->colls, c);
    }
    if (sent)
        renew_values(j);
    count_anew(j);
}

static void begin_epoch(struct job *j)
{
    j->epoch++;
    end_rounds(j);
    key_store_restarted(j);
}

/* It begins like one that was never started; what it has published and stored stays. */
static void begin_anew(struct job *j, uint32_t rank, uint32_t times, enum proc_event how)
{
    struct proc *p = &j->procs[rank];

    if (job_rank_is_here(j, rank))
        effects_push(j->effects,
                     EFFECT_WITH(restart, .job = j->id, .rank = rank, .how = how, .code = p->code));
    proc_state_step(&p->state, PROC_EVENT_RESTART);
    p->joined = p->uses_store = p->signalled = false;
    p->code = 0;
    p->restarts = times;
    p->epoch = j->epoch;
    p->fences = 0;
    p->last_word = NULL;
    modex_drop(j, rank);
    job_node_forget(j, rank);
}

void job_restart(struct job *j, uint32_t rank, uint32_t times)
{
    begin_epoch(j);
    begin_anew(j, rank, times, j->procs[rank].signalled ? PROC_EVENT_DEATH : PROC_EVENT_EXIT);
}

/* The processes that ran here before the loss and are not started again have ended. */
static void end_others(struct job *j, const struct node_replacement *n)
{
    for (uint32_t i = 0; i < j->nmine; i++)
        j->procs[j->mine[i]].state = PROC_STATE_GONE;
    j->ended = j->nmine > n->count ? j->nmine - n->count : 0;
}

/* This machine has had no process of the job. */
static int take_place(struct job *j, const struct node_replacement *n)
{
    uint32_t *mine = calloc(j->plan.nodes[n->node].nprocs + (size_t)1, sizeof *mine), count = 0;

    for (uint32_t r = 0; mine && r < j->plan.nprocs; r++) {
        if (j->plan.procs[r].node == n->node)
            mine[count++] = r;
    }
    if (!mine || collective_group_move(j->world, mine, count) < 0) {
        free(mine);
        return -ENOMEM;
    }
    free(j->mine);
    j->mine = mine;
    j->nmine = count;
    j->here = n->node;
    end_others(j, n);
    return 0;
}

void job_restart_node(struct job *j, const struct node_replacement *n)
{
    struct job_map_node *node = &j->plan.nodes[n->node];
    const char *name = arena_str(&j->plan.arena, n->name);

    begin_epoch(j);
    renew_values(j); /* that machine has none; the next fence brings all */
    if (!name || (n->here && take_place(j, n) < 0)) {
        job_abort(j, JOB_NO_RANK, 1, "out of memory for processes of node %s", node->name);
        return;
    }
    node->name = name;
    node->lost = false;
    for (uint32_t i = 0; i < n->count; i++) {
        struct proc *p = &j->procs[n->ranks[i]];
        p->state = PROC_STATE_GONE;
        begin_anew(j, n->ranks[i], n->times[i], PROC_EVENT_HANGUP);
    }
}

void job_restart_join(struct job *j, uint32_t epoch)
{
    j->epoch = epoch;
    count_anew(j);
}

bool job_restart_is_news(struct job *j, uint32_t rank)
{
    struct proc *p = &j->procs[rank];
    bool news = p->epoch != j->epoch;

    p->epoch = j->epoch;
    return news;
}
