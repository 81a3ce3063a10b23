/* modex_keys.c - see modex_keys.h. */
#include "core/modex_keys.h"

#include <errno.h>
#include <stdlib.h>

#include "core/modex.h"

/* The key's bytes live in the store, which never moves. */
int modex_keys_add(struct proc *p, struct slice key)
{
    if (p->nkeys == p->keys_room) {
        uint32_t room = p->keys_room ? p->keys_room * 2 : 8;
        struct slice *more = realloc(p->keys, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        p->keys = more;
        p->keys_room = room;
    }
    p->keys[p->nkeys++] = key;
    return 0;
}

int modex_keys_add_fresh(struct job *j, uint32_t rank, struct slice key, bool to_all)
{
    struct proc *p = &j->procs[rank];
    struct seg_item item;

    if (!seg_find(&j->store.view, rank, key, &item))
        return 0;
    if (p->nfresh == p->fresh_room) {
        uint32_t room = p->fresh_room ? p->fresh_room * 2 : 8;
        struct fresh_key *more = realloc(p->fresh, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        p->fresh = more;
        p->fresh_room = room;
    }
    p->fresh[p->nfresh++] = (struct fresh_key){ item.key, to_all };
    return 0;
}

static bool is_for_others(const struct seg_item *item)
{
    return item->scope != MODEX_LOCAL;
}

static bool is_of_part(const struct fresh_key *k, enum fresh_part part)
{
    return part == FRESH_ALL || k->to_all == (part == FRESH_TO_ALL);
}

void modex_keys_write_fresh(const struct job *j, uint32_t rank, enum fresh_part part, bool collect,
                            struct block_writer *w)
{
    const struct proc *p = &j->procs[rank];
    bool whole = part == FRESH_ALL && collect && p->committed, begun = false;
    struct seg_item item;

    for (uint32_t i = 0; i < p->nfresh; i++) {
        if (!is_of_part(&p->fresh[i], part) ||
            !seg_find(&j->store.view, rank, p->fresh[i].key, &item) || !is_for_others(&item) ||
            (!collect && !(item.flags & SEG_RECORD_FLAT)))
            continue;
        if (!begun)
            block_rank(w, rank, whole);
        begun = true;
        block_entry(w, &item);
    }
    if (!begun && whole) /* an empty set of entries is information too */
        block_rank(w, rank, true);
}

/* All nodes have it now.  Modex entries that a fence without data left out stay fresh. */
void modex_keys_sent(struct job *j, uint32_t rank, bool collect)
{
    struct proc *p = &j->procs[rank];
    struct seg_item item;
    uint32_t kept = 0;

    for (uint32_t i = 0; !collect && i < p->nfresh; i++) {
        if (seg_find(&j->store.view, rank, p->fresh[i].key, &item) && is_for_others(&item) &&
            !(item.flags & SEG_RECORD_FLAT))
            p->fresh[kept++] = p->fresh[i];
    }
    p->nfresh = kept;
}

int modex_keys_renew(struct job *j, uint32_t rank)
{
    struct proc *p = &j->procs[rank];
    int rc = 0;

    p->nfresh = 0;
    for (uint32_t i = 0; rc == 0 && i < p->nkeys; i++)
        rc = modex_keys_add_fresh(j, rank, p->keys[i], true);
    return rc;
}

void modex_keys_write_all(const struct job *j, uint32_t rank, struct block_writer *w)
{
    const struct proc *p = &j->procs[rank];
    struct seg_item item;

    block_rank(w, rank, p->committed);
    for (uint32_t i = 0; i < p->nkeys; i++) {
        if (seg_find(&j->store.view, rank, p->keys[i], &item) && is_for_others(&item))
            block_entry(w, &item);
    }
}

void modex_keys_free(struct proc *p)
{
    free(p->keys);
    free(p->fresh);
}
