/* client_cache.c - see client_cache.h. */
#include "lib/pmix/client/client_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/values/value.h"
#include "pmix.h"

void cache_init(struct cache *c)
{
    list_init(&c->spaces);
}

static void known_free(struct known *k)
{
    while (k) {
        struct known *older = k->older;
        list_unlink(&k->put);
        value_release(&k->value);
        buf_free(&k->packed);
        PMIx_Info_free(k->quals, k->nquals);
        free(k);
        k = older;
    }
}

static struct space *space_free(struct space *s)
{
    size_t at = 0;
    struct known *k;

    if (!s)
        return NULL;
    list_unlink(&s->link);
    while ((k = map_next(&s->values, &at)))
        known_free(k);
    map_free(&s->values);
    LIST_EACH(l, &s->qualified)
    known_free(LIST_OF(l, struct known, link));
    LIST_EACH(l, &s->infos)
    {
        list_unlink(l);
        job_info_free(LIST_OF(l, struct job_info, link));
    }
    free(s);
    return NULL;
}

void cache_free(struct cache *c)
{
    LIST_EACH(l, &c->spaces)
    space_free(LIST_OF(l, struct space, link));
}

struct space *cache_space(struct cache *c, const char *nspace)
{
    LIST_EACH(l, &c->spaces)
    {
        struct space *s = LIST_OF(l, struct space, link);
        if (strncmp(s->nspace, nspace, PMIX_MAX_NSLEN) == 0)
            return s;
    }
    return NULL;
}

struct space *cache_make_space(struct cache *c, const char *nspace)
{
    struct space *s = cache_space(c, nspace);

    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    PMIx_Load_nspace(s->nspace, nspace);
    map_init(&s->values, (uint64_t)(uintptr_t)s);
    list_init(&s->qualified);
    list_init(&s->infos);
    list_append(&c->spaces, &s->link);
    return s;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct name {
    char bytes[sizeof(uint32_t) + PMIX_MAX_KEYLEN + 1];
    size_t len;
};

static bool make_name(struct name *n, uint32_t rank, struct slice key)
{
    if (key.len > PMIX_MAX_KEYLEN)
        return false;
    memcpy(n->bytes, &rank, sizeof rank);
    memcpy(n->bytes + sizeof rank, key.ptr, key.len);
    n->len = sizeof rank + key.len;
    return true;
}

struct known *space_find(const struct space *s, uint32_t rank, struct slice key)
{
    struct name n;

    if (s->values.count == 0 || !make_name(&n, rank, key))
        return NULL;
    return map_get(&s->values, slice_mem(n.bytes, n.len));
}

static struct known *known_new(const struct name *n, uint32_t rank)
{
    struct known *k = malloc(sizeof *k + n->len + 1);

    if (!k)
        return NULL;
    *k = (struct known){ .rank = rank, .name_len = n->len };
    list_init(&k->link);
    list_init(&k->put);
    memcpy(k->name, n->bytes, n->len);
    k->name[n->len] = '\0';
    return k;
}

/* A lent value stays in memory, linked from the new one. */
static void retire(struct known *k, struct known *old)
{
    list_unlink(&old->put);
    if (old->lent || old->older)
        k->older = old;
    else
        known_free(old);
}

pmix_status_t space_put(struct space *s, uint32_t rank, struct slice key, pmix_value_t *v,
                        struct known **k_p)
{
    struct known *k = NULL;
    void *old = NULL;
    struct name n;

