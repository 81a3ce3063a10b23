/* dvm_spares.c - see dvm_spares.h. */
#include "launch/dvm_spares.h"

#include <errno.h>
#include <stdlib.h>

/* Empty: there is none any more. */
static void start_next(struct dvm_spares *s)
{
    struct slice next = slice_trim(slice_cut(&s->rest, ','));

    if (next.len)
        dvm_growth_begin(&s->growths, s, next, SLICE_NULL);
}

static void answered(void *arg, void *request, struct slice joined, const char *why)
{
    struct dvm_spares *s = arg;

    (void)request;
    (void)why;
    if (joined.len == 0)
        start_next(s);
}

static void keep(void *request)
{
    (void)request; /* is ours */
}

static bool is_lost(const struct dvm_spares *s, uint32_t position)
{
    return s->cluster->names[position] && router_is_lost(&s->cluster->router, position) &&
           dvm_members_use(s->members, position) != DVM_NODE_LEFT;
}

void dvm_spares_changed(struct dvm_spares *s)
{
    if (!s->members)
        return;
    for (uint32_t p = 1; p < s->cluster->router.config.count; p++) {
        if (s->replaced[p] || !is_lost(s, p))
            continue;
        s->replaced[p] = true;
        start_next(s);
    }
}

int dvm_spares_open(struct dvm_spares *s, const char *list, const struct dvm_members *members,
                    const struct cluster_io *cluster)
{
    const struct dvm_growth_calls calls = { answered, keep, s };

    if (!list)
        return 0;
    s->replaced = calloc(cluster->router.config.count, sizeof *s->replaced);
    if (!s->replaced)
        return -ENOMEM;
    s->members = members;
    s->cluster = cluster;
    s->rest = slice_str(list);
    dvm_growths_open(&s->growths, cluster->context, &calls);
    return 0;
}

void dvm_spares_close(struct dvm_spares *s)
{
    dvm_growths_close(&s->growths);
    free(s->replaced);
    *s = (struct dvm_spares){ .members = NULL };
}
