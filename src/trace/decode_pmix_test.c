/* decode_pmix_test.c - the trace decoder on PMIx messages: every command of every release, made
 * from its table; cut off at each byte, altered, unknown; and messages as OpenPMIx's releases send
 * them, written down by hand, which hold the table to the wire.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/decode_priv.h"
#include "tests/pmix_bytes.h"
#include "tests/pmix_items.h"
#include "tests/tap.h"
#include "wire/pmix_message.h"

enum { MESSAGE_MAX = 4096, UNITS = 2, ENDS_MAX = 64 };

static const struct version {
    const char *release, *encoding;
    bool described;
} versions[] = { { "2.1.4", "v21", false }, { "3.2.5", "v3", false },   { "4.0.0", "v4", false },
                 { "4.1.3", "v41", false }, { "4.2.2", "v41", true },   { "4.2.9", "v41", false },
                 { "5.0.1", "v41", false }, { "5.0.11", "v41", false }, { "6.0.0", "v51", false },
                 { "6.1.0", "v61", false }, { "7.0.0", "v61", true } };

enum { VERSIONS = sizeof versions / sizeof *versions };

/* ---- a decoder after its handshake ----------------------------------------------------------- */

static void put_hello(struct buf *out, const struct version *v)
{
    static const unsigned char ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
    static const char client[] = "none\0\0\0\0\0\0job\0\0\0\0\2"; /* and no credential */
    struct buf body = BUF_NULL(256);
    uint32_t words[2] = { 0, 0 };

    buf_put(&body, client, sizeof client - 1);
    buf_put(&body, v->release, strlen(v->release) + 1);
    buf_put(&body, v->encoding, strlen(v->encoding) + 1);
    buf_byte(&body, v->described ? 2 : 1);
    buf_put(&body, "hash", 5);
    words[0] = (uint32_t)buf_len(&body);
    buf_put(out, ones, sizeof ones);
    buf_put(out, words, sizeof words);
    buf_slice_put(out, buf_slice(&body));
    buf_free(&body);
}

static void send_hello(struct decode *d, const struct version *v)
{
    struct buf hello = BUF_NULL(512);
    struct decoded m;

    put_hello(&hello, v);
    decode_feed(d, DECODE_IN, buf_slice(&hello));
    if (decode_next(d, DECODE_IN, &m) != DECODE_MESSAGE || m.fault)
        abort();
    decode_feed(d, DECODE_OUT, slice_mem("\0\0\0\0\0\0\0\2", 8));
    if (decode_next(d, DECODE_OUT, &m) != DECODE_MESSAGE || m.fault)
        abort();
    buf_free(&hello);
}

static void begin(struct decode *d, const struct version *v)
{
    decode_init(d);
    send_hello(d, v);
}

/* One message; the result is lent by d. */
static struct decoded receive(struct decode *d, enum decode_way way, uint32_t tag,
                              struct slice body)
{
    unsigned char head[16] = { 0,
                               0,
                               0,
                               0,
                               (unsigned char)(tag >> 24),
                               (unsigned char)(tag >> 16),
                               (unsigned char)(tag >> 8),
                               (unsigned char)tag,
                               0,
                               0,
                               (unsigned char)(body.len >> 8),
                               (unsigned char)body.len };
    struct decoded m;

    decode_feed(d, way, slice_mem(head, sizeof head));
    decode_feed(d, way, body);
    if (decode_next(d, way, &m) != DECODE_MESSAGE || m.bytes.len != sizeof head + body.len)
        abort();
    return m;
}

/* ---- messages made from the table ------------------------------------------------------------ */

static int keep_text(const char *source, char **text_p)
{
    *text_p = strdup(source ? source : "");
    return PTYPE_FINE;
}

static int cpuset_text(const pmix_cpuset_t *set, char **text_p)
{
    return keep_text(set->source, text_p);
}

static int topo_text(const pmix_topology_t *topo, char **text_p, void *support)
{
    memset(support, 1, 32);
    return keep_text(topo->source, text_p);
}

static size_t support_size(void)
{
    return 32;
}

static const struct ptype_foreign writes_texts = { .cpuset_text = cpuset_text,
                                                   .topo_text = topo_text,
                                                   .support_size = support_size };

/* A sample of a data type, n of them. */
static const void *sample(uint16_t type, int32_t *n_p)
{
    static char text[] = "<topology/>";
    static const pmix_topology_t topo = { .source = text };
    static const char zeros[256]; /* a good status too: a reply has more */

    *n_p = 1;
    if (type == PMIX_TOPO || type == PMIX_PROC_CPUSET)
        return &topo;
    for (size_t i = 0; i < items_count && type != PMIX_STATUS; i++) {
        if (items[i].type == type && items[i].n > 0) {
            *n_p = items[i].n;
            return items[i].src;
        }
    }
    if (ptype_find(type)->size > sizeof zeros)
        abort();
    return zeros;
}

static void put_sample_kvals(struct ppack *w)
{
    pmix_value_t number = { .type = PMIX_UINT32, .data.uint32 = 7 }, null = { .type = PMIX_UNDEF };

    ppack_kval(w, "a key", &number);
    ppack_kval(w, "", &null);
}

