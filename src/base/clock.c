/* clock.c - see clock.h. */
#include "base/clock.h"

#include <sys/random.h>
#include <time.h>

static uint64_t read_clock(clockid_t which)
{
    struct timespec t;

    clock_gettime(which, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t clock_seed(void)
{
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = clock_now_ns();
    return seed;
}
