/* pmix_invite.c - see pmix_invite.h.
 *
 * An open invitation is a struct pmix_group that is not one of the session's groups: its procs are
 * the invited processes, as far as this client knows them; gone are those of whose end it knows. */
#include "server/pmix_invite.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "server/info_array.h"
#include "server/pmix_group.h"
#include "server/pmix_value.h"

enum { LIMIT_INVITATIONS = 1024 };

/* ---- what an event says ---------------------------------------------------------------------- */

struct talk {
    pmix_info_t *infos;
    size_t n;
    const char *id;          /* NULL: it names none, as older clients' answers */
    pmix_proc_t *to, *procs; /* its targets; the members that it names, or else its targets */
    size_t nto, nprocs;
};

static bool list_of(const pmix_value_t *v, pmix_proc_t **procs_p, size_t *n_p)
{
    const pmix_data_array_t *a = v && v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    pmix_proc_t *one = v && v->type == PMIX_PROC ? v->data.proc : NULL;
    bool lists = a && a->type == PMIX_PROC && a->array;

    *procs_p = lists ? a->array : one;
    *n_p = lists ? a->size : one != NULL;
    return *n_p > 0;
}

static struct talk talk_of(pmix_info_t *infos, size_t n)
{
    struct talk t = { .infos = infos, .n = n, .id = info_find_text(infos, n, PMIX_GROUP_ID) };

    list_of(info_find(infos, n, PMIX_EVENT_CUSTOM_RANGE), &t.to, &t.nto);
    if (!list_of(info_find(infos, n, PMIX_GROUP_MEMBERSHIP), &t.procs, &t.nprocs)) {
        t.procs = t.to;
        t.nprocs = t.nto;
    }
    return t;
}

static bool is_for(const struct talk *t, const struct pmix_session *s)
{
    const struct peer *p = s->base.peer;

    return pmix_group_lists(t->to, t->nto, p->job->nspace, p->rank) ||
           pmix_group_lists(t->to, t->nto, p->job->nspace, PMIX_RANK_WILDCARD);
}

/* ---- open invitations ------------------------------------------------------------------------ */

static struct pmix_group *find(const struct pmix_session *s, const char *id)
{
    LIST_EACH(l, &s->invitations)
    {
        struct pmix_group *g = LIST_OF(l, struct pmix_group, link);
        if (!strcmp(g->id, id))
            return g;
    }
    return NULL;
}

static void drop(struct pmix_session *s, struct pmix_group *g)
{
    if (g)
        s->ninvitations--;
    pmix_group_free(s, g);
}

void pmix_invites_free(struct pmix_session *s)
{
    LIST_EACH(l, &s->invitations)
    drop(s, LIST_OF(l, struct pmix_group, link));
}

/* NULL: no memory, or too many. */
static struct pmix_group *open_invitation(struct pmix_session *s, const struct talk *t,
                                          const char *nspace, uint32_t rank)
{
    struct pmix_group *g;

    drop(s, find(s, t->id));
    g = s->ninvitations < LIMIT_INVITATIONS ? pmix_group_new(slice_str(t->id)) : NULL;
    if (!g)
        return NULL;
    g->has_leader = true;
    pmix_set_proc(&g->leader, nspace, rank);
    list_append(&s->invitations, &g->link);
    s->ninvitations++;
    return g;
}

static bool leads(const struct pmix_session *s, const struct pmix_group *g)
{
    const struct peer *p = s->base.peer;

    return pmix_group_lists(&g->leader, 1, p->job->nspace, p->rank);
}

/* ---- processes that end ---------------------------------------------------------------------- */

static bool covers(const struct pmix_group *g, const char *nspace, uint32_t rank)
{
    return pmix_group_lists(g->procs, g->nprocs, nspace, rank) ||
           pmix_group_lists(g->procs, g->nprocs, nspace, PMIX_RANK_WILDCARD);
}

static void ended_in(struct pmix_session *s, struct pmix_group *g, const char *nspace,
                     uint32_t rank)
{
    if (leads(s, g)) {
        if (!covers(g, nspace, rank) || pmix_group_lists(g->gone, g->ngone, nspace, rank))
            return;
        pmix_group_note_gone(g, nspace, rank);
        pmix_group_report(s, PMIX_GROUP_INVITE_FAILED, g, nspace, rank);
    } else if (pmix_group_lists(&g->leader, 1, nspace, rank)) {
        pmix_group_report(s, PMIX_GROUP_LEADER_FAILED, g, nspace, rank);
        drop(s, g);
    }
}

void pmix_invite_ended(struct pmix_session *s, const char *nspace, uint32_t rank)
{
    LIST_EACH(l, &s->invitations)
    ended_in(s, LIST_OF(l, struct pmix_group, link), nspace, rank);
}

static bool has_ended(const struct job *j, uint32_t rank)
{
    return rank < j->plan.nprocs &&
           (j->procs[rank].unreachable || j->procs[rank].state == PROC_STATE_GONE);
}

static void note_ended(struct pmix_session *s, struct pmix_group *g, const pmix_proc_t *who)
{
    const struct job *j = core_job_named(s->base.peer->core, slice_str(who->nspace));
    bool all = who->rank == PMIX_RANK_WILDCARD;

    for (uint32_t r = 0; j && all && r < j->plan.nprocs; r++) {
        if (has_ended(j, r))
            ended_in(s, g, j->nspace, r);
    }
    if (j && !all && has_ended(j, who->rank))
        ended_in(s, g, j->nspace, who->rank);
}

/* ---- events that pass ------------------------------------------------------------------------ */

