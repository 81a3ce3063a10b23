/* relay.c - see relay.h.  Reading order: how a reply is changed; what is judged; one connection;
 * all of them. */
#include "tools/conform/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "io/write_all.h"
#include "tools/conform/manner.h"
#include "tools/conform/post.h"
#include "tools/conform/rank.h"
#include "trace/decode.h"

extern char **environ;

enum { LINKS_MAX = 8, CHUNK = 1 << 16, WORDS_MAX = 64, YIELDS = 2000 };

/* One connection of the client. */
struct relayed {
    int client, server;
    struct decode decode;
    bool pmix, begun, finalized, is_2;
    uint64_t key_max, value_max; /* as the server sent; 0: it has not */
    const char *wrong[JUDGEMENTS];
    char text[200]; /* of the first of them that has a reason of its own */
};

struct relay {
    enum manner manner;
    struct relayed links[LINKS_MAX];
    uint32_t n;
    int listener; /* for PMIx; -1: the server does not offer it */
    char host[256];
    uint16_t port;
};

/* ---- how a reply is changed ------------------------------------------------------------------ */

static bool is_frame(struct slice m)
{
    return m.len > 6 && (m.ptr[0] == ' ' || (m.ptr[0] >= '0' && m.ptr[0] <= '9'));
}

static void put_frame(struct slice body, const char *more, struct buf *out)
{
    buf_printf(out, "%-6zu", body.len + strlen(more));
    buf_slice_put(out, body);
    buf_str(out, more);
}

/* A tuple that no client knows: readers skip it. */
static void put_unknown(struct slice m, struct buf *out)
{
    size_t first = 0;

    if (is_frame(m)) {
        put_frame(slice_skip(m, 6), "conform=1;", out);
        return;
    }
    while (first < m.len && m.ptr[first] != ' ' && m.ptr[first] != '\n')
        first++;
    buf_slice_put(out, slice_head(m, first));
    buf_str(out, " conform=1");
    buf_slice_put(out, slice_skip(m, first));
}

/* The tuples before a value, the last one first; a value lasts to the end of the line. */
static void put_reversed(struct slice m, struct buf *out)
{
    struct slice words[WORDS_MAX], rest = m;
    size_t n = 0, last;

    if (is_frame(m) || m.len == 0 || m.ptr[m.len - 1] != '\n') {
        buf_slice_put(out, m);
        return;
    }
    rest.len--;
    buf_slice_put(out, slice_cut(&rest, ' '));
    while (rest.len && n < WORDS_MAX && !slice_starts(rest, SLICE("value=")) &&
           !slice_starts(rest, SLICE("port=")))
        words[n++] = slice_cut(&rest, ' ');
    for (last = n; last-- > 0;) {
        buf_byte(out, ' ');
        buf_slice_put(out, words[last]);
    }
    if (rest.len)
        buf_byte(out, ' ');
    buf_slice_put(out, rest);
    buf_byte(out, '\n');
}

/* Each byte when the one before it has been read, if that is soon. */
static int send_pieces(int fd, struct slice bytes)
{
    int rc = 0;

    while (bytes.len && rc == 0) {
        int unread = 1;
        rc = write_all_slice(fd, slice_head(bytes, 1));
        bytes = slice_skip(bytes, 1);
        for (int i = 0; i < YIELDS && bytes.len && ioctl(fd, SIOCOUTQ, &unread) == 0 && unread; i++)
            sched_yield();
    }
    return rc;
}

/* To the client. */
static int send_reply(const struct relay *r, const struct relayed *l, struct slice m)
{
    struct buf out = BUF_NULL(4 << 20);
    int rc;

    if (r->manner == MANNER_UNKNOWN && !l->pmix)
        put_unknown(m, &out);
    else if (r->manner == MANNER_ORDER && !l->pmix)
        put_reversed(m, &out);
    else
        buf_slice_put(&out, m);
    rc = r->manner == MANNER_PIECES ? send_pieces(l->client, buf_slice(&out))
                                    : write_all_slice(l->client, buf_slice(&out));
    buf_free(&out);
    return rc;
}

