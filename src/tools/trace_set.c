/* trace_set.c - see trace_set.h.  Reading order: members; pieces; reading;
 * clocks. */
#include "tools/trace_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "tools/trace_file.h"
#include "trace/record.h"

enum { SET_ROOM = 256 << 20, CLOCK_SCAN = 256 << 10, SET_PIECE = 1 << 20 };

/* ---- members --------------------------------------------------------------------------------- */

static bool is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int add(struct trace_set *s, const char *node, const char *path)
{
    struct trace_member *more = grow_by_one(s->members, sizeof *more, s->n, &s->room, 16);

    if (more)
        s->members = more;
    if (!node || !path || !more)
        return -ENOMEM;
    s->members[s->n++] = (struct trace_member){ .node = node, .path = path, .name = path };
    return 0;
}

void trace_set_free(struct trace_set *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->members[i].pieces);
    free(s->members);
    s->members = NULL;
    s->n = s->room = 0;
    arena_free(&s->arena);
    if (s->reader)
        record_reader_free(s->reader);
    free(s->reader);
    s->reader = NULL;
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

int trace_set_init(struct trace_set *s, const struct log *log, const char *path)
{
    *s = (struct trace_set){ .log = log, .path = path, .arena = ARENA_NULL(SET_ROOM), .fd = -1 };
    s->reader = calloc(1, sizeof *s->reader);
    if (!s->reader)
        return -ENOMEM;
    record_reader_init(s->reader);
    s->alone = !is_regular(path);
    if (add(s, "", path) == 0)
        return 0;
    trace_set_free(s);
    return -ENOMEM;
}

uint32_t trace_set_find(const struct trace_set *s, struct slice node)
{
    for (uint32_t i = 1; i < s->n; i++) {
        if (slice_is(node, s->members[i].node))
            return i;
    }
    return 0;
}

/* "FILE.NODE", without directories in the node's name (daemon/job_handlers.c). */
static const char *path_of(struct trace_set *s, struct slice node)
{
    char *path = arena_printf(&s->arena, "%s." SLICE_FMT, s->path, SLICE_ARG(node));

    for (char *at = path ? path + strlen(s->path) : NULL; at && (at = strchr(at, '/'));)
        *at = '_';
    return path;
}

static int take_node(struct trace_set *s, struct slice node)
{
    if (trace_set_find(s, node) || slice_is(node, s->members[0].node))
        return 0;
    return add(s, arena_str(&s->arena, node), path_of(s, node));
}

