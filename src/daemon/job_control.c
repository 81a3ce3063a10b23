/* job_control.c - see job_control.h. */
#include "daemon/job_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/random.h>
#include <time.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/effect.h"
#include "core/input.h"
#include "cluster/msg.h"
#include "cluster/send_queue.h"
#include "io/cleanup_effect.h"
#include "io/journal.h"
#include "io/munge.h"
#include "io/secret.h"
#include "io/token.h"
#include "daemon/cluster_io.h"
#include "daemon/log_format.h"

/* Of credentials (PMIX_CRED_TYPE). */
#define KIND_MUNGE "munge"
#define KIND_OWN   "wireup"

/* Warn once: every rank would report the same. */
static void warn_of_cleanup(struct job_control *c, const char *what, struct slice name,
                            const char *why)
{
    if (!c->cleanup_warned)
        log_warn(c->config.log, "cannot remove %s" SLICE_FMT ": %s", what, SLICE_ARG(name), why);
    c->cleanup_warned = true;
}

static void clear_segment(struct job_control *c, const struct op_cleanup *e)
{
    int rc = proc_root_shares_ipc(&c->roots, e->job, e->owner) ? cleanup_segment(e->path, geteuid())
                                                               : -ENOENT;

    if (rc < 0 && rc != -ENOENT)
        warn_of_cleanup(c, "the shared memory segment ", e->path,
                        rc == -EPERM ? "it belongs to another user" : err_text(rc));
}

static void clear_up(struct job_control *c, const struct op_cleanup *e)
{
    struct cleanup_order o = cleanup_of(e);
    int rc;

    if (e->flags & CLEANUP_SEGMENT) {
        clear_segment(c, e);
        return;
    }
    if (!proc_root_find(&c->roots, e->job, e->owner, &o.root))
        return; /* the root of the path is unknown */
    rc = cleanup_run(&o);
    if (rc < 0 && rc != -ENOENT)
        warn_of_cleanup(c, "", o.path,
                        rc == -ELOOP || rc == -ENOTDIR
                            ? "it is not a directory, or a symbolic link leads to it"
                            : err_text(rc));
}

/* ---- what outlives us ------------------------------------------------------------------------ */

/* Who removes it then knows no other roots, and other numbers of segments neither. */
static void keep_leftover(void *control, const struct op_cleanup *e)
{
    struct job_control *c = control;
    struct cleanup_order o = cleanup_of(e);
    bool segment = e->flags & CLEANUP_SEGMENT;

    if (!proc_root_find(&c->roots, e->job, e->owner, &o.root) || o.root != 0)
        return;
    if (!segment || proc_root_shares_ipc(&c->roots, e->job, e->owner))
        leftovers_add(c->config.leftovers, &o, segment);
}

/* While effects wait, the core does not know any more what they are to remove: a list that were
 * written then would lose it if we were killed meanwhile. */
void job_control_drained(struct job_control *c)
{
    if (!c->list_is_old || !c->config.leftovers)
        return;
    c->list_is_old = false;
    leftovers_begin(c->config.leftovers);
    LIST_EACH(l, &c->config.server->core.jobs)
    control_each_cleanup(LIST_OF(l, const struct job, link), keep_leftover, c);
    leftovers_end(c->config.leftovers);
}

/* Warn once; programs then create their own files where they like. */
static void make_session_dir(struct job_control *c, const struct op_session_dir *e)
{
    struct session_dir *d = c->config.sessions;
    int rc =
        d ? session_dir_make(d, e->job, e->rank == JOB_NO_RANK ? SESSION_DIR_JOB : e->rank) : 0;

    if (rc == 0 || c->session_dir_warned)
        return;
    c->session_dir_warned = true;
    log_warn(c->config.log, "cannot make the session directory %s: %s", d->path, err_text(rc));
}

/* ---- logs ------------------------------------------------------------------------------------ */

static bool is_for_people(struct slice channel)
{
    return slice_is(channel, "stdout") || slice_is(channel, "stderr");
}

