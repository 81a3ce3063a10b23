/* block_set.c - see block_set.h. */
#include "cluster/block_set.h"

#include <stdlib.h>
#include <string.h>

static struct block_set *leaf(uint32_t position, size_t copied)
{
    struct block_set *b = calloc(1, sizeof *b + copied);

    if (b) {
        b->refs = b->count = 1;
        b->position = position;
    }
    return b;
}

struct block_set *block_set_one(uint32_t position, struct slice block)
{
    struct block_set *b = leaf(position, block.len);

    if (!b)
        return NULL;
    if (block.len)
        memcpy(b->text, block.ptr, block.len);
    b->block = slice_mem(b->text, block.len);
    b->bytes = block.len;
    return b;
}

struct block_set *block_set_same(uint32_t position, struct block_set *as)
{
    struct block_set *b = leaf(position, 0);

    if (!b)
        return NULL;
    b->right = block_set_ref(as->right ? as->right : as);
    b->block = as->block;
    b->bytes = as->bytes;
    return b;
}

struct block_set *block_set_model(uint32_t position, uint64_t bytes)
{
    struct block_set *b = leaf(position, 0);

    if (b)
        b->bytes = bytes;
    return b;
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
    j = leaf(0, 0);
    *joined_p = j;
    if (!j) {
        block_set_drop(a);
        block_set_drop(b);
        return false;
    }
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
