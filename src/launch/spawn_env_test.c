/* spawn_env_test.c - the environment of a spawned program: each info, their order, and wrong ones.
 */
#include "launch/spawn_env.h"

#include <string.h>

#include "launch/environ.h"
#include "tests/tap.h"
#include "base/env.h"

static struct arena a;
static char **env;
static struct errmsg err;

/* Infos as "KEY", "VALUE", ..., NULL, in an environment of three variables. */
static int build(const char *const *words)
{
    static char one[] = "ONE=1", path[] = "LIST=a:b", none[] = "NONE=", rank[] = "PMI_RANK=7";
    static char *inherited[] = { one, path, none, rank, NULL };
    struct spawn_pair infos[8];
    struct spawn_command c = { .infos = infos };

    arena_free(&a);
    err.text[0] = '\0';
    for (; words[2 * c.ninfos]; c.ninfos++)
        infos[c.ninfos] = (struct spawn_pair){ slice_str(words[2 * c.ninfos]),
                                               slice_str(words[2 * c.ninfos + 1]) };
    return spawn_env_build(&a, inherited, &c, &env, &err);
}

#define BUILD(...) build((const char *const[]){ __VA_ARGS__, NULL })

static bool is(const char *name, const char *value)
{
    const char *got = env_value(env, name);

    return got && value ? !strcmp(got, value) : got == value;
}

static void test_plain(void)
{
    EQ(build((const char *const[]){ NULL }), 0);
    OK(is("ONE", "1") && is("LIST", "a:b") && is("PMI_RANK", NULL));
    EQ(BUILD("env", "ONE=2\nTWO=a=b\n=x", "env", "THREE="), 0);
    OK(is("ONE", "2") && is("TWO", "a=b") && is("THREE", ""));
    EQ(BUILD(SPAWN_ENV_VALUE, "ONE=a\nb=c", SPAWN_ENV_VALUE, "PMI_RANK=1"), 0);
    OK_F(is("ONE", "a\nb=c") && is("PMI_RANK", NULL), "a whole value; and none of ours");
}

static void test_edits(void)
{
    EQ(BUILD(SPAWN_ENV_SET, "ONE=x=y", SPAWN_ENV_SET, "NEW=\n"), 0);
    OK(is("ONE", "x=y") && is("NEW", "\n"));
    EQ(BUILD(SPAWN_ENV_ADD, "ONE=2", SPAWN_ENV_ADD, "NEW=3", SPAWN_ENV_ADD, "NEW=4"), 0);
    OK(is("ONE", "1") && is("NEW", "3"));
    EQ(BUILD(SPAWN_ENV_UNSET, "ONE", SPAWN_ENV_UNSET, "LIS", SPAWN_ENV_UNSET, "NONE"), 0);
    OK(is("ONE", NULL) && is("LIST", "a:b") && is("NONE", NULL));
    EQ(BUILD(SPAWN_ENV_PREPEND, ":LIST=x", SPAWN_ENV_APPEND, ";LIST=y"), 0);
    OK(is("LIST", "x:a:b;y"));
    EQ(BUILD(SPAWN_ENV_PREPEND, ":NONE=x", SPAWN_ENV_APPEND, ":NEW=y"), 0);
    OK_F(is("NONE", "x") && is("NEW", "y"), "no separator beside nothing");
}

static void test_first(void)
{
    EQ(BUILD(SPAWN_ENV_FIRST, ":LIST=a", SPAWN_ENV_FIRST, ":ONE=1", SPAWN_ENV_FIRST, ":NEW=x"), 0);
    OK(is("LIST", "a:b") && is("ONE", "1") && is("NEW", "x"));
    EQ(BUILD(SPAWN_ENV_FIRST, ":LIST=b", SPAWN_ENV_FIRST, ":ONE=12"), 0);
    OK(is("LIST", "b:a:b") && is("ONE", "12:1"));
    EQ(BUILD(SPAWN_ENV_FIRST, ";LIST=a"), 0);
    OK_F(is("LIST", "a;a:b"), "another separator");
}

static void test_order(void)
{
    EQ(BUILD(SPAWN_ENV_SET, "ONE=2", SPAWN_ENV_UNSET, "ONE", SPAWN_ENV_ADD, "ONE=3", "env",
             "ONE=9"),
       0);
    OK(is("ONE", "3"));
    EQ(BUILD(SPAWN_ENV_UNSET, "LIST", SPAWN_ENV_APPEND, ":LIST=z"), 0);
    OK(is("LIST", "z"));
}

static void test_wrong(void)
{
    EQ(BUILD(SPAWN_ENV_SET, "NOTHING"), SPAWN_BAD_REQUEST);
    EQ(BUILD(SPAWN_ENV_SET, "=x"), SPAWN_BAD_REQUEST);
    EQ(BUILD(SPAWN_ENV_UNSET, ""), SPAWN_BAD_REQUEST);
    EQ(BUILD(SPAWN_ENV_UNSET, "A=b"), SPAWN_BAD_REQUEST);
    EQ(BUILD(SPAWN_ENV_PREPEND, ""), SPAWN_BAD_REQUEST);
    EQ(BUILD(SPAWN_ENV_PREPEND, ":"), SPAWN_BAD_REQUEST);
    EQ(BUILD(SPAWN_ENV_SET, "PMIX_RANK=3"), SPAWN_BAD_REQUEST);
    OK(strstr(err.text, "env-set: the process manager alone sets the variable PMIX_RANK"));
    EQ(BUILD(SPAWN_ENV_UNSET, "PMI_FD"), SPAWN_BAD_REQUEST);
}

int main(void)
{
    arena_init(&a, 1 << 20);
    test_plain();
    test_edits();
    test_first();
    test_order();
    test_wrong();
    arena_free(&a);
    return tap_done();
}