    if (make_name(&n, rank, key))
        k = known_new(&n, rank);
    if (!k || map_put(&s->values, slice_mem(k->name, k->name_len), k, &old) < 0) {
        free(k);
        value_release(v);
        return PMIX_ERR_NOMEM;
    }
    k->value = *v;
    if (old)
        retire(k, old);
    if (k_p)
        *k_p = k;
    return PMIX_SUCCESS;
}

pmix_status_t space_lend(struct space *s, uint32_t rank, struct slice key, pmix_value_t *v,
                         const struct datum *d, struct known **k_p)
{
    pmix_status_t rc = space_put(s, rank, key, v, k_p);

    if (rc != PMIX_SUCCESS)
        return rc;
    (*k_p)->lent = true;
    (*k_p)->packed_type = d->type;
    buf_init(&(*k_p)->packed, d->bytes.len);
    buf_slice_put(&(*k_p)->packed, d->bytes); /* without memory it is made again */
    return PMIX_SUCCESS;
}

struct known *space_find_lent(const struct space *s, uint32_t rank, struct slice key,
                              const struct datum *d)
{
    struct known *k = space_find(s, rank, key);

    return k && k->lent && buf_ok(&k->packed) && k->packed_type == d->type &&
                   slice_eq(buf_slice(&k->packed), d->bytes)
               ? k
               : NULL;
}

/* ---- values with qualifiers ------------------------------------------------------------------ */

static bool has_info(const pmix_info_t *infos, size_t n, const pmix_info_t *wanted)
{
    for (size_t i = 0; i < n; i++) {
        if (PMIx_Check_key(infos[i].key, wanted->key) &&
            PMIx_Value_compare((pmix_value_t *)(uintptr_t)&infos[i].value,
                               (pmix_value_t *)(uintptr_t)&wanted->value) == PMIX_EQUAL)
            return true;
    }
    return false;
}

static bool same_qualifiers(const struct known *k, const pmix_info_t *infos, size_t n)
{
    size_t asked = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(infos[i].flags & PMIX_INFO_QUALIFIER))
            continue;
        asked++;
        if (!has_info(k->quals, k->nquals, &infos[i]))
            return false;
    }
    return asked == k->nquals;
}

struct known *space_find_qualified(const struct space *s, uint32_t rank, struct slice key,
                                   const pmix_info_t *infos, size_t ninfos)
{
    for (const struct list *l = s->qualified.next; l != &s->qualified; l = l->next) {
        struct known *k = LIST_OF(l, struct known, link);
        if (k->rank == rank && slice_is(key, known_key(k)) && same_qualifiers(k, infos, ninfos))
            return k;
    }
    return NULL;
}

static struct known *qualified_new(uint32_t rank, pmix_info_t *infos, size_t n)
{
    struct name name;
    struct known *k = NULL;

    if (make_name(&name, rank, slice_str(infos[0].key)))
        k = known_new(&name, rank);
    if (!k)
        return NULL;
    k->quals = PMIx_Info_create(n - 1);
    for (size_t i = 1; i < n; i++) {
        if (!k->quals || PMIx_Info_xfer(&k->quals[i - 1], &infos[i]) != PMIX_SUCCESS) {
            known_free(k);
            return NULL;
        }
        k->quals[i - 1].flags |= PMIX_INFO_QUALIFIER;
        k->nquals = i;
    }
    return k;
}

pmix_status_t space_put_qualified(struct space *s, uint32_t rank, pmix_value_t *v,
                                  struct known **k_p)
{
    pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    pmix_info_t *infos = a && a->type == PMIX_INFO ? a->array : NULL;
    struct known *k = NULL, *old;

    if (!infos || a->size < 2) {
        value_release(v);
        return PMIX_ERR_BAD_PARAM;
    }
    k = qualified_new(rank, infos, a->size);
    if (k) {
        old = space_find_qualified(s, rank, slice_str(infos[0].key), k->quals, k->nquals);
        k->value = infos[0].value;
        infos[0].value = (pmix_value_t)PMIX_VALUE_STATIC_INIT;
        if (old) {
            list_unlink(&old->link);
            retire(k, old);
        }
        list_append(&s->qualified, &k->link);
        if (k_p)
            *k_p = k;
    }
    value_release(v);
    return k ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t space_take_values(struct space *s, uint32_t rank, struct punpack *r)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (punpack_left(r) && rc == PMIX_SUCCESS) {
        pmix_value_t v;
        struct slice key = punpack_kval(r, &v);
        if (!punpack_ok(r))
            return ptype_status(r->error, PTYPE_UNPACKING);
        if (slice_is(key, PMIX_QUALIFIED_VALUE))
            rc = space_put_qualified(s, rank, &v, NULL);
        else
            rc = space_put(s, rank, key, &v, NULL);
    }
    return rc;
}

