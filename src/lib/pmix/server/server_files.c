/* server_files.c - rendezvous files by which tools find a server (io/tool_files.h), and reports of
 * its address.
 *
 * They are written only for a host that serves tools. */
#include "lib/pmix/server/server_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(struct pserver *s, int rc, const struct errmsg *err)
{
    if (rc < 0)
        log_warn(&s->log, "%s", err->text);
}

static void put_text(int fd, const char *text)
{
    if (write(fd, text, strlen(text)) < 0)
        return; /* the reader is gone */
}

/* A file of the host's choice, a descriptor, or one of our own streams. */
static void report(struct pserver *s, const char *where)
{
    char text[PMIX_MAX_NSLEN + 96], *end;
    long fd = strtol(where, &end, 10);
    struct errmsg err;

    snprintf(text, sizeof text, "%s\nv5.0.3\n", s->uri);
    if (!strcmp(where, "-") || !strcmp(where, "+")) {
        put_text(*where == '-' ? STDOUT_FILENO : STDERR_FILENO, text);
    } else if (!*end && fd >= 0) {
        put_text((int)fd, text);
        close((int)fd);
    } else {
        check(s, tool_files_put_text(&s->contacts, where, text, &err), &err);
    }
}

static void put_roles(struct pserver *s, const struct tool_file *what)
{
    const struct {
        bool has;
        const char *name;
    } roles[] = { { s->is_system, "sys" },
                  { s->is_scheduler, "sched" },
                  { s->is_controller, "sysctrlr" } };
    struct errmsg err;

    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (roles[i].has)
            check(s, tool_files_put_role(&s->contacts, what, s->system_tmpdir, roles[i].name, &err),
                  &err);
    }
}

void sfiles_write(struct pserver *s, const struct pserver_options *o)
{
    const struct tool_file what = { s->uri, s->hostname };
    struct errmsg err;
    char dir[TOOL_FILES_PATH_MAX], pid[24];
    int rc;

    if (o->report)
        report(s, o->report);
    if (o->launcher_file)
        check(s, tool_files_put(&s->contacts, &what, o->launcher_file, &err), &err);
    put_roles(s, &what);
    if (!s->serves_tools)
        return;
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    rc = tool_files_begin(&s->contacts, &what, s->tmpdir, pid, dir, &err);
    check(s, rc, &err);
    if (rc == 0 && s->is_session)
        check(s, tool_files_put_tool(&s->contacts, &what, dir, "", &err), &err);
    if (rc == 0)
        check(s, tool_files_put_tool(&s->contacts, &what, dir, s->me.nspace, &err), &err);
}

void sfiles_remove(struct pserver *s)
{
    tool_files_remove(&s->contacts);
}
