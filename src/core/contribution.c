/* contribution.c - see contribution.h. */
#include "core/contribution.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

struct contribution *contribution_new(const struct coll_id *id, bool collect, uint32_t nparties)
{
    struct contribution *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    buf_init(&c->block, LIMIT_BLOCK);
    c->collect = collect;
    c->nparties = nparties;
    c->group = malloc(id->group.len + 1);
    c->parties = calloc(nparties ? nparties : 1, sizeof *c->parties);
    if (!c->group || !c->parties)
        return contribution_free(c);
    if (id->group.len)
        memcpy(c->group, id->group.ptr, id->group.len);
    c->id = *id;
    c->id.group = slice_mem(c->group, id->group.len);
    return c;
}

struct contribution *contribution_free(struct contribution *c)
{
    if (c) {
        buf_free(&c->block);
        free(c->group);
        free(c->parties);
        free(c);
    }
    return NULL;
}
