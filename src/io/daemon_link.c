/* daemon_link.c - see daemon_link.h.
 *
 * A line is one TCP connection with its protocol state (daemon_link_crypto.h).  An accepted line is
 * unauthenticated until its peer has proved that it knows the key; a try is a line that a link has
 * opened and that has not been answered, or that waits to connect again; a link that is up has
 * exactly one line.
 *
 * Unauthenticated lines are charged to their source (quota.h).  When all places are taken, one of
 * the source that holds most is closed, chosen at random; its received bytes are read first, and it
 * stays if they show that it knows the key. */
#include "io/daemon_link.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/list.h"
#include "io/peer_cred.h"
#include "io/acceptor.h"
#include "io/daemon_link_address.h"
#include "io/daemon_link_delay.h"
#include "io/deadline.h"
#include "io/secret.h"

#ifndef TCP_RTO_MAX_MS
#define TCP_RTO_MAX_MS 44
#endif

enum { UNAUTHENTICATED_OUT = 4096, EVICTION_TRIES = 8, HANDSHAKE_TEXT = 100 };

struct line {
    struct list link; /* in the list of unauthenticated lines, or of a link's tries; else in none */
    struct daemon_link_net *net;
    struct daemon_link *owner;            /* NULL: an accepted line that is not authenticated */
    struct quota_source who;              /* of an unauthenticated line */
    const struct daemon_link_address *to; /* of a try; in its link */
    unsigned retries;                     /* how often that address was tried again */
    int fd;                               /* -1: a try that will connect again */
    bool connecting;
    struct watch watch;
    struct deadline patience;       /* of an accepted line, until its peer is authenticated */
    struct timer again;             /* of a try that will connect again */
    struct daemon_link_delay delay; /* since it was opened, or since the last sign of life */
    struct daemon_link_crypto code;
    char where[DAEMON_LINK_ADDRESS_TEXT];
};

struct daemon_link {
    struct list link;
    struct daemon_link_net *net;
    struct line *line; /* once up */
    /* calling */
    uint32_t peer;
    struct daemon_link_address to[LIMIT_DAEMON_LINK_ADDRESSES];
    size_t nto, next;
    struct list tries;
    struct timer stagger;
    bool refused;
    struct errmsg failures; /* the error of each try */
    /* up */
    struct deadline bound; /* of connecting, later of closing */
    struct timer beat, kick;
    uint32_t quiet_ms;
    bool received, spoken_to; /* any bytes since the last beat; a message at any time */
    bool sent, pressed, paused, ending, broken;
    bool admitted; /* by daemon_link_admit() */
    /* being left */
    unsigned busy;
    bool gone;
};

struct daemon_link_net {
    struct daemon_link_config c;
    struct acceptor acceptor;
    uint16_t port;
    struct list unauthenticated, all;
    struct daemon_link *held; /* what is queued on it goes with the end of its callback; or NULL */
    struct quota *quota;      /* the config's, or our own */
    struct quota own;
    /* Of daemon_link_admit(). */
    const unsigned char *other_key; /* NULL: nobody else may call */
    struct daemon_link_calls other_calls;
    void *other_arg;
};

/* ---- lines ---- */

static void line_readable(void *arg);
static void line_writable(void *arg);
static void line_late(void *arg);
static void retry_later(void *arg);

static void line_hang_up(struct line *l)
{
    watch_close(&l->watch);
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
    acceptor_retry(&l->net->acceptor);
}

static void line_free(struct line *l)
{
    struct daemon_link_net *net = l->net;

    if (!l->owner && !list_empty(&l->link))
        quota_leave(net->quota, &l->who);
    list_unlink(&l->link);
    line_hang_up(l);
    deadline_stop(&l->patience);
    timer_stop(&l->again);
    daemon_link_crypto_free(&l->code);
    free(l);
}

/* No TCP_USER_TIMEOUT: it would also break links to daemons that have paused reading.
 *
 * Packets that are lost again and again (on one machine, too, where many others send) must not make
 * a daemon silent for longer than they are lost: TCP doubles the time until it sends them again, so
 * that a few losses are enough for LIMIT_NODE_SILENT_MS.  (Kernels before 6.15 cannot be told.) */
static void tune(int fd)
{
    int on = 1, most = LIMIT_DAEMON_LINK_RESEND_MS;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_RTO_MAX_MS, &most, sizeof most);
}

static uint32_t greeting_ms(const struct daemon_link_net *net)
{
    return net->c.greeting_ms ? net->c.greeting_ms : LIMIT_DAEMON_LINK_GREETING_MS;
}

