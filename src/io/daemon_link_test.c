/* daemon_link_test.c - links over real sockets, all in one process: connecting over several
 * addresses, messages, back-pressure, BYE and broken links told apart, silence, and unauthenticated
 * peers of every kind.
 */
#include "io/daemon_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/acceptor.h"
#include "io/daemon_link_address.h"
#include "tests/tap.h"

#ifndef TCP_RTO_MAX_MS
#define TCP_RTO_MAX_MS 44
#endif

static const unsigned char key[DAEMON_LINK_KEY] = "the key of this test...........";
static const unsigned char other_key[DAEMON_LINK_KEY] = "the key of another job.........";

static struct loop loop;
static struct timer guard;

static void send_text(struct daemon_link *h, const char *text);

/* The events that one daemon has seen. */
struct seen {
    struct daemon_link_net *net;
    struct daemon_link *found; /* the last that came up */
    unsigned ups, downs, messages, rooms;
    size_t bytes, want_bytes;
    enum daemon_link_down how;
    struct errmsg why;
    uint32_t position;
    char version[20];
    char last[64];
    bool stop_at_up, stop_at_message, stop_at_down, stop_at_room, echo, drop_at_message;
    bool drop_at_up;
    struct daemon_link *other; /* a message is answered on its link, then on this one */
    size_t held, then_held;    /* ... queued on its link after each */
};

static void hang(void *arg)
{
    (void)arg;
    printf("Bail out! nothing happened for five minutes\n");
    exit(1);
}

static void run(void)
{
    timer_set(&guard, 300000);
    loop_run(&loop);
    timer_stop(&guard);
}

static void on_up(void *arg, struct daemon_link *h)
{
    struct seen *s = arg;

    s->ups++;
    s->found = h;
    s->position = daemon_link_position(h);
    snprintf(s->version, sizeof s->version, "%s", daemon_link_version(h));
    if (s->drop_at_up) {
        daemon_link_drop(h);
        s->found = NULL;
    }
    if (s->stop_at_up)
        loop_stop(&loop);
}

static void on_message(void *arg, struct daemon_link *h, struct slice m)
{
    struct seen *s = arg;

    s->messages++;
    s->bytes += m.len;
    snprintf(s->last, sizeof s->last, SLICE_FMT, SLICE_ARG(slice_head(m, sizeof s->last - 1)));
    if (s->echo)
        daemon_link_send(h, &m, 1);
    if (s->other) {
        send_text(h, "first");
        s->held = daemon_link_waiting(h);
        send_text(s->other, "second");
        s->then_held = daemon_link_waiting(h);
    }
    if (s->drop_at_message) {
        daemon_link_drop(h);
        s->found = NULL;
    }
    if (s->stop_at_message && (s->want_bytes == 0 || s->bytes >= s->want_bytes))
        loop_stop(&loop);
}

static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    struct seen *s = arg;

    s->downs++;
    s->how = how;
    s->why = *why;
    if (s->found == h)
        s->found = NULL;
    if (s->stop_at_down)
        loop_stop(&loop);
}

static void on_room(void *arg, struct daemon_link *h)
{
    struct seen *s = arg;

    (void)h;
    s->rooms++;
    if (s->stop_at_room)
        loop_stop(&loop);
}

/* ---- the log, as text ---- */

static int log_pipe[2];
static struct log to_pipe = { -1, LOG_WARN, "test", NULL };
static char logged_text[65536];

/* The number of lines logged since the last call; their text is in logged_text. */
static unsigned logged(void)
{
    ssize_t n = read(log_pipe[0], logged_text, sizeof logged_text - 1);
    unsigned lines = 0;

    logged_text[n > 0 ? n : 0] = '\0';
    for (const char *c = logged_text; *c; c++)
        lines += *c == '\n';
    return lines;
}

/* ---- daemons ---- */

static struct seen *daemon_of(struct daemon_link_config c)
{
    struct seen *s = calloc(1, sizeof *s);
    struct errmsg err;

    c.arg = s;
    s->net = daemon_link_net_new(&c, &err);
    if (!s->net)
        abort();
    return s;
}

