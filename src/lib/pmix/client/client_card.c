/* client_card.c - the fast path of PMIx_Get, without the lock: modex values of other processes of
 * the job are read from the job's store.  Everything else takes the slow path (client_get.c).
 *
 * MPI libraries get thousands of modex values, so this must cost little more than the look-up
 * itself: avoidable function calls are avoided, names are compared a word at a time, and the
 * commonest values are decoded inline. */
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_get.h"
#include "store/store_find.h"

static inline bool is_key(const pmix_info_t *info, const char *key, size_t size)
{
    return memcmp(info->key, key, size) == 0;
}

#define IS_KEY(info, key) is_key((info), (key), sizeof(key))

static inline bool info_is_true(const pmix_info_t *info)
{
    if (info->value.type == PMIX_BOOL)
        return info->value.data.flag;
    return PMIx_Value_true(&info->value) != PMIX_BOOL_FALSE;
}

/* Infos that do not matter when the value is at hand; *in_place_p: PMIX_GET_STATIC_VALUES. */
static inline bool are_simple(const pmix_info_t *infos, size_t n, bool *in_place_p)
{
    for (size_t i = 0; i < n; i++) {
        if (IS_KEY(&infos[i], PMIX_GET_STATIC_VALUES))
            *in_place_p = info_is_true(&infos[i]);
        else if (!IS_KEY(&infos[i], PMIX_OPTIONAL) && !IS_KEY(&infos[i], PMIX_IMMEDIATE) &&
                 !IS_KEY(&infos[i], PMIX_TIMEOUT))
            return false;
    }
    return true;
}

static inline bool same_word(const char *a, const char *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x == y;
}

/* Compares names that begin arrays of more than 256 bytes; size: of b, with its NUL.  (After b's
 * NUL there are zeros, after a's there may be anything: so short names are compared byte by
 * byte.) */
static inline bool same_name(const char *a, const char *b, size_t size)
{
    size_t i = 0;

    if (size < sizeof(uint64_t))
        return memcmp(a, b, size) == 0;
    for (; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        if (!same_word(a + i, b + i))
            return false;
    }
    return same_word(a + size - sizeof(uint64_t), b + size - sizeof(uint64_t));
}

static inline bool find(const struct client *c, const pmix_proc_t *proc, const char *key,
                        struct seg_item *item)
{
    size_t len;

    if (proc->rank == c->me.rank || !PMIX_RANK_IS_VALID(proc->rank) ||
        (*proc->nspace && !same_name(proc->nspace, c->me.nspace, c->name_size)))
        return false;
    len = strnlen(key, PMIX_MAX_KEYLEN + 1);
    return len <= PMIX_MAX_KEYLEN &&
           seg_look_up(&c->store.view, proc->rank, slice_mem(key, len), item) &&
           item->scope != PMIX_REMOTE && item->type != PMIX_COMPRESSED_STRING;
}

static bool read_datum(const struct seg_item *item, pmix_value_t *v)
{
    struct datum d = { item->type ? item->type : PMIX_STRING, item->value, NULL };

    return datum_read(&d, v) == PTYPE_FINE;
}

static inline bool read_item(const struct seg_item *item, pmix_value_t *v)
{
    uint32_t number;

    if (item->type != PMIX_UINT32 || !datum_small(item->value, &number))
        return read_datum(item, v);
    *v = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = number };
    return true;
}

static inline bool hand_out(const struct seg_item *item, bool in_place, pmix_value_t **val)
{
    pmix_value_t *v = in_place ? *val : malloc(sizeof *v);

    if (!v)
        return false;
    if (!read_item(item, v)) {
        if (!in_place)
            free(v);
        return false;
    }
    *val = v;
    return true;
}

/* False: not found, and nothing has changed. */
static inline bool get_card(const pmix_proc_t *proc, const char *key, const pmix_info_t *infos,
                            size_t ninfos, pmix_value_t **val)
{
    bool in_place = false, done, alone;
    const struct client *c;
    struct seg_item item;

    if (!proc || !key || !val || (!infos && ninfos) || !are_simple(infos, ninfos, &in_place) ||
        (in_place && !*val))
        return false;
    c = api_quick_begin(&alone);
    if (!c)
        return false;
    done = find(c, proc, key, &item) && hand_out(&item, in_place, val);
    api_quick_end(alone);
    return done;
}

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                       size_t ninfo, pmix_value_t **val)
{
    if (get_card(proc, key, info, ninfo, val))
        return PMIX_SUCCESS;
    return client_get_locked(proc, key, info, ninfo, val);
}
