/* dvm_resize.c - see dvm_resize.h. */
#include "launch/dvm_resize.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "io/rendezvous.h"
#include "io/write_all.h"
#include "launch/dvm_find.h"
#include "tools/command_json.h"

enum { DVM_RESIZE_ANSWER = 16 << 20, DVM_RESIZE_LINE = 60 << 10 };

struct resize {
    const struct command_line *l;
    struct dvm_place dvm;
    bool json, failed, ended; /* one node has not come up; the answer is complete */
    uint64_t until_ns;        /* 0: for as long as it takes */
    struct command_json o;
    char manager[64], job[64]; /* that brings the nodes; empty: none */
};

struct resize_request {
    const char *verb, *what; /* of the request line */
    const char *schema;
    bool json;
    uint32_t timeout_s; /* 0: none */
};

/* ---- the answer, line by line ---- */

static void put_json(struct resize *r, struct slice word, struct slice node, struct slice rest)
{
    uint32_t number;

    json_object(&r->o.json, NULL);
    json_text(&r->o.json, "node", node);
    json_text(&r->o.json, "state", word);
    if (slice_is(word, "failed"))
        json_text(&r->o.json, "reason", rest);
    else if (slice_u32(rest, &number))
        json_u64(&r->o.json, slice_is(word, "up") ? "slots" : "processes", number);
    json_object_end(&r->o.json);
}

static void print_node(const struct resize *r, struct slice word, struct slice node,
                       struct slice rest)
{
    uint32_t number = 0;

    slice_u32(rest, &number);
    if (slice_is(word, "up"))
        printf("node " SLICE_FMT " has joined your DVM %s, with %u slot%s\n", SLICE_ARG(node),
               r->dvm.name, number, number == 1 ? "" : "s");
    else if (slice_is(word, "left"))
        printf("node " SLICE_FMT " has left your DVM %s\n", SLICE_ARG(node), r->dvm.name);
    else if (number)
        printf("node " SLICE_FMT " gets no new jobs, and leaves when its %u process%s\n",
               SLICE_ARG(node), number, number == 1 ? " has ended" : "es have ended");
    else
        printf("node " SLICE_FMT " leaves your DVM %s\n", SLICE_ARG(node), r->dvm.name);
    fflush(stdout);
}

/* The resource manager has taken a job; its nodes may come in seconds, or in days. */
static void take_job(struct resize *r, struct slice id, struct slice manager)
{
    snprintf(r->job, sizeof r->job, SLICE_FMT, SLICE_ARG(slice_head(id, sizeof r->job - 1)));
    snprintf(r->manager, sizeof r->manager, SLICE_FMT,
             SLICE_ARG(slice_head(manager, sizeof r->manager - 1)));
    if (r->json)
        return;
    printf("job %s of %s is to bring the nodes\n", r->job, r->manager);
    fflush(stdout);
}

static void take_line(struct resize *r, struct slice line)
{
    struct slice rest = line, word, node;

    if (slice_starts(line, SLICE("error: "))) {
        log_error(r->l->log, SLICE_FMT, SLICE_ARG(slice_skip(line, 7)));
        r->failed = r->ended = true;
        return;
    }
    word = slice_cut(&rest, ' ');
    r->ended = slice_is(word, "end");
    if (r->ended)
        return;
    node = slice_cut(&rest, ' ');
    if (slice_is(word, "submitted")) {
        take_job(r, node, rest);
        return;
    }
    r->failed = r->failed || slice_is(word, "failed");
    if (r->json)
        put_json(r, word, node, rest);
    else if (slice_is(word, "failed")) /* the sentence names the node */
        log_error(r->l->log, SLICE_FMT, SLICE_ARG(rest));
    else
        print_node(r, word, node, rest);
}

/* The next bytes; 0: there are none any more, or the time is over. */
static ssize_t receive_some(struct resize *r, int fd, char *room, size_t size)
{
    struct pollfd p = { fd, POLLIN, 0 };
    ssize_t n = -1;
    int rc = 0;

    while (rc <= 0 || (n < 0 && (errno == EINTR || errno == EAGAIN))) {
        uint64_t now = clock_now_ns();
        if (r->until_ns && now >= r->until_ns)
            return 0;
        rc = poll(&p, 1, r->until_ns ? (int)((r->until_ns - now) / NS_PER_MS + 1) : -1);
        n = rc > 0 ? recv(fd, room, size, 0) : -1;
    }
    return n;
}

static void receive(struct resize *r, int fd)
{
    struct buf in = BUF_NULL(DVM_RESIZE_ANSWER);
    ssize_t n = 1;

    while (!r->ended && n > 0) {
        char *room = buf_room(&in, 4096);
        struct slice all;
        if (!room)
            break;
        n = receive_some(r, fd, room, 4096);
        buf_commit(&in, n > 0 ? (size_t)n : 0);
        while (all = buf_slice(&in), !r->ended && slice_find(all, '\n') < all.len) {
            struct slice line = slice_head(all, slice_find(all, '\n'));
            take_line(r, line);
            buf_take(&in, line.len + 1);
        }
    }
    buf_free(&in);
}

