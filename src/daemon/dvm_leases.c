/* dvm_leases.c - see dvm_leases.h.  Reading order: what is in use; the turn; more nodes for a
 * job that runs; connections. */
#include "daemon/dvm_leases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "base/map.h"
#include "daemon/job_load.h"
#include "daemon/local_job.h"
#include "daemon/node_context.h"

enum {
    DVM_LEASES_ARENA = 64 << 20,
    DVM_LEASES_NEWS = 64 << 10,
    DVM_LEASES_OUT = 16 << 20,
    DVM_LEASES_LINE = 1 << 20
};

enum dvm_lessee_state {
    DVM_LESSEE_QUEUED,
    DVM_LESSEE_TURN, /* it has been offered slots */
    DVM_LESSEE_HELD, /* it has said which it takes */
    DVM_LESSEE_ENDS  /* its error is being written */
};

struct dvm_lessee {
    struct list link;
    struct dvm_leases *of;
    int fd;
    struct watch watch;
    struct buf in, out;
    enum dvm_lessee_state state;
    uint32_t wanted;
    bool waits, queued; /* it has been told that it waits */
    char *only;         /* "n1,n2"; NULL: all nodes */
    uint32_t *ranks;    /* by position; NULL: none yet */
    uint32_t count;
    struct buf
        offered;       /* "n1,n2", which it may take: those of its turn, then those of its spawns */
    uint32_t needs;    /* a node for so many ranks of a lost one; 0: none */
    char *not_these;   /* "n1,n2" */
    uint32_t given;    /* the one that it has got for them, and has not answered yet; 0: none */
    uint32_t given_to; /* ... so many ranks */
};

/* ---- what is in use -------------------------------------------------------------------------- */

static const struct node_context *context_of(const struct dvm_leases *l)
{
    return l->cluster->context;
}

static uint32_t count_of(const struct dvm_leases *l)
{
    return l->cluster->router.config.count;
}

/* This one has a name if it was given as one. */
static bool is_up(const struct dvm_leases *l, uint32_t position, enum dvm_node_use use)
{
    const struct cluster_io *s = l->cluster;

    return s->names[position] && (position == 0 || router_reaches(&s->router, position)) &&
           use != DVM_NODE_COMES && use != DVM_NODE_LEFT;
}

/* The position with that name; the count: none. */
static uint32_t position_of(const struct dvm_leases *l, struct slice name)
{
    uint32_t p = 0;

    while (p < count_of(l) && !(l->cluster->names[p] && slice_is(name, l->cluster->names[p]) &&
                                !router_is_lost(&l->cluster->router, p)))
        p++;
    return p;
}

/* own: room for the processes of the DVM itself, those of tools. */
static void count_used(const struct dvm_leases *l, uint32_t *own, struct dvm_slots_node *by)
{
    job_load_add(l->cluster, own);
    LIST_EACH(k, &l->all)
    {
        const struct dvm_lessee *e = LIST_OF(k, struct dvm_lessee, link);
        for (uint32_t p = 0; p < e->count; p++)
            by[p].used += e->ranks[p];
        by[e->given].used += e->given ? e->given_to : 0;
    }
    for (uint32_t p = 0; p < count_of(l); p++)
        by[p].used += own[p];
}

/* By position, those without a name too; NULL: no memory. */
static struct dvm_slots_node *by_position(const struct dvm_leases *l, struct arena *a)
{
    const struct cluster_io *s = l->cluster;
    struct dvm_slots_node *by = arena_array(a, count_of(l), sizeof *by);
    uint32_t *own = arena_array(a, count_of(l), sizeof *own);

    for (uint32_t p = 0; by && p < count_of(l); p++) {
        enum dvm_node_use use = s->names[p] ? l->config.use(l->config.arg, p) : DVM_NODE_LEFT;
        by[p] = (struct dvm_slots_node){ .name = use == DVM_NODE_LEFT ? NULL : s->names[p],
                                         .slots = s->slots ? s->slots[p] : 1,
                                         .up = is_up(l, p, use),
                                         .usable = is_up(l, p, use) && use == DVM_NODE_FREE,
                                         .lost = p && router_is_lost(&s->router, p),
                                         .draining = use == DVM_NODE_DRAINING,
                                         .reserved = use == DVM_NODE_RESERVED };
    }
    if (by && own)
        count_used(l, own, by);
    return own ? by : NULL;
}