static struct ppack like(const struct ppack *w, struct buf *out)
{
    struct ppack in;

    ppack_init(&in, out, w->as);
    in.described = w->described;
    return in;
}

static bool is_last(const struct pmsg_field *f)
{
    return f->shape >= PMSG_ALL;
}

/* The i-th item of a field that lasts to the end, written without the table. */
static void put_item(struct ppack *w, const struct pmsg_field *f, int i)
{
    struct buf bytes = BUF_NULL(MESSAGE_MAX);
    struct ppack in = like(w, &bytes);
    int32_t n;

    if (f->shape == PMSG_KVALS) {
        ppack_kval(w, i ? "b" : "a", &(pmix_value_t){ .type = PMIX_INT, .data.integer = -i });
        return;
    }
    if (f->shape == PMSG_ALL) {
        ppack(w, sample(f->type, &n), 1, f->type);
        return;
    }
    if (f->type == PMSG_proc_values)
        ppack(&in, sample(PMIX_PROC, &n), 1, PMIX_PROC);
    if (f->type == PMSG_job_info)
        ppack_str(&in, "job");
    put_sample_kvals(&in);
    if (f->shape == PMSG_PARTS) { /* of a commit */
        ppack_byte(w, PMIX_SCOPE, (uint8_t)(i + 1));
        ppack_buffer(w, w->described, buf_slice(&bytes));
    } else {
        ppack_bytes(w, buf_slice(&bytes));
    }
    buf_free(&bytes);
}

/* A message with everything in it, and the lengths at which it may end. */
struct example {
    struct buf bytes, items; /* of a field that lasts to the end */
    size_t ends[ENDS_MAX];
    unsigned nends;
};

static void fill(const struct pmsg_field *f, char *m, struct ppack *w, struct example *x)
{
    static struct slice words[] = { { "one", 3 }, { NULL, 0 }, { "", 0 } };
    int32_t n = 0;
    void *at = m + f->offset;
    const void *item = NULL;
    size_t count;

    if (f->shape == PMSG_TEXT)
        *(struct slice *)at = SLICE("some text");
    else if (f->shape == PMSG_BYTES)
        *(struct slice *)at = slice_mem("\0\1\2", 3);
    else if (f->shape == PMSG_TEXTS)
        *(struct pmsg_texts *)at = (struct pmsg_texts){ 3, words };
    else if (!is_last(f))
        item = sample(f->type, &n);
    if (is_last(f)) {
        for (int i = 0; i < UNITS; i++)
            put_item(w, f, i);
        *(struct slice *)at = buf_slice(&x->items);
    }
    if (f->shape == PMSG_ONE || f->shape == PMSG_MAYBE)
        memcpy(at, item, ptype_find(f->type)->size);
    if (f->shape == PMSG_MAYBE)
        *(bool *)(void *)(m + f->flag) = true;
    if (f->shape == PMSG_LIST || f->shape == PMSG_EACH) {
        count = (size_t)n;
        memcpy(at, &count, sizeof count);
        memcpy((char *)at + sizeof count, &item, sizeof item);
    }
}

static bool rest_may_lack(const struct pmsg *row, unsigned from, uint32_t release)
{
    for (unsigned i = from; i < row->nfields; i++) {
        if (pmsg_in(&row->fields[i], release) && row->fields[i].need != PMSG_OPT)
            return false;
    }
    return true;
}

/* One field at a time, so that each end is seen.  False: a type that the encoding does not have. */
static bool make(const struct pmsg *row, const struct version *v, struct example *x)
{
    uint32_t release = pmsg_release(v->release);
    struct ppack w, last;
    union pmsg_any m;

    *x = (struct example){ .bytes = BUF_NULL(MESSAGE_MAX), .items = BUF_NULL(MESSAGE_MAX) };
    ppack_init(&w, &x->bytes, ptype_flavour(slice_str(v->encoding)));
    w.described = v->described;
    w.foreign = &writes_texts;
    last = like(&w, &x->items);
    for (unsigned i = 0; i < row->nfields; i++) {
        const struct pmsg_field *f = &row->fields[i];
        struct pmsg alone = { "", f, 1, row->size };
        if (rest_may_lack(row, i, release))
            x->ends[x->nends++] = buf_len(&x->bytes);
        if (!pmsg_in(f, release))
            continue;
        memset(&m, 0, sizeof m);
        m.has = 1;
        buf_clear(&x->items);
        fill(f, (char *)&m, &last, x);
        if (is_last(f)) { /* it may end after each item */
            struct buf one = BUF_NULL(MESSAGE_MAX);
            struct ppack first = like(&w, &one);
            put_item(&first, f, 0);
            x->ends[x->nends++] = buf_len(&x->bytes) + buf_len(&one);
            buf_free(&one);
        }
        pmsg_write_from(&alone, 0, &w, release, &m);
    }
    x->ends[x->nends++] = buf_len(&x->bytes);
    return ppack_ok(&w) && ppack_ok(&last);
}

