/* client_op.c - see client_op.h. */
#include "lib/pmix/client/client_op.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/pmix/client/client.h"
#include "lib/pmix/values/value.h"
#include "wire/pmix_ours.h"

enum { LAST_TAG = UINT32_MAX - 1, POLL_MAX = 16 };

/* ---- making and freeing ops ------------------------------------------------------------------ */

static void deliver_op(struct client_task *t);
static void drop_op(struct client_task *t);

void op_init(struct op *op, const struct op_kind *kind)
{
    *op = (struct op){ .kind = kind, .blocking = true, .wake = PTHREAD_COND_INITIALIZER };
    list_init(&op->link);
    list_init(&op->waiting);
    list_init(&op->task.link);
}

void op_clear(struct op *op)
{
    struct op_out *o = &op->out;

    if (o->infos)
        PMIx_Info_free(o->infos, o->ninfos);
    if (o->pdata)
        PMIx_Pdata_free(o->pdata, o->npdata);
    if (o->distances)
        PMIx_Device_distance_free(o->distances, o->ndistances);
    free(o->procs);
    if (o->value && !o->lent) {
        value_release(o->value);
        free(o->value);
    }
    free(o->bytes.bytes);
    free(op->reply.bytes);
    if (op->free_arg)
        op->free_arg(op->arg);
    memset(o, 0, sizeof *o);
    op->reply = (struct frame){ 0 };
    op->free_arg = NULL;
}

struct op *op_new(const struct op_kind *kind, void *cbdata)
{
    struct op *op = malloc(sizeof *op);

    if (!op)
        return NULL;
    op_init(op, kind);
    op->blocking = false;
    op->task.run = deliver_op;
    op->task.drop = drop_op;
    op->cbdata = cbdata;
    return op;
}

void op_free(struct op *op)
{
    if (op)
        op_clear(op);
    free(op);
}

static void deliver_op(struct client_task *t)
{
    struct op *op = LIST_OF(t, struct op, task);

    if (op->kind->deliver)
        op->kind->deliver(op);
    op_free(op);
}

static void drop_op(struct client_task *t)
{
    op_free(LIST_OF(t, struct op, task));
}

/* ---- messages -------------------------------------------------------------------------------- */

pmix_status_t message_begin_to(struct client *c, struct server_link *s, struct message *m)
{
    if (!s || s->lost)
        return PMIX_ERR_UNREACH;
    *m = (struct message){ .c = c, .server = s, .from = conn_begin(&s->conn) };
    ppack_init(&m->w, &s->conn.out, s->as);
    m->w.foreign = foreign_objects();
    return PMIX_SUCCESS;
}

/* Requests with a single reply, after which nothing more comes. */
static bool is_closed(uint8_t command)
{
    switch (command) {
    case CMD_COMMIT:
    case CMD_FENCE:
    case CMD_GET:
    case CMD_FINALIZE:
    case CMD_PUBLISH:
    case CMD_LOOKUP:
    case CMD_UNPUBLISH: return true;
    default: return false;
    }
}

pmix_status_t message_begin(struct client *c, struct message *m, uint8_t command)
{
    pmix_status_t rc = c->server ? PMIX_SUCCESS : c->notices->needed(c, command);

    if (rc == PMIX_SUCCESS)
        rc = message_begin_to(c, c->server, m);
    if (rc != PMIX_SUCCESS)
        return rc;
    if (!is_closed(command))
        m->server->open = true;
    ppack_byte(&m->w, PMIX_COMMAND, command);
    return rc;
}

pmix_status_t message_begin_empty(struct client *c, struct message *m)
{
    pmix_status_t rc = message_begin_to(c, c->server, m);

    if (rc == PMIX_SUCCESS)
        m->server->open = true;
    return rc;
}

static uint32_t next_tag(struct server_link *s)
{
    s->next_tag = s->next_tag >= LAST_TAG ? TAG_FIRST : s->next_tag + 1;
    return s->next_tag;
}

