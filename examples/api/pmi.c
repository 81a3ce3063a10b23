/* pmi.c - every call of PMI-1, with what examples/pmi1/ring.c leaves out.
 *
 *   wireup -n 2 ./pmi */
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char space[256];

static void must(const char *what, int rc)
{
    if (rc == PMI_SUCCESS)
        return;
    printf("pmi: WRONG, rank %d: %s: %d\n", rank, what, rc);
    exit(1);
}

/* Started by PMI_Spawn_multiple or by a launcher; a library may ask whether another one has begun.
 */
static void begin(void)
{
    PMI_BOOL up;
    int spawned;

    must("init", PMI_Init(&spawned));
    must("initialized", PMI_Initialized(&up));
    must("rank", PMI_Get_rank(&rank));
    must("size", PMI_Get_size(&size));
    must("name of the space", PMI_KVS_Get_my_name(space, sizeof space));
    if (!up || spawned)
        must("begin", PMI_FAIL);
}

/* The job: how many processes it may have, which of its programs this is, its name in two forms. */
static void job(void)
{
    int most, number, room;
    char *id;

    must("universe", PMI_Get_universe_size(&most));
    must("program", PMI_Get_appnum(&number));
    must("room", PMI_Get_id_length_max(&room));
    id = calloc(1, (size_t)room);
    must("id", PMI_Get_id(id, room));
    must("domain", PMI_Get_kvs_domain_id(id, room));
    free(id);
}

/* The processes of this node: a library shares memory with them. */
static void node(void)
{
    int n, *ranks;

    must("how many", PMI_Get_clique_size(&n));
    ranks = calloc((size_t)n, sizeof *ranks);
    must("which", PMI_Get_clique_ranks(ranks, n));
    free(ranks);
}

/* Room for names, keys and values, each with its NUL. */
static void lengths(void)
{
    int name, key, value;

    must("names", PMI_KVS_Get_name_length_max(&name));
    must("keys", PMI_KVS_Get_key_length_max(&key));
    must("values", PMI_KVS_Get_value_length_max(&value));
}

/* A space of one's own, beside that of the job; its pairs one after the other. */
static void own_space(void)
{
    char own[256], key[256] = "", value[1024];
    int rc, pairs = 0;

    rc = PMI_KVS_Create(own, sizeof own);
    if (rc != PMI_SUCCESS) /* this process manager has one space per job */
        return;
    must("put", PMI_KVS_Put(own, "colour", "blue"));
    must("commit", PMI_KVS_Commit(own));
    for (rc = PMI_KVS_Iter_first(own, key, sizeof key, value, sizeof value);
         rc == PMI_SUCCESS && key[0];
         rc = PMI_KVS_Iter_next(own, key, sizeof key, value, sizeof value))
        pairs++;
    must("remove", PMI_KVS_Destroy(own));
}

/* Some processes meet, others go on: those of this node here. */
static void some_meet(void)
{
    int rc = PMI_Barrier_group(PMI_GROUP_NODE, 0, "api");

    if (rc != PMI_SUCCESS && rc != PMI_FAIL) /* servers before PMI 1.2 know one barrier */
        must("barrier", rc);
}

/* A port under a name that another job may look up. */
static void names(void)
{
    char port[PMI_MAX_PORT_NAME];

    if (rank != 0)
        return;
    must("publish", PMI_Publish_name("api.pmi", "host:4000"));
    must("look up", PMI_Lookup_name("api.pmi", port));
    must("unpublish", PMI_Unpublish_name("api.pmi"));
}

/* One process more, as a job of its own, by one process. */
static void spawn(void)
{
    const char *commands[] = { "true" };
    const int counts[] = { 1 }, no_infos[] = { 0 };
    int error = 0;

    if (rank == 0)
        must("spawn",
             PMI_Spawn_multiple(1, commands, NULL, counts, no_infos, NULL, 0, NULL, &error));
    must("barrier", PMI_Barrier());
}

/* Options of a command line that are meant for the process manager. */
static void options(void)
{
    char text[4096] = "", *words[] = { (char[]){ "PMI_COLOUR=blue" }, NULL }, **argv = words;
    int room = sizeof text, parsed = 0, n = 0, argc = 1;
    PMI_keyval_t *pairs = NULL;

    must("which there are", PMI_Get_options(text, &room));
    must("those at the start", PMI_Parse_option(1, words, &parsed, &pairs, &n));
    must("free", PMI_Free_keyvals(pairs, n));
    must("those anywhere", PMI_Args_to_keyval(&argc, (char *((*)[]))argv, &pairs, &n));
    if (n != 1 || argc != 0)
        must("one option", PMI_FAIL);
    must("free", PMI_Free_keyvals(pairs, n));
}

/* Ends the whole job with a status. */
__attribute__((unused)) static void give_up(void)
{
    PMI_Abort(3, "no way on");
}

int main(void)
{
    begin();
    job();
    node();
    lengths();
    own_space();
    some_meet();
    names();
    spawn();
    options();
    must("finalize", PMI_Finalize());
    if (rank == 0)
        printf("pmi: good\n");
    return 0;
}
