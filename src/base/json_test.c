/* json_test.c - the JSON writer: layout, escapes, and mistakes of callers. */
#include "base/json.h"

#include <math.h>

#include "tests/tap.h"

static void write_all_kinds(struct json *j)
{
    json_object(j, NULL);
    json_u64(j, "u", UINT64_MAX);
    json_i64(j, "i", INT64_MIN);
    json_decimal(j, "d", 1.0 / 3, 3);
    json_decimal(j, "inf", INFINITY, 3);
    json_bool(j, "b", true);
    json_str(j, "none", NULL);
    json_key(j, SLICE("k\"ey"));
    json_array(j, NULL);
    json_str(j, NULL, "a");
    json_object(j, NULL);
    json_object_end(j);
    json_break(j);
    json_array(j, NULL);
    json_array_end(j);
    json_items(j, SLICE("1,2"));
    json_items(j, SLICE_NULL);
    json_array_end(j);
    json_break(j);
    json_bool(j, "last", false);
    json_object_end(j);
    json_done(j);
}

static void test_layout(void)
{
    struct buf b = BUF_NULL(4096);
    struct json j;

    json_init(&j, &b);
    write_all_kinds(&j);
    OK(buf_ok(&b) &&
       slice_is(buf_slice(&b),
                "{\"u\":18446744073709551615,\"i\":-9223372036854775808,\"d\":0.333,"
                "\"inf\":null,\"b\":true,\"none\":null,\"k\\\"ey\":[\"a\",{},\n  [],1,2],\n"
                " \"last\":false}"));
    buf_clear(&b);
    json_init_spaced(&j, &b);
    write_all_kinds(&j);
    OK(buf_ok(&b) &&
       slice_is(
           buf_slice(&b),
           "{\"u\": 18446744073709551615, \"i\": -9223372036854775808, \"d\": 0.333, "
           "\"inf\": null, \"b\": true, \"none\": null, \"k\\\"ey\": [\"a\", {},\n  [], 1,2],\n"
           " \"last\": false}"));
    buf_free(&b);
}

static bool written(struct slice s, bool bytes, const char *want)
{
    struct buf b = BUF_NULL(4096);
    struct json j;
    bool same;

    json_init(&j, &b);
    if (bytes)
        json_bytes(&j, NULL, s);
    else
        json_text(&j, NULL, s);
    json_done(&j);
    same = buf_ok(&b) && slice_is(buf_slice(&b), want);
    buf_free(&b);
    return same;
}

static void test_strings(void)
{
    OK(written(SLICE("a\"\\/\n\x01\x7f"), false, "\"a\\\"\\\\/\\u000a\\u0001\\u007f\""));
    OK(written(SLICE("a\0b"), false, "\"a\\u0000b\""));
    OK(written(SLICE_NULL, false, "\"\""));
    OK_F(written(SLICE("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"), false,
                 "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\""),
         "UTF-8 text stays as it is");
    OK_F(written(SLICE("\xc2\x9b"), false, "\"\\u009b\""), "a control character of two bytes");
    OK_F(written(SLICE("\x80 \xc3 \xff"), false, "\"\\u0080 \\u00c3 \\u00ff\""),
         "a continuation, a cut character and no character");
    OK_F(written(SLICE("\xe2\x82"), false, "\"\\u00e2\\u0082\""), "a character cut by the end");
    OK_F(written(SLICE("\xc0\x80"), false, "\"\\u00c0\\u0080\"") &&
             written(SLICE("\xe0\x9f\xbf"), false, "\"\\u00e0\\u009f\\u00bf\""),
         "characters in more bytes than they need");
    OK_F(written(SLICE("\xed\xa0\x80"), false, "\"\\u00ed\\u00a0\\u0080\""), "a surrogate");
    OK_F(written(SLICE("\xf4\x90\x80\x80"), false, "\"\\u00f4\\u0090\\u0080\\u0080\""),
         "beyond the last character");
    OK_F(written(SLICE("\xc3\xa9\n"), true, "\"\\u00c3\\u00a9\\u000a\""),
         "of bytes, each is one character");
}

/* Each word is one call; the names are those of the functions. */
static bool accepted(const char *calls)
{
    struct buf b = BUF_NULL(4096);
    struct json j;
    bool good;

    json_init(&j, &b);
    for (; *calls; calls++) {
        switch (*calls) {
        case '{': json_object(&j, NULL); break;
        case '}': json_object_end(&j); break;
        case '[': json_array(&j, NULL); break;
        case ']': json_array_end(&j); break;
        case 'k': json_key(&j, SLICE("k")); break;
        case 'm': json_null(&j, "m"); break;
        case 'i': json_items(&j, SLICE("1,2")); break;
        default: json_null(&j, NULL); break;
        }
    }
    json_done(&j);
    good = buf_ok(&b);
    if (!good)
        EQ(b.error, BUF_MALFORMED);
    buf_free(&b);
    return good;
}

static void test_mistakes(void)
{
    static const char *const good[] = { "0",     "{}",    "[]",    "[00[{m}]{k[]}]",
                                        "{k0m}", "[0i0]", "{k[i]}" };
    static const char *const bad[] = { "",     "{",    "[0",  "{]",  "[}",  "}",
                                       "00",   "{}{}", "{0}", "[m]", "{k}", "{kk0}",
                                       "{km}", "m",    "k0",  "[[]", "i",   "{i}" };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        OK_F(accepted(good[i]), "%s is accepted", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK_F(!accepted(bad[i]), "'%s' is refused", bad[i]);
}

static void open_level(struct json *j, bool object)
{
    if (!object) {
        json_array(j, NULL);
        return;
    }
    json_object(j, NULL);
    json_key(j, SLICE("k"));
}

static bool nests(uint32_t levels)
{
    struct buf b = BUF_NULL(4096);
    struct json j;
    bool good;

    json_init(&j, &b);
    for (uint32_t i = 0; i < levels; i++)
        open_level(&j, i % 2);
    json_null(&j, NULL);
    for (uint32_t i = levels; i-- > 0;)
        i % 2 ? json_object_end(&j) : json_array_end(&j);
    json_done(&j);
    good = buf_ok(&b);
    buf_free(&b);
    return good;
}

static void test_depth(void)
{
    OK(nests(JSON_DEPTH_MAX));
    OK(!nests(JSON_DEPTH_MAX + 1));
}

int main(void)
{
    test_layout();
    test_strings();
    test_mistakes();
    test_depth();
    return tap_done();
}
