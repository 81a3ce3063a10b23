/* bind.c - see bind.h.
 *
 * For objects: the machine is cut into groups (one for all, or one for each object of -map-by),
 * each group into units of `width` objects.  Seats are dealt in rounds, one unit of each group that
 * has units left; so every unit is dealt once before any is dealt again.
 */
#include "topo/bind.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "topo/slots.h"

/* ---- parsing ---- */

static bool word_is(struct slice a, const char *b)
{
    return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

/* Supported by Hydra, but not here. */
static bool is_device(struct slice word)
{
    static const char *const devices[] = { "pci", "gpu", "ib", "eth", "hfi", "hsn" };

    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        size_t n = strlen(devices[i]);
        if (word.len >= n && strncasecmp(word.ptr, devices[i], n) == 0)
            return true;
    }
    return false;
}

int bind_parse(const char *text, struct bind_spec *spec_p, struct errmsg *err)
{
    struct bind_spec s = { .how = BIND_NONE, .width = 1 };
    struct slice rest = slice_str(text), word = slice_cut(&rest, ':');

    *spec_p = s;
    if (text == NULL || word_is(slice_str(text), "none"))
        return 0;
    if (word_is(word, "rr") && !rest.len)
        s.how = BIND_RR;
    else if (word_is(word, "user") && rest.len)
        s.how = BIND_USER;
    else if (topo_kind_find(word, &s.kind))
        s.how = BIND_OBJECT;
    else if (is_device(word))
        return errmsg_set(err, BIND_BAD,
                          "-bind-to %.100s: binding near a device is not available; name the "
                          "processors with user:LIST",
                          text);
    else
        return errmsg_set(err, BIND_BAD,
                          "-bind-to %.100s: it must be none, hwthread, core, l1cache to l5cache, "
                          "numa, socket, machine, rr or user:LIST",
                          text);
    s.list = rest.ptr;
    if (s.how == BIND_OBJECT && rest.len &&
        (!slice_u32(rest, &s.width) || s.width == 0 || s.width > CPUS_MAX))
        return errmsg_set(err, BIND_BAD, "-bind-to %.100s: a number of objects must follow ':'",
                          text);
    *spec_p = s;
    return 0;
}

/* ---- seats ---- */

struct binder {
    struct arena *arena;
    const struct bind_spec *spec;
    const struct topo_view *view;
    struct cpus allowed;
    struct errmsg *err;
    struct bind_seat *seats;
    uint32_t count, room;
};

static size_t last_cpu(const struct binder *b)
{
    return b->allowed.words * CPUS_WORD_BITS;
}

static const char *threads_text(struct binder *b, struct cpus set, const char *what)
{
    struct buf text = BUF_NULL(1 << 20);
    const char *copy = NULL;

    if (*what)
        buf_printf(&text, "%s, ", what);
    buf_str(&text, cpus_count(set) == 1 ? "hwthread " : "hwthreads ");
    cpus_list(set, &text);
    if (buf_ok(&text))
        copy = arena_str(b->arena, buf_slice(&text));
    buf_free(&text);
    return copy;
}

