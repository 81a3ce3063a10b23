/* trace_set.c - see trace_set.h.  Reading order: members; clocks. */
#include "tools/trace_set.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/trace_file.h"
#include "trace/record.h"

enum { SET_ROOM = 256 << 20, CLOCK_SCAN = 256 << 10 };

/* ---- members --------------------------------------------------------------------------------- */

static bool is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool add_room(struct trace_set *s)
{
    uint32_t room = s->room ? 2 * s->room : 16;
    struct trace_member *more;

    if (s->n < s->room)
        return true;
    more = arena_array(&s->arena, room, sizeof *more);
    if (!more)
        return false;
    if (s->n)
        memcpy(more, s->members, s->n * sizeof *more);
    s->members = more;
    s->room = room;
    return true;
}

static int add(struct trace_set *s, const char *node, const char *path)
{
    if (!node || !path || !add_room(s))
        return -ENOMEM;
    s->members[s->n++] = (struct trace_member){ .node = node, .path = path };
    return 0;
}

int trace_set_init(struct trace_set *s, const struct log *log, const char *path)
{
    *s = (struct trace_set){ .log = log, .path = path, .arena = ARENA_NULL(SET_ROOM) };
    s->alone = !is_regular(path);
    return add(s, "", path);
}

void trace_set_free(struct trace_set *s)
{
    arena_free(&s->arena);
    s->members = NULL;
    s->n = s->room = 0;
}

static bool is_known(const struct trace_set *s, struct slice node)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (slice_is(node, s->members[i].node))
            return true;
    }
    return false;
}

/* "FILE.NODE", without directories in the node's name (daemon/job_handlers.c). */
static const char *path_of(struct trace_set *s, struct slice node)
{
    char *path = arena_printf(&s->arena, "%s." SLICE_FMT, s->path, SLICE_ARG(node));

    for (char *at = path ? path + strlen(s->path) : NULL; at && (at = strchr(at, '/'));)
        *at = '_';
    return path;
}

static int take_nodes(struct trace_set *s, const struct record_job *job)
{
    int rc = 0;

    if (!s->is_launcher || job->here == 0) /* all of its ranks are the launcher's */
        return 0;
    for (uint32_t i = 0; rc == 0 && i < job->nodes.n; i++) {
        struct slice node = job->nodes.items[i];
        if (i + 1 == job->here || is_known(s, node))
            continue;
        rc = add(s, arena_str(&s->arena, node), path_of(s, node));
        if (rc == 0)
            s->members[s->n - 1].missing = access(s->members[s->n - 1].path, R_OK) != 0;
    }
    return rc;
}

static int take_begin(struct trace_set *s, const struct record_begin *b)
{
    s->is_launcher = b->position == 0 && !s->alone;
    s->is_masked = b->masked != 0;
    s->members[0].node = arena_str(&s->arena, b->node);
    return s->members[0].node ? 0 : -ENOMEM;
}

int trace_set_take(struct trace_set *s, const struct record *r)
{
    if (r->kind == RECORD_begin)
        return take_begin(s, &r->u.begin);
    return r->kind == RECORD_job ? take_nodes(s, &r->u.job) : 0;
}

struct scan {
    struct trace_set *set;
    struct record_reader reader;
};

static int scan_bytes(void *arg, struct slice bytes)
{
    struct scan *c = arg;
    struct errmsg ignored;
    struct record r;
    int rc = record_reader_feed(&c->reader, bytes);

    while (rc == 0 && (rc = record_reader_next(&c->reader, &r, &ignored)) == RECORD_WHOLE)
        rc = trace_set_take(c->set, &r);
    return rc;
}

void trace_set_scan(struct trace_set *s)
{
    struct scan c = { .set = s };

    if (s->alone)
        return;
    record_reader_init(&c.reader);
    trace_file_read(NULL, s->path, scan_bytes, &c);
    record_reader_free(&c.reader);
}

void trace_set_look(struct trace_set *s)
{
    for (uint32_t i = 1; i < s->n; i++) {
        struct trace_member *m = &s->members[i];
        m->missing = m->missing && access(m->path, R_OK) != 0;
    }
}

void trace_set_warn(const struct trace_set *s)
{
    uint32_t missing = 0, example = 0;

    for (uint32_t i = s->n; i > 0; i--) {
        if (s->members[i - 1].missing) {
            missing++;
            example = i - 1;
        }
    }
    if (missing)
        log_warn(s->log,
                 "the traces of %u node%s are missing, such as %s, which is written on that node: "
                 "`wireup fetch %s` brings them here",
                 missing, missing == 1 ? "" : "s", s->members[example].path, s->path);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

void trace_clock_take(struct trace_clock *c, const struct record *r)
{
    int64_t least, most;

    if (r->kind == RECORD_begin) {
        c->begin_ns = r->time_ns;
        c->wall_ns = r->u.begin.wall_ns;
    } else if (r->kind == RECORD_clock) {
        least = (int64_t)(r->u.clock.asked_ns - r->u.clock.answer_ns);
        most = (int64_t)(r->time_ns - r->u.clock.answer_ns);
        c->least = least > c->least ? least : c->least;
        c->most = most < c->most ? most : c->most;
    }
}

void trace_clock_scan(struct trace_clock *c, const char *path)
{
    int fd = is_regular(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct buf all = BUF_NULL(CLOCK_SCAN);
    char *room = buf_room(&all, CLOCK_SCAN);
    ssize_t n = fd >= 0 && room ? read(fd, room, CLOCK_SCAN) : 0;
    struct record_reader reader;
    struct errmsg ignored;
    struct record r;

    record_reader_init(&reader);
    if (n > 0 && record_reader_feed(&reader, slice_mem(room, (size_t)n)) == 0) {
        while (record_reader_next(&reader, &r, &ignored) == RECORD_WHOLE)
            trace_clock_take(c, &r);
    }
    record_reader_free(&reader);
    buf_free(&all);
    if (fd >= 0)
        close(fd);
}

int64_t trace_clock_ahead(const struct trace_clock *c, const struct trace_clock *launcher,
                          uint64_t *within_p)
{
    bool bounded = c->least != INT64_MIN && c->most != INT64_MAX && c->least <= c->most;

    *within_p = bounded ? (uint64_t)(c->most - c->least) / 2 : UINT64_MAX;
    if (bounded)
        return c->least + (c->most - c->least) / 2;
    return (int64_t)(c->begin_ns - launcher->begin_ns) - (int64_t)(c->wall_ns - launcher->wall_ns);
}