/* fd becomes the line's, also if there is no memory. */
static struct line *line_new(struct daemon_link_net *net, struct daemon_link *h, int fd,
                             const struct daemon_link_address *at)
{
    struct line *l = calloc(1, sizeof *l);
    unsigned char seed[DAEMON_LINK_SEED];
    int rc;

    if (!l) {
        close(fd);
        return NULL;
    }
    list_init(&l->link);
    l->net = net;
    l->owner = h;
    l->fd = fd;
    daemon_link_address_text(at, l->where);
    randombytes_buf(seed, sizeof seed);
    rc = daemon_link_crypto_init(&l->code, h ? DAEMON_LINK_CALLS : DAEMON_LINK_ANSWERS, net->c.key,
                                 seed, net->c.position,
                                 h ? LIMIT_DAEMON_LINK_QUEUE : UNAUTHENTICATED_OUT);
    sodium_memzero(seed, sizeof seed);
    if (!h && net->other_key)
        daemon_link_crypto_also(&l->code, net->other_key);
    if (net->c.wipes)
        daemon_link_crypto_wipes(&l->code);
    watch_open(&l->watch, net->c.loop, fd, line_readable, line_writable, l);
    deadline_init(&l->patience, net->c.loop, line_late, l);
    timer_init(&l->again, net->c.loop, retry_later, l);
    daemon_link_delay_begin(&l->delay);
    if (rc == 0 && !h) /* of a try, the link's own bound applies */
        rc = deadline_set(&l->patience, greeting_ms(net));
    if (rc == 0 && !h)
        rc = watch_want(&l->watch, LOOP_READ);
    if (rc < 0) {
        line_free(l);
        return NULL;
    }
    tune(fd);
    return l;
}

/* Sends as much as possible.  False: an error, which reading will report again. */
static bool line_flush(struct line *l)
{
    struct slice s;
    unsigned want = l->owner && l->owner->paused ? 0 : LOOP_READ;
    bool good = true;

    while ((s = daemon_link_crypto_out(&l->code)).len) {
        ssize_t n = send(l->fd, s.ptr, s.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            want |= LOOP_WRITE;
            break;
        }
        if (n < 0) {
            good = false;
            break;
        }
        daemon_link_crypto_sent(&l->code, (size_t)n);
        if (l->owner)
            l->owner->sent = true;
    }
    watch_want(&l->watch, want);
    return good;
}

/* ---- links ---- */

static void daemon_link_kicked(void *arg);
static void daemon_link_beat(void *arg);
static void daemon_link_stagger(void *arg);
static void daemon_link_late(void *arg);

/* Whom the events of this link are for. */
static const struct daemon_link_calls *calls_of(const struct daemon_link *h, void **arg_p)
{
    const struct daemon_link_net *net = h->net;

    *arg_p = h->admitted ? net->other_arg : net->c.arg;
    return h->admitted ? &net->other_calls : &net->c.calls;
}

static struct daemon_link *daemon_link_new(struct daemon_link_net *net)
{
    struct daemon_link *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->net = net;
    list_init(&h->tries);
    timer_init(&h->stagger, net->c.loop, daemon_link_stagger, h);
    deadline_init(&h->bound, net->c.loop, daemon_link_late, h);
    timer_init(&h->beat, net->c.loop, daemon_link_beat, h);
    timer_init(&h->kick, net->c.loop, daemon_link_kicked, h);
    list_append(&net->all, &h->link);
    return h;
}

/* A connected try whose connection has not been reported yet sends its hello before it is closed:
 * otherwise it would count as unauthenticated there. */
static void drop_tries(struct daemon_link *h, const struct line *but)
{
    LIST_EACH(link, &h->tries)
    {
        struct line *l = LIST_OF(link, struct line, link);
        if (l == but)
            continue;
        if (l->connecting)
            line_flush(l);
        line_free(l);
    }
}

/* Frees everything but the struct, which our callers may still read. */
static void daemon_link_clear(struct daemon_link *h)
{
    h->gone = true;
    if (h->net->held == h)
        h->net->held = NULL;
    drop_tries(h, NULL);
    if (h->line)
        line_free(h->line);
    h->line = NULL;
    timer_stop(&h->stagger);
    deadline_stop(&h->bound);
    timer_stop(&h->beat);
    timer_stop(&h->kick);
    list_unlink(&h->link);
}

/* Sends the queued data first, as far as possible. */
void daemon_link_drop(struct daemon_link *h)
{
    if (!h->gone && h->line && h->busy)
        line_flush(h->line);
    if (!h->gone)
        daemon_link_clear(h);
    if (h->busy == 0)
        free(h);
}

