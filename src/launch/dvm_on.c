/* dvm_on.c - see dvm_on.h. */
#include "launch/dvm_on.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd_pass.h"
#include "daemon/dvm_request.h"
#include "io/rendezvous.h"
#include "io/write_all.h"
#include "launch/dvm.h"
#include "launch/dvm_find.h"
#include "launch/plan_builder.h"
#include "tools/command_json.h"

enum { DVM_ON_OUTPUT = 1 << 24, DVM_ON_LINE = 60 << 10 };

/* ---- its words ---- */

/* Options come before the node. */
struct dvm_on {
    bool json;
    const char *dvm; /* NULL: by the rule */
    int first;       /* of the words: the node */
    const struct log *log;
};

static bool is_option(const char *word, const char *name)
{
    size_t dashes = strspn(word, "-");

    return dashes > 0 && !strcmp(word + dashes, name);
}

static struct dvm_on read_words(int argc, char **argv, const struct log *log)
{
    struct dvm_on o = { .first = 2, .log = log };

    for (; o.first < argc && argv[o.first][0] == '-'; o.first++) {
        if (is_option(argv[o.first], "json"))
            o.json = true;
        else if (is_option(argv[o.first], "dvm") && o.first + 1 < argc)
            o.dvm = argv[++o.first];
        else
            break;
    }
    return o;
}

/* ---- the request ---- */

/* The descriptor goes with the first byte. */
static int send_all(int fd, struct slice line, int attach)
{
    ssize_t n = fd_pass_send(fd, line, attach);

    return n < 0 ? -errno : write_all_slice(fd, slice_skip(line, (size_t)n));
}

/* 0 and the socket on which the end is told; or -errno. */
static int ask(const struct dvm_on *o, char **argv, int fd, int *end_p)
{
    struct buf line = BUF_NULL(DVM_ON_LINE);
    int pair[2], rc;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    dvm_request_write(argv + o->first, &line);
    rc = buf_ok(&line) ? send_all(fd, buf_slice(&line), pair[1]) : -E2BIG;
    buf_free(&line);
    close(pair[1]);
    if (rc < 0)
        close(pair[0]);
    else
        *end_p = pair[0];
    return rc;
}

/* One line, without its newline; what there is when the connection ends before. */
static struct slice read_line(int fd, char room[ERRMSG_MAX])
{
    struct slice all;
    size_t n = 0;