/* Takes over the set; what: "core 3", or "" if the list of hwthreads is enough. */
static int add_seat(struct binder *b, struct cpus set, const char *what)
{
    struct bind_seat *seat;

    if (b->count == b->room) {
        uint32_t room = b->room ? b->room * 2 : 16;
        struct bind_seat *more = arena_array(b->arena, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        if (b->count)
            memcpy(more, b->seats, b->count * sizeof *more);
        b->seats = more;
        b->room = room;
    }
    seat = &b->seats[b->count++];
    seat->cpus = set;
    seat->text = threads_text(b, set, what);
    return seat->text ? 0 : -ENOMEM;
}

static int seats_rr(struct binder *b)
{
    int rc = 0;

    for (size_t cpu = 0; cpu < last_cpu(b) && rc == 0; cpu++) {
        struct cpus one;
        if (!cpus_has(b->allowed, cpu))
            continue;
        one = cpus_new(b->arena, last_cpu(b));
        if (!one.bits)
            return -ENOMEM;
        cpus_add(one, cpu);
        rc = add_seat(b, one, "");
    }
    return rc;
}

/* "5" or "5-7" */
static int add_range(struct binder *b, struct slice range, struct cpus set)
{
    struct slice high = range, low = slice_cut(&high, '-');
    uint32_t from, to;

    if (!slice_u32(low, &from) || !slice_u32(low.len == range.len ? low : high, &to) || from > to)
        return errmsg_set(b->err, BIND_BAD,
                          "-bind-to user:%.100s: '" SLICE_FMT "' is not a processor number",
                          b->spec->list, SLICE_ARG(slice_head(range, 40)));
    for (uint32_t cpu = from; cpu <= to; cpu++) {
        if (cpu >= last_cpu(b) || !cpus_has(b->allowed, cpu))
            return errmsg_set(b->err, BIND_BAD,
                              "-bind-to user:%.100s: processor %u is not available to this job",
                              b->spec->list, cpu);
        cpus_add(set, cpu);
    }
    return 0;
}

static int seats_user(struct binder *b)
{
    struct slice rest = slice_str(b->spec->list);
    bool more = true;
    int rc = 0;

    while (more && rc == 0) {
        struct slice item;
        struct cpus set = cpus_new(b->arena, last_cpu(b));
        bool plus = true;
        if (!set.bits)
            return -ENOMEM;
        more = slice_find(rest, ',') < rest.len;
        item = slice_cut(&rest, ',');
        while (plus && rc == 0) {
            plus = slice_find(item, '+') < item.len;
            rc = add_range(b, slice_cut(&item, '+'), set);
        }
        if (rc == 0)
            rc = add_seat(b, set, "");
    }
    return rc;
}

/* ---- objects ---- */

/* The logical numbers of the objects of a kind that have an allowed processor. */
struct usable {
    const struct topo_objects *all;
    uint32_t *index;
    uint32_t count;
};

uint32_t bind_objects(const struct topo_view *view, enum topo_kind kind, struct cpus allowed)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < view->kinds[kind].count; i++)
        n += cpus_meet(view->kinds[kind].cpus[i], allowed);
    return n;
}

static int find_usable(struct binder *b, enum topo_kind kind, struct usable *u)
{
    u->all = &b->view->kinds[kind];
    u->count = 0;
    u->index = arena_array(b->arena, u->all->count + 1u, sizeof *u->index);
    if (!u->index)
        return -ENOMEM;
    for (uint32_t i = 0; i < u->all->count; i++) {
        if (cpus_meet(u->all->cpus[i], b->allowed))
            u->index[u->count++] = i;
    }
    if (u->count == 0)
        return errmsg_set(b->err, BIND_BAD,
                          "this machine has no %s that processes could be bound to",
                          topo_kind_name(kind));
    return 0;
}

/* The allowed processors of `width` usable objects from position `at`. */
static struct cpus join(struct binder *b, const struct usable *u, uint32_t at, uint32_t width)
{
    struct cpus set = cpus_new(b->arena, last_cpu(b));

    for (uint32_t i = at; set.bits && i < at + width && i < u->count; i++)
        cpus_or(set, u->all->cpus[u->index[i]]);
    if (set.bits)
        cpus_and(set, b->allowed);
    return set;
}

/* A seat of the objects at positions at, at + 1, ... */
static int add_unit(struct binder *b, const struct usable *u, uint32_t at)
{
    uint32_t width = b->spec->width;
    struct cpus set = join(b, u, at, width);
    struct buf what = BUF_NULL(1 << 20);
    const struct topo_device_words *devices = NULL;
    int rc;

    if (!set.bits)
        return -ENOMEM;
    if (topo_kind_is_device(b->spec->kind))
        devices = topo_devices_words(b->arena, b->view, b->spec->kind, u->index[at], width);
    if (devices) {
        buf_printf(&what, "%s %s", topo_kind_name(b->spec->kind), devices->names);
    } else if (b->spec->kind != TOPO_HWTHREAD) {
        struct cpus numbers = cpus_new(b->arena, u->all->count);
        if (!numbers.bits)
            return -ENOMEM;
        for (uint32_t i = at; i < at + width && i < u->count; i++)
            cpus_add(numbers, u->index[i]);
        buf_printf(&what, "%s%s ", topo_kind_name(b->spec->kind), width > 1 ? "s" : "");
        cpus_list(numbers, &what);
    }
    rc = buf_cstr(&what) ? add_seat(b, set, buf_cstr(&what)) : -ENOMEM;
    buf_free(&what);
    if (rc == 0)
        b->seats[b->count - 1].devices = devices;
    return rc;
}

