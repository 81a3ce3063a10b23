/* pmi2_test.c - PMI-2 conversations without a socket, alone and together with PMI-1. */
#include "tests/world.h"
#include "core/effect.h"
#include "core/job_end.h"
#include "core/job_kvs.h"

#define PEER(w, rank) ((w)->jobs[0].peers[rank])

static const char INIT[] = "cmd=init pmi_version=2 pmi_subversion=0\n";

/* Sends one body as a frame: the length to the left in even frames, to the right in odd ones. */
static void frame(struct world *w, struct peer *p, const char *body)
{
    static unsigned turn;
    char text[4096];
    int n = snprintf(text, sizeof text, turn++ % 2 ? "%6zu%s" : "%-6zu%s", strlen(body), body);

    world_write(w, p, slice_mem(text, (size_t)n));
}

/* The bytes received, without the lengths. */
static const char *bodies(struct peer *p)
{
    static char text[1 << 16];
    const char *in = world_received(p);
    size_t n = 0;

    while (strlen(in) > 6) {
        size_t len = (size_t)atoi(in);
        memcpy(text + n, in + 6, len);
        n += len;
        text[n++] = '\n';
        in += 6 + len;
    }
    text[n] = '\0';
    return text;
}

#define RECEIVES(p, text)                                                                          \
    do {                                                                                           \
        const char *got_ = bodies(p);                                                              \
        if (!OK_F(!strcmp(got_, text "\n"), "%s", text))                                           \
            printf("# got: %s\n", got_);                                                           \
    } while (0)

#define ASKS(w, p, body, text)                                                                     \
    do {                                                                                           \
        frame(w, p, body);                                                                         \
        RECEIVES(p, text);                                                                         \
    } while (0)

static void start(struct world *w, struct peer *p)
{
    world_write(w, p, slice_str(INIT));
    world_received(p);
    frame(w, p, "cmd=fullinit;pmirank=0;threaded=TRUE;");
    world_received(p);
}

static void test_start(void)
{
    struct world w;
    struct peer *p;

    world_open(&w, 2, 1);
    p = PEER(&w, 1);
    world_write(&w, p, slice_str(INIT));
    OK(!strcmp(world_received(p), "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"));
    EQ(w.jobs[0].job->procs[1].state, PROC_STATE_ATTACHED);
    frame(&w, p, "cmd=fullinit;pmijobid=x;pmirank=1;threaded=FALSE;");
    RECEIVES(p, "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=0;"
                "debugged=FALSE;pmiverbose=FALSE;");
    ASKS(&w, p, "cmd=job-getid;", "cmd=job-getid-response;rc=0;jobid=job_0;");
    ASKS(&w, p, "cmd=job-getid;thrid=0x7f1;",
         "cmd=job-getid-response;thrid=0x7f1;rc=0;jobid=job_0;");
    ASKS(&w, p, "cmd=allgather;value=x;",
         "cmd=allgather-response;rc=1;errmsg=unknown PMI-2 command 'allgather';");
    ASKS(&w, p, "cmd=finalize;", "cmd=finalize-response;rc=0;");
    EQ(w.jobs[0].job->procs[1].state, PROC_STATE_LEAVING);
    start(&w, p);
    EQ(w.jobs[0].job->procs[1].state, PROC_STATE_ATTACHED);
    ASKS(&w, p, "cmd=kvs-put;key=a;value=1;", "cmd=kvs-put-response;rc=0;");
    world_write(&w, p, SLICE("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_appnum\n"));
    OK_F(!strcmp(world_received(p), "cmd=response_to_init rc=0 pmi_version=1 "
                                    "strict=1.1\tpmi_subversion=1 pmi_subversion=2\n"
                                    "cmd=appnum rc=0 appnum=0\n"),
         "a wrapper's child may speak PMI-1 on the same connection");
    world_write(&w, p, slice_str(INIT));
    OK(!strcmp(world_received(p), "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"));
    world_close(&w);
}

