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

/* ---- the files ------------------------------------------------------------------------------- */

struct transcripts transcripts_begin(void)
{
    return (struct transcripts){ slice_str(transcripts_text) };
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
        return WAY_PMIX;
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

/* Frames of PMI-2 begin with their length. */
static void put_text(struct slice bytes, const struct transcript_names *names, bool live,
                     struct buf *out)
{
    struct slice body = slice_skip(bytes, PMI2_HEAD);
    struct buf renamed = BUF_NULL(1 << 20);
    bool framed =
        bytes.len >= PMI2_HEAD && (isdigit((unsigned char)bytes.ptr[0]) || bytes.ptr[0] == ' ');

    if (!live) {
        buf_slice_put(out, bytes);
        return;
    }
    rename_all(framed ? body : bytes, names, &renamed);
    if (framed)
        buf_printf(out, "%-6zu", buf_len(&renamed));
    buf_slice_put(out, buf_slice(&renamed));
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
        put_be(out, slice_hex_byte(tag.ptr[0], tag.ptr[tag.len - 1]));
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

    if (way == WAY_PMIX)
        return put_numbers(text, names, live, out) && buf_ok(out);
    buf_unescaped(&bytes, text);
    put_text(buf_slice(&bytes), names, live, out);
    buf_free(&bytes);
    return buf_ok(out);
}
