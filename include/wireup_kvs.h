/* wireup_kvs.h - a key-value service of your own under libpmi.so.0.
 *
 * If the environment has WIREUP_PMI_KVS=/path/of/a/shared/object, PMI_Init opens that object
 * instead of connecting to a process manager.  PMI_KVS_Put, PMI_KVS_Get and PMI_Barrier then call
 * its functions below; the rank and the size of the job are PMI_RANK and PMI_SIZE, its name is
 * PMI_JOBID (or "job").  What needs a process manager (spawning, names, barriers of groups) is
 * refused, PMI_Abort ends the process with its code.  A program with more rights than its user
 * (set-uid) refuses to start with this variable.
 *
 * The library makes one call at a time, for all threads, and none before wireup_kvs_open() or after
 * wireup_kvs_close(). Keys and values are texts; keys with the prefix PMI_ are only asked for
 * (PMI_process_mapping: without it each process is alone on its node).
 */
#ifndef WIREUP_KVS_H
#define WIREUP_KVS_H

#include <stddef.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Results; any other number is a failure. */
enum { WIREUP_KVS_OK = 0, WIREUP_KVS_NOT_FOUND = 1, WIREUP_KVS_TOO_LONG = 2 };

/* Joins the job; *kvs_p is the first argument of the other functions. */
int wireup_kvs_open(const char *job, unsigned rank, unsigned size, void **kvs_p);

/* Puts a value, which the others see after the next fence at the latest. */
int wireup_kvs_put(void *kvs, const char *key, const char *value);

/* Copies the value and its NUL to `value`, which has that room.  NOT_FOUND; TOO_LONG: it does not
 * fit. */
int wireup_kvs_get(void *kvs, const char *key, char *value, size_t room);

/* Returns when all processes of the job have called it; whatever one of them has put before is seen
 * by all then. */
int wireup_kvs_fence(void *kvs);

/* Leaves the job; frees kvs. */
void wireup_kvs_close(void *kvs);

#if defined(__cplusplus)
}
#endif

#endif
