/* job_node.c - attributes of nodes: values in the job's store, under names that no client can send,
 * so that Wireup's own clients can look them up there; early gets wait (nodeattr.h). */
#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "core/job.h"

enum { NODE_PART = 16 }; /* "@4294967295" and its NUL */

/* The name in the store: `@node`, a NUL, the key. */
struct node_key {
    char text[NODE_PART + LIMIT_PMI_KEY];
    struct slice name;
};

static enum answer_status make_key(const struct job *j, uint32_t rank, struct slice key,
                                   struct node_key *k)
{
    int n = snprintf(k->text, NODE_PART, "@%u", j->plan.procs[rank].node) + 1;

    if (key.len == 0 || key.len >= LIMIT_PMI_KEY || slice_find(key, '\0') < key.len)
        return ANSWER_BAD_KEY;
    memcpy(k->text + n, key.ptr, key.len);
    k->name = slice_mem(k->text, (size_t)n + key.len);
    return ANSWER_OK;
}

static void wake(struct job *j, struct slice name, struct slice value)
{
    struct nodeattr *n = nodeattrs_take(&j->waiting, name);

    for (uint32_t i = 0; n && i < n->n; i++) {
        struct effect e = {
            .kind = EFFECT_ANSWER, .status = ANSWER_OK, .job = j->id, .ticket = n->tickets[i]
        };
        if (!effect_carry(&e, SLICE_NULL, value))
            e.status = ANSWER_NO_MEMORY;
        effects_push(j->effects, e);
    }
    nodeattr_free(n);
}

enum answer_status job_node_put(struct job *j, uint32_t rank, struct slice key, struct slice value)
{
    struct proc *p = &j->procs[rank];
    struct node_key k;
    enum answer_status st = make_key(j, rank, key, &k);
    int rc;

    if (st != ANSWER_OK)
        return st;
    if (!proc_can_keep(p, k.name.len + value.len))
        return ANSWER_OVER_QUOTA;
    rc = seg_put(&j->store, SEG_ANY_RANK, k.name, value, SEG_FLAT | SEG_REPLACE);
    if (rc)
        return rc == SEG_TOO_LONG ? ANSWER_BAD_VALUE : ANSWER_NO_MEMORY;
    proc_keeps(p, k.name.len + value.len);
    wake(j, k.name, value);
    return ANSWER_OK;
}

enum answer_status job_node_get(struct job *j, uint32_t rank, struct slice key, bool wait,
                                uint64_t ticket, uint64_t now_ns, struct slice *value_p)
{
    struct node_key k;
    enum answer_status st = make_key(j, rank, key, &k);

    if (st != ANSWER_OK)
        return st;
    if (seg_get(&j->store.view, SEG_ANY_RANK, k.name, value_p))
        return ANSWER_OK;
    if (!wait)
        return ANSWER_NOT_FOUND;
    return nodeattrs_wait(&j->waiting, k.name, ticket, now_ns) < 0 ? ANSWER_NO_MEMORY
                                                                   : ANSWER_LATER;
}
