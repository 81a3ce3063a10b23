/* kvs.c - see kvs.h. */
#include "lib/pmi/kvs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "lib/pmi/kvs_service.h"
#include "lib/pmi/space.h"
#include "lib/pmi/pmi1_rpc.h"

/* ---- putting: valid keys and values ---------------------------------------------------------- */

static int check_put(const struct pmi1_client *c, struct slice key, struct slice value,
                     struct errmsg *err)
{
    if (slice_starts(key, SLICE("PMI_")))
        return errmsg_set(err, CLIENT_BAD_KEY,
                          "key '%.80s': keys that begin with PMI_ belong to the process manager",
                          key.ptr);
    if (value.len >= c->value_max)
        return errmsg_set(err, CLIENT_LONG_VALUE,
                          "the value of key '%.80s' has %zu bytes; %u are allowed", key.ptr,
                          value.len, c->value_max - 1);
    return CLIENT_OK;
}

static bool has_any(struct slice s, const char *bytes)
{
    for (; *bytes; bytes++) {
        if (slice_find(s, *bytes) < s.len)
            return true;
    }
    return false;
}

static int ask_put(struct pmi1_client *c, struct slice space, struct slice key, struct slice value,
                   struct errmsg *err)
{
    const struct pmi1_put_result *r = &c->reply.put_result;
    struct pmi1_put m = { .has = 0 };
    int rc;

    PMI1_SET(m, put, kvsname, space);
    PMI1_SET(m, put, key, key);
    PMI1_SET(m, put, value, value);
    rc = pmi1_rpc_call(c, PMI1_put, &m, PMI1_put_result, err);
    if (rc != CLIENT_OK || r->rc == 0)
        return rc;
    return errmsg_set(err, CLIENT_FAILED,
                      "the process manager refused key '" SLICE_FMT "': " SLICE_FMT,
                      SLICE_ARG(slice_head(key, 80)), SLICE_ARG(r->msg));
}

static int check_legacy(const struct pmi1_client *c, struct slice key, struct slice value,
                        struct errmsg *err)
{
    const char *fault = value.len == 0              ? "is empty"
                        : has_any(value, " \t\n\r") ? "contains a blank, a tab or a newline"
                        : c->backslash == TRAIT_BAD && has_any(value, "\\") ? "holds a backslash"
                                                                            : NULL;

    if (has_any(key, " \t\n\r\\"))
        return errmsg_set(err, CLIENT_BAD_KEY,
                          "key '" SLICE_FMT "' contains a blank or a backslash",
                          SLICE_ARG(slice_head(key, 80)));
    if (!fault)
        return CLIENT_OK;
    return errmsg_set(err, CLIENT_BAD_VALUE,
                      "the value of key '" SLICE_FMT
                      "' %s: it cannot be sent unchanged over PMI-1 to this process manager",
                      SLICE_ARG(slice_head(key, 80)), fault);
}

/* Servers of MPICH 4.1 and later read a backslash as a quote, and drop it.  Only a test can
 * tell, and only after a barrier: before it, Hydra does not answer for recent puts.  So the
 * first value with a backslash is read back after the next barrier. */
static int begin_test(struct pmi1_client *c, struct slice key, struct slice value,
                      struct errmsg *err)
{
    if (c->backslash != TRAIT_UNKNOWN || !has_any(value, "\\"))
        return CLIENT_OK;
    c->test_key = strndup(key.ptr, key.len);
    if (!c->test_key)
        return errmsg_set(err, -ENOMEM, "out of memory");
    c->backslash = TRAIT_UNDER_TEST;
    return CLIENT_OK;
}

/* Asks a legacy server for the value of a key.  Those of MPICH 4.1 to 4.3 add a word after the
 * value, which otherwise reaches to the end of the line; values there hold no blanks.  No value:
 * NULL.
 */
static int ask_get(struct pmi1_client *c, struct slice space, struct slice key,
                   struct slice *value_p, struct errmsg *err)
{
    const struct pmi1_get_result *r = &c->reply.get_result;
    static const char behind[] = " found=TRUE";
    size_t len = sizeof behind - 1;
    struct pmi1_get m = { .has = 0 };
    int rc;

    PMI1_SET(m, get, kvsname, space);
    PMI1_SET(m, get, key, key);
    rc = pmi1_rpc_call(c, PMI1_get, &m, PMI1_get_result, err);
    *value_p = slice_mem(NULL, 0);
    if (rc != CLIENT_OK || r->rc != 0 || !PMI1_HAS(r, get_result, value))
        return rc;
    *value_p = r->value;
    if (r->value.len >= len && !memcmp(r->value.ptr + r->value.len - len, behind, len))
        *value_p = slice_head(r->value, r->value.len - len);
    return CLIENT_OK;
}

