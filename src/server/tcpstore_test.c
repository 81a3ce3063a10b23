/* tcpstore_test.c - conversations with the clients of a TCPStore, byte by byte, in both dialects.
 */
#include "tests/world.h"

#include "wire/tcpstore.h"

#define PEER(w, rank) ((w)->jobs[0].peers[rank])

/* A job whose processes have one connection each, to its store. */
static void open_stores(struct world *w, uint32_t n)
{
    world_open(w, n, 1);
    for (uint32_t r = 0; r < n; r++) {
        server_peer_free(&w->server, PEER(w, r));
        PEER(w, r) = server_store_peer_new(&w->server, w->jobs[0].job, r, NULL);
    }
}

/* The recorded beginning of each dialect: what PyTorch sends first. */
#define V2 "\x00\xce\xf7\x85\x3c"
/* A length, or a number, below 256. */
#define N0 "\0\0\0\0\0\0\0\0"
#define N1 "\1\0\0\0\0\0\0\0"
#define N2 "\2\0\0\0\0\0\0\0"
#define N3 "\3\0\0\0\0\0\0\0"
#define N4 "\4\0\0\0\0\0\0\0"
#define N5 "\5\0\0\0\0\0\0\0"
#define BYTES(lit)                                                                                 \
    (struct slice)                                                                                 \
    {                                                                                              \
        lit, sizeof(lit) - 1                                                                       \
    }

/* So many bytes at once; 0: all. */
static size_t piece;

static void send_all(struct world *w, struct peer *p, struct slice bytes)
{
    while (bytes.len) {
        size_t n = piece && piece < bytes.len ? piece : bytes.len;
        world_write(w, p, slice_head(bytes, n));
        bytes = slice_skip(bytes, n);
    }
}

static bool receives(struct peer *p, struct slice expected)
{
    bool same = slice_eq(buf_slice(&p->out), expected);

    if (!same)
        printf("# got %zu bytes, not %zu\n", buf_len(&p->out), expected.len);
    buf_take(&p->out, buf_len(&p->out));
    return same;
}

