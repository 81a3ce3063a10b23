/* pmix_get.c - see pmix_get.h. */
#include "server/pmix_get.h"

#include <stdlib.h>
#include <string.h>

#include "base/duration.h"
#include "core/core.h"
#include "core/modex.h"
#include "core/ondemand.h"
#include "core/request.h"
#include "server/info_array.h"
#include "server/pmix_check.h"
#include "server/pmix_group_data.h"
#include "server/pmix_info.h"
#include "server/pmix_reserved.h"
#include "server/pmix_start.h"
#include "server/pmix_value.h"
#include "wireup_client.h"

/* ---- modex values ---------------------------------------------------------------------------- */

static bool may_see(const struct job *asker, uint32_t asker_rank, const struct job *owner,
                    uint32_t rank, const struct card *c)
{
    bool same_node =
        asker == owner && asker->plan.procs[asker_rank].node == owner->plan.procs[rank].node;

    return c->scope == MODEX_GLOBAL || (c->scope == MODEX_LOCAL) == same_node;
}

/* The part of a reply with values of a process: its head.  It is written to one buffer after the
 * other. */
static struct ppack begin_values(struct pmix_session *s, const struct ppack *w, const char *nspace,
                                 uint32_t rank)
{
    struct pmsg_proc_values m = { .has = 0 };
    struct ppack part = pmsg_part(w, &s->scratch);

    pmix_set_proc(&m.owner, nspace, rank);
    pmsg_write_proc_values(&part, s->release, &m);
    return part;
}

/* A reply with values begins, and ends. */
static struct ppack begin_reply(struct pmix_session *s)
{
    struct ppack w = pmix_writer(s);

    pmsg_write_owned(&w, s->release, &(struct pmsg_owned){ .status = PMIX_SUCCESS });
    return w;
}

static void send_reply(struct pmix_session *s, uint32_t tag, const struct ppack *w)
{
    pmix_send_or_fail(s, tag, w);
    buf_free(&s->scratch);
}

/* All modex entries of a process that this client may see. */
static void put_cards(struct pmix_session *s, struct ppack *w, struct job *owner, uint32_t rank)
{
    const struct peer *p = s->base.peer;
    struct card c;

    for (uint32_t i = 0; modex_card(owner, rank, i, &c); i++) {
        if (may_see(p->job, p->rank, owner, rank, &c))
            pmix_put_card(w, &c);
    }
}

static void put_rank_cards(struct pmix_session *s, struct ppack *w, struct job *owner,
                           uint32_t rank)
{
    struct ppack part = begin_values(s, w, owner->nspace, rank);

    put_cards(s, &part, owner, rank);
    pmsg_add_owned_values(w, &part);
}

/* A key without an owner in the request: sent as an entry of the rank that put it (of the wildcard
 * rank if the server did). */
static void put_any_card(struct pmix_session *s, struct ppack *w, struct job *owner,
                         struct slice key)
{
    struct ppack part;
    struct seg_item item;
    struct card c;

    if (!seg_find(&owner->store.view, SEG_ANY_RANK, key, &item) || item.type == MODEX_DROPPED)
        return;
    part = begin_values(s, w, owner->nspace,
                        item.rank < owner->plan.nprocs ? item.rank : PMIX_RANK_WILDCARD);
    if (modex_find(owner, SEG_ANY_RANK, key, &c))
        pmix_put_card(&part, &c);
    pmsg_add_owned_values(w, &part);
}

/* ---- information of the process manager ------------------------------------------------------ */

static void put_job_object(struct pmix_session *s, struct ppack *w, struct job *owner)
{
    struct ppack part = begin_values(s, w, owner->nspace, PMIX_RANK_WILDCARD);

    buf_slice_put(&s->scratch, pmix_job_info(owner, s->as, s->described));
    pmsg_add_owned_values(w, &part);
}

/* Values that change while a process runs, and are not part of the information at init. */
static void put_life(struct ppack *w, const struct proc *p)
{
    pmix_value_t pid = { .type = PMIX_PID, .data.pid = p->pid };
    pmix_value_t code = { .type = PMIX_INT, .data.integer = p->code };

    if (p->pid)
        ppack_kval(w, PMIX_PROC_PID, &pid);
    if (p->state == PROC_STATE_GONE)
        ppack_kval(w, PMIX_EXIT_CODE, &code);
}

