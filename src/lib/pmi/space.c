/* space.c - see space.h. */
#include "lib/pmi/space.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmi/kvs.h"
#include "lib/pmi/pmi1_rpc.h"

enum { KEY_MOST = 1 << 20 };

/* Changes of a KVS by this process. */
struct space_note {
    bool gone;
    char name[];
};

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory");
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_gone(const struct pmi1_client *c, struct slice name)
{
    const struct space_note *note = map_get(&c->spaces, name);

    return note ? note->gone : c->kind == CLIENT_ALONE;
}

static int note_space(struct pmi1_client *c, struct slice name, bool gone)
{
    struct space_note *note = map_get(&c->spaces, name);

    if (!note) {
        note = malloc(sizeof *note + name.len + 1);
        if (!note)
            return -ENOMEM;
        memcpy(note->name, name.ptr, name.len);
        note->name[name.len] = '\0';
        if (map_put(&c->spaces, slice_str(note->name), note, NULL) < 0) {
            free(note);
            return -ENOMEM;
        }
    }
    note->gone = gone;
    return 0;
}

void space_forget_all(struct pmi1_client *c)
{
    struct space_note *note;
    size_t at = 0;

    while ((note = map_next(&c->spaces, &at)))
        free(note);
    map_free(&c->spaces);
}

/* `:R.S` after the name of the job's KVS. */
static bool parse_prefixed(struct slice name, struct slice main_name, struct kvs_space *s)
{
    struct slice tail = slice_skip(name, main_name.len), rank;
    uint32_t r, n;

    if (!slice_starts(name, main_name) || !slice_starts(tail, SLICE(":")))
        return false;
    tail = slice_skip(tail, 1);
    rank = slice_cut(&tail, '.');
    if (!slice_u32(rank, &r) || !slice_u32(tail, &n))
        return false;
    snprintf(s->prefix, sizeof s->prefix, "%%%u.%u%%", r, n);
    return true;
}

int space_find(struct pmi1_client *c, const char *name, struct kvs_space *s_p, struct errmsg *err)
{
    struct slice main_name;
    int rc = client_kvsname(c, &main_name, err);

    if (rc != CLIENT_OK)
        return rc;
    *s_p = (struct kvs_space){ SPACE_MAIN, slice_str(name), "" };
    if (slice_eq(s_p->name, main_name))
        return CLIENT_OK;
    if (s_p->name.len == 0 || s_p->name.len >= c->name_max || is_gone(c, s_p->name))
        return errmsg_set(err, CLIENT_BAD_SPACE, "there is no key-value space '%.80s'", name);
    if (c->kind != CLIENT_LEGACY)
        s_p->kind = SPACE_FURTHER;
    else
        s_p->kind = parse_prefixed(s_p->name, main_name, s_p) ? SPACE_PREFIXED : SPACE_FOREIGN;
    return CLIENT_OK;
}

/* ---- keys ------------------------------------------------------------------------------------ */

int space_key(const struct pmi1_client *c, const struct kvs_space *s, const char *key,
              struct space_key *k_p, struct errmsg *err)
{
    size_t len = strlen(key), with = s->kind == SPACE_PREFIXED ? strlen(s->prefix) : 0;

    *k_p = (struct space_key){ slice_mem(key, len), BUF_NULL(KEY_MOST) };
    if (len == 0)
        return errmsg_set(err, CLIENT_BAD_KEY, "the key is empty");
    if (with + len >= c->key_max)
        return errmsg_set(err, CLIENT_LONG_KEY,
                          "key '%.80s' has %zu bytes; in this space %zu are allowed", key, len,
                          c->key_max - 1 > with ? c->key_max - 1 - with : 0);
    if (s->kind == SPACE_FURTHER) {
        buf_slice_put(&k_p->mem, s->name);
        buf_byte(&k_p->mem, '\0');
    } else if (s->kind == SPACE_PREFIXED) {
        buf_str(&k_p->mem, s->prefix);
    } else {
        return CLIENT_OK;
    }
    buf_str(&k_p->mem, key);
    if (!buf_ok(&k_p->mem)) {
        space_key_free(k_p);
        return no_memory(err);
    }
    k_p->bytes = buf_slice(&k_p->mem);
    return CLIENT_OK;
}

