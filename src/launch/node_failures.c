/* node_failures.c - see node_failures.h.  Reading order: names; reasons; texts. */
#include "launch/node_failures.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { WHY_COLUMN_MAX = 40, FAILURES_ARENA = 64 << 20 };

/* ---- names ---- */

/* "n007" is "n" and 7, three digits wide; a name without a number has no digits. */
struct numbered {
    size_t stem, width;
    uint64_t number;
};

static struct numbered split(const char *name)
{
    size_t len = strlen(name);
    struct numbered n = { .stem = len };

    while (n.stem > 0 && len - n.stem < 18 && name[n.stem - 1] >= '0' && name[n.stem - 1] <= '9')
        n.stem--;
    n.width = len - n.stem;
    n.number = n.width ? strtoull(name + n.stem, NULL, 10) : 0;
    return n;
}

static bool same_stem(const char *a, const char *b)
{
    struct numbered x = split(a), y = split(b);

    return x.width && y.width && x.stem == y.stem && strncmp(a, b, x.stem) == 0;
}

/* Is b the successor of a, in the same spelling? */
static bool follows(const char *a, const char *b)
{
    struct numbered x = split(a), y = split(b);
    bool grown = y.width == x.width + 1 && a[x.stem] != '0' && b[y.stem] != '0';

    return same_stem(a, b) && y.number == x.number + 1 && (x.width == y.width || grown);
}

/* The names from i on that share its stem, as "1-4,7"; returns their number. */
static uint32_t put_numbers(const char *const *names, uint32_t n, struct buf *out)
{
    uint32_t i = 0;

    while (i < n && same_stem(names[0], names[i])) {
        uint32_t last = i;
        while (last + 1 < n && follows(names[last], names[last + 1]))
            last++;
        buf_printf(out, "%s%s", i ? "," : "", names[i] + split(names[i]).stem);
        if (last > i)
            buf_printf(out, "-%s", names[last] + split(names[last]).stem);
        i = last + 1;
    }
    return i;
}

void node_names_put(const char *const *names, uint32_t n, struct buf *out)
{
    for (uint32_t i = 0; i < n;) {
        if (i)
            buf_byte(out, ',');
        if (i + 1 == n || !same_stem(names[i], names[i + 1])) {
            buf_str(out, names[i++]);
            continue;
        }
        buf_printf(out, "%.*s[", (int)split(names[i]).stem, names[i]);
        i += put_numbers(names + i, n - i, out);
        buf_byte(out, ']');
    }
}

/* ---- reasons ---- */

void node_failures_init(struct node_failures *f)
{
    memset(f, 0, sizeof *f);
    arena_init(&f->arena, FAILURES_ARENA);
}

void node_failures_free(struct node_failures *f)
{
    free(f->items);
    f->items = NULL;
    f->count = f->room = 0;
    arena_free(&f->arena);
}

static bool make_room(struct node_failures *f)
{
    uint32_t room = f->room ? f->room * 2 : 16;
    struct node_failure *more;

    if (f->count < f->room)
        return true;
    more = realloc(f->items, room * sizeof *more);
    if (!more)
        return false;
    f->items = more;
    f->room = room;
    return true;
}

/* "node n2 and 3 more: why": the subject is at the start. */
static const char *take_subject(struct node_failures *f, const char *name, struct slice *text)
{
    struct slice rest = *text, subject;
    const char *colon;

    if (!slice_starts(rest, SLICE("node ")))
        return arena_str(&f->arena, slice_str(name));
    rest = slice_skip(rest, strlen("node "));
    colon = memmem(rest.ptr, rest.len, ": ", 2);
    if (!colon)
        return arena_str(&f->arena, slice_str(name));
    subject = slice_head(rest, (size_t)(colon - rest.ptr));
    *text = slice_skip(rest, subject.len + 2);
    return arena_str(&f->arena, subject);
}

