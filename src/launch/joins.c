/* joins.c - see joins.h. */
#include "launch/joins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/bootstrap.h"
#include "io/create.h"
#include "io/deadline.h"
#include "io/join_token.h"
#include "io/secret.h"
#include "io/write_all.h"
#include "launch/second_job_words.h"

enum { JOINS_TEXT = 1 << 16 };

/* A node from its link on, until it is up or has had its time. */
struct joins_node {
    struct list list;
    struct joins *of;
    struct daemon_link *link; /* NULL: it has ended it */
    struct join_request request;
    bool asks;         /* the request has come, and is not answered */
    uint32_t position; /* 0: none yet */
    struct deadline patience;
};

/* ---- answers --------------------------------------------------------------------------------- */

static void joins_node_free(struct joins_node *n)
{
    deadline_stop(&n->patience);
    list_unlink(&n->list);
    if (n->link)
        daemon_link_drop(n->link);
    free(n);
}

static void refuse(struct joins_node *n, const char *why)
{
    struct buf text = BUF_NULL(ERRMSG_MAX + 100);
    struct slice bytes;

    bootstrap_answer_write(&text, BOOTSTRAP_TROUBLE, BOOTSTRAP_BY_NAME, why);
    bytes = buf_slice(&text);
    n->asks = false;
    if (daemon_link_send(n->link, &bytes, 1) == 0)
        daemon_link_end(n->link); /* on_down frees it */
    buf_free(&text);
}

static void too_late(void *arg)
{
    struct joins_node *n = arg;

    if (n->position)
        n->of->config.failed(n->of->config.arg, n->position,
                             SLICE("it has joined, and its daemon has not linked in time"));
    joins_node_free(n);
}

/* It is told where it belongs; that it is up is told by its daemon. */
static void send_record(struct joins_node *n)
{
    struct buf record = BUF_NULL(LIMIT_BOOTSTRAP_RECORD);
    struct slice bytes;
    int rc;

    record.secret = true;
    rc = remote_record(n->of->config.remote, n->position, &record);
    bytes = buf_slice(&record);
    if (rc == 0)
        rc = daemon_link_send(n->link, &bytes, 1);
    buf_free(&record);
    if (deadline_set(&n->patience, rc < 0 ? 0 : LIMIT_AGENT_UP_MS) < 0)
        too_late(n);
}

static void answer(struct joins_node *n)
{
    struct errmsg err = { "out of memory" };
    int rc = n->of->config.place(n->of->config.arg, &n->request, &n->position, &err);

    if (rc == JOINS_LATER)
        return;
    n->asks = false;
    if (rc)
        refuse(n, err.text);
    else
        send_record(n);
}

static void answer_all(struct joins *j)
{
    LIST_EACH(l, &j->all)
    {
        struct joins_node *n = LIST_OF(l, struct joins_node, list);
        if (n->asks && n->link)
            answer(n);
    }
}

/* An answer may change what the others get. */
void joins_go(struct joins *j)
{
    j->again = true;
    if (!j->open || j->going)
        return;
    j->going = true;
    while (j->again) {
        j->again = false;
        answer_all(j);
    }
    j->going = false;
}

/* ---- links ----------------------------------------------------------------------------------- */

static struct joins_node *node_of(struct joins *j, const struct daemon_link *h)
{
    LIST_EACH(l, &j->all)
    {
        struct joins_node *n = LIST_OF(l, struct joins_node, list);
        if (n->link == h)
            return n;
    }
    return NULL;
}

static void on_up(void *arg, struct daemon_link *h)
{
    struct joins *j = arg;
    struct joins_node *n = calloc(1, sizeof *n);

    if (!n) {
        daemon_link_drop(h);
        return;
    }
    n->of = j;
    n->link = h;
    deadline_init(&n->patience, node_loop(j->config.remote->node), too_late, n);
    list_append(&j->all, &n->list);
}

static void on_message(void *arg, struct daemon_link *h, struct slice message)
{
    struct joins_node *n = node_of(arg, h);

    if (!n || n->asks || n->position)
        return;
    n->asks = join_request_read(message, &n->request);
    if (n->asks)
        answer(n);
    else
        refuse(n, "this launcher does not understand how the node asks; install the same Wireup on "
                  "both");
}

