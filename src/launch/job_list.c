/* job_list.c - see job_list.h.  Reading order: asking all launchers at once; their lines; words. */
#include "launch/job_list.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limit.h"
#include "launch/queries.h"
#include "launch/silent_launcher.h"

enum { JOB_LIST_ANSWER_MAX = 64 << 20, JOB_LIST_ARENA_MAX = 256 << 20, JOB_LIST_PIECE = 64 << 10 };

/* ---- asking ---------------------------------------------------------------------------------- */

struct launcher_query {
    const struct launcher_name *who;
    struct buf answer;
    int rc; /* 1: the answer is awaited */
};

static int ask(const struct launcher_name *who, struct slice question)
{
    int fd = rendezvous_connect(who);

    if (fd >= 0 && send(fd, question.ptr, question.len, MSG_NOSIGNAL) < 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    return fd;
}

static void receive(struct launcher_query *a, struct pollfd *p)
{
    char *room = buf_room(&a->answer, JOB_LIST_PIECE);
    ssize_t n = room ? recv(p->fd, room, JOB_LIST_PIECE, MSG_DONTWAIT) : 0;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0) {
        buf_commit(&a->answer, (size_t)n);
        return;
    }
    a->rc = !room ? -ENOMEM : n < 0 ? -errno : 0;
    close(p->fd);
    p->fd = -1;
}

/* The first one that is awaited, and not in vain; NULL: there is none. */
static const struct launcher_name *first_awaited(const struct launcher_query *all, int n)
{
    for (int i = 0; i < n; i++) {
        if (all[i].rc == 1 && silent_launcher_may_answer(all[i].who))
            return all[i].who;
    }
    return NULL;
}

static void receive_some(struct launcher_query *all, struct pollfd *p, int n)
{
    for (int i = 0; i < n; i++) {
        if (p[i].fd >= 0 && p[i].revents)
            receive(&all[i], &p[i]);
    }
}

static int count_awaited(const struct launcher_query *all, int n)
{
    int awaited = 0;

    for (int i = 0; i < n; i++)
        awaited += all[i].rc == 1;
    return awaited;
}

/* Until all have answered that can, or the time is over. */
static void receive_all(struct launcher_query *all, struct pollfd *p, int n, const struct log *log)
{
    uint64_t begun = clock_now_ns(), report_ns = begun + LIMIT_CONTROL_REPLY_MS * NS_PER_MS;
    uint64_t due = begun + (log ? LIMIT_LAUNCHER_ANSWER_MS : LIMIT_CONTROL_REPLY_MS) * NS_PER_MS;

    while (count_awaited(all, n) && clock_now_ns() < due) {
        const struct launcher_name *late;
        if (poll(p, (nfds_t)n, SILENT_LAUNCHER_STEP_MS) > 0) {
            receive_some(all, p, n);
            continue;
        }
        late = first_awaited(all, n);
        if (!late)
            break;
        if (clock_now_ns() < report_ns)
            continue;
        silent_launcher_note_wait(late, log);
        report_ns = UINT64_MAX;
    }
    for (int i = 0; i < n; i++) {
        if (p[i].fd < 0)
            continue;
        all[i].rc = -ETIMEDOUT;
        close(p[i].fd);
    }
}

static void ask_all(struct launcher_query *all, struct pollfd *p, int n, struct slice question,
                    const struct log *log)
{
    for (int i = 0; i < n; i++) {
        int fd = ask(all[i].who, question);
        p[i] = (struct pollfd){ .fd = fd < 0 ? -1 : fd, .events = POLLIN };
        all[i].rc = fd < 0 ? fd : 1;
    }
    receive_all(all, p, n, log);
}

/* ---- their lines ----------------------------------------------------------------------------- */

static const char *base_name(struct arena *a, struct slice path)
{
    for (size_t i = path.len; i > 0; i--) {
        if (path.ptr[i - 1] == '/')
            return arena_str(a, slice_skip(path, i));
    }
    return arena_str(a, path);
}

static const char *id_of(struct job_list *l, const struct listed_job *j)
{
    char id[JOB_ID_MAX] = "-";

    if (j->launcher->row.number)
        job_row_id(j->launcher->row.number, j->is_none || j->row.is_first, j->row.job, id);
    return arena_str(&l->arena, slice_str(id));
}

static void add_job(struct job_list *l, struct listed_job j)
{
    j.id = id_of(l, &j);
    if (j.is_none)
        j.name = j.launcher->row.is_dvm ? arena_str(&l->arena, j.launcher->row.dvm_name) : "-";
    else
        j.name = j.row.label.len ? arena_str(&l->arena, j.row.label)
                                 : base_name(&l->arena, j.row.program);
    if (!j.id || !j.name)
        return;
    l->jobs[l->njobs++] = j;
}

