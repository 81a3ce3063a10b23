/* plan_bind.c - see plan_bind.h. */
#include "topo/plan_bind.h"

#include <errno.h>
#include <stdlib.h>

#include "topo/locality.h"

int bind_look(struct bind_machine *m, struct arena *a, bool view, struct errmsg *err)
{
    int rc = 0;

    if (!m->allowed.bits)
        rc = cpus_allowed(a, &m->allowed);
    if (rc == 0 && view && !m->looked)
        rc = topo_view_machine(a, &m->view, err);
    m->looked = m->looked || (view && rc == 0);
    return rc == TOPO_MISSING ? BIND_BAD : rc;
}

/* Devices take longer to find than all else: only where they are named. */
static int look_for_devices(struct bind_machine *m, struct arena *a, const char *path,
                            struct errmsg *err)
{
    struct topo_view view;
    int rc = topo_view_devices(a, path, &view, err);

    if (rc)
        return rc == TOPO_MISSING ? BIND_BAD : rc;
    if (!m->allowed.bits) {
        m->allowed = cpus_new(a, view.processors);
        if (!m->allowed.bits)
            return -ENOMEM;
        for (uint32_t i = 0; i < view.kinds[TOPO_MACHINE].count; i++)
            cpus_or(m->allowed, view.kinds[TOPO_MACHINE].cpus[i]);
    }
    m->view = view;
    m->looked = true;
    return topo_devices_share(a, &m->view, m->allowed);
}

int bind_look_devices(struct bind_machine *m, struct arena *a, struct errmsg *err)
{
    int rc = bind_look(m, a, false, err);

    return rc || m->view.has_devices ? rc : look_for_devices(m, a, NULL, err);
}

int bind_look_file(struct bind_machine *m, struct arena *a, const char *path, struct errmsg *err)
{
    return look_for_devices(m, a, path, err);
}

const struct job_map_binding *plan_binding_new(struct arena *a, const struct bind_spec *spec,
                                               const struct bind_order *order)
{
    struct job_map_binding *b = arena_array(a, 1, sizeof *b);

    if (!b)
        return NULL;
    *b = (struct job_map_binding){ .how = spec->how,
                                   .kind = spec->kind,
                                   .width = spec->width,
                                   .list = spec->list ? arena_str(a, slice_str(spec->list)) : NULL,
                                   .ordered = order->given,
                                   .order_kind = order->kind,
                                   .order_width = order->width,
                                   .order_block = order->block };
    return arena_ok(a) ? b : NULL;
}

/* A job map may come from another program: its numbers are checked. */
static int read_binding(const struct job_map_binding *b, struct bind_spec *spec,
                        struct bind_order *order, struct errmsg *err)
{
    if (b->how > BIND_SLOTS || b->kind >= TOPO_KIND_COUNT || b->order_kind >= TOPO_KIND_COUNT ||
        ((b->how == BIND_USER || b->how == BIND_SLOTS) && !b->list) ||
        (b->how == BIND_OBJECT && b->width == 0))
        return errmsg_set(err, BIND_BAD, "an invalid binding in a job map");
    *spec = (struct bind_spec){ (enum bind_how)b->how, (enum topo_kind)b->kind, b->width, b->list };
    *order = (struct bind_order){ b->ordered, (enum topo_kind)b->order_kind, b->order_width,
                                  b->order_block };
    return 0;
}

int plan_seats(struct arena *a, const struct job_map_binding *b, struct bind_machine *m,
               struct bind_seats *seats_p, struct errmsg *err)
{
    struct bind_spec spec;
    struct bind_order order;
    int rc;

    if (!b)
        return 0;
    rc = read_binding(b, &spec, &order, err);
    if (rc || spec.how == BIND_NONE)
        return rc;
    rc = bind_needs_devices(&spec, &order) ? bind_look_devices(m, a, err)
                                           : bind_look(m, a, bind_needs_view(&spec), err);
    return rc ? rc : bind_seats(a, &spec, &order, &m->view, m->allowed, seats_p, err);
}

/* What one node gives its processes.  The result is reused for the next node with the same binding
 * and machine. */
