/* cpus.h - sets of processors as the kernel takes them: plain arrays of unsigned long.
 *
 * All sets of one computation have the same number of words; none owns memory.  Processors are
 * numbered as the system numbers them.
 */
#ifndef WIREUP_TOPO_CPUS_H
#define WIREUP_TOPO_CPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum { CPUS_WORD_BITS = (int)(8 * sizeof(unsigned long)) };

/* More processors than any machine has; numbers in options are checked against it. */
enum { CPUS_MAX = 65536 };

struct cpus {
    unsigned long *bits;
    size_t words;
};

/* An empty set with room for processors 0..n-1; bits is NULL without memory. */
struct cpus cpus_new(struct arena *a, size_t n);

static inline bool cpus_has(struct cpus s, size_t cpu)
{
    return cpu / CPUS_WORD_BITS < s.words &&
           (s.bits[cpu / CPUS_WORD_BITS] >> (cpu % CPUS_WORD_BITS) & 1);
}

/* cpu must be below words * CPUS_WORD_BITS. */
static inline void cpus_add(struct cpus s, size_t cpu)
{
    s.bits[cpu / CPUS_WORD_BITS] |= 1ul << (cpu % CPUS_WORD_BITS);
}

void cpus_or(struct cpus to, struct cpus from);
void cpus_and(struct cpus to, struct cpus from);
bool cpus_empty(struct cpus s);
bool cpus_meet(struct cpus a, struct cpus b);
bool cpus_within(struct cpus inner, struct cpus outer);
uint32_t cpus_count(struct cpus s);

/* The processors this process may use (sched_getaffinity).  0, -errno. */
int cpus_allowed(struct arena *a, struct cpus *set_p);

/* "0-3,8" */
void cpus_list(struct cpus s, struct buf *out);

#endif
