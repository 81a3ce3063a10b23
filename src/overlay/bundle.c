/* bundle.c - see bundle.h. */
#include "overlay/bundle.h"

#include <stdlib.h>
#include <string.h>

static struct bundle *leaf(uint32_t position, size_t copied)
{
    struct bundle *b = calloc(1, sizeof *b + copied);

    if (b) {
        b->refs = b->count = 1;
        b->position = position;
    }
    return b;
}

struct bundle *bundle_one(uint32_t position, struct slice block)
{
    struct bundle *b = leaf(position, block.len);

    if (!b)
        return NULL;
    if (block.len)
        memcpy(b->text, block.ptr, block.len);
    b->block = slice_mem(b->text, block.len);
    b->bytes = block.len;
    return b;
}

struct bundle *bundle_same(uint32_t position, struct bundle *as)
{
    struct bundle *b = leaf(position, 0);

    if (!b)
        return NULL;
    b->right = bundle_ref(as->right ? as->right : as);
    b->block = as->block;
    b->bytes = as->bytes;
    return b;
}

struct bundle *bundle_model(uint32_t position, uint64_t bytes)
{
    struct bundle *b = leaf(position, 0);

    if (b)
        b->bytes = bytes;
    return b;
}

struct bundle *bundle_ref(struct bundle *b)
{
    if (b)
        b->refs++;
    return b;
}

/* A chain of thousands may hang on one reference: no recursion on the left side, which is the long
 * one. */
struct bundle *bundle_drop(struct bundle *b)
{
    while (b && --b->refs == 0) {
        struct bundle *left = b->left;
        bundle_drop(b->right);
        free(b);
        b = left;
    }
    return NULL;
}

bool bundle_join(struct bundle **joined_p, struct bundle *a, struct bundle *b)
{
    struct bundle *j;

    *joined_p = a ? a : b;
    if (!a || !b)
        return true;
    j = leaf(0, 0);
    *joined_p = j;
    if (!j) {
        bundle_drop(a);
        bundle_drop(b);
        return false;
    }
    j->left = a;
    j->right = b;
    j->count = a->count + b->count;
    j->bytes = a->bytes + b->bytes;
    return true;
}

bool bundle_first(struct bundle **first_p, struct bundle *b, uint32_t n)
{
    struct bundle *head = NULL, *more;

    *first_p = NULL;
    while (b && n) {
        if (n >= b->count) {
            more = bundle_ref(b);
            n = 0;
        } else if (n >= b->left->count) {
            more = bundle_ref(b->left);
            n -= b->left->count;
            b = b->right;
        } else {
            b = b->left;
            continue;
        }
        if (!bundle_join(&head, head, more))
            return false;
    }
    *first_p = head;
    return true;
}

void bundle_walk_begin(struct bundle_walk *w, const struct bundle *b)
{
    *w = (struct bundle_walk){ NULL, 0, 0, false };
    if (!b)
        return;
    w->stack = malloc(64 * sizeof *w->stack);
    w->room = 64;
    w->no_memory = !w->stack;
    if (w->stack)
        w->stack[w->n++] = b;
}

static bool push(struct bundle_walk *w, const struct bundle *b)
{
    if (w->n == w->room) {
        const struct bundle **more = realloc(w->stack, 2 * w->room * sizeof *more);
        w->no_memory = !more;
        if (!more)
            return false;
        w->stack = more;
        w->room *= 2;
    }
    w->stack[w->n++] = b;
    return true;
}

const struct bundle *bundle_walk_next(struct bundle_walk *w)
{
    while (w->n && !w->no_memory) {
        const struct bundle *b = w->stack[--w->n];
        if (!b->left)
            return b;
        if (!push(w, b->right) || !push(w, b->left))
            return NULL;
    }
    return NULL;
}

void bundle_walk_end(struct bundle_walk *w)
{
    free(w->stack);
    w->stack = NULL;
    w->n = 0;
}
