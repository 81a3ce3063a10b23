/* coll.c - see coll.h. */
#include "core/coll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

void coll_set_init(struct coll_set *s, uint64_t seed)
{
    map_init(&s->groups, seed);
    map_init(&s->counters, seed);
    list_init(&s->all);
    s->due = UINT64_MAX;
    list_init(&s->past);
}

static void round_free(struct coll *c)
{
    list_unlink(&c->link);
    for (uint32_t i = 0; c->notes && i < c->group->count; i++)
        free(c->notes[i]);
    free(c->notes);
    free(c->here);
    free(c->tickets);
    free(c->deadlines);
    free(c->withdrawn);
    free(c);
}

static void group_free(struct coll_set *s, struct coll_group *g)
{
    if (g->name)
        map_del(&s->groups, slice_str(g->name));
    LIST_EACH(l, &g->rounds)
    round_free(LIST_OF(l, struct coll, link));
    LIST_EACH(c, &g->contributed)
    round_free(LIST_OF(c, struct coll, link));
    LIST_EACH(o, &g->owed)
    round_free(LIST_OF(o, struct coll, link));
    list_unlink(&g->link);
    free(g->members);
    free(g->all);
    free(g->name);
    free(g);
}

/* ---- generations of groups that come and go -------------------------------------------------- */

/* How often a name has been used. */
struct counter {
    struct list link;
    uint64_t generation, ncontributed;
    size_t len;
    char name[];
};

static struct slice counter_name(const struct counter *k)
{
    return slice_mem(k->name, k->len);
}

static struct counter *counter_get(struct coll_set *s, struct slice name)
{
    struct counter *k = map_get(&s->counters, name);

    if (k || s->counters.count >= LIMIT_SPREAD_GROUPS)
        return k;
    k = calloc(1, sizeof *k + name.len + 1);
    if (!k)
        return NULL;
    k->len = name.len;
    if (name.len)
        memcpy(k->name, name.ptr, name.len);
    if (map_put(&s->counters, counter_name(k), k, NULL) < 0) {
        free(k);
        return NULL;
    }
    list_append(&s->past, &k->link);
    return k;
}

void coll_set_free(struct coll_set *s)
{
    LIST_EACH(l, &s->all)
    group_free(s, LIST_OF(l, struct coll_group, link));
    LIST_EACH(k, &s->past)
    free(LIST_OF(k, struct counter, link));
    map_free(&s->groups);
    map_free(&s->counters);
}

static int group_fill(struct coll_set *s, struct coll_group *g, struct slice name,
                      const uint32_t *members)
{
    g->name = strndup(name.ptr ? name.ptr : "", name.len);
    if (!g->name)
        return -ENOMEM;
    if (members) {
        g->members = calloc(g->count ? g->count : 1, sizeof *members);
        if (!g->members)
            return -ENOMEM;
        memcpy(g->members, members, g->count * sizeof *members);
    }
    return map_put(&s->groups, slice_str(g->name), g, NULL);
}

int coll_group_get(struct coll_set *s, struct slice name, const uint32_t *members, uint32_t count,
                   bool keep, struct coll_group **group_p)
{
    struct coll_group *g = map_get(&s->groups, name);
    int rc;

    if (!g) {
        g = calloc(1, sizeof *g);
        if (!g)
            return -ENOMEM;
        list_init(&g->link);
        list_init(&g->rounds);
        list_init(&g->contributed);
        list_init(&g->owed);
        g->count = count;
        g->keep = keep;
        rc = group_fill(s, g, name, members);
        if (rc < 0) {
            free(g->members);
            free(g->name);
            free(g);
            return rc;
        }
        list_append(&s->all, &g->link);
    }
    *group_p = g;
    return 0;
}

/* The room for its count is taken now: when it goes, there may be none. */
static bool make_spread(struct coll_set *s, struct coll_group *g, const uint32_t *all,
                        uint32_t nall)
{
    struct counter *k = counter_get(s, slice_str(g->name));

    if (all)
        g->all = malloc((nall ? nall : 1) * sizeof *all);
    if (!k || (all && !g->all))
        return false;
    if (all)
        memcpy(g->all, all, nall * sizeof *all);
    g->nall = nall;
    g->spread = true;
    g->generation = k->generation;
    g->ncontributed = k->ncontributed;
    return true;
}

int coll_group_get_spread(struct coll_set *s, struct slice name, const uint32_t *mine,
                          uint32_t count, const uint32_t *all, uint32_t nall, bool keep,
                          struct coll_group **group_p)
{
    bool known = map_get(&s->groups, name) != NULL;
    int rc = coll_group_get(s, name, mine, count, keep, group_p);

