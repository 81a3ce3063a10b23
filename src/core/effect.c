/* effect.c - see effect.h. */
#include "core/effect.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

bool effect_carry(struct effect *e, struct slice key, struct slice value)
{
    char *bytes = malloc(key.len + value.len + 1);

    if (!bytes)
        return false;
    if (key.len)
        memcpy(bytes, key.ptr, key.len);
    if (value.len)
        memcpy(bytes + key.len, value.ptr, value.len);
    free(e->bytes);
    e->bytes = bytes;
    e->key_len = (uint32_t)key.len;
    e->value_len = (uint32_t)value.len;
    return true;
}

struct slice effect_key(const struct effect *e)
{
    return slice_mem(e->bytes, e->key_len);
}

struct slice effect_value(const struct effect *e)
{
    return slice_mem(e->bytes ? e->bytes + e->key_len : NULL, e->value_len);
}

struct contribution *contribution_new(struct slice identity, uint64_t generation, bool collect,
                                      uint32_t nparties)
{
    struct contribution *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    buf_init(&c->block, LIMIT_BLOCK);
    c->generation = generation;
    c->collect = collect;
    c->nparties = nparties;
    c->identity = strndup(identity.ptr ? identity.ptr : "", identity.len);
    c->parties = calloc(nparties ? nparties : 1, sizeof *c->parties);
    return c->identity && c->parties ? c : contribution_free(c);
}

struct contribution *contribution_free(struct contribution *c)
{
    if (c) {
        buf_free(&c->block);
        free(c->identity);
        free(c->parties);
        free(c);
    }
    return NULL;
}

void effect_drop(struct effect *e)
{
    e->spawn = spawn_free(e->spawn);
    e->contribution = contribution_free(e->contribution);
    free(e->names);
    free(e->bytes);
    e->names = NULL;
    e->bytes = NULL;
    e->key_len = e->value_len = 0;
}

static struct effect *ring_of(struct effects *q)
{
    return q->ring ? q->ring : q->first;
}

static size_t cap_of(const struct effects *q)
{
    return q->ring ? q->cap : EFFECTS_FIRST;
}

void effects_free(struct effects *q)
{
    struct effect e;

    while (effects_pop(q, &e))
        effect_drop(&e);
    free(q->ring);
    *q = (struct effects){ .ring = NULL };
}

static bool grow(struct effects *q)
{
    size_t cap = cap_of(q) * 4;
    struct effect *ring = calloc(cap, sizeof *ring);

    if (!ring)
        return false;
    for (size_t i = 0; i < q->count; i++)
        ring[i] = ring_of(q)[(q->head + i) % cap_of(q)];
    free(q->ring);
    q->ring = ring;
    q->head = 0;
    q->cap = cap;
    return true;
}

bool effects_push(struct effects *q, struct effect e)
{
    if (q->count == cap_of(q) && !grow(q)) {
        q->lost = true;
        effect_drop(&e);
        return false;
    }
    ring_of(q)[(q->head + q->count++) % cap_of(q)] = e;
    return true;
}

bool effects_pop(struct effects *q, struct effect *e_p)
{
    if (q->count == 0)
        return false;
    *e_p = ring_of(q)[q->head];
    q->head = (q->head + 1) % cap_of(q);
    q->count--;
    return true;
}
