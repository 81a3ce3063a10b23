/* second_job_words_test.c - how Slurm is asked for another job: its command, environment and
 * script; what the command answers. */
#include "launch/second_job_words.h"

#include <stdio.h>
#include <string.h>

#include "tests/tap.h"

static const char *const first_job[] = {
    "PATH=/bin",
    "SLURM_CONF=/etc/slurm.conf",
    "SLURM_JOB_ID=17",
    "SLURM_JOB_NODELIST=n[1-2]",
    "SLURM_JOB_PARTITION=fast",
    "SLURM_JOB_ACCOUNT=physics",
    "SLURM_JOB_QOS=",
    "SLURM_JOB_CPUS_PER_NODE=16(x2),8",
    "SLURM_JOB_END_TIME=1003660",
    "SBATCH_WAIT=1",
    "SRUN_DEBUG=3",
    "WIREUP_JOIN=old:1",
    "WIREUP_JOIN_TOKEN=old",
    "WIREUP_JOINS=kept",
    NULL,
};

static const char *const bare[] = { "SLURM_JOB_ID=17", NULL };

static bool has(char *const *list, const char *word)
{
    for (; *list; list++) {
        if (!strcmp(*list, word))
            return true;
    }
    return false;
}

static bool begins(char *const *list, const char *start)
{
    for (; *list; list++) {
        if (!strncmp(*list, start, strlen(start)))
            return true;
    }
    return false;
}

static struct second_job job(const char *const *envp)
{
    return (struct second_job){ .nodes = 3,
                                .slots = 4,
                                .request = 77,
                                .wireupd = "/opt/it's here/wireupd",
                                .where = "10.0.0.1:99 10.1.0.1:99",
                                .token = "wireup-key-secret",
                                .without = "n7",
                                .envp = (char *const *)(uintptr_t)envp,
                                .now_s = 1000000 };
}

static void test_words(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    struct second_job j = job(first_job);
    struct second_job_words w;
    struct errmsg err = { "" };
    char *const *words;

    OK(second_job_words(&a, "slurm", &j, &w, &err) == 0);
    words = (char *const *)(uintptr_t)w.submit;
    OK(!strcmp(w.submit[0], "sbatch") && has(words, "--parsable") && has(words, "--wait"));
    OK(has(words, "--nodes=3") && has(words, "--job-name=wireup-77"));
    OK(has(words, "--partition=fast") && has(words, "--account=physics") &&
       !begins(words, "--qos"));
    OK_F(has(words, "--cpus-per-task=16"), "as the first node of the first job");
    OK_F(has(words, "--time=61"), "not longer than that");
    OK(has(words, "--exclude=n[1-2],n7"));
    for (size_t i = 0; w.submit[i]; i++)
        OK_F(!strstr(w.submit[i], "secret"), "nothing secret: %s", w.submit[i]);
    OK(has(w.env, "PATH=/bin") && has(w.env, "SLURM_CONF=/etc/slurm.conf") &&
       has(w.env, "WIREUP_JOINS=kept"));
    OK(!begins(w.env, "SLURM_JOB") && !begins(w.env, "SBATCH_") && !begins(w.env, "SRUN_") &&
       !has(w.env, "WIREUP_JOIN=old:1") && !has(w.env, "WIREUP_JOIN_TOKEN=old"));
    OK(has(w.env, "WIREUP_JOIN=10.0.0.1:99 10.1.0.1:99") &&
       has(w.env, "WIREUP_JOIN_TOKEN=wireup-key-secret") && has(w.env, "WIREUP_JOIN_REQUEST=77"));
    OK(slice_starts(w.script, SLICE("#!/bin/sh\nexec srun --nodes=3 ")) &&
       strstr(w.script.ptr, " --cpus-per-task=16 '/opt/it'\\''s here/wireupd' --join --timeout ") &&
       strstr(w.script.ptr, " --slots 4\n") && !strstr(w.script.ptr, "secret"));
    second_job_words_wipe(&w);
    OK(!has(w.env, "WIREUP_JOIN_TOKEN=wireup-key-secret"));
    arena_free(&a);
}

/* What is not known is not said. */
static void test_bare(void)
{
    struct arena a = ARENA_NULL(1 << 20), none = ARENA_NULL(100);
    struct second_job j = job(bare);
    struct second_job_words w;
    struct errmsg err = { "" };
    char *const *words;

    j.slots = 0;
    j.without = "";
    OK(second_job_words(&a, "slurm", &j, &w, &err) == 0);
    words = (char *const *)(uintptr_t)w.submit;
    OK(!begins(words, "--exclude") && !begins(words, "--time") && !begins(words, "--partition") &&
       !begins(words, "--cpus-per-task"));
    OK(!strstr(w.script.ptr, "--slots") && !strstr(w.script.ptr, "--cpus-per-task"));
    OK_F(second_job_words(&none, "slurm", &j, &w, &err) < 0, "%s", err.text);
    arena_free(&a);
    arena_free(&none);
}

static void test_end_of_first(void)
{
    static const struct {
        const char *end, *want;
    } rows[] = {
        { "SLURM_JOB_END_TIME=1000059", "--time=1" },
        { "SLURM_JOB_END_TIME=900000", "--time=1" },
        { "SLURM_JOB_END_TIME=1000179", "--time=2" },
        { "SLURM_JOB_END_TIME=1000119", "--time=1" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const envp[] = { rows[i].end, NULL };
        struct arena a = ARENA_NULL(1 << 20);
        struct second_job j = job(envp);
        struct second_job_words w;
        struct errmsg err;
        OK_F(second_job_words(&a, "slurm", &j, &w, &err) == 0 &&
                 has((char *const *)(uintptr_t)w.submit, rows[i].want),
             "%s: %s", rows[i].end, rows[i].want);
        arena_free(&a);
    }
}

static void test_cancel(void)
{
    struct arena a = ARENA_NULL(1 << 20);
    const char **words = second_job_cancel(&a, "slurm", 77);

    OK(words && !strcmp(words[0], "scancel") &&
       has((char *const *)(uintptr_t)words, "--state=PENDING") &&
       has((char *const *)(uintptr_t)words, "--name=wireup-77"));
    OK(second_job_known("slurm") && !second_job_known("pbs") && !second_job_known(NULL));
    arena_free(&a);
}

static void test_answers(void)
{
    static const char too_long[] =
        "0123456789012345678901234567890123456789012345678901234567890123456789\n";
    static const char *const bad[] = { "",      "17",    "\n",
                                       "17x\n", " ;c\n", "Submitted batch job 17\n",
                                       too_long };
    static const struct {
        const char *errors, *want;
    } reasons[] = {
        { "", "" },
        { "\n\n", "" },
        { "sbatch: warning: a\nsbatch: error: Invalid account\n\n", "Invalid account" },
        { "sbatch: fatal: none", "fatal: none" },
        { "no such thing", "no such thing" },
    };
    char id[SECOND_JOB_ID + 1];

    OK(second_job_id(SLICE("17\n"), id) && !strcmp(id, "17"));
    OK(second_job_id(SLICE("17;north\nmore"), id) && !strcmp(id, "17"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK_F(!second_job_id(slice_str(bad[i]), id), "no number: '%s'", bad[i]);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        OK_F(slice_is(second_job_reason(slice_str(reasons[i].errors)), reasons[i].want),
             "reason: '%s'", reasons[i].want);
}

int main(void)
{
    test_words();
    test_bare();
    test_end_of_first();
    test_cancel();
    test_answers();
    return tap_done();
}
