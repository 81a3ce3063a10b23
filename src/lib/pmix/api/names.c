/* names.c - keys, namespaces, ranks and processes: loading and comparing them.
 *
 * An empty namespace and the rank WILDCARD match everything: these are matches, not equality.
 */
#include "pmix.h"

/* Wipes the array, and copies the characters that fit.  Most names are short: a few bytes by hand
 * cost less than computing their length first. */
static inline void load(char *dest, const char *src, size_t max)
{
    enum { SHORT = 32 };
    size_t n = 0;

    if (src != NULL) {
        while (n < SHORT && src[n] != '\0') {
            dest[n] = src[n];
            n++;
        }
        if (n == SHORT) {
            size_t rest = strnlen(src + n, max - n);
            memmove(dest + n, src + n, rest);
            n += rest;
        }
    }
    memset(dest + n, 0, max + 1 - n);
}

void PMIx_Load_key(pmix_key_t key, const char *src)
{
    load(key, src, PMIX_MAX_KEYLEN);
}

bool PMIx_Check_key(const char *key, const char *str)
{
    return strncmp(key, str, PMIX_MAX_KEYLEN) == 0;
}

bool PMIx_Check_reserved_key(const char *key)
{
    return strncmp(key, "pmix", 4) == 0;
}

void PMIx_Load_nspace(pmix_nspace_t nspace, const char *str)
{
    load(nspace, str, PMIX_MAX_NSLEN);
}

bool PMIx_Nspace_invalid(const char *nspace)
{
    return nspace == NULL || nspace[0] == '\0';
}

bool PMIx_Check_nspace(const char *key1, const char *key2)
{
    return PMIx_Nspace_invalid(key1) || PMIx_Nspace_invalid(key2) ||
           strncmp(key1, key2, PMIX_MAX_NSLEN) == 0;
}

bool PMIx_Check_rank(pmix_rank_t a, pmix_rank_t b)
{
    return a == b || a == PMIX_RANK_WILDCARD || b == PMIX_RANK_WILDCARD;
}

bool PMIx_Rank_valid(pmix_rank_t a)
{
    return PMIX_RANK_IS_VALID(a);
}

bool PMIx_Check_procid(const pmix_proc_t *a, const pmix_proc_t *b)
{
    return PMIx_Check_rank(a->rank, b->rank) && PMIx_Check_nspace(a->nspace, b->nspace);
}

bool PMIx_Procid_invalid(const pmix_proc_t *p)
{
    return PMIx_Nspace_invalid(p->nspace) || p->rank == PMIX_RANK_INVALID;
}

void PMIx_Load_procid(pmix_proc_t *p, const char *ns, pmix_rank_t rk)
{
    load(p->nspace, ns, PMIX_MAX_NSLEN);
    p->rank = rk;
}

void PMIx_Proc_load(pmix_proc_t *p, const char *nspace, pmix_rank_t rank)
{
    PMIx_Load_procid(p, nspace, rank);
}

void PMIx_Xfer_procid(pmix_proc_t *dst, const pmix_proc_t *src)
{
    if (dst != src)
        PMIx_Load_procid(dst, src->nspace, src->rank);
}

/* "cluster:nspace", when it fits; the target is empty otherwise. */
void PMIx_Multicluster_nspace_construct(pmix_nspace_t target, pmix_nspace_t router,
                                        pmix_nspace_t nspace)
{
    size_t c = pmix_nslen(router), n = pmix_nslen(nspace);

    memset(target, 0, sizeof(pmix_nspace_t));
    if (c + n >= PMIX_MAX_NSLEN)
        return;
    memcpy(target, router, c);
    target[c] = ':';
    memcpy(target + c + 1, nspace, n);
}

/* Without a colon, the whole string is the cluster. */
void PMIx_Multicluster_nspace_parse(pmix_nspace_t target, pmix_nspace_t router,
                                    pmix_nspace_t nspace)
{
    size_t len = pmix_nslen(target), c = 0;

    while (c < len && target[c] != ':')
        c++;
    memset(router, 0, sizeof(pmix_nspace_t));
    memset(nspace, 0, sizeof(pmix_nspace_t));
    memcpy(router, target, c);
    if (c < len)
        memcpy(nspace, target + c + 1, len - c - 1);
}
