/* pmix_test.c - PMIx conversations without a socket: the bytes of real clients, whole, one by one,
 * cut anywhere, and with failing allocations. */
#include <arpa/inet.h>

#include "core/effect.h"
#include "core/input.h"
#include "core/job_event.h"
#include "tests/alloc.h"
#include "tests/pmix_bytes.h"
#include "tests/world.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_unpack.h"

/* ---- bytes as text: hexadecimal numbers, and 'words' with their NUL -------------------------- */

struct bytes {
    unsigned char at[2048];
    size_t n;
};

static struct bytes bytes_of(const char *text)
{
    struct bytes b;

    b.n = pmix_bytes_put(b.at, sizeof b.at, text);
    return b;
}

static struct slice slice_of(const struct bytes *b)
{
    return slice_mem(b->at, b->n);
}

/* ---- a job as in the captures: two processes on one node ------------------------------------- */

enum { RANKS = 2 };

struct stage {
    struct server server;
    struct seg_region region;
    struct job *job;
    struct peer *peers[RANKS];
    uint64_t now;
    size_t chunk; /* bytes per input; 0: all at once */
};

static void stage_open(struct stage *t, size_t chunk)
{
    struct job_map plan;

    memset(t, 0, sizeof *t);
    t->chunk = chunk;
    server_init(&t->server, 7, NULL);
    if (!world_plan(&plan, RANKS, 1) || seg_memory_open(1 << 20, &t->region) < 0)
        abort();
    t->job = core_job_add(&t->server.core, "testns", &plan, &t->region, JOB_NO_RANK, false);
    for (uint32_t r = 0; r < RANKS; r++) {
        job_event(t->job, r, PROC_EVENT_STARTED, 0);
        t->peers[r] = server_peer_new(&t->server, NULL, 0, false, NULL);
    }
}

static void settle(struct stage *t)
{
    struct effect e;

    while (server_effect(&t->server, &e))
        effect_drop(&e);
}

static void stage_close(struct stage *t)
{
    server_free(&t->server);
    seg_memory_close(&t->region);
}

static void send_bytes(struct stage *t, uint32_t who, struct slice s)
{
    while (s.len) {
        size_t n = t->chunk && t->chunk < s.len ? t->chunk : s.len;
        server_deliver(&t->server, INPUT_AT(++t->now, in, .connection = t->peers[who]->id,
                                            .bytes = slice_head(s, n)));
        settle(t);
        s = slice_skip(s, n);
    }
}

/* ---- conversations: those of tests/golden/pmix, and some of our own; lengths are counted
 * (fix_length) --- */

struct line {
    uint32_t who;
    const char *sent;  /* with its header */
    const char *reply; /* NULL: checked elsewhere */
};

#define HEAD(tag, n) "00000000 000000" tag " 000000" n " 00000000 "

/* Requests to the process manager; made by the protocol's tables. */
static const struct line orders[] = {
    { 0,
      "ffffffff ffffffff 33000000 00000000 'native' 00000008 0000000000000000 00 'testns' 00000000"
      "'4.2.2rc2' 'v41' 01 'hash' 00",
      "00000000 00000000" },
    { 1,
      "ffffffff ffffffff 32000000 00000000 'native' 00000008 0000000000000000 00 'testns' 00000001"
      "'4.2.9xx2' 'v41' 01 'hash'",
      "00000000 00000001" },
    { 0, HEAD("65", "00") "0212 0201 020e 'testns' 00 0201 021e 'pmix.jctrl.sig' 00 0614",
      HEAD("65", "00") "0200" },
    { 0, HEAD("66", "00") "0212 0200 0201 0222 'pmix.reg.cleanup' 00 030e '/tmp/x'",
      HEAD("66", "00") "0200" },
    { 0,
      HEAD("67", "00") "0212 0201 020e 'testns' 01 0202 0428 'pmix.reg.cleanupdir' 00 030e "
                       "'/tmp/d' 26 'pmix.clnup.recurse' 00 0101",
      HEAD("67", "00") "0200" },
    { 1, HEAD("65", "00") "0212 0201 020e 'nobody' 00 0201 0220 'pmix.jctrl.kill' 00 0101",
      HEAD("65", "00") "025b" },
    { 1, HEAD("66", "00") "0212 0200 0201 0222 'pmix.jctrl.pvnim' 01 0304 'x'",
      HEAD("66", "00") "025d" },
    { 0, HEAD("68", "00") "0210 0280e2cfaa06 0201 0220 'pmix.log.stderr' 00 0306 'hi' 0200",
      HEAD("68", "00") "0200" },
    { 0,
      HEAD("69", "00") "0213 0226 'pmix.monitor.mbeat' 00 0101 02d901 0201 0226 "
                       "'pmix.monitor.btime' 00 0e05",
      HEAD("69", "00") "0200" },
    { 0, HEAD("01", "00") "", "" },
    { 0, HEAD("6a", "00") "0213 0228 'pmix.monitor.cancel' 00 0302 '' 0200 0200",
      HEAD("6a", "00") "0200" },
    { 0, HEAD("6b", "00") "0214 0200", "" },
    { 0, HEAD("6c", "00") "0215 0203 'ab' 0200", "" },
    { 0, HEAD("6d", "00") "0216 0201 020e 'testns' feffffff0f 0200 0206 0200",
      HEAD("6d", "00") "0200 0201" },
    { 0, HEAD("6e", "00") "021d 0200 0201", HEAD("6e", "00") "0200" },
    { 0, HEAD("6f", "00") "021d 0200 0209", HEAD("6f", "00") "025b" },
    { 0, HEAD("70", "00") "020f 0201 0202 18 'pmix.qry.ns' 00",
      HEAD("70", "00") "0200 0201 0218 'pmix.qry.ns' 00 030e 'testns'" },
    { 0, HEAD("71", "00") "0211 0201 0200", HEAD("71", "00") "025d" },
    { 1, HEAD("67", "00") "0225 0200 0200",
      HEAD("67", "00") "0200 0202 040e 'testns' 00 0e 'testns' 01" },
    { 1, HEAD("68", "00") "0226 0200", HEAD("68", "00") "0200 0204 'a'" },
    { 1, HEAD("69", "00") "0221 020e 'testns' 0200", HEAD("69", "00") "0200" },
    { 0, HEAD("72", "00") "020c 028f4e 0206 0201 021a 'pmix.evrange' 00 160e 'testns' 01",
      HEAD("72", "00") "0200" },
    { 0, HEAD("73", "00") "0218 0208 'grp' 0201 020e 'testns' feffffff0f 0200", "" },
    { 0, HEAD("75", "00") "0206 0200 0201 020e 'pubkey' 00 030e 'pubval'",
      HEAD("75", "00") "0200" },
    { 1, HEAD("6c", "00") "0208 0200 0201 020e 'pubkey' 0200", HEAD("6c", "00") "025b" },
    { 0, HEAD("76", "00") "020d 0201 028f4e 0200", HEAD("76", "00") "0200" },
    { 0, HEAD("77", "00") "020e 028f4e", "" },
    { 0, HEAD("78", "00"), HEAD("78", "00") "0279" },
    { 0, HEAD("79", "00") "02f0", HEAD("79", "00") "025d" },
    { 0, HEAD("74", "00") "0205", HEAD("74", "00") "0200" },
    { 1, HEAD("6d", "00") "0205", HEAD("6d", "00") "0200" },
};

