/* streams.c - see streams.h. */
#include "daemon/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster/msg.h"
#include "daemon/cluster_io.h"
#include "daemon/node_context.h"
#include "daemon/output.h"

static bool is_launcher(const struct streams *t)
{
    return t->cluster->router.config.me == 0;
}

static const struct node_context *context_of(const struct streams *t)
{
    return t->cluster->context;
}

/* ---- channels -------------------------------------------------------------------------------- */

static void on_data(void *arg, struct channel *c, struct slice bytes)
{
    struct streams *t = arg;
    struct msg m = channel_data_msg(c, bytes);

    cluster_io_send(t->cluster, &m, c->position);
}

static void on_credit(void *arg, struct channel *c, uint64_t count)
{
    struct streams *t = arg;
    struct msg m = channel_credit_msg(c, count);

    cluster_io_send(t->cluster, &m, c->position);
}

static void on_unread(void *arg, struct channel *c)
{
    struct streams *t = arg;
    struct msg m = channel_unread_msg(c);

    cluster_io_send(t->cluster, &m, c->position);
}

static void on_ended(void *arg, struct channel *c)
{
    struct streams *t = arg;

    (void)c;
    t->on_over(t->cluster);
}

static const struct channel_ops ops = { on_data, on_credit, on_unread, on_ended };

/* A launcher has positions for nodes that may join, and most never do. */
static struct stream_set *use_set(struct streams *t, uint32_t position)
{
    for (; t->used <= position; t->used++) {
        for (int i = 0; i < STREAM_KINDS; i++)
            t->sets[t->used].channels[i].fd = t->sets[t->used].sources[i].fd = -1;
    }
    return &t->sets[position];
}

static struct stream_set *set_of(struct streams *t, uint32_t position, uint64_t number)
{
    if (number >= STREAM_KINDS || position >= t->cluster->router.config.count)
        return NULL;
    return use_set(t, is_launcher(t) ? position : 0);
}

static void show_first(struct streams *t, uint32_t position, enum stream which, bool any);

static void take_data(struct streams *t, uint32_t from, const struct op_data *m)
{
    struct stream_set *set = set_of(t, from, m->channel);

    if (set && set->awaited[m->channel])
        show_first(t, from, (enum stream)m->channel, m->bytes.len > 0);
    if (set && !channel_data(&set->channels[m->channel], m->bytes))
        log_error(context_of(t)->log,
                  "the daemon at position %u sent more output than its window allows", from);
}

static void take_window_update(struct streams *t, uint32_t from, const struct op_window_update *m)
{
    struct stream_set *set = set_of(t, from, m->channel);

    if (set && !channel_credit(&set->channels[m->channel], m->count))
        log_error(context_of(t)->log,
                  "the daemon at position %u acknowledged output that was not sent", from);
}

static void take_unread(struct streams *t, uint32_t from, const struct op_unread *m)
{
    struct stream_set *set = set_of(t, from, m->channel);

    if (set)
        channel_unread(&set->channels[m->channel]);
}

void streams_receive(struct streams *t, const struct msg *m)
{
    if (m->kind == MSG_data)
        take_data(t, m->from, &m->u.data);
    else if (m->kind == MSG_window_update)
        take_window_update(t, m->from, &m->u.window_update);
    else if (m->kind == MSG_unread)
        take_unread(t, m->from, &m->u.unread);
}

/* ---- launcher -------------------------------------------------------------------------------- */

static void source_over(void *arg)
{
    struct streams *t = arg;

    t->on_over(t->cluster);
    turn_end(context_of(t)->turn);
}

/* The output of a daemon's processes comes from a pipe, like that of our own. */
static int open_output(struct streams *t, uint32_t position, enum stream which, struct sink *sink)
{
    struct stream_set *set = &t->sets[position];
    struct channel *c = &set->channels[which];
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    c->position = position;
    c->number = which;
    rc = source_open(&set->sources[which], sink, ends[0], NULL, source_over, t);
    if (rc < 0) {
        close(ends[0]);
        close(ends[1]);
        return rc;
    }
    set->sources[which].relays = true;
    return channel_open(c, context_of(t)->loop, ends[1], true, &ops, t);
}

static struct sink *sink_of(const struct streams *t, enum stream which)
{
    struct output *o = context_of(t)->output;

    return which == STREAM_OUT ? &o->out : output_err(o);
}

static void await(struct streams *t, uint32_t position, enum stream which, bool on)
{
    use_set(t, position)->awaited[which] = on;
    sink_expect(sink_of(t, which), on ? 1 : -1);
}

