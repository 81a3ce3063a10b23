/* collective.c - see collective.h. */
#include "core/collective.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/search.h"

void collective_set_init(struct collective_set *s, uint64_t seed)
{
    map_init(&s->groups, seed);
    map_init(&s->counters, seed);
    list_init(&s->all);
    s->due = UINT64_MAX;
    list_init(&s->past);
}

static void round_free(struct collective *c)
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

static void group_free(struct collective_set *s, struct collective_group *g)
{
    if (g->name)
        map_del(&s->groups, slice_str(g->name));
    LIST_EACH(l, &g->rounds)
    round_free(LIST_OF(l, struct collective, link));
    LIST_EACH(c, &g->contributed)
    round_free(LIST_OF(c, struct collective, link));
    LIST_EACH(o, &g->owed)
    round_free(LIST_OF(o, struct collective, link));
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

static struct counter *counter_get(struct collective_set *s, struct slice name)
{
    struct counter *k = map_get(&s->counters, name);

    if (k || s->counters.count >= LIMIT_FENCE_GROUPS)
        return k;
    k = calloc(1, sizeof *k + name.len + 1);
    if (!k)
        return NULL;
    k->generation = k->ncontributed = s->first;
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

void collective_set_free(struct collective_set *s)
{
    LIST_EACH(l, &s->all)
    group_free(s, LIST_OF(l, struct collective_group, link));
    LIST_EACH(k, &s->past)
    free(LIST_OF(k, struct counter, link));
    map_free(&s->groups);
    map_free(&s->counters);
}

static int group_fill(struct collective_set *s, struct collective_group *g, struct slice name,
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

int collective_group_get(struct collective_set *s, struct slice name, const uint32_t *members,
                         uint32_t count, bool keep, struct collective_group **group_p)
{
    struct collective_group *g = map_get(&s->groups, name);
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

/* The memory for its counter is taken now: when the group is dropped, there may be none. */
static bool make_spread(struct collective_set *s, struct collective_group *g, const uint32_t *all,
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
    g->generation = k->generation > s->first ? k->generation : s->first;
    g->ncontributed = k->ncontributed > s->first ? k->ncontributed : s->first;
    return true;
}

int collective_group_get_spread(struct collective_set *s, struct slice name, const uint32_t *mine,
                                uint32_t count, const uint32_t *all, uint32_t nall, bool keep,
                                struct collective_group **group_p)
{
    bool known = map_get(&s->groups, name) != NULL;
    int rc = collective_group_get(s, name, mine, count, keep, group_p);

    if (rc < 0 || known)
        return rc;
    if (make_spread(s, *group_p, all, nall))
        return 0;
    group_free(s, *group_p);
    return -ENOMEM;
}

int collective_group_move(struct collective_group *g, const uint32_t *mine, uint32_t count)
{
    uint32_t *members = malloc((count + (size_t)1) * sizeof *members);

    if (!members)
        return -ENOMEM;
    memcpy(members, mine, count * sizeof *members);
    free(g->members);
    g->members = members;
    g->count = count;
    return 0;
}

static bool is_lower(const void *item, const void *key)
{
    return *(const uint32_t *)item < *(const uint32_t *)key;
}

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t rank, uint32_t *at_p)
{
    *at_p = (uint32_t)search_first(list, n, sizeof *list, is_lower, &rank);
    return *at_p < n && list[*at_p] == rank;
}

bool collective_includes(const struct collective_group *g, uint32_t rank)
{
    uint32_t at;

    if (!g->spread)
        return collective_position(g, rank) >= 0;
    return g->all ? is_listed(g->all, g->nall, rank, &at) : rank < g->nall;
}

int64_t collective_position(const struct collective_group *g, uint32_t rank)
{
    uint32_t at;

    if (!g->members)
        return rank < g->count ? (int64_t)rank : -1;
    return is_listed(g->members, g->count, rank, &at) ? (int64_t)at : -1;
}

uint32_t collective_member(const struct collective_group *g, uint32_t position)
{
    return g->members ? g->members[position] : position;
}

bool collective_is_here(const struct collective *c, uint32_t position)
{
    return (c->here[position / 64] >> (position % 64) & 1) != 0;
}

static struct collective *open_round(struct collective_group *g, uint64_t now_ns)
{
    struct collective *c = calloc(1, sizeof *c);

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

static struct collective *first_without(const struct list *rounds, uint32_t position)
{
    LIST_EACH(l, rounds)
    {
        struct collective *c = LIST_OF(l, struct collective, link);
        if (!collective_is_here(c, position))
            return c;
    }
    return NULL;
}

static struct collective *round_without(const struct collective_group *g, uint32_t position)
{
    return first_without(&g->rounds, position);
}

/* Memory for notes, made with the first one of a round. */
static bool has_notes(struct collective *c)
{
    if (!c->notes)
        c->notes = calloc(c->group->count ? c->group->count : 1, sizeof *c->notes);
    return c->notes != NULL;
}

static void arrives(struct collective *c, uint32_t position)
{
    uint64_t bit = UINT64_C(1) << (position % 64);

    c->here[position / 64] |= bit;
    if (c->withdrawn)
        c->withdrawn[position / 64] &= ~bit;
}

int collective_enter(struct collective_group *g, uint32_t rank, uint64_t ticket, uint64_t now_ns,
                     struct collective **coll_p)
{
    return collective_enter_with(g, rank, ticket, now_ns, NULL, coll_p);
}

int collective_enter_with(struct collective_group *g, uint32_t rank, uint64_t ticket,
                          uint64_t now_ns, void *note, struct collective **coll_p)
{
    int64_t at = collective_position(g, rank);
    struct collective *c;

    if (at < 0)
        return COLLECTIVE_NOT_MEMBER;
    *coll_p = first_without(&g->owed, (uint32_t)at);
    if (*coll_p) {
        arrives(*coll_p, (uint32_t)at);
        return COLLECTIVE_OVER;
    }
    c = first_without(&g->contributed, (uint32_t)at); /* it has withdrawn from this round */
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
        return COLLECTIVE_WAITING;
    list_unlink(&c->link);
    return COLLECTIVE_OK;
}

/* ---- deadlines ------------------------------------------------------------------------------- */

static bool has_deadlines(struct collective *c)
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

static struct collective *round_with(const struct list *rounds, int64_t at, uint64_t ticket)
{
    LIST_EACH(l, rounds)
    {
        struct collective *c = LIST_OF(l, struct collective, link);
        if (at >= 0 && collective_is_here(c, (uint32_t)at) && c->tickets[at] == ticket)
            return c;
    }
    return NULL;
}

int collective_wait_until(struct collective_set *s, struct collective_group *g, uint32_t rank,
                          uint64_t ticket, uint64_t deadline_ns)
{
    int64_t at = collective_position(g, rank);
    struct collective *c = round_with(&g->rounds, at, ticket);

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

bool collective_has_withdrawn(const struct collective *c, uint32_t position)
{
    return c->withdrawn && (c->withdrawn[position / 64] >> (position % 64) & 1) != 0;
}

/* The member whose deadline in this round has passed; UINT32_MAX: none.  *due_p becomes the next
 * deadline of the round if that is earlier. */
static uint32_t late_position(const struct collective *c, uint64_t now_ns, uint64_t *due_p)
{
    for (uint32_t i = 0; c->deadlines && i < c->group->count; i++) {
        if (!collective_is_here(c, i) || c->deadlines[i] == UINT64_MAX)
            continue;
        if (c->deadlines[i] <= now_ns)
            return i;
        *due_p = c->deadlines[i] < *due_p ? c->deadlines[i] : *due_p;
    }
    return UINT32_MAX;
}

static void withdraw(struct collective_set *s, struct collective *c, uint32_t position)
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
    /* A round of several nodes keeps its number, which the others may use already. */
    if (--c->arrived == 0 && !c->contributed && !c->group->spread)
        collective_free(s, c);
}

static struct collective *late_round(const struct list *rounds, uint64_t now_ns, uint64_t *due_p,
                                     uint32_t *at_p)
{
    LIST_EACH(l, rounds)
    {
        struct collective *c = LIST_OF(l, struct collective, link);
        *at_p = late_position(c, now_ns, due_p);
        if (*at_p != UINT32_MAX)
            return c;
    }
    return NULL;
}

bool collective_withdraw_late(struct collective_set *s, uint64_t now_ns, uint32_t *rank_p,
                              uint64_t *ticket_p)
{
    uint64_t due = UINT64_MAX;

    if (s->due > now_ns)
        return false;
    LIST_EACH(gl, &s->all)
    {
        struct collective_group *g = LIST_OF(gl, struct collective_group, link);
        uint32_t at;
        struct collective *c = late_round(&g->rounds, now_ns, &due, &at);
        if (!c)
            c = late_round(&g->contributed, now_ns, &due, &at);
        if (!c)
            continue;
        *rank_p = collective_member(g, at);
        *ticket_p = c->tickets[at];
        withdraw(s, c, at);
        return true;
    }
    s->due = due;
    return false;
}

/* ---- members that do not come ---------------------------------------------------------------- */

bool collective_is_awaited(const struct collective_set *s, uint32_t rank)
{
    LIST_EACH(l, &s->all)
    {
        const struct collective_group *g = LIST_OF(l, struct collective_group, link);
        int64_t at = collective_position(g, rank);
        LIST_EACH(r, &g->rounds)
        {
            const struct collective *c = LIST_OF(r, struct collective, link);
            if (at >= 0 && c->arrived && !collective_is_here(c, (uint32_t)at))
                return true;
        }
    }
    return false;
}

static bool take_arrival(struct collective_set *s, struct collective_group *g, uint32_t rank,
                         uint64_t *ticket_p)
{
    int64_t at = collective_position(g, rank);

    LIST_EACH(l, &g->rounds)
    {
        struct collective *c = LIST_OF(l, struct collective, link);
        if (at < 0 || !collective_is_here(c, (uint32_t)at))
            continue;
        *ticket_p = c->tickets[at];
        withdraw(s, c, (uint32_t)at);
        return true;
    }
    return false;
}

bool collective_withdraw_rank(struct collective_set *s, uint32_t rank, uint64_t *ticket_p)
{
    LIST_EACH(l, &s->all)
    {
        if (take_arrival(s, LIST_OF(l, struct collective_group, link), rank, ticket_p))
            return true;
    }
    return false;
}

struct collective *collective_next(const struct collective_group *g, uint32_t rank)
{
    int64_t at = collective_position(g, rank);

    return at < 0 ? NULL : round_without(g, (uint32_t)at);
}

bool collective_is_behind(const struct collective_group *g, uint32_t rank)
{
    int64_t at = collective_position(g, rank);

    return at >= 0 &&
           (first_without(&g->owed, (uint32_t)at) || first_without(&g->contributed, (uint32_t)at));
}

struct collective *collective_take_broken(struct collective_set *s, uint32_t rank)
{
    LIST_EACH(l, &s->all)
    {
        struct collective_group *g = LIST_OF(l, struct collective_group, link);
        int64_t at = collective_position(g, rank);
        bool breaks = at >= 0 && !coll_kind_is_flexible(g->kind);
        struct collective *c = breaks ? round_without(g, (uint32_t)at) : NULL;
        if (c) {
            list_unlink(&c->link);
            return c;
        }
    }
    return NULL;
}

static bool includes_any(const struct collective_group *g, uint32_t first, uint32_t count)
{
    bool any = false;

    for (uint32_t i = 0; i < count && !any; i++)
        any = collective_includes(g, first + i);
    return any;
}

struct collective *collective_take_with(struct collective_set *s, uint32_t first, uint32_t count)
{
    LIST_EACH(l, &s->all)
    {
        struct collective_group *g = LIST_OF(l, struct collective_group, link);
        struct list *from = list_empty(&g->rounds) ? &g->contributed : &g->rounds;
        struct collective *c;
        if (list_empty(from) || !includes_any(g, first, count))
            continue;
        c = LIST_OF(list_first(from), struct collective, link);
        list_unlink(&c->link);
        return c;
    }
    return NULL;
}

struct collective *collective_lacking(const struct collective_set *s, uint32_t rank)
{
    LIST_EACH(l, &s->all)
    {
        const struct collective_group *g = LIST_OF(l, struct collective_group, link);
        int64_t at = coll_kind_is_flexible(g->kind) ? collective_position(g, rank) : -1;
        struct collective *c = at < 0 ? NULL : round_without(g, (uint32_t)at);
        if (c)
            return c;
    }
    return NULL;
}

static struct collective *find_round(const struct list *rounds, uint64_t generation)
{
    LIST_EACH(l, rounds)
    {
        struct collective *c = LIST_OF(l, struct collective, link);
        if (c->generation == generation)
            return c;
    }
    return NULL;
}

struct collective *collective_round(struct collective_group *g, uint64_t generation,
                                    uint64_t since_ns)
{
    struct collective *c = find_round(&g->rounds, generation);

    if (!c) {
        c = open_round(g, since_ns);
        if (c)
            c->generation = generation;
    }
    if (c && since_ns < c->since_ns)
        c->since_ns = since_ns;
    return c;
}

void collective_note_arrival(struct collective *c, uint32_t member)
{
    int64_t at = collective_position(c->group, member);

    if (at < 0 || collective_is_here(c, (uint32_t)at))
        return;
    c->here[at / 64] |= UINT64_C(1) << (at % 64);
    c->arrived++;
}

bool collective_note_withdrawal(struct collective *c, uint32_t member)
{
    int64_t at = collective_position(c->group, member);

    if (!c->withdrawn)
        c->withdrawn = calloc(c->group->count / 64 + 1, sizeof *c->withdrawn);
    if (c->withdrawn && at >= 0)
        c->withdrawn[at / 64] |= UINT64_C(1) << (at % 64);
    return c->withdrawn != NULL;
}

void collective_contributed(struct collective *c)
{
    c->contributed = true;
    c->group->ncontributed = c->generation + 1; /* rounds become complete in their order */
    list_append(&c->group->contributed, &c->link);
}

static bool anybody_withdrew(const struct collective *c)
{
    for (uint32_t i = 0; c->withdrawn && i <= c->group->count / 64; i++) {
        if (c->withdrawn[i])
            return true;
    }
    return false;
}

void collective_over(struct collective_set *s, struct collective *c)
{
    if (anybody_withdrew(c))
        list_append(&c->group->owed, &c->link);
    else
        collective_free(s, c);
}

void collective_paid(struct collective_set *s, struct collective *c)
{
    if (!anybody_withdrew(c))
        collective_free(s, c);
}

struct collective *collective_take_contributed(struct collective_set *s, struct slice name,
                                               uint64_t generation)
{
    const struct collective_group *g = map_get(&s->groups, name);
    struct collective *c = g ? find_round(&g->contributed, generation) : NULL;

    if (c)
        list_unlink(&c->link);
    return c;
}

struct collective *collective_find(const struct collective_set *s, struct slice name,
                                   uint64_t generation)
{
    const struct collective_group *g = map_get(&s->groups, name);
    struct collective *c = g ? find_round(&g->rounds, generation) : NULL;

    return c || !g ? c : find_round(&g->contributed, generation);
}

struct collective *collective_take(struct collective_set *s, struct slice name, uint64_t generation)
{
    const struct collective_group *g = map_get(&s->groups, name);
    struct collective *c = g ? find_round(&g->rounds, generation) : NULL;

    if (!c)
        return collective_take_contributed(s, name, generation);
    list_unlink(&c->link);
    return c;
}

struct collective *collective_take_any(struct collective_set *s)
{
    LIST_EACH(l, &s->all)
    {
        struct collective_group *g = LIST_OF(l, struct collective_group, link);
        struct list *from = list_empty(&g->rounds) ? &g->contributed : &g->rounds;
        if (list_empty(from))
            continue;
        struct collective *c = LIST_OF(list_first(from), struct collective, link);
        list_unlink(&c->link);
        return c;
    }
    return NULL;
}

void collective_set_renew(struct collective_set *s, uint64_t generation)
{
    s->first = generation;
    LIST_EACH(k, &s->past)
    {
        struct counter *counter = LIST_OF(k, struct counter, link);
        counter->generation = counter->ncontributed = generation;
    }
    LIST_EACH(l, &s->all)
    {
        struct collective_group *g = LIST_OF(l, struct collective_group, link);
        LIST_EACH(o, &g->owed)
        round_free(LIST_OF(o, struct collective, link));
        g->generation = g->ncontributed = generation;
        collective_group_drop_idle(s, g);
    }
}

void collective_set_begin_at(struct collective_set *s, uint64_t generation)
{
    s->first = generation;
}

static void free_owed(struct collective_set *s, struct collective_group *g)
{
    LIST_EACH(o, &g->owed)
    round_free(LIST_OF(o, struct collective, link));
    collective_group_drop_idle(s, g);
}

void collective_forget_owed(struct collective_set *s, uint32_t first, uint32_t count)
{
    LIST_EACH(l, &s->all)
    {
        struct collective_group *g = LIST_OF(l, struct collective_group, link);
        if (!list_empty(&g->owed) && includes_any(g, first, count))
            free_owed(s, g);
    }
}

bool collective_has_contributed(const struct collective_set *s, struct slice name,
                                uint64_t generation, uint32_t rank)
{
    const struct collective_group *g = map_get(&s->groups, name);
    const struct counter *k = map_get(&s->counters, name);
    const struct collective *c = g ? find_round(&g->rounds, generation) : NULL;
    int64_t at = g ? collective_position(g, rank) : -1;

    if (c)
        return at >= 0 && collective_is_here(c, (uint32_t)at);
    return generation < (g ? g->ncontributed : k ? k->ncontributed : 0);
}

void collective_free(struct collective_set *s, struct collective *c)
{
    struct collective_group *g = c->group;

    round_free(c);
    collective_group_drop_idle(s, g);
}

void collective_group_drop_idle(struct collective_set *s, struct collective_group *g)
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

struct coll_id collective_id(const struct collective *c, uint32_t job)
{
    return (struct coll_id){ .kind = c->group->kind,
                             .job = coll_kind_is_meeting(c->group->kind) ? 0 : job,
                             .group = slice_str(c->group->name),
                             .generation = c->generation };
}
