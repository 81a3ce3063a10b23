/* joining.c - see joining.h.  Reading order: where the launcher is; trying again; the link. */
#include "daemon/joining.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "base/rand.h"
#include "daemon/bootstrap.h"
#include "io/daemon_link.h"
#include "io/daemon_link_address.h"
#include "io/file_change.h"
#include "io/join_token.h"
#include "io/loop.h"
#include "io/secret.h"

enum { JOINING_TEXT = 64 << 10 };

struct joining {
    const struct joining_config *c;
    struct loop loop;
    struct daemon_link_net *net;
    struct daemon_link *link; /* NULL: none is being made */
    bool linked;              /* it is up */
    unsigned char *key;       /* of the token */
    bool has_key;             /* a token has been read, or was given */
    struct timer again, bound;
    struct watch control;
    struct file_change address, token; /* of the files, if there are any */
    uint64_t begun_ns;
    uint32_t pause_ms;
    uint64_t rand;
    bool remarked; /* the user knows that it tries again */
    bool ended;    /* there is an answer */
    struct buf *record;
    char *reached;
    struct errmsg *err, last; /* last: why the last try failed */
    int rc;
};

static void stop(struct joining *j, int rc)
{
    j->rc = rc;
    j->ended = true;
    loop_stop(&j->loop);
}

/* ---- where the launcher is ------------------------------------------------------------------- */

static int read_file(const char *path, struct buf *text, struct errmsg *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *room = buf_room(text, JOINING_TEXT - 1);
    ssize_t n = fd < 0 || !room ? -1 : read(fd, room, JOINING_TEXT - 1);
    int rc = n < 0 ? -errno : 0;

    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return errmsg_set(err, rc, "cannot read %.300s: %s", path, err_text(rc));
    buf_commit(text, (size_t)n);
    return 0;
}

/* NAME:PORT, as all addresses that it has now. */
static int resolve(struct slice word, struct buf *to, struct errmsg *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    char name[300], *port;
    struct addrinfo *found = NULL;
    int rc;

    snprintf(name, sizeof name, SLICE_FMT, SLICE_ARG(slice_head(word, sizeof name - 1)));
    port = strrchr(name, ':');
    if (!port)
        return errmsg_set(err, -EINVAL,
                          "'%.200s' is not the address of a launcher (NAME:PORT, or a path)", name);
    *port++ = '\0';
    rc = getaddrinfo(name, port, &hints, &found);
    if (rc != 0)
        return errmsg_set(err, -EHOSTUNREACH, "%.200s: %s", name, gai_strerror(rc));
    for (const struct addrinfo *a = found; a; a = a->ai_next) {
        struct daemon_link_address at = { .len = a->ai_addrlen };
        char text[DAEMON_LINK_ADDRESS_TEXT];
        memcpy(&at.at, a->ai_addr, a->ai_addrlen);
        daemon_link_address_text(&at, text);
        buf_printf(to, "%s ", text);
    }
    freeaddrinfo(found);
    return 0;
}

static bool is_separator(char c)
{
    return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r';
}

static struct slice next_word(struct slice *rest)
{
    struct slice word;
    size_t n = 0;

    while (rest->len && is_separator(rest->ptr[0]))
        *rest = slice_skip(*rest, 1);
    while (n < rest->len && !is_separator(rest->ptr[n]))
        n++;
    word = slice_head(*rest, n);
    *rest = slice_skip(*rest, n);
    return word;
}

static int find(struct slice text, struct buf *to, struct errmsg *err)
{
    struct daemon_link_address one;
    struct slice word;
    int rc = 0;

    while (rc == 0 && (word = next_word(&text)).len) {
        if (daemon_link_address_read(word, &one, 1, err) == 1)
            buf_printf(to, SLICE_FMT " ", SLICE_ARG(word));
        else
            rc = resolve(word, to, err);
    }
    if (rc == 0 && buf_len(to) == 0)
        rc = errmsg_set(err, -ENODATA, "no address of a launcher is there yet");
    return rc;
}

static int find_launcher(const char *where, struct buf *to, struct errmsg *err)
{
    struct buf text = BUF_NULL(JOINING_TEXT);
    int rc = strchr(where, '/') ? read_file(where, &text, err) : 0;

    if (rc == 0)
        rc = find(strchr(where, '/') ? buf_slice(&text) : slice_str(where), to, err);
    buf_free(&text);
    return rc;
}