static void test_kvs(void)
{
    struct world w;
    struct peer *p, *q;

    world_open(&w, 2, 1);
    p = PEER(&w, 0);
    q = PEER(&w, 1);
    start(&w, p);
    start(&w, q);
    ASKS(&w, p, "cmd=kvs-put;key=k0;value=v a=b;;;;c;", "cmd=kvs-put-response;rc=0;");
    ASKS(&w, p, "cmd=kvs-put;key=empty;value=;", "cmd=kvs-put-response;rc=0;");
    ASKS(&w, q, "cmd=kvs-put;key=k0;value=x;", "cmd=kvs-put-response;rc=1;errmsg=already_present;");
    ASKS(&w, q, "cmd=kvs-put;key=PMI_x;value=x;",
         "cmd=kvs-put-response;rc=1;errmsg=reserved_for_the_process_manager;");
    frame(&w, p, "cmd=kvs-fence;thrid=a;");
    ASKS(&w, p, "cmd=kvs-get;thrid=b;jobid=job_0;srcid=0;key=k0;",
         "cmd=kvs-get-response;thrid=b;rc=0;found=TRUE;value=v a=b;;;;c;");
    frame(&w, q, "cmd=kvs-fence;");
    RECEIVES(p, "cmd=kvs-fence-response;thrid=a;rc=0;");
    RECEIVES(q, "cmd=kvs-fence-response;rc=0;");
    ASKS(&w, q, "cmd=kvs-get;jobid=;srcid=-1;key=empty;",
         "cmd=kvs-get-response;rc=0;found=TRUE;value=;");
    ASKS(&w, q, "cmd=kvs-get;srcid=1;key=k0;",
         "cmd=kvs-get-response;rc=0;found=TRUE;value=v a=b;;;;c;");
    ASKS(&w, q, "cmd=kvs-get;jobid=job_0;srcid=-1;key=none;",
         "cmd=kvs-get-response;rc=0;found=FALSE;");
    ASKS(&w, q, "cmd=kvs-get;jobid=other;key=k0;", "cmd=kvs-get-response;rc=0;found=FALSE;");
    world_write(&w, q, slice_str(INIT));
    world_received(q);
    frame(&w, q, "cmd=fullinit;pmirank=1;"); /* MPICH 4.1 and later */
    world_received(q);
    ASKS(&w, q, "cmd=kvs-get;key=empty;",
         "cmd=kvs-get-response;rc=1;errmsg=the value cannot be said to this client;found=FALSE;");
    ASKS(&w, q, "cmd=kvs-get;key=k0;",
         "cmd=kvs-get-response;rc=1;errmsg=the value cannot be said to this client;found=FALSE;");
    world_close(&w);
}

static void test_attributes(void)
{
    const struct answer path = ANSWER_TO(job_attr, ANSWER_OK, .value = SLICE("/proc/1/fd/2"));
    struct world w;
    struct peer *p[4];
    char body[128];

    world_open(&w, 4, 2);
    for (uint32_t r = 0; r < 4; r++)
        start(&w, p[r] = PEER(&w, r));
    job_preset(w.jobs[0].job, SLICE("PMI_process_mapping"), SLICE("(vector,(0,2,1))"));
    ASKS(&w, p[0], "cmd=info-getjobattr;key=PMI_process_mapping;",
         "cmd=info-getjobattr-response;rc=0;found=TRUE;value=(vector,(0,2,1));");
    ASKS(&w, p[0], "cmd=info-getjobattr;key=none;",
         "cmd=info-getjobattr-response;rc=0;found=FALSE;");
    frame(&w, p[0], "cmd=kvs-put;key=mine;value=1;");
    world_received(p[0]);
    ASKS(&w, p[0], "cmd=info-getjobattr;key=mine;",
         "cmd=info-getjobattr-response;rc=0;found=FALSE;");
    ASKS(&w, p[0], "cmd=info-getnodeattr;key=na;wait=FALSE;",
         "cmd=info-getnodeattr-response;rc=0;found=FALSE;");
    for (int i = 0; i < 20; i++) { /* threads of one process, all answered by one put */
        snprintf(body, sizeof body, "cmd=info-getnodeattr;thrid=%d;key=na;wait=TRUE;", i);
        frame(&w, p[0], body);
    }
    frame(&w, p[1], "cmd=info-getnodeattr;key=na;wait=TRUE;");
    OK(!strcmp(world_received(p[0]), "") && !strcmp(world_received(p[1]), ""));
    ASKS(&w, p[2], "cmd=info-putnodeattr;key=na;value=nv;;x=1;",
         "cmd=info-putnodeattr-response;rc=0;");
    OK_F(strstr(bodies(p[0]),
                "cmd=info-getnodeattr-response;thrid=19;rc=0;found=TRUE;value=nv;;x=1;"),
         "who waited on this node hears of it");
    OK_F(!strcmp(world_received(p[1]), ""), "and nobody on the other node");
    frame(&w, p[3], "cmd=info-putnodeattr;key=na;value=other;");
    RECEIVES(p[1], "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=other;");
    frame(&w, p[3], "cmd=info-putnodeattr;key=na;value=newer;");
    ASKS(&w, p[1], "cmd=info-getnodeattr;key=na;",
         "cmd=info-getnodeattr-response;rc=0;found=TRUE;value=newer;");
    ASKS(&w, p[0], "cmd=info-putnodeattr;key=;value=x;",
         "cmd=info-putnodeattr-response;rc=1;errmsg=bad_key;");
    ASKS(&w, p[0], "cmd=info-getjobattr;key=PMI_hwloc_xmlfile;",
         "cmd=info-getjobattr-response;rc=0;found=FALSE;");
    w.server.core.has_topology = true;
    frame(&w, p[0], "cmd=info-getjobattr;thrid=9;key=PMI_hwloc_xmlfile;");
    OK(w.last.kind == EFFECT_job_attr && slice_is(w.last.u.job_attr.key, "PMI_hwloc_xmlfile"));
    server_answer(&w.server, w.last.u.job_attr.ticket, &path);
    RECEIVES(p[0], "cmd=info-getjobattr-response;thrid=9;rc=0;found=TRUE;value=/proc/1/fd/2;");
    world_close(&w);
}

