/* mapping.c - see mapping.h.
 *
 * Three layers: *sites* are machines (one per name); a *table* has the entries of one node list,
 * each with its number of *seats* on a site; ranks are distributed in rounds over the entries that
 * have free seats.  A full entry leaves the round, and an entry whose site is full leaves the
 * table, so that no rank ever walks over full entries: the distribution is linear. */
#include "launch/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limit.h"
#include "base/map.h"
#include "core/procmap.h"

/* ---- parsing -map-by ---- */

static bool word_is(struct slice a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

static int bad_map(struct errmsg *err, const char *text, const char *why)
{
    return errmsg_set(err, MAPPING_BAD, "-map-by %.200s: %s", text, why);
}

/* ppr:N:OBJECT */
static int parse_ppr(struct slice *rest, struct mapping_spec *s, const char *text,
                     struct errmsg *err)
{
    struct slice number = slice_cut(rest, ':'), object = slice_cut(rest, ':');

    if (!slice_u32(number, &s->ppr) || s->ppr == 0 || s->ppr > LIMIT_JOB_PROCS)
        return bad_map(err, text, "ppr needs a number of processes, as in ppr:2:socket");
    if (word_is(object, "node"))
        s->object = TOPO_MACHINE;
    else if (!topo_kind_find(object, &s->object))
        return bad_map(err, text, "ppr needs an object, as in ppr:2:socket or ppr:4:node");
    s->how = MAP_PPR;
    s->object_given = true;
    return 0;
}

static int parse_modifier(struct slice word, struct mapping_spec *s, const char *text,
                          struct errmsg *err)
{
    uint32_t n;

    if (slice_u32(word, &n) && n > 0 && n <= 65536 && s->object_given)
        s->width = n;
    else if (word_is(word, "span") && (s->how == MAP_BY_SLOT || s->how == MAP_BY_NODE))
        s->span = s->object_given; /* slots and nodes are balanced in any case, or never */
    else if (word_is(word, "oversubscribe"))
        s->over = OVER_YES;
    else if (word_is(word, "nooversubscribe"))
        s->over = OVER_NO;
    else if (word_is(slice_head(word, 3), "pe=") && slice_u32(slice_skip(word, 3), &n) && n > 0 &&
             n <= 65536)
        s->pe = n;
    else
        return bad_map(err, text,
                       "':' must be followed by pe=N, span, oversubscribe, nooversubscribe or a "
                       "number of objects");
    return 0;
}

/* seq[:file=PATH], rankfile[:file=PATH]: a path may have colons, so it is the rest. */
static void parse_file(struct slice *rest, struct mapping_spec *s)
{
    if (!slice_starts(*rest, SLICE("file=")) || rest->len == strlen("file="))
        return;
    s->file = rest->ptr + strlen("file=");
    *rest = SLICE_NULL;
}

int mapping_parse(const char *text, struct mapping_spec *spec_p, struct errmsg *err)
{
    struct mapping_spec s = { .width = 1 };
    struct slice rest = slice_str(text), word = slice_cut(&rest, ':');
    int rc = 0;

    if (text == NULL) {
        *spec_p = s;
        return 0;
    }
    if (word_is(word, "ppr"))
        rc = parse_ppr(&rest, &s, text, err);
    else if (word_is(word, "node"))
        s.how = MAP_BY_NODE;
    else if (word_is(word, "seq"))
        s.how = MAP_SEQ;
    else if (word_is(word, "rankfile"))
        s.how = MAP_RANKFILE;
    else if (topo_kind_find(word, &s.object))
        s.object_given = true;
    else if (!word_is(word, "slot") && !(word.len == 0 && rest.len))
        return bad_map(err, text,
                       "it must be slot, node, seq, rankfile:file=FILE, hwthread, core, l1cache "
                       "to l5cache, numa, socket, machine, device=gpu, device=nic or ppr:N:OBJECT");
    if (s.how == MAP_SEQ || s.how == MAP_RANKFILE)
        parse_file(&rest, &s);
    while (rc == 0 && rest.len)
        rc = parse_modifier(slice_cut(&rest, ':'), &s, text, err);
    if (rc == 0)
        *spec_p = s;
    return rc;
}

/* ---- distribution ---- */

#define NOWHERE UINT32_MAX

struct site {
    const char *name;
    const struct host *host; /* the first entry */
    uint32_t max_slots;
    uint32_t room; /* slots after the request's options: as in the node list, or more */
    uint32_t used;
    uint32_t node; /* in the plan; NOWHERE until the first rank */
};

/* What a site is to the ranks of one way. */
struct share {
    uint32_t slots;
    uint32_t list; /* the last list that counted its slots */
    uint32_t list_slots, list_room;
    uint32_t used; /* by ranks of this way */
};

struct entry {
    uint32_t site;
    uint32_t seats; /* each round */
    uint32_t taken; /* in this round */
    uint32_t turn;  /* seats that it gives before it is the next one's turn; 0: all */
};

struct table {
    const struct host_list *hosts;
    uint32_t way;
    uint32_t dealt; /* the last block that it has dealt, from 1; 0: none */
    struct entry *entries;
    uint32_t *alive; /* entries that were not full for good when this round began */
    uint32_t *round; /* entries with free seats; a pass reads at `at` and keeps at `kept` */
    uint32_t nalive, nround, at, kept;
    uint64_t slots;
};

struct dealer {
    struct job_map *plan;
    const struct mapping_request *req;
    struct errmsg *err;
    struct map by_name; /* number of the site + 1 */
    struct site *sites;
    struct share *shares; /* site after site, of each way */
    struct table *tables; /* one for each different node list and way */
    uint32_t nsites, ntables;
    uint32_t *rankmap;       /* as read */
    const uint32_t *node_of; /* rank map or file: entry of each rank, or NULL */
    const struct host **node_hosts;
};

static struct site *site_for(struct dealer *d, const struct host *h)
{
    const char *name = d->req->one_node ? d->req->one_node_name : h->name;
    uintptr_t known = (uintptr_t)map_get(&d->by_name, slice_str(name));
    struct site *s = known ? &d->sites[known - 1] : &d->sites[d->nsites];

    if (known)
        return s;
    *s = (struct site){ .name = name, .host = h, .node = NOWHERE };
    d->nsites++;
    return map_put(&d->by_name, slice_str(name), (void *)(uintptr_t)d->nsites, NULL) ? NULL : s;
}

static uint32_t add_slots(uint32_t a, uint32_t b)
{
    return b > LIMIT_JOB_PROCS - a ? LIMIT_JOB_PROCS : a + b;
}

static struct share *share_of(const struct dealer *d, const struct site *s, uint32_t way)
{
    return &d->shares[(size_t)(s - d->sites) * d->req->nways + way];
}

/* A site has as many slots as the list with the largest number gives it. */
static void count_slots(struct site *s, struct share *h, const struct host *host, uint32_t slots,
                        uint32_t list)
{
    if (h->list != list) {
        h->list = list;
        h->list_slots = h->list_room = 0;
    }
    h->list_slots = add_slots(h->list_slots, slots);
    h->list_room = add_slots(h->list_room, host->slots > slots ? host->slots : slots);
    if (h->list_slots > h->slots)
        h->slots = h->list_slots;
    if (h->list_room > s->room)
        s->room = h->list_room;
    if (host->max_slots)
        s->max_slots = host->max_slots;
}

static const struct mapping_way *way_of(const struct dealer *d, const struct table *t)
{
    return &d->req->ways[t->way];
}

static int slots_of(const struct dealer *d, const struct table *t, const struct host *h,
                    const struct site *s, uint32_t *slots_p)
{
    const struct mapping_way *w = way_of(d, t);

    *slots_p = d->req->per_node ? d->req->per_node : h->slots;
    return w->slots_of ? w->slots_of(w->arg, s->name, slots_p, d->err) : 0;
}

static int turn_of(const struct dealer *d, const struct table *t, const struct site *s,
                   uint32_t *turn_p)
{
    const struct mapping_way *w = way_of(d, t);

    *turn_p = w->how == MAP_BY_NODE ? 1 : 0;
    return w->objects_of ? w->objects_of(w->arg, s->name, turn_p, d->err) : 0;
}

static int make_table(struct dealer *d, const struct mapping_block *b)
{
    const struct host_list *hosts = b->hosts;
    struct table *t = &d->tables[d->ntables++];
    int rc = 0;

    t->hosts = hosts;
    t->way = b->way;
    t->entries = calloc(hosts->count, sizeof *t->entries);
    t->alive = calloc(hosts->count, sizeof *t->alive);
    t->round = calloc(hosts->count, sizeof *t->round);
    if (!t->entries || !t->alive || !t->round)
        return -ENOMEM;
    for (uint32_t i = 0; i < hosts->count && rc == 0; i++) {
        const struct host *h = &hosts->items[i];
        uint32_t slots = 0, turn = 0;
        struct site *s = site_for(d, h);
        rc = s ? slots_of(d, t, h, s, &slots) : -ENOMEM;
        if (rc == 0)
            rc = turn_of(d, t, s, &turn);
        if (rc)
            break;
        count_slots(s, share_of(d, s, t->way), h, slots, d->ntables);
        t->entries[i] =
            (struct entry){ .site = (uint32_t)(s - d->sites), .seats = slots, .turn = turn };
        t->alive[i] = i;
        t->slots += slots;
    }
    t->nalive = hosts->count;
    return rc;
}

static struct table *table_of(struct dealer *d, const struct mapping_block *b)
{
    for (uint32_t i = d->ntables; i-- > 0;) {
        if (d->tables[i].hosts == b->hosts && d->tables[i].way == b->way)
            return &d->tables[i];
    }
    return NULL;
}

static bool counts_own(const struct mapping_way *w)
{
    return w->how == MAP_PPR || w->how == MAP_SEQ;
}

/* The maximum number of ranks of a site, all ways together. */
static uint32_t limit_of(const struct dealer *d, const struct table *t, const struct site *s)
{
    const struct mapping_way *w = way_of(d, t);
    const struct share *h = share_of(d, s, t->way);
    uint32_t most = LIMIT_JOB_PROCS;

    if (counts_own(w))
        most = add_slots(h->slots, s->used - h->used);
    else if (w->over == OVER_NO)
        most = h->slots;
    if (w->over != OVER_YES && s->max_slots && s->max_slots < most)
        most = s->max_slots;
    return most;
}

static int full(struct dealer *d, const struct table *t)
{
    const struct mapping_way *w = way_of(d, t);
    const char *why = w->how == MAP_PPR   ? "-map-by ppr does not allow more"
                      : w->how == MAP_SEQ ? "-map-by seq puts one process on each"
                                          : "-oversubscribe allows more";
    uint64_t room = 0;

    for (uint32_t i = 0; i < d->nsites; i++) {
        uint32_t most = limit_of(d, t, &d->sites[i]),
                 own = share_of(d, &d->sites[i], t->way)->slots;
        room += counts_own(w) && own < most ? own : most;
    }
    return errmsg_set(d->err, MAPPING_BAD, "more processes than the %llu slots of the nodes; %s",
                      (unsigned long long)room, why);
}

static uint32_t most_slots(const struct dealer *d, const struct site *s)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < d->req->nways; i++) {
        uint32_t own = share_of(d, s, i)->slots;
        most = own > most ? own : most;
    }
    return most;
}

