/* trace_lines.c - see trace_lines.h.  Reading order: filters; marks; lines of text; lines of JSON;
 * callbacks. */
#include "tools/trace_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/limit.h"
#include "trace/record.h"

enum { TRACE_CUT = 72, TRACE_KEEP = 56 };

/* ---- filters ------------------------------------------------------------------------------- */

/* "2", "0-3", "1:2-3", "1:" */
static bool read_range(struct slice text, struct trace_range *r)
{
    struct slice rest = text, job = slice_cut(&rest, ':');
    uint32_t id = 0;

    if (job.len == text.len)
        rest = job;
    else if (!slice_u32(job, &id))
        return false;
    *r = (struct trace_range){ id, 0, UINT32_MAX };
    if (rest.len == 0)
        return job.len != text.len;
    job = slice_cut(&rest, '-');
    if (!slice_u32(job, &r->first))
        return false;
    r->last = r->first;
    return rest.len == 0 || slice_u32(rest, &r->last);
}

static bool read_ranges(struct trace_filter *t, const char *text)
{
    struct slice rest = slice_str(text);

    t->ranges = calloc(rest.len + 1, sizeof *t->ranges);
    while (t->ranges && rest.len) {
        if (!read_range(slice_trim(slice_cut(&rest, ',')), &t->ranges[t->nranges++]))
            return false;
    }
    return t->nranges > 0;
}

static bool read_seconds(const char *text, uint64_t *ns_p)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= 0) || v > 1e9)
        return false;
    *ns_p = (uint64_t)(v * 1e9);
    return true;
}

bool trace_filter_read(struct trace_filter *t, const struct command_line *l)
{
    const char *const *c = l->choices;

    *t = (struct trace_filter){ .json = c[CHOICE_trace_json] != NULL,
                                .all = c[CHOICE_trace_all] != NULL,
                                .commands = slice_str(c[CHOICE_trace_command]),
                                .keys = slice_str(c[CHOICE_trace_key]),
                                .nodes = slice_str(c[CHOICE_trace_node]),
                                .to_ns = UINT64_MAX };
    if (c[CHOICE_trace_rank] && !read_ranges(t, c[CHOICE_trace_rank]))
        log_error(l->log, "--rank must be ranks such as 0,2-5 or 1:3, not '%s'",
                  c[CHOICE_trace_rank]);
    else if (c[CHOICE_trace_from] && !read_seconds(c[CHOICE_trace_from], &t->from_ns))
        log_error(l->log, "--from must be a number of seconds, not '%s'", c[CHOICE_trace_from]);
    else if (c[CHOICE_trace_to] && !read_seconds(c[CHOICE_trace_to], &t->to_ns))
        log_error(l->log, "--to must be a number of seconds, not '%s'", c[CHOICE_trace_to]);
    else
        return true;
    return false;
}

void trace_filter_free(struct trace_filter *f)
{
    free(f->ranges);
    f->ranges = NULL;
    f->nranges = 0;
}

/* Whether the list, separated by commas, has the name, or is empty. */
static bool list_has(struct slice list, struct slice name)
{
    struct slice rest = list;

    while (rest.len) {
        if (slice_eq(slice_trim(slice_cut(&rest, ',')), name))
            return true;
    }
    return list.len == 0;
}

static bool rank_wanted(const struct trace_filter *t, int64_t job, int64_t rank)
{
    for (uint32_t i = 0; i < t->nranges; i++) {
        const struct trace_range *r = &t->ranges[i];
        bool whole = r->first == 0 && r->last == UINT32_MAX;
        if (job == r->job && (rank < 0 ? whole : rank >= r->first && rank <= r->last))
            return true;
    }
    return t->nranges == 0;
}

static int64_t time_of(const struct trace_lines *t, uint64_t ns)
{
    return (int64_t)(ns - t->begin_ns);
}

static bool time_wanted(const struct trace_lines *t, uint64_t ns)
{
    int64_t at = time_of(t, ns);
    uint64_t since = at > 0 ? (uint64_t)at : 0;

    return since >= t->filter->from_ns && since <= t->filter->to_ns;
}

static bool is_key(struct slice name)
{
    return slice_is(name, "key") || slice_is(name, "keys") || slice_is(name, "service") ||
           slice_is(name, "name");
}