/* It cannot be written any more: reported by a separate callback. */
static void go_on_broken(struct daemon_link *h)
{
    h->broken = true;
    timer_set(&h->kick, 0);
}

static void flush_later_errors(struct daemon_link *h)
{
    if (!line_flush(h->line))
        go_on_broken(h);
}

/* Data of a callback's own link is held until its end, but not behind that of others: of many
 * neighbours the one whose message is being handled is the one that was awaited longest. */
static void hold(struct daemon_link *h)
{
    struct daemon_link *before = h->net->held;

    if (before == h)
        return;
    h->net->held = h->busy ? h : NULL;
    if (before)
        flush_later_errors(before);
}

static void enter(struct daemon_link *h)
{
    h->busy++;
}

/* Replies to the messages of this turn are sent together. */
static void leave(struct daemon_link *h)
{
    if (--h->busy > 0)
        return;
    if (h->net->held == h)
        h->net->held = NULL;
    if (h->gone)
        free(h);
    else if (daemon_link_waiting(h))
        flush_later_errors(h);
}

/* The last callback. */
static void go_down(struct daemon_link *h, enum daemon_link_down how, const struct errmsg *why)
{
    const struct daemon_link_calls *calls;
    void *arg;

    if (h->gone)
        return;
    calls = calls_of(h, &arg);
    enter(h);
    daemon_link_clear(h);
    calls->on_down(arg, h, how, why);
    leave(h);
}

/* The other end may not have let us in. */
static void break_before_messages(struct daemon_link *h, const char *what)
{
    char delay[DAEMON_LINK_DELAY_TEXT];
    struct errmsg why;

    daemon_link_delay_text(&h->line->delay, h->line->fd, delay);
    errmsg_set(&why, 0, "the link to %s broke: %.400s before its first message (%s)",
               h->line->where, what, delay);
    go_down(h, DAEMON_LINK_DOWN_BROKEN, &why);
}

static void break_down(struct daemon_link *h, const char *what)
{
    struct errmsg why;
    bool bye = h->ending && daemon_link_waiting(h) == 0 && h->line->code.sent_bye;

    if (!bye && !h->spoken_to) {
        break_before_messages(h, what);
        return;
    }
    errmsg_set(&why, 0, bye ? "the link to %s is closed" : "the link to %s broke: %s",
               h->line->where, what);
    go_down(h, bye ? DAEMON_LINK_DOWN_BYE : DAEMON_LINK_DOWN_BROKEN, &why);
}

static void come_up(struct daemon_link *h, struct line *l)
{
    const struct daemon_link_calls *calls;
    void *arg;

    h->admitted = l->code.by_other;
    calls = calls_of(h, &arg);
    l->owner = h;
    h->line = l;
    l->code.out.max = LIMIT_DAEMON_LINK_QUEUE;
    deadline_stop(&l->patience);
    deadline_stop(&h->bound);
    timer_stop(&h->stagger);
    if (h->net->c.alive_ms)
        timer_set(&h->beat, h->net->c.alive_ms);
    calls->on_up(arg, h);
}

static void fall_silent(struct daemon_link *h)
{
    char delay[DAEMON_LINK_DELAY_TEXT];
    struct errmsg why;

    daemon_link_delay_text(&h->line->delay, h->line->fd, delay);
    errmsg_set(&why, 0, "no message from %s for %u.%u seconds (%s)", h->line->where,
               h->quiet_ms / 1000, h->quiet_ms % 1000 / 100, delay);
    go_down(h, DAEMON_LINK_DOWN_SILENT, &why);
}

/* Any received bytes count as a heartbeat; ours is sent if we had nothing else to send.  The turns
 * of this timer are counted, not the time: a daemon that was stopped for a while does not take its
 * own absence for that of all others. */
static void daemon_link_beat(void *arg)
{
    struct daemon_link *h = arg;
    const struct daemon_link_config *c = &h->net->c;

    h->quiet_ms = h->received || h->paused ? 0 : h->quiet_ms + c->alive_ms;
    h->received = false;
    if (c->silent_ms && h->quiet_ms >= c->silent_ms) {
        fall_silent(h);
        return;
    }
    if (!h->quiet_ms)
        daemon_link_delay_begin(&h->line->delay);
    if (!h->sent && !h->line->code.sent_bye && daemon_link_waiting(h) == 0 &&
        daemon_link_crypto_alive(&h->line->code) == 0)
        line_flush(h->line);
    h->sent = false;
    timer_set(&h->beat, c->alive_ms);
}

