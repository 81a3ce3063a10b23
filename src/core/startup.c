/* startup.c - see startup.h.  Reading order: recording; summary; parts as bytes. */
#include "core/startup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/job.h"
#include "core/request.h"
#include "wire/parts.h"

/* The number of fences of the whole job that are considered. */
enum { STARTUP_FENCES = 16 };

/* ---- recording ------------------------------------------------------------------------------- */

int startup_open(struct startup *s, const struct job *j)
{
    uint32_t n = j->spread ? j->nmine : j->plan.nprocs;

    s->job = j->id;
    s->ranks = calloc((size_t)n + 1, sizeof *s->ranks);
    s->times = calloc((size_t)n + 1, sizeof *s->times);
    if (!s->ranks || !s->times) {
        startup_close(s);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        s->ranks[i] = j->spread ? j->mine[i] : i;
    s->count = n;
    return 0;
}

void startup_close(struct startup *s)
{
    free(s->ranks);
    free(s->times);
    s->ranks = NULL;
    s->times = NULL;
    s->count = 0;
}

static int by_rank(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t *times_of(const struct startup *s, uint32_t rank)
{
    const uint32_t *at =
        s->count ? bsearch(&rank, s->ranks, s->count, sizeof *s->ranks, by_rank) : NULL;

    return at ? s->times[at - s->ranks] : NULL;
}

/* The first time counts, except for puts and ends: a process that comes back ends later. */
void startup_note(struct startup *s, uint32_t rank, enum startup_point p, uint64_t now_ns)
{
    uint64_t *t = times_of(s, rank);
    bool first = p == STARTUP_STARTED || p == STARTUP_INIT || p == STARTUP_FIRST;

    if (t && (t[p] == 0 || !first))
        t[p] = now_ns;
}

static void enter(struct startup *s, uint32_t rank, uint64_t now_ns)
{
    uint64_t *t = times_of(s, rank);

    if (!t || s->fences >= STARTUP_FENCES || t[STARTUP_LAST_FENCE])
        return;
    t[STARTUP_LAST_FENCE] = now_ns;
    s->entered++;
}

static uint64_t bytes_of(const struct request_commit *rq)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < rq->count; i++)
        n += rq->cards[i].key.len + rq->cards[i].value.len;
    return n;
}

static void note_put(struct startup *s, uint32_t rank, uint64_t bytes, uint64_t now_ns)
{
    s->bytes += bytes;
    s->fresh = true;
    startup_note(s, rank, STARTUP_LAST_PUT, now_ns);
}

void startup_request(struct startup *s, uint32_t rank, const struct request *rq, uint64_t now_ns)
{
    switch (rq->kind) {
    case REQ_attach: startup_note(s, rank, STARTUP_INIT, now_ns); break;
    case REQ_put: note_put(s, rank, rq->u.put.key.len + rq->u.put.value.len, now_ns); break;
    case REQ_put_many: note_put(s, rank, rq->u.put_many.records.len, now_ns); break;
    case REQ_commit: note_put(s, rank, bytes_of(&rq->u.commit), now_ns); break;
    case REQ_fence:
        if (rq->u.fence.group.len == 0 || slice_starts(rq->u.fence.group, SLICE("WORLD")))
            enter(s, rank, now_ns);
        break;
    case REQ_finalize: startup_note(s, rank, STARTUP_FINALIZE, now_ns); break;
    default: break;
    }
}

/* It is over for one, so for all. */
static bool is_over(const struct startup *s, const struct job *j)
{
    for (uint32_t i = 0; s->count && s->entered == s->count && i < s->count; i++) {
        if (j->procs[s->ranks[i]].fences == 0)
            return true;
    }
    return false;
}

static void take_exchange(struct startup *s, uint64_t now_ns)
{
    s->exchange = s->fences;
    s->exchanged = s->bytes;
    s->left_ns = now_ns;
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t *t = s->times[i];
        t[STARTUP_FENCE] = t[STARTUP_LAST_FENCE];
        t[STARTUP_PUT] = t[STARTUP_LAST_PUT];
    }
}

