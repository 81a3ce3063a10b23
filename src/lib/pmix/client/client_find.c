/* client_find.c - see client_find.h. */
#include "lib/pmix/client/client_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/tool_files.h"
#include "io/rendezvous.h"
#include "lib/pmix/values/value.h"

enum { SEARCH_DEPTH = 6 };

/* ---- reading the infos ----------------------------------------------------------------------- */

static bool flag_of(const pmix_info_t *i)
{
    return PMIx_Value_true(&i->value) != PMIX_BOOL_FALSE;
}

static const char *text_of(const pmix_info_t *i)
{
    return i->value.type == PMIX_STRING ? i->value.data.string : NULL;
}

static bool read_flag(struct wish *w, const pmix_info_t *i)
{
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {
        { PMIX_CONNECT_TO_SYSTEM, &w->system },
        { PMIX_CONNECT_SYSTEM_FIRST, &w->system_first },
        { PMIX_TOOL_DO_NOT_CONNECT, &w->alone },
        { PMIX_TOOL_CONNECT_OPTIONAL, &w->optional },
        { PMIX_PRIMARY_SERVER, &w->primary },
        { PMIX_RECONNECT_SERVER, &w->primary },
        { PMIX_LAUNCHER, &w->launcher },
        { PMIX_SERVER_SCHEDULER, &w->schedules },
        { PMIX_CONNECT_TO_SCHEDULER, &w->scheduler },
        { PMIX_CONNECT_TO_SYS_CONTROLLER, &w->controller },
    };

    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        if (PMIx_Check_key(i->key, flags[f].key)) {
            *flags[f].flag = flag_of(i);
            return true;
        }
    }
    return false;
}

static void read_one(struct wish *w, const pmix_info_t *i)
{
    if (read_flag(w, i))
        return;
    if (PMIx_Check_key(i->key, PMIX_SERVER_URI) || PMIx_Check_key(i->key, PMIX_TCP_URI))
        w->uri = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_TOOL_ATTACHMENT_FILE))
        w->file = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_SERVER_PIDINFO))
        w->pid = i->value.data.pid;
    else if (PMIx_Check_key(i->key, PMIX_SERVER_NSPACE))
        w->nspace = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_SYSTEM_TMPDIR))
        w->tmpdir = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_CONNECT_MAX_RETRIES))
        w->retries = i->value.data.uint32;
    else if (PMIx_Check_key(i->key, PMIX_CONNECT_RETRY_DELAY))
        w->delay_s = i->value.data.uint32;
    else if (PMIx_Check_key(i->key, PMIX_TOOL_RANK))
        w->name.rank = i->value.data.uint32;
    else if (PMIx_Check_key(i->key, PMIX_TOOL_NSPACE) && text_of(i)) {
        PMIx_Load_nspace(w->name.nspace, text_of(i));
        w->named = true;
    }
}

void wish_read(struct wish *w, const pmix_info_t *infos, size_t n)
{
    *w = (struct wish){ .delay_s = 1 };
    for (size_t i = 0; infos && i < n; i++)
        read_one(w, &infos[i]);
    w->tmpdir = tool_files_dir(w->tmpdir, "PMIX_SYSTEM_TMPDIR");
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool set(struct found_server *f, const char *uri, const char *version)
{
    snprintf(f->version, sizeof f->version, "%s", version);
    return (size_t)snprintf(f->uri, sizeof f->uri, "%s", uri) < sizeof f->uri && *uri;
}

/* Reads address, release and pid (0: none) from a file that belongs to our own user or the
 * superuser. */
static bool read_contact(const char *path, struct found_server *f_p, long *pid_p)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char text[FOUND_MAX], *version, *pid, *rest;
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0))
        n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    rest = text;
    strsep(&rest, "\n");
    version = rest ? strsep(&rest, "\n") : NULL;
    pid = rest ? strsep(&rest, "\n") : NULL;
    if (pid_p)
        *pid_p = pid ? strtol(pid, NULL, 10) : 0;
    return set(f_p, text, version ? version : "");
}

