/* pmi1_rpc.c - see pmi1_rpc.h. */
#include "lib/pmi/pmi1_rpc.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/limit.h"

/* A thread that waits for the end of a barrier. */
struct pmi1_rpc_tagged {
    struct list link;
    char tag[24];
    int wake; /* an eventfd: it is over */
    bool over, lost, broken;
};

static void end_tagged(struct pmi1_rpc_tagged *t)
{
    uint64_t one = 1;

    t->over = true;
    while (write(t->wake, &one, sizeof one) < 0 && errno == EINTR) {
        /* once more */
    }
}

/* Replies can no longer be matched: wakes all waiters. */
static void lose_tagged(struct pmi1_client *c)
{
    LIST_EACH(l, &c->tagged)
    {
        struct pmi1_rpc_tagged *t = LIST_OF(l, struct pmi1_rpc_tagged, link);
        t->lost = true;
        if (!t->over)
            end_tagged(t);
    }
}

/* Gives the end of a barrier, in c->reply, to the thread that has waited longest for that tag. */
static bool hand_out(struct pmi1_client *c)
{
    const struct pmi1_barrier_out *r = &c->reply.barrier_out;

    LIST_EACH(l, &c->tagged)
    {
        struct pmi1_rpc_tagged *t = LIST_OF(l, struct pmi1_rpc_tagged, link);
        if (t->over || !PMI1_HAS(r, barrier_out, tag) || !slice_is(r->tag, t->tag))
            continue;
        t->broken = r->rc != 0;
        end_tagged(t);
        return true;
    }
    return false;
}

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory");
}

static int lost(int rc, struct errmsg *err)
{
    if (rc == -ENOMEM)
        return no_memory(err);
    if (rc == -EMSGSIZE)
        return errmsg_set(err, CLIENT_FAILED,
                          "the process manager sent a message that is too long");
    if (rc == -EPIPE)
        return errmsg_set(err, CLIENT_FAILED, "the connection to the process manager is closed");
    return errmsg_set(err, CLIENT_FAILED, "the connection to the process manager is lost: %s",
                      err_text(rc));
}

int pmi1_rpc_begin(struct pmi1_client *c, struct errmsg *err)
{
    if (c->kind == CLIENT_ALONE || c->kind == CLIENT_SERVICE)
        return errmsg_set(err, CLIENT_FAILED,
                          "there is no process manager: start the program with wireup, mpiexec, or "
                          "your site's launcher");
    lock_wire_take(c->gate);
    buf_clear(&c->out);
    c->saying_puts = false;
    return CLIENT_OK;
}

static int read_tagged(struct pmi1_client *c, struct errmsg *err);

/* Handles ends of barriers that were received together with our reply: no other thread would
 * wake up for them. */
void pmi1_rpc_end(struct pmi1_client *c)
{
    struct errmsg err;

    while (!list_empty(&c->tagged) && !c->link.broken && link_has_line(&c->link) &&
           read_tagged(c, &err) == CLIENT_OK) {
        /* the next */
    }
    lock_wire_give(c->gate);
}

int pmi1_rpc_put(struct pmi1_client *c, enum pmi1_msg msg, const void *in, struct errmsg *err)
{
    enum text_style style = msg == PMI1_spawn ? TEXT_LINES : TEXT_BLANKS;

    if (text_encode(&pmi1_proto, style, msg, in, &c->out, err) != 0)
        return CLIENT_BAD_ARG;
    if (c->out.error == BUF_TOO_LONG)
        return errmsg_set(err, CLIENT_BAD_ARG, "the request is too long");
    return buf_ok(&c->out) ? CLIENT_OK : no_memory(err);
}

int pmi1_rpc_put_puts(struct pmi1_client *c, struct errmsg *err)
{
    struct pmi1_mput_wireup m = { .has = 0 };
    int rc;

    if (c->batch.count == 0)
        return CLIENT_OK;
    PMI1_SET(m, mput_wireup, count, c->batch.count);
    PMI1_SET(m, mput_wireup, bytes, c->batch.bytes);
    rc = pmi1_rpc_put(c, PMI1_mput_wireup, &m, err);
    if (rc != CLIENT_OK)
        return rc;
    batch_encode(&c->batch, &c->out);
    if (!buf_ok(&c->out))
        return no_memory(err);
    c->saying_puts = true;
    return CLIENT_OK;
}

