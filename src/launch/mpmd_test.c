/* mpmd_test.c - blocks of a command line and of a configuration file. */
#include <string.h>

#include "base/buf.h"
#include "tests/tap.h"
#include "launch/mpmd.h"

static void words_text(struct mpmd_words w, struct buf *out)
{
    for (uint32_t i = 0; i < w.count; i++)
        buf_printf(out, "<%s>", w.items[i]);
}

/* All blocks with their lines: "1<a><b> 3<c>", or the sentence. */
static void check(const char *text, const char *expected)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct config_reader in = { "jobs", slice_str(text), 1 };
    struct buf out = BUF_NULL(65536);
    struct errmsg err;
    struct mpmd_words w;
    unsigned line;
    int rc;

    while ((rc = mpmd_config_next(&a, &in, &w, &line, &err)) == 0) {
        buf_printf(&out, "%s%u", buf_len(&out) ? " " : "", line);
        words_text(w, &out);
        if (w.items[w.count] != NULL)
            buf_str(&out, "(no NULL at the end)");
    }
    if (rc != MPMD_END)
        buf_str(&out, err.text);
    if (!OK_F(buf_cstr(&out) && strcmp(buf_cstr(&out), expected) == 0, "%s", expected))
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
    arena_free(&a);
}

static void test_config(void)
{
    check("", "");
    check("\n\n# only\n  \n", "");
    check("-n 1 a\n-n 2 b\n", "1<-n><1><a> 2<-n><2><b>");
    check("a\r\nb", "1<a> 2<b>");
    check("\n# x\n\t a  b \n\nc # d\n", "3<a><b> 5<c>");
    check("a#b '#' \\# #c", "1<a#b><#><#>");
    check("a \\\n b\\\n c\nd", "1<a><b><c> 4<d>");
    check("a \\\r\n b\nc", "1<a><b> 3<c>");
    check("'a b' \"c d\" e' 'f \"\" ''", "1<a b><c d><e f><><>");
    check("'a\\b' \"a\\\"b\" a\\ b \\\\", "1<a\\b><a\"b><a b><\\>");
    check("\"a\nb\" c\nd", "1<a\nb><c> 3<d>");
    check("\"a\\\nb\"", "1<ab>");
    check("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
          "1<1><2><3><4><5><6><7><8><9><10><11><12><13><14><15><16><17>");
    check("a\n'b\nc\n", "1<a>jobs:2: a quote is not closed");
    check("a \"", "jobs:1: a quote is not closed");
    check("a\\", "1<a\\>");
}

static void test_nul(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct config_reader in = { "jobs", slice_mem("a\0b\n", 4), 1 };
    struct errmsg err;
    struct mpmd_words w;
    unsigned line;

    EQ(mpmd_config_next(&a, &in, &w, &line, &err), MPMD_BAD);
    arena_free(&a);
}

static void test_args(void)
{
    static const char *const argv[] = { "-n", "1", "a", ":", "b", ":", ":", "c:", NULL };
    struct mpmd_words rest = { (char *const *)(uintptr_t)argv, 8 };
    struct buf out = BUF_NULL(65536);
    bool more = true;

    while (more) {
        words_text(mpmd_cut(&rest, &more), &out);
        buf_str(&out, more ? " | " : "");
    }
    OK(slice_is(buf_slice(&out), "<-n><1><a> | <b> |  | <c:>"));
    rest.count = 0;
    EQ(mpmd_cut(&rest, &more).count, 0);
    OK(!more);
    buf_free(&out);
}

int main(void)
{
    test_config();
    test_nul();
    test_args();
    return tap_done();
}