static void test_names(void)
{
    struct world w;
    struct peer *p;

    world_open(&w, 1, 1);
    start(&w, p = PEER(&w, 0));
    ASKS(&w, p, "cmd=name-lookup;name=svc;infokeycount=0;",
         "cmd=name-lookup-response;rc=1;errmsg=not_found;found=FALSE;");
    ASKS(&w, p, "cmd=name-publish;name=svc;port=,000,0000\n;infokeycount=0;",
         "cmd=name-publish-response;rc=0;");
    ASKS(&w, p, "cmd=name-publish;name=svc;port=b;infokeycount=1;infokey0=a;infoval0=b;",
         "cmd=name-publish-response;rc=1;errmsg=already_present;");
    ASKS(&w, p, "cmd=name-lookup;name=svc;",
         "cmd=name-lookup-response;rc=0;found=TRUE;port=,000,0000\n;value=,000,0000\n;");
    ASKS(&w, p, "cmd=name-unpublish;name=svc;", "cmd=name-unpublish-response;rc=0;");
    ASKS(&w, p, "cmd=name-unpublish;name=svc;",
         "cmd=name-unpublish-response;rc=1;errmsg=not_found;");
    world_close(&w);
}

/* A name goes with its publisher's job, unless it was published to stay. */
static void test_names_that_stay(void)
{
    struct world w;
    struct peer *p, *q;

    world_open(&w, 1, 1);
    world_job(&w, 1, 1, JOB_NO_RANK);
    start(&w, p = PEER(&w, 0));
    start(&w, q = w.jobs[1].peers[0]);
    ASKS(&w, q, "cmd=name-publish;name=gone;port=a;infokeycount=1;infokey0=persist;infoval0=job;",
         "cmd=name-publish-response;rc=0;");
    ASKS(&w, q,
         "cmd=name-publish;name=stays;port=b;infokeycount=2;infokey0=x;infoval0=y;"
         "infokey1=persist;infoval1=indefinite;",
         "cmd=name-publish-response;rc=0;");
    ASKS(&w, p, "cmd=name-lookup;name=gone;",
         "cmd=name-lookup-response;rc=0;found=TRUE;port=a;value=a;");
    server_peer_free(&w.server, q);
    core_job_remove(&w.server.core, w.jobs[1].job);
    ASKS(&w, p, "cmd=name-lookup;name=gone;",
         "cmd=name-lookup-response;rc=1;errmsg=not_found;found=FALSE;");
    ASKS(&w, p, "cmd=name-lookup;name=stays;",
         "cmd=name-lookup-response;rc=0;found=TRUE;port=b;value=b;");
    ASKS(&w, p, "cmd=name-unpublish;name=stays;", "cmd=name-unpublish-response;rc=0;");
    world_close(&w);
}

