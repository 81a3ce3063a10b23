/* rank_ranges_test.c - lists of ranks, written and read. */
#include "core/rank_ranges.h"

#include "tests/tap.h"

static void cut(const char *text, bool good, uint32_t first, uint32_t last, const char *rest)
{
    struct slice list = slice_str(text);
    uint32_t a = 0, b = 0;
    bool got = rank_range_cut(&list, &a, &b);

    OK_F(got == good && (!good || (a == first && b == last && slice_is(list, rest))),
         "'%s': %d %u %u " SLICE_FMT, text, got, a, b, SLICE_ARG(list));
}

int main(void)
{
    struct buf text = BUF_NULL(100);
    struct rank_ranges r = { .out = &text };
    static const uint32_t ranks[] = { 0, 2, 3, 3, 4, 9 };

    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        rank_ranges_add(&r, ranks[i]);
    rank_ranges_end(&r);
    OK(!strcmp(buf_cstr(&text), "0,2-4,9"));
    buf_free(&text);
    cut("0,2-4", true, 0, 0, "2-4");
    cut("2-4", true, 2, 4, "");
    cut(" 2 - 4 ,x", true, 2, 4, "x");
    cut("4-2", false, 0, 0, "");
    cut("x", false, 0, 0, "");
    cut("", false, 0, 0, "");
    cut("-1", false, 0, 0, "");
    cut("1-2-3", false, 0, 0, "");
    cut("99999999999", false, 0, 0, "");
    return tap_done();
}
