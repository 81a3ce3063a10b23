/* dvm_members.c - see dvm_members.h.  Reading order: members; answers; nodes of a second job;
 * nodes that join; nodes that leave; requests; nodes that come under the name of another one. */
#include "launch/dvm_members.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/allocations.h"
#include "daemon/local_job.h"
#include "pmix_common.h"
#include "wireup_client.h"

enum { DVM_MEMBERS_OUT = 16 << 20, DVM_MEMBERS_ARENA = 64 << 20 };

enum dvm_member_state {
    DVM_MEMBER_USUAL,    /* of the beginning, or it has joined */
    DVM_MEMBER_COMING,   /* coming_node.h */
    DVM_MEMBER_DRAINING, /* it leaves when no process is there */
    DVM_MEMBER_LEAVING,  /* it has been asked to */
    DVM_MEMBER_LEFT,
    DVM_MEMBER_FAILED /* it has not come up */
};

struct dvm_resize {
    struct list link;
    struct dvm_members *of;
    int fd;
    struct watch watch;
    struct buf out;
    uint32_t awaited; /* nodes that have not been answered */
    uint32_t request; /* of a second job; 0: none */
    uint32_t wanted;  /* ... its nodes, */
    uint32_t placed;  /* ... those that have a position, */
    uint32_t came;    /* ... and those that are up */
    char *later;      /* nodes that it shrinks by when it is known whether a job takes them */
    bool of_job;      /* ... or a tool */
    struct buf kept;  /* ... "n1,n2": until it is over they do not leave */
    bool ends;        /* its last line is being written */
};

struct dvm_member {
    enum dvm_member_state state;
    struct coming_node new;   /* COMING */
    struct dvm_resize *asked; /* whom its end or failure is told; NULL: nobody */
    struct dvm_resize *again; /* LEAVING: who wants it as this one when it has left; NULL: nobody */
    struct host anew;
    bool itself;                /* it has come by itself */
    bool of_job;                /* ... from a second job */
    struct dvm_resize *held_by; /* ... whose request gets it; NULL: it is of the DVM */
    bool unheard; /* ... in vain: it leaves, and nobody has been told that it was there */
};

/* ---- members --------------------------------------------------------------------------------- */

static struct cluster_io *cluster_of(const struct dvm_members *m)
{
    return &m->config.remote->cluster;
}

static uint32_t count_of(const struct dvm_members *m)
{
    return m->config.remote->boot.count;
}

static const char *name_of(const struct dvm_members *m, uint32_t position)
{
    return m->config.remote->names[position];
}

static bool is_lost(const struct dvm_members *m, uint32_t position)
{
    return position && router_is_lost(&cluster_of(m)->router, position);
}

/* A living node of that name, or one that is coming up; the count: none. */
static uint32_t position_named(const struct dvm_members *m, const char *name)
{
    uint32_t p = 0;

    while (p < count_of(m) && (!name_of(m, p) || strcmp(name_of(m, p), name) != 0 ||
                               is_lost(m, p) || m->all[p].state >= DVM_MEMBER_LEFT))
        p++;
    return p;
}

/* It is there again, at another position, or was. */
static bool has_successor(const struct dvm_members *m, uint32_t position)
{
    for (uint32_t p = position + 1; p < count_of(m) && name_of(m, p); p++) {
        if (!strcmp(name_of(m, p), name_of(m, position)) && m->all[p].state != DVM_MEMBER_FAILED)
            return true;
    }
    return false;
}

static bool is_reserved(const struct dvm_members *m, uint32_t position)
{
    return allocations_has(cluster_of(m)->jobs->allocations, name_of(m, position));
}

/* A job has asked for this one, among others, and may use it when it has all. */
static bool is_kept(const struct dvm_members *m, uint32_t position)
{
    struct slice name = slice_str(name_of(m, position));

    LIST_EACH(l, &m->requests)
    {
        if (slice_has_item(buf_slice(&LIST_OF(l, struct dvm_resize, link)->kept), name))
            return true;
    }
    return false;
}

