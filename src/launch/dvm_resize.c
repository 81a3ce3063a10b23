/* dvm_resize.c - see dvm_resize.h. */
#include "launch/dvm_resize.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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
    struct command_json o;
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
    r->failed = r->failed || slice_is(word, "failed");
    if (r->json)
        put_json(r, word, node, rest);
    else if (slice_is(word, "failed")) /* the sentence names the node */
        log_error(r->l->log, SLICE_FMT, SLICE_ARG(rest));
    else
        print_node(r, word, node, rest);
}

/* For as long as it takes. */
static void receive(struct resize *r, int fd)
{
    struct buf in = BUF_NULL(DVM_RESIZE_ANSWER);
    ssize_t n = 1;

    while (!r->ended && n > 0) {
        struct pollfd p = { fd, POLLIN, 0 };
        char *room = buf_room(&in, 4096);
        struct slice all;
        if (!room)
            break;
        n = poll(&p, 1, -1) < 0 ? -1 : recv(fd, room, 4096, 0);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            n = 1;
            continue;
        }
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

static int send_request(const struct resize *r, const char *verb, const char *hosts)
{
    struct buf line = BUF_NULL(DVM_RESIZE_LINE);
    int fd = rendezvous_connect(&r->dvm.where), rc = fd;

    buf_printf(&line, "%s %s\n", verb, hosts);
    if (fd >= 0)
        rc = buf_ok(&line) ? write_all_slice(fd, buf_slice(&line)) : -E2BIG;
    buf_free(&line);
    if (rc < 0 && fd >= 0)
        close(fd);
    return rc < 0 ? rc : fd;
}

static int run(struct resize *r, const char *verb, const char *hosts, const char *schema)
{
    int fd = send_request(r, verb, hosts);

    if (fd < 0) {
        log_error(r->l->log, "the DVM %s (launcher %d) does not answer: %s", r->dvm.name,
                  (int)r->dvm.where.pid, err_text(fd));
        return 1;
    }
    if (r->json) {
        command_json_begin(&r->o, schema);
        json_str(&r->o.json, "name", r->dvm.name);
        json_array(&r->o.json, "nodes");
    }
    receive(r, fd);
    close(fd);
    if (!r->ended)
        log_error(r->l->log, "the DVM %s has ended, or is of another release", r->dvm.name);
    r->failed = r->failed || !r->ended;
    if (!r->json)
        return r->failed ? 1 : 0;
    json_array_end(&r->o.json);
    return command_json_end(&r->o, r->failed ? 1 : 0);
}

static int resize(const struct command_line *l, const char *verb, const char *hosts, bool json,
                  const char *schema)
{
    struct resize r = { .l = l, .json = json };
    struct errmsg err;

    if (!hosts || !*hosts) {
        log_error(l->log, "name the nodes by -hosts");
        return 2;
    }
    if (dvm_find(l->operand, &r.dvm, &err) == 0)
        return run(&r, verb, hosts, schema);
    log_error(l->log, "%s", err.text);
    return 1;
}

int dvm_grow(const struct command_line *l)
{
    return resize(l, "grow", l->choices[CHOICE_grow_hosts], l->choices[CHOICE_grow_json] != NULL,
                  "wireup-grow-1");
}

int dvm_shrink(const struct command_line *l)
{
    const char *const *c = l->choices;
    bool drain = c[CHOICE_shrink_drain] != NULL, wait = c[CHOICE_shrink_wait] != NULL;

    if (drain && wait) {
        log_error(l->log, "-wait and -drain exclude each other: -drain does not wait");
        return 2;
    }
    return resize(l,
                  drain  ? "shrink drain"
                  : wait ? "shrink wait"
                         : "shrink now",
                  c[CHOICE_shrink_hosts], c[CHOICE_shrink_json] != NULL, "wireup-shrink-1");
}