void node_failures_add(struct node_failures *f, const char *name, struct slice text)
{
    struct node_failure one = { .name = take_subject(f, name, &text) };

    one.why = arena_copy(&f->arena, text);
    if (!one.name || (text.len && !one.why.ptr) || !make_room(f))
        return;
    for (uint32_t i = 0; i < f->count; i++) { /* the first reason is the cause of others */
        if (!strcmp(f->items[i].name, one.name))
            return;
    }
    f->items[f->count++] = one;
}

/* The next character, with the node's own name as one symbol: "ssh: n5: no such host" and the same
 * of n6 are one reason. */
static int next_sign(struct slice *rest, const char *name)
{
    size_t n = strlen(name);
    int sign;

    if (n && rest->len >= n && memcmp(rest->ptr, name, n) == 0) {
        *rest = slice_skip(*rest, n);
        return -2;
    }
    if (rest->len == 0)
        return -1;
    sign = (unsigned char)rest->ptr[0];
    *rest = slice_skip(*rest, 1);
    return sign;
}

static bool same_reason(const struct node_failure *a, const struct node_failure *b)
{
    struct slice x = a->why, y = b->why;
    int sign;

    do {
        sign = next_sign(&x, a->name);
        if (sign != next_sign(&y, b->name))
            return false;
    } while (sign != -1);
    return true;
}

/* n2 sorts before n10. */
static int by_name(const void *a, const void *b)
{
    const char *x = ((const struct node_failure *)a)->name;
    const char *y = ((const struct node_failure *)b)->name;
    struct numbered m = split(x), n = split(y);

    if (!same_stem(x, y) || m.number == n.number)
        return strcmp(x, y);
    return m.number < n.number ? -1 : 1;
}

/* ---- texts ---- */

/* All nodes that fail for the same reason as that one; they are reported with it. */
static void put_names(struct node_failures *f, uint32_t at, const char **names, struct buf *out)
{
    uint32_t n = 0;

    for (uint32_t i = at; i < f->count; i++) {
        if (f->items[i].printed || !same_reason(&f->items[at], &f->items[i]))
            continue;
        f->items[i].printed = true;
        names[n++] = f->items[i].name;
    }
    node_names_put(names, n, out);
}

static void put_row(struct node_failures *f, uint32_t at, const char **names, struct buf *out)
{
    size_t before = buf_len(out), width;

    buf_str(out, "  ");
    put_names(f, at, names, out);
    width = buf_len(out) - before;
    for (; width < WHY_COLUMN_MAX / 4; width++)
        buf_byte(out, ' ');
    buf_printf(out, "  " SLICE_FMT "\n", SLICE_ARG(f->items[at].why));
}

void node_failures_text(struct node_failures *f, uint32_t all, struct buf *out)
{
    const char **names = arena_array(&f->arena, (size_t)f->count + 1, sizeof *names);

    if (f->count == 1) {
        buf_printf(out, "node %s: " SLICE_FMT "\n", f->items->name, SLICE_ARG(f->items->why));
        return;
    }
    if (!names || f->count == 0)
        return;
    qsort(f->items, f->count, sizeof *f->items, by_name);
    buf_printf(out, "%u of %u nodes do not come up, and nothing was started:\n", f->count, all);
    for (uint32_t i = 0; i < f->count; i++)
        f->items[i].printed = false;
    for (uint32_t i = 0; i < f->count; i++) {
        if (!f->items[i].printed)
            put_row(f, i, names, out);
    }
}

void node_failures_json(struct node_failures *f, struct buf *out)
{
    struct json j;

    qsort(f->items, f->count, sizeof *f->items, by_name);
    json_init_spaced(&j, out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-failures-1");
    json_array(&j, "failed_nodes");
    for (uint32_t i = 0; i < f->count; i++) {
        json_object(&j, NULL);
        json_str(&j, "node", f->items[i].name);
        json_text(&j, "why", f->items[i].why);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(out, '\n');
}
