/* pmix_commit.c - see pmix_commit.h. */
#include "server/pmix_commit.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/modex.h"
#include "core/request.h"
#include "server/pmix_value.h"

struct cards {
    struct card *list;
    uint32_t n, room, first_of_second;
};

static bool grow_cards(struct pmix_session *s, struct cards *k)
{
    uint32_t room = k->room ? k->room * 2 : 16;
    struct card *list = arena_array(&s->arena, room, sizeof *list);
    pmix_value_t *values = realloc(s->values, room * sizeof *values);

    if (values)
        s->values = values;
    if (!list || !values)
        return false;
    if (k->n)
        memcpy(list, k->list, k->n * sizeof *list);
    k->list = list;
    k->room = room;
    return true;
}

static void add_card(struct command *c, struct cards *k, struct slice key, pmix_value_t *v,
                     uint8_t scope)
{
    struct card card = { .type = v->type, .scope = scope, .key = key };

    for (uint32_t i = 0; scope == MODEX_REMOTE && i < k->first_of_second; i++) {
        if (slice_eq(k->list[i].key, key)) { /* in both bundles: global scope */
            k->list[i].scope = MODEX_GLOBAL;
            pmem_value_free(v, NULL);
            return;
        }
    }
    if (k->n == k->room && !grow_cards(c->s, k)) {
        c->no_memory = true;
        pmem_value_free(v, NULL);
        return;
    }
    c->s->values[c->s->nvalues++] = *v;
    card.value = v->type == PMIX_STRING ? slice_str(v->data.string) : pmix_keep_value(c, v);
    k->list[k->n++] = card;
}

/* Values of one key with different qualifiers are different entries. */
static struct slice name_qualified(struct command *c, const pmix_value_t *v)
{
    pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    pmix_info_t *first = a && a->type == PMIX_INFO && a->size ? a->array : NULL;
    struct buf bytes = BUF_NULL(LIMIT_PMIX_MESSAGE), name = BUF_NULL(PMIX_MAX_KEYLEN);
    pmix_value_t value;
    struct slice all;

    if (!first)
        return SLICE(PMIX_QUALIFIED_VALUE);
    value = first->value; /* only the key and the qualifiers count */
    first->value = (pmix_value_t){ .type = PMIX_BOOL };
    all = pmix_canonical(v, &bytes);
    first->value = value;
    buf_printf(&name, MODEX_QUALIFIED "%016llx%016llx", (unsigned long long)slice_hash(all, 1),
               (unsigned long long)slice_hash(all, 2));
    all = pmix_keep(c, buf_ok(&bytes) ? buf_slice(&name) : SLICE(PMIX_QUALIFIED_VALUE));
    buf_free(&bytes);
    buf_free(&name);
    return all;
}

static void take_bundle(struct command *c, struct cards *k, const struct pmsg_bundle *b)
{
    struct punpack in = pmsg_inside_buffer(&c->r, &b->values);

    k->first_of_second = k->n;
    while (punpack_left(&in) && !c->no_memory && punpack_ok(&c->r)) {
        pmix_value_t v;
        struct slice key = punpack_kval(&in, &v);
        if (!punpack_ok(&in)) {
            c->r.error = in.error;
            return;
        }
        if (slice_is(key, PMIX_QUALIFIED_VALUE))
            key = name_qualified(c, &v);
        add_card(c, k, key, &v, b->scope);
    }
}

void pmix_read_commit(struct command *c)
{
    struct cards k = { .n = 0 };
    struct pmsg_commit m;
    struct pmsg_bundle b;
    struct punpack all;

    pmsg_read_commit(&c->r, c->s->release, &m);
    all = pmsg_inside(&c->r, m.bundles);
    while (!c->no_memory && punpack_ok(&c->r) && pmsg_next_commit_bundles(&all, c->s->release, &b))
        take_bundle(c, &k, &b);
    if (punpack_ok(&c->r))
        c->r.error = all.error;
    if (punpack_ok(&c->r) && !c->no_memory)
        pmix_ask(c, REQUEST_WITH(commit, .cards = k.list, .count = k.n));
}
