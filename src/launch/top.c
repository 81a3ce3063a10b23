/* top.c - see top.h.  Reading order: what is shown; keys; the loop, which waits for a key, a signal
 * or the timer, and for nothing else; without a terminal. */
#include "launch/top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/signal_name.h"
#include "base/clock.h"
#include "base/limit.h"
#include "launch/job_table.h"
#include "launch/queries.h"
#include "launch/screen.h"

enum { TOP_TEXT_MAX = 1 << 20, TOP_WORD_MAX = 16, TOP_HEAD = 2, TOP_LEAST_MS = 500 };

enum top_view { TOP_TABLE, TOP_WHO, TOP_HELP };

struct top {
    const struct command_line *line;
    struct screen screen;
    struct job_list jobs;
    enum job_column sort;
    enum top_view view;
    char selected[64]; /* its id: the job keeps the mark when the table is sorted again */
    uint32_t first;    /* the first line of a report that is shown */
    struct buf report; /* TOP_WHO */
    bool typing;       /* a signal for the selected job */
    char word[TOP_WORD_MAX];
    struct errmsg message; /* in the first line, until the next key */
    uint64_t period_ms;
    uint32_t left; /* tables until the end; 0: without end */
    int timer, signals;
    int code;
    bool over;
};

static const char help_text[] =
    "up, down   select a job                 Enter  who waits for whom in it\n"
    "i          sort by id                   k      send it a signal\n"
    "n          sort by name                 space  ask again at once\n"
    "r          sort by ranks                q      quit\n"
    "N          sort by nodes\n"
    "s          sort by state                CPU: 100% is one processor, of all ranks together,\n"
    "t          sort by time                 since the last table\n"
    "c          sort by CPU                  MEMORY: resident, of all ranks together\n"
    "m          sort by memory\n"
    "w          sort by those who wait\n";

/* ---- what is shown --------------------------------------------------------------------------- */

static uint32_t selected_at(const struct top *t)
{
    for (uint32_t i = 0; i < t->jobs.njobs; i++) {
        if (!strcmp(t->jobs.jobs[i].id, t->selected))
            return i;
    }
    return 0;
}

static const struct listed_job *selected(const struct top *t)
{
    return t->jobs.njobs ? &t->jobs.jobs[selected_at(t)] : NULL;
}

static void put_head(const struct top *t, struct buf *out)
{
    const struct listed_job *j = selected(t);
    uint32_t ranks = 0;

    for (uint32_t i = 0; i < t->jobs.njobs; i++)
        ranks += t->jobs.jobs[i].row.ranks;
    if (t->typing)
        buf_printf(out, "signal to job %s (Enter: TERM): %s_\n", j ? j->id : "", t->word);
    else if (t->message.text[0])
        buf_printf(out, "%s\n", t->message.text);
    else if (t->view == TOP_WHO)
        buf_printf(out, "job %s: up and down scroll, q: back\n", t->selected);
    else
        buf_printf(out, "wireup top: %u job%s, %u rank%s, every %llu.%llu s; h: keys, q: quit\n",
                   t->jobs.njobs, t->jobs.njobs == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s",
                   (unsigned long long)t->period_ms / 1000,
                   (unsigned long long)t->period_ms % 1000 / 100);
}

static void put_report(const struct top *t, struct buf *out)
{
    struct slice rest = buf_slice(&t->report);

    for (uint32_t i = 0; i < t->first; i++)
        slice_cut(&rest, '\n');
    buf_byte(out, '\n');
    while (rest.len) { /* long lines go on in the next one */
        struct slice line = slice_cut(&rest, '\n'), head = slice_head(line, t->screen.columns);
        buf_slice_put(out, head);
        for (line = slice_skip(line, head.len); line.len; line = slice_skip(line, head.len)) {
            head = slice_head(line, t->screen.columns > 12 ? t->screen.columns - 8 : 4);
            buf_printf(out, "\n        " SLICE_FMT, SLICE_ARG(head));
        }
        buf_byte(out, '\n');
    }
}

