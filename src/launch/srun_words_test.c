/* srun_words_test.c - command lines of srun, and what they become. */
#include <errno.h>
#include <string.h>

#include "launch/options.h"
#include "launch/options_table.h"
#include "launch/srun_words.h"
#include "launch/options_doc.h"
#include "tests/tap.h"

static struct arena arena;
static struct srun_words words;
static struct errmsg err;

static int programs(const char *path, struct buf *out)
{
    if (!strcmp(path, "none"))
        return -ENOENT;
    buf_str(out, !strcmp(path, "two")      ? "# ranks\n0-1 a x\n2 b\n"
                 : !strcmp(path, "rest")   ? "0 master 'a b'\n* worker\n"
                 : !strcmp(path, "own")    ? "0 a\n1-2 b -r %t -o %o\n"
                 : !strcmp(path, "gap")    ? "0 a\n2 b\n"
                 : !strcmp(path, "/nodes") ? "n[1-2]\n\n  n4,n5\n"
                 : !strcmp(path, "empty")  ? "\n"
                                           : "0\n");
    return 0;
}

static int translate_with(const char *line, const char *wait)
{
    static char text[4096];
    char *argv[256];
    int argc = 0;

    snprintf(text, sizeof text, "%s", line);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " "))
        argv[argc++] = at;
    argv[argc] = NULL;
    arena_free(&arena);
    buf_free(&words.answer);
    buf_free(&words.remarks);
    words = (struct srun_words){ .answer = BUF_NULL(1 << 16),
                                 .remarks = BUF_NULL(1 << 16),
                                 .wait = wait };
    err.text[0] = '\0';
    return srun_words_translate(&arena, argc, argv, programs, &words, &err);
}

static int translate(const char *line)
{
    return translate_with(line, NULL);
}

static const char *joined(void)
{
    static char text[8192];
    size_t n = 0;

    text[0] = '\0';
    for (int i = 1; i < words.argc; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i > 1 ? " " : "", words.argv[i]);
    return words.argv[words.argc] ? "(no NULL at the end)" : text;
}

/* What Slurm's defaults are here. */
#define GO_ON "-disable-auto-cleanup "
#define INPUT "-stdin all "

