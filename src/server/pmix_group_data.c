/* pmix_group_data.c - see pmix_group_data.h. */
#include "server/pmix_group_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/core.h"
#include "core/group_record.h"
#include "server/info_array.h"
#include "server/pmix_group_list.h"
#include "server/pmix_value.h"

/* ---- what a member gives --------------------------------------------------------------------- */

struct shared {
    pmix_info_t *infos; /* borrowed values */
    size_t n, room;
};

static void share(struct shared *to, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n && to->n < to->room; i++) {
        if (strcmp(infos[i].key, PMIX_PROCID) != 0) /* newer clients begin with their name */
            to->infos[to->n++] = infos[i];
    }
}

static const pmix_data_array_t *group_info_of(const pmix_info_t *info)
{
    const pmix_data_array_t *a =
        info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;

    return !strcmp(info->key, PMIX_GROUP_INFO) && a && a->type == PMIX_INFO ? a : NULL;
}

static size_t room_for(const pmix_info_t *infos, size_t n)
{
    size_t room = n;

    for (size_t i = 0; i < n; i++) {
        const pmix_data_array_t *a = group_info_of(&infos[i]);
        room += a ? a->size : 0;
    }
    return room;
}

static void pick(struct shared *to, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pmix_data_array_t *a = group_info_of(&infos[i]);
        bool is_own = !strcmp(infos[i].key, PMIX_GROUP_LOCAL_CID) ||
                      !strcmp(infos[i].key, PMIX_GROUP_FINAL_MEMBERSHIP_ORDER) ||
                      (!strcmp(infos[i].key, PMIX_GROUP_LEADER) && pmix_flag_of(&infos[i].value));
        if (a)
            share(to, a->array, a->size);
        else if (is_own)
            share(to, &infos[i], 1);
    }
}

struct slice pmix_group_shared(struct command *c, const pmix_info_t *infos, size_t n)
{
    struct shared s = { .room = room_for(infos, n) };
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice kept = SLICE_NULL;
    struct ppack w;

    s.infos = calloc(s.room + 1, sizeof *s.infos);
    if (s.infos)
        pick(&s, infos, n);
    if (s.n) {
        ppack_init(&w, &bytes, &ptype_own);
        pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { s.n, s.infos } });
        if (ppack_ok(&w))
            kept = pmix_keep(c, buf_slice(&bytes));
    }
    c->no_memory = c->no_memory || !s.infos || (s.n && !kept.len);
    buf_free(&bytes);
    free(s.infos);
    return kept;
}

/* ---- in the reply ---------------------------------------------------------------------------- */

static bool read_record(const struct group_record *r, struct pmsg_infos *m)
{
    struct punpack in;

    punpack_init(&in, r->data, &ptype_own);
    return pmsg_read_infos(&in, 0, m) == PTYPE_FINE;
}

/* The job of the process that has given it, also if that is over; NULL: the record has no data. */
static const char *name_of_giver(const struct pmix_session *s, const struct group_record *r)
{
    return r->kind == GROUP_DATA ? core_job_name(s->base.peer->core, r->job) : NULL;
}

static bool name_member(pmix_info_t *to, const char *job, uint32_t rank)
{
    pmix_proc_t *p = malloc(sizeof *p);

    strncpy(to->key, PMIX_PROCID, PMIX_MAX_KEYLEN);
    if (!p)
        return false;
    pmix_set_proc(p, job, rank);
    to->value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = p };
    return true;
}

/* Takes over the values that have been read. */
static bool make_info(pmix_info_t *to, const char *job, uint32_t rank, struct pmsg_infos *m)
{
    pmix_data_array_t *a = calloc(1, sizeof *a);
    pmix_info_t *infos = calloc(m->infos.n + 1, sizeof *infos);

    if (!a || !infos || !name_member(&infos[0], job, rank)) {
        free(a);
        free(infos);
        return false;
    }
    memcpy(infos + 1, m->infos.items, m->infos.n * sizeof *infos);
    *a = (pmix_data_array_t){ .type = PMIX_INFO, .size = m->infos.n + 1, .array = infos };
    free(m->infos.items);
    m->infos.items = NULL;
    m->infos.n = 0;
    strncpy(to->key, PMIX_GROUP_INFO, PMIX_MAX_KEYLEN);
    to->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = a };
    return true;
}

static size_t count_data(struct slice records)
{
    struct group_record r;
    size_t n = 0;

    while (group_record_next(&records, &r))
        n += r.kind == GROUP_DATA;
    return n;
}

bool pmix_group_infos(const struct pmix_session *s, struct slice records, pmix_info_t **infos_p,
                      size_t *n_p)
{
    struct group_record r;
    bool good = true;

    *n_p = 0;
    *infos_p = calloc(count_data(records) + 1, sizeof **infos_p);
    while (*infos_p && good && group_record_next(&records, &r)) {
        const char *job = name_of_giver(s, &r);
        struct pmsg_infos m = { .has = 0 };
        if (!job)
            continue;
        good = read_record(&r, &m) && make_info(&(*infos_p)[*n_p], job, r.rank, &m);
        *n_p += good;
        pmsg_free_infos(&m, NULL);
    }
    return *infos_p && good;
}