/* The wire is ours and the barrier over. */
static int end_test(struct pmi1_client *c, struct errmsg *err)
{
    struct slice key = slice_str(c->test_key), put, got;
    int rc;

    if (c->backslash != TRAIT_UNDER_TEST || !batch_get(&c->batch, key, &put))
        return CLIENT_OK;
    rc = ask_get(c, slice_str(c->kvsname), key, &got, err);
    if (rc != CLIENT_OK)
        return rc;
    c->backslash = slice_eq(got, put) ? TRAIT_GOOD : TRAIT_BAD;
    if (c->backslash == TRAIT_GOOD)
        return CLIENT_OK;
    return errmsg_set(err, CLIENT_BAD_VALUE,
                      "this process manager has changed the value of key '%.80s': it drops "
                      "backslashes",
                      c->test_key);
}

/* ---- putting --------------------------------------------------------------------------------- */

static int duplicate(struct slice key, struct errmsg *err)
{
    size_t nul = slice_find(key, '\0');
    struct slice shown = nul < key.len ? slice_skip(key, nul + 1) : key;

    return errmsg_set(err, CLIENT_BAD_KEY, "key '" SLICE_FMT "' was put before",
                      SLICE_ARG(slice_head(shown, 80)));
}

static int put_alone(struct pmi1_client *c, struct slice key, struct slice value,
                     struct errmsg *err)
{
    int rc = seg_put(&c->writer, c->rank, key, value, SEG_FLAT);

    if (rc == 0)
        return CLIENT_OK;
    if (rc == SEG_DUPLICATE)
        return duplicate(key, err);
    return errmsg_set(err, -ENOMEM, "the key-value space is full");
}

static int put_legacy(struct pmi1_client *c, const struct kvs_space *s, struct slice key,
                      struct slice value, struct errmsg *err)
{
    bool foreign = s->kind == SPACE_FOREIGN;
    int rc = check_legacy(c, key, value, err);

    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    if (!foreign)
        rc = begin_test(c, key, value, err);
    if (rc == CLIENT_OK)
        rc = ask_put(c, foreign ? s->name : slice_str(c->kvsname), key, value, err);
    if (rc == CLIENT_OK && !foreign)
        (void)batch_note(&c->batch, key, value); /* for our own look-ups; the server has it */
    pmi1_rpc_end(c);
    return rc;
}

