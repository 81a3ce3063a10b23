/* server.c - see server.h: making a server, turning its loop, freeing it. */
#include "lib/pmix/server.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/control.h"
#include "core/effect.h"
#include "lib/pmix/server_cleanup.h"

/* The few functions of libevent that a host's loop needs, from the library that the host uses. */
static struct {
    void *(*event_new)(void *base, int fd, short what, void (*fn)(int, short, void *), void *arg);
    int (*event_add)(void *event, const struct timeval *timeout);
    void (*event_free)(void *event);
} libevent;

enum { BASE_READ = 0x02, BASE_PERSIST = 0x10 }; /* EV_READ, EV_PERSIST of libevent 2 */

/* ---- effects and calls ----------------------------------------------------------------------- */

/* Removes the files that an ended process had registered: with its rights, as the host
 * registered them. */
static void clear_up(struct pserver *s, const struct op_cleanup *e)
{
    const struct nspace *n = nspace_of(s, core_job(&s->server.core, e->job));
    struct cleanup_order o = cleanup_of(e);
    gid_t gid;

    if (n && nspace_rights(n, e->owner, &o.uid, &gid))
        cleanup_add(s->cleanup, &o, gid);
    else
        log_warn(&s->log, "cannot remove " SLICE_FMT ": its owner is unknown", SLICE_ARG(o.path));
}

static void refuse(struct pserver *s, uint64_t ticket)
{
    server_answer(&s->server, ticket, &(struct answer){ .status = ANSWER_NOT_FOUND });
}

static void carry_out(struct pserver *s, struct effect *e)
{
    switch (e->kind) {
    case EFFECT_contribute:
    case EFFECT_modex_request:
    case EFFECT_modex_reply:
    case EFFECT_collective_query: meet_effect(s, e); break;
    case EFFECT_cleanup: clear_up(s, &e->u.cleanup); break;
    /* Never requested: command_takes() comes first. */
    case EFFECT_attr: refuse(s, e->u.attr.ticket); break;
    case EFFECT_spawn: refuse(s, e->u.spawn.ticket); break;
    case EFFECT_names: refuse(s, e->u.names.ticket); break;
    default: break; /* the host decides about its jobs */
    }
    effect_drop(e);
}

void pserver_settle(struct pserver *s)
{
    struct effect e;
    struct peer *p;

    do {
        while (server_effect(&s->server, &e))
            carry_out(s, &e);
        while ((p = server_dirty(&s->server)))
            peer_conn_flush(p->host);
        if (s->loop.backend) /* NULL: it has ended */
            timer_at(&s->due, server_tick(&s->server, clock_now_ns()));
    } while (s->server.core.effects.count);
}

void pserver_add_call(struct pserver *s, struct scall *c)
{
    list_init(&c->link);
    list_append(&s->calls, &c->link);
}

static bool is_inside(const struct pserver *s)
{
    return s->running && pthread_equal(s->runner, pthread_self());
}

bool pserver_inside(struct pserver *s)
{
    bool inside;

    pserver_lock(s);
    inside = is_inside(s);
    pthread_mutex_unlock(&s->lock);
    return inside;
}

void pserver_unlock(struct pserver *s)
{
    pserver_settle(s);
    if (!list_empty(&s->calls) && !is_inside(s) && s->loop.backend)
        loop_epoll_wake(&s->loop);
    pthread_mutex_unlock(&s->lock);
}

