/* pmi2_test.c - libpmi2 and scripted servers: the messages of Slurm, Hydra and Wireup, byte by
 * byte; a singleton; servers that send nonsense or go away; every allocation that may fail. */
#include "lib/pmi/script.h"

#include "lib/common/env.h"
#include "lib/pmi2/data.h"
#include "lib/pmi2/member.h"
#include "pmi2.h"

/* Frames are written as bodies; framed() puts the lengths before them. */
#define EXPECT_BODY ((enum line_kind)10)
#define SEND_BODY   ((enum line_kind)11)

enum { SCRIPT_LINES = 64, SCRIPT_BYTES = 1 << 16 };

static const struct script_line *framed(const struct script_line *in)
{
    static struct script_line out[SCRIPT_LINES];
    static char bytes[SCRIPT_BYTES];
    size_t used = 0;
    int i = 0;

    for (; in[i].kind != END && in[i].kind != HANG_UP; i++) {
        out[i] = in[i];
        if (in[i].kind != EXPECT_BODY && in[i].kind != SEND_BODY)
            continue;
        out[i].kind = in[i].kind == EXPECT_BODY ? EXPECT : SEND;
        out[i].text = bytes + used;
        out[i].len = (size_t)snprintf(bytes + used, sizeof bytes - used,
                                      in[i].kind == SEND_BODY && i % 2 ? "%6zu%s" : "%-6zu%s",
                                      strlen(in[i].text), in[i].text);
        used += out[i].len + 1;
    }
    out[i] = in[i];
    return out;
}

#define START(answer)                                                                              \
    { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0\n" },                                       \
        { SEND, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n" },                    \
        { EXPECT_BODY, "cmd=fullinit;pmirank=1;threaded=FALSE;" },                                 \
    {                                                                                              \
        SEND_BODY, answer                                                                          \
    }
#define HYDRA_START                                                                                \
    START("cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=4;appnum=3;"           \
          "debugged=FALSE;pmiverbose=FALSE;rc=0;")
#define FINISH                                                                                     \
    { EXPECT_BODY, "cmd=finalize;" }, { SEND_BODY, "cmd=finalize-response;rc=0;" },                \
    {                                                                                              \
        END, NULL                                                                                  \
    }

static void init(struct script *s, const struct script_line *lines)
{
    int spawned, size, rank, appnum;

    script_begin(s, framed(lines));
    EQ(PMI2_Init(&spawned, &size, &rank, &appnum), PMI2_SUCCESS);
}

static void finish(struct script *s)
{
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    OK(script_end(s));
}

/* ---- other servers --------------------------------------------------------------------------- */

