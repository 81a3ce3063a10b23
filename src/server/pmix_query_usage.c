/* pmix_query_usage.c - see pmix_findings.h: what processes and nodes use, storage, hardware; as the
 * nodes have told it. */
#include <stdlib.h>
#include <string.h>

#include "core/job.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "server/pmix_value.h"

/* ---- which parts a query is about ------------------------------------------------------------ */

static bool is_about_host(const struct query_subject *about, const pmix_info_t *part)
{
    const char *host = info_inside_text(part, PMIX_HOSTNAME);

    return !about->host || (host && !strcmp(host, about->host));
}

static bool is_about_proc(const struct query_subject *about, const pmix_info_t *part)
{
    const pmix_value_t *v = info_inside(part, PMIX_PROCID);
    const pmix_proc_t *p = v && v->type == PMIX_PROC ? v->data.proc : NULL;

    return p && !strcmp(p->nspace, about->job->nspace) &&
           (about->rank == PMIX_RANK_WILDCARD || about->rank == p->rank) &&
           is_about_host(about, part);
}

/* Without a job nodes are asked about as such. */
static bool is_about_node(const struct query_subject *about, const pmix_info_t *part)
{
    const char *host = info_inside_text(part, PMIX_HOSTNAME);

    if (!host || !is_about_host(about, part))
        return false;
    for (uint32_t r = 0; about->names_job && about->job && r < about->job->plan.nprocs; r++) {
        const struct job_map *m = &about->job->plan;
        if (!strcmp(host, m->nodes[m->procs[r].node].name))
            return true;
    }
    return !about->names_job;
}

typedef bool part_test(const struct query_subject *about, const pmix_info_t *part);

struct samples {
    const struct pmix_findings *f;
    const char *key; /* of the parts */
    part_test *wanted;
    const struct query_subject *about;
};

static const pmix_info_t *next_sample(const struct samples *s, const pmix_info_t *last)
{
    do
        last = pmix_next_part(s->f, s->key, last);
    while (last && !s->wanted(s->about, last));
    return last;
}

static bool float_inside(const pmix_info_t *part, const char *key, double *number_p)
{
    const pmix_value_t *v = info_inside(part, key);

    if (!v || v->type != PMIX_FLOAT)
        return false;
    *number_p = (double)v->data.fval;
    return true;
}

/* ---- averages and extremes ------------------------------------------------------------------- */

struct summary {
    double least, most, sum;
    uint32_t n;
};

static struct summary summarize(const struct samples *s, const char *key)
{
    struct summary all = { 0 };

    for (const pmix_info_t *part = NULL; (part = next_sample(s, part));) {
        double number;
        if (!float_inside(part, key, &number))
            continue;
        if (all.n == 0 || number < all.least)
            all.least = number;
        if (all.n == 0 || number > all.most)
            all.most = number;
        all.sum += number;
        all.n++;
    }
    return all;
}

static double average(const struct summary *a)
{
    return a->n ? a->sum / a->n : 0;
}

static double least(const struct summary *a)
{
    return a->least;
}

static double most(const struct summary *a)
{
    return a->most;
}

/* The members of the samples that are floating-point numbers, reduced to one each. */
static void add_reduced(struct info_array *l, const char *name, const struct samples *s,
                        double (*of)(const struct summary *a))
{
    const pmix_info_t *first = next_sample(s, NULL);
    const pmix_data_array_t *a = first ? first->value.data.darray : NULL;
    struct info_array one = { .items = NULL };

    for (size_t i = 0; a && i < a->size; i++) {
        const pmix_info_t *member = (const pmix_info_t *)a->array + i;
        struct summary all;
        if (member->value.type != PMIX_FLOAT)
            continue;
        all = summarize(s, member->key);
        info_array_float(&one, member->key, of(&all));
    }
    if (first)
        info_array_infos(l, name, &one);
}

/* Each sample as an array of that name; or their averages; or minima and, after them, maxima. */
static void add_samples(struct info_array *l, const char *name, const struct samples *s)
{
    if (s->about->average)
        add_reduced(l, name, s, average);
    if (s->about->extremes) {
        add_reduced(l, name, s, least);
        add_reduced(l, name, s, most);
    }
    if (s->about->average || s->about->extremes)
        return;
    for (const pmix_info_t *part = NULL; (part = next_sample(s, part));)
        info_array_copy(l, name, &part->value);
}

static void found_samples(struct pmix_findings *f, const char *key, const char *name,
                          const struct samples *s)
{
    struct info_array all = { .items = NULL };

    add_samples(&all, name, s);
    if (all.n || all.no_memory)
        info_array_infos(&f->list, key, &all);
    else
        f->missed++;
}

/* ---- usage ----------------------------------------------------------------------------------- */

void pmix_find_proc_usage(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_PROC, is_about_proc, about };

    if (about->job)
        found_samples(f, key, PMIX_PROC_RESOURCE_USAGE, &s);
    else
        f->missed++;
}

void pmix_find_node_usage(struct pmix_findings *f, const char *key,
                          const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_NODE, is_about_node, about };

    found_samples(f, key, PMIX_NODE_RESOURCE_USAGE, &s);
}

