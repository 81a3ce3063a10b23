/* pmi2_rpc.c - see pmi2_rpc.h.  Reading order: sending, reading a frame, matching replies, waiting.
 */
#include "lib/pmi2/pmi2_rpc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limit.h"

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory");
}

/* ---- losing the connection ------------------------------------------------------------------- */

static const char *lost_text(int rc)
{
    switch (rc) {
    case -EPIPE: return "the connection to the process manager is closed";
    case -EMSGSIZE: return "the process manager sent a message that is too long";
    case -ENOMEM: return "out of memory";
    default: return err_text(rc);
    }
}

/* For good: replies can no longer be matched to requests. */
static void lose(struct pmi2_client *m, int rc, const char *why)
{
    if (m->lost)
        return;
    m->lost = rc;
    m->link.broken = true;
    errmsg_set(&m->lost_why, 0, "%s", why);
    LIST_EACH(l, &m->asks)
    pthread_cond_signal(&LIST_OF(l, struct pmi2_rpc, link)->wake);
}

static int is_lost(const struct pmi2_client *m, struct errmsg *err)
{
    return errmsg_set(err, m->lost == -ENOMEM ? -ENOMEM : MEMBER_FAILED, "%s", m->lost_why.text);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void take_out(struct pmi2_client *m)
{
    while (m->sending)
        lock_wait(m->gate);
    m->sending = true;
    buf_clear(&m->out);
}

static void give_out(struct pmi2_client *m)
{
    m->sending = false;
    lock_wake(m->gate);
}

/* Sends the contents of out. */
static int flush_out(struct pmi2_client *m, struct errmsg *err)
{
    int rc;

    if (m->lost)
        return is_lost(m, err);
    lock_unlock(m->gate);
    rc = link_send(&m->link, buf_slice(&m->out));
    lock_lock(m->gate);
    if (rc < 0)
        lose(m, rc, lost_text(rc));
    return rc < 0 ? is_lost(m, err) : MEMBER_OK;
}

static int put_request(struct pmi2_client *m, enum pmi2_msg msg, const void *request,
                       struct errmsg *err)
{
    if (pmi2_encode(msg, request, &m->out, err) != 0)
        return MEMBER_BAD_VALUE;
    if (m->out.error == BUF_TOO_LONG)
        return errmsg_set(err, MEMBER_BAD_VALUE, "the request is too long");
    return buf_ok(&m->out) ? MEMBER_OK : no_memory(err);
}

/* Replies to puts belong to no particular thread. */
static const struct slice put_thrid = { "put", 3 };

/* Adds the unsent puts.  From then on they count as sent: either out is sent whole or the
 * connection is lost. */
static int put_puts(struct pmi2_client *m, struct errmsg *err)
{
    struct pmi2_mput_wireup r = { .has = 0 };
    int rc;

    if (m->batch.count == 0)
        return MEMBER_OK;
    PMI2_SET(r, mput_wireup, thrid, put_thrid);
    PMI2_SET(r, mput_wireup, count, m->batch.count);
    PMI2_SET(r, mput_wireup, bytes, m->batch.bytes);
    rc = put_request(m, PMI2_mput_wireup, &r, err);
    if (rc != MEMBER_OK)
        return rc;
    batch_encode(&m->batch, &m->out);
    return buf_ok(&m->out) ? MEMBER_OK : no_memory(err);
}

static void puts_are_sent(struct pmi2_client *m)
{
    if (m->batch.count == 0)
        return;
    batch_sent(&m->batch);
    m->unacknowledged++;
}

int ask_send_puts(struct pmi2_client *m, struct errmsg *err)
{
    int rc;

    take_out(m);
    rc = put_puts(m, err);
    if (rc == MEMBER_OK && buf_len(&m->out)) {
        puts_are_sent(m);
        rc = flush_out(m, err);
    }
    give_out(m);
    return rc;
}

/* Look-ups need not carry our puts along. */
static bool is_lookup(enum pmi2_msg msg)
{
    return msg == PMI2_get_wireup || msg == PMI2_info_getjobattr || msg == PMI2_info_getnodeattr ||
           msg == PMI2_name_lookup;
}

static int send_request(struct pmi2_client *m, enum pmi2_msg msg, const void *request,
                        struct errmsg *err)
{
    bool with_puts = m->kind == MEMBER_OURS && !is_lookup(msg);
    int rc;

    take_out(m);
    rc = with_puts ? put_puts(m, err) : MEMBER_OK;
    if (rc == MEMBER_OK)
        rc = put_request(m, msg, request, err);
    if (rc == MEMBER_OK) {
        if (with_puts)
            puts_are_sent(m);
        rc = flush_out(m, err);
    }
    give_out(m);
    return rc;
}

void ask_nothing(struct pmi2_client *m, enum pmi2_msg msg, const void *request)
{
    struct buf frame = BUF_NULL(LIMIT_PMI_LINE);

    while (m->sending) /* never into the middle of a message */
        lock_wait(m->gate);
    if (pmi2_encode(msg, request, &frame, NULL) == 0 && buf_ok(&frame))
        link_send_aside(&m->link, buf_slice(&frame));
    buf_free(&frame);
}

int ask_line(struct pmi2_client *m, struct slice line, struct slice *answer_p, struct errmsg *err)
{
    int rc;

    if (m->lost)
        return is_lost(m, err);
    lock_unlock(m->gate);
    rc = line.len ? link_send(&m->link, line) : 0;
    if (rc == 0)
        rc = link_line(&m->link, answer_p);
    lock_lock(m->gate);
    if (rc < 0)
        lose(m, rc, lost_text(rc));
    return rc < 0 ? is_lost(m, err) : MEMBER_OK;
}

/* ---- reading a frame ------------------------------------------------------------------------- */

/* One reply, as it lies in the link's buffer. */
struct reply {
    unsigned msg;
    union pmi2_any m;
    uint32_t id; /* the thrid, if it is a number; ours begin with 1 */
    struct slice body;
    struct slice raw;
    bool has_raw; /* then the slices of m are invalid; its numbers are valid */
};

static const struct pmi2_response *response_of(const union pmi2_any *m)
{
    return (const void *)m;
}

static int read_body(struct pmi2_client *m, struct slice *body_p)
{
    struct slice head;
    uint32_t len;
    int rc = link_bytes(&m->link, PMI2_HEAD, &head);

    if (rc < 0)
        return rc;
    if (!slice_u32(slice_trim(head), &len))
        return -EPROTO;
    return link_bytes(&m->link, len, body_p);
}

static int not_understood(struct slice body, const char *why, struct errmsg *err)
{
    return errmsg_set(err, -EPROTO,
                      "the process manager sent an invalid message (%.300s): " SLICE_FMT, why,
                      SLICE_ARG(slice_head(body, 200)));
}

static int decode(struct pmi2_client *m, struct reply *h, struct errmsg *err)
{
    struct errmsg why;
    int rc;

    arena_free(&m->arena);
    rc = text_decode(&pmi2_proto, TEXT_SEMICOLONS, h->body, &m->arena, &h->msg, &h->m, sizeof h->m,
                     &why);
    if (rc < 0)
        return errmsg_set(err, rc, "%s", lost_text(rc));
    if (rc > 0)
        return not_understood(h->body, why.text, err);
    if (!(pmi2_proto.msgs[h->msg].who & TEXT_SERVER))
        return not_understood(h->body, "no answer", err);
    slice_u32(response_of(&h->m)->thrid, &h->id);
    return 0;
}

/* Called with the lock released. */
static int read_answer(struct pmi2_client *m, struct reply *h, struct errmsg *err)
{
    int rc = read_body(m, &h->body);

    if (rc == -EPROTO)
        return not_understood(SLICE_NULL, "a message without a length", err);
    if (rc < 0)
        return errmsg_set(err, rc, "%s", lost_text(rc));
    rc = decode(m, h, err);
    if (rc < 0 || h->msg != PMI2_get_wireup_response || !h->m.get_wireup_response.found)
        return rc;
    h->has_raw = true;
    rc = link_bytes(&m->link, h->m.get_wireup_response.bytes, &h->raw);
    return rc < 0 ? errmsg_set(err, rc, "%s", lost_text(rc)) : 0;
}

/* ---- matching replies ------------------------------------------------------------------------ */

static struct pmi2_rpc *find_ask(struct pmi2_client *m, uint32_t id)
{
    LIST_EACH(l, &m->asks)
    {
        struct pmi2_rpc *a = LIST_OF(l, struct pmi2_rpc, link);
        if (a->id == id)
            return a;
    }
    return NULL;
}

static void on_puts(struct pmi2_client *m, const struct pmi2_mput_wireup_response *r)
{
    bool bad_key = slice_is(r->errmsg, "already_present") ||
                   slice_is(r->errmsg, "reserved_for_the_process_manager");

    if (r->rc != 0 && m->put_rc == MEMBER_OK)
        m->put_rc = errmsg_set(&m->put_why, bad_key ? MEMBER_BAD_KEY : MEMBER_REFUSED,
                               "the put of key '" SLICE_FMT "' was refused: " SLICE_FMT,
                               SLICE_ARG(slice_head(r->key, 80)), SLICE_ARG(r->errmsg));
    if (--m->unacknowledged == 0)
        batch_acknowledged(&m->batch);
}

/* Makes a copy for a thread that is not reading, since the link's buffer will be overwritten. */
static void keep(struct pmi2_rpc *a, const struct reply *h)
{
    unsigned msg;

    buf_slice_put(&a->kept, h->has_raw ? h->raw : h->body);
    if (!buf_ok(&a->kept)) {
        a->no_memory = true;
    } else if (h->has_raw) {
        a->raw = buf_slice(&a->kept);
        a->answer = h->m;
    } else if (text_decode(&pmi2_proto, TEXT_SEMICOLONS, buf_slice(&a->kept), &a->arena, &msg,
                           &a->answer, sizeof a->answer, NULL) != 0) {
        a->no_memory = true; /* it was parsed a moment ago */
    }
}

/* Gives the reply to its ask; mine is the reading thread's.  A reply without an ask, or of
 * another kind than the one due, means that we are out of step. */
static void hand_out(struct pmi2_client *m, const struct reply *h, struct pmi2_rpc *mine)
{
    struct errmsg why, err;
    struct pmi2_rpc *a;

    if (h->msg == PMI2_mput_wireup_response && m->unacknowledged) {
        on_puts(m, &h->m.mput_wireup_response);
        return;
    }
    a = m->kind == MEMBER_OURS ? find_ask(m, h->id) : mine;
    if (!a || a->done || a->want != h->msg) {
        errmsg_set(&why, 0, "%s was due", a ? pmi2_proto.msgs[a->want].name : "nothing");
        not_understood(h->has_raw ? SLICE_NULL : h->body, why.text, &err);
        lose(m, -EPROTO, err.text);
        return;
    }
    a->done = true;
    if (a == mine) {
        a->answer = h->m;
        a->raw = h->raw;
    } else {
        keep(a, h);
        pthread_cond_signal(&a->wake);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void read_one(struct pmi2_client *m, struct pmi2_rpc *mine)
{
    struct reply h = { .id = 0 };
    struct errmsg err;
    int rc;

    m->reading = true;
    lock_unlock(m->gate);
    rc = read_answer(m, &h, &err);
    lock_lock(m->gate);
    m->reading = false;
    if (rc < 0)
        lose(m, rc, err.text);
    else
        hand_out(m, &h, mine);
}

/* Passes the reading on to one of the waiting threads. */
static void pass_reading_on(struct pmi2_client *m)
{
    if (m->reading)
        return;
    LIST_EACH(l, &m->asks)
    {
        struct pmi2_rpc *a = LIST_OF(l, struct pmi2_rpc, link);
        if (!a->done) {
            pthread_cond_signal(&a->wake);
            return;
        }
    }
}

static int wait_for(struct pmi2_client *m, struct pmi2_rpc *a, struct errmsg *err)
{
    while (!a->done && !m->lost) {
        if (m->reading)
            pthread_cond_wait(&a->wake, &m->gate->mutex);
        else
            read_one(m, a);
    }
    list_unlink(&a->link);
    pass_reading_on(m);
    if (!a->done)
        return is_lost(m, err);
    return a->no_memory ? no_memory(err) : MEMBER_OK;
}

static int verdict(const struct pmi2_rpc *a, enum pmi2_msg msg, struct errmsg *err)
{
    const struct pmi2_response *r = response_of(&a->answer);

    if (r->rc == 0)
        return MEMBER_OK;
    return errmsg_set(
        err, MEMBER_REFUSED, "the process manager refused %s: " SLICE_FMT,
        pmi2_proto.msgs[msg].name,
        SLICE_ARG(r->errmsg.len ? slice_head(r->errmsg, 500) : SLICE("without a reason")));
}

/* The request's number, as the text that the server repeats. */
static void number(struct pmi2_client *m, struct pmi2_rpc *a, struct pmi2_request *request,
                   char *text, size_t room)
{
    do
        a->id = ++m->next_ask;
    while (a->id == 0);
    snprintf(text, room, "%u", a->id);
    PMI2_SET(*request, kvs_get, thrid, slice_str(text));
}

int pmi2_rpc(struct pmi2_client *m, struct pmi2_rpc *a, enum pmi2_msg msg, void *request,
             enum pmi2_msg want, struct errmsg *err)
{
    char thrid[16];
    int rc;

    memset(a, 0, sizeof *a);
    list_init(&a->link);
    pthread_cond_init(&a->wake, NULL);
    arena_init(&a->arena, LIMIT_PMI_LINE * 2);
    buf_init(&a->kept, LIMIT_STORE_VALUE);
    a->want = want;
    if (m->kind == MEMBER_ALONE)
        return errmsg_set(err, MEMBER_FAILED,
                          "there is no process manager: start the program with wireup, mpiexec, or "
                          "your site's launcher");
    if (m->kind == MEMBER_LEGACY) {
        lock_wire_take(m->gate);
        a->holds_wire = true;
    } else {
        number(m, a, request, thrid, sizeof thrid);
    }
    list_append(&m->asks, &a->link);
    rc = send_request(m, msg, request, err);
    if (rc == MEMBER_OK)
        rc = wait_for(m, a, err);
    list_unlink(&a->link);
    return rc == MEMBER_OK ? verdict(a, msg, err) : rc;
}

void pmi2_rpc_end(struct pmi2_client *m, struct pmi2_rpc *a)
{
    if (a->holds_wire)
        lock_wire_give(m->gate);
    pthread_cond_destroy(&a->wake);
    arena_free(&a->arena);
    buf_free(&a->kept);
}

int ask_put_verdict(struct pmi2_client *m, struct errmsg *err)
{
    int rc = m->put_rc;

    m->put_rc = MEMBER_OK;
    return rc == MEMBER_OK ? MEMBER_OK : errmsg_set(err, rc, "%s", m->put_why.text);
}