static int put_rank(struct dealer *d, uint32_t site, uint32_t rank, uint32_t app)
{
    struct site *s = &d->sites[site];
    struct job_map *p = d->plan;

    if (s->node == NOWHERE) {
        s->node = p->nnodes++;
        d->node_hosts[s->node] = s->host;
        p->nodes[s->node].name = arena_str(&p->arena, slice_str(s->name));
        p->nodes[s->node].slots = most_slots(d, s);
        if (!p->nodes[s->node].name)
            return -ENOMEM;
    }
    p->procs[rank].rank = rank;
    p->procs[rank].app = app;
    p->procs[rank].node = s->node;
    p->procs[rank].local_rank = s->used++;
    share_of(d, s, d->req->blocks[app].way)->used++;
    p->nodes[s->node].nprocs++;
    return 0;
}

/* All entries whose site is not full get all seats back. */
static bool new_round(struct dealer *d, struct table *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->nalive; i++) {
        struct entry *e = &t->entries[t->alive[i]];
        const struct site *s = &d->sites[e->site];
        if (s->used >= limit_of(d, t, s))
            continue;
        e->taken = 0;
        t->round[n] = t->alive[n] = t->alive[i];
        n++;
    }
    t->nalive = t->nround = n;
    t->at = t->kept = 0;
    return n > 0;
}

