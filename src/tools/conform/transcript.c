/* transcript.c - see transcript.h.  Reading order: the files; their lines; bytes as text; bytes as
 * numbers. */
#include "tools/conform/transcript.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "wire/pmi2.h"

/* All files, each behind a line "=== NAME" (scripts/join-golden). */
extern const char transcripts_text[];

/* The number of bytes of the namespace that the recordings have, with its NUL, as both encodings
 * write it. */
#define NSPACE_SHORT "\x0e"
#define NSPACE_WORD  "\0\0\0\x07"

enum { RECORD_HEAD = 6 }; /* of mput_wireup: the lengths of key and value */

/* ---- the files ------------------------------------------------------------------------------- */

struct slice transcripts_built_in(void)
{
    return slice_str(transcripts_text);
}

struct transcripts transcripts_begin(struct slice text)
{
    return (struct transcripts){ text };
}

static size_t find(struct slice text, const char *what)
{
    const char *at = memmem(text.ptr, text.len, what, strlen(what));

    return at ? (size_t)(at - text.ptr) : text.len;
}

/* The rest of the line behind this word of the head; empty: it is not there. */
static struct slice head_word(struct slice text, const char *word)
{
    struct slice rest = slice_skip(text, find(text, word));

    rest = slice_skip(rest, strlen(word));
    return slice_trim(slice_cut(&rest, '\n'));
}

static uint32_t ranks_of(struct slice text)
{
    struct slice rest = head_word(text, "\n# Ranks: ");
    uint32_t n = 1;

    slice_u32(slice_cut(&rest, '.'), &n);
    return n;
}

static enum transcript_way way_of(struct slice text, struct slice name)
{
    if (slice_starts(name, SLICE("pmix/")))
        return find(text, "\n# Inherited") < text.len ? WAY_PMIX_INHERITED : WAY_PMIX;
    return find(text, "-pmi-port") < text.len ? WAY_PORT : WAY_PMI;
}

bool transcripts_next(struct transcripts *all, struct transcript *t_p)
{
    struct slice text, status;

    if (all->rest.len == 0)
        return false;
    slice_cut(&all->rest, ' '); /* === */
    *t_p = (struct transcript){ .name = slice_cut(&all->rest, '\n') };
    text = slice_head(all->rest, find(all->rest, "\n=== ") + 1);
    all->rest = slice_skip(all->rest, text.len);
    t_p->body = text;
    t_p->title = slice_trim(slice_skip(slice_cut(&text, '\n'), 2));
    t_p->ranks = ranks_of(t_p->body);
    t_p->way = way_of(t_p->body, t_p->name);
    t_p->releases = head_word(t_p->body, "\n# Releases: ");
    status = head_word(t_p->body, "exit status ");
    t_p->fails = status.len && status.ptr[0] != '0';
    return true;
}

bool transcript_release(struct slice *releases, struct transcript_release *r_p)
{
    struct slice one = slice_trim(slice_cut(releases, ','));

    r_p->name = slice_cut(&one, ' ');
    r_p->version = slice_cut(&one, ' ');
    r_p->encoding = slice_trim(one);
    return r_p->encoding.len > 0;
}

/* ---- their lines ----------------------------------------------------------------------------- */

static bool read_record(struct slice text, struct transcript_line *line_p)
{
    size_t n = 0;

    while (n < text.len && isdigit((unsigned char)text.ptr[n]))
        n++;
    if (n == 0 || n + 2 > text.len || !slice_u32(slice_head(text, n), &line_p->rank) ||
        line_p->rank >= TRANSCRIPT_RANKS)
        return false;
    line_p->kind = text.ptr[n] == '>' ? LINE_SENT : text.ptr[n] == '<' ? LINE_RECEIVED : LINE_HOLDS;
    line_p->text = slice_skip(text, n + 2);
    return strchr("><~", text.ptr[n]) != NULL;
}

bool transcript_line(struct slice *body, struct transcript_line *line_p)
{
    while (body->len) {
        struct slice text = slice_cut(body, '\n');
        if (slice_starts(text, SLICE("## "))) {
            *line_p = (struct transcript_line){ LINE_SECTION, 0, slice_skip(text, 3) };
            return true;
        }
        if (read_record(text, line_p))
            return true;
    }
    return false;
}

/* ---- bytes as text --------------------------------------------------------------------------- */

static void rename_all(struct slice text, const struct transcript_names *names, struct buf *out)
{
    while (text.len) {
        const char *at = names->golden.len
                             ? memmem(text.ptr, text.len, names->golden.ptr, names->golden.len)
                             : NULL;
        size_t n = at ? (size_t)(at - text.ptr) : text.len;
        buf_slice_put(out, slice_head(text, n));
        if (at)
            buf_slice_put(out, names->live);
        text = slice_skip(text, at ? n + names->golden.len : n);
    }
}

