/* staging.c - see staging.h.  Reading order: this node's writer; the launcher's reader; who is
 * behind; messages. */
#include "daemon/staging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "daemon/cluster_io.h"
#include "daemon/node_msgs.h"
#include "daemon/staging_child.h"
#include "daemon/stdin_push.h"
#include "io/tool_files.h"
#include "wire/staging_stream.h"

/* A daemon reports after so many bytes; the launcher asks after twice as many who is behind. */
enum { REPORT = LIMIT_STAGING_WINDOW / 4, STEP = LIMIT_STAGING_WINDOW / 2 };

/* A person at a terminal is told now and then how far it is; most files are there before. */
enum { FIRST_MS = 1000, NEXT_MS = 2000 };

struct staging {
    struct local_job *w;
    staging_done_fn *done; /* NULL: it has been called, or this node needs no files */

    /* The writer here. */
    struct staging_child writer;
    struct stdin_push input;
    uint64_t got, reported; /* bytes of the stream */
    bool here;              /* there is one */

    /* The launcher's. */
    struct staging_child reader;
    struct watch watch;
    bool leads, at_end;     /* all has been read */
    uint64_t sent, step;    /* all daemons have written so much of that: a multiple of STEP */
    uint64_t *written;      /* by position; UINT64_MAX: it is not waited for */
    uint32_t count, behind; /* of positions; of those below the next step */
    struct timer progress;
};

static const struct node_context *context_of(const struct staging *t)
{
    return t->w->jobs->context;
}

static void finish(struct staging *t, const char *why)
{
    staging_done_fn *done = t->done;

    t->done = NULL;
    if (done)
        done(t->w, why);
}

/* ---- names ----------------------------------------------------------------------------------- */

char *staging_dir(const struct node_config *c, const struct job *j, struct arena *a)
{
    if (!j->plan.staged || !c->sessions || !c->sessions->path[0])
        return NULL;
    return arena_printf(a, "%s/%u/staged", c->sessions->path, j->id);
}

char *staging_program(const struct node_config *c, const struct job *j, const char *word,
                      struct arena *a)
{
    const char *dir = staging_dir(c, j, a);
    char name[STAGING_NAME + 1];
    char *path;

    if (!dir || !staging_name_of(word, name))
        return NULL;
    path = arena_printf(a, "%s/%s", dir, name);
    return path && access(path, X_OK) == 0 ? path : NULL;
}

/* ---- the writer here ------------------------------------------------------------------------- */

static void report(struct staging *t, uint64_t count)
{
    struct cluster_io *s = context_of(t)->cluster;

    if (t->leads || !s || count < t->reported + REPORT)
        return;
    t->reported = count;
    node_msgs_staged(s, t->w->job->id, count);
}

static void read_more(struct staging *t);
static void seek_behind(struct staging *t);

static void input_taken(void *arg, uint64_t ticket, bool taken)
{
    struct staging *t = arg;

    if (!taken) /* its end says why */
        return;
    report(t, ticket);
    if (t->leads)
        read_more(t);
}

/* dir NULL: there is no session directory where nothing can be written. */
static int cannot_make(const char *dir, int rc, struct errmsg *err)
{
    const char *tmp = tool_files_dir(NULL, "TMPDIR");

    if (dir)
        return errmsg_set(err, rc, "cannot make the directory for staged files %s: %s", dir,
                          err_text(rc));
    if (access(tmp, W_OK | X_OK) < 0)
        rc = -errno;
    return errmsg_set(err, rc,
                      "cannot make a directory for staged files in %.500s: %s; set TMPDIR to "
                      "another place",
                      tmp, err_text(rc));
}

static int open_writer(struct staging *t, struct errmsg *err)
{
    const struct node_context *c = context_of(t);
    const struct job *j = t->w->job;
    struct arena a = ARENA_NULL(1 << 16);
    const char *dir = staging_dir(c->config, j, &a);
    int rc = dir ? session_dir_make(c->config->sessions, j->id, SESSION_DIR_JOB) : -ENOENT;

    if (rc < 0)
        cannot_make(dir, rc, err);
    else
        rc = staging_child_unpack(&t->writer, dir, err);
    arena_free(&a);
    if (rc < 0)
        return rc;
    stdin_push_open(&t->input, c->loop, t->writer.fd, input_taken, t);
    t->writer.fd = -1; /* the queue's now */
    t->here = true;
    return 0;
}

