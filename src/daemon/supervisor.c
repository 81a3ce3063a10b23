/* supervisor.c - see supervisor.h. */
#include "daemon/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/exit_now.h"
#include "base/limit.h"
#include "io/child.h"
#include "io/inherited_fds.h"
#include "io/rendezvous.h"
#include "daemon/mpir.h"
#include "daemon/phase.h"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

/* Signals that the user, the terminal and batch systems send us. */
static const int watched[] = {
#define SIGNAL(name, action) SIG##name,
#include "proto/signals.def"
#undef SIGNAL
};

enum { NWATCHED = sizeof watched / sizeof *watched, LATE_CODE = 124, TWIN_MS = 20 };

enum packet_kind {
    PACKET_LIMIT,  /* the time limit */
    PACKET_DETACH, /* from the caller's standard streams */
    PACKET_DEBUG,  /* a debugger is to be told */
};

/* The worker's messages that the supervisor is woken for, a packet each. */
struct supervisor_packet {
    enum packet_kind kind;
    bool held;        /* PACKET_DEBUG: processes wait until the debugger lets us go on */
    uint32_t seconds; /* PACKET_LIMIT; 0: none */
    uint64_t begun_ns;
};

/* What the supervisor looks up when a signal arrives, or the worker has ended; in memory that both
 * processes share. */
static struct supervisor_shared {
    atomic_bool listens; /* the worker takes signals itself */
    struct leftovers leftovers;
} * shared;

/* The worker, the callback for its end, and the deadlines. */
struct supervisor {
    const struct log *log;
    supervisor_word *word;
    void *arg;
    pid_t worker;
    int control, signals;         /* our end of the socket; a signalfd */
    enum phase_state phase;       /* PREPARING, or later: the worker knows which */
    struct signalfd_siginfo last; /* the last signal that asks for the end, and when it came */
    uint64_t last_ns;
    int ended_by;     /* the first signal that asks for the end; 0: none yet */
    uint64_t late_ns; /* the time limit, or UINT64_MAX */
    uint32_t seconds;
    uint64_t stuck_ns; /* when a worker that should have ended is killed, or UINT64_MAX */
};

/* nohup(1) and batch systems ignore SIGHUP: then it stays ignored. */
static bool is_left_alone(int sig)
{
    struct sigaction old;

    return sig == SIGHUP && sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static void watched_set(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < NWATCHED; i++) {
        if (!is_left_alone(watched[i]))
            sigaddset(set, watched[i]);
    }
    sigaddset(set, SIGCHLD);
}

static void log_sentence(const struct supervisor *g, const char *sentence)
{
    if (g->word)
        g->word(g->arg, sentence);
    else
        log_error(g->log, "%s", sentence);
}

static void report_killed(const struct supervisor *g, int sig)
{
    const char *abbrev = sigabbrev_np(sig);
    struct errmsg text;

    errmsg_set(&text, 0,
               "the worker process of %s was killed by signal %d (SIG%s), with all processes that "
               "it had started",
               g->log->who, sig, abbrev ? abbrev : "?");
    log_sentence(g, text.text);
}

/* Kills the processes that the worker had started, and removes the files by which others would find
 * it; a worker that ends well has removed them itself. */
static void end_all(bool well)
{
    child_end_all();
    leftovers_remove(&shared->leftovers);
    if (!well) {
        leftovers_tidy(); /* of daemons that were killed here */
        rendezvous_tidy();
    }
}

/* Ends the worker, the processes it has started, and this process. */
__attribute__((noreturn)) static void end_worker(const struct supervisor *g, const char *sentence,
                                                 int code)
{
    kill(g->worker, SIGKILL);
    end_all(false);
    log_sentence(g, sentence);
    exit_now(code);
}

/* -1: the worker still runs. */
static int worker_status(const struct supervisor *g)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != g->worker)
            continue;
        end_all(status == 0);
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        report_killed(g, WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return -1;
}

static struct inherited_fds inherited; /* of both processes */

static void leave_streams(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    inherited_fds_close(&inherited);
}