static struct seen *daemon_new(uint32_t position, const unsigned char *k, uint32_t alive_ms,
                               uint32_t silent_ms)
{
    return daemon_of((struct daemon_link_config){ .loop = &loop,
                                                  .log = &to_pipe,
                                                  .key = k,
                                                  .position = position,
                                                  .calls = { on_up, on_message, on_down, on_room },
                                                  .alive_ms = alive_ms,
                                                  .silent_ms = silent_ms });
}

static void daemon_free(struct seen *s)
{
    daemon_link_net_free(s->net);
    free(s);
}

static struct seen *listening(struct seen *s)
{
    struct errmsg err = { "" };

    if (!OK_F(daemon_link_listen(s->net, NULL, 0, 0, &err) == 0 && daemon_link_port(s->net),
              "listening %s", err.text))
        exit(1);
    return s;
}

static struct seen *listener(const unsigned char *k)
{
    return listening(daemon_new(0, k, 0, 0));
}

/* One that waits so long for a hello. */
static struct seen *impatient(uint32_t greeting_ms)
{
    return listening(
        daemon_of((struct daemon_link_config){ .loop = &loop,
                                               .log = &to_pipe,
                                               .key = key,
                                               .calls = { on_up, on_message, on_down, on_room },
                                               .greeting_ms = greeting_ms }));
}

static const char *local(const struct seen *s)
{
    static char text[32];

    snprintf(text, sizeof text, "127.0.0.1:%u", daemon_link_port(s->net));
    return text;
}

static struct daemon_link *call(struct seen *from, const char *where)
{
    struct errmsg err = { "" };
    struct daemon_link *h = daemon_link_connect(from->net, slice_str(where), 0, &err);

    OK_F(h != NULL, "calling %s %s", where, err.text);
    return h;
}

static void send_text(struct daemon_link *h, const char *text)
{
    struct slice s = slice_str(text);

    if (daemon_link_send(h, &s, 1) != 0)
        abort();
}

/* a has connected to b, and both are up; the loop stops for neither any more. */
static void link_up(struct seen *a, struct seen *b)
{
    a->stop_at_up = b->stop_at_up = true;
    call(a, local(b));
    run();
    if (!a->ups || !b->ups)
        run();
    a->stop_at_up = b->stop_at_up = false;
}

static void test_talk(void)
{
    struct seen *b = listener(key), *a = daemon_new(3, key, 0, 0);

    link_up(a, b);
    OK(a->ups == 1 && b->ups == 1 && a->position == 0 && b->position == 3);
    OK(!strcmp(a->version, WIREUP_VERSION) && !strcmp(b->version, WIREUP_VERSION));
    b->echo = true;
    a->stop_at_message = true;
    send_text(a->found, "hello");
    run();
    OK(b->messages == 1 && a->messages == 1 && !strcmp(a->last, "hello"));
    OK(strstr(daemon_link_where(a->found), "127.0.0.1:") != NULL);

    a->stop_at_down = b->stop_at_down = true;
    daemon_link_end(a->found);
    OK(daemon_link_send(a->found, &(struct slice){ "x", 1 }, 1) == -EPIPE);
    while (!a->downs || !b->downs)
        run();
    OK_F(a->how == DAEMON_LINK_DOWN_BYE && b->how == DAEMON_LINK_DOWN_BYE, "a good-bye: %s / %s",
         a->why.text, b->why.text);
    daemon_free(a);
    daemon_free(b);
}

/* A result for several neighbours comes with the message of one of them, which is the first. */
static void test_order(void)
{
    struct seen *b = listener(key), *a = daemon_new(3, key, 0, 0), *c = daemon_new(4, key, 0, 0);

    link_up(a, b);
    b->ups = 0;
    link_up(c, b);
    b->other = b->found;
    a->stop_at_message = true;
    send_text(a->found, "all are here");
    run();
    OK(b->held > 0 && !strcmp(a->last, "first"));
    OK_F(b->then_held == 0, "%zu bytes are held behind those of another link", b->then_held);
    c->stop_at_message = true;
    if (!c->messages)
        run();
    OK(!strcmp(c->last, "second"));
    daemon_free(a);
    daemon_free(c);
    daemon_free(b);
}

