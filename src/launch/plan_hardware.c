/* plan_hardware.c - see plan_hardware.h. */
#include "launch/plan_hardware.h"

#include <string.h>

#include "base/json.h"

struct bind_machine *plan_hardware_of(struct binding_machines *known, const char *node)
{
    struct bind_machine *m = known->remote_machine ? known->remote_machine(known->arg, node) : NULL;

    if (!m && (!known->remote || (known->here && !strcmp(node, known->here))))
        m = &known->own;
    return m;
}

static bool is_listed(struct slice list, const char *node)
{
    bool found = list.len == 0;

    while (list.len && !found)
        found = slice_is(slice_trim(slice_cut(&list, ',')), node);
    return found;
}

static int check_names(const struct plan_hardware *what, const struct job_map *plan,
                       struct errmsg *err)
{
    struct slice rest = what->nodes;

    while (rest.len) {
        struct slice name = slice_trim(slice_cut(&rest, ','));
        bool found = name.len == 0;
        for (uint32_t i = 0; i < plan->nnodes && !found; i++)
            found = slice_is(name, plan->nodes[i].name);
        if (!found)
            return errmsg_set(err, BINDING_CANNOT,
                              "the hardware of node " SLICE_FMT
                              " cannot be shown: it is no node of the job",
                              SLICE_ARG(name));
    }
    return 0;
}

/* From the largest to the smallest; kinds that the machine does not have are left out. */
static void put_objects(const struct bind_machine *m, struct buf *out)
{
    bool any = false;

    for (int kind = TOPO_PACKAGE; kind >= TOPO_HWTHREAD; kind--) {
        uint32_t n = m->view.kinds[kind].count;
        if (!n)
            continue;
        buf_printf(out, "%s%u %s%s", any ? ", " : "", n, topo_kind_name((enum topo_kind)kind),
                   n == 1 ? "" : "s");
        any = true;
    }
    buf_byte(out, '\n');
}

static void put_json(const struct bind_machine *m, const char *node, const struct buf *processors,
                     struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_str(&j, "node", node);
    for (int kind = TOPO_PACKAGE; kind >= TOPO_HWTHREAD && !processors; kind--)
        json_u64(&j, topo_kind_name((enum topo_kind)kind), m->view.kinds[kind].count);
    if (processors)
        json_text(&j, "processors", buf_slice(processors));
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}

static void put_node(const struct plan_hardware *what, const struct bind_machine *m,
                     const char *node, struct buf *out)
{
    struct buf list = BUF_NULL(1 << 20);

    if (what->processors)
        cpus_list(m->allowed, &list);
    if (what->json) {
        put_json(m, node, what->processors ? &list : NULL, out);
    } else if (what->processors) {
        buf_printf(out, "%s: processors " SLICE_FMT "\n", node, SLICE_ARG(buf_slice(&list)));
    } else {
        buf_printf(out, "%s: ", node);
        put_objects(m, out);
    }
    buf_free(&list);
}

int plan_hardware_print(const struct plan_hardware *what, struct binding_machines *known,
                        struct job_map *plan, struct buf *out, struct errmsg *err)
{
    int rc = check_names(what, plan, err);

    for (uint32_t i = 0; i < plan->nnodes && rc == 0; i++) {
        const char *node = plan->nodes[i].name;
        struct bind_machine *m = plan_hardware_of(known, node);
        if (!is_listed(what->nodes, node))
            continue;
        if (!m)
            return errmsg_set(err, BINDING_CANNOT,
                              "the hardware of node %s cannot be shown: nodes report it only to a "
                              "launcher whose own -map-by or -rank-by needs it",
                              node);
        if (m == &known->own)
            rc = bind_look(m, &plan->arena, true, err);
        if (rc > 0)
            rc = BINDING_CANNOT;
        if (rc == 0)
            put_node(what, m, node, out);
    }
    return rc;
}
