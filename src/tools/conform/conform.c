/* conform.c - `wireup-conform`, which `wireup conform` becomes: does a server, or a client, of
 * PMI-1, PMI-2 and PMIx say what the golden transcripts say?
 *
 *   wireup-conform [--json] [--timeout SECONDS] [--only ROWS] [--transcripts FOLDER] --server
 * LAUNCHER WORDS... wireup-conform [--json] [--timeout SECONDS] [-n N] --client PROGRAM WORDS...
 *
 * It starts itself again as a rank of the launcher's jobs, and as a relay between a client and its
 * server.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/conform/client_rows.h"
#include "tools/conform/rank.h"
#include "tools/conform/relay.h"
#include "tools/conform/server_rows.h"
#include "tools/conform/transcript_files.h"

enum { EXIT_USAGE = 2, TIMEOUT_S = 20, TRANSCRIPTS_MAX = 64 << 20 };

struct conform {
    char self[PATH_MAX];
    bool json, is_server;
    uint32_t timeout_s, ranks;
    const char *only, *transcripts; /* a folder; NULL: those that are built in */
    char **words;                   /* of the launcher or the program; NULL: none */
};

static int usage(void)
{
    fprintf(
        stderr,
        "wireup: usage: wireup conform [--json] [--timeout SECONDS] [--only ROWS] "
        "[--transcripts FOLDER] --server LAUNCHER...\n"
        "wireup:        wireup conform [--json] [--timeout SECONDS] [-n N] --client PROGRAM...\n");
    return EXIT_USAGE;
}

static bool number(const char *word, uint32_t most, uint32_t *value_p)
{
    return word && slice_u32(slice_str(word), value_p) && *value_p > 0 && *value_p <= most;
}

/* Words after --server or --client are its own. */
static bool read_words(struct conform *c, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i] + strspn(argv[i], "-");
        if (!strcmp(word, "json")) {
            c->json = true;
        } else if (!strcmp(word, "timeout")) {
            if (!number(argv[++i], 3600, &c->timeout_s))
                return false;
        } else if (!strcmp(word, "only")) {
            c->only = argv[++i];
        } else if (!strcmp(word, "transcripts")) {
            c->transcripts = argv[++i];
        } else if (!strcmp(word, "n")) {
            if (!number(argv[++i], TRANSCRIPT_RANKS, &c->ranks))
                return false;
        } else if (!strcmp(word, "server") || !strcmp(word, "client")) {
            c->is_server = word[0] == 's';
            c->words = argv + i + 1;
            return c->words[0] != NULL;
        } else {
            return false;
        }
    }
    return false;
}

static bool examine_server(const struct conform *c, const struct stage_config *config,
                           struct verdicts *v, struct errmsg *err)
{
    struct buf text = BUF_NULL(TRANSCRIPTS_MAX);
    bool good = !c->transcripts || transcript_files_read(c->transcripts, &text, err);

    good = good && server_rows(config, c->transcripts ? buf_slice(&text) : transcripts_built_in(),
                               c->only, v, err);
    buf_free(&text);
    return good;
}

static int examine(const struct conform *c)
{
    struct stage_config config = { c->words, c->self, (int)c->timeout_s * 1000 };
    struct verdicts v;
    struct errmsg err = { "" };
    int code = EXIT_USAGE;
    bool good;

    verdicts_init(&v);
    good = c->is_server ? examine_server(c, &config, &v, &err)
                        : client_rows(&config, c->ranks, &v, &err);
    if (good)
        code = verdicts_print(&v, c->is_server ? "server" : "client", c->words[0], c->json);
    else
        fprintf(stderr, "wireup: conform: %s\n", err.text);
    verdicts_free(&v);
    return code;
}

int main(int argc, char **argv)
{
    struct conform c = { .timeout_s = TIMEOUT_S, .ranks = 2 };
    ssize_t n = readlink("/proc/self/exe", c.self, sizeof c.self - 1);

    signal(SIGPIPE, SIG_IGN);
    if (n <= 0)
        return EXIT_USAGE;
    c.self[n] = '\0';
    if (argc == 3 && !strcmp(argv[1], RANK_WORD))
        return rank_run(argv[2]);
    if (argc > 4 && !strcmp(argv[1], RELAY_WORD))
        return relay_run(argv[2], argv[3], argv + 4);
    return read_words(&c, argc, argv) ? examine(&c) : usage();
}