/* Both send BYE at once, with much data in flight. */
static void test_both_end(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);
    struct slice much = { calloc(1, 3 << 20), 3 << 20 };

    link_up(a, b);
    OK(daemon_link_send(a->found, &much, 1) == 0);
    a->stop_at_down = b->stop_at_down = true;
    daemon_link_end(a->found);
    while (!a->downs || !b->downs)
        run();
    OK_F(b->bytes == much.len && a->how == DAEMON_LINK_DOWN_BYE && b->how == DAEMON_LINK_DOWN_BYE,
         "waiting messages are sent before the good-bye");
    daemon_free(a);
    a = daemon_new(1, key, 0, 0);
    b->ups = b->downs = 0;
    link_up(a, b);
    a->stop_at_down = b->stop_at_down = true;
    daemon_link_end(a->found);
    daemon_link_end(b->found);
    while (!a->downs || !b->downs)
        run();
    OK_F(a->how == DAEMON_LINK_DOWN_BYE && b->how == DAEMON_LINK_DOWN_BYE, "both at once");
    daemon_free(a);
    daemon_free(b);
    free((void *)(uintptr_t)much.ptr);
}

static void test_broken(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);

    link_up(a, b);
    b->stop_at_down = true;
    daemon_link_drop(a->found);
    run();
    OK_F(b->how == DAEMON_LINK_DOWN_BROKEN && strstr(b->why.text, "broke"), "a break: %s",
         b->why.text);
    OK_F(a->downs == 0, "who drops hears nothing");
    daemon_free(a);

    a = daemon_new(1, key, 0, 0);
    b->ups = 0;
    a->drop_at_up = true;
    a->stop_at_up = true;
    b->downs = 0;
    call(a, local(b));
    while (!b->downs)
        run();
    OK_F(a->ups == 1 && a->downs == 0, "dropping in its own on_up");
    daemon_free(a);

    a = daemon_new(1, key, 0, 0);
    b->ups = b->downs = 0;
    link_up(a, b);
    a->drop_at_message = true;
    for (int i = 0; i < 3; i++)
        send_text(b->found, "go");
    run();
    OK_F(a->messages == 1 && b->downs == 1, "dropping in its own on_message: no more of them");
    daemon_free(a);
    daemon_free(b);
}

/* A peer that does each step when it is told to: the bare protocol on a socket of its own. */
struct bare {
    struct daemon_link_crypto code;
    int fd;
};

static int dial(const struct seen *to)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(daemon_link_port(to->net)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
        abort();
    return fd;
}

static void push(int fd, const void *bytes, size_t n)
{
    if (send(fd, bytes, n, MSG_NOSIGNAL) != (ssize_t)n)
        abort();
}

static void stop_now(void *arg)
{
    (void)arg;
    loop_stop(&loop);
}

/* The loop runs for that long. */
static void run_for(uint64_t ms)
{
    struct timer t;

    timer_init(&t, &loop, stop_now, NULL);
    timer_set(&t, ms);
    run();
}

/* Runs the loop until the log has that many lines. */
static bool wait_logged(unsigned lines)
{
    unsigned n = 0;

    for (int i = 0; i < 60000 && n < lines; i++) {
        run_for(5);
        n += logged();
    }
    return n == lines;
}

static void bare_call(struct bare *m, const struct seen *to, uint32_t position)
{
    static unsigned char seed[DAEMON_LINK_SEED] = { 1, 2, 3 };

    seed[0]++;
    if (daemon_link_crypto_init(&m->code, DAEMON_LINK_CALLS, key, seed, position, 100000) < 0)
        abort();
    m->fd = dial(to);
}

static void bare_send(struct bare *m, size_t n)
{
    push(m->fd, daemon_link_crypto_out(&m->code).ptr, n);
    daemon_link_crypto_sent(&m->code, n);
}