static const struct {
    const char *line, *want;
} good[] = {
    { "srun p", GO_ON INPUT "p" },
    { "wireup srun p -n 3", GO_ON INPUT "p -n 3" },
    { "/usr/bin/srun -- -p", GO_ON INPUT "-p" },
    { "srun -n4 p", "-n 4 " GO_ON INPUT "p" },
    { "srun -n 4 p", "-n 4 " GO_ON INPUT "p" },
    { "srun -n=4 p", "-n 4 " GO_ON INPUT "p" },
    { "srun --ntasks=4 p", "-n 4 " GO_ON INPUT "p" },
    { "srun --ntasks 4 p", "-n 4 " GO_ON INPUT "p" },
    { "srun -N2 p", "-n 2 -ppn 1 " GO_ON INPUT "p" },
    { "srun -N 2 -n 5 p", "-n 5 -ppn 3 " GO_ON INPUT "p" },
    { "srun --nodes=1-3 p", "-n 3 -ppn 1 " GO_ON INPUT "p" },
    { "srun --ntasks-per-node=2 -n 4 p", "-ppn 2 -n 4 " GO_ON INPUT "p" },
    { "srun --ntasks-per-n 2 p", "-ppn 2 " GO_ON INPUT "p" },
    { "srun -c2 p", "-cpus-per-rank 2 " GO_ON INPUT "p" },
    { "srun -w n[1-2] p", "-hosts n1,n2 " GO_ON INPUT "p" },
    { "srun -w n[1-3] -x n2 p", "-hosts n1,n3 " GO_ON INPUT "p" },
    { "srun --ntasks-per-socket=2 p", "-map-by ppr:2:socket " GO_ON INPUT "p" },
    { "srun --cpu-bind=mask_cpu:0x3,10 p", "-bind-to user:0+1,4 " GO_ON INPUT "p" },
    { "srun --gpus-per-task=2 --hint=nomultithread p",
      "-gpus-per-rank 2 -bind-to core " GO_ON INPUT "p" },
    { "srun -p debug -A me --mem=1G p", GO_ON INPUT "p" },
    { "srun -lO p", "-prepend-rank -oversubscribe " GO_ON INPUT "p" },
    { "srun -ln3 p", "-prepend-rank -n 3 " GO_ON INPUT "p" },
    { "srun -K p", INPUT "p" },
    { "srun -K1 p", INPUT "p" },
    { "srun --kill-on-bad-exit=0 p", GO_ON INPUT "p" },
    { "srun -i none p", "-stdin none " GO_ON "p" },
    { "srun --input=2 p", "-stdin 2 " GO_ON "p" },
    { "srun -n 8 -w n[1-2] -m plane=2 p", "-hosts n1,n2 -n 8 -ppn 2 " GO_ON INPUT "p" },
    { "srun -N 2 -n 4 -m plane=2 p", "-n 4 -ppn 2 " GO_ON INPUT "p" },
    { "srun -F /nodes p", "-hosts n1,n2,n4,n5 " GO_ON INPUT "p" },
    { "srun -w /nodes -x n[4-5] p", "-hosts n1,n2 " GO_ON INPUT "p" },
    { "srun --tres-per-task=cpu=4,gres/gpu:a100=2 p",
      "-cpus-per-rank 4 -gpus-per-rank 2 " GO_ON INPUT "p" },
    { "srun --tres-bind=gres/gpu:closest --test-only p", "-dry-run " GO_ON INPUT "p" },
    { "srun --tasks-per-node=2 --cpu_bind=none p", "-ppn 2 -bind-to none " GO_ON INPUT "p" },
    { "srun --propagate --exclusive --exclusive=user --x11 -k --no-kill=off p",
      "-disable-auto-cleanup " GO_ON INPUT "p" },
    { "srun -m block p", "-map-by slot " GO_ON INPUT "p" },
    { "srun -m cyclic p", "-map-by node " GO_ON INPUT "p" },
    { "srun -m block:cyclic p", "-map-by socket " GO_ON INPUT "p" },
    { "srun -m * p", GO_ON INPUT "p" },
    { "srun --cpu-bind=cores p", "-bind-to core " GO_ON INPUT "p" },
    { "srun --cpu-bind=verbose,none p", "-report-bindings -bind-to none " GO_ON INPUT "p" },
    { "srun --cpu-bind=map_cpu:0,2 p", "-bind-to user:0,2 " GO_ON INPUT "p" },
    { "srun -o out.%t.%N p",
      "-outfile-pattern out.%r.%h " GO_ON INPUT "-errfile-pattern out.%r.%h p" },
    { "srun -o o.%j -e e.%J.%% p",
      "-outfile-pattern o.%n -errfile-pattern e.%n.%% " GO_ON INPUT "p" },
    { "srun -o none p", "-outfile-pattern /dev/null " GO_ON INPUT "p" },
    { "srun -o 3 p", "-output-from 3 " GO_ON INPUT "p" },
    { "srun --export=ALL,A=b p", "-envall -x A=b " GO_ON INPUT "p" },
    { "srun --export NONE p", "-envnone " GO_ON INPUT "p" },
    { "srun --export=A,B=c p", "-envnone -x A -x B=c " GO_ON INPUT "p" },
    { "srun -t 5 p", "-timeout 300 " GO_ON INPUT "p" },
    { "srun -t 1:30 p", "-timeout 90 " GO_ON INPUT "p" },
    { "srun -t 1:0:1 p", "-timeout 3601 " GO_ON INPUT "p" },
    { "srun -t 1-2 p", "-timeout 93600 " GO_ON INPUT "p" },
    { "srun -t 1-0:0:5 p", "-timeout 86405 " GO_ON INPUT "p" },
    { "srun -t 5 --signal=USR1@30 p", "-timeout 300 -timeout-signal USR1@30 " GO_ON INPUT "p" },
    { "srun -W 30 p", "-exit-timeout 30 " GO_ON INPUT "p" },
    { "srun --wait=0 p", "-exit-timeout warn:60 " GO_ON INPUT "p" },
    { "srun --threads-per-core=1 --open-mode=t p", "-bind-to core " GO_ON INPUT "p" },
    { "srun --threads-per-core=2 --quit-on-interrupt p", "-bind-to hwthread " GO_ON INPUT "p" },
    { "srun --ntasks-per-gpu=2 p", "-ranks-per-device 2 " GO_ON INPUT "p" },
    { "srun --mpi=pmix -J name -u -X p", "-raw-output " GO_ON INPUT "p" },
    { "srun -D /tmp -v -Q p", "-wdir /tmp -verbose -quiet " GO_ON INPUT "p" },
    { "srun -n 1 a : -n 2 b c", "-n 1 " GO_ON INPUT "a : -n 2 " GO_ON INPUT "b c" },
    { "srun --multi-prog two", GO_ON INPUT "-n 2 a x : -n 1 b" },
    { "srun -n 4 --multi-prog rest", GO_ON INPUT "-n 1 master a b : -n 3 worker" },
    { "srun --multi-prog own", GO_ON INPUT "-n 1 a : -n 1 b -r 1 -o 0 : -n 1 b -r 2 -o 1" },
};