/* For who has lost its launcher: wherever another one may be. */
static int find_any(const struct joining_config *c, struct buf *to, struct errmsg *err)
{
    struct errmsg known;
    int rc = find_launcher(c->where, to, err);

    if (c->known && find(slice_str(c->known), to, &known) == 0)
        rc = 0;
    return rc;
}

/* ---- trying again ---------------------------------------------------------------------------- */

/* A name that is not known costs others more than an address where nobody listens. */
static uint32_t most_ms(const struct joining *j, bool unknown)
{
    bool early = clock_now_ns() - j->begun_ns < LIMIT_JOIN_MINUTE_MS * NS_PER_MS;

    return early && !unknown ? LIMIT_JOIN_EARLY_MS : LIMIT_JOIN_RETRY_MS;
}

static uint32_t next_pause(struct joining *j, bool unknown)
{
    uint32_t most = most_ms(j, unknown), pause = j->pause_ms < most ? j->pause_ms : most;

    j->pause_ms = 2 * pause;
    return j->c->pause_ms ? j->c->pause_ms : pause;
}

static void try_again(struct joining *j, const struct errmsg *why, bool unknown)
{
    uint32_t pause = next_pause(j, unknown);

    j->last = *why;
    if (!j->remarked)
        log_warn(j->c->log, "%s; trying again until a launcher is there", why->text);
    j->remarked = true;
    if (timer_set(&j->again, pause / 2 + rand_below(&j->rand, pause)) < 0)
        stop(j, errmsg_set(j->err, -ENOMEM, "out of memory"));
}

/* False: there is none yet, or it is of no use.  A file is read at each try, as another token may
 * take the place of the one before, or be about to; nothing uses the key meanwhile. */
static bool take_token(struct joining *j)
{
    struct errmsg why = { "" };
    bool known = j->has_key && (j->c->key || !j->c->token_file);
    int rc = known ? 0 : join_token_read(j->c->token_file, j->key, &why);

    if (rc == 0)
        file_change_close(&j->token); /* the kernel gives each user few instances of inotify */
    if (rc < 0 && j->c->token_file && (rc == -ENOENT || j->has_key)) {
        try_again(j, &why, false);
    } else if (rc < 0) {
        *j->err = why;
        stop(j, rc);
    }
    j->has_key = j->has_key || rc == 0;
    return rc == 0;
}

static void try_now(void *arg)
{
    struct joining *j = arg;
    struct buf text = BUF_NULL(JOINING_TEXT);
    struct errmsg why = { "out of memory" };
    int rc;

    if (!take_token(j))
        return;
    rc = find_any(j->c, &text, &why);
    if (rc == 0)
        j->link = daemon_link_connect(j->net, buf_slice(&text), 0, &why);
    if (rc == -EINVAL)
        stop(j, errmsg_set(j->err, rc, "%s", why.text));
    else if (!j->link)
        try_again(j, &why, rc == -EHOSTUNREACH);
    buf_free(&text);
}

static void too_late(void *arg)
{
    struct joining *j = arg;

    stop(j,
         errmsg_set(j->err, JOINING_LATE, "no launcher has let this node join within %u s%s%.700s",
                    j->c->timeout_s, j->last.text[0] ? ": " : "", j->last.text));
}

/* ---- the link -------------------------------------------------------------------------------- */

static void on_up(void *arg, struct daemon_link *h)
{
    struct joining *j = arg;
    struct buf text = BUF_NULL(4096);
    struct slice bytes;

    j->linked = true;
    join_request_write(j->c->request, &text);
    bytes = buf_slice(&text);
    if (!buf_ok(&text) || daemon_link_send(h, &bytes, 1) < 0)
        stop(j, errmsg_set(j->err, -ENOMEM, "out of memory"));
    snprintf(j->reached, DAEMON_LINK_ADDRESS_TEXT, "%s", daemon_link_where(h));
    buf_free(&text);
}

static void on_message(void *arg, struct daemon_link *h, struct slice message)
{
    struct joining *j = arg;
    struct slice rest = message, why;
    uint32_t position;

    (void)h;
    if (bootstrap_answer_read(slice_cut(&rest, '\n'), &position, &why) == BOOTSTRAP_TROUBLE) {
        stop(j, errmsg_set(j->err, JOINING_REFUSED, SLICE_FMT,
                           SLICE_ARG(slice_head(why, ERRMSG_MAX - 1))));
        return;
    }
    buf_slice_put(j->record, message);
    stop(j, buf_ok(j->record) ? 0 : errmsg_set(j->err, -ENOMEM, "out of memory for the record"));
}