/* Waits for the answer, while the loop runs; the proof is not sent yet.  False: it was refused. */
static bool bare_answered(struct bare *m)
{
    char bytes[4096];
    struct slice none;

    while (!m->code.up) {
        ssize_t n = recv(m->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        size_t room;
        if (n == 0)
            return false;
        if (n < 0) {
            run_for(5);
            continue;
        }
        memcpy(daemon_link_crypto_room(&m->code, &room), bytes, (size_t)n);
        daemon_link_crypto_came(&m->code, (size_t)n);
        daemon_link_crypto_next(&m->code, &none);
    }
    return true;
}

static void bare_close(struct bare *m)
{
    close(m->fd);
    daemon_link_crypto_free(&m->code);
}

static void test_pressure(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 20, 200);
    struct slice piece = { calloc(1, 1 << 20), 1 << 20 };
    unsigned sent = 0;

    link_up(a, b);
    daemon_link_pause(b->found, true);
    while (!daemon_link_pressed(a->found) && sent < 1000) {
        if (daemon_link_send(a->found, &piece, 1) != 0)
            abort();
        sent++;
    }
    OK_F(daemon_link_pressed(a->found) && daemon_link_waiting(a->found) > LIMIT_DAEMON_LINK_HIGH &&
             sent < 100,
         "who sends to a daemon that does not read comes under pressure");
    OK(b->messages == 0 && a->rooms == 0);
    a->stop_at_room = true;
    daemon_link_pause(b->found, false);
    run();
    OK(a->rooms == 1 && !daemon_link_pressed(a->found));
    b->stop_at_message = true;
    b->want_bytes = (size_t)sent * piece.len;
    if (b->bytes < b->want_bytes)
        run();
    OK_F(b->messages == sent && b->bytes == b->want_bytes, "and nothing is lost");
    daemon_free(a);
    daemon_free(b);
    free((void *)(uintptr_t)piece.ptr);
}

/* Pausing inside a callback holds back messages that were received already. */
static void test_pause(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);

    link_up(a, b);
    daemon_link_pause(b->found, true);
    for (int i = 0; i < 10; i++)
        send_text(a->found, "one of ten");
    run_for(20);
    EQ(b->messages, 0);
    daemon_link_pause(b->found, false);
    b->stop_at_message = true;
    b->want_bytes = 100;
    run();
    EQ(b->messages, 10);
    daemon_free(a);
    daemon_free(b);
}

static void test_silence(void)
{
    struct seen *b = listening(daemon_new(0, key, 20, 200)), *a = daemon_new(1, key, 20, 0);
    struct bare m;

    link_up(a, b);
    run_for(600);
    OK_F(b->downs == 0, "signs of life keep a link that nobody uses");

    b->stop_at_down = true;
    bare_call(&m, b, 9);
    bare_send(&m, DAEMON_LINK_HELLO);
    OK(bare_answered(&m));
    bare_send(&m, DAEMON_LINK_PROOF);
    while (!b->downs)
        run();
    OK_F(b->how == DAEMON_LINK_DOWN_SILENT && strstr(b->why.text, "no message from") &&
             strstr(b->why.text, " ran ") && strstr(b->why.text, " bytes are unread, "),
         "%s", b->why.text);
    bare_close(&m);
    daemon_free(a);
    daemon_free(b);
}

/* Who knows the key may be slow; who has not even said hello may not. */
static void test_slow_handshake(void)
{
    struct seen *b = impatient(1000);
    struct bare m;
    int fd = dial(b);

    OK_F(wait_logged(1) && strstr(logged_text, "in time: 0 of 104 bytes of its hello"), "%s",
         logged_text);
    close(fd);
    bare_call(&m, b, 9);
    bare_send(&m, DAEMON_LINK_HELLO);
    OK(bare_answered(&m));
    run_for(3000);
    bare_send(&m, DAEMON_LINK_PROOF);
    b->stop_at_up = true;
    run();
    OK_F(b->ups == 1 && logged() == 0, "a late proof is as good: %s", logged_text);
    bare_close(&m);
    daemon_free(b);
}

static void be_away(void *arg)
{
    const uint32_t *ms = arg;

    usleep(*ms * 1000);
}

/* A hello of which a part lies unread while this process is away is no late one. */
static void test_away(void)
{
    enum { PART = 40 };
    struct seen *b = impatient(1000);
    uint32_t ms = 3000;
    struct timer t;
    struct bare m;

    bare_call(&m, b, 9);
    run_for(50); /* it is accepted in the first turn */
    bare_send(&m, PART);
    timer_init(&t, &loop, be_away, &ms);
    timer_set(&t, 0);
    run_for(50);
    bare_send(&m, DAEMON_LINK_HELLO - PART);
    OK_F(bare_answered(&m) && logged() == 0, "who was away itself refuses nobody: %s", logged_text);
    bare_close(&m);
    daemon_free(b);
}