static void test_hydra(void)
{
    static const struct script_line lines[] = {
        HYDRA_START,
        { EXPECT_BODY, "cmd=job-getid;" },
        { SEND_BODY, "cmd=job-getid-response;jobid=kvs_7;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-put;key=k0;value=v a=b;" },
        { SEND_BODY, "cmd=kvs-put-response;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-fence;" },
        { SEND_BODY, "cmd=kvs-fence-response;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=kvs_7;srcid=-1;key=k0;" },
        { SEND_BODY, "cmd=kvs-get-response;found=TRUE;value=v a=b;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=kvs_7;srcid=3;key=none;" },
        { SEND_BODY, "cmd=kvs-get-response;found=FALSE;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=other;srcid=-1;key=k0;" },
        { SEND_BODY, "cmd=kvs-get-response;found=TRUE;value=;rc=0;" },
        { EXPECT_BODY, "cmd=info-putnodeattr;key=wireup.probe.1;value=a;;b=;;;;c;" }, /* once */
        { SEND_BODY, "cmd=info-putnodeattr-response;rc=0;" },
        { EXPECT_BODY, "cmd=info-getnodeattr;key=wireup.probe.1;wait=FALSE;" },
        { SEND_BODY, "cmd=info-getnodeattr-response;found=TRUE;value=a;rc=0;" },
        { EXPECT_BODY, "cmd=info-getnodeattr;key=na;wait=TRUE;" },
        { SEND_BODY, "cmd=info-getnodeattr-response;found=TRUE;value=nv;;x=1;rc=0;" },
        { EXPECT_BODY, "cmd=info-getnodeattr;key=nb;wait=FALSE;" },
        { SEND_BODY, "cmd=info-getnodeattr-response;found=FALSE;rc=0;" },
        { EXPECT_BODY, "cmd=info-getjobattr;key=PMI_process_mapping;" },
        { SEND_BODY, "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,1));rc=0;" },
        { EXPECT_BODY, "cmd=name-lookup;name=svc;infokeycount=0;" },
        { SEND_BODY, "cmd=name-lookup-response;found=FALSE;rc=1;" },
        { EXPECT_BODY, "cmd=name-publish;name=svc;port=p 1;infokeycount=0;" },
        { SEND_BODY, "cmd=name-publish-response;rc=0;" },
        { EXPECT_BODY, "cmd=name-publish;name=svc;port=p 2;infokeycount=0;" },
        { SEND_BODY, "cmd=name-publish-response;rc=1;errmsg=duplicate_service_svc;" },
        { EXPECT_BODY, "cmd=name-lookup;name=svc;infokeycount=0;" },
        { SEND_BODY, "cmd=name-lookup-response;port=p 1;found=TRUE;rc=0;" },
        { EXPECT_BODY, "cmd=name-unpublish;name=svc;infokeycount=0;" },
        { SEND_BODY, "cmd=name-unpublish-response;rc=0;" },
        { EXPECT_BODY,
          "cmd=kvs-put;key=wireup.ring.0.1;value=mine;" }, /* it does not support ring */
        { SEND_BODY, "cmd=kvs-put-response;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-fence;" },
        { SEND_BODY, "cmd=kvs-fence-response;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=kvs_7;srcid=-1;key=wireup.ring.0.0;" },
        { SEND_BODY, "cmd=kvs-get-response;found=TRUE;value=zero;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=kvs_7;srcid=-1;key=wireup.ring.0.2;" },
        { SEND_BODY, "cmd=kvs-get-response;found=TRUE;value=two;rc=0;" },
        FINISH,
    };
    int spawned, size, rank, appnum, n, found, one = 1;
    const char *cmds[] = { "a;b" };
    char text[64], right[64];
    struct script s;

    script_begin(&s, framed(lines));
    EQ(PMI2_Init(&spawned, &size, &rank, &appnum), PMI2_SUCCESS);
    OK(spawned == 0 && size == 4 && rank == 1 && appnum == 3);
    OK(PMI2_Job_GetId(text, 4) == PMI2_SUCCESS && !strcmp(text, "kvs"));
    EQ(PMI2_KVS_Put("k0", "v a=b"), PMI2_SUCCESS);
    EQ(PMI2_KVS_Fence(), PMI2_SUCCESS);
    OK(PMI2_KVS_Get(NULL, PMI2_ID_NULL, "k0", text, 64, &n) == PMI2_SUCCESS && n == 5 &&
       !strcmp(text, "v a=b"));
    EQ(PMI2_KVS_Get("kvs_7", 3, "none", text, 64, &n), PMI2_ERR_INVALID_KEY);
    OK(PMI2_KVS_Get("other", -1, "k0", text, 64, &n) == PMI2_SUCCESS && n == 0);
    EQ(PMI2_KVS_Put("k1", "a;b"), PMI2_ERR_INVALID_VAL);
    EQ(PMI2_KVS_Put("k1", "a;b"), PMI2_ERR_INVALID_VAL);
    OK(PMI2_Info_GetNodeAttr("na", text, 64, &found, 1) == PMI2_SUCCESS && found &&
       !strcmp(text, "nv;x=1"));
    OK(PMI2_Info_GetNodeAttr("nb", text, 64, &found, 0) == PMI2_SUCCESS && !found);
    OK(PMI2_Info_GetJobAttr("PMI_process_mapping", text, 64, &found) == PMI2_SUCCESS && found);
    EQ(PMI2_Nameserv_lookup("svc", NULL, text, 64), PMI2_ERR_OTHER);
    EQ(PMI2_Nameserv_publish("svc", NULL, "p 1"), PMI2_SUCCESS);
    EQ(PMI2_Nameserv_publish("svc", NULL, "p 2"), PMI2_ERR_OTHER);
    EQ(PMI2_Nameserv_publish("svc;", NULL, "p"), PMI2_ERR_INVALID_VAL);
    EQ(PMI2_Job_Spawn(1, cmds, NULL, NULL, &one, NULL, NULL, 0, NULL, NULL, 0, NULL),
       PMI2_ERR_INVALID_VAL);
    OK(PMI2_Nameserv_lookup("svc", NULL, text, 64) == PMI2_SUCCESS && !strcmp(text, "p 1"));
    EQ(PMI2_Nameserv_unpublish("svc", NULL), PMI2_SUCCESS);
    OK(PMIX_Ring("mine", &rank, &size, text, right, 64) == PMI2_SUCCESS && rank == 1 && size == 4 &&
       !strcmp(text, "zero") && !strcmp(right, "two"));
    EQ(PMI2_Job_Connect("other", NULL), PMI2_ERR_OTHER); /* its server would end the job */
    finish(&s);
}

