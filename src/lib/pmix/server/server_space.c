/* server_space.c - see server_space.h: turns the host's registrations into jobs.
 *
 * A host registers a job in as many calls as it likes.  Infos about where the processes are make
 * the job map (server_map.h); everything else becomes job info (server_info.h).  The core's job is
 * made once it is known which node is ours, or when it is first needed.
 */
#include "lib/pmix/server/server_space.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "core/procmap.h"
#include "lib/pmix/server/server_info.h"
#include "lib/pmix/server/server_map.h"
#include "lib/pmix/server/server_infos.h"
#include "server/pmix_info.h"

enum { PLAN_MEMORY = 1 << 30 };

/* ---- finding --------------------------------------------------------------------------------- */

struct nspace *nspace_find(const struct pserver *s, const char *name)
{
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (!strncmp(n->name, name, PMIX_MAX_NSLEN))
            return n;
    }
    return NULL;
}

struct nspace *nspace_of(const struct pserver *s, const struct job *j)
{
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (j && n->job == j)
            return n;
    }
    return NULL;
}

static struct nspace *add_nspace(struct pserver *s, const char *name)
{
    struct nspace *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    strncpy(n->name, name, PMIX_MAX_NSLEN);
    n->nlocal = -1;
    n->store = MEMFD_NULL;
    list_init(&n->locals);
    list_init(&n->former);
    n->uid = s->host_uid;
    n->gid = s->host_gid;
    list_init(&n->infos);
    list_init(&n->setup);
    list_append(&s->spaces, &n->link);
    return n;
}

struct nspace *nspace_make(struct pserver *s, const char *name)
{
    struct nspace *n = nspace_find(s, name);

    return n ? n : add_nspace(s, name);
}

struct local *nspace_local(const struct nspace *n, uint32_t rank)
{
    LIST_EACH(l, &n->locals)
    {
        struct local *p = LIST_OF(l, struct local, link);
        if (p->rank == rank)
            return p;
    }
    return NULL;
}

bool nspace_rights(const struct nspace *n, uint32_t rank, uid_t *uid_p, gid_t *gid_p)
{
    const struct list *const lists[] = { &n->locals, &n->former };
    const struct local *found = NULL;

    for (size_t i = 0; i < 2; i++) {
        LIST_EACH(l, (struct list *)(uintptr_t)lists[i])
        {
            const struct local *p = LIST_OF(l, const struct local, link);
            if (p->rank != rank || (i == 0 && !p->cleanups))
                continue;
            if (found && (found->uid != p->uid || found->gid != p->gid))
                return false; /* that rank belonged to another user before */
            found = p;
        }
    }
    if (!found)
        return false;
    *uid_p = n->uid == ID_UNSET ? found->uid : (uid_t)n->uid;
    *gid_p = n->gid == ID_UNSET ? found->gid : (gid_t)n->gid;
    return true;
}

void nspace_leave(struct pserver *s, struct nspace *n)
{
    LIST_EACH(l, &n->locals)
    {
        struct local *p = LIST_OF(l, struct local, link);
        if (p->is_known)
            server_proc_state(&s->server, n->job, p->rank, PROC_EVENT_EXIT, 0, 0);
    }
}

