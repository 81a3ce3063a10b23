/* batch.c - see batch.h.  Reading order: the jobs of the file; one job; all of them. */
#include "launch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/limit.h"
#include "launch/dvm_find.h"
#include "launch/localhost.h"
#include "launch/mpmd.h"
#include "launch/options.h"
#include "launch/options_table.h"

enum { BATCH_FILE_MAX = 64 << 20, BATCH_ARENA_MAX = 512 << 20 };

struct batch_job {
    struct mpmd_words words;
    unsigned line;
    pid_t pid; /* 0: it does not run */
};

struct batch_file {
    const struct log *log;
    const char *file;
    char **options; /* NULL-terminated */
    uint32_t noptions;
    struct arena arena;
    struct buf text;
    struct batch_job *jobs;
    uint32_t njobs, room, next; /* the first that has not been started */
    uint32_t running, most;     /* at once */
    uint32_t nfailed;
    unsigned first_failed; /* line */
    int code, signal;      /* of that one; that has interrupted us, or 0 */
    sigset_t old_mask;
};

static bool is_word(const char *word, const char *name)
{
    size_t dashes = strspn(word, "-");

    return dashes > 0 && !strcmp(word + dashes, name);
}

/* The values behind that option; they are no options themselves. */
static uint32_t values_of(const char *word)
{
    struct option_row row;

    return !strchr(word, '=') && option_find(slice_str(word + strspn(word, "-")), &row)
               ? option_values(&row)
               : 0;
}

/* Where -batch is among the options of `wireup run`; 0: it is not, or only behind the program. */
static int find_batch(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[1], "run") != 0)
        return 0;
    for (int i = 2; i < argc && argv[i][0] == '-'; i += 1 + (int)values_of(argv[i])) {
        if (is_word(argv[i], "batch") || !strncmp(argv[i] + strspn(argv[i], "-"), "batch=", 6))
            return i;
    }
    return 0;
}

bool batch_meant(int argc, char **argv)
{
    return find_batch(argc, argv) > 0;
}

/* ---- the jobs of the file ---- */

static bool add_job(struct batch_file *b, struct mpmd_words words, unsigned line)
{
    struct batch_job *jobs = grow_by_one(b->jobs, sizeof *jobs, b->njobs, &b->room, 64);

    if (!jobs)
        return false;
    b->jobs = jobs;
    b->jobs[b->njobs++] = (struct batch_job){ .words = words, .line = line };
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
        if (!strncmp(b->options[i] + strspn(b->options[i], "-"), "dvm=", 4))
            name = strchr(b->options[i], '=') + 1;
        else if (is_word(b->options[i], "dvm") && i + 1 < b->noptions)
            name = b->options[i + 1];
    }
    if (dvm_find(name, &dvm, &err) != 0) {
        log_error(b->log, "-batch runs jobs on a DVM: %s", err.text);
        return launch_exit_code(LAUNCH_REFUSED);
    }
    b->most = dvm.slots < 1 ? 1 : dvm.slots > LIMIT_BATCH_AT_ONCE ? LIMIT_BATCH_AT_ONCE : dvm.slots;
    return 0;
}

/* ---- one job ---- */

/* `wireup run -wait OPTIONS WORDS`; NULL: no memory. */
static char **command_of(struct batch_file *b, const struct batch_job *j)
{
    static char wireup[] = "wireup", run[] = "run", wait[] = "-wait";
    char **argv = arena_array(&b->arena, (size_t)b->noptions + j->words.count + 4, sizeof *argv);

    if (!argv)
        return NULL;
    argv[0] = wireup;
    argv[1] = run;
    argv[2] = wait;
    for (uint32_t i = 0; i < b->noptions; i++)
        argv[3 + i] = b->options[i];
    for (uint32_t i = 0; i < j->words.count; i++)
        argv[3 + b->noptions + i] = j->words.items[i];
    argv[3 + b->noptions + j->words.count] = NULL;
    return argv;
}