/* Hydra of MPICH 4.1 and later. */
static void test_hydra5(void)
{
    static const struct script_line lines[] = {
        START("cmd=fullinit-response;rc=0;rank=1;size=4;appnum=0;pmiverbose=0;"),
        { EXPECT_BODY, "cmd=info-getjobattr;key=nokey;" },
        { SEND_BODY, "cmd=info-getjobattr-response;rc=1;" },
        { EXPECT_BODY, "cmd=info-getnodeattr;key=nb;wait=FALSE;" },
        { SEND_BODY, "cmd=info-getnodeattr-response;rc=1;" },
        { EXPECT_BODY, "cmd=job-getid;" },
        { SEND_BODY, "cmd=job-getid-response;rc=0;jobid=K;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=K;srcid=-1;key=k0;" },
        { SEND_BODY, "cmd=kvs-get-response;rc=0;found=TRUE;value=v a=b;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=K;srcid=-1;key=k1;" },
        { SEND_BODY, "cmd=kvs-get-response;rc=1;" },
        FINISH,
    };
    struct script s;
    char text[64];
    int found, n;

    init(&s, lines);
    OK(PMI2_Info_GetJobAttr("nokey", text, 64, &found) == PMI2_SUCCESS && !found);
    OK(PMI2_Info_GetNodeAttr("nb", text, 64, &found, 0) == PMI2_SUCCESS && !found);
    EQ(PMI2_KVS_Put("k0", ""), PMI2_ERR_INVALID_VAL); /* it would crash */
    OK(PMI2_KVS_Get("K", -1, "k0", text, 64, &n) == PMI2_SUCCESS && !strcmp(text, "v a=b"));
    EQ(PMI2_KVS_Get("K", -1, "k1", NULL, 0, &n), PMI2_ERR_INVALID_KEY);
    finish(&s);
}

