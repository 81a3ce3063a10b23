/* allocation_test.c - the nodes of an allocation, in the format of each resource manager, and
 * mistakes in them. */
#include "launch/allocation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "tests/tap.h"
#include "launch/hostlist.h"

/* ---- one text ---- */

typedef int text_fn(struct arena *a, struct host_list *list, struct slice text, const char *where,
                    struct errmsg *err);

/* "a:2 b:1" */
static const char *show(const struct host_list *list)
{
    static char text[4096];
    size_t n = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < list->count && n < sizeof text - 300; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s:%u", i ? " " : "",
                              list->items[i].name, list->items[i].slots);
    return text;
}

static void reads(text_fn *fn, const char *text, const char *want)
{
    struct arena a = ARENA_NULL(512 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { "" };
    int rc = fn(&a, &list, slice_str(text), "VAR", &err);

    OK_F(rc == 0 && !strcmp(show(&list), want), "%s = %s %s", text, rc ? err.text : show(&list),
         want);
    arena_free(&a);
}

static void refuses(text_fn *fn, const char *text, const char *want)
{
    struct arena a = ARENA_NULL(512 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { "" };
    int rc = fn(&a, &list, slice_str(text), "VAR", &err);

    OK_F(rc == HOSTS_BAD && strstr(err.text, want) && !strncmp(err.text, "VAR: ", 5), "%s: %s",
         text, err.text);
    arena_free(&a);
}

static void test_nodes(void)
{
    struct arena a = ARENA_NULL(512 << 20);
    struct host_list list = { 0 };
    struct errmsg err;

    reads(hostlist_nodes, "n1", "n1:1");
    reads(hostlist_nodes, "n[1-3]", "n1:1 n2:1 n3:1");
    reads(hostlist_nodes, "n[08-10,12],gpu1", "n08:1 n09:1 n10:1 n12:1 gpu1:1");
    reads(hostlist_nodes, "r[1-2]n[1,3]x", "r1n1x:1 r1n3x:1 r2n1x:1 r2n3x:1");
    reads(hostlist_nodes, "a,b-c,d.e", "a:1 b-c:1 d.e:1");
    reads(hostlist_nodes, "n[0009-0010]", "n0009:1 n0010:1");
    reads(hostlist_nodes, "[1-2]", "1:1 2:1");
    refuses(hostlist_nodes, "", "not a list");
    refuses(hostlist_nodes, "a,,b", "not a list");
    refuses(hostlist_nodes, "a,", "not a list");
    refuses(hostlist_nodes, "n[1-", "not a list");
    refuses(hostlist_nodes, "n[]", "not a list");
    refuses(hostlist_nodes, "n[3-1]", "not a list");
    refuses(hostlist_nodes, "n]1", "not a list");
    refuses(hostlist_nodes, "n[1-2-3]", "not a list");
    refuses(hostlist_nodes, "n[x]", "not a list");
    refuses(hostlist_nodes, "n[0-9999999]", "more than");
    refuses(hostlist_nodes, "n[0-9999][0-9999]", "more than");
    refuses(hostlist_nodes, "n[1][1][1][1][1][1][1][1][1]", "not a list");
    refuses(hostlist_nodes, "a b", "not a list");
    OK_F(hostlist_nodes(&a, &list, SLICE("n[00000-16383]"), "VAR", &err) == 0 &&
             list.count == 16384,
         "16384 nodes");
    OK_F(hostlist_counts(&list, 0, SLICE("128(x16384)"), "VAR", &err) == 0 &&
             list.items[16383].slots == 128,
         "and their slots");
    arena_free(&a);
}

static void counts(const char *nodes, const char *text, const char *want)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { "" };
    int rc = hostlist_nodes(&a, &list, slice_str(nodes), "VAR", &err);

    rc = rc ? rc : hostlist_counts(&list, 0, slice_str(text), "COUNTS", &err);
    OK_F(rc ? strstr(err.text, want) && !strncmp(err.text, "COUNTS: ", 8)
            : !strcmp(show(&list), want),
         "%s for %s: %s", text, nodes, rc ? err.text : show(&list));
    arena_free(&a);
}

static void test_counts(void)
{
    counts("n[1-3]", "2(x3)", "n1:2 n2:2 n3:2");
    counts("n[1-3]", "4,2(x2)", "n1:4 n2:2 n3:2");
    counts("n[1-3]", " 1,2,3 ", "n1:1 n2:2 n3:3");
    counts("n[1-3]", "2(x2)", "does not match the number of nodes (3)");
    counts("n[1-3]", "2(x4)", "does not match the number of nodes (3)");
    counts("n1", "1,1", "does not match the number of nodes (1)");
    counts("n1", "", "does not match the number of nodes (1)");
    counts("n1", "0", "not a list of slots");
    counts("n1", "2(x", "not a list of slots");
    counts("n1", "2(x0)", "not a list of slots");
    counts("n1", "2(y1)", "not a list of slots");
    counts("n1", "99999999999", "not a list of slots");
}

static void test_words(void)
{
    reads(hostlist_slots, "a\na\nb\na\n\nc", "a:3 b:1 c:1");
    reads(hostlist_slots, "a a b", "a:2 b:1");
    reads(hostlist_slots, "a\r\nb\r\n", "a:1 b:1");
    refuses(hostlist_slots, " \n", "no node");
    refuses(hostlist_slots, "a\n-b\n", "not a list");
    reads(hostlist_pairs, "a 4 b 2 a 1", "a:5 b:2");
    refuses(hostlist_pairs, "a 4 b", "node b");
    refuses(hostlist_pairs, "a 0", "node a");
    refuses(hostlist_pairs, "a b", "'b'");
    refuses(hostlist_pairs, "", "no node");
    reads(hostlist_table, "a 4 all.q@a UNDEFINED\nb 2 all.q@b UNDEFINED\n", "a:4 b:2");
    reads(hostlist_table, "a 4\n\na 2 other.q\n", "a:6");
    refuses(hostlist_table, "a\n", "node a");
    refuses(hostlist_table, "", "no node");
    reads(hostlist_groups, "n[0-3] 4 16\ng0 1 8\n", "n0:4 n1:4 n2:4 n3:4 g0:8");
    reads(hostlist_groups, "n0 1 4\n\"\" 0 0\n", "n0:4");
    refuses(hostlist_groups, "n[0-3] 3 16\n", "not a list");
    refuses(hostlist_groups, "n0\n", "not a list");
    refuses(hostlist_groups, "", "no node");
}

/* ---- whole environments ---- */

static const char *file_name, *file_text, *output;

static int read_file(void *arg, const char *path, struct buf *out)
{
    (void)arg;
    if (!file_name || strcmp(path, file_name) != 0)
        return -ENOENT;
    buf_str(out, file_text);
    return 0;
}

static int run(void *arg, const char *const *argv, struct buf *out)
{
    (void)arg;
    if (!output || strcmp(argv[0], "flux") != 0)
        return -ENOENT;
    buf_str(out, strcmp(argv[1], "jobs") == 0 && !strcmp(argv[4], "f2") ? "n5 1 3\n" : output);
    return 0;
}

/* want: manager and nodes, or a word of the sentence, or "none" */
static void world(const char *const *env, const char *wanted, const char *want)
{
    struct allocation_world w = { (char *const *)(uintptr_t)env, read_file, run, NULL };
    struct arena a = ARENA_NULL(1 << 20);
    struct host_list list = { 0 };
    struct errmsg err = { "" };
    const char *name = "";
    char got[5000];
    int rc = allocation_read(&w, wanted, &a, &list, &name, &err);

    snprintf(got, sizeof got, "%s %s", name, show(&list));
    OK_F(rc == ALLOCATION_NONE ? !strcmp(want, "none")
         : rc == HOSTS_BAD     ? strstr(err.text, want) != NULL
                               : !strcmp(got, want),
         "%s: %s", env[0] ? env[0] : "nothing", rc == HOSTS_BAD ? err.text : got);
    arena_free(&a);
}

#define ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_managers(void)
{
    struct allocation_world w = { NULL, read_file, run, NULL };

    file_name = "/job/nodes";
    file_text = "a\na\nb\n";
    world(ENV("HOME=/x"), NULL, "none");
    world(ENV("SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=4(x2)", "SLURM_NNODES=2"), NULL,
          "slurm n1:4 n2:4");
    world(ENV("SLURM_NODELIST=n[1-2]", "SLURM_JOB_CPUS_PER_NODE=4,8"), "auto", "slurm n1:4 n2:8");
    world(ENV("SLURM_JOB_NODELIST=n[1-2]"), NULL, "slurm n1:1 n2:1");
    world(ENV("SLURM_JOB_NODELIST=n[1-2", "SLURM_TASKS_PER_NODE=4(x2)"), NULL,
          "SLURM_JOB_NODELIST");
    world(ENV("SLURM_JOB_NODELIST=n[1-2]", "SLURM_TASKS_PER_NODE=4"), NULL, "SLURM_TASKS_PER_NODE");
    world(ENV("SLURM_JOB_NODELIST=n1"), "none", "none");
    world(ENV("SLURM_JOB_NODELIST=n1"), "pbs", "not an allocation of pbs");
    world(ENV("SLURM_JOB_NODELIST=n1"), "moon", "auto, none, not moon");
    world(ENV("PBS_NODEFILE=/job/nodes", "PBS_JOBID=1"), NULL, "pbs a:2 b:1");
    world(ENV("PBS_NODEFILE=/job/gone"), NULL, "PBS_NODEFILE (/job/gone): No such file");
    world(ENV("PBS_NODEFILE=/job/nodes", "COBALT_NODEFILE=/job/nodes"), NULL, "cobalt a:2 b:1");
    world(ENV("OAR_NODEFILE=/job/nodes", "PBS_NODEFILE=/job/gone"), NULL, "oar a:2 b:1");
    world(ENV("OAR_NODE_FILE=/job/nodes"), NULL, "oar a:2 b:1");
    world(ENV("LOADL_HOSTFILE=/job/nodes"), NULL, "loadleveler a:2 b:1");
    world(ENV("LSB_MCPU_HOSTS=a 4 b 2", "LSB_HOSTS=a a a a b b"), NULL, "lsf a:4 b:2");
    world(ENV("LSB_HOSTS=a a b"), NULL, "lsf a:2 b:1");
    world(ENV("LSB_DJOB_HOSTFILE=/job/nodes", "LSB_MCPU_HOSTS=x 1"), NULL, "lsf a:2 b:1");
    file_text = "a 4 q u\n";
    world(ENV("PE_HOSTFILE=/job/nodes"), NULL, "sge a:4");
    output = "n[0-1] 2 8\n";
    world(ENV("FLUX_URI=local:///x", "FLUX_ENCLOSING_ID=f1"), NULL, "flux n0:4 n1:4");
    world(ENV("FLUX_URI=local:///x"), NULL, "flux n0:4 n1:4");
    world(ENV("FLUX_URI=local:///x", "FLUX_JOB_ID=f2"), NULL, "flux n5:3");
    world(ENV("FLUX_JOB_ID=f2"), NULL, "none");
    output = NULL;
    world(ENV("FLUX_URI=local:///x"), NULL, "flux resource list");
    world(ENV("FLUX_URI=local:///x", "FLUX_JOB_ID=f2"), NULL, "flux jobs");
    w.envp = (char *const *)(uintptr_t)ENV("SLURM_NODELIST=]");
    OK(!strcmp(allocation_detect(&w, NULL), "slurm") && !allocation_detect(&w, "none") &&
       !allocation_detect(&w, "pbs"));
    OK(!strcmp(allocation_launcher("slurm"), "slurm") &&
       !strcmp(allocation_launcher("oar"), "ssh"));
}

int main(void)
{
    test_nodes();
    test_counts();
    test_words();
    test_managers();
    return tap_done();
}
