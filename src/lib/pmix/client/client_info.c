/* client_info.c - see client_info.h. */
#include "lib/pmix/client/client_info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "lib/pmix/values/value.h"
#include "wire/pmix_message.h"

static bool read_small(const struct datum *d, pmix_value_t *value_p)
{
    uint32_t v;

    if (d->type != PMIX_UINT32 || !datum_small(d->bytes, &v))
        return false;
    value_p->type = PMIX_UINT32;
    value_p->data.uint32 = v;
    return true;
}

enum ptype_error datum_read(const struct datum *d, pmix_value_t *value_p)
{
    struct punpack r;

    memset(value_p, 0, sizeof *value_p);
    if (!d->as && read_small(d, value_p))
        return PTYPE_FINE;
    if (!d->as && d->type == PMIX_STRING) {
        value_p->data.string = malloc(d->bytes.len + 1);
        if (!value_p->data.string)
            return PTYPE_NO_MEMORY;
        memcpy(value_p->data.string, d->bytes.ptr, d->bytes.len);
        value_p->data.string[d->bytes.len] = '\0';
        value_p->type = PMIX_STRING;
        return PTYPE_FINE;
    }
    punpack_init(&r, d->bytes, d->as ? d->as : &ptype_own);
    r.foreign = foreign_objects();
    return punpack_value(&r, d->type, value_p);
}

/* ---- building the index ---------------------------------------------------------------------- */

static const struct {
    const char *key;
    enum info_level level;
    const char *number;
} arrays[] = {
    { PMIX_SESSION_INFO_ARRAY, INFO_SESSION, PMIX_SESSION_ID },
    { PMIX_NODE_INFO_ARRAY, INFO_NODE, PMIX_NODEID },
    { PMIX_APP_INFO_ARRAY, INFO_APP, PMIX_APPNUM },
    { PMSG_RANK_VALUES, INFO_RANK, NULL },
};

enum { NO_PART = INFO_RANK + 1, MILESTONES = 64 };

static enum info_level level_of(struct slice key, uint16_t type)
{
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (slice_is(key, arrays[i].key) &&
            type == (arrays[i].level == INFO_RANK ? PMIX_BYTE_OBJECT : PMIX_DATA_ARRAY))
            return arrays[i].level;
    }
    return (enum info_level)NO_PART;
}

/* The parts of the message, first counted, then recorded. */
struct indexer {
    struct job_info *j;
    bool noting;
    /* The counts.  Memory shared with a server may have changed by now. */
    size_t items, ranks, parts[INFO_RANK];
    uint32_t last_rank;
    enum ptype_error error;
};

static bool may_note(struct indexer *x, size_t noted, size_t counted)
{
    if (x->noting && noted >= counted)
        x->error = PTYPE_MALFORMED;
    return x->error == PTYPE_FINE;
}

static void note_item(struct indexer *x, struct slice key, uint16_t type, struct slice bytes)
{
    if (!may_note(x, x->j->nitems, x->items))
        return;
    if (x->noting)
        x->j->items[x->j->nitems] = (struct info_item){ key, type, bytes };
    x->j->nitems++;
}

static uint32_t number_in(const struct job_info *j, const struct info_item *item)
{
    struct datum d = { item->type, item->bytes, j->as };
    pmix_value_t v;
    uint32_t n = UINT32_MAX;

    if (item->type != PMIX_UINT32 && item->type != PMIX_PROC_RANK && item->type != PMIX_INT &&
        item->type != PMIX_UINT16)
        return n;
    if (datum_read(&d, &v) == PTYPE_FINE)
        n = v.type == PMIX_UINT16 ? v.data.uint16 : v.data.uint32;
    return n;
}

/* A string in place, without a copy. */
static struct slice text_in(const struct job_info *j, const struct info_item *item)
{
    struct slice bytes = item->bytes;
    size_t head = j->as->fixed ? 4 : 1;

    if (item->type != PMIX_STRING)
        return SLICE_NULL;
    while (!j->as->fixed && head < bytes.len && (bytes.ptr[head - 1] & 0x80))
        head++;
    bytes = slice_skip(bytes, head);
    return bytes.len ? slice_head(bytes, bytes.len - 1) : SLICE_NULL;
}

static void name_array(struct indexer *x, enum info_level level, struct info_part *p)
{
    struct info_walk w = { .begun = false };
    struct info_item item;

    while (info_part_next(x->j, level, p, &w, &item)) {
        if (slice_is(item.key, arrays[level].number))
            p->number = number_in(x->j, &item);
        else if (level == INFO_NODE && slice_is(item.key, PMIX_HOSTNAME))
            p->name = text_in(x->j, &item);
    }
}

