/* dvm_takeover.c - see dvm_takeover.h. */
#include "launch/dvm_takeover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/local_job.h"
#include "io/rendezvous.h"
#include "io/secret.h"
#include "io/write_all.h"

enum { TAKEOVER_ARENA = 64 << 20, TAKEOVER_TEXT = 1 << 16 };

/* ---- the options ----------------------------------------------------------------------------- */

static int check(const struct launch_options *o, struct errmsg *err)
{
    if (o->keep_time && !o->keep && !o->takeover)
        return errmsg_set(err, LAUNCH_USAGE, "-keep-time belongs to -keep");
    if (!o->takeover)
        return 0;
    if (o->keep || o->dvm_name || o->join_token_file)
        return errmsg_set(err, LAUNCH_USAGE,
                          "-takeover FILE says it all: it goes without -keep, -name and "
                          "-join-token-file");
    if (o->hosts.count)
        return errmsg_set(
            err, LAUNCH_USAGE,
            "-takeover goes without -hosts: the nodes come by themselves, and `wireup "
            "grow` adds others");
    return 0;
}

/* What the lost launcher was told counts, unless we are told otherwise. */
static void complete(struct dvm_takeover *t, struct launch_options *o)
{
    o->keep = o->takeover;
    o->dvm_name = t->lost.name;
    o->join_only = true;
    if (!o->keep_time)
        o->keep_time = t->lost.time_s;
    if (!dvm_limits_any(&o->limits))
        o->limits = t->lost.limits;
    if (!o->join_file)
        o->join_file = t->lost.join;
    if (!o->join_port && !o->join_file)
        o->join_port = t->lost.port;
}

int dvm_takeover_prepare(struct dvm_takeover *t, struct launch_options *o, struct errmsg *err)
{
    int rc = check(o, err);

    t->options = o;
    t->fd = -1;
    arena_init(&t->arena, TAKEOVER_ARENA);
    if (rc || (!o->keep && !o->takeover))
        return rc;
    if (o->takeover) {
        t->token = secret_new(DVM_KEEP_TOKEN);
        t->fd = t->token ? dvm_keep_take(o->takeover, &t->lost, &t->arena, t->token, err)
                         : errmsg_set(err, -ENOMEM, "out of memory");
        if (t->fd >= 0)
            complete(t, o);
    } else {
        t->fd = dvm_keep_make(o->keep, err);
    }
    if (!o->keep_time)
        o->keep_time = LIMIT_KEEP_S;
    return t->fd < 0 ? LAUNCH_REFUSED : 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool is_here(const struct remote *f, uint32_t p)
{
    return f->names[p] && router_reaches(&f->cluster.router, p);
}

static bool has_come(const struct dvm_takeover *t, const char *name)
{
    for (uint32_t p = 1; p < t->remote->boot.count && t->remote->names[p]; p++) {
        if (is_here(t->remote, p) && !strcmp(t->remote->names[p], name))
            return true;
    }
    return false;
}

uint32_t dvm_takeover_here(const struct dvm_takeover *t)
{
    uint32_t n = 0;

    for (uint32_t p = 1; p < t->remote->boot.count && t->remote->names[p]; p++)
        n += is_here(t->remote, p);
    return n;
}

void dvm_takeover_missing(const struct dvm_takeover *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->lost.nnodes; i++) {
        if (!has_come(t, t->lost.nodes[i].name))
            buf_printf(out, "%s%s", buf_len(out) ? ", " : "", t->lost.nodes[i].name);
    }
}

