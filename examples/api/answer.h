/* answer.h - waits for a callback: the calls that end in `_nb` return at once, and the library's
 * own thread calls back.  Nothing of PMIx may be waited for in a callback, so it only notes what
 * came. */
#ifndef PMIX_EXAMPLE_ANSWER_H
#define PMIX_EXAMPLE_ANSWER_H

#include <pthread.h>

struct answer {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool here;
    pmix_status_t status;
    size_t number; /* how many attributes, names or distances; or a reference */
    pmix_nspace_t job;
};

/* clang-format off */
#define ANSWER_NONE { .lock = PTHREAD_MUTEX_INITIALIZER, .came = PTHREAD_COND_INITIALIZER }
/* clang-format on */

__attribute__((unused)) static void answer_note(struct answer *a, pmix_status_t status, size_t n)
{
    pthread_mutex_lock(&a->lock);
    a->status = status;
    a->number = n;
    a->here = true;
    pthread_cond_signal(&a->came);
    pthread_mutex_unlock(&a->lock);
}

/* The callbacks for each kind of answer. */
__attribute__((unused)) static void on_done(pmix_status_t status, void *arg)
{
    answer_note(arg, status, 0);
}

__attribute__((unused)) static void on_infos(pmix_status_t status, pmix_info_t *infos, size_t n,
                                             void *arg, pmix_release_cbfunc_t release,
                                             void *release_arg)
{
    (void)infos;
    answer_note(arg, status, n);
    if (release)
        release(release_arg);
}

__attribute__((unused)) static void on_reference(pmix_status_t status, size_t reference, void *arg)
{
    answer_note(arg, status, reference);
}

/* What the call has returned: PMIX_SUCCESS means that the callback follows; any other status is the
 * end of it. */
__attribute__((unused)) static pmix_status_t answer_of(struct answer *a, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        return rc;
    pthread_mutex_lock(&a->lock);
    while (!a->here)
        pthread_cond_wait(&a->came, &a->lock);
    a->here = false;
    pthread_mutex_unlock(&a->lock);
    return a->status;
}

/* Done, or refused in words of the Standard: not every launcher does everything. */
__attribute__((unused)) static void may(const char *what, pmix_status_t rc)
{
    if (!done(rc) && !is_refusal(rc) && rc != PMIX_ERR_NOT_FOUND)
        fail("%s: %s (%d)", what, PMIx_Error_string(rc), rc);
}

#endif
