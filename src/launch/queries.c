/* queries.c - see queries.h. */
#include "launch/queries.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/limit.h"
#include "io/rendezvous.h"

enum { QUERIES_ANSWER_MAX = 64 << 20 };

static int query(const struct launcher_name *who, struct slice question, int patience_ms,
                 struct buf *answer)
{
    int fd = rendezvous_connect(who);
    int rc = fd < 0 ? fd : 0;

    if (rc == 0 && send(fd, question.ptr, question.len, MSG_NOSIGNAL) < 0)
        rc = -errno;
    while (rc == 0) {
        struct pollfd p = { fd, POLLIN, 0 };
        char *room = buf_room(answer, 64 << 10);
        ssize_t n;
        if (!room)
            rc = -ENOMEM;
        else if (poll(&p, 1, patience_ms) == 0)
            rc = -ETIMEDOUT;
        else if ((n = recv(fd, room, 64 << 10, 0)) > 0)
            buf_commit(answer, (size_t)n);
        else if (n == 0)
            break;
        else if (errno != EINTR && errno != EAGAIN)
            rc = -errno;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

int queries_launcher(const struct launcher_name *who, struct slice question, struct buf *answer)
{
    return query(who, question, LIMIT_CONTROL_REPLY_MS, answer);
}

struct merge {
    struct json *json; /* NULL: the answers are text */
    int answers, patience_ms;
    struct buf out;
};

/* Texts are concatenated; JSON lists are merged into one list. */
static void add_answer(struct merge *m, struct slice answer)
{
    struct slice items = slice_trim(answer);

    if (slice_starts(answer, SLICE("error:")))
        return;
    m->answers++;
    if (!m->json) {
        buf_slice_put(&m->out, answer);
        return;
    }
    while (items.len && items.ptr[items.len - 1] == '\n')
        items.len--;
    if (items.len >= 2) /* the brackets */
        json_items(m->json, slice_mem(items.ptr + 1, items.len - 2));
}

/* A launcher that hangs is not waited for as long as one that takes stacks. */
static int query_patiently(const struct launcher_name *who, struct slice question, int patience_ms,
                           struct buf *answer)
{
    struct buf sign = BUF_NULL(QUERIES_ANSWER_MAX);
    int rc = 0;

    if (patience_ms > LIMIT_CONTROL_REPLY_MS)
        rc = query(who, SLICE("ps\n"), LIMIT_CONTROL_REPLY_MS, &sign);
    buf_free(&sign);
    return rc < 0 ? rc : query(who, question, patience_ms, answer);
}

static void queries_all(const struct log *log, struct slice question, struct merge *m)
{
    struct launcher_name *all;
    int n = rendezvous_list(&all);

    for (int i = 0; i < n; i++) {
        struct buf answer = BUF_NULL(QUERIES_ANSWER_MAX);
        int rc = query_patiently(&all[i], question, m->patience_ms, &answer);
        if (rc == 0)
            add_answer(m, buf_slice(&answer));
        else if (rc != -ECONNREFUSED)
            log_warn(log, "the launcher with pid %d does not answer: %s", (int)all[i].pid,
                     err_text(rc));
        buf_free(&answer);
    }
    free(all);
    if (n < 0)
        log_error(log, "cannot look for launchers: %s", err_text(n));
}

static void queries_all_json(const struct log *log, struct slice question, struct merge *m)
{
    struct json j;

    m->json = &j;
    json_init(&j, &m->out);
    json_array(&j, NULL);
    queries_all(log, question, m);
    json_array_end(&j);
    json_done(&j);
    buf_byte(&m->out, '\n');
}

/* Sends the request to all launchers and prints the answers. */
static int put_patiently(const struct command_line *l, const char *verb, bool json, bool stacks)
{
    struct merge m = { .patience_ms =
                           LIMIT_CONTROL_REPLY_MS + (stacks ? LIMIT_STACKS_MS + LIMIT_WHO_MS : 0),
                       .out = BUF_NULL(QUERIES_ANSWER_MAX) };
    struct buf question = BUF_NULL(4096);
    const char *job = l->operand;
    int code = 0;

    buf_printf(&question, "%s%s%s%s%s\n", verb, json ? " json" : "", stacks ? " stacks" : "",
               job ? " " : "", job ? job : "");
    if (json)
        queries_all_json(l->log, buf_slice(&question), &m);
    else
        queries_all(l->log, buf_slice(&question), &m);
    if ((buf_len(&m.out) &&
         fwrite(buf_slice(&m.out).ptr, 1, buf_len(&m.out), stdout) < buf_len(&m.out)) ||
        fflush(stdout) != 0)
        code = 1;
    if (m.answers == 0 && job) {
        log_error(l->log, "you have no running job %s on this machine", job);
        code = 1;
    } else if (m.answers == 0 && !json) {
        log_error(l->log, "you have no running jobs on this machine");
    }
    buf_free(&question);
    buf_free(&m.out);
    return code;
}

static int put_question(const struct command_line *l, const char *verb, bool json)
{
    return put_patiently(l, verb, json, false);
}

int queries_who(const struct command_line *l)
{
    if (l->operand && strchr(l->operand, '\n')) {
        log_error(l->log, "there is no job with this name");
        return 2;
    }
    return put_patiently(l, "who", l->choices[CHOICE_who_json] != NULL,
                         l->choices[CHOICE_who_stacks] != NULL);
}

int queries_names(const struct command_line *l)
{
    return put_question(l, "names", l->choices[CHOICE_names_json] != NULL);
}

int queries_tools(const struct command_line *l)
{
    return put_question(l, "tools", false);
}

int queries_ps(const struct command_line *l)
{
    return put_question(l, "ps", false);
}
