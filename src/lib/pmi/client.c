/* client.c - see client.h: joining, leaving, and the job's attributes. */
#include "lib/pmi/client.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "lib/common/singleton_promote.h"
#include "lib/pmi/kvs_service.h"
#include "lib/pmi/space.h"
#include "lib/pmi/pmi1_rpc.h"
#include "store/memory.h"

enum {
    OUR_DIALECT = 1,     /* the highest `wireup=` version we support */
    ALONE_KEY_MAX = 256, /* as MPICH's singletons offer */
    ALONE_NAME = 64
};

/* ---- alone ----------------------------------------------------------------------------------- */

static int start_alone(struct pmi1_client *c, struct errmsg *err)
{
    char name[ALONE_NAME];
    int rc = seg_memory_open(LIMIT_CLIENT_STORE, &c->region);

    snprintf(name, sizeof name, "singleton_%ld", (long)getpid());
    c->kvsname = strdup(name);
    if (rc == 0)
        rc = seg_create(&c->writer, &c->region, (uint64_t)(uintptr_t)c, 0);
    if (rc != 0 || !c->kvsname)
        return errmsg_set(err, -ENOMEM, "out of memory");
    c->view = &c->writer.view;
    c->groups = true;
    c->has_appnum = c->has_universe = true;
    c->appnum = -1;
    c->universe = 1;
    c->name_max = LIMIT_PMI_KVSNAME;
    c->key_max = ALONE_KEY_MAX;
    c->value_max = LIMIT_PMI_VALUE;
    return CLIENT_OK;
}

/* ---- with a server --------------------------------------------------------------------------- */

static int connect_server(struct pmi1_client *c, const struct client_env *env, struct errmsg *err)
{
    int rc = link_open_env(&c->link, env, err);

    return rc == 0 || rc == -ENOMEM ? rc : CLIENT_FAILED;
}

/* After dialling, the client sends its id; the reply has its rank and the job's size. */
static int introduce(struct pmi1_client *c, const char *id, struct errmsg *err)
{
    struct pmi1_initack m = { .has = 0 };
    int rc;

    PMI1_SET(m, initack, pmiid, slice_str(id));
    rc = pmi1_rpc_call(c, PMI1_initack, &m, PMI1_initack, err);
    if (rc == CLIENT_OK && c->reply.initack.rc != 0)
        rc = errmsg_set(err, CLIENT_FAILED, "the process manager does not know PMI_ID=%s", id);
    /* Three lines follow: size, rank, debug. */
    for (bool last = false; rc == CLIENT_OK && !last;) {
        rc = pmi1_rpc_read(c, PMI1_set, err);
        if (rc != CLIENT_OK)
            break;
        if (PMI1_HAS(&c->reply.set, set, size))
            c->size = c->reply.set.size;
        if (PMI1_HAS(&c->reply.set, set, rank))
            c->rank = c->reply.set.rank;
        last = PMI1_HAS(&c->reply.set, set, debug);
    }
    return rc;
}

/* Attributes that Wireup's server adds to its first reply; each is optional. */
static int take_facts(struct pmi1_client *c, const struct pmi1_response_to_init *r,
                      struct errmsg *err)
{
    if (PMI1_HAS(r, response_to_init, rank) && PMI1_HAS(r, response_to_init, size)) {
        c->rank = r->rank;
        c->size = r->size;
    }
    if (PMI1_HAS(r, response_to_init, kvsname_max) && PMI1_HAS(r, response_to_init, keylen_max) &&
        PMI1_HAS(r, response_to_init, vallen_max)) {
        c->name_max = r->kvsname_max;
        c->key_max = r->keylen_max;
        c->value_max = r->vallen_max;
    }
    c->has_appnum = PMI1_HAS(r, response_to_init, appnum);
    c->appnum = r->appnum;
    c->has_universe = PMI1_HAS(r, response_to_init, universe);
    c->universe = r->universe;
    if (r->kvsname.len) {
        c->kvsname = strndup(r->kvsname.ptr, r->kvsname.len);
        if (!c->kvsname)
            return errmsg_set(err, -ENOMEM, "out of memory");
    }
    return CLIENT_OK;
}