/* Slurm's plugin. */
static void test_slurm(void)
{
    static const struct script_line lines[] = {
        { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n" },
        { EXPECT_BODY, "cmd=fullinit;pmijobid=12.0;pmirank=1;threaded=FALSE;" },
        { SEND_BODY, "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=4;"
                     "appnum=-1;spawner-jobid=11.0;debugged=FALSE;pmiverbose=FALSE;" },
        { EXPECT_BODY, "cmd=name-lookup;name=svc;infokeycount=0;" },
        { SEND_BODY, "cmd=name-lookup-response;rc=0;value=port7;" },
        { EXPECT_BODY, "cmd=ring;ring-count=1;ring-left=mine;ring-right=mine;" },
        { SEND_BODY, "cmd=ring-response;rc=0;ring-count=2;ring-left=L;;1;ring-right=R;" },
        { EXPECT_BODY, "cmd=kvs-fence;" },
        { SEND_BODY, "cmd=kvs-fence-response;rc=6;errmsg=somebody has gone;" },
        FINISH,
    };
    int spawned, size, rank, appnum;
    char text[64], right[64];
    struct script s;

    setenv("PMI_JOBID", "12.0", 1);
    script_begin(&s, framed(lines));
    EQ(PMI2_Init(&spawned, &size, &rank, &appnum), PMI2_SUCCESS);
    OK(spawned == 1 && appnum == -1);
    OK(PMI2_Nameserv_lookup("svc", NULL, text, 5) == PMI2_SUCCESS && !strcmp(text, "port"));
    OK(PMIX_Ring("mine", &rank, &size, text, right, 64) == PMI2_SUCCESS && rank == 2 && size == 4 &&
       !strcmp(text, "L;1") && !strcmp(right, "R"));
    EQ(PMI2_KVS_Fence(), PMI2_ERR_OTHER);
    finish(&s);
    unsetenv("PMI_JOBID");
}

static void test_spawn(void)
{
    static const struct script_line lines[] = {
        HYDRA_START,
        { EXPECT_BODY, "cmd=info-putnodeattr;key=wireup.probe.1;value=a;;b=;;;;c;" },
        { SEND_BODY, "cmd=info-putnodeattr-response;rc=0;" },
        { EXPECT_BODY, "cmd=info-getnodeattr;key=wireup.probe.1;wait=FALSE;" },
        { SEND_BODY, "cmd=info-getnodeattr-response;found=TRUE;value=a;;b=;;;;c;rc=0;" },
        { EXPECT_BODY, "cmd=spawn;ncmds=2;preputcount=2;ppkey0=P;ppval0=tag#0$x;ppkey1=Q;ppval1=;"
                       "subcmd=/bin/a b;maxprocs=2;argc=2;argv0=a b;argv1=x=y;;z;infokeycount=1;"
                       "infokey0=wdir;infoval0=/tmp;subcmd=c;maxprocs=1;argc=0;infokeycount=0;" },
        { SEND_BODY, "cmd=spawn-response;rc=0;jobid=K2;nerrs=0;" },
        { EXPECT_BODY,
          "cmd=spawn;ncmds=1;preputcount=0;subcmd=c;maxprocs=3;argc=0;infokeycount=0;" },
        { SEND_BODY, "cmd=spawn-response;rc=1;errmsg=c: no such program;errcodes=0,2,0;nerrs=1;" },
        { EXPECT_BODY,
          "cmd=spawn;ncmds=1;preputcount=0;subcmd=c;maxprocs=3;argc=0;infokeycount=0;" },
        { SEND_BODY, "cmd=spawn-response;rc=0;" }, /* Hydra 5 leaves the name out */
        FINISH,
    };
    const char *cmds[] = { "/bin/a b", "c" }, *args[] = { "a b", "x=y;z" }, **argvs[2] = { args };
    MPID_Info info = { .key = (char *)"wdir", .value = (char *)"/tmp" };
    MPID_Info p0 = { .key = (char *)"P", .value = (char *)"tag#0$x" };
    MPID_Info p1 = { .key = (char *)"Q" };
    const MPID_Info *infos[] = { &info, NULL }, *preputs[] = { &p0, &p1 };
    int argcs[] = { 2, 0 }, maxprocs[] = { 2, 1 }, sizes[] = { 1, 0 }, three = 3, zero = 0;
    int errors[3] = { 9, 9, 9 };
    struct script s;
    char job[16];

    init(&s, lines);
    EQ(PMI2_Job_Spawn(2, cmds, argcs, argvs, maxprocs, sizes, infos, 2, preputs, job, 16, errors),
       PMI2_SUCCESS);
    OK(!strcmp(job, "K2") && errors[0] == 0 && errors[2] == 0);
    EQ(PMI2_Job_Spawn(1, cmds + 1, NULL, NULL, &three, NULL, NULL, 0, NULL, job, 16, errors),
       PMI2_ERR_OTHER);
    OK(errors[0] == 0 && errors[1] == 2 && errors[2] == 0);
    EQ(PMI2_Job_Spawn(1, cmds + 1, NULL, NULL, &three, NULL, NULL, 0, NULL, job, 16, NULL),
       PMI2_ERR_OTHER);
    EQ(PMI2_Job_Spawn(1, cmds, NULL, NULL, &zero, NULL, NULL, 0, NULL, job, 16, NULL),
       PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Job_Spawn(0, cmds, NULL, NULL, &three, NULL, NULL, 0, NULL, job, 16, NULL),
       PMI2_ERR_INVALID_ARG);
    argcs[0] = 3;
    argvs[0] = NULL;
    EQ(PMI2_Job_Spawn(1, cmds, argcs, argvs, &three, NULL, NULL, 0, NULL, job, 16, NULL),
       PMI2_ERR_INVALID_ARG);
    finish(&s);
}

/* Programs that were built for MPICH 4.1 and later pass lists of another form. */
static void test_spawn_of_mpich(void)
{
    static const struct script_line lines[] = {
        HYDRA_START,
        { EXPECT_BODY, "cmd=spawn;ncmds=1;preputcount=2;ppkey0=P;ppval0=tag#0$x;ppkey1=Q;ppval1=;"
                       "subcmd=c;maxprocs=3;argc=0;infokeycount=1;infokey0=wdir;infoval0=/tmp;" },
        { SEND_BODY, "cmd=spawn-response;rc=0;jobid=K2;nerrs=0;" },
        FINISH,
    };
    struct mpich_pair {
        const char *key, *val;
    } info[] = { { "wdir", "/tmp" } }, preputs[] = { { "P", "tag#0$x" }, { "Q", "" } },
      bad[] = { { NULL, "x" } };
    const char *cmds[] = { "c" };
    const MPID_Info *infos[] = { (const MPID_Info *)(const void *)info };
    int argcs[] = { 0 }, sizes[] = { 1 }, three = 3;
    struct script s;
    char job[16];

    init(&s, lines);
    EQ(PMI2_Job_Spawn(1, cmds, argcs, NULL, &three, sizes, infos, 2,
                      (const MPID_Info **)(void *)preputs, job, 16, NULL),
       PMI2_SUCCESS);
    OK(!strcmp(job, "K2"));
    EQ(PMI2_Job_Spawn(1, cmds, argcs, NULL, &three, NULL, NULL, 1, (const MPID_Info **)(void *)bad,
                      job, 16, NULL),
       PMI2_ERR_INVALID_ARG);
    finish(&s);
}

static void test_port(void)
{
    static const struct script_line lines[] = {
        { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0\n" },
        { SEND, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n" },
        { EXPECT_BODY, "cmd=fullinit;pmirank=33;srcid=33;threaded=FALSE;" },
        { SEND_BODY, "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=2;size=3;"
                     "appnum=0;debugged=FALSE;pmiverbose=FALSE;" },
        FINISH,
    };
    int spawned, size, rank, appnum;
    struct script s;

    script_begin_port(&s, framed(lines));
    setenv("PMI_ID", "33", 1);
    EQ(PMI2_Init(&spawned, &size, &rank, &appnum), PMI2_SUCCESS);
    OK(size == 3 && rank == 2);
    finish(&s);
    unsetenv("PMI_PORT");
    unsetenv("PMI_ID");
}

/* One byte at a time, in both directions. */
static void test_dripping(void)
{
    dripping = true;
    test_hydra();
    test_spawn();
    dripping = false;
}

/* ---- invalid servers ------------------------------------------------------------------------- */

static void test_bad_starts(void)
{
    static const struct script_line
        refused[] = { { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0\n" },
                      { SEND, "cmd=response_to_init rc=-1\n" },
                      { HANG_UP, NULL } },
        other[] = { { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0\n" },
                    { SEND, "cmd=response_to_init rc=0 pmi_version=1 "
                            "pmi_subversion=1\n" },
                    { HANG_UP, NULL } },
        nonsense[] = { { EXPECT, "cmd=init pmi_version=2 pmi_subversion=0\n" },
                       { SEND, "hello\n" },
                       { HANG_UP, NULL } },
        silent[] = { { HANG_UP, NULL } },
        bad_rank[] = { START("cmd=fullinit-response;rc=0;rank=4;size=4;"), { HANG_UP, NULL } },
        bad_rc[] = { START("cmd=fullinit-response;rc=3;errmsg=no;"), { HANG_UP, NULL } },
        bad_frame[] = { START("cmd=job-getid-response;rc=0;"), { HANG_UP, NULL } };
    const struct script_line *all[] = { refused,  other,  nonsense, silent,
                                        bad_rank, bad_rc, bad_frame };
    int v;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct script s;
        int rc;
        script_begin(&s, framed(all[i]));
        rc = PMI2_Init(&v, &v, &v, &v);
        OK_F(rc == (i == 5 ? PMI2_ERR_OTHER : PMI2_FAIL), "bad start %zu is refused (%d)", i, rc);
        OK(!PMI2_Initialized());
        script_end(&s);
    }
    setenv("PMI_FD", "no number", 1);
    EQ(PMI2_Init(&v, &v, &v, &v), PMI2_FAIL);
    setenv("PMI_FD", "999", 1);
    EQ(PMI2_Init(&v, &v, &v, &v), PMI2_FAIL);
}

static void test_lost(void)
{
    static const struct script_line gone[] = { HYDRA_START,
                                               { EXPECT_BODY, "cmd=kvs-fence;" },
                                               { HANG_UP, NULL } },
                                    half[] = { HYDRA_START,
                                               { EXPECT_BODY, "cmd=kvs-fence;" },
                                               { SEND, "28    cmd=kvs-fence-resp" },
                                               { HANG_UP, NULL } },
                                    wrong[] = { HYDRA_START,
                                                { EXPECT_BODY, "cmd=kvs-fence;" },
                                                { SEND_BODY, "cmd=kvs-put-response;rc=0;" },
                                                { HANG_UP, NULL } },
                                    no_length[] = { HYDRA_START,
                                                    { EXPECT_BODY, "cmd=kvs-fence;" },
                                                    { SEND, "cmd=kvs-fence-response;rc=0;" },
                                                    { HANG_UP, NULL } },
                                    unknown[] = { HYDRA_START,
                                                  { EXPECT_BODY, "cmd=kvs-fence;" },
                                                  { SEND_BODY, "cmd=what;rc=0;" },
                                                  { HANG_UP, NULL } };
    const struct script_line *all[] = { gone, half, wrong, no_length, unknown };
    int n;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct script s;
        init(&s, all[i]);
        EQ(PMI2_KVS_Fence(), PMI2_FAIL);
        EQ(PMI2_KVS_Fence(), PMI2_FAIL);
        EQ(PMI2_KVS_Get(NULL, -1, "k", NULL, 0, &n), PMI2_FAIL);
        EQ(PMI2_Finalize(), PMI2_FAIL);
        EQ(PMI2_Finalize(), PMI2_SUCCESS);
        OK(script_end(&s));
    }
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void test_arguments(void)
{
    static const struct script_line lines[] = { HYDRA_START, FINISH };
    char text[8], big[1100], key[80];
    struct script s;
    int v, found;

    EQ(PMI2_KVS_Fence(), PMI2_ERR_INIT);
    EQ(PMI2_KVS_Put("a", "b"), PMI2_ERR_INIT);
    EQ(PMI2_Job_GetRank(&v), PMI2_ERR_INIT);
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
    init(&s, lines);
    OK(PMI2_Init(NULL, NULL, NULL, NULL) == PMI2_SUCCESS && PMI2_Initialized());
    memset(big, 'x', sizeof big);
    big[1024] = '\0'; /* Hydra would cut the last */
    memset(key, 'k', sizeof key);
    key[64] = '\0';
    EQ(PMI2_KVS_Put("k", big), PMI2_ERR_INVALID_VAL_LENGTH);
    EQ(PMI2_KVS_Put(key, "x"), PMI2_ERR_INVALID_KEY_LENGTH);
    EQ(PMI2_KVS_Put("", "x"), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_KVS_Put(NULL, "x"), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_KVS_Put("k", NULL), PMI2_ERR_INVALID_VAL);
    EQ(PMI2_KVS_Get(NULL, 0, NULL, text, 8, &v), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_KVS_Get(NULL, 0, "k", NULL, 8, &v), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_KVS_Get(NULL, 0, "k", text, 8, NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Info_GetNodeAttr("a", text, 8, NULL, 0), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Info_GetNodeAttr(NULL, text, 8, &found, 0), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_Info_GetNodeAttrIntArray("a", NULL, 8, &v, &found), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Info_GetJobAttr("a", NULL, 8, &found), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Info_GetJobAttrIntArray("a", &v, 1, NULL, &found), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Info_PutNodeAttr("a", NULL), PMI2_ERR_INVALID_VAL);
    EQ(PMI2_Job_GetId(NULL, 8), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Job_GetId(text, 0), PMI2_ERR_INVALID_LENGTH);
    EQ(PMI2_Job_GetRank(NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Info_GetSize(NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Job_Connect("", NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Job_Disconnect(NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Nameserv_publish("", NULL, "p"), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Nameserv_publish("s", NULL, NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Nameserv_lookup("s", NULL, NULL, 8), PMI2_ERR_INVALID_ARG);
    EQ(PMI2_Nameserv_unpublish(NULL, NULL), PMI2_ERR_INVALID_ARG);
    EQ(PMIX_Ring(NULL, &v, &v, text, text, 8), PMI2_ERR_INVALID_ARG);
    big[1024] = 'x';
    big[1025] = '\0';
    EQ(PMIX_Ring(big, &v, &v, text, text, 8), PMI2_ERR_INVALID_VAL_LENGTH);
    OK(PMI2_Job_GetRank(&v) == PMI2_SUCCESS && v == 1);
    OK(PMI2_Info_GetSize(&v) == PMI2_SUCCESS && v == 4);
    finish(&s);
    OK(!PMI2_Initialized());
}

/* ---- alone ----------------------------------------------------------------------------------- */

static void test_lengths(void)
{
    static const struct {
        int room, length;
        const char *text;
    } cases[] = { { 64, 5, "hello" }, { 6, 5, "hello" }, { 5, -5, "hell" }, { 3, -5, "he" },
                  { 1, -5, "" },      { 0, -5, "####" }, { -3, -5, "####" } };

    EQ(PMI2_KVS_Put("len", "hello"), PMI2_SUCCESS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64] = "####";
        int n = 99;
        OK_F(PMI2_KVS_Get(NULL, -1, "len", text, cases[i].room, &n) == PMI2_SUCCESS &&
                 n == cases[i].length && !strcmp(text, cases[i].text),
             "room %d: length %d, '%s'", cases[i].room, n, text);
    }
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        int room, rc, count;
    } cases[] = {
        { "1,-2,3", 8, PMI2_SUCCESS, 3 },
        { "1,-2,3", 3, PMI2_SUCCESS, 3 },
        { "1,-2,3", 2, PMI2_SUCCESS, 2 },
        { "1,-2,3", 0, PMI2_SUCCESS, 0 },
        { "5", 8, PMI2_SUCCESS, 1 },
        { "", 8, PMI2_ERR_INVALID_VAL, -7 },
        { "a,b", 8, PMI2_ERR_INVALID_VAL, -7 },
        { "1,,2", 8, PMI2_ERR_INVALID_VAL, -7 },
        { "1,2,", 8, PMI2_ERR_INVALID_VAL, -7 },
        { "1 2", 8, PMI2_ERR_INVALID_VAL, -7 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int array[8] = { 0 }, count = -7, found = -7;
        EQ(PMI2_Info_PutNodeAttr("n", cases[i].text), PMI2_SUCCESS);
        OK_F(PMI2_Info_GetNodeAttrIntArray("n", array, cases[i].room, &count, &found) ==
                     cases[i].rc &&
                 count == cases[i].count && found == 1,
             "'%s' into %d: %d", cases[i].text, cases[i].room, count);
    }
}

static void test_alone(void)
{
    int spawned = 7, size = 7, rank = 7, appnum = 7, n, found, array[2];
    const char *cmds[] = { "x" };
    char text[64], right[64];

    unsetenv("PMI_FD");
    unsetenv("PMI_RANK"); /* else it would fail: its launcher uses another protocol */
    unsetenv("PMI_SIZE");
    EQ(PMI2_Init(&spawned, &size, &rank, &appnum), PMI2_SUCCESS);
    OK(spawned == 0 && size == 1 && rank == 0 && appnum == -1);
    OK(PMI2_Job_GetId(text, 64) == PMI2_SUCCESS && !strncmp(text, "singinit_kvs_", 13));
    EQ(PMI2_KVS_Put("k", "a;b\n"), PMI2_SUCCESS);
    EQ(PMI2_KVS_Put("k", "x"), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_KVS_Fence(), PMI2_SUCCESS);
    OK(PMI2_KVS_Get(text, 0, "k", text, 64, &n) == PMI2_SUCCESS && !strcmp(text, "a;b\n"));
    EQ(PMI2_KVS_Get("elsewhere", 0, "k", text, 64, &n), PMI2_ERR_INVALID_KEY);
    OK(PMI2_Info_GetNodeAttr("na", text, 64, &found, 0) == PMI2_SUCCESS && !found);
    EQ(PMI2_Info_GetNodeAttr("na", text, 64, &found, 1), PMI2_ERR_INVALID_KEY);
    EQ(PMI2_Info_PutNodeAttr("na", "1"), PMI2_SUCCESS);
    EQ(PMI2_Info_PutNodeAttr("na", "2"), PMI2_SUCCESS);
    OK(PMI2_Info_GetNodeAttr("na", text, 64, &found, 1) == PMI2_SUCCESS && !strcmp(text, "2"));
    EQ(PMI2_KVS_Get(NULL, 0, "na", text, 64, &n), PMI2_ERR_INVALID_KEY);
    OK(PMI2_Info_GetJobAttrIntArray("universeSize", array, 2, &n, &found) == PMI2_SUCCESS &&
       found && n == 1 && array[0] == 1);
    OK(PMI2_Info_GetJobAttr("k", text, 64, &found) == PMI2_SUCCESS && !found);
    OK(PMIX_Ring("v", &rank, &size, text, right, 64) == PMI2_SUCCESS && rank == 0 && size == 1 &&
       !strcmp(text, "v") && !strcmp(right, "v"));
    EQ(PMI2_Nameserv_publish("s", NULL, "p"), PMI2_FAIL);
    EQ(PMI2_Job_Spawn(1, cmds, NULL, NULL, &size, NULL, NULL, 0, NULL, NULL, 0, NULL), PMI2_FAIL);
    test_lengths();
    test_numbers();
    EQ(PMI2_Finalize(), PMI2_SUCCESS);
}

/* ---- no memory ------------------------------------------------------------------------------- */

static int copy(void *arg, struct slice value, struct errmsg *err)
{
    (void)err;
    (void)value;
    *(bool *)arg = true;
    return MEMBER_OK;
}

/* A whole exchange; -ENOMEM, or its result. */
static int converse(struct lock *g, bool *got)
{
    struct client_env env;
    struct pmi2_client *m = NULL;
    struct errmsg err;
    bool found;
    int rc = client_env_read(&env, &err);

    lock_lock(g);
    rc = rc == 0 ? member_start(&env, g, &m, &err) : rc;
    if (rc == 0)
        rc = data_put(m, "k0", "v", &err);
    if (rc == 0)
        rc = data_fence(m, &err);
    if (rc == 0)
        rc = data_get(m, NULL, -1, "k0", copy, got, &err);
    if (rc == 0)
        rc = data_get_node(m, "n", true, &found, copy, got, &err);
    if (rc == 0)
        rc = member_stop(m, &err);
    else
        member_free(m);
    lock_unlock(g);
    return rc;
}

static void test_no_memory(void)
{
    static const struct script_line lines[] = {
        HYDRA_START,
        { EXPECT_BODY, "cmd=kvs-put;key=k0;value=v;" },
        { SEND_BODY, "cmd=kvs-put-response;rc=0;" },
        { EXPECT_BODY, "cmd=kvs-fence;" },
        { SEND_BODY, "cmd=kvs-fence-response;rc=0;" },
        { EXPECT_BODY, "cmd=job-getid;" },
        { SEND_BODY, "cmd=job-getid-response;rc=0;jobid=K;" },
        { EXPECT_BODY, "cmd=kvs-get;jobid=K;srcid=-1;key=k0;" },
        { SEND_BODY, "cmd=kvs-get-response;found=TRUE;value=a;;b;rc=0;" },
        { EXPECT_BODY, "cmd=info-getnodeattr;key=n;wait=TRUE;" },
        { SEND_BODY, "cmd=info-getnodeattr-response;found=TRUE;value=;;;rc=0;" },
        FINISH,
    };
    long n = 0;
    int rc;

    do {
        struct lock g = LOCK_INIT;
        struct script s;
        bool got = false;
        script_begin(&s, framed(lines));
        fail_after = n++;
        has_failed = false;
        rc = converse(&g, &got);
        fail_after = -1;
        script_end(&s);
        if (has_failed && rc != -ENOMEM && rc != 0)
            OK_F(false, "allocation %ld fails: %d", n, rc);
    } while (has_failed && n < 1000);
    OK_F(rc == 0 && n > 5 && n < 1000, "%ld allocations, each failing once", n);
}

int main(void)
{
    setenv("WIREUP", "/nonexistent/wireup", 1); /* a launcher may be installed here */
    test_hydra();
    test_hydra5();
    test_slurm();
    test_spawn();
    test_spawn_of_mpich();
    test_port();
    test_dripping();
    test_bad_starts();
    test_lost();
    test_arguments();
    test_alone();
    test_no_memory();
    return tap_done();
}