static void run_calls(struct pserver *s)
{
    struct list *first;

    while ((first = list_first(&s->calls)) && !s->stopping) {
        struct scall *c = LIST_OF(first, struct scall, link);
        list_unlink(first);
        s->running = true;
        s->runner = pthread_self();
        pthread_mutex_unlock(&s->lock);
        c->run(c);
        pthread_mutex_lock(&s->lock);
        s->running = false;
        pserver_settle(s);
    }
    pthread_cond_broadcast(&s->calm);
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* Each turn ends so, whichever descriptor or timer was due. */
static void settle_soon(void *arg)
{
    (void)arg;
}

static void turn(struct pserver *s, bool wait)
{
    struct loop_epoll_ready ready;

    loop_epoll_wait(&s->loop, wait, &ready);
    pserver_lock(s);
    loop_epoll_handle(&s->loop, &ready);
    pserver_settle(s);
    nspace_drop_tools(s);
    run_calls(s);
    pthread_mutex_unlock(&s->lock);
}

/* One thread at a time.  A host that is in a call continues afterwards. */
void pserver_turn(struct pserver *s, bool wait)
{
    bool mine;

    pserver_lock(s);
    while (wait && s->turning && !is_inside(s))
        pthread_cond_wait(&s->calm, &s->lock);
    mine = s->progress != PSERVER_THREAD && !s->turning && !s->stopping;
    s->turning = s->turning || mine;
    pthread_mutex_unlock(&s->lock);
    if (!mine)
        return;
    turn(s, false);
    pserver_lock(s);
    s->turning = false;
    pthread_cond_broadcast(&s->calm);
    pthread_mutex_unlock(&s->lock);
}

int pserver_turn_fd(struct pserver *s)
{
    int fd = -1;

    pserver_lock(s);
    if (s->progress != PSERVER_THREAD && !is_inside(s) && !s->stopping)
        fd = loop_epoll_fd(&s->loop);
    pthread_mutex_unlock(&s->lock);
    return fd;
}

static void *serve(void *arg)
{
    struct pserver *s = arg;
    bool stopping = false;

    while (!stopping) {
        turn(s, true);
        pserver_lock(s);
        stopping = s->stopping;
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

/* Signals are the host's business. */
static int start_thread(struct pserver *s)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&s->thread, NULL, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -rc;
}

static void base_ready(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pserver_turn(arg, false);
}

static int join_base(struct pserver *s)
{
    *(void **)&libevent.event_new = dlsym(RTLD_DEFAULT, "event_new");
    *(void **)&libevent.event_add = dlsym(RTLD_DEFAULT, "event_add");
    *(void **)&libevent.event_free = dlsym(RTLD_DEFAULT, "event_free");
    if (!libevent.event_new || !libevent.event_add || !libevent.event_free)
        return -ENOSYS;
    s->base_event = libevent.event_new(s->event_base, loop_epoll_fd(&s->loop),
                                       BASE_READ | BASE_PERSIST, base_ready, s);
    if (!s->base_event)
        return -ENOMEM;
    if (libevent.event_add(s->base_event, NULL) == 0)
        return 0;
    libevent.event_free(s->base_event);
    s->base_event = NULL;
    return -ENOMEM;
}

/* Until the host has joined, a thread of ours turns the loop in any case. */
pmix_status_t pserver_settle_progress(struct pserver *s)
{
    if (s->wants == PSERVER_THREAD)
        return PMIX_SUCCESS;
    pserver_lock(s);
    s->stopping = true;
    loop_epoll_wake(&s->loop);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pserver_lock(s);
    s->stopping = false;
    s->progress = s->wants;
    pthread_mutex_unlock(&s->lock);
    return s->wants == PSERVER_BASE && join_base(s) < 0 ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
}

static void stop_turning(struct pserver *s)
{
    pserver_lock(s);
    s->stopping = s->ending = true;
    loop_epoll_wake(&s->loop);
    while (s->running || s->turning)
        pthread_cond_wait(&s->calm, &s->lock);
    pthread_mutex_unlock(&s->lock);
    if (s->base_event)
        libevent.event_free(s->base_event);
    else if (s->progress == PSERVER_THREAD)
        pthread_join(s->thread, NULL);
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
    s->uid = geteuid();
    s->gid = getegid();
    s->told_uid = o->uid;
    s->told_gid = o->gid;
    s->log = (struct log){ STDERR_FILENO, LOG_ERROR, "libpmix", NULL };
    if (secure_getenv("WIREUP_DEBUG"))
        s->log.most = LOG_DEBUG;
    server_init(&s->server, clock_seed(), &s->log);
    s->server.takes = command_takes;
    s->server.arg = s;
    s->server.core.tells_meetings = true;
    s->wants = o->progress;
    s->event_base = o->event_base;
    s->serves_tools = o->serves_tools || o->is_system || o->is_session;
    s->is_system = o->is_system;
    s->is_session = o->is_session;
    s->hostname = hostname_of(o);
    s->tmpdir = strdup(tool_files_dir(o->tmpdir, "PMIX_SERVER_TMPDIR"));
    s->system_tmpdir = strdup(tool_files_dir(o->system_tmpdir, "PMIX_SYSTEM_TMPDIR"));
    name_it(s, o);
    return s;
}

void pserver_release(struct pserver *s)
{
    server_free(&s->server);
    loop_free(&s->loop);
    cleanup_free(s->cleanup);
    free(s->hostname);
    free(s->tmpdir);
    free(s->system_tmpdir);
    pthread_cond_destroy(&s->calm);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void drop_jobs(struct pserver *s)
{
    iof_free(s);
    meet_free(s);
    LIST_EACH(l, &s->spaces)
    nspace_free(s, LIST_OF(l, struct nspace, link));
}

static void unmake(struct pserver *s)
{
    sfiles_remove(s);
    peer_conns_close(&s->conns);
    quota_tell(&s->quota, &s->log);
    drop_jobs(s);
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
        timer_init(&s->due, &s->loop, settle_soon, s);
        rc = sconn_listen(s);
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
        s->own->uid = s->own->gid = NOT_TOLD;
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
        s->server.host_commands = command_mask(s);
        rc = open_all(s, o);
        if (rc == 0)
            rc = start_thread(s);
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
    stop_turning(s);
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