static int send_batch(struct pmi1_client *c, struct errmsg *err)
{
    int rc = pmi1_rpc_begin(c, err);

    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_put_puts(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_send(c, err);
    pmi1_rpc_end(c);
    return rc;
}

static int put_ours(struct pmi1_client *c, struct slice key, struct slice value, struct errmsg *err)
{
    struct seg_item item;
    int rc;

    if (seg_find(c->view, SEG_ANY_RANK, key, &item) && (item.flags & SEG_RECORD_FLAT) &&
        !(c->restarted && item.rank == c->rank))
        return duplicate(key, err);
    rc = batch_add(&c->batch, key, value);
    if (rc == BATCH_DUPLICATE)
        return duplicate(key, err);
    if (rc == BATCH_TOO_LONG)
        return errmsg_set(err, CLIENT_LONG_VALUE, "the process has reached its limit in the store");
    if (rc < 0)
        return errmsg_set(err, rc, "out of memory");
    return c->batch.bytes >= LIMIT_BATCH_SEND ? send_batch(c, err) : CLIENT_OK;
}

static int put_service(struct pmi1_client *c, const struct kvs_space *s, struct slice key,
                       const char *value, struct errmsg *err)
{
    if (s->kind == SPACE_FOREIGN)
        return errmsg_set(err, CLIENT_BAD_SPACE, "there is no other key-value space");
    return kvs_service_put(c, key, value, err);
}

int kvs_put(struct pmi1_client *c, const char *space, const char *key, const char *value,
            struct errmsg *err)
{
    struct space_key k;
    struct kvs_space s;
    int rc = space_find(c, space, &s, err);

    if (rc != CLIENT_OK)
        return rc;
    rc = check_put(c, slice_str(key), slice_str(value), err);
    if (rc == CLIENT_OK)
        rc = space_key(c, &s, key, &k, err);
    if (rc != CLIENT_OK)
        return rc;
    switch (c->kind) {
    case CLIENT_ALONE: rc = put_alone(c, k.bytes, slice_str(value), err); break;
    case CLIENT_SERVICE: rc = put_service(c, &s, k.bytes, value, err); break;
    case CLIENT_OURS: rc = put_ours(c, k.bytes, slice_str(value), err); break;
    case CLIENT_LEGACY: rc = put_legacy(c, &s, k.bytes, slice_str(value), err); break;
    }
    space_key_free(&k);
    return rc;
}

/* ---- sending the puts ------------------------------------------------------------------------ */

int kvs_commit(struct pmi1_client *c, const char *space, struct errmsg *err)
{
    struct kvs_space s;
    int rc = space_find(c, space, &s, err);

    if (rc == CLIENT_OK && c->batch.count)
        rc = send_batch(c, err);
    return rc == CLIENT_OK ? pmi1_rpc_put_verdict(c, err) : rc;
}

int kvs_settle(struct pmi1_client *c, struct errmsg *err)
{
    int rc;

    if (c->batch.count == 0 && c->unacknowledged == 0)
        return CLIENT_OK;
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_put_puts(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_send(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_read_puts(c, err);
    pmi1_rpc_end(c);
    return rc;
}

/* ---- getting --------------------------------------------------------------------------------- */

static int not_there(const char *key, struct errmsg *err)
{
    return errmsg_set(err, CLIENT_BAD_KEY, "no process has put key '%.80s'", key);
}

static int get_by_message(struct pmi1_client *c, const struct kvs_space *s, const char *key,
                          kvs_use *use, void *arg, struct errmsg *err)
{
    struct pmi1_get_wireup m = { .has = 0 };
    struct slice value;
    int rc;

    PMI1_SET(m, get_wireup, kvsname, s->name);
    PMI1_SET(m, get_wireup, key, slice_str(key));
    rc = pmi1_rpc_call(c, PMI1_get_wireup, &m, PMI1_value_wireup, err);
    if (rc == CLIENT_BAD_ARG) /* a key with a blank is not in the store, so it does not exist */
        return not_there(key, err);
    if (rc != CLIENT_OK)
        return rc;
    if (c->reply.value_wireup.rc != 0)
        return not_there(key, err);
    rc = pmi1_rpc_read_bytes(c, c->reply.value_wireup.bytes, &value, err);
    return rc == CLIENT_OK ? use(arg, value, err) : rc;
}

static int get_by_line(struct pmi1_client *c, const struct kvs_space *s, const struct space_key *k,
                       const char *key, kvs_use *use, void *arg, struct errmsg *err)
{
    struct slice value;
    int rc = ask_get(c, s->kind == SPACE_FOREIGN ? s->name : slice_str(c->kvsname), k->bytes,
                     &value, err);

    if (rc == CLIENT_BAD_ARG || (rc == CLIENT_OK && !value.ptr))
        return not_there(key, err);
    return rc == CLIENT_OK ? use(arg, value, err) : rc;
}

static int get_from_server(struct pmi1_client *c, const struct kvs_space *s,
                           const struct space_key *k, const char *key, kvs_use *use, void *arg,
                           struct errmsg *err)
{
    int rc;

    if (c->kind == CLIENT_ALONE)
        return not_there(key, err);
    if (c->kind == CLIENT_SERVICE)
        return s->kind == SPACE_FOREIGN ? not_there(key, err)
                                        : kvs_service_get(c, k->bytes, use, arg, err);
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = c->kind == CLIENT_OURS ? get_by_message(c, s, key, use, arg, err)
                                : get_by_line(c, s, k, key, use, arg, err);
    pmi1_rpc_end(c);
    return rc;
}

int kvs_get(struct pmi1_client *c, const char *space, const char *key, kvs_use *use, void *arg,
            struct errmsg *err)
{
    struct seg_item item;
    struct space_key k;
    struct slice value;
    struct kvs_space s;
    int rc = space_find(c, space, &s, err);

    if (rc == CLIENT_OK)
        rc = space_key(c, &s, key, &k, err);
    if (rc != CLIENT_OK)
        return rc;
    if (seg_find(c->view, SEG_ANY_RANK, k.bytes, &item) && item.type == 0)
        rc = use(arg, item.value, err);
    else if (s.kind != SPACE_FOREIGN && batch_get(&c->batch, k.bytes, &value))
        rc = use(arg, value, err);
    else
        rc = get_from_server(c, &s, &k, key, use, arg, err);
    space_key_free(&k);
    return rc;
}

static int ignore(void *arg, struct slice value, struct errmsg *err)
{
    (void)arg;
    (void)value;
    (void)err;
    return CLIENT_OK;
}

/* The server answers when all are here, that the key does not exist. */
int kvs_fetch_all(struct pmi1_client *c, struct errmsg *err)
{
    struct kvs_space s = { .kind = SPACE_MAIN, .name = slice_str(c->kvsname) };
    struct seg_item item;
    int rc;

    if (c->kind != CLIENT_OURS ||
        !seg_find(c->view, SEG_ANY_RANK, SLICE("PMI_connectivity"), &item))
        return CLIENT_OK;
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = get_by_message(c, &s, "PMI_fetch_all", ignore, NULL, err);
    pmi1_rpc_end(c);
    return rc == CLIENT_BAD_KEY ? CLIENT_OK : rc;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static int broken_barrier(struct slice why, struct errmsg *err)
{
    return errmsg_set(err, CLIENT_FAILED, "the barrier was broken: " SLICE_FMT,
                      SLICE_ARG(why.len ? why : SLICE("a process has died or left")));
}

/* A barrier of all processes: the wire stays ours until it is over. */
static int barrier_of_all(struct pmi1_client *c, struct errmsg *err)
{
    const struct pmi1_barrier_out *r = &c->reply.barrier_out;
    struct pmi1_barrier_in m = { .has = 0 };
    int rc = pmi1_rpc_call(c, PMI1_barrier_in, &m, PMI1_barrier_out, err);

    return rc == CLIENT_OK && r->rc != 0 ? broken_barrier(r->msg, err) : rc;
}

/* A barrier with a tag: other threads may enter barriers with other tags meanwhile. */
static int barrier_of_group(struct pmi1_client *c, struct slice group, struct errmsg *err)
{
    struct pmi1_barrier_in m = { .has = 0 };
    bool broken = false;
    int rc;

    PMI1_SET(m, barrier_in, group, group);
    rc = pmi1_rpc_tagged_barrier(c, &m, &broken, err);
    return rc == CLIENT_OK && broken ? broken_barrier(SLICE_NULL, err) : rc;
}

int kvs_barrier(struct pmi1_client *c, struct slice group, struct errmsg *err)
{
    int rc;

    if (c->kind == CLIENT_ALONE)
        return CLIENT_OK;
    if (c->kind == CLIENT_SERVICE)
        return kvs_service_fence(c, err);
    rc = pmi1_rpc_begin(c, err);
    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_put_puts(c, err);
    if (rc == CLIENT_OK)
        rc = group.len ? barrier_of_group(c, group, err) : barrier_of_all(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_put_verdict(c, err);
    if (rc == CLIENT_OK && c->kind == CLIENT_LEGACY) {
        rc = end_test(c, err);
        batch_free(&c->batch);
    }
    pmi1_rpc_end(c);
    return rc;
}

/* The number that MPICH's clients derive from a tag: both sides of a mixed job must agree on it. */
static uint32_t tag_number(const char *tag)
{
    uint32_t h = 2166136261u;

    if (!tag)
        return 0;
    for (; *tag; tag++)
        h = (h ^ (unsigned char)*tag) * 16777619u;
    return h & UINT32_C(0x80000000) ? 0 - h : h;
}

static int check_members(const struct pmi1_client *c, const int *ranks, int count,
                         struct errmsg *err)
{
    bool member = false;

    if (count < 1)
        return errmsg_set(err, CLIENT_BAD_ARG, "a group cannot have %d processes", count);
    for (int i = 0; i < count; i++) {
        if (ranks[i] < 0 || (uint32_t)ranks[i] >= c->size)
            return errmsg_set(err, CLIENT_BAD_ARG, "there is no rank %d in a job of %u", ranks[i],
                              c->size);
        member = member || (uint32_t)ranks[i] == c->rank;
    }
    return member
               ? CLIENT_OK
               : errmsg_set(err, CLIENT_BAD_ARG, "rank %u is not a member of the group", c->rank);
}

static void name_group(enum kvs_group kind, const int *ranks, int count, uint32_t tag,
                       struct buf *name)
{
    if (kind == KVS_LIST) {
        for (int i = 0; i < count; i++)
            buf_printf(name, "%s%d", i ? "," : "", ranks[i]);
    } else {
        buf_str(name, kind == KVS_NODE ? "NODE" : "WORLD");
    }
    buf_printf(name, ":%u", tag);
}

int kvs_barrier_group(struct pmi1_client *c, enum kvs_group kind, const int *ranks, int count,
                      const char *tag, struct errmsg *err)
{
    struct buf name = BUF_NULL(LIMIT_PMI_LINE);
    int rc = kind == KVS_LIST ? check_members(c, ranks, count, err) : CLIENT_OK;

    if (rc != CLIENT_OK)
        return rc;
    if (!c->groups && kind == KVS_WORLD)
        return kvs_barrier(c, SLICE_NULL, err);
    if (!c->groups)
        return errmsg_set(err, CLIENT_FAILED,
                          "this process manager does not support barriers of groups");
    if (kind == KVS_SELF || (kind == KVS_LIST && count == 1))
        return CLIENT_OK;
    name_group(kind, ranks, count, tag_number(tag), &name);
    if (buf_ok(&name))
        rc = kvs_barrier(c, buf_slice(&name), err);
    else
        rc = name.error == BUF_TOO_LONG ? errmsg_set(err, CLIENT_BAD_ARG, "the group is too large")
                                        : errmsg_set(err, -ENOMEM, "out of memory");
    buf_free(&name);
    return rc;
}
