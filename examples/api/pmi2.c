/* pmi2.c - every call of PMI-2, with what examples/pmi2/attributes.c leaves out.
 *
 *   wireup -n 2 ./pmi2 */
#include <pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void must(const char *what, int rc)
{
    if (rc == PMI2_SUCCESS)
        return;
    printf("pmi2: WRONG, rank %d: %s: %d\n", rank, what, rc);
    exit(1);
}

/* The connection tells everything at once; later calls repeat it. */
static void begin(void)
{
    int spawned, appnum, again;

    must("init", PMI2_Init(&spawned, &size, &rank, &appnum));
    if (!PMI2_Initialized())
        must("initialized", PMI2_FAIL);
    must("rank", PMI2_Job_GetRank(&again));
    must("size", PMI2_Info_GetSize(&again));
}

/* Each puts its address, all meet in a fence, and each gets that of its neighbour: the name of the
 * process that has put it is a hint. */
static void exchange(void)
{
    char job[256], key[64], value[256];
    int length, next = (rank + 1) % size;

    must("name of the job", PMI2_Job_GetId(job, sizeof job));
    snprintf(key, sizeof key, "api.address-%d", rank);
    must("put", PMI2_KVS_Put(key, "host:4000"));
    must("fence", PMI2_KVS_Fence());
    snprintf(key, sizeof key, "api.address-%d", next);
    must("get", PMI2_KVS_Get(job, next, key, value, sizeof value, &length));
}

/* Lists of numbers as attributes: of the job, by the process manager; of the node, by its
 * processes. */
static void numbers(void)
{
    int list[64], n = 0, found = 0;

    must("of the job", PMI2_Info_GetJobAttrIntArray("universeSize", list, 64, &n, &found));
    if (rank == 0)
        must("put", PMI2_Info_PutNodeAttr("api.ports", "1,2,3"));
    must("fence", PMI2_KVS_Fence());
    must("of the node", PMI2_Info_GetNodeAttrIntArray("api.ports", list, 64, &n, &found));
}

/* Slurm's ring: each gives a value, and gets those of both neighbours; no key, no fence. */
static void ring(void)
{
    char left[256], right[256];
    int place, n;

    must("ring", PMIX_Ring("host:4000", &place, &n, left, right, sizeof left));
}

/* A port under a name that another job may look up. */
static void names(void)
{
    char port[256];

    if (rank != 0)
        return;
    must("publish", PMI2_Nameserv_publish("api.pmi2", NULL, "host:4000"));
    must("look up", PMI2_Nameserv_lookup("api.pmi2", NULL, port, sizeof port));
    must("unpublish", PMI2_Nameserv_unpublish("api.pmi2", NULL));
}

/* One process more, as a job of its own; whose space may then be read while both are connected. */
static void spawn(void)
{
    const char *commands[] = { "true" };
    const int counts[] = { 1 }, no_infos[] = { 0 };
    int no_words[] = { 0 }, error = 0;
    char job[256] = "";

    if (rank == 0) {
        must("spawn", PMI2_Job_Spawn(1, commands, no_words, NULL, counts, no_infos, NULL, 0, NULL,
                                     job, sizeof job, &error));
        if (PMI2_Job_Connect(job, NULL) == PMI2_SUCCESS) /* it may have ended, here and below */
            PMI2_Job_Disconnect(job);
    }
    must("fence", PMI2_KVS_Fence());
}

/* Ends the whole job, or with 0 only this process. */
__attribute__((unused)) static void give_up(void)
{
    PMI2_Abort(1, "no way on");
}

int main(void)
{
    begin();
    exchange();
    numbers();
    ring();
    names();
    spawn();
    must("finalize", PMI2_Finalize());
    if (rank == 0)
        printf("pmi2: good\n");
    return 0;
}
