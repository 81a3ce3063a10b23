/* allocation.c - see allocation.h. */
#include "launch/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "launch/hostlist.h"

/* The arguments of a row's reader. */
struct query {
    const struct allocation_world *w;
    struct arena *a;
    struct host_list *list;
    struct errmsg *err;
};

static const char *get(const struct query *q, const char *name)
{
    size_t n = strlen(name);

    for (char *const *e = q->w->envp; *e; e++) {
        if (!strncmp(*e, name, n) && (*e)[n] == '=' && (*e)[n + 1])
            return *e + n + 1;
    }
    return NULL;
}

typedef int text_fn(struct arena *a, struct host_list *list, struct slice text, const char *where,
                    struct errmsg *err);

/* The file that a variable names. */
static int from_file(struct query *q, const char *variable, text_fn *parse)
{
    const char *path = get(q, variable);
    struct buf text = BUF_NULL(LIMIT_MAP_TEXT);
    char where[300];
    int rc = q->w->read_file(q->w->arg, path, &text);

    snprintf(where, sizeof where, "%s (%.200s)", variable, path);
    if (rc < 0 && rc != -ENOMEM)
        rc = errmsg_set(q->err, HOSTS_BAD, "%s: %s", where, err_text(rc));
    else if (rc == 0)
        rc = parse(q->a, q->list, buf_slice(&text), where, q->err);
    buf_free(&text);
    return rc;
}

static int from_text(struct query *q, const char *variable, text_fn *parse)
{
    return parse(q->a, q->list, slice_str(get(q, variable)), variable, q->err);
}

/* ---- the managers ---- */

/* Tasks if the user has requested them, else processors. */
static int read_slurm(struct query *q)
{
    const char *nodes = get(q, "SLURM_JOB_NODELIST") ? "SLURM_JOB_NODELIST" : "SLURM_NODELIST";
    const char *counts =
        get(q, "SLURM_TASKS_PER_NODE") ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE";
    uint32_t first = q->list->count;
    int rc = from_text(q, nodes, hostlist_nodes);

    if (rc == 0 && get(q, counts))
        rc = hostlist_counts(q->list, first, slice_str(get(q, counts)), counts, q->err);
    return rc;
}

static int read_pbs(struct query *q)
{
    return from_file(q, "PBS_NODEFILE", hostlist_slots);
}

static int read_lsf(struct query *q)
{
    if (get(q, "LSB_DJOB_HOSTFILE"))
        return from_file(q, "LSB_DJOB_HOSTFILE", hostlist_slots);
    if (get(q, "LSB_MCPU_HOSTS"))
        return from_text(q, "LSB_MCPU_HOSTS", hostlist_pairs);
    return from_text(q, "LSB_HOSTS", hostlist_slots);
}

static int read_sge(struct query *q)
{
    return from_file(q, "PE_HOSTFILE", hostlist_table);
}

/* The nodes of our job (flux run, flux submit), else those of the instance that we are in.  Both
 * commands have these fields. */
static int read_flux(struct query *q)
{
    static const char fields[] = "{nodelist} {nnodes} {ncores}";
    const char *job = get(q, "FLUX_JOB_ID"), *asked = job ? "flux jobs" : "flux resource list";
    const char *const of_job[] = { "flux", "jobs", "-no", fields, job, NULL };
    const char *const of_instance[] = { "flux",           "resource", "list", "-s",
                                        "free,allocated", "-no",      fields, NULL };
    struct buf text = BUF_NULL(LIMIT_MAP_TEXT);
    int rc = q->w->run(q->w->arg, job ? of_job : of_instance, &text);

    if (rc < 0 && rc != -ENOMEM)
        rc = errmsg_set(q->err, HOSTS_BAD,
                        "%s: %s; FLUX_URI is set (-rmk none: no resource manager)", asked,
                        err_text(rc));
    else if (rc == 0)
        rc = hostlist_groups(q->a, q->list, buf_slice(&text), asked, q->err);
    buf_free(&text);
    return rc;
}

