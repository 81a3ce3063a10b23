/* loss.c - see loss.h. */
#include "wireupd/loss.h"

#include <signal.h>

#include "wireupd/ending.h"
#include "wireupd/share.h"
#include "wireupd/spawning.h"
#include "wireupd/work.h"

static bool has_ranks_at(const struct node *n, const struct job *j, uint32_t position)
{
    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (share_position(n->share, j, r) == position && j->procs[r].state != LIFE_GONE)
            return true;
    }
    return false;
}

/* Its processes have gone with it, as far as anybody can say. */
static void lose_ranks(struct node *n, struct job *j, uint32_t position, const char *why)
{
    uint32_t plan_node = share_node_at(n->share, j, position);
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
        if (share_position(n->share, j, r) != position || j->procs[r].state == LIFE_GONE)
            continue;
        /* Who could not be started ends every job; here it may as well have been. */
        if (j->procs[r].state == LIFE_PLANNED && j->phase == JOB_RUNNING)
            server_event(&n->server, j, r, LIFE_STARTED, 0);
        server_event(&n->server, j, r,
                     j->procs[r].state == LIFE_PLANNED ? LIFE_NOT_STARTED : LIFE_DEATH, SIGKILL);
    }
    spawning_heard(n, j);
}

void loss_node(struct node *n, uint32_t position, const char *why)
{
    if (n->draining) {     /* what it still had to show is lost with it */
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
}
