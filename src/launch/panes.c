/* panes.c - see panes.h. */
#include "launch/panes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/launch_methods.h"
#include "daemon/path_search.h"
#include "io/child.h"

extern char **environ;

enum { PANES_WORDS = 24, PANES_OUTPUT = 4096, PANES_OF_WINDOW = 9 };

bool panes_open(struct panes *p, struct arena *a, const char *title)
{
    const char *session = getenv("TMUX");
    struct errmsg err;

    *p = (struct panes){ .arena = a, .title = title };
    if (path_search_program(a, "tmux", NULL, getenv("PATH"), true, &p->tmux, &err) != 0)
        return false;
    if (!session || !*session)
        p->server = arena_printf(a, "wireup-%d", (int)getpid());
    return arena_ok(a);
}

/* What it prints goes to out.  0, or 1 with a sentence. */
static int run_tmux(const struct panes *p, const char *const *words, struct buf *out,
                    struct errmsg *err)
{
    const char *argv[PANES_WORDS + 4] = { p->tmux };
    struct child_fd fds[2];
    struct child_plan plan = { .path = p->tmux, .env = environ, .fds = fds, .nfds = 2 };
    int ends[2], n = 1, status = 0, rc;
    char *room;
    pid_t pid;

    if (p->server) {
        argv[n++] = "-L";
        argv[n++] = p->server;
    }
    for (int i = 0; words[i]; i++)
        argv[n++] = words[i];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return errmsg_set(err, 1, "tmux: %s", err_text(errno));
    fds[0] = (struct child_fd){ ends[1], 1 };
    fds[1] = (struct child_fd){ ends[1], 2 };
    plan.argv = (char *const *)(uintptr_t)argv;
    rc = child_start(&plan, &pid, err);
    close(ends[1]);
    while (rc == 0 && (room = buf_room(out, 512))) {
        ssize_t got = read(ends[0], room, 512);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        buf_commit(out, (size_t)got);
    }
    close(ends[0]);
    while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (rc == 0 && status != 0)
        errmsg_set(err, 1, "tmux %s: " SLICE_FMT, words[0],
                   SLICE_ARG(slice_head(slice_trim(buf_slice(out)), 300)));
    return rc || status ? 1 : 0;
}

static int simple(const struct panes *p, const char *const *words)
{
    struct buf out = BUF_NULL(PANES_OUTPUT);
    struct errmsg err;
    int rc = run_tmux(p, words, &out, &err);

    buf_free(&out);
    return rc;
}

/* The name of what was made is printed. */
static int make(struct panes *p, const char *const *words, char *name, size_t room,
                struct errmsg *err)
{
    struct buf out = BUF_NULL(PANES_OUTPUT);
    int rc = run_tmux(p, words, &out, err);
    struct slice text = buf_slice(&out), line = slice_cut(&text, '\n');

    if (rc == 0)
        snprintf(name, room, SLICE_FMT, SLICE_ARG(slice_head(line, room - 1)));
    buf_free(&out);
    return rc;
}

/* As large as this terminal, where there is one. */
static int make_session(struct panes *p, const char *command, struct errmsg *err)
{
    struct winsize w = { .ws_col = 120, .ws_row = 40 };
    char x[16], y[16];

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col < 20 || w.ws_row < 5)
        w = (struct winsize){ .ws_col = 120, .ws_row = 40 };
    snprintf(x, sizeof x, "%u", w.ws_col);
    snprintf(y, sizeof y, "%u", w.ws_row);
    return make(p,
                (const char *[]){ "new-session", "-d", "-x", x, "-y", y, "-s", "wireup", "-n",
                                  p->title, "-P", "-F", "#{window_id}", command, NULL },
                p->window, sizeof p->window, err);
}

static int make_window(struct panes *p, const char *command, struct errmsg *err)
{
    if (p->count == 0 && p->server)
        return make_session(p, command, err);
    return make(p,
                (const char *[]){ "new-window", "-d", "-n", p->title, "-P", "-F", "#{window_id}",
                                  command, NULL },
                p->window, sizeof p->window, err);
}

static void lay_out(const struct panes *p, const char *title)
{
    simple(p, (const char *[]){ "set-option", "-w", "-t", p->window, "pane-border-status", "top",
                                NULL });
    simple(p, (const char *[]){ "select-pane", "-t", p->window, "-T", title, NULL });
    simple(p, (const char *[]){ "select-layout", "-t", p->window, "tiled", NULL });
}

int panes_add(struct panes *p, const char *title, const char *command, struct errmsg *err)
{
    const char *text = arena_printf(p->arena,
                                    "{ %s\n} || { printf '%%s ended with status %%d; Enter "
                                    "closes this ' debugger $?; read -r line; }",
                                    command);
    char pane[32];
    int rc = 1;

    if (!text)
        return errmsg_set(err, 1, "out of memory");
    if (p->count % PANES_OF_WINDOW)
        rc = make(p,
                  (const char *[]){ "split-window", "-t", p->window, "-P", "-F", "#{pane_id}", text,
                                    NULL },
                  pane, sizeof pane, err);
    if (rc) /* a full window, or one that is too small for more */
        rc = make_window(p, text, err);
    if (rc)
        return rc;
    p->count++;
    lay_out(p, title);
    return 0;
}

const char *panes_how(const struct panes *p)
{
    return p->server ? arena_printf(p->arena, "tmux -L %s attach", p->server) : NULL;
}

void panes_show(const struct panes *p)
{
    if (p->server)
        execl(p->tmux, p->tmux, "-L", p->server, "attach", (char *)NULL);
}

void panes_end(const struct panes *p)
{
    struct buf out = BUF_NULL(PANES_OUTPUT);
    struct errmsg err;
    char *socket = NULL;

    if (!p->server)
        return;
    if (run_tmux(p, (const char *[]){ "display-message", "-p", "#{socket_path}", NULL }, &out,
                 &err) == 0) {
        struct slice rest = buf_slice(&out);
        socket = arena_str(p->arena, slice_cut(&rest, '\n'));
    }
    simple(p, (const char *[]){ "kill-server", NULL });
    if (socket && strstr(socket, p->server))
        unlink(socket); /* which tmux leaves */
    buf_free(&out);
}
