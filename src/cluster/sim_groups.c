/* sim_groups.c - see sim_groups.h.  Reading order: constructs and destructs; invitations; time; the
 * end. */
#include "cluster/sim_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "cluster/sim_calls.h"

enum { INVITED_MAX = 6 };

/* What a construct or a destruct has come to, as the first node was told. */
struct outcome {
    bool known, failed;
    struct rank_set left_out;
};

enum invitation_end { INVITATION_OPEN, INVITATION_FORMED, INVITATION_LEADER_LOST };

struct sim_group {
    enum overlay_losses losses; /* of its construct */
    struct rank_set members;
    struct outcome *outcomes; /* of construct, destruct, construct ... */
    uint32_t leader;          /* of an invitation */
    struct rank_set invited;
    enum invitation_end end; /* as the first invited node was told */
};

static bool is_destruct(uint32_t step)
{
    return step % 2 != 0;
}

/* ---- constructs and destructs ---------------------------------------------------------------- */

struct group_block {
    uint32_t group, step, position;
};

/* Who takes part: in a destruct those that the construct has not left out.  False: no memory. */
static bool participants(const struct sim_group *g, uint32_t step, struct rank_set *all)
{
    const struct rank_set *out = is_destruct(step) ? &g->outcomes[step - 1].left_out : NULL;
    bool good = rank_set_copy(all, &g->members) == 0;

    for (uint32_t i = 0; out && good && i < out->count; i++)
        good = rank_set_remove(all, rank_set_nth(out, i)) == 0;
    return good;
}

static enum overlay_losses losses_of(const struct sim_group *g, uint32_t step)
{
    return is_destruct(step) ? OVERLAY_LOSS_BORNE : g->losses;
}

static void enter(struct sim_node *n, uint32_t number)
{
    struct sim *s = n->sim;
    struct sim_group *g = &s->groups[number];
    struct sim_part *part = &n->parts[number];
    struct group_block b = { number, part->step, n->me };
    struct overlay_way way = { OVERLAY_AUTO, losses_of(g, part->step) };
    struct rank_set all = { NULL, 0, 0, 0 };
    char what[32];

    snprintf(what, sizeof what, "%s sim/%u", is_destruct(part->step) ? "ungroup" : "group", number);
    part->inside = true;
    s->r->collectives++;
    if (!participants(g, part->step, &all) ||
        membership_contribute(&n->member, way, slice_str(what), part->step / 2, &all,
                              s->c.modelled ? NULL : block_set_one(n->me, slice_mem(&b, sizeof b)),
                              s->now) < 0)
        sim_violated(s, "node %u cannot contribute to group %u", n->me, number);
    rank_set_free(&all);
}

static void enter_later(struct sim_node *n, uint32_t number)
{
    struct sim *s = n->sim;
    uint64_t wait = s->c.jitter_ns ? rand_below(&s->rand, 20 * s->c.jitter_ns) : 0;

    sim_push(s, (struct sim_event){
                    .at = s->now + wait, .kind = SIM_GROUP, .node = n->me, .other = number });
}

static bool is_same(const struct rank_set *a, const struct rank_set *b)
{
    return a->count == b->count && rank_set_covers(a, b);
}

static void compare(struct sim_node *n, uint32_t number, const struct overlay_event *e)
{
    uint32_t step = n->parts[number].step;
    struct outcome *o = &n->sim->groups[number].outcomes[step];

    if (o->known && (o->failed != e->failed || !is_same(&o->left_out, &e->left_out)))
        sim_violated(n->sim, "node %u is told another outcome of step %u of group %u than others",
                     n->me, step, number);
    if (!o->known && rank_set_copy(&o->left_out, &e->left_out) < 0)
        n->sim->no_memory = true;
    o->known = true;
    o->failed = e->failed;
}

static void check_failure(struct sim_node *n, uint32_t number, const struct overlay_event *e)
{
    const struct sim *s = n->sim;
    const struct sim_group *g = &s->groups[number];
    uint32_t step = n->parts[number].step;

    n->sim->r->failed++;
    if (losses_of(g, step) == OVERLAY_LOSS_BORNE)
        sim_violated(n->sim, "node %u: step %u of group %u, which bears losses, has failed", n->me,
                     step, number);
    else if (e->culprit >= s->c.nodes || !rank_set_has(&g->members, e->culprit) ||
             !tree_is_lost(s->nodes[0].member.overlay.lost, e->culprit))
        sim_violated(n->sim, "node %u: group %u has failed, and none of its nodes is lost", n->me,
                     number);
}