/* Is name in "a,b"?  NULL: all are. */
static bool is_among(const char *list, const char *name)
{
    return !list || slice_has_item(slice_str(list), slice_str(name));
}

static struct dvm_slots_node *nodes_among(const struct dvm_leases *l, const char *only,
                                          struct arena *a, uint32_t *n_p)
{
    struct dvm_slots_node *by = by_position(l, a);
    uint32_t n = 0;

    for (uint32_t p = 0; by && p < count_of(l); p++) {
        if (by[p].name && is_among(only, by[p].name))
            by[n++] = by[p];
    }
    *n_p = n;
    return by;
}

struct dvm_slots_node *dvm_leases_nodes(const struct dvm_leases *l, struct arena *a, uint32_t *n_p)
{
    return nodes_among(l, NULL, a, n_p);
}

/* Those of the DVM that view has and may be used, in the order in which they are filled; their
 * indices are those of view. */
static int nodes_of_view(const struct dvm_leases *l, struct job_map *view,
                         const struct map *by_name, struct dvm_slots_node **nodes_p, uint32_t *n_p)
{
    struct dvm_slots_node *nodes = dvm_leases_nodes(l, &view->arena, n_p);
    uint32_t n = 0;

    for (uint32_t i = 0; nodes && i < *n_p; i++) {
        const struct job_map_node *in =
            nodes[i].usable ? map_get(by_name, slice_str(nodes[i].name)) : NULL;
        if (!in)
            continue;
        nodes[n] = nodes[i];
        nodes[n++].index = (uint32_t)(in - view->nodes);
    }
    if (nodes)
        dvm_slots_sort(nodes, n);
    *nodes_p = nodes;
    *n_p = n;
    return nodes ? 0 : -ENOMEM;
}

static int offer_among(const struct dvm_leases *l, uint32_t wanted, bool shares,
                       struct job_map *view, const struct map *by_name)
{
    struct dvm_slots_node *nodes;
    uint32_t n, layers, kept = 0;
    struct job_map_node *to;
    int rc = nodes_of_view(l, view, by_name, &nodes, &n);

    if (rc)
        return rc;
    to = arena_array(&view->arena, n + (size_t)1, sizeof *to);
    if (!to)
        return -ENOMEM;
    layers = shares ? dvm_slots_layers(nodes, n, wanted) : 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots = dvm_slots_offer(&nodes[i], layers);
        if (!slots)
            continue;
        to[kept] = view->nodes[nodes[i].index];
        to[kept++].slots = slots;
    }
    if (n &&
        (kept || !shares)) { /* (nodes that the DVM does not know are for the plan to refuse) */
        view->nodes = to;
        view->nnodes = kept;
    }
    return 0;
}

int dvm_leases_offer(const struct dvm_leases *l, uint64_t wanted, bool shares, struct job_map *view)
{
    struct map by_name;
    int rc = 0;

    map_init(&by_name, 0);
    for (uint32_t i = 0; i < view->nnodes && rc == 0; i++)
        rc = map_put(&by_name, slice_str(view->nodes[i].name), &view->nodes[i], NULL);
    if (rc == 0)
        rc = offer_among(l, wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX, shares, view,
                         &by_name);
    map_free(&by_name);
    return rc;
}

uint32_t dvm_leases_waiting(const struct dvm_leases *l)
{
    uint32_t n = 0;

    LIST_EACH(k, &l->all)
    n += LIST_OF(k, struct dvm_lessee, link)->state == DVM_LESSEE_QUEUED;
    return n;
}

/* ---- the turn -------------------------------------------------------------------------------- */

