/* tree.h - the shape of the tree: positions 0..n-1, each with at most `width` children.
 *
 * Self-describing: position, width and count determine everything.  The parent of p is (p-1)/width,
 * its children are width*p+1 .. width*p+width.  When nodes are lost, the nodes below them connect
 * to their nearest living ancestor, so the subtree of a node stays the same, without the lost
 * nodes.
 */
#ifndef WIREUP_OVERLAY_TREE_H
#define WIREUP_OVERLAY_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_NONE UINT32_MAX

/* TREE_NONE: p is the top. */
uint32_t tree_parent(uint32_t width, uint32_t p);
uint32_t tree_first_child(uint32_t width, uint32_t p);
/* The number of children among n positions; 0: a leaf. */
uint32_t tree_children(uint32_t width, uint32_t n, uint32_t p);
/* p is a, or below a. */
bool tree_is_below(uint32_t width, uint32_t p, uint32_t a);
uint32_t tree_depth(uint32_t width, uint32_t p); /* of position 0: 0 */
/* The next position on the way from `from` to `to` (another one): a child, or the parent. */
uint32_t tree_next(uint32_t width, uint32_t from, uint32_t to);
/* The nearest ancestor that is not lost; TREE_NONE: p is the top. */
uint32_t tree_living_parent(uint32_t width, uint32_t p, const uint64_t *lost);

/* Sets of positions as bits. */
static inline bool tree_is_lost(const uint64_t *lost, uint32_t p)
{
    return lost && (lost[p / 64] >> (p % 64) & 1) != 0;
}

#endif