/* It is not part of the information at init, and is known. */
static bool is_known_later(const struct job *j, uint32_t rank, struct slice key)
{
    const struct proc *p = &j->procs[rank];

    if (slice_is(key, PMIX_PROC_PID))
        return p->pid != 0;
    if (slice_is(key, PMIX_EXIT_CODE))
        return p->state == PROC_STATE_GONE;
    if (slice_is(key, PMIX_REINCARNATION))
        return pmix_knows_restarts(j, rank);
    return slice_is(key, PMIX_APP_RANK) || slice_is(key, PMIX_APPNUM) || slice_is(key, PMIX_RANK) ||
           slice_is(key, PMIX_GLOBAL_RANK);
}

/* The process manager's information on a process. */
static void put_known(struct pmix_session *s, struct ppack *w, struct job *j, uint32_t rank)
{
    struct ppack part = begin_values(s, w, j->nspace, rank);

    pmix_put_rank_info(&part, j, rank);
    put_life(&part, &j->procs[rank]);
    pmsg_add_owned_values(w, &part);
}

/* It is not known here yet, and will be: the get waits for it. */
static bool comes_later(const struct pmix_session *s, const struct job *j, uint32_t rank,
                        struct slice key)
{
    const struct proc *p = rank < j->plan.nprocs ? &j->procs[rank] : NULL;

    if (!p || !s->base.peer->core->is_manager || !slice_is(key, MODEX_PID) || p->pid ||
        j->is_foreign)
        return false;
    return !job_rank_is_here(j, rank) || p->state == PROC_STATE_PLANNED;
}

static bool is_place(struct slice key)
{
    return slice_is(key, PMIX_TMPDIR) || slice_is(key, PMIX_NSDIR) || slice_is(key, PMIX_PROCDIR) ||
           slice_is(key, PMIX_TDIR_RMCLEAN);
}

/* Under the requested name. */
static bool reply_place(struct command *c, struct job *j, uint32_t rank)
{
    struct pmix_session *s = c->s;
    struct ppack w = begin_reply(s), part;

    core_place(s->base.peer->core, j, rank);
    part = begin_values(s, &w, j->nspace, rank);
    pmix_put_places(&part, j, rank);
    pmsg_add_owned_values(&w, &part);
    send_reply(s, c->tag, &w);
    return true;
}

/* Answers a get of an attribute of a process of another job, or one that changes while it runs: its
 * pid, its exit code.  False: it is not one of these, or not known yet. */
static bool reply_known(struct command *c, struct slice nspace, uint32_t rank, struct slice key)
{
    struct pmix_session *s = c->s;
    struct job *j = core_known_job(s->base.peer->core, nspace);
    const struct proc *p = j && rank < j->plan.nprocs ? &j->procs[rank] : NULL;
    bool foreign = j != s->base.peer->job;
    struct ppack w;

    if (j && !foreign && j->sessions && is_place(key) &&
        (rank == PMIX_RANK_WILDCARD ? !slice_is(key, PMIX_PROCDIR)
                                    : p && job_rank_is_here(j, rank)))
        return reply_place(c, j, rank);
    if (!p || !(foreign ? !comes_later(s, j, rank, key) : is_known_later(j, rank, key)))
        return false;
    w = begin_reply(s);
    if (foreign)
        put_job_object(s, &w, j);
    put_known(s, &w, j, rank);
    send_reply(s, c->tag, &w);
    return true;
}

/* ---- modex entries sent ahead -------------------------------------------------------------------
 *
 * A client of OpenPMIx keeps every modex value that a reply brings, and sends a get of its own for
 * each process.  One that has asked for some of its peers since its last fence is about to ask for
 * all: with each reply it gets the entries of more and more of the following ranks.
 */

enum { ASKED_MIN = 3, WINDOW_MAX = 1024, AHEAD_MAX = 256 << 10 };

void pmix_forget_given(struct pmix_session *s)
{
    free(s->given);
    s->given = NULL;
    s->nasked = s->window = 0;
}

/* False: it had been given before. */
static bool give(struct pmix_session *s, uint32_t rank)
{
    uint64_t bit = UINT64_C(1) << (rank % 64);
    bool is_new = !(s->given[rank / 64] & bit);

    s->given[rank / 64] |= bit;
    return is_new;
}