/* No bytes: the end of the stream. */
static void pass_on(struct staging *t, struct slice bytes)
{
    t->got += bytes.len;
    if (t->here)
        stdin_push_write(&t->input, bytes, bytes.len ? t->got : 0);
    else if (bytes.len)
        report(t, t->got);
}

static struct staging *staging_new(struct local_job *w, staging_done_fn *done)
{
    struct staging *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->w = w;
    t->done = done;
    t->writer = t->reader = STAGING_CHILD_NULL;
    t->input.fd = -1;
    w->staging = t;
    return t;
}

static int no_memory(struct errmsg *err)
{
    return errmsg_set(err, -ENOMEM, "out of memory for staged files");
}

/* Which of the plan's nodes this is. */
static bool has_part(const struct job *j)
{
    return j->here != JOB_NONE_HERE;
}

int staging_follow(struct local_job *w, staging_done_fn *done, struct errmsg *err)
{
    struct staging *t = staging_new(w, done);

    if (!t)
        return no_memory(err);
    return has_part(w->job) ? open_writer(t, err) : 0;
}

void staging_end(struct local_job *w)
{
    struct staging *t = w->staging;

    if (!t)
        return;
    w->staging = NULL;
    if (t->leads)
        timer_stop(&t->progress);
    watch_close(&t->watch);
    stdin_push_close(&t->input);
    staging_child_close(&t->reader);
    staging_child_close(&t->writer);
    free(t->written);
    free(t);
}

/* ---- the reader ------------------------------------------------------------------------------ */

static void broadcast(struct staging *t, struct slice bytes)
{
    struct cluster_io *s = context_of(t)->cluster;

    if (s)
        node_msgs_stage(s, t->w->job->id, bytes);
    pass_on(t, bytes);
}

/* The slowest one is not too far behind; nor is the writer here. */
static uint64_t room(const struct staging *t)
{
    uint64_t most = t->step + LIMIT_STAGING_WINDOW - t->sent;

    return t->here && buf_len(&t->input.queue) > STEP ? 0 : most;
}

/* Its end has been read, and it has ended well. */
static void end_stream(struct staging *t)
{
    if (t->at_end && t->reader.pid == 0)
        broadcast(t, SLICE_NULL);
}

static void readable(void *arg)
{
    struct staging *t = arg;
    char piece[LIMIT_STAGING_PIECE];
    uint64_t most = room(t);
    ssize_t n = read(t->reader.fd, piece, most < sizeof piece ? (size_t)most : sizeof piece);

    if (n > 0) {
        t->sent += (uint64_t)n;
        broadcast(t, slice_mem(piece, (size_t)n));
        read_more(t);
    } else if (n == 0) {
        t->at_end = true;
        watch_close(&t->watch);
        end_stream(t);
    }
    turn_end(context_of(t)->turn);
}

static void read_more(struct staging *t)
{
    if (t->behind == 0)
        seek_behind(t);
    if (!t->at_end && t->reader.fd >= 0)
        watch_want(&t->watch, room(t) ? LOOP_READ : 0);
}

/* ---- who is behind --------------------------------------------------------------------------- */

static void seek_behind(struct staging *t)
{
    do {
        t->behind = 0;
        for (uint32_t i = 0; i < t->count; i++)
            t->behind += t->written[i] < t->step + STEP;
        if (t->behind == 0 && t->step + STEP <= t->sent)
            t->step += STEP;
        else
            break;
    } while (true);
}

static void note_written(struct staging *t, uint32_t position, uint64_t count)
{
    uint64_t next = t->step + STEP, old = t->written[position];

    if (count <= old)
        return;
    t->written[position] = count;
    if (old < next && count >= next && --t->behind == 0) {
        seek_behind(t);
        read_more(t);
    }
}

