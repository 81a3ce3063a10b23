/* server_own.c - see server_own.h. */
#include "lib/pmix/server/server_own.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "core/input.h"
#include "lib/pmix/client/client_init.h"
#include "lib/pmix/server/server_conn.h"
#include "lib/pmix/server/server_instance.h"
#include "lib/pmix/server/server_space.h"
#include "lib/pmix/server/server_turn.h"
#include "server/pmix_event.h"

/* An event of the host's: notifies the subscribers here; its own handlers have been called. */
static pmix_status_t notify_others(pmix_status_t status, const pmix_proc_t *source,
                                   pmix_data_range_t range, const pmix_info_t *infos, size_t ninfos)
{
    struct input *in = INPUT(event, .job = JOB_NO_RANK, .code = status, .range = range,
                             .flags = pmix_event_flags(infos, ninfos));
    struct op_event *e = &in->u.event;
    const struct peer *own;
    struct pserver *s;
    struct buf bytes = BUF_NULL(LIMIT_STORE_VALUE);
    struct ppack w;

    ppack_init(&w, &bytes, &ptype_own);
    ppack_size(&w, ninfos);
    if (ninfos)
        ppack(&w, infos, (int32_t)ninfos, PMIX_INFO);
    if (!ppack_ok(&w)) {
        buf_free(&bytes);
        return PMIX_ERR_PACK_FAILURE;
    }
    e->infos = buf_slice(&bytes);
    s = instance_enter();
    if (s) {
        own = sconn_own(s);
        e->nspace = slice_str(source ? source->nspace : s->me.nspace);
        e->rank = source ? source->rank : s->me.rank;
        e->except = own ? own->id : 0;
        server_deliver(&s->server, in);
        pserver_unlock(s);
    }
    buf_free(&bytes);
    return s ? PMIX_SUCCESS : PMIX_ERR_INIT;
}

static void turn(void *arg, bool wait)
{
    pserver_turn(arg, wait);
}

static int turn_fd(void *arg)
{
    return pserver_turn_fd(arg);
}

static void hand_over(void *arg, bool flush)
{
    pserver_hand_over(arg, flush);
}

static void call_begin(void *arg)
{
    pserver_lock(arg);
}

static void call_end(void *arg)
{
    const struct peer *own = sconn_own(arg);

    pserver_run_own(arg, own ? own->host : NULL);
}

pmix_status_t own_join(struct pserver *s, const pmix_info_t *infos, size_t ninfos, int *fd_p)
{
    int ends[2];
    bool good;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    pserver_lock(s);
    good =
        nspace_job(s, s->own) && peer_conn_open(&s->conns, ends[0], s->own->job, s->me.rank, true);
    pserver_unlock(s);
    if (!good) {
        close(ends[0]);
        close(ends[1]);
        return PMIX_ERR_NOMEM;
    }
    fcntl(ends[1], F_SETFL, 0);
    fcntl(ends[1], F_SETFD, 0); /* the client checks for another user of it */
    *fd_p = ends[1];
    return init_host(&(struct client_seat){ .fd = ends[1],
                                            .uri = s->uri,
                                            .proc = s->me,
                                            .hostname = s->hostname,
                                            .notify_others = notify_others,
                                            .turn = turn,
                                            .turn_fd = turn_fd,
                                            .hand_over = hand_over,
                                            .call_begin = call_begin,
                                            .call_end = call_end,
                                            .arg = s },
                     infos, ninfos);
}
