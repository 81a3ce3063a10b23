/* client_test.c - the client with a server that replies from a table, and that stops sending at
 * each single byte: every call returns, and reports its outcome. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pmix.h"
#include "pmix_tool.h"
#include "tests/tap.h"

/* ---- the server ------------------------------------------------------------------------------ */

struct reply {
    unsigned char command;
    const char *bytes;
    size_t len;
};

#define REPLY(command, text)                                                                       \
    {                                                                                              \
        (command), (text), sizeof(text) - 1                                                        \
    }

/* As captured from a server of 4.2.2, or modelled on it (v41). */
static const struct reply replies[] = {
    REPLY(0, "\x02\x0etestns\0"
             "\x02\x1cpmix.job.size\0\x0e\x02"
             "\x02\x1epmix.num.nodes\0\x0e\x01"
             "\x02\x16pmix.nlist\0\x03\x06vm\0"
             "\x02\x1apmix.ssn.arr\0\x27\x18\x02"
             "\x20pmix.session.id\0\x00\x0e\xff\xff\xff\xff\x0f"
             "\x1epmix.univ.size\0\x02\x0e\x02"
             "\x02\x1cpmix.node.arr\0\x27\x18\x02"
             "\x16pmix.hname\0\x00\x03\x06vm\0"
             "\x18pmix.lpeers\0\x00\x03\x08"
             "0,1\0"
             "\x02\x16pmix.pblob\0\x1b\x11\x02\x00\x02\x16pmix.lrank\0\x0d\x00"
             "\x02\x16pmix.pblob\0\x1b\x11\x02\x01\x02\x16pmix.lrank\0\x0d\x01"),
    REPLY(4, "\x02\x00\x02\x29\x02\x0etestns\0\x01\x02\x10mykey.g\0\x0e\x07\x02\x0akey4\0\x06\x02"
             "\x02\x08"
             "bad\0\x2a\x02xy"),
    REPLY(7, "\x02\x00\x02\x01\x02\x0etestns\0\x01\x0epubkey\0\x03\x0epubval\0"),
    REPLY(9, "\x02\x00\x02\x10"
             "childns\0"),
    REPLY(10, "\x02\x00"),
    REPLY(15, "\x02\x00\x02\x01\x02\x18pmix.qry.ns\0\x00\x03\x08"
              "ans\0"),
    REPLY(20, "\x02\x00\x02\x03"
              "abc\x02\x00"),
    REPLY(24, "\x02\x00\x02\x01\x02\x0etestns\0\x00\x02\x05"),
};

/* Rank 1 has written nothing to its standard output. */
static const char output[] = "\x02\x0etestns\0\x01\x02\x02\x02\x00\x02\x00\x02\x00";

enum { TAG_OUTPUT = 2 };

struct stage {
    int fd;
    size_t budget; /* bytes that it sends before it is gone */
    pthread_t thread;
};

/* False: that was all. */
static bool send_all(struct stage *t, const void *bytes, size_t n)
{
    size_t part = n < t->budget ? n : t->budget;

    if (part && send(t->fd, bytes, part, MSG_NOSIGNAL) < 0)
        return false;
    t->budget -= part;
    return part == n;
}

static bool receive_all(struct stage *t, void *bytes, size_t n)
{
    return n == 0 || recv(t->fd, bytes, n, MSG_WAITALL) == (ssize_t)n;
}

static const struct reply *reply_to(unsigned char command)
{
    static const struct reply fine = REPLY(0, "\x02\x00");

    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        if (replies[i].command == command)
            return &replies[i];
    }
    return &fine;
}

static bool answer(struct stage *t)
{
    uint32_t words[4];
    unsigned char body[4096];
    const struct reply *r;

    if (!receive_all(t, words, sizeof words) || ntohl(words[2]) > sizeof body ||
        !receive_all(t, body, ntohl(words[2])))
        return false;
    if (ntohl(words[1]) < 100 || (ntohl(words[2]) > 1 && body[1] == 14))
        return true; /* a heartbeat, or the deregistration of events */
    r = reply_to(ntohl(words[2]) > 1 ? body[1] : 255);
    words[2] = htonl((uint32_t)r->len);
    return send_all(t, words, sizeof words) && send_all(t, r->bytes, r->len);
}

