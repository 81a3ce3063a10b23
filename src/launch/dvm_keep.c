/* dvm_keep.c - see dvm_keep.h. */
#include "launch/dvm_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/join_request.h"
#include "io/create.h"
#include "io/write_all.h"

static const char hex[] = "0123456789abcdef";

/* ---- text ------------------------------------------------------------------------------------ */

void dvm_keep_write(const struct dvm_keep *k, struct buf *out)
{
    buf_printf(out, "wireup-keep 1\nname %s\nlauncher %u %s\ntoken ", k->name, k->pid, k->host);
    for (int i = 0; i < DVM_KEEP_TOKEN; i++) {
        buf_byte(out, hex[k->token[i] >> 4]);
        buf_byte(out, hex[k->token[i] & 15]);
    }
    buf_printf(out, "\ntime %u\nport %u\n", k->time_s, k->port);
    if (k->join)
        buf_printf(out, "join %s\n", k->join);
    if (dvm_limits_any(&k->limits)) {
        buf_str(out, "limits ");
        dvm_limits_write(&k->limits, out);
        buf_byte(out, '\n');
    }
    for (uint32_t i = 0; i < k->nnodes; i++)
        buf_printf(out, "node %s %u\n", k->nodes[i].name, k->nodes[i].slots);
    for (uint32_t i = 0; i < k->njobs; i++)
        buf_printf(out, "job %s\n", k->jobs[i]);
    buf_str(out, "end\n");
}

static int digit(char c)
{
    const char *at = c ? strchr(hex, c) : NULL;

    return at ? (int)(at - hex) : -1;
}

static bool read_token(struct slice text, unsigned char *to)
{
    for (uint32_t i = 0; text.len == 2 * DVM_KEEP_TOKEN && i < DVM_KEEP_TOKEN; i++) {
        int high = digit(text.ptr[2 * i]), low = digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (unsigned char)(high << 4 | low);
    }
    return text.len == 2 * DVM_KEEP_TOKEN;
}

/* 0; DVM_KEEP_BAD; -ENOMEM. */
static int read_node(struct dvm_keep *k, struct arena *a, struct slice rest)
{
    struct slice name = slice_cut(&rest, ' ');
    struct dvm_keep_node *n = &k->nodes[k->nnodes];

    if (!join_request_is_name(name) || !slice_u32(rest, &n->slots) || n->slots == 0 ||
        n->slots > JOIN_REQUEST_SLOTS)
        return DVM_KEEP_BAD;
    k->nnodes++;
    n->name = arena_str(a, name);
    return n->name ? 0 : -ENOMEM;
}

static int read_text(struct arena *a, struct slice text, const char **to)
{
    if (text.len == 0 || memchr(text.ptr, '\0', text.len))
        return DVM_KEEP_BAD;
    *to = arena_str(a, text);
    return *to ? 0 : -ENOMEM;
}

static int read_line(struct dvm_keep *k, struct arena *a, struct slice rest)
{
    struct slice word = slice_cut(&rest, ' ');

    if (slice_is(word, "node"))
        return read_node(k, a, rest);
    if (slice_is(word, "job"))
        return read_text(a, rest, &k->jobs[k->njobs++]);
    if (slice_is(word, "name"))
        return join_request_is_name(rest) ? read_text(a, rest, &k->name) : DVM_KEEP_BAD;
    if (slice_is(word, "launcher"))
        return slice_u32(slice_cut(&rest, ' '), &k->pid) ? read_text(a, rest, &k->host)
                                                         : DVM_KEEP_BAD;
    if (slice_is(word, "join"))
        return read_text(a, rest, &k->join);
    if (slice_is(word, "token"))
        return read_token(rest, k->token) ? 0 : DVM_KEEP_BAD;
    if (slice_is(word, "time"))
        return slice_u32(rest, &k->time_s) ? 0 : DVM_KEEP_BAD;
    if (slice_is(word, "limits"))
        return dvm_limits_read(rest, &k->limits) ? 0 : DVM_KEEP_BAD;
    if (slice_is(word, "port"))
        return slice_u32(rest, &k->port) && k->port < 65536 ? 0 : DVM_KEEP_BAD;
    return DVM_KEEP_BAD;
}

static uint32_t count_lines(struct slice text)
{
    uint32_t n = 0;

    while (text.len) {
        slice_cut(&text, '\n');
        n++;
    }
    return n;
}

