/* chooser.c - what MPICH 5 does before its first word to a process manager: it chooses between
 * PMI-1, PMI-2 and PMIx by its environment, and ends the process if it finds no way or two.
 * chooser.sh compiles it as the library of a program, or into it, with the protocols that the
 * library was "built for": WITH_PMI1, WITH_PMI2, WITH_PMIX.  Without CHOOSES it is an earlier
 * MPICH, which takes the first one unless it is told another.
 *
 * One line on standard output: the rank, the size, and the protocol that answered.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_PMIX
#include <pmix.h>
#endif

enum version { VERSION_AUTO, VERSION_1, VERSION_2, VERSION_X };

#ifdef WITH_PMI1
#define HAS_PMI1 true
#else
#define HAS_PMI1 false
#endif
#ifdef WITH_PMI2
#define HAS_PMI2 true
#else
#define HAS_PMI2 false
#endif
#ifdef WITH_PMIX
#define HAS_PMIX true
#else
#define HAS_PMIX false
#endif

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "chooser: %s\n", why);
    exit(3);
}

/* ---- the choice ---- */

static enum version asked(enum version otherwise)
{
    static const char *const names[] = { "MPICH_PMI_VERSION", "MPIR_PARAM_PMI_VERSION",
                                         "MPIR_CVAR_PMI_VERSION" };
    const char *word = NULL;

    if (getenv("MPIR_CVAR_DEBUG_CVARS")) /* it has that variable, too */
        fputs("debugging\n", stderr);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        word = getenv(names[i]) ? getenv(names[i]) : word;
    if (!word)
        return otherwise;
    return !strcmp(word, "auto") ? otherwise
           : !strcmp(word, "1")  ? VERSION_1
           : !strcmp(word, "2")  ? VERSION_2
           : !strcmp(word, "x")  ? VERSION_X
                                 : (fail("an unknown version"), VERSION_1);
}

#ifdef CHOOSES
static enum version choose(void)
{
    bool pmi = getenv("PMI_SIZE") || (getenv("PMI_PORT") && getenv("PMI_ID"));
    bool pmix = getenv("PMIX_NAMESPACE") != NULL;

    if (pmi && pmix)
        fail("ambiguous: PMI_SIZE and PMIX_NAMESPACE");
    if (pmi && !HAS_PMI1 && !HAS_PMI2)
        fail("useless: only PMI");
    if (pmix && !HAS_PMIX)
        fail("useless: only PMIx");
    if (!pmi && !pmix)
        fail("nothing: a singleton");
    return pmix ? VERSION_X : HAS_PMI1 ? VERSION_1 : VERSION_2;
}
#endif

static enum version version(void)
{
#ifdef CHOOSES
    enum version v = asked(VERSION_AUTO);
    if (v == VERSION_AUTO)
        return choose();
#else
    enum version v = asked(VERSION_1);
#endif
    if (v == VERSION_1 && !HAS_PMI1)
        v = HAS_PMI2 ? VERSION_2 : VERSION_X;
    if ((v == VERSION_2 && !HAS_PMI2) || (v == VERSION_X && !HAS_PMIX))
        fail("it was not built for this version");
    return v;
}

/* ---- the first words ---- */

static int number(const char *name)
{
    if (!getenv(name))
        fail(name);
    return atoi(getenv(name));
}

static void write_all(const char *words)
{
    if (write(number("PMI_FD"), words, strlen(words)) != (ssize_t)strlen(words))
        fail("cannot write");
}

/* Reads up to a newline, or that many bytes; the answer must be in them. */
static void expect(const char *answer, size_t most)
{
    char line[1024] = "";
    size_t n = 0;

    while (n < most && read(number("PMI_FD"), line + n, 1) == 1 && line[n] != '\n')
        n++;
    if (!strstr(line, answer))
        fail(line);
}

static void send_line(const char *words, const char *answer)
{
    write_all(words);
    expect(answer, 1023);
}

/* After the first line PMI-2 has six digits of length before each message. */
static void send_framed(const char *words, const char *answer)
{
    char frame[256], length[7] = "";

    snprintf(frame, sizeof frame, "%6zu%s", strlen(words), words);
    write_all(frame);
    for (size_t n = 0; n < 6; n++) {
        if (read(number("PMI_FD"), length + n, 1) != 1)
            fail("no answer");
    }
    if (atoi(length) < 1 || atoi(length) > 1023)
        fail(length);
    expect(answer, (size_t)atoi(length));
}

static void by_pmi1(void)
{
    send_line("cmd=init pmi_version=1 pmi_subversion=1\n", "rc=0");
    send_line("cmd=finalize\n", "finalize_ack");
    printf("%d of %d by PMI-1\n", number("PMI_RANK"), number("PMI_SIZE"));
}

static void by_pmi2(void)
{
    char init[64];

    snprintf(init, sizeof init, "cmd=fullinit;pmirank=%d;threaded=FALSE;", number("PMI_RANK"));
    send_line("cmd=init pmi_version=2 pmi_subversion=0\n", "pmi_version=2");
    send_framed(init, "rc=0");
    send_framed("cmd=finalize;", "rc=0");
    printf("%d of %d by PMI-2\n", number("PMI_RANK"), number("PMI_SIZE"));
}

#ifdef WITH_PMIX
static void by_pmix(void)
{
    pmix_proc_t me, all;
    pmix_value_t *size;

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        fail("PMIx_Init");
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size) != PMIX_SUCCESS)
        fail("PMIx_Get");
    printf("%u of %u by PMIx\n", me.rank, size->data.uint32);
    PMIX_VALUE_RELEASE(size);
    PMIx_Finalize(NULL, 0);
}
#else
static void by_pmix(void)
{
}
#endif

int chooser_init(void);

int chooser_init(void)
{
    enum version v = version();

    if (v == VERSION_X)
        by_pmix();
    else if (v == VERSION_2)
        by_pmi2();
    else
        by_pmi1();
    return 0;
}

#ifdef WHOLE
int main(void)
{
    return chooser_init();
}
#endif