/* The other daemons that are there. */
static int open_window(struct staging *t)
{
    struct cluster_io *s = context_of(t)->cluster;

    t->count = s ? s->router.config.count : 1;
    t->written = calloc(t->count, sizeof *t->written);
    if (!t->written)
        return -ENOMEM;
    t->written[0] = UINT64_MAX;
    for (uint32_t i = 1; i < t->count; i++)
        t->written[i] = router_is_lost(&s->router, i) || !cluster_io_has(s, i) ? UINT64_MAX : 0;
    seek_behind(t);
    return 0;
}

/* The node that has written least, of those that others wait for; 0: none. */
static uint32_t slowest(const struct staging *t)
{
    uint32_t least = 0;

    for (uint32_t i = 1; i < t->count; i++) {
        if (t->written[i] < t->sent && (!least || t->written[i] < t->written[least]))
            least = i;
    }
    return least;
}

static void report_progress(void *arg)
{
    struct staging *t = arg;
    const struct node_context *c = context_of(t);
    double sent = (double)t->sent / 1e6;
    uint32_t at = slowest(t);

    if (at)
        log_warn(c->log, "%.1f MB of files are on their way to the nodes; %s has %.1f MB", sent,
                 c->cluster->names[at], (double)t->written[at] / 1e6);
    else
        log_warn(c->log, "%.1f MB of files are on their way to the nodes", sent);
    timer_set(&t->progress, NEXT_MS);
}

int staging_lead(struct local_job *w, staging_done_fn *done, struct errmsg *err)
{
    struct staging *t = staging_new(w, done);
    int rc;

    if (!t || open_window(t) < 0)
        return no_memory(err);
    t->leads = true;
    timer_init(&t->progress, context_of(t)->loop, report_progress, t);
    if (context_of(t)->config->terminal)
        timer_set(&t->progress, FIRST_MS);
    rc = has_part(w->job) ? open_writer(t, err) : 0;
    if (rc == 0)
        rc = staging_child_pack(&t->reader, w->job->plan.stage, err);
    if (rc < 0)
        return rc;
    watch_open(&t->watch, context_of(t)->loop, t->reader.fd, readable, NULL, t);
    read_more(t);
    return 0;
}

/* ---- messages and children ------------------------------------------------------------------- */

static struct staging *find(struct local_jobs *jobs, uint64_t id)
{
    LIST_EACH(l, &jobs->all)
    {
        struct local_job *w = LIST_OF(l, struct local_job, link);
        if (w->job->id == id)
            return w->staging;
    }
    return NULL;
}

void staging_receive(struct local_jobs *jobs, uint64_t job, struct slice bytes)
{
    struct staging *t = find(jobs, job);

    if (t && !t->leads)
        pass_on(t, bytes);
}

void staging_note(struct local_jobs *jobs, uint32_t from, uint64_t job, uint64_t count)
{
    struct staging *t = find(jobs, job);

    if (t && t->leads && from < t->count)
        note_written(t, from, count);
}

void staging_lost(struct local_jobs *jobs, uint32_t position)
{
    LIST_EACH(l, &jobs->all)
    {
        struct staging *t = LIST_OF(l, struct local_job, link)->staging;
        if (t && t->leads && position < t->count)
            note_written(t, position, UINT64_MAX);
    }
}

static void reader_ended(struct staging *t, int status)
{
    struct errmsg err;

    if (staging_child_ended(&t->reader, status, &err) == 0)
        end_stream(t);
    else
        finish(t, err.text);
}

static void writer_ended(struct staging *t, int status)
{
    struct errmsg err;

    finish(t, staging_child_ended(&t->writer, status, &err) ? err.text : NULL);
}

bool staging_reaped(struct local_jobs *jobs, pid_t pid, int status)
{
    LIST_EACH(l, &jobs->all)
    {
        struct staging *t = LIST_OF(l, struct local_job, link)->staging;
        if (t && t->reader.pid == pid)
            reader_ended(t, status);
        else if (t && t->writer.pid == pid)
            writer_ended(t, status);
        else
            continue;
        return true;
    }
    return false;
}
