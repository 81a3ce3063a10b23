/* job_lookup.c - see job_lookup.h. */
#include "core/job_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "core/effect_queue.h"
#include "core/job_kvs.h"
#include "core/ondemand.h"

struct lookup {
    struct list link; /* in job.lookups */
    struct job_lookup get;
    uint64_t number; /* of the request that it waits for; ONDEMAND_ALL */
    bool is_hint;    /* it is over when that is answered */
    char text[];     /* space and key */
};

/* The last number in the key, if it is a rank. */
static uint32_t rank_in(const struct job *j, struct slice key)
{
    size_t end = key.len, at;
    uint32_t rank;

    while (end && (key.ptr[end - 1] < '0' || key.ptr[end - 1] > '9'))
        end--;
    for (at = end; at && key.ptr[at - 1] >= '0' && key.ptr[at - 1] <= '9';)
        at--;
    return slice_u32(slice_mem(key.ptr + at, end - at), &rank) && rank < j->plan.nprocs
               ? rank
               : JOB_NO_RANK;
}

/* What it waits for now; false: no memory. */
static bool ask_all(struct job *j, struct lookup *w)
{
    w->number = ONDEMAND_ALL;
    return ondemand_ask_all(j);
}

/* "PMI_fetch_node:7": what is on the node of rank 7, and so on. */
static bool read_hint(const struct job *j, struct slice key, enum ondemand_extent *extent_p,
                      uint32_t *rank_p)
{
    struct slice rest, word;

    if (!slice_starts(key, SLICE(JOB_LOOKUP_HINT)))
        return false;
    rest = slice_skip(key, strlen(JOB_LOOKUP_HINT));
    word = slice_cut(&rest, ':');
    return ondemand_extent_of(word, extent_p) && slice_u32(rest, rank_p) &&
           *rank_p < j->plan.nprocs;
}

static bool ask(struct job *j, struct lookup *w)
{
    enum ondemand_extent extent;
    uint32_t rank;

    if (w->is_hint && read_hint(j, w->get.key, &extent, &rank))
        return ondemand_prefetch(j, rank, extent, &w->number);
    rank = w->get.rank < j->plan.nprocs ? w->get.rank : rank_in(j, w->get.key);
    if (rank == JOB_NO_RANK || job_rank_is_here(j, rank))
        return ask_all(j, w);
    w->number = ondemand_ask(j, rank, ONDEMAND_PROC);
    return w->number != 0;
}

static enum answer_status find(const struct job *j, const struct job_lookup *g, struct slice *key_p,
                               struct slice *value_p)
{
    if (!g->key.len)
        return job_get_index(j, g->space, g->index, key_p, value_p);
    return g->rank < j->plan.nprocs ? job_get_of(j, g->space, g->rank, g->key, value_p)
                                    : job_get(j, g->space, g->key, value_p);
}

static void answer(struct job *j, struct lookup *w, enum answer_status st, struct slice key,
                   struct slice value)
{
    effects_answer(j->effects, w->get.ticket,
                   w->get.key.len ? ANSWER_TO(get, st, .value = value)
                                  : ANSWER_TO(get_index, st, .key = key, .value = value));
    list_unlink(&w->link);
    free(w);
}

/* The n-th pair is not known before all are here. */
static void go_on(struct job *j, struct lookup *w)
{
    struct slice key = SLICE_NULL, value = SLICE_NULL;
    enum answer_status st = ANSWER_NOT_FOUND;
    bool waits = ondemand_is_asked(j, w->number);

    if (w->is_hint) {
        if (!waits)
            answer(j, w, ANSWER_OK, key, SLICE(JOB_LOOKUP_FETCHED));
        return;
    }
    if (w->get.key.len || !waits)
        st = find(j, &w->get, &key, &value);
    if (st == ANSWER_OK) {
        answer(j, w, st, key, value);
    } else if (!waits && w->number != ONDEMAND_ALL && ondemand_may_lack(j)) {
        if (!ask_all(j, w))
            answer(j, w, ANSWER_NO_MEMORY, SLICE_NULL, SLICE_NULL);
    } else if (!waits) {
        answer(j, w, ondemand_verdict(j), SLICE_NULL, SLICE_NULL);
    }
}

void job_lookup_go_on(struct job *j)
{
    LIST_EACH(l, &j->lookups)
    go_on(j, LIST_OF(l, struct lookup, link));
}

void job_lookup_ask_again(struct job *j)
{
    LIST_EACH(l, &j->lookups)
    {
        struct lookup *w = LIST_OF(l, struct lookup, link);
        if (!ask(j, w))
            answer(j, w, ANSWER_NO_MEMORY, SLICE_NULL, SLICE_NULL);
    }
    job_lookup_go_on(j);
}

static struct lookup *lookup_new(const struct job_lookup *g)
{
    struct lookup *w = calloc(1, sizeof *w + g->space.len + g->key.len);

    if (!w)
        return NULL;
    list_init(&w->link);
    w->get = *g;
    if (g->space.len)
        memcpy(w->text, g->space.ptr, g->space.len);
    if (g->key.len)
        memcpy(w->text + g->space.len, g->key.ptr, g->key.len);
    w->get.space = slice_mem(w->text, g->space.len);
    w->get.key = slice_mem(w->text + g->space.len, g->key.len);
    return w;
}

/* Entries of further spaces are here, and keys that begin with PMI_ belong to the process manager.
 */
static bool may_be_elsewhere(const struct job *j, const struct job_lookup *g)
{
    return ondemand_may_lack(j) && (g->space.len == 0 || slice_is(g->space, j->nspace)) &&
           (!slice_starts(g->key, SLICE("PMI_")) || slice_is(g->key, JOB_LOOKUP_ALL));
}

enum answer_status job_lookup(struct job *j, const struct job_lookup *g)
{
    enum ondemand_extent extent;
    uint32_t rank;
    bool is_hint = g->key.len && read_hint(j, g->key, &extent, &rank);
    struct lookup *w;

    if (is_hint ? !ondemand_may_lack(j) : !may_be_elsewhere(j, g))
        return is_hint ? ANSWER_OK : ANSWER_NOT_FOUND;
    w = lookup_new(g);
    if (w)
        w->is_hint = is_hint;
    if (!w || !ask(j, w)) {
        free(w);
        return ANSWER_NO_MEMORY;
    }
    if (!ondemand_is_asked(j, w->number)) { /* there is no other node */
        free(w);
        return is_hint ? ANSWER_OK : ANSWER_NOT_FOUND;
    }
    list_append(&j->lookups, &w->link);
    return ANSWER_LATER;
}
