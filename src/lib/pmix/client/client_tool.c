/* client_tool.c - tools: connections to several servers (client_find.c finds them). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/client/client_find.h"
#include "lib/pmix/client/client_init.h"
#include "lib/pmix/values/value.h"
#include "server/pmix_value.h"

/* ---- connecting ------------------------------------------------------------------------------ */

static enum hello_flag flag_for(const struct wish *w, const struct pmix_env *env)
{
    if (w->schedules)
        return HELLO_SCHEDULER;
    if (w->named && env->nspace)
        return w->launcher ? HELLO_LAUNCHER_STARTED : HELLO_TOOL_STARTED;
    if (w->named)
        return w->launcher ? HELLO_LAUNCHER_NAMED : HELLO_TOOL_NAMED;
    return w->launcher ? HELLO_LAUNCHER_UNNAMED : HELLO_TOOL_UNNAMED;
}

/* The infos of a hello: OpenPMIx 5.0's server refuses a tool that sends none. */
static void put_words(struct buf *out, const struct ptype_flavour *as)
{
    pmix_info_t info = { .value = { .type = PMIX_PID, .data.pid = getpid() } };
    struct ppack w;

    PMIx_Load_key(info.key, PMIX_PROC_PID);
    ppack_init(&w, out, as);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = PMSG_LENT(&info, 1) });
}

/* words: memory for what the way lends. */
static struct client_way way_to(const struct found_server *f, enum hello_flag flag,
                                struct buf *words)
{
    const struct ptype_flavour *as = ptype_flavour(SLICE("v41"));

    put_words(words, as);
    return (struct client_way){ .uri = f->uri,
                                .fd = -1,
                                .flag = flag,
                                .as = as,
                                .version = f->version[0] ? f->version : "5.0.3",
                                .infos = buf_slice(words) };
}

pmix_status_t PMIx_tool_init(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    struct errmsg err = { "" };
    struct client_way way;
    struct pmix_env env;
    struct wish w;
    struct found_server f;
    struct buf words = BUF_NULL(PMIX_MAX_KEYLEN);
    pmix_status_t rc = api_check(PMIX_CALL_TOOL_INIT, info, ninfo);

    if (rc != PMIX_SUCCESS)
        return rc;
    if (PMIx_Initialized())
        return init_client(proc, info, ninfo);
    wish_read(&w, info, ninfo);
    if (pmix_env_read(&env, &err) < 0)
        return PMIX_ERR_BAD_PARAM;
    if (!w.alone && !server_find(&w, &env, &f)) {
        if (!w.optional)
            return PMIX_ERR_UNREACH;
        w.alone = true;
    }
    if (!w.named && env.nspace) {
        PMIx_Load_procid(&w.name, env.nspace, env.rank);
        w.named = true;
    }
    if (w.alone && !w.named)
        snprintf(w.name.nspace, sizeof w.name.nspace, "tool-%ld", (long)getpid());
    if (w.schedules && !w.named) { /* it is not given a name */
        snprintf(w.name.nspace, sizeof w.name.nspace, "scheduler-%ld", (long)getpid());
        w.name.rank = 0;
    }
    if (w.alone)
        return init_tool(NULL, &w.name, info, ninfo, proc);
    way = way_to(&f, flag_for(&w, &env), &words);
    way.tcp = client_tcp_read(info, ninfo);
    rc = buf_ok(&words) ? init_tool(&way, &w.name, info, ninfo, proc) : PMIX_ERR_NOMEM;
    buf_free(&words);
    return rc;
}

bool PMIx_tool_is_connected(void)
{
    struct client *c = api_begin();
    bool connected = c && c->server && !c->server->lost;

    if (c)
        api_end(c, PMIX_SUCCESS);
    return connected;
}

