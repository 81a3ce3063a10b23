/* server_inventory.c - see server_inventory.h.  Reading order: this node's; delivered ones; answers
 * to queries. */
#include "lib/pmix/server/server_inventory.h"

#include <stdlib.h>
#include <string.h>

#include "core/request.h"
#include "lib/pmix/server/server_infos.h"
#include "server/node_part.h"
#include "topo/pmix_topo.h"
#include "topo/xml.h"
#include "wire/pmix_message.h"

enum { XML_MAX = 256 << 20 };

/* ---- this node's ----------------------------------------------------------------------------- */

static void add_device(struct info_array *all, const pmix_device_distance_t *d)
{
    struct info_array one = { .items = NULL };

    info_array_text(&one, PMIX_DEVICE_ID, d->uuid ? d->uuid : "");
    info_array_text(&one, PMIX_FABRIC_DEVICE_NAME, d->osname ? d->osname : "");
    info_array_infos(all, PMIX_FABRIC_DEVICE, &one);
}

/* How far they are from this process does not matter. */
static void add_devices(struct info_array *node)
{
    struct ptopo_wanted wanted = { .types = PMIX_DEVTYPE_NETWORK | PMIX_DEVTYPE_OPENFABRICS };
    struct info_array all = { .items = NULL };
    pmix_device_distance_t *list = NULL;
    pmix_topology_t topo = { .source = NULL };
    pmix_cpuset_t set = { .source = NULL };
    size_t n = 0;

    if (ptopo_load(&topo) == 0 && ptopo_bound(false, &set) == 0 &&
        ptopo_distances(&topo, &set, &wanted, &list, &n) == 0) {
        for (size_t i = 0; i < n; i++)
            add_device(&all, &list[i]);
        info_array_infos(node, PMIX_FABRIC_DEVICES, &all);
    }
    PMIx_Device_distance_free(list, n);
    PMIx_Topology_destruct(&topo);
    PMIx_Cpuset_destruct(&set);
}

static void add_topology(struct info_array *node)
{
    struct buf text = BUF_NULL(XML_MAX);
    struct errmsg err;

    if (topo_xml(&text, &err) == 0 && buf_cstr(&text))
        info_array_text(node, PMIX_HWLOC_XML_V2, buf_cstr(&text));
    buf_free(&text);
}

/* A machine without hwloc tells its name alone. */
void inventory_describe(struct info_array *l, const char *hostname)
{
    struct info_array node = { .items = NULL };

    info_array_text(&node, PMIX_HOSTNAME, hostname);
    add_topology(&node);
    add_devices(&node);
    l->no_memory = l->no_memory || node.no_memory;
    info_array_infos(l, PMIX_NODE_INFO_ARRAY, &node);
}

/* ---- delivered ones -------------------------------------------------------------------------- */

static const char *node_of(const pmix_info_t *i)
{
    const pmix_info_t *name = info_group_find(info_group_of(i), PMIX_HOSTNAME);

    return info_key_is(i, PMIX_NODE_INFO_ARRAY) && name ? info_text(name) : NULL;
}

bool inventory_keep(struct pserver *s, const pmix_info_t *i)
{
    const char *name = node_of(i);

    if (!name)
        return true; /* of another library's making */
    LIST_EACH(l, &s->inventory)
    {
        struct registered_info *t = LIST_OF(l, struct registered_info, link);
        if (!strcmp(node_of(&t->info), name))
            registered_drop(t);
    }
    return registered_add(&s->inventory, i);
}

/* ---- answers to queries ---------------------------------------------------------------------- */

static void add_hardware(struct info_array *l, const pmix_info_t *node)
{
    const char *xml = info_inside_text(node, PMIX_HWLOC_XML_V2);
    struct info_array one = { .items = NULL };

    if (!xml)
        return;
    info_array_text(&one, PMIX_HOSTNAME, node_of(node));
    info_array_text(&one, PMIX_HWLOC_XML_V2, xml);
    info_array_infos(l, NODE_PART_OF_HARDWARE, &one);
}

static const pmix_info_t *kept(const struct pserver *s, const char *name)
{
    LIST_EACH(l, (struct list *)(uintptr_t)&s->inventory)
    {
        const pmix_info_t *i = &LIST_OF(l, const struct registered_info, link)->info;
        if (!strcmp(node_of(i), name))
            return i;
    }
    return NULL;
}

/* This node's is read once. */
static const pmix_info_t *own(struct pserver *s)
{
    struct info_array l = { .items = NULL };

    if (!kept(s, s->hostname)) {
        inventory_describe(&l, s->hostname);
        if (l.n && !l.no_memory)
            inventory_keep(s, &l.items[0]);
        info_array_free(&l);
    }
    return kept(s, s->hostname);
}

static void add_all(struct info_array *l, struct pserver *s, bool local)
{
    const pmix_info_t *first = own(s);

    if (first)
        add_hardware(l, first);
    LIST_EACH(at, &s->inventory)
    {
        const pmix_info_t *i = &LIST_OF(at, struct registered_info, link)->info;
        if (!local && i != first)
            add_hardware(l, i);
    }
}

enum answer_status inventory_answer(struct pserver *s, const struct request *rq, uint64_t ticket)
{
    struct info_array l = { .items = NULL };
    struct buf bytes = BUF_NULL(XML_MAX);
    struct answer answer;
    struct ppack w;

    if (rq->u.node_parts.parts & NODE_PART_TOPOLOGY)
        add_all(&l, s, rq->u.node_parts.local);
    ppack_init(&w, &bytes, &ptype_own);
    pmsg_write_infos(
        &w, 0, &(struct pmsg_infos){ .has = PMSG_BIT(infos, infos), .infos = { l.n, l.items } });
    answer = ANSWER_TO(node_parts, ppack_ok(&w) && !l.no_memory ? ANSWER_OK : ANSWER_NO_MEMORY,
                       .parts = buf_slice(&bytes));
    server_answer(&s->server, ticket, &answer);
    info_array_free(&l);
    buf_free(&bytes);
    return ANSWER_LATER;
}

bool inventory_share(struct pserver *s, struct slice key, struct answer *a_p)
{
    const pmix_info_t *node;
    const char *xml;

    if (!s->server.core.shares_topology || !slice_is(key, CORE_TOPOLOGY))
        return false;
    node = own(s);
    xml = node ? info_inside_text(node, PMIX_HWLOC_XML_V2) : NULL;
    *a_p = xml ? ANSWER_TO(job_attr, ANSWER_OK, .value = slice_str(xml))
               : (struct answer){ .status = ANSWER_NOT_FOUND };
    return true;
}