/* To the server: Wireup's own libraries do without their own dialect here, which others need not
 * know. */
static int send_request(const struct relayed *l, const struct decoded *m)
{
    struct buf out = BUF_NULL(4 << 20);
    struct slice bytes = m->bytes;
    const char *at = memmem(bytes.ptr, bytes.len, "wireup=", 7);
    bool opens = slice_is(m->command, "init") || slice_is(m->command, "fullinit");
    struct slice before, after;
    int rc;

    if (at && opens) {
        before = slice_head(bytes, (size_t)(at - bytes.ptr));
        after = slice_skip(bytes, before.len);
        after = is_frame(bytes) ? slice_skip(after, slice_find(after, ';') + 1)
                                : slice_skip(after, strcspn(at, " \n"));
        buf_slice_put(&out, before);
        buf_slice_put(&out, after);
        if (is_frame(bytes)) {
            struct buf framed = BUF_NULL(4 << 20);
            put_frame(slice_skip(buf_slice(&out), 6), "", &framed);
            rc = write_all_slice(l->server, buf_slice(&framed));
            buf_free(&framed);
            buf_free(&out);
            return rc;
        }
        bytes = buf_slice(&out);
    }
    rc = write_all_slice(l->server, bytes);
    buf_free(&out);
    return rc;
}

/* ---- what is judged -------------------------------------------------------------------------- */

static void wrong(struct relayed *l, enum judgement what, const char *why)
{
    if (!l->wrong[what])
        l->wrong[what] = why;
}

static uint64_t number_of(const struct decoded *m, const char *name)
{
    for (uint32_t i = 0; i < m->nfields; i++) {
        if (slice_is(m->fields[i].name, name))
            return (uint64_t)m->fields[i].number;
    }
    return 0;
}

static void judge_put(struct relayed *l, const struct decoded *m)
{
    for (uint32_t i = 0; i < m->nfields; i++) {
        const struct decode_field *f = &m->fields[i];
        if (l->key_max && slice_is(f->name, "key") && f->text.len >= l->key_max)
            wrong(l, JUDGEMENT_LIMITS, "a key is longer than the server has said");
        if (l->value_max && slice_is(f->name, "value") && f->text.len >= l->value_max)
            wrong(l, JUDGEMENT_LIMITS, "a value is longer than the server has said");
    }
}

static void judge_request(struct relayed *l, const struct decoded *m)
{
    bool opens = slice_is(m->command, "init") || slice_is(m->command, "initack") ||
                 slice_is(m->command, "hello");

    if (m->fault && !l->text[0]) {
        snprintf(l->text, sizeof l->text, SLICE_FMT ": %s", SLICE_ARG(slice_head(m->command, 60)),
                 m->fault);
        wrong(l, JUDGEMENT_READABLE, l->text);
    }
    if (!l->begun && !opens)
        wrong(l, JUDGEMENT_BEGINS, "the first message is another one");
    if (l->finalized && !opens && m->bytes.len > 1)
        wrong(l, JUDGEMENT_ENDS, "it goes on after finalize");
    l->begun = true;
    l->is_2 = l->is_2 || !strcmp(m->protocol, "PMI-2");
    l->finalized = slice_is(m->command, "finalize") || (l->finalized && !opens);
    if (slice_is(m->command, "put") && !l->pmix)
        judge_put(l, m);
}

static void judge_end(struct relayed *l)
{
    if (!l->finalized)
        wrong(l, JUDGEMENT_ENDS, "it leaves without finalize");
}