struct found {
    const struct job_map_binding *binding;
    struct bind_machine *machine;
    bool guess;
    struct bind_seats seats;
    const struct job_map_place *places; /* of the seats; NULL: the machine is only assumed */
    uint32_t *count;                    /* of processes on each package; NULL: not known */
};

static void take_seat(struct job_map_proc *q, const struct found *f)
{
    const struct job_map_binding *b = f->binding;
    uint32_t turn = b && q->local_rank < b->nturns ? b->turns[q->local_rank] : q->local_rank;
    const struct bind_seat *seat = f->seats.count ? &f->seats.items[turn % f->seats.count] : NULL;

    if (!seat)
        return;
    q->cpus = seat->cpus.bits;
    q->cpus_bytes = seat->cpus.words * sizeof *seat->cpus.bits;
    q->binding = seat->text;
    if (seat->devices) {
        q->devices = seat->devices->ids;
        q->device_env = seat->devices->env;
    }
    if (!f->places || !q->cpus)
        return;
    q->place = &f->places[seat - f->seats.items];
    if (f->count)
        q->package_rank = f->count[locality_package(&f->machine->view, seat->cpus)]++;
}

/* The hardware is examined for information only: without it, processes are bound, too. */
static int describe_seats(struct job_map *p, struct found *f)
{
    struct errmsg unused;
    bool known = bind_look(f->machine, &p->arena, true, &unused) == 0;

    f->places = locality_places(&p->arena, known ? &f->machine->view : NULL, &f->seats);
    return f->places ? 0 : -ENOMEM;
}

static int count_packages(struct found *f)
{
    if (!f->places || !f->machine->looked)
        return 0;
    f->count = calloc((size_t)f->machine->view.kinds[TOPO_PACKAGE].count + 1, sizeof *f->count);
    return f->count ? 0 : -ENOMEM;
}

static int find_seats(struct job_map *p, uint32_t node, struct found *f, struct errmsg *err)
{
    static struct bind_seat unknown = { .text = "as that node can" };
    int rc;

    f->binding = p->nodes[node].binding;
    rc = plan_seats(&p->arena, f->binding, f->machine, &f->seats, err);
    if (rc == BIND_BAD && f->guess) {
        f->seats = (struct bind_seats){ &unknown, 1 };
        return 0;
    }
    return rc == 0 && f->seats.count && !f->guess ? describe_seats(p, f) : rc;
}

int plan_bind(struct job_map *p, uint32_t node, struct bind_machine *m, struct errmsg *err)
{
    struct found f = { .machine = m };
    int rc = find_seats(p, node, &f, err);

    if (rc == 0)
        rc = count_packages(&f);
    for (uint32_t r = 0; r < p->nprocs && rc == 0; r++) {
        if (p->procs[r].node == node)
            take_seat(&p->procs[r], &f);
    }
    free(f.count);
    return rc;
}

static int find_or_reuse(struct job_map *p, uint32_t node, bind_machine_fn *machine, void *arg,
                         const struct found *last, struct found *f, struct errmsg *err)
{
    int rc = 0;

    f->machine = machine(arg, node, &f->guess);
    if (last && last->binding == p->nodes[node].binding && last->machine == f->machine &&
        last->guess == f->guess) {
        *f = *last;
        f->count = NULL;
    } else {
        rc = find_seats(p, node, f, err);
    }
    return rc ? rc : count_packages(f);
}

int plan_bind_all(struct job_map *p, bind_machine_fn *machine, void *arg, struct errmsg *err)
{
    struct found *found = calloc((size_t)p->nnodes + 1, sizeof *found);
    int rc = found ? 0 : -ENOMEM;

    for (uint32_t n = 0; n < p->nnodes && rc == 0; n++)
        rc = find_or_reuse(p, n, machine, arg, n ? &found[n - 1] : NULL, &found[n], err);
    for (uint32_t r = 0; r < p->nprocs && rc == 0; r++)
        take_seat(&p->procs[r], &found[p->procs[r].node]);
    for (uint32_t n = 0; found && n < p->nnodes; n++)
        free(found[n].count);
    free(found);
    return rc;
}