/* The site of the next rank, or NOWHERE.  By slot an entry is used until it is full; by node or
 * with span it gives the seats of a turn and is kept for the next pass while it has more. */
static uint32_t next_site(struct dealer *d, struct table *t)
{
    for (;;) {
        struct entry *e;
        const struct site *s;

        if (t->at == t->nround) { /* the pass is over; the next one is over those kept */
            t->nround = t->kept;
            t->at = t->kept = 0;
            if (t->nround == 0 && !new_round(d, t))
                return NOWHERE;
        }
        e = &t->entries[t->round[t->at]];
        s = &d->sites[e->site];
        if (e->taken == e->seats || s->used >= limit_of(d, t, s)) {
            t->at++;
            continue;
        }
        e->taken++;
        if (e->turn && e->taken % e->turn == 0) {
            if (e->taken < e->seats)
                t->round[t->kept++] = t->round[t->at];
            t->at++;
        }
        return e->site;
    }
}

/* Blocks that are distributed in another way have since taken slots of the same list. */
static bool list_is_used(const struct dealer *d, const struct table *t)
{
    for (uint32_t i = 0; i < d->ntables; i++) {
        if (d->tables[i].dealt > t->dealt && d->tables[i].hosts == t->hosts)
            return true;
    }
    return false;
}