void streams_show(struct streams *t, uint32_t position)
{
    await(t, position, STREAM_OUT, true);
    await(t, position, STREAM_ERR, true);
}

/* The first bytes of a stream; or, if there are none, its EOF. */
static void show_first(struct streams *t, uint32_t position, enum stream which, bool any)
{
    int rc = any ? open_output(t, position, which, sink_of(t, which)) : 0;

    await(t, position, which, false);
    if (rc < 0)
        log_error(context_of(t)->log, "cannot show the output of node %s: %s",
                  t->cluster->names[position], err_text(rc));
    if (!any)
        t->on_over(t->cluster);
}

int streams_stdin(struct streams *t, uint32_t position)
{
    struct channel *c = &use_set(t, position)->channels[STREAM_IN];
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    c->position = position;
    c->number = STREAM_IN;
    rc = channel_open(c, context_of(t)->loop, ends[0], false, &ops, t);
    if (rc == 0)
        return ends[1];
    close(ends[1]);
    return rc;
}

void streams_cut(struct streams *t, uint32_t position)
{
    for (int i = 0; i < STREAM_KINDS && position < t->used; i++) {
        if (t->sets[position].awaited[i])
            show_first(t, position, (enum stream)i, false);
        channel_cut(&t->sets[position].channels[i]);
    }
}

/* ---- daemons --------------------------------------------------------------------------------- */

/* Our own output must not wait for us to read it. */
static int divert(int which, int *end_p)
{
    int ends[2], rc, ours = which == STREAM_IN ? 0 : 1;

    if (pipe2(ends, which == STREAM_IN ? O_CLOEXEC : O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    rc = dup2(ends[ours], which) < 0 ? -errno : 0;
    close(ends[ours]);
    *end_p = ends[1 - ours];
    return rc;
}

int streams_divert(int pipe_ends[STREAM_KINDS])
{
    int rc = 0;

    for (int i = 0; i < STREAM_KINDS && rc == 0; i++)
        rc = divert(i, &pipe_ends[i]);
    return rc;
}

void streams_flow(struct streams *t)
{
    for (int i = 0; i < STREAM_KINDS; i++) {
        struct channel *c = &t->sets[0].channels[i];
        if (t->pipe_ends[i] < 0)
            continue;
        c->position = 0;
        c->number = (uint32_t)i;
        channel_open(c, context_of(t)->loop, t->pipe_ends[i], i == STREAM_IN, &ops, t);
        t->pipe_ends[i] = -1;
    }
}

void streams_end(struct streams *t)
{
    for (int fd = 0; fd < STREAM_KINDS; fd++)
        dup2(context_of(t)->null_fd, fd);
    channel_close(&t->sets[0].channels[STREAM_IN]);
    channel_catch_up(&t->sets[0].channels[STREAM_OUT]);
    channel_catch_up(&t->sets[0].channels[STREAM_ERR]);
    t->on_over(t->cluster);
}

/* ---- both sides ----------------------------------------------------------------------------- */

bool streams_over(const struct streams *t)
{
    for (uint32_t p = 0; p < t->used; p++) {
        const struct stream_set *set = &t->sets[p];
        if (set->awaited[STREAM_OUT] || set->awaited[STREAM_ERR] ||
            set->channels[STREAM_OUT].fd >= 0 || set->channels[STREAM_ERR].fd >= 0 ||
            set->sources[STREAM_OUT].fd >= 0 || set->sources[STREAM_ERR].fd >= 0)
            return false;
    }
    return true;
}

int streams_open(struct streams *t, struct cluster_io *s, const int pipe_ends[STREAM_KINDS],
                 void (*on_over)(void *cluster))
{
    t->on_over = on_over;
    t->cluster = s;
    t->count = is_launcher(t) ? s->router.config.count : 1;
    t->sets = calloc(t->count, sizeof *t->sets);
    t->used = 0;
    for (int i = 0; i < STREAM_KINDS; i++)
        t->pipe_ends[i] = pipe_ends ? pipe_ends[i] : -1;
    if (!t->sets)
        return -ENOMEM;
    use_set(t, 0);
    return 0;
}

void streams_close(struct streams *t)
{
    if (!t->cluster)
        return;
    for (uint32_t p = 0; t->sets && p < t->used; p++) {
        for (int i = 0; i < STREAM_KINDS; i++) {
            source_close(&t->sets[p].sources[i]);
            channel_close(&t->sets[p].channels[i]);
        }
    }
    for (int i = 0; i < STREAM_KINDS; i++) {
        if (t->pipe_ends[i] >= 0)
            close(t->pipe_ends[i]);
    }
    free(t->sets);
    t->sets = NULL;
    t->cluster = NULL;
}