/* The store only makes us faster; without it nothing fails. */
static void take_store(struct pmi1_client *c)
{
    int fd = link_take_fd(&c->link);

    if (fd >= 0)
        attach_store(fd, &c->store);
    c->view = &c->store.view;
}

static int agree(struct pmi1_client *c, const struct client_env *env, struct errmsg *err)
{
    const struct pmi1_response_to_init *r = &c->reply.response_to_init;
    struct pmi1_init m = { .has = 0 };
    int rc;

    PMI1_SET(m, init, pmi_version, 1);
    PMI1_SET(m, init, pmi_subversion, 1);
    if (env->fd >= 0 && env->wireup_fd == env->fd)
        PMI1_SET(m, init, wireup, OUR_DIALECT);
    rc = pmi1_rpc_call(c, PMI1_init, &m, PMI1_response_to_init, err);
    if (rc != CLIENT_OK)
        return rc;
    if (r->rc != 0 || (PMI1_HAS(r, response_to_init, pmi_version) && r->pmi_version != 1))
        return errmsg_set(err, CLIENT_FAILED,
                          "the process manager supports PMI %u.%u, this library PMI 1.1 and 1.2",
                          r->pmi_version, r->pmi_subversion);
    c->groups = r->pmi_subversion >= 2;
    if (!PMI1_HAS(&m, init, wireup) || r->wireup < 1)
        return CLIENT_OK;
    c->kind = CLIENT_OURS;
    c->groups = true;
    take_store(c);
    return take_facts(c, r, err);
}

static int ask_limits(struct pmi1_client *c, struct errmsg *err)
{
    const struct pmi1_maxes *r = &c->reply.maxes;
    int rc = pmi1_rpc_call(c, PMI1_get_maxes, &(struct pmi1_get_maxes){ 0 }, PMI1_maxes, err);

    if (rc != CLIENT_OK)
        return rc;
    if (r->rc != 0)
        return errmsg_set(err, CLIENT_FAILED, "the process manager did not report its limits");
    c->name_max = r->kvsname_max;
    c->key_max = r->keylen_max;
    c->value_max = r->vallen_max;
    return CLIENT_OK;
}

static int handshake(struct pmi1_client *c, const struct client_env *env, struct errmsg *err)
{
    int rc = env->traced ? pmi1_rpc_read(c, PMI1_tv_ready, err) : CLIENT_OK;

    if (rc == CLIENT_OK && env->id)
        rc = introduce(c, env->id, err);
    if (rc == CLIENT_OK)
        rc = agree(c, env, err);
    if (rc == CLIENT_OK && c->name_max == 0)
        rc = ask_limits(c, err);
    if (rc != CLIENT_OK)
        return rc;
    if (c->rank >= c->size || c->size > INT_MAX)
        return errmsg_set(err, CLIENT_FAILED, "rank %u does not fit a job of %u processes", c->rank,
                          c->size);
    if (c->name_max < 2 || c->key_max < 2 || c->value_max < 2 || c->name_max > LIMIT_PMI_LINE ||
        c->key_max > LIMIT_PMI_LINE || c->value_max > INT_MAX)
        return errmsg_set(
            err, CLIENT_FAILED,
            "the limits of the process manager are invalid: %u for names, %u for keys, %u "
            "for values",
            c->name_max, c->key_max, c->value_max);
    return CLIENT_OK;
}

