/* client_invite_wait.c - the blocking forms of invite, join and leave: they wait for the callback
 * of the non-blocking ones, which keep to the deadline. */
#include <stdlib.h>

#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

struct latch {
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool open;
    pmix_status_t status;
    pmix_info_t *results;
    size_t nresults;
};

static void latch_free(struct latch *l)
{
    PMIx_Info_free(l->results, l->nresults);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->wake);
    free(l);
}

static struct latch *latch_new(void)
{
    struct latch *l = calloc(1, sizeof *l);

    if (l) {
        pthread_mutex_init(&l->mutex, NULL);
        pthread_cond_init(&l->wake, NULL);
    }
    return l;
}

static void open_latch(pmix_status_t status, pmix_info_t *infos, size_t n, void *arg,
                       pmix_release_cbfunc_t release, void *release_arg)
{
    struct latch *l = arg;
    pmix_status_t rc;

    pthread_mutex_lock(&l->mutex);
    l->status = status;
    rc = infos_copy(infos, n, &l->results);
    if (rc == PMIX_SUCCESS)
        l->nresults = n;
    else if (status == PMIX_SUCCESS)
        l->status = rc;
    if (release)
        release(release_arg);
    l->open = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->mutex); /* the waiting call frees it */
}

static void open_by_status(pmix_status_t status, void *arg)
{
    open_latch(status, NULL, 0, arg, NULL, NULL);
}

static pmix_status_t await_latch(struct latch *l, pmix_info_t **results, size_t *nresults)
{
    pmix_status_t rc;

    pthread_mutex_lock(&l->mutex);
    while (!l->open)
        pthread_cond_wait(&l->wake, &l->mutex);
    pthread_mutex_unlock(&l->mutex);
    rc = l->status;
    if (results && nresults) {
        *results = l->results;
        *nresults = l->nresults;
        l->results = NULL;
        l->nresults = 0;
    }
    latch_free(l);
    return rc;
}

/* rc is the result of the non-blocking call: if it was started, its callback will come. */
static pmix_status_t see_through(struct latch *l, pmix_status_t rc, pmix_info_t **results,
                                 size_t *nresults)
{
    if (results && nresults) {
        *results = NULL;
        *nresults = 0;
    }
    if (rc == PMIX_SUCCESS)
        return await_latch(l, results, nresults);
    latch_free(l);
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[], size_t nprocs,
                                const pmix_info_t info[], size_t ninfo, pmix_info_t **results,
                                size_t *nresult)
{
    struct latch *l = latch_new();
    pmix_status_t rc;

    if (!l)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Group_invite_nb(grp, procs, nprocs, info, ninfo, open_latch, l);
    return see_through(l, rc, results, nresult);
}

pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader, pmix_group_opt_t opt,
                              const pmix_info_t info[], size_t ninfo, pmix_info_t **results,
                              size_t *nresult)
{
    struct latch *l = latch_new();
    pmix_status_t rc;

    if (!l)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Group_join_nb(grp, leader, opt, info, ninfo, open_latch, l);
    return see_through(l, rc, results, nresult);
}

pmix_status_t PMIx_Group_leave(const char grp[], const pmix_info_t info[], size_t ninfo)
{
    struct latch *l = latch_new();
    pmix_status_t rc;

    if (!l)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Group_leave_nb(grp, info, ninfo, open_by_status, l);
    return see_through(l, rc, NULL, NULL);
}
