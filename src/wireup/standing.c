/* standing.c - see standing.h. */
#include "wireup/standing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/rendezvous.h"
#include "wireup/ask.h"
#include "wireup/far.h"
#include "wireup/prepare.h"
#include "wireupd/agent_words.h"
#include "wireupd/errand.h"
#include "wireupd/guard.h"

extern char **environ;

enum { STANDING_LAUNCHERS = 256, STANDING_ANSWER = 1 << 24, STANDING_LINE = 60 << 10 };

/* ---- finding it ---- */

/* The pid of the standing system's launcher, and its answer; 0: there is none. */
static pid_t find_standing(struct buf *answer)
{
    pid_t pids[STANDING_LAUNCHERS];
    int n = rendezvous_list(pids, STANDING_LAUNCHERS);

    for (int i = 0; i < n && i < STANDING_LAUNCHERS; i++) {
        buf_clear(answer);
        if (ask_launcher(pids[i], SLICE("standing\n"), answer) == 0 &&
            slice_starts(buf_slice(answer), SLICE("standing ")))
            return pids[i];
    }
    return 0;
}

/* "NAME SLOTS" in each line behind the first. */
static bool read_nodes(struct slice text, struct arena *a, struct host_list *list)
{
    slice_cut(&text, '\n');
    while (text.len) {
        struct slice line = slice_cut(&text, '\n'), name = slice_cut(&line, ' ');
        struct host h = { .name = arena_str(a, name) };
        if (!h.name || !slice_u32(line, &h.slots) || h.slots == 0 || hosts_add(a, list, h) < 0)
            return false;
    }
    return list->count > 0;
}

bool standing_nodes(struct arena *a, struct host_list *list, const char **exec_p)
{
    struct buf answer = BUF_NULL(STANDING_ANSWER);
    char self[4096], *word;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    bool found = n > 0 && (size_t)n < sizeof self && find_standing(&answer) > 0 &&
                 read_nodes(buf_slice(&answer), a, list);

    if (found) {
        self[n] = '\0';
        word = agent_word(a, self); /* blanks in it stay its own */
        *exec_p = word ? arena_printf(a, "%s on", word) : NULL;
        found = *exec_p != NULL;
    }
    buf_free(&answer);
    return found;
}

/* ---- up ---- */

struct standing {
    struct far far;
    struct errands errands;
    int news; /* to the process that waits in the foreground */
};

static void come_up(void *arg)
{
    struct standing *s = arg;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2 && null >= 0; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    if (write(s->news, "up", 2) < 0 || close(s->news) < 0)
        return; /* nobody waits any more; the system stands all the same */
}

static void reaped(void *arg, pid_t pid, int status)
{
    struct standing *s = arg;

    far_reaped(&s->far, pid, status);
}

static int stand(struct launch_options *o, struct plan *plan, struct log log, int news)
{
    static struct standing s;
    struct node_config config = { .log = log, .control_fd = -1, .reaped = reaped, .arg = &s };
    struct errmsg err = { "" };
    char host[256] = "localhost";
    struct node *node;
    int code = 1;

    s.news = news;
    if (gethostname(host, sizeof host - 1) == 0)
        config.name = host;
    if (setsid() < 0 || guard_split(&log, NULL, NULL, &config.control_fd) < 0) {
        log_error(&log, "cannot start the worker process: %s", err_text(errno));
        return 1;
    }
    node = node_new(&config, &err);
    if (node && far_open(&s.far, o, node, plan, log, &err) == 0) {
        s.far.on_up = come_up;
        s.far.arg = &s;
        errands_open(&s.errands, &s.far.share);
        s.far.share.errands = &s.errands;
        code = node_run(node);
    } else {
        log_error(&log, "%s", err.text);
    }
    errands_close(&s.errands);
    far_close(&s.far);
    node_free(node);
    return code;
}

/* The foreground: until the system is up, or has ended. */
static int wait_up(pid_t pid, int news, const struct plan *plan)
{
    char word[4];
    ssize_t n;
    int status;

    do
        n = read(news, word, sizeof word);
    while (n < 0 && errno == EINTR);
    if (n >= 2) {
        printf("%u nodes are up; `wireup run` uses them, `wireup down` ends them\n", plan->nnodes);
        return 0;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int start_standing(struct launch_options *o, struct plan *plan, const struct log *log)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
        log_error(log, "cannot start: %s", err_text(errno));
        return 1;
    }
    if (pid == 0) {
        close(ends[0]);
        _exit(stand(o, plan, *log, ends[1]));
    }
    close(ends[1]);
    return wait_up(pid, ends[0], plan);
}