/* The blob of a rank. */
static bool open_blob(const struct job_info *j, struct slice bytes, struct info_part *p)
{
    struct pmsg_rank_values m;
    struct punpack r;
    size_t n;

    /* The value's bytes are SIZE and the bytes themselves, without a count before them. */
    punpack_init(&r, bytes, j->as);
    n = punpack_size_bare(&r);
    if (!punpack_ok(&r) || n != punpack_left(&r))
        return false;
    pmsg_read_rank_values(&r, 0, &m);
    *p = (struct info_part){ .number = m.rank, .bytes = m.values };
    return punpack_ok(&r);
}

static void note_rank(struct indexer *x, struct slice bytes, size_t at)
{
    struct info_ranks *k = &x->j->ranks;
    struct info_part p;

    if (!may_note(x, k->count, x->ranks))
        return;
    if (!open_blob(x->j, bytes, &p)) {
        x->error = PTYPE_MALFORMED;
        return;
    }
    if (x->noting && k->count % k->stride == 0)
        k->stones[k->nstones++] = (struct info_milestone){ p.number, at };
    else if (!x->noting && k->count && p.number <= x->last_rank)
        k->sorted = false;
    x->last_rank = p.number;
    k->count++;
}

static void note_part(struct indexer *x, enum info_level level, struct slice bytes)
{
    size_t n = x->j->nparts[level];
    struct info_part *p;

    if (!may_note(x, n, x->parts[level]))
        return;
    x->j->nparts[level] = n + 1;
    if (!x->noting)
        return;
    p = &x->j->parts[level][n];
    *p = (struct info_part){ .number = UINT32_MAX, .bytes = bytes };
    name_array(x, level, p);
}

/* Job data, wrapped in one more array. */
static void note_job_array(struct indexer *x, struct slice bytes)
{
    struct punpack r;
    size_t n;

    punpack_init(&r, bytes, x->j->as);
    n = punpack_infos_head(&r);
    while (n-- && punpack_ok(&r)) {
        uint16_t type;
        struct slice value, key = punpack_info_raw(&r, &type, &value);
        if (punpack_ok(&r))
            note_item(x, key, type, value);
    }
}

/* An array with a key of the host's own; or a node, as servers before 3.1.100 tell it, by its name.
 */
static void note_unknown(struct indexer *x, struct slice key, struct slice bytes)
{
    note_part(x, INFO_NODE, bytes);
    note_item(x, key, PMIX_DATA_ARRAY, bytes);
}

static void walk(struct indexer *x)
{
    struct punpack r;

    punpack_init(&r, x->j->bytes, x->j->as);
    memset(x->j->nparts, 0, sizeof x->j->nparts);
    x->j->nitems = x->j->ranks.count = 0;
    while (punpack_left(&r) && x->error == PTYPE_FINE) {
        uint16_t type;
        size_t at = x->j->bytes.len - punpack_left(&r);
        struct slice bytes, key = punpack_kval_raw(&r, &type, &bytes);
        enum info_level level = level_of(key, type);
        if (!punpack_ok(&r))
            x->error = r.error;
        else if (level == INFO_RANK)
            note_rank(x, bytes, at);
        else if (level != (enum info_level)NO_PART)
            note_part(x, level, bytes);
        else if (type == PMIX_DATA_ARRAY && !slice_starts(key, SLICE("pmix")))
            note_unknown(x, key, bytes);
        else if (slice_is(key, PMIX_JOB_INFO_ARRAY) && type == PMIX_DATA_ARRAY)
            note_job_array(x, bytes);
        else
            note_item(x, key, type, bytes);
    }
    /* A type that we cannot skip hides all that comes after it; the parts before it are valid. */
    if (x->error == PTYPE_UNKNOWN || x->error == PTYPE_NOT_SUPPORTED)
        x->error = PTYPE_FINE;
}

static bool take_memory(struct indexer *x)
{
    struct job_info *j = x->j;
    struct info_ranks *k = &j->ranks;
    bool good = true;

    x->items = j->nitems;
    x->ranks = k->count;
    memcpy(x->parts, j->nparts, sizeof x->parts);

    k->stride = k->sorted ? k->count / MILESTONES + 1 : 1;
    j->items = calloc(j->nitems + 1, sizeof *j->items);
    k->stones = calloc(k->count / k->stride + 1, sizeof *k->stones);
    for (int i = 0; i < INFO_RANK; i++) {
        j->parts[i] = calloc(j->nparts[i] + 1, sizeof *j->parts[i]);
        good = good && j->parts[i];
    }
    return good && j->items && k->stones;
}