/* Sends output before any reply. */
static bool send_output(struct stage *t)
{
    const uint32_t words[4] = { 0, htonl(TAG_OUTPUT), htonl(sizeof output - 1), 0 };

    return send_all(t, words, sizeof words) && send_all(t, output, sizeof output - 1);
}

static void *serve(void *arg)
{
    struct stage *t = arg;
    uint32_t words[4], welcome[2] = { 0, 0 };
    char hello[512];

    if (receive_all(t, words, sizeof words) && words[2] <= sizeof hello &&
        receive_all(t, hello, words[2]) && send_all(t, welcome, sizeof welcome) && send_output(t) &&
        send_output(t)) {
        while (answer(t))
            ;
    }
    shutdown(t->fd, SHUT_RDWR);
    return NULL;
}

/* An address that is bound, but without a listener. */
static int closed_port(char *uri, size_t room)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (void *)&a, sizeof a) < 0 || getsockname(fd, (void *)&a, &len) < 0)
        abort();
    snprintf(uri, room, "fake.0;tcp4://127.0.0.1:%u", ntohs(a.sin_port));
    return fd;
}

static int client_end;

static void stage_open(struct stage *t, size_t budget)
{
    char number[16];
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        abort();
    client_end = ends[0];
    *t = (struct stage){ .fd = ends[1], .budget = budget };
    snprintf(number, sizeof number, "%d", ends[0]);
    setenv("WIREUP_FD", number, 1);
    if (pthread_create(&t->thread, NULL, serve, t) != 0)
        abort();
}

static void stage_close(struct stage *t)
{
    shutdown(client_end, SHUT_RDWR);
    pthread_join(t->thread, NULL);
    close(t->fd);
    close(client_end);
}

/* ---- the program ---------------------------------------------------------------------------- */

static atomic_int lost, called;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (code == PMIX_ERR_LOST_CONNECTION)
        lost++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_status(pmix_status_t status, void *arg)
{
    (void)arg;
    (void)status;
    called++;
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *arg)
{
    (void)status, (void)value, (void)arg;
    called++;
}

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

/* The time-out only catches hangs. */
static bool await(const atomic_int *what, int n)
{
    for (int i = 0; i < 100000 && *what < n; i++)
        nap();
    return *what >= n;
}

static pmix_proc_t me;

/* Returns how many of its calls succeeded; *rc_p: the last error. */
static int use_everything(pmix_status_t *rc_p)
{
    pmix_proc_t peer = { .nspace = "testns", .rank = 1 }, *procs = NULL;
    pmix_value_t *v = NULL, number = { .type = PMIX_UINT32, .data.uint32 = 5 };
    pmix_app_t app = { .cmd = (char[]){ "a" }, .maxprocs = 1 };
    pmix_pdata_t data = { .key = "pubkey" };
    pmix_info_t info = { .key = "pubkey", .value = number }, *results = NULL;
    pmix_byte_object_t credential;
    pmix_nspace_t nspace;
    pmix_query_t *q = PMIx_Query_create(1);
    char pubkey[] = "pubkey", *keys[] = { pubkey, NULL }, *nodes = NULL;
    size_t n = 0;
    int good = 0;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        pmix_status_t try_rc = (call);                                                             \
        if (try_rc == PMIX_SUCCESS)                                                                \
            good++;                                                                                \
        else                                                                                       \
            *rc_p = try_rc;                                                                        \
    } while (0)

    PMIx_Argv_append_nosize(&q->keys, "pmix.qry.ns");
    TRY(PMIx_Put(PMIX_GLOBAL, "mine", &number));
    TRY(PMIx_Commit());
    TRY(PMIx_Fence(NULL, 0, NULL, 0));
    TRY(PMIx_Get(&peer, "mykey.g", NULL, 0, &v));
    if (v && (v->type != PMIX_UINT32 || v->data.uint32 != 7))
        good = -100;
    PMIx_Value_free(v, 1);
    if (PMIx_Get(&peer, "bad", NULL, 0, &v) == PMIX_SUCCESS) /* this has no string form */
        good = -100;
    TRY(PMIx_Publish(&info, 1));
    TRY(PMIx_Lookup(&data, 1, NULL, 0));
    PMIx_Value_destruct(&data.value);
    TRY(PMIx_Unpublish(keys, NULL, 0));
    TRY(PMIx_Query_info(q, 1, &results, &n));
    PMIx_Info_free(results, n);
    PMIx_Query_free(q, 1);
    results = NULL;
    TRY(PMIx_Spawn(NULL, 0, &app, 1, nspace));
    TRY(PMIx_Connect(&peer, 1, NULL, 0));
    TRY(PMIx_Group_construct("g", &peer, 1, NULL, 0, &results, &n));
    PMIx_Info_free(results, n);
    TRY(PMIx_Group_destruct("g", NULL, 0));
    TRY(PMIx_Get_credential(NULL, 0, &credential));
    if (*rc_p == PMIX_SUCCESS)
        free(credential.bytes);
    TRY(PMIx_Resolve_peers(NULL, peer.nspace, &procs, &n));
    free(procs);
    TRY(PMIx_Resolve_nodes(peer.nspace, &nodes));
    free(nodes);
    TRY(PMIx_Disconnect(&peer, 1, NULL, 0));
    return good;
}