static void example_free(struct example *x)
{
    buf_free(&x->bytes);
    buf_free(&x->items);
}

static bool may_end(const struct example *x, size_t len)
{
    for (unsigned i = 0; i < x->nends; i++) {
        if (x->ends[i] == len)
            return true;
    }
    return false;
}

/* ---- whole ----------------------------------------------------------------------------------- */

/* The fields of the row, in order and no others. */
static bool has_fields(const struct decode *d, const struct pmsg *row, uint32_t release)
{
    unsigned depth = 0, at = 0;

    for (uint32_t i = 0; i < d->nfields; i++) {
        const struct decode_field *f = &d->fields[i];
        if (f->kind == DECODE_END) {
            depth--;
            continue;
        }
        if (depth == 0 && !slice_is(f->name, "tag")) {
            while (at < row->nfields && !pmsg_in(&row->fields[at], release))
                at++;
            if (at == row->nfields || !slice_is(f->name, row->fields[at++].name))
                return false;
        }
        depth += f->kind == DECODE_LIST || f->kind == DECODE_GROUP;
    }
    while (at < row->nfields && !pmsg_in(&row->fields[at], release))
        at++;
    return depth == 0 && at == row->nfields;
}

static bool whole(const struct version *v, const struct pmsg *row, enum decode_way way,
                  uint32_t tag, int command)
{
    uint32_t release = pmsg_release(v->release);
    struct buf bytes = BUF_NULL(MESSAGE_MAX);
    struct example x;
    struct decoded m;
    struct decode d;
    struct ppack w;
    bool good = make(row, v, &x);

    begin(&d, v);
    ppack_init(&w, &bytes, d.as);
    w.described = v->described;
    if (command >= 0)
        ppack_byte(&w, PMIX_COMMAND, (uint8_t)command);
    if (way == DECODE_OUT && command >= 0) /* the request it replies to */
        receive(&d, DECODE_IN, tag, buf_slice(&bytes));
    if (way == DECODE_OUT)
        buf_clear(&bytes);
    buf_slice_put(&bytes, buf_slice(&x.bytes));
    m = receive(&d, way, tag, buf_slice(&bytes));
    good = good && !m.fault && has_fields(&d, row, release) &&
           (command < 0 || slice_is(m.command, pmsg_commands[command].name));
    if (!good)
        printf("# %s %s of %s: %s\n", row->name, way == DECODE_IN ? "in" : "out", v->release,
               m.fault ? m.fault : "other fields");
    decode_free(&d);
    buf_free(&bytes);
    example_free(&x);
    return good;
}

static void test_whole(const struct version *v)
{
    uint32_t release = pmsg_release(v->release);
    unsigned n = 0;
    bool good = true;

    for (int i = 0; i < PMSG_COMMANDS; i++) {
        const struct pmsg_command *c = &pmsg_commands[i];
        if (!c->name || c->who == PMSG_NOBODY || release < c->since)
            continue;
        good = whole(v, c->request, DECODE_IN, 101, i) && good;
        good = (c->reply == &pmsg_rows[PMSG_nothing] || whole(v, c->reply, DECODE_OUT, 101, i)) &&
               good;
        n++;
    }
    good = whole(v, &pmsg_rows[PMSG_event], DECODE_OUT, 0, -1) && good;
    if (release >= pmsg_commands[CMD_IOF_PULL].since)
        good = whole(v, &pmsg_rows[PMSG_output], DECODE_OUT, 2, -1) && good;
    OK_F(good && n >= 19, "%s in %s: %u commands, no byte undecoded", v->release, v->encoding, n);
}

/* ---- cut off and altered --------------------------------------------------------------------- */

/* Bytes that end where memory does: to read beyond them is to die. */
static char *edge;

static struct slice at_edge(struct slice bytes)
{
    if (bytes.len)
        memcpy(edge - bytes.len, bytes.ptr, bytes.len);
    return slice_mem(edge - bytes.len, bytes.len);
}

static bool make_edge(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = MESSAGE_MAX * 2 / page * page + page;
    char *memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || mprotect(memory + room, page, PROT_NONE) != 0)
        return false;
    edge = memory + room;
    return true;
}

/* The decoder's verdict on a body; *rest_p: how many bytes it left. */
static const char *verdict(struct decode *d, const struct pmsg *row, struct slice body,
                           size_t *rest_p)
{
    struct decoded m = { .fault = NULL };
    struct punpack r;

    d->nfields = 0;
    arena_free(&d->arena);
    punpack_init(&r, at_edge(body), d->as);
    r.described = d->described;
    if (!decode_body(d, row, &r, &m))
        abort();
    *rest_p = 0;
    for (uint32_t i = 0; i < d->nfields; i++) {
        if (slice_is(d->fields[i].name, "rest"))
            *rest_p = slice_is(d->fields[i].text, "(not shown)") ? 1 : d->fields[i].text.len;
    }
    return m.fault;
}

