/* batch.c - see batch.h. */
#include "lib/common/batch.h"

#include <errno.h>

#include "base/limit.h"

struct batch_put {
    struct slice key, value;
    struct batch_put *next;
};

enum { RECORD_HEAD = 6 };

void batch_init(struct batch *b)
{
    *b = (struct batch){ .count = 0 };
    /* Keys, values and their book-keeping; the quota counts only the first two. */
    arena_init(&b->arena, (size_t)LIMIT_CLIENT_STORE * 4);
    map_init(&b->keys, (uint64_t)(uintptr_t)b);
}

void batch_free(struct batch *b)
{
    map_free(&b->keys);
    arena_free(&b->arena);
    batch_init(b);
}

static struct batch_put *new_put(struct batch *b, struct slice key, struct slice value)
{
    struct batch_put *put = arena_alloc(&b->arena, sizeof *put);

    if (put) {
        put->key = arena_copy(&b->arena, key);
        put->value = arena_copy(&b->arena, value);
    }
    if (arena_ok(&b->arena) && map_put(&b->keys, put->key, put, NULL) == 0)
        return put;
    b->arena.failed = false; /* this put's memory is lost to the arena; later ones may fit */
    return NULL;
}

static uint64_t record_size(struct slice key, struct slice value)
{
    return RECORD_HEAD + (uint64_t)key.len + value.len;
}

static bool too_long(const struct batch *b, struct slice key, struct slice value)
{
    return key.len > UINT16_MAX || value.len > LIMIT_STORE_VALUE ||
           b->bytes + record_size(key, value) > LIMIT_CLIENT_STORE;
}

int batch_add(struct batch *b, struct slice key, struct slice value)
{
    struct batch_put *put;

    if (too_long(b, key, value))
        return BATCH_TOO_LONG;
    if (map_get(&b->keys, key))
        return BATCH_DUPLICATE;
    put = new_put(b, key, value);
    if (!put)
        return -ENOMEM;
    *(b->tail ? b->tail : &b->unsent) = put;
    b->tail = &put->next;
    b->count++;
    b->bytes += (uint32_t)record_size(key, value);
    return 0;
}

int batch_note(struct batch *b, struct slice key, struct slice value)
{
    if (too_long(b, key, value))
        return BATCH_TOO_LONG;
    return new_put(b, key, value) ? 0 : -ENOMEM;
}

bool batch_get(const struct batch *b, struct slice key, struct slice *value_p)
{
    const struct batch_put *put = map_get(&b->keys, key);

    if (put)
        *value_p = put->value;
    return put != NULL;
}

static void put_little_endian(struct buf *out, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_byte(out, (char)(v >> (8 * i) & 0xff));
}

void batch_encode(const struct batch *b, struct buf *out)
{
    for (const struct batch_put *put = b->unsent; put; put = put->next) {
        put_little_endian(out, (uint32_t)put->key.len, 2);
        put_little_endian(out, (uint32_t)put->value.len, 4);
        buf_slice_put(out, put->key);
        buf_slice_put(out, put->value);
    }
}

void batch_sent(struct batch *b)
{
    b->unsent = NULL;
    b->tail = NULL;
    b->count = 0;
    b->bytes = 0;
}

void batch_acknowledged(struct batch *b)
{
    if (!b->unsent)
        batch_free(b);
}