static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    struct joining *j = arg;

    (void)h;
    j->link = NULL;
    j->linked = false;
    if (j->ended)
        return;
    if (how == DAEMON_LINK_DOWN_REFUSED && !j->c->key) /* else it may be anybody, for a while */
        stop(j, errmsg_set(j->err, JOINING_REFUSED,
                           "the launcher at %.300s does not accept this token, or is another "
                           "release of Wireup",
                           j->c->where));
    else
        try_again(j, why, false);
}

/* An address that has not answered may be that of an earlier launcher. */
static void on_file(void *arg)
{
    struct joining *j = arg;

    if (j->ended || j->linked)
        return;
    if (j->link)
        daemon_link_drop(j->link);
    j->link = NULL;
    timer_stop(&j->again);
    try_now(j);
}

static void on_control(void *arg)
{
    struct joining *j = arg;

    if (j->c->ends(j->c->control_fd))
        stop(j, errmsg_set(j->err, JOINING_ENDED, "it was asked to end"));
}

/* Before they are looked at, so that nothing is missed.  Where changes are not told, time helps. */
static void watch_files(struct joining *j)
{
    if (strchr(j->c->where, '/'))
        file_change_open(&j->address, &j->loop, j->c->where, on_file, j);
    if (j->c->token_file && !j->has_key)
        file_change_open(&j->token, &j->loop, j->c->token_file, on_file, j);
}

static int open_net(struct joining *j)
{
    const struct daemon_link_config config = { .loop = &j->loop,
                                               .log = j->c->log,
                                               .key = j->key,
                                               .position = UINT32_MAX,
                                               .calls = { on_up, on_message, on_down, NULL },
                                               .arg = j,
                                               .alive_ms = LIMIT_NODE_ALIVE_MS,
                                               .silent_ms = LIMIT_NODE_SILENT_MS,
                                               .wipes = true };

    j->net = j->key ? daemon_link_net_new(&config, j->err) : NULL;
    if (!j->net)
        return -EIO;
    watch_files(j);
    if (j->c->ends) {
        watch_open(&j->control, &j->loop, j->c->control_fd, on_control, NULL, j);
        watch_want(&j->control, LOOP_READ);
    }
    if (timer_set(&j->again, 0) < 0 ||
        (j->c->timeout_s && timer_set(&j->bound, (uint64_t)j->c->timeout_s * 1000) < 0))
        return errmsg_set(j->err, -ENOMEM, "out of memory");
    return 0;
}

int joining_ask(const struct joining_config *config, struct buf *record, char *reached_p,
                struct errmsg *err)
{
    struct joining j = { .c = config,
                         .begun_ns = clock_now_ns(),
                         .pause_ms = LIMIT_JOIN_FIRST_MS,
                         .rand = clock_seed(),
                         .key = secret_new(JOIN_TOKEN_KEY),
                         .record = record,
                         .reached = reached_p,
                         .err = err };
    int rc = loop_init(&j.loop);

    if (config->key && j.key)
        memcpy(j.key, config->key, JOIN_TOKEN_KEY);
    j.has_key = config->key != NULL;
    errmsg_set(err, rc, "out of memory");
    timer_init(&j.again, &j.loop, try_now, &j);
    timer_init(&j.bound, &j.loop, too_late, &j);
    if (rc == 0)
        rc = open_net(&j);
    if (rc == 0 && (rc = loop_run(&j.loop)) < 0)
        errmsg_set(err, rc, "cannot wait for the launcher: %s", err_text(rc));
    if (rc == 0)
        rc = j.rc;
    if (rc == 0 && j.link)
        daemon_link_end(j.link); /* sent by now: the other end waits for nothing */
    timer_stop(&j.again);
    timer_stop(&j.bound);
    watch_close(&j.control);
    file_change_close(&j.address);
    file_change_close(&j.token);
    daemon_link_net_free(j.net);
    loop_free(&j.loop);
    secret_free(j.key, JOIN_TOKEN_KEY);
    return rc;
}