static bool cut_off(const struct version *v, const struct pmsg *row)
{
    struct example x;
    struct decode d;
    size_t rest, len;
    bool good = make(row, v, &x);

    begin(&d, v);
    len = buf_len(&x.bytes);
    for (size_t n = 0; n <= len && good; n++) {
        const char *why = verdict(&d, row, slice_head(buf_slice(&x.bytes), n), &rest);
        good = (why == NULL) == may_end(&x, n) && rest <= n && (why || !rest);
        if (!good)
            printf("# %s of %s: %zu of %zu bytes: %s, %zu left\n", row->name, v->release, n, len,
                   why ? why : "no fault", rest);
    }
    decode_free(&d);
    example_free(&x);
    return good;
}

/* Every byte replaced by others, and bytes added: an answer, whatever it is, and nothing lost. */
static bool altered(const struct version *v, const struct pmsg *row)
{
    static const unsigned char masks[] = { 0x01, 0x80, 0xff, 0x0e };
    struct example x;
    struct decode d;
    size_t rest, len;
    bool good = make(row, v, &x);
    char copy[MESSAGE_MAX + 1];

    begin(&d, v);
    len = buf_len(&x.bytes);
    memcpy(copy, buf_slice(&x.bytes).ptr ? buf_slice(&x.bytes).ptr : "", len);
    for (size_t i = 0; i < len * sizeof masks && good; i++) {
        copy[i % len] ^= (char)masks[i / len];
        good = verdict(&d, row, slice_mem(copy, len), &rest) || rest == 0;
        copy[i % len] ^= (char)masks[i / len];
    }
    copy[len] = 1;
    good = good && verdict(&d, row, slice_mem(copy, len + 1), &rest) && rest > 0;
    if (!good)
        printf("# %s of %s\n", row->name, v->release);
    decode_free(&d);
    example_free(&x);
    return good;
}

static void test_cut_and_altered(const struct version *v)
{
    uint32_t release = pmsg_release(v->release);
    bool cut = true, changed = true;

    for (int i = 0; i < PMSG_COMMANDS; i++) {
        const struct pmsg_command *c = &pmsg_commands[i];
        if (!c->name || c->who == PMSG_NOBODY || release < c->since)
            continue;
        cut = cut_off(v, c->request) && cut_off(v, c->reply) && cut;
        changed = altered(v, c->request) && altered(v, c->reply) && changed;
    }
    OK_F(cut, "%s in %s: cut off at each byte, it is told", v->release, v->encoding);
    OK_F(changed, "%s in %s: altered, or with more behind it", v->release, v->encoding);
}

/* ---- as they are on the wire ----------------------------------------------------------------- */

static void describe(const struct decoded *m, uint32_t *i, struct buf *out)
{
    const struct decode_field *f = &m->fields[(*i)++];

    if (f->name.len)
        buf_printf(out, SLICE_FMT "%s%s=", SLICE_ARG(f->name), f->type ? ":" : "",
                   f->type ? f->type : "");
    if (f->kind == DECODE_NUMBER || f->kind == DECODE_FLAG || f->kind == DECODE_UNSIGNED) {
        buf_i64(out, f->number);
    } else if (f->kind == DECODE_NULL) {
        buf_str(out, "NULL");
    } else if (f->kind == DECODE_LIST || f->kind == DECODE_GROUP) {
        buf_byte(out, '{');
        for (const char *gap = ""; m->fields[*i].kind != DECODE_END; gap = " ") {
            buf_str(out, gap);
            describe(m, i, out);
        }
        ++*i;
        buf_byte(out, '}');
    } else if (f->kind == DECODE_BYTES) {
        buf_escaped(out, f->text);
    } else {
        buf_slice_put(out, f->text);
    }
}

/* "command name=value ..., [fault]" */
static void print_decoded(const struct decoded *m, struct buf *out)
{
    buf_clear(out);
    buf_slice_put(out, m->command);
    for (uint32_t i = 0; i < m->nfields;) {
        buf_byte(out, ' ');
        describe(m, &i, out);
    }
    if (m->fault)
        buf_printf(out, " [%s]", m->fault);
}

struct on_wire {
    enum decode_way way;
    const char *bytes; /* as in tests/pmix_bytes.h, without the header */
    const char *text;
    const char *release; /* NULL: 5.0.7 */
};

#define IN  DECODE_IN
#define OUT DECODE_OUT

