/* store_counters.c - see store_counters.h. */
#include "core/store_counters.h"

#include <stdlib.h>
#include <string.h>

static struct store_counter *find(struct store_counters *s, struct slice key)
{
    for (int i = 0; i < STORE_COUNTERS; i++) {
        if (s->all[i].ranks && slice_eq(store_counter_key(&s->all[i]), key))
            return &s->all[i];
    }
    return NULL;
}

static void forget(struct store_counter *c)
{
    free(c->ranks);
    *c = (struct store_counter){ .len = 0 };
}

/* In the place of the oldest. */
static struct store_counter *make(struct store_counters *s, struct slice key, uint32_t nprocs,
                                  uint64_t now_ns)
{
    struct store_counter *oldest = &s->all[0];

    for (int i = 0; i < STORE_COUNTERS; i++) {
        if (!s->all[i].ranks || (oldest->ranks && s->all[i].since_ns < oldest->since_ns))
            oldest = &s->all[i];
    }
    forget(oldest);
    oldest->ranks = calloc(nprocs / 8 + 1, 1);
    if (!oldest->ranks)
        return NULL;
    memcpy(oldest->key, key.ptr, key.len);
    oldest->len = key.len;
    oldest->since_ns = now_ns;
    return oldest;
}

void store_counters_add(struct store_counters **s_p, struct slice key, uint32_t rank,
                        uint32_t nprocs, int64_t more, uint64_t now_ns)
{
    struct store_counter *c = *s_p ? find(*s_p, key) : NULL;

    if (!*s_p && more)
        *s_p = calloc(1, sizeof **s_p);
    if (*s_p && !c && more && key.len && key.len <= STORE_COUNTER_KEY)
        c = make(*s_p, key, nprocs, now_ns);
    if (!c)
        return;
    if (!more) {
        c->asked_ns = now_ns;
    } else if (!store_counter_has(c, rank)) {
        c->ranks[rank / 8] |= (unsigned char)(1 << rank % 8);
        c->count++;
    }
    if (c->count == nprocs) /* nobody is missing */
        forget(c);
}

struct store_counters *store_counters_free(struct store_counters *s)
{
    for (int i = 0; s && i < STORE_COUNTERS; i++)
        forget(&s->all[i]);
    free(s);
    return NULL;
}
