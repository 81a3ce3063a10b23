/* conversation_test.c - plays every script and recording that it is given.
 *
 *   test-conversation FILE...     *.wut are scripts (script.h), *.txt recordings (golden.h)
 *
 * Each is played as it is written, with every message sent byte by byte, and cut off at every byte
 * of every message (of long ones: at 500 places).  Recordings also go through the codec. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/conversation/golden.h"
#include "tests/conversation/play.h"
#include "tests/tap.h"

enum { CUTS_PER_MESSAGE = 500 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_recording(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && !strcmp(path + n - 4, ".txt");
}

static void report(bool good, const char *path, const char *how, const struct errmsg *err)
{
    if (!OK_F(good, "%s %s", base_name(path), how))
        printf("# %s\n", err->text);
}

static void cut_everywhere(const struct script *s, const char *path)
{
    struct errmsg err = { "" };
    unsigned cuts = 0;
    bool good = true;

    for (uint32_t i = 0; i < s->nsteps && good; i++) {
        size_t len = s->steps[i].text.len, step = len / CUTS_PER_MESSAGE + 1;
        if (s->steps[i].kind != STEP_SEND)
            continue;
        for (size_t n = 0; n <= len && good; n += step, cuts++) {
            good = play_cut(s, i, n, &err) == 0;
            if (!good)
                printf("# cut behind byte %zu of %zu\n", n, len);
        }
    }
    report(good, path, "cut at every byte", &err);
    printf("# %u cuts\n", cuts);
}

static void play_file(const char *path, int log_fd)
{
    struct errmsg err = { "" };
    struct script s;
    unsigned messages = 0;
    int rc = is_recording(path) ? golden_load(&s, path, &err) : script_load(&s, path, &err);

    if (rc == 0) {
        report(play_run(&s, PLAY_WHOLE, log_fd, &err) == 0, path, s.title, &err);
        report(play_run(&s, PLAY_BYTEWISE, log_fd, &err) == 0, path, "byte by byte", &err);
        cut_everywhere(&s, path);
    } else {
        report(false, path, "can be read", &err);
    }
    if (is_recording(path))
        report(golden_codec(path, &messages, &err) == 0 && messages > 0, path,
               "is read and written again", &err);
    script_free(&s);
}

int main(int argc, char **argv)
{
    int log_fd = memfd_create("log", MFD_CLOEXEC);

    for (int i = 1; i < argc; i++)
        play_file(argv[i], log_fd);
    close(log_fd);
    return tap_done();
}
