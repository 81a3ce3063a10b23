/* regex_read.c - the readers of regex.h.
 *
 * Nodes are read twice: once to count and measure, once to write the names into memory that is then
 * known to suffice.  Ranks stay runs: a text cannot name more runs than it has bytes.
 */
#include "lib/pmix/api/regex.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limit.h"
#include "wire/pmix_zip.h"

/* --- the three forms --- */

struct text {
    struct slice bytes;
    bool native;
    char *unpacked; /* holds the bytes, or NULL */
};

/* A compressed one: its bytes follow three heads, each with a NUL. */
static int open_blob(struct slice regex, struct text *t)
{
    struct slice rest = regex, head;
    size_t len;
    int rc;

    for (int i = 0; i < 3; i++) {
        head = slice_cut(&rest, '\0');
        if (i == 1 && !slice_is(head, "component=zlib:"))
            return REGEX_MALFORMED;
    }
    rc = pzip_unpack(rest, LIMIT_MAP_TEXT, &t->unpacked, &len);
    if (rc > 0)
        return rc == PZIP_TOO_LONG ? REGEX_TOO_LONG : REGEX_MALFORMED;
    t->bytes = slice_mem(t->unpacked, rc ? 0 : len);
    return rc;
}

static int open_text(struct slice regex, struct text *t)
{
    bool blob = slice_starts(regex, slice_mem("blob:", sizeof "blob:"));
    int rc;

    *t = (struct text){ .bytes = regex };
    rc = blob ? open_blob(regex, t) : 0;
    if (rc == 0 && slice_find(t->bytes, '\0') < t->bytes.len)
        rc = REGEX_MALFORMED;
    if (rc || blob)
        return rc;
    if (slice_starts(regex, SLICE("raw:"))) {
        t->bytes = slice_skip(regex, 4);
    } else if (slice_starts(regex, SLICE("pmix["))) {
        if (regex.ptr[regex.len - 1] != ']')
            return REGEX_MALFORMED;
        t->native = true;
        t->bytes = slice_head(slice_skip(regex, 5), regex.len - 6);
    }
    return 0;
}

/* --- nodes --- */

/* Where names are written: NULL while they are counted. */
struct name_list {
    const char **list;
    char *at; /* next byte */
    uint64_t count, bytes;
};

static int add_name(struct name_list *n, struct slice head, uint64_t number, size_t digits,
                    struct slice tail)
{
    size_t len = head.len + digits + tail.len;
    char *at = n->at;

    if (len > LIMIT_MAP_NAME || n->count == LIMIT_MAP_NODES)
        return REGEX_TOO_LONG;
    if (n->list) {
        n->list[n->count] = at;
        memcpy(at, head.ptr, head.len);
        for (size_t i = digits; i > 0; i--, number /= 10)
            at[head.len + i - 1] = (char)('0' + number % 10);
        if (tail.len)
            memcpy(at + head.len + digits, tail.ptr, tail.len);
        at[len] = '\0';
        n->at = at + len + 1;
    }
    n->count++;
    n->bytes += len + 1;
    return 0;
}

static size_t digits_of(uint64_t v)
{
    size_t n = 1;

    while (v >= 10) {
        v /= 10;
        n++;
    }
    return n;
}

/* "a" or "a-b", the whole slice. */
static bool range(struct slice text, uint64_t *first_p, uint64_t *last_p)
{
    size_t dash = slice_find(text, '-');

    if (!slice_u64(slice_head(text, dash), first_p))
        return false;
    *last_p = *first_p;
    return dash == text.len ||
           (slice_u64(slice_skip(text, dash + 1), last_p) && *last_p >= *first_p);
}

static int add_range(struct name_list *n, struct slice text, struct slice head, uint64_t width,
                     struct slice tail)
{
    uint64_t first, last;
    int rc = 0;

    if (!range(text, &first, &last))
        return REGEX_MALFORMED;
    if (last - first >= LIMIT_MAP_NODES)
        return REGEX_TOO_LONG;
    for (uint64_t v = first; rc == 0; v++) {
        size_t digits = digits_of(v);
        rc = add_name(n, head, v, digits > width ? digits : (size_t)width, tail);
        if (v == last)
            break;
    }
    return rc;
}

/* head[width:ranges]tail */
static int add_group(struct name_list *n, struct slice head, struct slice inner, struct slice tail)
{
    struct slice width_text = slice_cut(&inner, ':');
    uint64_t width;
    int rc = 0;

    if (!inner.len || !slice_u64(width_text, &width) || width > LIMIT_MAP_NAME)
        return REGEX_MALFORMED;
    while (inner.len && rc == 0)
        rc = add_range(n, slice_cut(&inner, ','), head, width, tail);
    return rc;
}

/* The next item of a native list: up to a comma outside of brackets. */
static int add_item(struct name_list *n, struct slice *rest)
{
    size_t open = 0, close, end;
    struct slice none = SLICE_NULL;

    while (open < rest->len && rest->ptr[open] != '[' && rest->ptr[open] != ',')
        open++;
    if (open == rest->len || rest->ptr[open] == ',') {
        struct slice name = slice_head(*rest, open);
        *rest = slice_skip(*rest, open + 1);
        return name.len ? add_name(n, name, 0, 0, none) : REGEX_MALFORMED;
    }
    close = open + slice_find(slice_skip(*rest, open), ']');
    if (close == rest->len)
        return REGEX_MALFORMED;
    end = close + slice_find(slice_skip(*rest, close), ',');
    {
        struct slice head = slice_head(*rest, open);
        struct slice inner = slice_head(slice_skip(*rest, open + 1), close - open - 1);
        struct slice tail = slice_head(slice_skip(*rest, close + 1), end - close - 1);
        *rest = slice_skip(*rest, end + 1);
        if (slice_find(tail, '[') < tail.len || slice_find(tail, ']') < tail.len)
            return REGEX_MALFORMED;
        return add_group(n, head, inner, tail);
    }
}

