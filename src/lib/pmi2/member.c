/* member.c - see member.h: joining, leaving, and the job's attributes. */
#include "lib/pmi2/member.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "lib/common/singleton_promote.h"
#include "lib/pmi2/pmi2_rpc.h"
#include "store/memory.h"
#include "wire/pmi1.h"

enum { OUR_DIALECT = 1 }; /* the highest `wireup=` version we support */

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory");
}

static int note_jobid(struct pmi2_client *m, struct slice id, struct errmsg *err)
{
    if (id.len == 0 || slice_find(id, '\0') < id.len)
        return errmsg_set(err, MEMBER_FAILED,
                          "the process manager did not report the name of the job");
    m->jobid = strndup(id.ptr, id.len);
    return m->jobid ? MEMBER_OK : no_memory(err);
}

/* ---- alone ----------------------------------------------------------------------------------- */

static int put_alone(struct pmi2_client *m, struct slice key, struct slice value)
{
    return seg_put(&m->writer, SEG_ANY_RANK, key, value, SEG_FLAT);
}

static int start_alone(struct pmi2_client *m, struct errmsg *err)
{
    char name[64];
    int rc = seg_memory_open(LIMIT_CLIENT_STORE, &m->region);

    snprintf(name, sizeof name, "singinit_kvs_%ld_0", (long)getpid());
    m->jobid = strdup(name);
    if (rc == 0)
        rc = seg_create(&m->writer, &m->region, (uint64_t)(uintptr_t)m, 0);
    if (rc == 0)
        rc = put_alone(m, SLICE("PMI_process_mapping"), SLICE("(vector,(0,1,1))"));
    if (rc == 0)
        rc = put_alone(m, SLICE("universeSize"), SLICE("1"));
    if (rc != 0 || !m->jobid)
        return no_memory(err);
    m->view = &m->writer.view;
    m->appnum = -1;
    m->whole = true;
    return MEMBER_OK;
}

/* ---- with a server --------------------------------------------------------------------------- */

/* The store only makes us faster; without it nothing fails. */
static void take_store(struct pmi2_client *m, const struct pmi1_response_to_init *r)
{
    int fd = link_take_fd(&m->link);

    if (fd < 0 || attach_store(fd, &m->store) != 0)
        return;
    /* If the window is smaller than the store may grow to, a miss proves nothing. */
    m->whole = r->whole && m->store.mapped == LIMIT_STORE_MAP;
}

/* Attributes that Wireup's server adds to its first reply. */
static int take_facts(struct pmi2_client *m, const struct client_env *env,
                      const struct pmi1_response_to_init *r, struct errmsg *err)
{
    m->rank = r->rank;
    m->size = r->size;
    m->appnum = r->appnum;
    m->node = r->node;
    m->spawned = PMI1_HAS(r, response_to_init, spawner);
    m->restarted = env->restarted;
    take_store(m, r);
    return note_jobid(m, r->kvsname, err);
}

static int no_sense(struct slice line, struct errmsg *err)
{
    return errmsg_set(err, MEMBER_FAILED,
                      "the first message of the process manager is invalid: " SLICE_FMT,
                      SLICE_ARG(slice_head(line, 200)));
}

static int read_reply(struct pmi2_client *m, struct slice sent, enum pmi1_msg want,
                      union pmi1_any *answer_p, struct errmsg *err)
{
    struct slice line = SLICE_NULL;
    unsigned got;
    int rc = ask_line(m, sent, &line, err);

    if (rc != MEMBER_OK)
        return rc;
    rc = text_decode(&pmi1_proto, TEXT_BLANKS, line, &m->arena, &got, answer_p, sizeof *answer_p,
                     NULL);
    if (rc < 0)
        return no_memory(err);
    return rc == 0 && got == (unsigned)want ? MEMBER_OK : no_sense(line, err);
}