static int read_oar(struct query *q)
{
    return from_file(q, get(q, "OAR_NODEFILE") ? "OAR_NODEFILE" : "OAR_NODE_FILE", hostlist_slots);
}

static int read_cobalt(struct query *q)
{
    return from_file(q, "COBALT_NODEFILE", hostlist_slots);
}

static int read_loadleveler(struct query *q)
{
    return from_file(q, "LOADL_HOSTFILE", hostlist_slots);
}

static const struct manager {
    const char *name, *launcher, *inside;
    int (*read)(struct query *q);
    const char *signs[4];
} managers[] = {
#define X(name, launcher, inside, reader, ...)                                                     \
    { name, launcher, inside, read_##reader, { __VA_ARGS__ } },
    RESOURCE_MANAGERS(X)
#undef X
};

/* "|slurm|flux ..." */
#define X(name, ...) "|" name
static const char names[] = RESOURCE_MANAGERS(X);
#undef X

enum { MANAGERS = sizeof managers / sizeof *managers };

const char *allocation_launcher(const char *name)
{
    for (int i = 0; i < MANAGERS; i++) {
        if (!strcmp(managers[i].name, name))
            return managers[i].launcher;
    }
    return "ssh";
}

void allocation_table(struct buf *out)
{
    buf_str(out, "| manager | recognized by | daemons are started by |\n|---|---|---|\n");
    for (int i = 0; i < MANAGERS; i++) {
        const struct manager *m = &managers[i];
        buf_printf(out, "| %s |", m->name);
        for (int k = 0; k < 4 && m->signs[k]; k++)
            buf_printf(out, "%s `%s`", k ? " or" : "", m->signs[k]);
        buf_printf(out, " | `-launcher %s` |\n", m->launcher);
    }
}

static bool is_there(const struct query *q, const struct manager *m)
{
    bool sign = false;

    for (int i = 0; i < 4 && m->signs[i]; i++)
        sign = sign || get(q, m->signs[i]);
    return sign;
}

static const struct manager *find(const struct query *q, const char *wanted, bool *known)
{
    *known = !wanted;
    for (int i = 0; i < MANAGERS; i++) {
        if (wanted && strcmp(managers[i].name, wanted) != 0)
            continue;
        *known = true;
        if (is_there(q, &managers[i]))
            return &managers[i];
    }
    return NULL;
}

const char *allocation_detect(const struct allocation_world *w, const char *wanted)
{
    struct query q = { .w = w };
    const struct manager *m;
    bool known;

    if (wanted && !strcmp(wanted, "none"))
        return NULL;
    m = find(&q, wanted && !strcmp(wanted, "auto") ? NULL : wanted, &known);
    return m ? m->name : NULL;
}

const char *allocation_needed(const struct allocation_world *w, const char *launcher)
{
    for (int i = 0; i < MANAGERS; i++) {
        if (!strcmp(managers[i].name, launcher) && managers[i].inside &&
            !allocation_detect(w, launcher))
            return managers[i].inside;
    }
    return NULL;
}

int allocation_read(const struct allocation_world *w, const char *wanted, struct arena *a,
                    struct host_list *list, const char **name_p, struct errmsg *err)
{
    struct query q = { w, a, list, err };
    const struct manager *m;
    bool known;

    if (wanted && !strcmp(wanted, "none"))
        return ALLOCATION_NONE;
    if (wanted && !strcmp(wanted, "auto"))
        wanted = NULL;
    m = find(&q, wanted, &known);
    if (m) {
        *name_p = m->name;
        return m->read(&q);
    }
    if (!known)
        return errmsg_set(err, HOSTS_BAD, "-rmk must be one of %s, auto, none, not %.100s",
                          names + 1, wanted);
    if (wanted)
        return errmsg_set(err, HOSTS_BAD, "this is not an allocation of %s: %s is not set", wanted,
                          m ? m->signs[0] : "its list of nodes");
    return ALLOCATION_NONE;
}