/* Of many jobs, those around the selected one. */
static uint32_t put_table(struct top *t, struct buf *out)
{
    struct buf table = BUF_NULL(TOP_TEXT_MAX);
    uint32_t at = selected_at(t), room = t->screen.rows > TOP_HEAD ? t->screen.rows - TOP_HEAD : 1;
    uint32_t skip = at >= room ? at - room + 1 : 0;
    struct slice rest;

    job_table_text(&t->jobs, t->screen.columns, &table);
    rest = buf_slice(&table);
    buf_slice_put(out, slice_cut(&rest, '\n'));
    buf_byte(out, '\n');
    for (uint32_t i = 0; i < skip; i++)
        slice_cut(&rest, '\n');
    buf_slice_put(out, rest);
    buf_free(&table);
    return t->jobs.njobs ? TOP_HEAD + at - skip : UINT32_MAX;
}

static void show(struct top *t)
{
    struct buf out = BUF_NULL(TOP_TEXT_MAX * 2);
    uint32_t mark = UINT32_MAX;

    put_head(t, &out);
    if (t->view == TOP_WHO)
        put_report(t, &out);
    else if (t->view == TOP_HELP)
        buf_printf(&out, "\n%s", help_text);
    else
        mark = put_table(t, &out);
    if (screen_show(&t->screen, buf_slice(&out), mark) < 0)
        t->over = true;
    buf_free(&out);
}

static void ask_again(struct top *t)
{
    struct job_list fresh;

    if (job_list_read(&fresh, true, NULL) < 0) {
        job_list_free(&fresh);
        errmsg_set(&t->message, 0, "the launchers cannot be asked");
        return;
    }
    job_list_free(&t->jobs);
    t->jobs = fresh;
    job_table_sort(&t->jobs, t->sort);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct {
    char key;
    enum job_column by;
} sorts[] = {
    { 'i', JOB_COLUMN_ID },    { 'n', JOB_COLUMN_NAME },   { 'r', JOB_COLUMN_RANKS },
    { 'N', JOB_COLUMN_NODES }, { 's', JOB_COLUMN_STATE },  { 't', JOB_COLUMN_TIME },
    { 'c', JOB_COLUMN_CPU },   { 'm', JOB_COLUMN_MEMORY }, { 'w', JOB_COLUMN_WAITS },
};

static void sort_by(struct top *t, enum job_column by)
{
    t->sort = by;
    job_table_sort(&t->jobs, by);
}

/* The last line stays in sight. */
static void scroll(struct top *t, int by)
{
    struct slice text = buf_slice(&t->report);
    uint32_t lines = 0;

    while (text.len) {
        slice_cut(&text, '\n');
        lines++;
    }
    if (by > 0 && t->first + 1 < lines)
        t->first++;
    if (by < 0 && t->first > 0)
        t->first--;
}

static void move(struct top *t, int by)
{
    uint32_t at = selected_at(t);

    if (t->view == TOP_WHO) {
        scroll(t, by);
        return;
    }
    if (!t->jobs.njobs || (by < 0 && at == 0) || (by > 0 && at + 1 >= t->jobs.njobs))
        return;
    snprintf(t->selected, sizeof t->selected, "%s", t->jobs.jobs[(int)at + by].id);
}

static void ask_who(struct top *t)
{
    const struct listed_job *j = selected(t);
    char question[64];
    int rc;

    if (!j || j->is_none) {
        errmsg_set(&t->message, 0, "there is no job here");
        return;
    }
    snprintf(t->selected, sizeof t->selected, "%s", j->id);
    snprintf(question, sizeof question, "who %u\n", j->row.job);
    buf_clear(&t->report);
    rc = queries_launcher(&j->launcher->where, slice_str(question), &t->report);
    if (rc < 0 || slice_starts(buf_slice(&t->report), SLICE("error:"))) {
        errmsg_set(&t->message, 0, "job %s: %s", j->id, rc < 0 ? err_text(rc) : "has ended");
        return;
    }
    t->first = 0;
    t->view = TOP_WHO;
}

static void begin_signal(struct top *t)
{
    const struct listed_job *j = selected(t);

    if (!j || j->is_none) {
        errmsg_set(&t->message, 0, "there is no job here");
        return;
    }
    snprintf(t->selected, sizeof t->selected, "%s", j->id);
    t->word[0] = '\0';
    t->typing = true;
}

/* The job may have ended while the signal was typed: then nothing else is meant. */
static void send_signal(struct top *t)
{
    const char *word = t->word[0] ? t->word : "TERM";
    int sig = signal_number(slice_str(word));
    const struct listed_job *j = selected(t);

    t->typing = false;
    if (!sig)
        errmsg_set(&t->message, 0, "'%s' is no signal", word);
    else if (!j || strcmp(j->id, t->selected) != 0)
        errmsg_set(&t->message, 0, "job %s has ended", t->selected);
    else if (job_list_signal(j, sig, &t->message) == 0)
        errmsg_set(&t->message, 0, "job %s: signal %s is sent", j->id, word);
}

static void type(struct top *t, int key)
{
    size_t n = strlen(t->word);

    if (key == '\r' || key == '\n')
        send_signal(t);
    else if (key == '\033')
        t->typing = false;
    else if ((key == 0x7f || key == '\b') && n > 0)
        t->word[n - 1] = '\0';
    else if (key > ' ' && key < 0x7f && n + 1 < sizeof t->word) {
        t->word[n] = (char)key;
        t->word[n + 1] = '\0';
    }
}

static void command(struct top *t, int key)
{
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        if (key == sorts[i].key)
            sort_by(t, sorts[i].by);
    }
    switch (key) {
    case SCREEN_KEY_UP: move(t, -1); break;
    case SCREEN_KEY_DOWN: move(t, 1); break;
    case '\r':
    case '\n': ask_who(t); break;
    case 'k': begin_signal(t); break;
    case 'h':
    case '?': t->view = TOP_HELP; break;
    case ' ': ask_again(t); break;
    case 'q': t->over = true; break;
    default: break;
    }
}