static void test_spawn(void)
{
    static const char body[] =
        "cmd=spawn;thrid=7;ncmds=2;preputcount=1;ppkey0=P;ppval0=tag#0$x;subcmd=/bin/a b;"
        "maxprocs=2;argc=2;argv0=a b;argv1=x=y;infokeycount=1;infokey0=wdir;infoval0=/tmp;"
        "subcmd=c;maxprocs=1;argc=0;";
    struct spawn_request *rq;
    int codes[3] = { 0, 2, 0 };
    struct answer a;
    struct world w;
    struct peer *p;

    world_open(&w, 1, 1);
    start(&w, p = PEER(&w, 0));
    frame(&w, p, body);
    rq = w.last.u.spawn.request;
    OK(w.last.kind == EFFECT_spawn && rq && rq->ncommands == 2 && rq->npreputs == 1);
    OK(!strcmp(rq->commands[0].program, "/bin/a b") && rq->commands[0].nargs == 2 &&
       !strcmp(rq->commands[0].args[0], "a b") && !rq->commands[0].args[2]);
    OK(slice_is(spawn_info(&rq->commands[0], "wdir"), "/tmp") && spawn_nprocs(rq) == 3);
    OK(slice_is(rq->preputs[0].value, "tag#0$x") && rq->commands[1].nargs == 0);
    ASKS(&w, p, "cmd=job-getid;thrid=8;", "cmd=job-getid-response;thrid=8;rc=0;jobid=job_0;");
    a = ANSWER_TO(spawn, ANSWER_FAILED, .codes = { codes, 3 });
    a.text = SLICE("c: no such program");
    server_answer(&w.server, w.last.u.spawn.ticket, &a);
    RECEIVES(p,
             "cmd=spawn-response;thrid=7;rc=1;errmsg=c: no such program;nerrs=1;errcodes=0,2,0;");
    frame(&w, p, body);
    a = ANSWER_TO(spawn, ANSWER_OK, .nspace = SLICE("job_9"));
    server_answer(&w.server, w.last.u.spawn.ticket, &a);
    RECEIVES(p, "cmd=spawn-response;thrid=7;rc=0;jobid=job_9;nerrs=0;");
    world_close(&w);
}

static void test_other_jobs(void)
{
    struct world w;
    struct peer *p, *child;

    world_open(&w, 1, 1);
    world_job(&w, 1, 1, w.jobs[0].job->id);
    p = PEER(&w, 0);
    child = w.jobs[1].peers[0];
    start(&w, p);
    world_write(&w, child, slice_str(INIT));
    world_received(child);
    frame(&w, child, "cmd=fullinit;pmirank=0;threaded=FALSE;");
    RECEIVES(child, "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=0;size=1;"
                    "appnum=0;spawner-jobid=job_0;debugged=FALSE;pmiverbose=FALSE;");
    frame(&w, p, "cmd=kvs-put;key=a;value=1;");
    world_received(p);
    ASKS(&w, child, "cmd=kvs-get;jobid=job_0;srcid=0;key=a;",
         "cmd=kvs-get-response;rc=0;found=TRUE;value=1;");
    ASKS(&w, child, "cmd=kvs-get;key=a;", "cmd=kvs-get-response;rc=0;found=FALSE;");
    world_close(&w);

    world_open(&w, 1, 1);
    world_job(&w, 1, 1, JOB_NO_RANK);
    p = PEER(&w, 0);
    child = w.jobs[1].peers[0]; /* an unrelated job */
    start(&w, p);
    start(&w, child);
    frame(&w, child, "cmd=kvs-put;key=a;value=1;");
    world_received(child);
    ASKS(&w, p, "cmd=kvs-get;jobid=job_1;key=a;", "cmd=kvs-get-response;rc=0;found=FALSE;");
    ASKS(&w, p, "cmd=job-connect;jobid=job_7;", "cmd=job-connect-response;rc=1;errmsg=not_found;");
    ASKS(&w, p, "cmd=job-connect;jobid=job_1;", "cmd=job-connect-response;rc=0;kvscopy=FALSE;");
    ASKS(&w, p, "cmd=job-connect;jobid=job_1;", "cmd=job-connect-response;rc=0;kvscopy=FALSE;");
    ASKS(&w, p, "cmd=job-disconnect;jobid=job_1;", "cmd=job-disconnect-response;rc=0;");
    ASKS(&w, p, "cmd=kvs-get;jobid=job_1;key=a;", "cmd=kvs-get-response;rc=0;found=TRUE;value=1;");
    ASKS(&w, p, "cmd=job-disconnect;jobid=job_1;", "cmd=job-disconnect-response;rc=0;");
    ASKS(&w, p, "cmd=kvs-get;jobid=job_1;key=a;", "cmd=kvs-get-response;rc=0;found=FALSE;");
    ASKS(&w, p, "cmd=job-disconnect;jobid=job_1;",
         "cmd=job-disconnect-response;rc=1;errmsg=not_found;");
    world_close(&w);
}

