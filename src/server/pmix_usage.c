/* pmix_usage.c - see pmix_usage.h.  Reading order: the tables; the check; targets; samples. */
#include "server/pmix_usage.h"

#include <string.h>

#include "core/core.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct usage_kind {
    const char *key; /* of the monitor */
    uint32_t parts;
    const char *part;   /* of the samples; their own key, too */
    const char *always; /* besides the names: an attribute that is never left out */
    bool of_procs;
} kinds[] = {
    { PMIX_MONITOR_PROC_RESOURCE_USAGE, NODE_PART_USAGE, NODE_PART_OF_PROC, PMIX_PROC_SAMPLE_TIME,
      true },
    { PMIX_MONITOR_NODE_RESOURCE_USAGE, NODE_PART_NODE, NODE_PART_OF_NODE, PMIX_NODE_SAMPLE_TIME,
      false },
};

/* A sample, and item i of a directive's array. */
struct match {
    const struct pmix_session *s;
    const pmix_info_t *sample;
    const void *items;
    size_t i;
};

static bool is_proc(const struct match *m)
{
    const pmix_proc_t *target = (const pmix_proc_t *)m->items + m->i;
    const pmix_value_t *v = info_inside(m->sample, PMIX_PROCID);
    const pmix_proc_t *p = v && v->type == PMIX_PROC ? v->data.proc : NULL;

    return p && !strcmp(p->nspace, target->nspace) &&
           (target->rank == PMIX_RANK_WILDCARD || target->rank == p->rank);
}

static bool is_of_host(const struct match *m, const char *name)
{
    const char *host = info_inside_text(m->sample, PMIX_HOSTNAME);

    return host && name && !strcmp(host, name);
}

static bool is_host(const struct match *m)
{
    return is_of_host(m, ((char *const *)m->items)[m->i]);
}

/* Numbers are those of the client's job; to a tool, of the first one. */
static bool is_numbered(const struct match *m, uint32_t node)
{
    const struct job *j = m->s->base.peer->job;

    if (j->is_tool)
        j = core_first_job(m->s->base.peer->core);
    return j && node < j->plan.nnodes && is_of_host(m, j->plan.nodes[node].name);
}

static bool is_node(const struct match *m)
{
    return is_numbered(m, ((const uint32_t *)m->items)[m->i]);
}

/* A pid of -1: all on that node, which is named, or has a number. */
static bool is_pid(const struct match *m)
{
    const pmix_node_pid_t *target = (const pmix_node_pid_t *)m->items + m->i;
    const pmix_value_t *pid = info_inside(m->sample, PMIX_PROC_PID);
    bool there =
        target->hostname ? is_of_host(m, target->hostname) : is_numbered(m, target->nodeid);

    return there && pid && pid->type == PMIX_PID &&
           (target->pid == -1 || target->pid == pid->data.pid);
}

static bool is_own_pid(const struct match *m)
{
    const struct peer *p = m->s->base.peer;
    const struct job_map *plan = &p->job->plan;
    const char *host = plan->nodes[plan->procs[p->rank].node].name;
    pmix_node_pid_t pid = { .hostname = (char *)(uintptr_t)host,
                            .pid = ((const pid_t *)m->items)[m->i] };

    return is_pid(&(struct match){ .s = m->s, .sample = m->sample, .items = &pid });
}

enum group { PROC_TARGETS, NODE_TARGETS, TARGET_GROUPS };

static const struct target {
    const char *key;
    uint16_t type;
    enum group group;
    bool (*is)(const struct match *m);
} targets[] = {
    { PMIX_MONITOR_TARGET_PROCS, PMIX_PROC, PROC_TARGETS, is_proc },
    { PMIX_MONITOR_TARGET_PIDS, PMIX_NODE_PID, PROC_TARGETS, is_pid },
    { PMIX_MONITOR_TARGET_PIDS, PMIX_PID, PROC_TARGETS, is_own_pid },
    { PMIX_MONITOR_TARGET_NODES, PMIX_STRING, NODE_TARGETS, is_host },
    { PMIX_MONITOR_TARGET_NODEIDS, PMIX_UINT32, NODE_TARGETS, is_node },
};

static const struct usage_kind *kind_of(const pmix_info_t *monitor)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!strcmp(monitor->key, kinds[i].key))
            return &kinds[i];
    }
    return NULL;
}

static const pmix_data_array_t *array_in(const pmix_info_t *info)
{
    return info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;
}

static bool is_target(const pmix_info_t *directive)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (!strcmp(directive->key, targets[i].key))
            return true;
    }
    return false;
}

