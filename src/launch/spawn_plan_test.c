/* spawn_plan_test.c - spawn requests become plans: every info key, several commands, and which are
 * to blame if one is impossible. */
#include "launch/spawn_plan.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "store/memory.h"
#include "tests/tap.h"
#include "launch/plan_builder.h"
#include "base/env.h"

enum { MOST = 16 };

static struct launch_options opt;
static struct core core;
static struct seg_region region;
static struct job *parent;
static struct job_map plan;
static struct errmsg err;
static int codes[MOST];
static char place[] = "/tmp/wireup-respawn-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[4][200];
    static unsigned turn;

    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", place, name);
    return path[turn];
}

static void write_file(const char *name, mode_t mode, const char *text)
{
    FILE *f = fopen(path_of(name), "w");

    if (!f)
        abort();
    fputs(text, f);
    fclose(f);
    chmod(path_of(name), mode);
}

/* The job that spawns: on two nodes of this launcher. */
static void open_world(void)
{
    static char line[] = "wireup -launcher fork -hosts a:2,b:2 -n 4 -env COLOUR red sh";
    static char *words[16];
    static char path[] = "PATH=/usr/bin:/bin", *envp[] = { path, NULL };
    struct job_map p;
    char *at;
    int n = 0;

    for (char *word = strtok_r(line, " ", &at); word; word = strtok_r(NULL, " ", &at))
        words[n++] = word;
    core_init(&core, 3);
    seg_memory_open(1 << 20, &region);
    EQ(launch_prepare(n, words, envp, &opt, &p, &err), LAUNCH_GO);
    parent = core_job_add(&core, "parent", &p, &region, JOB_NO_RANK, false);
}

static void close_world(void)
{
    job_map_free(&plan);
    core_free(&core);
    launch_options_free(&opt);
    seg_memory_close(&region);
}

/* One command, with infos as "KEY", "VALUE", ..., NULL. */
static struct spawn_command command(struct arena *a, const char *program, uint32_t n,
                                    const char *const *infos)
{
    struct spawn_command c = { .program = arena_str(a, slice_str(program)), .nprocs = n };

    while (infos && infos[2 * c.ninfos])
        c.ninfos++;
    c.infos = arena_array(a, c.ninfos, sizeof *c.infos);
    for (uint32_t i = 0; i < c.ninfos; i++)
        c.infos[i] = (struct spawn_pair){ slice_str(infos[2 * i]), slice_str(infos[2 * i + 1]) };
    return c;
}

static int spawn_both(const char *program, uint32_t n, const char *const *infos, const char *other,
                      const char *const *others)
{
    struct spawn_request *rq = spawn_new();
    int rc;

    job_map_free(&plan);
    err.text[0] = '\0';
    memset(codes, 0, sizeof codes);
    rq->ncommands = other ? 2 : 1;
    rq->commands = arena_array(&rq->arena, 2, sizeof *rq->commands);
    rq->commands[0] = command(&rq->arena, program, n, infos);
    if (other)
        rq->commands[1] = command(&rq->arena, other, 3, others);
    rc = spawn_plan_build(&opt, &parent->plan, rq, &plan, codes, &err);
    spawn_free(rq); /* the plan outlives it */
    return rc;
}

static int spawn_two(const char *program, uint32_t n, const char *const *infos, const char *other)
{
    return spawn_both(program, n, infos, other, NULL);
}

static int spawn(const char *program, uint32_t n, const char *const *infos)
{
    return spawn_two(program, n, infos, NULL);
}

#define INFOS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const char *env_of(const char *name)
{
    const char *value = env_value(plan.apps[0].env, name);

    return value ? value : "";
}

/* "a b b": the nodes of the ranks. */
static const char *nodes(void)
{
    static char text[200];
    size_t at = 0;

    text[0] = '\0';
    for (uint32_t r = 0; r < plan.nprocs; r++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", r ? " " : "",
                               plan.nodes[plan.procs[r].node].name);
    return text;
}

