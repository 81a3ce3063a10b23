/* environ_test.c - which variables reach a program, and which value wins. */
#include <string.h>

#include "base/buf.h"
#include "base/env.h"
#include "tests/tap.h"
#include "launch/environ.h"

static const char *const strings[] = {
    "HOME=/h",
    "A=inherited",
    "B=1",
    "PMI_RANK=3",
    "PMI_DEBUG=1",
    "PATH=/bin",
    "nonsense",
    "=x",
    "PMIX_SERVER_URI2=u",
    "PMIX_MCA_x=1",
    "OMPI_COMM_WORLD_RANK=1",
    "OMPI_MCA_ess=pmi",
    "FLUX_JOB_ID=7",
    "SLURM_JOB_ID=1",
    "PMI_RANKS=5",
    NULL,
};

#define inherited ((char *const *)(uintptr_t)strings)

static struct arena arena;

static void set(struct env_rules *r, const char *name, const char *value)
{
    environ_set(&arena, r, slice_str(name), slice_str(value));
}

static void check(const struct env_rules *job, const struct env_rules *block,
                  const struct env_rules *manager, const char *expected)
{
    struct buf out = BUF_NULL(65536);
    char **env = NULL;
    int rc = environ_build(&arena, inherited, job, block, manager, &env);

    for (int i = 0; rc == 0 && env[i]; i++)
        buf_printf(&out, "%s%s", i ? " " : "", env[i]);
    if (!OK_F(rc == 0 && buf_cstr(&out) && strcmp(buf_cstr(&out), expected) == 0, "%s", expected))
        printf("# got %s\n", buf_cstr(&out));
    buf_free(&out);
}

#define ALL                                                                                        \
    "HOME=/h A=inherited B=1 PMI_DEBUG=1 PATH=/bin PMIX_MCA_x=1 OMPI_MCA_ess=pmi "                 \
    "FLUX_JOB_ID=7 SLURM_JOB_ID=1 PMI_RANKS=5"

static void test_forwarding(void)
{
    struct env_rules none = { 0 }, job = { 0 }, block = { 0 };

    check(&none, &none, &none, ALL);
    job.forward = ENV_NONE;
    check(&job, &none, &none, "HOME=/h PATH=/bin");
    block.forward = ENV_ALL;
    check(&job, &block, &none, ALL);
    block.forward = ENV_LIST;
    EQ(environ_list(&arena, &block, SLICE("B, FLUX_JOB_ID,PMI_RANK,ABSENT")), 0);
    check(&job, &block, &none, "HOME=/h B=1 PATH=/bin FLUX_JOB_ID=7");
    EQ(environ_export(&arena, &job, SLICE("A")), 0);
    EQ(environ_export(&arena, &job, SLICE("ABSENT")), 0);
    check(&job, &none, &none, "HOME=/h A=inherited PATH=/bin");
}

static void test_priority(void)
{
    struct env_rules none = { 0 }, job = { 0 }, block = { 0 }, manager = { 0 }, low = { 0 };

    job.forward = ENV_NONE;
    set(&job, "A", "job");
    check(&job, &none, &none, "HOME=/h PATH=/bin A=job");
    set(&job, "A", "later");
    check(&job, &none, &none, "HOME=/h PATH=/bin A=later");
    set(&block, "A", "block");
    set(&block, "C", "");
    check(&job, &block, &none, "HOME=/h PATH=/bin A=block C=");
    set(&block, "PMI_RANK", "9"); /* only the manager may set its variables... */
    check(&job, &block, &none, "HOME=/h PATH=/bin A=block C=");
    set(&manager, "PMI_RANK", "7"); /* ...as here */
    set(&manager, "A", "manager");
    check(&job, &block, &manager, "HOME=/h PATH=/bin C= PMI_RANK=7 A=manager");
    set(&low, "A", "default");
    set(&low, "D", "default");
    environ_defaults(&job, &low);
    check(&job, &none, &none, "HOME=/h PATH=/bin D=default A=later");
    OK(!low.sets);
    environ_defaults(&none, &job);
    set(&none, "E", "1");
    none.forward = ENV_NONE;
    check(&none, &low, &low, "HOME=/h PATH=/bin D=default A=later E=1");
    environ_export(&arena, &block, SLICE("A")); /* the inherited one after all */
    check(&none, &block, &low, "HOME=/h A=inherited PATH=/bin D=default E=1 C=");
}

static void test_names(void)
{
    struct env_rules r = { 0 };

    EQ(environ_set(&arena, &r, SLICE(""), SLICE("x")), ENVIRON_BAD_NAME);
    EQ(environ_set(&arena, &r, SLICE("a=b"), SLICE("x")), ENVIRON_BAD_NAME);
    EQ(environ_export(&arena, &r, SLICE("a=b")), ENVIRON_BAD_NAME);
    EQ(environ_list(&arena, &r, SLICE("a,,b")), ENVIRON_BAD_NAME);
    EQ(environ_list(&arena, &r, SLICE("")), ENVIRON_BAD_NAME);
    OK(environ_reserved(SLICE("PMI_FD")) && environ_reserved(SLICE("PMIX_SERVER_URI41")));
    OK(!environ_reserved(SLICE("PMI_FDX")) && !environ_reserved(SLICE("PMI")));
    OK(!environ_reserved(SLICE("")) && !environ_reserved(SLICE("HOME")));
    OK(strcmp(env_value(inherited, "A"), "inherited") == 0 && !env_value(inherited, "AB"));
    OK(!env_value(NULL, "A"));
}

/* A hundred thousand settings take linear time. */
static void test_many(void)
{
    struct env_rules r = { .forward = ENV_NONE }, none = { 0 };
    char **env = NULL;
    int n = 0;

    for (int i = 0; i < 100000; i++) {
        char name[32];
        snprintf(name, sizeof name, "V%d", i % 50000);
        set(&r, name, i < 50000 ? "first" : "last");
    }
    EQ(environ_build(&arena, inherited, &r, &none, &none, &env), 0);
    while (env && env[n])
        n++;
    EQ(n, 50002);
    OK(env && strcmp(env[n - 1], "V49999=last") == 0);
}

/* A launcher inside a job does not pass its own rank on; what the user sets is passed on. */
static void test_nested(void)
{
    static const char *const outer[] = { "RANK=3", "MASTER_PORT=7", "A=1", NULL, NULL };
    const char *nested[5];
    struct env_rules none = { 0 }, job = { 0 };
    char **env;

    memcpy(nested, outer, sizeof outer);
    OK(environ_build(&arena, (char *const *)(uintptr_t)nested, &none, &none, &none, &env) == 0 &&
       env_value(env, "RANK") && env_value(env, "A"));
    nested[3] = "WIREUP_ENV_STYLE=torch";
    set(&job, "MASTER_PORT", "8");
    OK(environ_build(&arena, (char *const *)(uintptr_t)nested, &job, &none, &none, &env) == 0 &&
       !env_value(env, "RANK") && !env_value(env, "WIREUP_ENV_STYLE") && env_value(env, "A") &&
       strcmp(env_value(env, "MASTER_PORT"), "8") == 0);
}

int main(void)
{
    arena_init(&arena, 256 << 20);
    test_forwarding();
    test_priority();
    test_names();
    test_many();
    test_nested();
    arena_free(&arena);
    return tap_done();
}
