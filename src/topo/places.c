/* places.c - see places.h. */
#include "topo/places.h"

#include <errno.h>
#include <stdlib.h>

static struct cpus seat_of(const struct bind_seats *seats, uint32_t i, struct cpus allowed)
{
    struct cpus s = seats->count ? seats->items[i % seats->count].cpus : allowed;

    return s.bits ? s : allowed;
}

static uint32_t least_loaded(const struct topo_objects *objects, struct cpus set,
                             const uint32_t *load)
{
    uint32_t best = objects->count;

    for (uint32_t k = 0; k < objects->count; k++) {
        if (cpus_meet(objects->cpus[k], set) && (best == objects->count || load[k] < load[best]))
            best = k;
    }
    return best < objects->count ? best : 0;
}

int places_find(const struct topo_objects *objects, struct cpus allowed,
                const struct bind_seats *seats, uint32_t n, uint32_t *place)
{
    uint32_t *load = calloc((size_t)objects->count + 1, sizeof *load);

    if (!load)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        place[i] = least_loaded(objects, seat_of(seats, i, allowed), load);
        load[place[i]]++;
    }
    free(load);
    return 0;
}