static void test_plain(void)
{
    EQ(spawn_two("sh", 3, NULL, "ls"), 0);
    OK(plan.napps == 2 && plan.nprocs == 6 && plan.apps[1].first_rank == 3);
    OK(!strcmp(plan.apps[0].argv[0], "sh") && strstr(plan.apps[0].path, "/sh"));
    OK_F(!strcmp(nodes(), "a a b a a b"), "the nodes of the parent, for each command anew: %s",
         nodes());
    OK_F(!strcmp(env_of("COLOUR"), "red"), "and its environment");
    EQ(spawn("sh", 1, INFOS("arch", "vax", "unknown", "word")), 0);
    OK(!(plan.apps[0].flags & JOB_MAP_APP_PREFORK));
    parent->plan.apps[0].flags |= JOB_MAP_APP_PREFORK;
    EQ(spawn("sh", 1, INFOS("index-argv", "1")), 0);
    EQ(plan.apps[0].flags, JOB_MAP_APP_PREFORK | JOB_MAP_APP_INDEX);
    parent->plan.apps[0].flags ^= JOB_MAP_APP_PREFORK;
}

static void test_where(void)
{
    write_file("hosts", 0644, "c:1\nd:5 # many\n");
    EQ(spawn("sh", 2, INFOS("host", "b")), 0);
    OK(!strcmp(nodes(), "b b"));
    EQ(spawn("sh", 3, INFOS("hosts", "b:1,c:2")), 0);
    OK(!strcmp(nodes(), "b c c"));
    EQ(spawn("sh", 3, INFOS("add-host", "e:2,f")), 0);
    OK(!strcmp(nodes(), "e e f"));
    EQ(spawn("sh", 3, INFOS("hostfile", path_of("hosts"))), 0);
    OK(!strcmp(nodes(), "c d d"));
    EQ(spawn("sh", 2, INFOS("add-hostfile", path_of("hosts"))), 0);
    OK(!strcmp(nodes(), "c d"));
    EQ(spawn("sh", 2, INFOS("hostfile", path_of("none"))), SPAWN_NO_NODES);
    OK(strstr(err.text, "No such file") && codes[0] == -1 && codes[1] == -1);
    EQ(spawn("sh", 2, INFOS("host", "b:x")), SPAWN_BAD_REQUEST);
}

static void test_order(void)
{
    EQ(spawn("sh", 4, INFOS("map-by", "node")), 0);
    OK_F(!strcmp(nodes(), "a b a b"), "one on each node in turn: %s", nodes());
    EQ(spawn("sh", 4, INFOS("map-by", "node", "rank-by", "slot")), 0);
    OK_F(!strcmp(nodes(), "a a b b"), "numbered node after node: %s", nodes());
    EQ(spawn("sh", 3, INFOS("map-by", "ppr:1:node", "host", "a,b,c,d")), 0);
    OK(!strcmp(nodes(), "a b c"));
    EQ(spawn("sh", 2, INFOS("map-by", "core")), 0);
    OK(!strcmp(nodes(), "a a"));
    EQ(spawn("sh", 4, INFOS("rank-by", "node")), 0);
    OK(!strcmp(nodes(), "a b a b"));
    EQ(spawn("sh", 3, INFOS("map-by", "ppr:1:node")), SPAWN_NO_RESOURCES);
    OK_F(strstr(err.text, "does not allow more") && codes[2] == -1, "more than that asks for: %s",
         err.text);
    EQ(spawn("sh", 2, INFOS("map-by", "ppr:1:machine", "host", "c,d")), 0);
    OK(!strcmp(nodes(), "c d"));
    EQ(spawn("sh", 2, INFOS("ppr", "1:node")), 0);
    OK(!strcmp(nodes(), "a b"));
    EQ(spawn("sh", 2, INFOS("ppr", "1:node", "map-by", "slot")), SPAWN_BAD_REQUEST);
    EQ(spawn("sh", 5, INFOS(SPAWN_NOT_OVER, "1")), SPAWN_NO_RESOURCES);
    EQ(spawn("sh", 5, INFOS("map-by", ":OVERSUBSCRIBE")), 0);
    EQ(spawn("sh", 2, INFOS("map-by", "seq", "host", "c,d")), 0);
    OK(!strcmp(nodes(), "c d"));
    EQ(spawn("sh", 2, INFOS("map-by", "rankfile")), SPAWN_NO_PLACE);
    EQ(spawn("sh", 2, INFOS("map-by", "moon")), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "-map-by moon: it must be"));
    EQ(spawn("sh", 2, INFOS("rank-by", "core")), 0);
    EQ(spawn("sh", 2, INFOS("rank-by", "moon")), SPAWN_BAD_REQUEST);
}