/* "@hello", "@66", "$user", "$version", "$encoding" of a golden file, as the others are written
 * here. */
static void put_token(struct buf *out, struct slice token, struct slice release)
{
    struct slice version = slice_cut(&release, ' ');

    if (slice_is(token, "@hello"))
        buf_str(out, "ffffffff ffffffff 00000000 00000000");
    else if (token.ptr[0] == '@')
        buf_printf(out, HEAD("%.*s", "00"), (int)token.len - 1, token.ptr + 1);
    else if (slice_is(token, "$user"))
        buf_str(out, "00000008 0000000000000000");
    else if (slice_is(token, "$version") || slice_is(token, "$encoding"))
        buf_printf(out, "'" SLICE_FMT "'",
                   SLICE_ARG(slice_is(token, "$version") ? version : release));
    else
        buf_slice_put(out, token);
    buf_byte(out, ' ');
}

enum { LINES_MAX = 64, GOLDEN_MAX = 1 << 16 };

static const char *line_text(struct slice text, const char *release)
{
    struct buf out = BUF_NULL(GOLDEN_MAX);

    while (text.len)
        put_token(&out, slice_cut(&text, ' '), slice_str(release));
    buf_cstr(&out);
    return buf_steal(&out, NULL);
}

/* A golden file, played as this release.  A reply belongs to the line before it, if it is to the
 * same process. */
static size_t load(const char *path, const char *release, struct line *lines)
{
    FILE *f = fopen(path, "re");
    char text[2048];
    size_t n = 0;

    while (f && fgets(text, sizeof text, f)) {
        struct slice rest = slice_trim(slice_mem(text, strcspn(text, "\n")));
        uint32_t who = (uint32_t)(text[0] - '0');
        if (who >= RANKS || n == LINES_MAX)
            continue;
        if (text[1] == '>')
            lines[n++] = (struct line){ who, line_text(slice_skip(rest, 3), release), "" };
        else if (n && lines[n - 1].who == who)
            lines[n - 1].reply = text[1] == '~' ? NULL : line_text(slice_skip(rest, 3), release);
    }
    if (f)
        fclose(f);
    OK_F(n > 5, "%s has lines", path);
    return n;
}

static void unload(struct line *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free((char *)(uintptr_t)lines[i].sent);
        if (lines[i].reply && *lines[i].reply)
            free((char *)(uintptr_t)lines[i].reply);
    }
}

/* The lengths are counted, not copied; those above are placeholders. */
static void fix_length(struct bytes *b)
{
    size_t n = b->n - 16;

    if (b->n < 16)
        return;
    if (b->at[0] == 0xff) {
        b->at[8] = (unsigned char)n;
    } else {
        b->at[10] = (unsigned char)(n >> 8);
        b->at[11] = (unsigned char)n;
    }
}

static struct bytes message(const char *text)
{
    struct bytes b = bytes_of(text);

    fix_length(&b);
    return b;
}

static bool receives(struct stage *t, const struct line *l)
{
    struct buf *out = &t->peers[l->who]->out;
    struct bytes want = bytes_of(l->reply);
    bool good;

    if (want.n > 16)
        fix_length(&want);
    good = slice_eq(buf_slice(out), slice_of(&want));
    if (!good) {
        struct slice got = buf_slice(out);
        printf("# to: %s\n# got:", l->sent);
        for (size_t i = 0; i < got.len && i < 200; i++)
            printf(" %02x", (unsigned char)got.ptr[i]);
        printf("\n");
    }
    buf_take(out, buf_len(out));
    return good;
}

/* ---- content of the job information ---------------------------------------------------------- */

struct reported {
    uint32_t size, nodes, blobs, numbered, node_arrays, apps;
    bool name, univ;
};

