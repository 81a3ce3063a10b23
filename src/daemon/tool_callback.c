/* tool_callback.c - see tool_callback.h.  Reading order: bytes; messages; the handshake;
 * directives; the whole.
 */
#include "daemon/tool_callback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "io/pmix_uri.h"
#include "wire/pmix_greeting.h"
#include "wire/pmix_handshake.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"

/* Tags of our own requests: neither those that a peer counts up from 100, nor those of releases
 * that count from 2^31 on the side that was called. */
enum { TAG_EVENT, TAG_OUTPUT = 2, TAG_FIRST_OWN = 0x7fffff00, TAG_LAST_OWN = 0x7fffffff };

enum { BUFFER_NOT_DESCRIBED = 1, WELCOME_MOST = 4 + 2 * (HANDSHAKE_NAME_ROOM + 4) + 4 };

/* What is known while the calls are made. */
struct exchange {
    struct tool_callback *of;
    const struct log *log;
    struct errmsg *err;
    const struct ptype_flavour *as;
    uint32_t release, last_tag;
    struct buf body; /* of the last message */
    bool stops_itself;
};

bool tool_callback_is_request(uint32_t tag)
{
    return tag != TAG_EVENT && tag != TAG_OUTPUT && !(tag >= TAG_FIRST_OWN && tag <= TAG_LAST_OWN);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static int fail(const struct exchange *x, const char *why)
{
    return errmsg_set(x->err, TOOL_CALLBACK_FAILED,
                      "PMIX_LAUNCHER_RNDZ_URI: the tool that has started this launcher %s%s", why,
                      x->log ? "; nothing was started" : "");
}

/* deadline_ns 0: without a limit.  0 or TOOL_CALLBACK_FAILED. */
static int await(const struct exchange *x, short events, uint64_t deadline_ns)
{
    struct pollfd p = { x->of->fd, events, 0 };
    uint64_t now = clock_now_ns();
    int left = -1;

    if (deadline_ns)
        left = now < deadline_ns ? (int)((deadline_ns - now) / NS_PER_MS + 1) : 0;
    if (poll(&p, 1, left) == 0)
        return fail(x, "does not answer");
    return 0;
}

static uint64_t deadline(void)
{
    return clock_now_ns() + LIMIT_PMIX_GREETING_MS * NS_PER_MS;
}

static int send_all(const struct exchange *x, struct slice bytes)
{
    uint64_t until = deadline();
    int rc = 0;

    while (rc == 0 && bytes.len) {
        ssize_t n = send(x->of->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
        if (n > 0)
            bytes = slice_skip(bytes, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            rc = await(x, POLLOUT, until);
        else if (n == 0 || errno != EINTR)
            rc = fail(x, "has closed the connection");
    }
    return rc;
}

static int receive(const struct exchange *x, char *to, size_t len, uint64_t until)
{
    int rc = 0;

    while (rc == 0 && len) {
        ssize_t n = recv(x->of->fd, to, len, 0);
        if (n > 0) {
            to += n;
            len -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            rc = await(x, POLLIN, until);
        } else if (n == 0 || errno != EINTR) {
            rc = fail(x, "has closed the connection");
        }
    }
    return rc;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct ppack begin(const struct exchange *x, struct buf *out, enum pmix_command command)
{
    static const char blank[TOOL_CALLBACK_HEADER];
    struct ppack w;

    buf_init(out, LIMIT_PMIX_MESSAGE);
    buf_put(out, blank, sizeof blank);
    ppack_init(&w, out, x->as);
    ppack_byte(&w, PMIX_COMMAND, (uint8_t)command);
    return w;
}

static int end(struct exchange *x, struct buf *out)
{
    uint32_t words[TOOL_CALLBACK_HEADER / 4] = { 0 };
    int rc;

    if (!buf_ok(out)) {
        buf_free(out);
        return fail(x, "cannot be asked: out of memory");
    }
    words[1] = htonl(++x->last_tag);
    words[2] = htonl((uint32_t)(buf_len(out) - sizeof words));
    memcpy(out->mem + out->start, words, sizeof words);
    rc = send_all(x, buf_slice(out));
    buf_free(out);
    return rc;
}

/* The next message: its tag, and its body in x->body. */
static int next_message(struct exchange *x, uint64_t until, uint32_t *tag_p)
{
    uint32_t words[TOOL_CALLBACK_HEADER / 4] = { 0 };
    int rc = receive(x, (char *)words, sizeof words, until);
    size_t left = rc ? 0 : ntohl(words[2]);

    buf_clear(&x->body);
    *tag_p = ntohl(words[1]);
    if (left > LIMIT_PMIX_MESSAGE)
        return fail(x, "sends a message that is too long");
    while (rc == 0 && left) { /* the length alone is not trusted */
        size_t n = left < LIMIT_PMIX_TRUST ? left : LIMIT_PMIX_TRUST;
        char *room = buf_room(&x->body, n);
        rc = room ? receive(x, room, n, until) : fail(x, "cannot be read: out of memory");
        if (rc == 0)
            buf_commit(&x->body, n);
        left -= n;
    }
    if (rc == 0 && tool_callback_is_request(*tag_p)) {
        buf_put(&x->of->early, words, sizeof words);
        buf_slice_put(&x->of->early, buf_slice(&x->body));
    }
    return rc;
}

/* The answer to the last request. */
static int await_answer(struct exchange *x)
{
    uint64_t until = deadline();
    uint32_t tag;
    int rc;

    do
        rc = next_message(x, until, &tag);
    while (rc == 0 && tag != x->last_tag);
    return rc;
}

/* ---- the handshake --------------------------------------------------------------------------- */

static int dial(struct exchange *x, const char *uri)
{
    struct pmix_uri to;
    int one = 1, fd, rc = 0;
    socklen_t len = sizeof rc;

    if (pmix_uri_read(uri, &to, x->err) < 0)
        return fail(x, "has given no usable address");
    fd = socket(to.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail(x, err_text(errno));
    x->of->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(fd, (const void *)&to.address, to.address_len) < 0 && errno != EINPROGRESS)
        return fail(x, "cannot be reached");
    if (await(x, POLLOUT, deadline()))
        return TOOL_CALLBACK_FAILED;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &rc, &len) < 0 || rc)
        return fail(x, "cannot be reached");
    return 0;
}

/* The name under which the tool has started us, or one of our own. */
static void name_us(struct handshake_hello *h, char *own, size_t room)
{
    const char *nspace = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");

    if (nspace && *nspace && rank && slice_u32(slice_str(rank), &h->rank)) {
        h->kind = HELLO_LAUNCHER_STARTED;
        h->nspace = slice_str(nspace);
        return;
    }
    snprintf(own, room, "wireup-%d", (int)getpid());
    h->kind = HELLO_LAUNCHER_NAMED;
    h->nspace = slice_str(own);
    h->rank = 0;
}

static int send_hello(struct exchange *x)
{
    pmix_info_t launcher = { .key = PMIX_LAUNCHER,
                             .value = { .type = PMIX_BOOL, .data.flag = true } };
    uint32_t ids[2] = { (uint32_t)geteuid(), (uint32_t)getegid() };
    struct buf infos = BUF_NULL(1 << 16), out = BUF_NULL(1 << 16);
    char own[32];
    struct handshake_hello h = { .security = SLICE("native"),
                                 .credential = slice_mem(ids, sizeof ids),
                                 .user = ids[0],
                                 .group = ids[1],
                                 .version = slice_str(x->of->version),
                                 .encoding = slice_str(x->of->encoding),
                                 .buffers = BUFFER_NOT_DESCRIBED,
                                 .store = SLICE("hash") };
    struct ppack w;
    int rc;

    ppack_init(&w, &infos, x->as);
    pmsg_write_infos(&w, x->release, &(struct pmsg_infos){ .infos = { 1, &launcher } });
    h.infos = buf_slice(&infos);
    name_us(&h, own, sizeof own);
    handshake_put_hello(&out, &h);
    rc = buf_ok(&infos) && buf_ok(&out) ? send_all(x, buf_slice(&out))
                                        : fail(x, "cannot be asked: out of memory");
    buf_free(&infos);
    buf_free(&out);
    return rc;
}

static int await_welcome(struct exchange *x)
{
    struct handshake_tool_welcome m = { .status = PMIX_ERROR };
    struct handshake_read r = { .bytes = sizeof(uint32_t) };
    uint64_t until = deadline();
    char bytes[WELCOME_MOST];
    size_t have = 0;
    int rc = 0;

    while (rc == 0 && !handshake_read(HANDSHAKE_tool_welcome, HELLO_LAUNCHER_NAMED,
                                      slice_mem(bytes, have), &m, &r)) {
        if (r.bytes > sizeof bytes || r.bytes <= have)
            return fail(x, "does not answer as a PMIx server");
        rc = receive(x, bytes + have, r.bytes - have, until);
        have = r.bytes;
    }
    if (rc == 0 && (m.status != PMIX_SUCCESS || m.credential != PMIX_SUCCESS))
        rc = fail(x, "has refused the connection");
    snprintf(x->of->nspace, sizeof x->of->nspace, SLICE_FMT,
             SLICE_ARG(slice_head(m.server, sizeof x->of->nspace - 1)));
    x->of->rank = m.server_rank;
    return rc;
}

/* ---- directives ------------------------------------------------------------------------------ */

static const char *const stop_keys[JOB_MAP_STOPS] = {
    [JOB_MAP_STOP_ON_EXEC] = PMIX_DEBUG_STOP_ON_EXEC,
    [JOB_MAP_STOP_IN_INIT] = PMIX_DEBUG_STOP_IN_INIT,
    [JOB_MAP_STOP_IN_APP] = PMIX_DEBUG_STOP_IN_APP,
};

/* Directives that change nothing: whoever registers for the events gets them, and asks for output.
 */
static const char *const followed[] = { PMIX_NOTIFY_COMPLETION, PMIX_NOTIFY_JOB_EVENTS };

/* Of a stop; false: of some ranks only. */
static bool is_of_all(const pmix_value_t *v, bool *wanted_p)
{
    *wanted_p = v->type != PMIX_BOOL || v->data.flag;
    return v->type == PMIX_BOOL || v->type == PMIX_UNDEF ||
           (v->type == PMIX_PROC_RANK && v->data.rank == PMIX_RANK_WILDCARD);
}

static int take_directive(struct exchange *x, const pmix_info_t *info)
{
    for (int k = 0; k < JOB_MAP_STOPS; k++) {
        if (strcmp(info->key, stop_keys[k]))
            continue;
        return is_of_all(&info->value, &x->of->stops[k])
                   ? 0
                   : fail(x, "wants some ranks to stop; -stop-on-exec and the like stop all");
    }
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++) {
        if (!strcmp(info->key, followed[i]))
            return 0;
    }
    if (info->flags & PMIX_INFO_REQD)
        return errmsg_set(
            x->err, TOOL_CALLBACK_FAILED,
            "PMIX_LAUNCHER_RNDZ_URI: the tool that has started this launcher requires "
            "%.200s, which is no directive for a launcher here; nothing was started",
            info->key);
    log_warn(x->log, "the directive %.200s of the tool is not followed", info->key);
    return 0;
}

static int take_directives(struct exchange *x, const pmix_value_t *v)
{
    const pmix_data_array_t *all = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    const pmix_info_t *infos = all && all->type == PMIX_INFO ? all->array : NULL;
    int rc = 0;

    for (size_t i = 0; infos && i < all->size && rc == 0; i++)
        rc = take_directive(x, &infos[i]);
    return rc;
}

/* What the tool's server knows of us. */
static int take_job_info(struct exchange *x)
{
    struct pmsg_job_info m;
    struct punpack r, values;
    int rc = 0;

    punpack_init(&r, buf_slice(&x->body), x->as);
    if (pmsg_read_job_info(&r, x->release, &m) != PTYPE_FINE)
        return fail(x, "does not tell what it knows of this launcher");
    values = pmsg_inside(&r, m.values);
    while (rc == 0 && punpack_left(&values)) {
        pmix_value_t v;
        struct slice key = punpack_kval(&values, &v);
        if (!punpack_ok(&values))
            break; /* a type that is not known here */
        if (slice_is(key, PMIX_LAUNCH_DIRECTIVES) || slice_is(key, PMIX_DEBUG_JOB_DIRECTIVES))
            rc = take_directives(x, &v);
        else if (slice_is(key, PMIX_DEBUG_STOP_IN_INIT))
            is_of_all(&v, &x->stops_itself);
        pmem_value_free(&v, NULL);
    }
    pmsg_free_job_info(&m, NULL);
    return rc;
}

static int ask(struct exchange *x)
{
    struct buf out;
    int rc;

    begin(x, &out, CMD_REQ);
    rc = end(x, &out);
    if (rc == 0)
        rc = await_answer(x);
    return rc ? rc : take_job_info(x);
}

static bool is_release(struct exchange *x, uint32_t tag)
{
    struct pmsg_event m;
    struct punpack r;
    bool is;

    if (tag != TAG_EVENT)
        return false;
    punpack_init(&r, buf_slice(&x->body), x->as);
    is = pmsg_read_event(&r, x->release, &m) == PTYPE_FINE && m.code == PMIX_DEBUGGER_RELEASE;
    pmsg_free_event(&m, NULL);
    return is;
}

/* The tool debugs this launcher itself. */
static int await_release(struct exchange *x)
{
    pmix_status_t code = PMIX_DEBUGGER_RELEASE;
    struct buf out;
    struct ppack w = begin(x, &out, CMD_REGEVENTS);
    uint32_t tag;
    int rc;

    pmsg_write_regevents(&w, x->release, &(struct pmsg_regevents){ .codes = { 1, &code } });
    rc = end(x, &out);
    if (rc == 0)
        rc = await_answer(x);
    do
        rc = rc ? rc : next_message(x, 0, &tag);
    while (rc == 0 && !is_release(x, tag));
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static struct exchange exchange_of(struct tool_callback *c, const struct log *log,
                                   struct errmsg *err)
{
    return (struct exchange){ .of = c,
                              .log = log,
                              .err = err,
                              .as = ptype_flavour(slice_str(c->encoding)),
                              .release = pmsg_release(c->version),
                              .last_tag = TAG_FIRST_OWN,
                              .body = BUF_NULL(LIMIT_PMIX_MESSAGE) };
}

int tool_callback_open(struct tool_callback *c, const struct log *log, struct errmsg *err)
{
    const char *uri = getenv("PMIX_LAUNCHER_RNDZ_URI"), *version = getenv("PMIX_VERSION");
    struct exchange x;
    int rc;

    *c = (struct tool_callback){ .fd = -1, .early = BUF_NULL(LIMIT_PMIX_MESSAGE) };
    if (!uri || !*uri)
        return 0;
    snprintf(c->version, sizeof c->version, "%s", version && *version ? version : "4.2.2");
    snprintf(c->encoding, sizeof c->encoding, "v41");
    x = exchange_of(c, log, err);
    rc = dial(&x, uri);
    rc = rc ? rc : send_hello(&x);
    rc = rc ? rc : await_welcome(&x);
    rc = rc ? rc : ask(&x);
    if (rc == 0 && x.stops_itself)
        rc = await_release(&x);
    buf_free(&x.body);
    if (rc)
        tool_callback_close(c);
    return rc;
}

void tool_callback_close(struct tool_callback *c)
{
    if (c->fd < 0)
        return;
    close(c->fd);
    c->fd = -1;
    buf_free(&c->early);
}

int tool_callback_ready(struct tool_callback *c, const char *uri, struct errmsg *err)
{
    struct exchange x = exchange_of(c, NULL, err);
    pmix_proc_t tool = { .rank = c->rank };
    pmix_info_t infos[] = {
        { .key = PMIX_EVENT_CUSTOM_RANGE, .value = { .type = PMIX_PROC, .data.proc = &tool } },
        { .key = PMIX_SERVER_URI,
          .value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)uri } },
        { .key = PMIX_EVENT_NON_DEFAULT, .value = { .type = PMIX_BOOL, .data.flag = true } },
    };
    struct buf out;
    struct ppack w = begin(&x, &out, CMD_NOTIFY);

    snprintf(tool.nspace, sizeof tool.nspace, "%s", c->nspace);
    pmsg_write_notify(&w, x.release,
                      &(struct pmsg_notify){ .code = PMIX_LAUNCHER_READY,
                                             .range = PMIX_RANGE_CUSTOM,
                                             .infos = { 3, infos } });
    return end(&x, &out);
}