static const struct {
    const char *line, *sentence;
} bad[] = {
    { "srun", "srun: no program to run" },
    { "srun -n", "srun --ntasks needs a value: N" },
    { "srun -n 0 p", "--ntasks: '0' is not a number from 1 on" },
    { "srun -N x p", "--nodes: 'x' is not a number" },
    { "srun --bogus p", "srun: unknown option '--bogus'" },
    { "srun -z p", "srun: unknown option '-z'" },
    { "srun --no 3 p", "unknown option '--no'" },
    { "srun --nodefile=empty p", "--nodefile: empty names no node" },
    { "srun --nodefile=none p", "--nodefile: cannot read none: No such file" },
    { "srun --tres-per-task=license/x=1 p", "'license/x=1' is not supported: cpu=N" },
    { "srun --tres-per-task=cpu p", "'' is not a number from 1 on" },
    { "srun --tres-bind=gres/x:none p", "'gres/x:none' is not supported" },
    { "srun --container-workdir /w p",
      "srun --container-workdir is not supported: with --container-image" },
    { "srun --no-kill=2 p", "'2' is not supported: off" },
    { "srun --pty p", "srun --pty is not supported: processes have no terminal" },
    { "srun --signal=B:USR1 p", "'B:USR1' is not supported: SIGNAL or SIGNAL@SECONDS" },
    { "srun -W x p", "--wait: 'x' is not a number of seconds" },
    { "srun --open-mode=append p", "redirect the output of srun" },
    { "srun --threads-per-core=x p", "'x' is not a number from 1 on" },
    { "srun -x n1 p", "give the nodes to use by -w" },
    { "srun --label=3 p", "--label: it takes no value" },
    { "srun -m plane=0 p", "'0' is not a number from 1 on" },
    { "srun -N 2 -n 8 -m plane=2 p", "2 nodes take 4 tasks in one turn" },
    { "srun -m plane=2:block p", "'plane=2:block' is not supported" },
    { "srun -m cyclic:cyclic p", "'cyclic:cyclic' is not supported" },
    { "srun --cpu-bind=mask_cpu:0xg p", "'0xg' is not a mask of processors" },
    { "srun -w n1 -x n1 p", "leaves no node" },
    { "srun -i file p", "redirect the file" },
    { "srun -o a%s p", "'%s' in 'a%s' is not supported" },
    { "srun --kill-on-bad-exit=2 p", "'2' is neither 0 nor 1" },
    { "srun -t 1:2:3:4 p", "'1:2:3:4' is not a time" },
    { "srun -t x p", "'x' is not a time" },
    { "srun --multi-prog none", "cannot read none: No such file" },
    { "srun --multi-prog gap", "'2' must begin with rank 1" },
    { "srun --multi-prog bare", "line 1 of bare has no program" },
    { "srun -n 5 --multi-prog two", "two has programs for 3 ranks, not for all of -n" },
    { "srun --multi-prog two x", "it needs one word" },
};

