/* pmix_rank.h - what test programs with several PMIx ranks share: who a rank is, what it complains
 * of, and waiting for counters.  Include once; PROGRAM is the program's name. */
#ifndef WIREUP_TESTS_PMIX_RANK_H
#define WIREUP_TESTS_PMIX_RANK_H

#include <pmix.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { RANK_COMPLAINTS = 20, RANK_PATIENCE = 150000 /* of 2 ms */ };

static pmix_proc_t me;
__attribute__((unused)) static uint32_t size;
static const char *mode;
static atomic_int wrong;

__attribute__((format(printf, 1, 2), unused)) static void complain(const char *format, ...)
{
    va_list args;

    if (wrong++ > RANK_COMPLAINTS)
        return;
    printf(PROGRAM " %s WRONG rank %u: ", mode, me.rank);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

__attribute__((unused)) static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        complain("%s: %s", what, PMIx_Error_string(rc));
}

__attribute__((unused)) static pmix_proc_t process(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

__attribute__((unused)) static void fence(void)
{
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
}

/* The time only catches hangs. */
__attribute__((unused)) static void wait_for(const char *what, atomic_int *counter, int n)
{
    for (int i = 0; i < RANK_PATIENCE && *counter < n; i++)
        usleep(2000);
    if (*counter != n)
        complain("%s: %d, not %d", what, (int)*counter, n);
}

#endif