/* The socket was full, and another thread reads. */
static bool write_turn(struct client *c, struct server_link *s, int wake_fd)
{
    struct pollfd p[] = { { s->conn.fd, POLLOUT, 0 }, { wake_fd, POLLIN, 0 } };

    if (s->lost || !buf_len(&s->conn.out))
        return false;
    client_unlock(c);
    poll(p, 2, -1);
    client_lock(c);
    if (!s->lost && conn_flush(&s->conn) < 0)
        server_lost(c, s);
    return true;
}

bool writer_turn(struct client *c, int wake_fd)
{
    LIST_EACH(l, &c->servers)
    {
        if (write_turn(c, LIST_OF(l, struct server_link, link), wake_fd))
            return true;
    }
    return false;
}

/* Writes the rest for a caller that does not wait for a reply.  If another thread sleeps in
 * poll, our own thread writes; without one, the caller has to. */
static void write_rest(struct client *c, struct server_link *s)
{
    if (c->progress.kind == PROGRESS_THREAD && c->progress.started)
        return;
    while (c->reading && write_turn(c, s, -1)) {
    }
}

/* Writes as many bytes as the socket takes now; the rest is written by the next waiting thread, or
 * by progress. */
static void write_out(struct client *c, struct server_link *s)
{
    int rc = conn_flush(&s->conn);

    if (rc < 0)
        server_lost(c, s);
    else if (rc > 0)
        tasks_kick(c);
}

