/* job_members.c - see job_members.h.  Reading order: answers to spawns; nodes that join; in the
 * place of a lost one; what the DVM says; spawns; opening. */
#include "launch/job_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmix_common.h"
#include "wireup_client.h"

enum { JOB_MEMBERS_TEXT = 1 << 20, JOB_MEMBERS_NAME = 257 };

enum job_member_state { JOB_MEMBER_NONE, JOB_MEMBER_COMING, JOB_MEMBER_UP, JOB_MEMBER_FAILED };

/* A spawn that waits for nodes. */
struct job_growth {
    struct list link;
    struct job_members *of;
    int fd; /* -1: nobody is there any more */
    struct watch watch;
    struct buf out;
    struct buf soon;  /* "n1,n2", those that it may use when it has all */
    uint32_t awaited; /* nodes that have not been answered */
};

struct job_member {
    enum job_member_state state;
    struct coming_node new;
    bool replaces; /* it is to take the place of a lost node */
};

/* The DVM has been asked about that node, or it is coming up. */
struct job_ask {
    struct list link;
    struct job_growth *by;
    uint32_t slots;    /* as the spawn says */
    uint32_t position; /* 0: the DVM has not answered */
    char name[];
};

/* ---- answers to spawns ----------------------------------------------------------------------- */

static void hang_up(struct job_growth *g)
{
    watch_close(&g->watch);
    if (g->fd >= 0)
        close(g->fd);
    g->fd = -1;
    buf_free(&g->soon);
}

static void growth_free(struct job_growth *g)
{
    hang_up(g);
    list_unlink(&g->link);
    buf_free(&g->out);
    free(g);
}

/* All at once, at the end.  The spawn may not wait any longer; its end of the connection ends when
 * its processes have their places, or it has failed. */
static void growth_end(struct job_growth *g)
{
    struct slice s;

    buf_str(&g->out, "end\n");
    s = buf_slice(&g->out);
    while (s.len && g->fd >= 0) {
        ssize_t n = send(g->fd, s.ptr, s.len, MSG_NOSIGNAL);
        if (n <= 0 && errno != EINTR)
            break;
        s = slice_skip(s, n > 0 ? (size_t)n : 0);
    }
    if (g->fd < 0)
        growth_free(g);
}

static void one_less(struct job_growth *g)
{
    if (--g->awaited == 0)
        growth_end(g);
}