int pmi1_rpc_send(struct pmi1_client *c, struct errmsg *err)
{
    int rc;

    if (buf_len(&c->out) == 0)
        return CLIENT_OK;
    if (c->saying_puts) {
        batch_sent(&c->batch);
        c->unacknowledged++;
        c->saying_puts = false;
    }
    c->sending = true;
    lock_unlock(c->gate);
    rc = link_send(&c->link, buf_slice(&c->out));
    lock_lock(c->gate);
    c->sending = false;
    lock_wake(c->gate);
    buf_clear(&c->out);
    return rc < 0 ? lost(rc, err) : CLIENT_OK;
}

/* A reply other than the expected one means that we are out of step. */
static int not_understood(struct pmi1_client *c, struct slice line, const char *why,
                          struct errmsg *err)
{
    c->link.broken = true;
    lose_tagged(c);
    return errmsg_set(err, CLIENT_FAILED,
                      "the process manager sent an invalid message (%s): " SLICE_FMT, why,
                      SLICE_ARG(slice_head(line, 200)));
}

/* Reads the next message, whatever it is. */
static int read_any(struct pmi1_client *c, unsigned *got_p, struct slice *line_p,
                    struct errmsg *err)
{
    struct errmsg why;
    int rc;

    *line_p = SLICE_NULL;
    lock_unlock(c->gate);
    rc = link_line(&c->link, line_p);
    lock_lock(c->gate);
    if (rc < 0) {
        lose_tagged(c);
        return lost(rc, err);
    }
    arena_free(&c->arena);
    rc = text_decode(&pmi1_proto, TEXT_BLANKS, *line_p, &c->arena, got_p, &c->reply,
                     sizeof c->reply, &why);
    if (rc < 0) {
        c->link.broken = true;
        lose_tagged(c);
        return lost(rc, err);
    }
    return rc > 0 ? not_understood(c, *line_p, why.text, err) : CLIENT_OK;
}

int pmi1_rpc_read(struct pmi1_client *c, enum pmi1_msg want, struct errmsg *err)
{
    struct slice line;
    struct errmsg why;
    unsigned got = 0;
    int rc;

    do
        rc = read_any(c, &got, &line, err);
    while (rc == CLIENT_OK && got == PMI1_barrier_out && hand_out(c));
    if (rc != CLIENT_OK || got == want)
        return rc;
    errmsg_set(&why, 0, "%s was due", pmi1_proto.msgs[want].name);
    return not_understood(c, line, why.text, err);
}

/* ---- barriers with tags ---------------------------------------------------------------------- */

static int read_tagged(struct pmi1_client *c, struct errmsg *err)
{
    struct slice line;
    unsigned got = 0;
    int rc = read_any(c, &got, &line, err);

    if (rc == CLIENT_OK && (got != PMI1_barrier_out || !hand_out(c)))
        return not_understood(c, line, "the end of a barrier was due", err);
    return rc;
}

/* Waits until our barrier is over, or there is something to read.  Without the wire, and
 * unlocked. */
static void await_news(const struct pmi1_client *c, const struct pmi1_rpc_tagged *t)
{
    struct pollfd fds[] = { { .fd = c->link.fd, .events = POLLIN },
                            { .fd = t->wake, .events = POLLIN } };

    while (poll(fds, 2, -1) < 0 && errno == EINTR) {
        /* once more */
    }
}

static bool is_readable(const struct pmi1_client *c)
{
    struct pollfd fd = { .fd = c->link.fd, .events = POLLIN };

    return link_has_line(&c->link) || poll(&fd, 1, 0) > 0;
}

static int wait_tagged(struct pmi1_client *c, const struct pmi1_rpc_tagged *t, struct errmsg *err)
{
    int rc = CLIENT_OK;

    while (rc == CLIENT_OK && !t->over) {
        if (!is_readable(c)) {
            pmi1_rpc_end(c);
            lock_unlock(c->gate);
            await_news(c, t);
            lock_lock(c->gate);
            lock_wire_take(c->gate);
        } else {
            rc = read_tagged(c, err);
        }
    }
    if (rc == CLIENT_OK && t->lost)
        rc = errmsg_set(err, CLIENT_FAILED, "the connection to the process manager is lost");
    return rc;
}

