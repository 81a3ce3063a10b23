/* nopmixget.c - preloaded, it makes every PMIx_Get fail: a suite that stays green then is none. */
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