/* ---- the request ---- */

static int send_request(const struct resize *r, const struct resize_request *q)
{
    struct buf line = BUF_NULL(DVM_RESIZE_LINE);
    int fd = rendezvous_connect(&r->dvm.where), rc = fd;

    buf_printf(&line, "%s %s\n", q->verb, q->what);
    if (fd >= 0)
        rc = buf_ok(&line) ? write_all_slice(fd, buf_slice(&line)) : -E2BIG;
    buf_free(&line);
    if (rc < 0 && fd >= 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

static void explain_end(struct resize *r, const struct resize_request *q)
{
    if (r->until_ns && clock_now_ns() >= r->until_ns)
        log_error(r->l->log,
                  "the nodes have not joined your DVM %s within %u s: the request is withdrawn",
                  r->dvm.name, q->timeout_s);
    else
        log_error(r->l->log, "the DVM %s has ended, or is of another release", r->dvm.name);
    r->failed = true;
}

static int end_json(struct resize *r)
{
    json_array_end(&r->o.json);
    if (r->job[0]) {
        json_str(&r->o.json, "job", r->job);
        json_str(&r->o.json, "manager", r->manager);
    }
    return command_json_end(&r->o, r->failed ? 1 : 0);
}

static int run(struct resize *r, const struct resize_request *q)
{
    int fd = send_request(r, q);

    if (fd < 0) {
        log_error(r->l->log, "the DVM %s (launcher %d) does not answer: %s", r->dvm.name,
                  (int)r->dvm.where.pid, err_text(fd));
        return 1;
    }
    if (r->json) {
        command_json_begin(&r->o, q->schema);
        json_str(&r->o.json, "name", r->dvm.name);
        json_array(&r->o.json, "nodes");
    }
    if (q->timeout_s)
        r->until_ns = clock_now_ns() + q->timeout_s * NS_PER_S;
    receive(r, fd);
    close(fd);
    if (!r->ended)
        explain_end(r, q);
    return r->json ? end_json(r) : r->failed ? 1 : 0;
}

static int resize(const struct command_line *l, const struct resize_request *q)
{
    struct resize r = { .l = l, .json = q->json };
    struct errmsg err;

    if (!q->what || !*q->what) {
        log_error(l->log, "name the nodes by -hosts");
        return 2;
    }
    if (dvm_find(l->operand, &r.dvm, &err) == 0)
        return run(&r, q);
    log_error(l->log, "%s", err.text);
    return 1;
}

static int misused(const struct command_line *l, const char *why)
{
    log_error(l->log, "%s", why);
    return 2;
}

/* A number of nodes, and no names. */
static int grow_by(const struct command_line *l, struct resize_request *q)
{
    const char *nodes = l->choices[CHOICE_grow_nodes], *s = l->choices[CHOICE_grow_timeout];
    uint32_t n = 0;

    if (l->choices[CHOICE_grow_hosts])
        return misused(l, "-nodes and -hosts exclude each other: with -nodes the resource manager "
                          "chooses the nodes");
    if (!slice_u32(slice_str(nodes), &n) || n == 0)
        return misused(l, "-nodes must be a number of 1 or more");
    if (s && (!slice_u32(slice_str(s), &q->timeout_s) || q->timeout_s == 0))
        return misused(l, "-timeout must be a number of seconds of 1 or more");
    q->verb = "more";
    q->what = nodes;
    return resize(l, q);
}

int dvm_grow(const struct command_line *l)
{
    struct resize_request q = { .verb = "grow",
                                .what = l->choices[CHOICE_grow_hosts],
                                .schema = "wireup-grow-1",
                                .json = l->choices[CHOICE_grow_json] != NULL };

    if (l->choices[CHOICE_grow_nodes])
        return grow_by(l, &q);
    if (l->choices[CHOICE_grow_timeout])
        return misused(l, "-timeout belongs to -nodes");
    return resize(l, &q);
}

int dvm_shrink(const struct command_line *l)
{
    const char *const *c = l->choices;
    bool drain = c[CHOICE_shrink_drain] != NULL, wait = c[CHOICE_shrink_wait] != NULL;
    const struct resize_request q = { .verb = drain  ? "shrink drain"
                                              : wait ? "shrink wait"
                                                     : "shrink now",
                                      .what = c[CHOICE_shrink_hosts],
                                      .schema = "wireup-shrink-1",
                                      .json = c[CHOICE_shrink_json] != NULL };

    if (drain && wait)
        return misused(l, "-wait and -drain exclude each other: -drain does not wait");
    return resize(l, &q);
}
