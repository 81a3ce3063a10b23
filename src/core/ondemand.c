/* ondemand.c - see ondemand.h.  Reading order: state; sending ahead; asking; serving. */
#include "core/ondemand.h"

#include <stdlib.h>

#include "base/limit.h"
#include "core/effect.h"
#include "core/modex_keys.h"

struct ondemand {
    bool withheld;     /* a fence has left values elsewhere */
    bool complete;     /* and all of them have come since */
    bool no_memory;    /* for what a node has answered */
    uint64_t last;     /* number of a request */
    struct list asked; /* struct ondemand_request */
};

struct ondemand_request {
    struct list link;
    uint64_t number;
    uint32_t rank; /* that is asked for */
    enum ondemand_extent extent;
    bool of_all; /* one of ONDEMAND_ALL */
};

/* ---- state ----------------------------------------------------------------------------------- */

bool ondemand_open(struct job *j)
{
    const char *word = j->plan.words[JOB_CONNECTIVITY];

    if (!j->spread)
        return true;
    if (word && connectivity_parse(slice_str(word), &j->connectivity, NULL))
        j->connectivity.kind = CONNECTIVITY_ALL; /* the launcher has refused it */
    j->ondemand = calloc(1, sizeof *j->ondemand);
    if (j->ondemand)
        list_init(&j->ondemand->asked);
    return j->ondemand != NULL;
}

static void forget_requests(struct ondemand *o)
{
    LIST_EACH(l, &o->asked)
    {
        list_unlink(l);
        free(LIST_OF(l, struct ondemand_request, link));
    }
}

void ondemand_free(struct job *j)
{
    if (j->ondemand)
        forget_requests(j->ondemand);
    free(j->ondemand);
    j->ondemand = NULL;
}

bool ondemand_withholds(const struct job *j)
{
    return j->ondemand && j->connectivity.kind != CONNECTIVITY_ALL;
}

bool ondemand_may_lack(const struct job *j)
{
    return j->ondemand && j->ondemand->withheld && !j->ondemand->complete;
}

/* All entries of another rank have to be asked for again. */
void ondemand_fence_over(struct job *j)
{
    forget_requests(j->ondemand);
    j->ondemand->withheld = true;
    j->ondemand->complete = false;
    j->ondemand->no_memory = false;
    for (uint32_t r = 0; r < j->plan.nprocs; r++)
        j->procs[r].committed = j->procs[r].committed && job_rank_is_here(j, r);
}

/* ---- sending ahead --------------------------------------------------------------------------- */

/* The values of one rank of this node go to the node of another. */
struct ahead {
    uint32_t node, rank, neighbour;
};