/* It drains, as soon as nobody has asked for it. */
static bool stays_yet(const struct dvm_members *m, uint32_t position)
{
    return m->all[position].state == DVM_MEMBER_DRAINING && is_kept(m, position);
}

enum dvm_node_use dvm_members_use(const struct dvm_members *m, uint32_t position)
{
    switch (m->all ? m->all[position].state : DVM_MEMBER_USUAL) {
    case DVM_MEMBER_COMING: return DVM_NODE_COMES;
    case DVM_MEMBER_DRAINING:
        if (stays_yet(m, position))
            break;
        return DVM_NODE_DRAINING;
    case DVM_MEMBER_LEAVING: return DVM_NODE_DRAINING;
    case DVM_MEMBER_LEFT:
    case DVM_MEMBER_FAILED: return DVM_NODE_LEFT;
    case DVM_MEMBER_USUAL: break;
    }
    if (m->all && is_lost(m, position) && has_successor(m, position))
        return DVM_NODE_LEFT;
    if (m->all && m->all[position].held_by)
        return DVM_NODE_COMES;
    return is_reserved(m, position) ? DVM_NODE_RESERVED : DVM_NODE_FREE;
}

static bool is_usual(const struct dvm_members *m, uint32_t position)
{
    return m->all[position].state == DVM_MEMBER_USUAL && !m->all[position].held_by;
}

uint32_t dvm_members_unusable(struct dvm_members *m, const char *const **names_p)
{
    uint32_t n = 0;

    *names_p = m->unusable;
    for (uint32_t p = 0; m->all && p < count_of(m); p++) {
        uint32_t other = name_of(m, p) ? position_named(m, name_of(m, p)) : p;
        if (name_of(m, p) && (is_lost(m, p) || !(is_usual(m, p) || stays_yet(m, p))) &&
            (other == p || other == count_of(m)))
            m->unusable[n++] = name_of(m, p);
    }
    return n;
}

