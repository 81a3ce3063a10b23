/* decode.c - see decode.h: streams and fields; the message formats are in the protocols' files. */
#include "trace/decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "trace/decode_priv.h"
#include "wire/pmix_greeting.h"

void decode_init(struct decode *d)
{
    memset(d, 0, sizeof *d);
    for (int w = 0; w < DECODE_WAYS; w++)
        buf_init(&d->ways[w].in, (size_t)LIMIT_TRACE_RECORD * 2);
    arena_init(&d->arena, (size_t)LIMIT_TRACE_RECORD * 4);
}

void decode_free(struct decode *d)
{
    for (int w = 0; w < DECODE_WAYS; w++)
        buf_free(&d->ways[w].in);
    arena_free(&d->arena);
    free(d->fields);
    d->fields = NULL;
    d->nfields = d->room = 0;
    free(d->requests);
    d->requests = NULL;
    d->nrequests = d->request_room = 0;
    free(d->secrets);
    d->secrets = NULL;
    d->nsecrets = d->secret_room = 0;
}

int decode_feed(struct decode *d, enum decode_way way, struct slice bytes)
{
    struct decode_stream *s = &d->ways[way];

    buf_take(&s->in, s->taken);
    s->taken = 0;
    buf_slice_put(&s->in, bytes);
    if (s->in.error == BUF_NO_MEMORY)
        return -ENOMEM;
    if (!buf_ok(&s->in)) /* more than any message has: start again */
        buf_clear(&s->in);
    return 0;
}

/* Drops the message that was lent. */
static struct slice begin(struct decode *d, enum decode_way way, struct decoded *m_p)
{
    struct decode_stream *s = &d->ways[way];

    memset(m_p, 0, sizeof *m_p);
    buf_take(&s->in, s->taken);
    s->taken = 0;
    d->nfields = d->item = 0;
    d->nsecrets = 0;
    d->full = false;
    arena_free(&d->arena);
    return buf_slice(&s->in);
}

int decode_next(struct decode *d, enum decode_way way, struct decoded *m_p)
{
    struct slice in = begin(d, way, m_p);
    int rc;

    if (in.len == 0)
        return DECODE_MORE;
    if (way == DECODE_IN && !d->greeted[way] && hello_begins(in.ptr[0]))
        d->pmix = true;
    rc = d->pmix ? decode_pmix(d, way, in, m_p) : decode_text(d, way, in, m_p);
    if (rc != DECODE_MESSAGE)
        return rc;
    if (d->full && !m_p->fault)
        m_p->fault = "it has more values than are shown";
    m_p->fields = d->fields;
    m_p->nfields = d->nfields;
    m_p->secret = d->nsecrets > 0;
    d->ways[way].taken = m_p->bytes.len;
    d->ways[way].scanned = 0;
    d->greeted[way] = true;
    return DECODE_MESSAGE;
}

int decode_rest(struct decode *d, enum decode_way way, struct decoded *m_p)
{
    struct slice in = begin(d, way, m_p);

    if (in.len == 0)
        return DECODE_MORE;
    m_p->protocol = d->pmix ? "PMIx" : "PMI";
    m_p->bytes = in;
    m_p->fault = "the message is incomplete";
    d->ways[way].taken = in.len;
    return DECODE_MESSAGE;
}

void decode_forget(struct decode *d, enum decode_way way)
{
    struct decoded m;

    begin(d, way, &m);
    buf_clear(&d->ways[way].in);
    d->ways[way].scanned = 0;
}
