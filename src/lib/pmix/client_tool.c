/* client_tool.c - tools: finding a server, and being connected with several.
 *
 * A server is named by its address, by a file that has it, by its pid or its name; the last two are
 * found by the names of files below the system's temporary directory.  Files of other users are not
 * believed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/pmix/client_api.h"
#include "lib/pmix/value.h"

enum { CONTACT_MAX = 1024, SEARCH_DEPTH = 6 };

/* What a tool says about itself and about the server that it wants. */
struct wish {
    const char *uri, *file, *tmpdir, *nspace;
    long pid; /* of the server; 0: not told */
    bool system, system_first, alone, named;
    pmix_proc_t name;
};

static bool flag_of(const pmix_info_t *i)
{
    return PMIx_Value_true(&i->value) != PMIX_BOOL_FALSE;
}

static const char *text_of(const pmix_info_t *i)
{
    return i->value.type == PMIX_STRING ? i->value.data.string : NULL;
}

static void read_one(struct wish *w, const pmix_info_t *i)
{
    if (PMIx_Check_key(i->key, PMIX_SERVER_URI) || PMIx_Check_key(i->key, PMIX_TCP_URI))
        w->uri = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_TOOL_ATTACHMENT_FILE))
        w->file = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_CONNECT_TO_SYSTEM))
        w->system = flag_of(i);
    else if (PMIx_Check_key(i->key, PMIX_CONNECT_SYSTEM_FIRST))
        w->system_first = flag_of(i);
    else if (PMIx_Check_key(i->key, PMIX_SERVER_PIDINFO))
        w->pid = i->value.data.pid;
    else if (PMIx_Check_key(i->key, PMIX_SERVER_NSPACE))
        w->nspace = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_SYSTEM_TMPDIR))
        w->tmpdir = text_of(i);
    else if (PMIx_Check_key(i->key, PMIX_TOOL_DO_NOT_CONNECT))
        w->alone = flag_of(i);
    else if (PMIx_Check_key(i->key, PMIX_TOOL_RANK))
        w->name.rank = i->value.data.uint32;
    else if (PMIx_Check_key(i->key, PMIX_TOOL_NSPACE) && text_of(i)) {
        PMIx_Load_nspace(w->name.nspace, text_of(i));
        w->named = true;
    }
}

static void read_wish(struct wish *w, const pmix_info_t *infos, size_t n)
{
    const char *dir = getenv("PMIX_SYSTEM_TMPDIR");

    *w = (struct wish){ .tmpdir = dir ? dir : getenv("TMPDIR") };
    for (size_t i = 0; infos && i < n; i++)
        read_one(w, &infos[i]);
    if (!w->tmpdir || !*w->tmpdir)
        w->tmpdir = "/tmp";
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The first line of a file that is our own user's, or the superuser's. */
static bool read_contact(const char *path, char *uri, size_t room)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0))
        n = read(fd, uri, room - 1);
    close(fd);
    if (n <= 0)
        return false;
    uri[n] = '\0';
    uri[strcspn(uri, "\n")] = '\0';
    return *uri != '\0';
}

/* A file below `dir` with exactly this name, or (whole false) one that begins so. */
static bool search(const char *dir, const char *name, bool whole, int depth, char *uri, size_t room)
{
    DIR *d = depth ? opendir(dir) : NULL;
    bool found = false;
    struct dirent *e;

    while (d && !found && (e = readdir(d))) {
        char path[4096];
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
            (size_t)snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >= sizeof path ||
            lstat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            found = search(path, name, whole, depth - 1, uri, room);
        else if (whole ? !strcmp(e->d_name, name) : !strncmp(e->d_name, name, strlen(name)))
            found = read_contact(path, uri, room);
    }
    if (d)
        closedir(d);
    return found;
}

static bool find_file(const struct wish *w, const char *kind, const char *which, char *uri,
                      size_t room)
{
    const char *told = getenv("PMIX_HOSTNAME");
    char host[256] = "localhost", name[1024];

    if (told)
        snprintf(host, sizeof host, "%s", told);
    else
        gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "pmix.%s%s%s%s%s", *kind == 's' ? "sys." : "", host,
             *kind == 's' ? "" : ".tool", *which ? "." : "", which);
    return search(w->tmpdir, name, *which || *kind == 's', SEARCH_DEPTH, uri, room);
}

static bool find_server(const struct wish *w, const struct pmix_env *env, char *uri, size_t room)
{
    char pid[24];

    if (w->uri && !strncmp(w->uri, "file:", 5))
        return read_contact(w->uri + 5, uri, room);
    if (w->uri)
        return (size_t)snprintf(uri, room, "%s", w->uri) < room;
    if (w->file)
        return read_contact(w->file, uri, room);
    if ((w->system || w->system_first) && find_file(w, "sys", "", uri, room))
        return true;
    if (w->system)
        return false;
    snprintf(pid, sizeof pid, "%ld", w->pid);
    if (w->pid)
        return find_file(w, "tool", pid, uri, room);
    if (w->nspace)
        return find_file(w, "tool", w->nspace, uri, room);
    if (env->uri)
        return (size_t)snprintf(uri, room, "%s", env->uri) < room;
    return find_file(w, "tool", "", uri, room);
}