/* The block is there if its node takes part and is not left out. */
static uint32_t check_block(struct sim_node *n, uint32_t number, const struct rank_set *all,
                            const struct overlay_event *e, const struct block_set *b)
{
    struct group_block k = { 0, 0, 0 };

    if (block_set_block(b).len == sizeof k)
        memcpy(&k, block_set_block(b).ptr, sizeof k);
    if (block_set_block(b).len != sizeof k || k.group != number ||
        k.step != n->parts[number].step || k.position != block_set_position(b) ||
        !rank_set_has(all, block_set_position(b)) ||
        rank_set_has(&e->left_out, block_set_position(b)))
        sim_violated(n->sim, "node %u gets a block of node %u that is not of its group", n->me,
                     block_set_position(b));
    return 1;
}

static void check_members(struct sim_node *n, uint32_t number, const struct overlay_event *e)
{
    struct sim *s = n->sim;
    const struct rank_set *lost = &s->nodes[0].member.overlay.losses;
    const struct block_set *b;
    struct rank_set all = { NULL, 0, 0, 0 };
    struct block_set_walk w;
    uint32_t blocks = 0;

    if (!participants(&s->groups[number], n->parts[number].step, &all))
        s->no_memory = true;
    if (!rank_set_covers(lost, &e->left_out) || !rank_set_covers(&all, &e->left_out))
        sim_violated(s, "node %u: group %u leaves out a node that lives", n->me, number);
    block_set_walk_begin(&w, e->blocks);
    while (!s->c.modelled && (b = block_set_walk_next(&w)))
        blocks += check_block(n, number, &all, e, b);
    block_set_walk_end(&w);
    if (!s->c.modelled && blocks + e->left_out.count != all.count)
        sim_violated(s, "node %u gets %u blocks of group %u, which has %u nodes and lost %u", n->me,
                     blocks, number, all.count, e->left_out.count);
    rank_set_free(&all);
}

bool sim_groups_completed(struct sim_node *n, const struct overlay_event *e)
{
    struct sim *s = n->sim;
    unsigned number = SIM_GROUPS_MAX;
    struct sim_part *part;

    if (sscanf(e->what, "ungroup sim/%u", &number) != 1 &&
        sscanf(e->what, "group sim/%u", &number) != 1)
        return false;
    part = number < s->c.groups ? &n->parts[number] : NULL;
    if (part && !part->inside && s->c.disagree)
        return true;
    if (!part || !part->inside || e->generation != part->step / 2 ||
        (e->what[0] == 'u') != is_destruct(part->step)) {
        sim_violated(s, "node %u hears of `%s`, where it is not", n->me, e->what);
        return true;
    }
    part->inside = false;
    compare(n, number, e);
    if (e->failed)
        check_failure(n, number, e);
    else
        check_members(n, number, e);
    part->stopped = e->failed;
    part->step++;
    if (!part->stopped && part->step < 2 * s->c.rounds)
        enter_later(n, number);
    return true;
}

/* ---- invitations ----------------------------------------------------------------------------- */

enum invitation_event { EVENT_INVITED, EVENT_ACCEPTED, EVENT_FORMED, EVENTS };

static void notify(struct sim_node *n, uint32_t number, enum invitation_event what)
{
    sim_calls_notify(n, number * EVENTS + what);
}

static void end(struct sim_node *n, uint32_t number, enum invitation_end how)
{
    struct sim_group *g = &n->sim->groups[number];
    struct sim_part *part = &n->parts[number];

    if (part->over)
        sim_violated(n->sim, "node %u is told twice of the end of invitation %u", n->me, number);
    part->over = true;
    if (n->me == g->leader)
        return; /* it says so by itself, perhaps when it is cut off and the others go on without it
                 */
    if (g->end != INVITATION_OPEN && g->end != how)
        sim_violated(n->sim, "node %u is told another end of invitation %u than others", n->me,
                     number);
    g->end = how;
}

/* Leader: one more has accepted, or is lost. */
static void note_accepted(struct sim_node *n, uint32_t number, uint32_t position)
{
    const struct sim_group *g = &n->sim->groups[number];
    struct sim_part *part = &n->parts[number];

    if (!rank_set_has(&g->invited, position) || part->over)
        return;
    part->accepted |= UINT32_C(1) << rank_set_rank(&g->invited, position);
    if (!part->inviting || part->accepted != (UINT32_C(1) << g->invited.count) - 1)
        return;
    notify(n, number, EVENT_FORMED);
    end(n, number, INVITATION_FORMED);
}

static void invite(struct sim_node *n, uint32_t number)
{
    const struct sim_group *g = &n->sim->groups[number];

    n->parts[number].inviting = true;
    notify(n, number, EVENT_INVITED);
    for (uint32_t i = 0; i < g->invited.count; i++) {
        if (router_is_lost(&n->router, rank_set_nth(&g->invited, i)))
            note_accepted(n, number, rank_set_nth(&g->invited, i));
    }
}

