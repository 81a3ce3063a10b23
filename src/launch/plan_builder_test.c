/* plan_builder_test.c - from the words of a command line to a plan, on the real machine: programs
 * and directories of our own, and one sentence with the right exit code for each failure. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"
#include "launch/localhost.h"
#include "launch/plan_builder.h"
#include "base/env.h"

/* The n-th allocation from now fails (0: none). */
static unsigned fail_at;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static bool fails(void)
{
    return fail_at > 0 && --fail_at == 0;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

static struct launch_options opt;
static struct job_map plan;
static struct errmsg err;
static char place[] = "/tmp/wireup-prepare-XXXXXX";

static void forget(void)
{
    job_map_free(&plan);
    launch_options_free(&opt);
}

/* Environment variables of a resource manager. */
static char *allocation[2];

/* The name by which we are called. */
static const char *self = "wireup";

/* Words separated by blanks. */
static int prepare(const char *line)
{
    static char text[8192];
    static char *words[256];
    static char path[100], hide[] = "PMI_RANK=5", home[] = "HOME=/root";
    static char *envp[] = { path, hide, home, NULL, NULL, NULL };
    char *at;
    int n = 0;

    envp[3] = allocation[0];
    envp[4] = allocation[0] ? allocation[1] : NULL;
    forget();
    err.text[0] = '\0';
    snprintf(path, sizeof path, "PATH=/nonexistent:%s/bin:/usr/bin:/bin", place);
    snprintf(text, sizeof text, "%s %s", self, line);
    for (char *word = strtok_r(text, " ", &at); word; word = strtok_r(NULL, " ", &at))
        words[n++] = word;
    words[n] = NULL;
    return launch_prepare(n, words, envp, &opt, &plan, &err);
}

static void check_bad(const char *line, int rc, const char *part)
{
    int got = prepare(line);

    if (!OK_F(got == rc && strstr(err.text, part) && !strchr(err.text, '\n'), "%s: %s", line,
              err.text))
        printf("# got %d: %s\n", got, err.text);
    EQ(launch_exit_code(got), rc == LAUNCH_USAGE            ? 2
                              : rc == LAUNCH_NOT_FOUND      ? 127
                              : rc == LAUNCH_NOT_EXECUTABLE ? 126
                                                            : 125);
}

static void make_file(const char *name, const char *text, mode_t mode)
{
    int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    OK_F(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0,
         "made %s", name);
    if (fd >= 0)
        close(fd);
}

static void check_universe(const char *line, int64_t want)
{
    OK_F(prepare(line) == LAUNCH_GO && plan.universe == want, "%s: a universe of %lld, not %lld",
         line, (long long)want, (long long)plan.universe);
}

/* "a b a | core; node; none": the nodes of the ranks, and the words of the placement. */
static void check_map(const char *line, const char *want)
{
    struct buf got = BUF_NULL(4096);

    EQ(prepare(line), LAUNCH_GO);
    for (uint32_t r = 0; r < plan.nprocs; r++)
        buf_printf(&got, "%s%s ", plan.nodes[plan.procs[r].node].name,
                   plan.procs[r].cpus ? "*" : "");
    if (plan.words[JOB_MAP_BY])
        buf_printf(&got, "| %s; %s; %s", plan.words[JOB_MAP_BY], plan.words[JOB_RANK_BY],
                   plan.words[JOB_BIND_TO]);
    OK_F(buf_cstr(&got) && !strcmp(buf_cstr(&got), want), "%s: %s", line, buf_cstr(&got));
    buf_free(&got);
}

/* Options of places in front of a later program are its own; in front of the first, all have them.
 */
static void test_own_places(void)
{
    make_file("line", "-n 2 -map-by node prog\n-n 2 -map-by slot prog\n-n 1 prog\n", 0644);
    make_file("cores", "-n 1 -cpus-per-rank 1 prog\n-n 1 -bind-to none -map-by node prog\n", 0644);
    make_file("two", "c\nd\n", 0644);
    check_map("-launcher fork -hosts a:2,b:2 -map-by node -n 2 prog : -n 2 prog",
              "a b a b | node; node; none");
    check_map("-launcher fork -hosts a:2,b:2 -n 1 prog : -map-by node -n 2 prog",
              "a a b | slot : node; slot : node; none");
    check_map("-launcher fork -hosts a:2,b:2 -map-by node -n 3 prog : -map-by slot -n 2 prog",
              "a b a b a | node : slot; node : slot; none");
    check_map("-launcher fork -hosts a:2,b:2 -map-by node -n 2 prog : -rank-by slot -n 2 prog",
              "a b a b | node; node : slot; none");
    check_map(
        "-launcher fork -hosts a:3,b:3 -n 1 -bind-to hwthread prog : -bind-to none -n 2 prog : "
        "-n 1 prog",
        "a* a a b* | slot; slot; hwthread : none : hwthread");
    check_map("-launcher fork -hosts a,b -n 1 prog : -cpus-per-rank 1 -map-by node -n 2 prog",
              "a b* a* | slot : node:pe=1; slot : node; none : core:1");
    check_map("-launcher fork -hosts a:2,b:2 -n 1 prog : -map-by ppr:1:node -n 2 prog : -n 1 prog",
              "a a b b | slot : ppr:1:node : slot; slot; none");
    check_map("-launcher fork -hosts a,b -n 1 prog : -map-by seq:file=two prog",
              "a c d | slot : seq:file=two; slot; none");
    check_map("-launcher fork -hosts a:2,b:2 -configfile line",
              "a b a b a | node : slot : node; node : slot : node; none");
    check_map("-launcher fork -hosts a,b -configfile cores",
              "a* b | :pe=1 : node; slot : node; core:1 : none");
    check_bad("-n 1 prog : -map-by rankfile:file=ranks -n 1 prog", LAUNCH_USAGE,
              "give it for the first one");
    check_bad("-rankmap 0,0 -n 1 prog : -map-by node -n 1 prog", LAUNCH_USAGE,
              "none may have options of its own");
    check_bad("-ppn 2 -n 1 prog : -map-by ppr:1:node -n 1 prog", LAUNCH_USAGE,
              "use either -ppn or -map-by ppr");
    check_bad("-n 1 prog : -map-by moon -n 1 prog", LAUNCH_USAGE, "-map-by moon");
    check_bad("-n 1 prog : -bind-to moon -n 1 prog", LAUNCH_USAGE, "-bind-to moon");
    check_bad("-n 1 prog : -hosts a -map-by seq:file=two prog", LAUNCH_USAGE,
              "use either -hosts or -hostfile");
}

static void test_not_here(void)
{
    check_map("-hosts localhost:2,a.invalid:2,127.0.0.1 -n 2 prog",
              "localhost localhost | slot; slot; none");
    check_map("-nolocal -hosts localhost:2,a.invalid:2,127.0.0.1 -n 2 prog",
              "a.invalid a.invalid | slot; slot; none");
    check_map("-nolocal -hosts a.invalid -n 1 prog : -hosts b.invalid,localhost -n 1 prog",
              "a.invalid b.invalid | slot; slot; none");
    check_map("-map-by node:nolocal -hosts localhost,a.invalid,b.invalid -n 2 prog",
              "a.invalid b.invalid | node; node; none");
    check_bad("-nolocal -hosts localhost:4 prog", LAUNCH_USAGE, "-nolocal leaves no node");
    check_bad("-nolocal prog", LAUNCH_USAGE, "-nolocal leaves no node");
    check_bad("-nolocal -launcher fork -hosts a,b prog", LAUNCH_USAGE, "-nolocal leaves no node");
    check_bad("-nolocal -hosts a.invalid prog : -hosts localhost prog", LAUNCH_USAGE,
              "-nolocal leaves no node");
}

static void test_plan(void)
{
    EQ(prepare("-n 3 prog x : -n 2 -wdir bin -env A 1 ./prog"), LAUNCH_GO);
    EQ(plan.nprocs, 5);
    EQ(plan.napps, 2);
    EQ(plan.nnodes, 1);
    EQ(plan.nodes[0].nprocs, 5);
    OK(plan.universe >= 5);
    OK(strstr(plan.apps[0].path, "/bin/prog") && strcmp(plan.apps[0].argv[1], "x") == 0);
    OK(plan.apps[0].argc == 2 && !plan.apps[0].argv[2] && !plan.apps[0].wdir);
    OK(plan.apps[1].wdir && strncmp(plan.apps[1].wdir, place, strlen(place)) == 0);
    OK(plan.apps[1].path[0] == '/' && strcmp(plan.apps[1].argv[0], "./prog") == 0);
    EQ(plan.apps[1].first_rank, 3);
    EQ(plan.procs[4].app, 1);
    EQ(plan.procs[4].local_rank, 4);
    OK(!plan.procs[0].cpus && !plan.procs[0].binding);
    OK(!env_value(plan.apps[0].env, "PMI_RANK") && !env_value(plan.apps[0].env, "A"));
    OK(strcmp(env_value(plan.apps[1].env, "A"), "1") == 0);
    OK(strcmp(env_value(plan.apps[1].env, "HOME"), "/root") == 0);
    OK(env_value(plan.apps[0].env, "GFORTRAN_UNBUFFERED_PRECONNECTED"));
    EQ(prepare("prog"), LAUNCH_GO);
    EQ(plan.nprocs, 1);
    EQ(prepare("-envnone prog : prog"), LAUNCH_GO);
    OK(plan.apps[0].env != plan.apps[1].env && env_value(plan.apps[0].env, "PATH"));
    EQ(prepare("prog : prog"), LAUNCH_GO);
    OK(plan.apps[0].env == plan.apps[1].env);
    EQ(prepare("-usize 77 prog"), LAUNCH_GO);
    EQ(plan.universe, 77);
    EQ(prepare("-usize SYSTEM -hosts localhost:3,127.0.0.1:4 prog"), LAUNCH_GO);
    EQ(plan.universe, 7);
    EQ(plan.nprocs, 7);
    OK(plan.nnodes == 1 && strcmp(plan.nodes[0].name, "localhost") == 0);
    check_universe("-hosts localhost:32 -n 1 prog", 32);
    check_universe("-hosts localhost:3,127.0.0.1:4 -n 2 prog", 7);
    check_universe("-hosts localhost:2 -n 5 prog", 5);
    check_universe("-hosts localhost:32 -ppn 2 -n 2 prog", 32);
    check_universe("-hosts localhost -ppn 8 -n 2 prog", 8);
    check_universe("-hosts localhost:32 -map-by ppr:1:node prog", 32);
    check_universe("-hosts localhost:32 -map-by node -n 3 prog", 32);
    check_universe("-n 1 -hosts localhost:5 prog : -n 2 -hosts localhost:6 prog", 6);
    check_universe("-hosts localhost:5 -n 1 prog : -n 2 prog", 5);
    check_universe("-hosts localhost:32 -usize INFINITE -n 1 prog", -1);
    check_universe("-hosts localhost:32 -usize 9 -n 1 prog", 9);
    check_universe("-n 300 prog", 300);
    check_universe("-f HYDRA_USE_LOCALHOST -n 300 prog", 300);
    EQ(prepare("-pmi_args 7000 i k 42"), LAUNCH_GO);
    EQ(opt.singleton.port, 7000);
}

static void test_allocation(void)
{
    static char nodes[] = "SLURM_JOB_NODELIST=a.invalid,localhost",
                slots[] = "SLURM_TASKS_PER_NODE=2,3", gone[] = "PBS_NODEFILE=gone";

    allocation[0] = nodes;
    allocation[1] = slots;
    EQ(prepare("-n 5 prog"), LAUNCH_GO);
    OK(opt.remote && !strcmp(opt.rm, "slurm") && plan.nnodes == 2 && plan.procs[2].node == 1);
    EQ(prepare("prog"), LAUNCH_GO);
    EQ(plan.nprocs, 5);
    EQ(prepare("-hosts localhost -n 2 prog"), LAUNCH_GO);
    OK_F(!opt.remote && plan.nnodes == 1 && !strcmp(opt.rm, "slurm"), "named nodes win");
    EQ(prepare("-rmk none -n 2 prog"), LAUNCH_GO);
    OK(!opt.remote && plan.nnodes == 1 && !opt.rm);
    EQ(prepare("-launcher fork -n 2 prog"), LAUNCH_GO);
    OK(!opt.remote && plan.nnodes == 1);
    check_bad("-rmk pbs prog", LAUNCH_USAGE, "not an allocation of pbs");
    check_bad("-rmk moon prog", LAUNCH_USAGE, "auto, none, not moon");
    slots[sizeof slots - 2] = 'x';
    check_bad("prog", LAUNCH_USAGE, "SLURM_TASKS_PER_NODE: 'x'");
    EQ(prepare("-launcher slurm -rmk none -hosts a.invalid prog"), LAUNCH_GO);
    allocation[0] = NULL;
    check_bad("-launcher slurm -hosts a.invalid prog", LAUNCH_REFUSED,
              "-launcher slurm works only inside an allocation: run wireup by "
              "salloc or sbatch, or use -launcher ssh");
    check_bad("-launcher pbs -hosts a.invalid prog", LAUNCH_REFUSED, "run wireup by qsub");
    EQ(prepare("-launcher slurm -launcher-args --jobid=7 -hosts a.invalid prog"), LAUNCH_GO);
    EQ(prepare("-launcher slurm -hosts localhost prog"), LAUNCH_GO);
    allocation[0] = gone;
    allocation[1] = NULL;
    check_bad("prog", LAUNCH_USAGE, "PBS_NODEFILE (gone): No such file");
    allocation[0] = NULL;
}

static void test_nodes(void)
{
    EQ(prepare("-launcher fork -hosts a:2,b -n 4 prog"), LAUNCH_GO);
    OK(plan.nnodes == 2 && plan.procs[2].node == 1 && plan.procs[3].node == 0);
    EQ(prepare("-launcher fork -f nodes prog"), LAUNCH_GO);
    OK(plan.nprocs == 3 && plan.nnodes == 2 && strcmp(plan.nodes[1].name, "n2") == 0);
    EQ(prepare("-launcher fork -f nodes -order-nodes down -n 1 prog"), LAUNCH_GO);
    OK(strcmp(plan.nodes[0].name, "n2") == 0);
    EQ(prepare("-f HYDRA_USE_LOCALHOST -n 2 prog"), LAUNCH_GO);
    EQ(plan.nnodes, 1);
    EQ(prepare("-localhost frontend -hosts frontend.example.org prog"), LAUNCH_GO);
    EQ(prepare("-localhost frontend prog"), LAUNCH_GO);
    OK(strcmp(plan.nodes[0].name, "frontend") == 0);
    EQ(prepare("-hosts a.invalid:2,localhost,192.0.2.1,127.0.0.1 prog"), LAUNCH_GO);
    OK(opt.remote && !strcmp(opt.here, "localhost"));
    OK_F(plan.nprocs == 5 && plan.nnodes == 3, "the names of this machine are one node");
    OK(plan.procs[4].node == 1 && plan.procs[4].local_rank == 1);
    EQ(prepare("-hosts localhost:2,a.invalid:2,b.invalid:2 -n 2 prog"), LAUNCH_GO);
    OK_F(!opt.remote && plan.nnodes == 1 && !opt.spares.count && plan.universe == 6,
         "nothing is started on nodes that the job does not need");
    EQ(prepare("-hosts localhost:2,a.invalid:2,b.invalid:2 -all-nodes -n 2 prog"), LAUNCH_GO);
    OK_F(opt.remote && plan.nnodes == 1 && opt.first_nodes.count == 1 && opt.spares.count == 2 &&
             !strcmp(opt.spares.items[1].name, "b.invalid"),
         "unless spawned jobs may");
    EQ(prepare("-all-nodes prog"), LAUNCH_GO);
    OK(!opt.remote && !opt.spares.count);
    EQ(prepare("-hosts 2001:db8::1 nowhere-but-there"), LAUNCH_GO);
    OK_F(opt.remote && !opt.here && !strcmp(plan.apps[0].path, "nowhere-but-there"),
         "a program that only others have is theirs to find");
    check_bad("-f bad prog", LAUNCH_USAGE, "bad:2: the number of slots");
    check_bad("-f absent prog", LAUNCH_USAGE, "host file absent: No such file");
    check_bad("-f bin prog", LAUNCH_USAGE, "host file bin: Is a directory");
    check_bad("-f nodes -hosts a prog", LAUNCH_USAGE, "use either");
    check_bad("-map-by rank prog", LAUNCH_USAGE, "-map-by rank");
    check_bad("-hosts localhost -nooversubscribe -n 2 prog", LAUNCH_USAGE, "1 slots");
    check_bad("-ppn 2 -map-by ppr:1:node prog", LAUNCH_USAGE, "use either");
    EQ(prepare("-map-by ppr:3:node prog"), LAUNCH_GO);
    EQ(plan.nprocs, 3);
}

static void test_ranks(void)
{
    EQ(prepare("-rankfile ranks prog"), LAUNCH_GO);
    OK(opt.remote && plan.nprocs == 3 && plan.nnodes == 2 && plan.nodes[1].slots == 2);
    OK(!strcmp(plan.nodes[0].name, "a.invalid") && plan.procs[1].node == 1 &&
       plan.procs[2].local_rank == 1);
    OK_F(!strcmp(plan.procs[0].binding, "as that node can") && !plan.procs[0].cpus,
         "the processors of another node are not known here");
    OK_F(plan.procs[1].cpus && !strncmp(plan.procs[1].binding, "slot 0:*, ", 10), "but ours are");
    OK(!plan.procs[2].binding);
    EQ(prepare("-launcher fork -hosts a.invalid,localhost -map-by rankfile:file=relative prog"),
       LAUNCH_GO);
    OK(plan.nprocs == 2 && !strcmp(plan.nodes[0].name, "localhost"));
    EQ(prepare("-launcher fork -map-by seq:file=nodes prog"), LAUNCH_GO);
    OK(plan.nprocs == 3 && plan.procs[2].node == 1);
    check_bad("-rankfile absent prog", LAUNCH_USAGE, "rank file absent: No such file");
    check_bad("-rankfile nodes prog", LAUNCH_USAGE, "nodes:1: expected 'rank N=NODE");
    check_bad("-rankfile relative prog", LAUNCH_USAGE,
              "relative:1: +n1 is a position in the node list");
    check_bad("-rankfile ranks -n 4 prog", LAUNCH_USAGE, "no line for rank 3");
    check_bad("-rankfile ranks -bind-to core prog", LAUNCH_USAGE, "use either");
    check_bad("-rankfile ranks -map-by node prog", LAUNCH_USAGE, "use either -map-by or -rankfile");
    check_bad("-rankfile ranks -ppn 2 prog", LAUNCH_USAGE, "use either -ppn or -rankfile");
    check_bad("-map-by seq -rankmap 0 prog", LAUNCH_USAGE, "use either -rankmap or -map-by seq");
    check_bad("-rank-by core -rankmap 0 prog", LAUNCH_USAGE, "use either -rank-by or -rankmap");
    check_bad("-rank-by core -rankfile ranks prog", LAUNCH_USAGE,
              "use either -rank-by or -rankfile");
    check_bad("-rank-by fork prog", LAUNCH_USAGE, "-rank-by fork: it must be");
    check_bad("-map-by rankfile prog", LAUNCH_USAGE, "-map-by rankfile needs a file");
    check_bad("-f nodes -map-by seq:file=nodes prog", LAUNCH_USAGE,
              "-hostfile already names the file");
    check_bad("-rankfile ranks -hosts localhost prog", LAUNCH_USAGE,
              "ranks:2: node a.invalid is not");
}

static void test_programs(void)
{
    check_bad("-n 2 no-such-program", LAUNCH_NOT_FOUND, "no-such-program: not found on PATH");
    check_bad("./no-such-program", LAUNCH_NOT_FOUND, "no such program");
    check_bad("./plain", LAUNCH_NOT_EXECUTABLE, "no permission to execute");
    check_bad("plain-on-path", LAUNCH_NOT_EXECUTABLE, "no permission to execute");
    check_bad("./bin", LAUNCH_NOT_EXECUTABLE, "is a directory");
    check_bad("/dev/null", LAUNCH_NOT_EXECUTABLE, "not a regular file");
    check_bad("plain/x", LAUNCH_NOT_FOUND, "no such program");
    check_bad("-wdir absent prog", LAUNCH_NOT_EXECUTABLE, "No such file");
    check_bad("-wdir plain prog", LAUNCH_NOT_EXECUTABLE, "not a directory");
    check_bad("-wdir bin ./here", LAUNCH_NOT_FOUND, "bin/./here");
    check_bad("-wdir bin here", LAUNCH_NOT_FOUND,
              "here: not found on PATH or in the working directory /");
    check_bad("plain", LAUNCH_NOT_EXECUTABLE, "./plain: no permission to execute");
    check_bad("bin", LAUNCH_NOT_FOUND, "bin: not found on PATH or in the working directory");
    check_bad("prog : absent-too", LAUNCH_NOT_FOUND, "absent-too");
    check_bad("-env PATH /nonexistent prog", LAUNCH_NOT_FOUND, "prog: not found on PATH");
    EQ(prepare("-env PATH ::bin prog"), LAUNCH_GO);
    EQ(prepare("-env PATH .: -wdir bin prog"), LAUNCH_GO);
    EQ(prepare("./here"), LAUNCH_GO);
    EQ(prepare("prog : here"), LAUNCH_GO);
    OK_F(!strcmp(plan.apps[1].path, "./here") && !strcmp(plan.apps[1].argv[0], "here"),
         "a program not on PATH is taken from the working directory: %s", plan.apps[1].path);
    EQ(prepare("-env PATH /nonexistent -wdir bin prog"), LAUNCH_GO);
    OK_F(strstr(plan.apps[0].path, "/bin/prog") && plan.apps[0].path[0] == '/', "the rank's: %s",
         plan.apps[0].path);
    self = "/usr/bin/mpiexec";
    EQ(prepare("here"), LAUNCH_GO);
    self = "/usr/bin/mpiexec.hydra";
    check_bad("here", LAUNCH_NOT_FOUND, "it is in the working directory: ./here");
    check_bad("plain", LAUNCH_NOT_FOUND, "plain: not found on PATH");
    EQ(prepare("./here"), LAUNCH_GO);
    self = "wireup";
    EQ(prepare("bin/prog"), LAUNCH_GO);
}

static void test_files(void)
{
    EQ(prepare("-l -configfile jobs"), LAUNCH_GO);
    OK(plan.napps == 2 && plan.nprocs == 3 && opt.prepend_rank);
    check_bad("-configfile absent", LAUNCH_USAGE, "configuration file absent: No such file");
    check_bad("-configfile bad", LAUNCH_NOT_FOUND, "bad:1: a: not found on PATH");
}

static void test_limits(void)
{
    struct rlimit old, low;

    check_bad("-n 0 prog", LAUNCH_USAGE, "-n must be a number");
    check_bad("-n 1000000 prog", LAUNCH_REFUSED, "1000000 processes ");
    check_bad("-n 600000 prog : -n 600000 prog", LAUNCH_REFUSED, "1200000 processes ");
    check_bad("-stdin 3 -n 3 prog", LAUNCH_USAGE, "-stdin 3: the job has only 3 ranks");
    check_bad("-output-from 3 -n 3 prog", LAUNCH_USAGE, "-output-from 3: the job has only 3 ranks");
    check_bad("-usize none prog", LAUNCH_USAGE, "-usize must be");
    EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){ 100, old.rlim_max };
    EQ(setrlimit(RLIMIT_NOFILE, &low), 0); /* the soft limit does not matter */
    EQ(localhost_has_room(30, 2, &err), 0);
    EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
    EQ(localhost_has_room(UINT64_C(1) << 60, 0, &err), LOCALHOST_FULL);
}