static bool send_verdicts(const struct relay *r, const char *name)
{
    struct buf text = BUF_NULL(POST_ROOM);
    struct slice all;
    int fd = post_connect(name);
    bool sent;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct relayed *l = &r->links[i];
        for (int k = 0; k < JUDGEMENTS && l->begun; k++) {
            if (k != JUDGEMENT_LIMITS || l->key_max)
                buf_printf(&text, "%s %s\t%s\n",
                           l->pmix   ? "pmix"
                           : l->is_2 ? "pmi2"
                                     : "pmi1",
                           judgement_names[k], l->wrong[k] ? l->wrong[k] : "");
        }
    }
    buf_byte(&text, '\n'); /* a message has at least a byte */
    all = buf_slice(&text);
    sent = fd >= 0 && send(fd, all.ptr, all.len, MSG_NOSIGNAL) == (ssize_t)all.len;
    if (fd >= 0)
        close(fd);
    buf_free(&text);
    return sent;
}

/* ---- one connection -------------------------------------------------------------------------- */

/* What came from one side goes to the other one.  False: that side has closed it. */
static bool pass(struct relay *r, struct relayed *l, enum decode_way way)
{
    char chunk[CHUNK];
    ssize_t n = read(way == DECODE_IN ? l->client : l->server, chunk, sizeof chunk);
    struct decoded m;
    int rc = 0;

    if (n <= 0)
        return false;
    decode_feed(&l->decode, way, slice_mem(chunk, (size_t)n));
    if (l->pmix)
        rc = way == DECODE_IN ? write_all_slice(l->server, slice_mem(chunk, (size_t)n))
                              : send_reply(r, l, slice_mem(chunk, (size_t)n));
    while (decode_next(&l->decode, way, &m) == DECODE_MESSAGE && rc == 0) {
        if (way == DECODE_IN)
            judge_request(l, &m);
        if (way == DECODE_OUT && slice_is(m.command, "maxes")) {
            l->key_max = number_of(&m, "keylen_max");
            l->value_max = number_of(&m, "vallen_max");
        }
        if (!l->pmix)
            rc = way == DECODE_IN ? send_request(l, &m) : send_reply(r, l, m.bytes);
    }
    return rc == 0;
}

static void relayed_close(struct relayed *l)
{
    close(l->client);
    close(l->server);
    l->client = l->server = -1;
    judge_end(l);
}

static void relayed_new(struct relay *r, int client, int server, bool pmix)
{
    struct relayed *l = &r->links[r->n];

    if (r->n == LINKS_MAX || client < 0 || server < 0)
        return;
    *l = (struct relayed){ .client = client, .server = server, .pmix = pmix };
    decode_init(&l->decode);
    r->n++;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* "NAME.RANK;tcp4://HOST:PORT...": our address, and a name that is not a launcher's: Wireup's own
 * library would go around us. */
static bool put_address(const struct relay *r, struct slice text, uint16_t port, struct buf *out)
{
    char from[300];
    const char *at;

    snprintf(from, sizeof from, "tcp4://%s:%u", r->host, r->port);
    at = memmem(text.ptr, text.len, from, strlen(from));
    if (!at)
        return false;
    buf_str(out, slice_starts(text, SLICE("wireup-")) ? "conform-" : "");
    buf_slice_put(out, slice_skip(slice_head(text, (size_t)(at - text.ptr)),
                                  slice_starts(text, SLICE("wireup-")) ? strlen("wireup-") : 0));
    buf_printf(out, "tcp4://127.0.0.1:%u", port);
    buf_slice_put(out, slice_skip(text, (size_t)(at - text.ptr) + strlen(from)));
    return true;
}

static void move_addresses(const struct relay *r, uint16_t port)
{
    for (char **e = environ; *e; e++) {
        struct buf value = BUF_NULL(1 << 16);
        char name[64];
        size_t len = strcspn(*e, "=");
        if (!strncmp(*e, "PMIX_SERVER_URI", 15) && len < sizeof name &&
            put_address(r, slice_str(*e + len + 1), port, &value)) {
            snprintf(name, sizeof name, "%.*s", (int)len, *e);
            setenv(name, buf_cstr(&value), 1); /* in the same place of the list */
        }
        buf_free(&value);
    }
}

static const char *variable(const void *arg, const char *name)
{
    (void)arg;
    return getenv(name);
}

/* The client finds us where it would find the process manager. */
static int listen_for_pmix(struct relay *r)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;

    r->listener = -1;
    if (!rank_address(WAY_PMIX, variable, NULL, r->host, sizeof r->host, &r->port))
        return 0;
    r->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->listener < 0 || bind(r->listener, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(r->listener, 8) < 0 || getsockname(r->listener, (struct sockaddr *)&a, &len) < 0)
        return -errno;
    move_addresses(r, ntohs(a.sin_port));
    return 0;
}