void nspace_free(struct pserver *s, struct nspace *n)
{
    if (n->job)
        server_job_gone(&s->server, n->job);
    memfd_close(&n->store);
    registered_drop_all(&n->infos);
    registered_drop_all(&n->setup);
    LIST_EACH(l, &n->locals)
    free(LIST_OF(l, struct local, link));
    LIST_EACH(l, &n->former)
    free(LIST_OF(l, struct local, link));
    list_unlink(&n->link);
    free(n);
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Keys that legacy clients ask for. */
static void preset(struct pserver *s, struct job *j)
{
    struct buf text = BUF_NULL(LIMIT_PMI_VALUE - 1);
    char size[24];

    procmap_of_plan(&j->plan, &text);
    if (buf_ok(&text))
        server_preset(&s->server, j, SLICE("PMI_process_mapping"), buf_slice(&text));
    buf_free(&text);
    snprintf(size, sizeof size, "%lld", (long long)j->plan.universe);
    server_preset(&s->server, j, SLICE("universeSize"), slice_str(size));
}

static void start_locals(struct pserver *s, struct nspace *n)
{
    LIST_EACH(l, &n->locals)
    {
        struct local *p = LIST_OF(l, struct local, link);
        if (!p->is_known && p->rank < n->job->plan.nprocs)
            server_proc_state(&s->server, n->job, p->rank, PROC_EVENT_STARTED, 0,
                              n->job->procs[p->rank].pid);
        p->is_known = true;
    }
}

static struct job *make_job(struct pserver *s, struct nspace *n, struct smap *b)
{
    if (memfd_open(&n->store) < 0 || memfd_reader(&n->store) < 0)
        return NULL;
    n->job = server_job_order(&s->server, &(struct job_order){ .nspace = n->name,
                                                               .plan = &b->plan,
                                                               .region = &n->store.region,
                                                               .parent = JOB_NO_RANK,
                                                               .keep_going = true,
                                                               .here = b->here,
                                                               .is_tool = n->is_tool });
    if (!n->job) {
        memfd_close(&n->store);
        return NULL;
    }
    LIST_EACH(l, &n->infos)
    {
        if (sinfo_add(n->job, b->here, &LIST_OF(l, struct registered_info, link)->info) < 0)
            log_error(&s->log, "out of memory for the data of job %s", n->name);
    }
    if (n->is_registered && sinfo_add_defaults(n->job, &s->resources) < 0)
        log_error(&s->log, "out of memory for the data of job %s", n->name);
    registered_drop_all(&n->infos);
    preset(s, n->job);
    start_locals(s, n);
    return n->job;
}

/* `needed`: the registrations so far must suffice. */
static struct job *build(struct pserver *s, struct nspace *n, bool needed)
{
    struct smap b = { .s = s, .n = n, .here = SMAP_NOWHERE };
    bool good;

    job_map_init(&b.plan);
    arena_init(&b.plan.arena, PLAN_MEMORY);
    good = smap_place(&b);
    if (good && b.here == SMAP_NOWHERE && !needed && n->nlocal != 0) {
        job_map_free(&b.plan);
        return NULL; /* the expected processes will make it known */
    }
    if (good)
        smap_place_rest(&b);
    if (b.here == SMAP_NOWHERE)
        b.here = JOB_NONE_HERE;
    good = good && smap_fill(&b);
    if (!good || !make_job(s, n, &b))
        log_error(&s->log, "job %s cannot be set up: out of memory, or too large", n->name);
    job_map_free(&b.plan);
    return n->job;
}

struct job *nspace_job(struct pserver *s, struct nspace *n)
{
    n->is_registered = n->is_registered || n->is_singleton;
    return n->job ? n->job : build(s, n, true);
}

void nspace_settle_all(struct pserver *s)
{
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (n->is_registered || n->is_own)
            nspace_job(s, n);
    }
}

/* Records whose rights are used for the job's files, if the host says so. */
static void note_rights(struct nspace *n, const pmix_info_t *i)
{
    struct info_group g = info_group_of(i);
    uint32_t id;

    if (info_key_is(i, PMIX_USERID) && info_number(i, &id))
        n->uid = id;
    else if (info_key_is(i, PMIX_GRPID) && info_number(i, &id))
        n->gid = id;
    else if (info_key_is(i, PMIX_JOB_INFO_ARRAY))
        for (size_t k = 0; k < g.n; k++)
            note_rights(n, &g.list[k]);
}

/* The host registers a name alone. */
static bool is_without_data(const pmix_info_t *infos, size_t ninfos)
{
    const pmix_info_t *i =
        info_group_find((struct info_group){ infos, ninfos }, PMIX_REGISTER_NODATA);

    return i && PMIx_Value_true(&i->value) != PMIX_BOOL_FALSE;
}