/* What the daemon of a node uses, and its processes on average. */
static void add_node_memory(struct info_array *l, const struct samples *procs,
                            const pmix_info_t *node)
{
    struct query_subject here = *procs->about;
    struct samples s = { procs->f, procs->key, procs->wanted, &here };
    struct info_array one = { .items = NULL };
    struct summary clients;
    double daemon = 0;

    here.host = info_inside_text(node, PMIX_HOSTNAME);
    clients = summarize(&s, NODE_PART_UNSHARED);
    if (!here.host || clients.n == 0 || !float_inside(node, PMIX_DAEMON_MEMORY, &daemon))
        return;
    info_array_text(&one, PMIX_HOSTNAME, here.host);
    info_array_float(&one, PMIX_DAEMON_MEMORY, daemon);
    info_array_float(&one, PMIX_CLIENT_AVG_MEMORY, average(&clients));
    info_array_infos(l, PMIX_NODE_INFO_ARRAY, &one);
}

/* In megabytes, as in the PMIx Standard: of this node's daemon, of all the processes on average, of
 * each node; and each process, or what is wanted instead. */
void pmix_find_memory(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct samples procs = { f, NODE_PART_OF_PROC, is_about_proc, about };
    const pmix_info_t *node = pmix_next_part(f, NODE_PART_OF_NODE, NULL);
    struct info_array all = { .items = NULL };
    struct summary clients;
    double daemon = 0;

    if (!about->job || !node || !next_sample(&procs, NULL)) {
        f->missed++;
        return;
    }
    clients = summarize(&procs, NODE_PART_UNSHARED);
    float_inside(node, PMIX_DAEMON_MEMORY, &daemon);
    info_array_float(&all, PMIX_DAEMON_MEMORY, daemon);
    info_array_float(&all, PMIX_CLIENT_AVG_MEMORY, average(&clients));
    for (; node; node = pmix_next_part(f, NODE_PART_OF_NODE, node))
        add_node_memory(&all, &procs, node);
    if (about->extremes || !about->average)
        add_samples(&all, PMIX_PROC_INFO_ARRAY, &procs);
    info_array_infos(&f->list, key, &all);
}

/* ---- storage and hardware -------------------------------------------------------------------- */

/* The qualifiers of these names must agree with the part. */
static bool agrees(const struct query_subject *about, const pmix_info_t *part,
                   const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = info_find(about->query->qualifiers, about->query->nqual, names[i]);
        const char *is = info_inside_text(part, names[i]);
        if (v &&
            (v->type != PMIX_STRING || !v->data.string || !is || strcmp(v->data.string, is) != 0))
            return false;
    }
    return is_about_host(about, part);
}

static bool is_about_storage(const struct query_subject *about, const pmix_info_t *part)
{
    static const char *const names[] = { PMIX_STORAGE_ID, PMIX_STORAGE_PATH, PMIX_STORAGE_TYPE };

    return agrees(about, part, names, sizeof names / sizeof *names);
}

/* Storage that nodes share is told by each of them. */
void pmix_find_storages(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_STORAGE, is_about_storage, about };
    struct buf names = BUF_NULL(1 << 24);

    for (const pmix_info_t *part = NULL; (part = next_sample(&s, part));) {
        const char *id = info_inside_text(part, PMIX_STORAGE_ID);
        if (id && !pmix_has_word(buf_slice(&names), slice_str(id)))
            buf_printf(&names, "%s%s", buf_len(&names) ? "," : "", id);
    }
    if (buf_len(&names) == 0)
        f->missed++;
    else
        pmix_found_text(f, key, &names);
    buf_free(&names);
}

void pmix_find_storage(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_STORAGE, is_about_storage, about };
    const pmix_info_t *part = next_sample(&s, NULL);
    const pmix_value_t *v = part ? info_inside(part, key) : NULL;

    if (v)
        info_array_copy(&f->list, key, v);
    else
        f->missed++;
}

static bool is_about_device(const struct query_subject *about, const pmix_info_t *part)
{
    static const char *const names[] = { PMIX_FABRIC_DEVICE_NAME, PMIX_FABRIC_DEVICE_TYPE };

    return agrees(about, part, names, sizeof names / sizeof *names);
}

void pmix_find_devices(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_DEVICE, is_about_device, about };
    struct info_array all = { .items = NULL };

    for (const pmix_info_t *part = NULL; (part = next_sample(&s, part));)
        info_array_copy(&all, PMIX_FABRIC_DEVICE, &part->value);
    if (all.n || all.no_memory)
        info_array_infos(&f->list, key, &all);
    else
        f->missed++;
}

void pmix_find_device_count(struct pmix_findings *f, const char *key,
                            const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_DEVICE, is_about_device, about };
    size_t n = 0;

    for (const pmix_info_t *part = NULL; (part = next_sample(&s, part));)
        n++;
    info_array_add(&f->list, key, (pmix_value_t){ .type = PMIX_SIZE, .data.size = n });
}

/* The first that is meant: of the requester's node, if it has it. */
void pmix_find_device(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_DEVICE, is_about_device, about };
    const pmix_info_t *part = next_sample(&s, NULL);

    if (part)
        info_array_copy(&f->list, key, &part->value);
    else
        f->missed++;
}

/* Of the requester's node, which is the first, if no other is named. */
void pmix_find_topology(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct samples s = { f, NODE_PART_OF_HARDWARE, is_about_host, about };
    const pmix_info_t *part = next_sample(&s, NULL);
    const char *form = !strcmp(key, PMIX_HWLOC_XML_V1) ? key : PMIX_HWLOC_XML_V2;
    const char *xml = part ? info_inside_text(part, form) : NULL;

    if (xml)
        info_array_text(&f->list, key, xml);
    else
        f->missed++;
}
