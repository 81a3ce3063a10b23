/* replacing.c - see replacing.h.  Reading order: another node; waiting for one; its end. */
#include "daemon/replacing.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/job_restart.h"
#include "daemon/cluster_io.h"
#include "daemon/job_msgs.h"

/* A node of a job that waits for another machine. */
struct replacing_wait {
    struct list link;
    uint32_t job, node, position;
    uint64_t due_ns;
    char why[];
};

/* ---- another node ---------------------------------------------------------------------------- */

/* A daemon without a process of the job, which knows it; 0: there is none. */
static uint32_t find_spare(const struct cluster_io *s, const struct job *j)
{
    for (uint32_t p = 1; p < s->router.config.count; p++) {
        if (s->names[p] && s->daemons.states[p] == DAEMON_STATE_SERVING &&
            node_map_node(&s->dispatch.map, j, p) == JOB_NONE_HERE)
            return p;
    }
    return 0;
}

/* How many processes of that node are started again; 0: they may not. */
static uint32_t count_ranks(const struct job *j, uint32_t node)
{
    uint32_t n;

    return job_list_moving(j, node, NULL, NULL, &n) ? n : 0;
}

static bool move_node(struct cluster_io *s, const struct job *j, uint32_t node, uint32_t spare)
{
    uint32_t room = j->plan.nodes[node].nprocs + 1, n;
    uint32_t *ranks = calloc(2 * (size_t)room, sizeof *ranks);
    bool moved = ranks && job_list_moving(j, node, ranks, ranks + room, &n) &&
                 job_msgs_replace(s, j,
                                  &(struct node_replacement){ node, slice_str(s->names[spare]),
                                                              false, ranks, ranks + room, n },
                                  spare);

    free(ranks);
    return moved;
}

/* ---- waiting for one ------------------------------------------------------------------------- */

static const struct node_config *config_of(const struct replacing *r)
{
    return r->cluster->context->config;
}

static struct job *job_of(const struct replacing *r, const struct replacing_wait *w)
{
    return cluster_io_job(r->cluster, w->job);
}

/* The first one that waits says how many ranks a node is wanted for; others follow. */
static void seek(struct replacing *r)
{
    const struct node_config *c = config_of(r);
    uint32_t ranks = 0;

    LIST_EACH(l, &r->waits)
    {
        const struct replacing_wait *w = LIST_OF(l, struct replacing_wait, link);
        const struct job *j = job_of(r, w);
        if (ranks == 0 && j)
            ranks = count_ranks(j, w->node);
    }
    c->seek_node(c->arg, ranks);
}

static void set_due(struct replacing *r)
{
    uint64_t first_ns = UINT64_MAX;

    LIST_EACH(l, &r->waits)
    {
        const struct replacing_wait *w = LIST_OF(l, struct replacing_wait, link);
        first_ns = w->due_ns < first_ns ? w->due_ns : first_ns;
    }
    if (first_ns < UINT64_MAX)
        timer_at(&r->due, first_ns);
    else
        timer_stop(&r->due);
}

/* It waits no longer.  What the loss means is known when no other job waits because of it. */
static void wait_free(struct replacing *r, struct replacing_wait *w)
{
    uint32_t position = w->position;
    bool last = true;

    list_unlink(&w->link);
    free(w);
    LIST_EACH(l, &r->waits)
    last = last && LIST_OF(l, struct replacing_wait, link)->position != position;
    if (last)
        membership_settle(&r->cluster->overlay_io.member, position);
}

/* False: no memory. */
static bool wait_new(struct replacing *r, const struct job *j, uint32_t node, uint32_t position,
                     const char *why)
{
    size_t n = strlen(why);
    struct replacing_wait *w = calloc(1, sizeof *w + n + 1);

    if (!w || membership_defer(&r->cluster->overlay_io.member, position) < 0) {
        free(w);
        return false;
    }
    w->job = j->id;
    w->node = node;
    w->position = position;
    w->due_ns = clock_now_ns() + config_of(r)->replace_wait_s * NS_PER_S;
    memcpy(w->why, why, n);
    list_append(&r->waits, &w->link);
    return true;
}

static bool may_wait(const struct replacing *r)
{
    const struct node_config *c = config_of(r);

    return c->seek_node && c->replace_wait_s;
}