/* Why a line that was up cannot go on. */
static void daemon_link_failed(struct daemon_link *h)
{
    char text[ERRMSG_MAX];

    snprintf(text, sizeof text, "%.900s", h->line->code.err.text);
    break_down(h, text);
}

/* Delivers the received messages; false if the link is gone. */
static bool daemon_link_deliver(struct daemon_link *h)
{
    enum daemon_link_event e = DAEMON_LINK_ALIVE;
    const struct daemon_link_calls *calls;
    struct slice message = SLICE_NULL;
    struct errmsg why;
    void *arg;

    calls = calls_of(h, &arg);
    while (!h->gone && !h->paused && e != DAEMON_LINK_MORE) {
        e = daemon_link_crypto_next(&h->line->code, &message);
        switch (e) {
        case DAEMON_LINK_MESSAGE:
            h->spoken_to = true;
            calls->on_message(arg, h, message);
            break;
        case DAEMON_LINK_FAILED: daemon_link_failed(h); break;
        case DAEMON_LINK_BYE:
            errmsg_set(&why, 0, "%s has closed the link", h->line->where);
            go_down(h, DAEMON_LINK_DOWN_BYE, &why);
            break;
        default: break;
        }
    }
    return !h->gone;
}

/* ---- connecting ---- */

static void call_next(struct daemon_link *h);

/* One try has failed; if it was the last, the link is down. */
static void try_failed(struct daemon_link *h, struct line *l, const char *where, const char *why)
{
    size_t n = strlen(h->failures.text);

    snprintf(h->failures.text + n, sizeof h->failures.text - n, "%s%s (%s)", n ? ", " : "", where,
             why);
    if (l)
        line_free(l);
    if (h->next < h->nto) {
        call_next(h);
    } else if (list_empty(&h->tries)) {
        struct errmsg all;
        errmsg_set(&all, 0,
                   h->refused ? "cannot link to the daemon at %.900s"
                              : "cannot reach the daemon at %.900s",
                   h->failures.text);
        go_down(h, h->refused ? DAEMON_LINK_DOWN_REFUSED : DAEMON_LINK_DOWN_NO_WAY, &all);
    }
}

/* On this machine a connection is there at once, though the kernel says that it is under way. */
static bool is_connected(const struct line *l)
{
    struct pollfd p = { l->fd, POLLOUT, 0 };

    return poll(&p, 1, 0) == 1 && p.revents == POLLOUT;
}