/* ---- gets ------------------------------------------------------------------------------------ */

/* The first value under the key in the record. */
static void take_value(const struct group_record *r, struct slice key, pmix_value_t *v_p)
{
    struct pmsg_infos m = { .has = 0 };

    if (read_record(r, &m)) {
        for (size_t i = 0; i < m.infos.n && v_p->type == PMIX_UNDEF; i++) {
            if (!slice_is(key, m.infos.items[i].key))
                continue;
            *v_p = m.infos.items[i].value;
            m.infos.items[i].value = (pmix_value_t){ .type = PMIX_UNDEF };
        }
    }
    pmsg_free_infos(&m, NULL);
}

/* The first value under the key in any record, which is the caller's; and who gave it.  False:
 * nobody has. */
static bool first_value(const struct pmix_session *s, struct slice records, struct slice key,
                        pmix_value_t *v_p, pmix_proc_t *who_p)
{
    struct group_record r;

    *v_p = (pmix_value_t){ .type = PMIX_UNDEF };
    while (group_record_next(&records, &r)) {
        const char *job = name_of_giver(s, &r);
        if (!job)
            continue;
        take_value(&r, key, v_p);
        if (v_p->type == PMIX_UNDEF)
            continue;
        pmix_set_proc(who_p, job, r.rank);
        return true;
    }
    return false;
}

bool pmix_group_leader(const struct pmix_session *s, struct slice records, pmix_proc_t *leader_p)
{
    pmix_value_t v;

    if (!first_value(s, records, SLICE(PMIX_GROUP_LEADER), &v, leader_p))
        return false;
    pmem_value_free(&v, NULL);
    return true;
}

static bool stands_for(const pmix_proc_t *wanted, const pmix_proc_t *p)
{
    return (wanted->rank == p->rank || wanted->rank == PMIX_RANK_WILDCARD) &&
           !strcmp(wanted->nspace, p->nspace);
}

/* Moves those that it stands for, from at on, to `at`, and returns where the others begin. */
static size_t move_ahead(const pmix_proc_t *wanted, pmix_proc_t *procs, size_t at, size_t n,
                         pmix_proc_t *rest)
{
    size_t nrest = 0;

    for (size_t i = at; i < n; i++) {
        if (stands_for(wanted, &procs[i]))
            procs[at++] = procs[i];
        else
            rest[nrest++] = procs[i];
    }
    if (nrest)
        memcpy(procs + at, rest, nrest * sizeof *procs);
    return at;
}

bool pmix_group_reorder(const struct pmix_session *s, struct slice records, pmix_proc_t *procs,
                        size_t n)
{
    const pmix_data_array_t *order;
    pmix_proc_t who, *rest;
    pmix_value_t v;
    size_t at = 0;
    bool good;

    if (!first_value(s, records, SLICE(PMIX_GROUP_FINAL_MEMBERSHIP_ORDER), &v, &who))
        return true;
    order = v.type == PMIX_DATA_ARRAY ? v.data.darray : NULL;
    rest = calloc(n + 1, sizeof *rest);
    for (size_t i = 0; rest && order && order->type == PMIX_PROC && i < order->size; i++)
        at = move_ahead((const pmix_proc_t *)order->array + i, procs, at, n, rest);
    good = rest != NULL;
    free(rest);
    pmem_value_free(&v, NULL);
    return good;
}

bool pmix_group_value(const struct pmix_session *s, const struct pmsg_get *m, pmix_value_t *v_p)
{
    const struct core *core = s->base.peer->core;
    const pmix_value_t *number = info_find(m->infos.items, m->infos.n, PMIX_GROUP_CONTEXT_ID);
    const char *name = info_find_text(m->infos.items, m->infos.n, PMIX_GROUP_ID);
    const struct pmix_group *g = name ? pmix_group_find(s, slice_str(name)) : NULL;
    const struct job *j = core_job_named(core, m->nspace);
    struct slice records = SLICE_NULL;
    struct group_record r;

    *v_p = (pmix_value_t){ .type = PMIX_UNDEF };
    if (!number && !name)
        return false;
    if (!number && g && slice_is(m->key, PMIX_GROUP_CONTEXT_ID) && g->flags & GROUP_WITH_CONTEXT)
        *v_p = (pmix_value_t){ .type = PMIX_SIZE, .data.size = (size_t)g->number };
    if (number)
        records = group_store_find(&core->group_data, pmix_number_of(number));
    else
        records = group_store_named(&core->group_data, slice_str(name));
    while (j && v_p->type == PMIX_UNDEF && group_record_next(&records, &r)) {
        if (r.kind == GROUP_DATA && r.job == j->id && r.rank == m->rank)
            take_value(&r, m->key, v_p);
    }
    return true;
}