/* Tags and XML are for a stream that several share; the syslog has names of its own. */
static void format_log(const struct job_control *c, const struct op_log *e, struct buf *text)
{
    const struct job *j = core_job(&c->config.server->core, e->job);
    struct log_format f = { .format = e->format,
                            .time_s = e->time_s ? e->time_s : (int64_t)time(NULL),
                            .channel = e->channel,
                            .nspace = j ? j->nspace : "",
                            .rank = e->rank };

    if (!is_for_people(e->channel))
        f.format &= CONTROL_LOG_TIME;
    log_format_write(&f, e->text, text);
}

/* The global one is that of the launcher's node. */
static void write_syslog(const struct job_control *c, const struct op_log *e, struct slice text)
{
    struct cluster_io *cluster = c->config.context->cluster;
    struct msg m = MSG_WITH(log, .job = e->job, .rank = e->rank, .priority = e->priority,
                            .channel = e->channel, .text = text);

    if (cluster && c->config.server->core.position != 0 && slice_is(e->channel, "global syslog"))
        send_queue_to(&cluster->dispatch.queue, &m, 0);
    else
        journal_write(e->priority, text);
}

static void write_log(struct job_control *c, const struct op_log *e)
{
    struct buf text = BUF_NULL(LIMIT_LOGGED);
    struct slice shown;

    format_log(c, e, &text);
    shown = buf_ok(&text) ? buf_slice(&text) : e->text; /* as it is, rather than not at all */
    if (slice_is(e->channel, "stdout"))
        sink_print(&c->config.output->out, shown);
    else if (slice_is(e->channel, "stderr"))
        sink_print(output_err(c->config.output), shown);
    else
        write_syslog(c, e, shown);
    buf_free(&text);
}

/* ---- credentials ----------------------------------------------------------------------------- */

/* Of these kinds, separated by commas; none are named: any will do. */
static bool is_wanted(struct slice kinds, const char *kind)
{
    bool wanted = kinds.len == 0;

    while (!wanted && kinds.len)
        wanted = slice_is(slice_trim(slice_cut(&kinds, ',')), kind);
    return wanted;
}

/* All daemons of the job have the same; one that is alone makes one when it is needed.  NULL: no
 * memory for it, or no random numbers. */
static const unsigned char *master_key(struct job_control *c)
{
    const struct cluster_io *cluster = c->config.context->cluster;

    if (cluster)
        return cluster->router_io.config.key;
    if (!c->own_key)
        c->own_key = secret_new(TOKEN_KEY);
    if (c->own_key && !c->has_key)
        c->has_key = getrandom(c->own_key, TOKEN_KEY, 0) == TOKEN_KEY;
    return c->has_key ? c->own_key : NULL;
}

static bool load_key(struct job_control *c, unsigned char key[TOKEN_KEY])
{
    const unsigned char *master = master_key(c);

    if (master)
        token_key(master, key);
    return master != NULL;
}

/* The requester has the user and group of this process: others may not ask (server/rights.h). */
static void make_token(struct job_control *c, const struct op_credential *e)
{
    const struct core *core = &c->config.server->core;
    struct answer a = { .status = ANSWER_NO_MEMORY };
    const struct job *j = core_job(core, e->job);
    struct token t = { .uid = core->uid,
                       .gid = core->gid,
                       .rank = e->rank,
                       .expires_s = (uint64_t)time(NULL) + LIMIT_TOKEN_S };
    struct buf text = BUF_NULL(LIMIT_CREDENTIAL);
    unsigned char key[TOKEN_KEY];

    if (j && load_key(c, key)) {
        strncpy(t.nspace, j->nspace, TOKEN_NSPACE);
        token_write(key, &t, &text);
        if (buf_ok(&text))
            a = ANSWER_TO(credential, ANSWER_OK, .kind = SLICE(KIND_OWN),
                          .credential = buf_slice(&text));
        explicit_bzero(key, sizeof key);
    }
    server_answer(c->config.server, e->ticket, &a);
    buf_free(&text);
}

/* False: munge does not run here. */
static bool make_munge(struct job_control *c, const struct op_credential *e)
{
    char *text = NULL;
    struct answer a;

    if (munge_make(&text, NULL) != 0)
        return false;
    a = ANSWER_TO(credential, ANSWER_OK, .kind = SLICE(KIND_MUNGE), .credential = slice_str(text));
    server_answer(c->config.server, e->ticket, &a);
    free(text);
    return true;
}

