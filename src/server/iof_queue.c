/* iof_queue.c - see iof_queue.h. */
#include "server/iof_queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "server/iof_xml.h"
#include "server/pmix_value.h"
#include "server/session.h"

/* due_ns of a stream that waits for nothing, and of one whose time begins at the next tick. */
enum { AT_ONCE = 0, WAITS_FROM_NOW = 1 };

/* What a process has written on a channel and is not passed on yet. */
struct iof_stream {
    struct list link;
    uint64_t due_ns; /* UINT64_MAX: no time matters */
    uint32_t rank;
    uint16_t channel;
    bool ends; /* after the bytes */
    struct buf held;
    char nspace[PMIX_MAX_NSLEN + 1];
};

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool is_given(const pmix_info_t *infos, size_t n, const char *key)
{
    bool given = false;

    for (size_t i = 0; i < n; i++)
        given = given || (!strcmp(infos[i].key, key) && pmix_flag_of(&infos[i].value));
    return given;
}

static uint64_t number_of(const pmix_info_t *infos, size_t n, const char *key, uint64_t otherwise)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, key))
            return pmix_number_of(&infos[i].value);
    }
    return otherwise;
}

pmix_status_t iof_options_read(struct iof_options *o, const pmix_info_t *infos, size_t n)
{
    uint64_t cache = number_of(infos, n, PMIX_IOF_CACHE_SIZE, LIMIT_LISTENER_QUEUE);
    uint64_t gather = number_of(infos, n, PMIX_IOF_BUFFERING_SIZE, 0);
    uint64_t seconds = number_of(infos, n, PMIX_IOF_BUFFERING_TIME, 0);

    if (cache > LIMIT_LISTENER_CACHE || gather > LIMIT_LISTENER_QUEUE || seconds > UINT32_MAX)
        return PMIX_ERR_OUT_OF_RESOURCE;
    *o = (struct iof_options){ .cache = (uint32_t)cache, .gather = (uint32_t)gather };
    o->gather_ns = gather ? seconds * UINT64_C(1000000000) : 0;
    o->drop_newest = is_given(infos, n, PMIX_IOF_DROP_NEWEST);
    o->redirects = is_given(infos, n, PMIX_IOF_REDIRECT);
    if (is_given(infos, n, PMIX_IOF_TAG_OUTPUT))
        o->format |= IOF_TAGGED;
    if (is_given(infos, n, PMIX_IOF_TIMESTAMP_OUTPUT))
        o->format |= IOF_TIMED;
    if (is_given(infos, n, PMIX_IOF_XML_OUTPUT))
        o->format |= IOF_XML;
    if (is_given(infos, n, PMIX_IOF_RANK_OUTPUT))
        o->format |= IOF_RANKED;
    return PMIX_SUCCESS;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static unsigned index_of(uint16_t channel)
{
    return channel ? (unsigned)__builtin_ctz(channel) : 0;
}

struct iof_piece *iof_queue_first(const struct iof_queue *q)
{
    return list_empty(&q->pieces) ? NULL : LIST_OF(q->pieces.next, struct iof_piece, link);
}

static void shorten(struct iof_queue *q, struct iof_piece *p, size_t n)
{
    q->cached[index_of(p->channel)] -= n;
    *q->held -= n;
    buf_take(&p->bytes, n);
}

void iof_queue_drop(struct iof_queue *q, struct iof_piece *p)
{
    shorten(q, p, buf_len(&p->bytes));
    *q->held -= sizeof *p;
    list_unlink(&p->link);
    buf_free(&p->bytes);
    free(p);
}

/* The oldest bytes of the channel go, at least n of them if there are so many; ends stay. */
static void drop_oldest(struct iof_queue *q, uint16_t channel, size_t n)
{
    LIST_EACH(l, &q->pieces)
    {
        struct iof_piece *p = LIST_OF(l, struct iof_piece, link);
        size_t take = buf_len(&p->bytes) < n ? buf_len(&p->bytes) : n;
        if (p->channel != channel)
            continue;
        if (n == 0)
            return;
        n -= take;
        shorten(q, p, take);
        if (buf_len(&p->bytes) == 0 && !p->ends)
            iof_queue_drop(q, p);
    }
}

/* What may be cached of the bytes, with room made for it. */
static struct slice make_room(struct iof_queue *q, uint16_t channel, struct slice bytes)
{
    size_t cached = q->cached[index_of(channel)], limit = q->options.cache;
    size_t room = limit > cached ? limit - cached : 0;

    if (*q->held > LIMIT_LISTENER_CACHE)
        room = 0;
    if (q->options.drop_newest)
        return slice_head(bytes, room);
    if (bytes.len > limit)
        bytes = slice_mem(bytes.ptr + (bytes.len - limit), limit);
    if (bytes.len > room)
        drop_oldest(q, channel, bytes.len - room);
    return bytes;
}

static struct iof_piece *add_piece(struct iof_queue *q, const struct spoken *o)
{
    struct iof_piece *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->rank = o->rank;
    p->channel = o->channel;
    strncpy(p->nspace, o->nspace, PMIX_MAX_NSLEN);
    buf_init(&p->bytes, SIZE_MAX);
    list_append(&q->pieces, &p->link);
    *q->held += sizeof *p;
    return p;
}

static bool is_of(const struct iof_piece *p, const struct spoken *o)
{
    return p->rank == o->rank && p->channel == o->channel && !p->ends &&
           !strcmp(p->nspace, o->nspace);
}

/* The last piece if it is of the same stream, or a new one. */
static struct iof_piece *piece_for(struct iof_queue *q, const struct spoken *o)
{
    struct iof_piece *last =
        list_empty(&q->pieces) ? NULL : LIST_OF(q->pieces.prev, struct iof_piece, link);

    return last && is_of(last, o) ? last : add_piece(q, o);
}

static void put_piece(struct iof_queue *q, const struct spoken *o, bool ends, bool blocked)
{
    struct slice bytes = blocked ? make_room(q, o->channel, o->bytes) : o->bytes;
    struct iof_piece *p = bytes.len || ends ? piece_for(q, o) : NULL;

    if (!p)
        return;
    buf_slice_put(&p->bytes, bytes);
    if (buf_ok(&p->bytes)) {
        q->cached[index_of(p->channel)] += bytes.len;
        *q->held += bytes.len;
    } else { /* no memory: what was there before is left */
        p->bytes.error = BUF_FINE;
    }
    p->ends = ends;
}

/* ---- formats --------------------------------------------------------------------------------- */

static const char *name_of(uint16_t channel)
{
    return channel & PMIX_FWD_STDOUT_CHANNEL   ? "stdout"
           : channel & PMIX_FWD_STDERR_CHANNEL ? "stderr"
                                               : "stddiag";
}

static void put_line(const struct iof_queue *q, const struct iof_stream *s, struct slice line,
                     struct buf *out)
{
    if (q->options.format & IOF_XML) {
        const struct iof_xml x = { name_of(s->channel), s->nspace, s->rank,
                                   q->options.format & IOF_TIMED ? q->wall_ns : 0 };
        iof_xml_line(&x, line, out);
        return;
    }
    if (q->options.format & IOF_TIMED) {
        buf_time(out, q->wall_ns);
        buf_byte(out, ' ');
    }
    if (q->options.format & IOF_TAGGED)
        buf_printf(out, "[%s,%u]<%s>: ", s->nspace, s->rank, name_of(s->channel));
    else if (q->options.format & IOF_RANKED)
        buf_printf(out, "[%u]<%s>: ", s->rank, name_of(s->channel));
    buf_slice_put(out, line);
}

/* The first line with its end; nothing: there is only a part of one, which may be cut off. */
static struct slice first_line(struct slice text, bool cut)
{
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;

    if (end)
        return slice_head(text, (size_t)(end - text.ptr) + 1);
    return cut || text.len >= LIMIT_LISTENER_LINE ? text : SLICE_NULL;
}

static void format_lines(const struct iof_queue *q, struct iof_stream *s, bool all, struct buf *out)
{
    struct slice line;

    while ((line = first_line(buf_slice(&s->held), all)).len) {
        put_line(q, s, line, out);
        *q->held -= line.len;
        buf_take(&s->held, line.len);
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

static struct iof_stream *find_stream(const struct iof_queue *q, const struct spoken *o)
{
    LIST_EACH(l, &q->streams)
    {
        struct iof_stream *s = LIST_OF(l, struct iof_stream, link);
        if (s->rank == o->rank && s->channel == o->channel && !strcmp(s->nspace, o->nspace))
            return s;
    }
    return NULL;
}

static struct iof_stream *stream_for(struct iof_queue *q, const struct spoken *o)
{
    struct iof_stream *s = find_stream(q, o);

    if (s || !(s = calloc(1, sizeof *s)))
        return s;
    s->rank = o->rank;
    s->channel = o->channel;
    s->due_ns = UINT64_MAX;
    strncpy(s->nspace, o->nspace, PMIX_MAX_NSLEN);
    buf_init(&s->held, SIZE_MAX);
    list_append(&q->streams, &s->link);
    return s;
}

static void drop_stream(struct iof_queue *q, struct iof_stream *s)
{
    *q->held -= buf_len(&s->held);
    list_unlink(&s->link);
    buf_free(&s->held);
    free(s);
}

/* What is gathered becomes a piece; of formatted output its whole lines, or all of it. */
static void release(struct iof_queue *q, struct iof_stream *s, bool all, bool blocked)
{
    struct spoken o = { .nspace = s->nspace, .rank = s->rank, .channel = s->channel };
    struct buf text = BUF_NULL(SIZE_MAX);

    s->due_ns = UINT64_MAX;
    if (q->options.format) {
        format_lines(q, s, all, &text);
        o.bytes = buf_ok(&text) ? buf_slice(&text) : SLICE_NULL;
        put_piece(q, &o, false, blocked);
    } else {
        *q->held -= buf_len(&s->held);
        o.bytes = buf_slice(&s->held);
        put_piece(q, &o, false, blocked);
        buf_clear(&s->held);
    }
    buf_free(&text);
}

static bool is_enough(const struct iof_queue *q, const struct iof_stream *s)
{
    return buf_len(&s->held) >= q->options.gather || *q->held > LIMIT_LISTENER_CACHE;
}

static void hold(struct iof_queue *q, struct iof_stream *s, struct slice bytes)
{
    buf_slice_put(&s->held, bytes);
    if (buf_ok(&s->held))
        *q->held += bytes.len;
    else
        s->held.error = BUF_FINE;
}

/* Lines with the time in them are made by a tick, which knows it. */
static bool gather(struct iof_queue *q, struct iof_stream *s, struct slice bytes, bool blocked)
{
    bool timed = q->options.format & IOF_TIMED;

    hold(q, s, bytes);
    if (is_enough(q, s) && !timed)
        release(q, s, false, blocked);
    else if (is_enough(q, s))
        s->due_ns = AT_ONCE;
    else if ((q->options.gather_ns || timed) && s->due_ns == UINT64_MAX)
        s->due_ns = WAITS_FROM_NOW;
    return s->due_ns <= WAITS_FROM_NOW;
}

static void end_stream(struct iof_queue *q, struct iof_stream *s, bool blocked)
{
    struct spoken o = { .nspace = s->nspace, .rank = s->rank, .channel = s->channel };

    release(q, s, true, blocked);
    put_piece(q, &o, true, blocked);
    drop_stream(q, s);
}

static bool put_end(struct iof_queue *q, const struct spoken *o, bool blocked)
{
    struct iof_stream *s = find_stream(q, o);

    if (!s) {
        put_piece(q, o, true, blocked);
        return false;
    }
    if (q->options.format & IOF_TIMED) {
        s->ends = true;
        s->due_ns = AT_ONCE;
        return true;
    }
    end_stream(q, s, blocked);
    return false;
}

bool iof_queue_put(struct iof_queue *q, const struct spoken *o, bool blocked)
{
    struct iof_stream *s = NULL;

    if (o->bytes.len == 0)
        return put_end(q, o, blocked);
    if (!q->options.gather && !q->options.format)
        put_piece(q, o, false, blocked);
    else
        s = stream_for(q, o);
    return s && gather(q, s, o->bytes, blocked);
}

static void begin_to_wait(const struct iof_queue *q, struct iof_stream *s, uint64_t now_ns)
{
    s->due_ns = q->options.gather_ns ? now_ns + q->options.gather_ns : UINT64_MAX;
}

uint64_t iof_queue_tick(struct iof_queue *q, uint64_t now_ns, uint64_t wall_ns, bool blocked)
{
    uint64_t next = UINT64_MAX;

    q->wall_ns = wall_ns;
    LIST_EACH(l, &q->streams)
    {
        struct iof_stream *s = LIST_OF(l, struct iof_stream, link);
        if (s->ends) {
            end_stream(q, s, blocked);
            continue;
        }
        if (s->due_ns == WAITS_FROM_NOW)
            begin_to_wait(q, s, now_ns);
        else if (s->due_ns <= now_ns)
            release(q, s, false, blocked);
        next = s->due_ns < next ? s->due_ns : next;
    }
    return next;
}

void iof_queue_flush(struct iof_queue *q)
{
    LIST_EACH(l, &q->streams)
    release(q, LIST_OF(l, struct iof_stream, link), true, false);
}

void iof_queue_init(struct iof_queue *q, const struct iof_options *o, size_t *held)
{
    *q = (struct iof_queue){ .options = *o, .held = held };
    list_init(&q->streams);
    list_init(&q->pieces);
}

void iof_queue_free(struct iof_queue *q)
{
    LIST_EACH(l, &q->streams)
    drop_stream(q, LIST_OF(l, struct iof_stream, link));
    LIST_EACH(l, &q->pieces)
    iof_queue_drop(q, LIST_OF(l, struct iof_piece, link));
}
