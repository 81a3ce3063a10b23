/* hostlist.c - see hostlist.h. */
#include "launch/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/map.h"

static int bad(struct errmsg *err, const char *where, struct slice what)
{
    return errmsg_set(err, HOSTS_BAD, "%.200s: '" SLICE_FMT "' is not a list of nodes", where,
                      SLICE_ARG(slice_head(what, 100)));
}

static int too_many(struct errmsg *err, const char *where)
{
    return errmsg_set(err, HOSTS_BAD, "%.200s: more than %u nodes", where, LIMIT_MAP_NODES);
}

static bool name_char(char c)
{
    return (unsigned char)c > ' ' && c != 127 && !strchr(",()[]=\"'\\", c);
}

static bool good_name(struct slice name)
{
    if (name.len == 0 || name.len > LIMIT_MAP_NAME || name.ptr[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!name_char(name.ptr[i]))
            return false;
    }
    return true;
}

/* Unlike hosts_add(): two nodes of one name stay two, so that the counts match them. */
static int add_node(struct arena *a, struct host_list *list, struct slice name, uint32_t slots,
                    const char *where, struct errmsg *err)
{
    struct host h = { .name = NULL, .slots = slots };

    if (!good_name(name))
        return bad(err, where, name);
    if (list->count >= LIMIT_MAP_NODES)
        return too_many(err, where);
    h.name = arena_str(a, name);
    return h.name ? hosts_add(a, list, h) : -ENOMEM;
}

/* ---- names with brackets ---- */

enum { BRACKETS_MAX = 8 };

struct expander {
    struct arena *a;
    struct host_list *list;
    const char *where;
    struct slice whole;
    struct errmsg *err;
    char name[LIMIT_MAP_NAME + 1];
    unsigned depth;
};

static int expand(struct expander *x, size_t have, struct slice rest);

static int append(struct expander *x, size_t *have, struct slice part)
{
    if (part.len > LIMIT_MAP_NAME - *have)
        return bad(x->err, x->where, x->whole);
    if (part.len)
        memcpy(x->name + *have, part.ptr, part.len);
    *have += part.len;
    return 0;
}

/* One "7" or "001-010" between brackets. */
static int expand_range(struct expander *x, size_t have, struct slice range, struct slice rest)
{
    struct slice high = range, low = slice_cut(&high, '-');
    uint64_t from, to;
    int rc = 0;

    if (low.len == range.len)
        high = low;
    if (low.len > 18 || high.len > 18 || !slice_u64(low, &from) || !slice_u64(high, &to) ||
        from > to)
        return bad(x->err, x->where, x->whole);
    if (to - from >= LIMIT_MAP_NODES)
        return too_many(x->err, x->where);
    for (uint64_t n = from; n <= to && rc == 0; n++) {
        char digits[24];
        size_t end = have;
        int len = snprintf(digits, sizeof digits, "%0*llu", (int)low.len, (unsigned long long)n);
        rc = append(x, &end, slice_mem(digits, (size_t)len));
        if (rc == 0)
            rc = expand(x, end, rest);
    }
    return rc;
}

/* x->name[0..have) is complete; the rest may have more brackets. */
static int expand(struct expander *x, size_t have, struct slice rest)
{
    size_t open = slice_find(rest, '[');
    struct slice inside = slice_skip(rest, open + 1), behind = inside;
    int rc = append(x, &have, slice_head(rest, open));

    if (rc)
        return rc;
    if (open == rest.len)
        return add_node(x->a, x->list, slice_mem(x->name, have), 1, x->where, x->err);
    if (slice_find(inside, ']') == inside.len || ++x->depth > BRACKETS_MAX)
        return bad(x->err, x->where, x->whole);
    inside = slice_cut(&behind, ']');
    do
        rc = expand_range(x, have, slice_cut(&inside, ','), behind);
    while (rc == 0 && inside.len);
    x->depth--;
    return rc;
}

/* Up to the next comma outside brackets. */
static struct slice next_piece(struct slice *rest)
{
    bool inside = false;
    struct slice piece;
    size_t n = 0;

    for (; n < rest->len && (inside || rest->ptr[n] != ','); n++) {
        if (rest->ptr[n] == '[' || rest->ptr[n] == ']')
            inside = rest->ptr[n] == '[';
    }
    piece = slice_head(*rest, n);
    *rest = slice_skip(*rest, n + 1);
    return piece;
}

int hostlist_nodes(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err)
{
    struct slice rest = slice_trim(text);
    bool more = true;
    int rc = 0;

    while (more && rc == 0) {
        struct expander x = { .a = a, .list = list, .where = where, .err = err };
        size_t before = rest.len;
        x.whole = next_piece(&rest);
        more = x.whole.len < before;
        rc = expand(&x, 0, x.whole);
    }
    return rc;
}

/* ---- counts ---- */

/* "4" or "4(x2)" */
static bool read_count(struct slice piece, uint32_t *slots, uint32_t *times)
{
    struct slice rest = piece, number = slice_cut(&rest, '(');

    *times = 1;
    if (!slice_u32(number, slots) || *slots == 0 || *slots > LIMIT_JOB_PROCS)
        return false;
    if (number.len == piece.len)
        return true;
    if (rest.len < 3 || rest.ptr[0] != 'x' || rest.ptr[rest.len - 1] != ')')
        return false;
    rest = slice_skip(rest, 1);
    rest.len--;
    return slice_u32(rest, times) && *times > 0;
}

