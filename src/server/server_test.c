/* server_test.c - whole jobs without a socket: sessions, core and server with their effects. */
#include <stdio.h>
#include <stdlib.h>

#include "core/effect.h"
#include "core/input.h"
#include "core/job_end.h"
#include "core/job_kvs.h"
#include "core/request.h"
#include "trace/record.h"
#include "server/replay.h"
#include "pmix_common.h"
#include "server/rights.h"
#include "core/core_request.h"
#include "server/server_priv.h"
#include "store/memory.h"
#include "tests/plan.h"
#include "tests/tap.h"

enum { MAX_RANKS = 64 };

struct world {
    struct server server;
    struct seg_region region;
    struct job *job;
    struct peer *peers[MAX_RANKS];
    uint64_t now;
    struct record_writer writer;
    struct buf recording; /* of the whole test: replayed at its end */
};

static void keep_record(void *arg, struct record *r)
{
    struct world *w = arg;

    if (!r->time_ns)
        r->time_ns = ++w->now;
    record_write(&w->writer, r, &w->recording);
}

static void record_into(struct world *w)
{
    buf_init(&w->recording, 1 << 24);
    server_record(&w->server, keep_record, w, 0, "here");
}

/* Whatever a test did, another server does the same with the same input. */
static void play_back(struct world *w)
{
    struct replay *r = replay_new(1 << 24);
    struct replay_count count = { 0 };
    struct errmsg err = { "" };
    int rc;

    server_record_end(&w->server);
    rc = replay_feed(r, buf_slice(&w->recording), &err);
    if (rc == REPLAY_SAME)
        rc = replay_end(r, &count, &err);
    if (rc != REPLAY_SAME || !count.ended || !buf_ok(&w->recording))
        OK_F(false, "the recording of this test plays back: %s", err.text);
    replay_free(r);
    buf_free(&w->recording);
}

static void open_world(struct world *w, uint32_t n, bool keep_going)
{
    struct job_map plan;

    memset(w, 0, sizeof *w);
    server_init(&w->server, 7, NULL);
    seg_memory_open(1 << 24, &w->region);
    plan_of_one_node(&plan, n);
    record_into(w);
    w->job = server_job_order(&w->server, &(struct job_order){ .nspace = "kvs_test",
                                                               .plan = &plan,
                                                               .region = &w->region,
                                                               .parent = JOB_NO_RANK,
                                                               .keep_going = keep_going,
                                                               .here = JOB_ALL_HERE });
    for (uint32_t r = 0; r < n; r++) {
        w->peers[r] = server_peer_new(&w->server, w->job, r, false, NULL);
        server_deliver(&w->server, INPUT(proc_state, .job = w->job->id, .rank = r,
                                         .event = PROC_EVENT_STARTED, .pid = w->job->procs[r].pid));
    }
}

static struct effect last;
static unsigned effects_seen;

static void close_world(struct world *w)
{
    struct effect e;

    while (server_effect(&w->server, &e))
        effect_drop(&e);
    effect_drop(&last);
    play_back(w);
    server_free(&w->server);
    seg_memory_close(&w->region);
}

static void settle(struct world *w)
{
    struct effect e;

    while (server_effect(&w->server, &e)) {
        effect_drop(&last);
        last = e;
        effects_seen++;
    }
}

static void send(struct world *w, uint32_t rank, const char *text)
{
    server_deliver(&w->server, INPUT_AT(++w->now, in, .connection = w->peers[rank]->id,
                                        .bytes = slice_str(text)));
    settle(w);
}

/* The bytes sent to the rank since the last call. */
static const char *received(struct world *w, uint32_t rank)
{
    static char text[8192];
    struct slice s = buf_slice(&w->peers[rank]->out);

    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(s));
    server_wrote(&w->server, w->peers[rank], s.len);
    return text;
}

