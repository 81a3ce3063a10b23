/* group_store.c - see group_store.h. */
#include "core/group_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/limit.h"

struct group_kept {
    struct list link;
    uint64_t number; /* of the collective */
    uint32_t *jobs;  /* it goes with the last of them */
    uint32_t njobs, room;
    struct slice name, records;
    char text[];
};

void group_store_init(struct group_store *s)
{
    list_init(&s->all);
    s->bytes = 0;
}

static void forget(struct group_store *s, struct group_kept *k)
{
    s->bytes -= k->records.len;
    list_unlink(&k->link);
    free(k->jobs);
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

/* The latest; NULL: there is none. */
static struct group_kept *find(const struct group_store *s, uint64_t number)
{
    struct group_kept *found = NULL;

    LIST_EACH(l, &s->all)
    {
        struct group_kept *k = LIST_OF(l, struct group_kept, link);
        if (k->number == number)
            found = k;
    }
    return found;
}

static int keep_for(struct group_kept *k, uint32_t job)
{
    uint32_t *jobs;

    for (uint32_t i = 0; i < k->njobs; i++) {
        if (k->jobs[i] == job)
            return 0;
    }
    jobs = grow_by_one(k->jobs, sizeof *jobs, k->njobs, &k->room, 1);
    if (!jobs)
        return -ENOMEM;
    k->jobs = jobs;
    jobs[k->njobs++] = job;
    return 0;
}

/* For no job yet; NULL: no memory. */
static struct group_kept *group_kept_new(uint64_t number, struct slice name, struct slice records)
{
    struct group_kept *k = calloc(1, sizeof *k + name.len + records.len);

    if (!k)
        return NULL;
    list_init(&k->link);
    k->number = number;
    if (name.len)
        memcpy(k->text, name.ptr, name.len);
    memcpy(k->text + name.len, records.ptr, records.len);
    k->name = slice_mem(k->text, name.len);
    k->records = slice_mem(k->text + name.len, records.len);
    return k;
}

int group_store_keep(struct group_store *s, uint64_t number, uint32_t job, struct slice name,
                     struct slice records)
{
    struct group_kept *k = find(s, number);

    if (k)
        return keep_for(k, job);
    if (records.len == 0)
        return 0;
    if (records.len > LIMIT_GROUP_RECORDS)
        return -ENOMEM;
    k = group_kept_new(number, name, records);
    if (!k || keep_for(k, job) < 0) {
        free(k);
        return -ENOMEM;
    }
    make_room(s, records.len);
    list_append(&s->all, &k->link);
    s->bytes += records.len;
    return 0;
}

/* False: it was kept for that job alone. */
static bool keep_without(struct group_kept *k, uint32_t job)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->njobs; i++) {
        if (k->jobs[i] != job)
            k->jobs[n++] = k->jobs[i];
    }
    k->njobs = n;
    return n > 0;
}

void group_store_job_ended(struct group_store *s, uint32_t job)
{
    LIST_EACH(l, &s->all)
    {
        struct group_kept *k = LIST_OF(l, struct group_kept, link);
        if (!keep_without(k, job))
            forget(s, k);
    }
}

struct slice group_store_find(const struct group_store *s, uint64_t number)
{
    const struct group_kept *k = find(s, number);

    return k ? k->records : SLICE_NULL;
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