static uint32_t little(struct slice bytes, size_t n)
{
    uint32_t number = 0;

    while (n-- > 0)
        number = number << 8 | (unsigned char)bytes.ptr[n];
    return number;
}

static void put_little(uint32_t number, size_t n, struct buf *out)
{
    for (; n > 0; n--, number >>= 8)
        buf_byte(out, (char)number);
}

/* One record of mput_wireup (proto/pmi1.def), whose key may begin with the name of a space. */
static void rename_record(struct slice *raw, const struct transcript_names *names, struct buf *out)
{
    uint32_t key_len = little(*raw, 2), value_len = little(slice_skip(*raw, 2), 4);
    struct slice key = slice_head(slice_skip(*raw, RECORD_HEAD), key_len);
    struct slice value = slice_head(slice_skip(*raw, RECORD_HEAD + key.len), value_len);
    struct buf renamed = BUF_NULL(1 << 16);

    rename_all(key, names, &renamed);
    put_little((uint32_t)buf_len(&renamed), 2, out);
    put_little((uint32_t)value.len, 4, out);
    buf_slice_put(out, buf_slice(&renamed));
    buf_slice_put(out, value);
    buf_free(&renamed);
    *raw = slice_skip(*raw, RECORD_HEAD + key.len + value.len);
}

static void put_mput(struct slice bytes, const struct transcript_names *names, struct buf *out)
{
    struct slice raw = bytes, line = slice_cut(&raw, '\n');
    struct buf records = BUF_NULL(1 << 20);

    while (raw.len >= RECORD_HEAD)
        rename_record(&raw, names, &records);
    buf_slice_put(out, slice_head(line, find(line, " bytes=")));
    buf_printf(out, " bytes=%zu\n", buf_len(&records));
    buf_slice_put(out, buf_slice(&records));
    buf_free(&records);
}

/* Frames of PMI-2 begin with the length of their body; bytes that are not text may follow it. */
static void put_text(struct slice bytes, const struct transcript_names *names, bool live,
                     struct buf *out)
{
    struct slice rest = slice_skip(bytes, PMI2_HEAD), body;
    struct buf renamed = BUF_NULL(1 << 20);
    uint32_t n = 0;

    if (!live) {
        buf_slice_put(out, bytes);
        return;
    }
    if (slice_starts(bytes, SLICE("cmd=mput_wireup "))) {
        put_mput(bytes, names, out);
        return;
    }
    if (bytes.len < PMI2_HEAD || !slice_u32(slice_trim(slice_head(bytes, PMI2_HEAD)), &n)) {
        rename_all(bytes, names, out);
        return;
    }
    body = slice_head(rest, n);
    rename_all(body, names, &renamed);
    buf_printf(out, "%-6zu", buf_len(&renamed));
    buf_slice_put(out, buf_slice(&renamed));
    buf_slice_put(out, slice_skip(rest, body.len));
    buf_free(&renamed);
}

/* ---- bytes as numbers ------------------------------------------------------------------------ */