/* A blob of a process: with what only the process itself is told. */
static bool has_numbers(const pmix_value_t *v)
{
    static const char key[] = "pmix.grank";

    return memmem(v->data.bo.bytes, v->data.bo.size, key, sizeof key) != NULL;
}

static void note(struct reported *t, struct slice key, const pmix_value_t *v)
{
    if (slice_is(key, "pmix.job.size"))
        t->size = v->data.uint32;
    t->nodes += slice_is(key, "pmix.nlist") && !strcmp(v->data.string, "a");
    t->blobs += slice_is(key, "pmix.pblob") && v->type == PMIX_BYTE_OBJECT;
    t->numbered += slice_is(key, "pmix.pblob") && has_numbers(v);
    t->node_arrays += slice_is(key, "pmix.node.arr") && v->type == PMIX_DATA_ARRAY;
    t->apps += slice_is(key, "pmix.app.arr") && v->type == PMIX_DATA_ARRAY;
    t->univ = t->univ || slice_is(key, "pmix.univ.size");
}

static void check_info(struct peer *p, const char *encoding)
{
    struct slice all = buf_slice(&p->out);
    struct reported t = { .size = 0 };
    struct punpack r;

    OK(all.len > 16);
    punpack_init(&r, slice_skip(all, 16), ptype_flavour(slice_str(encoding)));
    t.name = slice_is(punpack_text(&r), "testns");
    while (punpack_left(&r) && punpack_ok(&r)) {
        pmix_value_t v;
        struct slice key = punpack_kval(&r, &v);
        if (punpack_ok(&r)) {
            note(&t, key, &v);
            pmem_value_free(&v, NULL);
        }
    }
    OK_F(punpack_ok(&r) && t.name, "%s: the job's information can be read to its end", encoding);
    OK(t.size == 2 && t.univ && t.nodes == 1 && t.node_arrays == 1 && t.apps == 1);
    OK_F(t.blobs == 3 && t.numbered == 1, "one blob per rank, and one more of the client's own");
    buf_take(&p->out, buf_len(&p->out));
}

/* ---- the conversations ----------------------------------------------------------------------- */

static void test_golden(const struct line *lines, size_t n, const char *encoding, size_t chunk)
{
    struct stage t;
    bool good = true;

    stage_open(&t, chunk);
    for (size_t i = 0; i < n; i++) {
        struct bytes b = message(lines[i].sent);
        send_bytes(&t, lines[i].who, slice_of(&b));
        if (lines[i].reply)
            good = receives(&t, &lines[i]) && good;
        else
            check_info(t.peers[lines[i].who], encoding);
        if (i + 1 < n && lines[i + 1].who != lines[i].who && lines[i].reply && !*lines[i].reply)
            continue;
        for (uint32_t r = 0; r < RANKS; r++) /* the other's half of a fence */
            buf_take(&t.peers[r]->out, buf_len(&t.peers[r]->out));
    }
    OK_F(good, "%s, %zu bytes at a time: every answer is the one expected", encoding, chunk);
    EQ(t.job->procs[0].state, PROC_STATE_LEAVING);
    EQ(t.job->procs[1].state, PROC_STATE_LEAVING);
    stage_close(&t);
}

/* Everything up to a byte, then the connection ends. */
static void test_cut(const struct line *lines, size_t n, const char *encoding)
{
    bool good = true;
    size_t cuts = 0;

    for (size_t i = 0; i < n; i++) {
        struct bytes last = message(lines[i].sent);
        for (size_t cut = 0; cut < last.n; cut++, cuts++) {
            struct stage t;
            stage_open(&t, 0);
            for (size_t k = 0; k < i; k++) {
                struct bytes b = message(lines[k].sent);
                send_bytes(&t, lines[k].who, slice_of(&b));
            }
            for (uint32_t r = 0; r < RANKS; r++)
                buf_take(&t.peers[r]->out, buf_len(&t.peers[r]->out));
            send_bytes(&t, lines[i].who, slice_head(slice_of(&last), cut));
            good = good && buf_len(&t.peers[lines[i].who]->out) == 0;
            server_deliver(&t.server, INPUT(hangup, .connection = t.peers[lines[i].who]->id));
            settle(&t);
            stage_close(&t);
        }
    }
    OK_F(good, "%s: cut at %zu places, nothing is answered that was not asked", encoding, cuts);
}

static uint64_t play_refused(const struct line *lines, size_t n, uint64_t refused, bool on)
{
    struct stage t;
    uint64_t count;

    stage_open(&t, 0);
    alloc_fail(refused, on);
    for (size_t i = 0; i < n; i++) {
        struct bytes b = message(lines[i].sent);
        send_bytes(&t, lines[i].who, slice_of(&b));
    }
    count = alloc_count();
    alloc_fail(0, false);
    stage_close(&t);
    return count;
}

static void test_no_memory(const struct line *lines, size_t n, const char *encoding)
{
    int64_t before = alloc_live();
    uint64_t requests = play_refused(lines, n, 0, false);

    for (uint64_t i = 1; i <= requests; i++) {
        play_refused(lines, n, i, false);
        play_refused(lines, n, i, true);
    }
    OK_F(requests > 20, "%s: %llu requests for memory, each refused", encoding,
         (unsigned long long)requests);
    EQ(alloc_live(), before);
}

