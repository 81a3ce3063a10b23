/* reservation.c - see reservation.h.  Reading order: nodes; choice; the requests; look-ups. */
#include "core/reservation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/duration.h"

enum { ID_MAX = 256 };

/* ---- nodes ----------------------------------------------------------------------------------- */

int reservations_open(struct reservations *r, uint32_t nnodes)
{
    *r = (struct reservations){ .nodes = calloc((size_t)nnodes + 1, sizeof *r->nodes) };
    list_init(&r->all);
    if (!r->nodes)
        return -ENOMEM;
    r->nnodes = nnodes;
    return 0;
}

int reservations_name_node(struct reservations *r, uint32_t node, const char *name, uint32_t slots)
{
    free(r->nodes[node].name);
    r->nodes[node] = (struct reservation_node){ .name = strdup(name), .slots = slots };
    return r->nodes[node].name ? 0 : -ENOMEM;
}

int reservations_add_node(struct reservations *r, const char *name, uint32_t slots)
{
    struct reservation_node *more = realloc(r->nodes, ((size_t)r->nnodes + 2) * sizeof *r->nodes);

    if (!more)
        return -ENOMEM;
    r->nodes = more;
    memset(&more[r->nnodes], 0, 2 * sizeof *more);
    if (reservations_name_node(r, r->nnodes, name, slots) < 0)
        return -ENOMEM;
    r->nnodes++;
    return 0;
}

static void reservation_free(struct reservation *of)
{
    list_unlink(&of->link);
    free(of->id);
    free(of->req_id);
    free(of);
}

void reservations_close(struct reservations *r)
{
    if (!r->nodes)
        return;
    LIST_EACH(l, &r->all)
    reservation_free(LIST_OF(l, struct reservation, link));
    for (uint32_t n = 0; n < r->nnodes; n++)
        free(r->nodes[n].name);
    free(r->nodes);
    r->nodes = NULL;
}

static bool is_in(struct slice names, const char *name)
{
    while (names.len) {
        if (slice_is(slice_trim(slice_cut(&names, ',')), name))
            return true;
    }
    return false;
}

static struct reservation_node *node_named(const struct reservations *r, struct slice name)
{
    for (uint32_t n = 0; n < r->nnodes; n++) {
        if (r->nodes[n].name && slice_is(name, r->nodes[n].name))
            return &r->nodes[n];
    }
    return NULL;
}

/* Whether all of these are nodes (of: of that reservation). */
static bool are_nodes(const struct reservations *r, struct slice names,
                      const struct reservation *of)
{
    while (names.len) {
        const struct reservation_node *n = node_named(r, slice_trim(slice_cut(&names, ',')));
        if (!n || (of && n->of != of))
            return false;
    }
    return true;
}

/* ---- choice ---------------------------------------------------------------------------------- */

/* Of the free nodes that the wish admits, the one with the fewest processes; NULL: none. */
static struct reservation_node *idlest(const struct reservations *r,
                                       const struct reservation_wish *w)
{
    struct reservation_node *best = NULL;

    for (uint32_t i = 0; i < r->nnodes; i++) {
        struct reservation_node *n = &r->nodes[i];
        if (n->of || n->lost || !n->name || (w->nodes.len && !is_in(w->nodes, n->name)) ||
            is_in(w->exclude, n->name))
            continue;
        if (!best || n->busy < best->busy)
            best = n;
    }
    return best;
}

static void give_back(struct reservations *r, const struct reservation *mark)
{
    for (uint32_t n = 0; n < r->nnodes; n++)
        r->nodes[n].of = r->nodes[n].of == mark ? NULL : r->nodes[n].of;
}

/* How many nodes a list names, each once. */
static uint64_t count_named(const struct reservations *r, struct slice names)
{
    uint64_t count = 0;

    for (uint32_t n = 0; n < r->nnodes && names.len; n++)
        count += r->nodes[n].name && is_in(names, r->nodes[n].name);
    return count;
}

