/* pmix_query_info.c - see pmix_findings.h: any key of the information on a job, its session, its
 * applications, its nodes and its processes (pmix_info.h), which clients have of their own jobs
 * only, and tools of none. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/pmix_findings.h"
#include "server/pmix_info.h"
#include "server/pmix_value.h"
#include "wire/pmix_message.h"

/* An array of infos about one session, application or node is the one that is asked about, if a
 * member has the value of the qualifier. */
struct level {
    const char *flag, *array; /* the qualifier that asks for it, its key in the information */
    const char *ids[2];       /* qualifiers, and members of the array; NULL: no further one */
};

static const struct level levels[] = {
    { PMIX_SESSION_INFO, PMIX_SESSION_INFO_ARRAY, { PMIX_SESSION_ID, NULL } },
    { PMIX_APP_INFO, PMIX_APP_INFO_ARRAY, { PMIX_APPNUM, NULL } },
    { PMIX_NODE_INFO, PMIX_NODE_INFO_ARRAY, { PMIX_HOSTNAME, PMIX_NODEID } },
};

static bool is_flagged(const pmix_query_t *q, const char *flag)
{
    const pmix_value_t *v = info_find(q->qualifiers, q->nqual, flag);

    return v && pmix_flag_of(v);
}

/* NULL: the job, or one of its processes. */
static const struct level *level_of(const pmix_query_t *q)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (is_flagged(q, levels[i].flag))
            return &levels[i];
    }
    return NULL;
}

static bool is_same(const pmix_value_t *a, const pmix_value_t *b)
{
    if (a->type == PMIX_STRING && b->type == PMIX_STRING)
        return a->data.string && b->data.string && !strcmp(a->data.string, b->data.string);
    return pmix_is_number(a) && pmix_is_number(b) && pmix_number_of(a) == pmix_number_of(b);
}

static bool is_meant(const struct level *level, const pmix_query_t *q, const pmix_info_t *array)
{
    for (size_t i = 0; i < 2 && level->ids[i]; i++) {
        const pmix_value_t *wanted = info_find(q->qualifiers, q->nqual, level->ids[i]);
        const pmix_value_t *is = info_inside(array, level->ids[i]);
        if (wanted && is && !is_same(wanted, is))
            return false;
    }
    return true;
}

/* The KVALs as infos. */
static void read_kvals(struct slice kvals, struct info_array *l)
{
    struct punpack r;

    punpack_init(&r, kvals, &ptype_own);
    while (punpack_ok(&r) && punpack_left(&r)) {
        pmix_value_t v = { .type = PMIX_UNDEF };
        struct slice key = punpack_kval(&r, &v);
        char name[PMIX_MAX_KEYLEN + 1] = "";
        if (key.len <= PMIX_MAX_KEYLEN && key.ptr)
            memcpy(name, key.ptr, key.len);
        info_array_add(l, name, v);
    }
}

static void read_info(const struct query_subject *about, struct info_array *l)
{
    struct buf kvals = BUF_NULL(1 << 24);
    struct ppack w;

    if (about->rank == PMIX_RANK_WILDCARD) {
        read_kvals(pmix_job_info(about->job, &ptype_own, false), l);
        return;
    }
    ppack_init(&w, &kvals, &ptype_own);
    pmix_put_rank_info(&w, about->job, about->rank);
    if (ppack_ok(&w))
        read_kvals(buf_slice(&kvals), l);
    else
        l->no_memory = true;
    buf_free(&kvals);
}

static const pmix_value_t *find(const struct query_subject *about, const struct info_array *l,
                                const char *key)
{
    const struct level *level = level_of(about->query);
    const pmix_value_t *v = NULL;

    if (!level) /* (the packed values of ranks are no value of the job) */
        return strcmp(key, PMSG_RANK_VALUES) != 0 ? info_find(l->items, l->n, key) : NULL;
    for (size_t i = 0; i < l->n && !v; i++) {
        if (!strcmp(l->items[i].key, level->array) && is_meant(level, about->query, &l->items[i]))
            v = info_inside(&l->items[i], key);
    }
    return v;
}

void pmix_find_job_info(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    struct info_array l = { .items = NULL };
    const pmix_value_t *v = NULL;

    if (about->job && strncmp(key, "pmix", 4) == 0 &&
        (about->rank == PMIX_RANK_WILDCARD || about->rank < about->job->plan.nprocs))
        read_info(about, &l);
    v = find(about, &l, key);
    if (v)
        info_array_copy(&f->list, key, v);
    else
        f->missed++;
    f->list.no_memory = f->list.no_memory || l.no_memory;
    info_array_free(&l);
}