static void dvm_lessee_free(struct dvm_lessee *e)
{
    if (e->of->turn == e) {
        e->of->turn = NULL;
        timer_stop(&e->of->patience);
    }
    watch_close(&e->watch);
    close(e->fd);
    list_unlink(&e->link);
    buf_free(&e->in);
    buf_free(&e->out);
    free(e->only);
    free(e->not_these);
    buf_free(&e->offered);
    free(e->ranks);
    free(e);
}

static void flush(struct dvm_lessee *e)
{
    struct slice s = buf_slice(&e->out);
    ssize_t n = s.len ? send(e->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;

    if (n > 0)
        buf_take(&e->out, (size_t)n);
    watch_want(&e->watch, LOOP_READ | (buf_len(&e->out) ? LOOP_WRITE : 0u));
}

/* Then its other end closes the connection. */
static void refuse(struct dvm_lessee *e, const struct errmsg *err)
{
    e->state = DVM_LESSEE_ENDS;
    buf_printf(&e->out, "error: %s\n", err->text);
    flush(e);
}

static void put_lost(const struct dvm_slots_node *nodes, uint32_t n, struct buf *out)
{
    const char *before = " ";

    for (uint32_t i = 0; i < n; i++) {
        if (!nodes[i].lost)
            continue;
        buf_printf(out, "%s%s", before, nodes[i].name);
        before = ",";
    }
    buf_str(out, *before == ',' ? "\n" : " -\n");
}

/* It does not leave before the launcher says what it takes. */
static void keep(struct dvm_lessee *e, const char *name)
{
    buf_printf(&e->offered, "%s%s", buf_len(&e->offered) ? "," : "", name);
}

static void offer(struct dvm_lessee *e, const char *name, uint32_t slots)
{
    buf_printf(&e->out, "%s %u\n", name, slots);
    keep(e, name);
}

static void grant(struct dvm_lessee *e, struct dvm_slots_node *nodes, uint32_t n, uint32_t layers)
{
    struct dvm_slots_sum sum = dvm_slots_sum(nodes, n);
    uint32_t left = e->of->config.limits.slots;

    buf_printf(&e->out, "granted %u %llu %llu", layers, (unsigned long long)sum.free,
               (unsigned long long)sum.slots);
    put_lost(nodes, n, &e->out);
    dvm_slots_sort(nodes, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots = dvm_slots_offer(&nodes[i], layers);
        if (e->wanted == 0 && e->of->config.limits.slots) {
            slots = slots < left ? slots : left;
            left -= slots;
        }
        if (slots)
            offer(e, nodes[i].name, slots);
    }
    buf_str(&e->out, ".\n");
    e->state = DVM_LESSEE_TURN;
    e->of->turn = e;
    timer_set(&e->of->patience, LIMIT_DVM_TURN_MS);
    flush(e);
}

/* A job without a number of processes has one for each slot that it may have. */
static uint64_t needs(const struct dvm_lessee *e, const struct dvm_slots_sum *sum)
{
    uint32_t most = e->of->config.limits.slots;

    if (e->wanted)
        return e->wanted;
    return most && most < sum->slots ? most : sum->slots;
}

/* Of launchers, and of tools. */
static uint32_t jobs_that_run(const struct dvm_leases *l)
{
    uint32_t n = 0;

    LIST_EACH(k, &l->all)
    {
        enum dvm_lessee_state state = LIST_OF(k, struct dvm_lessee, link)->state;
        n += state == DVM_LESSEE_TURN || state == DVM_LESSEE_HELD;
    }
    LIST_EACH(k, &l->cluster->jobs->all)
    {
        const struct job *j = LIST_OF(k, struct local_job, link)->job;
        const struct job *parent = core_job(&context_of(l)->server->core, j->parent);
        n += !j->is_tool && !j->follows && j->phase != JOB_ENDED && (!parent || parent->is_tool);
    }
    return n;
}

/* Not one more. */
static bool is_full(const struct dvm_leases *l)
{
    return l->config.limits.jobs && jobs_that_run(l) >= l->config.limits.jobs;
}

/* True: it can be had some time, or is granted now.  some_time: the slots that it could have. */
static bool is_possible(const struct dvm_lessee *e, const struct dvm_slots_sum *sum,
                        uint64_t some_time, struct errmsg *err)
{
    const char *name = e->of->config.name;

    if (dvm_limits_check(&e->of->config.limits, name, e->wanted, 0, err))
        return false;
    if (!e->waits && is_full(e->of)) {
        errmsg_set(
            err, 1,
            "DVM %s runs %u job%s, and has no more at once (-jobs); -wait waits for the end of one",
            name, e->of->config.limits.jobs, e->of->config.limits.jobs == 1 ? "" : "s");
        return false;
    }
    if (e->waits && e->of->config.grows)
        return true;
    if (sum->slots == 0)
        errmsg_set(err, 1, "your DVM %s has no free node%s: all are reserved or lost", name,
                   e->only ? " of these" : "");
    else if (e->waits && needs(e, sum) > some_time)
        errmsg_set(err, 1, "-wait: the job has %u processes, and %s DVM %s %llu slots", e->wanted,
                   e->only ? "these nodes of your" : "your", name, (unsigned long long)some_time);
    else
        return true;
    return false;
}

static void queue(struct dvm_lessee *e, const struct dvm_slots_sum *sum)
{
    if (e->queued)
        return;
    e->queued = true;
    buf_printf(&e->out, "queued %llu %llu", (unsigned long long)sum->free,
               (unsigned long long)sum->slots);
    if (is_full(e->of))
        buf_printf(&e->out, " %u", e->of->config.limits.jobs);
    buf_byte(&e->out, '\n');
    flush(e);
}

/* Whether the next one that waits may have its turn: they do not overtake each other. */
static bool consider(struct dvm_lessee *e, bool others_wait)
{
    struct arena a = ARENA_NULL(DVM_LEASES_ARENA);
    uint32_t n = 0;
    struct dvm_slots_node *nodes = nodes_among(e->of, e->only, &a, &n);
    uint32_t most = e->of->config.limits.nodes;
    uint64_t some_time = nodes && most ? dvm_slots_largest(nodes, n, most) : 0;
    struct dvm_slots_sum sum;
    struct errmsg err = { "out of memory" };
    bool waits = false;

    if (nodes && most)
        n = dvm_slots_freest(nodes, n, most);
    sum = dvm_slots_sum(nodes, nodes ? n : 0);
    if (!nodes || !is_possible(e, &sum, most ? some_time : sum.slots, &err))
        refuse(e, &err);
    else if (e->waits &&
             (others_wait || sum.slots == 0 || needs(e, &sum) > sum.free || is_full(e->of)))
        waits = true;
    else
        grant(e, nodes, n, dvm_slots_layers(nodes, n, e->wanted));
    if (waits)
        queue(e, &sum);
    arena_free(&a);
    return waits;
}

/* ---- more nodes for a job that runs ---------------------------------------------------------- */

/* The ranks that move are no reason against it, should they be counted there still. */
static uint32_t used_by_others(const struct dvm_lessee *e, const struct dvm_slots_node *by,
                               uint32_t position)
{
    uint32_t own = position < e->count ? e->ranks[position] : 0;

    return by[position].used > own ? by[position].used - own : 0;
}

static bool may_replace(const struct dvm_lessee *e, const struct dvm_slots_node *by,
                        uint32_t position)
{
    const struct dvm_slots_node *n = &by[position];
    uint32_t used = used_by_others(e, by, position);

    return n->name && n->usable && is_among(e->only, n->name) &&
           !(e->not_these && is_among(e->not_these, n->name)) &&
           (used == 0 || (n->slots > used && n->slots - used >= e->needs));
}

/* Of those that may replace a lost node of the job, the one with the most free slots; the count:
 * none.  Not the launchers' own. */
static uint32_t find_replacement(const struct dvm_lessee *e, const struct dvm_slots_node *by)
{
    uint32_t count = count_of(e->of), best = count;

    for (uint32_t p = 1; p < count; p++) {
        if (may_replace(e, by, p) &&
            (best == count || (int64_t)by[p].slots - used_by_others(e, by, p) >
                                  (int64_t)by[best].slots - used_by_others(e, by, best)))
            best = p;
    }
    return best;
}

/* Nobody else gets its slots, and it does not leave, before the launcher has answered: what that
 * says meanwhile that it uses does not have this one. */
static void give_node(struct dvm_lessee *e, const struct dvm_slots_node *node, uint32_t position)
{
    e->given = position;
    e->given_to = e->needs;
    e->needs = 0;
    buf_printf(&e->out, "node %s %u\n", node->name, node->slots);
    flush(e);
}

static void replace_if_possible(struct dvm_lessee *e)
{
    struct arena a = ARENA_NULL(DVM_LEASES_ARENA);
    const struct dvm_slots_node *by = by_position(e->of, &a);
    uint32_t p = by ? find_replacement(e, by) : count_of(e->of);

    if (p < count_of(e->of))
        give_node(e, &by[p], p);
    arena_free(&a);
}

/* "RANKS NAMES" */
static bool read_need(struct dvm_lessee *e, struct slice words)
{
    bool good = slice_u32(slice_cut(&words, ' '), &e->needs);

    free(e->not_these);
    e->not_these = slice_is(words, "-") ? NULL : strndup(words.ptr, words.len);
    return good && words.len && (e->not_these || slice_is(words, "-"));
}

static uint32_t nodes_of(const struct dvm_lessee *e, uint32_t but)
{
    uint32_t n = 0;

    for (uint32_t p = 0; p < e->count; p++)
        n += e->ranks[p] && p != but;
    return n;
}

/* Why the job may not use that node; 0: it may. */
static int check_more(const struct dvm_lessee *e, struct slice name, uint32_t position,
                      struct errmsg *err)
{
    const struct dvm_leases *l = e->of;
    const char *dvm = l->config.name;
    enum dvm_node_use use;

    if (position == count_of(l))
        return errmsg_set(err, 1, SLICE_FMT " is not a node of your DVM %s",
                          SLICE_ARG(slice_head(name, 200)), dvm);
    use = l->config.use(l->config.arg, position);
    if (!is_up(l, position, use) || use != DVM_NODE_FREE)
        return errmsg_set(err, 1, "node %s of your DVM %s %s", l->cluster->names[position], dvm,
                          use == DVM_NODE_RESERVED ? "is reserved"
                          : use == DVM_NODE_COMES  ? "is not up yet"
                                                   : "is leaving");
    return dvm_limits_check(&l->config.limits, dvm, 0, nodes_of(e, position) + 1, err);
}

static void answer_about(struct dvm_lessee *e, struct slice name)
{
    uint32_t p = position_of(e->of, name);
    struct errmsg err;

    if (check_more(e, name, p, &err)) {
        buf_printf(&e->out, "not " SLICE_FMT " %s\n", SLICE_ARG(name), err.text);
    } else {
        buf_printf(&e->out, "is " SLICE_FMT " %u\n", SLICE_ARG(name),
                   e->of->cluster->slots ? e->of->cluster->slots[p] : 1);
        keep(e, e->of->cluster->names[p]);
    }
    flush(e);
}

bool dvm_leases_offered(const struct dvm_leases *l, uint32_t position)
{
    struct slice name = slice_str(l->cluster->names[position]);

    LIST_EACH(k, &l->all)
    {
        const struct dvm_lessee *e = LIST_OF(k, struct dvm_lessee, link);
        if (e->given == position || !buf_ok(&e->offered) ||
            slice_has_item(buf_slice(&e->offered), name))
            return true;
    }
    return false;
}

uint32_t dvm_leases_used(const struct dvm_leases *l, uint32_t position)
{
    struct arena a = ARENA_NULL(DVM_LEASES_ARENA);
    const struct dvm_slots_node *by = by_position(l, &a);
    uint32_t used = by && position < count_of(l) ? by[position].used : 0;

    arena_free(&a);
    return used;
}

void dvm_leases_changed(struct dvm_leases *l)
{
    bool others_wait = false;

    if (!l->cluster || !l->up)
        return;
    l->config.changed(l->config.arg);
    LIST_EACH(k, &l->all)
    {
        struct dvm_lessee *e = LIST_OF(k, struct dvm_lessee, link);
        if (l->turn)
            return;
        if (e->state == DVM_LESSEE_HELD && e->needs && !e->given)
            replace_if_possible(e);
        if (e->state == DVM_LESSEE_QUEUED)
            others_wait = consider(e, others_wait) || others_wait;
    }
}

/* One that does not read must not cost memory without bound. */
static void send_to_holders(struct dvm_leases *l, struct slice line)
{
    LIST_EACH(k, &l->all)
    {
        struct dvm_lessee *e = LIST_OF(k, struct dvm_lessee, link);
        if (e->state != DVM_LESSEE_HELD || buf_len(&e->out) > DVM_LEASES_NEWS)
            continue;
        buf_slice_put(&e->out, line);
        flush(e);
    }
}

void dvm_leases_news(struct dvm_leases *l, int code, const char *name, uint32_t slots)
{
    struct buf line = BUF_NULL(DVM_LEASES_LINE);

    buf_printf(&line, "news %d %s %u\n", code, name, slots);
    if (buf_ok(&line))
        send_to_holders(l, buf_slice(&line));
    buf_free(&line);
}

void dvm_leases_end(struct dvm_leases *l)
{
    if (l->cluster)
        send_to_holders(l, SLICE("ends\n"));
}

/* It does not answer; its connection ends. */
static void turn_over(void *arg)
{
    struct dvm_leases *l = arg;

    if (l->turn)
        dvm_lessee_free(l->turn);
    dvm_leases_changed(l);
}

/* ---- connections ----------------------------------------------------------------------------- */

/* RANKS, or `-`.  A node that is unknown has been lost meanwhile. */
static bool take_node(struct dvm_lessee *e, uint32_t position, struct slice word)
{
    uint32_t ranks = 0;
    bool comes = slice_is(word, "-");

    if (!comes && !slice_u32(word, &ranks))
        return false;
    if (position == count_of(e->of))
        return true;
    e->ranks[position] += ranks;
    if (comes)
        keep(e, e->of->cluster->names[position]);
    return true;
}

/* "NAME RANKS NAME RANKS ..." */
static bool read_taken(struct dvm_lessee *e, struct slice words)
{
    uint32_t count = count_of(e->of);

    if (!e->ranks)
        e->ranks = calloc(count, sizeof *e->ranks);
    if (!e->ranks)
        return false;
    memset(e->ranks, 0, count * sizeof *e->ranks);
    e->count = count;
    buf_clear(&e->offered);
    while (words.len) {
        uint32_t p = position_of(e->of, slice_cut(&words, ' '));
        if (!take_node(e, p, slice_cut(&words, ' ')))
            return false;
    }
    return true;
}

static bool take_line(struct dvm_lessee *e, struct slice line)
{
    struct slice word = slice_cut(&line, ' ');
    bool held = e->state == DVM_LESSEE_HELD, answers = held && slice_is(word, "seen");

    if (held && slice_is(word, "need"))
        return read_need(e, line);
    if (held && slice_is(word, "ask")) {
        answer_about(e, line);
        return true;
    }
    if (!(answers || slice_is(word, "took")) || (e->state != DVM_LESSEE_TURN && !held) ||
        !read_taken(e, line))
        return false;
    if (answers)
        e->given = 0;
    e->state = DVM_LESSEE_HELD;
    if (e->of->turn == e) {
        e->of->turn = NULL;
        timer_stop(&e->of->patience);
    }
    return true;
}

static void on_read(void *arg)
{
    struct dvm_lessee *e = arg;
    struct dvm_leases *l = e->of;
    char *room = buf_room(&e->in, 4096);
    ssize_t n = room ? recv(e->fd, room, 4096, MSG_DONTWAIT) : 0;
    bool good = n > 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (good)
        buf_commit(&e->in, (size_t)n);
    while (good && slice_find(buf_slice(&e->in), '\n') < buf_len(&e->in)) {
        struct slice all = buf_slice(&e->in), line = slice_cut(&all, '\n');
        good = take_line(e, line);
        buf_take(&e->in, line.len + 1);
    }
    if (!good)
        dvm_lessee_free(e);
    dvm_leases_changed(l);
}

static void on_write(void *arg)
{
    flush(arg);
}

static uint32_t names_in(struct slice list)
{
    uint32_t n = 0;

    for (; list.len; n++)
        slice_cut(&list, ',');
    return n;
}

/* PROCESSES now|wait NODES.  False: err has the reason. */
static bool read_wish(struct dvm_lessee *e, struct slice words, struct errmsg *err)
{
    bool good = slice_u32(slice_cut(&words, ' '), &e->wanted);
    struct slice how = slice_cut(&words, ' '), rest = words;

    e->waits = slice_is(how, "wait");
    if (good && slice_is(how, "again")) { /* the launcher before has granted it */
        e->state = DVM_LESSEE_HELD;
        errmsg_set(err, 1, "the request must be `lease 0 again NAME RANKS ...`");
        return read_taken(e, rest);
    }
    if (!good || !(e->waits || slice_is(how, "now")) || rest.len == 0) {
        errmsg_set(err, 1, "the request must be `lease PROCESSES now|wait NODES`");
        return false;
    }
    if (slice_is(rest, "*"))
        return true;
    e->only = strndup(rest.ptr, rest.len);
    if (dvm_limits_check(&e->of->config.limits, e->of->config.name, 0, names_in(rest), err))
        return false;
    while (rest.len) {
        struct slice name = slice_cut(&rest, ',');
        if (position_of(e->of, name) < count_of(e->of))
            continue;
        errmsg_set(err, 1, SLICE_FMT " is not a node of your DVM %s",
                   SLICE_ARG(slice_head(name, 200)), e->of->config.name);
        return false;
    }
    return e->only != NULL;
}

static void begin(struct dvm_lessee *e)
{
    const struct dvm_limits *most = &e->of->config.limits;

    if (e->state == DVM_LESSEE_HELD) {
        buf_str(&e->out, "held\n");
        flush(e);
    }
    if (e->state == DVM_LESSEE_QUEUED && dvm_limits_any(most)) {
        buf_str(&e->out, "limits ");
        dvm_limits_write(most, &e->out);
        buf_byte(&e->out, '\n');
    }
    if (e->state == DVM_LESSEE_QUEUED && e->of->config.keeps)
        buf_str(&e->out, "keeps\n");
    dvm_leases_changed(e->of);
}

void dvm_leases_take(struct dvm_leases *l, int fd, struct slice words)
{
    struct dvm_lessee *e = calloc(1, sizeof *e);
    struct errmsg err = { "out of memory" };

    if (!e) {
        close(fd);
        return;
    }
    *e = (struct dvm_lessee){ .of = l, .fd = fd };
    buf_init(&e->in, DVM_LEASES_LINE);
    buf_init(&e->out, DVM_LEASES_OUT);
    buf_init(&e->offered, DVM_LEASES_OUT);
    list_append(&l->all, &e->link);
    watch_open(&e->watch, context_of(l)->loop, fd, on_read, on_write, e);
    if (watch_want(&e->watch, LOOP_READ) < 0)
        dvm_lessee_free(e);
    else if (!read_wish(e, words, &err))
        refuse(e, &err);
    else
        begin(e);
}

void dvm_leases_open(struct dvm_leases *l, struct cluster_io *s,
                     const struct dvm_leases_config *config)
{
    *l = (struct dvm_leases){ .config = *config, .cluster = s };
    list_init(&l->all);
    timer_init(&l->patience, s->context->loop, turn_over, l);
}

void dvm_leases_close(struct dvm_leases *l)
{
    if (!l->cluster)
        return;
    LIST_EACH(k, &l->all)
    dvm_lessee_free(LIST_OF(k, struct dvm_lessee, link));
    timer_stop(&l->patience);
    l->cluster = NULL;
}
