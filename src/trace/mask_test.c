/* mask_test.c - no credential reaches the file of a trace: conversations of every release of PMIx,
 * cut into pieces of each size, through the mask into a file's bytes.  The same without the mask
 * has them all.
 */
#include "trace/mask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "trace/record.h"
#include "wire/pmix_message.h"

enum { FILE_MAX = 1 << 20, CONNECTION = 7, JOB_TAG = 101 };

static const struct version {
    const char *release, *encoding;
    bool described;
} versions[] = { { "2.1.4", "v21", false }, { "3.2.5", "v3", false },  { "4.0.0", "v4", false },
                 { "4.2.2", "v41", true },  { "4.2.9", "v41", false }, { "5.0.11", "v41", false },
                 { "6.0.0", "v51", false }, { "6.1.0", "v61", false }, { "7.0.0", "v61", true } };

enum { VERSIONS = sizeof versions / sizeof *versions };

/* Whose credential it is. */
#define HELLO   "MUNGE:hello-token:"
#define MADE    "MUNGE:made-token:"
#define CHECKED "MUNGE:checked-token:"
#define INFO    "MUNGE:info-token:"

static const char *const tokens[] = { HELLO, MADE, CHECKED, INFO };

/* ---- the file -------------------------------------------------------------------------------- */

struct file {
    struct trace_mask mask;
    struct record_writer writer;
    struct buf bytes, in, out; /* as it was said */
    size_t piece;              /* the longest piece of a stream */
    bool plain;                /* without the mask */
};

static void append(void *arg, const struct record *r)
{
    struct file *f = arg;

    record_write(&f->writer, r, &f->bytes);
}

static void put(struct file *f, const struct record *r)
{
    if (f->plain)
        append(f, r);
    else if (trace_mask_record(&f->mask, r, append, f) != 0)
        abort();
}

static void open_file(struct file *f, size_t piece, bool plain)
{
    *f = (struct file){ .bytes = BUF_NULL(FILE_MAX),
                        .in = BUF_NULL(FILE_MAX),
                        .out = BUF_NULL(FILE_MAX),
                        .piece = piece,
                        .plain = plain };
    trace_mask_init(&f->mask);
    put(f, &(struct record){ .kind = RECORD_begin });
}

static void close_file(struct file *f)
{
    trace_mask_free(&f->mask);
    buf_free(&f->bytes);
    buf_free(&f->in);
    buf_free(&f->out);
}

static void send_on(struct file *f, uint64_t connection, struct slice bytes)
{
    buf_slice_put(&f->in, bytes);
    while (bytes.len) {
        struct slice piece = slice_head(bytes, f->piece);
        struct record r = { .kind = RECORD_in };
        r.u.of.in = (struct flat_in){ .connection = connection, .bytes = piece };
        put(f, &r);
        bytes = slice_skip(bytes, piece.len);
    }
}

static void send_text(struct file *f, struct slice bytes)
{
    send_on(f, CONNECTION, bytes);
}

static void receive(struct file *f, struct slice bytes)
{
    buf_slice_put(&f->out, bytes);
    while (bytes.len) {
        struct slice piece = slice_head(bytes, f->piece);
        struct record r = { .kind = RECORD_out };
        r.u.out = (struct record_out){ .connection = CONNECTION, .bytes = piece };
        put(f, &r);
        bytes = slice_skip(bytes, piece.len);
    }
}

static bool contains(struct slice s, const char *text)
{
    return s.len && memmem(s.ptr, s.len, text, strlen(text));
}

/* How many of the four are in the file. */
static unsigned found(const struct file *f)
{
    unsigned n = 0;

    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        n += contains(buf_slice(&f->bytes), tokens[i]);
    return n;
}

/* The bytes of both directions, as a reader of the file gets them; *marked_p: it says that
 * credentials are overwritten. */
static void read_back(const struct file *f, struct buf *in, struct buf *out, bool *marked_p)
{
    struct record_reader reader;
    struct errmsg err;
    struct record r;

    *marked_p = false;
    record_reader_init(&reader);
    record_reader_feed(&reader, buf_slice(&f->bytes));
    while (record_reader_next(&reader, &r, &err) == RECORD_WHOLE) {
        if (r.kind == RECORD_begin)
            *marked_p = r.u.begin.masked == 1;
        else if (r.kind == RECORD_in)
            buf_slice_put(in, r.u.of.in.bytes);
        else if (r.kind == RECORD_out)
            buf_slice_put(out, r.u.out.bytes);
    }
    if (record_reader_left(&reader))
        abort();
    record_reader_free(&reader);
}

