/* allocation.c - a job asks for a node of its own while it runs, and gives it back.
 * What comes back is either the name of an allocation, which a spawn may name to use its nodes, or
 * the reason why there is none: elastic programs must live with both.
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

/* Keeps its name, and shows what else there is. */
static void show(const pmix_info_t *results, size_t n, char *id, size_t room)
{
    for (size_t i = 0; i < n; i++) {
        if (results[i].value.type == PMIX_STRING)
            printf("%s is %s\n", results[i].key, results[i].value.data.string);
        if (PMIX_CHECK_KEY(&results[i], PMIX_ALLOC_ID))
            snprintf(id, room, "%s", results[i].value.data.string);
    }
}

int main(void)
{
    char id[256] = "";
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
    rc = PMIx_Allocation_request(PMIX_ALLOC_NEW, wish, 3, &results, &n);
    if (!done(rc)) {
        printf("allocation: this launcher %s (%s)\n", reason(rc), PMIx_Error_string(rc));
        PMIx_Finalize(NULL, 0);
        return 0;
    }
    show(results, n, id, sizeof id);
    PMIX_INFO_FREE(results, n);
    PMIX_INFO_LOAD(&wish[0], PMIX_ALLOC_ID, id, PMIX_STRING);
    must("release", PMIx_Allocation_request(PMIX_ALLOC_RELEASE, wish, 1, &results, &n));
    return end();
}
