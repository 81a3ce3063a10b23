/* job_control.c - see job_control.h. */
#include "daemon/job_control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/control.h"
#include "core/effect.h"
#include "core/input.h"
#include "io/cleanup_effect.h"
#include "io/journal.h"
#include "io/munge.h"

static void clear_up(struct job_control *c, const struct op_cleanup *e)
{
    struct cleanup_order o = cleanup_of(e);
    int rc;

    if (!proc_root_find(&c->roots, e->job, e->owner, &o.root))
        return; /* the root of the path is unknown */
    rc = cleanup_run(&o);
    /* Warn once: every rank would report the same symbolic link in TMPDIR. */
    if (rc < 0 && rc != -ENOENT && !c->cleanup_warned) {
        c->cleanup_warned = true;
        log_warn(c->config.log, "cannot remove " SLICE_FMT ": %s", SLICE_ARG(o.path),
                 rc == -ELOOP || rc == -ENOTDIR
                     ? "it is not a directory, or a symbolic link leads to it"
                     : err_text(rc));
    }
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

static void write_log(struct job_control *c, const struct op_log *e)
{
    if (slice_is(e->channel, "stdout"))
        sink_print(&c->config.output->out, e->text);
    else if (slice_is(e->channel, "stderr"))
        sink_print(output_err(c->config.output), e->text);
    else
        journal_write(e->priority, e->text);
}

static void make_credential(struct job_control *c, uint64_t ticket)
{
    struct answer a = { .status = ANSWER_NOT_FOUND };
    char *text = NULL;

    if (munge_make(&text, NULL) == 0)
        a = ANSWER_TO(credential, ANSWER_OK, .credential = slice_str(text));
    server_answer(c->config.server, ticket, &a);
    free(text);
}

static void check_credential(struct job_control *c, const struct op_credential *e)
{
    struct answer a = { .status = ANSWER_OK };
    uint32_t ids[2];
    uid_t uid;
    gid_t gid;
    int rc = munge_check(e->credential, &uid, &gid);

    if (rc == 0) {
        ids[0] = uid;
        ids[1] = gid;
        a = ANSWER_TO(credential, ANSWER_OK, .credential = slice_mem(ids, sizeof ids));
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
    turn_end(c->config.turn);
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
    file_looker_open(&c->looker, config->loop, on_file_seen, c);
}

void job_control_close(struct job_control *c)
{
    file_looker_close(&c->looker);
    proc_roots_close(&c->roots);
}

void job_control_carry_out(struct job_control *c, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_proc_root:
        proc_root_note(&c->roots, e->u.proc_root.job, e->u.proc_root.rank);
        break;
    case EFFECT_cleanup: clear_up(c, &e->u.cleanup); break;
    case EFFECT_session_dir: make_session_dir(c, &e->u.session_dir); break;
    case EFFECT_log: write_log(c, &e->u.log); break;
    case EFFECT_credential:
        if (e->u.credential.validate)
            check_credential(c, &e->u.credential);
        else
            make_credential(c, e->u.credential.ticket);
        break;
    case EFFECT_file_look: look_at_file(c, &e->u.file_look); break;
    default: break;
    }
}