/* Whether the first process is bound, and to how many processors. */
static size_t bound(void)
{
    size_t n = 0;

    for (size_t i = 0; plan.procs[0].cpus && i < plan.procs[0].cpus_bytes / sizeof(long); i++)
        n += (size_t)__builtin_popcountl(plan.procs[0].cpus[i]);
    return n;
}

static void test_binding(void)
{
    EQ(spawn("sh", 2, NULL), 0);
    OK(!plan.nodes[0].bindings[0] && bound() == 0);
    EQ(spawn("sh", 2, INFOS("bind-to", "hwthread")), 0);
    OK(plan.nodes[0].bindings[0] && bound() == 1);
    EQ(spawn("sh", 2, INFOS("bind-to", "moon")), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "-bind-to moon") && codes[0] == -1);
    EQ(spawn("sh", 2, INFOS(SPAWN_PE, "1")), 0);
    OK(bound() > 0);
    EQ(spawn("sh", 2, INFOS(SPAWN_PE, "none")), SPAWN_BAD_REQUEST);
    EQ(spawn("sh", 2, INFOS(SPAWN_CPU_LIST, "0", "bind-to", "core")), SPAWN_BAD_REQUEST);
    EQ(spawn("sh", 2, INFOS(SPAWN_CPU_LIST, "99999")), SPAWN_NO_PLACE);
}

/* Words behind a ':' are options by themselves. */
static void test_modifiers(void)
{
    static const char *const without[] = { "hwtcpus", "CORECPUS", "inherit", "noinherit" };

    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        char text[64];
        snprintf(text, sizeof text, "node:%s:oversubscribe", without[i]);
        EQ(spawn("sh", 6, INFOS("map-by", text)), 0);
        OK_F(!strcmp(nodes(), "a b a b a b") &&
                 !strcmp(plan.words[JOB_MAP_BY], "node:oversubscribe"),
             "%s: %s, %s", text, nodes(), plan.words[JOB_MAP_BY]);
    }
    EQ(spawn("sh", 2, INFOS("map-by", "node:display:DONOTLAUNCH")), 0);
    OK(plan.report && plan.ways & JOB_MAP_NO_LAUNCH && !strcmp(nodes(), "a b"));
    EQ(spawn("sh", 2, INFOS("map-by", ":display", "map-by", "node")), 0);
    OK_F(plan.report && !plan.ways && !strcmp(nodes(), "a b"),
         "an application's word, and the mapping of the job: %s", nodes());
    EQ(spawn("sh", 1, INFOS("map-by", "slot:nolocal")), SPAWN_NO_NODES);
    EQ(spawn("sh", 2, INFOS("map-by", "pe-list=0:oversubscribe")), 0);
    OK(bound() == 1 && !strcmp(plan.words[JOB_MAP_BY], ":oversubscribe"));
    EQ(spawn("sh", 2, INFOS("map-by", "node:PE-LIST=0", "bind-to", "core")), SPAWN_BAD_REQUEST);
    EQ(spawn("sh", 2, INFOS("map-by", "node:moon")), SPAWN_BAD_REQUEST);
    EQ(spawn("sh", 2, INFOS("bind-to", "hwthread:overload-allowed:if-supported")), 0);
    OK(bound() == 1 && !strcmp(plan.words[JOB_BIND_TO], "hwthread") && !plan.report);
    EQ(spawn("sh", 2, INFOS("bind-to", ":report")), 0);
    OK(plan.report && bound() == 0);
    EQ(spawn("sh", 2, INFOS("bind-to", "hwthread:no-overload")), SPAWN_BAD_REQUEST);
    OK_F(strstr(err.text, "bind-to :no-overload is not supported: ") && codes[1] == -1, "%s",
         err.text);
    EQ(spawn("sh", 2, INFOS("bind-to", "hwthread:moon")), SPAWN_BAD_REQUEST);
}

