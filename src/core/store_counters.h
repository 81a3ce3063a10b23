/* store_counters.h - the counters of a job's store (key_store.h) at which its processes meet: which
 * ranks have counted.
 *
 * PyTorch's barrier adds one to a key, and waits, or asks, until all have.  For reports only
 * (report/who.h): the latest counters are known, and what there is no memory for is not reported.
 */
#ifndef WIREUP_CORE_STORE_COUNTERS_H
#define WIREUP_CORE_STORE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

enum { STORE_COUNTERS = 16, STORE_COUNTER_KEY = 200 };

struct store_counter {
    char key[STORE_COUNTER_KEY];
    size_t len;
    unsigned char *ranks; /* bits; NULL: none is known here */
    uint32_t count;       /* of them */
    uint64_t since_ns;    /* the first */
    uint64_t asked_ns;    /* somebody has asked how many there are; 0: nobody */
};

struct store_counters {
    struct store_counter all[STORE_COUNTERS];
};

/* *s NULL: it is made.  A rank of nprocs has added that much; 0: it asks. */
void store_counters_add(struct store_counters **s_p, struct slice key, uint32_t rank,
                        uint32_t nprocs, int64_t more, uint64_t now_ns);
struct store_counters *
store_counters_free(struct store_counters *s); /* NULL is harmless; returns NULL */

static inline struct slice store_counter_key(const struct store_counter *c)
{
    return slice_mem(c->key, c->len);
}

static inline bool store_counter_has(const struct store_counter *c, uint32_t rank)
{
    return c->ranks[rank / 8] >> rank % 8 & 1;
}

#endif
