/* locality.c - see locality.h. */
#include "topo/locality.h"

#include "topo/pmix_levels.h"

enum { TEXT_MAX = 1 << 20 };

static const enum topo_kind kinds[PTOPO_LEVELS] = {
    [PTOPO_PACKAGE] = TOPO_PACKAGE, [PTOPO_L3] = TOPO_L3,     [PTOPO_L2] = TOPO_L2,
    [PTOPO_L1] = TOPO_L1,           [PTOPO_CORE] = TOPO_CORE, [PTOPO_PU] = TOPO_HWTHREAD,
    [PTOPO_NUMA] = TOPO_NUMA,
};

/* ":CR0-3": the objects of a kind that have a processor of the set. */
static void put_level(const struct topo_objects *all, const char *name, struct cpus set,
                      struct buf *out)
{
    bool any = false;

    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t first = i;
        if (!cpus_meet(all->cpus[i], set))
            continue;
        while (i + 1 < all->count && cpus_meet(all->cpus[i + 1], set))
            i++;
        buf_printf(out, "%s%s%u", any ? "," : buf_len(out) ? ":" : "", any ? "" : name, first);
        if (i > first)
            buf_printf(out, "-%u", i);
        any = true;
    }
}

/* Moves the text into the arena; NULL: it is empty, or there is no memory. */
static const char *keep(struct arena *a, struct buf *text)
{
    const char *kept = buf_ok(text) && buf_len(text) ? arena_str(a, buf_slice(text)) : NULL;

    buf_clear(text);
    return kept;
}

static void describe(struct arena *a, const struct topo_view *view, struct cpus set,
                     struct job_map_place *place, struct buf *text)
{
    cpus_list(set, text);
    place->cpuset = keep(a, text);
    for (int level = 0; view && level < PTOPO_LEVELS; level++)
        put_level(&view->kinds[kinds[level]], ptopo_levels[level].name, set, text);
    place->locality = keep(a, text);
}

struct job_map_place *locality_places(struct arena *a, const struct topo_view *view,
                                      const struct bind_seats *seats)
{
    struct job_map_place *places = arena_array(a, (size_t)seats->count + 1, sizeof *places);
    struct buf text = BUF_NULL(TEXT_MAX);

    for (uint32_t i = 0; places && i < seats->count; i++) {
        places[i] = (struct job_map_place){ NULL, NULL };
        if (seats->items[i].cpus.bits)
            describe(a, view, seats->items[i].cpus, &places[i], &text);
    }
    buf_free(&text);
    return arena_ok(a) ? places : NULL;
}

uint32_t locality_package(const struct topo_view *view, struct cpus set)
{
    const struct topo_objects *packages = &view->kinds[TOPO_PACKAGE];

    for (uint32_t i = 0; i < packages->count; i++) {
        if (cpus_meet(packages->cpus[i], set))
            return i;
    }
    return 0;
}