/* A field is about a key if that is its name, or if it is a key by its own name, or in a list of
 * keys.
 */
static bool key_wanted(const struct trace_filter *f, const struct decoded *m)
{
    bool in_keys = false;

    for (uint32_t i = 0; f->keys.len && i < m->nfields; i++) {
        const struct decode_field *d = &m->fields[i];
        if (d->kind == DECODE_LIST)
            in_keys = is_key(d->name);
        else if (d->kind == DECODE_END)
            in_keys = false;
        if (d->name.len && list_has(f->keys, d->name))
            return true;
        if (d->kind == DECODE_TEXT && (is_key(d->name) || (in_keys && !d->name.len)) &&
            list_has(f->keys, d->text))
            return true;
    }
    return f->keys.len == 0;
}

/* ---- marks ----------------------------------------------------------------------------------- */

void trace_lines_init(struct trace_lines *t, const struct trace_filter *f, const char *node)
{
    *t = (struct trace_lines){ .filter = f, .node = node };
    buf_init(&t->out, (size_t)LIMIT_TRACE_RECORD * 8);
}

void trace_lines_free(struct trace_lines *t)
{
    buf_free(&t->out);
    free(t->marks);
    t->marks = NULL;
    t->nmarks = t->taken = t->room = 0;
}

static bool mark_room(struct trace_lines *t)
{
    uint32_t room = t->room ? 2 * t->room : 256;
    struct trace_mark *more;

    if (t->nmarks < t->room)
        return true;
    more = realloc(t->marks, room * sizeof *more);
    if (!more)
        return false;
    t->marks = more;
    t->room = room;
    return true;
}

struct slice trace_lines_first(const struct trace_lines *t, int64_t *ns_p)
{
    if (t->taken == t->nmarks)
        return SLICE_NULL;
    *ns_p = t->marks[t->taken].ns;
    return slice_head(buf_slice(&t->out), t->marks[t->taken].len);
}

void trace_lines_take(struct trace_lines *t)
{
    buf_take(&t->out, t->marks[t->taken++].len);
    if (t->taken == t->nmarks)
        t->taken = t->nmarks = 0;
}

static void line_begin(struct trace_lines *t, uint64_t ns)
{
    t->line_begun = buf_len(&t->out);
    t->line_ns = ns;
}

static void line_done(struct trace_lines *t)
{
    buf_byte(&t->out, '\n');
    if (!buf_ok(&t->out) || !mark_room(t))
        t->no_memory = true;
    else
        t->marks[t->nmarks++] =
            (struct trace_mark){ time_of(t, t->line_ns), buf_len(&t->out) - t->line_begun };
}

/* The subject of a line. */
struct subject {
    uint64_t ns;
    int64_t job, rank;   /* -1: none */
    uint32_t connection; /* 0: none */
};

/* ---- parts of records ------------------------------------------------------------------------ */

static bool is_list(const struct part *p)
{
    return p->kind >= PART_UINTS;
}

static const void *part_at(const struct part *p, const struct record *r)
{
    return (const char *)&r->u + p->offset;
}

/* 1 for parts that are no list. */
static uint32_t list_length(const struct part *p, const struct record *r)
{
    switch (p->kind) {
    case PART_UINTS: return ((const struct part_uints *)part_at(p, r))->n;
    case PART_INTS: return ((const struct part_ints *)part_at(p, r))->n;
    case PART_TEXTS: return ((const struct part_texts *)part_at(p, r))->n;
    default: return 1;
    }
}

static struct slice text_of(const struct part *p, const struct record *r, uint32_t i)
{
    if (p->kind == PART_TEXTS)
        return ((const struct part_texts *)part_at(p, r))->items[i];
    return *(const struct slice *)part_at(p, r);
}

static void put_number(struct buf *out, const struct part *p, const struct record *r, uint32_t i)
{
    const void *at = part_at(p, r);

    switch (p->kind) {
    case PART_UINT: buf_u64(out, *(const uint64_t *)at); break;
    case PART_INT: buf_i64(out, *(const int64_t *)at); break;
    case PART_UINTS: buf_u64(out, ((const struct part_uints *)at)->items[i]); break;
    case PART_INTS: buf_i64(out, ((const struct part_ints *)at)->items[i]); break;
    default: break;
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_plain(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c >= 0x7f || c == '"' || c == '\\')
            return false;
    }
    return s.len > 0;
}