/* Every row of synonyms.def for srun: what it becomes, with the value 2. */
static void try_row(const struct synonym *s, struct slice name)
{
    struct buf meant = BUF_NULL(4096);
    bool is_long = name.len > 1, bare = !s->arg || s->arg[0] == '[';
    char line[256], want[512];
    int rc;

    snprintf(line, sizeof line, "srun %s" SLICE_FMT "%s p", is_long ? "--" : "-", SLICE_ARG(name),
             bare      ? ""
             : is_long ? "=2"
                       : " 2");
    rc = translate(strcmp(s->names, "multi-prog") ? line : "srun --multi-prog two");
    if (s->means && s->kind == SYNONYM_AS)
        options_put_as(&meant, s->means, "2");
    snprintf(want, sizeof want, "%s%s" GO_ON INPUT "p", buf_len(&meant) ? buf_cstr(&meant) : "",
             buf_len(&meant) ? " " : "");
    switch (s->kind) {
    case SYNONYM_AS:
        OK_F(rc == LAUNCH_GO && (s->names[0] == 'm' || !strcmp(joined(), want)), "%s", line);
        break;
    case SYNONYM_NOTED:
        OK_F(rc == LAUNCH_GO && strstr(buf_cstr(&words.remarks), s->means), "%s", line);
        break;
    case SYNONYM_REFUSED: OK_F(rc == LAUNCH_USAGE && strstr(err.text, s->means), "%s", line); break;
    default: OK_F(s->kind == SYNONYM_READ && !strstr(err.text, "unknown"), "%s", line); break;
    }
    buf_free(&meant);
}

static void test_wait_of_variable(void)
{
    OK(translate_with("srun -n 1 p : q", "30") == LAUNCH_GO &&
       !strcmp(joined(), "-exit-timeout 30 -n 1 " GO_ON INPUT "p : " GO_ON INPUT "q"));
    OK(translate_with("srun p", "0") == LAUNCH_GO &&
       !strcmp(joined(), "-exit-timeout warn:60 " GO_ON INPUT "p"));
    OK(translate_with("srun -W 5 p", "30") == LAUNCH_GO &&
       !strcmp(joined(), "-exit-timeout 30 -exit-timeout 5 " GO_ON INPUT "p"));
    OK(translate_with("srun p", "") == LAUNCH_GO && !strcmp(joined(), GO_ON INPUT "p"));
    OK(translate_with("srun p", "soon") == LAUNCH_USAGE &&
       !strcmp(err.text, "the variable SLURM_WAIT: 'soon' is not a number of seconds"));
}

int main(void)
{
    char mpiexec[] = "mpiexec", srun[] = "srun", path[] = "/x/srun";
    char *hydra[] = { mpiexec, srun, NULL }, *by_name[] = { path, NULL };

    arena_init(&arena, 1 << 24);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int rc = translate(good[i].line);
        if (!OK_F(rc == LAUNCH_GO && !strcmp(joined(), good[i].want), "%s", good[i].line))
            printf("# got %d %s: %s\n", rc, err.text, rc ? "" : joined());
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int rc = translate(bad[i].line);
        if (!*bad[i].sentence)
            continue;
        if (!OK_F(rc == LAUNCH_USAGE && strstr(err.text, bad[i].sentence), "%s: %s", bad[i].line,
                  bad[i].sentence))
            printf("# got %d: %s\n", rc, err.text);
    }
    OK(translate("srun --mpi=list") == LAUNCH_SHOW && buf_len(&words.answer) > 0);
    OK(translate("srun -p debug --mem=1G p") == LAUNCH_GO &&
       !strcmp(
           buf_cstr(&words.remarks),
           "srun --partition has no effect: there is no scheduler; -w names the nodes, or run it "
           "inside salloc\nsrun --mem has no effect: memory is not limited\n"));
    OK(translate("srun --help") == LAUNCH_SHOW && buf_len(&words.answer) > 1000);
    OK(translate("srun -n 2 --usage p") == LAUNCH_SHOW && buf_len(&words.answer) > 1000);
    for (size_t i = 0; i < synonym_count; i++) {
        struct synonym s = synonym_at(i);
        struct slice rest = slice_str(s.names), name;
        while (s.mode == SYNONYM_LINE_srun && option_next_name(&rest, &name))
            try_row(&s, name);
    }
    test_wait_of_variable();
    OK(!srun_words_meant(2, hydra) && srun_words_meant(1, by_name));
    arena_free(&arena);
    buf_free(&words.answer);
    buf_free(&words.remarks);
    return tap_done();
}
