/* batch_file.c - see batch_file.h.  Reading order: words; lines; what they ask for; results. */
#include "launch/batch_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/limit.h"
#include "launch/dvm_find.h"
#include "launch/localhost.h"
#include "launch/options_table.h"

enum { BATCH_FILE_MAX = 64 << 20, BATCH_ARENA_MAX = 512 << 20 };

/* ---- words ---- */

static bool is_option(const char *word)
{
    return word[0] == '-' && word[1];
}

static bool find_row(const char *word, struct option_row *row_p)
{
    struct slice name = slice_str(word + strspn(word, "-"));

    return option_find(slice_head(name, slice_find(name, '=')), row_p);
}

static bool is_row(const char *word, const char *name)
{
    struct option_row row;

    return find_row(word, &row) && slice_is(option_name(&row), name);
}

/* The words behind that option that are its values; next NULL: nothing follows. */
static uint32_t values_of(const char *word, const char *next)
{
    struct option_row row;

    if (strchr(word, '=') || !find_row(word, &row))
        return 0;
    if (next && !strchr(next, '=') && strstr(row.arg ? row.arg : "", "NAME VALUE"))
        return 2;
    return option_values(&row);
}

static const char *word_after(char *const *words, uint32_t count, uint32_t i)
{
    return i + 1 < count ? words[i + 1] : NULL;
}

/* Where -batch is among the options of `wireup run`; 0: it is not, or only behind the program. */
static int find_batch(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "run") != 0)
        return 0;
    for (int i = 2; i < argc && argv[i][0] == '-'; i += 1 + (int)values_of(argv[i], argv[i + 1])) {
        if (is_row(argv[i], "batch"))
            return i;
    }
    return 0;
}

bool batch_file_meant(int argc, char **argv)
{
    return find_batch(argc, argv) > 0;
}

/* The value of an option with one: in the word, or the next one. */
static const char *value_at(char *const *words, uint32_t count, uint32_t i)
{
    const char *value = strchr(words[i], '=');

    return value ? value + 1 : i + 1 < count ? words[i + 1] : NULL;
}

/* The file, and the words around it.  False: no memory. */
static bool read_words(struct batch_file *b, int argc, char **argv)
{
    int at = find_batch(argc, argv), after;
    bool joined = strchr(argv[at], '=');

    b->file = value_at(argv, (uint32_t)argc, (uint32_t)at);
    after = at + (joined ? 1 : 2);
    b->options = arena_array(&b->arena, (size_t)argc + 1, sizeof *b->options);
    for (int i = 2; b->options && i < argc; i++) {
        if (i >= at && i < after)
            continue;
        if (is_row(argv[i], "batch-stop"))
            b->stops = true;
        else
            b->options[b->noptions++] = argv[i];
        b->json |= is_option(argv[i]) && is_row(argv[i], "json");
    }
    return b->options != NULL;
}

/* ---- lines ---- */

static bool add_job(struct batch_file *b, struct mpmd_words words, unsigned line)
{
    struct batch_job *jobs = grow_by_one(b->jobs, sizeof *jobs, b->njobs, &b->room, 64);

    if (!jobs)
        return false;
    b->jobs = jobs;
    b->jobs[b->njobs++] = (struct batch_job){ .words = words, .line = line, .job = UINT32_MAX };
    return true;
}

/* 0, or the exit code. */
static int read_jobs(struct batch_file *b)
{
    struct config_reader in = { .name = b->file, .line = 1 };
    int rc = localhost_read_file(b->file, &b->text);
    struct mpmd_words words;
    struct errmsg err;
    unsigned line;

    if (rc < 0) {
        log_error(b->log, "-batch %s: %s", b->file, err_text(rc));
        return launch_exit_code(LAUNCH_USAGE);
    }
    in.text = buf_slice(&b->text);
    while ((rc = mpmd_config_next(&b->arena, &in, &words, &line, &err)) == 0) {
        if (!add_job(b, words, line))
            rc = -ENOMEM;
    }
    if (rc == MPMD_END)
        return 0;
    log_error(b->log, "%s", rc == MPMD_BAD ? err.text : err_text(rc));
    return launch_exit_code(rc == MPMD_BAD ? LAUNCH_USAGE : LAUNCH_REFUSED);
}

/* As many jobs at once as the DVM has slots.  0, or the exit code. */
static int find_most(struct batch_file *b)
{
    const char *name = NULL;
    struct dvm_place dvm;
    struct errmsg err;

    for (uint32_t i = 0; i < b->noptions; i++) {
        if (is_row(b->options[i], "dvm"))
            name = value_at(b->options, b->noptions, i);
    }
    if (dvm_find(name, &dvm, &err) != 0) {
        log_error(b->log, "-batch runs jobs on a DVM: %s", err.text);
        return launch_exit_code(LAUNCH_REFUSED);
    }
    b->most = dvm.slots < 1 ? 1 : dvm.slots > LIMIT_BATCH_AT_ONCE ? LIMIT_BATCH_AT_ONCE : dvm.slots;
    return 0;
}

int batch_file_open(struct batch_file *b, int argc, char **argv, const struct log *log)
{
    int code;

    *b = (struct batch_file){ .log = log, .text = BUF_NULL(BATCH_FILE_MAX) };
    arena_init(&b->arena, BATCH_ARENA_MAX);
    if (!read_words(b, argc, argv)) {
        log_error(log, "out of memory");
        return launch_exit_code(LAUNCH_REFUSED);
    }
    if (!b->file) {
        log_error(log, "usage: wireup run -batch FILE [OPTIONS]");
        return launch_exit_code(LAUNCH_USAGE);
    }
    code = read_jobs(b);
    return code ? code : find_most(b);
}

