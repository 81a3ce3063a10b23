/* trace_merge.c - see trace_merge.h.  Reading order: sources; the merge; following; the whole.
 *
 * Each source is read until it has a line, and the earliest line of all is printed.  A source of
 * which nothing more comes for now (it is being followed) does not hold up the others.
 */
#include "tools/trace_merge.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "tools/trace_file.h"
#include "tools/trace_set.h"

enum {
    MERGE_PIECE = 256 << 10,
    MERGE_WAIT_MS = 1000, /* files on a file system of the network change without a notice */
    MERGE_NOTICES = 4096
};

struct trace_source {
    struct trace_input in;
    struct trace_reader reader;
    struct trace_lines lines;
    bool dry, done; /* nothing more for now; for ever */
};

struct trace_merger {
    const struct log *log;
    struct trace_filter *filter;
    struct trace_set set;
    struct trace_clock clock; /* of the launcher */
    struct trace_source **sources;
    uint32_t nsources;
    bool follow, broken; /* broken: nobody reads our output */
    bool last_round;     /* the launcher's trace has ended */
    int notices;         /* inotify; -1: none */
    int code;
    char piece[MERGE_PIECE];
};

/* ---- sources --------------------------------------------------------------------------------- */

static const struct trace_member *member_of(const struct trace_merger *m,
                                            const struct trace_source *s)
{
    return &m->set.members[s->in.member];
}

static void fail(struct trace_merger *m, const char *path, const char *why)
{
    log_error(m->log, "%s: %s", trace_file_name(path), why);
    m->code = 2;
}

static void free_source(struct trace_source *s)
{
    trace_input_close(&s->in);
    trace_reader_free(&s->reader);
    trace_lines_free(&s->lines);
    free(s);
}

static bool open_source(struct trace_merger *m, struct trace_source *s, uint32_t member)
{
    int rc = trace_input_open(&s->in, &m->set, member);

    if (rc < 0) {
        log_error(m->log, "cannot read the trace %s: %s", m->set.members[member].name,
                  err_text(rc));
        m->code = 2;
        return false;
    }
    if (m->notices >= 0 && !s->in.inside)
        inotify_add_watch(m->notices, m->set.members[member].path, IN_MODIFY);
    return true;
}

/* Its clock, compared with the launcher's. */
static void set_clock(struct trace_merger *m, struct trace_source *s)
{
    struct trace_clock own = TRACE_CLOCK_NULL;
    uint64_t within;
    int64_t ahead;

    if (s->in.member == 0)
        return;
    trace_clock_scan_member(&own, &m->set, s->in.member);
    ahead = trace_clock_ahead(&own, &m->clock, &within);
    s->lines.begin_ns = m->clock.begin_ns + (uint64_t)ahead;
    trace_lines_clock(&s->lines, ahead, within);
}

static void add_source(struct trace_merger *m, uint32_t member)
{
    struct trace_source **more = realloc(m->sources, (m->nsources + 1) * sizeof *more);
    struct trace_source *s = more ? calloc(1, sizeof *s) : NULL;

    if (more)
        m->sources = more;
    if (!s) {
        fail(m, m->set.path, "out of memory");
        return;
    }
    trace_lines_init(&s->lines, m->filter, m->set.members[member].node);
    s->lines.is_first = member == 0;
    trace_reader_init(&s->reader, trace_lines_printer(&s->lines));
    m->sources[m->nsources++] = s;
    if (open_source(m, s, member))
        set_clock(m, s);
}

static bool has_source(const struct trace_merger *m, uint32_t member)
{
    for (uint32_t i = 0; i < m->nsources; i++) {
        if (m->sources[i]->in.member == member)
            return true;
    }
    return false;
}

static bool node_wanted(const struct trace_merger *m, const char *node)
{
    struct slice rest = m->filter->nodes;

    while (rest.len) {
        if (slice_is(slice_trim(slice_cut(&rest, ',')), node))
            return true;
    }
    return m->filter->nodes.len == 0;
}

/* The width of the column of nodes, from what the launcher's trace says. */
static int node_width(const struct trace_merger *m)
{
    size_t most = 0;

    for (uint32_t i = 0; m->set.n > 1 && i < m->set.n; i++) {
        size_t n = strlen(m->set.members[i].node);
        most = n > most ? n : most;
    }
    return most > 24 ? 24 : (int)most;
}

/* Of the members that are there. */
static void add_sources(struct trace_merger *m)
{
    m->filter->width = node_width(m);
    for (uint32_t i = 1; m->code == 0 && i < m->set.n; i++) {
        if (!m->set.members[i].missing && !has_source(m, i) &&
            node_wanted(m, m->set.members[i].node))
            add_source(m, i);
    }
}

/* ---- the merge ------------------------------------------------------------------------------- */

static void end_source(struct trace_merger *m, struct trace_source *s)
{
    const struct trace_member *member = member_of(m, s);
    struct errmsg err = { "" };

    s->done = true;
    if (trace_reader_end(&s->reader, &err))
        fail(m, member->name, err.text);
    else if (!s->reader.ended && member->why)
        log_warn(m->log, "%s is incomplete: %s", member->name, member->why);
    else if (!s->reader.ended)
        log_warn(m->log, "%s is incomplete: the launcher was killed, or it is still running",
                 trace_file_name(member->name));
}