#define ASKS(p, words, reply)                                                                      \
    do {                                                                                           \
        send_all(&w, p, BYTES(words));                                                             \
        OK_F(receives(p, BYTES(reply)), "%d: %s", __LINE__, #words);                               \
    } while (0)

/* Every query of the newer dialect, and its reply. */
static void test_queries(void)
{
    struct world w;
    struct peer *p;

    open_stores(&w, 2);
    p = PEER(&w, 0);
    ASKS(p, V2, "");
    ASKS(p, "\x0d\x04\x03\x02\x01", "\x04\x03\x02\x01"); /* ping */
    ASKS(p, "\x01" N1 "k" N3 "abc", "");                 /* set */
    ASKS(p, "\x03" N1 "k", N3 "abc");                    /* get */
    ASKS(p, "\x03" N2 "no", N0);                         /* get, absent */
    ASKS(p, "\x02" N1 "k" N1 "x" N1 "y", N3 "abc");      /* compare_set */
    ASKS(p, "\x02" N1 "k" N3 "abc" N1 "y", N1 "y");
    ASKS(p, "\x02" N1 "n" N1 "x" N1 "y", N1 "x"); /* absent */
    ASKS(p, "\x02" N1 "n" N0 N1 "z", N1 "z");
    ASKS(p, "\x04" N1 "c" N5, N5); /* add */
    ASKS(p, "\x04" N1 "c\xfe\xff\xff\xff\xff\xff\xff\xff", N3);
    ASKS(p, "\x03" N1 "c", N1 "3");
    ASKS(p, "\x05" N2 N1 "k" N1 "c", "\x00"); /* check */
    ASKS(p, "\x05" N2 N1 "k" N1 "q", "\x01");
    ASKS(p, "\x05" N0, "\x00");
    ASKS(p, "\x06" N1 N1 "k", "\x00"); /* wait */
    ASKS(p, "\x07", N3);               /* num_keys */
    ASKS(p, "\x08" N1 "k", N1);        /* delete_key */
    ASKS(p, "\x08" N1 "k", N0);
    ASKS(p, "\x09" N1 "k" N2 "ab", ""); /* append */
    ASKS(p, "\x09" N1 "k" N2 "cd", "");
    ASKS(p, "\x0a" N2 N1 "k" N1 "c", N4 "abcd" N1 "3"); /* multi_get */
    ASKS(p, "\x0b" N2 N1 "k" N1 "1" N1 "l" N1 "2", ""); /* multi_set */
    ASKS(p, "\x0a" N2 N1 "l" N1 "k", N1 "2" N1 "1");
    ASKS(p, "\x0e" N1 "q" N1 "1", ""); /* queue_push */
    ASKS(p, "\x0e" N1 "q" N1 "2", "");
    ASKS(p, "\x10" N1 "q", N2); /* queue_len */
    ASKS(p, "\x06" N1 N1 "q", "\x00");
    ASKS(p, "\x0f" N1 "q", N2 N1 "1"); /* queue_pop */
    ASKS(p, "\x0f" N1 "q", N1 N1 "2");
    ASKS(p, "\x0f" N1 "q", N0);
    ASKS(p, "\x0c", "\x01"); /* cancel_wait, though it waits for nothing */
    OK(!p->closing);
    world_close(&w);
}

/* PyTorch 1.13 and 2.0: other numbers, and no beginning. */
static void test_old_dialect(void)
{
    struct world w;
    struct peer *p;

    open_stores(&w, 2);
    p = PEER(&w, 0);
    ASKS(p, "\x03" N5 "init/" N1, N1);
    ASKS(p, "\x00" N1 "k" N1 "v", "");
    ASKS(p, "\x05" N1 N1 "k", "\x00");
    ASKS(p, "\x02" N1 "k", N1 "v");
    ASKS(p, "\x06", N2);
    ASKS(p, "\x08" N1 "k", N1);
    ASKS(p, "\x0c", "\x01");
    send_all(&w, p, BYTES("\x07" N1 "k"));
    OK(p->closing && w.jobs[0].job->phase == JOB_RUNNING);
    p = PEER(&w, 1);
    ASKS(p, "\x00" N1 "k" N1 "v", ""); /* begins as VALIDATE does */
    ASKS(p, "\x02" N1 "k", N1 "v");
    world_close(&w);
}

static void test_waiting(void)
{
    struct world w;
    struct peer *p, *q;

    open_stores(&w, 3);
    p = PEER(&w, 0);
    q = PEER(&w, 1);
    ASKS(p, V2 "\x06" N2 N1 "a" N1 "b", "");
    ASKS(q, V2 "\x01" N1 "b" N0, "");
    OK(receives(p, SLICE_NULL));
    ASKS(q, "\x04" N1 "a" N1, N1);
    OK(receives(p, BYTES("\x00")));
    ASKS(p, "\x06" N1 N1 "c", "");
    ASKS(p, "\x0c", "\x01");
    ASKS(q, "\x01" N1 "c" N0, "");
    OK(receives(p, SLICE_NULL)); /* it has been cancelled */
    ASKS(p, "\x06" N1 N1 "d", "");
    ASKS(q, "\x02" N1 "d" N0 N1 "x", N1 "x");
    OK(receives(p, BYTES("\x00")));
    ASKS(p, "\x06" N1 N1 "q", "");
    ASKS(PEER(&w, 2), V2 "\x06" N1 N1 "q", "");
    ASKS(q, "\x0e" N1 "q" N1 "1", "");
    OK(receives(p, BYTES("\x00")));
    OK(receives(PEER(&w, 2), SLICE_NULL)); /* the element is for one */
    world_close(&w);
}

/* A connection closes while it waits: nobody is answered for it. */
static void test_leaving(void)
{
    struct world w;
    struct peer *p;

    open_stores(&w, 2);
    send_all(&w, PEER(&w, 0), BYTES(V2 "\x06" N1 N1 "a"));
    OK(w.jobs[0].job->procs[0].stored > 0);
    PEER(&w, 0) = server_peer_free(&w.server, PEER(&w, 0));
    world_settle(&w);
    OK(w.jobs[0].job->procs[0].stored == 0);
    p = PEER(&w, 1);
    ASKS(p, V2 "\x01" N1 "a" N0, "");
    OK(w.jobs[0].job->phase == JOB_RUNNING && !p->closing);
    world_close(&w);
}

static void refuses(const char *what, struct slice words)
{
    struct world w;

    open_stores(&w, 2);
    send_all(&w, PEER(&w, 0), words);
    OK_F(PEER(&w, 0)->closing && w.jobs[0].job->phase == JOB_RUNNING, "%s", what);
    world_close(&w);
}

static void test_bad_input(void)
{
    refuses("another protocol", BYTES("GET / HTTP/1.0\r\n\r\n"));
    refuses("PMI", BYTES("cmd=init pmi_version=1 pmi_subversion=1\n"));
    refuses("a query that there is not", BYTES(V2 "\x11"));
    refuses("a wrong number behind another query", BYTES(V2 "\x00\1\1\1\1"));
    refuses("a key that is too long", BYTES(V2 "\x03\x01\x20\0\0\0\0\0\0"));
    refuses("a value that is too long", BYTES(V2 "\x01" N1 "k\x01\0\x80\0\0\0\0\0"));
    refuses("too many keys", BYTES(V2 "\x05\x01\0\x02\0\0\0\0\0"));
    refuses("a length without end", BYTES(V2 "\x05" N1 "\xff\xff\xff\xff\xff\xff\xff\xff"));
    refuses("an addition to a text", BYTES(V2 "\x01" N1 "k" N1 "x\x04" N1 "k" N1));
    refuses("a sum that is too large",
            BYTES(V2 "\x04" N1 "k\xff\xff\xff\xff\xff\xff\xff\x7f\x04" N1 "k" N1));
    refuses("a start that will not be", BYTES(V2 "\x06" N1 "\x10\0\0\0\0\0\0\0wireup/attempt/1"));
    refuses("two waits at once", BYTES(V2 "\x06" N1 N1 "a\x06" N1 N1 "b"));
}

/* What a process keeps is counted, and given back. */
static void test_quota(void)
{
    enum { MIB = 1 << 20 };
    static char value[8 * MIB];
    const uint64_t len = sizeof value;
    struct world w;
    const struct proc *proc;
    struct peer *p;
    char head[] = "\x01" N1 "a";
    uint64_t one;

    open_stores(&w, 1);
    p = PEER(&w, 0);
    proc = &w.jobs[0].job->procs[0];
    send_all(&w, p, BYTES(V2));
    for (int i = 0; i < 2; i++) { /* the same key: it counts once */
        send_all(&w, p, slice_mem(head, sizeof head - 1));
        send_all(&w, p, slice_mem(&len, 8));
        send_all(&w, p, slice_mem(value, sizeof value));
    }
    one = proc->stored;
    OK(one > sizeof value && one < sizeof value + MIB);
    ASKS(p, "\x08" N1 "a", N1);
    OK(proc->stored == 0);
    for (char c = 'a'; c < 'a' + 8; c++) {
        head[9] = c;
        send_all(&w, p, slice_mem(head, sizeof head - 1));
        send_all(&w, p, slice_mem(&len, 8));
        send_all(&w, p, slice_mem(value, sizeof value));
    }
    OK(p->closing && proc->stored == 7 * one && w.jobs[0].job->phase == JOB_RUNNING);
    world_close(&w);
}

/* Keys of the first and the second time that processes meet, and those that tell of a start, as
 * PyTorch writes them. */
#define A0     "\x14\0\0\0\0\0\0\0//worker/attempt_0/a"
#define B0     "\x14\0\0\0\0\0\0\0//worker/attempt_0/b"
#define A1     "\x14\0\0\0\0\0\0\0//worker/attempt_1/a"
#define B1     "\x14\0\0\0\0\0\0\0//worker/attempt_1/b"
#define START1 "\x11\0\0\0\0\0\0\0/wireup/attempt/1"
#define START2 "\x11\0\0\0\0\0\0\0/wireup/attempt/2"

static void die(struct world *w, uint32_t rank)
{
    PEER(w, rank) = server_peer_free(&w->server, PEER(w, rank));
    server_proc_state(&w->server, w->jobs[0].job, rank, PROC_EVENT_DEATH, 9, 0);
    world_settle(w);
}

static void begin(struct world *w, uint32_t rank)
{
    job_event(w->jobs[0].job, rank, PROC_EVENT_STARTED, 0);
    PEER(w, rank) = server_store_peer_new(&w->server, w->jobs[0].job, rank, NULL);
    send_all(w, PEER(w, rank), BYTES(V2));
}

static void open_restarts(struct world *w, uint32_t n, uint32_t most)
{
    open_stores(w, n);
    w->jobs[0].job->keep_going = true;
    w->jobs[0].job->plan.apps[0].restarts = most;
    for (uint32_t r = 0; r < n; r++)
        send_all(w, PEER(w, r), BYTES(V2));
}

/* A process is started again: what the others meet by is new. */
static void test_attempts(void)
{
    struct world w;

    open_restarts(&w, 5, 1);
    ASKS(PEER(&w, 1), "\x01" A0 N1 "x", "");
    ASKS(PEER(&w, 1), "\x01" N1 "k" N1 "y", "");
    ASKS(PEER(&w, 0), "\x03" A0, N1 "x");
    ASKS(PEER(&w, 0), "\x06" N1 START1, "");
    ASKS(PEER(&w, 4), "\x06" N1 START1, "");
    ASKS(PEER(&w, 2), "\x06" N2 N1 "k" B0, "");
    ASKS(PEER(&w, 3), "\x06" N1 B0, "");
    die(&w, 1);
    OK_F(w.last.kind == EFFECT_restart && w.last.u.restart.rank == 1, "it is started again");
    for (uint32_t r = 0; r < 5; r += 4)
        OK_F(receives(PEER(&w, r), BYTES("\0")), "who waits for the start knows of it");
    for (uint32_t r = 2; r < 4; r++)
        OK_F(PEER(&w, r)->closing && !PEER(&w, r)->fault, "a wait of the time before ends");
    begin(&w, 1);
    ASKS(PEER(&w, 0), "\x03" START1, N1 "1");
    ASKS(PEER(&w, 0), "\x05" N1 START2, "\1");
    ASKS(PEER(&w, 0), "\x07", N1); /* the key of no attempt stays */
    ASKS(PEER(&w, 0), "\x03" N1 "k", N1 "y");
    ASKS(PEER(&w, 1), "\x01" A1 N1 "z", "");
    ASKS(PEER(&w, 0), "\x03" A1, N1 "z");
    ASKS(PEER(&w, 4), "\x03" A0, "");
    OK_F(PEER(&w, 4)->closing && !PEER(&w, 4)->fault, "nothing of the time before is seen");
    ASKS(PEER(&w, 0), "\x06" N1 B1, "");
    die(&w, 1);
    OK_F(PEER(&w, 0)->closing, "a process that has failed for good ends the attempt");
    OK(w.jobs[0].job->procs[0].stored == 0 && w.jobs[0].job->phase == JOB_RUNNING);
    world_close(&w);
}

/* Who has ended well is in no further attempt. */
static void test_last_attempt(void)
{
    struct world w;

    open_restarts(&w, 3, 1);
    server_proc_state(&w.server, w.jobs[0].job, 2, PROC_EVENT_EXIT, 0, 0);
    ASKS(PEER(&w, 1), "\x01" A0 N1 "x", "");
    ASKS(PEER(&w, 0), "\x03" A0, N1 "x");
    ASKS(PEER(&w, 0), "\x06" N1 START1, "");
    OK_F(PEER(&w, 0)->closing, "nobody waits for what will not be");
    die(&w, 1);
    begin(&w, 1);
    ASKS(PEER(&w, 1), "\x01" A1 N1 "x", "");
    OK_F(PEER(&w, 1)->closing, "nor meets there");
    world_close(&w);
}

int main(void)
{
    for (piece = 0; piece < 2; piece++) {
        test_queries();
        test_old_dialect();
        test_waiting();
        test_leaving();
        test_bad_input();
        test_attempts();
        test_last_attempt();
    }
    piece = 0;
    test_quota();
    return tap_done();
}
