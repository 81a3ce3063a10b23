/* batch.c - see batch.h.  Reading order: one job with a launcher of its own; all of them. */
#include "launch/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/batch_jobs.h"

/* While each line has a launcher of its own. */
struct batch_apart {
    struct batch_file file;
    uint32_t running;
    sigset_t old_mask;
};

/* ---- one job ---- */

/* A group of its own: signals of the terminal come through us, and once. */
static void become(const struct batch_apart *b, char **argv)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigprocmask(SIG_SETMASK, &b->old_mask, NULL);
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0)
        execv("/proc/self/exe", argv);
    dprintf(STDERR_FILENO, "wireup: cannot start a launcher: %s\n", err_text(errno));
    _exit(launch_exit_code(LAUNCH_REFUSED));
}

static void start(struct batch_apart *b, struct batch_job *j)
{
    int argc;
    char **argv = batch_file_command(&b->file, "-wait", &j->words, &argc);
    pid_t pid = argv ? fork() : -1;

    if (pid == 0)
        become(b, argv);
    if (pid < 0) {
        batch_file_ended(&b->file, j, err_text_of_start(argv ? errno : ENOMEM),
                         launch_exit_code(LAUNCH_REFUSED));
        return;
    }
    j->begun_ns = clock_now_ns();
    j->pid = pid;
    b->running++;
}

static void ended(struct batch_apart *b, pid_t pid, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);

    for (uint32_t i = 0; i < b->file.next; i++) {
        struct batch_job *j = &b->file.jobs[i];
        if (j->pid != pid)
            continue;
        j->pid = 0;
        b->running--;
        batch_file_ended(&b->file, j, NULL, code);
        return;
    }
}

/* ---- all of them ---- */

static void reap(struct batch_apart *b)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        ended(b, pid, status);
}

/* No further job is started. */
static void interrupt(struct batch_apart *b, int sig)
{
    b->file.signal = sig;
    for (uint32_t i = 0; i < b->file.next; i++) {
        if (b->file.jobs[i].pid)
            kill(b->file.jobs[i].pid, sig);
    }
}

static void run_apart(struct batch_apart *b)
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
        while (batch_file_goes_on(&b->file) && b->running < b->file.most)
            start(b, &b->file.jobs[b->file.next++]);
        if (b->running == 0 && !batch_file_goes_on(&b->file))
            break;
        sig = sigwaitinfo(&set, NULL);
        if (sig == SIGCHLD)
            reap(b);
        else if (sig > 0)
            interrupt(b, sig);
    }
    sigprocmask(SIG_SETMASK, &b->old_mask, NULL);
}

bool batch_meant(int argc, char **argv)
{
    return batch_file_meant(argc, argv);
}

int batch_run(int argc, char **argv, const struct log *log)
{
    struct batch_apart b = { .running = 0 };
    int code = batch_file_open(&b.file, argc, argv, log);

    if (code == 0) {
        code = batch_file_is_plain(&b.file) ? batch_jobs_run(&b.file, log) : BATCH_JOBS_NOT;
        if (code == BATCH_JOBS_NOT) {
            run_apart(&b);
            code = batch_file_report(&b.file);
        }
    }
    batch_file_close(&b.file);
    return code;
}