static void test_binding(void)
{
    EQ(prepare("-n 2 -bind-to hwthread -report-bindings prog"), LAUNCH_GO);
    OK(plan.procs[0].cpus && plan.procs[0].cpus_bytes >= sizeof(long) && plan.procs[0].binding);
    OK(strncmp(buf_cstr(&opt.answer), "rank 0 on ", 10) == 0);
    OK(strcmp(env_value(plan.apps[0].env, "HYDRA_USER_PROVIDED_BINDING"), "1") == 0);
    EQ(prepare("-n 2 -bind-to rr -dry-run prog"), LAUNCH_SHOW);
    OK(strstr(buf_cstr(&opt.answer), "hwthread "));
    EQ(prepare("-launcher fork -f bound -n 2 prog"), LAUNCH_GO);
    OK(plan.procs[0].binding && !plan.procs[1].binding);
    check_bad("-bind-to hyper prog", LAUNCH_USAGE, "-bind-to hyper: it must be");
    check_bad("-bind-to user:65000 prog", LAUNCH_REFUSED, "processor 65000");
    check_bad("-bind-to core:60000 prog", LAUNCH_REFUSED, "-bind-to core:60000: there are only");
    check_bad("-bind-to socket -map-by slot:pe=2 prog", LAUNCH_USAGE, "pe=2");
    EQ(prepare("-map-by slot:pe=1 prog"), LAUNCH_GO);
    OK(plan.procs[0].binding && strncmp(plan.procs[0].binding, "core ", 5) == 0);
    EQ(prepare("-map-by ppr:2:machine -bind-to machine prog"), LAUNCH_GO);
    EQ(plan.nprocs, 2);
}