void space_key_free(struct space_key *k)
{
    buf_free(&k->mem);
}

/* ---- creating and destroying ----------------------------------------------------------------- */

static int ask_for_space(struct pmi1_client *c, struct buf *name, struct errmsg *err)
{
    const struct pmi1_newkvs *r = &c->reply.newkvs;
    int rc = pmi1_rpc_begin(c, err);

    if (rc != CLIENT_OK)
        return rc;
    rc = pmi1_rpc_call(c, PMI1_create_kvs, &(struct pmi1_create_kvs){ 0 }, PMI1_newkvs, err);
    if (rc == CLIENT_OK && (r->rc != 0 || r->kvsname.len == 0))
        rc = errmsg_set(err, CLIENT_FAILED,
                        "the process manager cannot create more key-value spaces");
    if (rc == CLIENT_OK)
        buf_slice_put(name, r->kvsname);
    pmi1_rpc_end(c);
    return rc;
}

static int name_space(struct pmi1_client *c, struct buf *name, struct errmsg *err)
{
    struct slice main_name;
    int rc;

    if (c->kind == CLIENT_OURS)
        return ask_for_space(c, name, err);
    rc = client_kvsname(c, &main_name, err);
    if (rc == CLIENT_OK)
        buf_printf(name, SLICE_FMT ":%u.%u", SLICE_ARG(main_name), c->rank, c->next_space++);
    return rc;
}

int space_create(struct pmi1_client *c, char *name, size_t room, struct errmsg *err)
{
    struct buf text = BUF_NULL(c->name_max);
    struct slice made;
    int rc = name_space(c, &text, err);

    made = buf_slice(&text);
    if (rc == CLIENT_OK && text.error == BUF_NO_MEMORY)
        rc = no_memory(err);
    else if (rc == CLIENT_OK && (!buf_ok(&text) || made.len >= c->name_max))
        rc = errmsg_set(err, CLIENT_FAILED, "the name of the new space would be too long");
    if (rc == CLIENT_OK && made.len >= room)
        rc = errmsg_set(err, CLIENT_SHORT_ROOM, "the name of the new space needs %zu bytes",
                        made.len + 1);
    if (rc == CLIENT_OK && note_space(c, made, false) < 0)
        rc = no_memory(err);
    if (rc == CLIENT_OK) {
        memcpy(name, made.ptr, made.len);
        name[made.len] = '\0';
    }
    buf_free(&text);
    return rc;
}

static int send_destroy(struct pmi1_client *c, const struct kvs_space *s, struct errmsg *err)
{
    struct pmi1_destroy_kvs m = { .has = 0 };
    int rc = pmi1_rpc_begin(c, err);

    if (rc != CLIENT_OK)
        return rc;
    PMI1_SET(m, destroy_kvs, kvsname, s->name);
    rc =
        pmi1_rpc_put_puts(c, err); /* including puts into it: they were valid when they were made */
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_call(c, PMI1_destroy_kvs, &m, PMI1_kvs_destroyed, err);
    if (rc == CLIENT_OK && c->reply.kvs_destroyed.rc != 0)
        rc = errmsg_set(err, CLIENT_BAD_SPACE, "there is no key-value space '%.80s'", s->name.ptr);
    pmi1_rpc_end(c);
    return rc;
}

int space_destroy(struct pmi1_client *c, const char *name, struct errmsg *err)
{
    struct kvs_space s;
    int rc = space_find(c, name, &s, err);

    if (rc != CLIENT_OK)
        return rc;
    if (s.kind == SPACE_MAIN || s.kind == SPACE_FOREIGN)
        return errmsg_set(err, CLIENT_BAD_SPACE,
                          "'%.80s' was not made by PMI_KVS_Create and cannot be destroyed", name);
    if (c->kind == CLIENT_OURS)
        rc = send_destroy(c, &s, err);
    if (rc == CLIENT_OK && note_space(c, s.name, true) < 0)
        rc = no_memory(err);
    return rc;
}