static int start_try(struct daemon_link *h, const struct daemon_link_address *to, unsigned retries)
{
    int fd = socket(to->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct line *l;
    int rc;

    if (fd < 0)
        return -errno;
    l = line_new(h->net, h, fd, to);
    if (!l)
        return -ENOMEM;
    l->to = to;
    l->retries = retries;
    if (connect(fd, (const struct sockaddr *)&to->at, to->len) < 0 && errno != EINPROGRESS) {
        rc = -errno;
        line_free(l);
        return rc;
    }
    list_append(&h->tries, &l->link);
    if (is_connected(l) && line_flush(l))
        return 0;
    l->connecting = true;
    rc = watch_want(&l->watch, LOOP_WRITE);
    if (rc < 0)
        line_free(l);
    return rc;
}

/* Tries the next address, and the one after it a moment later. */
static void call_next(struct daemon_link *h)
{
    const struct daemon_link_address *to;
    char where[DAEMON_LINK_ADDRESS_TEXT];
    int rc;

    timer_stop(&h->stagger);
    if (h->next >= h->nto)
        return;
    to = &h->to[h->next++];
    rc = start_try(h, to, 0);
    if (rc == 0) {
        if (h->next < h->nto)
            timer_set(&h->stagger, LIMIT_DAEMON_LINK_STAGGER_MS);
        return;
    }
    daemon_link_address_text(to, where);
    try_failed(h, NULL, where, err_text(rc));
}

static void daemon_link_stagger(void *arg)
{
    struct daemon_link *h = arg;

    enter(h);
    call_next(h);
    leave(h);
}

/* Closed before it was answered: too many connections there.  It connects again, a little later
 * each time and not in step with others; the addresses after it do not wait for that. */
static bool will_retry(struct line *l)
{
    uint32_t delay = LIMIT_DAEMON_LINK_RETRY_MS << l->retries;

    if (l->code.greeted || l->connecting || l->retries >= LIMIT_DAEMON_LINK_RETRIES)
        return false;
    line_hang_up(l);
    return timer_set(&l->again, delay + randombytes_uniform(delay)) == 0;
}

static void retry_later(void *arg)
{
    struct line *l = arg;
    struct daemon_link *h = l->owner;
    int rc;

    enter(h);
    rc = start_try(h, l->to, l->retries + 1);
    if (rc == 0)
        line_free(l);
    else
        try_failed(h, l, l->where, err_text(rc));
    leave(h);
}

/* One of the tries that have not been answered. */
static void add_unanswered(struct daemon_link *h, const struct line *l)
{
    size_t n = strlen(h->failures.text);
    char delay[DAEMON_LINK_DELAY_TEXT];

    daemon_link_delay_text(&l->delay, l->fd, delay);
    snprintf(h->failures.text + n, sizeof h->failures.text - n, "%s%s (no answer within %u s: %s)",
             n ? ", " : "", l->where, LIMIT_DAEMON_LINK_CONNECT_MS / 1000, delay);
}

/* The end of waiting for addresses, or of lingering. */
static void daemon_link_late(void *arg)
{
    struct daemon_link *h = arg;
    struct errmsg why;

    if (h->line) {
        errmsg_set(&why, 0, "%s did not close the link in time", h->line->where);
        go_down(h, DAEMON_LINK_DOWN_BROKEN, &why);
        return;
    }
    LIST_EACH(link, &h->tries)
    add_unanswered(h, LIST_OF(link, struct line, link));
    errmsg_set(&why, 0, "cannot reach the daemon at %.900s", h->failures.text);
    go_down(h, h->refused ? DAEMON_LINK_DOWN_REFUSED : DAEMON_LINK_DOWN_NO_WAY, &why);
}

static void try_refused(struct daemon_link *h, struct line *l, const char *why)
{
    struct errmsg text;

    h->refused = true;
    errmsg_set(&text, 0, "%.900s", why);
    try_failed(h, l, l->where, text.text);
}

static void try_up(struct daemon_link *h, struct line *l)
{
    char why[80];

    if (l->code.position != h->peer) {
        snprintf(why, sizeof why, "it is daemon %u of the job, not %u", l->code.position, h->peer);
        try_refused(h, l, why);
        return;
    }
    list_unlink(&l->link);
    drop_tries(h, NULL);
    come_up(h, l);
}

/* ---- unauthenticated lines ---- */

static uint64_t now_ms(void)
{
    return clock_now_ns() / NS_PER_MS;
}

static void refuse_line(struct line *l, const char *why)
{
    quota_warn(l->net->quota, &l->who, now_ms(), l->net->c.log, "refused a connection from %s: %s",
               l->where, why);
    line_free(l);
}

static void line_late(void *arg)
{
    struct line *l = arg;
    char delay[DAEMON_LINK_DELAY_TEXT], why[HANDSHAKE_TEXT + DAEMON_LINK_DELAY_TEXT];
    size_t have, need;
    const char *what = daemon_link_crypto_awaited(&l->code, &have, &need);

    daemon_link_delay_text(&l->delay, l->fd, delay);
    snprintf(why, sizeof why,
             "it did not send its handshake in time: %zu of %zu bytes of its %s have come (%s)",
             have, need, what ? what : "messages", delay);
    refuse_line(l, why);
}

/* A replayed hello gets that far, too: its place can be taken from it (evict_unauthenticated()). */
static void await_proof(struct line *l)
{
    if (deadline_set(&l->patience, LIMIT_DAEMON_LINK_PROOF_MS) < 0)
        log_error(l->net->c.log, "out of memory for the deadline of a connection from %s",
                  l->where);
}

static void accepted_up(struct line *l)
{
    struct daemon_link *h = daemon_link_new(l->net);

    if (!h) {
        refuse_line(l, "out of memory");
        return;
    }
    list_unlink(&l->link);
    quota_leave(l->net->quota, &l->who);
    quota_uncount_connection(l->net->quota, &l->who);
    enter(h);
    h->received = true;
    come_up(h, l);
    daemon_link_deliver(h);
    leave(h);
}

/* ---- reading and writing ---- */

/* A line that was not up before these bytes. */
static void greet(struct line *l)
{
    struct slice message = SLICE_NULL;
    struct daemon_link *h = l->owner;
    bool greeted = l->code.greeted;
    enum daemon_link_event e = daemon_link_crypto_next(&l->code, &message);

    if (e == DAEMON_LINK_MORE) {
        if (l->code.greeted && !greeted)
            await_proof(l);
        line_flush(l);
    } else if (e == DAEMON_LINK_UP && h) {
        h->received = true;
        try_up(h, l);
        if (!h->gone && h->line)
            daemon_link_deliver(h);
    } else if (e == DAEMON_LINK_UP) {
        accepted_up(l);
    } else {
        line_flush(l); /* our refusal, if it can be sent at once */
        if (h)
            try_refused(h, l, l->code.err.text);
        else
            refuse_line(l, l->code.err.text);
    }
}

/* rc: 0 at the end of the stream, or -errno. */
static void line_ended(struct line *l, int rc)
{
    const char *why = rc ? err_text(rc) : "closed by the other end";
    struct daemon_link *h = l->owner;

    if (h && h->line)
        break_down(h, why);
    else if (h && will_retry(l))
        call_next(h);
    else if (h)
        try_failed(h, l, l->where, why);
    else if (l->code.greeted)
        line_free(l); /* the peer has found a better address of ours */
    else
        refuse_line(l, rc ? why : "it closed the connection before the handshake");
}

/* False: there was nothing to read. */
static bool line_read(struct line *l)
{
    struct daemon_link *h = l->owner;
    size_t room;
    char *to = daemon_link_crypto_room(&l->code, &room);
    ssize_t n;

    if (!to) {
        line_ended(l, -ENOMEM);
        return true;
    }
    n = recv(l->fd, to, room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        line_ended(l, n < 0 ? -errno : 0);
        return true;
    }
    daemon_link_crypto_came(&l->code, (size_t)n);
    if (!h || !h->line) {
        greet(l);
        return true;
    }
    h->received = true;
    daemon_link_deliver(h);
    return true;
}

static void line_readable(void *arg)
{
    struct line *l = arg;
    struct daemon_link *h = l->owner;

    if (h)
        enter(h);
    line_read(l);
    if (h)
        leave(h);
}

static void connected(struct line *l)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        error = errno;
    l->connecting = false;
    if (error)
        try_failed(l->owner, l, l->where, err_text(-error));
    else if (!line_flush(l))
        line_ended(l, -EPIPE);
}