struct servers_seen;

/* Files with this name, or (whole false) with this prefix; or each file of a server. */
struct search {
    const char *name;
    bool whole, found, ambiguous;
    struct found_server *f;
    struct servers_seen *all; /* NULL: one is looked for */
};

static void servers_add(struct servers_seen *a, const char *uri, const char *version, long pid);

static void look_at(struct search *s, const char *path)
{
    struct found_server one;
    long pid;

    if (!read_contact(path, &one, &pid))
        return;
    if (s->all) {
        servers_add(s->all, one.uri, one.version, pid);
        return;
    }
    s->ambiguous = s->ambiguous || (s->found && strcmp(one.uri, s->f->uri) != 0);
    s->found = true;
    *s->f = one;
}

static void search(struct search *s, const char *dir, int depth)
{
    DIR *d = depth ? opendir(dir) : NULL;
    struct dirent *e;

    while (d && (e = readdir(d))) {
        char path[4096];
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= sizeof path ||
            lstat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            search(s, path, depth - 1);
        else if (s->whole ? !strcmp(e->d_name, s->name)
                          : !strncmp(e->d_name, s->name, strlen(s->name)))
            look_at(s, path);
    }
    if (d)
        closedir(d);
}

/* role: "sys" and its like (io/tool_files.h), or NULL; which: pid or name, or empty. */
static bool find_file(const struct wish *w, const char *role, const char *which,
                      struct found_server *f_p)
{
    const char *given = getenv("PMIX_HOSTNAME");
    char host[256] = "localhost", name[FOUND_MAX];
    struct search s = { .name = name, .whole = role || *which, .f = f_p };

    if (given)
        snprintf(host, sizeof host, "%s", given);
    else
        gethostname(host, sizeof host - 1);
    if (role)
        snprintf(name, sizeof name, "pmix.%s.%s", role, host);
    else
        snprintf(name, sizeof name, "pmix.%s.tool%s%s", host, *which ? "." : "", which);
    search(&s, w->tmpdir, SEARCH_DEPTH);
    return s.found && !s.ambiguous;
}

/* ---- running launchers ----------------------------------------------------------------------- */

