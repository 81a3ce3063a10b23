/* bootstrap_overlay.c - see bootstrap_overlay.h. */
#include "daemon/bootstrap_overlay.h"

#include <errno.h>
#include <string.h>

enum { SET_TEXT = 1 << 20 };

static int put_set(struct arena *a, struct bootstrap *b, const char *name,
                   const struct rank_set *set)
{
    struct buf text = BUF_NULL(SET_TEXT);
    const char *kept;

    for (uint32_t i = 0; i < set->nruns; i++)
        buf_printf(&text, "%s%u-%u", i ? "," : "", set->runs[i].first,
                   set->runs[i].first + set->runs[i].count - 1);
    kept = buf_ok(&text) ? arena_str(a, buf_slice(&text)) : NULL;
    buf_free(&text);
    return kept ? bootstrap_put_option(a, b, name, kept) : -ENOMEM;
}

int bootstrap_overlay_put(struct arena *a, struct bootstrap *b, const struct overlay *o)
{
    const char *number;
    int rc;

    if (o->members.count == o->config.count)
        return 0;
    number = arena_printf(a, "%llu", (unsigned long long)o->last_broadcast);
    rc = number ? bootstrap_put_option(a, b, "broadcasts", number) : -ENOMEM;
    if (rc == 0)
        rc = put_set(a, b, "members", &o->members);
    return rc < 0 || o->losses.count == 0 ? rc : put_set(a, b, "lost", &o->losses);
}

bool bootstrap_overlay_is(const char *option)
{
    return !strcmp(option, "broadcasts") || !strcmp(option, "members") || !strcmp(option, "lost");
}

/* False: it is damaged. */
static bool read_run(struct slice run, uint32_t count, struct rank_set *set, int *rc_p)
{
    uint32_t first, last;

    if (!slice_u32(slice_cut(&run, '-'), &first) || !slice_u32(run, &last) || first > last ||
        last >= count)
        return false;
    *rc_p = rank_set_add(set, first, last - first + 1);
    return true;
}

static int get_set(const struct bootstrap *b, const char *name, struct rank_set *set,
                   struct errmsg *err)
{
    const char *text = bootstrap_option(b, name);
    struct slice rest = slice_str(text ? text : "");
    int rc = 0;

    while (rest.len && rc == 0) {
        if (!read_run(slice_cut(&rest, ','), b->count, set, &rc))
            return errmsg_set(err, BOOTSTRAP_BAD,
                              "the record from the launcher is damaged (the %s)", name);
    }
    return rc;
}

int bootstrap_overlay_get(const struct bootstrap *b, struct bootstrap_overlay *k,
                          struct errmsg *err)
{
    const char *number = bootstrap_option(b, "broadcasts");
    int rc;

    *k = (struct bootstrap_overlay){ .given = number != NULL };
    if (!number)
        return 0;
    if (!slice_u64(slice_str(number), &k->last_broadcast))
        return errmsg_set(err, BOOTSTRAP_BAD,
                          "the record from the launcher is damaged (the broadcasts)");
    rc = get_set(b, "members", &k->members, err);
    return rc ? rc : get_set(b, "lost", &k->lost, err);
}

void bootstrap_overlay_free(struct bootstrap_overlay *k)
{
    rank_set_free(&k->members);
    rank_set_free(&k->lost);
}