void batch_file_close(struct batch_file *b)
{
    free(b->jobs);
    b->jobs = NULL;
    buf_free(&b->text);
    arena_free(&b->arena);
}

char **batch_file_command(struct batch_file *b, const char *first, const struct mpmd_words *line,
                          int *argc_p)
{
    static char wireup[] = "wireup", run[] = "run";
    char **argv = arena_array(&b->arena, (size_t)b->noptions + line->count + 4, sizeof *argv);
    int n = 0;

    if (!argv)
        return NULL;
    argv[n++] = wireup;
    argv[n++] = run;
    if (first)
        argv[n++] = (char *)(uintptr_t)first;
    for (uint32_t i = 0; i < b->noptions; i++)
        argv[n++] = b->options[i];
    for (uint32_t i = 0; i < line->count; i++)
        argv[n++] = line->items[i];
    argv[n] = NULL;
    *argc_p = n;
    return argv;
}

/* ---- what they ask for ---- */

static bool is_in(const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_row(word, names[i]))
            return true;
    }
    return false;
}

/* Only options of a program: those of the table, up to the next ':'. */
static bool plain_words(const struct mpmd_words *w, bool common)
{
    static const char *const own[] = { "n",       "wdir",   "pset", "env",  "envlist",
                                       "envnone", "envall", "x",    "genv", "genvlist" };
    static const char *const all[] = { "dvm",          "hosts",           "wait", "json", "quiet",
                                       "prepend-rank", "prepend-pattern", "ppn" };
    bool inside = false;

    for (uint32_t i = 0; i < w->count; i++) {
        const char *word = w->items[i];
        if (inside || !strcmp(word, ":")) {
            inside = strcmp(word, ":") != 0;
            continue;
        }
        if (!is_option(word)) {
            inside = true;
            continue;
        }
        if (!is_in(word, own, sizeof own / sizeof *own) &&
            !(common && is_in(word, all, sizeof all / sizeof *all)))
            return false;
        i += values_of(word, word_after(w->items, w->count, i));
    }
    return true;
}

bool batch_file_is_plain(const struct batch_file *b)
{
    const struct mpmd_words common = { b->options, b->noptions };

    if (!plain_words(&common, true))
        return false;
    for (uint32_t i = 0; i < b->njobs; i++) {
        if (!plain_words(&b->jobs[i].words, false))
            return false;
    }
    return true;
}

static uint64_t number_at(const struct mpmd_words *w, uint32_t i)
{
    const char *value = value_at(w->items, w->count, i);
    uint32_t n;

    return value && slice_u32(slice_str(value), &n) ? n : 1;
}

/* The sum of its -n, each program's at least 1 (or that of the options). */
static uint64_t processes_of(const struct mpmd_words *w, uint64_t usual)
{
    uint64_t sum = 0, here = usual;
    bool inside = false;

    for (uint32_t i = 0; i < w->count; i++) {
        if (!strcmp(w->items[i], ":")) {
            sum += here;
            here = usual;
            inside = false;
        } else if (!inside && is_option(w->items[i])) {
            here = is_row(w->items[i], "n") ? number_at(w, i) : here;
            i += values_of(w->items[i], word_after(w->items, w->count, i));
        } else {
            inside = true;
        }
    }
    return sum + here;
}

uint32_t batch_file_processes(const struct batch_file *b, uint32_t *largest_p)
{
    const struct mpmd_words common = { b->options, b->noptions };
    uint64_t usual = processes_of(&common, 1), sum = 0, largest = 1;

    for (uint32_t i = 0; i < b->njobs; i++) {
        uint64_t n = processes_of(&b->jobs[i].words, usual);
        largest = n > largest ? n : largest;
        sum += n;
    }
    *largest_p = largest > UINT32_MAX ? UINT32_MAX : (uint32_t)largest;
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* ---- results ---- */

bool batch_file_goes_on(const struct batch_file *b)
{
    return !b->signal && b->next < b->njobs && !(b->stops && b->nfailed);
}

static void print_result(const struct batch_file *b, const struct batch_job *j, int code)
{
    struct buf out = BUF_NULL(1 << 16);
    uint64_t ns = j->begun_ns ? clock_now_ns() - j->begun_ns : 0;
    struct json o;

    json_init(&o, &out);
    json_object(&o, NULL);
    json_str(&o, "schema", "wireup-batch-1");
    json_str(&o, "file", b->file);
    json_u64(&o, "line", j->line);
    json_i64(&o, "exit_code", code);
    json_decimal(&o, "seconds", (double)ns / 1e9, 6);
    json_object_end(&o);
    json_done(&o);
    buf_byte(&out, '\n');
    log_text(b->log, buf_slice(&out));
    buf_free(&out);
}

void batch_file_ended(struct batch_file *b, const struct batch_job *j, const char *why, int code)
{
    if (b->json)
        print_result(b, j, code);
    if (!code)
        return;
    if (!b->json || why)
        log_warn(b->log, "%s:%u: %s%sexit status %d%s", b->file, j->line, why ? why : "",
                 why ? " (" : "", code, why ? ")" : "");
    if (b->nfailed++ == 0 || j->line < b->first_failed) {
        b->first_failed = j->line;
        b->code = code;
    }
}

int batch_file_report(const struct batch_file *b)
{
    if (b->signal)
        log_error(b->log, "interrupted: %u of %u jobs were not started", b->njobs - b->next,
                  b->njobs);
    else if (b->next < b->njobs)
        log_error(b->log, "-batch-stop: %u of %u jobs were not started", b->njobs - b->next,
                  b->njobs);
    if (b->nfailed)
        log_error(b->log, "%u of %u jobs failed", b->nfailed, b->njobs);
    return b->signal ? 128 + b->signal : b->code;
}
