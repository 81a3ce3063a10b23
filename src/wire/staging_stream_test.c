/* staging_stream_test.c - a stream says what was put into it, in whatever pieces it comes; names
 * that lead elsewhere, and items at a wrong place, are refused. */
#include "wire/staging_stream.h"

#include <string.h>

#include "tests/tap.h"

static const char hash[STAGING_HASH + 1] = "0123456789abcdef0123456789ABCDEF";

static void put_all(struct buf *out)
{
    staging_stream_put(&(struct staging_item){ .kind = STAGING_BEGIN, .size = 5, .entries = 3 },
                       out);
    staging_stream_put(
        &(struct staging_item){ .kind = STAGING_DIR, .mode = 0755, .name = SLICE("d") }, out);
    staging_stream_put(&(struct staging_item){ .kind = STAGING_FILE,
                                               .mode = 0640,
                                               .size = 5,
                                               .seconds = -2,
                                               .ns = 999999999,
                                               .name = SLICE("d/f") },
                       out);
    buf_str(out, "bytes");
    staging_stream_put(
        &(struct staging_item){ .kind = STAGING_SUM, .bytes = slice_mem(hash, STAGING_HASH) }, out);
    staging_stream_put(&(struct staging_item){ .kind = STAGING_LINK,
                                               .name = SLICE("d/l"),
                                               .bytes = SLICE("../elsewhere") },
                       out);
    staging_stream_put(
        &(struct staging_item){ .kind = STAGING_END, .bytes = slice_mem(hash, STAGING_HASH) }, out);
}

/* What is read, as text; in pieces of so many bytes. */
static void read_all(struct slice in, size_t piece, struct buf *text)
{
    struct staging_stream s = STAGING_STREAM_NULL;
    struct staging_item item;
    struct errmsg err;
    size_t used, here = 0;
    int rc = STAGING_MORE;

    while (rc != STAGING_BAD && (in.len || rc == 0)) {
        rc = staging_stream_read(&s, slice_head(in, here), &item, &used, &err);
        if (rc == STAGING_MORE && here >= in.len)
            break;
        if (rc == STAGING_MORE)
            here += piece;
        if (rc)
            continue;
        in = slice_skip(in, used);
        here = here > used ? here - used : 0;
        if (item.kind == STAGING_BYTES)
            buf_printf(text, SLICE_FMT, SLICE_ARG(item.bytes));
        else
            buf_printf(text, "%d %o %u %d %u " SLICE_FMT " " SLICE_FMT "\n", (int)item.kind,
                       item.mode, (unsigned)item.size, (int)item.seconds, item.ns,
                       SLICE_ARG(item.name), SLICE_ARG(item.bytes));
    }
    buf_printf(text, "%d %d", rc == STAGING_BAD, s.ended);
}

static const char *const whole = "1 0 5 0 0  \n2 755 0 0 0 d \n3 640 5 -2 999999999 d/f \n"
                                 "bytes7 0 0 0 0  0123456789abcdef0123456789ABCDEF\n"
                                 "4 0 0 0 0 d/l ../elsewhere\n"
                                 "5 0 0 0 0  0123456789abcdef0123456789ABCDEF\n0 1";

static void test_pieces(struct slice in)
{
    unsigned wrong = 0;

    for (size_t piece = 1; piece <= in.len; piece++) {
        struct buf text = BUF_NULL(65536);
        read_all(in, piece, &text);
        wrong += !slice_is(buf_slice(&text), whole);
        buf_free(&text);
    }
    EQ(wrong, 0);
}

static void test_names(void)
{
    static const char *const good[] = { "a", "a/b", "..a/b..", ".a", "a b/c" };
    static const char *const bad[] = { "",  "/",  "/a",   "a/",   "a//b",
                                       ".", "..", "a/..", "../a", "a/./b" };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        OK(staging_name_is_good(slice_str(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!staging_name_is_good(slice_str(bad[i])));
    OK(!staging_name_is_good(slice_mem("a\0b", 3)));
}

static void test_name_of(void)
{
    static const char *const rows[][2] = { { "a", "a" },         { "./a", "a" },
                                           { "/a//b/", "a/b" },  { "a/./b", "a/b" },
                                           { "../a", NULL },     { "a/../b", NULL },
                                           { "/", NULL },        { ".", NULL },
                                           { "/usr/x", "usr/x" } };
    char name[STAGING_NAME + 1];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool good = staging_name_of(rows[i][0], name);
        OK_F(good == (rows[i][1] != NULL) && (!good || !strcmp(name, rows[i][1])), "%s",
             rows[i][0]);
    }
}

static int first_of(const struct staging_item *item, bool begun)
{
    struct staging_stream s = { .begun = begun };
    struct buf out = BUF_NULL(65536);
    struct staging_item back;
    struct errmsg err;
    size_t used;
    int rc;

    staging_stream_put(item, &out);
    rc = staging_stream_read(&s, buf_slice(&out), &back, &used, &err);
    buf_free(&out);
    return rc;
}

static void test_bad(void)
{
    struct staging_item dir = { .kind = STAGING_DIR, .mode = 0700, .name = SLICE("d") };
    struct staging_item file = { .kind = STAGING_FILE, .ns = 999999999, .name = SLICE("f") };
    struct staging_item begin = { .kind = STAGING_BEGIN };
    struct staging_item link = { .kind = STAGING_LINK, .name = SLICE("l") };

    EQ(first_of(&dir, true), 0);
    EQ(first_of(&dir, false), STAGING_BAD);
    EQ(first_of(&begin, false), 0);
    EQ(first_of(&begin, true), STAGING_BAD);
    EQ(first_of(&link, true), STAGING_BAD);
    dir.mode = 04755;
    EQ(first_of(&dir, true), STAGING_BAD);
    EQ(first_of(&file, true), 0);
    file.ns = 1000000000;
    EQ(first_of(&file, true), STAGING_BAD);
    dir = (struct staging_item){ .kind = STAGING_DIR, .name = SLICE("a/../..") };
    EQ(first_of(&dir, true), STAGING_BAD);
}

int main(void)
{
    struct buf out = BUF_NULL(65536);

    put_all(&out);
    OK(buf_ok(&out));
    test_pieces(buf_slice(&out));
    test_names();
    test_name_of();
    test_bad();
    buf_free(&out);
    return tap_done();
}