static void test_refused(void)
{
    static const char *const wrong[] = {
        "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'testns' "
        "00000002"
        "'4.2.2' 'v41' 01 'hash'",
        "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'other' 00000000"
        "'4.2.2' 'v41' 01 'hash'",
        "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 'testns' "
        "00000000"
        "'4.2.2' 'v99' 01 'hash'",
        "ffffffff ffffffff 00000000 00000000 'native' ffffffff 0000000000000000 00 'testns' "
        "00000000"
        "'4.2.2' 'v41' 01 'hash'",
        "ffffffff ffffffff 00000000 00000000",
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bytes b = message(wrong[i]);
        struct stage t;
        stage_open(&t, 0);
        send_bytes(&t, 0, slice_of(&b));
        OK_F(t.peers[0]->closing && buf_len(&t.peers[0]->out) == 0, "refused without a word: %zu",
             i);
        EQ(t.job->procs[0].state, PROC_STATE_RUNNING);
        stage_close(&t);
    }
}

static void enter(struct stage *t, uint32_t rank, const char *version)
{
    char text[512];
    struct bytes hello;

    snprintf(text, sizeof text,
             "ffffffff ffffffff 00000000 00000000 'native' 00000000 00 'testns' 000000%02x"
             "'%s' 'v41' 01 'hash'",
             rank, version);
    hello = message(text);
    send_bytes(t, rank, slice_of(&hello));
    buf_take(&t->peers[rank]->out, buf_len(&t->peers[rank]->out));
}

/* The reply of a group, as each release reads it. */
static void test_groups(void)
{
    static const struct {
        const char *version, *reply;
    } forms[] = {
        { "4.2.2rc2", HEAD("66", "00") "0200 0201" },
        { "v3.2.5", HEAD("66", "00") "0200 0201" },
        { "4.2.4", HEAD("66", "00") "0200 0202 040e 'testns' 00 0e 'testns' 01 0201" },
        { "5.0.3", HEAD("66", "00") "0200 0202 040e 'testns' 00 0e 'testns' 01 0201" },
        { "6.1.0", HEAD("66", "00") "0200 0202 040e 'testns' 00 0e 'testns' 01 0201 0201 0200" },
    };
    struct bytes b = message(HEAD("66", "00") "0218 020a 'grp1' 0201 020e 'testns' feffffff0f"
                                              "0201 0220 'pmix.grp.actxid' 00 0101");

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct line l = { 0, forms[i].version, forms[i].reply };
        struct stage t;
        stage_open(&t, 0);
        for (uint32_t r = 0; r < RANKS; r++) {
            enter(&t, r, forms[i].version);
            send_bytes(&t, r, slice_of(&b));
        }
        OK_F(receives(&t, &l), "a group's reply to %s", forms[i].version);
        stage_close(&t);
    }
}

/* ---- timeouts -------------------------------------------------------------------------------- */

static void both_hello(struct stage *t)
{
    stage_open(t, 0);
    for (uint32_t r = 0; r < RANKS; r++)
        enter(t, r, "4.2.2");
}

static void send_text(struct stage *t, uint32_t who, const char *text)
{
    struct bytes b = message(text);

    send_bytes(t, who, slice_of(&b));
}

/* A client that understands it is told why; others only find the connection closed. */
static void test_refusal(void)
{
    static const struct {
        const char *version;
        bool reported;
    } cases[] = {
        { "v3.2.5", false }, { "4.2.9", false }, { "5.0.8", false }, { "5.0.9", true },
        { "5.0.11", true },  { "6.0.0", false }, { "6.1.0", true },  { "nonsense", false }
    };
    static const struct {
        const char *name, *encoding;
        pmix_status_t status;
    } reasons[] = { { "'other' 00000000", "v41", PMIX_ERR_NOT_FOUND },
                    { "'testns' 00000002", "v41", PMIX_ERR_NOT_FOUND },
                    { "'testns' 00000000", "v99", PMIX_ERR_NOT_SUPPORTED } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t w = 0; w < sizeof reasons / sizeof *reasons; w++) {
            uint32_t want = htonl((uint32_t)reasons[w].status);
            struct stage t;
            struct slice out;
            char text[400];
            snprintf(text, sizeof text,
                     "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 00 %s "
                     "'%s' '%s' 01 'hash'",
                     reasons[w].name, cases[i].version, reasons[w].encoding);
            stage_open(&t, 0);
            send_text(&t, 0, text);
            out = buf_slice(&t.peers[0]->out);
            OK_F(t.peers[0]->closing &&
                     slice_eq(out, slice_mem(&want, cases[i].reported ? sizeof want : 0)),
                 "refused %s: %s, %s", cases[i].reported ? "with a status" : "without a word",
                 cases[i].version, reasons[w].name);
            stage_close(&t);
        }
    }
}

static void pass_time(struct stage *t, uint64_t ns)
{
    t->now += ns;
    server_tick(&t->server, t->now);
    settle(t);
}

#define TIMEOUT_INFO  "0201 021a 'pmix.timeout' 00 0604"
#define EVERYBODY     "0201 020e 'testns' feffffff0f "
#define LATE(tag)     HEAD(tag, "00") "022f"
#define IN_TIME(tag)  HEAD(tag, "00") "0200"
#define NANOS(second) ((second)*UINT64_C(1000000000))

