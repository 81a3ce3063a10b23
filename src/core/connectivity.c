/* connectivity.c - see connectivity.h. */
#include "core/connectivity.h"

#define GRID "cartesian:"

static const char *const names[] = { [CONNECTIVITY_ALL] = "all",
                                     [CONNECTIVITY_RING] = "ring",
                                     [CONNECTIVITY_HYPERCUBE] = "hypercube",
                                     [CONNECTIVITY_SPARSE] = "sparse" };

static bool read_grid(struct slice text, struct connectivity *c)
{
    uint64_t product = 1;

    c->kind = CONNECTIVITY_CARTESIAN;
    do {
        uint32_t n;
        if (c->ndims == CONNECTIVITY_DIMS || !slice_u32(slice_cut(&text, 'x'), &n) || n == 0)
            return false;
        c->dims[c->ndims++] = n;
        product *= n;
        if (product > UINT32_MAX)
            return false;
    } while (text.len);
    return true;
}

int connectivity_parse(struct slice text, struct connectivity *c_p, struct errmsg *err)
{
    *c_p = (struct connectivity){ .kind = CONNECTIVITY_ALL };
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] && slice_is(text, names[i])) {
            c_p->kind = (enum connectivity_kind)i;
            return 0;
        }
    }
    if (slice_starts(text, SLICE(GRID)) && text.ptr[text.len - 1] != 'x' &&
        read_grid(slice_skip(text, sizeof GRID - 1), c_p))
        return 0;
    *c_p = (struct connectivity){ .kind = CONNECTIVITY_ALL };
    return errmsg_set(err, 1,
                      "connectivity '" SLICE_FMT "': it must be ring, hypercube, cartesian:AxBxC "
                      "(1 to %d dimensions), sparse or all",
                      SLICE_ARG(slice_head(text, 80)), CONNECTIVITY_DIMS);
}

int connectivity_fits(const struct connectivity *c, uint32_t nprocs, struct errmsg *err)
{
    uint32_t places = 1;

    for (uint32_t i = 0; i < c->ndims; i++)
        places *= c->dims[i];
    if (c->kind != CONNECTIVITY_CARTESIAN || places == nprocs)
        return 0;
    return errmsg_set(err, 1, "connectivity: the grid has %u places, and the job %u process%s",
                      places, nprocs, nprocs == 1 ? "" : "es");
}

static void add(uint32_t *neighbours, uint32_t *n, uint32_t rank, uint32_t one)
{
    for (uint32_t i = 0; i < *n; i++) {
        if (neighbours[i] == one)
            return;
    }
    if (one != rank)
        neighbours[(*n)++] = one;
}

static uint32_t in_grid(const struct connectivity *c, uint32_t rank, uint32_t *neighbours)
{
    uint32_t n = 0, stride = 1;

    for (uint32_t d = c->ndims; d-- > 0;) {
        uint32_t dim = c->dims[d], at = rank / stride % dim, origin = rank - at * stride;
        add(neighbours, &n, rank, origin + (at + dim - 1) % dim * stride);
        add(neighbours, &n, rank, origin + (at + 1) % dim * stride);
        stride *= dim;
    }
    return n;
}

static uint32_t in_cube(uint32_t nprocs, uint32_t rank, uint32_t *neighbours)
{
    uint32_t n = 0;

    for (uint32_t bit = 0; bit < 32 && UINT32_C(1) << bit < nprocs; bit++) {
        if ((rank ^ UINT32_C(1) << bit) < nprocs)
            add(neighbours, &n, rank, rank ^ UINT32_C(1) << bit);
    }
    return n;
}

uint32_t connectivity_neighbours(const struct connectivity *c, uint32_t nprocs, uint32_t rank,
                                 uint32_t neighbours[CONNECTIVITY_NEIGHBOURS])
{
    struct connectivity ring = { .kind = CONNECTIVITY_CARTESIAN, .ndims = 1, .dims = { nprocs } };

    if (rank >= nprocs)
        return 0;
    switch (c->kind) {
    case CONNECTIVITY_RING: return in_grid(&ring, rank, neighbours);
    case CONNECTIVITY_HYPERCUBE: return in_cube(nprocs, rank, neighbours);
    case CONNECTIVITY_CARTESIAN: return in_grid(c, rank, neighbours);
    case CONNECTIVITY_ALL:
    case CONNECTIVITY_SPARSE: break;
    }
    return 0;
}