static bool is_reading_all(struct pmix_session *s, const struct job *j, uint32_t rank)
{
    if (!s->given)
        s->given = calloc(j->plan.nprocs / 64 + 1, sizeof *s->given);
    if (!s->given)
        return false;
    if (give(s, rank))
        s->nasked++;
    return s->nasked > ASKED_MIN;
}

static void put_ahead(struct pmix_session *s, struct ppack *w, struct job *j, uint32_t rank)
{
    size_t begun = buf_len(&s->reply);

    if (!is_reading_all(s, j, rank))
        return;
    s->window = s->window < WINDOW_MAX ? s->window * 2 + 4 : WINDOW_MAX;
    for (uint32_t i = 1, n = 0; i < j->plan.nprocs && n < s->window; i++) {
        uint32_t next = (rank + i) % j->plan.nprocs;
        if (buf_len(&s->reply) - begun > AHEAD_MAX)
            return;
        if (j->procs[next].nkeys == 0 || !give(s, next))
            continue;
        put_rank_cards(s, w, j, next);
        n++;
    }
}

/* ---- replies --------------------------------------------------------------------------------- */

/* Clients get information on a process of another job under that job's wildcard rank, and look it
 * up under the process's name. */
static void put_all_ranks(struct pmix_session *s, struct ppack *w, struct job *owner)
{
    for (uint32_t r = 0; r < owner->plan.nprocs; r++)
        put_known(s, w, owner, r);
}