/* A debugger may hold us in there; when we go on, so may the processes. */
static void notify_debugger(const struct supervisor *g, bool held)
{
    unsigned char go_on = SIGCONT;

    mpir_stop_for_debugger();
    if (held)
        send(g->control, &go_on, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void take_packet(struct supervisor *g, const struct supervisor_packet *p)
{
    switch (p->kind) {
    case PACKET_LIMIT:
        g->seconds = p->seconds;
        g->late_ns = p->seconds ? p->begun_ns + p->seconds * NS_PER_S : UINT64_MAX;
        break;
    case PACKET_DETACH: leave_streams(); break;
    case PACKET_DEBUG: notify_debugger(g, p->held); break;
    }
}

/* Takes in what the worker has told so far; it tells that it listens before it starts anything. */
static void read_worker(struct supervisor *g)
{
    struct supervisor_packet p;

    if (g->phase == PHASE_STATE_PREPARING && atomic_load(&shared->listens))
        phase_state_step(&g->phase, PHASE_EVENT_LISTENING);
    while (recv(g->control, &p, sizeof p, MSG_DONTWAIT) == (ssize_t)sizeof p)
        take_packet(g, &p);
}

static void end_within(struct supervisor *g, uint64_t ms)
{
    uint64_t due = clock_now_ns() + (ms + LIMIT_STUCK_MS) * NS_PER_MS;

    if (due < g->stuck_ns)
        g->stuck_ns = due;
}

/* timeout(1) and batch systems signal us and then our group, us included: that is one request. */
static bool is_twin(struct supervisor *g, const struct signalfd_siginfo *info)
{
    uint64_t now = clock_now_ns();
    bool twin = info->ssi_code == SI_USER && info->ssi_signo == g->last.ssi_signo &&
                info->ssi_pid == g->last.ssi_pid && now - g->last_ns < TWIN_MS * NS_PER_MS;

    if (phase_is_end((int)info->ssi_signo) && !twin) {
        g->last = *info;
        g->last_ns = now;
    }
    return twin;
}

static void pass_on(struct supervisor *g, const struct signalfd_siginfo *info)
{
    int sig = (int)info->ssi_signo;
    unsigned char byte = (unsigned char)sig;

    if (is_twin(g, info))
        return;
    if (phase_is_end(sig) && g->phase == PHASE_STATE_PREPARING &&
        phase_state_step(&g->phase, PHASE_EVENT_SIGNAL) == PHASE_ACTION_kill_worker)
        end_worker(g, "interrupted before anything was started", 128 + sig);
    if (phase_is_end(sig))
        end_within(g, g->ended_by ? LIMIT_KILLED_MS + LIMIT_CLOSING_MS
                                  : LIMIT_ASKED_MS + LIMIT_KILLED_MS + LIMIT_CLOSING_MS);
    if (phase_is_end(sig) && !g->ended_by)
        g->ended_by = sig;
    /* The socket holds many signals; when it is full, one more changes nothing. */
    if (send(g->control, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
    if (sig == SIGTSTP)
        kill(getpid(), SIGSTOP);
}

/* The worker's exit status if it has ended; -1: it still runs. */
static int take_signals(struct supervisor *g)
{
    struct signalfd_siginfo info;
    bool ended = false;

    while (read(g->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        read_worker(g);
        ended |= info.ssi_signo == SIGCHLD;
        if (info.ssi_signo != SIGCHLD)
            pass_on(g, &info);
    }
    return ended ? worker_status(g) : -1;
}

/* Carries out the actions that are due; milliseconds until the next deadline, or -1. */
static int keep_time(struct supervisor *g)
{
    uint64_t now = clock_now_ns(), next;
    struct errmsg text;

    if (now >= g->stuck_ns)
        end_worker(g,
                   "the worker process does not end; it is killed with everything that it had "
                   "started here",
                   g->ended_by ? 128 + g->ended_by : LATE_CODE);
    if (now >= g->late_ns) {
        read_worker(g);
        errmsg_set(&text, 0,
                   "the time limit of %u s (-timeout) has passed before anything was started",
                   g->seconds);
        g->late_ns = UINT64_MAX;
        if (g->phase == PHASE_STATE_PREPARING &&
            phase_state_step(&g->phase, PHASE_EVENT_LATE) == PHASE_ACTION_kill_worker)
            end_worker(g, text.text, LATE_CODE);
        end_within(g, 2 * LIMIT_WHO_MS + LIMIT_STACKS_MS + LIMIT_KILLED_MS + LIMIT_CLOSING_MS);
    }
    next = g->stuck_ns < g->late_ns ? g->stuck_ns : g->late_ns;
    if (next == UINT64_MAX)
        return -1;
    return now >= next ? 0 : (int)((next - now) / NS_PER_MS % (1 << 30) + 1);
}

__attribute__((noreturn)) static void keep_guard(struct supervisor *g)
{
    struct pollfd p[2] = { { g->signals, POLLIN, 0 }, { g->control, POLLIN, 0 } };
    int status = -1;

    leftovers_tidy(); /* the worker need not wait for them */
    rendezvous_tidy();
    while (status < 0) {
        if (poll(p, 2, keep_time(g)) < 0)
            continue;
        if (p[1].revents)
            read_worker(g);
        if (p[0].revents)
            status = take_signals(g);
    }
    exit_now(status);
}

/* The worker gets signals through the socket only; those of the terminal reach it too. */
static void become_worker(pid_t guard, const sigset_t *old)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* until it reads the socket */
    if (getppid() != guard)
        exit_now(1);
    for (int i = 0; i < NWATCHED; i++) {
        if (watched[i] != SIGCONT)
            signal(watched[i], SIG_IGN);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ,
           SIG_IGN); /* the call that would pass the limit fails (EFBIG), and that is told */
    signal(SIGTTOU, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    sigprocmask(SIG_SETMASK, old, NULL);
}

int supervisor_split(const struct log *log, supervisor_word *word, void *arg, int *control_fd_p)
{
    struct supervisor g = {
        .log = log, .word = word, .arg = arg, .late_ns = UINT64_MAX, .stuck_ns = UINT64_MAX
    };
    pid_t guard = getpid();
    sigset_t set, old;
    int ends[2];

    child_adopt_orphans();
    watched_set(&set);
    sigprocmask(SIG_BLOCK, &set, &old);
    g.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        shared = NULL;
    if (!shared || g.signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    g.worker = fork();
    if (g.worker < 0)
        return -errno;
    if (g.worker > 0) { /* ends[0] stays open: one wake-up less when the worker ends, by SIGCHLD */
        g.control = ends[1];
        keep_guard(&g);
    }
    close(ends[1]);
    close(g.signals);
    child_adopt_orphans();
    become_worker(guard, &old);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *control_fd_p = ends[0];
    return 0;
}

/* Lost only if the supervisor is gone: then the socket is at EOF, and the worker ends as well. */
static void send_packet(int control_fd, const struct supervisor_packet *p)
{
    while (send(control_fd, p, sizeof *p, MSG_NOSIGNAL) < 0 && errno == EINTR)
        continue;
}

void supervisor_limit(int control_fd, uint64_t begun_ns, uint32_t seconds)
{
    struct supervisor_packet p = { PACKET_LIMIT, .begun_ns = begun_ns, .seconds = seconds };

    send_packet(control_fd, &p);
}

void supervisor_debug(int control_fd, bool held)
{
    struct supervisor_packet p = { PACKET_DEBUG, .held = held };

    send_packet(control_fd, &p);
}

void supervisor_note_inherited(void)
{
    inherited_fds_note(&inherited);
}

void supervisor_detach(int control_fd)
{
    struct supervisor_packet p = { PACKET_DETACH };

    leave_streams();
    send_packet(control_fd, &p);
}

/* A stopped worker could not notice that the supervisor has gone. */
void supervisor_listening(void)
{
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    atomic_store(&shared->listens, true);
}

/* An exit takes its time: what looks for leaks stops and continues us, and would wait for ever if
 * SIGCONT came in between. */
void supervisor_finish(void)
{
    if (!shared)
        return;
    child_end_all();
    leftovers_remove(&shared->leftovers);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

struct leftovers *supervisor_leftovers(void)
{
    return shared ? &shared->leftovers : NULL;
}

/* Our parent may ignore SIGCHLD (trap '' CHLD): then the kernel would reap our children silently,
 * and we would wait for ever. */
void supervisor_tidy(void)
{
    signal(SIGCHLD, SIG_DFL);
    child_restore_signals();
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", O_RDWR); /* the lowest free number: this one */
    }
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
}