/* One times out after two seconds, comes again, and completes with the other. */
static void test_timeout(const char *what, const char *meets, const char *meets_patiently)
{
    struct stage t;
    char text[512];

    both_hello(&t);
    snprintf(text, sizeof text, HEAD("66", "00") "%s" TIMEOUT_INFO, meets);
    send_text(&t, 0, text);
    pass_time(&t, NANOS(1));
    OK_F(buf_len(&t.peers[0]->out) == 0, "%s: before its time nothing is said", what);
    pass_time(&t, NANOS(1));
    OK(receives(&t, &(struct line){ 0, what, LATE("66") }));
    snprintf(text, sizeof text, HEAD("66", "00") "%s", meets_patiently);
    send_text(&t, 1, text);
    pass_time(&t, NANOS(5));
    OK_F(buf_len(&t.peers[1]->out) == 0, "%s: who has withdrawn is missing", what);
    snprintf(text, sizeof text, HEAD("67", "00") "%s" TIMEOUT_INFO, meets);
    send_text(&t, 0, text);
    OK(receives(&t, &(struct line){ 0, what, IN_TIME("67") }));
    OK(receives(&t, &(struct line){ 1, what, IN_TIME("66") }));
    stage_close(&t);
}

#define READ_ONCE "0206 0200 0202 040e 'pubkey' 00 030e 'pubval' 1a 'pmix.persist' 00 1e01"
#define LOOKUP    "0207 0200 0201 020e 'pubkey' 0200"
#define FOUND     "0200 0201 020e 'testns' 00 0e 'pubkey' 030e 'pubval'"

static void asks_for(struct stage *t, uint32_t who, const char *what, const char *answer)
{
    char request[300], reply[300];

    snprintf(request, sizeof request, HEAD("66", "00") "%s", what);
    snprintf(reply, sizeof reply, HEAD("66", "00") "%s", answer);
    send_text(t, who, request);
    OK(receives(t, &(struct line){ who, what, *answer ? reply : "" }));
}

/* A name that may be read once is published again and again: as Open MPI does for each accept. */
static void test_read_once(void)
{
    static const char wait[] = "0207 0200 0201 020e 'pubkey' 0201 0214 'pmix.wait' 00 0600";
    struct stage t;

    both_hello(&t);
    for (int i = 0; i < 3; i++) {
        asks_for(&t, 0, READ_ONCE, "0200");
        asks_for(&t, 1, READ_ONCE, "0269"); /* it has not been read */
        asks_for(&t, 1, LOOKUP, FOUND);
        asks_for(&t, 1, LOOKUP, "025b");
    }
    EQ(t.job->procs[0].names, 0);
    asks_for(&t, 1, wait, "");
    asks_for(&t, 1, wait, "");
    asks_for(&t, 0, READ_ONCE, "0200");
    OK_F(receives(&t, &(struct line){ 1, "one", HEAD("66", "00") FOUND }), "who waits gets it");
    asks_for(&t, 0, READ_ONCE, "0200");
    OK_F(receives(&t, &(struct line){ 1, "two", HEAD("66", "00") FOUND }), "one after the other");
    asks_for(&t, 0, LOOKUP, "025b");
    EQ(t.job->procs[0].names, 0);
    /* A process that has gone does not take it away. */
    asks_for(&t, 1, wait, "");
    server_deliver(&t.server, INPUT(hangup, .connection = t.peers[1]->id));
    t.peers[1] = server_peer_free(&t.server, t.peers[1]);
    asks_for(&t, 0, READ_ONCE, "0200");
    asks_for(&t, 0, LOOKUP, FOUND);
    stage_close(&t);
}

static bool knows_tree(struct slice words)
{
    return slice_is(words, "tree");
}

/* An exchange method is optional, unless it is required: by an attribute, or by the flag of the
 * info itself. */
static void test_ways(void)
{
    static const struct {
        const char *what, *infos;
        bool judged, refused;
    } wishes[] = {
        { "a wish for an unknown algorithm", "0201 0216 'pmix.calgo' 00 030c 'magic'", true,
          false },
        { "required, and nobody knows it",
          "0202 0416 'pmix.calgo' 00 030c 'magic' 1a 'pmix.calreqd' 00 0101", true, true },
        { "required by its flag", "0201 0216 'pmix.calgo' 01 030c 'magic'", true, true },
        { "not required, it says",
          "0202 0416 'pmix.calgo' 00 030c 'magic' 1a 'pmix.calreqd' 00 0100", true, false },
        { "required, and known", "0202 0416 'pmix.calgo' 00 030a 'tree' 1a 'pmix.calreqd' 00 0101",
          true, false },
        { "required, and nothing is said", "0201 021a 'pmix.calreqd' 00 0101", true, false },
        { "somebody else judges",
          "0202 0416 'pmix.calgo' 00 030c 'magic' 1a 'pmix.calreqd' 00 0101", false, false },
    };

    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct stage t;
        char text[512];
        both_hello(&t);
        t.server.core.knows_way = wishes[i].judged ? knows_tree : NULL;
        snprintf(text, sizeof text, HEAD("66", "00") "0203 " EVERYBODY "%s", wishes[i].infos);
        send_text(&t, 0, text);
        if (wishes[i].refused)
            OK_F(receives(&t, &(struct line){ 0, wishes[i].what, HEAD("66", "00") "025d" }), "%s",
                 wishes[i].what);
        send_text(&t, 1, HEAD("66", "00") "0203 " EVERYBODY "0200");
        OK_F((buf_len(&t.peers[1]->out) == 0) == wishes[i].refused, "%s: the fence",
             wishes[i].what);
        send_text(&t, 0, HEAD("67", "00") "0203 " EVERYBODY "0200");
        OK_F(buf_len(&t.peers[1]->out) != 0, "who was refused may come again");
        stage_close(&t);
    }
}

/* The server of a process manager checks the infos of a request before it is carried out; on behalf
 * of another host it does not. */