/* Long values are cut, with their length. */
static void put_text(struct buf *out, struct slice s)
{
    bool cut = s.len > TRACE_CUT, plain = is_plain(s);

    if (!plain)
        buf_byte(out, '"');
    buf_escaped(out, cut ? slice_head(s, TRACE_KEEP) : s);
    if (cut)
        buf_str(out, "...");
    if (!plain)
        buf_byte(out, '"');
    if (cut)
        buf_printf(out, "(%zu bytes)", s.len);
}

/* Time, subject, connection and direction, in columns. */
static void text_head(struct trace_lines *t, const struct subject *s, const char *mark)
{
    char who[64] = "", line[16] = "";

    if (s->job > 0 && s->rank >= 0)
        snprintf(who, sizeof who, "rank %lld:%lld", (long long)s->job, (long long)s->rank);
    else if (s->job >= 0 && s->rank >= 0)
        snprintf(who, sizeof who, "rank %lld", (long long)s->rank);
    else if (s->job >= 0)
        snprintf(who, sizeof who, "job %lld", (long long)s->job);
    if (s->connection)
        snprintf(line, sizeof line, "#%u", s->connection);
    line_begin(t, s->ns);
    buf_printf(&t->out, "%11.6f ", (double)time_of(t, s->ns) / 1e9);
    if (t->filter->width)
        buf_printf(&t->out, "%-*s ", t->filter->width, t->node);
    buf_printf(&t->out, "%-9s %4s %s ", who, line, mark);
}

/* Of a field whose type is in the message: ":UINT32", and "/FLAGS" if it has some. */
static void text_name(struct buf *out, const struct decode_field *f)
{
    if (!f->name.len)
        return;
    buf_slice_put(out, f->name);
    if (f->type)
        buf_printf(out, ":%s", f->type);
    if (f->flags)
        buf_printf(out, "/%u", f->flags);
    buf_byte(out, '=');
}

/* A field with all that is in it; *i moves behind it. */
static void text_field(struct buf *out, const struct decoded *m, uint32_t *i)
{
    const struct decode_field *f = &m->fields[(*i)++];
    const char *gap = "";

    text_name(out, f);
    switch (f->kind) {
    case DECODE_NUMBER: buf_i64(out, f->number); break;
    case DECODE_UNSIGNED: buf_u64(out, (uint64_t)f->number); break;
    case DECODE_FLAG: buf_str(out, f->number ? "TRUE" : "FALSE"); break;
    case DECODE_NULL: buf_str(out, "NULL"); break;
    case DECODE_TEXT:
    case DECODE_BYTES: put_text(out, f->text); break;
    case DECODE_LIST:
    case DECODE_GROUP:
        buf_byte(out, '{');
        for (; *i < m->nfields && m->fields[*i].kind != DECODE_END; gap = " ") {
            buf_str(out, gap);
            text_field(out, m, i);
        }
        ++*i;
        buf_byte(out, '}');
        break;
    case DECODE_END: break;
    }
}

static void text_message(struct trace_lines *t, const struct subject *s, enum decode_way way,
                         const struct decoded *m)
{
    struct buf *out = &t->out;

    text_head(t, s, way == DECODE_IN ? ">" : "<");
    buf_printf(out, "%s ", m->protocol);
    if (m->command.len)
        put_text(out, m->command);
    for (uint32_t i = 0; i < m->nfields;) {
        buf_byte(out, ' ');
        text_field(out, m, &i);
    }
    if (m->fault)
        buf_printf(out, "%s[%s]", m->command.len ? " " : "", m->fault);
    if ((m->fault || t->filter->all) && !m->secret) {
        buf_str(out, " bytes=");
        put_text(out, m->bytes);
    }
    line_done(t);
}

static void put_date(struct buf *out, uint64_t wall_ns)
{
    time_t at = (time_t)(wall_ns / 1000000000);
    char text[40];
    struct tm tm;

    if (gmtime_r(&at, &tm) && strftime(text, sizeof text, " %Y-%m-%dT%H:%M:%SZ", &tm))
        buf_str(out, text);
}