static void on_down(void *arg, struct daemon_link *h, enum daemon_link_down how,
                    const struct errmsg *why)
{
    struct joins_node *n = node_of(arg, h);

    if (!n)
        return;
    n->link = NULL;
    if (how == DAEMON_LINK_DOWN_BYE && n->position)
        return; /* it has its record */
    if (n->position)
        n->of->config.failed(n->of->config.arg, n->position, slice_str(why->text));
    joins_node_free(n);
}

/* ---- opening --------------------------------------------------------------------------------- */

bool joins_wanted(const struct launch_options *o)
{
    return o->join_port || o->join_token_file || o->join_file || o->keep || o->takeover;
}

bool joins_possible(const struct launch_options *o, const struct job_map *plan)
{
    return second_job_known(o->rm) && plan->nnodes <= o->tree_width;
}

void joins_take_variable(struct joins *j)
{
    j->key = secret_new(JOIN_TOKEN_KEY);
    j->no_variable = j->key ? join_token_read(NULL, j->key, &j->why)
                            : errmsg_set(&j->why, -ENOMEM, "out of memory");
}

void joins_expect(struct launch_options *o, struct job_map *plan)
{
    o->tree_width = 0;
    if (o->collective == OVERLAY_AUTO)
        o->collective = OVERLAY_TREE;
    if (o->join_only)
        plan->nnodes = 0;
}

static int make_token(struct joins *j, struct errmsg *err)
{
    if (getrandom(j->key, JOIN_TOKEN_KEY, 0) == JOIN_TOKEN_KEY)
        return 0;
    return errmsg_set(err, -EIO, "cannot make a token: %s", err_text(errno));
}

int joins_find_token(struct joins *j, const struct launch_options *o, const unsigned char *kept,
                     bool made, struct errmsg *err)
{
    const char *file = o->join_token_file;
    int rc;

    if (!j->key || (!file && !kept && j->no_variable && !(made && j->no_variable == -ENOENT))) {
        *err = j->why;
        return j->no_variable;
    }
    if (kept) {
        memcpy(j->key, kept, JOIN_TOKEN_KEY);
        return 0;
    }
    if (!file)
        return j->no_variable ? make_token(j, err) : 0;
    rc = join_token_make(file, err);
    return rc < 0 ? rc : join_token_read(file, j->key, err);
}

int joins_addresses(const struct joins *j, struct buf *out, struct errmsg *err)
{
    int rc = router_io_addresses(&j->config.remote->cluster.router_io, out, err);

    return rc == 0 && !buf_ok(out) ? errmsg_set(err, -ENOMEM, "out of memory") : rc;
}

static int write_file(struct joins *j, const char *path, struct errmsg *err)
{
    struct buf text = BUF_NULL(JOINS_TEXT);
    int rc = joins_addresses(j, &text, err), fd;

    buf_byte(&text, '\n');
    fd = rc == 0 ? create_named(path, 0600, err) : rc;
    rc = fd < 0 ? fd : write_all_slice(fd, buf_slice(&text));
    if (fd >= 0)
        j->file = path;
    if (fd >= 0 && rc < 0)
        errmsg_set(err, rc, "cannot write the addresses to %.300s: %s", path, err_text(rc));
    if (fd >= 0)
        close(fd);
    buf_free(&text);
    return rc;
}

int joins_open(struct joins *j, const struct joins_config *config, struct errmsg *err)
{
    const struct launch_options *o = config->remote->opt;
    const struct daemon_link_calls calls = { on_up, on_message, on_down, NULL };

    j->config = *config;
    list_init(&j->all);
    j->open = true;
    daemon_link_admit(config->remote->cluster.router_io.net, j->key, &calls, j);
    return o->join_file ? write_file(j, o->join_file, err) : 0;
}

int joins_open_late(struct joins *j, const struct joins_config *config, struct errmsg *err)
{
    int rc = j->open ? 0 : joins_find_token(j, config->remote->opt, NULL, true, err);

    return j->open || rc < 0 ? rc : joins_open(j, config, err);
}

void joins_close(struct joins *j)
{
    if (j->open) {
        LIST_EACH(l, &j->all)
        joins_node_free(LIST_OF(l, struct joins_node, list));
        if (j->file)
            unlink(j->file);
    }
    j->open = false;
    j->key = secret_free(j->key, JOIN_TOKEN_KEY);
}