/* Completes the message; on an error it is discarded. */
static pmix_status_t message_close(struct message *m, uint32_t tag)
{
    if (!ppack_ok(&m->w)) {
        conn_drop(&m->server->conn, m->from);
        return ptype_status(m->w.error, PTYPE_PACKING);
    }
    return conn_end(&m->server->conn, m->from, tag) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t message_send(struct message *m, struct op *op)
{
    struct client *c = m->c;
    pmix_status_t rc;

    op->server = m->server;
    op->tag = next_tag(m->server);
    rc = message_close(m, op->tag);
    if (rc != PMIX_SUCCESS)
        return rc;
    list_append(&c->sent, &op->link);
    write_out(c, m->server);
    return PMIX_SUCCESS;
}

pmix_status_t message_send_alone(struct message *m, uint32_t tag)
{
    pmix_status_t rc = message_close(m, tag ? tag : next_tag(m->server));

    if (rc == PMIX_SUCCESS) {
        write_out(m->c, m->server);
        write_rest(m->c, m->server);
    }
    return rc;
}

/* ---- completion ------------------------------------------------------------------------------ */

static void complete(struct client *c, struct op *op)
{
    list_unlink(&op->link);
    op->done = true;
    if (op->blocking)
        pthread_cond_signal(&op->wake);
    else
        tasks_add(c, &op->task);
}

/* Other servers report a broken connection by an empty reply. */
static void read_reply(struct client *c, struct op *op)
{
    struct punpack r;

    if (op->reply.len == 0) {
        op->status = PMIX_ERR_LOST_CONNECTION;
        return;
    }
    punpack_init(&r, slice_mem(op->reply.bytes, op->reply.len), op->server->as);
    r.foreign = foreign_objects();
    if (!op->kind->bare)
        op->status = punpack_status(&r);
    if (punpack_ok(&r) && op->status == PMIX_OPERATION_SUCCEEDED)
        op->status = PMIX_SUCCESS;
    if (punpack_ok(&r) && op->kind->read)
        op->kind->read(c, op, &r);
    /* A refusal may lack its tail; a success must have it. */
    if (!punpack_ok(&r) && op->status == PMIX_SUCCESS)
        op->status = ptype_status(r.error, PTYPE_UNPACKING);
}

static void take_reply(struct client *c, struct server_link *s, struct frame *f)
{
    LIST_EACH(l, &c->sent)
    {
        struct op *op = LIST_OF(l, struct op, link);
        if (op->tag != f->tag || op->server != s)
            continue;
        s->unsure = false;
        op->reply = *f;
        *f = (struct frame){ 0 };
        read_reply(c, op);
        free(op->reply.bytes);
        op->reply = (struct frame){ 0 };
        complete(c, op);
        return;
    }
    if (s->asks)
        c->notices->asked(c, s, f);
}

/* The reply to a commit that no op waits for. */
static void take_refusal(struct server_link *s, const struct frame *f)
{
    struct punpack r;
    pmix_status_t status;

    punpack_init(&r, slice_mem(f->bytes, f->len), s->as);
    status = punpack_status(&r);
    if (s->quiet && (!punpack_ok(&r) || status != PMIX_SUCCESS))
        s->refused = punpack_ok(&r) ? status : PMIX_ERR_UNPACK_FAILURE;
}

static void take_frame(struct client *c, struct server_link *s, struct frame *f)
{
    if (f->tag == OURS_TAG_QUIET)
        take_refusal(s, f);
    else if (f->tag == TAG_EVENT)
        c->notices->event(c, s, slice_mem(f->bytes, f->len));
    else if (f->tag == TAG_OUTPUT)
        c->notices->output(c, s, slice_mem(f->bytes, f->len));
    else if (f->tag >= TAG_FIRST - 1)
        take_reply(c, s, f);
    free(f->bytes);
}

/* True: there was one. */
static bool take_frames(struct client *c, struct server_link *s)
{
    struct frame f;
    bool any = false;
    int rc;

    while ((rc = conn_frame(&s->conn, &f)) > 0) {
        take_frame(c, s, &f);
        any = true;
    }
    if (rc < 0)
        server_lost(c, s);
    return any;
}

void server_lost(struct client *c, struct server_link *s)
{
    if (s->lost)
        return;
    s->lost = true;
    LIST_EACH(l, &c->sent)
    {
        struct op *op = LIST_OF(l, struct op, link);
        if (op->server != s)
            continue;
        op->status = PMIX_ERR_LOST_CONNECTION;
        complete(c, op);
    }
    if (!c->ending)
        c->notices->lost(c, s);
}

/* ---- the reader's role ----------------------------------------------------------------------- */

static struct server_link *only_server(struct client *c)
{
    struct list *first = list_first(&c->servers);

    return first && first->next == &c->servers ? LIST_OF(first, struct server_link, link) : NULL;
}

static void receive(struct client *c, struct server_link *s, bool wait)
{
    int rc;

    if (wait)
        client_unlock(c);
    rc = conn_receive(&s->conn, wait);
    if (wait)
        client_lock(c);
    if (rc < 0)
        server_lost(c, s);
    else if (rc > 0)
        take_frames(c, s);
}

static int timeout_ms(uint64_t deadline_ns)
{
    uint64_t now;

    if (deadline_ns == UINT64_MAX)
        return -1;
    now = clock_now_ns();
    return now >= deadline_ns ? 0 : (int)((deadline_ns - now) / NS_PER_MS + 1);
}

/* Waits on all connections at once.  If a host turns its server's loop itself and waits here for
 * that server, the loop is turned here meanwhile. */
static void poll_servers(struct client *c, uint64_t deadline_ns, int wake_fd, int host_fd)
{
    struct pollfd p[POLL_MAX];
    struct server_link *of[POLL_MAX];
    nfds_t n = 0, servers;
    int timeout = timeout_ms(deadline_ns);

    LIST_EACH(l, &c->servers)
    {
        struct server_link *s = LIST_OF(l, struct server_link, link);
        if (s->lost || n == POLL_MAX - 2)
            continue;
        of[n] = s;
        p[n++] = (struct pollfd){ s->conn.fd,
                                  (short)(POLLIN | (buf_len(&s->conn.out) ? POLLOUT : 0)), 0 };
    }
    servers = n;
    if (wake_fd >= 0)
        p[n++] = (struct pollfd){ wake_fd, POLLIN, 0 };
    if (host_fd >= 0)
        p[n++] = (struct pollfd){ host_fd, POLLIN, 0 };
    client_unlock(c);
    poll(p, n, timeout);
    if (host_fd >= 0 && p[n - 1].revents)
        c->turn(c->turn_arg, true);
    client_lock(c);
    for (nfds_t i = 0; i < servers; i++) {
        if (!of[i]->lost && (p[i].revents & POLLOUT) && conn_flush(&of[i]->conn) < 0)
            server_lost(c, of[i]);
        if (!of[i]->lost && (p[i].revents & ~POLLOUT))
            receive(c, of[i], false);
    }
}

/* What has come together with the welcome, behind which nothing need follow.  True: some ops may be
 * done. */
static bool take_received(struct client *c)
{
    bool any = false;

    LIST_EACH(l, &c->servers)
    {
        struct server_link *s = LIST_OF(l, struct server_link, link);
        if (!s->lost && (take_frames(c, s) || s->lost))
            any = true;
    }
    return any;
}

void reader_turn(struct client *c, uint64_t deadline_ns, int wake_fd)
{
    struct server_link *s = only_server(c);
    int host_fd = c->turn_fd ? c->turn_fd(c->turn_arg) : -1;

    if (take_received(c))
        return;
    c->reading = true;
    if (s && !s->lost && deadline_ns == UINT64_MAX && wake_fd < 0 && host_fd < 0 &&
        !buf_len(&s->conn.out))
        receive(c, s, true);
    else
        poll_servers(c, deadline_ns, wake_fd, host_fd);
    c->reading = false;
}

void reader_poll(struct client *c)
{
    c->reading = true;
    LIST_EACH(l, &c->servers)
    {
        struct server_link *s = LIST_OF(l, struct server_link, link);
        if (!s->lost && conn_flush(&s->conn) < 0)
            server_lost(c, s);
        if (!s->lost)
            receive(c, s, false);
    }
    c->reading = false;
}

void reader_next(struct client *c)
{
    struct list *first = list_first(&c->waiters);

    if (first)
        pthread_cond_signal(&LIST_OF(first, struct op, waiting)->wake);
    else
        tasks_kick(c);
}

static void sleep_until(struct client *c, struct op *op, uint64_t deadline_ns)
{
    struct timespec t = { (time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S) };

    if (deadline_ns == UINT64_MAX)
        pthread_cond_wait(&op->wake, &c->gate->mutex);
    else
        pthread_cond_clockwait(&op->wake, &c->gate->mutex, CLOCK_MONOTONIC, &t);
}

bool op_wait_until(struct client *c, struct op *op, uint64_t deadline_ns)
{
    list_append(&c->waiters, &op->waiting);
    while (!op->done) {
        if (deadline_ns != UINT64_MAX && clock_now_ns() >= deadline_ns)
            break;
        if (!c->reading)
            reader_turn(c, deadline_ns, -1);
        else if (!write_turn(c, op->server, -1))
            sleep_until(c, op, deadline_ns);
    }
    list_unlink(&op->waiting);
    list_unlink(&op->link);
    if (!op->done) /* its reply comes later */
        op->server->open = true;
    if (!c->reading)
        reader_next(c);
    return op->done;
}

/* Waits until it is done, with the lock released.  Returns the op's status. */
static pmix_status_t op_wait(struct client *c, struct op *op)
{
    op_wait_until(c, op, UINT64_MAX);
    return op->status;
}

/* The caller may hold a lock that its own functions want (that of an interpreter): no other thread
 * may run them for it. */
static pmix_status_t send_as_host(struct message *m, struct op *op)
{
    struct client *c = m->c;
    pmix_status_t rc;

    c->call_begin(c->turn_arg);
    rc = message_send(m, op);
    client_unlock(c);
    c->call_end(c->turn_arg);
    client_lock(c);
    return rc;
}

pmix_status_t op_call(struct message *m, struct op *op)
{
    pmix_status_t rc = m->c->call_begin ? send_as_host(m, op) : message_send(m, op);

    return rc == PMIX_SUCCESS ? op_wait(m->c, op) : rc;
}

pmix_status_t op_send(struct message *m, struct op *op)
{
    pmix_status_t rc = message_send(m, op);

    if (rc != PMIX_SUCCESS)
        op_free(op);
    else
        write_rest(m->c, m->server);
    return rc;
}

void op_complete(struct client *c, struct op *op, pmix_status_t status)
{
    op->status = status;
    complete(c, op);
}