/* A group of its own: signals of the terminal come through us, and once. */
static void become(const struct batch_file *b, char **argv)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    sigprocmask(SIG_SETMASK, &b->old_mask, NULL);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static void note_failure(struct batch_file *b, const struct batch_job *j, const char *what,
                         int code)
{
    log_warn(b->log, "%s:%u: %s %d", b->file, j->line, what, code);
    if (b->nfailed++ == 0 || j->line < b->first_failed) {
        b->first_failed = j->line;
        b->code = code;
    }
}

static void start(struct batch_file *b, struct batch_job *j)
{
    char **argv = command_of(b, j);
    pid_t pid = argv ? fork() : -1;

    if (pid == 0)
        become(b, argv);
    if (pid < 0) {
        note_failure(b, j, "cannot start it: error", argv ? errno : ENOMEM);
        return;
    }
    j->pid = pid;
    b->running++;
}

static void ended(struct batch_file *b, pid_t pid, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

    for (uint32_t i = 0; i < b->next; i++) {
        struct batch_job *j = &b->jobs[i];
        if (j->pid != pid)
            continue;
        j->pid = 0;
        b->running--;
        if (code)
            note_failure(b, j, "exit status", code);
        return;
    }
}

/* ---- all of them ---- */

static void reap(struct batch_file *b)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        ended(b, pid, status);
}

/* No further job is started. */
static void interrupt(struct batch_file *b, int sig)
{
    b->signal = sig;
    for (uint32_t i = 0; i < b->next; i++) {
        if (b->jobs[i].pid)
            kill(b->jobs[i].pid, sig);
    }
}

static void run_all(struct batch_file *b)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &b->old_mask);
    for (;;) {
        int sig;
        while (!b->signal && b->next < b->njobs && b->running < b->most)
            start(b, &b->jobs[b->next++]);
        if (b->running == 0 && (b->signal || b->next == b->njobs))
            break;
        sig = sigwaitinfo(&set, NULL);
        if (sig == SIGCHLD)
            reap(b);
        else if (sig > 0)
            interrupt(b, sig);
    }
    sigprocmask(SIG_SETMASK, &b->old_mask, NULL);
}

static int report(const struct batch_file *b)
{
    if (b->signal)
        log_error(b->log, "interrupted: %u of %u jobs were not started", b->njobs - b->next,
                  b->njobs);
    if (b->nfailed)
        log_error(b->log, "%u of %u jobs failed", b->nfailed, b->njobs);
    return b->signal ? 128 + b->signal : b->code;
}

/* The file, and the words around it.  False: no memory. */
static bool read_words(struct batch_file *b, int argc, char **argv)
{
    int at = find_batch(argc, argv), after;
    char *value = strchr(argv[at], '=');

    b->file = value ? value + 1 : at + 1 < argc ? argv[at + 1] : NULL;
    after = at + (value ? 1 : 2);
    b->options = arena_array(&b->arena, (size_t)argc + 1, sizeof *b->options);
    for (int i = 2; b->options && i < argc; i++) {
        if (i < at || i >= after)
            b->options[b->noptions++] = argv[i];
    }
    return b->options != NULL;
}

int batch_run(int argc, char **argv, const struct log *log)
{
    struct batch_file b = { .log = log, .text = BUF_NULL(BATCH_FILE_MAX) };
    int code;

    arena_init(&b.arena, BATCH_ARENA_MAX);
    if (!read_words(&b, argc, argv)) {
        log_error(log, "out of memory");
        return launch_exit_code(LAUNCH_REFUSED);
    }
    if (!b.file) {
        arena_free(&b.arena);
        log_error(log, "usage: wireup run -batch FILE [OPTIONS]");
        return launch_exit_code(LAUNCH_USAGE);
    }
    code = read_jobs(&b);
    if (code == 0)
        code = find_most(&b);
    if (code == 0) {
        run_all(&b);
        code = report(&b);
    }
    free(b.jobs);
    buf_free(&b.text);
    arena_free(&b.arena);
    return code;
}