static void on_key(struct top *t)
{
    int key = screen_key();

    if (key == SCREEN_KEY_END) {
        t->over = true;
        return;
    }
    t->message.text[0] = '\0';
    if (t->typing)
        type(t, key);
    else if (t->view == TOP_TABLE)
        command(t, key);
    else if (key == SCREEN_KEY_UP || key == SCREEN_KEY_DOWN)
        move(t, key == SCREEN_KEY_UP ? -1 : 1);
    else
        t->view = TOP_TABLE;
    show(t);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Ctrl-Z: the terminal is the shell's until we are continued. */
static void pause_here(struct top *t)
{
    screen_close(&t->screen);
    raise(SIGSTOP);
    if (screen_open(&t->screen) < 0)
        t->over = true;
    show(t);
}

static void on_signal(struct top *t)
{
    struct signalfd_siginfo info;

    if (read(t->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGTSTP) {
        pause_here(t);
    } else if (info.ssi_signo == SIGWINCH) {
        screen_measure(&t->screen);
        show(t);
    } else {
        t->over = true;
        t->code = info.ssi_signo == SIGINT ? 0 : 128 + (int)info.ssi_signo;
    }
}

static void on_timer(struct top *t)
{
    uint64_t times;

    if (read(t->timer, &times, sizeof times) != (ssize_t)sizeof times)
        return;
    if (t->left && --t->left == 0) {
        t->over = true;
        return;
    }
    ask_again(t);
    show(t);
}

static void look(struct top *t)
{
    struct pollfd p[3] = { { t->signals, POLLIN, 0 },
                           { STDIN_FILENO, POLLIN, 0 },
                           { t->timer, POLLIN, 0 } };

    ask_again(t);
    show(t);
    while (!t->over) {
        if (poll(p, 3, -1) < 0)
            continue;
        if (p[0].revents)
            on_signal(t);
        if (p[1].revents && !t->over)
            on_key(t);
        if (p[2].revents && !t->over)
            on_timer(t);
    }
}

static int open_descriptors(struct top *t)
{
    struct itimerspec every = { .it_interval = { .tv_sec = (time_t)(t->period_ms / 1000),
                                                 .tv_nsec =
                                                     (long)(t->period_ms % 1000) * 1000000 } };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGTSTP);
    sigaddset(&set, SIGWINCH);
    sigprocmask(SIG_BLOCK, &set, NULL);
    every.it_value = every.it_interval;
    t->signals = signalfd(-1, &set, SFD_CLOEXEC);
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (t->signals < 0 || t->timer < 0 || timerfd_settime(t->timer, 0, &every, NULL) < 0)
        return -errno;
    return 0;
}

static int on_terminal(struct top *t)
{
    int rc = open_descriptors(t);

    if (rc == 0)
        rc = screen_open(&t->screen);
    if (rc == 0)
        look(t);
    screen_close(&t->screen);
    if (rc < 0)
        log_error(t->line->log, "top: the terminal cannot be used: %s", err_text(rc));
    return rc < 0 ? 1 : t->code;
}

/* ---- without a terminal ---------------------------------------------------------------------- */

static bool print_json(struct top *t)
{
    struct buf out = BUF_NULL(TOP_TEXT_MAX * 16);
    bool good;

    ask_again(t);
    job_table_json(&t->jobs, "wireup-top-1", &out);
    good = buf_ok(&out) && fwrite(buf_slice(&out).ptr, 1, buf_len(&out), stdout) == buf_len(&out) &&
           fflush(stdout) == 0;
    buf_free(&out);
    return good;
}

static int print_lines(struct top *t)
{
    uint64_t times;
    int rc = open_descriptors(t);
    struct pollfd p[2] = { { t->signals, POLLIN, 0 }, { t->timer, POLLIN, 0 } };

    while (rc == 0 && print_json(t)) {
        if (t->left && --t->left == 0)
            return 0;
        if ((poll(p, 2, -1) > 0 && p[0].revents) || read(t->timer, &times, sizeof times) < 0)
            return 0;
    }
    return 1;
}

/* "2", "0.5" */
static bool read_period(const char *word, uint64_t *ms_p)
{
    char *end;
    double v = strtod(word, &end);

    if (end == word || *end || !(v >= TOP_LEAST_MS / 1000.0) || v > 86400)
        return false;
    *ms_p = (uint64_t)(v * 1000);
    return true;
}

static bool read_choices(struct top *t)
{
    const char *period = t->line->choices[CHOICE_top_period];
    const char *count = t->line->choices[CHOICE_top_count];

    t->period_ms = 2000;
    if (period && !read_period(period, &t->period_ms)) {
        log_error(t->line->log, "top: --period must be from 0.5 to 86400 seconds, not '%s'",
                  period);
        return false;
    }
    if (count && (!slice_u32(slice_str(count), &t->left) || t->left == 0)) {
        log_error(t->line->log, "top: --count must be a number from 1, not '%s'", count);
        return false;
    }
    return true;
}

int top_command(const struct command_line *l)
{
    struct top t = { .line = l,
                     .sort = JOB_COLUMN_ID,
                     .report = BUF_NULL(TOP_TEXT_MAX),
                     .timer = -1,
                     .signals = -1 };
    int code = 2;

    if (!read_choices(&t))
        return code;
    if (l->choices[CHOICE_top_json])
        code = print_lines(&t);
    else if (l->choices[CHOICE_top_once] || !screen_is_possible())
        code = queries_table(l, false);
    else
        code = on_terminal(&t);
    if (t.timer >= 0)
        close(t.timer);
    if (t.signals >= 0)
        close(t.signals);
    job_list_free(&t.jobs);
    buf_free(&t.report);
    return code;
}
