/* server.c - see server.h: making a server, carrying out effects, freeing it. */
#include "lib/pmix/server/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/control.h"
#include "core/effect.h"
#include "io/cleanup_effect.h"
#include "lib/pmix/server/server_cleanup.h"
#include "lib/pmix/server/server_collective.h"
#include "lib/pmix/server/server_command.h"
#include "lib/pmix/server/server_host_call.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_files.h"
#include "lib/pmix/server/server_infos.h"
#include "lib/pmix/server/server_iof.h"
#include "lib/pmix/server/server_module.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"

/* ---- effects ----------------------------------------------------------------------- */

/* Removes the files that an ended process had registered: with its rights, as the host
 * registered them. */
static void clear_up(void *arg, struct effect *effect)
{
    const struct op_cleanup *e = &effect->u.cleanup;
    struct pserver *s = arg;
    const struct nspace *n = nspace_of(s, core_job(&s->server.core, e->job));
    struct cleanup_order o = cleanup_of(e);
    gid_t gid;

    if (n && nspace_rights(n, e->owner, &o.uid, &gid))
        cleanup_add(s->cleanup, &o, gid);
    else
        log_warn(&s->log, "cannot remove " SLICE_FMT ": its owner is unknown", SLICE_ARG(o.path));
}

static void for_other_nodes(void *arg, struct effect *e)
{
    meet_effect(arg, e);
}

/* The host decides about its jobs, so nothing is done about their ends; requests of clients have
 * gone to the host already (command_takes()), and would be refused. */
static effect_fn *const kinds[OPERATIONS] = {
    [EFFECT_contribute] = for_other_nodes,
    [EFFECT_modex_request] = for_other_nodes,
    [EFFECT_modex_reply] = for_other_nodes,
    [EFFECT_collective_query] = for_other_nodes,
    [EFFECT_cleanup] = clear_up,
};

static void write_out(void *arg, struct peer *p)
{
    (void)arg;
    peer_conn_flush(p->host);
}

static uint64_t now_ns(void *arg)
{
    (void)arg;
    return clock_now_ns();
}

static void ring_at(void *arg, uint64_t due_ns)
{
    struct pserver *s = arg;

    if (s->loop.backend) /* NULL: it has ended */
        timer_at(&s->due, due_ns);
}

static const struct effect_handlers handlers = {
    .kinds = kinds, .write = write_out, .now_ns = now_ns, .ring_at = ring_at
};

void pserver_drop_space(struct pserver *s, struct nspace *n)
{
    if (n->job) {
        sconn_close_of(s, n->job, PMIX_RANK_WILDCARD);
        nspace_leave(s, n);
        pserver_settle(s);
    }
    nspace_free(s, n);
}

/* The namespaces of tools that have disconnected. */
static void drop_tools(struct pserver *s)
{
    if (!s->tool_is_over)
        return;
    s->tool_is_over = false;
    LIST_EACH(l, &s->spaces)
    {
        struct nspace *n = LIST_OF(l, struct nspace, link);
        if (n->is_over)
            pserver_drop_space(s, n);
    }
}

static void ring(void *arg)
{
    struct pserver *s = arg;

    effect_host_ring(&s->host); /* the turn ends with pserver_settle() */
}

/* ---- start and end -------------------------------------------------------------------------- */

static char *hostname_of(const struct pserver_options *o)
{
    char name[256] = "localhost";

    if (o->hostname)
        return strdup(o->hostname);
    gethostname(name, sizeof name - 1);
    return strdup(name);
}

static void name_it(struct pserver *s, const struct pserver_options *o)
{
    if (o->nspace)
        PMIx_Load_procid(&s->me, o->nspace, o->rank);
    else
        snprintf(s->me.nspace, sizeof s->me.nspace, "pmix-server-%ld", (long)getpid());
    s->server.core.uid = geteuid();
    s->server.core.gid = getegid();
    s->server.core.name = s->me.nspace;
    s->server.core.name_rank = s->me.rank;
}