static void line_writable(void *arg)
{
    const struct daemon_link_calls *calls;
    struct line *l = arg;
    struct daemon_link *h = l->owner;

    if (!h) {
        line_flush(l);
        return;
    }
    calls = calls_of(h, &arg);
    enter(h);
    if (l->connecting) {
        connected(l);
    } else if (!line_flush(l)) {
        if (h->line == l) /* reading ends a try */
            go_on_broken(h);
    } else if (h->pressed && h->line == l && daemon_link_waiting(h) <= LIMIT_DAEMON_LINK_LOW) {
        h->pressed = false;
        if (calls->on_room)
            calls->on_room(arg, h);
    }
    leave(h);
}

/* Work that could not be done inside another call.  Received data is delivered first: it may
 * contain a BYE. */
static void daemon_link_kicked(void *arg)
{
    struct daemon_link *h = arg;

    enter(h);
    if (daemon_link_deliver(h) && h->broken) {
        while (!h->gone && line_read(h->line))
            continue;
        if (!h->gone)
            break_down(h, "closed by the other end");
    }
    leave(h);
}

/* ---- listening ---- */

/* A random one of the source that has most. */
static struct line *choose_evicted(struct daemon_link_net *net)
{
    struct quota_source who = quota_greediest(net->quota);
    struct line *evicted = NULL;
    uint32_t n = 0;

    LIST_EACH(link, &net->unauthenticated)
    {
        struct line *l = LIST_OF(link, struct line, link);
        if (quota_same(&l->who, &who) && randombytes_uniform(++n) == 0)
            evicted = l;
    }
    return evicted;
}

static bool line_read(struct line *l);

/* Frees a place by reading the bytes of an unauthenticated line, or else by closing it.  False:
 * none can be closed.
 */
static bool evict_unauthenticated(void *arg)
{
    struct daemon_link_net *net = arg;
    uint32_t before = net->quota->open;

    for (int i = 0; i < EVICTION_TRIES; i++) {
        struct line *l = choose_evicted(net);
        if (!l)
            return false;
        if (!l->code.greeted)
            line_read(l);
        if (net->quota->open < before)
            return true; /* it was authenticated, or refused for its bytes */
        if (l->code.greeted && i < EVICTION_TRIES - 1)
            continue;
        refuse_line(l, "too many connections without a handshake");
        return true;
    }
    return false;
}

/* Connections from this machine are known by their user: they are not charged to a daemon that has
 * the same address. */
static struct quota_source source_of(int fd, const struct sockaddr_storage *from)
{
    struct peer_cred who;