/* The hardware of other machines is requested only if it matters, and then from all nodes that may
 * be used. */
static struct bind_machine *remote_machine(void *arg, const char *node)
{
    return strcmp(node, "n1.invalid") ? NULL : arg;
}

static void test_scouting(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct bind_machine m = { .looked = true };

    OK(topo_view_synthetic(&a, "pack:3 core:1 pu:1", &m.view, &err) == 0);
    m.allowed = m.view.kinds[TOPO_MACHINE].cpus[0];
    EQ(prepare("-hosts n1.invalid,localhost,n2.invalid -n 1 -map-by core -bind-to core prog"),
       LAUNCH_GO);
    OK(!opt.scouting);
    EQ(prepare("-hosts n1.invalid,localhost -map-by ppr:1:package -dry-run prog"), LAUNCH_SHOW);
    OK(!opt.scouting);
    EQ(prepare("-hosts n1.invalid,localhost,n2.invalid -n 4 -map-by ppr:1:package prog"),
       LAUNCH_GO);
    OK(opt.scouting && plan.nnodes == 3 && opt.node_hosts[2] && plan.apps[0].path);
    EQ(launch_prepare_again(&opt, &plan, remote_machine, &m, &err), LAUNCH_GO);
    OK(plan.nprocs == 4 && plan.nodes[0].nprocs == 3 && plan.nodes[0].slots == 3);
    OK(!strcmp(plan.nodes[plan.procs[3].node].name, "localhost") && plan.apps[0].path);
    EQ(prepare("-hosts n1.invalid,n2.invalid -map-by ppr:1:l2cache prog"), LAUNCH_GO);
    EQ(launch_prepare_again(&opt, &plan, remote_machine, &m, &err), LAUNCH_REFUSED);
    OK_F(!strcmp(err.text, "-map-by ppr: node n1.invalid has no l2cache"), "%s", err.text);
    EQ(prepare("-hosts n1.invalid:2 -rank-by package -stdin 7 prog"), LAUNCH_GO);
    OK(opt.scouting);
    EQ(launch_prepare_again(&opt, &plan, remote_machine, &m, &err), LAUNCH_USAGE);
    arena_free(&a);
}

