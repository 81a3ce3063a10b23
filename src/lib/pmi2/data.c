/* data.c - see data.h. */
#include "lib/pmi2/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "base/limit.h"
#include "wire/pmi2_attributes.h"
#include "lib/pmi2/pmi2_rpc.h"

enum {
    KEY_MAX = 64,        /* PMI2_MAX_KEYLEN, with the NUL */
    VALUE_MAX = 1024,    /* PMI2_MAX_VALLEN without the NUL, as in Slurm; Hydra cuts the last */
    BATCH_SEND = 1 << 20 /* a batch of this size is sent ahead of the next fence */
};

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory");
}

/* ---- valid keys and values ------------------------------------------------------------------- */

static int check_key(struct slice key, struct errmsg *err)
{
    if (key.len == 0)
        return errmsg_set(err, MEMBER_BAD_KEY, "the key is empty");
    if (key.len >= KEY_MAX)
        return errmsg_set(err, MEMBER_LONG_KEY, "key '%.80s' has %zu characters; %d are allowed",
                          key.ptr, key.len, KEY_MAX - 1);
    return MEMBER_OK;
}

static bool has_semicolon(struct slice s)
{
    return slice_find(s, ';') < s.len;
}

static int ask_put_node(struct pmi2_client *m, struct slice key, struct slice value,
                        struct errmsg *err)
{
    struct pmi2_info_putnodeattr q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    PMI2_SET(q, info_putnodeattr, key, key);
    PMI2_SET(q, info_putnodeattr, value, value);
    rc = pmi2_rpc(m, &a, PMI2_info_putnodeattr, &q, PMI2_info_putnodeattr_response, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

/* Some servers report "not found" by an rc. */
static int not_found_is_fine(const struct pmi2_client *m, int rc)
{
    return rc == MEMBER_REFUSED && m->kind == MEMBER_LEGACY ? MEMBER_OK : rc;
}

static int ask_get_node(struct pmi2_client *m, struct slice key, bool wait, bool *found_p,
                        data_use *use, void *arg, struct errmsg *err)
{
    const struct pmi2_info_getnodeattr_response *r;
    struct pmi2_info_getnodeattr q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    PMI2_SET(q, info_getnodeattr, key, key);
    PMI2_SET(q, info_getnodeattr, wait, wait);
    if (wait && m->kind == MEMBER_OURS && __libc_single_threaded)
        PMI2_SET(q, info_getnodeattr, alone, true);
    rc = pmi2_rpc(m, &a, PMI2_info_getnodeattr, &q, PMI2_info_getnodeattr_response, err);
    r = &a.answer.info_getnodeattr_response;
    *found_p = rc == MEMBER_OK && PMI2_HAS(r, info_getnodeattr_response, value) &&
               (r->found || !PMI2_HAS(r, info_getnodeattr_response, found));
    if (*found_p)
        rc = use(arg, r->value, err);
    pmi2_rpc_end(m, &a);
    return not_found_is_fine(m, rc);
}

static int is_equal(void *arg, struct slice value, struct errmsg *err)
{
    (void)err;
    return slice_is(value, arg) ? MEMBER_OK : MEMBER_BAD_VALUE;
}

/* Some servers read a doubled `;` in a value as one, others end the value there.  Only a test
 * can tell, with an attribute of the node, which all of them show at once. */
static int try_semicolons(struct pmi2_client *m, struct errmsg *err)
{
    static char probe[] = "a;b=;;c";
    char key[32];
    bool found;
    int rc;

    snprintf(key, sizeof key, "wireup.probe.%u", m->rank);
    rc = ask_put_node(m, slice_str(key), slice_str(probe), err);
    if (rc == MEMBER_OK)
        rc = ask_get_node(m, slice_str(key), false, &found, is_equal, probe, err);
    if (rc == MEMBER_OK || rc == MEMBER_BAD_VALUE || rc == MEMBER_REFUSED) {
        m->semicolons = rc == MEMBER_OK && found ? SEMICOLONS_GOOD : SEMICOLONS_BAD;
        rc = MEMBER_OK;
    }
    return rc;
}

/* A text that the server would truncate is not sent at all. */
int data_can_send(struct pmi2_client *m, const char *what, struct slice text, struct errmsg *err)
{
    static const char why[] = "it cannot be sent unchanged over PMI-2 to this process manager";
    int rc = MEMBER_OK;

    if (m->kind != MEMBER_LEGACY)
        return MEMBER_OK;
    if (text.len == 0 && !m->reads_empty)
        return errmsg_set(err, MEMBER_BAD_VALUE, "the %s is empty: %s", what, why);
    if (!has_semicolon(text))
        return MEMBER_OK;
    if (m->semicolons == SEMICOLONS_UNKNOWN)
        rc = try_semicolons(m, err);
    if (rc == MEMBER_OK && m->semicolons == SEMICOLONS_BAD)
        rc = errmsg_set(err, MEMBER_BAD_VALUE, "the %s holds a semicolon: %s", what, why);
    return rc;
}

static int check_put(struct pmi2_client *m, struct slice key, struct slice value,
                     struct errmsg *err)
{
    size_t most = m->kind == MEMBER_LEGACY ? VALUE_MAX - 1 : VALUE_MAX;
    char what[100];
    int rc = check_key(key, err);

    if (rc == MEMBER_OK && value.len > most)
        rc = errmsg_set(err, MEMBER_LONG_VALUE,
                        "the value of key '%.80s' has %zu characters; %zu are allowed", key.ptr,
                        value.len, most);
    snprintf(what, sizeof what, "value of key '%.80s'", key.ptr);
    if (rc == MEMBER_OK)
        rc = data_can_send(m, "key", key, err);
    return rc == MEMBER_OK ? data_can_send(m, what, value, err) : rc;
}

/* ---- putting --------------------------------------------------------------------------------- */

static int duplicate(struct slice key, struct errmsg *err)
{
    return errmsg_set(err, MEMBER_BAD_KEY, "key '" SLICE_FMT "' was put before", SLICE_ARG(key));
}

static int put_alone(struct pmi2_client *m, struct slice key, struct slice value,
                     struct errmsg *err)
{
    int rc = seg_put(&m->writer, m->rank, key, value, SEG_FLAT);

    if (rc == SEG_DUPLICATE)
        return duplicate(key, err);
    return rc == 0 ? MEMBER_OK : errmsg_set(err, -ENOMEM, "the key-value space is full");
}

static int put_legacy(struct pmi2_client *m, struct slice key, struct slice value,
                      struct errmsg *err)
{
    struct pmi2_kvs_put q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    PMI2_SET(q, kvs_put, key, key);
    PMI2_SET(q, kvs_put, value, value);
    rc = pmi2_rpc(m, &a, PMI2_kvs_put, &q, PMI2_kvs_put_response, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

static int put_ours(struct pmi2_client *m, struct slice key, struct slice value, struct errmsg *err)
{
    struct seg_item item;
    int rc;

    if (slice_starts(key, SLICE("PMI_")))
        return errmsg_set(err, MEMBER_BAD_KEY,
                          "key '" SLICE_FMT "': keys that begin with PMI_ belong to the process "
                          "manager",
                          SLICE_ARG(key));
    if (seg_find(m->view, SEG_ANY_RANK, key, &item) && (item.flags & SEG_RECORD_FLAT) &&
        !(m->restarted && item.rank == m->rank))
        return duplicate(key, err);
    rc = batch_add(&m->batch, key, value);
    switch (rc) {
    case 0: return m->batch.bytes >= BATCH_SEND ? ask_send_puts(m, err) : MEMBER_OK;
    case BATCH_DUPLICATE: return duplicate(key, err);
    case BATCH_TOO_LONG:
        return errmsg_set(err, MEMBER_LONG_VALUE, "the process has reached its limit in the store");
    default: return no_memory(err);
    }
}

int data_put(struct pmi2_client *m, const char *key, const char *value, struct errmsg *err)
{
    struct slice k = slice_str(key), v = slice_str(value);
    int rc = check_put(m, k, v, err);

    if (rc != MEMBER_OK)
        return rc;
    switch (m->kind) {
    case MEMBER_ALONE: return put_alone(m, k, v, err);
    case MEMBER_OURS: return put_ours(m, k, v, err);
    default: return put_legacy(m, k, v, err);
    }
}

int data_fence(struct pmi2_client *m, struct errmsg *err)
{
    struct pmi2_kvs_fence q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    if (m->kind == MEMBER_ALONE)
        return MEMBER_OK;
    rc = pmi2_rpc(m, &a, PMI2_kvs_fence, &q, PMI2_kvs_fence_response, err);
    pmi2_rpc_end(m, &a);
    return rc == MEMBER_OK ? ask_put_verdict(m, err) : rc;
}

/* ---- getting --------------------------------------------------------------------------------- */

static int not_there(struct slice key, struct errmsg *err)
{
    return errmsg_set(err, MEMBER_BAD_KEY, "no process has put key '" SLICE_FMT "'",
                      SLICE_ARG(slice_head(key, 80)));
}

/* A typed value (a number that PMIx put) is no string; the server must convert it. */
static bool find_string(const struct pmi2_client *m, uint32_t rank, struct slice key,
                        struct slice *value_p)
{
    struct seg_item item;

    if (!seg_find(m->view, rank, key, &item) || item.type != 0)
        return false;
    *value_p = item.value;
    return true;
}

/* The hinted rank comes first: a PMIx rank may have a key of the same name. */
static bool look_up(const struct pmi2_client *m, int source, struct slice key,
                    struct slice *value_p)
{
    return (source >= 0 && find_string(m, (uint32_t)source, key, value_p)) ||
           find_string(m, SEG_ANY_RANK, key, value_p) || batch_get(&m->batch, key, value_p);
}

/* Whether the server may have a value that the store lacks. */
static bool server_may_know(const struct pmi2_client *m, struct slice key)
{
    struct seg_item item;

    return !m->whole || slice_starts(key, SLICE("PMI_")) ||
           seg_find(m->view, SEG_ANY_RANK, key, &item);
}

static int get_ours(struct pmi2_client *m, struct slice job, int source, struct slice key,
                    data_use *use, void *arg, struct errmsg *err)
{
    struct pmi2_get_wireup q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    if (job.len)
        PMI2_SET(q, get_wireup, jobid, job);
    if (source >= 0)
        PMI2_SET(q, get_wireup, srcid, source);
    PMI2_SET(q, get_wireup, key, key);
    rc = pmi2_rpc(m, &a, PMI2_get_wireup, &q, PMI2_get_wireup_response, err);
    if (rc == MEMBER_OK)
        rc = a.answer.get_wireup_response.found ? use(arg, a.raw, err) : not_there(key, err);
    pmi2_rpc_end(m, &a);
    return rc == MEMBER_REFUSED ? not_there(key, err) : rc;
}

static int get_legacy(struct pmi2_client *m, struct slice job, int source, struct slice key,
                      data_use *use, void *arg, struct errmsg *err)
{
    const struct pmi2_kvs_get_response *r;
    struct pmi2_kvs_get q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    PMI2_SET(q, kvs_get, jobid, job);
    PMI2_SET(q, kvs_get, srcid, source >= 0 ? source : -1);
    PMI2_SET(q, kvs_get, key, key);
    rc = pmi2_rpc(m, &a, PMI2_kvs_get, &q, PMI2_kvs_get_response, err);
    r = &a.answer.kvs_get_response;
    if (rc == MEMBER_OK && PMI2_HAS(r, kvs_get_response, value) &&
        (r->found || !PMI2_HAS(r, kvs_get_response, found)))
        rc = use(arg, r->value, err);
    else if (rc == MEMBER_OK || rc == MEMBER_REFUSED)
        rc = not_there(key, err);
    pmi2_rpc_end(m, &a);
    return rc;
}

int data_get(struct pmi2_client *m, const char *job, int source, const char *key, data_use *use,
             void *arg, struct errmsg *err)
{
    struct slice k = slice_str(key), j = slice_str(job), id = SLICE_NULL, value;
    bool own = j.len == 0;
    int rc = check_key(k, err);

    /* Legacy servers want the name in any case. */
    if (rc == MEMBER_OK && (!own || m->kind == MEMBER_LEGACY))
        rc = member_jobid(m, &id, err);
    if (rc != MEMBER_OK)
        return rc;
    own = own || slice_eq(j, id);
    if (own && m->kind != MEMBER_LEGACY && look_up(m, source, k, &value))
        return use(arg, value, err);
    if (m->kind == MEMBER_ALONE || (own && m->kind == MEMBER_OURS && !server_may_know(m, k)))
        return not_there(k, err);
    if (m->kind == MEMBER_OURS)
        return get_ours(m, own ? SLICE_NULL : j, source, k, use, arg, err);
    return get_legacy(m, own ? id : j, source, k, use, arg, err);
}

/* ---- attributes ------------------------------------------------------------------------------ */

enum { NODE_NAME = 16 + KEY_MAX };

/* The name of a node's attribute in the store: `@node`, a NUL, the key. */
static struct slice node_name(const struct pmi2_client *m, struct slice key, char *text)
{
    int n = snprintf(text, 16, "@%u", m->node) + 1;

    memcpy(text + n, key.ptr, key.len);
    return slice_mem(text, (size_t)n + key.len);
}

int data_put_node(struct pmi2_client *m, const char *key, const char *value, struct errmsg *err)
{
    struct slice k = slice_str(key), v = slice_str(value);
    int rc = check_put(m, k, v, err);
    char text[NODE_NAME];

    if (rc != MEMBER_OK || m->kind != MEMBER_ALONE)
        return rc == MEMBER_OK ? ask_put_node(m, k, v, err) : rc;
    return seg_put(&m->writer, SEG_ANY_RANK, node_name(m, k, text), v, SEG_FLAT | SEG_REPLACE) == 0
               ? MEMBER_OK
               : errmsg_set(err, -ENOMEM, "the key-value space is full");
}

int data_get_node(struct pmi2_client *m, const char *key, bool wait, bool *found_p, data_use *use,
                  void *arg, struct errmsg *err)
{
    struct slice k = slice_str(key), value;
    int rc = check_key(k, err);
    char text[NODE_NAME];

    *found_p = false;
    if (rc != MEMBER_OK)
        return rc;
    if (find_string(m, SEG_ANY_RANK, node_name(m, k, text), &value)) {
        *found_p = true;
        return use(arg, value, err);
    }
    if (m->kind == MEMBER_ALONE && wait)
        return errmsg_set(err, MEMBER_BAD_KEY,
                          "no other process is left that could put the attribute '%s'", key);
    if (!wait && m->whole &&
        (m->kind == MEMBER_ALONE || !attribute_is_found_later(ATTRIBUTE_NODE, k)))
        return MEMBER_OK;
    return ask_get_node(m, k, wait, found_p, use, arg, err);
}

static int ask_get_job(struct pmi2_client *m, struct slice key, bool *found_p, data_use *use,
                       void *arg, struct errmsg *err)
{
    const struct pmi2_info_getjobattr_response *r;
    struct pmi2_info_getjobattr q = { .has = 0 };
    struct pmi2_rpc a;
    int rc;

    PMI2_SET(q, info_getjobattr, key, key);
    rc = pmi2_rpc(m, &a, PMI2_info_getjobattr, &q, PMI2_info_getjobattr_response, err);
    r = &a.answer.info_getjobattr_response;
    *found_p = rc == MEMBER_OK && PMI2_HAS(r, info_getjobattr_response, value) &&
               (r->found || !PMI2_HAS(r, info_getjobattr_response, found));
    if (*found_p)
        rc = use(arg, r->value, err);
    pmi2_rpc_end(m, &a);
    return not_found_is_fine(m, rc);
}

int data_get_job(struct pmi2_client *m, const char *key, bool *found_p, data_use *use, void *arg,
                 struct errmsg *err)
{
    struct slice k = slice_str(key);
    struct seg_item item;
    int rc = check_key(k, err);

    *found_p = false;
    if (rc != MEMBER_OK)
        return rc;
    if (seg_find(m->view, SEG_ANY_RANK, k, &item) && item.rank == SEG_ANY_RANK) {
        *found_p = true;
        return use(arg, item.value, err);
    }
    if (m->kind == MEMBER_ALONE || (m->whole && !slice_starts(k, SLICE("PMI_")) &&
                                    !attribute_is_found_later(ATTRIBUTE_JOB, k)))
        return MEMBER_OK;
    return ask_get_job(m, k, found_p, use, arg, err);
}
