/* node_range_test.c - how many nodes a job uses, and which are left when it starts again. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tests/tap.h"
#include "launch/node_range.h"

static void check_read(const char *text, int rc, uint32_t min, uint32_t max)
{
    struct node_range r = { 0, 0 };

    OK_F(node_range_read(slice_str(text), &r) == rc && r.min == min && r.max == max, "'%s'", text);
}

/* The names that are left, with commas, or the sentence. */
static void check(const char *range, const char *lost, const char *hosts, const char *expected)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { { 0 } };
    struct buf out = BUF_NULL(4096);
    struct slice rest = slice_str(lost);
    struct node_range r = { 0, 0 };
    struct node_names names;

    node_names_init(&names);
    while (rest.len)
        node_names_add(&names, arena_str(&a, slice_cut(&rest, ',')));
    if (*range)
        node_range_read(slice_str(range), &r);
    if (*hosts)
        hosts_parse_list(&a, &list, slice_str(hosts), &err);
    if (node_range_choose(&r, &names, &list, &err))
        buf_str(&out, err.text);
    for (uint32_t i = 0; i < list.count && !err.text[0]; i++)
        buf_printf(&out, "%s%s:%u", i ? "," : "", list.items[i].name, list.items[i].slots);
    if (!OK_F(strcmp(buf_cstr(&out), expected) == 0, "%s of %s without %s", range, hosts, lost))
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
    node_names_free(&names);
    arena_free(&a);
}

static void test_read(void)
{
    check_read("2", 0, 2, 2);
    check_read("1:4", 0, 1, 4);
    check_read("4:4", 0, 4, 4);
    check_read("4:3", NODE_RANGE_BAD, 0, 0);
    check_read("0:3", NODE_RANGE_BAD, 0, 0);
    check_read("0", NODE_RANGE_BAD, 0, 0);
    check_read("1:", NODE_RANGE_BAD, 0, 0);
    check_read(":2", NODE_RANGE_BAD, 0, 0);
    check_read("1:2:3", NODE_RANGE_BAD, 0, 0);
    check_read("many", NODE_RANGE_BAD, 0, 0);
    check_read("", NODE_RANGE_BAD, 0, 0);
}

static void test_choose(void)
{
    check("", "b", "a,b,c", "a:1,b:1,c:1"); /* not given: as they are */
    check("2", "", "a:2,b,c", "a:2,b:1");
    check("1:2", "", "a,b,a:3,c", "a:1,b:1,a:3");
    check("1:9", "", "a,b", "a:1,b:1");
    check("1:2", "b", "a,b,c,d", "a:1,c:1"); /* another one takes the place of a lost one */
    check("1:2", "b,c", "a,b,c", "a:1");
    check("3:4", "", "a,b",
          "-nnodes needs at least 3 nodes, and 2 are given by -hosts, a host file or the "
          "allocation");
    check("2:4", "a,c", "a,b,c",
          "the job needs at least 2 nodes (-nnodes), and 1 is left: 2 are lost");
    check("1", "a", "a", "the job needs at least 1 node (-nnodes), and 0 are left: 1 is lost");
}

int main(void)
{
    test_read();
    test_choose();
    return tap_done();
}