static int add_all(struct name_list *n, const struct text *t)
{
    struct slice rest = t->bytes, none = SLICE_NULL;
    int rc = 0;

    while (rest.len && rc == 0) {
        struct slice name;
        if (t->native) {
            rc = add_item(n, &rest);
            continue;
        }
        name = slice_cut(&rest, ',');
        if (name.len)
            rc = add_name(n, name, 0, 0, none);
    }
    return rc;
}

int regex_read_nodes(struct arena *a, struct slice regex, struct regex_nodes *nodes_p)
{
    struct name_list n = { 0 };
    struct text t;
    int rc = open_text(regex, &t);

    if (rc == 0)
        rc = add_all(&n, &t);
    if (rc == 0) {
        nodes_p->count = (uint32_t)n.count;
        nodes_p->names = n.list = arena_array(a, n.count + 1, sizeof *n.list);
        n.at = arena_alloc(a, n.bytes + 1);
        n.count = 0;
        if (!arena_ok(a))
            rc = -ENOMEM;
        else
            rc = add_all(&n, &t);
    }
    free(t.unpacked);
    return rc;
}

/* --- ranks --- */

/* "a" or "a-b" at the start of *rest; 4 billion are enough. */
static bool take_number(struct slice *rest, uint32_t *v_p)
{
    uint64_t v = 0;
    size_t n = 0;

    while (n < rest->len && n < 10 && rest->ptr[n] >= '0' && rest->ptr[n] <= '9')
        v = v * 10 + (uint64_t)(rest->ptr[n++] - '0');
    if (!n || v > UINT32_MAX)
        return false;
    *rest = slice_skip(*rest, n);
    *v_p = (uint32_t)v;
    return true;
}

static bool take_run(struct slice *rest, struct regex_run *run_p)
{
    uint32_t last;

    if (!take_number(rest, &run_p->first))
        return false;
    last = run_p->first;
    if (rest->len && rest->ptr[0] == '-') {
        *rest = slice_skip(*rest, 1);
        if (!take_number(rest, &last) || last < run_p->first || last - run_p->first == UINT32_MAX)
            return false;
    }
    run_p->count = last - run_p->first + 1;
    return true;
}

/* Consecutive runs of one node are joined. */
static bool joins(const struct regex_run *before, const struct regex_run *run)
{
    return before->first + before->count == run->first && before->first + before->count != 0 &&
           before->count + run->count > run->count;
}

static int read_runs(struct slice rest, struct regex_ranks *r)
{
    uint32_t node = 0, runs = 0;
    bool separated = true; /* by a comma, a semicolon or the start */

    while (rest.len) {
        struct regex_run run;
        char c = rest.ptr[0];
        if (c == ';') {
            r->at[++node] = runs;
            separated = true;
            rest = slice_skip(rest, 1);
            continue;
        }
        if (c == ',' && !separated) {
            separated = true;
            rest = slice_skip(rest, 1);
            continue;
        }
        if (!separated || !take_run(&rest, &run))
            return REGEX_MALFORMED;
        separated = false;
        r->ranks += run.count;
        if (runs > r->at[node] && joins(&r->runs[runs - 1], &run))
            r->runs[runs - 1].count += run.count;
        else
            r->runs[runs++] = run;
    }
    r->at[node + 1] = runs;
    return 0;
}

static size_t count_of(struct slice text, char a, char b)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == a || text.ptr[i] == b;
    return n;
}

int regex_read_ranks(struct arena *a, struct slice regex, struct regex_ranks *ranks_p)
{
    struct text t;
    int rc = open_text(regex, &t);
    size_t nodes, runs;

    *ranks_p = (struct regex_ranks){ 0 };
    nodes = rc == 0 && t.bytes.len ? count_of(t.bytes, ';', ';') + 1 : 0;
    runs = rc == 0 ? count_of(t.bytes, ',', ';') + 1 : 0;
    if (rc == 0 && nodes > LIMIT_MAP_NODES)
        rc = REGEX_TOO_LONG;
    if (rc == 0) {
        ranks_p->nodes = (uint32_t)nodes;
        ranks_p->at = arena_array(a, nodes + 2, sizeof *ranks_p->at);
        ranks_p->runs = arena_array(a, runs, sizeof *ranks_p->runs);
        rc = arena_ok(a) ? read_runs(t.bytes, ranks_p) : -ENOMEM;
    }
    if (rc == 0 && ranks_p->ranks > LIMIT_JOB_PROCS)
        rc = REGEX_TOO_LONG;
    free(t.unpacked);
    return rc;
}

/* --- and back --- */

void regex_nodes_text(struct buf *out, const struct regex_nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++) {
        if (i)
            buf_byte(out, ',');
        buf_str(out, nodes->names[i]);
    }
}

void regex_ranks_text(struct buf *out, const struct regex_ranks *ranks)
{
    for (uint32_t node = 0; node < ranks->nodes; node++) {
        if (node)
            buf_byte(out, ';');
        for (uint32_t i = ranks->at[node]; i < ranks->at[node + 1]; i++) {
            for (uint32_t k = 0; k < ranks->runs[i].count; k++) {
                if (k || i > ranks->at[node])
                    buf_byte(out, ',');
                buf_u64(out, ranks->runs[i].first + k);
            }
        }
    }
}