void pmix_reply_get(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct job *owner = core_known_job(s->base.peer->core, slice_str(p->nspace));
    bool foreign = owner && owner != s->base.peer->job;
    struct ppack w;

    if (!owner || (a->status != ANSWER_OK && !foreign)) {
        pmix_reply_status(s, p->tag, pmix_status_of(owner ? a->status : ANSWER_NOT_FOUND));
        return;
    }
    w = begin_reply(s);
    if (foreign)
        put_job_object(s, &w, owner);
    if (foreign && p->rank == PMIX_RANK_WILDCARD)
        put_all_ranks(s, &w, owner);
    if (p->rank < owner->plan.nprocs && p->key && !strcmp(p->key, MODEX_PID)) {
        put_known(s, &w, owner, p->rank);
    } else if (a->status == ANSWER_OK && p->rank < owner->plan.nprocs) {
        put_rank_cards(s, &w, owner, p->rank);
        if (!foreign)
            put_ahead(s, &w, owner, p->rank);
    } else if (a->status == ANSWER_OK && p->rank == SEG_ANY_RANK && p->key)
        put_any_card(s, &w, owner, slice_str(p->key));
    send_reply(s, p->tag, &w);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* How long a get without a timeout may wait: as in the reference server. */
enum { GET_PATIENCE_S = 2 };

static bool read_hint(const pmix_info_t *info, uint8_t *extent_p)
{
    const char *word = pmix_text_of(info);
    enum ondemand_extent extent;

    if (!word || !ondemand_extent_of(slice_str(word), &extent))
        return false;
    *extent_p = (uint8_t)extent;
    return true;
}

/* False: a value is none. */
static bool read_get_words(struct request_modex_get *rq, const struct pmsg_get *m)
{
    bool good = true;

    for (size_t i = 0; i < m->infos.n; i++) {
        const pmix_info_t *info = &m->infos.items[i];
        if (!strcmp(info->key, WIREUP_PREFETCH))
            good = read_hint(info, &rq->extent) && good;
        if (!strcmp(info->key, PMIX_IMMEDIATE))
            rq->immediate = pmix_flag_of(&info->value);
        else if (!strcmp(info->key, PMIX_GET_REFRESH_CACHE))
            rq->refresh = pmix_flag_of(&info->value);
        else if (!strcmp(info->key, PMIX_TIMEOUT)) /* 0: for ever */
            rq->timeout_ns = pmix_seconds_of(&info->value);
    }
    return good;
}

static bool is_qualified(const struct pmsg_get *m)
{
    for (size_t i = 0; i < m->infos.n; i++) {
        if (m->infos.items[i].flags & PMIX_INFO_QUALIFIER)
            return true;
    }
    return false;
}

/* The answer comes with the process that was asked about. */
static struct pmix_pending *ask_owner(struct command *c, struct request_modex_get rq)
{
    struct pmix_pending *p =
        pmix_ask(c, (struct request){ .kind = REQ_modex_get, .u.modex_get = rq });

    if (!p)
        return NULL;
    p->rank = rq.rank;
    p->nspace = strndup(rq.nspace.ptr ? rq.nspace.ptr : "", rq.nspace.len);
    c->no_memory = !p->nspace;
    return p;
}

static void ask_get(struct command *c, const struct pmsg_get *m)
{
    struct request_modex_get rq = {
        .timeout_ns = GET_PATIENCE_S * NS_PER_S, .nspace = m->nspace, .rank = m->rank, .key = m->key
    };
    const struct job *j = core_known_job(c->s->base.peer->core, m->nspace);
    /* The process manager has sent its own data already; they do not come later.  And a host that
     * looks for something would itself have to fetch it: Open MPI's daemons look before they do. */
    bool later = j && comes_later(c->s, j, m->rank, m->key);
    struct pmix_pending *p;

    if (!read_get_words(&rq, m)) {
        pmix_reply_status(c->s, c->tag, PMIX_ERR_BAD_PARAM);
        return;
    }
    if (is_qualified(m)) /* all entries: the client looks for the qualifiers */
        rq.key = SLICE_NULL;
    rq.immediate = session_is_host(c->s->base.peer) ||
                   (!later && (rq.immediate || slice_starts(rq.key, SLICE("pmix"))));
    p = ask_owner(c, rq);
    if (!p)
        return;
    p->key = strndup(m->key.ptr ? m->key.ptr : "", m->key.len);
    c->no_memory = c->no_memory || !p->key;
}

/* As it is, or together with the qualifiers of the request. */
static void put_qualified(struct ppack *w, const struct pmsg_get *m, const char *key,
                          pmix_value_t *v)
{
    pmix_info_t *infos = calloc(m->infos.n + 1, sizeof *infos); /* with borrowed values */
    pmix_data_array_t a = { .type = PMIX_INFO, .size = 1, .array = infos };
    pmix_value_t all = { .type = PMIX_DATA_ARRAY, .data.darray = &a };

    if (!infos) {
        w->error = PTYPE_NO_MEMORY;
        return;
    }
    memcpy(infos[0].key, key, strlen(key) + 1);
    infos[0].value = *v;
    for (size_t i = 0; i < m->infos.n; i++) {
        if (m->infos.items[i].flags & PMIX_INFO_QUALIFIER)
            infos[a.size++] = m->infos.items[i];
    }
    if (a.size > 1)
        ppack_kval(w, PMIX_QUALIFIED_VALUE, &all);
    else
        ppack_kval(w, key, v);
    free(infos);
}

/* A value that a member of a group gave to the others. */
static bool reply_group_value(struct command *c, const struct pmsg_get *m)
{
    char key[PMIX_MAX_KEYLEN + 1] = "", nspace[PMIX_MAX_NSLEN + 1] = "";
    struct pmix_session *s = c->s;
    struct ppack w, part;
    pmix_value_t v;

    if (m->key.len >= sizeof key || m->nspace.len >= sizeof nspace || !m->key.len ||
        !pmix_group_value(s, m, &v))
        return false;
    memcpy(key, m->key.ptr, m->key.len);
    if (m->nspace.len)
        memcpy(nspace, m->nspace.ptr, m->nspace.len);
    if (v.type == PMIX_UNDEF) {
        pmix_reply_status(s, c->tag, PMIX_ERR_NOT_FOUND);
        return true;
    }
    w = begin_reply(s);
    part = begin_values(s, &w, nspace, m->rank);
    put_qualified(&part, m, key, &v);
    pmsg_add_owned_values(&w, &part);
    send_reply(s, c->tag, &w);
    pmem_value_free(&v, NULL);
    return true;
}

static bool is_refresh(const struct pmsg_get *m)
{
    const pmix_value_t *v = info_find(m->infos.items, m->infos.n, PMIX_GET_REFRESH_CACHE);

    return v && pmix_flag_of(v);
}

/* The process manager's information once more: about the own job, and the process. */
static bool reply_again(struct command *c, const struct pmsg_get *m)
{
    struct pmix_session *s = c->s;
    struct job *j = pmix_job_of(c, m->nspace);
    struct ppack w;

    if (!j || j != s->base.peer->job || !is_refresh(m))
        return false;
    w = begin_reply(s);
    put_job_object(s, &w, j);
    if (m->rank < j->plan.nprocs)
        put_known(s, &w, j, m->rank);
    send_reply(s, c->tag, &w);
    return true;
}

/* A client that has read the job's information in the store has not got this text with it. */
static void reply_topology(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct job *j = s->base.peer->job;
    struct ppack w, part;

    pmix_keep_topology(j, a);
    if (buf_len(&j->topology) == 0) {
        pmix_reply_status(s, p->tag, PMIX_ERR_NOT_FOUND);
        return;
    }
    w = begin_reply(s);
    part = begin_values(s, &w, j->nspace, PMIX_RANK_WILDCARD);
    pmix_put_topology(&part, j);
    pmsg_add_owned_values(&w, &part);
    send_reply(s, p->tag, &w);
}

static bool read_topology(struct command *c, const struct pmsg_get *m)
{
    struct pmix_pending now = { .tag = c->tag, .cmd = CMD_GET }, *p;

    if ((!slice_is(m->key, PMIX_LOCAL_TOPO) && !slice_is(m->key, PMIX_HWLOC_XML_V2)) ||
        pmix_job_of(c, m->nspace) != c->s->base.peer->job)
        return false;
    if (pmix_wants_topology(c)) {
        p = pmix_ask(c, REQUEST_WITH(job_attr, .key = SLICE(CORE_TOPOLOGY)));
        if (p)
            p->reply = reply_topology;
    } else {
        reply_topology(c->s, &now, &(struct answer){ .status = ANSWER_OK });
    }
    return true;
}

static bool reply_reserved(struct command *c, const struct pmsg_get *m)
{
    return slice_starts(m->key, SLICE("pmix")) &&
           (read_topology(c, m) || reply_known(c, m->nspace, m->rank, m->key) ||
            pmix_reply_reserved(c, m) || reply_again(c, m));
}

void pmix_read_get(struct command *c)
{
    struct pmsg_get m;

    if (pmsg_read_get(&c->r, c->s->release, &m) == PTYPE_FINE && pmix_check_read(c, &m) &&
        !reply_group_value(c, &m) && !reply_reserved(c, &m))
        ask_get(c, &m);
    pmsg_free_get(&m, NULL);
}

/* ---- the cache of a client ------------------------------------------------------------------- */

/* Everything about a job, or all modex entries of one process that the requester may see. */
static void send_refreshed(struct pmix_session *s, uint32_t tag, struct job *j, uint32_t rank)
{
    struct ppack w = pmix_writer(s);

    pmsg_write_refreshed(&w, s->release, &(struct pmsg_refreshed){ .status = PMIX_SUCCESS });
    if (rank == PMIX_RANK_WILDCARD)
        buf_slice_put(&s->reply, pmix_job_info(j, s->as, s->described));
    else
        put_cards(s, &w, j, rank);
    pmix_send_or_fail(s, tag, &w);
}

/* A node that does not answer any more leaves what is known here. */
void pmix_reply_refresh(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct job *j = core_known_job(s->base.peer->core, slice_str(p->nspace));

    if (!j || p->rank >= j->plan.nprocs || a->status == ANSWER_DENIED)
        pmix_reply_status(s, p->tag, pmix_status_of(j ? a->status : ANSWER_NOT_FOUND));
    else
        send_refreshed(s, p->tag, j, p->rank);
}

/* The node of the process is asked for its newest values. */
static void ask_refresh(struct command *c, const struct job *j, uint32_t rank)
{
    struct request_modex_get rq = { .timeout_ns = GET_PATIENCE_S * NS_PER_S,
                                    .nspace = slice_str(j->nspace),
                                    .rank = rank,
                                    .refresh = true,
                                    .immediate = true };

    ask_owner(c, rq);
}

void pmix_read_refresh(struct command *c)
{
    struct pmsg_refresh m;
    struct job *j;

    if (pmsg_read_refresh(&c->r, c->s->release, &m) != PTYPE_FINE)
        return;
    j = pmix_known_job_of(c, m.nspace);
    if (!j || (m.rank >= j->plan.nprocs && m.rank != PMIX_RANK_WILDCARD))
        pmix_reply_status(c->s, c->tag, PMIX_ERR_NOT_FOUND);
    else if (m.rank == PMIX_RANK_WILDCARD || job_rank_is_here(j, m.rank))
        send_refreshed(c->s, c->tag, j, m.rank);
    else
        ask_refresh(c, j, m.rank);
}