/* Jobs are told. */
static void notify(const struct dvm_members *m, uint32_t position, int code)
{
    if (m->all[position].unheard)
        return;
    m->config.news(m->config.arg, code, name_of(m, position), m->config.remote->slots[position]);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void resize_free(struct dvm_resize *q)
{
    for (uint32_t p = 0; p < count_of(q->of); p++) {
        if (q->of->all[p].asked == q)
            q->of->all[p].asked = NULL;
        if (q->of->all[p].again == q)
            q->of->all[p].again = NULL;
    }
    watch_close(&q->watch);
    close(q->fd);
    list_unlink(&q->link);
    buf_free(&q->out);
    buf_free(&q->kept);
    free(q->later);
    free(q);
}

static void flush(struct dvm_resize *q)
{
    struct slice s = buf_slice(&q->out);
    ssize_t n = s.len ? send(q->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

    if (n > 0)
        buf_take(&q->out, (size_t)n);
    watch_want(&q->watch, LOOP_READ | (buf_len(&q->out) ? LOOP_WRITE : 0u));
}

/* The other end closes the connection when it has read this. */
static void end(struct dvm_resize *q)
{
    q->ends = true;
    buf_str(&q->out, "end\n");
    flush(q);
}

static void refuse(struct dvm_resize *q, const struct errmsg *err)
{
    q->ends = true;
    buf_printf(&q->out, "error: %s\n", err->text);
    flush(q);
}

/* One node less is awaited; the line about it has been written. */
static void one_less(struct dvm_resize *q)
{
    if (--q->awaited == 0)
        end(q);
    else
        flush(q);
}

static void answered(struct dvm_members *m, uint32_t position)
{
    struct dvm_resize *q = m->all[position].asked;

    m->all[position].asked = NULL;
    one_less(q);
}

/* ---- nodes of a second job ------------------------------------------------------------------- */

static struct dvm_resize *request_numbered(const struct dvm_members *m, uint32_t request)
{
    LIST_EACH(l, &m->requests)
    {
        struct dvm_resize *q = LIST_OF(l, struct dvm_resize, link);
        if (request && q->request == request && !q->ends)
            return q;
    }
    return NULL;
}

static bool is_held(const struct dvm_members *m, uint32_t position, const struct dvm_resize *q)
{
    return name_of(m, position) && m->all[position].held_by == q;
}

/* Those of a request that has got all. */
static void release(struct dvm_resize *q)
{
    struct dvm_members *m = q->of;

    for (uint32_t p = 1; p < count_of(m); p++) {
        if (!is_held(m, p, q))
            continue;
        m->all[p].held_by = NULL;
        notify(m, p, WIREUP_EVENT_NODE_JOINED);
    }
}

/* Those of a request that has got too few; one that still comes up leaves then. */
static void send_off(struct dvm_resize *q)
{
    struct dvm_members *m = q->of;

    for (uint32_t p = 1; p < count_of(m); p++) {
        if (!is_held(m, p, q))
            continue;
        m->all[p].held_by = NULL;
        m->all[p].unheard = true;
        if (m->all[p].state == DVM_MEMBER_USUAL)
            m->all[p].state = DVM_MEMBER_DRAINING;
    }
    m->again = true;
}

static void more_failed(struct dvm_resize *q, const char *why)
{
    struct errmsg err;

    q->of->config.give_up(q->of->config.arg, q->request);
    send_off(q);
    errmsg_set(&err, 0, "%s", why);
    refuse(q, &err);
}

/* One node of a request is up. */
static void one_more(struct dvm_resize *q)
{
    struct dvm_members *m = q->of;

    if (++q->came < q->wanted)
        return;
    m->config.came(m->config.arg, q->request);
    for (uint32_t p = 1; p < count_of(m); p++) {
        if (is_held(m, p, q))
            buf_printf(&q->out, "up %s %u\n", name_of(m, p), m->config.remote->slots[p]);
    }
    one_less(q);
}

void dvm_members_submitted(struct dvm_members *m, uint32_t request, const char *manager,
                           const char *id)
{
    struct dvm_resize *q = request_numbered(m, request);

    if (!q)
        return;
    buf_printf(&q->out, "submitted %s %s\n", id, manager);
    flush(q);
}

void dvm_members_over(struct dvm_members *m, uint32_t request, const char *why)
{
    struct dvm_resize *q = request_numbered(m, request);

    if (q)
        more_failed(q, why);
    dvm_members_changed(m);
}

/* Nodes of earlier second jobs; the manager may have some left of those. */
static void put_others(const struct dvm_members *m, struct buf *out)
{
    for (uint32_t p = 1; p < count_of(m); p++) {
        if (name_of(m, p) && m->all[p].of_job && m->all[p].state < DVM_MEMBER_LEFT &&
            !is_lost(m, p))
            buf_printf(out, "%s%s", buf_len(out) ? "," : "", name_of(m, p));
    }
}

static int check_more(const struct dvm_members *m, struct slice words, uint32_t *nodes_p,
                      struct errmsg *err)
{
    const struct remote *f = m->config.remote;
    uint32_t room = f->boot.count - 1 - f->boot.nnodes;

    if (!slice_u32(words, nodes_p) || *nodes_p == 0)
        return errmsg_set(err, 1, "the number of nodes must be 1 or more");
    if (*nodes_p > room)
        return errmsg_set(err, 1, "your DVM %s has room for %u more node%s", m->config.name, room,
                          room == 1 ? "" : "s");
    return 0;
}

static int more(struct dvm_resize *q, struct slice words, struct errmsg *err)
{
    struct dvm_members *m = q->of;
    struct buf others = BUF_NULL(DVM_MEMBERS_OUT);
    int rc = check_more(m, words, &q->wanted, err);

    put_others(m, &others);
    if (rc == 0 && !buf_ok(&others))
        rc = errmsg_set(err, -ENOMEM, "out of memory");
    if (rc == 0)
        rc = m->config.submit(m->config.arg, q->wanted, buf_len(&others) ? buf_cstr(&others) : "",
                              &q->request, err);
    q->awaited += rc == 0;
    buf_free(&others);
    return rc;
}

/* ---- nodes that join ------------------------------------------------------------------------- */

/* Of a request that is to get all. */
static void node_is_missing(struct dvm_members *m, uint32_t position, struct slice why)
{
    struct dvm_resize *q = m->all[position].held_by;
    char line[ERRMSG_MAX];

    if (!q)
        return;
    m->all[position].held_by = NULL;
    snprintf(line, sizeof line, SLICE_FMT, SLICE_ARG(slice_head(why, ERRMSG_MAX - 1)));
    if (!q->ends)
        more_failed(q, line);
}

void dvm_members_failed(struct dvm_members *m, uint32_t position, struct slice why)
{
    struct dvm_member *b = &m->all[position];

    if (b->state != DVM_MEMBER_COMING)
        return;
    b->state = DVM_MEMBER_FAILED;
    if (b->asked) {
        buf_printf(&b->asked->out, "failed %s " SLICE_FMT "\n", name_of(m, position),
                   SLICE_ARG(slice_head(why, ERRMSG_MAX)));
        answered(m, position);
    }
    node_is_missing(m, position, why);
    membership_lose(&cluster_of(m)->overlay_io.member, position);
    dvm_leases_changed(m->config.leases);
}

/* Jobs of tools may have processes there. */
static void add_to_plan(struct dvm_members *m, uint32_t position)
{
    struct job_map *p = m->config.plan;
    struct job_map_node *more;

    for (uint32_t n = 0; n < p->nnodes; n++) {
        if (!strcmp(p->nodes[n].name, name_of(m, position)))
            return; /* it was lost, or had left */
    }
    more = arena_array(&p->arena, (size_t)p->nnodes + 1, sizeof *more);
    if (!more)
        return;
    memcpy(more, p->nodes, p->nnodes * sizeof *more);
    more[p->nnodes] = (struct job_map_node){ .name = name_of(m, position),
                                             .slots = m->config.remote->slots[position] };
    p->nodes = more;
    p->nnodes++;
}

void dvm_members_up(struct dvm_members *m, uint32_t position)
{
    struct dvm_member *b = &m->all[position];

    if (b->state != DVM_MEMBER_COMING)
        return;
    b->state = b->unheard ? DVM_MEMBER_DRAINING : DVM_MEMBER_USUAL;
    if (!b->unheard)
        add_to_plan(m, position);
    if (b->held_by)
        one_more(b->held_by);
    else
        notify(m, position, WIREUP_EVENT_NODE_JOINED);
    if (b->asked) {
        buf_printf(&b->asked->out, "up %s %u\n", name_of(m, position),
                   m->config.remote->slots[position]);
        answered(m, position);
    }
    dvm_leases_changed(m->config.leases);
}

/* False: no memory. */
static bool add_new(struct dvm_resize *q, const struct host *h)
{
    uint32_t p = remote_add(q->of->config.remote, h);

    if (p == 0)
        buf_printf(&q->out, "failed %s out of memory\n", h->name);
    else
        q->of->all[p] = (struct dvm_member){ .state = DVM_MEMBER_COMING, .asked = q };
    return p != 0;
}

static void look_at_new(struct dvm_members *m, uint32_t position)
{
    const char *why = coming_node_look(&m->all[position].new, m->config.remote, position);

    if (why)
        dvm_members_failed(m, position, slice_str(why));
}

/* ---- nodes that leave ------------------------------------------------------------------------ */

static uint32_t processes_at(const struct dvm_members *m, uint32_t position)
{
    return dvm_leases_used(m->config.leases, position);
}

/* A job that has yet to say where its processes go may put some there. */
static bool may_be_taken(const struct dvm_members *m, uint32_t position)
{
    return dvm_leases_offered(m->config.leases, position) || is_kept(m, position);
}

/* The daemon of a job that has ended may still be about to. */
static bool is_idle(const struct dvm_members *m, uint32_t position)
{
    return processes_at(m, position) == 0 && dvm_execs_at(m->config.execs, position) == 0 &&
           !is_reserved(m, position) && !may_be_taken(m, position);
}

/* It has left, and joins at another position for who has asked meanwhile. */
static void join_again(struct dvm_member *b)
{
    struct dvm_resize *q = b->again;

    b->again = NULL;
    if (!add_new(q, &b->anew))
        one_less(q);
}

static void look_at_old(struct dvm_members *m, uint32_t position)
{
    struct dvm_member *b = &m->all[position];

    if (!is_lost(m, position)) {
        if (b->state == DVM_MEMBER_DRAINING && is_idle(m, position)) {
            b->state = DVM_MEMBER_LEAVING;
            cluster_io_dismiss(cluster_of(m), position);
        }
        return;
    }
    b->state = DVM_MEMBER_LEFT;
    notify(m, position, WIREUP_EVENT_NODE_LEFT);
    if (b->again)
        join_again(b);
    if (!b->asked)
        return;
    buf_printf(&b->asked->out, "left %s\n", name_of(m, position));
    answered(m, position);
}

static void look_at_held(struct dvm_members *m, uint32_t position)
{
    char why[ERRMSG_MAX];

    if (!m->all[position].held_by || !is_lost(m, position))
        return;
    snprintf(why, sizeof why, "node %.200s was lost before it could be used", name_of(m, position));
    node_is_missing(m, position, slice_str(why));
}

static void look_at_all(struct dvm_members *m)
{
    for (uint32_t p = 1; p < count_of(m) && name_of(m, p); p++) {
        switch (m->all[p].state) {
        case DVM_MEMBER_COMING: look_at_new(m, p); break;
        case DVM_MEMBER_DRAINING:
        case DVM_MEMBER_LEAVING: look_at_old(m, p); break;
        case DVM_MEMBER_USUAL: look_at_held(m, p); break;
        case DVM_MEMBER_LEFT:
        case DVM_MEMBER_FAILED: break;
        }
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

/* It leaves, and nobody else has a say in that. */
static bool may_return(const struct dvm_member *b)
{
    return (b->state == DVM_MEMBER_LEAVING && !b->again) ||
           (b->state == DVM_MEMBER_DRAINING && !b->asked);
}

static bool is_coming(const struct dvm_member *b)
{
    return b->state == DVM_MEMBER_COMING || b->held_by;
}

/* leaver: one that leaves will do. */
static int check_new(const struct dvm_members *m, const struct host_list *list, bool leaver,
                     struct errmsg *err)
{
    const struct remote *f = m->config.remote;

    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t p = position_named(m, list->items[i].name);
        if (p < count_of(m) && !(leaver && may_return(&m->all[p])))
            return errmsg_set(err, 1, "node %.200s is %s your DVM %s already", list->items[i].name,
                              is_coming(&m->all[p]) ? "coming up in" : "in", m->config.name);
        for (uint32_t k = 0; k < i; k++) {
            if (!strcmp(list->items[i].name, list->items[k].name))
                return errmsg_set(err, 1, "node %.200s is named twice", list->items[i].name);
        }
    }
    if (list->count > f->boot.count - 1 - f->boot.nnodes)
        return errmsg_set(err, 1, "your DVM %s has room for %u more nodes", m->config.name,
                          f->boot.count - 1 - f->boot.nnodes);
    return list->count ? 0 : errmsg_set(err, 1, "name the nodes that are to join by -hosts");
}

/* ---- nodes that come under the name of another one ------------------------------------------- */

void dvm_members_alive(struct dvm_members *m, uint32_t position)
{
    joins_probe_alive(&m->probe, position);
}

/* The one that it was is not there any more. */
static void lose(struct dvm_members *m, uint32_t position)
{
    static const char why[] = "it did not answer, and another node has come under its name";

    if (m->all[position].state == DVM_MEMBER_COMING) {
        dvm_members_failed(m, position, slice_str(why));
        return;
    }
    remote_lose(m->config.remote, position, why);
}

/* True: it may still turn out that the name is free. */
static bool may_replace(struct dvm_members *m, uint32_t position)
{
    struct dvm_member *b = &m->all[position];
    enum joins_answer answer;

    if (position == 0 || (b->state == DVM_MEMBER_COMING && !b->itself))
        return false;
    if (b->state != DVM_MEMBER_USUAL && b->state != DVM_MEMBER_COMING)
        return b->state >= DVM_MEMBER_DRAINING && !b->again; /* when it has left */
    answer = joins_probe_ask(&m->probe, position);
    if (answer == JOINS_ANSWER_NONE)
        lose(m, position);
    return answer != JOINS_ANSWER_ALIVE;
}

/* 0, JOINS_REFUSED or JOINS_LATER. */
static int check_newcomer(struct dvm_members *m, const struct host *h, struct errmsg *err)
{
    struct host copy = *h;
    const struct host_list list = { &copy, 1, 1 };
    uint32_t p = position_named(m, h->name);

    if (p < count_of(m) && may_replace(m, p))
        return JOINS_LATER;
    return check_new(m, &list, false, err) ? JOINS_REFUSED : 0;
}

/* A request that does not get this one does not get all. */
static int refuse_newcomer(struct dvm_resize *q, const struct errmsg *err)
{
    if (q) {
        more_failed(q, err->text);
        dvm_leases_changed(q->of->config.leases);
    }
    return JOINS_REFUSED;
}

int dvm_members_place(struct dvm_members *m, const struct join_request *j, uint32_t *position_p,
                      struct errmsg *err)
{
    struct host h = { .name = j->name, .slots = j->slots };
    struct dvm_resize *q;
    uint32_t p;
    int rc;

    if (!m->all || node_state(m->config.remote->node) != LAUNCHER_STATE_STANDING)
        return JOINS_LATER;
    q = request_numbered(m, j->request);
    if (j->request && (!q || q->placed == q->wanted))
        return errmsg_set(err, JOINS_REFUSED,
                          "nobody waits for node %.200s any more: the request that its job was "
                          "submitted for is over",
                          h.name);
    rc = check_newcomer(m, &h, err);
    if (rc)
        return rc == JOINS_REFUSED ? refuse_newcomer(q, err) : rc;
    p = remote_add(m->config.remote, &h);
    if (p == 0) {
        errmsg_set(err, JOINS_REFUSED, "out of memory for another node");
        return refuse_newcomer(q, err);
    }
    m->all[p] = (struct dvm_member){
        .state = DVM_MEMBER_COMING,
        .new.started = true,
        .itself = true,
        .of_job = q != NULL,
        .held_by = q,
    };
    if (q)
        q->placed++;
    *position_p = p;
    return 0;
}

/* One that drains stays; one that has been asked to leave comes again.  True: that is awaited. */
static bool return_to(struct dvm_resize *q, uint32_t position, const struct host *h)
{
    struct remote *f = q->of->config.remote;
    struct dvm_member *b = &q->of->all[position];
    const char *user = NULL;

    if (b->state == DVM_MEMBER_DRAINING) {
        b->state = DVM_MEMBER_USUAL;
        notify(q->of, position, WIREUP_EVENT_NODE_STAYS);
        buf_printf(&q->out, "up %s %u\n", h->name, f->slots[position]);
        return false;
    }
    if (h->user && !(user = arena_str(&f->arena, slice_str(h->user)))) {
        buf_printf(&q->out, "failed %s out of memory\n", h->name);
        return false;
    }
    b->again = q;
    b->anew = (struct host){
        .name = name_of(q->of, position), .slots = h->slots, .user = user, .port = h->port
    };
    return true;
}

static int grow(struct dvm_resize *q, struct slice hosts, struct errmsg *err)
{
    struct dvm_members *m = q->of;
    struct arena a = ARENA_NULL(DVM_MEMBERS_ARENA);
    struct host_list list = { NULL, 0, 0 };
    int rc = hosts_parse_list(&a, &list, hosts, err);

    if (rc == 0)
        rc = check_new(m, &list, true, err);
    for (uint32_t i = 0; rc == 0 && i < list.count; i++) {
        const struct host *h = &list.items[i];
        uint32_t p = position_named(m, h->name);
        q->awaited += p < count_of(m) ? return_to(q, p, h) : add_new(q, h);
    }
    arena_free(&a);
    return rc;
}

/* Each is a node that may leave now, or when it is idle. */
static int check_old(const struct dvm_members *m, struct slice names, bool now, struct errmsg *err)
{
    struct slice name = slice_cut(&names, ',');
    char text[300];
    uint32_t p, used;

    snprintf(text, sizeof text, SLICE_FMT, SLICE_ARG(slice_head(name, 256)));
    p = position_named(m, text);
    if (p == count_of(m))
        return errmsg_set(err, 1, "%s is not a node of your DVM %s", text, m->config.name);
    if (p == 0)
        return errmsg_set(err, 1, "node %s cannot leave: the launcher of your DVM %s is there",
                          text, m->config.name);
    if (!is_usual(m, p))
        return errmsg_set(err, 1, "node %s is %s already", text,
                          m->all[p].state < DVM_MEMBER_DRAINING ? "coming up" : "leaving");
    used = processes_at(m, p);
    if (now && used)
        return errmsg_set(
            err, 1,
            "node %s has %u process%s of jobs; -wait waits for their end, -drain lets "
            "it leave then",
            text, used, used == 1 ? "" : "es");
    if (now && is_reserved(m, p))
        return errmsg_set(
            err, 1, "node %s is reserved; -wait waits until it is free, -drain lets it leave then",
            text);
    return names.len ? check_old(m, names, now, err) : 0;
}

/* drain: nobody waits for their end. */
static void drain(struct dvm_resize *q, struct slice names, bool waits)
{
    struct dvm_members *m = q->of;

    while (names.len) {
        struct slice name = slice_cut(&names, ',');
        for (uint32_t p = 1; p < count_of(m) && name_of(m, p); p++) {
            if (!slice_is(name, name_of(m, p)) || is_lost(m, p) || !is_usual(m, p))
                continue;
            m->all[p].state = DVM_MEMBER_DRAINING;
            m->all[p].asked = waits ? q : NULL;
            q->awaited += waits;
            notify(m, p, WIREUP_EVENT_NODE_LEAVES);
            if (!waits)
                buf_printf(&q->out, "draining %s %u\n", name_of(m, p), processes_at(m, p));
        }
    }
}

/* Requests that have got all of their nodes, and whose connections have not ended yet.  (Those of
 * jobs have not got their nodes before.) */
static void release_all(struct dvm_members *m)
{
    LIST_EACH(l, &m->requests)
    {
        struct dvm_resize *q = LIST_OF(l, struct dvm_resize, link);
        if (q->request && q->ends && q->awaited == 0 && !q->of_job)
            release(q);
    }
}

static bool may_any_be_taken(const struct dvm_members *m, struct slice names)
{
    for (uint32_t p = 1; p < count_of(m) && name_of(m, p); p++) {
        if (slice_has_item(names, slice_str(name_of(m, p))) && may_be_taken(m, p))
            return true;
    }
    return false;
}

static int shrink(struct dvm_resize *q, struct slice words, struct errmsg *err)
{
    struct slice how = slice_cut(&words, ' ');
    bool now = slice_is(how, "now");
    int rc;

    release_all(q->of);
    rc = words.len ? check_old(q->of, words, now, err)
                   : errmsg_set(err, 1, "name the nodes that are to leave by -hosts");
    if (rc == 0 && now && may_any_be_taken(q->of, words)) {
        q->later = strndup(words.ptr, words.len);
        return q->later ? 0 : errmsg_set(err, -ENOMEM, "out of memory");
    }
    if (rc == 0)
        drain(q, words, !slice_is(how, "drain"));
    return rc;
}

/* The job has said which nodes it takes. */
static void shrink_now(struct dvm_resize *q)
{
    struct errmsg err;
    int rc = check_old(q->of, slice_str(q->later), true, &err);

    if (rc == 0)
        drain(q, slice_str(q->later), true);
    free(q->later);
    q->later = NULL;
    if (rc)
        refuse(q, &err);
}

static void look_at_requests(struct dvm_members *m)
{
    LIST_EACH(l, &m->requests)
    {
        struct dvm_resize *q = LIST_OF(l, struct dvm_resize, link);
        if (q->later && !may_any_be_taken(m, slice_str(q->later)))
            shrink_now(q);
    }
}

/* What it does changes something, too. */
void dvm_members_changed(struct dvm_members *m)
{
    m->again = true;
    if (!m->all || m->turning)
        return;
    m->turning = true;
    while (m->again) {
        m->again = false;
        look_at_requests(m);
        look_at_all(m);
    }
    m->turning = false;
}

static void give_up(struct dvm_resize *q)
{
    if (q->ends)
        return;
    q->of->config.give_up(q->of->config.arg, q->request);
    send_off(q);
}

/* A request that waits for nodes, or for the end of jobs, is called off with its connection. */
static void call_off(struct dvm_resize *q)
{
    struct dvm_members *m = q->of;

    if (q->request && q->awaited)
        give_up(q);
    else if (q->request)
        release(q);
    for (uint32_t p = 1; p < count_of(m); p++) {
        if (m->all[p].asked != q || m->all[p].state != DVM_MEMBER_DRAINING)
            continue;
        m->all[p].state = DVM_MEMBER_USUAL;
        notify(m, p, WIREUP_EVENT_NODE_STAYS);
    }
    resize_free(q);
    dvm_leases_changed(m->config.leases);
}

static void on_read(void *arg)
{
    struct dvm_resize *q = arg;
    char byte;
    ssize_t n = recv(q->fd, &byte, 1, MSG_DONTWAIT);

    if (n > 0 && q->of_job) {
        buf_free(&q->kept);
        dvm_leases_changed(q->of->config.leases);
    } else if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
        call_off(q);
    }
}

static void on_write(void *arg)
{
    flush(arg);
}

/* `job NODES ...` */
static int keep_for_job(struct dvm_resize *q, struct slice nodes, struct errmsg *err)
{
    q->of_job = true;
    if (!slice_is(nodes, "-"))
        buf_slice_put(&q->kept, nodes);
    return buf_ok(&q->kept) ? 0 : errmsg_set(err, -ENOMEM, "out of memory");
}

static int begin(struct dvm_resize *q, struct slice words, struct errmsg *err)
{
    struct slice verb = slice_cut(&words, ' ');

    if (slice_is(verb, "job") && keep_for_job(q, slice_cut(&words, ' '), err))
        return -ENOMEM;
    if (q->of_job)
        verb = slice_cut(&words, ' ');
    if (!q->of->all || node_state(q->of->config.remote->node) != LAUNCHER_STATE_STANDING)
        return errmsg_set(err, 1, "the DVM is not up");
    if (slice_is(verb, "grow"))
        return grow(q, words, err);
    return slice_is(verb, "more") ? more(q, words, err) : shrink(q, words, err);
}

void dvm_members_take(struct dvm_members *m, int fd, struct slice words)
{
    struct dvm_resize *q = calloc(1, sizeof *q);
    struct errmsg err = { "out of memory" };

    if (!q) {
        close(fd);
        return;
    }
    *q = (struct dvm_resize){ .of = m, .fd = fd };
    buf_init(&q->out, DVM_MEMBERS_OUT);
    buf_init(&q->kept, DVM_MEMBERS_OUT);
    list_append(&m->requests, &q->link);
    watch_open(&q->watch, node_loop(m->config.remote->node), fd, on_read, on_write, q);
    watch_want(&q->watch, LOOP_READ);
    if (begin(q, words, &err))
        refuse(q, &err);
    else if (q->awaited == 0 && !q->later)
        end(q);
    dvm_leases_changed(m->config.leases);
}

int dvm_members_open(struct dvm_members *m, const struct dvm_members_config *config)
{
    *m = (struct dvm_members){ .config = *config };
    list_init(&m->requests);
    m->all = calloc(count_of(m), sizeof *m->all);
    m->unusable = calloc(count_of(m), sizeof *m->unusable);
    if (!m->all || !m->unusable)
        return -ENOMEM;
    return joins_probe_open(&m->probe, config->remote, config->judged, config->arg);
}

void dvm_members_close(struct dvm_members *m)
{
    if (!m->requests.next)
        return;
    joins_probe_close(&m->probe);
    LIST_EACH(l, &m->requests)
    resize_free(LIST_OF(l, struct dvm_resize, link));
    free(m->all);
    free(m->unusable);
    *m = (struct dvm_members){ .all = NULL };
}