/* The kernel drops what comes for that socket, as if the network did. */
static void drop_packets(int fd)
{
    struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog filter = { 1, &none };

    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) < 0)
        abort();
}

/* The socket of this process that is connected from that port to another one here. */
static int socket_to(uint16_t port, bool ours)
{
    for (int fd = 3; fd < 1024; fd++) {
        struct sockaddr_in6 at = { .sin6_family = AF_UNSPEC };
        socklen_t len = sizeof at;
        int rc = ours ? getpeername(fd, (struct sockaddr *)&at, &len)
                      : getsockname(fd, (struct sockaddr *)&at, &len);
        struct sockaddr_storage other;
        socklen_t other_len = sizeof other;
        if (rc == 0 && ntohs(at.sin6_port) == port &&
            getpeername(fd, (struct sockaddr *)&other, &other_len) == 0)
            return fd;
    }
    abort();
}

static struct tcp_info tcp_of(int fd)
{
    struct tcp_info tcp = { .tcpi_state = 0 };
    socklen_t len = sizeof tcp;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &tcp, &len) < 0)
        abort();
    return tcp;
}

/* However often a packet is lost, it is soon sent again. */
static void test_losses(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);
    struct tcp_info tcp;
    int from, to, most;
    socklen_t len = sizeof most;
    bool can;

    link_up(a, b);
    from = socket_to(daemon_link_port(b->net), true);
    to = socket_to(daemon_link_port(b->net), false);
    can = getsockopt(from, IPPROTO_TCP, TCP_RTO_MAX_MS, &most, &len) == 0;
    drop_packets(to);
    send_text(a->found, "lost");
    while ((tcp = tcp_of(from)).tcpi_retransmits < 4)
        run_for(20);
    OK_F(!can || tcp.tcpi_rto <= LIMIT_DAEMON_LINK_RESEND_MS * 1000,
         "after %u losses again in %u ms%s", tcp.tcpi_retransmits, tcp.tcpi_rto / 1000,
         can ? "" : ", by an old kernel");
    setsockopt(to, SOL_SOCKET, SO_DETACH_FILTER, &to, sizeof to);
    b->stop_at_message = true;
    run();
    OK(!strcmp(b->last, "lost"));
    daemon_free(a);
    daemon_free(b);
}

/* Ports without a listener: bound here, so that nobody else can listen. */
static unsigned closed_port(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd, (struct sockaddr *)&at, sizeof at);
    getsockname(fd, (struct sockaddr *)&at, &len);
    return ntohs(at.sin_port);
}

static void test_addresses(void)
{
    struct seen *b = listener(key), *c = listener(other_key), *a = daemon_new(1, key, 0, 0);
    struct buf ours = BUF_NULL(4096);
    struct daemon_link *h;
    struct errmsg err;
    char list[4600];
    unsigned dead = closed_port();

    /* A port that is closed, another job's daemon, and, last, the right one. */
    snprintf(list, sizeof list, "127.0.0.1:%u, 127.0.0.1:%u 127.0.0.1:%u", dead,
             daemon_link_port(c->net), daemon_link_port(b->net));
    a->stop_at_up = true;
    call(a, list);
    run();
    OK_F(a->ups == 1 && a->position == 0, "the address that works is found behind two that do not");
    OK(wait_logged(1) && strstr(logged_text, "another key"));
    daemon_free(a);

    a = daemon_new(1, key, 0, 0);
    a->stop_at_down = true;
    snprintf(list, sizeof list, "127.0.0.1:%u 127.0.0.1:%u", dead, closed_port());
    call(a, list);
    run();
    OK_F(a->how == DAEMON_LINK_DOWN_NO_WAY && strstr(a->why.text, "cannot reach") &&
             strstr(a->why.text, "refused"),
         "%s", a->why.text);
    a->downs = 0;
    h = call(a, local(c));
    run();
    OK_F(a->how == DAEMON_LINK_DOWN_REFUSED && strstr(a->why.text, "another job"), "%s",
         a->why.text);
    logged();

    /* The right key, but the wrong daemon. */
    h = daemon_link_connect(a->net, slice_str(local(b)), 7, &err);
    run();
    OK_F(h && a->how == DAEMON_LINK_DOWN_REFUSED && strstr(a->why.text, "not 7"), "%s",
         a->why.text);

    OK(daemon_link_connect(a->net, slice_str("nonsense"), 0, &err) == NULL &&
       strstr(err.text, "nonsense"));
    OK(daemon_link_connect(a->net, slice_str(""), 0, &err) == NULL);
    OK(daemon_link_connect(a->net, slice_str("[::1:5"), 0, &err) == NULL);
    OK(daemon_link_connect(a->net, slice_str("1.2.3.4:99999"), 0, &err) == NULL);

    OK(daemon_link_addresses(b->net, NULL, &ours, &err) == 0);
    OK_F(buf_len(&ours) > 0, "ours: %s", buf_cstr(&ours));
    a->downs = a->ups = 0;
    a->stop_at_up = true;
    call(a, buf_cstr(&ours));
    run();
    OK_F(a->ups == 1, "our own list of addresses works");
    buf_clear(&ours);
    OK(daemon_link_addresses(b->net, "lo", &ours, &err) == 0);
    OK_F(strstr(buf_cstr(&ours), "127.0.0.1"), "of one interface: %s", buf_cstr(&ours));
    OK(daemon_link_addresses(b->net, "nosuch0", &ours, &err) == -ENODEV &&
       strstr(err.text, "nosuch0"));
    buf_free(&ours);
    daemon_free(a);
    daemon_free(b);
    daemon_free(c);
}

