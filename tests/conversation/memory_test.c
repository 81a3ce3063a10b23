/* memory_test.c - whole conversations in which the n-th request for memory is refused.
 *
 *   test-memory FILE...           scripts and recordings, as for test-conversation
 *
 * Each is played once undisturbed and counted; then once for every n with that one request refused,
 * and once with it and all later ones refused (as on a machine whose memory is really gone).
 * Nothing may crash or leak, and nobody may wait for ever: see play_blind(). */
#include <stdlib.h>
#include <string.h>

#include "tests/alloc.h"
#include "tests/conversation/golden.h"
#include "tests/conversation/play.h"
#include "tests/tap.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* One play; *requests_p gets how many requests the server made. */
static bool play(const struct script *s, uint64_t refused, bool on, const uint32_t *answers,
                 uint32_t *answers_p, uint64_t *requests_p)
{
    struct errmsg err = { "" };
    int64_t before = alloc_live(), lost;
    bool good;

    alloc_fail(refused, on);
    good = play_blind(s, answers, answers_p, &err) == 0;
    *requests_p = alloc_count();
    alloc_fail(0, false);
    lost = alloc_live() - before;
    if (!good)
        printf("# request %llu%s refused: %s\n", (unsigned long long)refused,
               on ? " and later" : "", err.text);
    if (lost)
        printf("# request %llu%s refused: %lld blocks are lost\n", (unsigned long long)refused,
               on ? " and later" : "", (long long)lost);
    return good && lost == 0;
}

static void play_file(const char *path)
{
    static uint32_t answers[WORLD_CLIENTS];
    size_t n = strlen(path);
    struct script s;
    struct errmsg err;
    uint64_t requests = 0, ignored;
    bool good = !strcmp(path + n - 4, ".txt") ? golden_load(&s, path, &err) == 0
                                              : script_load(&s, path, &err) == 0;

    memset(answers, 0, sizeof answers);
    good = good && play(&s, 0, false, NULL, answers, &requests) && requests > 0;
    for (uint64_t i = 1; good && i <= requests; i++)
        good = play(&s, i, false, answers, NULL, &ignored) &&
               play(&s, i, true, answers, NULL, &ignored);
    OK_F(good, "%s: %llu requests, each refused", base_name(path), (unsigned long long)requests);
    script_free(&s);
}

int main(int argc, char **argv)
{
    world_own_memory = alloc_pause;
    for (int i = 1; i < argc; i++)
        play_file(argv[i]);
    return tap_done();
}