/* In the encodings v41 and v61. A reply is to the request before it. */
static const struct on_wire wires[] = {
    { IN, "02 00", "req tag=101", NULL },
    { OUT,
      "02 0e 'testns' 02 1c 'pmix.job.size' 0e 02 02 16 'pmix.pblob' 1b 0b 02 01 02 0a 'rank' 28 "
      "01",
      "req tag=101 nspace=testns values={pmix.job.size:UINT32=2 pmix.pblob={rank=1 "
      "values={rank:PROC_RANK=1}}}",
      NULL },
    { IN, "02 00", "req tag=101", NULL },
    { OUT, "02 5d", "req tag=101 status=-47", NULL },
    { IN, "02 01 02 0e 02 06 'no' 02 00", "abort tag=101 code=7 message=no procs={}", NULL },
    { OUT, "02 00", "abort tag=101 status=0", NULL },
    { IN, "02 02 02 01 02 01 29 02 10 'mykey.g' 03 1a 'hello-global' 02 10 'mykey.l' 0e f8acd19101",
      "commit tag=101 bundles={{scope=1 values={mykey.g:STRING=hello-global "
      "mykey.l:UINT32=305419896}}}",
      NULL },
    { IN, "02 03 02 01 02 0e 'testns' fe ff ff ff 0f 02 01 02 1a 'pmix.collect' 00 01 01",
      "fence tag=101 procs={testns.*} infos={pmix.collect:BOOL=1}", NULL },
    { IN, "02 04 02 0e 'testns' 02 01 02 00 02 10 'mykey.g'",
      "get tag=101 nspace=testns rank=1 infos={} key=mykey.g", NULL },
    { OUT, "02 00 02 1a 02 0e 'testns' 01 02 0c 'mykey' 03 0c 'hello' ",
      "get tag=101 status=0 values={{owner=testns.1 values={mykey:STRING=hello}}}", NULL },
    { IN, "02 04 02 0e 'testns' 02 01 02 00", "get tag=101 nspace=testns rank=1 infos={}", NULL },
    { OUT, "02 2f", "get tag=101 status=-24", NULL },
    { IN, "02 05", "finalize tag=101", NULL },
    { IN, "02 06 02 00 02 01 02 0e 'pubkey' 00 03 0e 'pubval'",
      "publish tag=101 uid=0 infos={pubkey:STRING=pubval}", NULL },
    { IN, "02 07 02 00 02 01 02 0e 'pubkey' 02 00", "lookup tag=101 uid=0 keys={pubkey} infos={}",
      NULL },
    { OUT, "02 00 02 01 02 0e 'testns' 00 0e 'pubkey' 03 0e 'pubval'",
      "lookup tag=101 status=0 found={{proc=testns.0 key=pubkey value:STRING=pubval}}", NULL },
    { IN, "02 08 02 05 02 02 02 04 'a' 02 04 'b' 02 00",
      "unpublish tag=101 uid=5 keys={a b} infos={}", NULL },
    { IN, "02 09 02 00 02 01 02 14 '/bin/true' 02 14 '/bin/true' 00 04 '/' 04 00",
      "spawn tag=101 infos={} apps={{cmd=/bin/true argv={/bin/true} env={} cwd=/ maxprocs=2 "
      "info={}}}",
      NULL },
    { OUT, "02 00 02 10 'childns'", "spawn tag=101 status=0 nspace=childns", NULL },
    { IN, "02 0a 02 01 02 0e 'testns' fe ff ff ff 0f 02 00",
      "connect tag=101 procs={testns.*} infos={}", NULL },
    { IN, "02 0a 02 00 02 00 02 04 'e' 00 0e 01",
      "connect tag=101 procs={} infos={} endpoints={e:UINT32=1}", "6.1.0" },
    { OUT, "02 00 02 0a 02 06 'ns' 02 04 'k' 00",
      "connect tag=101 status=0 jobs={{nspace=ns values={k:UNDEF=NULL}}}", "6.1.0" },
    { IN, "02 0b 02 01 02 0e 'testns' fe ff ff ff 0f 02 00",
      "disconnect tag=101 procs={testns.*} infos={}", NULL },
    { IN, "02 0c 02 8f4e 02 03 02 02 04 14 'my.ev.key' 00 0e 2a 1c 'pmix.evnondef' 00 01 01",
      "notify tag=101 code=-5000 range=3 infos={my.ev.key:UINT32=42 pmix.evnondef:BOOL=1}", NULL },
    { IN, "02 0d 02 01 02 8f4e 02 00", "regevents tag=101 codes={-5000} infos={}", NULL },
    { IN, "02 0e 02 8f4e 02 01", "deregevents tag=101 codes={-5000 -1}", NULL },
    { IN, "02 0f 02 01 02 02 18 'pmix.qry.ns' 00",
      "query tag=101 queries={{keys={pmix.qry.ns} qualifiers={}}}", NULL },
    { OUT, "02 00 02 01 02 18 'pmix.qry.ns' 00 03 08 'ans'",
      "query tag=101 status=0 infos={pmix.qry.ns:STRING=ans}", NULL },
    { IN, "02 10 02 80e2cfaa06 02 01 02 04 'k' 00 03 04 't' 02 00",
      "log tag=101 time=1700000000 data={k:STRING=t} directives={}", NULL },
    { IN, "02 10 02 01 02 04 'k' 00 03 04 't' 02 00", "log tag=101 data={k:STRING=t} directives={}",
      NULL },
    { IN, "02 11 02 01 02 01 02 24 'pmix.alloc.nnodes' 00 0f 02",
      "alloc tag=101 directive=1 infos={pmix.alloc.nnodes:UINT64=2}", NULL },
    { OUT, "02 00 02 00", "alloc tag=101 status=0 infos={}", NULL },
    { IN, "02 12 02 01 02 0e 'testns' 00 02 01 02 22 'pmix.reg.cleanup' 00 03 06 '/x'",
      "job_control tag=101 procs={testns.0} infos={pmix.reg.cleanup:STRING=/x}", NULL },
    { OUT, "02 00", "job_control tag=101 status=0", NULL },
    { IN, "02 13 02 04 'm' 00 00 02 d901 02 00",
      "monitor tag=101 monitor={m:UNDEF=NULL} error=-109 infos={}", NULL },
    { IN, "02 14 02 00", "get_credential tag=101 infos={}", NULL },
    { OUT, "02 00 02 03 'ab' 02 00",
      "get_credential tag=101 status=0 credential=(not shown) infos={}", NULL },
    { IN, "02 15 02 02 'a' 02 00", "validate_cred tag=101 credential=(not shown) infos={}", NULL },
    { IN, "02 15 02 08 'a'", "validate_cred tag=101 rest=(not shown) [the message is cut short]",
      NULL },
    { IN, "02 14 02 01 02 14 'pmix.cred' 00 03 04 'x'",
      "get_credential tag=101 infos={pmix.cred=(not shown)}", NULL },
    { IN, "02 16 02 01 02 06 'ns' fe ff ff ff 0f 02 00 02 06 02 05",
      "iof_pull tag=101 procs={ns.*} infos={} channels=6 ref=5", NULL },
    { OUT, "02 00 02 09", "iof_pull tag=101 status=0 ref=9", NULL },
    { IN, "02 17 02 00 02 00 02 01 78", "iof_push tag=101 procs={} infos={} bytes=x", NULL },
    { IN, "02 17 02 00 02 00", "iof_push tag=101 procs={} infos={}", NULL },
    { IN, "02 18 02 0a 'grp1' 02 01 02 0e 'testns' fe ff ff ff 0f 02 00",
      "group_construct tag=101 id=grp1 procs={testns.*} infos={}", NULL },
    { OUT, "02 00 02 01 02 06 'ns' 00 02 4d",
      "group_construct tag=101 status=0 procs={ns.0} context=77", NULL },
    { IN, "02 18 02 0a 'grp1' 02 00 02 00", "group_construct tag=101 id=grp1 procs={} infos={}",
      "4.2.2" },
    { OUT, "02 00 02 ff ff ff ff ff ff ff ff ff", "group_construct tag=101 status=0 context=-1",
      "4.2.2" },
    { IN, "02 1c 02 0a 'grp1' 02 00", "group_destruct tag=101 id=grp1 infos={}", "4.2.2" },
    { IN, "02 18 02 0a 'grp1' 02 00 02 00", "group_construct tag=101 id=grp1 procs={} infos={}",
      "6.1.0" },
    { OUT, "02 00 02 00 02 01 02 4d 02 00",
      "group_construct tag=101 status=0 procs={} context_id=77 infos={}", "6.1.0" },
    { OUT, "02 2f", "reply tag=101 status=-24", "6.1.0" },
    { IN, "02 1c 02 0a 'grp1' 02 00 02 00", "group_destruct tag=101 id=grp1 procs={} infos={}",
      NULL },
    { IN, "02 1d 02 00 02 07", "iof_dereg tag=101 infos={} ref=7", NULL },
    { IN, "02 1e 02 00", "fabric_register tag=101 infos={}", NULL },
    { IN, "02 1f 02 07", "fabric_update tag=101 index=7", NULL },
    { IN, "02 20 02 00 02 08 '0-1' 02 00",
      "device_distances tag=101 topology=NULL cpuset=0-1 infos={}", NULL },
    { OUT, "02 00 02 01 02 04 'u' 04 'o' 04 01 02",
      "device_distances tag=101 status=0 distances={{uuid=u osname=o type=4 mindist=1 "
      "maxdist=2}}",
      NULL },
    { IN, "02 21 02 06 'ns' 02 01", "refresh_cache tag=101 nspace=ns rank=1", NULL },
    { OUT, "02 00 02 04 'k' 0e 01", "refresh_cache tag=101 status=0 values={k:UINT32=1}", NULL },
    { IN, "02 22 02 01 02 06 'bl' 02 00 02 00",
      "resblk tag=101 directive=1 block=bl units={} infos={}", "6.1.0" },
    { IN, "02 23 02 05 02 00", "session_ctrl tag=101 session=5 infos={}", NULL },
    { IN, "02 25 02 00 02 06 'ns'", "resolve_peers tag=101 node=NULL nspace=ns", NULL },
    { OUT, "02 00 02 01 02 06 'ns' 03", "resolve_peers tag=101 status=0 procs={ns.3}", NULL },
    { IN, "02 26 02 06 'ns'", "resolve_node tag=101 nspace=ns", NULL },
    { OUT, "02 00 02 08 'a,b'", "resolve_node tag=101 status=0 nodes=a,b", NULL },
};