/* Gives the nodes of a wish to a reservation: all or none. */
static enum answer_status choose(struct reservations *r, const struct reservation_wish *w,
                                 const struct reservation *to)
{
    static const struct reservation mark;
    uint64_t nodes = w->num_nodes, cpus = 0, given = 0;

    if (!are_nodes(r, w->nodes, NULL))
        return ANSWER_NOT_FOUND;
    if (w->nodes.len && !w->num_nodes && !w->num_cpus)
        nodes = count_named(r, w->nodes);
    while (given < nodes || cpus < w->num_cpus) {
        struct reservation_node *n = idlest(r, w);
        if (!n) {
            give_back(r, &mark);
            return ANSWER_OVER_QUOTA;
        }
        n->of = &mark;
        cpus += n->slots;
        given++;
    }
    for (uint32_t n = 0; n < r->nnodes; n++) {
        if (r->nodes[n].of != &mark)
            continue;
        r->nodes[n].of = to;
        r->nodes[n].lent_by = r->nodes[n].lent_by == to ? NULL : r->nodes[n].lent_by;
    }
    return ANSWER_OK;
}

/* ---- the requests ---------------------------------------------------------------------------- */

static bool wants_nodes(const struct reservation_wish *w)
{
    return w->num_nodes || w->num_cpus || w->nodes.len;
}

static struct reservation *reservation_new(struct reservations *r, const char *name,
                                           const struct reservation_wish *w)
{
    struct reservation *of = calloc(1, sizeof *of);
    struct buf id = BUF_NULL(ID_MAX);

    if (!of)
        return NULL;
    list_init(&of->link);
    of->number = r->last + 1;
    if (w->id.len)
        buf_slice_put(&id, w->id);
    else
        buf_printf(&id, "%.200s-alloc-%u", name, of->number);
    of->id = buf_cstr(&id) ? strdup(buf_cstr(&id)) : NULL;
    buf_free(&id);
    of->req_id = w->req_id.len ? strndup(w->req_id.ptr, w->req_id.len) : NULL;
    of->owner = w->owner;
    of->deadline_ns = w->duration_ns ? w->now_ns + w->duration_ns : UINT64_MAX;
    if (of->id && (of->req_id || !w->req_id.len))
        return of;
    reservation_free(of);
    return NULL;
}

enum answer_status reservation_make(struct reservations *r, const char *name,
                                    const struct reservation_wish *w, struct reservation **made_p)
{
    struct reservation *of;
    enum answer_status status;

    *made_p = NULL;
    if (!wants_nodes(w))
        return ANSWER_BAD_VALUE;
    if ((w->req_id.len && reservation_find(r, SLICE_NULL, 0, w->req_id, w->owner)) ||
        (w->id.len && reservation_find(r, w->id, 0, SLICE_NULL, 0)))
        return ANSWER_DUPLICATE;
    of = reservation_new(r, name, w);
    if (!of)
        return ANSWER_NO_MEMORY;
    status = choose(r, w, of);
    if (status != ANSWER_OK) {
        reservation_free(of);
        return status;
    }
    r->last = of->number;
    list_append(&r->all, &of->link);
    *made_p = of;
    return ANSWER_OK;
}

enum answer_status reservation_extend(struct reservations *r, struct reservation *of,
                                      const struct reservation_wish *w)
{
    enum answer_status status = ANSWER_OK;

    if (!wants_nodes(w) && !w->duration_ns)
        return ANSWER_BAD_VALUE;
    if (wants_nodes(w))
        status = choose(r, w, of);
    if (status == ANSWER_OK && w->duration_ns && of->deadline_ns != UINT64_MAX)
        of->deadline_ns += w->duration_ns;
    return status;
}

enum answer_status reservation_lend(struct reservations *r, struct reservation *of,
                                    struct slice nodes)
{
    if (!are_nodes(r, nodes, of))
        return ANSWER_NOT_FOUND;
    while (nodes.len) {
        struct reservation_node *n = node_named(r, slice_trim(slice_cut(&nodes, ',')));
        n->of = NULL;
        n->lent_by = of;
    }
    return ANSWER_OK;
}