/* The new server gets the requests from now on if that is wanted, or if there is no other. */
static pmix_status_t attach(pmix_proc_t *myproc, pmix_proc_t *server, const pmix_info_t *info,
                            size_t ninfo, bool primary)
{
    struct client *c = api_begin();
    struct errmsg err = { "" };
    struct pmix_env env;
    struct client_way way;
    struct server_link *s;
    struct wish w;
    struct found_server f;
    struct buf words = BUF_NULL(PMIX_MAX_KEYLEN);
    pmix_status_t rc;

    if (!c)
        return PMIX_ERR_INIT;
    if (!info || !ninfo)
        return api_end(c, PMIX_ERR_BAD_PARAM);
    rc = api_check(PMIX_CALL_TOOL_ATTACH, info, ninfo);
    if (rc != PMIX_SUCCESS)
        return api_end(c, rc);
    rc = PMIX_ERR_UNREACH;
    wish_read(&w, info, ninfo);
    if (myproc)
        *myproc = c->me;
    if (pmix_env_read(&env, &err) == 0 && server_find(&w, &env, &f)) {
        /* a name does not change */
        way = way_to(&f, w.schedules ? HELLO_SCHEDULER : HELLO_TOOL_NAMED, &words);
        way.tcp = client_tcp_read(info, ninfo);
        rc = buf_ok(&words) ? client_connect(c, &way, &s, &err) : PMIX_ERR_NOMEM;
        buf_free(&words);
    }
    if (rc == PMIX_SUCCESS) {
        if (primary || w.primary || !c->server || c->server->lost)
            c->server = s;
        if (server)
            *server = s->name;
        lock_wake(c->gate); /* who waits for this server */
    }
    return api_end(c, rc);
}

pmix_status_t PMIx_tool_attach_to_server(pmix_proc_t *myproc, pmix_proc_t *server,
                                         pmix_info_t info[], size_t ninfo)
{
    return attach(myproc, server, info, ninfo, false);
}

/* The older function, which was meant for switching servers. */
pmix_status_t PMIx_tool_connect_to_server(pmix_proc_t *proc, pmix_info_t info[], size_t ninfo)
{
    return attach(proc, NULL, info, ninfo, true);
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
    shutdown(s->conn.fd, SHUT_RDWR); /* not closed: another thread may wait for it */
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
    return api_end(c, PMIX_SUCCESS);
}

/* When to give up waiting for a server: 0, at once; UINT64_MAX, never. */
static uint64_t patience_of(const pmix_info_t *info, size_t ninfo)
{
    uint64_t seconds = 0;
    bool waits = false;

    for (size_t i = 0; info && i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_WAIT_FOR_CONNECTION))
            waits = PMIx_Value_true(&info[i].value) != PMIX_BOOL_FALSE;
        else if (PMIx_Check_key(info[i].key, PMIX_TIMEOUT))
            seconds = pmix_number_of(&info[i].value);
    }
    if (!waits)
        return 0;
    return seconds && seconds < INT32_MAX ? clock_now_ns() + seconds * NS_PER_S : UINT64_MAX;
}

/* Another thread may attach to it meanwhile.  False: the time is over. */
static bool wait_for_change(struct client *c, uint64_t deadline_ns)
{
    const struct timespec until = { (time_t)(deadline_ns / NS_PER_S),
                                    (long)(deadline_ns % NS_PER_S) };

    if (deadline_ns == UINT64_MAX)
        lock_wait(c->gate);
    else
        return pthread_cond_clockwait(&c->gate->changed, &c->gate->mutex, CLOCK_MONOTONIC,
                                      &until) == 0;
    return true;
}

pmix_status_t PMIx_tool_set_server(const pmix_proc_t *server, pmix_info_t info[], size_t ninfo)
{
    struct client *c = api_begin();
    struct server_link *s;
    uint64_t deadline_ns;
    pmix_status_t rc = api_check(PMIX_CALL_TOOL_SET_SERVER, info, ninfo);

    if (!c)
        return PMIX_ERR_INIT;
    if (rc != PMIX_SUCCESS)
        return api_end(c, rc);
    deadline_ns = patience_of(info, ninfo);
    while (!(s = find_link(c, server)) && rc == PMIX_SUCCESS && deadline_ns)
        rc = wait_for_change(c, deadline_ns) ? PMIX_SUCCESS : PMIX_ERR_TIMEOUT;
    if (s)
        c->server = s;
    else if (rc == PMIX_SUCCESS)
        rc = PMIX_ERR_UNREACH;
    return api_end(c, rc);
}
