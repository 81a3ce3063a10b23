/* faulty.c - has the faults that sanitizers are there to find.
 *
 *   faulty FAULTS      leak, overflow, race; now: ends by exit_now()
 */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_now.h"

static volatile int shared;
static void *volatile kept;

static void *count(void *unused)
{
    (void)unused;
    shared++;
    return NULL;
}

/* The words on the stack may still hold the pointer. */
static __attribute__((noinline)) void leak(int n)
{
    kept = malloc(100);
    memset(kept, n, 100);
    kept = NULL;
    kept = malloc(1);
    free(kept);
    kept = NULL;
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "";
    pthread_t two[2];

    if (strstr(fault, "leak"))
        leak(argc);
    if (strstr(fault, "overflow"))
        shared = INT_MAX - 1 + argc;
    for (int i = 0; strstr(fault, "race") && i < 2; i++)
        pthread_create(&two[i], NULL, count, NULL);
    for (int i = 0; strstr(fault, "race") && i < 2; i++)
        pthread_join(two[i], NULL);
    if (strstr(fault, "now"))
        exit_now(0);
    return 0;
}
