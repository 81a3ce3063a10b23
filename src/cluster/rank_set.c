/* rank_set.c - see rank_set.h. */
#include "cluster/rank_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "cluster/tree.h"

void rank_set_free(struct rank_set *s)
{
    free(s->runs);
    *s = (struct rank_set){ NULL, 0, 0, 0 };
}

static int make_room(struct rank_set *s, uint32_t n)
{
    uint32_t room = s->room ? s->room : 4;
    struct posrun *more;

    while (room < n)
        room *= 2;
    if (room == s->room)
        return 0;
    more = realloc(s->runs, room * sizeof *more);
    if (!more)
        return -ENOMEM;
    s->runs = more;
    s->room = room;
    return 0;
}

static uint64_t end_of(const struct posrun *r)
{
    return (uint64_t)r->first + r->count;
}

static bool ends_before(const void *item, const void *key)
{
    return end_of(item) < *(const uint32_t *)key;
}

/* The first run that ends at p or after it. */
static uint32_t find(const struct rank_set *s, uint32_t p)
{
    return (uint32_t)search_first(s->runs, s->nruns, sizeof *s->runs, ends_before, &p);
}

int rank_set_add(struct rank_set *s, uint32_t first, uint32_t count)
{
    uint32_t at = find(s, first), last = at;
    uint64_t from = first, to = (uint64_t)first + count;
    uint32_t was = 0;

    if (count == 0)
        return 0;
    if (to > UINT32_MAX)
        return -EINVAL;
    for (; last < s->nruns && s->runs[last].first <= to; last++) {
        was += s->runs[last].count;
        from = s->runs[last].first < from ? s->runs[last].first : from;
        to = end_of(&s->runs[last]) > to ? end_of(&s->runs[last]) : to;
    }
    if (last == at && make_room(s, s->nruns + 1) < 0)
        return -ENOMEM;
    memmove(s->runs + at + 1, s->runs + last, (s->nruns - last) * sizeof *s->runs);
    s->nruns = s->nruns + 1 - (last - at);
    s->runs[at] = (struct posrun){ (uint32_t)from, (uint32_t)(to - from) };
    s->count += s->runs[at].count - was;
    return 0;
}

/* A run is cut in two, cut short, or taken out. */
int rank_set_remove(struct rank_set *s, uint32_t p)
{
    uint32_t at = find(s, p);
    struct posrun *r, after;

    if (!rank_set_has(s, p))
        return 0;
    if (end_of(&s->runs[at]) == p) /* ends just before it */
        at++;
    if (make_room(s, s->nruns + 1) < 0)
        return -ENOMEM;
    r = &s->runs[at];
    after = (struct posrun){ p + 1, (uint32_t)(end_of(r) - p - 1) };
    r->count = p - r->first;
    if (after.count && r->count) {
        memmove(r + 2, r + 1, (s->nruns++ - at - 1) * sizeof *r);
        r[1] = after;
    } else if (after.count) {
        *r = after;
    } else if (r->count == 0) {
        memmove(r, r + 1, (--s->nruns - at) * sizeof *r);
    }
    s->count--;
    return 0;
}

int rank_set_add_all(struct rank_set *s, const struct rank_set *more)
{
    int rc = 0;

    for (uint32_t i = 0; i < more->nruns && rc == 0; i++)
        rc = rank_set_add(s, more->runs[i].first, more->runs[i].count);
    return rc;
}

int rank_set_copy(struct rank_set *s, const struct rank_set *from)
{
    *s = (struct rank_set){ NULL, 0, 0, 0 };
    if (make_room(s, from->nruns) < 0)
        return -ENOMEM;
    if (from->nruns)
        memcpy(s->runs, from->runs, from->nruns * sizeof *s->runs);
    s->nruns = from->nruns;
    s->count = from->count;
    return 0;
}

int rank_set_intersect(struct rank_set *s, const struct rank_set *a, const struct rank_set *b)
{
    uint32_t i = 0, k = 0;
    int rc = 0;

    *s = (struct rank_set){ NULL, 0, 0, 0 };
    while (i < a->nruns && k < b->nruns && rc == 0) {
        uint64_t ea = end_of(&a->runs[i]), eb = end_of(&b->runs[k]);
        uint32_t from = a->runs[i].first > b->runs[k].first ? a->runs[i].first : b->runs[k].first;
        uint64_t to = ea < eb ? ea : eb;
        if (from < to)
            rc = rank_set_add(s, from, (uint32_t)(to - from));
        i += ea <= eb;
        k += eb <= ea;
    }
    return rc;
}

int rank_set_subtree(struct rank_set *s, uint32_t width, uint32_t n, uint32_t p)
{
    uint64_t first = p, count = 1;
    int rc = 0;

    *s = (struct rank_set){ NULL, 0, 0, 0 };
    while (first < n && rc == 0) {
        uint64_t fits = n - first < count ? n - first : count;
        rc = rank_set_add(s, (uint32_t)first, (uint32_t)fits);
        first = first * width + 1;
        count *= width;
    }
    return rc;
}

bool rank_set_has(const struct rank_set *s, uint32_t p)
{
    uint32_t at = find(s, p);

    if (at < s->nruns && end_of(&s->runs[at]) == p) /* ends just before it */
        at++;
    return at < s->nruns && s->runs[at].first <= p;
}

bool rank_set_meets(const struct rank_set *a, const struct rank_set *b)
{
    uint32_t i = 0, k = 0;

    while (i < a->nruns && k < b->nruns) {
        if (end_of(&a->runs[i]) <= b->runs[k].first)
            i++;
        else if (end_of(&b->runs[k]) <= a->runs[i].first)
            k++;
        else
            return true;
    }
    return false;
}

bool rank_set_covers(const struct rank_set *s, const struct rank_set *part)
{
    return rank_set_missing(part, s) == UINT32_MAX;
}

uint32_t rank_set_missing(const struct rank_set *s, const struct rank_set *but)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < s->nruns; i++) {
        uint64_t p = s->runs[i].first, end = end_of(&s->runs[i]);
        while (p < end) {
            while (k < but->nruns && end_of(&but->runs[k]) <= p)
                k++;
            if (k == but->nruns || but->runs[k].first > p)
                return (uint32_t)p;
            p = end_of(&but->runs[k]);
        }
    }
    return UINT32_MAX;
}

uint32_t rank_set_rank(const struct rank_set *s, uint32_t p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->nruns && s->runs[i].first < p; i++)
        n += p - s->runs[i].first < s->runs[i].count ? p - s->runs[i].first : s->runs[i].count;
    return n;
}

uint32_t rank_set_nth(const struct rank_set *s, uint32_t index)
{
    uint32_t i = 0;

    while (i + 1 < s->nruns && index >= s->runs[i].count)
        index -= s->runs[i++].count;
    return s->nruns ? s->runs[i].first + index : UINT32_MAX;
}
