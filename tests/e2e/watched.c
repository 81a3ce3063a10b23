/* watched.c - a process of a job that others watch: rounds of data and fences, each checked, until
 * the file exists that the argument names.
 *
 * In each round every rank puts a value, and all fetch those of two others after the fence; rank
 * 0's says whether it was the last round.  At the end each prints `rank RANK good`, and how many
 * rounds there were. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "watched"
#include "pmix_rank.h"

enum { PAUSE_US = 2000, ROUND_LAST = 1 << 30 };

static uint32_t fetch(uint32_t rank, const char *key)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    uint32_t got = 0;
    pmix_status_t rc = PMIx_Get(&p, key, NULL, 0, &v);

    must("get", rc);
    if (rc == PMIX_SUCCESS) {
        got = v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    }
    return got;
}

/* True: it was the last one. */
static bool go_round(uint32_t round, const char *file)
{
    bool data = true, last = me.rank == 0 && access(file, F_OK) == 0;
    uint32_t value = round * 64 + me.rank + (last ? ROUND_LAST : 0), next = (me.rank + 1) % size;
    pmix_value_t v;
    pmix_info_t info;
    char key[32];

    snprintf(key, sizeof key, "round-%u", round % 8);
    PMIX_VALUE_LOAD(&v, &value, PMIX_UINT32);
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
    must("commit", PMIx_Commit());
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &data, PMIX_BOOL);
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
    value = fetch(next, key) & ~(uint32_t)ROUND_LAST;
    if (value != round * 64 + next)
        complain("round %u: rank %u has put %u", round, next, value);
    value = fetch(0, key);
    must("second fence", PMIx_Fence(NULL, 0, NULL, 0)); /* the key is used again */
    return value & ROUND_LAST;
}

int main(int argc, char **argv)
{
    pmix_value_t *v = NULL;
    pmix_proc_t all;
    uint32_t round = 1;

    mode = "rounds";
    must("init", PMIx_Init(&me, NULL, 0));
    all = process(PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    if (argc < 2 || !v)
        return 2;
    size = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    while (!go_round(round, argv[1]) && !wrong)
        usleep(PAUSE_US), round++;
    must("finalize", PMIx_Finalize(NULL, 0));
    printf("rank %u %s after %s rounds\n", me.rank, wrong ? "WRONG" : "good",
           round > 10 ? "many" : "few");
    return wrong != 0;
}