static struct pserver *make(const struct pserver_options *o)
{
    struct pserver *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->calm, NULL);
    list_init(&s->spaces);
    list_init(&s->calls);
    tool_files_init(&s->contacts);
    list_init(&s->outputs);
    list_init(&s->promises);
    list_init(&s->resources);
    list_init(&s->inventory);
    s->uid = geteuid();
    s->gid = getegid();
    s->host_uid = o->uid;
    s->host_gid = o->gid;
    s->log = (struct log){ STDERR_FILENO, LOG_ERROR, "libpmix", NULL };
    if (secure_getenv("WIREUP_DEBUG"))
        s->log.most = LOG_DEBUG;
    server_init(&s->server, clock_seed(), &s->log);
    effect_host_init(&s->host, &s->server, &handlers, s);
    s->turned = drop_tools;
    s->server.takes = command_takes;
    s->server.clock = clock_now_ns;
    s->server.core.wall_offset_ns = clock_wall_ns() - clock_now_ns();
    s->server.arg = s;
    s->server.core.reports_collectives = true;
    s->server.core.reports_topologies = true;
    s->server.core.shares_topology = o->shares_topology;
    s->wants = o->progress;
    s->cpus = o->cpus;
    s->event_base = o->event_base;
    s->serves_tools =
        o->serves_tools || o->is_system || o->is_session || o->is_scheduler || o->is_controller;
    s->is_scheduler = o->is_scheduler;
    s->is_controller = o->is_controller;
    s->is_system = o->is_system;
    s->is_session = o->is_session;
    s->is_gateway = o->is_gateway;
    s->hostname = hostname_of(o);
    s->tmpdir = strdup(tool_files_dir(o->tmpdir, "PMIX_SERVER_TMPDIR"));
    s->system_tmpdir = strdup(tool_files_dir(o->system_tmpdir, "PMIX_SYSTEM_TMPDIR"));
    name_it(s, o);
    return s;
}

static void drop_jobs(struct pserver *s)
{
    iof_free(s);
    meet_free(s);
    LIST_EACH(l, &s->spaces)
    pserver_drop_space(s, LIST_OF(l, struct nspace, link));
}

static void unmake(struct pserver *s)
{
    sfiles_remove(s);
    peer_conns_close(&s->conns);
    quota_report(&s->quota, &s->log);
    drop_jobs(s);
    registered_drop_all(&s->resources);
    registered_drop_all(&s->inventory);
    timer_stop(&s->due);
    loop_free(&s->loop);
}

static int open_all(struct pserver *s, const struct pserver_options *o)
{
    int rc;

    s->cleanup = cleanup_new(&s->log);
    if (!s->hostname || !s->tmpdir || !s->system_tmpdir || !s->cleanup)
        return -ENOMEM;
    rc = loop_epoll_init(&s->loop);
    if (rc == 0) {
        timer_init(&s->due, &s->loop, ring, s);
        rc = sconn_listen(s, (uint16_t)o->port);
    }
    if (rc == 0) {
        snprintf(s->uri, sizeof s->uri, "%s.%u;tcp4://127.0.0.1:%u", s->me.nspace, s->me.rank,
                 s->conns.port);
        sfiles_write(s, o);
        s->own = nspace_make(s, s->me.nspace);
        rc = s->own ? 0 : -ENOMEM;
    }
    if (rc == 0) {
        s->own->is_own = true;
        s->own->uid = s->own->gid = ID_UNSET;
        s->own->nlocal = 1;
        rc = nspace_expect(s, s->own, s->me.rank, geteuid(), getegid(), NULL) == PMIX_SUCCESS
                 ? 0
                 : -ENOMEM;
    }
    return rc;
}

pmix_status_t pserver_new(const pmix_server_module_t *module, size_t members,
                          const struct pserver_options *o, struct pserver **s_p, struct errmsg *err)
{
    struct pserver *s = make(o);
    int rc = s ? 0 : -ENOMEM;

    *s_p = NULL;
    if (s) {
        smodule_take(s, module, members);
        s->server.host_commands = host_call_mask(s);
        rc = open_all(s, o);
        if (rc == 0)
            rc = pserver_start(s);
    }
    if (rc < 0) {
        errmsg_set(err, rc, "the PMIx server cannot be started: %s", err_text(rc));
        if (s) {
            unmake(s);
            pserver_release(s);
        }
        return rc == -ENOMEM ? PMIX_ERR_NOMEM : PMIX_ERR_OUT_OF_RESOURCE;
    }
    *s_p = s;
    return PMIX_SUCCESS;
}

struct pserver *pserver_free(struct pserver *s)
{
    struct list *l;
    bool last;

    if (!s)
        return NULL;
    pserver_stop(s);
    pserver_lock(s);
    unmake(s);
    while ((l = list_first(&s->calls))) { /* each finds out that we are gone */
        struct scall *c = LIST_OF(l, struct scall, link);
        list_unlink(l);
        pthread_mutex_unlock(&s->lock);
        c->run(c);
        pthread_mutex_lock(&s->lock);
    }
    s->abandoned = true;
    last = s->asks == 0;
    pthread_mutex_unlock(&s->lock);
    if (last)
        pserver_release(s);
    return NULL;
}
