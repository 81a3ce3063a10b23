/* hosts.c - see hosts.h. */
#include "launch/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "io/ip_address.h"

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct slice next_word(struct slice *rest)
{
    size_t n = 0;
    struct slice word;

    *rest = slice_trim(*rest);
    while (n < rest->len && !blank(rest->ptr[n]))
        n++;
    word = slice_head(*rest, n);
    *rest = slice_skip(*rest, n);
    return word;
}

/* The slots after "name:"; HOSTS_BAD if they are not a number in range. */
static int read_slots(struct slice text, uint32_t *slots_p, const char *where, struct errmsg *err)
{
    uint32_t n;

    if (!slice_u32(text, &n) || n == 0 || n > LIMIT_JOB_PROCS)
        return errmsg_set(err, HOSTS_BAD,
                          "%s: the number of slots must be from 1 to %u, not '" SLICE_FMT "'",
                          where, LIMIT_JOB_PROCS, SLICE_ARG(slice_head(text, 100)));
    *slots_p = n;
    return 0;
}

static bool good_name(struct slice name)
{
    if (name.len == 0 || name.len > 255)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c <= ' ' || c == 127 || strchr(",()[]=@\"'\\", (char)c))
            return false;
    }
    return true;
}

static bool has_colons(struct slice name)
{
    return slice_find(name, ':') < name.len;
}

/* An IPv6 address, perhaps with its zone: "fe80::1%eth0". */
static bool is_address(struct slice name)
{
    struct ip_address a;

    return ip_address_read(slice_head(name, slice_find(name, '%')), &a) && a.family == AF_INET6;
}

/* "name", "name:4", "::1", "[::1]", "[::1]:4" */
static int read_host(struct arena *a, struct slice word, struct host *h, const char *where,
                     struct errmsg *err)
{
    struct slice name = word, slots = SLICE_NULL;
    bool has_slots = false;
    size_t at = slice_find(word, ':');
    int rc = 0;

    if (word.len && word.ptr[0] == '[') {
        at = slice_find(word, ']');
        name = slice_skip(slice_head(word, at), 1);
        slots = slice_skip(word, at + 1);
        has_slots = slots.len && slots.ptr[0] == ':';
        if (at == word.len || (slots.len && !has_slots))
            name = SLICE_NULL;
        slots = slice_skip(slots, 1);
    } else if (at < word.len && slice_find(slice_skip(word, at + 1), ':') == word.len - at - 1) {
        name = slice_head(word, at);
        slots = slice_skip(word, at + 1);
        has_slots = true;
    }
    if (!good_name(name))
        return errmsg_set(err, HOSTS_BAD, "%s: '" SLICE_FMT "' is not a node name", where,
                          SLICE_ARG(slice_head(word, 100)));
    if (has_colons(name) && !is_address(name))
        return errmsg_set(err, HOSTS_BAD,
                          "%s: '" SLICE_FMT "': the name may be followed by one ':' and the number "
                          "of slots",
                          where, SLICE_ARG(slice_head(word, 100)));
    if (has_slots)
        rc = read_slots(slots, &h->slots, where, err);
    h->name = arena_str(a, name);
    return rc ? rc : h->name ? 0 : -ENOMEM;
}

/* The same, with an optional "user@" before it. */
static int read_name(struct arena *a, struct slice word, struct host *h, const char *where,
                     struct errmsg *err)
{
    size_t at = slice_find(word, '@');

    if (at == word.len)
        return read_host(a, word, h, where, err);
    if (!good_name(slice_head(word, at)))
        return errmsg_set(err, HOSTS_BAD,
                          "%s: '" SLICE_FMT "': the name before @ must be a user name", where,
                          SLICE_ARG(slice_head(word, 100)));
    h->user = arena_str(a, slice_head(word, at));
    return h->user ? read_host(a, slice_skip(word, at + 1), h, where, err) : -ENOMEM;
}

bool hosts_has(const struct host_list *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!strcmp(list->items[i].name, name))
            return true;
    }
    return false;
}