static void feed_source(struct trace_merger *m, struct trace_source *s, struct slice bytes)
{
    struct errmsg err = { "" };

    if (trace_reader_feed(&s->reader, bytes, &err)) {
        s->done = true;
        fail(m, member_of(m, s)->name, err.text);
    } else if (s->lines.no_memory) {
        fail(m, member_of(m, s)->name, "out of memory");
    }
}

static void read_source(struct trace_merger *m, struct trace_source *s)
{
    ssize_t n = trace_input_read(&s->in, m->piece, sizeof m->piece);

    if (n > 0) {
        feed_source(m, s, slice_mem(m->piece, (size_t)n));
    } else if (n < 0) {
        log_error(m->log, "cannot read the trace %s: %s", trace_file_name(member_of(m, s)->name),
                  err_text(errno));
        m->code = 2;
    } else if (m->follow && !s->reader.ended && !m->last_round) {
        s->dry = true;
    } else {
        end_source(m, s);
    }
}

static bool has_line(const struct trace_source *s)
{
    int64_t ns;

    return trace_lines_first(&s->lines, &ns).len > 0;
}

/* Until each source has a line, or none for now. */
static void fill(struct trace_merger *m)
{
    for (uint32_t i = 0; m->code == 0 && i < m->nsources; i++) {
        struct trace_source *s = m->sources[i];
        while (m->code == 0 && !s->done && !s->dry && !has_line(s))
            read_source(m, s);
        add_sources(m); /* that the launcher's trace has named */
    }
}

static struct trace_source *earliest(const struct trace_merger *m)
{
    struct trace_source *first = NULL;
    int64_t least = 0, ns;

    for (uint32_t i = 0; i < m->nsources; i++) {
        if (trace_lines_first(&m->sources[i]->lines, &ns).len && (!first || ns < least)) {
            first = m->sources[i];
            least = ns;
        }
    }
    return first;
}

/* False: there is no line for now. */
static bool print_line(struct trace_merger *m)
{
    struct trace_source *s;
    struct slice line;
    int64_t ns;

    fill(m);
    s = earliest(m);
    if (!s)
        return false;
    line = trace_lines_first(&s->lines, &ns);
    if ((s->in.member || node_wanted(m, member_of(m, s)->node)) &&
        fwrite(line.ptr, 1, line.len, stdout) < line.len)
        m->broken = true;
    trace_lines_take(&s->lines);
    return true;
}

/* ---- following ------------------------------------------------------------------------------- */

static bool all_done(const struct trace_merger *m)
{
    for (uint32_t i = 0; i < m->nsources; i++) {
        if (!m->sources[i]->done)
            return false;
    }
    return true;
}

static void wait_for_more(struct trace_merger *m)
{
    char ignored[MERGE_NOTICES];
    struct pollfd p = { m->notices, POLLIN, 0 };

    if (poll(&p, 1, MERGE_WAIT_MS) > 0 && read(m->notices, ignored, sizeof ignored) < 0 &&
        errno != EINTR && errno != EAGAIN)
        m->notices = -1;
    trace_set_scan(&m->set);
    m->last_round = m->sources[0]->reader.ended;
    for (uint32_t i = 0; i < m->nsources; i++)
        m->sources[i]->dry = false;
    add_sources(m);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void merge_all(struct trace_merger *m)
{
    while (m->code == 0 && !m->broken) {
        if (print_line(m))
            continue;
        if (all_done(m))
            break;
        if (fflush(stdout) != 0)
            m->broken = true;
        wait_for_more(m);
    }
}

/* The nodes of the jobs that have begun are known before the first line, so that all lines have the
 * same columns.  Standard input is read once: it is one trace. */
static void look_ahead(struct trace_merger *m)
{
    trace_set_scan(&m->set);
    m->filter->width = node_width(m);
    trace_clock_scan(&m->clock, m->set.path);
}

static void close_all(struct trace_merger *m)
{
    for (uint32_t i = 0; i < m->nsources; i++)
        free_source(m->sources[i]);
    free(m->sources);
    trace_set_free(&m->set);
    if (m->notices >= 0)
        close(m->notices);
    free(m);
}

int trace_merge(const struct log *log, const char *path, struct trace_filter *f, bool follow)
{
    struct trace_merger *m = calloc(1, sizeof *m);
    int code;

    if (!m || trace_set_init(&m->set, log, path) < 0) {
        log_error(log, "out of memory");
        free(m);
        return 2;
    }
    m->log = log;
    m->filter = f;
    m->follow = follow;
    m->clock = TRACE_CLOCK_NULL;
    m->notices = follow ? inotify_init1(IN_CLOEXEC | IN_NONBLOCK) : -1;
    look_ahead(m);
    add_source(m, 0);
    merge_all(m);
    if (m->code == 0 && !m->broken && !f->nodes.len)
        trace_set_warn(&m->set);
    code = m->code ? m->code : fflush(stdout) != 0 || m->broken ? 1 : 0;
    close_all(m);
    return code;
}