/* The first line of the answer; empty: none. */
static void query_line(int fd, const char *question, char *line, size_t room)
{
    size_t have = 0;
    ssize_t n = send(fd, question, strlen(question), MSG_NOSIGNAL);

    while (n > 0 && have + 1 < room && !memchr(line, '\n', have)) {
        struct pollfd p = { fd, POLLIN, 0 };
        n = poll(&p, 1, LIMIT_CONTROL_REPLY_MS) > 0 ? recv(fd, line + have, room - 1 - have, 0)
                                                    : -1;
        have += n > 0 ? (size_t)n : 0;
    }
    line[have] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

/* One line: the pid as users see it, a tab, the address.  False: it does not accept tools. */
static bool ask_launcher(const struct launcher_name *who, char *line, size_t room)
{
    int fd = rendezvous_connect(who);

    if (fd < 0)
        return false;
    query_line(fd, "uri\n", line, room);
    close(fd);
    return strchr(line, '\t') != NULL;
}

/* As launchers name themselves. */
static bool read_pid(struct slice name, uint32_t *pid_p)
{
    static const struct slice prefix = SLICE("wireup-");

    return slice_starts(name, prefix) && slice_u32(slice_skip(name, prefix.len), pid_p);
}

int launcher_dial(struct slice name)
{
    char line[16];
    uint32_t pid;
    int fd = read_pid(name, &pid) ? rendezvous_connect_pid((pid_t)pid) : -1;

    if (fd < 0)
        return -1;
    query_line(fd, "pmix\n", line, sizeof line);
    if (!strcmp(line, "pmix"))
        return fd;
    close(fd);
    return -1;
}

static bool is_named(const char *uri, const char *nspace)
{
    const char *end = strchr(uri, ';');
    size_t len = strlen(nspace);

    return end && !strncmp(uri, nspace, len) && uri[len] == '.';
}

static bool find_launcher(const struct wish *w, struct found_server *f_p)
{
    struct launcher_name *all;
    int n = rendezvous_list(&all);
    unsigned found = 0;

    for (int i = 0; i < n; i++) {
        char line[FOUND_MAX], *uri;
        if (!ask_launcher(&all[i], line, sizeof line))
            continue;
        uri = strchr(line, '\t') + 1;
        if ((w->pid && w->pid != all[i].pid && w->pid != atol(line)) ||
            (!w->pid && w->nspace && !is_named(uri, w->nspace)))
            continue;
        found += set(f_p, uri, "");
    }
    free(all);
    return found == 1;
}

/* ---- all sources ----------------------------------------------------------------------------- */

static bool find_once(const struct wish *w, const struct pmix_env *env, struct found_server *f_p)
{
    char pid[24];

    if (w->uri && !strncmp(w->uri, "file:", 5))
        return read_contact(w->uri + 5, f_p, NULL);
    if (w->uri)
        return set(f_p, w->uri, "");
    if (w->file)
        return read_contact(w->file, f_p, NULL);
    if (w->scheduler || w->controller)
        return find_file(w, w->scheduler ? "sched" : "sysctrlr", "", f_p);
    if ((w->system || w->system_first) && find_file(w, "sys", "", f_p))
        return true;
    if (w->system)
        return false;
    snprintf(pid, sizeof pid, "%ld", w->pid);
    if (w->pid || w->nspace)
        return find_file(w, NULL, w->pid ? pid : w->nspace, f_p) || find_launcher(w, f_p);
    if (env->uri)
        return set(f_p, env->uri, env->version);
    return find_file(w, NULL, "", f_p) || find_launcher(w, f_p);
}

bool server_find(const struct wish *w, const struct pmix_env *env, struct found_server *f_p)
{
    bool found = find_once(w, env, f_p);

    for (uint32_t i = 0; !found && i < w->retries; i++) {
        const struct timespec delay = { .tv_sec = w->delay_s };
        nanosleep(&delay, NULL);
        found = find_once(w, env, f_p);
    }
    return found;
}

/* ---- all servers ----------------------------------------------------------------------------- */

struct servers_seen {
    void (*fn)(void *arg, const struct server_seen *s);
    void *arg;
    char (*uris)[FOUND_MAX];
    size_t n, room;
};

static bool servers_remember(struct servers_seen *a, const char *uri)
{
    if (a->n == a->room) {
        size_t room = a->room ? 2 * a->room : 8;
        void *more = realloc(a->uris, room * sizeof *a->uris);
        if (!more)
            return false;
        a->uris = more;
        a->room = room;
    }
    snprintf(a->uris[a->n++], FOUND_MAX, "%s", uri);
    return true;
}

static void servers_add(struct servers_seen *a, const char *uri, const char *version, long pid)
{
    for (size_t i = 0; i < a->n; i++) {
        if (!strcmp(a->uris[i], uri))
            return;
    }
    if (strchr(uri, ';') && servers_remember(a, uri))
        a->fn(a->arg, &(struct server_seen){ uri, version, pid });
}

static void add_launchers(struct servers_seen *a)
{
    struct launcher_name *all;
    int n = rendezvous_list(&all);

    for (int i = 0; i < n; i++) {
        char line[FOUND_MAX];
        if (ask_launcher(&all[i], line, sizeof line))
            servers_add(a, strchr(line, '\t') + 1, "", atol(line));
    }
    free(all);
}

void servers_each(const struct wish *w, void (*fn)(void *arg, const struct server_seen *s),
                  void *arg)
{
    struct servers_seen a = { .fn = fn, .arg = arg };
    struct search s = { .name = "pmix.", .f = NULL, .all = &a };

    search(&s, w->tmpdir, SEARCH_DEPTH);
    add_launchers(&a);
    free(a.uris);
}
