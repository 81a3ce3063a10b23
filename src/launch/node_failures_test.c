/* node_failures_test.c - names as ranges, equal reasons in one row, and the JSON form. */
#include "launch/node_failures.h"

#include <string.h>

#include "tests/tap.h"

static bool names_are(const char *const *names, uint32_t n, const char *want)
{
    struct buf out = BUF_NULL(4096);
    bool good;

    node_names_put(names, n, &out);
    good = buf_cstr(&out) && !strcmp(buf_cstr(&out), want);
    if (!good)
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
    return good;
}

#define NAMES(want, ...)                                                                           \
    names_are((const char *const[]){ __VA_ARGS__ },                                                \
              sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *), want)

static void test_names(void)
{
    OK(NAMES("n1", "n1"));
    OK(NAMES("n[1-2]", "n1", "n2"));
    OK(NAMES("n[1-4,7],head", "n1", "n2", "n3", "n4", "n7", "head"));
    OK(NAMES("n[9-11]", "n9", "n10", "n11"));
    OK(NAMES("n[09-10,11]", "n09", "n10", "n11") || NAMES("n[09-11]", "n09", "n10", "n11"));
    OK_F(NAMES("n[1,01]", "n1", "n01"), "the same number written otherwise is another name");
    OK(NAMES("a1,b[1-2]", "a1", "b1", "b2"));
    OK(NAMES("head,n1", "head", "n1"));
    OK_F(NAMES("10.0.0.[1-3]", "10.0.0.1", "10.0.0.2", "10.0.0.3"), "addresses too");
}

static struct node_failures failures_of(const char *const (*all)[2], uint32_t n)
{
    struct node_failures f;

    node_failures_init(&f);
    for (uint32_t i = 0; i < n; i++)
        node_failures_add(&f, all[i][0], slice_str(all[i][1]));
    return f;
}

static void check_text(const char *const (*all)[2], uint32_t n, const char *want)
{
    struct node_failures f = failures_of(all, n);
    struct buf out = BUF_NULL(4096);

    node_failures_text(&f, 9, &out);
    OK_F(buf_cstr(&out) && !strcmp(buf_cstr(&out), want), "%s", buf_cstr(&out));
    buf_free(&out);
    node_failures_free(&f);
    node_failures_free(&f);
}

static void test_texts(void)
{
    static const char *const one[][2] = { { "n2", "node n2: gone" }, { "n2", "node n2: again" } };
    static const char *const many[][2] = {
        { "n2", "node n2: its name does not resolve here (ssh: n2: unknown)" },
        { "n10", "node n10: no answer" },
        { "n3", "node n3: its name does not resolve here (ssh: n3: unknown)" },
        { "n7", "node n7 and 2 more: srun ended with status 1" },
        { "n6", "no answer" },
    };

    check_text(one, 2, "node n2: gone\n");
    check_text(many, 5,
               "5 of 9 nodes do not come up, and nothing was started:\n"
               "  n[2-3]    its name does not resolve here (ssh: n2: unknown)\n"
               "  n[6,10]   no answer\n"
               "  n7 and 2 more  srun ended with status 1\n");
}

static void test_json(void)
{
    static const char *const two[][2] = { { "n2", "node n2: a \"b\"" }, { "n3", "c" } };
    struct node_failures f = failures_of(two, 2);
    struct buf out = BUF_NULL(4096);

    node_failures_json(&f, &out);
    OK_F(!strcmp(buf_cstr(&out), "{\"schema\": \"wireup-failures-1\", \"failed_nodes\": "
                                 "[{\"node\": \"n2\", \"why\": \"a \\\"b\\\"\"}, "
                                 "{\"node\": \"n3\", \"why\": \"c\"}]}\n"),
         "%s", buf_cstr(&out));
    buf_free(&out);
    node_failures_free(&f);
}

int main(void)
{
    test_names();
    test_texts();
    test_json();
    return tap_done();
}
