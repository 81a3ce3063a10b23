/* spawn_held.c - see spawn_held.h. */
#include "daemon/spawn_held.h"

#include <stdlib.h>

#include "core/spawn_pack.h"

enum { SPAWN_HELD_TEXT = 1 << 20 };

void spawn_held_free(struct spawn_held *h)
{
    spawn_free(h->request);
    free(h);
}

struct spawn_held *spawn_held_copy(const struct spawn_held *h)
{
    struct spawn_held *copy = calloc(1, sizeof *copy);
    struct buf bytes = BUF_NULL(SPAWN_HELD_TEXT);
    struct errmsg err;

    if (copy) {
        *copy = *h;
        spawn_pack(h->request, &bytes);
        copy->request = buf_ok(&bytes) ? spawn_unpack(buf_slice(&bytes), &err) : NULL;
    }
    if (copy && !copy->request) {
        free(copy);
        copy = NULL;
    }
    buf_free(&bytes);
    return copy;
}