    return peer_cred_read(fd, &who) == 0 ? quota_user(who.uid) : quota_address(from);
}

/* Our own user is not slowed: its processes could as well end the job. */
static bool may_call(struct daemon_link_net *net, const struct quota_source *who)
{
    struct quota_source ours = quota_user(geteuid());

    return quota_same(who, &ours) || quota_count_connection(net->quota, who, now_ms());
}

static bool admit(struct daemon_link_net *net, const struct quota_source *who)
{
    enum quota_entry entry = quota_enter(net->quota, who, now_ms());

    if (entry == QUOTA_FULL && evict_unauthenticated(net))
        entry = quota_enter(net->quota, who, now_ms());
    return entry == QUOTA_IN;
}

static void daemon_link_called(void *arg, int fd, const struct sockaddr_storage *at)
{
    struct daemon_link_net *net = arg;
    struct daemon_link_address from = { .at = *at, .len = sizeof *at };
    struct quota_source who = source_of(fd, at);
    struct line *l;

    if (!may_call(net, &who) || !admit(net, &who)) {
        close(fd);
        return;
    }
    l = line_new(net, NULL, fd, &from);
    if (!l) {
        quota_leave(net->quota, &who);
        return;
    }
    l->who = who;
    list_append(&net->unauthenticated, &l->link);
}

static int bind_port(int fd, int family, uint16_t port)
{
    struct sockaddr_storage at = { .ss_family = (sa_family_t)family };
    socklen_t len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

    ((struct sockaddr_in *)(void *)&at)->sin_port = htons(port); /* "any" is zero in both */
    return bind(fd, (struct sockaddr *)&at, len) < 0 ? -errno : 0;
}

/* A listening socket of one family on that port, or -errno; an IPv6 socket accepts IPv4 too.
 * Remains of connections that we closed do not block the port. */
static int listen_on(int family, const char *device, uint16_t port)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), off = 0, on = 1, rc = 0;

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0))
        rc = -errno;
    /* Without permission for that, callers on the other interfaces are refused later. */
    if (device &&
        setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, (socklen_t)strlen(device) + 1) < 0 &&
        errno != EPERM)
        rc = -errno;
    if (rc == 0)
        rc = bind_port(fd, family, port);
    if (rc == 0 && listen(fd, SOMAXCONN) < 0)
        rc = -errno;
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

static int open_listener(int family, const char *device, uint16_t low, uint16_t high)
{
    uint32_t n = (uint32_t)high - low + 1, first = low ? randombytes_uniform(n) : 0;
    int rc = -EADDRINUSE;

    if (low == 0)
        return listen_on(family, device, 0);
    for (uint32_t i = 0; i < n && (rc == -EADDRINUSE || rc == -EACCES); i++)
        rc = listen_on(family, device, (uint16_t)(low + (first + i) % n));
    return rc;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage at = { 0 };
    socklen_t len = sizeof at;

    if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
        return 0;
    return ntohs(((struct sockaddr_in *)(void *)&at)->sin_port); /* at the same offset in both */
}

int daemon_link_listen(struct daemon_link_net *net, const char *interface, uint16_t low,
                       uint16_t high, struct errmsg *err)
{
    char device[IFNAMSIZ];
    int fd, rc;

    if (interface && daemon_link_address_device(interface, device, sizeof device) < 0)
        return errmsg_set(err, -ENODEV,
                          "the network interface %.100s does not exist, is down or has no address",
                          interface);
    fd = open_listener(AF_INET6, interface ? device : NULL, low, high);
    if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
        fd = open_listener(AF_INET, interface ? device : NULL, low, high);
    if (fd == -EADDRINUSE && low)
        return errmsg_set(err, fd, "no port from %u to %u is free", low, high);
    if (fd < 0)
        return errmsg_set(err, fd, "cannot listen for connections: %s", err_text(fd));
    net->port = port_of(fd);
    rc = acceptor_open(&net->acceptor, net->c.loop, fd,
                       &(struct acceptor_calls){ daemon_link_called, evict_unauthenticated }, net);
    if (rc < 0)
        close(fd);
    return rc < 0 ? errmsg_set(err, rc, "cannot listen for connections: %s", err_text(rc)) : 0;
}

uint16_t daemon_link_port(const struct daemon_link_net *net)
{
    return net->port;
}

int daemon_link_addresses(const struct daemon_link_net *net, const char *interface,
                          struct buf *text, struct errmsg *err)
{
    return daemon_link_address_ours(interface, net->port, text, err);
}