int hosts_add(struct arena *a, struct host_list *list, struct host h)
{
    struct host *last = list->count ? &list->items[list->count - 1] : NULL;

    if (h.slots == 0)
        h.slots = 1;
    if (last && strcmp(last->name, h.name) == 0) {
        last->slots =
            h.slots > LIMIT_JOB_PROCS - last->slots ? LIMIT_JOB_PROCS : last->slots + h.slots;
        last->max_slots = h.max_slots ? h.max_slots : last->max_slots;
        return 0;
    }
    if (list->count == list->room) {
        uint32_t room = list->room ? list->room * 2 : 8;
        struct host *items = arena_array(a, room, sizeof *items);
        if (!items)
            return -ENOMEM;
        if (list->count)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = h;
    return 0;
}

int hosts_parse_list(struct arena *a, struct host_list *list, struct slice text, struct errmsg *err)
{
    const char *where = "node list";
    bool more = true;

    while (more) {
        struct host h = { 0 };
        struct slice piece;
        int rc;

        more = slice_find(text, ',') < text.len;
        piece = slice_trim(slice_cut(&text, ','));
        rc = read_name(a, piece, &h, where, err);
        if (rc == 0)
            rc = hosts_add(a, list, h);
        if (rc)
            return rc;
    }
    return 0;
}

static int no_memory(struct arena *a, const char *text)
{
    return !arena_ok(a) || !text ? -ENOMEM : 0;
}

/* One "key=value" after the name. */
static int read_attribute(struct arena *a, struct slice word, struct host *h, const char *where,
                          struct errmsg *err)
{
    struct slice value = word, key = slice_cut(&value, '=');

    if (key.len == word.len)
        key = SLICE_NULL; /* no '=' */
    if (slice_is(key, "slots"))
        return read_slots(value, &h->slots, where, err);
    if (slice_is(key, "max_slots") || slice_is(key, "max-slots"))
        return read_slots(value, &h->max_slots, where, err);
    if (slice_is(key, "binding") && value.len)
        return no_memory(a, h->binding = arena_str(a, value));
    if (slice_is(key, "user") && value.len)
        return no_memory(a, h->user = arena_str(a, value));
    if (slice_is(key, "port") && slice_u32(value, &h->port) && h->port > 0 && h->port <= 65535)
        return 0;
    return errmsg_set(
        err, HOSTS_BAD,
        "%s: expected slots=, max_slots=, binding=, user= or port= after the node name, "
        "not '" SLICE_FMT "'",
        where, SLICE_ARG(slice_head(word, 100)));
}

/* `#` counts at the start of a word only: it may be part of a name. */
static struct slice without_comment(struct slice line)
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.ptr[i] == '#' && (i == 0 || blank(line.ptr[i - 1])))
            return slice_head(line, i);
    }
    return line;
}

static int read_line(struct arena *a, struct host_list *list, struct slice line, const char *where,
                     struct errmsg *err)
{
    struct host h = { 0 };
    struct slice rest = slice_trim(without_comment(line)), word;
    int rc;

    if (rest.len == 0)
        return 0;
    rc = read_name(a, next_word(&rest), &h, where, err);
    while (rc == 0 && (word = next_word(&rest)).len)
        rc = read_attribute(a, word, &h, where, err);
    if (rc == 0 && h.max_slots && h.max_slots < (h.slots ? h.slots : 1))
        rc = errmsg_set(err, HOSTS_BAD, "%s: max_slots=%u is less than the %u slots of the node",
                        where, h.max_slots, h.slots ? h.slots : 1);
    return rc ? rc : hosts_add(a, list, h);
}

int hosts_parse_file(struct arena *a, struct host_list *list, const char *file, struct slice text,
                     struct errmsg *err)
{
    uint32_t before = list->count;
    int rc = 0;

    for (unsigned line = 1; text.len && rc == 0; line++) {
        char where[300];
        snprintf(where, sizeof where, "%.250s:%u", file, line);
        rc = read_line(a, list, slice_cut(&text, '\n'), where, err);
    }
    if (rc == 0 && list->count == before)
        rc = errmsg_set(err, HOSTS_BAD, "%.250s: this host file has no nodes", file);
    return rc;
}

/* qsort may swap equal ones, so each remembers its index. */
struct numbered {
    struct host host;
    uint32_t place;
};

static int by_slots(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    if (x->host.slots != y->host.slots)
        return x->host.slots < y->host.slots ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

int hosts_sort(struct host_list *list, bool descending)
{
    struct numbered *all = malloc((list->count + 1u) * sizeof *all);

    if (!all)
        return -ENOMEM;
    /* Descending: sorted ascending with the indices reversed, and read from the end. */
    for (uint32_t i = 0; i < list->count; i++)
        all[i] = (struct numbered){ list->items[i], descending ? list->count - i : i };
    qsort(all, list->count, sizeof *all, by_slots);
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i] = all[descending ? list->count - 1 - i : i].host;
    free(all);
    return 0;
}