static void put_be(struct buf *out, uint32_t n)
{
    char bytes[4] = { (char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n };

    buf_put(out, bytes, sizeof bytes);
}

/* The name of the job, whose length stands before it in one of two ways, or (in the first message)
 * does not. */
static void put_nspace(struct slice name, struct buf *out)
{
    struct slice before = buf_slice(out);
    uint32_t n = (uint32_t)name.len + 1;
    char zigzag[2] = { (char)(n * 2 & 0x7f), (char)(n * 2 >> 7) };
    char fixed[4] = { 0, 0, 0, (char)n };

    if (before.len >= 4 && !memcmp(before.ptr + before.len - 4, NSPACE_WORD, 4)) {
        memcpy(out->mem + out->end - 4, fixed, sizeof fixed);
    } else if (before.len && before.ptr[before.len - 1] == NSPACE_SHORT[0]) {
        out->end--;
        zigzag[0] = (char)(zigzag[0] | (zigzag[1] ? (char)0x80 : 0));
        buf_put(out, zigzag, zigzag[1] ? 2 : 1);
    }
    buf_slice_put(out, name);
    buf_byte(out, '\0');
}

static void put_word(struct slice word, const struct transcript_names *names, bool live,
                     struct buf *out)
{
    if (slice_eq(word, names->golden)) {
        put_nspace(live ? names->live : names->golden, out);
        return;
    }
    buf_slice_put(out, word);
    buf_byte(out, '\0');
}

/* "$version", "$encoding", "$user" (a credential: 8 bytes, of this user). */
static bool put_variable(struct slice name, const struct transcript_names *names, struct buf *out)
{
    uint32_t ids[2] = { (uint32_t)geteuid(), (uint32_t)getegid() };

    if (slice_is(name, "user")) {
        put_be(out, sizeof ids);
        buf_put(out, ids, sizeof ids); /* in this machine's order */
        return true;
    }
    if (!slice_is(name, "version") && !slice_is(name, "encoding"))
        return false;
    buf_slice_put(out,
                  slice_is(name, "version") ? names->release.version : names->release.encoding);
    buf_byte(out, '\0');
    return true;
}

static bool put_hex(struct slice digits, struct buf *out)
{
    for (size_t i = 0; i + 1 < digits.len; i += 2) {
        if (!isxdigit((unsigned char)digits.ptr[i]) || !isxdigit((unsigned char)digits.ptr[i + 1]))
            return false;
        buf_byte(out, (char)slice_hex_byte(digits.ptr[i], digits.ptr[i + 1]));
    }
    return digits.len % 2 == 0;
}

static bool put_tokens(struct slice text, const struct transcript_names *names, bool live,
                       struct buf *out)
{
    bool good = true;

    while (text.len && good) {
        struct slice rest = slice_skip(text, 1), token;
        if (text.ptr[0] == '\'') {
            put_word(slice_cut(&rest, '\''), names, live, out);
            text = slice_trim(rest);
            continue;
        }
        token = slice_cut(&text, ' ');
        text = slice_trim(text);
        if (token.ptr[0] == '$')
            good = put_variable(slice_skip(token, 1), names, out);
        else
            good = put_hex(token, out);
    }
    return good;
}

static uint32_t hex_number(struct slice digits)
{
    uint32_t tag = 0;

    for (size_t i = 0; i < digits.len; i++)
        tag = tag << 4 | slice_hex_byte('0', digits.ptr[i]);
    return tag;
}

/* "@hello TOKENS", "@TAG TOKENS": a header with the length, and the rest; else the bytes as they
 * are. */
static bool put_numbers(struct slice text, const struct transcript_names *names, bool live,
                        struct buf *out)
{
    struct buf body = BUF_NULL(1 << 20);
    struct slice tag = { "", 0 };
    uint32_t ones[4] = { UINT32_MAX, UINT32_MAX, 0, 0 };
    bool good;

    if (text.len && text.ptr[0] == '@')
        tag = slice_skip(slice_cut(&text, ' '), 1);
    good = put_tokens(text, names, live, &body) && buf_ok(&body);
    ones[2] = (uint32_t)buf_len(&body); /* in this machine's order */
    if (slice_is(tag, "hello")) {
        buf_put(out, ones, sizeof ones);
    } else if (tag.len) {
        put_be(out, 0);
        put_be(out, hex_number(tag));
        put_be(out, (uint32_t)buf_len(&body));
        put_be(out, 0);
    }
    buf_slice_put(out, buf_slice(&body));
    buf_free(&body);
    return good;
}

bool transcript_bytes(enum transcript_way way, struct slice text,
                      const struct transcript_names *names, bool live, struct buf *out)
{
    struct buf bytes = BUF_NULL(1 << 20);

    if (transcript_way_is_pmix(way))
        return put_numbers(text, names, live, out) && buf_ok(out);
    buf_unescaped(&bytes, text);
    put_text(buf_slice(&bytes), names, live, out);
    buf_free(&bytes);
    return buf_ok(out);
}

bool transcript_check(const struct transcript *t, struct errmsg *err)
{
    struct transcript_names names = { .golden = SLICE("testns"), .live = SLICE("testns") };
    struct slice body = t->body;
    struct transcript_line line;

    if (t->ranks == 0 || t->ranks > TRANSCRIPT_RANKS)
        return errmsg_set(err, 0, "it has %u ranks, and may have 1 to %d", t->ranks,
                          TRANSCRIPT_RANKS);
    while (transcript_line(&body, &line)) {
        struct buf bytes = BUF_NULL(1 << 20);
        bool good =
            line.kind == LINE_SECTION ||
            (line.rank < t->ranks && transcript_bytes(t->way, line.text, &names, true, &bytes));
        buf_free(&bytes);
        if (!good)
            return errmsg_set(err, 0, "this line of rank %u cannot be read: " SLICE_FMT, line.rank,
                              SLICE_ARG(slice_head(line.text, 60)));
    }
    return true;
}
