/* example.h - what the examples share: an example either ends with `NAME: good`, or says in one
 * sentence what is wrong (exit status 1) or what this launcher does not do (exit status 0).
 *
 * EXAMPLE is the name; include once.  No example waits for ever: after a minute it fails. */
#ifndef PMIX_EXAMPLE_H
#define PMIX_EXAMPLE_H

#include <pmix.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXAMPLE_SECONDS = 60 };

static pmix_proc_t me;
static uint32_t size; /* of the job */

__attribute__((format(printf, 1, 2), noreturn, unused)) static void fail(const char *format, ...)
{
    va_list args;

    printf(EXAMPLE ": WRONG, rank %d: ", (int)me.rank);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
    _exit(1);
}

/* Every process of the job sees it; the first one says it. */
__attribute__((noreturn, unused)) static void refused(const char *what, pmix_status_t rc)
{
    if (me.rank == 0)
        printf(EXAMPLE ": this launcher does not %s (%s)\n", what, PMIx_Error_string(rc));
    PMIx_Finalize(NULL, 0);
    exit(0);
}

__attribute__((unused)) static bool done(pmix_status_t rc)
{
    return rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED;
}

__attribute__((unused)) static void must(const char *what, pmix_status_t rc)
{
    if (!done(rc))
        fail("%s: %s (%d)", what, PMIx_Error_string(rc), rc);
}

/* How servers say that they, or their host, do not do something.  (OpenPMIx has several ways.) */
__attribute__((unused)) static bool is_refusal(pmix_status_t rc)
{
    return rc == PMIX_ERR_NOT_SUPPORTED || rc == PMIX_ERR_NOT_IMPLEMENTED ||
           rc == PMIX_ERR_UNREACH || rc == PMIX_ERR_NOT_AVAILABLE;
}

__attribute__((unused)) static pmix_proc_t process(pmix_rank_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

/* The value of a number, of any width that a server may choose. */
__attribute__((unused)) static uint64_t number(const pmix_value_t *v)
{
    switch (v->type) {
    case PMIX_UINT16: return v->data.uint16;
    case PMIX_UINT32: return v->data.uint32;
    case PMIX_UINT64: return v->data.uint64;
    case PMIX_SIZE: return v->data.size;
    case PMIX_INT: return (uint64_t)v->data.integer;
    case PMIX_PROC_RANK: return v->data.rank;
    default: fail("a number has type %d", (int)v->type);
    }
}

__attribute__((unused)) static uint64_t get_number(pmix_rank_t rank, const char *key)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    uint64_t n;

    must(key, PMIx_Get(&p, key, NULL, 0, &v));
    n = number(v);
    PMIX_VALUE_RELEASE(v);
    return n;
}

/* The text is the caller's. */
__attribute__((unused)) static char *get_text(pmix_rank_t rank, const char *key)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    char *text;

    must(key, PMIx_Get(&p, key, NULL, 0, &v));
    if (v->type != PMIX_STRING)
        fail("%s has type %d", key, (int)v->type);
    text = strdup(v->data.string);
    PMIX_VALUE_RELEASE(v);
    return text;
}

__attribute__((unused)) static void put_number(const char *key, uint32_t n)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, &n, PMIX_UINT32);
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
}

/* A fence of the whole job; with `collect`, it carries what was committed. */
__attribute__((unused)) static void fence(bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
}

/* The answers to a query of one key, with one qualifier unless that is NULL. */
__attribute__((unused)) static pmix_status_t ask(const char *key, const char *with,
                                                 const char *what, pmix_info_t **answers, size_t *n)
{
    pmix_query_t query;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&query);
    query.keys = calloc(2, sizeof *query.keys);
    query.keys[0] = strdup(key);
    if (with) {
        PMIX_QUERY_QUALIFIERS_CREATE(&query, 1);
        PMIX_INFO_LOAD(&query.qualifiers[0], with, what, PMIX_STRING);
    }
    rc = PMIx_Query_info(&query, 1, answers, n);
    PMIX_QUERY_DESTRUCT(&query);
    return rc;
}

__attribute__((unused)) static void begin(void)
{
    alarm(EXAMPLE_SECONDS);
    must("init", PMIx_Init(&me, NULL, 0));
    size = (uint32_t)get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
}

__attribute__((unused)) static int end(void)
{
    must("finalize", PMIx_Finalize(NULL, 0));
    if (me.rank == 0)
        printf(EXAMPLE ": good\n");
    return 0;
}

#endif