static void overwrite(struct buf *b)
{
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        char *at;
        while (buf_len(b) &&
               (at = memmem(b->mem + b->start, buf_len(b), tokens[i], strlen(tokens[i]))))
            memset(at, 'x', strlen(tokens[i]));
    }
}

/* All bytes are as they were said, but for the tokens. */
static bool is_whole(struct file *f)
{
    struct buf in = BUF_NULL(FILE_MAX), out = BUF_NULL(FILE_MAX);
    bool marked, good;

    read_back(f, &in, &out, &marked);
    overwrite(&f->in);
    overwrite(&f->out);
    good = marked && slice_eq(buf_slice(&in), buf_slice(&f->in)) &&
           slice_eq(buf_slice(&out), buf_slice(&f->out));
    buf_free(&in);
    buf_free(&out);
    return good;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void put_be(struct buf *out, uint32_t n)
{
    buf_byte(out, (char)(n >> 24));
    buf_byte(out, (char)(n >> 16));
    buf_byte(out, (char)(n >> 8));
    buf_byte(out, (char)n);
}

static void hello(struct file *f, const struct version *v, struct slice credential)
{
    struct buf body = BUF_NULL(1024), all = BUF_NULL(1024);
    uint32_t words[4] = { UINT32_MAX, UINT32_MAX };

    buf_put(&body, "munge", 6);
    put_be(&body, (uint32_t)credential.len);
    buf_slice_put(&body, credential);
    buf_put(&body, "\0job\0\0\0\0\2", 9); /* a client, rank 2 */
    buf_put(&body, v->release, strlen(v->release) + 1);
    buf_put(&body, v->encoding, strlen(v->encoding) + 1);
    buf_byte(&body, v->described ? 2 : 1);
    buf_put(&body, "hash", 5);
    words[2] = (uint32_t)buf_len(&body);
    buf_put(&all, words, sizeof words);
    buf_slice_put(&all, buf_slice(&body));
    send_text(f, buf_slice(&all));
    buf_free(&body);
    buf_free(&all);
}

static struct ppack writer(struct buf *body, const struct version *v)
{
    struct ppack w;

    ppack_init(&w, body, ptype_flavour(slice_str(v->encoding)));
    w.described = v->described;
    return w;
}

/* The header and the body of a message, which it frees. */
static void send(struct file *f, void (*to)(struct file *f, struct slice bytes), uint32_t tag,
                 struct buf *body)
{
    struct buf all = BUF_NULL(4096);

    put_be(&all, 0);
    put_be(&all, tag);
    put_be(&all, (uint32_t)buf_len(body));
    put_be(&all, 0);
    buf_slice_put(&all, buf_slice(body));
    to(f, buf_slice(&all));
    buf_free(&all);
    buf_free(body);
}

static pmix_info_t info_of(char *text)
{
    pmix_info_t info = { .value = { .type = PMIX_STRING, .data.string = text } };

    strcpy(info.key, PMIX_CREDENTIAL);
    return info;
}

/* A fence with an info that nobody understands here. */
static void fence(struct file *f, const struct version *v)
{
    char text[] = INFO;
    pmix_info_t info = info_of(text);
    struct pmsg_procs_infos m = { .has =
                                      PMSG_BIT(procs_infos, procs) | PMSG_BIT(procs_infos, infos),
                                  .infos = { 1, &info } };
    struct buf body = BUF_NULL(4096);
    struct ppack w = writer(&body, v);

    ppack_byte(&w, PMIX_COMMAND, CMD_FENCE);
    pmsg_write_procs_infos(&w, pmsg_release(v->release), &m);
    send(f, send_text, JOB_TAG, &body);
}

static void get_credential(struct file *f, const struct version *v)
{
    struct pmsg_infos none = { .has = PMSG_BIT(infos, infos) };
    struct pmsg_credential m = { .has =
                                     PMSG_BIT(credential, credential) | PMSG_BIT(credential, infos),
                                 .credential = slice_mem(MADE, sizeof MADE) };
    struct buf request = BUF_NULL(4096), reply = BUF_NULL(4096);
    struct ppack w = writer(&request, v);
    struct record effect = { .kind = RECORD_effect_credential }, answer = { .kind = RECORD_answer };

    ppack_byte(&w, PMIX_COMMAND, CMD_GET_CREDENTIAL);
    pmsg_write_infos(&w, pmsg_release(v->release), &none);
    send(f, send_text, JOB_TAG + 1, &request);
    effect.u.of.credential =
        (struct flat_credential){ .ticket_connection = CONNECTION, .ticket_token = 3 };
    put(f, &effect);
    answer.u.of.answer = (struct flat_answer){ .ticket_connection = CONNECTION,
                                               .ticket_token = 3,
                                               .value = SLICE(MADE) };
    put(f, &answer);
    w = writer(&reply, v);
    pmsg_write_credential(&w, pmsg_release(v->release), &m);
    send(f, receive, JOB_TAG + 1, &reply);
}

static void validate(struct file *f, const struct version *v)
{
    struct pmsg_validate m = { .has = PMSG_BIT(validate, credential) | PMSG_BIT(validate, infos),
                               .credential = slice_mem(CHECKED, sizeof CHECKED) };
    struct buf body = BUF_NULL(4096);
    struct ppack w = writer(&body, v);

    ppack_byte(&w, PMIX_COMMAND, CMD_VALIDATE_CREDENTIAL);
    pmsg_write_validate(&w, pmsg_release(v->release), &m);
    send(f, send_text, JOB_TAG + 2, &body);
}

/* Everything that can have a credential in this release. */
static void converse(struct file *f, const struct version *v)
{
    hello(f, v, slice_mem(HELLO, sizeof HELLO));
    receive(f, slice_mem("\0\0\0\0\0\0\0\2", 8));
    fence(f, v);
    get_credential(f, v);
    validate(f, v);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_release(const struct version *v)
{
    static const size_t pieces[] = { 1, 5, 16, 37, 4096 };
    bool clean = true, whole = true;
    struct file f;

    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        open_file(&f, pieces[i], false);
        converse(&f, v);
        clean = clean && found(&f) == 0;
        whole = whole && is_whole(&f);
        close_file(&f);
    }
    OK_F(clean, "%s, %s: no credential is in the file", v->release, v->encoding);
    OK_F(whole, "... and every other byte is as it was");
    open_file(&f, 4096, true);
    converse(&f, v);
    OK_F(found(&f) == 4, "without the mask all four are in the file: %u", found(&f));
    close_file(&f);
}

/* User and group as bytes, for which there is no text to look for. */
static void test_native(void)
{
    static const char ids[8] = "\351\3\0\0\144\0\0\0";
    struct file f;

    open_file(&f, 3, false);
    hello(&f, &versions[VERSIONS - 1], slice_mem(ids, sizeof ids));
    OK(!memmem(buf_slice(&f.bytes).ptr, buf_len(&f.bytes), ids, sizeof ids - 1));
    close_file(&f);
}

/* The client dies in the middle of a message: the bytes that had arrived of it are overwritten. */
static void test_cut_off(void)
{
    struct record hangup = { .kind = RECORD_hangup, .u.of.hangup = { .connection = CONNECTION } };
    struct record end = { .kind = RECORD_close, .u.close = { .connection = CONNECTION } };
    struct buf in = BUF_NULL(FILE_MAX), out = BUF_NULL(FILE_MAX), all = BUF_NULL(FILE_MAX);
    size_t head = 16;
    bool good = true, marked;
    struct file f;

    open_file(&f, 4096, true);
    hello(&f, &versions[5], slice_mem(HELLO, sizeof HELLO));
    buf_slice_put(&all, buf_slice(&f.in));
    close_file(&f);
    for (size_t n = 1; n < buf_len(&all); n++) {
        open_file(&f, 4096, false);
        send_text(&f, slice_head(buf_slice(&all), n));
        put(&f, n % 2 ? &hangup : &end);
        read_back(&f, &in, &out, &marked);
        good = good && buf_len(&in) == n && !contains(buf_slice(&f.bytes), "token") &&
               !memcmp(buf_slice(&in).ptr, buf_slice(&all).ptr, n < head ? n : head);
        buf_clear(&in);
        close_file(&f);
    }
    OK_F(good, "a handshake that is cut off at each byte");
    buf_free(&in);
    buf_free(&out);
    buf_free(&all);
}

/* A message that cannot be read to its end may have a credential there. */
static void test_malformed(void)
{
    static const char longer[] = "\377\377\377\377\377\377\377\377\34\0\0\0\0\0\0\0"
                                 "munge\0\0\0\377\377" HELLO;
    char body[] = "\1\0\0\0\0" PMIX_CREDENTIAL "\0" INFO;
    struct buf b = BUF_NULL(4096);
    struct file f;

    open_file(&f, 4096, false);
    hello(&f, &versions[3], SLICE_NULL);
    buf_put(&b, body, sizeof body);
    send(&f, send_text, JOB_TAG, &b);
    OK(contains(buf_slice(&f.bytes), PMIX_CREDENTIAL) && found(&f) == 0);
    close_file(&f);
    open_file(&f, 4096, false);
    send_text(&f, slice_mem(longer, sizeof longer - 1));
    OK_F(found(&f) == 0, "a handshake whose credential is longer than the message");
    close_file(&f);
}

/* Infos are passed on, and processes pass on credentials: on this node they are known. */
static void test_passed_on(void)
{
    static const struct slice words[] = { { "a", 1 }, { "-t" INFO, sizeof "-t" INFO - 1 } };
    struct record event = { .kind = RECORD_preset }, job = { .kind = RECORD_job };
    struct file f;

    event.u.of.preset = (struct flat_preset){ .key = SLICE("k"), .value = SLICE("-" INFO "-") };
    job.u.job = (struct record_job){ .words = { words, 2 } };
    open_file(&f, 4096, false);
    hello(&f, &versions[3], SLICE_NULL);
    fence(&f, &versions[3]);
    put(&f, &event);
    put(&f, &job);
    send_on(&f, CONNECTION + 1, SLICE("cmd=put kvsname=k key=k value=" INFO "\n"));
    OK(found(&f) == 0 && contains(buf_slice(&f.bytes), "value=xxxxxxxxxxxxxxxxx\n"));
    close_file(&f);
}

/* PMI-1 and PMI-2 have none: each piece has its record at once. */
static void test_text(void)
{
    struct file f;
    struct buf in = BUF_NULL(FILE_MAX), out = BUF_NULL(FILE_MAX);
    bool marked;

    open_file(&f, 5, false);
    send_text(&f, SLICE("cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_ma"));
    read_back(&f, &in, &out, &marked);
    OK(slice_eq(buf_slice(&in), buf_slice(&f.in)));
    buf_free(&in);
    buf_free(&out);
    close_file(&f);
}

/* Each byte replaced: whatever that is, all of it is recorded, unless it is held back. */
static void test_altered(const struct version *v)
{
    struct buf in = BUF_NULL(FILE_MAX), out = BUF_NULL(FILE_MAX), all = BUF_NULL(FILE_MAX);
    struct record end = { .kind = RECORD_close, .u.close = { .connection = CONNECTION } };
    bool good = true, marked;
    struct file f;

    open_file(&f, 4096, true);
    converse(&f, v);
    buf_slice_put(&all, buf_slice(&f.in));
    close_file(&f);
    for (size_t i = 0; i < buf_len(&all) && good; i++) {
        open_file(&f, 61, false);
        all.mem[all.start + i] ^= (char)0x81;
        send_text(&f, buf_slice(&all));
        all.mem[all.start + i] ^= (char)0x81;
        put(&f, &end);
        read_back(&f, &in, &out, &marked);
        good = buf_len(&in) == buf_len(&all);
        buf_clear(&in);
        close_file(&f);
    }
    OK_F(good, "%s: altered at each byte", v->release);
    buf_free(&in);
    buf_free(&out);
    buf_free(&all);
}

/* More are made than are known: each of them is overwritten where it is a credential. */
static void test_many(void)
{
    struct file f;

    open_file(&f, 4096, false);
    hello(&f, &versions[6], slice_mem(HELLO, sizeof HELLO));
    receive(&f, slice_mem("\0\0\0\0\0\0\0\2", 8));
    for (unsigned i = 0; i < 3 * LIMIT_TRACE_CREDENTIALS; i++) {
        char text[64];
        struct record effect = { .kind = RECORD_effect_credential };
        struct record answer = { .kind = RECORD_answer };
        effect.u.of.credential.ticket_connection = CONNECTION;
        effect.u.of.credential.ticket_token = i;
        put(&f, &effect);
        snprintf(text, sizeof text, "MUNGE:made-token:%u", i);
        answer.u.of.answer.ticket_connection = CONNECTION;
        answer.u.of.answer.ticket_token = i;
        answer.u.of.answer.value = slice_str(text);
        put(&f, &answer);
    }
    OK(found(&f) == 0);
    close_file(&f);
}

int main(void)
{
    for (int i = 0; i < VERSIONS; i++)
        test_release(&versions[i]);
    test_native();
    test_cut_off();
    test_malformed();
    test_passed_on();
    test_text();
    test_many();
    for (int i = 0; i < VERSIONS; i++)
        test_altered(&versions[i]);
    return tap_done();
}
