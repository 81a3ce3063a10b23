/* group_store.c - see group_store.h. */
#include "core/group_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"

void group_store_init(struct group_store *s)
{
    list_init(&s->all);
    s->bytes = 0;
}

static void forget(struct group_store *s, struct group_kept *k)
{
    s->bytes -= k->records.len;
    list_unlink(&k->link);
    free(k);
}

void group_store_free(struct group_store *s)
{
    LIST_EACH(l, &s->all)
    forget(s, LIST_OF(l, struct group_kept, link));
}

static void make_room(struct group_store *s, size_t bytes)
{
    while (s->bytes + bytes > LIMIT_GROUP_RECORDS)
        forget(s, LIST_OF(list_first(&s->all), struct group_kept, link));
}

int group_store_keep(struct group_store *s, uint64_t number, uint32_t job, struct slice name,
                     struct slice records)
{
    struct group_kept *k;

    if (records.len == 0)
        return 0;
    if (records.len > LIMIT_GROUP_RECORDS)
        return -ENOMEM;
    k = calloc(1, sizeof *k + name.len + records.len);
    if (!k)
        return -ENOMEM;
    make_room(s, records.len);
    k->number = number;
    k->job = job;
    if (name.len)
        memcpy(k->text, name.ptr, name.len);
    memcpy(k->text + name.len, records.ptr, records.len);
    k->name = slice_mem(k->text, name.len);
    k->records = slice_mem(k->text + name.len, records.len);
    list_append(&s->all, &k->link);
    s->bytes += records.len;
    return 0;
}

void group_store_job_ended(struct group_store *s, uint32_t job)
{
    LIST_EACH(l, &s->all)
    {
        struct group_kept *k = LIST_OF(l, struct group_kept, link);
        if (k->job == job)
            forget(s, k);
    }
}

struct slice group_store_find(const struct group_store *s, uint64_t number)
{
    struct slice found = SLICE_NULL;

    LIST_EACH(l, &s->all)
    {
        const struct group_kept *k = LIST_OF(l, struct group_kept, link);
        if (k->number == number)
            found = k->records;
    }
    return found;
}

struct slice group_store_named(const struct group_store *s, struct slice name)
{
    struct slice found = SLICE_NULL;

    LIST_EACH(l, &s->all)
    {
        const struct group_kept *k = LIST_OF(l, struct group_kept, link);
        if (slice_eq(k->name, name))
            found = k->records;
    }
    return found;
}
