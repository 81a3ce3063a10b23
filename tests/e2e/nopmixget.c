/* nopmixget.c - preloaded, it makes every PMIx_Get fail: a suite that stays green then is none.
 *
 * Every log fails, too, so that Open MPI prints in the process what went wrong.  The daemon of Open
 * MPI 4.1 passes what its processes log to another of its threads, and copies it after that thread
 * may have freed it: where two processes log at the same time, mpirun now and then crashes and
 * leaves a process that is just starting. */
#include <pmix.h>

pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                       size_t ninfo, pmix_value_t **val)
{
    (void)proc;
    (void)key;
    (void)info;
    (void)ninfo;
    *val = NULL;
    return PMIX_ERR_NOT_FOUND;
}

pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                          size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)data;
    (void)ndata;
    (void)directives;
    (void)ndirs;
    (void)cbfunc;
    (void)cbdata;
    return PMIX_ERR_NOT_SUPPORTED;
}

pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                       size_t ndirs)
{
    return PMIx_Log_nb(data, ndata, directives, ndirs, NULL, NULL);
}
