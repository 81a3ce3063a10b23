/* procmap.c - see procmap.h.
 *
 * The reader expands while it parses.  Every element that it accepts places at least one rank (a
 * zero count is refused), so however large the numbers are, it ends after nprocs steps. */
#include "core/procmap.h"

#include <stdbool.h>

#include "core/job_map.h"

/* ---- writing ---- */

void procmap_begin(struct procmap_writer *w, struct buf *out)
{
    *w = (struct procmap_writer){ .out = out };
    buf_str(out, "(vector");
}

static void write_triple(struct procmap_writer *w)
{
    if (w->count == 0)
        return;
    buf_str(w->out, ",(");
    buf_u64(w->out, w->node);
    buf_byte(w->out, ',');
    buf_u64(w->out, w->count);
    buf_byte(w->out, ',');
    buf_u64(w->out, w->ppn);
    buf_byte(w->out, ')');
    w->count = 0;
}

/* A finished run joins the triple when it is as long and on the next node; else it begins one. */
static void close_run(struct procmap_writer *w)
{
    if (w->run_len == 0)
        return;
    if (w->count && w->run_len == w->ppn && w->run_node == w->node + w->count) {
        w->count++;
    } else {
        write_triple(w);
        w->node = w->run_node;
        w->count = 1;
        w->ppn = w->run_len;
    }
    w->run_len = 0;
}

void procmap_put(struct procmap_writer *w, uint32_t node, uint32_t nranks)
{
    if (nranks == 0)
        return;
    if (w->run_len && w->run_node != node)
        close_run(w);
    w->run_node = node;
    w->run_len += nranks;
}

void procmap_end(struct procmap_writer *w)
{
    close_run(w);
    write_triple(w);
    buf_byte(w->out, ')');
}

void procmap_of_plan(const struct job_map *p, struct buf *out)
{
    struct procmap_writer w;

    procmap_begin(&w, out);
    for (uint32_t r = 0; r < p->nprocs && buf_ok(out); r++)
        procmap_put(&w, p->procs[r].node, 1);
    procmap_end(&w);
}

/* ---- reading ---- */

/* No real map is nested deeper than this. */
enum { NESTING_MAX = 8 };

struct reader {
    struct slice all; /* the list between "vector," and the last ')' */
    struct slice rest;
    uint32_t *node_of;
    uint32_t placed, nprocs;
    struct errmsg *err;
};

static bool done(const struct reader *r)
{
    return r->placed == r->nprocs;
}

static void skip_blanks(struct reader *r)
{
    while (r->rest.len && (r->rest.ptr[0] == ' ' || r->rest.ptr[0] == '\t' ||
                           r->rest.ptr[0] == '\r' || r->rest.ptr[0] == '\n'))
        r->rest = slice_skip(r->rest, 1);
}

static bool peek(struct reader *r, char c)
{
    skip_blanks(r);
    return r->rest.len && r->rest.ptr[0] == c;
}

static bool eat(struct reader *r, char c)
{
    if (!peek(r, c))
        return false;
    r->rest = slice_skip(r->rest, 1);
    return true;
}

static int bad(struct reader *r, const char *expected)
{
    if (r->rest.len)
        return errmsg_set(r->err, PROCMAP_BAD, "process mapping: expected %s at '" SLICE_FMT "'",
                          expected, SLICE_ARG(slice_head(r->rest, 40)));
    return errmsg_set(r->err, PROCMAP_BAD, "process mapping: expected %s at the end", expected);
}

static int read_number(struct reader *r, uint32_t *value_p)
{
    size_t n = 0;

    skip_blanks(r);
    while (n < r->rest.len && r->rest.ptr[n] >= '0' && r->rest.ptr[n] <= '9')
        n++;
    if (n > 10 || !slice_u32(slice_head(r->rest, n), value_p))
        return bad(r, "a number");
    r->rest = slice_skip(r->rest, n);
    return 0;
}

static int place(struct reader *r, uint32_t node, uint32_t count, uint32_t ppn)
{
    if (count == 0 || ppn == 0 || count - 1 > UINT32_MAX - node)
        return errmsg_set(r->err, PROCMAP_BAD, "process mapping: (%u,%u,%u) is not a block", node,
                          count, ppn);
    for (uint32_t i = 0; i < count && !done(r); i++) {
        for (uint32_t k = 0; k < ppn && !done(r); k++)
            r->node_of[r->placed++] = node + i;
    }
    return 0;
}