static bool is_printed(const struct decoded *m, const char *want)
{
    struct buf out = BUF_NULL(1 << 16);
    bool same;

    print_decoded(m, &out);
    same = !strcmp(buf_cstr(&out), want);
    if (!same)
        printf("# got:  %s\n# want: %s\n", buf_cstr(&out), want);
    buf_free(&out);
    return same;
}

static bool is_on_wire(struct decode *d, enum decode_way way, uint32_t tag, const char *bytes,
                       const char *want)
{
    unsigned char at[1024];
    size_t n = pmix_bytes_put(at, sizeof at, bytes);
    struct decoded m = receive(d, way, tag, slice_mem(at, n));

    return is_printed(&m, want);
}

static void test_on_wire(void)
{
    bool seen[PMSG_COMMANDS] = { false }, good = true;
    unsigned n = 0;
    struct decode d;

    decode_init(&d);
    for (size_t i = 0; i < sizeof wires / sizeof *wires; i++) {
        const struct on_wire *w = &wires[i];
        const char *release = w->release ? w->release : "5.0.7";
        struct version v = { release, *release == '6' ? "v61" : "v41", false };
        unsigned number;
        if (w->way == DECODE_IN) {
            decode_free(&d);
            begin(&d, &v);
            if (sscanf(w->bytes, "02 %2x", &number) == 1)
                seen[number] = true;
        }
        good = is_on_wire(&d, w->way, 101, w->bytes, w->text) && good;
    }
    decode_free(&d);
    for (int i = 0; i < PMSG_COMMANDS; i++)
        n += seen[i] || i == CMD_GROUP_LEAVE || pmsg_commands[i].who == PMSG_NOBODY;
    OK_F(good && n == PMSG_COMMANDS, "messages of every command as they are on the wire");
}

