/* number_map.c - see number_map.h. */
#include "base/number_map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SMALL = 16 }; /* slots */

void number_map_free(struct number_map *m)
{
    free(m->slots);
    *m = (struct number_map){ 0 };
}

/* Neighbouring numbers come to different places: the upper bits of a product with 2^64 divided by
 * the golden ratio. */
static uint32_t home(const struct number_map *m, uint64_t number)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (m->cap - 1);
}

/* The slot that holds the number, or the free slot for it.  There must be a free slot. */
static uint32_t find(const struct number_map *m, uint64_t number)
{
    uint32_t i = home(m, number);

    while (m->slots[i].value && m->slots[i].number != number)
        i = (i + 1) & (m->cap - 1);
    return i;
}

void *number_map_get(const struct number_map *m, uint64_t number)
{
    return m->count ? m->slots[find(m, number)].value : NULL;
}

static int grow(struct number_map *m)
{
    struct number_map bigger = { .cap = m->cap ? m->cap * 2 : 4, .count = m->count };

    bigger.slots = bigger.cap ? calloc(bigger.cap, sizeof *bigger.slots) : NULL;
    if (!bigger.slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->cap; i++) {
        if (m->slots[i].value)
            bigger.slots[find(&bigger, m->slots[i].number)] = m->slots[i];
    }
    free(m->slots);
    *m = bigger;
    return 0;
}

/* Few entries fill their slots but one, which ends every search; more would make searches long. */
static bool is_full(const struct number_map *m)
{
    return m->cap <= SMALL ? m->count + 1 >= m->cap : m->count + 1 > m->cap / 4 * 3;
}

int number_map_put(struct number_map *m, uint64_t number, void *value)
{
    int rc = is_full(m) ? grow(m) : 0;

    if (rc == 0) {
        m->slots[find(m, number)] = (struct number_map_slot){ number, value };
        m->count++;
    }
    return rc;
}

void *number_map_del(struct number_map *m, uint64_t number)
{
    uint32_t mask = m->cap - 1, hole;
    void *value;

    if (m->count == 0)
        return NULL;
    hole = find(m, number);
    value = m->slots[hole].value;
    if (!value)
        return NULL;
    for (uint32_t i = (hole + 1) & mask; m->slots[i].value; i = (i + 1) & mask) {
        if (((i - home(m, m->slots[i].number)) & mask) >= ((i - hole) & mask)) {
            m->slots[hole] = m->slots[i]; /* it may move back into the hole */
            hole = i;
        }
    }
    m->slots[hole] = (struct number_map_slot){ 0, NULL };
    m->count--;
    return value;
}

void *number_map_next(const struct number_map *m, size_t *at)
{
    while (*at < m->cap) {
        void *value = m->slots[(*at)++].value;
        if (value)
            return value;
    }
    return NULL;
}