    if (rc < 0 || known)
        return rc;
    if (make_spread(s, *group_p, all, nall))
        return 0;
    group_free(s, *group_p);
    return -ENOMEM;
}

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t rank, uint32_t *at_p)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (list[mid] < rank)
            low = mid + 1;
        else
            high = mid;
    }
    *at_p = low;
    return low < n && list[low] == rank;
}

bool coll_includes(const struct coll_group *g, uint32_t rank)
{
    uint32_t at;

    if (!g->spread)
        return coll_position(g, rank) >= 0;
    return g->all ? is_listed(g->all, g->nall, rank, &at) : rank < g->nall;
}

int64_t coll_position(const struct coll_group *g, uint32_t rank)
{
    uint32_t at;

    if (!g->members)
        return rank < g->count ? (int64_t)rank : -1;
    return is_listed(g->members, g->count, rank, &at) ? (int64_t)at : -1;
}

uint32_t coll_member(const struct coll_group *g, uint32_t position)
{
    return g->members ? g->members[position] : position;
}

bool coll_is_here(const struct coll *c, uint32_t position)
{
    return (c->here[position / 64] >> (position % 64) & 1) != 0;
}

static struct coll *open_round(struct coll_group *g, uint64_t now_ns)
{
    struct coll *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    list_init(&c->link);
    c->group = g;
    c->here = calloc(g->count / 64 + 1, sizeof *c->here);
    c->tickets = calloc(g->count ? g->count : 1, sizeof *c->tickets);
    if (!c->here || !c->tickets) {
        round_free(c);
        return NULL;
    }
    c->since_ns = now_ns;
    c->generation = g->generation++;
    list_append(&g->rounds, &c->link);
    return c;
}

static struct coll *first_without(const struct list *rounds, uint32_t position)
{
    LIST_EACH(l, rounds)
    {
        struct coll *c = LIST_OF(l, struct coll, link);
        if (!coll_is_here(c, position))
            return c;
    }
    return NULL;
}

static struct coll *round_without(const struct coll_group *g, uint32_t position)
{
    return first_without(&g->rounds, position);
}

/* Room for notes, made with the first one of a round. */
static bool has_notes(struct coll *c)
{
    if (!c->notes)
        c->notes = calloc(c->group->count ? c->group->count : 1, sizeof *c->notes);
    return c->notes != NULL;
}

static void arrives(struct coll *c, uint32_t position)
{
    uint64_t bit = UINT64_C(1) << (position % 64);

    c->here[position / 64] |= bit;
    if (c->withdrawn)
        c->withdrawn[position / 64] &= ~bit;
}

int coll_enter(struct coll_group *g, uint32_t rank, uint64_t ticket, uint64_t now_ns,
               struct coll **coll_p)
{
    return coll_enter_with(g, rank, ticket, now_ns, NULL, coll_p);
}

int coll_enter_with(struct coll_group *g, uint32_t rank, uint64_t ticket, uint64_t now_ns,
                    void *note, struct coll **coll_p)
{
    int64_t at = coll_position(g, rank);
    struct coll *c;

    if (at < 0)
        return COLL_NOT_MEMBER;
    *coll_p = first_without(&g->owed, (uint32_t)at);
    if (*coll_p) {
        arrives(*coll_p, (uint32_t)at);
        return COLL_OVER;
    }
    c = first_without(&g->contributed, (uint32_t)at); /* it has withdrawn from this one */
    if (!c)
        c = round_without(g, (uint32_t)at);
    if (!c)
        c = open_round(g, now_ns);
    if (!c)
        return -ENOMEM;
    if (note && !has_notes(c)) {
        if (c->arrived == 0)
            round_free(c);
        return -ENOMEM;
    }
    if (note)
        c->notes[at] = note;
    arrives(c, (uint32_t)at);
    c->tickets[at] = ticket;
    *coll_p = c;
    if (++c->arrived < g->count || c->contributed)
        return COLL_WAITING;
    list_unlink(&c->link);
    return COLL_OK;
}

/* ---- deadlines ------------------------------------------------------------------------------- */