#define RECEIVES(w, rank, text)                                                                    \
    do {                                                                                           \
        const char *got_ = received(w, rank);                                                      \
        if (!OK_F(!strcmp(got_, text), "rank %d hears %s", (int)(rank), #text))                    \
            printf("# got: %s\n", got_);                                                           \
    } while (0)

static const char START[] = "cmd=init pmi_version=1 pmi_subversion=1\n";

#define BOTH_VERSIONS                                                                              \
    "cmd=response_to_init rc=0 pmi_version=1 strict=1.1\tpmi_subversion=1 pmi_subversion=2\n"

static void test_conversation(void)
{
    struct world w;

    open_world(&w, 2, false);
    send(&w, 0, START);
    RECEIVES(&w, 0, BOTH_VERSIONS);
    send(&w, 1, "cmd=init pmi_version=1 pmi_subversion=2\n");
    RECEIVES(&w, 1, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n");
    send(&w, 0, "cmd=get_maxes\n");
    RECEIVES(&w, 0, "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n");
    send(&w, 0, "cmd=get_appnum\n");
    RECEIVES(&w, 0, "cmd=appnum rc=0 appnum=0\n");
    send(&w, 0, "cmd=get_universe_size\n");
    RECEIVES(&w, 0, "cmd=universe_size rc=0 size=-1\n");
    send(&w, 0, "cmd=get_my_kvsname\n");
    RECEIVES(&w, 0, "cmd=my_kvsname rc=0 kvsname=kvs_test\n");
    send(&w, 0, "cmd=put kvsname=kvs_test key=a[1] value=x=y\n");
    RECEIVES(&w, 0, "cmd=put_result rc=0 msg=success\n");
    send(&w, 1, "cmd=put kvsname=kvs_test key=a[1] value=z\n");
    RECEIVES(&w, 1, "cmd=put_result rc=1 msg=already_present\n");
    send(&w, 1, "cmd=put kvsname=kvs_test key=PMI_x value=z\n");
    RECEIVES(&w, 1, "cmd=put_result rc=1 msg=reserved_for_the_process_manager\n");
    send(&w, 1, "cmd=put kvsname= key= value=\n");
    RECEIVES(&w, 1, "cmd=put_result rc=0 msg=success\n");
    send(&w, 0, "cmd=barrier_in\n");
    RECEIVES(&w, 0, "");
    send(&w, 1, "cmd=barrier_in\n");
    RECEIVES(&w, 0, "cmd=barrier_out rc=0\n");
    RECEIVES(&w, 1, "cmd=barrier_out rc=0\n");
    send(&w, 1, "\n\ncmd=get kvsname=kvs_test key=a[1]\n");
    RECEIVES(&w, 1, "cmd=get_result rc=0 msg=success value=x=y\n");
    send(&w, 1, "cmd=get kvsname=kvs_test key=none\n");
    RECEIVES(&w, 1, "cmd=get_result rc=-1 msg=not_found\n");
    send(&w, 1, "cmd=get kvsname=other key=a[1]\n");
    RECEIVES(&w, 1, "cmd=get_result rc=-1 msg=not_found\n");
    send(&w, 1, "cmd=put kvsname=kvs_test key=blank value=a b\n");
    RECEIVES(&w, 1, "cmd=put_result rc=0 msg=success\n");
    send(&w, 1, "cmd=get kvsname=kvs_test key=blank\n");
    RECEIVES(&w, 1, "cmd=get_result rc=0 msg=success value=a b\n");
    send(&w, 0, "cmd=getbyidx kvsname=kvs_test idx=0\n");
    RECEIVES(&w, 0, "cmd=getbyidx_results rc=0 nextidx=1 key=a[1] val=x=y\n");
    send(&w, 0, "cmd=getbyidx kvsname=kvs_test idx=2\n");
    RECEIVES(&w, 0, "cmd=getbyidx_results rc=-2 reason=no_more_keyvals\n");
    send(&w, 0, "cmd=finalize\n");
    RECEIVES(&w, 0, "cmd=finalize_ack rc=0\n");
    EQ(w.job->procs[0].state, PROC_STATE_LEAVING);
    send(&w, 0, START);
    RECEIVES(&w, 0, BOTH_VERSIONS);
    EQ(w.job->procs[0].state, PROC_STATE_ATTACHED);
    close_world(&w);
}

static void test_spaces_and_names(void)
{
    struct world w;

    open_world(&w, 2, false);
    send(&w, 0, "cmd=create_kvs\n");
    RECEIVES(&w, 0, "cmd=newkvs rc=0 kvsname=kvs_test.1\n");
    EQ(w.job->procs[0].state, PROC_STATE_ATTACHED); /* PMI 1.0: no init */
    send(&w, 0, "cmd=put kvsname=kvs_test.1 key=a value=1\n");
    send(&w, 0, "cmd=put kvsname=kvs_test key=a value=2\n");
    received(&w, 0);
    send(&w, 1, "cmd=get kvsname=kvs_test.1 key=a\ncmd=get kvsname=kvs_test key=a\n");
    RECEIVES(&w, 1,
             "cmd=get_result rc=0 msg=success value=1\n"
             "cmd=get_result rc=0 msg=success value=2\n");
    send(&w, 1, "cmd=getbyidx kvsname=kvs_test.1 idx=0\ncmd=getbyidx kvsname=kvs_test.1 idx=1\n");
    RECEIVES(&w, 1,
             "cmd=getbyidx_results rc=0 nextidx=1 key=a val=1\n"
             "cmd=getbyidx_results rc=-2 reason=no_more_keyvals\n");
    send(&w, 1, "cmd=destroy_kvs kvsname=kvs_test.1\ncmd=get kvsname=kvs_test.1 key=a\n");
    RECEIVES(&w, 1, "cmd=kvs_destroyed rc=0\ncmd=get_result rc=-1 msg=not_found\n");

    send(&w, 0, "cmd=lookup_name service=svc\n");
    RECEIVES(&w, 0, "cmd=lookup_result info=fail rc=1 msg=service_not_found\n");
    send(&w, 0, "cmd=publish_name service=svc port=port#1$x\n\n");
    RECEIVES(&w, 0, "cmd=publish_result info=ok rc=0 msg=success\n");
    send(&w, 1, "cmd=publish_name service=svc port=other\n");
    RECEIVES(&w, 1, "cmd=publish_result info=fail rc=1 msg=already_present\n");
    send(&w, 1, "cmd=lookup_name service=svc\n");
    RECEIVES(&w, 1, "cmd=lookup_result info=ok rc=0 msg=success port=port#1$x\n");
    send(&w, 0, "cmd=unpublish_name service=svc\ncmd=unpublish_name service=svc\n");
    RECEIVES(&w, 0,
             "cmd=unpublish_result info=ok rc=0 msg=success\n"
             "cmd=unpublish_result info=fail rc=1 msg=not_found\n");
    send(&w, 0, "cmd=get_ranks2hosts\n");
    RECEIVES(&w, 0, "cmd=put_ranks2hosts 12 1\n4 here 0,1, ");
    close_world(&w);
}

static void test_groups(void)
{
    struct world w;

    open_world(&w, 4, false);
    send(&w, 2, "cmd=barrier_in group=0,2:77\n");
    send(&w, 0, "cmd=barrier_in group=WORLD:5\n");
    send(&w, 2, "cmd=get_appnum\n");
    RECEIVES(&w, 2, "cmd=appnum rc=0 appnum=0\n");
    send(&w, 2, "cmd=barrier_in group=0,2:77\n"); /* the next round of the same name */
    send(&w, 0, "cmd=barrier_in group=0,2:77\n");
    RECEIVES(&w, 2, "cmd=barrier_out rc=0 tag=77\n");
    RECEIVES(&w, 0, "cmd=barrier_out rc=0 tag=77\n");
    send(&w, 0, "cmd=barrier_in group=0,2:77\n");
    RECEIVES(&w, 2, "cmd=barrier_out rc=0 tag=77\n");
    received(&w, 0);
    for (uint32_t r = 1; r < 4; r++)
        send(&w, r, "cmd=barrier_in group=WORLD:5\n");
    for (uint32_t r = 0; r < 4; r++)
        RECEIVES(&w, r, "cmd=barrier_out rc=0 tag=5\n");
    for (uint32_t r = 0; r < 4; r++)
        send(&w, r, "cmd=barrier_in group=NODE:9\n");
    for (uint32_t r = 0; r < 4; r++)
        RECEIVES(&w, r, "cmd=barrier_out rc=0 tag=9\n");
    send(&w, 3, "cmd=barrier_in group=0,1:3\n");
    RECEIVES(&w, 3, "cmd=barrier_out rc=1 tag=3 msg=bad_key\n");
    send(&w, 3, "cmd=barrier_in group=3:4\n");
    RECEIVES(&w, 3, "cmd=barrier_out rc=0 tag=4\n");
    OK_F(w.job->colls.groups.count == 1, "no group is left behind but that of everybody");
    close_world(&w);
}

/* put one key each, barrier, get all, barrier. */
static void test_sixty_four(void)
{
    struct world w;
    char line[128];
    bool good = true;

    open_world(&w, MAX_RANKS, false);
    for (uint32_t r = 0; r < MAX_RANKS; r++) {
        send(&w, r, START);
        snprintf(line, sizeof line, "cmd=put kvsname=kvs_test key=card-%u value=v%u\n", r, r * r);
        send(&w, r, line);
        send(&w, r, "cmd=barrier_in\n");
    }
    for (uint32_t r = 0; r < MAX_RANKS; r++) {
        good = good && strstr(received(&w, r), "barrier_out rc=0\n");
        for (uint32_t other = 0; other < MAX_RANKS; other++) {
            char want[64];
            snprintf(line, sizeof line, "cmd=get kvsname=kvs_test key=card-%u\n", other);
            send(&w, r, line);
            snprintf(want, sizeof want, "cmd=get_result rc=0 msg=success value=v%u\n",
                     other * other);
            good = good && !strcmp(received(&w, r), want);
        }
    }
    OK_F(good, "64 ranks exchange their cards without a socket");
    for (uint32_t r = 0; r < MAX_RANKS; r++)
        send(&w, r, "cmd=barrier_in\n");
    for (uint32_t r = 0; r < MAX_RANKS; r++) {
        good = good && strstr(received(&w, r), "barrier_out");
        send(&w, r, "cmd=finalize\n");
        server_deliver(&w.server, INPUT(hangup, .connection = w.peers[r]->id));
        server_deliver(&w.server,
                       INPUT(proc_state, .job = w.job->id, .rank = r, .event = PROC_EVENT_EXIT));
    }
    settle(&w);
    OK(good && last.kind == EFFECT_job_ended && job_exit_code(w.job) == 0);
    close_world(&w);
}

static void test_endings(void)
{
    struct world w;

    open_world(&w, 3, false);
    send(&w, 1, START);
    send(&w, 1, "cmd=abort exitcode=7 message=I had enough\n");
    OK(last.kind == EFFECT_kill && job_exit_code(w.job) == 7);
    OK(strstr(w.job->reason.text, "rank 1 on here") && strstr(w.job->reason.text, "I had enough"));
    for (uint32_t r = 0; r < 3; r++) {
        server_deliver(&w.server, INPUT(hangup, .connection = w.peers[r]->id));
        server_deliver(&w.server, INPUT(proc_state, .job = w.job->id, .rank = r,
                                        .event = PROC_EVENT_DEATH, .code = 15));
    }
    settle(&w);
    OK_F(last.kind == EFFECT_job_ended && job_exit_code(w.job) == 7, "the killed do not decide");
    close_world(&w);

    open_world(&w, 2, false);
    send(&w, 0, START);
    server_deliver(&w.server, INPUT(hangup, .connection = w.peers[0]->id));
    settle(&w);
    OK_F(last.kind == EFFECT_kill, "closing without finalize ends the job");
    server_deliver(&w.server, INPUT(proc_state, .job = w.job->id, .rank = 1,
                                    .event = PROC_EVENT_DEATH, .code = 15));
    server_deliver(&w.server, INPUT(proc_state, .job = w.job->id, .rank = 0,
                                    .event = PROC_EVENT_EXIT, .code = 3));
    OK_F(job_exit_code(w.job) == 3, "with the code of the one who did it: %s", w.job->reason.text);
    close_world(&w);

    open_world(&w, 2, false);
    effects_seen = 0;
    server_deliver(&w.server, INPUT(proc_state, .job = w.job->id, .rank = 0,
                                    .event = PROC_EVENT_EXIT, .code = 4));
    settle(&w);
    OK_F(effects_seen == 0, "a program that never spoke may leave as it likes");
    server_deliver(&w.server, INPUT(proc_state, .job = w.job->id, .rank = 1,
                                    .event = PROC_EVENT_DEATH, .code = 9));
    settle(&w);
    OK_F(job_exit_code(w.job) == 4, "the first failure gives the code");
    close_world(&w);

    open_world(&w, 3, true);
    for (uint32_t r = 0; r < 3; r++)
        send(&w, r, START);
    send(&w, 0, "cmd=barrier_in\n");
    received(&w, 0);
    server_deliver(&w.server, INPUT(hangup, .connection = w.peers[1]->id));
    server_deliver(&w.server, INPUT(proc_state, .job = w.job->id, .rank = 1,
                                    .event = PROC_EVENT_DEATH, .code = 11));
    settle(&w);
    RECEIVES(&w, 0, "cmd=barrier_out rc=1 msg=a_member_has_died\n");
    send(&w, 2, "cmd=barrier_in\n");
    OK(strstr(received(&w, 2), "barrier_out rc=1"));
    send(&w, 2, "cmd=get kvsname=kvs_test key=PMI_dead_processes\n");
    RECEIVES(&w, 2, "cmd=get_result rc=0 msg=success value=1\n");
    OK(job_exit_code(w.job) == 128 + 11 && w.job->phase == JOB_RUNNING);
    close_world(&w);
}

static void test_rule_breakers(void)
{
    static const char *const bad[] = {
        "cmd=nonsense\n",         "hello\n",        "cmd=put key=a\n",
        "cmd=put_result rc=0\n",  "cmd=get\n",      "mcmd=put\nendcmd\n",
        "cmd=initack pmiid=x\n0", "cmd=singinit\n", "cmd=mput_wireup count=1 bytes=9\n",
    };
    struct world w;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        open_world(&w, 2, false);
        effect_drop(&last);
        last.kind = EFFECT_answer;
        if (i != 6)
            send(&w, 0, bad[i]);
        else
            send(&w, 0, "cmd=finalize\ncmd=put key=a value=b\n");
        OK_F(w.peers[0]->closing && last.kind == EFFECT_kill && w.job->exit_code == 1,
             "refused and the job ended: %.20s", bad[i]);
        close_world(&w);
    }
}

static void test_ours(void)
{
    static const char records[] = "\1\0\3\0\0\0ka\nb\2\0\0\0\0\0k2";
    struct world w;
    struct slice v;

    open_world(&w, 2, false);
    send(&w, 1, "cmd=init pmi_version=1 pmi_subversion=1 wireup=1\n");
    RECEIVES(&w, 1,
             "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1 wireup=1 rank=1 size=2 "
             "appnum=0 universe=-1 kvsname_max=256 keylen_max=64 vallen_max=1024 store=0 "
             "kvsname=kvs_test\n");
    server_deliver(&w.server, INPUT_AT(1, in, .connection = w.peers[1]->id,
                                       .bytes = SLICE("cmd=mput_wireup count=2 bytes=18\n")));
    for (size_t i = 0; i + 1 < sizeof records; i++)
        server_deliver(&w.server, INPUT_AT(1, in, .connection = w.peers[1]->id,
                                           .bytes = slice_mem(records + i, 1)));
    RECEIVES(&w, 1, "cmd=mput_result rc=0\n");
    OK(job_get(w.job, SLICE_NULL, SLICE("k"), &v) == ANSWER_OK && slice_is(v, "a\nb"));
    OK(job_get(w.job, SLICE_NULL, SLICE("k2"), &v) == ANSWER_OK && v.len == 0);
    send(&w, 1, "cmd=get_wireup key=k\ncmd=get_wireup key=none\n");
    RECEIVES(&w, 1, "cmd=value_wireup rc=0 bytes=3\na\nbcmd=value_wireup rc=-1 msg=not_found\n");
    send(&w, 0, "cmd=get key=k\ncmd=get key=k2\n");
    RECEIVES(&w, 0,
             "cmd=get_result rc=1 msg=value_not_sayable_in_PMI-1\n"
             "cmd=get_result rc=1 msg=value_not_sayable_in_PMI-1\n");
    server_deliver(&w.server, INPUT_AT(1, in, .connection = w.peers[1]->id,
                                       .bytes = SLICE("cmd=mput_wireup count=2 bytes=18\n")));
    server_deliver(&w.server,
                   INPUT_AT(1, in, .connection = w.peers[1]->id, .bytes = slice_mem(records, 18)));
    RECEIVES(&w, 1, "cmd=mput_result rc=3 key=k msg=already_present\n");
    close_world(&w);
}

static void test_spawn(void)
{
    struct answer a;
    static const char block[] =
        "mcmd=spawn\nnprocs=1\nexecname=/bin/a b\ntotspawns=2\nspawnssofar=1\nargcnt=2\narg1=a b\n"
        "arg2=x=y\npreput_num=1\npreput_key_0=P\npreput_val_0=tag h 1\ninfo_num=1\n"
        "info_key_0=wdir\ninfo_val_0=/tmp\nendcmd\n"
        "mcmd=spawn\nnprocs=2\nexecname=c\ntotspawns=2\nspawnssofar=2\nargcnt=0\ninfo_num=0\n"
        "endcmd\n";
    struct world w;
    struct spawn_request *rq;
    int codes[3] = { 0, 2, 0 };

    open_world(&w, 1, false);
    send(&w, 0, START);
    received(&w, 0);
    for (size_t i = 0; i + 1 < sizeof block; i++) {
        server_deliver(&w.server, INPUT_AT(1, in, .connection = w.peers[0]->id,
                                           .bytes = slice_mem(block + i, 1)));
        settle(&w);
    }
    rq = last.u.spawn.request;
    OK(last.kind == EFFECT_spawn && rq && rq->ncommands == 2 && rq->npreputs == 1);
    OK(!strcmp(rq->commands[0].program, "/bin/a b") && rq->commands[0].nargs == 2 &&
       !strcmp(rq->commands[0].args[0], "a b") && !rq->commands[0].args[2]);
    OK(slice_is(spawn_info(&rq->commands[0], "wdir"), "/tmp") && spawn_nprocs(rq) == 3);
    OK(slice_is(rq->preputs[0].value, "tag h 1"));
    a = ANSWER_TO(spawn, ANSWER_FAILED, .codes = { codes, 3 });
    server_answer(&w.server, last.u.spawn.ticket, &a);
    RECEIVES(&w, 0, "cmd=spawn_result rc=1 errcodes=0,2,0 msg=failed\n");
    close_world(&w);
}

/* The number after the first KEY= that follows one of these separators; -1: there is none. */
static int number_of(const char *line, const char *key, const char *separators)
{
    size_t len = strlen(key);

    for (const char *at = line; (at = strstr(at, key)); at++) {
        if (at != line && strchr(separators, at[-1]) && at[len] == '=')
            return atoi(at + len + 1);
    }
    return -1;
}

/* The answer to 1.1, as MPICH's clients split it (blanks) and as Flux's do (any white space). */
static void test_both_versions(void)
{
    static const char blank[] = " ", white[] = " \t\n\v\f\r";

    EQ(number_of(BOTH_VERSIONS, "pmi_version", blank), 1);
    EQ(number_of(BOTH_VERSIONS, "pmi_version", white), 1);
    EQ(number_of(BOTH_VERSIONS, "rc", blank), 0);
    EQ(number_of(BOTH_VERSIONS, "rc", white), 0);
    OK_F(number_of(BOTH_VERSIONS, "pmi_subversion", blank) == 2, "MPICH 5 sees 1.2");
    OK_F(number_of(BOTH_VERSIONS, "pmi_subversion", white) == 1, "Flux sees 1.1");
}

/* A rank that has become another user takes part in its job, but none of its requests is carried
 * out with the rights of the user who started it. */
static void test_restricted(void)
{
    static const char spawn[] = "mcmd=spawn\nnprocs=1\nexecname=/bin/x\ntotspawns=1\n"
                                "spawnssofar=1\nargcnt=0\npreput_num=0\ninfo_num=0\nendcmd\n";
    struct world w;

    open_world(&w, 2, false);
    send(&w, 0, START);
    send(&w, 1, START);
    received(&w, 0);
    received(&w, 1);
    server_deliver(&w.server, INPUT(rights_lost, .connection = w.peers[1]->id));
    effects_seen = 0;
    send(&w, 1, spawn);
    RECEIVES(&w, 1, "cmd=spawn_result rc=1 msg=reserved_for_the_process_manager\n");
    send(&w, 1, "cmd=publish_name service=a port=b\n");
    RECEIVES(&w, 1, "cmd=publish_result info=fail rc=1 msg=reserved_for_the_process_manager\n");
    OK_F(effects_seen == 0, "nothing is done for it");
    send(&w, 1, "cmd=put kvsname=kvs_test key=k value=v\n");
    RECEIVES(&w, 1, "cmd=put_result rc=0 msg=success\n");
    send(&w, 0, "cmd=barrier_in\n");
    send(&w, 1, "cmd=barrier_in\n");
    RECEIVES(&w, 1, "cmd=barrier_out rc=0\n");
    send(&w, 0, spawn);
    OK_F(last.kind == EFFECT_spawn, "the others keep their bytes");
    server_answer(&w.server, last.u.spawn.ticket, &(struct answer){ .status = ANSWER_FAILED });
    close_world(&w);
}

/* Which requests are the job's own, and which need the launcher's user. */
static void test_rights(void)
{
    static const bool needed[] = {
        [REQ_spawn] = true,          [REQ_signal] = true,         [REQ_register_cleanup] = true,
        [REQ_cancel_cleanup] = true, [REQ_input] = true,          [REQ_iof_pull] = true,
        [REQ_publish] = true,        [REQ_connect] = true,        [REQ_unpublish] = true,
        [REQ_lookup] = true,         [REQ_credential] = true,     [REQ_host] = true,
        [REQ_notify] = true,         [REQ_define_pset] = true,    [REQ_allocate] = true,
        [REQ_scheduled] = true,      [REQ_switch_version] = false
    };
    unsigned wrong = 0;

    for (int k = 0; k < REQ_KINDS; k++)
        wrong += rights_needed(&(struct request){ .kind = (enum request_kind)k }) != needed[k];
    EQ(wrong, 0);
    OK(rights_needed(&REQUEST_WITH(log, .channel = SLICE("syslog"))));
    OK(rights_needed(&REQUEST_WITH(log, .channel = SLICE("global syslog"))));
    OK(!rights_needed(&REQUEST_WITH(log, .channel = SLICE("stderr"))));
    OK(!rights_needed(&REQUEST_WITH(credential, .validate = true)));
    OK(rights_needed(&REQUEST_WITH(abort, .count = 1)));
    OK(rights_needed(&REQUEST_WITH(monitor, .watches = MONITOR_SIZE, .period_ns = 1,
                                   .range = PMIX_RANGE_NAMESPACE)));
    OK(rights_needed(&REQUEST_WITH(monitor, .period_ns = 1, .range = PMIX_RANGE_SESSION)));
    OK(!rights_needed(&REQUEST_WITH(monitor, .period_ns = 1, .range = PMIX_RANGE_NAMESPACE)));
    for (uint8_t range = 0; range < UINT8_MAX; range++) {
        struct request rq = REQUEST_WITH(notify, .range = range);
        bool own = range == PMIX_RANGE_NAMESPACE || range == PMIX_RANGE_PROC_LOCAL;
        if (rights_needed(&rq) == own)
            OK_F(false, "events of range %u", range);
    }
}

/* Whoever has to be answered by a certain time says so: a host sets its timer for that. */
static void test_due(void)
{
    struct world w;
    struct core *c = &w.server.core;
    struct answer a;
    const struct request waits[] = {
        REQUEST_WITH(lookup, .service = SLICE("svc"), .wait = true, .timeout_ns = 5000),
        REQUEST_WITH(modex_get, .rank = 1, .key = SLICE("k"), .timeout_ns = 4000),
        REQUEST_WITH(fence, .timeout_ns = 3000),
    };

    open_world(&w, 2, false);
    server_record_end(&w.server); /* requests that come from no session cannot be replayed */
    OK(server_due(&w.server) == UINT64_MAX);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        core_request(c, w.job, 0, i + 1, &waits[i], 1000, &a);
        EQ(a.status, ANSWER_LATER);
        EQ(server_due(&w.server), 6000 - i * 1000);
    }
    EQ(server_monitor_request(
           &w.server, w.peers[0],
           &(struct request_monitor){ .name = SLICE("m"), .period_ns = 2000, .drops = 9 }, 0, 1000),
       ANSWER_OK);
    EQ(server_due(&w.server), 3000);
    EQ(server_tick(&w.server, 2999), 3000);
    EQ(server_tick(&w.server, 3000), 4000); /* the fence */
    EQ(server_tick(&w.server, 6000), 8000); /* all three have been answered */
    EQ(c->effects.count, 3);
    server_free(&w.server);
    seg_memory_close(&w.region);
    buf_free(&w.recording);
}

/* ---- monitors -------------------------------------------------------------------------------- */

struct monitored {
    struct world w;
    uint64_t looks; /* the number of the latest one */
    unsigned alerts;
    int code;
    struct slice infos;
    char text[512];
};

/* What the server asks of its host: looks at files; and events for other nodes, which are alerts.
 */
static void take_effects(struct monitored *m)
{
    struct effect e;

    while (server_effect(&m->w.server, &e)) {
        if (e.kind == EFFECT_file_look)
            m->looks = e.u.file_look.monitor;
        if (e.kind == EFFECT_event) {
            m->alerts++;
            m->code = e.u.event.code;
            m->infos = slice_head(e.u.event.infos, sizeof m->text);
            memcpy(m->text, m->infos.ptr, m->infos.len);
            m->infos.ptr = m->text;
        }
        effect_drop(&e);
    }
}

static enum answer_status watch(struct monitored *m, const char *name, const char *file,
                                uint8_t what, uint64_t period_ns)
{
    enum answer_status status =
        server_monitor_request(&m->w.server, m->w.peers[0],
                               &(struct request_monitor){ .name = slice_str(name),
                                                          .file = slice_str(file),
                                                          .watches = what,
                                                          .period_ns = period_ns,
                                                          .drops = 2,
                                                          .code = -110,
                                                          .range = PMIX_RANGE_SESSION },
                               0, 1000);

    take_effects(m);
    return status;
}

/* The host has seen the file; false: nobody wants to know. */
static bool see(struct monitored *m, uint64_t size, int64_t accessed, int64_t modified)
{
    bool good = server_deliver(
        &m->w.server, INPUT(file_seen, .monitor = m->looks, .found = size > 0, .size = size,
                            .accessed_ns = accessed, .modified_ns = modified));

    take_effects(m);
    return good;
}

static uint64_t pass(struct monitored *m, uint64_t now_ns)
{
    uint64_t next;

    m->looks = 0;
    next = server_tick(&m->w.server, now_ns);
    take_effects(m);
    return next;
}

static void test_still_file(struct monitored *m)
{
    EQ(watch(m, "log", "/tmp/x", MONITOR_SIZE | MONITOR_MODIFY, 1000), ANSWER_OK);
    OK(m->looks && see(m, 5, 1, 1));
    OK(!see(m, 5, 1, 1)); /* once for each look */
    EQ(pass(m, 2000), 3000);
    OK(see(m, 6, 1, 1)); /* it grows */
    pass(m, 3000);
    OK(see(m, 6, 1, 2)); /* it is written to */
    pass(m, 4000);
    OK(see(m, 6, 2, 2)); /* it is read, which does not count */
    EQ(m->alerts, 0);
    pass(m, 5000);
    OK(see(m, 0, 0, 0)); /* it is not there for a moment */
    EQ(m->alerts, 0);
    EQ(pass(m, 6000), 7000);
    EQ(pass(m, 7000), 8000);
    OK(m->looks == 0); /* the last look has not been answered */
    m->looks = 1;
    OK(see(m, 6, 2, 2));
    OK(m->alerts == 1 && m->code == -110);
    OK(memmem(m->infos.ptr, m->infos.len, "log", 3) != NULL);
    EQ(pass(m, 8000), UINT64_MAX); /* once */
}

static void test_access(struct monitored *m)
{
    EQ(watch(m, "", "/tmp/x", MONITOR_ACCESS, 1000), ANSWER_OK);
    see(m, 5, 1, 1);
    for (int64_t i = 2; i < 5; i++) {
        pass(m, 20000 + (uint64_t)i * 1000);
        see(m, 5, i, 1);
    }
    EQ(m->alerts, 1);
    for (uint64_t i = 0; i < 2; i++) {
        pass(m, 30000 + i * 1000);
        see(m, 7, 4, 7);
    }
    EQ(m->alerts, 2);
}

static void test_cancelled(struct monitored *m)
{
    struct server *s = &m->w.server;
    struct request_monitor end = { .name = SLICE("b") }, all = { .all = true };

    EQ(watch(m, "a", "/tmp/x", MONITOR_SIZE, 1000), ANSWER_OK);
    EQ(watch(m, "b", "/tmp/x", MONITOR_SIZE, 1000), ANSWER_OK);
    EQ(server_monitor_request(s, m->w.peers[1], &end, 0, 1000), ANSWER_NOT_FOUND); /* another's */
    EQ(server_monitor_request(s, m->w.peers[0], &end, 0, 1000), ANSWER_OK);
    EQ(server_monitor_request(s, m->w.peers[0], &end, 0, 1000), ANSWER_NOT_FOUND);
    OK(!see(m, 5, 1, 1)); /* what has been seen for it in the meantime is dropped */
    EQ(server_monitor_request(s, m->w.peers[0], &all, 0, 1000), ANSWER_OK);
    EQ(pass(m, 90000), UINT64_MAX);
    EQ(watch(m, "a", "x", MONITOR_SIZE, 1000), ANSWER_BAD_VALUE);
    EQ(watch(m, "a", "", MONITOR_SIZE, 1000), ANSWER_BAD_VALUE);
    EQ(pass(m, 91000), UINT64_MAX);
}

static void test_monitored_files(void)
{
    struct monitored m = { .looks = 0 };

    open_world(&m.w, 2, false);
    server_record_end(&m.w.server); /* requests that come from no session cannot be replayed */
    m.w.server.core.has_others = true;
    take_effects(&m);
    m.alerts = 0;
    test_still_file(&m);
    test_access(&m);
    test_cancelled(&m);
    server_free(&m.w.server);
    seg_memory_close(&m.w.region);
    buf_free(&m.w.recording);
}

/* ---- ends of processes ---- */

/* Is the launcher asked for the ends of processes when a client registers for that code? */
static bool asks_for_ends(int code)
{
    struct server s;
    struct seg_region region;
    struct job_map plan;
    struct effect e;
    struct peer *p;
    struct job *j;
    bool asks = false;

    server_init(&s, 7, NULL);
    seg_memory_open(1 << 20, &region);
    plan_of_one_node(&plan, 1);
    j = server_job_order(&s, &(struct job_order){ .nspace = "ends",
                                                  .plan = &plan,
                                                  .region = &region,
                                                  .parent = JOB_NO_RANK,
                                                  .here = JOB_ALL_HERE });
    p = server_peer_new(&s, j, 0, false, NULL);
    s.core.has_others = true;
    server_event_recall(
        &s, p, &(struct request_recall){ .codes = slice_mem(&code, sizeof code), .count = 1 });
    while (server_effect(&s, &e)) {
        asks |= e.kind == EFFECT_subscribe_exits;
        effect_drop(&e);
    }
    server_free(&s);
    seg_memory_close(&region);
    return asks;
}

static void test_ends(void)
{
    OK(asks_for_ends(PMIX_EVENT_PROC_TERMINATED));
    OK(asks_for_ends(PMIX_ERR_PROC_ABORTED_BY_SIG));
    OK(!asks_for_ends(PMIX_EXTERNAL_ERR_BASE - 1000)); /* a program's own */
}

int main(void)
{
    test_due();
    test_monitored_files();
    test_both_versions();
    test_restricted();
    test_rights();
    test_conversation();
    test_spaces_and_names();
    test_groups();
    test_sixty_four();
    test_endings();
    test_rule_breakers();
    test_ours();
    test_spawn();
    test_ends();
    return tap_done();
}