static int by_rank(const void *a, const void *b)
{
    const struct info_milestone *x = a, *y = b;

    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

int job_info_new(struct slice bytes, void *owned, const struct ptype_flavour *as,
                 struct job_info **j_p)
{
    struct job_info *j = calloc(1, sizeof *j);
    struct indexer x = { .j = j };

    *j_p = NULL;
    if (!j) {
        free(owned);
        return -ENOMEM;
    }
    *j = (struct job_info){ .as = as, .bytes = bytes, .owned = owned, .ranks.sorted = true };
    list_init(&j->link);
    walk(&x);
    if (x.error == PTYPE_FINE && !take_memory(&x))
        x.error = PTYPE_NO_MEMORY;
    if (x.error == PTYPE_FINE) {
        x.noting = true;
        walk(&x);
        if (!j->ranks.sorted)
            qsort(j->ranks.stones, j->ranks.nstones, sizeof *j->ranks.stones, by_rank);
    }
    if (x.error != PTYPE_FINE) {
        job_info_free(j);
        return x.error == PTYPE_NO_MEMORY ? -ENOMEM : -EBADMSG;
    }
    *j_p = j;
    return 0;
}

struct job_info *job_info_free(struct job_info *j)
{
    if (!j)
        return NULL;
    for (int i = 0; i < INFO_RANK; i++)
        free(j->parts[i]);
    free(j->ranks.stones);
    free(j->items);
    free(j->owned);
    free(j);
    return NULL;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

bool job_info_find(const struct job_info *j, struct slice key, struct datum *d_p)
{
    /* The last entry of a key counts. */
    for (size_t i = j->nitems; i-- > 0;) {
        const struct info_item *item = &j->items[i];
        if (!slice_eq(item->key, key))
            continue;
        *d_p = (struct datum){ item->type, item->bytes, j->as };
        return true;
    }
    return false;
}

static bool is_not_after(const void *item, const void *key)
{
    const struct info_milestone *m = item;

    return m->rank <= *(const uint32_t *)key;
}

/* The last milestone that is not after the rank. */
static const struct info_milestone *milestone_of(const struct info_ranks *k, uint32_t rank)
{
    size_t next = search_first(k->stones, k->nstones, sizeof *k->stones, is_not_after, &rank);

    return next ? &k->stones[next - 1] : NULL;
}

static bool find_rank(const struct job_info *j, uint32_t rank, struct info_part *p_p)
{
    const struct info_milestone *m = milestone_of(&j->ranks, rank);
    struct punpack r;

    if (!m)
        return false;
    punpack_init(&r, slice_skip(j->bytes, m->at), j->as);
    for (size_t steps = j->ranks.stride; steps && punpack_left(&r);) {
        uint16_t type;
        struct slice bytes, key = punpack_kval_raw(&r, &type, &bytes);
        if (!punpack_ok(&r))
            return false;
        if (level_of(key, type) != INFO_RANK)
            continue;
        if (!open_blob(j, bytes, p_p))
            return false;
        if (p_p->number == rank)
            return true;
        steps--;
    }
    return false;
}

bool job_info_part(const struct job_info *j, enum info_level level, uint32_t number,
                   struct slice name, struct info_part *p_p)
{
    if (level == INFO_RANK)
        return find_rank(j, number, p_p);
    for (size_t i = j->nparts[level]; i-- > 0;) {
        const struct info_part *p = &j->parts[level][i];
        if (number != UINT32_MAX ? p->number == number : name.len && slice_eq(p->name, name)) {
            *p_p = *p;
            return true;
        }
    }
    return false;
}

bool info_part_next(const struct job_info *j, enum info_level level, const struct info_part *p,
                    struct info_walk *w, struct info_item *item_p)
{
    if (!w->begun) {
        punpack_init(&w->r, p->bytes, j->as);
        w->left = level == INFO_RANK ? SIZE_MAX : punpack_infos_head(&w->r);
        w->begun = true;
    }
    if (!w->left || !punpack_left(&w->r))
        return false;
    w->left--;
    item_p->key = level == INFO_RANK ? punpack_kval_raw(&w->r, &item_p->type, &item_p->bytes)
                                     : punpack_info_raw(&w->r, &item_p->type, &item_p->bytes);
    return punpack_ok(&w->r);
}

bool info_part_find(const struct job_info *j, enum info_level level, const struct info_part *p,
                    struct slice key, struct datum *d_p)
{
    struct info_walk w = { .begun = false };
    struct info_item item;

    while (info_part_next(j, level, p, &w, &item)) {
        if (!slice_eq(item.key, key))
            continue;
        *d_p = (struct datum){ item.type, item.bytes, j->as };
        return true;
    }
    return false;
}
