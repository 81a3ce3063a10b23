/* job_kvs.c - see job_kvs.h. */
#include "core/job_kvs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/modex.h"
#include "core/modex_keys.h"

enum { JOB_NAME_MAX = 128, JOB_SPACE_NAME = 100 /* this much of it is the job's name */ };

static enum answer_status from_seg(int rc)
{
    switch (rc) {
    case 0: return ANSWER_OK;
    case SEG_DUPLICATE: return ANSWER_DUPLICATE;
    case SEG_TOO_LONG: return ANSWER_BAD_VALUE;
    default: return ANSWER_NO_MEMORY;
    }
}

/* The key under which an entry of a further space is stored: the space's name, a NUL, the key.
 * Keys of clients hold no NUL, so the two kinds never meet. */
struct store_key {
    char text[JOB_NAME_MAX + 1 + LIMIT_PMI_KEY];
    struct slice key;
};

static bool is_main_space(const struct job *j, struct slice space)
{
    return space.len == 0 || slice_is(space, j->nspace);
}

/* A space made by another node: its name shows that, and nothing else of it is known here. */
static bool is_space_elsewhere(const struct job *j, struct slice space)
{
    struct slice rest = space, name = slice_head(slice_str(j->nspace), JOB_SPACE_NAME);
    uint32_t node, number;

    if (!j->spread || !slice_starts(space, name) || space.len > JOB_NAME_MAX)
        return false;
    rest = slice_skip(rest, name.len);
    if (rest.len == 0 || rest.ptr[0] != '.')
        return false;
    rest = slice_skip(rest, 1);
    return slice_u32(slice_cut(&rest, '.'), &node) && slice_u32(rest, &number) && number > 0 &&
           node < j->plan.nnodes && node != j->here;
}

static bool is_space(const struct job *j, struct slice space)
{
    return !map_get(&j->gone_spaces, space) &&
           (map_get(&j->spaces, space) || is_space_elsewhere(j, space));
}

static enum answer_status make_key(const struct job *j, struct slice space, struct slice key,
                                   struct store_key *k)
{
    if (key.len == 0 || key.len >= LIMIT_PMI_KEY || slice_find(key, '\0') < key.len)
        return ANSWER_BAD_KEY;
    k->key = key;
    if (is_main_space(j, space))
        return ANSWER_OK;
    if (!is_space(j, space) || space.len > JOB_NAME_MAX)
        return ANSWER_NOT_FOUND;
    memcpy(k->text, space.ptr, space.len);
    k->text[space.len] = '\0';
    memcpy(k->text + space.len + 1, key.ptr, key.len);
    k->key = slice_mem(k->text, space.len + 1 + key.len);
    return ANSWER_OK;
}

/* Who was started again puts once more what the process before it has put. */
static bool is_own(const struct job *j, uint32_t rank, struct slice key)
{
    struct seg_item old;

    return seg_find(&j->store.view, SEG_ANY_RANK, key, &old) && old.rank == rank &&
           old.flags & SEG_RECORD_FLAT;
}

enum answer_status job_put(struct job *j, uint32_t rank, struct slice space, struct slice key,
                           struct slice value)
{
    struct proc *p = &j->procs[rank];
    struct store_key k;
    enum answer_status st = make_key(j, space, key, &k);
    bool again;

    if (st != ANSWER_OK)
        return st;
    if (slice_starts(key, SLICE("PMI_")))
        return ANSWER_RESERVED;
    if (!proc_can_keep(p, key.len + value.len))
        return ANSWER_OVER_QUOTA;
    again = p->restarts && is_own(j, rank, k.key);
    st = from_seg(seg_put(&j->store, rank, k.key, value, SEG_FLAT | (again ? SEG_REPLACE : 0U)));
    if (st != ANSWER_OK)
        return st;
    proc_keeps(p, key.len + value.len);
    if (j->spread && modex_keys_add_fresh(j, rank, k.key, k.key.ptr == k.text) < 0)
        return ANSWER_NO_MEMORY;
    if (k.key.ptr == k.text) /* of a further space */
        return ANSWER_OK;
    /* A PMI put is a modex entry too: PMIx processes of the job may get it, or wait for it. */
    if (!again && modex_keys_add(p, j->store.key) < 0)
        return ANSWER_NO_MEMORY;
    return list_empty(&j->waits) ? ANSWER_OK : modex_commit(j, rank, NULL, 0);
}