static void test_checked(void)
{
    static const struct {
        const char *what, *infos, *reply;
    } cases[] = {
        { "an unknown info", "0201 021a 'pmix.unknown' 00 0101", "" },
        { "an unknown info that is required", "0201 021a 'pmix.unknown' 01 0101",
          HEAD("66", "00") "025d" },
        { "a number that is a text", "0201 021a 'pmix.timeout' 00 0304 'x'",
          HEAD("66", "00") "0235" },
        { "a flag without a value", "0201 021a 'pmix.collect' 01 00", "" },
    };

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        size_t k = i / 2;
        struct stage t;
        char text[256];
        both_hello(&t);
        t.server.core.is_manager = i % 2;
        snprintf(text, sizeof text, HEAD("66", "00") "0203 " EVERYBODY "%s", cases[k].infos);
        send_text(&t, 0, text);
        OK_F(receives(&t, &(struct line){ 0, cases[k].what, i % 2 ? cases[k].reply : "" }),
             "%s, %s", cases[k].what, i % 2 ? "to a process manager" : "to another host");
        stage_close(&t);
    }
}

/* A group's reply has more data on success. */
static void test_group_timeout(void)
{
    struct stage t;

    both_hello(&t);
    send_text(&t, 0, HEAD("66", "00") "0218 0208 'grp' " EVERYBODY TIMEOUT_INFO);
    pass_time(&t, NANOS(2));
    OK(receives(&t, &(struct line){ 0, "group", LATE("66") }));
    send_text(&t, 1, HEAD("66", "00") "0218 0208 'grp' " EVERYBODY "0200");
    send_text(&t, 0, HEAD("67", "00") "0218 0208 'grp' " EVERYBODY "0200");
    OK_F(buf_len(&t.peers[0]->out) > 18 && buf_len(&t.peers[1]->out) > 18,
         "who comes again after its time is a member as any other");
    stage_close(&t);
}

/* A process dies while others wait for it in a collective across jobs. */
static void test_meeting_of_dead(void)
{
    struct stage t;

    both_hello(&t);
    t.job->keep_going = true;
    send_text(&t, 0, HEAD("66", "00") "020a " EVERYBODY "0200");
    job_event(t.job, 1, PROC_EVENT_DEATH, 9);
    settle(&t);
    OK(buf_len(&t.peers[0]->out) > 16);
    OK_F(memcmp(buf_slice(&t.peers[0]->out).ptr + 16, "\2\0", 2) != 0, "it is told that it failed");
    buf_take(&t.peers[0]->out, buf_len(&t.peers[0]->out));
    send_text(&t, 0, HEAD("67", "00") "020a " EVERYBODY "0200");
    OK_F(buf_len(&t.peers[0]->out) > 16, "who meets a dead one does not wait");
    stage_close(&t);
}

/* A process that registers for an event that it sent itself: old clients keep it, new ones ask. */
static void test_own_events(void)
{
    static const struct {
        const char *version;
        bool reported;
    } cases[] = {
        { "v3.2.5", false }, { "4.2.2rc2", false }, { "4.2.3", true }, { "5.0.7a1", true }
    };
    struct bytes notify = message(HEAD("66", "00") "020c 028f4e 0203 0200");
    struct bytes late = message(HEAD("67", "00") "020d 0201 028f4e 0200");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct line l = { 0, cases[i].version,
                          cases[i].reported ? HEAD("00", "00") "020c 028f4e 020e 'testns' 00 0200"
                                            : "" };
        struct stage t;
        stage_open(&t, 0);
        enter(&t, 0, cases[i].version);
        send_bytes(&t, 0, slice_of(&notify));
        buf_take(&t.peers[0]->out, buf_len(&t.peers[0]->out));
        send_bytes(&t, 0, slice_of(&late));
        buf_take(&t.peers[0]->out, 18); /* the status */
        OK_F(receives(&t, &l), "an event of its own: %s, to %s",
             cases[i].reported ? "told" : "not told", cases[i].version);
        stage_close(&t);
    }
}

/* A rank that has become another user sends events to its own job only. */
static void test_restricted_events(void)
{
    struct line own = { 1, "an event", HEAD("00", "00") "020c 028f4e 020e 'testns' 00 0200 0203" };
    static const char *const wider[] = { "0200", "0201", "0202", "0204", "0205", "0206" };
    struct bytes registration = message(HEAD("66", "00") "020d 0201 028f4e 0200");
    struct stage t;

    stage_open(&t, 0);
    enter(&t, 0, "5.0.11");
    enter(&t, 1, "5.0.11");
    send_bytes(&t, 1, slice_of(&registration));
    buf_take(&t.peers[1]->out, buf_len(&t.peers[1]->out));
    server_deliver(&t.server, INPUT(rights_lost, .connection = t.peers[0]->id));
    for (size_t i = 0; i < sizeof wider / sizeof *wider; i++) {
        struct line refused = { 0, "no", HEAD("67", "02") "022d" };
        char text[100];
        snprintf(text, sizeof text, HEAD("67", "00") "020c 028f4e %s 0200", wider[i]);
        send_text(&t, 0, text);
        OK_F(receives(&t, &refused) && buf_len(&t.peers[1]->out) == 0,
             "an event of range %s is refused, and reaches nobody", wider[i]);
    }
    send_text(&t, 0, HEAD("68", "00") "020c 028f4e 0203 0200");
    OK_F(receives(&t, &own), "one to its own job comes");
    stage_close(&t);
}

/* ---- the topology: requested once, sent to all ----------------------------------------------- */

enum { CROWD = 4 };