uint32_t dvm_takeover_slots(const struct dvm_takeover *t, const char *name)
{
    const struct remote *f = t->remote;

    for (uint32_t p = 1; t->fd >= 0 && p < f->boot.count && f->names[p]; p++) {
        if (!strcmp(f->names[p], name))
            return f->slots[p];
    }
    for (uint32_t i = 0; i < t->lost.nnodes; i++) {
        if (!strcmp(t->lost.nodes[i].name, name))
            return t->lost.nodes[i].slots;
    }
    return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Where daemons call us: the port is the same at each of our addresses. */
static uint32_t own_port(struct remote *f)
{
    struct buf text = BUF_NULL(TAKEOVER_TEXT);
    struct errmsg err;
    const char *at = NULL;
    struct slice first;
    uint32_t port = 0;

    if (router_io_addresses(&f->cluster.router_io, &text, &err) == 0 && buf_ok(&text)) {
        struct slice rest = buf_slice(&text);
        first = slice_cut(&rest, ' ');
        at = memrchr(first.ptr, ':', first.len);
    }
    if (at)
        slice_u32(slice_skip(first, (size_t)(at - first.ptr) + 1), &port);
    buf_free(&text);
    return port;
}

/* Those that are here; while others are awaited, these too. */
static void list_nodes(const struct dvm_takeover *t, struct dvm_keep *k)
{
    const struct remote *f = t->remote;

    for (uint32_t p = 1; p < f->boot.count && f->names[p]; p++) {
        if (is_here(f, p))
            k->nodes[k->nnodes++] = (struct dvm_keep_node){ f->names[p], f->slots[p] };
    }
    for (uint32_t i = 0; !t->over && i < t->lost.nnodes; i++) {
        if (!has_come(t, t->lost.nodes[i].name))
            k->nodes[k->nnodes++] = t->lost.nodes[i];
    }
}

/* They are the launcher's own: those of launchers of jobs are not here.  -ENOMEM: not all are
 * listed. */
static int list_jobs(const struct dvm_takeover *t, struct dvm_keep *k)
{
    const struct list *all = &t->remote->cluster.jobs->all;
    uint32_t room = 1;

    LIST_EACH(l, all)
    room++;
    k->jobs = calloc(room, sizeof *k->jobs);
    if (!k->jobs)
        return -ENOMEM;
    LIST_EACH(l, all)
    {
        const struct job *j = LIST_OF(l, struct local_job, link)->job;
        if (!j->is_tool && !j->is_foreign && j->phase != JOB_ENDED)
            k->jobs[k->njobs++] = j->nspace;
    }
    return 0;
}

static int save(struct dvm_takeover *t)
{
    const struct launch_options *o = t->options;
    struct remote *f = t->remote;
    struct dvm_keep k = { .name = t->name,
                          .host = f->host,
                          .pid = (uint32_t)getpid(),
                          .token = f->boot.token,
                          .time_s = o->keep_time,
                          .port = own_port(f),
                          .join = o->join_file,
                          .limits = o->limits };
    int rc = k.port ? 0 : -EADDRNOTAVAIL;

    k.nodes = calloc((size_t)f->boot.nnodes + t->lost.nnodes + 1, sizeof *k.nodes);
    if (!k.nodes)
        return -ENOMEM;
    list_nodes(t, &k);
    if (rc == 0)
        rc = list_jobs(t, &k);
    if (rc == 0)
        rc = dvm_keep_save(t->fd, &k);
    free(k.jobs);
    free(k.nodes);
    return rc;
}

void dvm_takeover_renew(struct dvm_takeover *t)
{
    const struct remote *f = t->remote;
    uint32_t serving = f ? f->cluster.daemons.in[DAEMON_STATE_SERVING] : 0;
    uint32_t gone = f ? f->cluster.daemons.in[DAEMON_STATE_LOST] : 0;
    int rc;

    if (!f || !t->up || t->fd < 0 || (serving == t->serving && gone == t->gone))
        return;
    t->serving = serving;
    t->gone = gone;
    rc = save(t);
    if (rc < 0)
        log_error(&f->log, "cannot write %s: %s; the DVM cannot be taken over", t->options->keep,
                  err_text(rc));
}

/* ---- the life of a DVM ----------------------------------------------------------------------- */

static void finish(void *arg)
{
    struct dvm_takeover *t = arg;

    if (t->over)
        return;
    t->over = true;
    timer_stop(&t->patience);
    t->serving = UINT32_MAX;
    dvm_takeover_renew(t);
    t->done(t->arg);
}

static bool all_here(const struct dvm_takeover *t)
{
    for (uint32_t i = 0; i < t->lost.nnodes; i++) {
        if (!has_come(t, t->lost.nodes[i].name))
            return false;
    }
    return true;
}

void dvm_takeover_changed(struct dvm_takeover *t)
{
    if (!t->remote || !t->up)
        return;
    dvm_takeover_renew(t);
    if (!t->over && all_here(t))
        finish(t);
}

void dvm_takeover_jobs(struct dvm_takeover *t)
{
    t->serving = UINT32_MAX;
    dvm_takeover_renew(t);
}

void dvm_takeover_ended(const struct dvm_takeover *t, struct buf *out)
{
    for (uint32_t i = 0; i < t->lost.njobs; i++)
        buf_printf(out, "%s%s", buf_len(out) ? ", " : "", t->lost.jobs[i]);
}

void dvm_takeover_up(struct dvm_takeover *t)
{
    t->up = true;
    t->serving = UINT32_MAX;
    timer_set(&t->patience, LIMIT_TAKEOVER_MS);
    dvm_takeover_changed(t);
}

void dvm_takeover_open(struct dvm_takeover *t, struct remote *f, const char *name,
                       void (*done)(void *arg), void *arg)
{
    t->remote = f;
    t->name = name;
    t->done = done;
    t->arg = arg;
    timer_init(&t->patience, node_loop(f->node), finish, t);
}

void dvm_takeover_close(struct dvm_takeover *t)
{
    if (t->remote)
        timer_stop(&t->patience);
    if (t->remote && t->up && t->fd >= 0)
        unlink(t->options->keep);
    if (t->options && t->fd >= 0)
        close(t->fd);
    t->token = secret_free(t->token, DVM_KEEP_TOKEN);
    arena_free(&t->arena);
    t->remote = NULL;
    t->options = NULL;
    t->fd = -1;
}

/* ---- launchers of jobs ----------------------------------------------------------------------- */

static void notify(const struct launcher_name *who, struct slice line)
{
    int fd = rendezvous_connect(who);

    if (fd < 0)
        return;
    write_all_slice(fd, line); /* short: it has room, or the other end does not read */
    close(fd);
}

void dvm_takeover_announce(const struct dvm_takeover *t)
{
    struct launcher_name *all = NULL;
    int n = rendezvous_list(&all);
    struct buf line = BUF_NULL(TAKEOVER_TEXT);

    buf_printf(&line, "successor %d %s\n", (int)getpid(), t->name);
    for (int i = 0; i < n && buf_ok(&line); i++)
        notify(&all[i], buf_slice(&line));
    buf_free(&line);
    free(all);
}