/* The first lines are PMI-1's: they agree on the version used from here on. */
static int agree(struct pmi2_client *m, const struct client_env *env, struct errmsg *err)
{
    bool offer = env->fd >= 0 && env->wireup_fd == env->fd;
    struct pmi1_response_to_init *r;
    union pmi1_any answer;
    int rc = read_reply(m,
                        offer ? SLICE("cmd=init pmi_version=2 pmi_subversion=0 wireup=1\n")
                              : SLICE("cmd=init pmi_version=2 pmi_subversion=0\n"),
                        PMI1_response_to_init, &answer, err);

    if (rc != MEMBER_OK)
        return rc;
    r = &answer.response_to_init;
    if (r->rc != 0 || r->pmi_version != 2)
        return errmsg_set(err, MEMBER_FAILED,
                          "the process manager does not support PMI-2 (it offers PMI %u.%u)",
                          r->pmi_version, r->pmi_subversion);
    if (!offer || r->wireup < OUR_DIALECT)
        return MEMBER_OK;
    m->kind = MEMBER_OURS;
    m->knows_ring = true;
    return take_facts(m, env, r, err);
}

static int fullinit(struct pmi2_client *m, const struct client_env *env, struct errmsg *err)
{
    const struct pmi2_fullinit_response *r;
    struct pmi2_fullinit q = { .has = 0 };
    const char *jobid = getenv("PMI_JOBID");
    int64_t id = env->rank;
    struct pmi2_rpc a;
    int rc;

    m->knows_ring = jobid && *jobid; /* only Slurm's sets it */
    if (m->knows_ring)
        PMI2_SET(q, fullinit, pmijobid, slice_str(jobid));
    if (env->id && slice_i64(slice_str(env->id), &id))
        PMI2_SET(q, fullinit, srcid, id);
    PMI2_SET(q, fullinit, pmirank, id);
    PMI2_SET(q, fullinit, threaded, false); /* our requests follow one another */
    rc = pmi2_rpc(m, &a, PMI2_fullinit, &q, PMI2_fullinit_response, err);
    r = &a.answer.fullinit_response;
    if (rc == MEMBER_OK) {
        m->rank = PMI2_HAS(r, fullinit_response, rank) ? r->rank : (uint32_t)env->rank;
        m->size = PMI2_HAS(r, fullinit_response, size) ? r->size : (uint32_t)env->size;
        m->appnum = r->appnum;
        m->spawned = PMI2_HAS(r, fullinit_response, spawner);
        /* Hydra of MPICH 4.1 and later leaves the versions out, and crashes on empty values. */
        m->reads_empty = PMI2_HAS(r, fullinit_response, version);
    }
    pmi2_rpc_end(m, &a);
    return rc;
}

static int start_served(struct pmi2_client *m, const struct client_env *env, struct errmsg *err)
{
    union pmi1_any answer;
    int rc = link_open_env(&m->link, env, err);

    if (rc < 0)
        return rc == -ENOMEM ? rc : MEMBER_FAILED;
    m->kind = MEMBER_LEGACY;
    if (env->traced)
        rc = read_reply(m, SLICE_NULL, PMI1_tv_ready, &answer, err);
    if (rc == MEMBER_OK)
        rc = agree(m, env, err);
    if (rc == MEMBER_OK && m->kind == MEMBER_LEGACY)
        rc = fullinit(m, env, err);
    if (rc == MEMBER_OK &&
        (m->rank >= m->size || m->size > INT_MAX || m->appnum < INT_MIN || m->appnum > INT_MAX))
        rc = errmsg_set(err, MEMBER_FAILED,
                        "the answer of the process manager is invalid: rank %u of %u, appnum %lld",
                        m->rank, m->size, (long long)m->appnum);
    return rc;
}

/* ---- promotion of a singleton ---------------------------------------------------------------- */

/* Repeats our own puts.  Values that we stored in place of a process manager are left out: it
 * provides them itself now. */
static int carry_puts(struct pmi2_client *m, const struct seg_view *old, struct errmsg *err)
{
    struct seg_item item;
    uint64_t cursor = 0;

    while (seg_next(old, &cursor, &item)) {
        if (!slice_starts(item.key, SLICE("PMI_")) && !slice_is(item.key, "universeSize") &&
            batch_add(&m->batch, item.key, item.value) != 0)
            return no_memory(err);
    }
    return MEMBER_OK;
}