int standing_up(int argc, char **argv, const struct log *log)
{
    char **words = calloc((size_t)argc + 2, sizeof *words);
    struct buf answer = BUF_NULL(STANDING_ANSWER);
    struct launch_options options;
    struct plan plan;
    struct errmsg err = { "" };
    pid_t there = find_standing(&answer);
    int rc, code = 1;

    buf_free(&answer);
    if (there || !words) {
        log_error(log,
                  there ? "a standing system of yours is up already (launcher %d); end it "
                          "with `wireup down`"
                        : "out of memory",
                  (int)there);
        free(words);
        return 1;
    }
    words[0] = argv[0];
    memcpy(words + 1, argv + 2, ((size_t)argc - 2) * sizeof *words);
    words[argc - 1] = (char *)(uintptr_t) "/bin/true"; /* never run: nodes are what is planned */
    rc = launch_prepare(argc, words, environ, &options, &plan, &err);
    if (rc != LAUNCH_GO && rc != LAUNCH_SHOW) {
        log_error(log, "%s", err.text);
        code = launch_exit_code(rc);
    } else if (rc == LAUNCH_GO && !options.remote) {
        log_error(log, "name the nodes that are to stand: -hosts, -hostfile, or an allocation");
        code = 2;
    } else if (rc == LAUNCH_GO) {
        code = start_standing(&options, &plan, log);
    }
    plan_free(&plan);
    launch_options_free(&options);
    free(words);
    return code;
}

/* ---- down ---- */

int standing_down(const struct command_line *l)
{
    struct buf answer = BUF_NULL(STANDING_ANSWER);
    pid_t pid = find_standing(&answer);
    int rc = -ESRCH;

    if (pid) {
        buf_clear(&answer);
        rc = ask_launcher(pid, SLICE("down\n"), &answer);
    }
    if (rc < 0)
        log_error(l->log,
                  pid ? "the standing system (launcher %d) does not answer"
                      : "there is no standing system of yours on this machine",
                  (int)pid);
    buf_free(&answer);
    return rc < 0;
}

int standing_misused(const struct command_line *l)
{
    log_error(l->log, "usage: wireup up OPTIONS, wireup on NODE WORDS...");
    return 2;
}

/* ---- on ---- */

static void put_word(struct buf *line, const char *word)
{
    for (const unsigned char *c = (const unsigned char *)word; *c; c++) {
        if (*c <= ' ' || *c == '%' || *c >= 0x7f)
            buf_printf(line, "%%%02x", *c);
        else
            buf_byte(line, (char)*c);
    }
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EAGAIN) {
            struct pollfd p = { fd, POLLOUT, 0 };
            poll(&p, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            return false;
        } else if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
    }
    return true;
}

/* The first line of the answer: "ok", or why not. */
static bool was_taken(int fd, const struct log *log)
{
    char line[ERRMSG_MAX];
    size_t n = 0;

    while (n < sizeof line - 1 && (n == 0 || line[n - 1] != '\n')) {
        struct pollfd p = { fd, POLLIN, 0 };
        ssize_t got = poll(&p, 1, -1) < 0 ? -1 : recv(fd, line + n, 1, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            break;
        n++;
    }
    line[n > 0 ? n - 1 : 0] = '\0';
    if (!strcmp(line, "ok"))
        return true;
    log_error(log, "%s", line[0] ? line : "the standing system has gone");
    return false;
}

/* Both ways until the program's output ends. */
static int carry(int fd)
{
    struct pollfd p[2] = { { fd, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
    char piece[32 << 10];

    for (;;) {
        ssize_t n;
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return 1;
        if (p[0].revents) {
            n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
            if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
                return 0;
            if (n > 0 && !write_all(STDOUT_FILENO, piece, (size_t)n))
                return 1;
        }
        if (p[1].revents) {
            n = read(STDIN_FILENO, piece, sizeof piece);
            if (n > 0 && !write_all(fd, piece, (size_t)n))
                return 1;
            if (n == 0 || (n < 0 && errno != EINTR)) {
                shutdown(fd, SHUT_WR);
                p[1].fd = -1;
            }
        }
    }
}

int standing_on(int argc, char **argv, const struct log *log)
{
    struct buf answer = BUF_NULL(STANDING_ANSWER), line = BUF_NULL(STANDING_LINE);
    pid_t pid = find_standing(&answer);
    int fd = pid ? rendezvous_connect(pid) : -ESRCH, code = 1;

    buf_str(&line, "on");
    for (int i = 2; i < argc; i++) {
        buf_byte(&line, ' ');
        put_word(&line, argv[i]);
    }
    buf_byte(&line, '\n');
    if (fd < 0 || !buf_ok(&line))
        log_error(log, fd < 0 ? "there is no standing system of yours that answers"
                              : "too many words for the standing system");
    else if (write_all(fd, buf_slice(&line).ptr, buf_len(&line)) && was_taken(fd, log))
        code = carry(fd);
    if (fd >= 0)
        close(fd);
    buf_free(&answer);
    buf_free(&line);
    return code;
}