/* Two programs of one job, each placed in its own way. */
static void test_different(void)
{
    EQ(spawn_both("sh", 3, INFOS("map-by", "node"), "ls", INFOS("map-by", "slot")), 0);
    OK_F(!strcmp(nodes(), "a b a a a b"), "each by its own mapping: %s", nodes());
    OK_F(!strcmp(plan.words[JOB_MAP_BY], "node : slot") &&
             !strcmp(plan.words[JOB_RANK_BY], "node : slot") &&
             !strcmp(plan.words[JOB_BIND_TO], "none"),
         "%s; %s; %s", plan.words[JOB_MAP_BY], plan.words[JOB_RANK_BY], plan.words[JOB_BIND_TO]);
    EQ(spawn_both("sh", 3, INFOS("map-by", "node"), "ls", NULL), 0);
    OK_F(!strcmp(nodes(), "a b a a a b"), "words hold for their program alone: %s", nodes());
    EQ(spawn_both("sh", 2, INFOS("map-by", "node"), "ls", INFOS("rank-by", "node")), 0);
    OK_F(!strcmp(nodes(), "a b a b a"), "and so do those of the ranking: %s", nodes());
    EQ(spawn_both("sh", 2, INFOS("ppr", "1:node"), "ls", INFOS("host", "c,d", "map-by", "seq")),
       SPAWN_NO_RESOURCES);
    EQ(spawn_both("sh", 2, INFOS("ppr", "1:node"), "ls", INFOS("host", "c,d,e", "map-by", "seq")),
       0);
    OK_F(!strcmp(nodes(), "a b c d e"), "%s", nodes());
    EQ(spawn_both("sh", 1, INFOS("bind-to", "hwthread"), "ls", INFOS("bind-to", "none")), 0);
    OK(plan.nplacements == 2 && plan.procs[0].cpus && !plan.procs[1].cpus);
    OK(!strcmp(plan.words[JOB_BIND_TO], "hwthread : none"));
    EQ(spawn_both("sh", 1, INFOS(SPAWN_PE, "1"), "ls", INFOS(SPAWN_CPU_LIST, "0")), 0);
    OK(plan.nplacements == 2 && plan.procs[0].cpus && plan.procs[1].cpus);
    EQ(spawn_both("sh", 1, INFOS("map-by", "node"), "ls", INFOS("map-by", "node")), 0);
    OK(plan.nplacements == 1);
    EQ(spawn_both("sh", 1, NULL, "ls", INFOS("map-by", "moon")), SPAWN_BAD_REQUEST);
    EQ(spawn_both("sh", 1, NULL, "ls", INFOS("map-by", "rankfile")), SPAWN_NO_PLACE);
}

static void test_what(void)
{
    const char *bin = path_of("bin");

    mkdir(bin, 0755);
    write_file("bin/mine", 0755, "#!/bin/sh\n");
    EQ(spawn("mine", 1, NULL), SPAWN_NO_PROGRAM);
    EQ(spawn("", 1, NULL), SPAWN_NO_COMMAND);
    EQ(spawn(place, 1, NULL), SPAWN_NOT_EXECUTABLE);
    EQ(spawn("mine", 1, INFOS("path", bin)), 0);
    OK(!strcmp(plan.apps[0].path, path_of("bin/mine")));
    EQ(spawn("./mine", 1, INFOS("wdir", bin)), 0);
    OK(!strcmp(plan.apps[0].wdir, bin));
    EQ(spawn("sh", 1, INFOS("wdir", path_of("nowhere"))), SPAWN_NO_DIRECTORY);
    EQ(spawn("sh", 1, INFOS("env", "COLOUR=blue\nTWO=a=b", "env", "THREE=")), 0);
    OK(!strcmp(env_of("COLOUR"), "blue") && !strcmp(env_of("TWO"), "a=b"));
    OK(env_value(plan.apps[0].env, "THREE") != NULL);
}

static void test_file(void)
{
    write_file("infos", 0644,
               "# what is always the same\n\nwdir = /\n env=A=1 # first\nenv = B = 2\nhost=c:9");
    write_file("wrong", 0644, "host = a\nnonsense\n");
    EQ(spawn("sh", 2, INFOS("file", path_of("infos"))), 0);
    OK(!strcmp(plan.apps[0].wdir, "/") && !strcmp(nodes(), "c c"));
    OK(!strcmp(env_of("A"), "1") && !strcmp(env_of("B "), " 2"));
    EQ(spawn("sh", 2, INFOS("file", path_of("infos"), "wdir", "/usr")), 0);
    OK_F(!strcmp(plan.apps[0].wdir, "/usr"), "the request wins over its file");
    EQ(spawn("sh", 2, INFOS("file", path_of("wrong"))), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "wrong, line 2: expected KEY = VALUE"));
    EQ(spawn_two("sh", 2, INFOS("file", path_of("none")), "ls"), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "No such file") && codes[1] == -1 && codes[2] == 0);
    write_file("empty", 0644, "");
    EQ(spawn("sh", 2, INFOS("file", path_of("empty"))), 0);
}

/* -all-nodes: nodes of the requester's job, then those of the first one, then those without ranks.
 */
