/* rand.h - pseudo-random numbers from a seed, for simulations and tests (splitmix64).  Nothing
 * secret.
 */
#ifndef WIREUP_BASE_RAND_H
#define WIREUP_BASE_RAND_H

#include <stdint.h>

static inline uint64_t rand_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0..n-1; n > 0. */
static inline uint64_t rand_below(uint64_t *state, uint64_t n)
{
    return rand_next(state) % n;
}

#endif
