/* pmix_scheduler.c - see pmix_scheduler.h. */
#include "server/pmix_scheduler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/input.h"
#include "core/reservation.h"
#include "server/info_array.h"
#include "server/pmix.h"
#include "server/pmix_alloc.h"
#include "server/pmix_calls.h"
#include "server/pmix_value.h"
#include "server/server_priv.h"
#include "wire/pmix_greeting.h"

#define TAG_SCHEDULER UINT32_C(0x80000000)

enum { NUMBERS = 0x3fffffff };

void pmix_scheduler_joins(struct pmix_session *s)
{
    struct peer *p = s->base.peer;

    if (s->kind != HELLO_SCHEDULER || !p->job || !p->job->is_tool)
        return;
    p->core->scheduler.connection = p->id;
    p->core->scheduler.job = p->job->id;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool read_own(struct slice infos, struct pmsg_infos *m)
{
    struct punpack r;

    *m = (struct pmsg_infos){ .has = 0 };
    punpack_init(&r, infos, &ptype_own);
    return !infos.len || pmsg_read_infos(&r, 0, m) == PTYPE_FINE;
}

/* Who asks is told besides, as the kernel names it. */
static void add_requestor(struct info_array *l, const struct core *c, const struct job *j,
                          uint32_t rank)
{
    info_array_proc(l, PMIX_REQUESTOR, j->nspace, rank);
    info_array_u32(l, PMIX_USERID, c->uid);
    info_array_u32(l, PMIX_GRPID, c->gid);
}

static void send_request(struct pmix_session *s, const struct op_schedule *o,
                         const struct info_array *l)
{
    struct ppack w = pmix_writer(s);
    uint32_t tag = TAG_SCHEDULER | (o->number & NUMBERS);

    ppack_byte(&w, PMIX_COMMAND, CMD_ALLOC);
    pmsg_write_alloc(
        &w, s->release,
        &(struct pmsg_alloc){ .directive = o->directive, .infos = { l->n, l->items } });
    if (ppack_ok(&w))
        pmix_send(s, tag);
}

bool server_on_schedule(struct server *s, const struct op_schedule *o, uint64_t now_ns)
{
    struct peer *p = server_peer(s, o->connection);
    const struct job *j = core_job(&s->core, o->job);
    struct info_array l = { .items = NULL };
    struct pmsg_infos m;

    (void)now_ns;
    if (!p->session || p->session->ops != &pmix_ops || !read_own(o->infos, &m))
        return false;
    for (size_t i = 0; i < m.infos.n; i++) {
        if (strcmp(m.infos.items[i].key, PMIX_USERID) != 0 &&
            strcmp(m.infos.items[i].key, PMIX_GRPID) != 0)
            info_array_copy(&l, m.infos.items[i].key, &m.infos.items[i].value);
    }
    add_requestor(&l, &s->core, j, o->rank);
    if (!l.no_memory)
        send_request(pmix_session_of(p->session), o, &l);
    info_array_free(&l);
    pmsg_free_infos(&m, NULL);
    server_mark_dirty(s, p);
    return true;
}

/* ---- its reply ------------------------------------------------------------------------------- */

bool pmix_is_scheduled(const struct command *c)
{
    const struct core *core = c->s->base.peer->core;

    return c->s->kind == HELLO_SCHEDULER && c->tag & TAG_SCHEDULER && c->tag != UINT32_MAX &&
           core->scheduler.connection == c->s->base.peer->id;
}

/* A refusal may lack its infos. */
int pmix_read_scheduled(struct command *c)
{
    struct pmsg_status_infos m;
    struct slice infos = SLICE_NULL;

    pmsg_read_status_infos(&c->r, c->s->release, &m);
    if (m.infos.n)
        infos = pmix_keep_packed(c, m.infos.items, m.infos.n);
    c->cmd = CMD_NONE;
    pmix_ask(
        c, REQUEST_WITH(scheduled, .number = c->tag & NUMBERS, .status = m.status, .infos = infos));
    pmsg_free_status_infos(&m, NULL);
    return c->no_memory ? -ENOMEM : SESSION_IDLE;
}

bool pmix_grant_read(struct slice infos, struct pmix_grant *g_p)
{
    struct pmsg_infos m;
    const pmix_value_t *seconds;
    const char *id, *nodes;
    bool good = read_own(infos, &m);

    *g_p = (struct pmix_grant){ .seconds = 0 };
    if (!good)
        return false;
    id = info_find_text(m.infos.items, m.infos.n, PMIX_ALLOC_ID);
    nodes = info_find_text(m.infos.items, m.infos.n, PMIX_ALLOC_NODE_LIST);
    seconds = info_find(m.infos.items, m.infos.n, PMIX_ALLOC_TIME);
    g_p->id = id ? strdup(id) : NULL;
    g_p->nodes = nodes ? strdup(nodes) : NULL;
    if (seconds)
        pmix_alloc_time(seconds, &g_p->seconds);
    pmsg_free_infos(&m, NULL);
    return (g_p->id || !id) && (g_p->nodes || !nodes);
}

void pmix_grant_free(struct pmix_grant *g)
{
    free(g->id);
    free(g->nodes);
}

/* Frees the array. */
static void write_infos(struct info_array *l, struct buf *out)
{
    struct ppack w;

    ppack_init(&w, out, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { l->n, l->items } });
    if (l->no_memory || !ppack_ok(&w))
        out->error = BUF_NO_MEMORY;
    info_array_free(l);
}

void pmix_grant_infos(struct slice infos, const struct answer *a, struct buf *out)
{
    struct info_array l = { .items = NULL };
    struct pmsg_infos m;

    if (a)
        pmix_alloc_infos(&l, a);
    if (read_own(infos, &m)) {
        for (size_t i = 0; i < m.infos.n; i++) {
            if (!info_find(l.items, l.n, m.infos.items[i].key))
                info_array_copy(&l, m.infos.items[i].key, &m.infos.items[i].value);
        }
    }
    pmsg_free_infos(&m, NULL);
    write_infos(&l, out);
}

static void put_text(struct info_array *l, const char *key, struct slice text)
{
    if (text.len)
        info_array_slice(l, key, text);
}

static void put_number(struct info_array *l, const char *key, uint64_t number)
{
    if (number)
        info_array_u64(l, key, number);
}

void pmix_wish_infos(const struct reservation_wish *w, uint32_t seconds, struct buf *out)
{
    struct info_array l = { .items = NULL };

    put_text(&l, PMIX_ALLOC_REQ_ID, w->req_id);
    put_text(&l, PMIX_ALLOC_NODE_LIST, w->nodes);
    put_text(&l, PMIX_ALLOC_EXCLUDE, w->exclude);
    put_number(&l, PMIX_ALLOC_NUM_NODES, w->num_nodes);
    put_number(&l, PMIX_ALLOC_NUM_CPUS, w->num_cpus);
    if (seconds)
        info_array_u32(&l, PMIX_ALLOC_TIME, seconds);
    write_infos(&l, out);
}

pmix_status_t pmix_alloc_check(struct slice infos)
{
    pmix_status_t status = PMIX_ERR_BAD_PARAM;
    struct pmsg_infos m;

    if (read_own(infos, &m))
        status = pmix_call_check(PMIX_CALL_ALLOCATION, m.infos.items, m.infos.n);
    pmsg_free_infos(&m, NULL);
    return status;
}