int hostlist_counts(struct host_list *list, uint32_t first, struct slice text, const char *where,
                    struct errmsg *err)
{
    uint32_t at = first, slots, times;
    struct slice rest = slice_trim(text);

    while (rest.len) {
        struct slice piece = slice_cut(&rest, ',');
        if (!read_count(piece, &slots, &times))
            return errmsg_set(err, HOSTS_BAD, "%.200s: '" SLICE_FMT "' is not a list of slots",
                              where, SLICE_ARG(slice_head(piece, 100)));
        if (times > list->count - at)
            break;
        while (times--)
            list->items[at++].slots = slots;
        if (rest.len == 0 && at == list->count)
            return 0;
    }
    return errmsg_set(err, HOSTS_BAD,
                      "%.200s: '" SLICE_FMT "' does not match the number of nodes (%u)", where,
                      SLICE_ARG(slice_head(slice_trim(text), 100)), list->count - first);
}

/* ---- lines and words ---- */

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct slice next_word(struct slice *rest)
{
    size_t n = 0;
    struct slice word;

    while (rest->len && blank(rest->ptr[0]))
        *rest = slice_skip(*rest, 1);
    while (n < rest->len && !blank(rest->ptr[n]))
        n++;
    word = slice_head(*rest, n);
    *rest = slice_skip(*rest, n);
    return word;
}

/* Names to indices in the list, plus 1. */
struct index {
    struct arena *a;
    struct host_list *list;
    struct map map;
    const char *where;
    struct errmsg *err;
};

/* Adds slots to the node of that name, wherever it is in the list. */
static int add_slots(struct index *x, struct slice name, uint32_t slots)
{
    uintptr_t at = (uintptr_t)map_get(&x->map, name);
    struct host *h = at ? &x->list->items[at - 1] : NULL;
    uint32_t before = x->list->count;
    int rc;

    if (h) {
        h->slots = slots > LIMIT_JOB_PROCS - h->slots ? LIMIT_JOB_PROCS : h->slots + slots;
        return 0;
    }
    rc = add_node(x->a, x->list, name, slots, x->where, x->err);
    if (rc)
        return rc;
    if (x->list->count == before)
        return 0; /* the previous one had this name */
    h = &x->list->items[before];
    return map_put(&x->map, slice_str(h->name), (void *)(uintptr_t)(before + 1), NULL);
}

static struct index index_of(struct arena *a, struct host_list *list, const char *where,
                             struct errmsg *err)
{
    return (struct index){ a, list, MAP_NULL(0x77697265), where, err };
}

static int some(const struct host_list *list, uint32_t before, int rc, const char *where,
                struct errmsg *err)
{
    if (rc == 0 && list->count == before)
        return errmsg_set(err, HOSTS_BAD, "%.200s: no node", where);
    return rc;
}

int hostlist_slots(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err)
{
    struct index x = index_of(a, list, where, err);
    uint32_t before = list->count;
    struct slice word;
    int rc = 0;

    while (rc == 0 && (word = next_word(&text)).len)
        rc = add_slots(&x, word, 1);
    map_free(&x.map);
    return some(list, before, rc, where, err);
}

static int bad_slots(struct errmsg *err, const char *where, struct slice name, struct slice number)
{
    return errmsg_set(err, HOSTS_BAD,
                      "%.200s: the number of slots of node " SLICE_FMT
                      " is missing or wrong: '" SLICE_FMT "'",
                      where, SLICE_ARG(slice_head(name, 100)), SLICE_ARG(slice_head(number, 100)));
}

static bool read_slots(struct slice number, uint32_t *slots)
{
    return slice_u32(number, slots) && *slots > 0 && *slots <= LIMIT_JOB_PROCS;
}

int hostlist_pairs(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err)
{
    struct index x = index_of(a, list, where, err);
    uint32_t before = list->count, slots;
    struct slice name, number;
    int rc = 0;

    while (rc == 0 && (name = next_word(&text)).len) {
        number = next_word(&text);
        rc = read_slots(number, &slots) ? add_slots(&x, name, slots)
                                        : bad_slots(err, where, name, number);
    }
    map_free(&x.map);
    return some(list, before, rc, where, err);
}

int hostlist_table(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err)
{
    struct index x = index_of(a, list, where, err);
    uint32_t before = list->count, slots;
    struct slice line, name, number;
    int rc = 0;

    while (rc == 0 && text.len) {
        line = slice_cut(&text, '\n');
        name = next_word(&line);
        number = next_word(&line);
        if (name.len)
            rc = read_slots(number, &slots) ? add_slots(&x, name, slots)
                                            : bad_slots(err, where, name, number);
    }
    map_free(&x.map);
    return some(list, before, rc, where, err);
}

int hostlist_groups(struct arena *a, struct host_list *list, struct slice text, const char *where,
                    struct errmsg *err)
{
    uint32_t before = list->count, nodes, cores;
    struct slice line, names;
    int rc = 0;

    while (rc == 0 && text.len) {
        uint32_t first = list->count;
        line = slice_cut(&text, '\n');
        names = next_word(&line);
        if (names.len == 0)
            continue;
        if (!slice_u32(next_word(&line), &nodes) || !slice_u32(next_word(&line), &cores))
            return bad(err, where, names);
        if (nodes == 0)
            continue; /* a state without nodes */
        rc = hostlist_nodes(a, list, names, where, err);
        if (rc == 0 && list->count - first != nodes)
            return bad(err, where, names);
        for (uint32_t i = first; rc == 0 && i < list->count; i++)
            list->items[i].slots = cores / nodes ? cores / nodes : 1;
    }
    return some(list, before, rc, where, err);
}