static int take_nodes(struct trace_set *s, const struct record_job *job)
{
    int rc = 0;

    if (!s->is_launcher || job->here == 0) /* all of its ranks are the launcher's */
        return 0;
    for (uint32_t i = 0; rc == 0 && i < job->nodes.n; i++) {
        if (i + 1 != job->here)
            rc = take_node(s, job->nodes.items[i]);
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

/* ---- pieces ---------------------------------------------------------------------------------- */

static int add_piece(struct trace_set *s, struct trace_member *m, struct slice bytes)
{
    struct trace_piece *more = grow_by_one(m->pieces, sizeof *more, m->npieces, &m->room, 16);

    if (!more)
        return -ENOMEM;
    m->pieces = more;
    m->pieces[m->npieces++] =
        (struct trace_piece){ record_reader_position(s->reader, bytes), bytes.len };
    return 0;
}

static int take_section(struct trace_set *s, const struct record_section *r)
{
    int rc = s->is_launcher ? take_node(s, r->host) : -ENOENT;
    uint32_t i = rc == 0 ? trace_set_find(s, r->host) : 0;
    struct trace_member *m = &s->members[i];

    if (i == 0)
        return rc == -ENOENT ? 0 : rc;
    m->whole = m->whole || r->whole;
    if (r->why.len)
        m->why = arena_str(&s->arena, r->why);
    return r->bytes.len ? add_piece(s, m, r->bytes) : 0;
}

static int take_record(struct trace_set *s, const struct record *r)
{
    switch ((int)r->kind) {
    case RECORD_begin: return take_begin(s, &r->u.begin);
    case RECORD_job: return take_nodes(s, &r->u.job);
    case RECORD_section: return take_section(s, &r->u.section);
    default: return 0;
    }
}

/* A trace that came later, by `wireup fetch`, is better than pieces of it. */
static void look(struct trace_set *s, struct trace_member *m)
{
    struct stat st;
    bool file = access(m->path, R_OK) == 0 && stat(m->path, &st) == 0 &&
                (st.st_size || !S_ISREG(st.st_mode)); /* empty: the node was lost before */
    const char *name;

    m->inside = m->whole || (m->npieces && !file);
    m->missing = !m->inside && !file;
    if (!m->inside || m->name != m->path)
        return;
    name = arena_printf(&s->arena, "%s, node %s", s->path, m->node);
    m->name = name ? name : m->path;
}

/* Whole records; false: the rest cannot be read. */
static bool take_bytes(struct trace_set *s, struct slice bytes)
{
    struct errmsg ignored;
    struct record r;
    int rc = record_reader_feed(s->reader, bytes);

    while (rc == 0 && (rc = record_reader_next(s->reader, &r, &ignored)) == RECORD_WHOLE)
        rc = take_record(s, &r);
    return rc == 0;
}

void trace_set_scan(struct trace_set *s)
{
    char *piece = s->alone ? NULL : malloc(SET_PIECE);
    ssize_t n;

    if (piece && s->fd < 0)
        s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
    while (piece && s->fd >= 0) {
        do
            n = read(s->fd, piece, SET_PIECE);
        while (n < 0 && errno == EINTR);
        if (n <= 0 || !take_bytes(s, slice_mem(piece, (size_t)n)))
            break;
    }
    free(piece);
    for (uint32_t i = 1; i < s->n; i++)
        look(s, &s->members[i]);
}

void trace_set_warn(const struct trace_set *s)
{
    const struct trace_member *example = NULL;
    uint32_t missing = 0;

    for (uint32_t i = s->n; i > 0; i--) {
        if (s->members[i - 1].missing) {
            missing++;
            example = &s->members[i - 1];
        }
    }
    if (missing && example->why)
        log_warn(s->log, "the traces of %u node%s are missing, such as that of %s: %s", missing,
                 missing == 1 ? "" : "s", example->node, example->why);
    else if (missing)
        log_warn(s->log,
                 "the traces of %u node%s are missing, such as %s, which is written on that node: "
                 "`wireup fetch %s` brings them here",
                 missing, missing == 1 ? "" : "s", example->path, s->path);
}

/* ---- reading --------------------------------------------------------------------------------- */

int trace_input_open(struct trace_input *in, const struct trace_set *s, uint32_t member)
{
    const struct trace_member *m = &s->members[member];
    const char *path = m->inside ? s->path : m->path;
    bool is_input = member == 0 && !strcmp(path, "-");

    *in = (struct trace_input){ .set = s, .member = member, .inside = m->inside };
    in->fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    return in->fd < 0 ? -errno : 0;
}

void trace_input_close(struct trace_input *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
}

static ssize_t read_piece(struct trace_input *in, void *to, size_t room)
{
    const struct trace_member *m = &in->set->members[in->member];
    const struct trace_piece *p;
    size_t left;
    ssize_t n;

    if (in->piece == m->npieces)
        return 0;
    p = &m->pieces[in->piece];
    left = p->len - in->taken;
    n = pread(in->fd, to, left < room ? left : room, (off_t)(p->at + in->taken));
    if (n > 0)
        in->taken += (size_t)n;
    if (in->taken == p->len) {
        in->piece++;
        in->taken = 0;
    }
    return n;
}

ssize_t trace_input_read(struct trace_input *in, void *to, size_t room)
{
    ssize_t n;

    do
        n = in->inside ? read_piece(in, to, room) : read(in->fd, to, room);
    while (n < 0 && errno == EINTR);
    return n;
}

int trace_set_pass(const struct trace_set *s, uint32_t member,
                   int (*take)(void *arg, struct slice bytes), void *arg)
{
    struct trace_input in = { .fd = -1 };
    char *piece = malloc(SET_PIECE);
    int rc = piece ? trace_input_open(&in, s, member) : -ENOMEM;
    ssize_t n = rc < 0 ? -1 : 1;

    errno = rc < 0 ? -rc : 0;
    while (n > 0 && rc == 0) {
        n = trace_input_read(&in, piece, SET_PIECE);
        if (n > 0)
            rc = take(arg, slice_mem(piece, (size_t)n));
    }
    if (n < 0)
        log_error(s->log, "cannot read the trace %s: %s", trace_file_name(s->members[member].name),
                  err_text(errno));
    trace_input_close(&in);
    free(piece);
    return n < 0 ? 2 : rc;
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

/* From the first bytes of the trace. */
static void scan_clock(struct trace_clock *c, struct trace_input *in)
{
    struct buf all = BUF_NULL(CLOCK_SCAN);
    char *room = buf_room(&all, CLOCK_SCAN);
    ssize_t n = room ? 1 : 0;
    size_t len = 0;
    struct record_reader reader;
    struct errmsg ignored;
    struct record r;

    while (n > 0 && len < CLOCK_SCAN &&
           (n = trace_input_read(in, room + len, CLOCK_SCAN - len)) > 0)
        len += (size_t)n;
    record_reader_init(&reader);
    if (len > 0 && record_reader_feed(&reader, slice_mem(room, len)) == 0) {
        while (record_reader_next(&reader, &r, &ignored) == RECORD_WHOLE)
            trace_clock_take(c, &r);
    }
    record_reader_free(&reader);
    buf_free(&all);
}

void trace_clock_scan(struct trace_clock *c, const char *path)
{
    struct trace_input in = { .fd = is_regular(path) ? open(path, O_RDONLY | O_CLOEXEC) : -1 };

    if (in.fd >= 0)
        scan_clock(c, &in);
    trace_input_close(&in);
}

void trace_clock_scan_member(struct trace_clock *c, const struct trace_set *s, uint32_t member)
{
    struct trace_input in = { .fd = -1 };

    if (!s->members[member].inside)
        trace_clock_scan(c, s->members[member].path);
    else if (trace_input_open(&in, s, member) == 0)
        scan_clock(c, &in);
    trace_input_close(&in);
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