enum { CALLS = 17 };

/* ---- tests ----------------------------------------------------------------------------------- */

/* A put that would not be stored is refused, in every scope. */
static void refuse_reserved_keys(void)
{
    static const char *const keys[] = { "pmix", "pmix.mine", PMIX_JOB_SIZE, PMIX_PROC_URI };
    static const char *const given[] = { PMIX_HOSTNAME, PMIX_CPUSET }; /* Open MPI 4 puts them */
    pmix_value_t v = { .type = PMIX_UINT32, .data.uint32 = 5 }, other, *found;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        EQ(PMIx_Put(PMIX_GLOBAL, keys[i], &v), PMIX_ERR_BAD_PARAM);
        EQ(PMIx_Put(PMIX_INTERNAL, keys[i], &v), PMIX_ERR_BAD_PARAM);
    }
    PMIx_Value_load(&other, "elsewhere", PMIX_STRING);
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        found = NULL;
        EQ(PMIx_Put(PMIX_GLOBAL, given[i], &other), PMIX_SUCCESS);
        OK_F(PMIx_Get(&me, given[i], NULL, 0, &found) != PMIX_SUCCESS ||
                 strcmp(found->data.string, "elsewhere") != 0,
             "the put of %s changes nothing", given[i]);
        PMIx_Value_free(found, 1);
    }
    PMIx_Value_destruct(&other);
    EQ(PMIx_Store_internal(&me, "pmix.mine", &v), PMIX_SUCCESS);
}

static void answers(void)
{
    struct stage t;
    pmix_status_t rc = PMIX_SUCCESS;

    stage_open(&t, SIZE_MAX);
    OK_F(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS && me.rank == 0, "a client joins");
    EQ(use_everything(&rc), CALLS - 1);
    refuse_reserved_keys();
    OK_F(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS, "and leaves");
    OK_F(PMIx_Get(&me, "x", NULL, 0, &(pmix_value_t *){ NULL }) == PMIX_ERR_INIT,
         "afterwards nothing is answered");
    stage_close(&t);
}

static size_t everything_sent;

/* Runs once to the end, to learn how many bytes there are to cut. */
static bool play(size_t budget)
{
    struct stage t;
    pmix_status_t rc = PMIX_SUCCESS, init;
    int good = 0, before = called;
    bool given = true;

    lost = 0;
    stage_open(&t, budget);
    init = PMIx_Init(&me, NULL, 0);
    if (init == PMIX_SUCCESS) {
        pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
        bool there = PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) >= 0;
        pmix_proc_t peer = { .nspace = "testns", .rank = 1 };
        int due = 0;
        due += PMIx_Fence_nb(NULL, 0, NULL, 0, on_status, NULL) == PMIX_SUCCESS;
        due += PMIx_Get_nb(&peer, "key4", NULL, 0, on_value, NULL) == PMIX_SUCCESS;
        good = use_everything(&rc);
        given = await(&called, before + due);
        if (budget != SIZE_MAX && there && rc == PMIX_ERR_LOST_CONNECTION)
            given = given && await(&lost, 1);
        if (rc != PMIX_SUCCESS && rc != PMIX_ERR_LOST_CONNECTION && rc != PMIX_ERR_UNREACH &&
            rc != PMIX_ERR_NOT_FOUND)
            given = false;
        PMIx_Finalize(NULL, 0);
    }
    stage_close(&t); /* its thread has ended: its counters can be read now */
    everything_sent = SIZE_MAX - t.budget;
    if (budget == SIZE_MAX)
        return given && good == CALLS - 1;
    return given &&
           (init == PMIX_SUCCESS || init == PMIX_ERR_UNREACH || init == PMIX_ERR_LOST_CONNECTION);
}