/* It uses its nodes, or will not: anything that comes says so, too (dvm_growth_forget()). */
static void on_read(void *arg)
{
    struct job_growth *g = arg;
    struct dvm_lease *lease = g->of->lease;
    char byte;
    ssize_t n = recv(g->fd, &byte, 1, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_free(&g->soon);
    else if (g->awaited)
        hang_up(g);
    else
        growth_free(g);
    dvm_lease_renew(lease);
}

/* why empty: it is up. */
static void answer(struct job_ask *k, uint32_t slots, struct slice why)
{
    struct job_growth *g = k->by;

    if (why.len)
        buf_printf(&g->out, "failed %s " SLICE_FMT "\n", k->name, SLICE_ARG(slice_head(why, 900)));
    else
        buf_printf(&g->out, "up %s %u\n", k->name, slots);
    list_unlink(&k->link);
    free(k);
    one_less(g);
}

/* The first one about that node; position 0: of those that the DVM has not answered. */
static struct job_ask *find_ask(const struct job_members *m, struct slice name, uint32_t position)
{
    LIST_EACH(l, &m->asked)
    {
        struct job_ask *k = LIST_OF(l, struct job_ask, link);
        if (k->position == position && (position || slice_is(name, k->name)))
            return k;
    }
    return NULL;
}

static struct job_ask *find_unanswered(const struct job_members *m)
{
    LIST_EACH(l, &m->asked)
    {
        struct job_ask *k = LIST_OF(l, struct job_ask, link);
        if (!k->position)
            return k;
    }
    return NULL;
}

static void answer_all(struct job_members *m, uint32_t position, struct slice why)
{
    struct job_ask *k;

    while ((k = find_ask(m, SLICE_NULL, position)))
        answer(k, m->remote->slots[position], why);
}

/* ---- nodes that join ------------------------------------------------------------------------- */

static bool is_lost(const struct job_members *m, uint32_t position)
{
    return position && router_is_lost(&m->remote->cluster.router, position);
}

/* A living node of that name, or one that is coming up; the count: none. */
static uint32_t position_named(const struct job_members *m, struct slice name)
{
    const struct remote *f = m->remote;
    uint32_t p = 0;

    while (p < f->boot.count && (!f->names[p] || !slice_is(name, f->names[p]) || is_lost(m, p) ||
                                 m->all[p].state == JOB_MEMBER_FAILED))
        p++;
    return p;
}

static bool runs(const struct job_members *m)
{
    return m->remote && node_state(m->remote->node) == LAUNCHER_STATE_RUNNING;
}

static void fail(struct job_members *m, uint32_t position, struct slice why);

/* Its position; 0: it cannot join. */
static uint32_t add(struct job_members *m, struct slice name, uint32_t slots)
{
    char text[JOB_MEMBERS_NAME];
    const struct host h = { .name = text, .slots = slots };
    const char *why;
    uint32_t p;

    if (!runs(m) || name.len >= sizeof text)
        return 0;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    p = remote_add(m->remote, &h);
    if (p == 0)
        return 0;
    m->all[p] = (struct job_member){ .state = JOB_MEMBER_COMING };
    why = coming_node_look(&m->all[p].new, m->remote, p);
    if (why)
        fail(m, p, slice_str(why));
    return m->all[p].state == JOB_MEMBER_COMING ? p : 0;
}

static void on_member(void *arg, uint32_t position)
{
    struct job_members *m = arg;

    if (m->all[position].state != JOB_MEMBER_COMING)
        return;
    m->all[position].state = JOB_MEMBER_UP;
    answer_all(m, position, SLICE_NULL);
}

/* ---- in the place of a lost one -------------------------------------------------------------- */

static void put_name(struct buf *out, const char *name)
{
    if (buf_len(out))
        buf_byte(out, ',');
    buf_str(out, name);
}

/* Those that it has, or is about to have, and those that did not come up. */
static void put_known(const struct job_members *m, struct buf *out)
{
    const struct remote *f = m->remote;

    buf_slice_put(out, buf_slice(&m->failed));
    for (uint32_t p = 0; p < f->boot.count && (!p || f->names[p]); p++) {
        if (f->names[p] && !is_lost(m, p) && m->all[p].state != JOB_MEMBER_FAILED)
            put_name(out, f->names[p]);
    }
}

static bool one_comes(const struct job_members *m)
{
    for (uint32_t p = 1; p < m->remote->boot.count && m->remote->names[p]; p++) {
        if (m->all[p].state == JOB_MEMBER_COMING && m->all[p].replaces)
            return true;
    }
    return false;
}

/* What the DVM is asked for. */
static void ask_for_node(struct job_members *m)
{
    struct buf known = BUF_NULL(JOB_MEMBERS_TEXT);
    uint32_t ranks = one_comes(m) ? 0 : m->ranks;

    if (ranks)
        put_known(m, &known);
    if (ranks || m->needs)
        dvm_lease_need(m->lease, ranks, buf_slice(&known));
    m->needs = ranks;
    buf_free(&known);
}

void job_members_seek(struct job_members *m, uint32_t ranks)
{
    if (!m->remote)
        return;
    m->ranks = ranks;
    dvm_lease_renew(m->lease); /* one may have got its node */
    ask_for_node(m);
}

/* A node of that name was of the job before. */
static bool was_lost(const struct job_members *m, uint32_t position)
{
    const struct remote *f = m->remote;

    for (uint32_t p = 1; p < position; p++) {
        if (f->names[p] && is_lost(m, p) && !strcmp(f->names[p], f->names[position]))
            return true;
    }
    return false;
}

static void fail(struct job_members *m, uint32_t position, struct slice why)
{
    struct job_member *b = &m->all[position];

    if (b->state != JOB_MEMBER_COMING)
        return;
    b->state = JOB_MEMBER_FAILED;
    answer_all(m, position, why);
    membership_lose(&m->remote->cluster.overlay_io.member, position);
    put_name(&m->failed, m->remote->names[position]);
    if (!b->replaces)
        return;
    /* The DVM may not know yet that it has lost that node, too. */
    log_line(&m->remote->log, was_lost(m, position) ? LOG_INFO : LOG_WARN,
             SLICE_FMT "; another node is awaited", SLICE_ARG(why));
    dvm_lease_renew(m->lease);
    ask_for_node(m);
}

static void on_no_member(void *arg, uint32_t position, struct slice why)
{
    fail(arg, position, why);
}

/* ---- what the DVM says ----------------------------------------------------------------------- */

/* This one takes the place. */
static void on_node(void *arg, struct slice name, uint32_t slots)
{
    struct job_members *m = arg;
    uint32_t p;

    if (!m->needs || !runs(m)) { /* the answer to an earlier question */
        dvm_lease_seen(m->lease);
        return;
    }
    m->needs = false;
    log_info(&m->remote->log, "node " SLICE_FMT " of DVM %s is to take the place of a lost one",
             SLICE_ARG(name), m->lease->place.name);
    p = add(m, name, slots);
    if (p)
        m->all[p].replaces = true;
    dvm_lease_seen(m->lease);
}

/* The answer about a node that a spawn names; why empty: it may be used. */
static void on_answer(void *arg, struct slice name, uint32_t slots, struct slice why)
{
    struct job_members *m = arg;
    struct job_ask *k = find_ask(m, name, 0);
    uint32_t p = 0;

    if (!k)
        return;
    if (!why.len) {
        p = position_named(m, name);
        p = p < m->remote->boot.count ? p : add(m, name, slots);
        why = p ? SLICE_NULL : SLICE("the job cannot take it any more");
    }
    k->position = p;
    if (!p || m->all[p].state != JOB_MEMBER_COMING)
        answer(k, slots, why);
}

/* A node may have another chance. */
static void forget_failure(struct job_members *m, struct slice name)
{
    struct buf left = BUF_NULL(JOB_MEMBERS_TEXT);
    struct slice rest = buf_slice(&m->failed);
    bool any;

    while (rest.len) {
        struct slice one = slice_cut(&rest, ',');
        if (slice_eq(one, name))
            continue;
        if (buf_len(&left))
            buf_byte(&left, ',');
        buf_slice_put(&left, one);
    }
    any = buf_len(&left) < buf_len(&m->failed);
    buf_free(&m->failed);
    m->failed = left;
    if (any && m->needs)
        ask_for_node(m);
}

static void on_news(void *arg, int code, struct slice name, uint32_t slots)
{
    struct job_members *m = arg;
    const struct launch_options *o = m->remote->opt;

    if (code != WIREUP_EVENT_NODE_JOINED)
        return;
    forget_failure(m, name);
    if (o->all_nodes && o->any_node && position_named(m, name) == m->remote->boot.count)
        add(m, name, slots);
}

static void put_list(struct slice names, struct buf *out)
{
    while (names.len) {
        struct slice name = slice_cut(&names, ',');
        buf_printf(out, " " SLICE_FMT " -", SLICE_ARG(name));
    }
}

/* Those of spawns, and one that takes the place of a lost one. */
static void put_soon(void *arg, struct buf *out)
{
    const struct job_members *m = arg;
    const struct remote *f = m->remote;

    LIST_EACH(l, &m->requests)
    put_list(buf_slice(&LIST_OF(l, struct job_growth, link)->soon), out);
    for (uint32_t p = 1; p < f->boot.count && f->names[p]; p++) {
        if (m->all[p].state == JOB_MEMBER_COMING && m->all[p].replaces)
            put_list(slice_str(f->names[p]), out);
    }
}

/* The DVM that was asked has no launcher any more. */
static void on_gone(void *arg)
{
    struct job_members *m = arg;
    struct job_ask *k;

    while ((k = find_unanswered(m)))
        answer(k, 0, SLICE("the DVM has lost its launcher"));
}

/* ---- spawns ---------------------------------------------------------------------------------- */

static struct job_ask *new_ask(struct job_members *m, struct job_growth *g, const struct host *h)
{
    size_t n = strlen(h->name);
    struct job_ask *k = calloc(1, sizeof *k + n + 1);

    if (!k)
        return NULL;
    k->by = g;
    k->slots = h->slots;
    memcpy(k->name, h->name, n);
    list_append(&m->asked, &k->link);
    g->awaited++;
    return k;
}

/* Nodes that the job has need nothing. */
static void want(struct job_members *m, struct job_growth *g, const struct host *h)
{
    uint32_t p = position_named(m, slice_str(h->name));
    bool known = p < m->remote->boot.count;
    struct job_ask *k;

    if (known && m->all[p].state != JOB_MEMBER_COMING)
        return;
    k = new_ask(m, g, h);
    if (k && known)
        k->position = p;
    else if (k)
        dvm_lease_ask(m->lease, slice_str(h->name));
}

static void grow(struct job_members *m, struct job_growth *g, struct slice hosts)
{
    struct arena a = ARENA_NULL(JOB_MEMBERS_TEXT);
    struct host_list list = { NULL, 0, 0 };
    struct errmsg err;
    int rc = hosts_parse_list(&a, &list, hosts, &err);

    for (uint32_t i = 0; rc == 0 && runs(m) && i < list.count; i++)
        want(m, g, &list.items[i]);
    arena_free(&a);
}

/* (What has joined in vain stays: it costs a daemon.) */
void job_members_take(struct job_members *m, int fd, struct slice words)
{
    struct job_growth *g = calloc(1, sizeof *g);

    if (!g || !m->remote) {
        close(fd);
        free(g);
        return;
    }
    g->of = m;
    g->fd = fd;
    g->awaited = 1; /* this call */
    buf_init(&g->out, JOB_MEMBERS_TEXT);
    buf_init(&g->soon, JOB_MEMBERS_TEXT);
    list_append(&m->requests, &g->link);
    watch_open(&g->watch, node_loop(m->remote->node), fd, on_read, NULL, g);
    watch_want(&g->watch, LOOP_READ);
    if (slice_is(slice_cut(&words, ' '), "job")) {
        buf_slice_put(&g->soon, slice_cut(&words, ' '));
        slice_cut(&words, ' '); /* `grow` */
        grow(m, g, words);
    }
    one_less(g);
}

int job_members_list(const struct job_members *m, struct arena *a, struct host_list *list)
{
    int rc = 0;

    for (uint32_t p = 1; m->remote && p < m->remote->boot.count && m->remote->names[p] && !rc;
         p++) {
        if (m->all[p].state == JOB_MEMBER_UP && !is_lost(m, p))
            rc = hosts_add(
                a, list,
                (struct host){ .name = m->remote->names[p], .slots = m->remote->slots[p] });
    }
    return rc;
}

/* ---- opening --------------------------------------------------------------------------------- */

int job_members_open(struct job_members *m, struct remote *f, struct dvm_lease *l)
{
    *m = (struct job_members){ .lease = l };
    m->all = calloc(f->boot.count, sizeof *m->all);
    if (!m->all)
        return -ENOMEM;
    m->remote = f;
    list_init(&m->requests);
    list_init(&m->asked);
    buf_init(&m->failed, JOB_MEMBERS_TEXT);
    f->on_member = on_member;
    f->on_no_member = on_no_member;
    f->arg = m;
    l->calls = (struct dvm_lease_calls){ on_node, on_answer,        on_news,
                                         on_gone, .soon = put_soon, .arg = m };
    return 0;
}

void job_members_close(struct job_members *m)
{
    if (!m->remote)
        return;
    m->lease->calls = (struct dvm_lease_calls){ .arg = NULL };
    LIST_EACH(l, &m->asked)
    {
        list_unlink(l);
        free(LIST_OF(l, struct job_ask, link));
    }
    LIST_EACH(l, &m->requests)
    {
        struct job_growth *g = LIST_OF(l, struct job_growth, link);
        hang_up(g);
        growth_end(g);
    }
    buf_free(&m->failed);
    free(m->all);
    *m = (struct job_members){ .remote = NULL };
}