static void test_shown(void)
{
    EQ(prepare("-n 2 --dry-run prog a\"b"), LAUNCH_SHOW);
    OK(strstr(buf_cstr(&opt.answer), "2 processes on 1 node\n"));
    EQ(prepare("-n 2 --dry-run --json prog a\"b\\"), LAUNCH_SHOW);
    OK(strstr(buf_cstr(&opt.answer), "\"argv\": [\"prog\", \"a\\\"b\\\\\"]"));
    EQ(prepare("--help"), LAUNCH_SHOW);
    EQ(launch_exit_code(LAUNCH_SHOW), 0);
    EQ(launch_exit_code(LAUNCH_GO), 0);
    EQ(launch_exit_code(-12), 125);
}

static void test_allocations(void)
{
    static const char *const lines[] = {
        "-n 2 prog x : -n 1 -wdir bin -env A 1 -x HOME ./prog",
        "-launcher fork -f nodes -order-nodes up -map-by node -n 5 -bind-to rr -dry-run prog",
        "-l -configfile jobs",
        "-launcher fork -hosts a,b -rankmap 0,1,1 -n 3 -report-bindings -envlist A,B prog",
        "-launcher fork -hosts a:2,b:2 -rank-by span -map-by core -bind-to core -dry-run prog",
        "-rankfile ranks -report-bindings prog",
    };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        unsigned n = 0;
        int rc;
        do {
            forget();
            fail_at = ++n;
            rc = prepare(lines[i]);
            fail_at = 0;
        } while (rc == -12 && strstr(err.text, "memory"));
        OK_F((rc == LAUNCH_GO || rc == LAUNCH_SHOW) && n > 3, "each of %u allocations may fail: %s",
             n - 1, lines[i]);
    }
}

