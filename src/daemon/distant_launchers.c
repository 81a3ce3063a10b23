/* distant_launchers.c - see distant_launchers.h.  Reading order: relays; links; the directory; the
 * module. */
#include "daemon/distant_launchers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/launcher_file.h"
#include "io/create.h"
#include "io/daemon_link.h"
#include "io/join_token.h"
#include "io/secret.h"
#include "io/write_all.h"

#define SUFFIX ".launcher"

enum { PIECE = 32 << 10, RELAY_MOST = 2 * LIMIT_DAEMON_LINK_MESSAGE };

/* What comes from the link goes to the descriptor, and the other way round. */
struct launcher_relay {
    struct list link;
    struct distant_launchers *of;
    struct daemon_link *h; /* NULL: it is down */
    int fd;                /* -1: closed */
    struct watch watch;
    struct buf out; /* not yet written to fd */
    bool up;
};

/* ---- relays ---------------------------------------------------------------------------------- */

static void relay_close_fd(struct launcher_relay *r)
{
    if (r->fd < 0)
        return;
    watch_close(&r->watch);
    close(r->fd);
    r->fd = -1;
}

static void relay_free(struct launcher_relay *r)
{
    relay_close_fd(r);
    if (r->h)
        daemon_link_drop(r->h);
    list_unlink(&r->link);
    buf_free(&r->out);
    free(r);
}

/* Reads as long as the link takes it, writes what is there. */
static void want(struct launcher_relay *r)
{
    unsigned what = r->h && r->up && !daemon_link_pressed(r->h) ? LOOP_READ : 0;

    if (r->fd >= 0)
        watch_want(&r->watch, what | (buf_len(&r->out) ? LOOP_WRITE : 0U));
}

/* The descriptor's other end has gone: what was read from it is still sent. */
static void end_local(struct launcher_relay *r)
{
    relay_close_fd(r);
    if (!r->h) {
        relay_free(r);
        return;
    }
    daemon_link_pause(r->h, false);
    daemon_link_end(r->h); /* on_down frees it */
}

static void on_read(void *arg)
{
    struct launcher_relay *r = arg;
    char piece[PIECE];
    ssize_t n = recv(r->fd, piece, sizeof piece, MSG_DONTWAIT);
    struct slice bytes = slice_mem(piece, n > 0 ? (size_t)n : 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0 || !r->h || daemon_link_send(r->h, &bytes, 1) < 0)
        end_local(r);
    else
        want(r);
}

static void on_write(void *arg)
{
    struct launcher_relay *r = arg;
    struct slice s = buf_slice(&r->out);
    ssize_t n = send(r->fd, s.ptr, s.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        buf_take(&r->out, (size_t)n);
    if (n < 0) {
        end_local(r);
    } else if (buf_len(&r->out) == 0 && !r->h) {
        relay_free(r);
    } else {
        if (buf_len(&r->out) == 0)
            daemon_link_pause(r->h, false);
        want(r);
    }
}

/* *fd_p: the end that is not the relay's.  NULL: no memory, or no descriptors. */
static struct launcher_relay *relay_new(struct distant_launchers *d, int *fd_p)
{
    struct launcher_relay *r = calloc(1, sizeof *r);
    int ends[2];

    if (!r || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
        free(r);
        return NULL;
    }
    r->of = d;
    r->fd = ends[0];
    *fd_p = ends[1];
    buf_init(&r->out, RELAY_MOST);
    watch_open(&r->watch, d->context->loop, r->fd, on_read, on_write, r);
    list_append(&d->all, &r->link);
    return r;
}

/* ---- links ----------------------------------------------------------------------------------- */

static struct launcher_relay *relay_of(const struct distant_launchers *d,
                                       const struct daemon_link *h)
{
    LIST_EACH(l, &d->all)
    {
        struct launcher_relay *r = LIST_OF(l, struct launcher_relay, link);
        if (r->h == h)
            return r;
    }
    return NULL;
}

/* Another launcher has called. */
static void accept_call(struct distant_launchers *d, struct daemon_link *h)
{
    int fd;
    struct launcher_relay *r = relay_new(d, &fd);

    if (!r) {
        daemon_link_drop(h);
        return;
    }
    r->h = h;
    r->up = true;
    want(r);
    d->called(d->arg, fd);
}

static void on_up(void *arg, struct daemon_link *h)
{
    struct distant_launchers *d = arg;
    struct launcher_relay *r = relay_of(d, h);

    if (!r) {
        accept_call(d, h);
        return;
    }
    r->up = true;
    want(r);
}

static void on_message(void *arg, struct daemon_link *h, struct slice message)
{
    struct launcher_relay *r = relay_of(arg, h);

    if (!r || r->fd < 0)
        return;
    buf_slice_put(&r->out, message);
    if (!buf_ok(&r->out)) {
        relay_free(r);
        return;
    }
    daemon_link_pause(h, true);
    want(r);
}

/* What has come by then is still written. */
static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    struct distant_launchers *d = arg;
    struct launcher_relay *r = relay_of(d, h);

    if (!r)
        return;
    if (how != DAEMON_LINK_DOWN_BYE)
        log_info(d->context->log, "another launcher of -launchers-dir: %s", why->text);
    r->h = NULL;
    if (r->fd < 0 || buf_len(&r->out) == 0)
        relay_free(r);
    else
        want(r);
}

