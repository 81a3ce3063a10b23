/* spawn_output_test.c - how the output of a spawned job is shown: labels, files, and wrong words.
 */
#include "launch/spawn_output.h"

#include <string.h>

#include "tests/tap.h"

static struct job_map plan;
static struct errmsg err;

/* Infos as "KEY", "VALUE", ..., NULL, of the second command of two. */
static int read_words(const char *const *words)
{
    struct spawn_pair infos[6];
    struct spawn_command c[2] = { { .nprocs = 1 }, { .infos = infos } };

    job_map_free(&plan);
    job_map_init(&plan);
    plan.apps = arena_array(&plan.arena, 2, sizeof *plan.apps);
    plan.apps[0].wdir = "/home/100%";
    for (; words[2 * c[1].ninfos]; c[1].ninfos++)
        infos[c[1].ninfos] = (struct spawn_pair){ slice_str(words[2 * c[1].ninfos]),
                                                  slice_str(words[2 * c[1].ninfos + 1]) };
    return spawn_output_read(&plan, c, 2, &err);
}

#define READ(...) read_words((const char *const[]){ __VA_ARGS__, NULL })

static bool is(const char *got, const char *want)
{
    return got && want ? !strcmp(got, want) : got == want;
}

static void test_labels(void)
{
    EQ(read_words((const char *const[]){ NULL }), 0);
    OK(!plan.output.label && !plan.output.outfile && !plan.output.errfile && !plan.output.merged);
    EQ(READ(SPAWN_OUT_TAG, "1"), 0);
    OK(is(plan.output.label, "[%g,%r] "));
    EQ(READ(SPAWN_OUT_RANK, "1", SPAWN_OUT_TIME, "1"), 0);
    OK(is(plan.output.label, "[%t] [%r] "));
    EQ(READ(SPAWN_OUT_NAME, "1", SPAWN_OUT_TAG, "1"), 0);
    OK(is(plan.output.label, "[%n,%r] "));
    EQ(READ(SPAWN_OUT_NODE, "1", SPAWN_OUT_TIME, "1"), 0);
    OK(is(plan.output.label, "[%t] [%g,%r][%h:%i] "));
    EQ(READ(SPAWN_OUT_MERGE, "1"), 0);
    OK(plan.output.merged && !plan.output.label);
}

static void test_files(void)
{
    EQ(READ(SPAWN_OUT_EACH, "/tmp/a%b"), 0);
    OK(is(plan.output.outfile, "/tmp/a%%b.%r") && is(plan.output.errfile, "/tmp/a%%b.%r"));
    EQ(READ(SPAWN_OUT_FILE, "x"), 0);
    OK(is(plan.output.outfile, "/home/100%%/x.%n.%r.stdout"));
    OK(is(plan.output.errfile, "/home/100%%/x.%n.%r.stderr"));
    EQ(READ(SPAWN_OUT_FILE, "/x%r", SPAWN_OUT_PATTERN, "1"), 0);
    OK(is(plan.output.outfile, "/x%r") && is(plan.output.errfile, "/x%r"));
    EQ(READ(SPAWN_OUT_DIRECTORY, "/d", SPAWN_OUT_MERGE, "1"), 0);
    OK(is(plan.output.outfile, "/d/%n/rank.%r/stdout") &&
       plan.output.errfile == plan.output.outfile);
    EQ(READ(SPAWN_OUT_DIRECTORY, "/d", SPAWN_OUT_FILE, "/x"), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "use either output-file or output-directory"));
}

int main(void)
{
    job_map_init(&plan);
    test_labels();
    test_files();
    job_map_free(&plan);
    return tap_done();
}