static void test_all_nodes(void)
{
    static struct host first[] = { { .name = "first", .slots = 1 }, { .name = "b", .slots = 2 } };
    static struct host spares[] = { { .name = "spare", .slots = 1 },
                                    { .name = "lost", .slots = 9 } };
    static const char *lost[] = { "lost" };

    opt.first_nodes = (struct host_list){ first, 2, 2 };
    opt.spares = (struct host_list){ spares, 2, 2 };
    opt.lost = lost;
    opt.nlost = 1;
    EQ(spawn("sh", 6, NULL), 0);
    OK_F(!strcmp(nodes(), "a a b b a a"), "replacements are for others: %s", nodes());
    opt.all_nodes = true;
    EQ(spawn("sh", 6, NULL), 0);
    OK_F(!strcmp(nodes(), "a a b b first spare"), "%s", nodes());
    EQ(spawn("sh", 3, INFOS("host", "spare,b")), 0);
    OK_F(!strcmp(nodes(), "spare b b") || !strcmp(nodes(), "spare b spare"), "%s", nodes());
    opt.all_nodes = false;
    opt.first_nodes = opt.spares = (struct host_list){ NULL, 0, 0 };
    opt.nlost = 0;
}

static void test_blame(void)
{
    OK(spawn_two("sh", 2, NULL, "/no/such/program") > 0);
    OK(codes[0] == 0 && codes[1] == 0 && codes[2] == -1 && codes[4] == -1 && codes[5] == 0);
    OK(spawn_two("/no/such/program", 2, NULL, "sh") > 0);
    OK(codes[0] == -1 && codes[1] == -1 && codes[2] == 0);
    OK(spawn_two("/no/such/program", 2, NULL, "/nor/this") > 0);
    OK_F(codes[0] == -1 && codes[4] == -1 && strstr(err.text, "/no/such"),
         "all to blame are named, the first is told");
}

static void test_soft(void)
{
    EQ(spawn_plan_soft(SLICE("3"), 9), 3);
    EQ(spawn_plan_soft(SLICE("3"), 2), 0);
    EQ(spawn_plan_soft(SLICE("1:5"), 9), 5);
    EQ(spawn_plan_soft(SLICE("1:5"), 4), 4);
    EQ(spawn_plan_soft(SLICE("2:10:4"), 9), 6);
    EQ(spawn_plan_soft(SLICE("1, 2:10:4 ,7"), 9), 7);
    EQ(spawn_plan_soft(SLICE("2:10:0"), 9), 0);
    EQ(spawn_plan_soft(SLICE("many"), 9), 0);
    EQ(spawn_plan_soft(SLICE(""), 9), 0);
    EQ(spawn("sh", 4, INFOS("soft", "1:4")), 0);
    OK_F(plan.nprocs == 4, "there is room for all");
}

static void test_stops(void)
{
    EQ(spawn_two("sh", 3, INFOS(SPAWN_STOP_ON_EXEC, "all", SPAWN_STOP_IN_INIT, "0,5"), "ls"), 0);
    OK_F(plan.procs[0].stops == 3 && plan.procs[1].stops == 1 && plan.procs[3].stops == 0 &&
             plan.procs[5].stops == 2,
         "all of a command, and ranks of the job");
    OK(!plan.breakpoint);
    EQ(spawn("sh", 2, INFOS(SPAWN_STOP_IN_APP, "1", SPAWN_BREAKPOINT, "here")), 0);
    OK(plan.procs[1].stops == 4 && !strcmp(plan.breakpoint, "here"));
    EQ(spawn("sh", 2, INFOS(SPAWN_STOP_IN_INIT, "2")), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "stop-in-init: the job has no rank 2"));
    EQ(spawn("sh", 2, INFOS(SPAWN_STOP_IN_INIT, "0,x")), SPAWN_BAD_REQUEST);
}

static void remove_place(void)
{
    static const char *const names[] = { "hosts", "infos", "wrong", "empty", "bin/mine" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(names[i]));
    rmdir(path_of("bin"));
    rmdir(place);
}

int main(void)
{
    if (!mkdtemp(place))
        return 1;
    open_world();
    test_plain();
    test_where();
    test_order();
    test_binding();
    test_modifiers();
    test_different();
    test_what();
    test_file();
    test_all_nodes();
    test_blame();
    test_soft();
    test_stops();
    close_world();
    remove_place();
    return tap_done();
}
