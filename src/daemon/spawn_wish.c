/* spawn_wish.c - see spawn_wish.h. */
#include "daemon/spawn_wish.h"

#include "base/duration.h"

static struct slice word_of(const struct spawn_request *rq, const char *key)
{
    return spawn_info_of_all(rq->commands, rq->ncommands, key);
}

/* Unlike 0, a word that is not there is fine. */
static bool read_number(const struct spawn_request *rq, const char *key, uint64_t most,
                        uint64_t *to)
{
    struct slice word = word_of(rq, key);

    *to = 0;
    return !word.len || (slice_u64(word, to) && *to && *to <= most);
}

static int check_others(const struct spawn_request *rq, struct errmsg *err)
{
    if (word_of(rq, SPAWN_ALLOC).len || word_of(rq, SPAWN_ALLOC_SESSION).len)
        return errmsg_set(err, SPAWN_BAD_REQUEST,
                          "a job cannot be in an allocation that there is, and reserve nodes: "
                          "extend the allocation first");
    if (word_of(rq, SPAWN_COLOCATE).len)
        return errmsg_set(err, SPAWN_BAD_REQUEST,
                          "a job on the nodes of other processes reserves none");
    return 0;
}

int spawn_wish_read(const struct spawn_request *rq, struct reservation_wish *w, bool *wanted_p,
                    struct errmsg *err)
{
    uint64_t seconds;

    *w = (struct reservation_wish){ .req_id = word_of(rq, SPAWN_ALLOC_REQ),
                                    .nodes = word_of(rq, SPAWN_ALLOC_LIST),
                                    .exclude = word_of(rq, SPAWN_ALLOC_EXCLUDE) };
    *wanted_p = false;
    if (!read_number(rq, SPAWN_ALLOC_NODES, UINT64_MAX, &w->num_nodes) ||
        !read_number(rq, SPAWN_ALLOC_CPUS, UINT64_MAX, &w->num_cpus) ||
        !read_number(rq, SPAWN_ALLOC_TIME, UINT32_MAX - 1, &seconds))
        return errmsg_set(err, SPAWN_BAD_REQUEST,
                          "the nodes, slots and seconds to reserve are numbers from 1 on");
    w->duration_ns = seconds * NS_PER_S;
    *wanted_p = w->num_nodes || w->num_cpus || w->nodes.len || w->exclude.len || seconds;
    if (*wanted_p && !w->num_nodes && !w->num_cpus && !w->nodes.len)
        w->num_cpus = spawn_nprocs(rq);
    return *wanted_p ? check_others(rq, err) : 0;
}
