/* silent_launcher.c - see silent_launcher.h. */
#include "launch/silent_launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/slice.h"
#include "io/procstat.h"

/* /proc/PID/comm is that. */
static bool is_called(pid_t pid, const char *name)
{
    char path[40], text[32];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text);
    close(fd);
    return n > 0 && slice_is(slice_mem(text, (size_t)n - (text[n - 1] == '\n')), name);
}

static bool is_stopped(const struct procstat *st)
{
    return st->state == 'T' || st->state == 't';
}

/* The supervisor, which the user has started, has the worker as its child. */
bool silent_launcher_look(const struct launcher_name *who, struct silent_launcher *s)
{
    struct procstat st, of_parent;

    if (procstat_read(who->pid, &st) < 0 || st.state == 'Z' || is_called(who->pid, "wireupd"))
        return false;
    *s = (struct silent_launcher){ who->pid, who->pid, .stopped = is_stopped(&st) };
    if (!is_called(st.parent, "wireup") || procstat_read(st.parent, &of_parent) < 0)
        return true;
    s->pid = st.parent;
    s->both = s->stopped && is_stopped(&of_parent);
    return true;
}

bool silent_launcher_may_answer(const struct launcher_name *who)
{
    struct procstat st;

    return procstat_read(who->pid, &st) == 0 && !is_stopped(&st) && !is_called(who->pid, "wireupd");
}

void silent_launcher_note_wait(const struct launcher_name *who, const struct log *log)
{
    struct silent_launcher s;

    if (log && isatty(STDERR_FILENO) && silent_launcher_look(who, &s))
        log_warn(log, "waiting for the launcher with pid %d, which has not answered for %d s",
                 (int)s.pid, LIMIT_CONTROL_REPLY_MS / 1000);
}

bool silent_launcher_wait(int fd, const struct launcher_name *who, int patience_ms,
                          const struct log *log)
{
    struct pollfd p = { fd, POLLIN, 0 };
    uint64_t begun = clock_now_ns();
    bool noted = false;

    for (;;) {
        int64_t waited = (int64_t)((clock_now_ns() - begun) / NS_PER_MS);
        int64_t left = patience_ms - waited;
        int step = left > SILENT_LAUNCHER_STEP_MS ? SILENT_LAUNCHER_STEP_MS
                   : left > 0                     ? (int)left
                                                  : 0;
        int n = poll(&p, 1, step);
        if (n > 0)
            return true;
        if (n == 0 && (left <= 0 || !silent_launcher_may_answer(who)))
            return false;
        if (!noted && waited >= LIMIT_CONTROL_REPLY_MS) {
            silent_launcher_note_wait(who, log);
            noted = true;
        }
    }
}

void silent_launcher_warn(const struct silent_launcher *s, const struct log *log)
{
    char pids[40];

    if (!s->stopped) {
        log_warn(log,
                 "the launcher with pid %d does not answer: it is short of processors, or hangs",
                 (int)s->pid);
        return;
    }
    snprintf(pids, sizeof pids, s->both ? "%d %d" : "%d", (int)s->worker, (int)s->pid);
    log_warn(log, "the launcher with pid %d is stopped; `kill -CONT %s` lets it go on", (int)s->pid,
             pids);
}