void daemon_link_admit(struct daemon_link_net *net, const unsigned char *key,
                       const struct daemon_link_calls *calls, void *arg)
{
    net->other_key = key;
    net->other_calls = *calls;
    net->other_arg = arg;
}

/* ---- the rest of daemon_link.h ---- */

void daemon_link_prepare(void)
{
    int rc = sodium_init();

    (void)rc; /* the first net tells of a failure */
    secret_prepare();
}

struct daemon_link_net *daemon_link_net_new(const struct daemon_link_config *config,
                                            struct errmsg *err)
{
    struct daemon_link_net *net = calloc(1, sizeof *net);

    /* Must precede all other use of sodium; harmless twice. */
    if (!net || !config->key || sodium_init() < 0) {
        errmsg_set(err, 0,
                   net ? "the library sodium cannot be loaded, or there is no key"
                       : "out of memory");
        free(net);
        return NULL;
    }
    net->c = *config;
    net->acceptor = ACCEPTOR_CLOSED;
    list_init(&net->unauthenticated);
    list_init(&net->all);
    net->quota = config->quota ? config->quota : &net->own;
    if (!config->quota)
        quota_init(&net->own, &quota_evicts, clock_seed());
    return net;
}

void daemon_link_net_free(struct daemon_link_net *net)
{
    if (!net)
        return;
    LIST_EACH(link, &net->unauthenticated)
    line_free(LIST_OF(link, struct line, link));
    LIST_EACH(link, &net->all)
    daemon_link_drop(LIST_OF(link, struct daemon_link, link));
    acceptor_close(&net->acceptor);
    if (net->quota == &net->own)
        quota_report(&net->own, net->c.log);
    free(net);
}

struct daemon_link *daemon_link_connect(struct daemon_link_net *net, struct slice addresses,
                                        uint32_t peer, struct errmsg *err)
{
    struct daemon_link *h = daemon_link_new(net);

    if (!h) {
        errmsg_set(err, 0, "out of memory");
        return NULL;
    }
    h->peer = peer;
    h->nto = daemon_link_address_read(addresses, h->to, LIMIT_DAEMON_LINK_ADDRESSES, err);
    if (h->nto == 0) {
        daemon_link_drop(h);
        return NULL;
    }
    daemon_link_address_sort(h->to, h->nto);
    /* The first try is made from the loop: its failure is a callback. */
    if (timer_set(&h->stagger, 0) < 0 ||
        deadline_set(&h->bound, LIMIT_DAEMON_LINK_CONNECT_MS) < 0) {
        errmsg_set(err, 0, "out of memory");
        daemon_link_drop(h);
        return NULL;
    }
    return h;
}

uint32_t daemon_link_position(const struct daemon_link *h)
{
    return h->line ? h->line->code.position : h->peer;
}

const char *daemon_link_version(const struct daemon_link *h)
{
    return h->line ? h->line->code.version : "";
}

const char *daemon_link_where(const struct daemon_link *h)
{
    return h->line ? h->line->where : "";
}

size_t daemon_link_waiting(const struct daemon_link *h)
{
    return h->line ? daemon_link_crypto_out(&h->line->code).len : 0;
}

bool daemon_link_pressed(const struct daemon_link *h)
{
    return h->pressed;
}

int daemon_link_send(struct daemon_link *h, const struct slice *parts, size_t nparts)
{
    bool waits = daemon_link_waiting(h) > 0;
    int rc;

    if (!h->line || h->ending || h->broken)
        return -EPIPE;
    rc = daemon_link_crypto_send(&h->line->code, parts, nparts);
    if (rc)
        return rc;
    hold(h);
    if (!waits && !h->busy)
        flush_later_errors(h);
    if (daemon_link_waiting(h) > LIMIT_DAEMON_LINK_HIGH)
        h->pressed = true;
    return 0;
}

void daemon_link_pause(struct daemon_link *h, bool pause)
{
    if (!h->line || h->paused == pause)
        return;
    h->paused = pause;
    h->quiet_ms = 0;
    watch_want(&h->line->watch,
               (pause ? 0U : LOOP_READ) | (h->line->watch.what & (unsigned)LOOP_WRITE));
    if (!pause)
        timer_set(&h->kick, 0); /* deliver messages that were received already */
}

void daemon_link_end(struct daemon_link *h)
{
    if (h->ending || h->gone)
        return;
    h->ending = true;
    if (h->line && daemon_link_crypto_bye(&h->line->code) == 0 && !h->busy)
        flush_later_errors(h);
    deadline_set(&h->bound, h->line ? LIMIT_DAEMON_LINK_CLOSE_MS : 0);
}