/* Messages that the server sends by itself, and those without a body. */
static void test_unasked(void)
{
    struct decode d;

    begin(&d, &(struct version){ "4.2.2", "v41", false });
    OK(is_on_wire(&d, OUT, 0,
                  "02 0c 02 8f4e 02 0e 'testns' 00 02 01 02 14 'my.ev.key' 00 0e 2a 02 03",
                  "notify tag=0 command=12 code=-5000 source=testns.0 "
                  "infos={my.ev.key:UINT32=42} range=3"));
    OK(is_on_wire(&d, OUT, 0, "02 0c 02 00 02 06 'ns' 01 02 00",
                  "notify tag=0 command=12 code=0 source=ns.1 infos={}"));
    OK(is_on_wire(&d, OUT, 2, "02 06 'ns' 01 02 02 02 05 02 00 02 02 6869",
                  "output tag=2 source=ns.1 channel=2 ref=5 infos={} bytes=hi"));
    OK(is_on_wire(&d, IN, 1, "", "heartbeat tag=1"));
    OK(is_on_wire(&d, OUT, 1, "02 79", "reply tag=1 status=-61"));
    decode_free(&d);
}

static void test_unknown(void)
{
    struct decode d;

    begin(&d, &(struct version){ "4.2.2", "v41", false });
    OK(is_on_wire(&d, IN, 101, "02 c8 01 02",
                  " tag=101 rest=\\x01\\x02 [a command that is not known]"));
    OK(is_on_wire(&d, IN, 101, "02 19 07",
                  "group_join tag=101 rest=\\x07 [a command that no client sends]"));
    OK(is_on_wire(&d, IN, 101, "", " tag=101 rest= [a command that is not known]"));
    OK(is_on_wire(&d, OUT, 99, "02 00 02 00",
                  "reply tag=99 rest=\\x02\\x00\\x02\\x00 [a reply to "
                  "no request]"));
    OK(is_on_wire(&d, IN, 7, "02 05 02 03",
                  "finalize tag=7 rest=\\x02\\x03 [the message has more than this command's]"));
    OK(is_on_wire(&d, IN, 8, "02 04 02 06 'ns' 02",
                  "get tag=8 nspace=ns rest=\\x02 [the message is cut short]"));
    OK(is_on_wire(&d, IN, 9, "02 14 02 01 02 04 'k' 00 48",
                  "get_credential tag=9 rest=\\x02\\x01\\x02\\x04k\\x00\\x00H [a data type that "
                  "this encoding does not have]"));
    decode_free(&d);
}

/* A program that inherits a connection begins with a handshake of its own. */
static void test_begins_again(void)
{
    const struct version first = { "4.2.2", "v41", false }, second = { "3.2.5", "v3", false };
    struct decode d;

    begin(&d, &first);
    OK(is_on_wire(&d, IN, 101, "02 05", "finalize tag=101"));
    send_hello(&d, &second);
    OK(is_on_wire(&d, IN, 101, "00 00 00 01 05", "finalize tag=101"));
    OK(is_on_wire(&d, OUT, 101, "00 00 00 01 00 00 00 00", "finalize tag=101 status=0"));
    decode_free(&d);
}