/* ---- connecting ------------------------------------------------------------------------------ */

static struct client_way way_to(const struct wish *w, const char *uri)
{
    /* SIZE 0: nothing more to say */
    return (struct client_way){ .uri = uri,
                                .fd = -1,
                                .flag = w->named ? HELLO_TOOL_NAMED : HELLO_TOOL_UNNAMED,
                                .as = ptype_flavour(SLICE("v41")),
                                .version = "5.0.3",
                                .infos = slice_mem("\x02\x00", 2) };
}

pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    struct errmsg err = { "" };
    struct client_way way;
    struct pmix_env env;
    struct wish w;
    char uri[CONTACT_MAX];

    if (PMIx_Initialized())
        return PMIx_Init(proc, info, ninfo);
    read_wish(&w, info, ninfo);
    if (pmix_env_read(&env, &err) < 0)
        return PMIX_ERR_BAD_PARAM;
    if (!w.alone && !find_server(&w, &env, uri, sizeof uri))
        return PMIX_ERR_UNREACH;
    if (!w.named && env.nspace) {
        PMIx_Load_procid(&w.name, env.nspace, env.rank);
        w.named = true;
    }
    if (w.alone && !w.named)
        snprintf(w.name.nspace, sizeof w.name.nspace, "tool-%ld", (long)getpid());
    way = way_to(&w, uri);
    if (env.nspace && w.named)
        way.flag = HELLO_TOOL_STARTED;
    return api_start_tool(w.alone ? NULL : &way, &w.name, info, ninfo, proc);
}

pmix_status_t PMIx_tool_finalize(void)
{
    return PMIx_Finalize(NULL, 0);
}

bool PMIx_tool_is_connected(void)
{
    struct client *c = api_begin();
    bool connected = c && c->server && !c->server->lost;

    if (c)
        api_end(c, PMIX_SUCCESS);
    return connected;
}

pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *myproc, pmix_proc_t *server,
                                         pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct errmsg err = { "" };
    struct pmix_env env;
    struct client_way way;
    struct server_link *s;
    struct wish w;
    char uri[CONTACT_MAX];
    pmix_status_t rc = PMIX_ERR_UNREACH;

    if (!c)
        return PMIX_ERR_INIT;
    read_wish(&w, info, ninfo);
    w.named = true; /* a name does not change */
    if (pmix_env_read(&env, &err) == 0 && find_server(&w, &env, uri, sizeof uri)) {
        way = way_to(&w, uri);
        rc = client_connect(c, &way, &s, &err);
    }
    if (rc == PMIX_SUCCESS) {
        c->server = s;
        if (server)
            *server = s->name;
        if (myproc)
            *myproc = c->me;
    }
    return api_end(c, rc);
}

pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    return PMIx_tool_attach_to_server(proc, NULL, info, ninfo);
}

static struct server_link *find_link(struct client *c, const pmix_proc_t *server)
{
    LIST_EACH(l, &c->servers)
    {
        struct server_link *s = LIST_OF(l, struct server_link, link);
        if (server && !s->lost && PMIx_Check_procid(&s->name, server))
            return s;
    }
    return NULL;
}

pmix_status_t PMIx_tool_disconnect(const pmix_proc_t *server)
{
    struct client *c = api_begin();
    struct server_link *s;

    if (!c)
        return PMIX_ERR_INIT;
    s = find_link(c, server);
    if (!s)
        return api_end(c, PMIX_ERR_NOT_FOUND);
    server_lost(c, s);
    if (c->server == s)
        c->server = NULL;
    LIST_EACH(l, &c->servers)
    {
        struct server_link *other = LIST_OF(l, struct server_link, link);
        if (!c->server && !other->lost)
            c->server = other;
    }
    return api_end(c, PMIX_SUCCESS);
}

pmix_status_t PMIx_tool_get_servers(pmix_proc_t *servers[], size_t *nservers)
{
    struct client *c = api_begin();
    size_t n = 0, room = 0;

    if (!c)
        return PMIX_ERR_INIT;
    if (!servers || !nservers)
        return api_end(c, PMIX_ERR_BAD_PARAM);
    LIST_EACH(l, &c->servers)
    room++;
    *servers = PMIx_Proc_create(room ? room : 1);
    if (!*servers)
        return api_end(c, PMIX_ERR_NOMEM);
    if (c->server)
        (*servers)[n++] = c->server->name;
    LIST_EACH(l, &c->servers)
    {
        struct server_link *s = LIST_OF(l, struct server_link, link);
        if (s != c->server && !s->lost)
            (*servers)[n++] = s->name;
    }
    *nservers = n;
    return api_end(c, n ? PMIX_SUCCESS : PMIX_ERR_UNREACH);
}

pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server, pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct server_link *s;

    (void)info;
    (void)ninfo;
    if (!c)
        return PMIX_ERR_INIT;
    s = find_link(c, server);
    if (s)
        c->server = s;
    return api_end(c, s ? PMIX_SUCCESS : PMIX_ERR_UNREACH);
}