/* A launcher that ends the job because of what the client did shall not end the verdict, too. */
static int spawn(char **program, pid_t *pid_p)
{
    posix_spawnattr_t attr;
    sigset_t usual;
    int rc;

    signal(SIGTERM, SIG_IGN);
    sigemptyset(&usual);
    sigaddset(&usual, SIGTERM);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    rc = posix_spawnp(pid_p, program[0], NULL, &attr, program, environ);
    posix_spawnattr_destroy(&attr);
    return -rc;
}

static int start_client(struct relay *r, char **program, pid_t *pid_p)
{
    const char *fd = getenv("PMI_FD");
    char number[16];
    int pair[2] = { -1, -1 }, rc = listen_for_pmix(r);

    if (rc == 0 && fd && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
        fcntl(pair[0], F_SETFD, FD_CLOEXEC);
        fcntl(atoi(fd), F_SETFD, FD_CLOEXEC);
        relayed_new(r, pair[0], atoi(fd), false);
        snprintf(number, sizeof number, "%d", pair[1]);
        setenv("PMI_FD", number, 1);
    }
    if (rc == 0)
        rc = spawn(program, pid_p);
    if (pair[1] >= 0)
        close(pair[1]);
    return rc;
}

static void turn(struct relay *r, struct pollfd *p)
{
    uint32_t n = r->n;

    if (p[1].revents & POLLIN)
        relayed_new(r, accept4(r->listener, NULL, NULL, SOCK_CLOEXEC),
                    rank_connect(r->host, r->port), true);
    for (uint32_t i = 0; i < n; i++) {
        struct relayed *l = &r->links[i];
        bool open = l->client >= 0;
        if (open && p[2 + 2 * i].revents)
            open = pass(r, l, DECODE_IN);
        if (open && p[3 + 2 * i].revents)
            open = pass(r, l, DECODE_OUT);
        if (!open && l->client >= 0)
            relayed_close(l);
    }
}

static void serve(struct relay *r, int pidfd)
{
    struct pollfd p[2 + 2 * LINKS_MAX];
    bool runs = true;

    while (runs) {
        bool open = false;
        p[0] = (struct pollfd){ pidfd, POLLIN, 0 };
        p[1] = (struct pollfd){ r->listener, POLLIN, 0 };
        for (uint32_t i = 0; i < r->n; i++) {
            p[2 + 2 * i] = (struct pollfd){ r->links[i].client, POLLIN, 0 };
            p[3 + 2 * i] = (struct pollfd){ r->links[i].server, POLLIN, 0 };
            open = open || r->links[i].client >= 0;
        }
        if (poll(p, 2 + 2 * r->n, -1) < 0 && errno != EINTR)
            return;
        turn(r, p);
        runs = open || !p[0].revents;
    }
}

int relay_run(const char *name, const char *manner, char **program)
{
    struct relay *r = calloc(1, sizeof *r);
    siginfo_t end = { 0 };
    pid_t pid = 0;
    int rc, pidfd;

    if (!r)
        return 1;
    r->manner = manner_named(manner);
    rc = start_client(r, program, &pid);
    pidfd = rc == 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (pidfd < 0) {
        fprintf(stderr, "wireup: conform: cannot run %s: %s\n", program[0],
                err_text(rc ? rc : -errno));
        return 127;
    }
    serve(r, pidfd);
    if (waitid(P_PID, (id_t)pid, &end, WEXITED) < 0 || !send_verdicts(r, name))
        return 1;
    for (uint32_t i = 0; i < r->n; i++)
        decode_free(&r->links[i].decode);
    free(r);
    return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}