/* Callers with another key are somebody else's, and the daemons of the job are not disturbed. */
static void test_admitted(void)
{
    static const unsigned char third_key[DAEMON_LINK_KEY] = "nobody's key...................";
    const struct daemon_link_calls calls = { on_up, on_message, on_down, on_room };
    struct seen *b = listener(key), *joins = calloc(1, sizeof *joins);
    struct seen *a = daemon_new(UINT32_MAX, other_key, 0, 0), *c = daemon_new(4, key, 0, 0),
                *d = daemon_new(5, third_key, 0, 0);

    daemon_link_admit(b->net, other_key, &calls, joins);
    a->stop_at_up = joins->stop_at_up = true;
    call(a, local(b));
    run();
    if (!joins->ups)
        run();
    OK_F(joins->ups == 1 && b->ups == 0, "a caller with the other key is not one of the job");
    joins->echo = a->stop_at_message = true;
    send_text(a->found, "let me in");
    run();
    OK_F(joins->messages == 1 && b->messages == 0 && !strcmp(a->last, "let me in"),
         "and its messages are not, either");
    link_up(c, b);
    OK_F(b->position == 4 && joins->ups == 1, "daemons of the job call as before");
    d->stop_at_down = true;
    call(d, local(b));
    run();
    OK_F(d->how == DAEMON_LINK_DOWN_REFUSED && joins->ups == 1 && b->ups == 1,
         "a third key is refused: %s", d->why.text);
    logged();
    joins->stop_at_down = true;
    daemon_link_end(a->found);
    run();
    OK(joins->downs == 1 && joins->how == DAEMON_LINK_DOWN_BYE && b->downs == 0);
    daemon_free(a);
    daemon_free(c);
    daemon_free(d);
    daemon_free(b);
    free(joins);
}

static void test_listen(void)
{
    struct seen *a = daemon_new(0, key, 0, 0), *b = daemon_new(0, key, 0, 0);
    struct errmsg err = { "" };
    uint16_t port;

    OK(daemon_link_listen(a->net, "lo", 0, 0, &err) == 0);
    port = daemon_link_port(a->net);
    OK_F(daemon_link_listen(b->net, NULL, port, port, &err) == -EADDRINUSE &&
             strstr(err.text, "no port"),
         "%s", err.text);
    OK_F(daemon_link_listen(b->net, "nosuch0", 0, 0, &err) == -ENODEV &&
             strstr(err.text, "nosuch0"),
         "%s", err.text);
    daemon_free(b);
    b = daemon_new(2, key, 0, 0);
    b->stop_at_up = true;
    call(b, local(a));
    run();
    OK_F(b->ups == 1, "bound to one interface");
    daemon_free(a);
    daemon_free(b);
}