static void cut_at_every_byte(void)
{
    size_t bad = SIZE_MAX, all;

    OK_F(play(SIZE_MAX), "a whole conversation");
    all = everything_sent;
    for (size_t n = 0; n <= all && bad == SIZE_MAX; n++) {
        if (!play(n))
            bad = n;
    }
    OK_F(bad == SIZE_MAX, "a server that is gone after any of %zu bytes is told as that (%zd)", all,
         (ssize_t)bad);
}

static void nested(void)
{
    struct stage t;
    pmix_value_t *v = NULL;
    pmix_proc_t again;

    stage_open(&t, SIZE_MAX);
    OK_F(!PMIx_Initialized(), "nobody is there at first");
    OK_F(PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS && PMIx_Init(&again, NULL, 0) == PMIX_SUCCESS &&
             PMIx_Init(NULL, NULL, 0) == PMIX_SUCCESS && again.rank == me.rank,
         "three inits are one client");
    PMIx_Finalize(NULL, 0);
    PMIx_Finalize(NULL, 0);
    OK_F(PMIx_Initialized() && PMIx_Get(&me, PMIX_RANK, NULL, 0, &v) == PMIX_SUCCESS,
         "two finalizes later it is there");
    PMIx_Value_free(v, 1);
    OK_F(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS && !PMIx_Initialized() &&
             PMIx_Finalize(NULL, 0) == PMIX_SUCCESS,
         "the third is the last, and a fourth does no harm");
    stage_close(&t);
}

struct refuser {
    int fd;
    pmix_status_t status;
};

static void *refuse(void *arg)
{
    const struct refuser *r = arg;
    struct stage t = { .fd = accept(r->fd, NULL, NULL), .budget = SIZE_MAX };
    uint32_t words[4], status = htonl((uint32_t)r->status);
    char hello[512];

    if (receive_all(&t, words, sizeof words) && words[2] <= sizeof hello &&
        receive_all(&t, hello, words[2]))
        send_all(&t, &status, sizeof status);
    close(t.fd);
    return NULL;
}

/* As a process that its server refuses, and as a tool. */
static void refused(void)
{
    static const pmix_status_t reasons[] = { PMIX_ERR_NO_PERMISSIONS, PMIX_ERR_NOT_FOUND,
                                             PMIX_ERR_OUT_OF_RESOURCE };
    const char *before = getenv("PMIX_SERVER_URI41");
    char uri[64], kept[64];
    struct refuser r = { .fd = closed_port(uri, sizeof uri) };
    pmix_info_t info;
    pthread_t thread;

    snprintf(kept, sizeof kept, "%s", before);
    setenv("PMIX_SERVER_URI41", uri, 1);
    PMIx_Info_load(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    if (listen(r.fd, 4) < 0)
        abort();
    for (size_t i = 0; i < 2 * sizeof reasons / sizeof *reasons; i++) {
        pmix_status_t rc;
        r.status = reasons[i / 2];
        if (pthread_create(&thread, NULL, refuse, &r) != 0)
            abort();
        rc = i % 2 ? PMIx_tool_init(&me, &info, 1) : PMIx_Init(&me, NULL, 0);
        OK_F(rc == r.status && !PMIx_Initialized(), "a %s that is refused hears why: %s",
             i % 2 ? "tool" : "process", PMIx_Error_string(rc));
        pthread_join(thread, NULL);
    }
    PMIX_INFO_DESTRUCT(&info);
    close(r.fd);
    setenv("PMIX_SERVER_URI41", kept, 1);
}

int main(void)
{
    char uri[64];
    int port = closed_port(uri, sizeof uri);

    if (freopen("/dev/null", "w", stderr) == NULL) /* messages about lost servers */
        return 1;
    setenv("PMIX_NAMESPACE", "testns", 1);
    setenv("PMIX_RANK", "0", 1);
    setenv("PMIX_SERVER_URI41", uri, 1);
    setenv("PMIX_SECURITY_MODE", "native", 1);
    setenv("PMIX_VERSION", "4.2.9", 1);
    setenv("PMIX_HOSTNAME", "vm", 1);
    refused();
    answers();
    nested();
    cut_at_every_byte();
    close(port);
    return tap_done();
}