void sim_groups_event(struct sim_node *n, uint32_t from, uint32_t code)
{
    uint32_t number = code / EVENTS;
    const struct sim_group *g = &n->sim->groups[number];

    switch ((enum invitation_event)(code % EVENTS)) {
    case EVENT_INVITED:
        if (rank_set_has(&g->invited, n->me))
            notify(n, number, EVENT_ACCEPTED);
        break;
    case EVENT_ACCEPTED:
        if (n->me == g->leader)
            note_accepted(n, number, from);
        break;
    case EVENT_FORMED:
        if (rank_set_has(&g->invited, n->me))
            end(n, number, INVITATION_FORMED);
        break;
    case EVENTS: break;
    }
}

/* What no node may do. */
static void judge(struct sim_node *n, uint32_t number, uint32_t position)
{
    struct overlay_event failed = { .kind = OVERLAY_COMPLETED, .failed = true };
    struct sim_part *part = &n->parts[number];

    if (!part->inside || !rank_set_has(&n->sim->groups[number].members, position))
        return;
    part->inside = false;
    part->stopped = true;
    compare(n, number, &failed);
}

void sim_groups_lost(struct sim_node *n, uint32_t position)
{
    for (uint32_t i = 0; i < n->sim->c.groups; i++) {
        const struct sim_group *g = &n->sim->groups[i];
        if (n->sim->c.disagree)
            judge(n, i, position);
        if (n->me == g->leader)
            note_accepted(n, i, position);
        else if (position == g->leader && rank_set_has(&g->invited, n->me) && !n->parts[i].over)
            end(n, i, INVITATION_LEADER_LOST);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

/* `other` is the number of a group, or (from SIM_GROUPS_MAX on) of an invitation. */
void sim_groups_happen(struct sim_node *n, const struct sim_event *e)
{
    if (e->other < SIM_GROUPS_MAX)
        enter(n, e->other);
    else
        invite(n, e->other - SIM_GROUPS_MAX);
}

void sim_groups_begin(struct sim *s)
{
    for (uint32_t i = 0; i < s->c.groups; i++) {
        const struct sim_group *g = &s->groups[i];
        for (uint32_t k = 0; k < g->members.count; k++)
            enter_later(&s->nodes[rank_set_nth(&g->members, k)], i);
        if (g->invited.count)
            enter_later(&s->nodes[g->leader], SIM_GROUPS_MAX + i);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool is_invited(const struct sim_node *n, const struct sim_group *g)
{
    return g->invited.count && (n->me == g->leader || rank_set_has(&g->invited, n->me));
}

const char *sim_groups_wrong(const struct sim_node *n)
{
    const struct sim *s = n->sim;

    for (uint32_t i = 0; i < s->c.groups; i++) {
        const struct sim_part *part = &n->parts[i];
        if (part->inside)
            return "waits for ever in a group";
        if (rank_set_has(&s->groups[i].members, n->me) && !part->stopped &&
            part->step < 2 * s->c.rounds)
            return "has not been through all constructs and destructs of a group";
        if (is_invited(n, &s->groups[i]) && !part->over)
            return "waits for ever for the end of an invitation";
    }
    return NULL;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static bool choose(struct sim *s, uint32_t number)
{
    struct sim_group *g = &s->groups[number];
    uint64_t density = 1 + rand_below(&s->rand, 4);
    bool good = true;

    g->losses = number % 2 ? OVERLAY_LOSS_ORDERED : OVERLAY_LOSS_BORNE;
    g->outcomes = calloc(2 * (size_t)s->c.rounds + 1, sizeof *g->outcomes);
    for (uint32_t p = 0; good && p < s->first; p++) {
        if (rand_below(&s->rand, density) == 0)
            good = rank_set_add(&g->members, p, 1) == 0;
    }
    g->leader = (uint32_t)rand_below(&s->rand, s->first);
    for (uint32_t k = 0; good && k < INVITED_MAX; k++) {
        uint32_t p = (uint32_t)rand_below(&s->rand, s->first);
        good = p == g->leader || rank_set_add(&g->invited, p, 1) == 0;
    }
    return good && g->outcomes;
}

bool sim_groups_open(struct sim *s)
{
    bool good = true;

    s->c.groups = s->c.nodes ? s->c.groups : 0;
    s->c.groups = s->c.groups < SIM_GROUPS_MAX ? s->c.groups : SIM_GROUPS_MAX;
    s->groups = calloc(SIM_GROUPS_MAX, sizeof *s->groups);
    for (uint32_t i = 0; s->groups && good && i < s->c.groups; i++)
        good = choose(s, i);
    return s->groups && good;
}

void sim_groups_close(struct sim *s)
{
    for (uint32_t i = 0; s->groups && i < s->c.groups; i++) {
        struct sim_group *g = &s->groups[i];
        for (uint32_t k = 0; g->outcomes && k < 2 * s->c.rounds; k++)
            rank_set_free(&g->outcomes[k].left_out);
        free(g->outcomes);
        rank_set_free(&g->members);
        rank_set_free(&g->invited);
    }
    free(s->groups);
}