static uint32_t lines_in(struct slice text)
{
    uint32_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

/* A launcher of another release, which answers otherwise, is left out with a word. */
static void add_answer(struct job_list *l, const struct launcher_name *who, struct slice text,
                       const struct log *log)
{
    struct listed_launcher *at = &l->launchers[l->nlaunchers];
    struct listed_job j = { .launcher = at };

    at->where = *who;
    if (text.len == 0) /* a daemon: its launcher reports */
        return;
    if (!launcher_row_get(slice_cut(&text, '\n'), &at->row)) {
        log_warn(log, "the launcher with pid %d is of another release: it is left out",
                 (int)who->pid);
        return;
    }
    l->nlaunchers++;
    while (text.len) {
        if (!job_row_get(slice_cut(&text, '\n'), &j.row))
            continue;
        at->njobs++;
        add_job(l, j);
    }
    if (at->njobs == 0 || at->row.is_dvm) {
        j = (struct listed_job){ .launcher = at, .is_none = true };
        add_job(l, j);
    }
}

/* One that is too busy to accept a connection answers as little. */
static bool is_silence(int rc)
{
    return rc == -ETIMEDOUT || rc == -EAGAIN;
}

static void add_silent(struct job_list *l, const struct launcher_query *q, const struct log *log)
{
    struct listed_launcher *at = &l->launchers[l->nlaunchers];
    struct silent_launcher s;

    if (!is_silence(q->rc)) {
        log_warn(log, "the launcher with pid %d does not answer: %s", (int)q->who->pid,
                 err_text(q->rc));
        return;
    }
    if (!silent_launcher_look(q->who, &s))
        return;
    l->nlaunchers++;
    *at = (struct listed_launcher){ .where = *q->who,
                                    .state = s.stopped ? LISTED_STOPPED : LISTED_SILENT,
                                    .row = { .pid = (int)s.pid } };
    add_job(l, (struct listed_job){ .launcher = at, .is_none = true });
    if (log)
        silent_launcher_warn(&s, log);
}

static int take_answers(struct job_list *l, struct launcher_query *all, int n,
                        const struct log *log)
{
    uint32_t most = 0;

    for (int i = 0; i < n; i++)
        most += lines_in(buf_slice(&all[i].answer)) + 1;
    l->launchers = arena_array(&l->arena, (size_t)n + 1, sizeof *l->launchers);
    l->jobs = arena_array(&l->arena, (size_t)most + 1, sizeof *l->jobs);
    if (!l->launchers || !l->jobs)
        return -ENOMEM;
    for (int i = 0; i < n; i++) {
        struct slice text = buf_slice(&all[i].answer);
        if (all[i].rc == 0 && text.len) {
            const char *kept = arena_str(&l->arena, text);
            if (!kept)
                return -ENOMEM;
            add_answer(l, all[i].who, slice_mem(kept, text.len), log);
        } else if (all[i].rc < 0 && all[i].rc != -ECONNREFUSED) {
            add_silent(l, &all[i], log);
        }
    }
    return 0;
}

/* Of DVMs; one that does not answer any more has none. */
static void ask_nodes(struct job_list *l)
{
    for (uint32_t i = 0; i < l->nlaunchers; i++) {
        struct listed_launcher *at = &l->launchers[i];
        struct buf answer = BUF_NULL(JOB_LIST_ANSWER_MAX);
        const char *kept = NULL;
        if (at->row.is_dvm && queries_launcher(&at->where, SLICE("standing\n"), &answer) == 0)
            kept = arena_str(&l->arena, buf_slice(&answer));
        if (kept) {
            at->nodes = slice_str(kept);
            slice_cut(&at->nodes, '\n'); /* the DVM's own */
        }
        buf_free(&answer);
    }
}

bool job_list_next_node(struct slice *nodes, struct listed_node *node_p)
{
    while (nodes->len) {
        struct slice line = slice_cut(nodes, '\n');
        node_p->name = slice_cut(&line, ' ');
        if (!slice_u32(slice_cut(&line, ' '), &node_p->slots) ||
            !slice_u32(slice_cut(&line, ' '), &node_p->used))
            continue;
        node_p->state = line;
        return true;
    }
    return false;
}

int job_list_order(const struct listed_job *a, const struct listed_job *b)
{
    uint32_t x = a->launcher->row.number - 1, y = b->launcher->row.number - 1; /* none: last */

    if (x != y)
        return x < y ? -1 : 1;
    if (a->is_none != b->is_none)
        return a->is_none ? -1 : 1;
    return a->row.job < b->row.job ? -1 : a->row.job > b->row.job;
}

static int in_order(const void *a, const void *b)
{
    return job_list_order(a, b);
}

int job_list_read(struct job_list *l, bool usage, const struct log *log)
{
    struct launcher_name *names = NULL;
    int n = rendezvous_list(&names), rc = n < 0 ? n : 0;
    struct launcher_query *all = calloc((size_t)(n > 0 ? n : 1), sizeof *all);
    struct pollfd *p = calloc((size_t)(n > 0 ? n : 1), sizeof *p);

    memset(l, 0, sizeof *l);
    arena_init(&l->arena, JOB_LIST_ARENA_MAX);
    if (!all || !p)
        rc = -ENOMEM;
    for (int i = 0; rc == 0 && i < n; i++) {
        all[i].who = &names[i];
        buf_init(&all[i].answer, JOB_LIST_ANSWER_MAX);
    }
    if (rc == 0) {
        ask_all(all, p, n, usage ? SLICE("usage\n") : SLICE("jobs\n"), log);
        rc = take_answers(l, all, n, log);
    }
    if (rc == 0 && usage)
        ask_nodes(l);
    for (int i = 0; all && rc != -ENOMEM && i < n; i++)
        buf_free(&all[i].answer);
    if (l->njobs)
        qsort(l->jobs, l->njobs, sizeof *l->jobs, in_order);
    free(all);
    free(p);
    free(names);
    return rc;
}

bool job_list_lacks_some(const struct job_list *l)
{
    for (uint32_t i = 0; i < l->nlaunchers; i++) {
        if (l->launchers[i].state != LISTED_ANSWERS)
            return true;
    }
    return false;
}

void job_list_free(struct job_list *l)
{
    arena_free(&l->arena);
    memset(l, 0, sizeof *l);
}

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_id(const struct listed_job *j, struct slice word)
{
    return slice_is(word, j->id);
}

static bool is_name_and_id(const struct listed_job *j, struct slice word)
{
    size_t name = strlen(j->name);

    return word.len > name + 1 && slice_starts(word, slice_str(j->name)) && word.ptr[name] == '-' &&
           slice_is(slice_skip(word, name + 1), j->id);
}

static bool is_namespace(const struct listed_job *j, struct slice word)
{
    return slice_eq(word, j->row.nspace);
}

static bool is_name(const struct listed_job *j, struct slice word)
{
    return slice_is(word, j->name);
}

static bool is_pid(const struct listed_job *j, struct slice word)
{
    int pid;

    return slice_int(word, &pid) && pid == j->launcher->row.pid &&
           (j->row.is_first || j->launcher->state != LISTED_ANSWERS);
}

static bool (*const meanings[])(const struct listed_job *j, struct slice word) = {
    is_id, is_name_and_id, is_namespace, is_name, is_pid,
};

static void name_all(const struct job_list *l, const char *word,
                     bool (*means)(const struct listed_job *j, struct slice word),
                     struct errmsg *err)
{
    struct buf ids = BUF_NULL(512);

    for (uint32_t i = 0; i < l->njobs; i++) {
        if (means(&l->jobs[i], slice_str(word)))
            buf_printf(&ids, "%s%s", buf_len(&ids) ? ", " : "", l->jobs[i].id);
    }
    errmsg_set(err, 1, "several jobs are called %.100s: choose one of %s", word,
               buf_cstr(&ids) ? buf_cstr(&ids) : "them");
    buf_free(&ids);
}

static const struct listed_job *find(const struct job_list *l, const char *word, struct errmsg *err)
{
    const struct listed_job *found = NULL;
    uint32_t n = 0;

    for (size_t m = 0; m < sizeof meanings / sizeof *meanings && n == 0; m++) {
        for (uint32_t i = 0; i < l->njobs; i++) {
            if (!meanings[m](&l->jobs[i], slice_str(word)))
                continue;
            found = n++ ? found : &l->jobs[i];
        }
        if (n > 1) {
            name_all(l, word, meanings[m], err);
            return NULL;
        }
    }
    if (!found)
        errmsg_set(err, 1, "you have no running job %.200s on this machine%s", word,
                   job_list_lacks_some(l) ? ", unless a launcher that does not answer has it" : "");
    if (!found || found->launcher->state == LISTED_ANSWERS)
        return found;
    errmsg_set(err, 1, "the launcher with pid %d does not answer: its jobs are not known",
               found->launcher->row.pid);
    return NULL;
}

const struct listed_job *job_list_find(struct job_list *l, const char *word, const struct log *log,
                                       struct errmsg *err)
{
    int rc = job_list_read(l, false, log);

    if (rc == 0)
        return find(l, word, err);
    errmsg_set(err, rc, "cannot look for jobs: %s", err_text(rc));
    return NULL;
}

int job_list_signal(const struct listed_job *j, int sig, struct errmsg *err)
{
    struct buf question = BUF_NULL(64), answer = BUF_NULL(JOB_LIST_ANSWER_MAX);
    int rc;

    if (j->is_none)
        return errmsg_set(err, 1, "%s has no processes", j->id);
    buf_printf(&question, "signal %d %u\n", sig, j->row.job);
    rc = queries_launcher(&j->launcher->where, buf_slice(&question), &answer);
    if (rc < 0)
        errmsg_set(err, 1, "the launcher of job %s does not answer: %s", j->id, err_text(rc));
    else if (!slice_is(buf_slice(&answer), "ok\n"))
        errmsg_set(err, 1, "job %s has ended", j->id);
    rc = rc < 0 || !slice_is(buf_slice(&answer), "ok\n");
    buf_free(&question);
    buf_free(&answer);
    return rc;
}