static void text_part(struct buf *out, const struct part *p, const struct record *r)
{
    uint32_t n = list_length(p, r);

    if (p->kind == PART_BYTES && text_of(p, r, 0).len == 0)
        return;
    if (!strcmp(p->name, record_row(r->kind)->name)) /* "event started" */
        buf_byte(out, ' ');
    else
        buf_printf(out, " %s=", p->name);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_byte(out, ',');
        if (p->kind == PART_BYTES || p->kind == PART_TEXTS)
            put_text(out, text_of(p, r, i));
        else
            put_number(out, p, r, i);
    }
}

/* A number of an effect that means "none". */
static bool is_none(const struct record *r, const struct part *p)
{
    bool can_be = !strcmp(p->name, "connection") || !strcmp(p->name, "token") ||
                  (r->kind == RECORD_effect_answer && !strcmp(p->name, "number"));
    int64_t n;

    return can_be && record_is_effect(r->kind) && record_number(r, p->name, &n) && n == 0;
}

/* Parts of a record that its line has already shown, or that have no meaning. */
static bool is_printed(const struct subject *s, const struct record *r, const struct part *p)
{
    return (s->job >= 0 && !strcmp(p->name, "job")) || (s->rank >= 0 && !strcmp(p->name, "rank")) ||
           (s->connection && !strcmp(p->name, "connection")) || is_none(r, p) ||
           ((r->kind == RECORD_out || r->kind == RECORD_section) &&
            !strcmp(p->name, "bytes")); /* they are shown as messages */
}

