/* pmix_locality.c - comparing locality texts; see pmix_topo.h.  Pure: needs no hwloc. */
#include <limits.h>

#include "topo/pmix_levels.h"
#include "topo/cpus.h"
#include "topo/pmix_topo.h"

const struct ptopo_level ptopo_levels[PTOPO_LEVELS] = {
    { "SK", PMIX_LOCALITY_SHARE_PACKAGE }, { "L3", PMIX_LOCALITY_SHARE_L3CACHE },
    { "L2", PMIX_LOCALITY_SHARE_L2CACHE }, { "L1", PMIX_LOCALITY_SHARE_L1CACHE },
    { "CR", PMIX_LOCALITY_SHARE_CORE },    { "HT", PMIX_LOCALITY_SHARE_HWTHREAD },
    { "NM", PMIX_LOCALITY_SHARE_NUMA },
};

struct numbers {
    unsigned long bits[CPUS_MAX / CPUS_WORD_BITS];
};

/* "0-3,8": marks the numbers, or checks whether one of them is marked already. */
static int each_number(struct slice list, struct numbers *n, bool mark, bool *hit_p)
{
    while (list.len) {
        struct slice one = slice_cut(&list, ',');
        struct slice first = slice_cut(&one, '-');
        uint32_t from, to;
        if (!slice_u32(first, &from))
            return PTOPO_MALFORMED;
        to = from;
        if (one.ptr && one.ptr > first.ptr + first.len && !slice_u32(one, &to))
            return PTOPO_MALFORMED;
        if (to < from || to >= CPUS_MAX)
            return PTOPO_MALFORMED;
        for (uint32_t i = from; i <= to; i++) {
            unsigned long bit = 1ul << i % CPUS_WORD_BITS;
            if (mark)
                n->bits[i / CPUS_WORD_BITS] |= bit;
            else if (n->bits[i / CPUS_WORD_BITS] & bit)
                *hit_p = true;
        }
    }
    return 0;
}

/* The list of one level in a text; empty if there is none. */
static struct slice level_of(struct slice text, const char *name)
{
    while (text.len) {
        struct slice token = slice_cut(&text, ':');
        if (slice_starts(token, slice_str(name)))
            return slice_skip(token, 2);
    }
    return SLICE_NULL;
}

int ptopo_shared(const char *a, const char *b, pmix_locality_t *shared_p)
{
    struct slice texts[2] = { slice_str(a), slice_str(b) };
    pmix_locality_t shared = PMIX_LOCALITY_SHARE_NODE;
    size_t known[2] = { 0, 0 };

    for (size_t i = 0; i < 2; i++)
        if (slice_starts(texts[i], SLICE("hwloc:")))
            texts[i] = slice_skip(texts[i], 6);
    for (size_t i = 0; i < PTOPO_LEVELS; i++) {
        struct slice one = level_of(texts[0], ptopo_levels[i].name);
        struct slice other = level_of(texts[1], ptopo_levels[i].name);
        struct numbers n = { { 0 } };
        bool hit = false;
        known[0] += one.len > 0;
        known[1] += other.len > 0;
        if (each_number(one, &n, true, NULL) || each_number(other, &n, false, &hit))
            return PTOPO_MALFORMED;
        if (hit)
            shared |= ptopo_levels[i].bit;
    }
    if (!known[0] || !known[1])
        return PTOPO_MALFORMED;
    *shared_p = shared;
    return 0;
}