bool replacing_begin(struct replacing *r, struct job *j, uint32_t node, uint32_t position,
                     const char *why)
{
    struct cluster_io *s = r->cluster;
    const struct log *log = s->context->log;
    uint32_t ranks = node_map_replaces(&s->dispatch.map, j->id) ? count_ranks(j, node) : 0;
    uint32_t spare = ranks ? find_spare(s, j) : 0;
    const char *name = j->plan.nodes[node].name;

    if (!ranks || (!spare && !(may_wait(r) && wait_new(r, j, node, position, why))))
        return false;
    server_node_down(s->context->server, j, node);
    if (spare && !move_node(s, j, node, spare))
        return false;
    if (spare) {
        log_error(log, "node %s is lost: %s; node %s takes its place", name, why, s->names[spare]);
        return true;
    }
    log_error(log,
              "node %s is lost: %s; its %u rank%s wait%s for a node that takes its place, for at "
              "most %u s (-replace-wait)",
              name, why, ranks, ranks == 1 ? "" : "s", ranks == 1 ? "s" : "",
              config_of(r)->replace_wait_s);
    set_due(r);
    seek(r);
    return true;
}

/* ---- its end --------------------------------------------------------------------------------- */

static bool goes_on(const struct job *j)
{
    return j->phase == JOB_RUNNING && !j->asked_to_end;
}

static void give_up(struct replacing *r, struct replacing_wait *w)
{
    struct job *j = job_of(r, w);
    struct errmsg why;

    errmsg_set(&why, 0, "%.700s, and no node has come within %u s to take its place", w->why,
               config_of(r)->replace_wait_s);
    if (j)
        r->lose(r->cluster, j, w->position, goes_on(j) ? why.text : NULL);
    wait_free(r, w);
}

/* True: it waits no longer. */
static bool replace(struct replacing *r, struct replacing_wait *w)
{
    struct cluster_io *s = r->cluster;
    struct job *j = job_of(r, w);
    uint32_t spare = j && count_ranks(j, w->node) ? find_spare(s, j) : 0;
    const char *before = j ? j->plan.nodes[w->node].name : "";

    if (!spare || !move_node(s, j, w->node, spare))
        return false;
    log_error(s->context->log, "node %s takes the place of %s", s->names[spare], before);
    wait_free(r, w);
    return true;
}

/* The end of one may change the others; false: none was replaced. */
static bool replace_one(struct replacing *r)
{
    LIST_EACH(l, &r->waits)
    {
        if (replace(r, LIST_OF(l, struct replacing_wait, link)))
            return true;
    }
    return false;
}

void replacing_offer(struct replacing *r)
{
    bool any = false;

    if (!r->cluster)
        return;
    while (replace_one(r))
        any = true;
    if (any)
        seek(r);
    set_due(r);
}

/* One that has waited long enough, or whose job ends; NULL: there is none. */
static struct replacing_wait *find_over(const struct replacing *r, uint64_t now_ns)
{
    LIST_EACH(l, &r->waits)
    {
        struct replacing_wait *w = LIST_OF(l, struct replacing_wait, link);
        const struct job *j = job_of(r, w);
        if (w->due_ns <= now_ns || !j || !goes_on(j))
            return w;
    }
    return NULL;
}

static void end_some(struct replacing *r, uint64_t now_ns)
{
    struct replacing_wait *w = find_over(r, now_ns);

    if (!w)
        return;
    for (; w; w = find_over(r, now_ns))
        give_up(r, w);
    seek(r);
    set_due(r);
}

void replacing_turn(struct replacing *r)
{
    if (r->cluster)
        end_some(r, 0);
}

static void on_due(void *arg)
{
    struct replacing *r = arg;

    end_some(r, clock_now_ns());
    set_due(r);
    turn_end(r->cluster->context->turn);
}

void replacing_open(struct replacing *r, struct cluster_io *s, replacing_lose_fn *lose)
{
    *r = (struct replacing){ .cluster = s, .lose = lose };
    list_init(&r->waits);
    timer_init(&r->due, s->context->loop, on_due, r);
}

void replacing_close(struct replacing *r)
{
    if (!r->cluster)
        return;
    timer_stop(&r->due);
    LIST_EACH(l, &r->waits)
    {
        list_unlink(l);
        free(LIST_OF(l, struct replacing_wait, link));
    }
    r->cluster = NULL;
}