/* The site's own kind first: it is good outside the job, too. */
static void make_credential(struct job_control *c, const struct op_credential *e)
{
    if (is_wanted(e->kinds, KIND_MUNGE) && make_munge(c, e))
        return;
    if (is_wanted(e->kinds, KIND_OWN))
        make_token(c, e);
    else
        server_answer(c->config.server, e->ticket, &(struct answer){ .status = ANSWER_NOT_FOUND });
}

/* As munge_check(). */
static int check_token(struct job_control *c, const struct op_credential *e, uid_t *uid_p,
                       gid_t *gid_p)
{
    const struct job *j = core_job(&c->config.server->core, e->job);
    unsigned char key[TOKEN_KEY];
    struct token t;
    int rc;

    if (!j || !load_key(c, key))
        return -ENOMEM;
    rc = token_read(key, j->nspace, (uint64_t)time(NULL), e->credential, &t);
    explicit_bzero(key, sizeof key);
    if (rc)
        return -EACCES;
    *uid_p = t.uid;
    *gid_p = t.gid;
    return 0;
}

static void check_credential(struct job_control *c, const struct op_credential *e)
{
    bool own = token_is_one(e->credential);
    const char *kind = own ? KIND_OWN : KIND_MUNGE;
    struct answer a = { .status = ANSWER_OK };
    uint32_t ids[2];
    uid_t uid;
    gid_t gid;
    int rc = -EACCES;

    if (is_wanted(e->kinds, kind))
        rc = own ? check_token(c, e, &uid, &gid) : munge_check(e->credential, &uid, &gid);
    if (rc == 0) {
        ids[0] = uid;
        ids[1] = gid;
        a = ANSWER_TO(credential, ANSWER_OK, .kind = slice_str(kind),
                      .credential = slice_mem(ids, sizeof ids));
    } else {
        a.status = rc == -ENOTSUP ? ANSWER_NOT_FOUND : ANSWER_FAILED;
    }
    server_answer(c->config.server, e->ticket, &a);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void deliver_seen(const struct job_control *c, const struct file_seen *f)
{
    server_deliver(c->config.server,
                   INPUT(file_seen, .monitor = f->number, .found = f->found, .size = f->size,
                         .accessed_ns = f->accessed_ns, .modified_ns = f->modified_ns));
}

static void on_file_seen(void *arg, const struct file_seen *f)
{
    struct job_control *c = arg;

    deliver_seen(c, f);
    turn_end(c->config.context->turn);
}

/* This process has the rights of the user whose processes may ask, and no others. */
static void look_at_file(struct job_control *c, const struct op_file_look *e)
{
    int root;

    if (!proc_root_find(&c->roots, e->job, e->rank, &root) ||
        file_looker_ask(&c->looker, e->monitor, root, e->path) < 0)
        deliver_seen(c, &(struct file_seen){ .number = e->monitor });
}

void job_control_open(struct job_control *c, const struct job_control_config *config,
                      const struct peer_conns *conns)
{
    *c = (struct job_control){ .config = *config };
    proc_roots_open(&c->roots, &config->server->core, conns);
    file_looker_open(&c->looker, config->context->loop, on_file_seen, c);
}

void job_control_close(struct job_control *c)
{
    file_looker_close(&c->looker);
    c->own_key = secret_free(c->own_key, TOKEN_KEY);
    proc_roots_close(&c->roots);
}

void job_control_carry_out(struct job_control *c, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_proc_root:
        proc_root_note(&c->roots, e->u.proc_root.job, e->u.proc_root.rank);
        c->list_is_old = true;
        break;
    case EFFECT_cleanup:
        clear_up(c, &e->u.cleanup);
        c->list_is_old = true;
        break;
    case EFFECT_session_dir: make_session_dir(c, &e->u.session_dir); break;
    case EFFECT_log: write_log(c, &e->u.log); break;
    case EFFECT_credential:
        if (e->u.credential.validate)
            check_credential(c, &e->u.credential);
        else
            make_credential(c, &e->u.credential);
        break;
    case EFFECT_file_look: look_at_file(c, &e->u.file_look); break;
    default: break;
    }
}