/* Releases that read it are told why they are refused. */
static void test_refusal(void)
{
    const struct version v = { "6.1.0", "v61", false };
    struct buf hello = BUF_NULL(512);
    struct decoded m;
    struct decode d;

    decode_init(&d);
    put_hello(&hello, &v);
    decode_feed(&d, DECODE_IN, buf_slice(&hello));
    OK(decode_next(&d, DECODE_IN, &m) == DECODE_MESSAGE && !m.fault);
    decode_feed(&d, DECODE_OUT, slice_mem("\377\377\377\321", 4));
    OK(decode_next(&d, DECODE_OUT, &m) == DECODE_MESSAGE && is_printed(&m, "refusal status=-47"));
    decode_free(&d);
    buf_free(&hello);
}

/* OpenPMIx 2.0 announces no encoding, and this server knows none of its messages. */
static void test_old_hello(void)
{
    static const char hello[] = "\377\377\377\377\377\377\377\377\36\0\0\0\0\0\0\0"
                                "none\0\0\0\0\0\0job\0\0\0\0\2"
                                "2.0.3\0v20";
    const size_t whole = sizeof hello - sizeof "v20", cut = whole - 2;
    char bytes[sizeof hello];
    struct decoded m;
    struct decode d;

    memcpy(bytes, hello, sizeof hello);
    for (int i = 0; i < 2; i++) {
        bytes[8] = (char)((i ? cut : whole) - 16);
        decode_init(&d);
        decode_feed(&d, DECODE_IN, slice_mem(bytes, i ? cut : whole));
        OK(decode_next(&d, DECODE_IN, &m) == DECODE_MESSAGE &&
           is_printed(&m, i ? "hello security=none credential= kind=0 namespace=job rank=2 [the "
                              "handshake is cut short]"
                            : "hello security=none credential= kind=0 namespace=job rank=2 "
                              "version=2.0.3"));
        decode_feed(&d, DECODE_OUT, slice_mem("\0\0\0\0\0\0\0\2", 8));
        decode_next(&d, DECODE_OUT, &m);
        m = receive(&d, DECODE_IN, 101, slice_mem("\2\5", 2));
        OK(is_printed(&m, " tag=101 rest=\\x02\\x05 [the handshake was not understood]"));
        decode_free(&d);
    }
}

/* A reply goes to the newest request of its tag, however many others wait. */
static void test_many_requests(void)
{
    struct decode d;
    bool good = true;

    begin(&d, &(struct version){ "4.2.2", "v41", false });
    good = is_on_wire(&d, IN, 100, "02 03 02 00 02 00", "fence tag=100 procs={} infos={}");
    for (uint32_t tag = 101; tag < 1101; tag++)
        receive(&d, DECODE_IN, tag, slice_mem("\2\5", 2));
    good = good && is_on_wire(&d, OUT, 600, "02 00", "finalize tag=600 status=0");
    good = good && is_on_wire(&d, OUT, 100, "02 00", "fence tag=100 status=0");
    good = good && is_on_wire(&d, OUT, 600, "02 00", "reply tag=600 status=0");
    OK_F(good, "a reply finds its request among a thousand");
    decode_free(&d);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Every kind of value is shown, and of each item something. */
static void test_values(void)
{
    struct decode d;
    bool good = true;

    decode_init(&d);
    for (size_t i = 0; i < items_count && good; i++) {
        d.nfields = 0;
        good = decode_put_items(&d, SLICE("items"), ptype_find(items[i].type), items[i].src,
                                (size_t)items[i].n) &&
               d.nfields > 0;
        if (!good)
            printf("# %s\n", items[i].name);
    }
    OK_F(good && items_count > 100, "items and values of every type: %zu", items_count);
    decode_free(&d);
}

/* Numbers with and without a sign, texts that are none, structs and arrays in a value. */
static void test_value_texts(void)
{
    struct decode d;

    begin(&d, &(struct version){ "5.0.7", "v41", false });
    OK(is_on_wire(&d, IN, 101,
                  "02 14 02 05 0a 04 'a' 00 07 ff 04 'b' 00 0c ff 04 'c' 00 11 12 '2.500000' "
                  "04 'd' 00 03 00 04 'e' 00 28 fe ff ff ff 0f",
                  "get_credential tag=101 infos={a:INT8=-1 b:UINT8=255 c:DOUBLE=2.500000 "
                  "d:STRING=NULL e:PROC_RANK=*}"));
    OK(is_on_wire(&d, IN, 101,
                  "02 14 02 04 08 04 'a' 00 27 0e 02 01 ac 02 04 'b' 00 27 18 01 04 'k' 00 01 01 "
                  "04 'c' 00 27 00 00 04 'd' 00 2e 04 'x' 04 'y' 3a",
                  "get_credential tag=101 infos={a:UINT32[]={1 300} b:INFO[]={k:BOOL=1} "
                  "c:UNDEF[]={} d:ENVAR={envar=x value=y separator=58}}"));
    decode_free(&d);
}

int main(void)
{
    items_make();
    if (!make_edge())
        return 1;
    test_on_wire();
    test_unasked();
    test_unknown();
    test_begins_again();
    test_refusal();
    test_old_hello();
    test_many_requests();
    test_values();
    test_value_texts();
    for (size_t i = 0; i < VERSIONS; i++) {
        test_whole(&versions[i]);
        test_cut_and_altered(&versions[i]);
    }
    return tap_done();
}