/* A daemon that connects to several addresses closes all but one, at any moment: it is not refused
 * as unauthenticated. */
static void test_left_early(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);
    struct timer moment;
    struct daemon_link *h;

    timer_init(&moment, &loop, stop_now, NULL);
    logged();
    for (unsigned i = 0; i < 50; i++) {
        h = call(a, local(b));
        timer_set(&moment, 0); /* the connection is made before, and its answer comes after that */
        run();
        daemon_link_drop(h);
    }
    link_up(a, b);
    OK_F(logged() == 0, "who left early is not logged: %s", logged_text);
    daemon_free(a);
    daemon_free(b);
}

/* A parent whose places are all taken closes each new connection; and later it does not. */
struct busy {
    struct seen *parent;
    struct acceptor acceptor;
    unsigned calls, closes;
    struct watch ways[2];
    int ends[2];
};

static void pass_on(struct busy *s, int from)
{
    char bytes[4096];
    ssize_t n = recv(s->ends[from], bytes, sizeof bytes, MSG_DONTWAIT);

    if (n > 0)
        push(s->ends[1 - from], bytes, (size_t)n);
    else if (n == 0)
        watch_want(&s->ways[from], 0);
}

static void pass_in(void *arg)
{
    pass_on(arg, 0);
}

static void pass_out(void *arg)
{
    pass_on(arg, 1);
}

static void busy_called(void *arg, int fd, const struct sockaddr_storage *from)
{
    struct busy *s = arg;

    (void)from;
    if (s->calls++ < s->closes) {
        close(fd);
        return;
    }
    s->ends[0] = fd;
    s->ends[1] = dial(s->parent);
    watch_open(&s->ways[0], &loop, s->ends[0], pass_in, NULL, s);
    watch_open(&s->ways[1], &loop, s->ends[1], pass_out, NULL, s);
    watch_want(&s->ways[0], LOOP_READ);
    watch_want(&s->ways[1], LOOP_READ);
}

static void busy_open(struct busy *s, struct seen *parent, unsigned closes, char *where,
                      size_t room)
{
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *s = (struct busy){ .parent = parent, .closes = closes, .ends = { -1, -1 } };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 16) < 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) < 0 ||
        acceptor_open(&s->acceptor, &loop, fd, &(struct acceptor_calls){ busy_called, NULL }, s) <
            0)
        abort();
    snprintf(where, room, "127.0.0.1:%u", ntohs(at.sin_port));
}

static void busy_close(struct busy *s)
{
    acceptor_close(&s->acceptor);
    for (int i = 0; i < 2; i++) {
        watch_close(&s->ways[i]);
        if (s->ends[i] >= 0)
            close(s->ends[i]);
    }
}

static void test_recall(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);
    struct busy s;
    char where[40];

    busy_open(&s, b, 3, where, sizeof where);
    a->stop_at_up = a->stop_at_down = true;
    call(a, where);
    run();
    OK_F(a->ups == 1 && a->downs == 0 && s.calls == 4, "who is closed out calls again: %u calls",
         s.calls);
    daemon_free(a);
    busy_close(&s);

    busy_open(&s, b, ~0U, where, sizeof where);
    a = daemon_new(1, key, 0, 0);
    a->stop_at_up = a->stop_at_down = true;
    call(a, where);
    run();
    OK_F(a->downs == 1 && a->how == DAEMON_LINK_DOWN_NO_WAY &&
             s.calls == LIMIT_DAEMON_LINK_RETRIES + 1,
         "but not for ever: %u calls, %s", s.calls, a->why.text);
    a->stop_at_down = false;
    daemon_link_drop(call(a, where));
    daemon_free(a);
    busy_close(&s);
    daemon_free(b);
}

