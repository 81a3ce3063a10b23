/* job_control.c - see job_control.h. */
#include "wireupd/job_control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/control.h"
#include "io/journal.h"
#include "io/munge.h"
#include "io/cleanup.h"
#include "wireupd/node_priv.h"
#include "wireupd/proc_root.h"
#include "wireupd/multinode.h"
#include "wireupd/signals.h"

static void send_signal(struct node *n, const struct effect *e)
{
    int sig = (int)e->number;
    struct job *job = core_job(&n->server.core, e->job);

    if (!job)
        return;
    signals_meant(n, job, e->rank == JOB_NO_RANK ? -1 : (int64_t)e->rank, sig);
    if (n->multinode)
        multinode_signal(n->multinode, job, e->rank, sig, e->code != 0);
}

static void clear_up(struct node *n, const struct effect *e)
{
    struct cleanup_order o = cleanup_of(e);
    int rc;

    if (!proc_root_find(n, e->job, (uint32_t)e->code, &o.root))
        return; /* the root of the path is unknown */
    rc = sweep(&o);
    /* Warn once: every rank would report the same symbolic link in TMPDIR. */
    if (rc < 0 && rc != -ENOENT && !n->cleanup_told) {
        n->cleanup_told = true;
        log_warn(&n->config.log, "cannot clear up " SLICE_FMT ": %s", SLICE_ARG(o.path),
                 rc == -ELOOP || rc == -ENOTDIR
                     ? "it is no directory, or a symbolic link leads to it"
                     : err_text(rc));
    }
}

/* Warn once; programs then create their own files where they like. */
static void make_place(struct node *n, const struct effect *e)
{
    struct session_dir *d = n->config.sessions;
    int rc =
        d ? session_dir_make(d, e->job, e->rank == JOB_NO_RANK ? SESSION_DIR_JOB : e->rank) : 0;

    if (rc == 0 || n->place_told)
        return;
    n->place_told = true;
    log_warn(&n->config.log, "cannot make the session directory %s: %s", d->path, err_text(rc));
}

static void write_log(struct node *n, const struct effect *e)
{
    struct slice channel = effect_key(e), text = effect_value(e);

    if (slice_is(channel, "stdout"))
        sink_say(&n->out, text);
    else if (slice_is(channel, "stderr"))
        sink_say(n->one_stream ? &n->out : &n->err, text);
    else
        journal_write((int)e->number, text);
}

static void make_credential(struct node *n, const struct effect *e)
{
    struct answer a = { .status = ANSWER_NOT_FOUND };
    char *text = NULL;

    if (munge_make(&text) == 0)
        a = (struct answer){ .status = ANSWER_OK, .value = slice_str(text) };
    server_answer(&n->server, e->ticket, &a);
    free(text);
}

static void check_credential(struct node *n, const struct effect *e)
{
    struct answer a = { .status = ANSWER_OK };
    uint32_t ids[2];
    uid_t uid;
    gid_t gid;
    int rc = munge_check(effect_value(e), &uid, &gid);

    if (rc == 0) {
        ids[0] = uid;
        ids[1] = gid;
        a.value = slice_mem(ids, sizeof ids);
    } else {
        a.status = rc == -ENOTSUP ? ANSWER_NOT_FOUND : ANSWER_FAILED;
    }
    server_answer(&n->server, e->ticket, &a);
}

void job_control_carry_out(struct node *n, struct effect *e)
{
    switch (e->kind) {
    case EFFECT_SIGNAL: send_signal(n, e); break;
    case EFFECT_ROOT: proc_root_note(n, e->job, e->rank); break;
    case EFFECT_CLEANUP: clear_up(n, e); break;
    case EFFECT_PLACE: make_place(n, e); break;
    case EFFECT_LOG: write_log(n, e); break;
    case EFFECT_CREDENTIAL:
        if (e->number == 0)
            make_credential(n, e);
        else
            check_credential(n, e);
        break;
    default: break;
    }
    effect_drop(e);
}