static int read_triple(struct reader *r)
{
    uint32_t v[3];

    for (int i = 0; i < 3; i++) {
        int rc = !eat(r, i ? ',' : '(') ? bad(r, i ? "','" : "'('") : read_number(r, &v[i]);
        if (rc)
            return rc;
    }
    return eat(r, ')') ? place(r, v[0], v[1], v[2]) : bad(r, "')'");
}

static int read_list(struct reader *r, char end, int depth);

/* [list]xK */
static int read_repeat(struct reader *r, int depth)
{
    struct slice inside;
    uint32_t times;
    int rc;

    if (depth == NESTING_MAX)
        return bad(r, "fewer nested lists");
    eat(r, '[');
    inside = r->rest;
    rc = read_list(r, ']', depth + 1);
    if (rc)
        return rc;
    eat(r, ']');
    if (!eat(r, 'x'))
        return bad(r, "'x'");
    rc = read_number(r, &times);
    if (rc == 0 && times == 0)
        rc = errmsg_set(r->err, PROCMAP_BAD, "process mapping: a list repeated 0 times");
    if (rc == 0) {
        struct slice behind = r->rest;
        for (uint32_t i = 1; i < times && !done(r) && rc == 0; i++) {
            r->rest = inside;
            rc = read_list(r, ']', depth + 1);
        }
        r->rest = behind;
    }
    return rc;
}

static int read_element(struct reader *r, int depth)
{
    uint32_t node;
    int rc;

    if (peek(r, '['))
        return read_repeat(r, depth);
    if (peek(r, '('))
        return read_triple(r);
    rc = read_number(r, &node);
    return rc ? rc : place(r, node, 1, 1);
}

/* Elements up to `end`, which stays unread ('\0': the end of the text). */
static int read_list(struct reader *r, char end, int depth)
{
    for (;;) {
        int rc = read_element(r, depth);
        if (rc)
            return rc;
        skip_blanks(r);
        if (end ? peek(r, end) : r->rest.len == 0)
            return 0;
        if (!eat(r, ','))
            return bad(r, end ? "',' or ']'" : "','");
    }
}

/* Where a list that was too short starts again: after the elements before the first one that starts
 * on node 0, or that is a '['. */
static bool restart_at(struct reader *r, struct slice *from_p)
{
    uint32_t keep = r->placed, node;
    bool found = false;

    r->rest = r->all;
    for (;;) {
        struct slice here;
        skip_blanks(r);
        here = r->rest;
        if (here.len == 0)
            break;
        found = peek(r, '[');
        if (!found) {
            eat(r, '(');
            found = read_number(r, &node) == 0 && node == 0;
        }
        if (found) {
            *from_p = here;
            break;
        }
        /* Already parsed once, so this only steps over it. */
        r->rest = here;
        r->placed = r->nprocs;
        if (read_element(r, 0))
            break;
        eat(r, ',');
    }
    r->placed = keep;
    return found;
}

/* "(vector,LIST)": leaves LIST in r->rest. */
static int open_vector(struct reader *r)
{
    if (!eat(r, '('))
        return bad(r, "'('");
    skip_blanks(r);
    if (!slice_starts(r->rest, SLICE("vector")))
        return bad(r, "'vector'");
    r->rest = slice_skip(r->rest, 6);
    if (!eat(r, ','))
        return bad(r, "','");
    while (r->rest.len &&
           (r->rest.ptr[r->rest.len - 1] == ' ' || r->rest.ptr[r->rest.len - 1] == '\n'))
        r->rest.len--;
    if (r->rest.len == 0 || r->rest.ptr[r->rest.len - 1] != ')') {
        r->rest = SLICE_NULL;
        return bad(r, "')'");
    }
    r->rest.len--;
    return 0;
}

int procmap_read(struct slice text, uint32_t nprocs, uint32_t *node_of, struct errmsg *err)
{
    struct reader r = { .rest = text, .node_of = node_of, .nprocs = nprocs, .err = err };
    struct slice again;
    int rc = open_vector(&r);

    if (rc)
        return rc;
    r.all = r.rest;
    rc = read_list(&r, '\0', 0);
    if (rc || done(&r))
        return rc;
    if (!restart_at(&r, &again))
        return errmsg_set(err, PROCMAP_SHORT,
                          "process mapping: %u of %u ranks are placed, and no block is on node 0",
                          r.placed, nprocs);
    while (rc == 0 && !done(&r)) {
        r.rest = again;
        rc = read_list(&r, '\0', 0);
    }
    return rc;
}