static void on_room(void *arg, struct daemon_link *h)
{
    struct launcher_relay *r = relay_of(arg, h);

    if (r)
        want(r);
}

/* ---- the directory --------------------------------------------------------------------------- */

static bool is_launcher_file(const char *name)
{
    size_t len = strlen(name), end = sizeof SUFFIX - 1;

    return len > end && !strcmp(name + len - end, SUFFIX);
}

/* The addresses in a file of it, in text; false: it is none of a launcher, or this one's. */
static bool read_addresses(const struct distant_launchers *d, const char *name,
                           char text[LAUNCHER_FILE_MOST], struct launcher_file *f_p)
{
    ssize_t n;
    int fd;

    if (!is_launcher_file(name) || !strcmp(name, d->file))
        return false;
    fd = openat(d->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    n = read(fd, text, LAUNCHER_FILE_MOST);
    close(fd);
    return n > 0 && launcher_file_read(slice_mem(text, (size_t)n), f_p);
}

/* -1: not even tried. */
static int call_one(struct distant_launchers *d, struct slice addresses)
{
    struct errmsg err;
    int fd;
    struct launcher_relay *r = relay_new(d, &fd);

    if (!r)
        return -1;
    r->h = daemon_link_connect(d->net, addresses, 0, &err);
    if (r->h)
        return fd;
    relay_free(r);
    close(fd);
    return -1;
}

static int call_all(struct distant_launchers *d, DIR *files, int *fds)
{
    char text[LAUNCHER_FILE_MOST];
    struct launcher_file f;
    struct dirent *e;
    int n = 0;

    while (n < LIMIT_DISTANT_LAUNCHERS && (e = readdir(files))) {
        if (read_addresses(d, e->d_name, text, &f) && (fds[n] = call_one(d, f.addresses)) >= 0)
            n++;
    }
    return n;
}

int distant_launchers_call(struct distant_launchers *d, int **fds_p)
{
    int at = d ? openat(d->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, n = 0;
    DIR *files = at >= 0 ? fdopendir(at) : NULL;

    *fds_p = files ? calloc(LIMIT_DISTANT_LAUNCHERS, sizeof **fds_p) : NULL;
    if (*fds_p)
        n = call_all(d, files, *fds_p);
    if (files)
        closedir(files);
    else if (at >= 0)
        close(at);
    return n;
}

/* Files of launchers of this machine that were killed. */
static void remove_left(struct distant_launchers *d, const char *boot)
{
    int at = openat(d->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = at >= 0 ? fdopendir(at) : NULL;
    struct dirent *e;

    while (files && (e = readdir(files))) {
        if (is_launcher_file(e->d_name) && launcher_file_is_left(d->dir, e->d_name, boot))
            unlinkat(d->dir, e->d_name, 0);
    }
    if (files)
        closedir(files);
    else if (at >= 0)
        close(at);
}

/* Complete, and locked, as soon as it has its name. */
static int write_own(struct distant_launchers *d, const char *interface, struct errmsg *err)
{
    struct buf text = BUF_NULL(LAUNCHER_FILE_MOST);
    char host[200] = "localhost", early[sizeof d->file + 8], boot[LAUNCHER_FILE_BOOT];
    int rc = daemon_link_addresses(d->net, interface, &text, err);

    if (rc < 0)
        return rc;
    gethostname(host, sizeof host - 1);
    snprintf(d->file, sizeof d->file, "%s.%d" SUFFIX, host, (int)getpid());
    snprintf(early, sizeof early, "%s.new", d->file);
    launcher_file_boot(boot);
    launcher_file_end(&text, boot);
    remove_left(d, boot);
    unlinkat(d->dir, early, 0); /* of another one with this pid, which was killed */
    d->lock = create_new_at(d->dir, early);
    if (d->lock >= 0)
        flock(d->lock, LOCK_EX | LOCK_NB); /* without locks nobody removes the file */
    rc = d->lock < 0 ? d->lock : write_all_slice(d->lock, buf_slice(&text));
    if (rc == 0)
        rc = create_rename_at(d->dir, early, d->file);
    buf_free(&text);
    return rc < 0 ? errmsg_set(err, rc, "cannot write %s: %s", d->file, err_text(rc)) : 0;
}

/* ---- the module ------------------------------------------------------------------------------ */

static int open_dir(struct distant_launchers *d, const char *dir, struct errmsg *err)
{
    int rc = create_private(dir);

    if (rc == -EACCES)
        return errmsg_set(err, rc,
                          "-launchers-dir %.300s must be a directory of yours that is closed to "
                          "others (chmod 700)",
                          dir);
    d->dir = rc == 0 ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (rc == 0 && d->dir < 0)
        rc = -errno;
    return rc < 0 ? errmsg_set(err, rc, "-launchers-dir %.300s: %s", dir, err_text(rc)) : 0;
}

static int read_token(struct distant_launchers *d, const char *dir, struct errmsg *err)
{
    char path[4096];
    int rc;

    if ((size_t)snprintf(path, sizeof path, "%s/token", dir) >= sizeof path)
        return errmsg_set(err, -ENAMETOOLONG, "the name of -launchers-dir is too long");
    d->key = secret_new(JOIN_TOKEN_KEY);
    if (!d->key)
        return errmsg_set(err, -ENOMEM, "out of memory");
    rc = join_token_make(path, err);
    return rc < 0 ? rc : join_token_read(path, d->key, err);
}

static int listen_there(struct distant_launchers *d, const struct distant_launchers_config *config,
                        struct errmsg *err)
{
    const struct daemon_link_config net = { .loop = d->context->loop,
                                            .log = d->context->log,
                                            .key = d->key,
                                            .calls = { on_up, on_message, on_down, on_room },
                                            .arg = d,
                                            .alive_ms = LIMIT_NODE_ALIVE_MS,
                                            .silent_ms = LIMIT_NODE_SILENT_MS };
    int rc;

    d->net = daemon_link_net_new(&net, err);
    if (!d->net)
        return -EIO;
    rc = daemon_link_listen(d->net, config->interface, config->port_low, config->port_high, err);
    return rc < 0 ? rc : write_own(d, config->interface, err);
}

int distant_launchers_open(struct distant_launchers *d, const struct node_context *c,
                           const struct distant_launchers_config *config,
                           void (*called)(void *arg, int fd), void *arg, struct errmsg *err)
{
    int rc;

    *d = (struct distant_launchers){
        .context = c, .dir = -1, .lock = -1, .called = called, .arg = arg
    };
    list_init(&d->all);
    rc = open_dir(d, config->dir, err);
    if (rc == 0)
        rc = read_token(d, config->dir, err);
    return rc == 0 ? listen_there(d, config, err) : rc;
}

void distant_launchers_close(struct distant_launchers *d)
{
    if (!d->context)
        return;
    LIST_EACH(l, &d->all)
    relay_free(LIST_OF(l, struct launcher_relay, link));
    daemon_link_net_free(d->net);
    secret_free(d->key, JOIN_TOKEN_KEY);
    if (d->dir >= 0 && d->file[0])
        unlinkat(d->dir, d->file, 0);
    if (d->lock >= 0)
        close(d->lock);
    if (d->dir >= 0)
        close(d->dir);
    d->context = NULL;
}
