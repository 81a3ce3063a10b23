/* tree.c - see tree.h. */
#include "cluster/tree.h"

uint32_t tree_parent(uint32_t width, uint32_t p)
{
    return p ? (p - 1) / width : TREE_NONE;
}

uint32_t tree_first_child(uint32_t width, uint32_t p)
{
    uint64_t c = (uint64_t)p * width + 1;

    return c < TREE_NONE ? (uint32_t)c : TREE_NONE;
}

uint32_t tree_children(uint32_t width, uint32_t n, uint32_t p)
{
    uint32_t first = tree_first_child(width, p);

    if (first >= n)
        return 0;
    return n - first < width ? n - first : width;
}

bool tree_is_below(uint32_t width, uint32_t p, uint32_t a)
{
    while (p > a)
        p = tree_parent(width, p);
    return p == a;
}

uint32_t tree_depth(uint32_t width, uint32_t p)
{
    uint32_t depth = 0;

    for (; p; p = tree_parent(width, p))
        depth++;
    return depth;
}

uint32_t tree_next(uint32_t width, uint32_t from, uint32_t to)
{
    while (to > from) {
        uint32_t above = tree_parent(width, to);
        if (above == from)
            return to;
        to = above;
    }
    return tree_parent(width, from);
}

uint32_t tree_living_parent(uint32_t width, uint32_t p, const uint64_t *lost)
{
    do
        p = tree_parent(width, p);
    while (p != TREE_NONE && tree_is_lost(lost, p));
    return p;
}
