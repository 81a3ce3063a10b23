/* slots.c - see slots.h. */
#include "topo/slots.h"

#include "topo/cpus.h"

static bool read_number(struct slice text, uint32_t *n_p)
{
    return slice_u32(text, n_p) && *n_p < CPUS_MAX;
}

static bool read_cores(struct slice text, struct slots_place *p)
{
    struct slice high = text, low = slice_cut(&high, '-');

    if (slice_is(text, "*")) {
        p->from = p->to = SLOTS_ALL;
        return true;
    }
    return read_number(low, &p->from) && read_number(low.len == text.len ? low : high, &p->to) &&
           p->from <= p->to;
}

static bool read_place(struct slice text, struct slots_place *p)
{
    struct slice cores = text, package = slice_cut(&cores, ':');

    if (package.len == text.len) /* no ':' */
        return read_cores(text, p);
    p->in_package = true;
    p->package = SLOTS_ALL;
    return (slice_is(package, "*") || read_number(package, &p->package)) && read_cores(cores, p);
}

static size_t place_end(struct slice list)
{
    size_t comma = slice_find(list, ','), semicolon = slice_find(list, ';');

    return comma < semicolon ? comma : semicolon;
}

bool slots_next(struct slice *rest, struct slots_place *place)
{
    size_t end = place_end(*rest);

    if (rest->len == 0 || !read_place(slice_head(*rest, end), place))
        return false;
    /* A separator at the very end requires another place. */
    if (end + 1 == rest->len)
        return false;
    *rest = slice_skip(*rest, end + 1);
    return true;
}

int slots_check(struct slice list, struct errmsg *err)
{
    struct slots_place place = { 0 };
    struct slice rest = list;

    while (slots_next(&rest, &place))
        ;
    if (list.len && rest.len == 0)
        return 0;
    return errmsg_set(err, 1,
                      "'" SLICE_FMT "' is not a place for a rank; examples: 1:0-2 (cores 0 to 2 of "
                      "package 1), 3 (a core of the node), * (all cores)",
                      SLICE_ARG(slice_head(list, 100)));
}