/* One group of the dealing: units at first, first + width, ...; as many as fit. */
struct group {
    uint32_t first, units;
    const struct topo_device_words *devices; /* of its own; or NULL */
};

/* A seat of a group. */
static int add_unit_of(struct binder *b, const struct usable *u, const struct group *g, uint32_t i)
{
    int rc = add_unit(b, u, g->first + i * b->spec->width);

    if (rc == 0 && g->devices)
        b->seats[b->count - 1].devices = g->devices;
    return rc;
}

/* The usable objects inside a set are neighbours, because logical numbers follow the machine.  A
 * group too small for one unit takes the unit of the whole machine that it is part of. */
static struct group make_group(struct binder *b, const struct usable *u, struct cpus set)
{
    uint32_t first = UINT32_MAX, n = 0, touch = UINT32_MAX;

    for (uint32_t i = 0; i < u->count; i++) {
        struct cpus object = u->all->cpus[u->index[i]];
        if (touch == UINT32_MAX && cpus_meet(object, set))
            touch = i;
        if (!cpus_within(object, set))
            continue;
        if (first == UINT32_MAX)
            first = i;
        if (i == first + n)
            n++;
    }
    if (n >= b->spec->width)
        return (struct group){ first, n / b->spec->width, NULL };
    if (touch == UINT32_MAX)
        return (struct group){ 0, 0, NULL };
    touch -= touch % b->spec->width;
    if (touch + b->spec->width > u->count) /* the last unit must be a whole one */
        touch = u->count - b->spec->width;
    return (struct group){ touch, 1, NULL };
}

static int deal(struct binder *b, const struct usable *u, const struct group *groups, uint32_t n,
                uint32_t block)
{
    bool more = true;
    int rc = 0;

    for (uint32_t g = 0; block && g < n && rc == 0; g++) {
        for (uint32_t i = 0; i < block && groups[g].units && rc == 0; i++)
            rc = add_unit_of(b, u, &groups[g], i % groups[g].units);
    }
    for (uint32_t round = 0; !block && more && rc == 0; round++) {
        more = false;
        for (uint32_t g = 0; g < n && rc == 0; g++) {
            if (round < groups[g].units)
                rc = add_unit_of(b, u, &groups[g], round);
            more = more || round + 1 < groups[g].units;
        }
    }
    return rc;
}

static int seats_ordered(struct binder *b, const struct usable *u, const struct bind_order *order)
{
    struct usable places;
    struct group *groups;
    uint32_t n = 0;
    int rc = find_usable(b, order->kind, &places);

    if (rc)
        return rc;
    groups = arena_array(b->arena, places.count, sizeof *groups);
    if (!groups)
        return -ENOMEM;
    for (uint32_t i = 0; i < places.count; i += order->width) {
        struct cpus set = cpus_new(b->arena, last_cpu(b));
        if (!set.bits)
            return -ENOMEM;
        for (uint32_t k = i; k < i + order->width && k < places.count; k++)
            cpus_or(set, places.all->cpus[places.index[k]]);
        groups[n] = make_group(b, u, set);
        if (topo_kind_is_device(order->kind) && i + order->width <= places.count)
            groups[n].devices =
                topo_devices_words(b->arena, b->view, order->kind, places.index[i], order->width);
        n++;
    }
    return deal(b, u, groups, n, order->block);
}

static int seats_objects(struct binder *b, const struct bind_order *order)
{
    struct usable u;
    struct group all = { 0, 0, NULL };
    int rc = find_usable(b, b->spec->kind, &u);

    if (rc)
        return rc;
    if (u.count < b->spec->width)
        return errmsg_set(b->err, BIND_BAD, "-bind-to %s:%u: there are only %u here",
                          topo_kind_name(b->spec->kind), b->spec->width, u.count);
    if (order->given)
        return seats_ordered(b, &u, order);
    all.units = u.count / b->spec->width;
    return deal(b, &u, &all, 1, 0);
}

/* ---- places of a rank file ---- */

/* Adds the cores of a place, of one package or of the machine. */
static int add_cores(struct binder *b, const struct slots_place *place, const struct cpus *package,
                     struct slice list, struct cpus set)
{
    const struct topo_objects *kinds = b->view->kinds;
    const struct topo_objects *cores = &kinds[kinds[TOPO_CORE].count ? TOPO_CORE : TOPO_HWTHREAD];
    uint32_t number = 0, found = 0;