/* The answer to rank r's request for the job's information; the host provides its values. */
static bool receives_topology(struct server *s, struct peer *p, enum answer_status status,
                              bool *asked)
{
    struct bytes req = message(HEAD("65", "00") "0200");
    struct answer a = ANSWER_TO(job_attr, status, .value = SLICE("<topology/>"));
    struct effect e;
    struct slice out;
    bool there;

    *asked = false;
    server_deliver(s, INPUT_AT(1, in, .connection = p->id, .bytes = slice_of(&req)));
    while (server_effect(s, &e)) {
        if (e.kind == EFFECT_job_attr && slice_is(e.u.job_attr.key, CORE_TOPOLOGY)) {
            *asked = true;
            server_answer(s, e.u.job_attr.ticket, &a);
        }
        effect_drop(&e);
    }
    out = buf_slice(&p->out);
    OK_F(memmem(out.ptr, out.len, "pmix.job.size", 13), "the information comes");
    there = memmem(out.ptr, out.len, "<topology/>", 12) != NULL;
    EQ(there, memmem(out.ptr, out.len, "pmix.hwlocxml2", 15) != NULL);
    buf_take(&p->out, buf_len(&p->out));
    return there;
}

static void test_topology(enum answer_status status)
{
    struct stage t = { .now = 0 };
    struct job_map plan;
    bool asked;

    server_init(&t.server, 7, NULL);
    t.server.core.has_topology = true;
    if (!world_plan(&plan, CROWD, 1) || seg_memory_open(1 << 20, &t.region) < 0)
        abort();
    t.job = core_job_add(&t.server.core, "testns", &plan, &t.region, JOB_NO_RANK, false);
    for (uint32_t r = 0; r < RANKS; r++) {
        job_event(t.job, r, PROC_EVENT_STARTED, 0);
        t.peers[r] = server_peer_new(&t.server, NULL, 0, false, NULL);
        enter(&t, r, "5.0.7a1");
    }
    EQ(receives_topology(&t.server, t.peers[0], status, &asked), status == ANSWER_OK);
    OK_F(asked, "the first asks");
    EQ(receives_topology(&t.server, t.peers[1], status, &asked), status == ANSWER_OK);
    OK_F(!asked, "the second does not");
    stage_close(&t);
}

/* ---- reserved keys on request ---------------------------------------------------------------- */

#define SETS_GET(rank) "0204 020e 'testns' " rank " 0200 021c 'pmix.pset.nms'"

/* The names of the sets of which a process is a member. */
static void test_set_names(void)
{
    static const struct pset_member both = { "testns", PMIX_RANK_WILDCARD }, one = { "testns", 1 },
                                    other = { "else", 0 };
    struct line none = { 0, "no set", HEAD("66", "02") "025b" };
    struct line two = { 0, "two sets",
                        HEAD("66", "2b") "0200 0227 020e 'testns' 01 021c 'pmix.pset.nms' 27 03 02 "
                                         "08 'all' 08 'one'" };
    struct stage t;

    stage_open(&t, 0);
    t.server.core.is_manager = true;
    enter(&t, 0, "4.2.2rc2");
    send_text(&t, 0, HEAD("66", "00") SETS_GET("0200"));
    OK_F(receives(&t, &none), "without sets there are no names");
    OK(psets_define(&t.server.core.sets, "all", &both, 1) == 0 &&
       psets_define(&t.server.core.sets, "one", &one, 1) == 0 &&
       psets_define(&t.server.core.sets, "other", &other, 1) == 0);
    send_text(&t, 0, HEAD("66", "00") SETS_GET("0201"));
    OK_F(receives(&t, &two), "rank 1 is in two of three");
    stage_close(&t);
}

/* ---- tools ----------------------------------------------------------------------------------- */

#define TOOL_HELLO_OF(version)                                                                     \
    "ffffffff ffffffff 00000000 00000000 'native' 00000008 0000000000000000 03 00000000 00000000 " \
    "'" version "' 'v41' 01 'hash' 0200 00"
#define TOOL_HELLO TOOL_HELLO_OF("4.2.2rc2")
enum { TOOL_WELCOME = 4 + 2 * (256 + 4) + 4 };

/* The effect that the server produces for it: the ticket, or 0. */
static uint64_t tool_asks(struct stage *t, const char *hello)
{
    struct bytes b = message(hello);
    struct effect e;
    uint64_t ticket = 0;

    server_deliver(&t->server,
                   INPUT_AT(++t->now, in, .connection = t->peers[0]->id, .bytes = slice_of(&b)));
    while (server_effect(&t->server, &e)) {
        ticket = e.kind == EFFECT_tool_connect ? e.u.tool_connect.ticket : ticket;
        effect_drop(&e);
    }
    return ticket;
}

static struct job *tool_job(struct stage *t, struct seg_region *region)
{
    struct job_map plan;
    struct job *j;

    if (!world_plan(&plan, 1, 1) || seg_memory_open(1 << 20, region) < 0)
        abort();
    j = server_job_order(&t->server, &(struct job_order){ .nspace = "a-tool",
                                                          .plan = &plan,
                                                          .region = region,
                                                          .parent = JOB_NO_RANK,
                                                          .here = JOB_ALL_HERE,
                                                          .is_tool = true });
    server_deliver(&t->server, INPUT(proc_state, .job = j->id, .rank = 0,
                                     .event = PROC_EVENT_STARTED, .pid = j->procs[0].pid));
    return j;
}