/* To the job that there is. */
static pmix_status_t add_to_job(struct nspace *n, const pmix_info_t *infos, size_t ninfos)
{
    uint32_t here = n->job->here < n->job->plan.nnodes ? n->job->here : SMAP_NOWHERE;

    for (size_t i = 0; i < ninfos; i++) {
        if (sinfo_add(n->job, here, &infos[i]) < 0)
            return PMIX_ERR_NOMEM;
    }
    pmix_job_info_changed(n->job);
    return PMIX_SUCCESS;
}

pmix_status_t nspace_add_info(struct nspace *n, const pmix_info_t *info)
{
    if (n->job)
        return add_to_job(n, info, 1);
    return registered_add(&n->infos, info) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t nspace_add(struct pserver *s, struct nspace *n, const pmix_info_t *infos,
                         size_t ninfos)
{
    for (size_t i = 0; i < ninfos; i++)
        note_rights(n, &infos[i]);
    if (is_without_data(infos, ninfos))
        ninfos = 0;
    for (size_t i = 0; !n->job && i < ninfos; i++) {
        if (!registered_add(&n->infos, &infos[i]))
            return PMIX_ERR_NOMEM;
    }
    n->is_registered = true;
    if (!n->job) {
        build(s, n, false);
        return PMIX_SUCCESS;
    }
    return add_to_job(n, infos, ninfos);
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Files that it has registered are removed with its rights, also later.  Without memory, it
 * stays. */
static void keep_former(struct nspace *n, const struct local *p)
{
    struct local *former = p->cleanups ? malloc(sizeof *former) : NULL;

    if (!former)
        return;
    *former = *p;
    list_init(&former->link);
    list_append(&n->former, &former->link);
}

pmix_status_t nspace_expect(struct pserver *s, struct nspace *n, uint32_t rank, uid_t uid,
                            gid_t gid, void *object)
{
    struct local *p = nspace_local(n, rank);

    if (rank >= LIMIT_JOB_PROCS || (n->job && rank >= n->job->plan.nprocs))
        return PMIX_ERR_BAD_PARAM;
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            return PMIX_ERR_NOMEM;
        list_append(&n->locals, &p->link);
    }
    if (p->cleanups && (p->uid != uid || p->gid != gid)) {
        keep_former(n, p);
        p->cleanups = false;
    }
    p->space = n;
    p->rank = rank;
    p->uid = uid;
    p->gid = gid;
    p->object = object;
    if (n->job)
        start_locals(s, n);
    return PMIX_SUCCESS;
}

pmix_status_t nspace_singleton(struct pserver *s, const pmix_proc_t *p)
{
    struct nspace *n = nspace_make(s, p->nspace);

    if (!n)
        return PMIX_ERR_NOMEM;
    if (n->is_own)
        return PMIX_ERR_BAD_PARAM;
    n->nlocal = 1;
    n->is_singleton = true;
    return nspace_expect(s, n, p->rank, geteuid(), getegid(), NULL);
}

void nspace_forget(struct pserver *s, struct nspace *n, uint32_t rank)
{
    struct local *p = nspace_local(n, rank);

    if (!p)
        return;
    if (n->job && p->is_known)
        server_proc_state(&s->server, n->job, rank, PROC_EVENT_EXIT, 0, 0);
    keep_former(n, p);
    list_unlink(&p->link);
    free(p);
}

/* Hosts give tools a common name, and ranks: each is nevertheless a job of its own. */
struct nspace *nspace_of_tool(struct pserver *s, const char *name, uint32_t rank)
{
    struct nspace *n = nspace_find(s, name);

    if ((n && !n->is_tool) || rank >= LIMIT_TOOL_RANK || !(n = add_nspace(s, name)))
        return NULL;
    n->is_tool = true;
    n->nlocal = 1;
    if (nspace_expect(s, n, rank, s->uid, s->gid, NULL) == PMIX_SUCCESS && nspace_job(s, n))
        return n;
    nspace_free(s, n);
    return NULL;
}
