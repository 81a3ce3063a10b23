/* block_set.c - see block_set.h. */
#include "cluster/block_set.h"

#include <stdlib.h>
#include <string.h>

static struct block_set_leaf *leaf(uint32_t position, uint64_t bytes, size_t copied)
{
    struct block_set_leaf *l = calloc(1, sizeof *l + copied);

    if (l) {
        l->set = (struct block_set){ .refs = 1, .count = 1, .bytes = bytes };
        l->position = position;
    }
    return l;
}

static struct block_set *set_of(struct block_set_leaf *l)
{
    return l ? &l->set : NULL;
}

struct block_set *block_set_one(uint32_t position, struct slice block)
{
    struct block_set_leaf *l = leaf(position, block.len, block.len);

    if (l && block.len)
        memcpy(l->text, block.ptr, block.len);
    if (l)
        l->block = slice_mem(l->text, block.len);
    return set_of(l);
}

struct block_set *block_set_same(uint32_t position, struct block_set *as)
{
    struct block_set_leaf *l = leaf(position, as->bytes, 0);

    if (l) {
        l->set.right = block_set_ref(as->right ? as->right : as);
        l->block = block_set_block(as);
    }
    return set_of(l);
}

struct block_set *block_set_model(uint32_t position, uint64_t bytes)
{
    return set_of(leaf(position, bytes, 0));
}

struct block_set *block_set_ref(struct block_set *b)
{
    if (b)
        b->refs++;
    return b;
}

/* A chain of thousands may depend on one reference: no recursion on the left side, which is the
 * long one. */
struct block_set *block_set_drop(struct block_set *b)
{
    while (b && --b->refs == 0) {
        struct block_set *left = b->left;
        block_set_drop(b->right);
        free(b);
        b = left;
    }
    return NULL;
}

bool block_set_join(struct block_set **joined_p, struct block_set *a, struct block_set *b)
{
    struct block_set *j;

    *joined_p = a ? a : b;
    if (!a || !b)
        return true;
    j = calloc(1, sizeof *j);
    *joined_p = j;
    if (!j) {
        block_set_drop(a);
        block_set_drop(b);
        return false;
    }
    j->refs = 1;
    j->left = a;
    j->right = b;
    j->count = a->count + b->count;
    j->bytes = a->bytes + b->bytes;
    return true;
}

bool block_set_first(struct block_set **first_p, struct block_set *b, uint32_t n)
{
    struct block_set *head = NULL, *more;

    *first_p = NULL;
    while (b && n) {
        if (n >= b->count) {
            more = block_set_ref(b);
            n = 0;
        } else if (n >= b->left->count) {
            more = block_set_ref(b->left);
            n -= b->left->count;
            b = b->right;
        } else {
            b = b->left;
            continue;
        }
        if (!block_set_join(&head, head, more))
            return false;
    }
    *first_p = head;
    return true;
}

void block_set_walk_begin(struct block_set_walk *w, const struct block_set *b)
{
    *w = (struct block_set_walk){ NULL, 0, 0, false };
    if (!b)
        return;
    w->stack = malloc(64 * sizeof *w->stack);
    w->room = 64;
    w->no_memory = !w->stack;
    if (w->stack)
        w->stack[w->n++] = b;
}

static bool push(struct block_set_walk *w, const struct block_set *b)
{
    if (w->n == w->room) {
        const struct block_set **more = realloc(w->stack, 2 * w->room * sizeof *more);
        w->no_memory = !more;
        if (!more)
            return false;
        w->stack = more;
        w->room *= 2;
    }
    w->stack[w->n++] = b;
    return true;
}

const struct block_set *block_set_walk_next(struct block_set_walk *w)
{
    while (w->n && !w->no_memory) {
        const struct block_set *b = w->stack[--w->n];
        if (!b->left)
            return b;
        if (!push(w, b->right) || !push(w, b->left))
            return NULL;
    }
    return NULL;
}

void block_set_walk_end(struct block_set_walk *w)
{
    free(w->stack);
    w->stack = NULL;
    w->n = 0;
}
