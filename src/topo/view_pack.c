/* view_pack.c - see view_pack.h.  Sets of processors are runs of consecutive numbers; the sets of
 * all objects follow one another, kind by kind, and the last one is that of the allowed processors.
 */
#include "topo/view_pack.h"

#include <errno.h>

#include "wire/parts.h"

struct flat_view {
    uint64_t processors; /* of the view */
    uint64_t room;       /* of the set of allowed processors */
    struct part_uints counts;
    struct part_uints runs;   /* of each set: the number of runs */
    struct part_uints bounds; /* of each run: its first processor, its length */
};

static const struct part parts[] = {
    { "processors", PART_UINT, offsetof(struct flat_view, processors) },
    { "room", PART_UINT, offsetof(struct flat_view, room) },
    { "counts", PART_UINTS, offsetof(struct flat_view, counts) },
    { "runs", PART_UINTS, offsetof(struct flat_view, runs) },
    { "bounds", PART_UINTS, offsetof(struct flat_view, bounds) },
};

enum { NPARTS = sizeof parts / sizeof *parts };

/* ---- writing ---- */

struct writer {
    struct buf runs, bounds; /* of uint32_t */
};

static void put_number(struct buf *b, size_t v)
{
    uint32_t n = (uint32_t)v;

    buf_put(b, &n, sizeof n);
}

static void put_set(struct writer *w, struct cpus s)
{
    size_t end = s.words * CPUS_WORD_BITS, runs = 0;

    for (size_t cpu = 0; cpu < end; cpu++) {
        size_t first = cpu;
        while (cpu < end && cpus_has(s, cpu))
            cpu++;
        if (cpu == first)
            continue;
        put_number(&w->bounds, first);
        put_number(&w->bounds, cpu - first);
        runs++;
    }
    put_number(&w->runs, runs);
}

static struct part_uints numbers(const struct buf *b)
{
    return (struct part_uints){ (const void *)buf_slice(b).ptr,
                                (uint32_t)(buf_len(b) / sizeof(uint32_t)) };
}

void view_pack(const struct bind_machine *m, struct buf *out)
{
    uint32_t counts[TOPO_KIND_COUNT];
    struct writer w = { BUF_NULL(1 << 28), BUF_NULL(1 << 28) };
    struct flat_view f = { .processors = m->view.processors,
                           .room = m->allowed.words * CPUS_WORD_BITS,
                           .counts = { counts, TOPO_KIND_COUNT } };

    for (int k = 0; k < TOPO_KIND_COUNT; k++) {
        const struct topo_objects *o = &m->view.kinds[k];
        counts[k] = o->count;
        for (uint32_t i = 0; i < o->count; i++)
            put_set(&w, o->cpus[i]);
    }
    put_set(&w, m->allowed);
    f.runs = numbers(&w.runs);
    f.bounds = numbers(&w.bounds);
    if (buf_ok(&w.runs) && buf_ok(&w.bounds))
        parts_write(parts, NPARTS, &f, out);
    else
        out->error = BUF_NO_MEMORY;
    buf_free(&w.runs);
    buf_free(&w.bounds);
}

/* ---- reading ---- */

struct reader {
    struct arena *arena;
    const struct flat_view *flat;
    uint32_t set, bound; /* read so far */
};

enum { UNFIT = 1 };

/* Reads the next set, with room for that many processors. */
static int get_set(struct reader *r, size_t processors, struct cpus *set_p)
{
    const struct flat_view *f = r->flat;
    struct cpus s = cpus_new(r->arena, processors);
    uint32_t runs = r->set < f->runs.n ? f->runs.items[r->set] : UINT32_MAX;

    if (runs > (f->bounds.n - r->bound) / 2)
        return UNFIT;
    if (!s.bits)
        return -ENOMEM;
    r->set++;
    for (uint32_t i = 0; i < runs; i++, r->bound += 2) {
        uint32_t first = f->bounds.items[r->bound], n = f->bounds.items[r->bound + 1];
        if (first >= processors || n > processors - first)
            return UNFIT;
        for (uint32_t cpu = first; cpu < first + n; cpu++)
            cpus_add(s, cpu);
    }
    *set_p = s;
    return 0;
}

static int get_kind(struct reader *r, enum topo_kind kind, struct topo_view *view)
{
    struct topo_objects *o = &view->kinds[kind];
    int rc = 0;

    o->count = r->flat->counts.items[kind];
    if (o->count > r->flat->runs.n)
        return UNFIT;
    view->has_devices = true; /* as many as there are; they themselves stay there */
    o->cpus = arena_array(r->arena, o->count + (size_t)1, sizeof *o->cpus);
    for (uint32_t i = 0; o->cpus && i < o->count && rc == 0; i++)
        rc = get_set(r, view->processors, &o->cpus[i]);
    return o->cpus ? rc : -ENOMEM;
}

static int get_all(struct reader *r, struct bind_machine *m)
{
    const struct flat_view *f = r->flat;
    int rc = 0;

    if (f->counts.n != TOPO_KIND_COUNT || f->processors > CPUS_MAX || f->room > CPUS_MAX)
        return UNFIT;
    m->view.processors = f->processors;
    for (int k = 0; k < TOPO_KIND_COUNT && rc == 0; k++)
        rc = get_kind(r, (enum topo_kind)k, &m->view);
    if (rc == 0)
        rc = get_set(r, f->room, &m->allowed);
    m->looked = true;
    return rc;
}

int view_unpack(struct arena *a, struct slice bytes, struct bind_machine *m_p, struct errmsg *err)
{
    struct arena lists = ARENA_NULL((size_t)1 << 28);
    struct flat_view f = { .processors = 0 };
    struct reader r = { .arena = a, .flat = &f };
    struct bind_machine m = { .looked = false };
    int rc = UNFIT;

    if (parts_read(parts, NPARTS, bytes, &lists, &f))
        rc = get_all(&r, &m);
    arena_free(&lists);
    if (rc == 0)
        *m_p = m;
    return rc == UNFIT ? errmsg_set(err, 1, "its description of its hardware is invalid") : rc;
}
