/* server_info.c - see server_info.h. */
#include "lib/pmix/server/server_info.h"

#include <string.h>

#include "base/limit.h"
#include "lib/pmix/server/server_map.h"
#include "lib/pmix/server/server_infos.h"
#include "server/pmix_value.h"

/* Loose keys that are not the job's but its node's or its session's. */
static bool is_about_node(const char *key)
{
    static const char *const keys[] = {
        PMIX_HOSTNAME,          PMIX_HOSTNAME_ALIASES,   PMIX_NODEID,
        PMIX_NODE_SIZE,         PMIX_LOCAL_PEERS,        PMIX_LOCAL_PROCS,
        PMIX_LOCAL_CPUSETS,     PMIX_LOCAL_SIZE,         PMIX_LOCALLDR,
        PMIX_AVAIL_PHYS_MEMORY, PMIX_NODE_OVERSUBSCRIBED
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!strcmp(key, keys[i]))
            return true;
    }
    return false;
}

/* Loose keys of the session, which clients look for in the job and in the session: the two must not
 * differ. */
static bool is_about_session(const char *key)
{
    static const char *const keys[] = {
        PMIX_SESSION_ID, PMIX_UNIV_SIZE,           PMIX_RM_NAME,
        PMIX_RM_VERSION, PMIX_NUM_ALLOCATED_NODES, PMIX_ALLOCATED_NODELIST
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!strcmp(key, keys[i]))
            return true;
    }
    return false;
}

/* Keys that went into the job map, and those that mean nothing to a client (a NULL text says
 * that there is none). */
static bool is_shape(const pmix_info_t *i)
{
    return info_key_is(i, PMIX_NODE_MAP) || info_key_is(i, PMIX_PROC_MAP) ||
           info_key_is(i, PMIX_JOB_INFO_ARRAY) || info_key_is(i, PMIX_REGISTER_NODATA) ||
           i->value.type == PMIX_POINTER || i->value.type == PMIX_UNDEF ||
           (i->value.type == PMIX_STRING && !i->value.data.string);
}

static int add_fact(struct job *j, enum fact_about about, uint32_t index, const pmix_info_t *i)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice value = pmix_canonical(&i->value, &bytes);
    int rc = 0;

    if (buf_ok(&bytes)) /* values that cannot be packed are left out */
        rc = host_info_add(&j->facts, about, index, slice_str(i->key), i->value.type, value);
    buf_free(&bytes);
    return rc;
}

static int add_group(struct job *j, enum fact_about about, uint32_t index, struct info_group g)
{
    int rc = 0;

    for (size_t i = 0; i < g.n && rc == 0; i++) {
        if (!is_shape(&g.list[i]))
            rc = add_fact(j, about, index, &g.list[i]);
    }
    return rc;
}

static uint32_t plan_node_of(const struct job *j, struct info_group g)
{
    const pmix_info_t *name = info_group_find(g, PMIX_HOSTNAME),
                      *id = info_group_find(g, PMIX_NODEID);
    uint32_t number;

    for (uint32_t i = 0; name && info_text(name) && i < j->plan.nnodes; i++) {
        if (!strcmp(j->plan.nodes[i].name, info_text(name)))
            return i;
    }
    return !name && id && info_number(id, &number) && number < j->plan.nnodes ? number
                                                                              : SMAP_NOWHERE;
}

static int add_default(struct job *j, const pmix_info_t *i)
{
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct slice value = pmix_canonical(&i->value, &bytes);
    int rc = 0;

    if (buf_ok(&bytes))
        rc = host_info_add_default(&j->facts, FACT_JOB, 0, slice_str(i->key), i->value.type, value);
    buf_free(&bytes);
    return rc;
}

int sinfo_add_defaults(struct job *j, const struct list *infos)
{
    int rc = 0;

    LIST_EACH(l, (struct list *)(uintptr_t)infos)
    {
        if (rc == 0)
            rc = add_default(j, &LIST_OF(l, struct registered_info, link)->info);
    }
    return rc;
}

int sinfo_add(struct job *j, uint32_t here, const pmix_info_t *i)
{
    struct info_group g = info_group_of(i);
    const pmix_info_t *which;
    uint32_t at;

    if (info_key_is(i, PMIX_JOB_INFO_ARRAY)) {
        int rc = 0;
        for (size_t k = 0; k < g.n && rc == 0; k++)
            rc = sinfo_add(j, here, &g.list[k]);
        return rc;
    }
    if (is_shape(i))
        return 0;
    if (info_key_is(i, PMIX_SESSION_INFO_ARRAY))
        return add_group(j, FACT_SESSION, 0, g);
    if (info_key_is(i, PMIX_NODE_INFO_ARRAY)) {
        at = plan_node_of(j, g);
        return at == SMAP_NOWHERE ? 0 : add_group(j, FACT_NODE, at, g);
    }
    if (info_key_is(i, PMIX_APP_INFO_ARRAY)) {
        which = info_group_find(g, PMIX_APPNUM);
        if (!which)
            return add_group(j, FACT_APP, 0, g);
        return info_number(which, &at) && at < j->plan.napps ? add_group(j, FACT_APP, at, g) : 0;
    }
    if (info_key_is(i, PMIX_PROC_INFO_ARRAY)) {
        which = info_group_find(g, PMIX_RANK);
        return which && info_number(which, &at) && at < j->plan.nprocs
                   ? add_group(j, FACT_RANK, at, g)
                   : 0;
    }
    if (is_about_node(i->key))
        return here == SMAP_NOWHERE ? 0 : add_fact(j, FACT_NODE, here, i);
    if (is_about_session(i->key)) {
        int rc = add_fact(j, FACT_SESSION, 0, i);
        if (rc != 0)
            return rc;
    }
    return add_fact(j, FACT_JOB, 0, i);
}
