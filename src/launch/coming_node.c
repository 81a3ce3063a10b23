/* coming_node.c - see coming_node.h. */
#include "launch/coming_node.h"

static bool is_lost(const struct remote *f, uint32_t position)
{
    return position && router_is_lost(&f->cluster.router, position);
}

static bool is_up(const struct remote *f, uint32_t position)
{
    return position == 0 || router_reaches(&f->cluster.router, position);
}

const char *coming_node_look(struct coming_node *n, struct remote *f, uint32_t position)
{
    const struct overlay *o = &f->cluster.overlay_io.member.overlay;

    if (n->started && is_lost(f, position))
        return "its daemon was lost while it came up";
    if (n->started)
        return is_lost(f, n->parent) ? "the node that started its daemon is lost" : NULL;
    n->parent = tree_living_parent(o->config.width, position, o->lost);
    if (!is_up(f, n->parent) || !cluster_io_has(&f->cluster, n->parent))
        return NULL;
    n->started = true;
    return remote_start(f, position, n->parent) < 0 ? "out of memory" : NULL;
}