static void text_record(struct trace_lines *t, const struct subject *s, const struct record *r)
{
    const struct operation_row *row = record_row(r->kind);

    text_head(t, s, "*");
    buf_printf(&t->out, "%s%s", record_is_effect(r->kind) ? "effect " : "", row->name);
    if (r->kind == RECORD_begin)
        put_date(&t->out, r->u.begin.wall_ns);
    for (uint32_t i = 0; i < row->nparts; i++) {
        if (!is_printed(s, r, &row->parts[i]))
            text_part(&t->out, &row->parts[i], r);
    }
    line_done(t);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Begins the object of a line. */
static void json_head(struct json *j, struct trace_lines *t, const struct subject *s)
{
    line_begin(t, s->ns);
    json_init(j, &t->out);
    json_object(j, NULL);
    json_str(j, "schema", "wireup-trace-1");
    json_decimal(j, "time", (double)time_of(t, s->ns) / 1e9, 9);
    if (t->filter->width)
        json_str(j, "trace", t->node);
    if (s->job >= 0)
        json_i64(j, "job", s->job);
    if (s->rank >= 0)
        json_i64(j, "rank", s->rank);
    if (s->connection)
        json_u64(j, "connection", s->connection);
}

static void json_line_done(struct json *j, struct trace_lines *t)
{
    json_object_end(j);
    json_done(j);
    line_done(t);
}

static void json_value(struct json *j, const struct decoded *m, uint32_t *i);

static void json_type_of(struct json *j, const struct decode_field *f)
{
    struct buf key = BUF_NULL(f->name.len + 8);

    buf_printf(&key, SLICE_FMT "_type", SLICE_ARG(f->name));
    json_key(j, buf_slice(&key));
    json_str(j, NULL, f->type);
    if (!buf_ok(&key))
        j->out->error = key.error;
    buf_free(&key);
}

/* Of a group: "name":value, and "name_type":"UINT32" if the type is in the message. */
static void json_member(struct json *j, const struct decoded *m, uint32_t *i)
{
    const struct decode_field *f = &m->fields[*i];

    json_key(j, f->name);
    json_value(j, m, i);
    if (f->type)
        json_type_of(j, f);
}

/* Of a list: a value; or a key with its value, as an object. */
static void json_element(struct json *j, const struct decoded *m, uint32_t *i)
{
    const struct decode_field *f = &m->fields[*i];

    if (!f->name.len) {
        json_value(j, m, i);
        return;
    }
    json_object(j, NULL);
    json_text(j, "key", f->name);
    if (f->type)
        json_str(j, "type", f->type);
    if (f->flags)
        json_u64(j, "flags", f->flags);
    json_key(j, SLICE("value"));
    json_value(j, m, i);
    json_object_end(j);
}

static bool nest_goes_on(const struct decoded *m, uint32_t i)
{
    return i < m->nfields && m->fields[i].kind != DECODE_END;
}

static void json_list(struct json *j, const struct decoded *m, uint32_t *i)
{
    json_array(j, NULL);
    while (nest_goes_on(m, *i))
        json_element(j, m, i);
    ++*i;
    json_array_end(j);
}

static void json_group(struct json *j, const struct decoded *m, uint32_t *i)
{
    json_object(j, NULL);
    while (nest_goes_on(m, *i))
        json_member(j, m, i);
    ++*i;
    json_object_end(j);
}

static void json_value(struct json *j, const struct decoded *m, uint32_t *i)
{
    const struct decode_field *f = &m->fields[(*i)++];

    switch (f->kind) {
    case DECODE_NUMBER: json_i64(j, NULL, f->number); break;
    case DECODE_UNSIGNED: json_u64(j, NULL, (uint64_t)f->number); break;
    case DECODE_FLAG: json_bool(j, NULL, f->number); break;
    case DECODE_TEXT: json_text(j, NULL, f->text); break;
    case DECODE_BYTES: json_bytes(j, NULL, f->text); break;
    case DECODE_LIST: json_list(j, m, i); break;
    case DECODE_GROUP: json_group(j, m, i); break;
    case DECODE_NULL:
    case DECODE_END: json_null(j, NULL); break;
    }
}

static void json_fields(struct json *j, const char *key, const struct decoded *m, uint32_t *i,
                        uint32_t item)
{
    json_object(j, key);
    while (*i < m->nfields && m->fields[*i].item == item)
        json_member(j, m, i);
    json_object_end(j);
}

static void json_message(struct trace_lines *t, const struct subject *s, enum decode_way way,
                         const struct decoded *m)
{
    struct json j;
    uint32_t i = 0;

    json_head(&j, t, s);
    json_str(&j, "way", way == DECODE_IN ? "in" : "out");
    json_str(&j, "protocol", m->protocol);
    json_text(&j, "command", m->command);
    json_fields(&j, "fields", m, &i, 0);
    if (i < m->nfields) {
        json_array(&j, "items");
        while (i < m->nfields)
            json_fields(&j, NULL, m, &i, m->fields[i].item);
        json_array_end(&j);
    }
    if (m->fault)
        json_str(&j, "fault", m->fault);
    if ((m->fault || t->filter->all) && !m->secret)
        json_bytes(&j, "bytes", m->bytes);
    json_line_done(&j, t);
}

static void json_part_value(struct json *j, const char *key, const struct part *p,
                            const struct record *r, uint32_t i)
{
    const void *at = part_at(p, r);

    switch (p->kind) {
    case PART_UINT: json_u64(j, key, *(const uint64_t *)at); break;
    case PART_INT: json_i64(j, key, *(const int64_t *)at); break;
    case PART_UINTS: json_u64(j, key, ((const struct part_uints *)at)->items[i]); break;
    case PART_INTS: json_i64(j, key, ((const struct part_ints *)at)->items[i]); break;
    default: json_bytes(j, key, text_of(p, r, i)); break;
    }
}

static void json_part(struct json *j, const struct part *p, const struct record *r)
{
    uint32_t n = list_length(p, r);

    if (!is_list(p)) {
        json_part_value(j, p->name, p, r, 0);
        return;
    }
    json_array(j, p->name);
    for (uint32_t i = 0; i < n; i++)
        json_part_value(j, NULL, p, r, i);
    json_array_end(j);
}

static void json_record(struct trace_lines *t, const struct subject *s, const struct record *r)
{
    const struct operation_row *row = record_row(r->kind);
    bool effect = record_is_effect(r->kind);
    struct json j;

    json_head(&j, t, s);
    json_str(&j, "record", effect ? "effect" : row->name);
    if (effect)
        json_str(&j, "effect", row->name);
    for (uint32_t i = 0; i < row->nparts; i++) {
        if (!is_printed(s, r, &row->parts[i]))
            json_part(&j, &row->parts[i], r);
    }
    json_line_done(&j, t);
}

/* ---- callbacks ----------------------------------------------------------------------------- */

static void on_message(void *arg, const struct trace_reader_line *l, enum decode_way way,
                       const struct decoded *m, uint64_t ns)
{
    struct trace_lines *t = arg;
    struct subject s = { ns, l->job, l->job < 0 ? -1 : (int64_t)l->rank, l->number };

    if (!time_wanted(t, ns) || !rank_wanted(t->filter, s.job, s.rank) ||
        !list_has(t->filter->commands, m->command) || !key_wanted(t->filter, m))
        return;
    if (t->filter->json)
        json_message(t, &s, way, m);
    else
        text_message(t, &s, way, m);
}

/* The subject of a record, from the record or from its connection. */
static struct subject subject_of(const struct trace_reader_line *l, const struct record *r)
{
    struct subject s = { r->time_ns, -1, -1, l ? l->number : 0 };

    if (r->kind == RECORD_job)
        s.job = (int64_t)r->u.job.job;
    if (record_is_input(r->kind)) {
        record_number(r, "job", &s.job);
        record_number(r, "rank", &s.rank);
    }
    if (l && l->job >= 0) {
        s.job = l->job;
        s.rank = l->rank;
    } else if (record_is_effect(r->kind)) {
        record_number(r, "job", &s.job);
    }
    return s;
}

/* The name that --command matches. */
static bool name_wanted(const struct trace_filter *f, const struct record *r)
{
    if (r->kind == RECORD_proc_state && list_has(f->commands, r->u.of.proc_state.event))
        return true;
    return list_has(f->commands, slice_str(record_row(r->kind)->name)) ||
           (record_is_effect(r->kind) && list_has(f->commands, SLICE("effect")));
}

/* A part that is a key, for --key. */
static bool record_key_wanted(const struct trace_filter *f, const struct record *r)
{
    const struct operation_row *row = record_row(r->kind);

    for (uint32_t i = 0; f->keys.len && i < row->nparts; i++) {
        const struct part *p = &row->parts[i];
        if (p->kind == PART_BYTES && is_key(slice_str(p->name)) &&
            list_has(f->keys, text_of(p, r, 0)))
            return true;
    }
    return f->keys.len == 0;
}

/* Messages are printed in their place; clocks in one line (trace_lines_clock()). */
static bool is_silent(const struct trace_filter *f, const struct record *r)
{
    return r->kind == RECORD_in || (r->kind == RECORD_out && !r->u.out.store) ||
           r->kind == RECORD_end || (r->kind == RECORD_clock && !f->all) ||
           (r->kind == RECORD_section && !r->u.section.why.len && !f->all) ||
           (r->kind == RECORD_effect_answer && !f->all);
}

static void on_record(void *arg, const struct trace_reader_line *l, const struct record *r)
{
    struct trace_lines *t = arg;
    const struct trace_filter *f = t->filter;
    struct subject s = subject_of(l, r);

    if (r->kind == RECORD_begin && t->is_first)
        t->begin_ns = r->time_ns;
    if (is_silent(f, r) || !time_wanted(t, r->time_ns) || !rank_wanted(f, s.job, s.rank) ||
        !name_wanted(f, r) || !record_key_wanted(f, r))
        return;
    if (f->json)
        json_record(t, &s, r);
    else
        text_record(t, &s, r);
}

struct trace_reader_printer trace_lines_printer(struct trace_lines *t)
{
    return (struct trace_reader_printer){ on_record, on_message, t };
}

static void json_clock(struct trace_lines *t, const struct subject *s, int64_t ahead_ns,
                       uint64_t within_ns)
{
    struct json j;

    json_head(&j, t, s);
    json_str(&j, "record", "clock");
    json_decimal(&j, "ahead", (double)ahead_ns / 1e9, 9);
    if (within_ns == UINT64_MAX)
        json_null(&j, "within");
    else
        json_decimal(&j, "within", (double)within_ns / 1e9, 9);
    json_line_done(&j, t);
}

void trace_lines_clock(struct trace_lines *t, int64_t ahead_ns, uint64_t within_ns)
{
    const struct trace_filter *f = t->filter;
    struct subject s = { t->begin_ns, -1, -1, 0 };

    if (f->nranges || f->keys.len || f->from_ns || !list_has(f->commands, SLICE("clock")))
        return;
    if (f->json) {
        json_clock(t, &s, ahead_ns, within_ns);
        return;
    }
    text_head(t, &s, "*");
    buf_printf(&t->out, "clock of %s: %+.6f s, ", t->node, (double)ahead_ns / 1e9);
    if (within_ns == UINT64_MAX)
        buf_str(&t->out, "by the time of day");
    else
        buf_printf(&t->out, "within %.6f s", (double)within_ns / 1e9);
    line_done(t);
}
