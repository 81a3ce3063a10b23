/* client_thread.c - see client_thread.h. */
#include "lib/pmix/client/client_thread.h"

#include <signal.h>

#include "base/slice.h"
#include "lib/pmix/values/value.h"

static bool read_item(struct slice item, cpu_set_t *set)
{
    struct slice rest = slice_trim(item);
    struct slice from = slice_trim(slice_cut(&rest, '-'));
    uint32_t first, last;

    if (!slice_u32(from, &first))
        return false;
    last = first;
    if (slice_find(item, '-') < item.len && !slice_u32(slice_trim(rest), &last))
        return false;
    if (first > last || last >= CPU_SETSIZE)
        return false;
    for (uint32_t i = first; i <= last; i++)
        CPU_SET(i, set);
    return true;
}

static bool read_list(const char *text, struct client_thread_cpus *cpus)
{
    struct slice rest = slice_str(text);

    CPU_ZERO(&cpus->set);
    cpus->given = rest.len > 0;
    while (rest.len) {
        if (!read_item(slice_cut(&rest, ','), &cpus->set))
            return false;
    }
    return cpus->given;
}

/* The kernel takes a set of which some exist; all of them are wanted. */
static bool is_usable(const cpu_set_t *set)
{
    cpu_set_t before, now;
    bool usable;

    if (sched_getaffinity(0, sizeof before, &before) < 0)
        return false;
    usable = sched_setaffinity(0, sizeof *set, set) == 0 &&
             sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(set, &now);
    sched_setaffinity(0, sizeof before, &before);
    return usable;
}

pmix_status_t client_thread_cpus_read(const pmix_info_t *infos, size_t n,
                                      struct client_thread_cpus *cpus_p)
{
    const char *list = NULL;
    bool required = false;

    cpus_p->given = false;
    for (size_t i = 0; infos && i < n; i++) {
        if (PMIx_Check_key(infos[i].key, PMIX_BIND_PROGRESS_THREAD))
            list = infos[i].value.data.string;
        else if (PMIx_Check_key(infos[i].key, PMIX_BIND_REQUIRED))
            required = PMIx_Value_true(&infos[i].value) != PMIX_BOOL_FALSE;
    }
    if (!list)
        return PMIX_SUCCESS;
    if (!read_list(list, cpus_p))
        return PMIX_ERR_BAD_PARAM;
    cpus_p->given = is_usable(&cpus_p->set);
    return cpus_p->given || !required ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

int client_thread_create(pthread_t *thread_p, const struct client_thread_cpus *cpus,
                         void *(*run)(void *arg), void *arg)
{
    sigset_t all, before;
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);

    if (rc)
        return rc;
    if (cpus->given)
        pthread_attr_setaffinity_np(&attr, sizeof cpus->set, &cpus->set);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread_p, &attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}