int dvm_keep_read(struct dvm_keep *k, struct arena *a, struct slice text,
                  unsigned char token[DVM_KEEP_TOKEN])
{
    int rc = 0;

    *k = (struct dvm_keep){ .token = token };
    k->nodes = arena_array(a, count_lines(text) + (size_t)1, sizeof *k->nodes);
    k->jobs = arena_array(a, count_lines(text) + (size_t)1, sizeof *k->jobs);
    if (!k->nodes || !k->jobs)
        return -ENOMEM;
    if (!slice_is(slice_cut(&text, '\n'), "wireup-keep 1"))
        return DVM_KEEP_BAD;
    while (rc == 0 && text.len) {
        struct slice line = slice_cut(&text, '\n');
        if (slice_is(line, "end"))
            return k->name && k->host && k->time_s && k->port ? 0 : DVM_KEEP_BAD;
        rc = read_line(k, a, line);
    }
    return rc ? rc : DVM_KEEP_BAD;
}

/* ---- the file -------------------------------------------------------------------------------- */

static int lock(int fd, const char *path, struct errmsg *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return errmsg_set(err, -EBUSY, "the DVM of %.300s has a launcher", path);
    return errmsg_set(err, -errno, "cannot lock %.300s: %s", path, err_text(errno));
}

static int read_all(int fd, struct buf *text)
{
    for (;;) {
        char *room = buf_room(text, 65536);
        ssize_t n = room ? read(fd, room, 65536) : 0;
        if (!room)
            return -ENOMEM;
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        buf_commit(text, n > 0 ? (size_t)n : 0);
    }
}

/* Without O_TRUNC: a launcher may lead the DVM whose file it is. */
int dvm_keep_make(const char *path, struct errmsg *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc;

    if (fd >= 0) {
        rc = lock(fd, path, err);
        close(fd);
        if (rc == -EBUSY)
            return rc;
    }
    fd = create_named(path, 0600, err);
    rc = fd < 0 ? fd : lock(fd, path, err);
    if (rc == 0 && fchmod(fd, 0600) < 0)
        rc = errmsg_set(err, -errno, "cannot keep %.300s from others: %s", path, err_text(errno));
    if (rc < 0 && fd >= 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

static int check_owner(int fd, const char *path, struct errmsg *err)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        (st.st_mode & 077) == 0)
        return 0;
    return errmsg_set(err, -EPERM,
                      "%.300s must be a file of yours that nobody else may read (mode 0600)", path);
}

int dvm_keep_take(const char *path, struct dvm_keep *k, struct arena *a,
                  unsigned char token[DVM_KEEP_TOKEN], struct errmsg *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc;
    struct buf text = BUF_NULL(DVM_KEEP_TEXT);

    if (fd < 0)
        return errmsg_set(err, -errno, "there is no DVM to take over: cannot open %.300s: %s", path,
                          err_text(errno));
    text.secret = true;
    rc = check_owner(fd, path, err);
    if (rc == 0)
        rc = lock(fd, path, err);
    if (rc == 0 && read_all(fd, &text) < 0)
        rc = errmsg_set(err, -EIO, "cannot read %.300s", path);
    if (rc == 0 && buf_len(&text) == 0)
        rc = errmsg_set(err, -ENODATA,
                        "there is no DVM to take over: its launcher was lost before it was up");
    if (rc == 0 && dvm_keep_read(k, a, buf_slice(&text), token) != 0)
        rc = errmsg_set(err, -EINVAL, "%.300s is damaged, or of another release", path);
    buf_free(&text);
    if (rc < 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

/* Whoever is killed meanwhile leaves a file that can be read: the new text is written over the old
 * one, and what is behind its end counts for nothing. */
int dvm_keep_save(int fd, const struct dvm_keep *k)
{
    struct buf text = BUF_NULL(DVM_KEEP_TEXT);
    int rc;

    text.secret = true;
    dvm_keep_write(k, &text);
    if (!buf_ok(&text))
        rc = -ENOMEM;
    else
        rc = lseek(fd, 0, SEEK_SET) < 0 ? -errno : write_all_slice(fd, buf_slice(&text));
    if (rc == 0 && ftruncate(fd, (off_t)buf_len(&text)) < 0)
        rc = -errno;
    buf_free(&text);
    return rc;
}