/* Then the round begins anew, over the seats that are free. */
static int begin(struct dealer *d, struct table *t, uint32_t block)
{
    bool used = !counts_own(way_of(d, t)) && list_is_used(d, t);
    uint32_t *left = used ? calloc(d->nsites, sizeof *left) : NULL;

    if (used && !left)
        return -ENOMEM;
    if (used)
        new_round(d, t);
    for (uint32_t i = 0; i < d->nsites && used; i++)
        left[i] = d->sites[i].used;
    for (uint32_t i = 0; i < t->hosts->count && used; i++) {
        struct entry *e = &t->entries[i];
        e->taken = left[e->site] < e->seats ? left[e->site] : e->seats;
        left[e->site] -= e->taken;
    }
    t->dealt = block + 1;
    free(left);
    return 0;
}

static int deal_block(struct dealer *d, uint32_t app)
{
    struct job_map_app *a = &d->plan->apps[app];
    struct table *t = table_of(d, &d->req->blocks[app]);
    int rc = d->node_of ? 0 : begin(d, t, app);

    if (rc)
        return rc;

    for (uint32_t i = 0; i < a->nprocs; i++) {
        uint32_t rank = a->first_rank + i, site;
        site = d->node_of ? t->entries[d->node_of[rank]].site : next_site(d, t);
        if (site == NOWHERE)
            return full(d, t);
        rc = put_rank(d, site, rank, app);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- sizes ---- */

static int make_tables(struct dealer *d)
{
    uint64_t entries = 0;
    uint32_t napps = d->plan->napps;

    for (uint32_t i = 0; i < napps; i++) {
        const struct host_list *hosts = d->req->blocks[i].hosts;
        if (i == 0 || hosts != d->req->blocks[i - 1].hosts)
            entries += hosts->count;
    }
    d->sites = calloc(entries, sizeof *d->sites);
    d->shares = calloc(entries * d->req->nways, sizeof *d->shares);
    d->tables = calloc(napps, sizeof *d->tables);
    if (!d->sites || !d->shares || !d->tables)
        return -ENOMEM;
    for (uint32_t i = 0; i < napps; i++) {
        const struct mapping_block *b = &d->req->blocks[i];
        int rc = table_of(d, b) ? 0 : make_table(d, b);
        if (rc)
            return rc;
    }
    return 0;
}

static int size_job(struct dealer *d)
{
    struct job_map *p = d->plan;
    uint64_t total = 0;

    for (uint32_t i = 0; i < p->napps; i++) {
        const struct mapping_block *b = &d->req->blocks[i];
        uint64_t n = b->nprocs         ? b->nprocs
                     : d->req->entries ? d->req->nentries - total
                                       : table_of(d, b)->slots;
        if (n > LIMIT_JOB_PROCS - total)
            return errmsg_set(d->err, MAPPING_BAD, "more than %u processes in one job",
                              LIMIT_JOB_PROCS);
        if (d->req->entries && (n == 0 || n > d->req->nentries - total))
            return errmsg_set(d->err, MAPPING_BAD, "the rank file has no line for rank %u",
                              d->req->nentries);
        p->apps[i].nprocs = (uint32_t)n;
        p->apps[i].first_rank = (uint32_t)total;
        total += n;
    }
    p->nprocs = (uint32_t)total;
    p->procs = arena_array(&p->arena, p->nprocs, sizeof *p->procs);
    p->nodes = arena_array(&p->arena, d->nsites, sizeof *p->nodes);
    p->universe = 0;
    for (uint32_t i = 0; i < d->nsites; i++)
        p->universe += d->sites[i].room;
    d->node_hosts = arena_array(&p->arena, d->nsites, sizeof *d->node_hosts);
    return p->procs && p->nodes && d->node_hosts ? 0 : -ENOMEM;
}

/* "-rankmap 0,1,1,0" has the format of a process mapping. */
static int read_rankmap(struct dealer *d)
{
    struct buf text = BUF_NULL(64u << 20);
    struct errmsg why;
    uint32_t n = d->plan->nprocs, hosts = d->tables[0].hosts->count;
    int rc = -ENOMEM;

    d->node_of = d->rankmap = malloc(n * sizeof *d->rankmap);
    buf_printf(&text, "(vector,%s)", d->req->rankmap);
    if (d->rankmap && buf_ok(&text))
        rc = procmap_read(buf_slice(&text), n, d->rankmap, &why);
    buf_free(&text);
    if (rc > 0)
        return errmsg_set(d->err, MAPPING_BAD, "-rankmap: %.800s", why.text);
    for (uint32_t i = 0; i < n && rc == 0; i++) {
        if (d->node_of[i] >= hosts)
            rc = errmsg_set(d->err, MAPPING_BAD,
                            "-rankmap: rank %u is on node %u, but there are only %u nodes", i,
                            d->node_of[i], hosts);
    }
    return rc;
}

static void free_dealer(struct dealer *d)
{
    for (uint32_t i = 0; i < d->ntables; i++) {
        free(d->tables[i].entries);
        free(d->tables[i].alive);
        free(d->tables[i].round);
    }
    free(d->tables);
    free(d->sites);
    free(d->shares);
    free(d->rankmap);
    map_free(&d->by_name);
}

int mapping_place(struct job_map *plan, const struct mapping_request *req,
                  const struct host *const **node_hosts_p, struct errmsg *err)
{
    struct dealer d = { .plan = plan, .req = req, .err = err, .by_name = MAP_NULL(0) };
    int rc = make_tables(&d);

    d.node_of = req->entries;
    if (rc == 0 && d.ntables > 1 && (req->rankmap || req->entries))
        rc = errmsg_set(err, MAPPING_BAD, "%s needs one node list for all programs",
                        req->rankmap ? "-rankmap" : "-rankfile");
    if (rc == 0)
        rc = size_job(&d);
    if (rc == 0 && req->rankmap)
        rc = read_rankmap(&d);
    for (uint32_t i = 0; i < plan->napps && rc == 0; i++)
        rc = deal_block(&d, i);
    *node_hosts_p = d.node_hosts;
    free_dealer(&d);
    return rc;
}