/* It connects, can ask about every job, and its end is reported to the host alone. */
static void test_tool(void)
{
    struct seg_region region;
    struct stage t;
    struct effect e;
    struct job *j;
    uint64_t ticket;
    bool ended = false;

    stage_open(&t, 0);
    t.server.core.takes_tools = true;
    t.server.core.name = "server";
    ticket = tool_asks(&t, TOOL_HELLO);
    OK(ticket != 0 && buf_len(&t.peers[0]->out) == 0);
    j = tool_job(&t, &region);
    OK(server_deliver(&t.server, INPUT_AT(++t.now, tool_reply, .ticket = ticket,
                                          .job = j ? j->id : JOB_NO_RANK, .status = ANSWER_OK)));
    EQ(buf_len(&t.peers[0]->out), TOOL_WELCOME);
    OK(!strcmp(buf_slice(&t.peers[0]->out).ptr + 4, "a-tool"));
    OK(!strcmp(buf_slice(&t.peers[0]->out).ptr + 4 + 260, "server"));
    EQ(j->procs[0].state, PROC_STATE_ATTACHED);
    OK(!server_deliver(&t.server, INPUT_AT(++t.now, tool_reply, .ticket = ticket,
                                           .job = j ? j->id : JOB_NO_RANK,
                                           .status = ANSWER_OK))); /* only once */
    buf_take(&t.peers[0]->out, TOOL_WELCOME);
    send_text(&t, 0, HEAD("65", "00") "020f 0201 0202 18 'pmix.qry.ns' 00");
    OK(memmem(buf_slice(&t.peers[0]->out).ptr, buf_len(&t.peers[0]->out), "testns", 7) != NULL);
    server_deliver(&t.server, INPUT(hangup, .connection = t.peers[0]->id));
    while (server_effect(&t.server, &e)) {
        ended = ended || (e.kind == EFFECT_job_ended && e.u.job_ended.job == j->id);
        OK_F(e.kind != EFFECT_kill, "nothing fails with a tool");
        effect_drop(&e);
    }
    OK(ended && t.job->phase == JOB_RUNNING);
    t.peers[0] = server_peer_free(&t.server, t.peers[0]);
    server_deliver(&t.server, INPUT(job_gone, .job = j->id));
    seg_memory_close(&region);
    stage_close(&t);
}

static void test_tool_refused(void)
{
    struct stage t;
    uint64_t ticket;

    stage_open(&t, 0);
    EQ(tool_asks(&t, TOOL_HELLO), 0); /* the host accepts no tools */
    OK(t.peers[0]->closing && buf_len(&t.peers[0]->out) == 0);
    stage_close(&t);
    stage_open(&t, 0);
    t.server.core.takes_tools = true;
    ticket = tool_asks(&t, TOOL_HELLO);
    OK(server_deliver(&t.server, INPUT_AT(++t.now, tool_reply, .ticket = ticket, .job = JOB_NO_RANK,
                                          .status = ANSWER_OVER_QUOTA)));
    OK(t.peers[0]->closing && buf_len(&t.peers[0]->out) == 0);
    stage_close(&t);
    stage_open(&t, 0); /* one that understands why */
    t.server.core.takes_tools = true;
    ticket = tool_asks(&t, TOOL_HELLO_OF("5.0.11"));
    OK(server_deliver(&t.server, INPUT_AT(++t.now, tool_reply, .ticket = ticket, .job = JOB_NO_RANK,
                                          .status = ANSWER_OVER_QUOTA)));
    OK(t.peers[0]->closing && slice_eq(buf_slice(&t.peers[0]->out), SLICE("\xff\xff\xff\xe3")));
    stage_close(&t);
    stage_open(&t, 0); /* one that has gone meanwhile */
    t.server.core.takes_tools = true;
    ticket = tool_asks(&t, TOOL_HELLO);
    t.peers[0] = server_peer_free(&t.server, t.peers[0]);
    OK(!server_deliver(&t.server, INPUT_AT(++t.now, tool_reply, .ticket = ticket,
                                           .job = JOB_NO_RANK, .status = ANSWER_OVER_QUOTA)));
    stage_close(&t);
}

int main(int argc, char **argv)
{
    enum { NORDERS = sizeof orders / sizeof *orders };
    struct line v3[LINES_MAX], v41[LINES_MAX];
    size_t n3 = load(argc > 2 ? argv[1] : "", "3.2.5 v3", v3);
    size_t n41 = load(argc > 2 ? argv[2] : "", "4.2.2rc2 v41", v41);

    test_golden(v41, n41, "v41", 0);
    test_golden(v41, n41, "v41", 1);
    test_golden(v41, n41, "v41", 7);
    test_golden(v3, n3, "v3", 0);
    test_golden(v3, n3, "v3", 1);
    test_golden(orders, NORDERS, "orders", 0);
    test_golden(orders, NORDERS, "orders", 1);
    test_cut(orders, NORDERS, "orders");
    test_cut(v41, n41, "v41");
    test_cut(v3, n3, "v3");
    test_refused();
    test_refusal();
    test_groups();
    test_read_once();
    test_timeout("fence", "0203 " EVERYBODY, "0203 " EVERYBODY "0200");
    test_timeout("connect", "020a " EVERYBODY, "020a " EVERYBODY "0200");
    test_timeout("disconnect", "020b " EVERYBODY, "020b " EVERYBODY "0200");
    test_ways();
    test_checked();
    test_group_timeout();
    test_meeting_of_dead();
    test_own_events();
    test_restricted_events();
    test_set_names();
    test_topology(ANSWER_OK);
    test_topology(ANSWER_NOT_FOUND);
    test_tool();
    test_tool_refused();
    test_no_memory(v41, n41, "v41");
    test_no_memory(v3, n3, "v3");
    test_no_memory(orders, NORDERS, "orders");
    unload(v3, n3);
    unload(v41, n41);
    return tap_done();
}
