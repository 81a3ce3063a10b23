/* host_info.c - see host_info.h. */
#include "core/host_info.h"

#include <errno.h>
#include <string.h>

enum { HOST_INFO_MAX = 1 << 30 };

struct fact_subject {
    uint32_t name[2]; /* about, index: the map's key */
    struct fact *first, *last;
};

void host_info_init(struct host_info *f, uint64_t seed)
{
    arena_init(&f->arena, HOST_INFO_MAX);
    map_init(&f->subjects, seed);
    f->count = 0;
}

void host_info_free(struct host_info *f)
{
    map_free(&f->subjects);
    arena_free(&f->arena);
    f->count = 0;
}

static struct fact_subject *find(const struct host_info *f, enum fact_about about, uint32_t index)
{
    uint32_t name[2] = { about, index };

    return f->count ? map_get(&f->subjects, slice_mem(name, sizeof name)) : NULL;
}

static struct fact_subject *make(struct host_info *f, enum fact_about about, uint32_t index)
{
    struct fact_subject *s = find(f, about, index);

    if (s)
        return s;
    s = arena_array(&f->arena, 1, sizeof *s);
    if (!s)
        return NULL;
    *s = (struct fact_subject){ .name = { about, index } };
    return map_put(&f->subjects, slice_mem(s->name, sizeof s->name), s, NULL) < 0 ? NULL : s;
}

static struct fact *named(const struct fact_subject *s, struct slice key)
{
    for (struct fact *k = s ? s->first : NULL; k; k = k->next) {
        if (slice_eq(k->key, key))
            return k;
    }
    return NULL;
}

int host_info_add(struct host_info *f, enum fact_about about, uint32_t index, struct slice key,
                  uint16_t type, struct slice value)
{
    struct fact_subject *s = make(f, about, index);
    struct fact *k = named(s, key);
    struct slice kept = arena_copy(&f->arena, value);

    if (!s || !arena_ok(&f->arena))
        return -ENOMEM;
    if (!k) {
        k = arena_array(&f->arena, 1, sizeof *k);
        if (!k)
            return -ENOMEM;
        *k = (struct fact){ .key = arena_copy(&f->arena, key) };
        if (s->last)
            s->last->next = k;
        else
            s->first = k;
        s->last = k;
        f->count++;
    }
    k->type = type;
    k->value = kept;
    k->is_default = false;
    return arena_ok(&f->arena) ? 0 : -ENOMEM;
}

int host_info_add_default(struct host_info *f, enum fact_about about, uint32_t index,
                          struct slice key, uint16_t type, struct slice value)
{
    int rc;

    if (named(find(f, about, index), key))
        return 0;
    rc = host_info_add(f, about, index, key, type, value);
    if (rc == 0)
        named(find(f, about, index), key)->is_default = true;
    return rc;
}

bool host_info_drop_default(struct host_info *f, enum fact_about about, uint32_t index,
                            struct slice key)
{
    struct fact_subject *s = find(f, about, index);
    struct fact *before = NULL, *k = s ? s->first : NULL;

    for (; k && !slice_eq(k->key, key); k = k->next)
        before = k;
    if (!k || !k->is_default)
        return false;
    if (before)
        before->next = k->next;
    else
        s->first = k->next;
    if (s->last == k)
        s->last = before;
    f->count--;
    return true;
}

const struct fact *host_info_about(const struct host_info *f, enum fact_about about, uint32_t index)
{
    const struct fact_subject *s = find(f, about, index);

    return s ? s->first : NULL;
}

const struct fact *host_info_find(const struct host_info *f, enum fact_about about, uint32_t index,
                                  struct slice key)
{
    return named(find(f, about, index), key);
}