enum answer_status reservation_reacquire(struct reservations *r, struct reservation *of)
{
    bool any = false, taken = false;

    for (uint32_t n = 0; n < r->nnodes; n++) {
        any = any || r->nodes[n].lent_by == of;
        taken = taken || (r->nodes[n].lent_by == of && (r->nodes[n].of || r->nodes[n].lost));
    }
    if (!any || taken)
        return any ? ANSWER_OVER_QUOTA : ANSWER_NOT_FOUND;
    for (uint32_t n = 0; n < r->nnodes; n++) {
        if (r->nodes[n].lent_by != of)
            continue;
        r->nodes[n].of = of;
        r->nodes[n].lent_by = NULL;
    }
    return ANSWER_OK;
}

void reservation_end(struct reservations *r, struct reservation *of)
{
    give_back(r, of);
    for (uint32_t n = 0; n < r->nnodes; n++)
        r->nodes[n].lent_by = r->nodes[n].lent_by == of ? NULL : r->nodes[n].lent_by;
    reservation_free(of);
}

/* ---- look-ups -------------------------------------------------------------------------------- */

static bool is_meant(const struct reservation *of, struct slice id, uint32_t number,
                     struct slice req_id, uint32_t owner)
{
    if (!id.len && !number && !req_id.len)
        return false;
    return (!id.len || slice_is(id, of->id)) && (!number || number == of->number) &&
           (!req_id.len || (of->req_id && of->owner == owner && slice_is(req_id, of->req_id)));
}

struct reservation *reservation_find(const struct reservations *r, struct slice id, uint32_t number,
                                     struct slice req_id, uint32_t owner)
{
    if (!r->nodes)
        return NULL;
    LIST_EACH(l, &r->all)
    {
        struct reservation *of = LIST_OF(l, struct reservation, link);
        if (is_meant(of, id, number, req_id, owner))
            return of;
    }
    return NULL;
}

struct reservation *reservation_first_due(const struct reservations *r)
{
    struct reservation *first = NULL;

    if (!r->nodes)
        return NULL;
    LIST_EACH(l, &r->all)
    {
        struct reservation *of = LIST_OF(l, struct reservation, link);
        if (of->deadline_ns < (first ? first->deadline_ns : UINT64_MAX))
            first = of;
    }
    return first;
}

const struct reservation *reservation_of(const struct reservations *r, struct slice node)
{
    const struct reservation_node *n = r->nodes ? node_named(r, node) : NULL;

    return n ? n->of : NULL;
}

uint32_t reservation_seconds(const struct reservation *of, uint64_t now_ns)
{
    if (of->deadline_ns == UINT64_MAX)
        return 0;
    return of->deadline_ns > now_ns
               ? (uint32_t)((of->deadline_ns - now_ns + NS_PER_S - 1) / NS_PER_S)
               : 1;
}

void reservation_visits(struct reservations *r, const struct reservation *of, struct slice nodes)
{
    for (uint32_t n = 0; n < r->nnodes; n++)
        r->nodes[n].visits |= r->nodes[n].of == of && is_in(nodes, r->nodes[n].name);
}

void reservation_leavers(struct reservations *r, struct buf *out)
{
    for (uint32_t n = 0; n < r->nnodes; n++) {
        if (!r->nodes[n].visits || r->nodes[n].of)
            continue;
        r->nodes[n].visits = false;
        r->nodes[n].lent_by = NULL;
        buf_printf(out, "%s%s", buf_len(out) ? "," : "", r->nodes[n].name);
    }
}

uint32_t reservation_list(const struct reservations *r, const struct reservation *of,
                          struct buf *out)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < r->nnodes; n++) {
        if (r->nodes[n].of == of)
            buf_printf(out, "%s%s", count++ ? "," : "", r->nodes[n].name);
    }
    return count;
}