/* ---- job info -------------------------------------------------------------------------------- */

static bool adds_nothing(const struct job_info *old, const struct job_info *j)
{
    bool no_more = old->nitems <= j->nitems;

    for (int i = 0; i < INFO_RANK; i++)
        no_more = no_more && old->nparts[i] <= j->nparts[i];
    return no_more && old->ranks.count <= j->ranks.count;
}

pmix_status_t space_take_info(struct space *s, struct slice bytes, void *owned,
                              const struct ptype_flavour *as)
{
    struct job_info *j;
    int rc = job_info_new(bytes, owned, as, &j);

    if (rc < 0)
        return rc == -ENOMEM ? PMIX_ERR_NOMEM : PMIX_ERR_UNPACK_FAILURE;
    LIST_EACH(l, &s->infos)
    {
        struct job_info *old = LIST_OF(l, struct job_info, link);
        if (adds_nothing(old, j)) {
            list_unlink(l);
            job_info_free(old);
        }
    }
    list_prepend(&s->infos, &j->link);
    return PMIX_SUCCESS;
}

pmix_status_t space_copy_info(struct space *s, struct slice bytes, const struct ptype_flavour *as)
{
    void *copy = malloc(bytes.len + 1);

    if (!copy)
        return PMIX_ERR_NOMEM;
    if (bytes.len)
        memcpy(copy, bytes.ptr, bytes.len);
    return space_take_info(s, slice_mem(copy, bytes.len), copy, as);
}

bool space_job_datum(const struct space *s, struct slice key, struct datum *d_p)
{
    for (const struct list *l = s->infos.next; l != &s->infos; l = l->next) {
        if (job_info_find(LIST_OF(l, const struct job_info, link), key, d_p))
            return true;
    }
    return false;
}

bool space_part_datum(const struct space *s, enum info_level level, uint32_t number,
                      struct slice name, struct slice key, struct datum *d_p)
{
    for (const struct list *l = s->infos.next; l != &s->infos; l = l->next) {
        const struct job_info *j = LIST_OF(l, const struct job_info, link);
        struct info_part p;
        if (job_info_part(j, level, number, name, &p) && info_part_find(j, level, &p, key, d_p))
            return true;
    }
    return false;
}

bool card_datum(const struct seg_view *cards, uint32_t rank, struct slice key, struct datum *d_p,
                uint8_t *scope_p)
{
    struct seg_item item;

    if (!cards || !seg_find(cards, rank, key, &item))
        return false;
    *d_p = (struct datum){ item.type ? item.type : PMIX_STRING, item.value, NULL };
    *scope_p = item.scope;
    return true;
}

/* ---- for the library itself ------------------------------------------------------------------ */

bool datum_u32(const struct datum *d, uint32_t *n_p)
{
    pmix_value_t v;
    bool good = false;

    if (datum_read(d, &v) != PTYPE_FINE)
        return false;
    good = PMIx_Value_get_number(&v, n_p, PMIX_UINT32) == PMIX_SUCCESS;
    value_release(&v);
    return good;
}

char *datum_text(const struct datum *d)
{
    pmix_value_t v;

    if (datum_read(d, &v) != PTYPE_FINE)
        return NULL;
    if (v.type == PMIX_STRING)
        return v.data.string;
    value_release(&v);
    return NULL;
}

pmix_status_t cache_take_job(struct cache *c, const struct pmsg_job_info *m,
                             const struct ptype_flavour *as)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    struct space *s;

    if (!m->nspace.len || m->nspace.len > PMIX_MAX_NSLEN)
        return PMIX_ERR_UNPACK_FAILURE;
    memcpy(nspace, m->nspace.ptr, m->nspace.len);
    s = cache_make_space(c, nspace);
    return s ? space_copy_info(s, m->values, as) : PMIX_ERR_NOMEM;
}