/* NULL: its array is not one of such items. */
static const struct target *target_of(const pmix_info_t *directive)
{
    const pmix_data_array_t *a = array_in(directive);

    for (size_t i = 0; a && i < sizeof targets / sizeof *targets; i++) {
        if (!strcmp(directive->key, targets[i].key) && a->type == targets[i].type)
            return &targets[i];
    }
    return NULL;
}

uint32_t pmix_usage_parts(const pmix_info_t *monitor)
{
    const struct usage_kind *k = kind_of(monitor);

    return k ? k->parts : 0;
}

/* ---- the check ------------------------------------------------------------------------------- */

bool pmix_usage_is_fine(const pmix_info_t *request, size_t n)
{
    const struct usage_kind *k = kind_of(&request[0]);
    const pmix_data_array_t *wanted = array_in(&request[0]);

    if (!k || (wanted && wanted->size && wanted->type != PMIX_INFO))
        return false;
    for (size_t i = 1; i < n; i++) {
        const struct target *t = target_of(&request[i]);
        if (is_target(&request[i]) && (!t || (t->group == PROC_TARGETS && !k->of_procs)))
            return false;
    }
    return true;
}

/* ---- targets --------------------------------------------------------------------------------- */

static bool has_target(const struct pmix_session *s, const pmix_info_t *sample,
                       const struct target *t, const pmix_data_array_t *a)
{
    struct match m = { .s = s, .sample = sample, .items = a->array };

    for (; m.i < a->size; m.i++) {
        if (t->is(&m))
            return true;
    }
    return false;
}

static bool is_meant(const struct pmix_session *s, const pmix_info_t *sample,
                     const pmix_info_t *request, size_t n)
{
    bool named[TARGET_GROUPS] = { false }, found[TARGET_GROUPS] = { false };

    for (size_t i = 1; i < n; i++) {
        const struct target *t = target_of(&request[i]);
        if (!t)
            continue;
        named[t->group] = true;
        found[t->group] = found[t->group] || has_target(s, sample, t, request[i].value.data.darray);
    }
    return named[PROC_TARGETS] == found[PROC_TARGETS] && named[NODE_TARGETS] == found[NODE_TARGETS];
}

/* Nodes are seen by everybody. */
static bool is_seen(const struct pmix_session *s, const pmix_info_t *sample)
{
    const pmix_value_t *v = info_inside(sample, PMIX_PROCID);

    return !v || (v->type == PMIX_PROC && pmix_sees_nspace(s, v->data.proc->nspace));
}

/* ---- samples --------------------------------------------------------------------------------- */

static bool is_wanted(const struct usage_kind *k, const pmix_data_array_t *wanted, const char *key)
{
    const pmix_info_t *items = wanted ? wanted->array : NULL;

    if (!strcmp(key, NODE_PART_UNSHARED)) /* of queries alone */
        return false;
    if (!wanted || wanted->size == 0 || !strcmp(key, PMIX_PROCID) || !strcmp(key, PMIX_HOSTNAME) ||
        !strcmp(key, k->always))
        return true;
    for (size_t i = 0; i < wanted->size; i++) {
        if (!strcmp(items[i].key, key))
            return true;
    }
    return false;
}

static void add_sample(struct info_array *out, const struct usage_kind *k,
                       const pmix_data_array_t *wanted, const pmix_info_t *part)
{
    const pmix_data_array_t *a = array_in(part);
    struct info_array one = { .items = NULL };

    for (size_t i = 0; a && a->type == PMIX_INFO && i < a->size; i++) {
        const pmix_info_t *member = (const pmix_info_t *)a->array + i;
        if (is_wanted(k, wanted, member->key))
            info_array_copy(&one, member->key, &member->value);
    }
    info_array_infos(out, k->part, &one);
}

void pmix_usage_samples(const struct pmix_session *s, const pmix_info_t *request, size_t n,
                        struct slice parts, struct info_array *out)
{
    const struct usage_kind *k = kind_of(&request[0]);
    struct pmix_findings f = { .s = NULL };

    pmix_read_parts(parts, &f.parts);
    for (const pmix_info_t *p = NULL; k && (p = pmix_next_part(&f, k->part, p));) {
        if (is_seen(s, p) && is_meant(s, p, request, n))
            add_sample(out, k, array_in(&request[0]), p);
    }
    out->no_memory = out->no_memory || f.parts.no_memory;
    info_array_free(&f.parts);
}

void pmix_usage_samples_of(const struct pmix_session *s, struct slice request, struct slice parts,
                           struct info_array *out)
{
    struct pmsg_infos m;
    struct punpack r;

    punpack_init(&r, request, &ptype_own);
    if (pmsg_read_infos(&r, 0, &m) == PTYPE_FINE && m.infos.n > 0)
        pmix_usage_samples(s, m.infos.items, m.infos.n, parts, out);
    else
        out->no_memory = true; /* it has been read before */
    pmsg_free_infos(&m, NULL);
}