int member_promote(struct pmi2_client *m, struct errmsg *err)
{
    struct seg_view old = m->writer.view;
    char *name = m->jobid; /* the launcher keeps the name */
    int fd, rc;

    if (m->kind != MEMBER_ALONE)
        return MEMBER_OK;
    if (promote(name, &fd, &m->promoter, err) < 0)
        return MEMBER_FAILED;
    rc = link_open_own_fd(&m->link, fd);
    m->kind = MEMBER_LEGACY;
    m->view = &m->store.view;
    if (rc == 0)
        rc = agree(m, &(struct client_env){ .fd = fd, .wireup_fd = fd, .size = 1 }, err);
    if (rc == MEMBER_OK)
        rc = carry_puts(m, &old, err);
    if (m->jobid != name)
        free(name);
    if (rc != MEMBER_OK) { /* it failed before it had a job: alone as before */
        link_close(&m->link);
        singleton_promote_end(&m->promoter);
        m->kind = MEMBER_ALONE;
        m->view = &m->writer.view;
    }
    return rc;
}

/* ---- start and stop -------------------------------------------------------------------------- */

int member_start(const struct client_env *env, struct lock *gate, struct pmi2_client **m_p,
                 struct errmsg *err)
{
    struct pmi2_client *m = calloc(1, sizeof *m);
    int rc;

    *m_p = NULL;
    if (!m)
        return no_memory(err);
    m->gate = gate;
    m->size = 1;
    m->link = LINK_NULL;
    m->store = ATTACHMENT_NULL;
    m->view = &m->store.view;
    list_init(&m->asks);
    buf_init(&m->out, (size_t)LIMIT_CLIENT_STORE + LIMIT_PMI_SPAWN);
    arena_init(&m->arena, LIMIT_PMI_LINE * 2);
    batch_init(&m->batch);
    rc = env->fd < 0 && !env->port ? start_alone(m, err) : start_served(m, env, err);
    if (rc != MEMBER_OK) {
        member_free(m);
        return rc;
    }
    *m_p = m;
    return MEMBER_OK;
}

struct pmi2_client *member_free(struct pmi2_client *m)
{
    if (!m)
        return NULL;
    link_close(&m->link);
    singleton_promote_end(&m->promoter);
    buf_free(&m->out);
    arena_free(&m->arena);
    batch_free(&m->batch);
    detach_store(&m->store);
    seg_memory_close(&m->region);
    free(m->jobid);
    free(m);
    return NULL;
}

int member_stop(struct pmi2_client *m, struct errmsg *err)
{
    struct pmi2_finalize q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = MEMBER_OK;

    if (m->kind != MEMBER_ALONE) {
        rc = pmi2_rpc(m, &a, PMI2_finalize, &q, PMI2_finalize_response, err);
        pmi2_rpc_end(m, &a);
        if (rc == MEMBER_OK)
            rc = ask_put_verdict(m, err);
    }
    member_free(m);
    return rc;
}

void member_abort(struct pmi2_client *m, bool whole_job, int exit_code, const char *message)
{
    struct pmi2_abort q = { .has = 0 };

    if (m->kind == MEMBER_ALONE)
        return;
    PMI2_SET(q, abort, isworld, whole_job);
    if (m->kind == MEMBER_OURS)
        PMI2_SET(q, abort, exitcode, exit_code);
    PMI2_SET(q, abort, msg, slice_head(slice_str(message ? message : ""), LIMIT_PMI_LINE / 4));
    ask_nothing(m, PMI2_abort, &q);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static int ask_jobid(struct pmi2_client *m, struct errmsg *err)
{
    struct pmi2_job_getid q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = pmi2_rpc(m, &a, PMI2_job_getid, &q, PMI2_job_getid_response, err);

    if (rc == MEMBER_OK && !m->jobid) /* another thread may have asked meanwhile */
        rc = note_jobid(m, a.answer.job_getid_response.jobid, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

int member_jobid(struct pmi2_client *m, struct slice *id_p, struct errmsg *err)
{
    int rc = m->jobid ? MEMBER_OK : ask_jobid(m, err);

    *id_p = slice_str(m->jobid);
    return rc;
}
