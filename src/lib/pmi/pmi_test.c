/* pmi_test.c - the functions of pmi.h against scripted servers: the messages of Hydra 4.0 and
 * 5.0, of Flux and of Slurm, every function, every code. */
#include <limits.h>
#include <stdint.h>
#include <sys/wait.h>

#include "lib/pmi/script.h"
#include "pmi.h"

#define K "kvs_1000_0_7_host"

static void forget_environment(void)
{
    static const char *const names[] = { "PMI_FD",    "PMI_RANK",  "PMI_SIZE",
                                         "PMI_PORT",  "PMI_ID",    "PMI_SPAWNED",
                                         "PMI_DEBUG", "WIREUP_FD", "PMI_TOTALVIEW" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

#define H40_START                                                                                  \
    { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },                                       \
        { SEND, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n" },                    \
        { EXPECT, "cmd=get_maxes\n" },                                                             \
    {                                                                                              \
        SEND, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"                          \
    }
#define H50_START                                                                                  \
    { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },                                       \
        { SEND, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n" },                    \
        { EXPECT, "cmd=get_maxes\n" },                                                             \
    {                                                                                              \
        SEND, "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n"                     \
    }
#define H40_NAME                                                                                   \
    { EXPECT, "cmd=get_my_kvsname\n" },                                                            \
    {                                                                                              \
        SEND, "cmd=my_kvsname kvsname=" K "\n"                                                     \
    }
#define H40_END                                                                                    \
    { EXPECT, "cmd=finalize\n" }, { SEND, "cmd=finalize_ack\n" },                                  \
    {                                                                                              \
        END, NULL                                                                                  \
    }

/* The requests of MPICH's start-up, as captured from MPICH 4.0.2 under Hydra 4.0.2. */
static void test_hydra4(void)
{
    static const struct script_line lines[] = {
        H40_START,
        { EXPECT, "cmd=get_appnum\n" },
        { SEND, "cmd=appnum appnum=0\n" },
        H40_NAME,
        { EXPECT, "cmd=get kvsname=" K " key=PMI_process_mapping\n" },
        { SEND, "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out\n" },
        { EXPECT, "cmd=put kvsname=" K " key=-bcast-1-0 value=2F64=76\n" },
        { SEND, "cmd=put_result rc=0 msg=success\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out\n" },
        { EXPECT, "cmd=get kvsname=" K " key=-bcast-1-0\n" },
        { SEND, "cmd=get_result rc=0 msg=success value=2F64=76\n" },
        { EXPECT, "cmd=get kvsname=" K " key=none\n" },
        { SEND, "cmd=get_result rc=-1 msg=key_none_not_found value=unknown\n" },
        { EXPECT, "cmd=get_universe_size\n" },
        { SEND, "cmd=universe_size size=-1\n" },
        H40_END,
    };
    struct script s;
    int v = -7, spawned = -7;
    char text[1024] = "";

    script_begin(&s, lines);
    setenv("PMI_SPAWNED", "1", 1);
    EQ(PMI_Init(&spawned), PMI_SUCCESS);
    EQ(spawned, 1);
    unsetenv("PMI_SPAWNED");
    EQ(PMI_Init(&spawned), PMI_SUCCESS); /* again: nothing on the wire */
    EQ(PMI_Initialized(&v), PMI_SUCCESS);
    EQ(v, 1);
    OK(PMI_Get_rank(&v) == PMI_SUCCESS && v == 1);
    OK(PMI_Get_size(&v) == PMI_SUCCESS && v == 4);
    OK(PMI_Get_appnum(&v) == PMI_SUCCESS && v == 0);
    OK(PMI_KVS_Get_name_length_max(&v) == PMI_SUCCESS && v == 256);
    OK(PMI_Get_id_length_max(&v) == PMI_SUCCESS && v == 256);
    OK(PMI_KVS_Get_key_length_max(&v) == PMI_SUCCESS && v == 64);
    OK(PMI_KVS_Get_value_length_max(&v) == PMI_SUCCESS && v == 1024);
    OK(PMI_KVS_Get_my_name(text, sizeof text) == PMI_SUCCESS && !strcmp(text, K));
    OK(PMI_Get_id(text, sizeof text) == PMI_SUCCESS && !strcmp(text, K));
    OK(PMI_Get_kvs_domain_id(text, sizeof K) == PMI_SUCCESS && !strcmp(text, K));
    EQ(PMI_Get_id(text, sizeof K - 1), PMI_ERR_INVALID_LENGTH);
    EQ(PMI_KVS_Get_my_name(text, -1), PMI_ERR_INVALID_LENGTH);
    EQ(PMI_KVS_Get(K, "PMI_process_mapping", text, sizeof text), PMI_SUCCESS);
    OK(!strcmp(text, "(vector,(0,2,2))"));
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_KVS_Put(K, "-bcast-1-0", "2F64=76"), PMI_SUCCESS);
    OK_F(PMI_KVS_Get(K, "-bcast-1-0", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "2F64=76"),
         "a process sees its own put at once, though this server does not");
    EQ(PMI_KVS_Commit(K), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_KVS_Get(K, "-bcast-1-0", text, sizeof text), PMI_SUCCESS);
    OK(!strcmp(text, "2F64=76"));
    EQ(PMI_KVS_Get(K, "none", text, sizeof text), PMI_ERR_INVALID_KEY);
    OK(PMI_Get_universe_size(&v) == PMI_SUCCESS && v == -1);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(PMI_Initialized(&v) == PMI_SUCCESS && v == 0);
    OK(script_end(&s));
}

/* The messages of Hydra 5, and the additions of PMI 1.2. */
static void test_hydra5(void)
{
    static const struct script_line lines[] = {
        H50_START,
        { EXPECT, "cmd=barrier_in group=WORLD:0\n" },
        { SEND, "cmd=barrier_out tag=0\n" },
        { EXPECT, "cmd=barrier_in group=NODE:434711146\n" },
        { SEND, "cmd=barrier_out tag=434711146\n" },
        { EXPECT, "cmd=barrier_in group=0,1:49524601\n" },
        { SEND, "cmd=barrier_out tag=49524601\n" },
        { EXPECT, "cmd=get_my_kvsname\n" },
        { SEND, "cmd=my_kvsname rc=0 kvsname=" K "\n" },
        { EXPECT, "cmd=get kvsname=" K " key=none\n" },
        { SEND, "cmd=get_result rc=1\n" },
        { EXPECT, "cmd=put kvsname=" K " key=dup value=1\n" },
        { SEND, "cmd=put_result rc=1\n" },
        { EXPECT, "cmd=put kvsname=" K " key=b value=a\\b\n" },
        { SEND, "cmd=put_result rc=0\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out tag=0\n" },
        { EXPECT, "cmd=get kvsname=" K " key=b\n" },
        { SEND, "cmd=get_result rc=0 value=ab\n" },
        { EXPECT, "cmd=lookup_name service=nosvc\n" },
        { SEND, "cmd=lookup_result rc=1\n" },
        { EXPECT, "cmd=publish_name service=svc port=port#1$desc=x\n" },
        { SEND, "cmd=publish_result rc=0\n" },
        { EXPECT, "cmd=publish_name service=svc port=other\n" },
        { SEND, "cmd=publish_result rc=1\n" },
        { EXPECT, "cmd=lookup_name service=svc\n" },
        { SEND, "cmd=lookup_result rc=0 port=port#1$desc=x\n" },
        { EXPECT, "cmd=unpublish_name service=svc\n" },
        { SEND, "cmd=unpublish_result rc=0\n" },
        { EXPECT, "cmd=finalize\n" },
        { SEND, "cmd=finalize_ack rc=0\n" },
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n" },
        { EXPECT, "cmd=get_maxes\n" },
        { SEND, "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n" },
        H40_END,
    };
    static const int pair[] = { 0, 1 }, other[] = { 0, 2 }, wrong[] = { 1, 4 }, me[] = { 1 };
    struct script s;
    int spawned;
    char text[PMI_MAX_PORT_NAME];

    script_begin(&s, lines);
    EQ(PMI_Init(&spawned), PMI_SUCCESS);
    EQ(spawned, 0);
    EQ(PMI_Barrier_group(PMI_GROUP_SELF, 0, NULL), PMI_SUCCESS);
    EQ(PMI_Barrier_group(PMI_GROUP_WORLD, 0, NULL), PMI_SUCCESS);
    EQ(PMI_Barrier_group(PMI_GROUP_NODE, 0, "tagA"), PMI_SUCCESS);
    EQ(PMI_Barrier_group(pair, 2, "x"), PMI_SUCCESS);
    EQ(PMI_Barrier_group(me, 1, "x"), PMI_SUCCESS);
    EQ(PMI_Barrier_group(pair, 0, "x"), PMI_ERR_INVALID_ARG);
    EQ(PMI_Barrier_group(other, 2, "x"), PMI_ERR_INVALID_ARG);
    EQ(PMI_Barrier_group(wrong, 2, "x"), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Get(K, "none", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put(K, "dup", "1"), PMI_FAIL);
    EQ(PMI_KVS_Put(K, "b", "a\\b"), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_ERR_INVALID_VAL); /* a dropped backslash is reported */
    EQ(PMI_KVS_Put(K, "b2", "a\\b"), PMI_ERR_INVALID_VAL);
    EQ(PMI_Lookup_name("nosvc", text), PMI_FAIL);
    EQ(PMI_Publish_name("svc", "port#1$desc=x"), PMI_SUCCESS);
    EQ(PMI_Publish_name("svc", "other"), PMI_FAIL);
    OK(PMI_Lookup_name("svc", text) == PMI_SUCCESS && !strcmp(text, "port#1$desc=x"));
    EQ(PMI_Unpublish_name("svc"), PMI_SUCCESS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    EQ(PMI_Init(&spawned), PMI_SUCCESS); /* the same connection once more */
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

/* `info=ok|fail` without rc (Slurm), values with blanks (Flux), words in any order, a CR. */
static void test_dialects(void)
{
    static const struct script_line lines[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "cmd=response_to_init pmi_subversion=1   pmi_version=1\n" },
        { EXPECT, "cmd=get_maxes\n" },
        { SEND, "cmd=maxes vallen_max=1024 new=1 keylen_max=64 junk kvsname_max=64\r\n" },
        H40_NAME,
        { EXPECT, "cmd=get kvsname=" K " key=a\n" },
        { SEND, "cmd=get_result value=x  y=z msg rc=0\n" },
        { EXPECT, "cmd=publish_name service=s port=p\n" },
        { SEND, "cmd=publish_result info=fail\n" },
        { EXPECT, "cmd=publish_name service=s port=p\n" },
        { SEND, "cmd=publish_result info=ok\n" },
        { EXPECT, "cmd=publish_name service=s port=p\n" },
        { SEND, "cmd=publish_result info=ok rc=1 msg=key_already_present\n" },
        { EXPECT, "cmd=lookup_name service=s\n" },
        { SEND, "cmd=lookup_result port=p q info=ok rc=0 msg=success\n" },
        { EXPECT, "cmd=unpublish_name service=s\n" },
        { SEND, "cmd=unpublish_result info=ok rc=1 msg=service_not_found\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out rc=0\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out rc=3 msg=no\n" },
        H40_END,
    };
    struct script s;
    int v;
    char text[PMI_MAX_PORT_NAME];

    script_begin(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    OK(PMI_KVS_Get_name_length_max(&v) == PMI_SUCCESS && v == 64);
    OK(PMI_KVS_Get(K, "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "x  y=z msg"));
    EQ(PMI_Publish_name("s", "p"), PMI_FAIL);
    EQ(PMI_Publish_name("s", "p"), PMI_SUCCESS);
    EQ(PMI_Publish_name("s", "p"), PMI_FAIL);
    OK(PMI_Lookup_name("s", text) == PMI_SUCCESS && !strcmp(text, "p q"));
    EQ(PMI_Unpublish_name("s"), PMI_FAIL);
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_FAIL);
    OK_F(PMI_Barrier_group(PMI_GROUP_SELF, 0, NULL) == PMI_FAIL,
         "a server without groups: who asks is told so");
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

/* A legacy server never gets a text that it would truncate: nothing is sent. */
static void test_refusals(void)
{
    static const struct script_line lines[] = {
        H40_START,
        H40_NAME,
        { EXPECT, "cmd=put kvsname=" K " key=b value=a\\b\n" },
        { SEND, "cmd=put_result rc=0 msg=success\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out\n" },
        { EXPECT, "cmd=get kvsname=" K " key=b\n" },
        { SEND, "cmd=get_result rc=0 msg=success value=a\\b\n" },
        { EXPECT, "cmd=put kvsname=" K " key=c value=\\\n" },
        { SEND, "cmd=put_result rc=0 msg=success\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out\n" },
        H40_END,
    };
    struct script s;
    char key[65], value[1025], text[8];
    int v;

    memset(key, 'k', 64);
    memset(value, 'v', 1024);
    key[64] = value[1024] = '\0';
    script_begin(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(PMI_KVS_Put(K, "a", "x y"), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Put(K, "a", " x"), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Put(K, "a", "x\ty"), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Put(K, "a", "x\ny"), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Put(K, "a", "x\r"), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Put(K, "a", ""), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Put(K, "a", value), PMI_ERR_INVALID_VAL_LENGTH);
    EQ(PMI_KVS_Put(K, key, "x"), PMI_ERR_INVALID_KEY_LENGTH);
    EQ(PMI_KVS_Put(K, "", "x"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put(K, "a b", "x"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put(K, "a\n", "x"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put(K, "PMI_a", "x"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put("", "a", "x"), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Get(K, "", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Get(K, "a b", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Get(K, key, text, sizeof text), PMI_ERR_INVALID_KEY_LENGTH);
    EQ(PMI_Publish_name("a b", "x"), PMI_ERR_INVALID_ARG);
    EQ(PMI_Publish_name("a", "x y"), PMI_ERR_INVALID_ARG);
    EQ(PMI_Publish_name("a", "x\n"), PMI_ERR_INVALID_ARG);
    EQ(PMI_Publish_name("a", value), PMI_ERR_INVALID_ARG);
    EQ(PMI_Publish_name("", "x"), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Put(K, "b", "a\\b"), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_SUCCESS); /* and this server is found to keep backslashes */
    EQ(PMI_KVS_Put(K, "c", "\\"), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_KVS_Iter_first(K, key, 64, value, 64), PMI_FAIL);
    EQ(PMI_KVS_Destroy(K), PMI_ERR_INVALID_KVS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

static void test_clique(void)
{
    static const struct {
        const char *answer;
        int n, ranks[4];
    } cases[] = {
        { "cmd=get_result rc=0 msg=success value=(vector,(0,2,2))\n", 2, { 0, 1 } },
        { "cmd=get_result rc=0 msg=success value=(vector,(0,2,1))\n", 2, { 1, 3 } },
        { "cmd=get_result rc=0 msg=success value=(vector,(0,1,1))\n", 4, { 0, 1, 2, 3 } },
        { "cmd=get_result rc=0 value=(vector,[(0,1,2),1]x2)\n", 3, { 0, 1, 3 } },
        { "cmd=get_result rc=0 value=(vector,0,1,1,2)\n", 2, { 1, 2 } },
        { "cmd=get_result rc=0 value=(vector,(0,2,1)) found=TRUE\n", 2, { 1, 3 } }, /* MPICH 4.2 */
        { "cmd=get_result rc=-1 msg=no value=unknown\n", 1, { 1 } },
        { "cmd=get_result rc=1\n", 1, { 1 } },
        { "cmd=get_result rc=0 value=nonsense\n", 1, { 1 } },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct script_line lines[] = {
            H40_START,
            H40_NAME,
            { EXPECT, "cmd=get kvsname=" K " key=PMI_process_mapping\n" },
            { SEND, cases[i].answer },
            { EXPECT, "cmd=get kvsname=" K " key=PMI_process_mapping\n" },
            { SEND, cases[i].answer },
            { EXPECT, "cmd=get kvsname=" K " key=PMI_process_mapping\n" },
            { SEND, cases[i].answer },
            H40_END,
        };
        struct script s;
        int n = -1, ranks[4] = { -1 };

        script_begin(&s, lines);
        EQ(PMI_Init(&n), PMI_SUCCESS);
        OK(PMI_Get_clique_size(&n) == PMI_SUCCESS && n == cases[i].n);
        OK(PMI_Get_clique_ranks(ranks, n) == PMI_SUCCESS &&
           !memcmp(ranks, cases[i].ranks, (size_t)cases[i].n * sizeof *ranks));
        EQ(PMI_Get_clique_ranks(ranks, cases[i].n - 1), PMI_ERR_INVALID_LENGTH);
        EQ(PMI_Finalize(), PMI_SUCCESS);
        OK(script_end(&s));
    }
}

/* Further KVSs under a legacy server are parts of the one it has. */
static void test_spaces(void)
{
    static const struct script_line lines[] = {
        H40_START,
        H40_NAME,
        { EXPECT, "cmd=put kvsname=" K " key=%1.0%a value=1\n" },
        { SEND, "cmd=put_result rc=0 msg=success\n" },
        { EXPECT, "cmd=put kvsname=" K " key=a value=2\n" },
        { SEND, "cmd=put_result rc=0 msg=success\n" },
        { EXPECT, "cmd=barrier_in\n" },
        { SEND, "cmd=barrier_out\n" },
        { EXPECT, "cmd=get kvsname=" K " key=%1.0%a\n" },
        { SEND, "cmd=get_result rc=0 msg=success value=1\n" },
        { EXPECT, "cmd=get kvsname=" K " key=%3.7%a\n" }, /* a KVS that rank 3 has created */
        { SEND, "cmd=get_result rc=0 msg=success value=3\n" },
        { EXPECT, "cmd=get kvsname=other_job key=a\n" },
        { SEND, "cmd=get_result rc=-1 msg=no_such_kvs\n" },
        { EXPECT, "cmd=put kvsname=other_job key=a value=1\n" },
        { SEND, "cmd=put_result rc=-1 msg=no_such_kvs\n" },
        H40_END,
    };
    struct script s;
    char name[256], again[256], text[64], key[64];
    int v;

    memset(key, 'k', 63);
    key[63] = '\0';
    script_begin(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(PMI_KVS_Create(name, 8), PMI_ERR_INVALID_LENGTH);
    EQ(PMI_KVS_Create(name, -1), PMI_ERR_INVALID_LENGTH);
    EQ(PMI_KVS_Create(name, sizeof name), PMI_SUCCESS);
    EQ(PMI_KVS_Create(again, sizeof again), PMI_SUCCESS);
    OK_F(strcmp(name, again) != 0, "%s is not %s", name, again);
    strcpy(name, K ":1.0");
    EQ(PMI_KVS_Put(name, "a", "1"), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, key, "1"), PMI_ERR_INVALID_KEY_LENGTH);
    EQ(PMI_KVS_Put(K, "a", "2"), PMI_SUCCESS);
    OK(PMI_KVS_Get(name, "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "1"));
    OK(PMI_KVS_Get(K, "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "2"));
    EQ(PMI_KVS_Commit(name), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_SUCCESS);
    OK(PMI_KVS_Get(name, "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "1"));
    OK(PMI_KVS_Get(K ":3.7", "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "3"));
    EQ(PMI_KVS_Get("other_job", "a", text, sizeof text), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put("other_job", "a", "1"), PMI_FAIL);
    EQ(PMI_KVS_Destroy(again), PMI_SUCCESS);
    EQ(PMI_KVS_Put(again, "a", "1"), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Get(again, "a", text, sizeof text), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Commit(again), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Destroy(again), PMI_ERR_INVALID_KVS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

static void test_spawn(void)
{
    static const struct script_line lines[] = {
        H40_START,
        { EXPECT, "mcmd=spawn\nnprocs=1\nexecname=./prog\ntotspawns=2\nspawnssofar=1\nargcnt=2\n"
                  "arg1=a b\narg2=x=y\npreput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\n"
                  "preput_val_0=tag#0$host#h 1\ninfo_num=2\ninfo_key_0=wdir\ninfo_val_0=/tmp\n"
                  "info_key_1=foo\ninfo_val_1=bar baz=1\nendcmd\n"
                  "mcmd=spawn\nnprocs=2\nexecname=./prog\ntotspawns=2\nspawnssofar=2\nargcnt=0\n"
                  "info_num=0\nendcmd\n" },
        { SEND, "cmd=spawn_result rc=0\n" },
        { EXPECT, "mcmd=spawn\nnprocs=3\nexecname=x\ntotspawns=1\nspawnssofar=1\nargcnt=0\n"
                  "preput_num=0\ninfo_num=0\nendcmd\n" },
        { SEND, "cmd=spawn_result rc=1 errcodes=0,2,13 jobid=j\n" },
        { EXPECT, "mcmd=spawn\nnprocs=3\nexecname=x\ntotspawns=1\nspawnssofar=1\nargcnt=0\n"
                  "preput_num=0\ninfo_num=0\nendcmd\n" },
        { SEND, "cmd=spawn_result rc=-1\n" },
        H40_END,
    };
    const char *cmds[] = { "./prog", "./prog" }, *x[] = { "x" }, *none[] = { "" };
    const char *argv0[] = { "a b", "x=y", NULL }, *bad[] = { "a\nb", NULL };
    const char **argvs[] = { argv0, NULL }, **bads[] = { bad };
    const int maxprocs[] = { 1, 2 }, three[] = { 3 }, minus[] = { -1 }, info_sizes[] = { 2, 0 };
    const PMI_keyval_t infos[] = { { "wdir", strdup("/tmp") }, { "foo", strdup("bar baz=1") } };
    const PMI_keyval_t *info_vectors[] = { infos, NULL };
    const PMI_keyval_t preput[] = { { "PARENT_ROOT_PORT_NAME", strdup("tag#0$host#h 1") } };
    const PMI_keyval_t keyless[] = { { NULL, NULL } };
    const PMI_keyval_t *keyless_vectors[] = { keyless };
    const int one[] = { 1 };
    int errors[3] = { 7, 7, 7 }, v;
    struct script s;

    script_begin(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(PMI_Spawn_multiple(2, cmds, argvs, maxprocs, info_sizes, info_vectors, 1, preput, errors),
       PMI_SUCCESS);
    OK(errors[0] == 0 && errors[1] == 0 && errors[2] == 0);
    EQ(PMI_Spawn_multiple(1, x, NULL, three, NULL, NULL, 0, NULL, errors), PMI_FAIL);
    OK(errors[0] == 0 && errors[1] == 2 && errors[2] == 13);
    EQ(PMI_Spawn_multiple(1, x, NULL, three, NULL, NULL, 0, NULL, errors), PMI_FAIL);
    OK(errors[0] == -1 && errors[2] == -1);
    EQ(PMI_Spawn_multiple(0, x, NULL, three, NULL, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, NULL, NULL, three, NULL, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, NULL, NULL, NULL, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, none, NULL, three, NULL, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, NULL, minus, NULL, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, bads, three, NULL, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, NULL, three, one, NULL, 0, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, NULL, three, one, keyless_vectors, 0, NULL, NULL),
       PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, NULL, three, NULL, NULL, 1, NULL, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Spawn_multiple(1, x, NULL, three, NULL, NULL, -1, preput, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
    free(infos[0].val);
    free(infos[1].val);
    free(preput[0].val);
}

/* As captured from MPICH 4.0.2 under `mpiexec.hydra -pmi-port`, and Hydra 5's fuller initack. */
static void test_port(void)
{
    static const struct script_line hydra4[] = {
        { EXPECT, "cmd=initack pmiid=2\n" },
        { SEND, "cmd=initack\ncmd=set size=3\ncmd=set rank=2\ncmd=set debug=0\n" },
        H40_START,
        H40_END,
    };
    static const struct script_line hydra5[] = {
        { EXPECT, "cmd=initack pmiid=2\n" },
        { SEND, "cmd=initack rc=0 rank=2 size=3 appnum=0 debug=0\ncmd=set size=3\n"
                "cmd=set rank=2\ncmd=set debug=0\n" },
        H40_START,
        H40_END,
    };
    static const struct script_line unknown[] = {
        { EXPECT, "cmd=initack pmiid=2\n" },
        { SEND, "cmd=initack rc=-1\n" },
        { END, NULL },
    };
    static const struct script_line plain[] = { H40_START, H40_END };
    struct script s;
    int v;

    forget_environment();
    setenv("PMI_ID", "2", 1);
    for (int i = 0; i < 2; i++) {
        script_begin_port(&s, i ? hydra5 : hydra4);
        EQ(PMI_Init(&v), PMI_SUCCESS);
        OK(PMI_Get_rank(&v) == PMI_SUCCESS && v == 2);
        OK(PMI_Get_size(&v) == PMI_SUCCESS && v == 3);
        EQ(PMI_Finalize(), PMI_SUCCESS);
        OK(script_end(&s));
    }
    script_begin_port(&s, unknown);
    EQ(PMI_Init(&v), PMI_FAIL);
    OK(script_end(&s));
    unsetenv("PMI_ID");
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "2", 1);
    script_begin_port(&s, plain);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    OK(PMI_Get_rank(&v) == PMI_SUCCESS && v == 1);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
    forget_environment();
}

/* ---- servers that misbehave ------------------------------------------------------------------ */

static void test_bad_servers(void)
{
    static const struct script_line version2[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n" },
        { END, NULL },
    };
    static const struct script_line refused[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "cmd=response_to_init rc=-1\n" },
        { END, NULL },
    };
    static const struct script_line silent[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { HANG_UP, NULL },
    };
    static const struct script_line nonsense[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "hello there\n" },
        { END, NULL },
    };
    static const struct script_line senseless[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n" },
        { EXPECT, "cmd=get_maxes\n" },
        { SEND, "cmd=maxes kvsname_max=256 keylen_max=0 vallen_max=1024\n" },
        { END, NULL },
    };
    static const struct script_line wrong_order[] = {
        { EXPECT, "cmd=init pmi_version=1 pmi_subversion=1\n" },
        { SEND, "cmd=barrier_out\n" },
        { END, NULL },
    };
    static const struct script_line *const all[] = { version2, refused,   silent,
                                                     nonsense, senseless, wrong_order };
    struct script s;
    int v;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        script_begin(&s, all[i]);
        EQ(PMI_Init(&v), PMI_FAIL);
        EQ(PMI_Barrier(), PMI_ERR_INIT);
        OK(PMI_Initialized(&v) == PMI_SUCCESS && v == 0);
        EQ(PMI_Finalize(), PMI_SUCCESS);
        OK(script_end(&s));
    }
}

/* The connection breaks in the middle: errors, no signal, no hang, and Finalize still works. */
static void test_lost_connection(void)
{
    static const struct script_line lines[] = {
        H40_START,         H40_NAME, { EXPECT, "cmd=barrier_in\n" }, { SEND, "cmd=barrier_o" },
        { HANG_UP, NULL },
    };
    struct script s;
    char text[8];
    int v;

    script_begin(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(PMI_KVS_Put("", "a", "b"), PMI_ERR_INVALID_KVS);
    EQ(PMI_Barrier(), PMI_FAIL);
    EQ(PMI_Barrier(), PMI_FAIL);
    EQ(PMI_KVS_Put(K, "a", "b"), PMI_FAIL);
    EQ(PMI_KVS_Get(K, "a", text, sizeof text), PMI_FAIL);
    EQ(PMI_Get_appnum(&v), PMI_FAIL);
    EQ(PMI_Publish_name("a", "b"), PMI_FAIL);
    OK(PMI_Get_rank(&v) == PMI_SUCCESS && v == 1);
    EQ(PMI_Finalize(), PMI_FAIL);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
}

static void test_bad_environment(void)
{
    static const char *const bad[][2] = {
        { "PMI_FD", "x" },   { "PMI_FD", "-1" },    { "PMI_FD", "" },    { "PMI_FD", "10000" },
        { "PMI_RANK", "4" }, { "PMI_RANK", "one" }, { "PMI_SIZE", "0" }, { "PMI_SIZE", "-3" },
    };
    static const struct script_line nothing[] = { { END, NULL } };
    struct script s;
    int v;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        script_begin(&s, nothing);
        setenv(bad[i][0], bad[i][1], 1);
        OK_F(PMI_Init(&v) == PMI_FAIL, "%s=%s", bad[i][0], bad[i][1]);
        OK(script_end(&s));
    }
    forget_environment();
    setenv("PMI_PORT", "nowhere", 1);
    EQ(PMI_Init(&v), PMI_FAIL);
    setenv("PMI_PORT", "127.0.0.1:1", 1);
    EQ(PMI_Init(&v), PMI_FAIL);
    setenv("PMI_PORT", ":", 1);
    EQ(PMI_Init(&v), PMI_FAIL);
    forget_environment();
}

/* A server connected by something that is no socket: a full exchange would need two pipes, but
 * one pipe without a reader is enough to see that no SIGPIPE comes. */
static void test_no_socket(void)
{
    int ends[2], v;
    char number[16];

    if (pipe(ends) < 0)
        abort();
    close(ends[0]);
    snprintf(number, sizeof number, "%d", ends[1]);
    setenv("PMI_FD", number, 1);
    EQ(PMI_Init(&v), PMI_FAIL);
    close(ends[1]);
    forget_environment();
}

/* ---- arguments and states -------------------------------------------------------------------- */

static void test_before_init(void)
{
    int v, ranks[4];
    char text[64];
    const char *x[] = { "x" };
    const int one[] = { 1 };

    OK(PMI_Initialized(&v) == PMI_SUCCESS && v == 0);
    EQ(PMI_Get_size(&v), PMI_ERR_INIT);
    EQ(PMI_Get_rank(&v), PMI_ERR_INIT);
    EQ(PMI_Get_universe_size(&v), PMI_ERR_INIT);
    EQ(PMI_Get_appnum(&v), PMI_ERR_INIT);
    EQ(PMI_Get_clique_size(&v), PMI_ERR_INIT);
    EQ(PMI_Get_clique_ranks(ranks, 4), PMI_ERR_INIT);
    EQ(PMI_Get_id(text, 64), PMI_ERR_INIT);
    EQ(PMI_Get_kvs_domain_id(text, 64), PMI_ERR_INIT);
    EQ(PMI_Get_id_length_max(&v), PMI_ERR_INIT);
    EQ(PMI_KVS_Get_my_name(text, 64), PMI_ERR_INIT);
    EQ(PMI_KVS_Get_name_length_max(&v), PMI_ERR_INIT);
    EQ(PMI_KVS_Get_key_length_max(&v), PMI_ERR_INIT);
    EQ(PMI_KVS_Get_value_length_max(&v), PMI_ERR_INIT);
    EQ(PMI_KVS_Create(text, 64), PMI_ERR_INIT);
    EQ(PMI_KVS_Destroy("x"), PMI_ERR_INIT);
    EQ(PMI_KVS_Put("x", "a", "b"), PMI_ERR_INIT);
    EQ(PMI_KVS_Commit("x"), PMI_ERR_INIT);
    EQ(PMI_KVS_Get("x", "a", text, 64), PMI_ERR_INIT);
    EQ(PMI_KVS_Iter_first("x", text, 64, text, 64), PMI_ERR_INIT);
    EQ(PMI_KVS_Iter_next("x", text, 64, text, 64), PMI_ERR_INIT);
    EQ(PMI_Barrier(), PMI_ERR_INIT);
    EQ(PMI_Barrier_group(PMI_GROUP_WORLD, 0, NULL), PMI_ERR_INIT);
    EQ(PMI_Publish_name("a", "b"), PMI_ERR_INIT);
    EQ(PMI_Unpublish_name("a"), PMI_ERR_INIT);
    EQ(PMI_Lookup_name("a", text), PMI_ERR_INIT);
    EQ(PMI_Spawn_multiple(1, x, NULL, one, NULL, NULL, 0, NULL, NULL), PMI_ERR_INIT);
    EQ(PMI_Finalize(), PMI_SUCCESS);
}

static void test_nulls(void)
{
    char text[8];

    EQ(PMI_Init(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Initialized(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_size(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_rank(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_universe_size(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_appnum(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_clique_size(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_clique_ranks(NULL, 4), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_id(NULL, 64), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_kvs_domain_id(NULL, 64), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Get_my_name(NULL, 64), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_id_length_max(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Get_name_length_max(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Get_key_length_max(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Get_value_length_max(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Create(NULL, 64), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Destroy(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Put(NULL, "a", "b"), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Put("x", NULL, "b"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put("x", "a", NULL), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Commit(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_KVS_Get(NULL, "a", text, 8), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Get("x", NULL, text, 8), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Get("x", "a", NULL, 8), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Iter_first(NULL, text, 8, text, 8), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Iter_first("x", NULL, 8, text, 8), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Iter_first("x", text, 0, text, 8), PMI_ERR_INVALID_KEY_LENGTH);
    EQ(PMI_KVS_Iter_first("x", text, 8, NULL, 8), PMI_ERR_INVALID_VAL);
    EQ(PMI_KVS_Iter_next("x", text, 8, text, -1), PMI_ERR_INVALID_VAL_LENGTH);
    EQ(PMI_KVS_Iter_next(NULL, text, 8, text, 8), PMI_ERR_INVALID_KVS);
    EQ(PMI_Publish_name(NULL, "b"), PMI_ERR_INVALID_ARG);
    EQ(PMI_Publish_name("a", NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Unpublish_name(NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Lookup_name(NULL, text), PMI_ERR_INVALID_ARG);
    EQ(PMI_Lookup_name("a", NULL), PMI_ERR_INVALID_ARG);
}

/* ---- alone ----------------------------------------------------------------------------------- */

static void test_alone(void)
{
    char name[256], more[256], key[64], value[1100], text[1100];
    int v, ranks[1] = { -1 };
    const int me[] = { 0 };
    const char *x[] = { "x" };
    const int one[] = { 1 };

    forget_environment();
    setenv("PMI_RANK", "5", 1); /* left over from another job: no connection, so ignored */
    setenv("PMI_SIZE", "2", 1);
    OK(PMI_Init(&v) == PMI_SUCCESS && v == 0);
    forget_environment();
    OK(PMI_Get_size(&v) == PMI_SUCCESS && v == 1);
    OK(PMI_Get_rank(&v) == PMI_SUCCESS && v == 0);
    OK(PMI_Get_appnum(&v) == PMI_SUCCESS && v == -1);
    OK(PMI_Get_universe_size(&v) == PMI_SUCCESS && v == 1);
    OK(PMI_Get_clique_size(&v) == PMI_SUCCESS && v == 1);
    OK(PMI_Get_clique_ranks(ranks, 1) == PMI_SUCCESS && ranks[0] == 0);
    OK(PMI_KVS_Get_value_length_max(&v) == PMI_SUCCESS && v >= 256 && v <= (int)sizeof value);
    OK(PMI_KVS_Get_key_length_max(&v) == PMI_SUCCESS && v >= 64);
    EQ(PMI_KVS_Get_my_name(name, sizeof name), PMI_SUCCESS);
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_Barrier_group(PMI_GROUP_NODE, 0, "t"), PMI_SUCCESS);
    EQ(PMI_Barrier_group(me, 1, "t"), PMI_SUCCESS);
    EQ(PMI_KVS_Iter_next(name, key, 64, value, 64), PMI_FAIL);
    EQ(PMI_KVS_Put(name, "a", "x y\n= \\"), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, "a", "2"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put(name, "b b", ""), PMI_SUCCESS);
    EQ(PMI_KVS_Put(name, "PMI_x", "2"), PMI_ERR_INVALID_KEY);
    EQ(PMI_KVS_Put("other", "c", "2"), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Commit(name), PMI_SUCCESS);
    EQ(PMI_KVS_Commit("other"), PMI_ERR_INVALID_KVS);
    OK(PMI_KVS_Get(name, "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "x y\n= \\"));
    OK(PMI_KVS_Get(name, "a", text, 8) == PMI_SUCCESS && !strcmp(text, "x y\n= \\"));
    strcpy(text, "untouched");
    OK(PMI_KVS_Get(name, "a", text, 7) == PMI_ERR_INVALID_LENGTH && !strcmp(text, "untouched"));
    EQ(PMI_KVS_Get(name, "a", text, -1), PMI_ERR_INVALID_LENGTH);
    OK(PMI_KVS_Get(name, "b b", text, 1) == PMI_SUCCESS && !*text);
    EQ(PMI_KVS_Get(name, "none", text, 8), PMI_ERR_INVALID_KEY);
    memset(value, 'v', 1024);
    value[1024] = '\0';
    EQ(PMI_KVS_Put(name, "long", value), PMI_ERR_INVALID_VAL_LENGTH);
    value[1023] = '\0';
    EQ(PMI_KVS_Put(name, "long", value), PMI_SUCCESS);

    EQ(PMI_KVS_Create(more, sizeof more), PMI_SUCCESS);
    EQ(PMI_KVS_Put(more, "a", "other a"), PMI_SUCCESS);
    OK(PMI_KVS_Get(more, "a", text, sizeof text) == PMI_SUCCESS && !strcmp(text, "other a"));
    OK(PMI_KVS_Iter_first(more, key, 64, value, 64) == PMI_SUCCESS && !strcmp(key, "a") &&
       !strcmp(value, "other a"));
    OK(PMI_KVS_Iter_next(more, key, 64, value, 64) == PMI_SUCCESS && !*key);
    EQ(PMI_KVS_Iter_next(name, key, 64, value, 64), PMI_ERR_INVALID_KVS);

    OK(PMI_KVS_Iter_first(name, key, 64, value, 64) == PMI_SUCCESS && !strcmp(key, "a"));
    EQ(PMI_KVS_Iter_next(name, key, 3, value, 64), PMI_ERR_INVALID_KEY_LENGTH);
    OK(PMI_KVS_Iter_next(name, key, 4, value, 1) == PMI_SUCCESS && !strcmp(key, "b b") && !*value);
    EQ(PMI_KVS_Iter_next(name, key, 64, value, 1023), PMI_ERR_INVALID_VAL_LENGTH);
    OK(PMI_KVS_Iter_next(name, key, 64, value, 1024) == PMI_SUCCESS && strlen(value) == 1023);
    OK(PMI_KVS_Iter_next(name, key, 64, value, 64) == PMI_SUCCESS && !*key && !*value);
    OK(PMI_KVS_Iter_next(name, key, 64, value, 64) == PMI_SUCCESS && !*key);
    EQ(PMI_KVS_Iter_first("other", key, 64, value, 64), PMI_ERR_INVALID_KVS);

    EQ(PMI_KVS_Destroy(more), PMI_SUCCESS);
    EQ(PMI_KVS_Get(more, "a", text, 8), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Destroy(more), PMI_ERR_INVALID_KVS);
    EQ(PMI_KVS_Destroy(name), PMI_ERR_INVALID_KVS);
    EQ(PMI_Publish_name("a", "b"), PMI_FAIL);
    EQ(PMI_Unpublish_name("a"), PMI_FAIL);
    EQ(PMI_Lookup_name("a", text), PMI_FAIL);
    v = 7;
    EQ(PMI_Spawn_multiple(1, x, NULL, one, NULL, NULL, 0, NULL, &v), PMI_FAIL);
    EQ(v, -1);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(PMI_Init(&v) == PMI_SUCCESS && PMI_KVS_Get_my_name(name, sizeof name) == PMI_SUCCESS);
    EQ(PMI_KVS_Get(name, "a", text, sizeof text), PMI_ERR_INVALID_KEY); /* initialized anew */
    EQ(PMI_Finalize(), PMI_SUCCESS);
}

/* ---- options --------------------------------------------------------------------------------- */

static void test_options(void)
{
    char a[] = "PMI_A=1", b[] = "PMI_B=", c[] = "x=y", d[] = "PMI_D", e[] = "PMI_=1",
         f[] = "PMI_C=u=v";
    char *words[] = { a, b, c, f, NULL }, *plain[] = { c, d, e, NULL };
    char *line[] = { c, a, d, b, e, f, NULL };
    int n = -1, size = -1, argc;
    PMI_keyval_t *kv = NULL;
    char text[512];

    EQ(PMI_Parse_option(4, words, &n, &kv, &size), PMI_SUCCESS);
    OK(n == 2 && size == 2 && kv && !strcmp(kv[0].key, "PMI_A") && !strcmp(kv[0].val, "1") &&
       !strcmp(kv[1].key, "PMI_B") && !strcmp(kv[1].val, ""));
    EQ(PMI_Free_keyvals(kv, size), PMI_SUCCESS);
    OK(PMI_Parse_option(3, plain, &n, &kv, &size) == PMI_SUCCESS && n == 0 && size == 0 && !kv);
    OK(PMI_Parse_option(0, plain, &n, &kv, &size) == PMI_SUCCESS && n == 0);
    EQ(PMI_Free_keyvals(kv, size), PMI_SUCCESS);
    EQ(PMI_Parse_option(-1, words, &n, &kv, &size), PMI_ERR_INVALID_NUM_ARGS);
    EQ(PMI_Parse_option(1, NULL, &n, &kv, &size), PMI_ERR_INVALID_ARGS);
    EQ(PMI_Parse_option(1, words, NULL, &kv, &size), PMI_ERR_INVALID_NUM_PARSED);
    EQ(PMI_Parse_option(1, words, &n, NULL, &size), PMI_ERR_INVALID_KEYVALP);
    EQ(PMI_Parse_option(1, words, &n, &kv, NULL), PMI_ERR_INVALID_SIZE);

    argc = 6;
    EQ(PMI_Args_to_keyval(&argc, &line, &kv, &size), PMI_SUCCESS);
    OK(argc == 3 && line[0] == c && line[1] == d && line[2] == e && !line[3]);
    OK(size == 3 && !strcmp(kv[2].key, "PMI_C") && !strcmp(kv[2].val, "u=v"));
    EQ(PMI_Free_keyvals(kv, size), PMI_SUCCESS);
    OK(PMI_Args_to_keyval(&argc, &line, &kv, &size) == PMI_SUCCESS && argc == 3 && size == 0);
    EQ(PMI_Args_to_keyval(NULL, &line, &kv, &size), PMI_ERR_INVALID_ARG);
    EQ(PMI_Args_to_keyval(&argc, NULL, &kv, &size), PMI_ERR_INVALID_ARG);
    EQ(PMI_Args_to_keyval(&argc, &line, NULL, &size), PMI_ERR_INVALID_ARG);
    EQ(PMI_Args_to_keyval(&argc, &line, &kv, NULL), PMI_ERR_INVALID_ARG);
    EQ(PMI_Free_keyvals(NULL, 0), PMI_SUCCESS);
    EQ(PMI_Free_keyvals(NULL, 1), PMI_ERR_INVALID_ARG);
    EQ(PMI_Free_keyvals(kv, -1), PMI_ERR_INVALID_ARG);

    n = sizeof text;
    OK(PMI_Get_options(text, &n) == PMI_SUCCESS && n == (int)strlen(text) + 1);
    n = 5;
    OK(PMI_Get_options(text, &n) == PMI_ERR_NOMEM && strlen(text) == 4 && n > 5);
    n = 0;
    EQ(PMI_Get_options(text, &n), PMI_ERR_INVALID_LENGTH);
    EQ(PMI_Get_options(NULL, &n), PMI_ERR_INVALID_ARG);
    EQ(PMI_Get_options(text, NULL), PMI_ERR_INVALID_ARG);
}

/* ---- forks, aborts, messages on standard error ----------------------------------------------- */

/* Runs `act` in a child whose standard error goes to text; returns its exit status. */
static int in_child(void (*act)(void *), void *arg, char *text, size_t room)
{
    int ends[2], status;
    size_t have = 0;
    ssize_t n;
    pid_t pid;

    fflush(stdout);
    if (pipe(ends) < 0 || (pid = fork()) < 0)
        abort();
    if (pid == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        act(arg);
        _exit(99);
    }
    close(ends[1]);
    while (have < room - 1 && (n = read(ends[0], text + have, room - 1 - have)) > 0)
        have += (size_t)n;
    text[have] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void child_of_fork(void *arg)
{
    char text[8];
    int v, bad = 0;

    (void)arg;
    bad += PMI_Initialized(&v) != PMI_SUCCESS || v != 0;
    bad += PMI_Barrier() != PMI_ERR_INIT;
    bad += PMI_Get_rank(&v) != PMI_ERR_INIT;
    bad += PMI_KVS_Get(K, "a", text, sizeof text) != PMI_ERR_INIT;
    bad += PMI_Init(&v) != PMI_FAIL;
    bad += PMI_Finalize() != PMI_SUCCESS;
    _exit(bad);
}

static void test_fork(void)
{
    static const struct script_line lines[] = {
        H40_START, { EXPECT, "cmd=barrier_in\n" }, { SEND, "cmd=barrier_out\n" }, H40_END
    };
    struct script s;
    char text[256];
    int v;

    script_begin(&s, lines);
    EQ(PMI_Init(&v), PMI_SUCCESS);
    EQ(in_child(child_of_fork, NULL, text, sizeof text), 0);
    OK_F(!*text, "and it prints nothing");
    EQ(PMI_Barrier(), PMI_SUCCESS);
    EQ(PMI_Finalize(), PMI_SUCCESS);
    OK(script_end(&s));
    forget_environment();
}

static void child_after_finalize(void *arg)
{
    int v;

    (void)arg;
    _exit(PMI_Init(&v) != PMI_SUCCESS || PMI_Finalize() != PMI_SUCCESS);
}

/* The first of the exit handlers: a leak checker would print reports about a forked child. */
static void leave_at_once(int status, void *arg)
{
    (void)arg;
    _exit(status);
}

static void child_that_aborts(void *arg)
{
    int v;

    on_exit(leave_at_once, NULL);
    PMI_Init(&v);
    PMI_Abort(7, arg);
}

static void test_abort(void)
{
    static const struct script_line lines[] = {
        H40_START, { EXPECT, "cmd=abort exitcode=7 message=two lines\n" }, { END, NULL }
    };
    static const struct script_line wordless[] = { H40_START,
                                                   { EXPECT, "cmd=abort exitcode=7\n" },
                                                   { END, NULL } };
    char message[] = "two\nlines", text[256];
    struct script s;

    script_begin(&s, lines);
    EQ(in_child(child_that_aborts, message, text, sizeof text), 7);
    OK_F(!strcmp(text, "two\nlines\n"), "said once: %s", text);
    OK(script_end(&s));
    script_begin(&s, wordless);
    EQ(in_child(child_that_aborts, NULL, text, sizeof text), 7);
    OK(!*text);
    OK(script_end(&s));
    forget_environment();
    EQ(in_child(child_that_aborts, message, text, sizeof text), 7);
    OK_F(!strcmp(text, "two\nlines\n"), "said once: %s", text);
    EQ(in_child(child_after_finalize, NULL, text, sizeof text), 0);
}

static void child_that_errs(void *arg)
{
    char text[8];
    int v;

    (void)arg;
    PMI_Get_rank(&v);
    PMI_Init(&v);
    PMI_KVS_Get("x", "a", text, sizeof text);
    PMI_Publish_name("a", "b");
    PMI_Get_rank(NULL);
    _exit(0);
}

static void test_reasons(void)
{
    char text[1024];
    int lines = 0;

    forget_environment();
    EQ(in_child(child_that_errs, NULL, text, sizeof text), 0);
    OK_F(!*text, "silent unless asked");
    setenv("PMI_DEBUG", "0", 1);
    EQ(in_child(child_that_errs, NULL, text, sizeof text), 0);
    OK(!*text);
    setenv("PMI_DEBUG", "1", 1);
    EQ(in_child(child_that_errs, NULL, text, sizeof text), 0);
    for (char *p = text; (p = strchr(p, '\n')); p++)
        lines++;
    OK_F(lines == 3, "one line for each call that failed since it was asked:\n# %s", text);
    OK(strstr(text, "libpmi: PMI_KVS_Get: there is no key-value space 'x'\n"));
    OK(strstr(text, "libpmi: PMI_Publish_name: there is no process manager"));
    OK(strstr(text, "libpmi: PMI_Get_rank: rank is NULL\n"));
    forget_environment();
}

int main(void)
{
    forget_environment();
    setenv("WIREUP", "/nonexistent/wireup", 1); /* a launcher may be installed here */
    test_before_init();
    test_nulls();
    for (int i = 0; i < 2; i++) {
        dripping = i;
        test_hydra4();
        test_hydra5();
        test_dialects();
        test_refusals();
        test_clique();
        test_spaces();
        test_spawn();
        test_bad_servers();
        test_lost_connection();
    }
    test_port();
    dripping = false;
    test_port();
    test_bad_environment();
    test_no_socket();
    test_alone();
    test_options();
    test_fork();
    test_abort();
    test_reasons();
    return tap_done();
}