static bool has_deadlines(struct coll *c)
{
    uint32_t n = c->group->count ? c->group->count : 1;

    if (c->deadlines)
        return true;
    c->deadlines = malloc(n * sizeof *c->deadlines);
    c->withdrawn = calloc(n / 64 + 1, sizeof *c->withdrawn);
    if (!c->deadlines || !c->withdrawn) {
        free(c->deadlines);
        free(c->withdrawn);
        c->deadlines = c->withdrawn = NULL;
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        c->deadlines[i] = UINT64_MAX;
    return true;
}

static struct coll *round_with(const struct list *rounds, int64_t at, uint64_t ticket)
{
    LIST_EACH(l, rounds)
    {
        struct coll *c = LIST_OF(l, struct coll, link);
        if (at >= 0 && coll_is_here(c, (uint32_t)at) && c->tickets[at] == ticket)
            return c;
    }
    return NULL;
}

int coll_wait_until(struct coll_set *s, struct coll_group *g, uint32_t rank, uint64_t ticket,
                    uint64_t deadline_ns)
{
    int64_t at = coll_position(g, rank);
    struct coll *c = round_with(&g->rounds, at, ticket);

    if (!c)
        c = round_with(&g->contributed, at, ticket);
    if (!c)
        return 0; /* it has been answered meanwhile */
    if (!has_deadlines(c))
        return -ENOMEM;
    c->deadlines[at] = deadline_ns;
    s->due = deadline_ns < s->due ? deadline_ns : s->due;
    return 0;
}

bool coll_has_withdrawn(const struct coll *c, uint32_t position)
{
    return c->withdrawn && (c->withdrawn[position / 64] >> (position % 64) & 1) != 0;
}

/* The one that waits in this round longer than it would; UINT32_MAX: nobody does.  *due_p becomes
 * the next deadline of the round if that is earlier. */
static uint32_t late_position(const struct coll *c, uint64_t now_ns, uint64_t *due_p)
{
    for (uint32_t i = 0; c->deadlines && i < c->group->count; i++) {
        if (!coll_is_here(c, i) || c->deadlines[i] == UINT64_MAX)
            continue;
        if (c->deadlines[i] <= now_ns)
            return i;
        *due_p = c->deadlines[i] < *due_p ? c->deadlines[i] : *due_p;
    }
    return UINT32_MAX;
}

static void withdraw(struct coll_set *s, struct coll *c, uint32_t position)
{
    uint64_t bit = UINT64_C(1) << (position % 64);

    c->here[position / 64] &= ~bit;
    if (c->deadlines) {
        c->withdrawn[position / 64] |= bit;
        c->deadlines[position] = UINT64_MAX;
    }
    if (c->notes) {
        free(c->notes[position]);
        c->notes[position] = NULL;
    }
    /* Of several nodes it keeps its number, which the others may be in already. */
    if (--c->arrived == 0 && !c->contributed && !c->group->spread)
        coll_free(s, c);
}

static struct coll *late_round(const struct list *rounds, uint64_t now_ns, uint64_t *due_p,
                               uint32_t *at_p)
{
    LIST_EACH(l, rounds)
    {
        struct coll *c = LIST_OF(l, struct coll, link);
        *at_p = late_position(c, now_ns, due_p);
        if (*at_p != UINT32_MAX)
            return c;
    }
    return NULL;
}

bool coll_withdraw_late(struct coll_set *s, uint64_t now_ns, uint32_t *rank_p, uint64_t *ticket_p)
{
    uint64_t due = UINT64_MAX;

    if (s->due > now_ns)
        return false;
    LIST_EACH(gl, &s->all)
    {
        struct coll_group *g = LIST_OF(gl, struct coll_group, link);
        uint32_t at;
        struct coll *c = late_round(&g->rounds, now_ns, &due, &at);
        if (!c)
            c = late_round(&g->contributed, now_ns, &due, &at);
        if (!c)
            continue;
        *rank_p = coll_member(g, at);
        *ticket_p = c->tickets[at];
        withdraw(s, c, at);
        return true;
    }
    s->due = due;
    return false;
}

/* ---- who does not come ----------------------------------------------------------------------- */

bool coll_is_awaited(const struct coll_set *s, uint32_t rank)
{
    LIST_EACH(l, &s->all)
    {
        const struct coll_group *g = LIST_OF(l, struct coll_group, link);
        int64_t at = coll_position(g, rank);
        LIST_EACH(r, &g->rounds)
        {
            const struct coll *c = LIST_OF(r, struct coll, link);
            if (at >= 0 && c->arrived && !coll_is_here(c, (uint32_t)at))
                return true;
        }
    }
    return false;
}

static bool take_arrival(struct coll_set *s, struct coll_group *g, uint32_t rank,
                         uint64_t *ticket_p)
{
    int64_t at = coll_position(g, rank);

    LIST_EACH(l, &g->rounds)
    {
        struct coll *c = LIST_OF(l, struct coll, link);
        if (at < 0 || !coll_is_here(c, (uint32_t)at))
            continue;
        *ticket_p = c->tickets[at];
        withdraw(s, c, (uint32_t)at);
        return true;
    }
    return false;
}

bool coll_withdraw_rank(struct coll_set *s, uint32_t rank, uint64_t *ticket_p)
{
    LIST_EACH(l, &s->all)
    {
        if (take_arrival(s, LIST_OF(l, struct coll_group, link), rank, ticket_p))
            return true;
    }
    return false;
}

bool coll_is_behind(const struct coll_group *g, uint32_t rank)
{
    int64_t at = coll_position(g, rank);

    return at >= 0 &&
           (first_without(&g->owed, (uint32_t)at) || first_without(&g->contributed, (uint32_t)at));
}

struct coll *coll_take_broken(struct coll_set *s, uint32_t rank)
{
    LIST_EACH(l, &s->all)
    {
        struct coll_group *g = LIST_OF(l, struct coll_group, link);
        int64_t at = coll_position(g, rank);
        struct coll *c = at < 0 ? NULL : round_without(g, (uint32_t)at);
        if (c) {
            list_unlink(&c->link);
            return c;
        }
    }
    return NULL;
}

static struct coll *find_round(const struct list *rounds, uint64_t generation)
{
    LIST_EACH(l, rounds)
    {
        struct coll *c = LIST_OF(l, struct coll, link);
        if (c->generation == generation)
            return c;
    }
    return NULL;
}

struct coll *coll_round(struct coll_group *g, uint64_t generation, uint64_t since_ns)
{
    struct coll *c = find_round(&g->rounds, generation);

    if (!c) {
        c = open_round(g, since_ns);
        if (c)
            c->generation = generation;
    }
    if (c && since_ns < c->since_ns)
        c->since_ns = since_ns;
    return c;
}

void coll_note_arrival(struct coll *c, uint32_t member)
{
    int64_t at = coll_position(c->group, member);

    if (at < 0 || coll_is_here(c, (uint32_t)at))
        return;
    c->here[at / 64] |= UINT64_C(1) << (at % 64);
    c->arrived++;
}

void coll_contributed(struct coll *c)
{
    c->contributed = true;
    c->group->ncontributed = c->generation + 1; /* rounds become complete in their order */
    list_append(&c->group->contributed, &c->link);
}

static bool anybody_withdrew(const struct coll *c)
{
    for (uint32_t i = 0; c->withdrawn && i <= c->group->count / 64; i++) {
        if (c->withdrawn[i])
            return true;
    }
    return false;
}

void coll_over(struct coll_set *s, struct coll *c)
{
    if (anybody_withdrew(c))
        list_append(&c->group->owed, &c->link);
    else
        coll_free(s, c);
}

void coll_paid(struct coll_set *s, struct coll *c)
{
    if (!anybody_withdrew(c))
        coll_free(s, c);
}

struct coll *coll_take_contributed(struct coll_set *s, struct slice name, uint64_t generation)
{
    const struct coll_group *g = map_get(&s->groups, name);
    struct coll *c = g ? find_round(&g->contributed, generation) : NULL;

    if (c)
        list_unlink(&c->link);
    return c;
}

struct coll *coll_take(struct coll_set *s, struct slice name, uint64_t generation)
{
    const struct coll_group *g = map_get(&s->groups, name);
    struct coll *c = g ? find_round(&g->rounds, generation) : NULL;

    if (!c)
        return coll_take_contributed(s, name, generation);
    list_unlink(&c->link);
    return c;
}

bool coll_has_contributed(const struct coll_set *s, struct slice name, uint64_t generation,
                          uint32_t rank)
{
    const struct coll_group *g = map_get(&s->groups, name);
    const struct counter *k = map_get(&s->counters, name);
    const struct coll *c = g ? find_round(&g->rounds, generation) : NULL;
    int64_t at = g ? coll_position(g, rank) : -1;

    if (c)
        return at >= 0 && coll_is_here(c, (uint32_t)at);
    return generation < (g ? g->ncontributed : k ? k->ncontributed : 0);
}

void coll_free(struct coll_set *s, struct coll *c)
{
    struct coll_group *g = c->group;

    round_free(c);
    coll_group_drop_idle(s, g);
}

void coll_group_drop_idle(struct coll_set *s, struct coll_group *g)
{
    struct counter *k;

    if (!list_empty(&g->rounds) || !list_empty(&g->contributed) || !list_empty(&g->owed) || g->keep)
        return;
    k = g->spread ? counter_get(s, slice_str(g->name)) : NULL;
    if (k) {
        k->generation = g->generation;
        k->ncontributed = g->ncontributed;
    }
    group_free(s, g);
}
