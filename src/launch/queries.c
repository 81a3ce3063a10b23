/* queries.c - see queries.h. */
#include "launch/queries.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/signal_name.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/limit.h"
#include "daemon/tools.h"
#include "io/rendezvous.h"
#include "io/tool_files.h"
#include "launch/job_list.h"
#include "launch/job_table.h"
#include "launch/silent_launcher.h"
#include "tools/command_json.h"
#include "tools/timeline.h"

enum { QUERIES_ANSWER_MAX = 64 << 20 };

int queries_ask(const struct launcher_name *who, struct slice question)
{
    int fd = rendezvous_connect(who), rc;

    if (fd < 0 || send(fd, question.ptr, question.len, MSG_NOSIGNAL) >= 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

/* who, and the log, are for those that are waited for longer than usual; else NULL. */
static bool wait_for(int fd, const struct launcher_name *who, int patience_ms,
                     const struct log *log)
{
    struct pollfd p = { fd, POLLIN, 0 };

    return who ? silent_launcher_wait(fd, who, patience_ms, log) : poll(&p, 1, patience_ms) != 0;
}

static int receive(int fd, const struct launcher_name *who, int patience_ms, const struct log *log,
                   struct buf *answer)
{
    int rc = fd < 0 ? fd : 0;

    while (rc == 0) {
        char *room = buf_room(answer, 64 << 10);
        ssize_t n;
        if (!room)
            rc = -ENOMEM;
        else if (!wait_for(fd, who, patience_ms, log))
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

int queries_answer(int fd, struct buf *answer)
{
    return receive(fd, NULL, LIMIT_CONTROL_REPLY_MS, NULL, answer);
}

static int query(const struct launcher_name *who, struct slice question, int patience_ms,
                 const struct log *log, struct buf *answer)
{
    return receive(queries_ask(who, question), who, patience_ms, log, answer);
}

int queries_launcher(const struct launcher_name *who, struct slice question, struct buf *answer)
{
    return query(who, question, LIMIT_LAUNCHER_ANSWER_MS, NULL, answer);
}

struct merge {
    struct json *json; /* NULL: the answers are text */
    int answers, patience_ms;
    struct buf out;
    pid_t *silent; /* launchers that have not answered */
    int nsilent;
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

/* A launcher that hangs is not waited for as long as one that takes stacks, and further ones that
 * hang not as long as the first. */
static int query_patiently(const struct launcher_name *who, struct slice question,
                           const struct merge *m, const struct log *log, struct buf *answer)
{
    struct buf sign = BUF_NULL(QUERIES_ANSWER_MAX);
    int rc = query(who, SLICE("jobs\n"),
                   m->nsilent ? LIMIT_CONTROL_REPLY_MS : LIMIT_LAUNCHER_ANSWER_MS, log, &sign);

    buf_free(&sign);
    return rc < 0 ? rc : query(who, question, m->patience_ms, log, answer);
}

static void add_silent(struct merge *m, const struct launcher_name *who, int rc,
                       const struct log *log)
{
    struct silent_launcher s = { .pid = who->pid };
    bool late = rc == -ETIMEDOUT || rc == -EAGAIN;
    pid_t *more;

    if (late && !silent_launcher_look(who, &s))
        return;
    if (late)
        silent_launcher_warn(&s, log);
    else
        log_warn(log, "the launcher with pid %d does not answer: %s", (int)who->pid, err_text(rc));
    more = realloc(m->silent, (size_t)(m->nsilent + 1) * sizeof *more);
    if (!more)
        return;
    m->silent = more;
    m->silent[m->nsilent++] = s.pid;
}

static void query_one(const struct log *log, const struct launcher_name *who, struct slice question,
                      struct merge *m)
{
    struct buf answer = BUF_NULL(QUERIES_ANSWER_MAX);
    int rc = query_patiently(who, question, m, log, &answer);

    if (rc == 0)
        add_answer(m, buf_slice(&answer));
    else if (rc != -ECONNREFUSED)
        add_silent(m, who, rc, log);
    buf_free(&answer);
}

static void query_all(const struct log *log, struct slice question, struct merge *m)
{
    struct launcher_name *all;
    int n = rendezvous_list(&all);

    for (int i = 0; i < n; i++)
        query_one(log, &all[i], question, m);
    free(all);
    if (n < 0)
        log_error(log, "cannot look for launchers: %s", err_text(n));
}

/* A question, and how its answers become one. */
struct question {
    const char *verb;
    const char *list; /* key of the list of answers in JSON; NULL: the answers are text */
    bool stacks;
};

/* The launcher of job, or all. */
static void query_about(const struct command_line *l, const struct question *q,
                        const struct listed_job *job, struct merge *m)
{
    struct buf question = BUF_NULL(4096);

    buf_printf(&question, "%s%s%s", q->verb, q->list ? " json" : "", q->stacks ? " stacks" : "");
    if (job)
        buf_printf(&question, " %u", job->row.job);
    buf_byte(&question, '\n');
    if (job)
        query_one(l->log, &job->launcher->where, buf_slice(&question), m);
    else
        query_all(l->log, buf_slice(&question), m);
    buf_free(&question);
}

static void query_json(const struct command_line *l, const struct question *q,
                       const struct listed_job *job, struct merge *m)
{
    struct json j;
    char schema[64];

    snprintf(schema, sizeof schema, "wireup-%s-1", q->verb);
    m->json = &j;
    json_init(&j, &m->out);
    json_object(&j, NULL);
    json_str(&j, "schema", schema);
    json_array(&j, q->list);
    query_about(l, q, job, m);
    json_array_end(&j);
    json_array(&j, "no_answer");
    for (int i = 0; i < m->nsilent; i++)
        json_i64(&j, NULL, m->silent[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_done(&j);
    buf_byte(&m->out, '\n');
}

/* 1: standard output does not take it. */
static int print(const struct buf *text)
{
    struct slice s = buf_slice(text);

    if ((s.len && fwrite(s.ptr, 1, s.len, stdout) < s.len) || fflush(stdout) != 0)
        return 1;
    return 0;
}

static int put_question(const struct command_line *l, const struct question *q,
                        const struct listed_job *job)
{
    struct merge m = { .patience_ms = LIMIT_LAUNCHER_ANSWER_MS +
                                      (q->stacks ? LIMIT_STACKS_MS + LIMIT_WHO_MS : 0),
                       .out = BUF_NULL(QUERIES_ANSWER_MAX) };
    int code;

    if (q->list)
        query_json(l, q, job, &m);
    else
        query_about(l, q, job, &m);
    code = print(&m.out);
    if (m.nsilent) {
        code = 1;
    } else if (m.answers == 0 && job) {
        log_error(l->log, "job %s has ended", job->id);
        code = 1;
    } else if (m.answers == 0 && !q->list) {
        log_error(l->log, "you have no running jobs on this machine");
    }
    free(m.silent);
    buf_free(&m.out);
    return code;
}

/* About the job that the operand means, if there is one. */
static int ask(const struct command_line *l, const struct question *q)
{
    struct job_list jobs;
    const struct listed_job *job;
    struct errmsg err;
    int code = 1;

    if (!l->operand)
        return put_question(l, q, NULL);
    job = job_list_find(&jobs, l->operand, l->log, &err);
    if (job && job->is_none)
        log_error(l->log, "%s has no job", job->id);
    else if (job)
        code = put_question(l, q, job);
    else
        log_error(l->log, "%s", err.text);
    job_list_free(&jobs);
    return code;
}

int queries_who(const struct command_line *l)
{
    return ask(l, &(struct question){ .verb = "who",
                                      .list = l->choices[CHOICE_who_json] ? "jobs" : NULL,
                                      .stacks = l->choices[CHOICE_who_stacks] != NULL });
}

int queries_names(const struct command_line *l)
{
    return ask(l, &(struct question){ .verb = "names",
                                      .list = l->choices[CHOICE_names_json] ? "names" : NULL });
}

int queries_tools(const struct command_line *l)
{
    return ask(l, &(struct question){ .verb = "tools",
                                      .list = l->choices[CHOICE_tools_json] ? "launchers" : NULL });
}

/* Of the terminal; 0: standard output is none. */
static uint32_t terminal_width(void)
{
    struct winsize w;

    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

enum table_form { TABLE_TEXT, TABLE_JSON, TABLE_NODES };

static void put_table(const struct command_line *l, const struct job_list *jobs,
                      enum table_form form, struct buf *out)
{
    if (form == TABLE_JSON)
        job_table_json(jobs, "wireup-ps-1", out);
    else if (form == TABLE_NODES)
        job_table_nodes(jobs, out);
    else if (jobs->njobs)
        job_table_text(jobs, terminal_width(), out);
    else
        log_error(l->log, "you have no running jobs on this machine");
}

static int print_table(const struct command_line *l, enum table_form form)
{
    struct buf out = BUF_NULL(QUERIES_ANSWER_MAX);
    struct job_list jobs;
    int rc = job_list_read(&jobs, true, l->log), code = 1;

    if (rc < 0) {
        log_error(l->log, "cannot look for jobs: %s", err_text(rc));
    } else {
        put_table(l, &jobs, form, &out);
        code = print(&out) || job_list_lacks_some(&jobs);
    }
    job_list_free(&jobs);
    buf_free(&out);
    return code;
}

int queries_table(const struct command_line *l, bool json)
{
    return print_table(l, json ? TABLE_JSON : TABLE_TEXT);
}

int queries_ps(const struct command_line *l)
{
    tool_files_clear(tools_dir()); /* looking for launchers removes the sockets of killed ones */
    return print_table(l, l->choices[CHOICE_ps_json]    ? TABLE_JSON
                          : l->choices[CHOICE_ps_nodes] ? TABLE_NODES
                                                        : TABLE_TEXT);
}

static int print_killed(const struct listed_job *job, int sig)
{
    struct command_json o;

    command_json_begin(&o, "wireup-kill-1");
    json_str(&o.json, "job", job->id);
    json_i64(&o.json, "signal", sig);
    json_u64(&o.json, "processes", job->row.ranks);
    return command_json_end(&o, 0);
}

int queries_kill(const struct command_line *l)
{
    const char *word = l->choices[CHOICE_kill_signal] ? l->choices[CHOICE_kill_signal] : "TERM";
    int sig = signal_number(slice_str(word)), code = 1;
    const struct listed_job *job;
    struct job_list jobs;
    struct errmsg err;

    if (!sig) {
        log_error(l->log, "kill: '%s' is no signal; write its name or number, such as INT or 2",
                  word);
        return 2;
    }
    job = job_list_find(&jobs, l->operand, l->log, &err);
    if (job)
        code = job_list_signal(job, sig, &err);
    if (code)
        log_error(l->log, "%s", err.text);
    else if (l->choices[CHOICE_kill_json])
        code = print_killed(job, sig);
    job_list_free(&jobs);
    return code;
}

/* The launcher's trace, after all nodes have written theirs; the path is in the answer. */
static bool find_trace(const struct command_line *l, const struct listed_job *job, struct buf *path)
{
    const struct launcher_name *where = &job->launcher->where;
    struct buf flushed = BUF_NULL(QUERIES_ANSWER_MAX);
    int rc =
        query(where, SLICE("who\n"), LIMIT_LAUNCHER_ANSWER_MS + LIMIT_WHO_MS, l->log, &flushed);

    if (rc == 0)
        rc = query(where, SLICE("trace\n"), LIMIT_LAUNCHER_ANSWER_MS, l->log, path);
    buf_free(&flushed);
    if (rc < 0)
        log_error(l->log, "the launcher with pid %d does not answer: %s", (int)where->pid,
                  err_text(rc));
    else if (!slice_starts(buf_slice(path), SLICE("/")))
        log_error(l->log, "job %s has no trace; start it with -trace FILE", job->id);
    return rc == 0 && slice_starts(buf_slice(path), SLICE("/"));
}

static int timeline_of(const struct command_line *l, const struct listed_job *job)
{
    struct command_line of_file = *l;
    struct buf path = BUF_NULL(QUERIES_ANSWER_MAX);
    int code = 1;

    if (find_trace(l, job, &path)) {
        path.end--; /* the newline */
        of_file.operand = buf_cstr(&path);
        code = of_file.operand ? timeline_command(&of_file) : 2;
    }
    buf_free(&path);
    return code;
}

int queries_timeline(const struct command_line *l)
{
    struct job_list jobs;
    const struct listed_job *job;
    struct errmsg err;
    int code;

    if (!strcmp(l->operand, "-") || strchr(l->operand, '/') || access(l->operand, F_OK) == 0)
        return timeline_command(l);
    job = job_list_find(&jobs, l->operand, l->log, &err);
    if (!job)
        log_error(l->log, "%s is neither a trace file nor a job: %s", l->operand, err.text);
    code = !job ? 2 : timeline_of(l, job);
    job_list_free(&jobs);
    return code;
}