static bool keep_procs(struct pmix_group *g, const struct talk *t)
{
    g->procs = calloc(t->nto + 1, sizeof *g->procs);
    if (!g->procs)
        return false;
    if (t->nto)
        memcpy(g->procs, t->to, t->nto * sizeof *g->procs);
    g->nprocs = t->nto;
    return true;
}

/* The leader invites. */
static void on_invite(struct command *c, const struct talk *t)
{
    const struct peer *p = c->s->base.peer;
    struct pmix_group *g = t->id ? open_invitation(c->s, t, p->job->nspace, p->rank) : NULL;

    if (!g || !keep_procs(g, t)) {
        c->no_memory = c->no_memory || t->id;
        return;
    }
    pmix_subscribe_ends(c);
    for (size_t i = 0; i < g->nprocs; i++)
        note_ended(c->s, g, &g->procs[i]);
}

/* The client accepts: it waits for its leader from now on, who may have ended before. */
static void on_accept(struct command *c, const struct talk *t)
{
    struct pmix_group *g = t->id ? find(c->s, t->id) : NULL;

    if (!g && t->id && t->nto == 1)
        g = open_invitation(c->s, t, t->to[0].nspace, t->to[0].rank);
    pmix_subscribe_ends(c);
    if (g && !leads(c->s, g))
        note_ended(c->s, g, &g->leader);
}

/* Only of an invitation that is open. */
static void on_complete(struct pmix_session *s, struct pmix_group *g, const struct talk *t)
{
    const pmix_proc_t leader = g->leader;

    drop(s, g);
    pmix_group_adopt(s, t->id, t->procs, t->nprocs, &leader, t->infos, t->n);
}

void pmix_invite_sent(struct command *c, pmix_status_t code, pmix_info_t *infos, size_t n)
{
    struct talk t = talk_of(infos, n);
    struct pmix_group *g = t.id ? find(c->s, t.id) : NULL;

    switch (code) {
    case PMIX_GROUP_INVITED: on_invite(c, &t); break;
    case PMIX_GROUP_INVITE_ACCEPTED: on_accept(c, &t); break;
    case PMIX_GROUP_CONSTRUCT_COMPLETE:
        if (g && leads(c->s, g))
            on_complete(c->s, g, &t);
        break;
    case PMIX_GROUP_INVITE_DECLINED:
    case PMIX_GROUP_CONSTRUCT_ABORT: drop(c->s, g); break;
    default: break;
    }
}

bool pmix_invite_is_late(const struct command *c, pmix_status_t code)
{
    const struct peer *p = c->s->base.peer;

    return code == PMIX_GROUP_CONSTRUCT_COMPLETE && has_ended(p->job, p->rank);
}

static void note_invitation(struct pmix_session *s, const struct notice *n, const struct talk *t)
{
    struct pmix_group *g = open_invitation(s, t, n->nspace, n->rank);

    if (g && !keep_procs(g, t))
        drop(s, g);
}

/* Someone accepts what is over, or never was: its leader's server says so, as the leader does not
 * listen. */
static void turn_away(struct pmix_session *s, const struct notice *n, const struct talk *t)
{
    struct command c = { .s = s, .cmd = CMD_NONE };
    pmix_proc_t to;
    pmix_info_t infos[3];
    struct slice text;

    memset(infos, 0, sizeof infos);
    pmix_set_proc(&to, n->nspace, n->rank);
    strncpy(infos[0].key, PMIX_GROUP_ID, PMIX_MAX_KEYLEN);
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)t->id };
    strncpy(infos[1].key, PMIX_EVENT_CUSTOM_RANGE, PMIX_MAX_KEYLEN);
    infos[1].value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = &to };
    strncpy(infos[2].key, PMIX_EVENT_NON_DEFAULT, PMIX_MAX_KEYLEN);
    infos[2].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    text = pmix_keep_packed(&c, infos, 3);
    if (text.len && pmix_ask(&c, REQUEST_WITH(notify, .code = PMIX_GROUP_CONSTRUCT_ABORT,
                                              .range = PMIX_RANGE_CUSTOM, .infos = text,
                                              .flags = EVENT_BY_CODE | EVENT_NOT_KEPT)))
        s->base.peer->owes = true;
}

static void note_passing(struct pmix_session *s, const struct notice *n, const struct talk *t)
{
    struct pmix_group *g = find(s, t->id);
    bool by_leader = g && pmix_group_lists(&g->leader, 1, n->nspace, n->rank);

    if (n->code == PMIX_GROUP_INVITED)
        note_invitation(s, n, t);
    else if (n->code == PMIX_GROUP_CONSTRUCT_COMPLETE && by_leader)
        on_complete(s, g, t);
    else if (n->code == PMIX_GROUP_CONSTRUCT_ABORT)
        drop(s, g);
    else if (n->code == PMIX_GROUP_INVITE_ACCEPTED && !(g && leads(s, g)))
        turn_away(s, n, t);
}

void pmix_invite_passed(struct pmix_session *s, const struct notice *n)
{
    struct pmsg_infos m = { .has = 0 };
    struct punpack r;
    struct talk t;

    if (n->code != PMIX_GROUP_INVITED && n->code != PMIX_GROUP_CONSTRUCT_COMPLETE &&
        n->code != PMIX_GROUP_CONSTRUCT_ABORT && n->code != PMIX_GROUP_INVITE_ACCEPTED)
        return;
    punpack_init(&r, n->infos, &ptype_own);
    if (n->infos.len && pmsg_read_infos(&r, 0, &m) == PTYPE_FINE) {
        t = talk_of(m.infos.items, m.infos.n);
        if (t.id && is_for(&t, s))
            note_passing(s, n, &t);
    }
    pmsg_free_infos(&m, NULL);
}