/* Six ranks on three nodes in turn: the ring is 0 3 1 4 2 5. */
static void test_ring(void)
{
    static const char *const want[] = {
        "ring-count=0;ring-left=r5;ring-right=l3;", "ring-count=2;ring-left=r3;ring-right=l4;",
        "ring-count=4;ring-left=r4;ring-right=l5;", "ring-count=1;ring-left=r0;ring-right=l1;",
        "ring-count=3;ring-left=r1;ring-right=l2;", "ring-count=5;ring-left=r2;ring-right=l0;",
    };
    struct world w;
    char body[128];

    world_open(&w, 6, 3);
    for (uint32_t r = 0; r < 6; r++) {
        start(&w, PEER(&w, r));
        snprintf(body, sizeof body, "cmd=ring;ring-count=1;ring-left=l%u;ring-right=r%u;", r, r);
        frame(&w, PEER(&w, r), body);
    }
    for (uint32_t r = 0; r < 6; r++)
        OK_F(strstr(bodies(PEER(&w, r)), want[r]), "rank %u: %s", r, want[r]);
    for (int i = 0; i < 17; i++)
        frame(&w, PEER(&w, 0), "cmd=ring;ring-count=1;ring-left=;ring-right=;");
    OK(!strcmp(world_received(PEER(&w, 0)), ""));
    ASKS(&w, PEER(&w, 0), "cmd=ring;ring-count=1;ring-left=;ring-right=;",
         "cmd=ring-response;rc=1;errmsg=over_quota;");
    world_close(&w);

    world_open(&w, 1, 1);
    start(&w, PEER(&w, 0));
    ASKS(&w, PEER(&w, 0), "cmd=ring;ring-count=1;ring-left=a;ring-right=b;",
         "cmd=ring-response;rc=0;ring-count=0;ring-left=b;ring-right=a;");
    world_close(&w);
}

static void test_port(void)
{
    struct world w;
    struct peer *p;

    world_open(&w, 2, 1);
    p = server_peer_new(&w.server, NULL, 0, false, NULL);
    world_write(&w, p, slice_str(INIT));
    OK(!strcmp(world_received(p), "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"));
    frame(&w, p, "cmd=fullinit;srcid=12;threaded=FALSE;");
    RECEIVES(p, "cmd=fullinit-response;rc=1;errmsg=not_found;");
    OK(p->closing);
    world_close(&w);
}

static bool find_one(void *arg, const struct peer *newcomer, int64_t id, struct job **job_p,
                     uint32_t *rank_p)
{
    struct world *w = arg;

    (void)newcomer;
    *job_p = w->jobs[0].job;
    *rank_p = 1;
    return id == 12;
}

static void test_port_known(void)
{
    struct world w;
    struct peer *p;

    world_open(&w, 2, 1);
    w.server.identify = find_one;
    w.server.arg = &w;
    p = server_peer_new(&w.server, NULL, 0, false, NULL);
    world_write(&w, p, slice_str(INIT));
    world_received(p);
    frame(&w, p, "cmd=fullinit;pmirank=12;threaded=FALSE;");
    RECEIVES(p, "cmd=fullinit-response;rc=0;pmi-version=2;pmi-subversion=0;rank=1;size=2;appnum=0;"
                "debugged=FALSE;pmiverbose=FALSE;");
    EQ(w.jobs[0].job->procs[1].state, PROC_STATE_ATTACHED);
    world_close(&w);
}

