/* bundles.c - see bundles.h. */
#include "cluster/bundles.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "cluster/msg.h"

struct bundled {
    struct list link;
    size_t len;
    char bytes[];
};

struct bundle {
    struct list link; /* in bundles.in_order */
    uint32_t to, n;
    struct list messages; /* struct bundled */
    size_t bytes;         /* of them */
};

/* NULL: no memory. */
static struct bundle *bundle_to(struct bundles *b, uint32_t to)
{
    struct bundle *k = number_map_get(&b->by_position, to);

    if (k)
        return k;
    k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->to = to;
    list_init(&k->messages);
    if (number_map_put(&b->by_position, to, k) < 0) {
        free(k);
        return NULL;
    }
    list_append(&b->in_order, &k->link);
    return k;
}

/* ---- sending --------------------------------------------------------------------------------- */

/* The only one goes as it is: it was written here. */
static void send_alone(const struct bundles *b, uint32_t to, struct slice bytes)
{
    struct arena a = ARENA_NULL(LIMIT_BUNDLE);
    struct errmsg err;
    struct msg m;

    if (msg_read(bytes, &a, &m, &err) == 0)
        b->send(b->arg, &m, to);
    arena_free(&a);
}

static void drop(struct bundle *k)
{
    LIST_EACH(l, &k->messages)
    {
        list_unlink(l);
        free(LIST_OF(l, struct bundled, link));
    }
    k->n = 0;
    k->bytes = 0;
}

static void send(const struct bundles *b, struct bundle *k)
{
    struct slice all[LIMIT_BUNDLE_MESSAGES];
    struct msg m = MSG_WITH(bundle, .messages = { all, k->n });
    uint32_t n = 0;

    LIST_EACH(l, &k->messages)
    {
        const struct bundled *one = LIST_OF(l, struct bundled, link);
        all[n++] = slice_mem(one->bytes, one->len);
    }
    if (n == 1)
        send_alone(b, k->to, all[0]);
    else if (n)
        b->send(b->arg, &m, k->to);
    drop(k);
}

/* False: no memory. */
static bool append(struct bundle *k, struct slice bytes)
{
    struct bundled *one = malloc(sizeof *one + bytes.len);

    if (!one)
        return false;
    one->len = bytes.len;
    if (bytes.len)
        memcpy(one->bytes, bytes.ptr, bytes.len);
    list_init(&one->link);
    list_append(&k->messages, &one->link);
    k->n++;
    k->bytes += bytes.len;
    return true;
}

static bool fits(const struct bundles *b, const struct bundle *k)
{
    return k->n < LIMIT_BUNDLE_MESSAGES && k->bytes + buf_len(&b->scratch) <= LIMIT_BUNDLE;
}

void bundles_add(struct bundles *b, struct msg *m, uint32_t to)
{
    struct bundle *k = bundle_to(b, to);

    m->to = to;
    m->number = m->acked = 0;
    buf_clear(&b->scratch);
    msg_write(m, &b->scratch);
    if (k && !fits(b, k))
        send(b, k);
    if (k && buf_ok(&b->scratch) && append(k, buf_slice(&b->scratch)))
        return;
    if (k)
        send(b, k);
    b->send(b->arg, m, to);
}

void bundles_flush(struct bundles *b)
{
    if (list_empty(&b->in_order))
        return;
    LIST_EACH(l, &b->in_order)
    {
        struct bundle *k = LIST_OF(l, struct bundle, link);
        send(b, k);
        list_unlink(&k->link);
        number_map_del(&b->by_position, k->to);
        free(k);
    }
}

/* ---- receiving ------------------------------------------------------------------------------- */

bool bundles_read(const struct msg *m, bundles_receive *receive, void *arg)
{
    const struct part_texts *all = &m->u.bundle.messages;
    bool good = true;

    for (uint32_t i = 0; good && i < all->n; i++) {
        struct arena a = ARENA_NULL(LIMIT_BUNDLE);
        struct errmsg err;
        struct msg one;

        good = msg_read(all->items[i], &a, &one, &err) == 0 &&
               (one.kind == MSG_store_query || one.kind == MSG_answer);
        one.from = m->from;
        if (good)
            receive(arg, &one);
        arena_free(&a);
    }
    return good;
}

/* ---- the module ------------------------------------------------------------------------------ */

void bundles_open(struct bundles *b, bundles_send *send_one, void *arg)
{
    *b = (struct bundles){ .send = send_one, .arg = arg };
    list_init(&b->in_order);
    buf_init(&b->scratch, LIMIT_BUNDLE);
}

void bundles_close(struct bundles *b)
{
    if (!b->send)
        return;
    LIST_EACH(l, &b->in_order)
    {
        struct bundle *k = LIST_OF(l, struct bundle, link);
        drop(k);
        free(k);
    }
    number_map_free(&b->by_position);
    buf_free(&b->scratch);
    b->send = NULL;
}
