/* loss.c - see loss.h.  Reading order: why; what becomes of the jobs; the loss. */
#include "wireupd/loss.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "wireupd/ending.h"
#include "wireupd/errand.h"
#include "wireupd/places.h"
#include "wireupd/preflight.h"
#include "wireupd/share_priv.h"
#include "wireupd/spawning.h"
#include "wireupd/work.h"

/* Why a daemon is lost, until it is told. */
struct reason {
    struct list link;
    uint32_t position;
    char text[];
};

static struct reason *reason_of(const struct share *s, uint32_t position)
{
    LIST_EACH(l, &s->reasons)
    {
        struct reason *r = LIST_OF(l, struct reason, link);
        if (r->position == position)
            return r;
    }
    return NULL;
}

void loss_reason(struct share *s, uint32_t position, const char *why)
{
    size_t n = strlen(why);
    struct reason *r;

    if (!share_is_root(s) || s->cluster.lost[position] || reason_of(s, position))
        return;
    r = calloc(1, sizeof *r + n + 1);
    if (!r)
        return;
    r->position = position;
    memcpy(r->text, why, n);
    list_append(&s->reasons, &r->link);
}

static bool has_ranks_at(const struct node *n, const struct job *j, uint32_t position)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (places_rank(n->share, j, r) == position && j->procs[r].state != LIFE_GONE)
            return true;
    }
    return false;
}

/* Its processes have gone with it, as far as anybody can say. */
static void lose_ranks(struct node *n, struct job *j, uint32_t position, const char *why)
{
    uint32_t plan_node = places_node(n->share, j, position);
    struct errmsg text;

    if (!has_ranks_at(n, j, position))
        return;
    errmsg_set(&text, 0, "node %s is lost: %s", n->share->names[position], why);
    if (j->keep_going) {
        server_blame(&n->server, j, 1, text.text);
        if (j->phase == JOB_RUNNING)
            ending_say(n, &text); /* at the end it is old */
    } else {
        server_abort(&n->server, j, JOB_NO_RANK, 1, "%s", text.text);
    }
    if (plan_node < j->plan.nnodes)
        server_node_down(&n->server, j, plan_node);
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (places_rank(n->share, j, r) != position || j->procs[r].state == LIFE_GONE)
            continue;
        /* Who could not be started ends every job; here it may as well have been. */
        if (j->procs[r].state == LIFE_PLANNED && j->phase == JOB_RUNNING)
            server_event(&n->server, j, r, LIFE_STARTED, 0);
        server_event(&n->server, j, r,
                     j->procs[r].state == LIFE_PLANNED ? LIFE_NOT_STARTED : LIFE_DEATH, SIGKILL);
    }
    spawning_heard(n, j);
}

static void lose_in_jobs(struct node *n, uint32_t position, const char *why)
{
    if (n->unshared)
        return;        /* that it was lost has ended the launch, and it had nothing more to tell */
    if (n->draining) { /* what it still had to show is lost with it */
        if (!n->lost_late) /* nor who was below it */
            log_error(&n->config.log,
                      "node %s is lost at the end of the job, and output with it: %s",
                      n->share->names[position], why);
        n->lost_late = true;
        n->exit_code = n->exit_code ? n->exit_code : 1;
        return;
    }
    LIST_EACH(l, &n->works)
    {
        struct work *w = LIST_OF(l, struct work, link);
        if (w->job->phase != JOB_ENDED && !w->job->is_tool)
            lose_ranks(n, w->job, position, why);
    }
    preflight_lost(n, position);
    timing_lost(&n->timing);
}

static void lose_at_launcher(struct share *s, uint32_t position)
{
    struct reason *r = reason_of(s, position);

    log_info(&s->node->config.log, "node %s is lost%s%s", s->names[position], r ? ": " : "",
             r ? r->text : "");
    streams_cut(&s->streams, position);
    if (s->errands)
        errands_lost(s->errands, position);
    lose_in_jobs(s->node, position,
                 r ? r->text
                   : "its way to the launcher was lost, and it has found no other in time");
    if (r)
        list_unlink(&r->link);
    free(r);
}

/* A daemon: the launcher decides what becomes of the job; here those processes are gone. */
static void lose_elsewhere(struct share *s, const struct placement *p, uint32_t position)
{
    struct job *j = share_job(s, p->job);

    for (uint32_t r = 0; j && r < j->plan.nprocs; r++) {
        if (places_rank(s, j, r) == position && j->procs[r].state != LIFE_GONE)
            server_event(share_server(s), j, r, LIFE_DEATH, SIGKILL);
    }
}

void loss_position(struct share *s, uint32_t position)
{
    ears_lost(&s->ears, position);
    if (share_is_root(s)) {
        lose_at_launcher(s, position);
        return;
    }
    LIST_EACH(l, &s->placed)
    lose_elsewhere(s, LIST_OF(l, struct placement, link), position);
}

void loss_free(struct share *s)
{
    LIST_EACH(r, &s->reasons)
    {
        list_unlink(r);
        free(LIST_OF(r, struct reason, link));
    }
}