int main(void)
{
    launch_options_init(&opt);
    job_map_init(&plan);
    umask(022);
    OK(mkdtemp(place) && chdir(place) == 0 && mkdir("bin", 0755) == 0);
    make_file("bin/prog", "#!/bin/sh\n", 0755);
    make_file("bin/plain-on-path", "", 0644);
    make_file("here", "#!/bin/sh\n", 0755);
    make_file("plain", "", 0644);
    make_file("nodes", "n1\nn2 slots=2\n", 0644);
    make_file("bound", "n1 binding=rr\nn2\n", 0644);
    make_file("ranks", "rank 1=localhost slot=0:*\nrank 0=a.invalid slot=4711\nrank 2=localhost\n",
              0644);
    make_file("relative", "rank 0=+n1\nrank 1=+n0\n", 0644);
    make_file("bad", "a\nb slots=0\n", 0644);
    make_file("jobs", "-n 1 prog\n-n 2 bin/prog\n", 0644);
    test_own_places();
    test_not_here();
    test_plan();
    test_nodes();
    test_ranks();
    test_allocation();
    test_programs();
    test_files();
    test_limits();
    test_binding();
    test_scouting();
    test_shown();
    test_allocations();
    forget();
    for (const char *const *f =
             (const char *const[]){ "bin/prog", "bin/plain-on-path", "here", "plain", "nodes",
                                    "bound", "bad", "jobs", "ranks", "relative", "line", "cores",
                                    "two", NULL };
         *f; f++)
        unlink(*f);
    OK(rmdir("bin") == 0 && chdir("/") == 0 && rmdir(place) == 0);
    return tap_done();
}