static void test_ours(void)
{
    static const char put[] = "41    cmd=mput-wireup;thrid=3;count=2;bytes=18;"
                              "\1\0\3\0\0\0ka;b\2\0\0\0\0\0k2";
    struct world w;
    struct peer *p;
    struct slice v;

    world_open(&w, 2, 2);
    p = PEER(&w, 1);
    world_write(&w, p, SLICE("cmd=init pmi_version=2 pmi_subversion=0 wireup=1\n"));
    OK_F(!strcmp(world_received(p),
                 "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0 wireup=1 rank=1 size=2 "
                 "appnum=0 universe=-1 kvsname_max=256 keylen_max=64 vallen_max=1024 store=0 "
                 "whole=0 node=1 kvsname=job_0\n"),
         "everything in the first answer");
    for (size_t i = 0; i + 1 < sizeof put; i++)
        world_write(&w, p, slice_mem(put + i, 1));
    RECEIVES(p, "cmd=mput-wireup-response;thrid=3;rc=0;");
    OK(job_get(w.jobs[0].job, SLICE_NULL, SLICE("k"), &v) == ANSWER_OK && slice_is(v, "a;b"));
    frame(&w, p, "cmd=get-wireup;key=k;");
    OK(!strcmp(world_received(p), "48    cmd=get-wireup-response;rc=0;found=TRUE;bytes=3;a;b"));
    frame(&w, p, "cmd=get-wireup;key=none;");
    RECEIVES(p, "cmd=get-wireup-response;rc=0;found=FALSE;");
    for (size_t i = 0; i + 1 < sizeof put; i++)
        world_write(&w, p, slice_mem(put + i, 1));
    RECEIVES(p, "cmd=mput-wireup-response;thrid=3;rc=1;errmsg=already_present;key=k;");
    world_close(&w);
}

static void test_endings(void)
{
    struct world w;

    world_open(&w, 2, 1);
    start(&w, PEER(&w, 1));
    frame(&w, PEER(&w, 1), "cmd=abort;isworld=TRUE;msg=bye msg;; x;");
    OK(w.last.kind == EFFECT_kill && strstr(w.jobs[0].job->reason.text, "bye msg; x"));
    EQ(job_exit_code(w.jobs[0].job), 1);
    world_close(&w);

    world_open(&w, 2, 1);
    start(&w, PEER(&w, 1));
    frame(&w, PEER(&w, 1), "cmd=abort;isworld=FALSE;msg=just me;");
    OK_F(w.effects == 0, "a process that goes alone takes nobody along at once");
    world_close(&w);

    world_open(&w, 2, 1);
    start(&w, PEER(&w, 1));
    frame(&w, PEER(&w, 1), "cmd=abort;exitcode=-1;message=x;");
    EQ(job_exit_code(w.jobs[0].job), 255);
    world_close(&w);

    world_open(&w, 2, 1);
    start(&w, PEER(&w, 1));
    frame(&w, PEER(&w, 1), "cmd=abort;isworld=TRUE;exitcode=0;message=x;");
    OK(w.last.kind == EFFECT_kill);
    EQ(job_exit_code(w.jobs[0].job), 0);
    world_close(&w);
}

static void test_rule_breakers(void)
{
    static const char *const bad[] = {
        "hello!        ",              /* no length */
        "0     ",                      /* no body */
        "5     hello",                 /* no command */
        "12    cmd=kvs-put;",          /* no key */
        "21    cmd=kvs-put-response;", /* an answer */
        "10    cmd=subcmd",            /* a part */
        "31    cmd=mput-wireup;count=1;bytes=9;",
        "30    cmd=spawn;subcmd=a;maxprocs=0;",
        "37    cmd=spawn;subcmd=a;maxprocs=1;argc=1;",
        "38    cmd=spawn;ncmds=2;subcmd=a;maxprocs=1;",
    };
    struct world w;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        world_open(&w, 2, 1);
        start(&w, PEER(&w, 0));
        world_write(&w, PEER(&w, 0), slice_str(bad[i]));
        OK_F(PEER(&w, 0)->closing && w.last.kind == EFFECT_kill, "refused: %s", bad[i]);
        world_close(&w);
    }
    world_open(&w, 2, 1);
    world_write(&w, PEER(&w, 0), slice_str(INIT));
    frame(&w, PEER(&w, 0), "cmd=kvs-fence;");
    OK_F(PEER(&w, 0)->closing, "nothing before fullinit");
    world_close(&w);
    world_open(&w, 2, 1);
    start(&w, PEER(&w, 0));
    frame(&w, PEER(&w, 0), "cmd=finalize;");
    frame(&w, PEER(&w, 0), "cmd=kvs-fence;");
    OK_F(PEER(&w, 0)->closing, "nothing after finalize");
    world_close(&w);
}