    while (n < ERRMSG_MAX && (n == 0 || room[n - 1] != '\n')) {
        struct pollfd p = { fd, POLLIN, 0 };
        ssize_t got = poll(&p, 1, -1) < 0 ? -1 : recv(fd, room + n, 1, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            break;
        n++;
    }
    all = slice_mem(room, n);
    return slice_cut(&all, '\n');
}

/* The first line of the answer: "ok", or the reason of refusal. */
static bool was_taken(const struct dvm_on *o, int fd)
{
    char room[ERRMSG_MAX];
    struct slice line = read_line(fd, room);

    if (slice_is(line, "ok"))
        return true;
    if (slice_starts(line, SLICE("error: ")))
        line = slice_skip(line, strlen("error: "));
    if (!line.len)
        line = SLICE("the DVM has ended");
    log_error(o->log, SLICE_FMT, SLICE_ARG(line));
    return false;
}

/* ---- its output and its end ---- */

/* Output of the program; out NULL: to our own.  0 or -errno. */
static int pass_output(struct slice piece, struct buf *out)
{
    if (!out)
        return write_all_slice(STDOUT_FILENO, piece);
    buf_slice_put(out, piece);
    return buf_ok(out) ? 0 : -ENOMEM;
}

/* Our input on its way; none is read while some of it waits, but output is: a filter stops reading
 * when nobody reads it. */
struct dvm_on_input {
    char bytes[32 << 10];
    struct slice rest;
    bool over;
};

static void read_input(struct dvm_on_input *in, int fd)
{
    ssize_t n = read(STDIN_FILENO, in->bytes, sizeof in->bytes);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    in->rest = slice_mem(in->bytes, n > 0 ? (size_t)n : 0);
    in->over = n <= 0;
    if (in->over)
        shutdown(fd, SHUT_WR);
}

static void send_input(struct dvm_on_input *in, int fd)
{
    ssize_t n = send(fd, in->rest.ptr, in->rest.len, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    in->rest = n < 0 ? SLICE_NULL : slice_skip(in->rest, (size_t)n);
    in->over = n < 0; /* nobody reads it any more */
}

/* False: the output has ended. */
static bool take_output(int fd, struct buf *out, int *rc_p)
{
    char piece[32 << 10];
    ssize_t n = recv(fd, piece, sizeof piece, MSG_DONTWAIT);

    if (n > 0)
        *rc_p = pass_output(slice_mem(piece, (size_t)n), out);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* Copies both ways until the program's output ends.  0, or -errno: ours does not take it. */
static int carry(int fd, struct buf *out)
{
    struct dvm_on_input in = { .over = false };
    int rc = 0;

    while (rc == 0) {
        struct pollfd p[2] = { { fd, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
        if (in.rest.len)
            p[0].events = POLLIN | POLLOUT;
        if (in.over || in.rest.len)
            p[1].fd = -1;
        if (poll(p, 2, -1) < 0) {
            if (errno != EINTR)
                return -errno;
            continue;
        }
        if ((p[0].revents & ~POLLOUT) && !take_output(fd, out, &rc))
            return 0;
        if (p[1].revents)
            read_input(&in, fd);
        if (in.rest.len)
            send_input(&in, fd);
    }
    return rc;
}

/* How the program has ended: its exit code, or -1 when there is none, with the reason. */
static int end_of(const char *node, int end, struct errmsg *err)
{
    char room[ERRMSG_MAX];
    struct errmsg why;
    int code = -1;

    switch (dvm_request_end_read(read_line(end, room), &code, &why)) {
    case 0: return code;
    case DVM_REQUEST_NOT_STARTED:
        return errmsg_set(err, -1, "node %.200s: the command was not started: %s", node, why.text);
    default:
        return errmsg_set(
            err, -1,
            "how the command has ended is not known: the connection to node %.200s, or to the "
            "DVM, is lost",
            node);
    }
}

static int print_json(const char *node, struct slice output, int code, int rc)
{
    struct command_json o;

    command_json_begin(&o, "wireup-on-1");
    json_str(&o.json, "node", node);
    json_text(&o.json, "output", output);
    if (code >= 0)
        json_i64(&o.json, "exit_code", code);
    return command_json_end(&o, rc);
}

static int follow(const struct dvm_on *o, const char *node, int fd, int end)
{
    struct buf output = BUF_NULL(DVM_ON_OUTPUT);
    struct errmsg err = { "" };
    int rc = carry(fd, o->json ? &output : NULL), code = -1;

    if (rc < 0)
        errmsg_set(&err, rc, "the output of the command cannot be passed on: %s", err_text(rc));
    else
        code = end_of(node, end, &err);
    if (err.text[0])
        log_error(o->log, "%s", err.text);
    rc = code >= 0 ? code : launch_exit_code(LAUNCH_REFUSED);
    if (o->json)
        rc = print_json(node, buf_slice(&output), code, rc);
    buf_free(&output);
    return rc;
}

static int run(const struct dvm_on *o, char **argv, const struct dvm_place *dvm, int fd)
{
    int end = -1, rc = ask(o, argv, fd, &end), code = launch_exit_code(LAUNCH_REFUSED);

    if (rc == -E2BIG)
        log_error(o->log, "the command line is too long for the DVM");
    else if (rc < 0)
        log_error(o->log, "the DVM cannot be asked: %s", err_text(rc));
    else if (!dvm_answers(dvm, fd))
        log_error(o->log, "your DVM %s does not answer", dvm->name);
    else if (was_taken(o, fd))
        code = follow(o, argv[o->first], fd, end);
    if (end >= 0)
        close(end);
    return code;
}

int dvm_on(int argc, char **argv, const struct log *log)
{
    struct dvm_on o = read_words(argc, argv, log);
    struct dvm_place dvm;
    struct errmsg err;
    int fd, code;

    if (o.first + 1 >= argc)
        return dvm_misused(&(struct command_line){ .log = log });
    if (dvm_connect(o.dvm, &dvm, &fd, &err)) {
        log_error(log, "%s", err.text);
        return launch_exit_code(LAUNCH_REFUSED);
    }
    code = run(&o, argv, &dvm, fd);
    close(fd);
    return code;
}