enum answer_status job_preset(struct job *j, struct slice key, struct slice value)
{
    return from_seg(seg_put(&j->store, SEG_ANY_RANK, key, value, SEG_FLAT | SEG_REPLACE));
}

enum answer_status job_put_info(struct job *j, struct slice key, struct slice value)
{
    return from_seg(seg_put(&j->store, JOB_ALL_RANKS, key, value, SEG_UNLISTED | SEG_REPLACE));
}

enum answer_status job_get(const struct job *j, struct slice space, struct slice key,
                           struct slice *value_p)
{
    struct store_key k;
    enum answer_status st = make_key(j, space, key, &k);

    if (st != ANSWER_OK)
        return st;
    return seg_get(&j->store.view, SEG_ANY_RANK, k.key, value_p) ? ANSWER_OK : ANSWER_NOT_FOUND;
}

/* The client's part of a stored key, if it belongs to the space and a client has put it. */
static bool key_in_space(const struct job *j, struct slice space, const struct seg_item *item,
                         struct slice *key_p)
{
    size_t nul = slice_find(item->key, '\0');

    if (is_main_space(j, space)) {
        *key_p = item->key;
        return nul == item->key.len && item->rank != SEG_ANY_RANK;
    }
    *key_p = slice_skip(item->key, nul + 1);
    return slice_eq(slice_head(item->key, nul), space);
}

enum answer_status job_get_of(const struct job *j, struct slice space, uint32_t rank,
                              struct slice key, struct slice *value_p)
{
    struct store_key k;
    enum answer_status st = make_key(j, space, key, &k);

    if (st != ANSWER_OK)
        return st;
    return seg_get(&j->store.view, rank, k.key, value_p) ||
                   seg_get(&j->store.view, SEG_ANY_RANK, k.key, value_p)
               ? ANSWER_OK
               : ANSWER_NOT_FOUND;
}

enum answer_status job_attr(const struct job *j, struct slice key, struct slice *value_p)
{
    struct seg_item item;

    if (key.len == 0 || slice_find(key, '\0') < key.len ||
        !seg_find(&j->store.view, SEG_ANY_RANK, key, &item) || item.rank != SEG_ANY_RANK)
        return ANSWER_NOT_FOUND;
    *value_p = item.value;
    return ANSWER_OK;
}

enum answer_status job_get_index(const struct job *j, struct slice space, uint64_t index,
                                 struct slice *key_p, struct slice *value_p)
{
    uint64_t cursor = 0;
    struct seg_item item;

    while (seg_next(&j->store.view, &cursor, &item)) {
        if (key_in_space(j, space, &item, key_p) && index-- == 0) {
            *value_p = item.value;
            return ANSWER_OK;
        }
    }
    return ANSWER_NOT_FOUND;
}

enum answer_status job_space_new(struct job *j, struct slice *name_p)
{
    char *name = NULL;

    if (j->spaces.count >= LIMIT_CLIENT_NAMES)
        return ANSWER_OVER_QUOTA;
    /* Two nodes must not make the same name. */
    if (j->spread
            ? asprintf(&name, "%.*s.%u.%u", JOB_SPACE_NAME, j->nspace, j->here, ++j->next_space) < 0
            : asprintf(&name, "%.*s.%u", JOB_SPACE_NAME, j->nspace, ++j->next_space) < 0)
        return ANSWER_NO_MEMORY;
    if (map_put(&j->spaces, slice_str(name), name, NULL) < 0) {
        free(name);
        return ANSWER_NO_MEMORY;
    }
    *name_p = slice_str(name);
    return ANSWER_OK;
}

/* A name of another node is known by its form, so its destruction must be recorded.  It is never
 * made again. */
static void bury_space(struct job *j, struct slice name)
{
    char *copy;

    if (!is_space_elsewhere(j, name) || map_get(&j->gone_spaces, name) ||
        j->gone_spaces.count >= LIMIT_CLIENT_NAMES)
        return;
    copy = strndup(name.ptr, name.len);
    if (copy && map_put(&j->gone_spaces, slice_str(copy), copy, NULL) < 0)
        free(copy);
}

enum answer_status job_space_delete(struct job *j, struct slice name)
{
    char *known;

    if (!is_space(j, name))
        return ANSWER_NOT_FOUND;
    bury_space(j, name);
    known = map_del(&j->spaces, name); /* the name may be that one's */
    free(known);
    return ANSWER_OK;
}
