/* overlay_codec.c - see overlay_codec.h. */
#include "cluster/overlay_codec.h"

#include "cluster/msg.h"

#include <stdlib.h>
#include <string.h>

/* ---- out ------------------------------------------------------------------------------------- */

static bool put_set(const struct rank_set *s, struct arena *a, struct part_uints *list)
{
    uint32_t *items = arena_array(a, 2 * (size_t)s->nruns + 1, sizeof *items);

    if (!items)
        return false;
    for (uint32_t i = 0; i < s->nruns; i++) {
        items[2 * i] = s->runs[i].first;
        items[2 * i + 1] = s->runs[i].count;
    }
    *list = (struct part_uints){ items, 2 * s->nruns };
    return true;
}

struct blocks {
    uint32_t *positions, *same_as;
    struct slice *texts;
    uint32_t n, ntexts;
    struct map seen; /* by content: its number + 1 */
};

static bool put_block(struct blocks *k, const struct block_set *b)
{
    uintptr_t known = (uintptr_t)map_get(&k->seen, block_set_block(b));

    k->positions[k->n] = block_set_position(b);
    if (!known) {
        k->texts[k->ntexts++] = block_set_block(b);
        known = k->ntexts;
        if (map_put(&k->seen, block_set_block(b), (void *)known, NULL) < 0)
            return false;
    }
    k->same_as[k->n++] = (uint32_t)known - 1;
    return true;
}

static bool put_blocks(struct blocks *k, const struct block_set *all)
{
    const struct block_set *b;
    struct block_set_walk w;
    bool good = true;

    block_set_walk_begin(&w, all);
    while (good && (b = block_set_walk_next(&w)))
        good = put_block(k, b);
    good = good && !w.no_memory;
    block_set_walk_end(&w);
    return good;
}

static bool put_data(const struct overlay_msg *from, struct arena *a, struct op_overlay *m)
{
    size_t n = block_set_count(from->data);
    struct blocks k = { .positions = arena_array(a, n + 1, sizeof *k.positions),
                        .same_as = arena_array(a, n + 1, sizeof *k.same_as),
                        .texts = arena_array(a, n + 1, sizeof *k.texts) };
    bool good;

    if (!arena_ok(a))
        return false;
    map_init(&k.seen, from->generation);
    good = put_blocks(&k, from->data);
    map_free(&k.seen);
    m->positions = (struct part_uints){ k.positions, k.n };
    m->same_as = (struct part_uints){ k.same_as, k.ntexts < k.n ? k.n : 0 };
    m->blocks = (struct part_texts){ k.texts, k.ntexts };
    return good;
}

bool overlay_codec_out(const struct overlay_msg *from, struct arena *a, struct msg *m_p)
{
    struct op_overlay *m = &m_p->u.overlay;

    *m_p = (struct msg){ .kind = MSG_overlay, .from = from->from, .to = from->to };
    m->what_kind = (uint8_t)from->kind;
    m->what = slice_str(from->what);
    m->generation = from->generation;
    m->flags = from->flags;
    m->failed = from->failed;
    m->culprit = from->culprit;
    m->bytes = from->bytes;
    m->step = from->step;
    m->piece = from->piece;
    m->pieces = from->pieces;
    return put_set(&from->all, a, &m->all) && put_set(&from->arrived, a, &m->arrived) &&
           put_data(from, a, m);
}

/* ---- in -------------------------------------------------------------------------------------- */

static bool get_set(const struct part_uints *list, uint32_t count, struct rank_set *s)
{
    if (list->n % 2)
        return false;
    for (uint32_t i = 0; i < list->n; i += 2) {
        uint32_t first = list->items[i], n = list->items[i + 1];
        if (n > count || first > count - n || rank_set_add(s, first, n) < 0)
            return false;
    }
    return true;
}

/* seen: by content, the first block with it. */
static struct block_set *get_block(const struct op_overlay *m, uint32_t i, uint32_t count,
                                   struct block_set **seen)
{
    uint32_t which = m->same_as.n ? m->same_as.items[i] : i, position = m->positions.items[i];

    if (position >= count || which >= m->blocks.n)
        return NULL;
    if (seen[which])
        return block_set_same(position, seen[which]);
    return seen[which] = block_set_one(position, m->blocks.items[which]);
}

static bool get_data(const struct op_overlay *m, uint32_t count, struct block_set **data_p)
{
    struct block_set **seen = calloc(m->blocks.n + (size_t)1, sizeof *seen);
    struct block_set *all = NULL, *b;
    bool good = seen != NULL;

    for (uint32_t i = 0; good && i < m->positions.n; i++) {
        b = get_block(m, i, count, seen);
        if (!b)
            block_set_drop(all);
        good = b && block_set_join(&all, all, b);
    }
    free(seen);
    *data_p = good ? all : NULL;
    return good;
}

static void get_numbers(const struct op_overlay *m, struct overlay_msg *to)
{
    to->generation = m->generation;
    to->flags = m->flags;
    to->failed = m->failed;
    to->culprit = m->culprit;
    to->bytes = m->bytes;
    to->step = m->step;
    to->piece = m->piece;
    to->pieces = m->pieces;
}

struct overlay_msg *overlay_codec_in(const struct msg *m, uint32_t count)
{
    const struct op_overlay *o = &m->u.overlay;
    struct overlay_msg *to;

    if (o->what_kind > OVERLAY_MSG_HELLO || slice_find(o->what, '\0') < o->what.len ||
        o->flags > OVERLAY_FLAGS || m->from >= count ||
        (o->same_as.n && o->same_as.n != o->positions.n))
        return NULL;
    to = overlay_msg_new((enum overlay_kind)o->what_kind);
    if (!to)
        return NULL;
    to->from = m->from;
    to->to = m->to;
    get_numbers(o, to);
    to->what = o->what.len ? strndup(o->what.ptr, o->what.len) : NULL;
    if ((o->what.len && !to->what) || !get_set(&o->all, count, &to->all) ||
        !get_set(&o->arrived, count, &to->arrived) || !get_data(o, count, &to->data))
        return overlay_msg_free(to);
    return to;
}
