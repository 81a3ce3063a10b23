/* contribution_places.c - see contribution_places.h. */
#include "core/contribution_places.h"

#include <errno.h>
#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static size_t room_for(const struct core *c, const struct contribution *k)
{
    size_t n = 1;

    for (uint32_t i = 0; i < k->nparties; i++) {
        const struct job *j = core_job(c, k->parties[i].job);
        if (j)
            n += k->parties[i].rank == REQUEST_ALL_RANKS ? j->plan.nnodes : 1;
    }
    return n;
}

static uint32_t add_party(const struct job *j, uint32_t rank, struct place *places, uint32_t n)
{
    if (rank != REQUEST_ALL_RANKS) {
        if (rank < j->plan.nprocs)
            places[n++] = (struct place){ j->id, j->plan.procs[rank].node };
        return n;
    }
    for (uint32_t node = 0; node < j->plan.nnodes; node++) {
        if (j->plan.nodes[node].nprocs)
            places[n++] = (struct place){ j->id, node };
    }
    return n;
}

int contribution_places(const struct core *c, const struct contribution *k, struct place **places_p,
                        uint32_t *n_p)
{
    struct place *places = calloc(room_for(c, k), sizeof *places);
    uint32_t n = 0, kept = 0;

    if (!places)
        return -ENOMEM;
    for (uint32_t i = 0; i < k->nparties; i++) {
        const struct job *j = core_job(c, k->parties[i].job);
        if (j)
            n = add_party(j, k->parties[i].rank, places, n);
    }
    qsort(places, n, sizeof *places, by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || by_place(&places[i], &places[kept - 1]) != 0)
            places[kept++] = places[i];
    }
    *places_p = places;
    *n_p = kept;
    return 0;
}
