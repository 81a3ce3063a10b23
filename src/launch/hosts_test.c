/* hosts_test.c - node lists and host files, good and bad. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tests/tap.h"
#include "launch/hosts.h"

/* "a:2 b:1/4(core)@me": name, slots, max_slots, binding, user, port */
static void list_text(const struct host_list *list, struct buf *out)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct host *h = &list->items[i];
        buf_printf(out, "%s%s:%u", i ? " " : "", h->name, h->slots);
        if (h->max_slots)
            buf_printf(out, "/%u", h->max_slots);
        if (h->binding)
            buf_printf(out, "(%s)", h->binding);
        if (h->user)
            buf_printf(out, "@%s", h->user);
        if (h->port)
            buf_printf(out, "#%u", h->port);
    }
}

static void check(bool file, const char *text, const char *expected)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { { 0 } };
    struct buf out = BUF_NULL(65536);
    int rc = file ? hosts_parse_file(&a, &list, "nodes", slice_str(text), &err)
                  : hosts_parse_list(&a, &list, slice_str(text), &err);

    if (rc)
        buf_str(&out, err.text);
    else
        list_text(&list, &out);
    if (!OK_F(buf_cstr(&out) && strcmp(buf_cstr(&out), expected) == 0, "%s", expected))
        printf("# got %s\n", buf_cstr(&out));
    OK_F((rc != 0) == (strstr(expected, ": ") || strstr(expected, "no nodes")), "as a %s",
         rc ? "refusal" : "list");
    buf_free(&out);
    arena_free(&a);
}

static void test_lists(void)
{
    check(false, "a", "a:1");
    check(false, "a:2,b", "a:2 b:1");
    check(false, " a:2 , b ", "a:2 b:1");
    check(false, "a,a,b,a", "a:2 b:1 a:1");
    check(false, "10.0.0.1:3,node-1.example.org", "10.0.0.1:3 node-1.example.org:1");
    check(false, "::1,[::1]:4,[fe80::1]", "::1:5 fe80::1:1");
    check(false, "me@a:2,b,you@[::1]:4", "a:2@me b:1 ::1:4@you");
    check(false, "@a", "node list: '@a': the name before @ must be a user name");
    check(false, "a@", "node list: '' is not a node name");
    check(false, "a@b@c", "node list: 'b@c' is not a node name");
    check(false, "", "node list: '' is not a node name");
    check(false, "a,,b", "node list: '' is not a node name");
    check(false, "a,", "node list: '' is not a node name");
    check(false, ":2", "node list: ':2' is not a node name");
    check(false, "a:", "node list: the number of slots must be from 1 to 16777216, not ''");
    check(false, "a:0", "node list: the number of slots must be from 1 to 16777216, not '0'");
    check(false, "a:-1", "node list: the number of slots must be from 1 to 16777216, not '-1'");
    check(false, "a:x", "node list: the number of slots must be from 1 to 16777216, not 'x'");
    check(false, "a:99999999999",
          "node list: the number of slots must be from 1 to 16777216, not '99999999999'");
    check(false, "[::1", "node list: '[::1' is not a node name");
    check(false, "[::1]x", "node list: '[::1]x' is not a node name");
    check(false, "[]:2", "node list: '[]:2' is not a node name");
    check(
        false, "localhost:2:3",
        "node list: 'localhost:2:3': the name may be followed by one ':' and the number of slots");
    check(false, "[n1:x:2]:3",
          "node list: '[n1:x:2]:3': the name may be followed by one ':' and "
          "the number of slots");
    check(false, "a b", "node list: 'a b' is not a node name");
}

static void test_files(void)
{
    check(true, "a:2\nb\n", "a:2 b:1");
    check(true, "a slots=2 max_slots=4\nb slots=1\n", "a:2/4 b:1");
    check(true, "a max-slots=4", "a:1/4");
    check(true, "a:2 binding=core user=me\n\tb user=you\t\n", "a:2(core)@me b:1@you");
    check(true, "me@a port=22\nb port=65535 user=you\nc", "a:1@me#22 b:1@you#65535 c:1");
    check(true, "a port=0",
          "nodes:1: expected slots=, max_slots=, binding=, user= or port= after the node name, "
          "not 'port=0'");
    check(true, "# all\n\n  # more\r\na # two\r\nb#c\r\n", "a:1 b#c:1");
    check(true, "a:2\na slots=3\nb\na\n", "a:5 b:1 a:1");
    check(true, "a:2 slots=3", "a:3");
    check(true, "", "nodes: this host file has no nodes");
    check(true, "# nothing\n", "nodes: this host file has no nodes");
    check(true, "a\nb slots=none\n",
          "nodes:2: the number of slots must be from 1 to 16777216, not 'none'");
    check(true, "a\n\nb slots\n",
          "nodes:3: expected slots=, max_slots=, binding=, user= or port= after the node name, not "
          "'slots'");
    check(true, "a binding=\n",
          "nodes:1: expected slots=, max_slots=, binding=, user= or port= after the node name, not "
          "'binding='");
    check(true, "a b\n",
          "nodes:1: expected slots=, max_slots=, binding=, user= or port= after the node name, "
          "not 'b'");
    check(true, "a slots=4 max_slots=2\n",
          "nodes:1: max_slots=2 is less than the 4 slots of the node");
    check(true, "=\n", "nodes:1: '=' is not a node name");
}

static void test_nul(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct errmsg err;

    EQ(hosts_parse_file(&a, &list, "nodes", slice_mem("a\0b\n", 4), &err), HOSTS_BAD);
    arena_free(&a);
}

static void test_sort(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct buf out = BUF_NULL(65536);

    hosts_parse_list(&a, &list, SLICE("a:2,b:1,c:2,d:3,e:1"), NULL);
    EQ(hosts_sort(&list, false), 0);
    list_text(&list, &out);
    OK(slice_is(buf_slice(&out), "b:1 e:1 a:2 c:2 d:3"));
    buf_clear(&out);
    EQ(hosts_sort(&list, true), 0);
    list_text(&list, &out);
    OK(slice_is(buf_slice(&out), "d:3 a:2 c:2 b:1 e:1"));
    buf_free(&out);
    arena_free(&a);
}

/* A list is limited only by memory: reported without a crash. */
static void test_full(void)
{
    struct arena a = ARENA_NULL(4096);
    struct host_list list = { 0 };
    char text[4096];

    for (size_t i = 0; i + 4 <= sizeof text; i += 4)
        memcpy(text + i, i / 4 % 2 ? "aaa," : "bbb,", 4);
    OK(hosts_parse_list(&a, &list, slice_mem(text, sizeof text - 1), NULL) < 0);
    arena_free(&a);
}

int main(void)
{
    test_lists();
    test_files();
    test_nul();
    test_sort();
    test_full();
    return tap_done();
}
