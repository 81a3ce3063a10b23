/* join_wish_test.c - what a launch with -join waits for, and what it is refused with. */
#include "launch/join_wish.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tests/tap.h"
#include "launch/options.h"

enum { HERE = 4, WORDS = 20 };

/* The command line behind "wireup -join"; what is awaited, or the sentence. */
static void make(const char *words, bool by_hardware, struct buf *out, struct join_wish *w)
{
    char line[500], *argv[WORDS], *env[] = { NULL }, *rest = line;
    static char self[] = "wireup", join[] = "-join", program[] = "true";
    struct launch_options o;
    struct errmsg err = { "" };
    int argc = 0;

    snprintf(line, sizeof line, "%s", words);
    argv[argc++] = self;
    argv[argc++] = join;
    for (char *word = strsep(&rest, " "); word && *word; word = strsep(&rest, " "))
        argv[argc++] = word;
    argv[argc++] = program;
    argv[argc] = NULL;
    launch_options_init(&o);
    if (options_parse(&o, argc, argv, env, &err) || join_wish_make(w, &o, by_hardware, HERE, &err))
        buf_str(out, err.text);
    else
        buf_printf(out, "%u %llu %u", w->nodes, (unsigned long long)w->slots, w->per_node);
    launch_options_free(&o);
}

static void check(const char *words, bool by_hardware, const char *expected)
{
    struct buf out = BUF_NULL(4096);
    struct join_wish w;

    make(words, by_hardware, &out, &w);
    if (!OK_F(strcmp(buf_cstr(&out), expected) == 0, "%s", words))
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
}

static void test_wishes(void)
{
    check("-n 12", false, "0 12 0");
    check("-n 3 true : -n 2", false, "0 5 0");
    check("-n 4 -ppn 2", false, "0 4 2");
    check("-n 4 -join-only", false, "0 4 0");
    check("-n 1 -nolocal", false, "0 1 0");
    check("-nnodes 3", false, "3 0 0");
    check("-nnodes 2 -n 2", false, "2 2 0");
    check("-nnodes 2 -map-by ppr:1:node", true, "2 0 0");
    check("-nnodes 1 -join-only", false, "1 0 0");
    check("-n 3 true : -nnodes 2", false, "2 0 0");
}

static void test_too_little(void)
{
    check("-n 4", false,
          "-join: this node has 4 slots, enough for 4 ranks, and no other would be awaited; "
          "say how many nodes by -nnodes, how many ranks each gets by -ppn, or leave this node out "
          "by -join-only");
    check("-n 1 -ppn 1", false,
          "-join: this node has 1 slot, enough for 1 rank, and no other would be awaited; "
          "say how many nodes by -nnodes, how many ranks each gets by -ppn, or leave this node out "
          "by -join-only");
    check("-nnodes 1", false,
          "-join: -nnodes 1 is this node alone, and no other would be awaited; name more, or leave "
          "this one out by -join-only");
    check("-n 3 true :", false,
          "-join must know what to wait for: give each program its number of processes (-n), or "
          "the number of nodes (-nnodes)");
    check("-n 8 -map-by ppr:1:node", true,
          "-join with -map-by ppr needs the number of nodes: -nnodes N");
    check("-n 8 -rankmap 0,1,0,1,0,1,0,1", false,
          "-join with -rankmap needs the number of nodes: -nnodes N");
}

static void test_together(void)
{
    static const char *const lists = "use either -join, where nodes come by themselves, or a list "
                                     "of nodes (-hosts, -hostfile, -rankfile)";

    check("-n 9 -hosts a,b", false, lists);
    check("-n 9 -hostfile x", false, lists);
    check("-n 9 -rankfile x", false, lists);
    check("-n 9 true : -hosts a -n 1", false, lists);
    check("-n 9 -dvm x", false,
          "use either -join or -dvm: -join starts one job without a DVM; nodes join a DVM by "
          "wireup up -join-port");
    check("-n 9 -wait", false,
          "use either -join or -wait: -wait waits for slots of a DVM, which -join does not use");
    check("-n 9 -restart-job 1", false,
          "use either -join or -restart-job: nodes that have joined end with the first start");
    check("-n 9 -launcher fork", false,
          "use either -join or -launcher fork, which runs everything on this machine");
    check("-n 9 -dry-run", false,
          "-join: which nodes will come is not known; name some by -hosts to see where ranks would "
          "run");
    check("-nnodes 2:4", false, "-join needs one number of nodes: -nnodes N, not MIN:MAX");
}

/* The slots of nodes that come one after the other; how many it takes. */
static uint32_t wait_for(const char *words, const uint32_t *slots, uint32_t n)
{
    struct buf out = BUF_NULL(4096);
    struct join_count c = { 0, 0 };
    struct join_wish w;
    uint32_t i = 0;

    make(words, false, &out, &w);
    while (i < n && !join_wish_met(&w, &c))
        join_wish_count(&w, &c, slots[i++]);
    buf_free(&out);
    return join_wish_met(&w, &c) ? i : n + 1;
}

static void test_enough(void)
{
    static const uint32_t slots[] = { HERE, 1, 8, 2 };

    OK(wait_for("-n 5", slots, 4) == 2);
    OK(wait_for("-n 6", slots, 4) == 3);
    OK(wait_for("-n 15", slots, 4) == 4);
    OK(wait_for("-n 16", slots, 4) == 5);
    OK(wait_for("-n 6 -ppn 2", slots, 4) == 3);
    OK(wait_for("-n 100 -nnodes 3", slots, 4) == 3);
}

int main(void)
{
    test_wishes();
    test_too_little();
    test_together();
    test_enough();
    return tap_done();
}