static int start_served(struct pmi1_client *c, const struct client_env *env, struct errmsg *err)
{
    int rc;

    c->kind = CLIENT_LEGACY;
    c->rank = (uint32_t)env->rank;
    c->size = (uint32_t)env->size;
    rc = connect_server(c, env, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_begin(c, err);
    if (rc == CLIENT_OK) {
        rc = handshake(c, env, err);
        pmi1_rpc_end(c);
    }
    return rc;
}

/* ---- promotion of a singleton ---------------------------------------------------------------- */

/* Repeats the puts of the singleton, now visible to all. */
static int carry_puts(struct pmi1_client *c, const struct seg_view *old, struct errmsg *err)
{
    struct seg_item item;
    uint64_t cursor = 0;
    int rc;

    while (seg_next(old, &cursor, &item)) {
        if (batch_add(&c->batch, item.key, item.value) < 0)
            return errmsg_set(err, -ENOMEM, "out of memory");
    }
    rc = pmi1_rpc_begin(c, err);
    if (rc == CLIENT_OK) {
        rc = pmi1_rpc_put_puts(c, err);
        pmi1_rpc_end(c);
    }
    return rc;
}

static int join_promoter(struct pmi1_client *c, int fd, struct errmsg *err)
{
    struct client_env env = { .fd = fd, .wireup_fd = fd, .size = 1 };
    int rc = link_open_own_fd(&c->link, fd);

    if (rc < 0)
        return errmsg_set(err, rc, "no connection to the process manager: %s", err_text(rc));
    c->kind = CLIENT_LEGACY;
    c->name_max = 0;
    rc = pmi1_rpc_begin(c, err);
    if (rc == CLIENT_OK) {
        rc = handshake(c, &env, err);
        pmi1_rpc_end(c);
    }
    return rc;
}

int client_promote(struct pmi1_client *c, struct errmsg *err)
{
    struct seg_view old = c->writer.view;
    char *name = c->kvsname; /* the launcher keeps the name */
    int fd, rc;

    if (c->kind != CLIENT_ALONE)
        return CLIENT_OK;
    if (promote(name, &fd, &c->promoter, err) < 0)
        return CLIENT_FAILED;
    rc = join_promoter(c, fd, err);
    if (rc == CLIENT_OK)
        rc = carry_puts(c, &old, err);
    if (c->kvsname != name)
        free(name);
    if (rc != CLIENT_OK && !c->store.base) { /* it failed before it had a job: alone as before */
        link_close(&c->link);
        singleton_promote_end(&c->promoter);
        c->kind = CLIENT_ALONE;
        c->name_max = LIMIT_PMI_KVSNAME;
    }
    return rc;
}

/* ---- start and stop -------------------------------------------------------------------------- */

static int start(struct pmi1_client *c, const struct client_env *env, struct errmsg *err)
{
    bool refused;
    const char *path = kvs_service_path(&refused);

    if (refused)
        return errmsg_set(err, CLIENT_FAILED,
                          "WIREUP_PMI_KVS is not for programs with more rights than their user");
    if (path)
        return kvs_service_start(c, path, err);
    return env->fd < 0 && !env->port ? start_alone(c, err) : start_served(c, env, err);
}

int client_start(const struct client_env *env, struct lock *gate, struct pmi1_client **c_p,
                 struct errmsg *err)
{
    struct pmi1_client *c = calloc(1, sizeof *c);
    int rc;

    *c_p = NULL;
    if (!c)
        return errmsg_set(err, -ENOMEM, "out of memory");
    c->gate = gate;
    c->size = 1;
    c->spawned = env->spawned;
    c->restarted = env->restarted;
    c->link = LINK_NULL;
    c->store = ATTACHMENT_NULL;
    c->view = &c->store.view;
    buf_init(&c->out, (size_t)LIMIT_CLIENT_STORE + LIMIT_PMI_SPAWN);
    arena_init(&c->arena, LIMIT_PMI_LINE);
    list_init(&c->tagged);
    batch_init(&c->batch);
    map_init(&c->spaces, (uint64_t)(uintptr_t)c);
    rc = start(c, env, err);
    if (rc != CLIENT_OK) {
        client_free(c);
        return rc;
    }
    *c_p = c;
    return CLIENT_OK;
}

struct pmi1_client *client_free(struct pmi1_client *c)
{
    if (!c)
        return NULL;
    kvs_service_stop(c);
    link_close(&c->link);
    singleton_promote_end(&c->promoter);
    buf_free(&c->out);
    arena_free(&c->arena);
    batch_free(&c->batch);
    detach_store(&c->store);
    seg_memory_close(&c->region);
    space_forget_all(c);
    free(c->walk.space);
    free(c->test_key);
    free(c->kvsname);
    free(c);
    return NULL;
}

int client_stop(struct pmi1_client *c, struct errmsg *err)
{
    bool served = c->kind == CLIENT_LEGACY || c->kind == CLIENT_OURS;
    int rc = CLIENT_OK;

    if (served)
        rc = pmi1_rpc_begin(c, err);
    if (served && rc == CLIENT_OK) {
        rc = pmi1_rpc_put_puts(c, err);
        if (rc == CLIENT_OK)
            rc = pmi1_rpc_call(c, PMI1_finalize, &(struct pmi1_finalize){ 0 }, PMI1_finalize_ack,
                               err);
        if (rc == CLIENT_OK)
            rc = pmi1_rpc_put_verdict(c, err);
        pmi1_rpc_end(c);
    }
    client_free(c);
    return rc;
}

void client_abort(struct pmi1_client *c, int exit_code, const char *message)
{
    struct pmi1_abort m = { .has = 0 };
    char *line = strdup(message ? message : "");

    PMI1_SET(m, abort, exitcode, exit_code);
    if (line && *line) {
        for (char *p = line; (p = strchr(p, '\n')); p++)
            *p = ' ';
        PMI1_SET(m, abort, message, slice_head(slice_str(line), LIMIT_PMI_LINE / 2));
    }
    pmi1_rpc_abort(c, &m);
    free(line);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static int to_int(int64_t v, int *value_p, const char *what, struct errmsg *err)
{
    if (v < INT_MIN || v > INT_MAX)
        return errmsg_set(err, CLIENT_FAILED, "the %s of the process manager is invalid: %lld",
                          what, (long long)v);
    *value_p = (int)v;
    return CLIENT_OK;
}

int client_appnum(struct pmi1_client *c, int *appnum_p, struct errmsg *err)
{
    const struct pmi1_appnum *r = &c->reply.appnum;
    int rc;

    if (c->has_appnum)
        return to_int(c->appnum, appnum_p, "appnum", err);
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_call(c, PMI1_get_appnum, &(struct pmi1_get_appnum){ 0 }, PMI1_appnum, err);
    if (rc == CLIENT_OK && (r->rc != 0 || !PMI1_HAS(r, appnum, appnum)))
        rc = errmsg_set(err, CLIENT_FAILED, "the process manager did not report the appnum");
    if (rc == CLIENT_OK)
        rc = to_int(r->appnum, appnum_p, "appnum", err);
    pmi1_rpc_end(c);
    return rc;
}

int client_universe(struct pmi1_client *c, int *size_p, struct errmsg *err)
{
    const struct pmi1_universe_size *r = &c->reply.universe_size;
    int rc;

    if (c->has_universe)
        return to_int(c->universe, size_p, "universe size", err);
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_call(c, PMI1_get_universe_size, &(struct pmi1_get_universe_size){ 0 },
                       PMI1_universe_size, err);
    if (rc == CLIENT_OK && (r->rc != 0 || !PMI1_HAS(r, universe_size, size)))
        rc = errmsg_set(err, CLIENT_FAILED, "the process manager did not report the universe size");
    if (rc == CLIENT_OK)
        rc = to_int(r->size, size_p, "universe size", err);
    pmi1_rpc_end(c);
    return rc;
}

static int ask_kvsname(struct pmi1_client *c, struct errmsg *err)
{
    const struct pmi1_my_kvsname *r = &c->reply.my_kvsname;
    int rc = pmi1_rpc_call(c, PMI1_get_my_kvsname, &(struct pmi1_get_my_kvsname){ 0 },
                           PMI1_my_kvsname, err);

    if (rc != CLIENT_OK)
        return rc;
    if (r->rc != 0 || r->kvsname.len == 0 || slice_find(r->kvsname, '\0') < r->kvsname.len)
        return errmsg_set(err, CLIENT_FAILED,
                          "the process manager did not report the name of the key-value space");
    c->kvsname = strndup(r->kvsname.ptr, r->kvsname.len);
    return c->kvsname ? CLIENT_OK : errmsg_set(err, -ENOMEM, "out of memory");
}

int client_kvsname(struct pmi1_client *c, struct slice *name_p, struct errmsg *err)
{
    int rc = CLIENT_OK;

    if (!c->kvsname) {
        rc = pmi1_rpc_begin(c, err);
        if (rc != CLIENT_OK)
            return rc;
        if (!c->kvsname) /* another thread may have asked while we waited */
            rc = ask_kvsname(c, err);
        pmi1_rpc_end(c);
    }
    *name_p = slice_str(c->kvsname);
    return rc;
}