static void test_strangers(void)
{
    struct seen *b = listener(key), *a = daemon_new(1, key, 0, 0);
    struct bare m;
    unsigned char seed[DAEMON_LINK_SEED] = { 7 };
    static const char proof[DAEMON_LINK_PROOF] = "this was once the proof that i am";
    char head[DAEMON_LINK_HELLO];
    int fds[LIMIT_UNAUTHENTICATED + 20], fd;

    link_up(a, b);
    logged();
    fd = dial(b);
    close(fd);
    OK_F(wait_logged(1) && strstr(logged_text, "before the handshake"), "a port scan: %s",
         logged_text);
    fd = dial(b);
    push(fd, "GET / HTTP/1.0\r\n\r\n", 18);
    OK_F(wait_logged(1) && strstr(logged_text, "not a handshake of Wireup"), "garbage: %s",
         logged_text);
    close(fd);
    daemon_link_crypto_init(&m.code, DAEMON_LINK_CALLS, other_key, seed, 1, 1000);
    fd = dial(b);
    push(fd, daemon_link_crypto_out(&m.code).ptr, DAEMON_LINK_HELLO);
    OK_F(wait_logged(1) && strstr(logged_text, "another key"), "wrong key: %s", logged_text);
    close(fd);
    daemon_link_crypto_free(&m.code);
    daemon_link_crypto_init(&m.code, DAEMON_LINK_CALLS, key, seed, 1, 1000);
    fd = dial(b);
    memcpy(head, daemon_link_crypto_out(&m.code).ptr, sizeof head);
    head[9] = head[11] = 40;
    push(fd, head, sizeof head);
    OK_F(wait_logged(1) && strstr(logged_text, "40"), "a version from the future: %s", logged_text);
    close(fd);
    fd = dial(b);
    push(fd, daemon_link_crypto_out(&m.code).ptr, DAEMON_LINK_HELLO);
    push(fd, proof, sizeof proof);
    OK_F(wait_logged(1) && strstr(logged_text, "replayed or modified"), "a replay: %s",
         logged_text);
    close(fd);
    daemon_link_crypto_free(&m.code);

    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        fds[i] = dial(b);
    wait_logged(LIMIT_REFUSAL_LINES - 5); /* or one more: a closed connection is charged by its
                                           * address */
    OK_F(strstr(logged_text, "too many"),
         "a flood of idle ones: the oldest go, and the log stays short: %s", logged_text);
    OK(a->downs == 0 && b->downs == 0);
    b->echo = true;
    a->stop_at_message = true;
    send_text(a->found, "undisturbed");
    run();
    OK(!strcmp(a->last, "undisturbed"));
    daemon_free(a);
    a = daemon_new(2, key, 0, 0);
    a->stop_at_up = true;
    call(a, local(b));
    run();
    OK_F(a->ups == 1, "who has the key gets in among them");
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        close(fds[i]);
    daemon_free(a);
    daemon_free(b);
}

static void test_network(void)
{
    char text[DAEMON_LINK_ADDRESS_TEXT] = "", name[64] = "";
    struct buf ours = BUF_NULL(65536);
    struct errmsg err;

    OK(daemon_link_address_network("127.0.0.1", text, sizeof text) &&
       !strncmp(text, "127.0.0.1/", 10));
    OK(daemon_link_address_device(text, name, sizeof name) == 0 && name[0]);
    OK(daemon_link_address_ours(text, 7, &ours, &err) == 0 &&
       strstr(buf_cstr(&ours), "127.0.0.1:7"));
    OK(!daemon_link_address_network("127.0.0.1", text, 9) &&
       !daemon_link_address_network(name, text, sizeof text));
    OK(!daemon_link_address_network("127.0.0.0/8", text, sizeof text));
    OK(daemon_link_address_device("127.0.0.0/9", name, sizeof name) == 0);
    OK(daemon_link_address_device("127.128.0.0/9", name, sizeof name) == -ENODEV);
    OK(daemon_link_address_device("127.0.0.0/33", name, sizeof name) == -ENODEV);
    OK(daemon_link_address_device("/8", name, sizeof name) == -ENODEV);
    buf_free(&ours);
}

int main(void)
{
    test_network();
    if (loop_init(&loop) < 0 || pipe2(log_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return 1;
    to_pipe.fd = log_pipe[1];
    timer_init(&guard, &loop, hang, NULL);
    test_talk();
    test_order();
    test_both_end();
    test_broken();
    test_pressure();
    test_pause();
    test_silence();
    test_slow_handshake();
    test_away();
    test_losses();
    test_addresses();
    test_admitted();
    test_listen();
    test_left_early();
    test_recall();
    test_strangers();
    loop_free(&loop);
    return tap_done();
}
