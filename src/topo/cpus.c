/* cpus.c - see cpus.h. */
#include "topo/cpus.h"

#include <errno.h>
#include <sched.h>

struct cpus cpus_new(struct arena *a, size_t n)
{
    struct cpus s = { NULL, (n + CPUS_WORD_BITS - 1) / CPUS_WORD_BITS };

    if (s.words == 0)
        s.words = 1;
    s.bits = arena_array(a, s.words, sizeof *s.bits);
    return s;
}

/* Sets of different sizes: words beyond the shorter one are empty. */
static unsigned long word(struct cpus s, size_t i)
{
    return i < s.words ? s.bits[i] : 0;
}

void cpus_or(struct cpus to, struct cpus from)
{
    for (size_t i = 0; i < to.words; i++)
        to.bits[i] |= word(from, i);
}

void cpus_and(struct cpus to, struct cpus from)
{
    for (size_t i = 0; i < to.words; i++)
        to.bits[i] &= word(from, i);
}

bool cpus_empty(struct cpus s)
{
    for (size_t i = 0; i < s.words; i++) {
        if (s.bits[i])
            return false;
    }
    return true;
}

bool cpus_meet(struct cpus a, struct cpus b)
{
    for (size_t i = 0; i < a.words; i++) {
        if (a.bits[i] & word(b, i))
            return true;
    }
    return false;
}

bool cpus_within(struct cpus inner, struct cpus outer)
{
    for (size_t i = 0; i < inner.words; i++) {
        if (inner.bits[i] & ~word(outer, i))
            return false;
    }
    return true;
}

uint32_t cpus_count(struct cpus s)
{
    uint32_t n = 0;

    for (size_t i = 0; i < s.words; i++)
        n += (uint32_t)__builtin_popcountl(s.bits[i]);
    return n;
}

int cpus_allowed(struct arena *a, struct cpus *set_p)
{
    /* The kernel requires room for all possible processors, and returns EINVAL for less. */
    for (size_t n = 1024; n <= CPUS_MAX; n *= 8) {
        struct cpus s = cpus_new(a, n);
        if (!s.bits)
            return -ENOMEM;
        if (sched_getaffinity(0, s.words * sizeof *s.bits, (cpu_set_t *)(void *)s.bits) == 0) {
            *set_p = s;
            return 0;
        }
        if (errno != EINVAL)
            return -errno;
    }
    return -EINVAL;
}

void cpus_list(struct cpus s, struct buf *out)
{
    size_t n = s.words * CPUS_WORD_BITS, end;
    const char *comma = "";

    for (size_t cpu = 0; cpu < n; cpu = end + 1) {
        end = cpu;
        if (!cpus_has(s, cpu))
            continue;
        while (end + 1 < n && cpus_has(s, end + 1))
            end++;
        buf_printf(out, end > cpu ? "%s%zu-%zu" : "%s%zu", comma, cpu, end);
        comma = ",";
    }
}
