/* allocation.c - a job asks for another node while it runs.
 * What comes back is either the number of a request that was granted, whose nodes a spawn may use,
 * or the reason why there is none: elastic programs must live with both.
 *
 *   wireup -n 1 ./allocation */
#define EXAMPLE "allocation"
#include "example.h"

static const char *reason(pmix_status_t rc)
{
    switch (rc) {
    case PMIX_ERR_OUT_OF_RESOURCE: return "has no node left";
    case PMIX_ERR_TIMEOUT: return "gets no node in time";
    default: return "has no nodes to give";
    }
}

int main(void)
{
    pmix_info_t wish[3], *results = NULL;
    uint64_t nodes = 1;
    int seconds = 10;
    size_t n = 0;
    pmix_status_t rc;

    begin();
    if (me.rank != 0)
        return end();
    PMIX_INFO_LOAD(&wish[0], PMIX_ALLOC_REQ_ID, "example.more", PMIX_STRING);
    PMIX_INFO_LOAD(&wish[1], PMIX_ALLOC_NUM_NODES, &nodes, PMIX_UINT64);
    PMIX_INFO_LOAD(&wish[2], PMIX_TIMEOUT, &seconds, PMIX_INT);
    rc = PMIx_Allocation_request(PMIX_ALLOC_EXTEND, wish, 3, &results, &n);
    if (!done(rc)) {
        printf("allocation: this launcher %s (%s)\n", reason(rc), PMIx_Error_string(rc));
        PMIx_Finalize(NULL, 0);
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (results[i].value.type == PMIX_STRING)
            printf("allocation: %s is %s\n", results[i].key, results[i].value.data.string);
    }
    return end();
}