static int compare(const void *a, const void *b)
{
    const struct ahead *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* In the order of nodes; the number of them, and *all_p, which the caller frees. */
static uint32_t find_neighbours(const struct job *j, struct ahead **all_p)
{
    uint32_t n = 0, of[CONNECTIVITY_NEIGHBOURS];
    struct ahead *all = calloc((size_t)j->nmine * CONNECTIVITY_NEIGHBOURS + 1, sizeof *all);

    for (uint32_t i = 0; all && i < j->nmine; i++) {
        uint32_t count = connectivity_neighbours(&j->connectivity, j->plan.nprocs, j->mine[i], of);
        for (uint32_t k = 0; k < count; k++) {
            if (!job_rank_is_here(j, of[k]))
                all[n++] = (struct ahead){ j->plan.procs[of[k]].node, j->mine[i], of[k] };
        }
    }
    if (n)
        qsort(all, n, sizeof *all, compare);
    *all_p = all;
    return n;
}

/* All of these are for one node. */
static void send_to_node(struct job *j, const struct ahead *all, uint32_t n, bool collect)
{
    struct buf block = BUF_NULL(LIMIT_BLOCK);
    struct block_writer w;

    block_begin(&w, &block, j->colls.groups.seed);
    for (uint32_t i = 0; i < n && buf_ok(&block); i++) {
        if (i == 0 || all[i].rank != all[i - 1].rank)
            modex_keys_write_fresh(j, all[i].rank, FRESH_OTHERS, collect, &w);
    }
    block_end(&w);
    if (buf_ok(&block) && buf_len(&block))
        effects_push(j->effects, EFFECT_WITH(modex_ahead, .job = j->id, .rank = all[0].neighbour,
                                             .block = buf_slice(&block)));
    buf_free(&block);
}

void ondemand_send_ahead(struct job *j, const struct collective *c)
{
    struct ahead *all;
    uint32_t n = find_neighbours(j, &all);

    for (uint32_t first = 0, i = 1; i <= n; i++) {
        if (i == n || all[i].node != all[first].node) {
            send_to_node(j, all + first, i - first, c->collect);
            first = i;
        }
    }
    free(all);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static uint64_t ask(struct job *j, uint32_t rank, enum ondemand_extent extent, bool of_all)
{
    struct ondemand_request *q = calloc(1, sizeof *q);

    if (!q)
        return 0;
    q->number = ++j->ondemand->last;
    q->rank = rank;
    q->extent = extent;
    q->of_all = of_all;
    if (!effects_push(j->effects, EFFECT_WITH(modex_request, .job = j->id, .rank = rank,
                                              .number = q->number, .extent = (uint8_t)extent))) {
        free(q);
        return 0;
    }
    list_append(&j->ondemand->asked, &q->link);
    return q->number;
}

uint64_t ondemand_ask(struct job *j, uint32_t rank, enum ondemand_extent extent)
{
    return ask(j, rank, extent, false);
}

bool ondemand_is_asked(const struct job *j, uint64_t number)
{
    LIST_EACH(l, &j->ondemand->asked)
    {
        const struct ondemand_request *q = LIST_OF(l, struct ondemand_request, link);
        if (number == ONDEMAND_ALL ? q->of_all : q->number == number)
            return true;
    }
    return false;
}

/* One process of each other node is asked for all of that node. */
bool ondemand_ask_all(struct job *j)
{
    bool *seen = calloc((size_t)j->plan.nnodes + 1, sizeof *seen), good = seen != NULL;

    if (ondemand_is_asked(j, ONDEMAND_ALL)) {
        free(seen);
        return true;
    }
    j->ondemand->no_memory = false;
    for (uint32_t r = 0; good && r < j->plan.nprocs; r++) {
        uint32_t node = j->plan.procs[r].node;
        if (node == j->here || seen[node])
            continue;
        seen[node] = true;
        good = ask(j, r, ONDEMAND_NODE, true) != 0;
    }
    free(seen);
    j->ondemand->no_memory = !good;
    return good;
}

/* ---- hints ----------------------------------------------------------------------------------- */

bool ondemand_extent_of(struct slice word, enum ondemand_extent *extent_p)
{
    static const char *const words[] = { [ONDEMAND_PROC] = "proc",
                                         [ONDEMAND_NODE] = "node",
                                         [ONDEMAND_APP] = "app",
                                         [ONDEMAND_JOB] = "job" };

    for (unsigned i = 0; i < ONDEMAND_EXTENTS; i++) {
        if (slice_is(word, words[i])) {
            *extent_p = (enum ondemand_extent)i;
            return true;
        }
    }
    return false;
}

static bool is_within(const struct job *j, uint32_t rank, enum ondemand_extent extent,
                      uint32_t one);

/* Its answer will have all that the new one would have. */
static bool is_covered(const struct job *j, const struct ondemand_request *q, uint32_t rank,
                       enum ondemand_extent extent)
{
    const struct job_map_proc *procs = j->plan.procs;

    if (procs[q->rank].node != procs[rank].node || !is_within(j, q->rank, q->extent, rank))
        return false;
    return extent == ONDEMAND_PROC || q->extent == ONDEMAND_NODE || q->extent == extent;
}

static uint64_t ask_unless_asked(struct job *j, uint32_t rank, enum ondemand_extent extent)
{
    LIST_EACH(l, &j->ondemand->asked)
    {
        const struct ondemand_request *q = LIST_OF(l, struct ondemand_request, link);
        if (is_covered(j, q, rank, extent))
            return q->number;
    }
    return ask(j, rank, extent, false);
}

/* One process of the application on each other node. */
static bool ask_app(struct job *j, uint32_t rank)
{
    bool *seen = calloc((size_t)j->plan.nnodes + 1, sizeof *seen), good = seen != NULL;

    for (uint32_t r = 0; good && r < j->plan.nprocs; r++) {
        uint32_t node = j->plan.procs[r].node;
        if (node == j->here || seen[node] || j->plan.procs[r].app != j->plan.procs[rank].app)
            continue;
        seen[node] = true;
        good = ask_unless_asked(j, r, ONDEMAND_APP) != 0;
    }
    free(seen);
    return good;
}

bool ondemand_prefetch(struct job *j, uint32_t rank, enum ondemand_extent extent,
                       uint64_t *number_p)
{
    *number_p = extent == ONDEMAND_JOB ? ONDEMAND_ALL : 0;
    if (extent == ONDEMAND_JOB)
        return ondemand_ask_all(j);
    if (extent == ONDEMAND_APP && !ask_app(j, rank))
        return false;
    if (j->plan.procs[rank].node == j->here)
        return true;
    *number_p = ask_unless_asked(j, rank, extent);
    return *number_p != 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

void ondemand_answered(struct job *j, uint64_t number, enum answer_status status)
{
    struct ondemand *o = j->ondemand;
    bool of_all = false;

    LIST_EACH(l, &o->asked)
    {
        struct ondemand_request *q = LIST_OF(l, struct ondemand_request, link);
        if (q->number != number)
            continue;
        of_all = q->of_all;
        list_unlink(&q->link);
        free(q);
    }
    o->no_memory = o->no_memory || (of_all && status != ANSWER_OK && status != ANSWER_NOT_FOUND);
    if (!of_all || ondemand_is_asked(j, ONDEMAND_ALL))
        return;
    o->complete = !o->no_memory;
    seg_publish(&j->store); /* for those who list all keys of the store by themselves */
}

enum answer_status ondemand_verdict(const struct job *j)
{
    return j->ondemand->no_memory ? ANSWER_NO_MEMORY : ANSWER_NOT_FOUND;
}

/* ---- serving --------------------------------------------------------------------------------- */

static bool is_within(const struct job *j, uint32_t rank, enum ondemand_extent extent, uint32_t one)
{
    switch (extent) {
    case ONDEMAND_NODE:
    case ONDEMAND_JOB: return true;
    case ONDEMAND_APP: return j->plan.procs[one].app == j->plan.procs[rank].app;
    case ONDEMAND_PROC:
    case ONDEMAND_EXTENTS: break;
    }
    return one == rank;
}

void ondemand_serve(struct job *j, uint32_t rank, enum ondemand_extent extent, uint64_t number,
                    uint64_t asker)
{
    struct buf block = BUF_NULL(LIMIT_BLOCK);
    struct block_writer w;

    block_begin(&w, &block, j->colls.groups.seed);
    for (uint32_t i = 0; i < j->nmine && buf_ok(&block); i++) {
        if (is_within(j, rank, extent, j->mine[i]))
            modex_keys_write_all(j, j->mine[i], &w);
    }
    block_end(&w);
    effects_push(j->effects, EFFECT_WITH(modex_reply, .asker = asker, .job = j->id, .rank = rank,
                                         .status = buf_ok(&block) ? ANSWER_OK : ANSWER_NO_MEMORY,
                                         .block = buf_ok(&block) ? buf_slice(&block) : SLICE_NULL,
                                         .number = number));
    buf_free(&block);
}