/* ---- PMI-1 and PMI-2 in one job -------------------------------------------------------------- */

enum { MIXED = 64, KEYS = 5 };

static unsigned dice(unsigned n)
{
    static unsigned state = 12345;

    state = state * 1103515245u + 12345u;
    return (state >> 8) % n;
}

static bool speaks2(uint32_t rank)
{
    return rank % 2 != 0;
}

static void mixed_put(struct world *w, uint32_t r, unsigned round, unsigned key)
{
    char text[256];

    snprintf(text, sizeof text,
             speaks2(r) ? "cmd=kvs-put;key=k-%u-%u-%u;value=v%u=%u;"
                        : "cmd=put kvsname=job_0 key=k-%u-%u-%u value=v%u=%u\n",
             round, r, key, r * key, round);
    if (speaks2(r))
        frame(w, PEER(w, r), text);
    else
        world_write(w, PEER(w, r), slice_str(text));
    world_received(PEER(w, r));
}

static bool mixed_get(struct world *w, uint32_t r, unsigned round, uint32_t of, unsigned key)
{
    char text[256], want[64];

    snprintf(text, sizeof text,
             speaks2(r) ? "cmd=kvs-get;jobid=job_0;srcid=%d;key=k-%u-%u-%u;"
                        : "cmd=get kvsname=job_0%.0d key=k-%u-%u-%u\n",
             speaks2(r) ? (int)dice(3) - 1 : 0, round, of, key);
    snprintf(want, sizeof want, speaks2(r) ? ";value=v%u=%u;" : " value=v%u=%u\n", of * key, round);
    if (speaks2(r))
        frame(w, PEER(w, r), text);
    else
        world_write(w, PEER(w, r), slice_str(text));
    return strstr(world_received(PEER(w, r)), want) != NULL;
}

static void test_mixed(void)
{
    struct world w;
    bool good = true;

    world_open(&w, MIXED, 1);
    for (uint32_t r = 0; r < MIXED; r++) {
        if (speaks2(r))
            start(&w, PEER(&w, r));
        else
            world_write(&w, PEER(&w, r), SLICE("cmd=init pmi_version=1 pmi_subversion=1\n"));
        world_received(PEER(&w, r));
    }
    for (unsigned round = 0; round < 4; round++) {
        for (uint32_t r = 0; r < MIXED; r++) {
            for (unsigned k = 0; k < KEYS; k++)
                mixed_put(&w, r, round, k);
        }
        for (uint32_t i = 0; i < MIXED; i++) {
            uint32_t r = (i * 37 + round) % MIXED; /* each once, in another order */
            good = good && (i == 0 || !strcmp(world_received(PEER(&w, r)), ""));
            if (speaks2(r))
                frame(&w, PEER(&w, r), "cmd=kvs-fence;");
            else
                world_write(&w, PEER(&w, r), SLICE("cmd=barrier_in\n"));
        }
        for (uint32_t r = 0; r < MIXED; r++)
            good = good && strstr(world_received(PEER(&w, r)),
                                  speaks2(r) ? "kvs-fence-response;rc=0;" : "barrier_out rc=0\n");
        for (unsigned i = 0; i < 2000; i++)
            good = good && mixed_get(&w, dice(MIXED), round, dice(MIXED), dice(KEYS));
    }
    OK_F(good,
         "32 ranks of PMI-1 and 32 of PMI-2: fences meet, each reads the values of the others");
    world_close(&w);
}

int main(void)
{
    test_start();
    test_kvs();
    test_attributes();
    test_names();
    test_names_that_stay();
    test_spawn();
    test_other_jobs();
    test_ring();
    test_port();
    test_port_known();
    test_ours();
    test_endings();
    test_rule_breakers();
    test_mixed();
    return tap_done();
}