bool startup_look(struct startup *s, const struct job *j, uint64_t now_ns)
{
    bool telling;

    if (!is_over(s, j))
        return false;
    telling = s->fences++ == 0 || s->fresh;
    if (telling)
        take_exchange(s, now_ns);
    if (s->fences == 1)
        s->first_left_ns = now_ns;
    for (uint32_t i = 0; i < s->count; i++) {
        startup_note(s, s->ranks[i], STARTUP_FIRST, s->times[i][STARTUP_LAST_FENCE]);
        s->times[i][STARTUP_LAST_FENCE] = 0;
    }
    s->entered = 0;
    s->fresh = false;
    return telling;
}

/* ---- summary --------------------------------------------------------------------------------- */

struct sum {
    struct startup_times *times;
    uint64_t *all; /* durations */
};

static void add(struct sum *u, uint32_t who, uint64_t begun, uint64_t ended)
{
    struct startup_times *t = u->times;
    uint64_t d = ended - begun;

    if (begun == 0 || ended == 0 || ended < begun)
        return;
    if (t->count == 0 || begun < t->begun)
        t->begun = begun;
    if (t->count == 0 || ended > t->ended) {
        t->ended = ended;
        t->who_last = who;
    }
    if (t->count == 0 || d < t->shortest) {
        t->shortest = d;
        t->who_shortest = who;
    }
    if (t->count == 0 || d > t->longest) {
        t->longest = d;
        t->who_longest = who;
    }
    u->all[t->count++] = d;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static uint64_t last_started(const struct startup *s)
{
    uint64_t last = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        if (s->times[i][STARTUP_STARTED] > last)
            last = s->times[i][STARTUP_STARTED];
    }
    return last;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_proc(struct sum *u, enum startup_span k, const struct startup *s, uint32_t i)
{
    const uint64_t *t = s->times[i];
    uint64_t from = s->exchange > 1 ? s->first_left_ns : t[STARTUP_INIT];
    uint32_t who = s->ranks[i];

    switch (k) {
    case SPAN_PROGRAM: add(u, who, t[STARTUP_STARTED], t[STARTUP_INIT]); break;
    case SPAN_FIRST: add(u, who, t[STARTUP_INIT], t[STARTUP_FIRST]); break;
    case SPAN_FIRST_LEFT: add(u, who, t[STARTUP_FIRST], s->first_left_ns); break;
    case SPAN_PUT: add(u, who, from, t[STARTUP_PUT]); break;
    case SPAN_ENTER: add(u, who, later(from, t[STARTUP_PUT]), t[STARTUP_FENCE]); break;
    case SPAN_FENCE: add(u, who, t[STARTUP_FENCE], s->left_ns); break;
    case SPAN_END: add(u, who, t[STARTUP_FINALIZE], t[STARTUP_GONE]); break;
    case SPAN_SPAWN:
    case STARTUP_SPANS: break;
    }
}

static void sum_span(const struct startup *s, enum startup_span k, struct sum *u)
{
    if (k == SPAN_SPAWN)
        add(u, STARTUP_NODE, s->known_ns, last_started(s));
    for (uint32_t i = 0; i < s->count; i++)
        add_proc(u, k, s, i);
    qsort(u->all, u->times->count, sizeof *u->all, by_size);
    if (u->times->count)
        u->times->median = u->all[(u->times->count - 1) / 2];
}

int startup_sum_up(const struct startup *s, const struct job *j, uint64_t now_ns,
                   struct startup_part *p)
{
    uint64_t *all = calloc((size_t)s->count + 1, sizeof *all);

    memset(p, 0, sizeof *p);
    if (!all)
        return -ENOMEM;
    p->linked = s->linked_ns;
    p->known = s->known_ns;
    p->now = now_ns;
    p->fences = j->world->generation;
    p->bytes = s->bytes;
    p->exchanged = s->exchanged;
    p->exchange = s->exchange;
    for (uint32_t i = 0; i < s->count; i++)
        p->put += s->times[i][STARTUP_PUT] != 0;
    for (int k = 0; k < STARTUP_SPANS; k++) {
        struct sum u = { &p->spans[k], all };
        sum_span(s, (enum startup_span)k, &u);
    }
    free(all);
    return 0;
}

/* ---- as bytes ----------------------------------------------------------------------------------
 * Numbers only, in the order of the structs. */

enum { GUEST_BYTES = 4 }; /* at least */

static void put_times(const struct startup_times *t, struct buf *out)
{
    parts_put_uint(out, t->count);
    if (t->count == 0)
        return;
    parts_put_uint(out, t->begun);
    parts_put_uint(out, t->ended);
    parts_put_uint(out, t->shortest);
    parts_put_uint(out, t->median);
    parts_put_uint(out, t->longest);
    parts_put_uint(out, t->who_shortest);
    parts_put_uint(out, t->who_longest);
    parts_put_uint(out, t->who_last);
}

void startup_part_write(const struct startup_part *p, struct buf *out)
{
    parts_put_uint(out, p->linked);
    parts_put_uint(out, p->known);
    parts_put_uint(out, p->now);
    parts_put_uint(out, p->bytes);
    parts_put_uint(out, p->exchanged);
    parts_put_uint(out, p->fences);
    parts_put_uint(out, p->exchange);
    parts_put_uint(out, p->put);
    parts_put_uint(out, p->ended);
    for (int k = 0; k < STARTUP_SPANS; k++)
        put_times(&p->spans[k], out);
    parts_put_uint(out, p->nguests);
    for (uint32_t i = 0; i < p->nguests; i++) {
        parts_put_uint(out, p->guests[i].position);
        parts_put_uint(out, p->guests[i].asked);
        parts_put_uint(out, p->guests[i].runs);
        parts_put_uint(out, p->guests[i].up);
    }
}

/* Points in time are below 2^60 (36 years), so that results of arithmetic fit. */
static bool get_time(struct slice *rest, uint64_t *v_p)
{
    return parts_get_uint(rest, v_p) && *v_p >> 60 == 0;
}

static bool get_times(struct slice *rest, struct startup_times *t)
{
    if (!parts_get_u32(rest, &t->count))
        return false;
    return t->count == 0 ||
           (get_time(rest, &t->begun) && get_time(rest, &t->ended) &&
            get_time(rest, &t->shortest) && get_time(rest, &t->median) &&
            get_time(rest, &t->longest) && parts_get_u32(rest, &t->who_shortest) &&
            parts_get_u32(rest, &t->who_longest) && parts_get_u32(rest, &t->who_last));
}

static bool get_guests(struct slice *rest, struct arena *a, struct startup_part *p)
{
    if (!parts_get_u32(rest, &p->nguests) || p->nguests > rest->len / GUEST_BYTES)
        return false;
    p->guests = arena_array(a, (size_t)p->nguests + 1, sizeof *p->guests);
    for (uint32_t i = 0; p->guests && i < p->nguests; i++) {
        struct startup_guest *g = &p->guests[i];
        if (!parts_get_u32(rest, &g->position) || !get_time(rest, &g->asked) ||
            !get_time(rest, &g->runs) || !get_time(rest, &g->up))
            return false;
    }
    return p->guests != NULL;
}

bool startup_part_read(struct slice bytes, struct arena *a, struct startup_part *p)
{
    uint64_t ended;

    memset(p, 0, sizeof *p);
    if (!get_time(&bytes, &p->linked) || !get_time(&bytes, &p->known) ||
        !get_time(&bytes, &p->now) || !parts_get_uint(&bytes, &p->bytes) ||
        !parts_get_uint(&bytes, &p->exchanged) || !parts_get_uint(&bytes, &p->fences) ||
        !parts_get_u32(&bytes, &p->exchange) || !parts_get_u32(&bytes, &p->put) ||
        !parts_get_uint(&bytes, &ended))
        return false;
    p->ended = ended != 0;
    for (int k = 0; k < STARTUP_SPANS; k++) {
        if (!get_times(&bytes, &p->spans[k]))
            return false;
    }
    return get_guests(&bytes, a, p) && bytes.len == 0;
}
