/* trace_reader.c - see trace_reader.h. */
#include "trace/trace_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "base/limit.h"
#include "trace/record.h"

void trace_reader_init(struct trace_reader *s, struct trace_reader_printer printer)
{
    *s = (struct trace_reader){ .printer = printer };
    record_reader_init(&s->reader);
    list_init(&s->lines);
    map_init(&s->by_number, 0);
    buf_init(&s->words, LIMIT_TRACE_RECORD);
}

static struct slice key_of(const uint32_t *number)
{
    return slice_mem(number, sizeof *number);
}

static void line_free(struct trace_reader *s, struct trace_reader_line *l)
{
    map_del(&s->by_number, key_of(&l->number));
    list_unlink(&l->link);
    decode_free(&l->decode);
    free(l);
}

void trace_reader_free(struct trace_reader *s)
{
    LIST_EACH(l, &s->lines)
    line_free(s, LIST_OF(l, struct trace_reader_line, link));
    map_free(&s->by_number);
    buf_free(&s->words);
    record_reader_free(&s->reader);
}

static struct trace_reader_line *line_of(const struct trace_reader *s, uint64_t number)
{
    uint32_t n = (uint32_t)number;

    return number <= UINT32_MAX ? map_get(&s->by_number, key_of(&n)) : NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

static int print_bytes(struct trace_reader *s, struct trace_reader_line *l, enum decode_way way,
                       struct slice bytes, uint64_t ns)
{
    struct decoded m;
    int rc = decode_feed(&l->decode, way, bytes);

    while (rc == 0 && (rc = decode_next(&l->decode, way, &m)) == DECODE_MESSAGE) {
        if (m.command.len || m.fault) /* an empty line is no message */
            s->printer.message(s->printer.arg, l, way, &m, ns);
        rc = 0;
    }
    return rc;
}

/* The bytes that came before their sender was known. */
static int print_words(struct trace_reader *s)
{
    struct trace_reader_line *l = s->asked;
    int rc;

    s->asked = NULL;
    rc = print_bytes(s, l, DECODE_IN, buf_slice(&s->words), s->words_ns);
    buf_clear(&s->words);
    return rc;
}

static void print_rest(struct trace_reader *s, struct trace_reader_line *l, uint64_t ns)
{
    struct decoded m;

    for (int w = 0; w < DECODE_WAYS; w++) {
        if (decode_rest(&l->decode, (enum decode_way)w, &m) == DECODE_MESSAGE)
            s->printer.message(s->printer.arg, l, (enum decode_way)w, &m, ns);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static int open_line(struct trace_reader *s, const struct record_open *d,
                     struct trace_reader_line **l_p)
{
    struct trace_reader_line *l = d->connection <= UINT32_MAX ? calloc(1, sizeof *l) : NULL;

    if (!l)
        return -ENOMEM;
    l->number = (uint32_t)d->connection;
    l->job = d->job;
    l->dialled = d->job < 0;
    l->rank = (uint32_t)d->rank;
    list_init(&l->link);
    decode_init(&l->decode);
    if (map_put(&s->by_number, key_of(&l->number), l, NULL) < 0) {
        free(l);
        return -ENOMEM;
    }
    list_append(&s->lines, &l->link);
    *l_p = l;
    return 0;
}

/* The connection of a record; 0 with NULL: none. */
static int find_line(struct trace_reader *s, const struct record *r, struct trace_reader_line **l_p,
                     struct errmsg *err)
{
    uint64_t number;
    int64_t asker = 0;

    *l_p = NULL;
    switch (r->kind) {
    case RECORD_identify: number = r->u.identify.connection; break;
    case RECORD_out: number = r->u.out.connection; break;
    case RECORD_close: number = r->u.close.connection; break;
    case RECORD_greet:
    case RECORD_in:
    case RECORD_hangup:
    case RECORD_rights_lost:
        record_number(r, "connection", &asker);
        number = (uint64_t)asker;
        break;
    case RECORD_open:
        if (line_of(s, r->u.open.connection))
            return errmsg_set(err, TRACE_READER_BAD, "a connection is opened twice");
        return open_line(s, &r->u.open, l_p);
    default:
        if (record_number(r, "connection", &asker)) /* of a request */
            *l_p = line_of(s, (uint64_t)asker);
        return 0;
    }
    *l_p = line_of(s, number);
    return *l_p ? 0 : errmsg_set(err, TRACE_READER_BAD, "a record about an unknown connection");
}

static int print_in(struct trace_reader *s, struct trace_reader_line *l, const struct record *r)
{
    if (l->job >= 0)
        return print_bytes(s, l, DECODE_IN, r->u.of.in.bytes, r->time_ns);
    s->asked = l;
    s->words_ns = r->time_ns;
    buf_slice_put(&s->words, r->u.of.in.bytes);
    return buf_ok(&s->words) ? 0 : -ENOMEM;
}

static void note(struct trace_reader *s, struct trace_reader_line *l, const struct record *r)
{
    switch (r->kind) {
    case RECORD_begin: s->begun = true; break;
    case RECORD_end: s->ended = true; break;
    case RECORD_hangup: l->hung_up = true; break;
    case RECORD_identify:
        l->job = r->u.identify.job;
        l->rank = (uint32_t)r->u.identify.rank;
        break;
    default: break;
    }
}

static int print(struct trace_reader *s, const struct record *r, struct errmsg *err)
{
    struct trace_reader_line *l;
    int rc = find_line(s, r, &l, err);

    if (rc)
        return rc;
    if (r->kind == RECORD_identify)
        note(s, l, r);
    if (s->asked && (rc = print_words(s)) < 0)
        return rc;
    if (r->kind != RECORD_identify)
        note(s, l, r);
    if (r->kind == RECORD_close)
        print_rest(s, l, r->time_ns);
    s->printer.record(s->printer.arg, l, r);
    if (r->kind == RECORD_in)
        rc = print_in(s, l, r);
    if (r->kind == RECORD_out)
        rc = print_bytes(s, l, DECODE_OUT, r->u.out.bytes, r->time_ns);
    if (r->kind == RECORD_close)
        line_free(s, l);
    return rc;
}

int trace_reader_feed(struct trace_reader *s, struct slice bytes, struct errmsg *err)
{
    struct record r;
    int rc = record_reader_feed(&s->reader, bytes);

    while (rc == 0 && (rc = record_reader_next(&s->reader, &r, err)) == RECORD_WHOLE)
        rc = print(s, &r, err);
    if (rc == RECORD_BAD)
        return TRACE_READER_BAD;
    return rc < 0 ? errmsg_set(err, rc, "out of memory") : rc;
}

int trace_reader_end(struct trace_reader *s, struct errmsg *err)
{
    int rc = 0;

    if (!s->begun)
        return errmsg_set(err, TRACE_READER_BAD, "this is not a trace file, or it is truncated");
    if (s->asked)
        rc = print_words(s);
    LIST_EACH(l, &s->lines)
    print_rest(s, LIST_OF(l, struct trace_reader_line, link), s->reader.last_ns);
    return rc < 0 ? errmsg_set(err, rc, "out of memory") : 0;
}
