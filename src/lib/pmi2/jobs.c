/* jobs.c - see jobs.h. */
#include "lib/pmi2/jobs.h"

#include <errno.h>
#include <stdio.h>

#include "base/limit.h"
#include "lib/common/spawn_texts.h"
#include "lib/pmi2/pmi2_rpc.h"

/* ---- name service ---------------------------------------------------------------------------- */

static int check_name(struct pmi2_client *m, const char *what, const char *text, struct errmsg *err)
{
    size_t len = strlen(text);

    if (len == 0 || len > LIMIT_PMI_VALUE)
        return errmsg_set(err, MEMBER_BAD_ARG, "the %s has %zu characters; 1 to %d are allowed",
                          what, len, LIMIT_PMI_VALUE);
    return data_can_send(m, what, slice_str(text), err);
}

int jobs_publish(struct pmi2_client *m, const char *name, const char *port, struct errmsg *err)
{
    struct pmi2_name_publish q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = check_name(m, "service name", name, err);

    if (rc == MEMBER_OK)
        rc = check_name(m, "port", port, err);
    if (rc != MEMBER_OK)
        return rc;
    PMI2_SET(q, name_publish, name, slice_str(name));
    PMI2_SET(q, name_publish, port, slice_str(port));
    PMI2_SET(q, name_publish, infokeycount, 0);
    rc = pmi2_rpc(m, &a, PMI2_name_publish, &q, PMI2_name_publish_response, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

int jobs_unpublish(struct pmi2_client *m, const char *name, struct errmsg *err)
{
    struct pmi2_name_unpublish q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = check_name(m, "service name", name, err);

    if (rc != MEMBER_OK)
        return rc;
    PMI2_SET(q, name_unpublish, name, slice_str(name));
    PMI2_SET(q, name_unpublish, infokeycount, 0);
    rc = pmi2_rpc(m, &a, PMI2_name_unpublish, &q, PMI2_name_unpublish_response, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

/* MPICH's servers reply in `port`, Slurm's in `value`. */
static int use_port(const struct pmi2_name_lookup_response *r, const char *name, data_use *use,
                    void *arg, struct errmsg *err)
{
    if (PMI2_HAS(r, name_lookup_response, found) && !r->found)
        return errmsg_set(err, MEMBER_REFUSED, "no process has published '%.80s'", name);
    if (PMI2_HAS(r, name_lookup_response, port))
        return use(arg, r->port, err);
    if (PMI2_HAS(r, name_lookup_response, value))
        return use(arg, r->value, err);
    return errmsg_set(err, MEMBER_REFUSED, "the port of '%.80s' is missing in the answer", name);
}

int jobs_lookup(struct pmi2_client *m, const char *name, data_use *use, void *arg,
                struct errmsg *err)
{
    struct pmi2_name_lookup q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = check_name(m, "service name", name, err);

    if (rc != MEMBER_OK)
        return rc;
    PMI2_SET(q, name_lookup, name, slice_str(name));
    PMI2_SET(q, name_lookup, infokeycount, 0);
    rc = pmi2_rpc(m, &a, PMI2_name_lookup, &q, PMI2_name_lookup_response, err);
    if (rc == MEMBER_OK)
        rc = use_port(&a.answer.name_lookup_response, name, use, arg, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

/* ---- other jobs ------------------------------------------------------------------------------ */

/* MPICH's servers end the job at this command, Slurm's never reply. */
static int can_connect(const struct pmi2_client *m, struct errmsg *err)
{
    return m->kind == MEMBER_LEGACY
               ? errmsg_set(err, MEMBER_REFUSED, "this process manager cannot connect jobs")
               : MEMBER_OK;
}

int jobs_connect(struct pmi2_client *m, const char *job, struct errmsg *err)
{
    struct pmi2_job_connect q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = can_connect(m, err);

    if (rc != MEMBER_OK)
        return rc;
    PMI2_SET(q, job_connect, jobid, slice_str(job));
    rc = pmi2_rpc(m, &a, PMI2_job_connect, &q, PMI2_job_connect_response, err);
    if (rc == MEMBER_OK && a.answer.job_connect_response.kvscopy)
        rc = errmsg_set(err, MEMBER_REFUSED,
                        "the process manager requires that jobs copy key-value spaces, which "
                        "clients cannot do");
    pmi2_rpc_end(m, &a);
    return rc;
}

int jobs_disconnect(struct pmi2_client *m, const char *job, struct errmsg *err)
{
    struct pmi2_job_disconnect q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = can_connect(m, err);

    if (rc != MEMBER_OK)
        return rc;
    PMI2_SET(q, job_disconnect, jobid, slice_str(job));
    rc = pmi2_rpc(m, &a, PMI2_job_disconnect, &q, PMI2_job_disconnect_response, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

/* ---- new processes --------------------------------------------------------------------------- */

static void add_command(struct arena *a, const struct jobs_command *c, struct pmi2_subcmd *m)
{
    PMI2_SET(*m, subcmd, subcmd, slice_str(c->program));
    PMI2_SET(*m, subcmd, maxprocs, c->nprocs);
    PMI2_SET(*m, subcmd, argc, c->nargs);
    m->argv.items = arena_array(a, c->nargs, sizeof *m->argv.items);
    for (; m->argv.items && m->argv.n < c->nargs; m->argv.n++)
        m->argv.items[m->argv.n] = slice_str(c->args[m->argv.n]);
    PMI2_SET(*m, subcmd, infokeycount, c->ninfos);
    spawn_texts_pairs(a, c->infos, c->ninfos, &m->infokey, &m->infoval);
    m->has |= PMI2_BIT(subcmd, argv) | PMI2_BIT(subcmd, infokey) | PMI2_BIT(subcmd, infoval);
}

static void build(struct arena *a, const struct jobs_spawn *s, struct pmi2_spawn *q)
{
    struct pmi2_subcmd *items = arena_array(a, s->count, sizeof *items);

    PMI2_SET(*q, spawn, ncmds, s->count);
    PMI2_SET(*q, spawn, preputcount, s->npreputs);
    spawn_texts_pairs(a, s->preputs, s->npreputs, &q->ppkey, &q->ppval);
    q->has |= PMI2_BIT(spawn, ppkey) | PMI2_BIT(spawn, ppval);
    for (uint32_t i = 0; items && i < s->count; i++)
        add_command(a, &s->commands[i], &items[i]);
    PMI2_SET(*q, spawn, commands, (struct text_group){ s->count, s->count, items });
}

/* Checks lists and programs for a server that may not accept them all. */
static int check_list(struct pmi2_client *m, const char *what, const struct text_list *list,
                      struct errmsg *err)
{
    int rc = MEMBER_OK;

    for (uint32_t i = 0; i < list->n && rc == MEMBER_OK; i++)
        rc = data_can_send(m, what, list->items[i], err);
    return rc;
}

static int check_request(struct pmi2_client *m, const struct pmi2_spawn *q, struct errmsg *err)
{
    const struct pmi2_subcmd *c = q->commands.items;
    int rc = check_list(m, "key of a preput", &q->ppkey, err);

    if (rc == MEMBER_OK)
        rc = check_list(m, "value of a preput", &q->ppval, err);
    for (uint32_t i = 0; i < q->commands.n && rc == MEMBER_OK; i++) {
        rc = data_can_send(m, "program", c[i].subcmd, err);
        if (rc == MEMBER_OK)
            rc = check_list(m, "argument of a program", &c[i].argv, err);
        if (rc == MEMBER_OK)
            rc = check_list(m, "key of an info", &c[i].infokey, err);
        if (rc == MEMBER_OK)
            rc = check_list(m, "value of an info", &c[i].infoval, err);
    }
    return rc;
}

static int use_job(const struct pmi2_spawn_response *r, const struct jobs_spawn *s,
                   struct errmsg *err)
{
    if (!s->use)
        return MEMBER_OK;
    if (!PMI2_HAS(r, spawn_response, jobid))
        return errmsg_set(err, MEMBER_REFUSED,
                          "the process manager did not report the name of the new job");
    return s->use(s->arg, r->jobid, err);
}

int jobs_spawn(struct pmi2_client *m, const struct jobs_spawn *s, struct errmsg *err)
{
    struct arena arena = ARENA_NULL((size_t)LIMIT_PMI_SPAWN * 4);
    const struct pmi2_spawn_response *r;
    struct pmi2_spawn q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    spawn_texts_errors(SLICE_NULL, s->errors, s->nprocs, -1);
    rc = member_promote(m, err);
    if (rc != MEMBER_OK)
        return rc;
    build(&arena, s, &q);
    if (!arena_ok(&arena)) {
        arena_free(&arena);
        return errmsg_set(err, -ENOMEM, "out of memory");
    }
    rc = m->kind == MEMBER_LEGACY ? check_request(m, &q, err) : MEMBER_OK;
    if (rc != MEMBER_OK) {
        arena_free(&arena);
        return rc;
    }
    rc = pmi2_rpc(m, &a, PMI2_spawn, &q, PMI2_spawn_response, err);
    r = &a.answer.spawn_response;
    if (rc == MEMBER_OK || rc == MEMBER_REFUSED)
        spawn_texts_errors(r->errcodes, s->errors, s->nprocs, rc == MEMBER_OK ? 0 : -1);
    if (rc == MEMBER_OK)
        rc = use_job(r, s, err);
    pmi2_rpc_end(m, &a);
    arena_free(&arena);
    return rc;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static int ask_ring(struct pmi2_client *m, const char *value, struct jobs_ring *r,
                    struct errmsg *err)
{
    const struct pmi2_ring_response *got;
    struct pmi2_ring q = { .has = 0 };
    struct pmi2_rpc a;
    int rc = data_can_send(m, "value", slice_str(value), err);

    if (rc != MEMBER_OK)
        return rc;
    PMI2_SET(q, ring, count, 1);
    PMI2_SET(q, ring, left, slice_str(value));
    PMI2_SET(q, ring, right, slice_str(value));
    rc = pmi2_rpc(m, &a, PMI2_ring, &q, PMI2_ring_response, err);
    got = &a.answer.ring_response;
    if (rc == MEMBER_OK) {
        r->place = (int)got->count;
        rc = r->use(r->left, got->left, err);
    }
    if (rc == MEMBER_OK)
        rc = r->use(r->right, got->right, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

/* The key of each rank's ring value, for servers without ring support: the order is then that of
 * the ranks. */
static void ring_key(uint32_t ring, uint32_t rank, char *key, size_t room)
{
    snprintf(key, room, "wireup.ring.%u.%u", ring, rank);
}

static int make_ring(struct pmi2_client *m, const char *value, struct jobs_ring *r,
                     struct errmsg *err)
{
    uint32_t ring = m->rings++;
    char key[48];
    int rc;

    r->place = (int)m->rank;
    ring_key(ring, m->rank, key, sizeof key);
    rc = data_put(m, key, value, err);
    if (rc == MEMBER_OK)
        rc = data_fence(m, err);
    ring_key(ring, (m->rank + m->size - 1) % m->size, key, sizeof key);
    if (rc == MEMBER_OK)
        rc = data_get(m, NULL, -1, key, r->use, r->left, err);
    ring_key(ring, (m->rank + 1) % m->size, key, sizeof key);
    return rc == MEMBER_OK ? data_get(m, NULL, -1, key, r->use, r->right, err) : rc;
}

int jobs_ring(struct pmi2_client *m, const char *value, struct jobs_ring *r, struct errmsg *err)
{
    struct slice v = slice_str(value);
    int rc;

    r->place = 0;
    r->size = (int)m->size;
    if (m->kind != MEMBER_ALONE)
        return m->knows_ring ? ask_ring(m, value, r, err) : make_ring(m, value, r, err);
    rc = r->use(r->left, v, err);
    return rc == MEMBER_OK ? r->use(r->right, v, err) : rc;
}