/* ---- iterating ------------------------------------------------------------------------------- */

/* The client's part of a stored key, when it belongs to the KVS and a program has put it. */
static bool key_in_space(const struct kvs_space *s, const struct seg_item *item,
                         struct slice *key_p)
{
    size_t nul = slice_find(item->key, '\0');

    if (s->kind == SPACE_MAIN) {
        *key_p = item->key;
        return nul == item->key.len && item->rank != SEG_ANY_RANK;
    }
    *key_p = slice_skip(item->key, nul + 1);
    return nul < item->key.len && slice_eq(slice_head(item->key, nul), s->name);
}

static void copy_out(struct slice from, char *to)
{
    if (from.len)
        memcpy(to, from.ptr, from.len);
    to[from.len] = '\0';
}

static int walk_on(struct pmi1_client *c, const struct kvs_space *s, const struct space_pair *pair,
                   struct errmsg *err)
{
    uint64_t cursor = c->walk.cursor;
    struct seg_item item;
    struct slice key;

    while (seg_next(c->view, &cursor, &item)) {
        /* Values that PMIx put as numbers, or with a NUL inside, are no strings and not for
         * PMI-1. */
        if (!key_in_space(s, &item, &key) || item.type != 0 ||
            slice_find(item.value, '\0') < item.value.len)
            continue;
        if (key.len >= pair->key_room)
            return errmsg_set(err, CLIENT_LONG_KEY, "the key needs %zu bytes", key.len + 1);
        if (item.value.len >= pair->value_room)
            return errmsg_set(err, CLIENT_LONG_VALUE, "the value needs %zu bytes",
                              item.value.len + 1);
        c->walk.cursor = cursor;
        copy_out(key, pair->key);
        copy_out(item.value, pair->value);
        return CLIENT_OK;
    }
    if (pair->key_room == 0 || pair->value_room == 0)
        return errmsg_set(err, CLIENT_LONG_KEY, "the buffers have length 0");
    copy_out(SLICE_NULL, pair->key);
    copy_out(SLICE_NULL, pair->value);
    return CLIENT_OK;
}

int space_first(struct pmi1_client *c, const char *name, const struct space_pair *pair,
                struct errmsg *err)
{
    struct kvs_space s;
    int rc = space_find(c, name, &s, err);

    if (rc == CLIENT_OK && c->kind == CLIENT_LEGACY)
        rc = errmsg_set(err, CLIENT_FAILED,
                        "this process manager does not support listing its keys");
    else if (rc == CLIENT_OK && !c->view->base)
        rc = errmsg_set(err, CLIENT_FAILED, "the shared store of the job cannot be reached");
    if (rc == CLIENT_OK)
        rc = kvs_settle(c, err);
    if (rc == CLIENT_OK)
        rc = kvs_fetch_all(c, err);
    if (rc != CLIENT_OK)
        return rc;
    free(c->walk.space);
    c->walk = (struct client_walk){ strdup(name), 0 };
    return c->walk.space ? walk_on(c, &s, pair, err) : no_memory(err);
}

int space_next(struct pmi1_client *c, const char *name, const struct space_pair *pair,
               struct errmsg *err)
{
    struct kvs_space s;
    int rc = space_find(c, name, &s, err);

    if (rc != CLIENT_OK)
        return rc;
    if (!c->walk.space)
        return errmsg_set(err, CLIENT_FAILED,
                          "PMI_KVS_Iter_next was called before PMI_KVS_Iter_first");
    if (!slice_is(s.name, c->walk.space))
        return errmsg_set(err, CLIENT_BAD_SPACE, "the current iteration is over '%.80s'",
                          c->walk.space);
    return walk_on(c, &s, pair, err);
}
