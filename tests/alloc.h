/* alloc.h - memory that is counted, and refused when a test says so.
 *
 * A program linked with `alloc_wrapped` (tests/meson.build) has its calls of malloc and its kin go
 * through alloc.c, wherever in our own code they are.  What the C library takes for itself is not
 * seen.
 */
#ifndef WIREUP_TESTS_ALLOC_H
#define WIREUP_TESTS_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks that are allocated and not freed. */
int64_t alloc_live(void);

/* Bytes in them, and the most there were since alloc_peak_reset(). */
size_t alloc_bytes(void);
size_t alloc_peak(void);
void alloc_peak_reset(void);

/* Requests so far, since the last alloc_fail(). */
uint64_t alloc_count(void);

/* The nth request from now on (from 1) is refused, and with `on` all later ones; 0: none. */
void alloc_fail(uint64_t nth, bool on);

/* Between true and false nothing is refused or counted as a request: the test's own memory.  May be
 * nested. */
void alloc_pause(bool begin);

#endif