    for (uint32_t i = 0; i < cores->count; i++) {
        if (package && !cpus_within(cores->cpus[i], *package))
            continue;
        if (place->from == SLOTS_ALL || (number >= place->from && number <= place->to)) {
            if (cpus_meet(cores->cpus[i], b->allowed))
                cpus_or(set, cores->cpus[i]);
            else if (place->from != SLOTS_ALL)
                return errmsg_set(b->err, BIND_BAD,
                                  "slot=" SLICE_FMT ": core %u is not available to this job",
                                  SLICE_ARG(slice_head(list, 100)), number);
            found++;
        }
        number++;
    }
    if (place->from != SLOTS_ALL && found < place->to - place->from + 1)
        return errmsg_set(b->err, BIND_BAD, "slot=" SLICE_FMT ": there is no core %u%s, only %u",
                          SLICE_ARG(slice_head(list, 100)), place->to,
                          package ? " in that package" : "", number);
    return 0;
}

static int add_place(struct binder *b, const struct slots_place *place, struct slice list,
                     struct cpus set)
{
    const struct topo_objects *packages = &b->view->kinds[TOPO_PACKAGE];
    uint32_t count = packages->count ? packages->count : 1; /* without packages the machine is
                                                             * one */
    int rc = 0;

    if (!place->in_package)
        return add_cores(b, place, NULL, list, set);
    if (place->package != SLOTS_ALL && place->package >= count)
        return errmsg_set(b->err, BIND_BAD, "slot=" SLICE_FMT ": there is no package %u, only %u",
                          SLICE_ARG(slice_head(list, 100)), place->package, count);
    for (uint32_t i = 0; i < count && rc == 0; i++) {
        if (place->package == SLOTS_ALL || place->package == i)
            rc = add_cores(b, place, packages->count ? &packages->cpus[i] : NULL, list, set);
    }
    return rc;
}

static int add_slots(struct binder *b, struct slice list)
{
    struct slots_place place = { 0 };
    struct cpus set = cpus_new(b->arena, last_cpu(b));
    struct slice rest = list;
    char what[128];
    int rc = set.bits ? 0 : -ENOMEM;

    while (rc == 0 && slots_next(&rest, &place))
        rc = add_place(b, &place, list, set);
    if (rc)
        return rc;
    if (rest.len) /* only in a job map of another program: ours are checked */
        return slots_check(list, b->err) ? BIND_BAD : 0;
    cpus_and(set, b->allowed);
    if (cpus_empty(set))
        return errmsg_set(b->err, BIND_BAD,
                          "slot=" SLICE_FMT ": none of its processors is available to this job",
                          SLICE_ARG(slice_head(list, 100)));
    snprintf(what, sizeof what, "slot " SLICE_FMT, SLICE_ARG(slice_head(list, 100)));
    return add_seat(b, set, what);
}

static int add_free_seat(struct binder *b)
{
    int rc = add_seat(b, (struct cpus){ NULL, 0 }, "");

    if (rc == 0)
        b->seats[b->count - 1].text = NULL;
    return rc;
}

static int seats_slots(struct binder *b)
{
    struct slice rest = slice_str(b->spec->list);
    bool more = true;
    int rc = 0;

    while (more && rc == 0) {
        struct slice list;
        more = slice_find(rest, '|') < rest.len;
        list = slice_cut(&rest, '|');
        rc = list.len ? add_slots(b, list) : add_free_seat(b);
    }
    return rc;
}

int bind_seats(struct arena *a, const struct bind_spec *spec, const struct bind_order *order,
               const struct topo_view *view, struct cpus allowed, struct bind_seats *seats_p,
               struct errmsg *err)
{
    struct binder b = { .arena = a, .spec = spec, .view = view, .allowed = allowed, .err = err };
    int rc = 0;

    switch (spec->how) {
    case BIND_NONE: break;
    case BIND_RR: rc = seats_rr(&b); break;
    case BIND_USER: rc = seats_user(&b); break;
    case BIND_OBJECT: rc = seats_objects(&b, order); break;
    case BIND_SLOTS: rc = seats_slots(&b); break;
    }
    *seats_p = (struct bind_seats){ b.seats, rc ? 0 : b.count };
    return rc;
}