int pmi1_rpc_read_bytes(struct pmi1_client *c, size_t n, struct slice *bytes_p, struct errmsg *err)
{
    int rc;

    lock_unlock(c->gate);
    rc = link_bytes(&c->link, n, bytes_p);
    lock_lock(c->gate);
    return rc < 0 ? lost(rc, err) : CLIENT_OK;
}

/* The messages of Wireup's server (answer_word) that are more specific than "refused". */
static int refusal(struct slice msg)
{
    static const struct {
        const char *word;
        int rc;
    } table[] = {
        { "already_present", CLIENT_BAD_KEY },
        { "reserved_for_the_process_manager", CLIENT_BAD_KEY },
        { "bad_key", CLIENT_BAD_KEY },
        { "bad_value", CLIENT_BAD_VALUE },
        { "not_found", CLIENT_BAD_SPACE },
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (slice_is(msg, table[i].word))
            return table[i].rc;
    }
    return CLIENT_FAILED;
}

int pmi1_rpc_read_puts(struct pmi1_client *c, struct errmsg *err)
{
    const struct pmi1_mput_result *r = &c->reply.mput_result;
    int rc;

    while (c->unacknowledged) {
        rc = pmi1_rpc_read(c, PMI1_mput_result, err);
        if (rc != CLIENT_OK)
            return rc;
        if (r->rc != 0 && c->put_rc == CLIENT_OK)
            c->put_rc = errmsg_set(&c->put_err, refusal(r->msg),
                                   "the put of key '" SLICE_FMT "' was refused: " SLICE_FMT,
                                   SLICE_ARG(r->key), SLICE_ARG(r->msg));
        if (--c->unacknowledged == 0)
            batch_acknowledged(&c->batch);
    }
    return CLIENT_OK;
}

int pmi1_rpc_call(struct pmi1_client *c, enum pmi1_msg msg, const void *in, enum pmi1_msg want,
                  struct errmsg *err)
{
    int rc = pmi1_rpc_put(c, msg, in, err);

    if (rc == CLIENT_OK)
        rc = pmi1_rpc_send(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_read_puts(c, err);
    return rc == CLIENT_OK ? pmi1_rpc_read(c, want, err) : rc;
}

static int meet_tagged(struct pmi1_client *c, const struct pmi1_barrier_in *m,
                       const struct pmi1_rpc_tagged *t, struct errmsg *err)
{
    int rc = pmi1_rpc_put(c, PMI1_barrier_in, m, err);

    if (rc == CLIENT_OK)
        rc = pmi1_rpc_send(c, err);
    if (rc == CLIENT_OK)
        rc = pmi1_rpc_read_puts(c, err);
    return rc == CLIENT_OK ? wait_tagged(c, t, err) : rc;
}

int pmi1_rpc_tagged_barrier(struct pmi1_client *c, const struct pmi1_barrier_in *m, bool *broken_p,
                            struct errmsg *err)
{
    struct slice tag = slice_skip(m->group, slice_find(m->group, ':') + 1);
    struct pmi1_rpc_tagged t = { .wake = eventfd(0, EFD_CLOEXEC) };
    int rc;

    if (t.wake < 0)
        return errmsg_set(err, CLIENT_FAILED, "no descriptor is available for a barrier");
    snprintf(t.tag, sizeof t.tag, SLICE_FMT, SLICE_ARG(tag));
    list_init(&t.link);
    list_append(&c->tagged, &t.link);
    rc = meet_tagged(c, m, &t, err);
    list_unlink(&t.link);
    close(t.wake);
    *broken_p = t.broken;
    return rc;
}

int pmi1_rpc_put_verdict(struct pmi1_client *c, struct errmsg *err)
{
    int rc = c->put_rc;

    c->put_rc = CLIENT_OK;
    return rc == CLIENT_OK ? CLIENT_OK : errmsg_set(err, rc, "%s", c->put_err.text);
}

void pmi1_rpc_abort(struct pmi1_client *c, const struct pmi1_abort *m)
{
    struct buf line = BUF_NULL(LIMIT_PMI_LINE);

    while (c->sending) /* never into the middle of a message */
        lock_wait(c->gate);
    if (text_encode(&pmi1_proto, TEXT_BLANKS, PMI1_abort, m, &line, NULL) == 0 && buf_ok(&line))
        link_send_aside(&c->link, buf_slice(&line));
    buf_free(&line);
}
