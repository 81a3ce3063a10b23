/* plan_bind.c - see plan_bind.h. */
#include "topo/plan_bind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static int seats_of(struct arena *a, const struct job_map_binding *b, struct bind_machine *m,
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

/* Those without a taken processor come first. */
static int free_seats_first(struct arena *a, struct cpus taken, struct bind_seats *seats)
{
    struct bind_seat *items = arena_array(a, (size_t)seats->count + 1, sizeof *items);
    uint32_t n = 0;

    if (!items)
        return -ENOMEM;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < seats->count; i++) {
            if (cpus_meet(seats->items[i].cpus, taken) == (pass == 1))
                items[n++] = seats->items[i];
        }
    }
    seats->items = items;
    return 0;
}

int plan_seats_beside(struct arena *a, const struct job_map_binding *b, struct bind_machine *m,
                      uint32_t n, struct cpus *taken, struct bind_seats *seats_p,
                      struct errmsg *err)
{
    int rc = seats_of(a, b, m, seats_p, err);

    if (rc || !seats_p->count || !seats_p->items[0].cpus.bits)
        return rc;
    if (!taken->bits)
        *taken = cpus_new(a, seats_p->items[0].cpus.words * CPUS_WORD_BITS);
    else if (b->how == BIND_OBJECT || b->how == BIND_RR)
        rc = free_seats_first(a, *taken, seats_p);
    for (uint32_t i = 0; i < n && i < seats_p->count && taken->bits; i++)
        cpus_or(*taken, seats_p->items[i].cpus);
    return taken->bits ? rc : -ENOMEM;
}

/* What one node gives its processes of one placement.  The result is reused for the next node with
 * the same binding and machine. */
struct found {
    const struct job_map_binding *binding;
    struct bind_machine *machine;
    bool guess;
    uint32_t nprocs; /* that take seats; 0 where there is one placement */
    struct bind_seats seats;
    const struct job_map_place *places; /* of the seats; NULL: the machine is only assumed */
};

/* count: of processes on each package of the node; NULL: not known. */
static void take_seat(struct job_map_proc *q, uint32_t number, const struct found *f,
                      uint32_t *count)
{
    const struct job_map_binding *b = f->binding;
    uint32_t turn = b && number < b->nturns ? b->turns[number] : number;
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
    if (count)
        q->package_rank = count[locality_package(&f->machine->view, seat->cpus)]++;
}

/* The hardware is examined for information only: without it, processes are bound, too. */
static int describe_seats(struct job_map *p, struct found *f)
{
    struct errmsg unused;
    bool known = bind_look(f->machine, &p->arena, true, &unused) == 0;

    f->places = locality_places(&p->arena, known ? &f->machine->view : NULL, &f->seats);
    return f->places ? 0 : -ENOMEM;
}

/* of_node: what the node gives, by placement. */
static int count_packages(const struct job_map *p, const struct found *of_node, uint32_t **count_p)
{
    for (uint32_t k = 0; k < p->nplacements; k++) {
        const struct bind_machine *m = of_node[k].machine;
        if (!of_node[k].places || !m->looked)
            continue;
        *count_p = calloc((size_t)m->view.kinds[TOPO_PACKAGE].count + 1, sizeof **count_p);
        return *count_p ? 0 : -ENOMEM;
    }
    return 0;
}

static int find_seats(struct job_map *p, struct found *f, struct cpus *taken, struct errmsg *err)
{
    static struct bind_seat unknown = { .text = "as that node can" };
    int rc = plan_seats_beside(&p->arena, f->binding, f->machine, f->nprocs, taken, &f->seats, err);

    if (rc == BIND_BAD && f->guess) {
        f->seats = (struct bind_seats){ &unknown, 1 };
        return 0;
    }
    return rc == 0 && f->seats.count && !f->guess ? describe_seats(p, f) : rc;
}

/* Several nodes: what each gives, node after node; and the processes on its packages. */
struct seating {
    struct job_map *plan;
    struct found *found;
    uint32_t **counts; /* by node; NULL: not known */
    uint32_t *seats;   /* job_map_seats() */
};

static int begin_seating(struct seating *w, struct job_map *p)
{
    *w = (struct seating){ p, calloc((size_t)p->nnodes * p->nplacements + 1, sizeof *w->found),
                           calloc((size_t)p->nnodes + 1, sizeof *w->counts), job_map_seats(p) };
    if (!w->found || !w->counts || !w->seats)
        return -ENOMEM;
    for (uint32_t r = 0; r < p->nprocs && p->nplacements > 1; r++) {
        const struct job_map_proc *q = &p->procs[r];
        w->found[(size_t)q->node * p->nplacements + p->apps[q->app].placement].nprocs++;
    }
    return 0;
}

static void end_seating(struct seating *w)
{
    for (uint32_t n = 0; n < w->plan->nnodes && w->counts; n++)
        free(w->counts[n]);
    free(w->counts);
    free(w->found);
    free(w->seats);
}

static bool are_alike(const struct found *a, const struct found *b, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (a[k].binding != b[k].binding || a[k].machine != b[k].machine ||
            a[k].guess != b[k].guess || a[k].nprocs != b[k].nprocs)
            return false;
    }
    return true;
}

/* last: what the node before gives; NULL: nothing is known of it. */
static int look_at_node(struct seating *w, uint32_t node, struct bind_machine *m, bool guess,
                        const struct found *last, struct errmsg *err)
{
    struct job_map *p = w->plan;
    struct found *f = &w->found[(size_t)node * p->nplacements];
    struct cpus taken = { NULL, 0 };
    int rc = 0;

    for (uint32_t k = 0; k < p->nplacements; k++) {
        f[k].binding = job_map_bound(p, node, k);
        f[k].machine = m;
        f[k].guess = guess;
    }
    if (last && are_alike(last, f, p->nplacements))
        memcpy(f, last, p->nplacements * sizeof *f);
    else
        for (uint32_t k = 0; k < p->nplacements && rc == 0; k++)
            rc = find_seats(p, &f[k], &taken, err);
    return rc ? rc : count_packages(p, f, &w->counts[node]);
}

static void seat_rank(const struct seating *w, uint32_t r)
{
    struct job_map *p = w->plan;
    struct job_map_proc *q = &p->procs[r];
    size_t at = (size_t)q->node * p->nplacements + p->apps[q->app].placement;

    take_seat(q, w->seats[r], &w->found[at], w->counts[q->node]);
}

int plan_bind(struct job_map *p, uint32_t node, struct bind_machine *m, struct errmsg *err)
{
    struct seating w;
    int rc = begin_seating(&w, p);

    if (rc == 0)
        rc = look_at_node(&w, node, m, false, NULL, err);
    for (uint32_t r = 0; r < p->nprocs && rc == 0; r++) {
        if (p->procs[r].node == node)
            seat_rank(&w, r);
    }
    end_seating(&w);
    return rc;
}

int plan_bind_all(struct job_map *p, bind_machine_fn *machine, void *arg, struct errmsg *err)
{
    struct seating w;
    int rc = begin_seating(&w, p);

    for (uint32_t n = 0; n < p->nnodes && rc == 0; n++) {
        bool guess = false;
        struct bind_machine *m = machine(arg, n, &guess);
        const struct found *last = n ? &w.found[(size_t)(n - 1) * p->nplacements] : NULL;
        rc = look_at_node(&w, n, m, guess, last, err);
    }
    for (uint32_t r = 0; r < p->nprocs && rc == 0; r++)
        seat_rank(&w, r);
    end_seating(&w);
    return rc;
}
