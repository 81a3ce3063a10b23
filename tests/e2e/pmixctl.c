/* pmixctl.c - a PMIx program on OpenPMIx's own client library, that has things done: job control,
 * logs, output of others, heartbeats, events of the server's own, waiting with a time-out.
 *
 *   pmixctl timeout      nobody waits longer than it would
 *   pmixctl signal       rank 0 stops, lets go on and signals rank 1, and ends the last one
 *   pmixctl cleanup DIR  registers what it makes in DIR
 *   pmixctl log          says lines through the launcher
 *   pmixctl help         sends help messages as Open MPI 5 and 4 do
 *   pmixctl listen       rank 0 hears what rank 1 writes
 *   pmixctl recover GO   spawns a job that outlives one of its processes
 *   pmixctl recover GO not   and one that does not
 *
 *   pmixctl child        spawns itself, listens to the children, and hears of their end
 *
 *   pmixctl placed MAP RANK   rank 0 spawns four that say their rank and where they are
 *
 *   pmixctl bond HOW     spawns two of itself, which connect with all and then: part (disconnect),
 *                        leave (finalize without that), exit, or get killed
 *
 *   pmixctl beat         the last rank promises heartbeats and falls silent
 *
 *   pmixctl ranges       events for some, for the namespace, for nobody else
 *
 *   pmixctl pids         each asks for the process number of each
 *   pmixctl pids lie     the last one says a wrong one
 *
 *   pmixctl credential   asks for a credential and has it checked
 *
 *   pmixctl query        asks all that can be asked
 *
 *   pmixctl reserved     gets all that a server tells, of its own job and of a child's
 *
 * Prints `pmixctl MODE good` from rank 0, and `pmixctl MODE WRONG rank R: what` from whoever finds
 * something wrong.
 */
#include <fcntl.h>
#include <pmix.h>
#include <pmix_tool.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeps.h"
#define PROGRAM "pmixctl"
#include "pmix_rank.h"

static atomic_int events, alerts, ends, job_ends, signals, bytes;
static char output[4096];

/* ---- waiting --------------------------------------------------------------------------------- */

static void timed(pmix_info_t *info, int seconds)
{
    PMIX_INFO_LOAD(info, PMIX_TIMEOUT, &seconds, PMIX_INT);
}

static void expect_late(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_ERR_TIMEOUT)
        complain("%s: %s", what, PMIx_Error_string(rc));
}

static void check_timeouts(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD), next = process((me.rank + 1) % size);
    pmix_info_t one, two[2];
    pmix_pdata_t found;
    pmix_value_t *v;
    bool wait = true;

    timed(&one, 1);
    if (me.rank == 0) { /* the others come later */
        expect_late("fence", PMIx_Fence(&all, 1, &one, 1));
        expect_late("connect", PMIx_Connect(&all, 1, &one, 1));
        expect_late("get", PMIx_Get(&next, "not there", &one, 1, &v));
        timed(&two[0], 1);
        PMIX_INFO_LOAD(&two[1], PMIX_WAIT, &wait, PMIX_BOOL);
        PMIX_PDATA_CONSTRUCT(&found);
        PMIX_LOAD_KEY(found.key, "nobody publishes this");
        expect_late("lookup", PMIx_Lookup(&found, 1, two, 2));
        must("commit", PMIx_Commit());
    } else {
        for (int i = 0; i < 2000; i++) {
            pmix_proc_t first = process(0);
            if (PMIx_Get(&first, "go", NULL, 0, &v) == PMIX_SUCCESS)
                break;
        }
    }
    if (me.rank == 0) {
        pmix_value_t go;
        PMIX_VALUE_LOAD(&go, "on", PMIX_STRING);
        must("put", PMIx_Put(PMIX_GLOBAL, "go", &go));
        must("commit", PMIx_Commit());
    }
    fence(); /* all are there, and generations have not mixed */
    timed(&one, 60);
    must("fence in time", PMIx_Fence(&all, 1, &one, 1));
    must("connect in time", PMIx_Connect(&all, 1, &one, 1));
    must("disconnect in time", PMIx_Disconnect(&all, 1, &one, 1));
}

/* ---- signals --------------------------------------------------------------------------------- */

static void on_signal(int sig)
{
    (void)sig;
    signals++;
}

static atomic_int checkpoints, written;

static void on_write(int sig)
{
    (void)sig;
    written++;
}

static pmix_status_t control(uint32_t rank, const char *key, const void *value,
                             pmix_data_type_t type)
{
    pmix_proc_t p = process(rank);
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, key, value, type);
    return PMIx_Job_control(&p, 1, &info, 1, NULL, NULL);
}

static char state_of(pid_t pid)
{
    char path[64], state = '?';
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (!f)
        return 'X';
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(f);
    return state;
}

static void wait_state(pid_t pid, bool stopped)
{
    for (int i = 0; i < 150000 && (state_of(pid) == 'T') != stopped; i++)
        usleep(2000);
    if ((state_of(pid) == 'T') != stopped)
        complain("the process is in state %c", state_of(pid));
}

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                   size_t ninfo, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)source;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (code == PMIX_EVENT_JOB_END && !strcmp(info[i].key, PMIX_JOB_TERM_STATUS))
            job_ends += info[i].value.data.status == PMIX_SUCCESS;
        else if (code != PMIX_EVENT_JOB_END && !strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC))
            ends++;
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void register_event(pmix_status_t code, pmix_notification_fn_t fn)
{
    pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL);

    if (rc < 0)
        complain("register: %s", PMIx_Error_string(rc));
}

static void on_checkpoint(size_t id, pmix_status_t code, const pmix_proc_t *source,
                          pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                          pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)code;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++)
        checkpoints += source->rank == 0 && !strcmp(info[i].key, PMIX_JOB_CTRL_CHECKPOINT) &&
                       !strcmp(info[i].value.data.string, "first");
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* The second process writes one when it gets the event, or the signal. */
static void ask_for_checkpoint(bool event, int sig, pmix_status_t want)
{
    pmix_proc_t second = process(1);
    pmix_info_t infos[3];
    pmix_status_t rc;
    size_t n = 0;

    PMIX_INFO_LOAD(&infos[n++], PMIX_JOB_CTRL_CHECKPOINT, "first", PMIX_STRING);
    if (event)
        PMIX_INFO_LOAD(&infos[n++], PMIX_JOB_CTRL_CHECKPOINT_EVENT, NULL, PMIX_BOOL);
    if (sig)
        PMIX_INFO_LOAD(&infos[n++], PMIX_JOB_CTRL_CHECKPOINT_SIGNAL, &sig, PMIX_INT);
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_REQUIRED(&infos[i]);
    rc = PMIx_Job_control(&second, 1, infos, n, NULL, NULL);
    if (rc != want)
        complain("checkpoint by %s%d: %s", event ? "event and " : "", sig, PMIx_Error_string(rc));
}

static void check_signals(void)
{
    pmix_value_t v, *pid = NULL;
    pmix_proc_t second = process(1);
    int usr1 = SIGUSR1;
    pid_t mine = getpid();
    bool yes = true;

    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_write);
    register_event(PMIX_ERR_PROC_KILLED_BY_CMD, on_end);
    register_event(PMIX_JCTRL_CHECKPOINT, on_checkpoint);
    PMIX_VALUE_LOAD(&v, &mine, PMIX_PID);
    must("put", PMIx_Put(PMIX_GLOBAL, "pid", &v));
    must("commit", PMIx_Commit());
    fence();
    if (me.rank == 0) {
        must("get", PMIx_Get(&second, "pid", NULL, 0, &pid));
        must("pause", control(1, PMIX_JOB_CTRL_PAUSE, &yes, PMIX_BOOL));
        wait_state(pid->data.pid, true);
        must("resume", control(1, PMIX_JOB_CTRL_RESUME, &yes, PMIX_BOOL));
        wait_state(pid->data.pid, false);
        must("signal", control(1, PMIX_JOB_CTRL_SIGNAL, &usr1, PMIX_INT));
        ask_for_checkpoint(true, 0, PMIX_SUCCESS);
        ask_for_checkpoint(false, SIGUSR2, PMIX_SUCCESS);
        ask_for_checkpoint(false, 0, PMIX_ERR_NOT_SUPPORTED);
        ask_for_checkpoint(true, SIGUSR2, PMIX_ERR_NOT_SUPPORTED); /* or that is a time-out */
        if (control(9999, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL) == PMIX_SUCCESS)
            complain("nobody can be killed");
        if (control(1, PMIX_JOB_CTRL_RESTART, "x", PMIX_STRING) != PMIX_ERR_NOT_SUPPORTED)
            complain("restarting is done");
        must("kill", control(size - 1, PMIX_JOB_CTRL_KILL, &yes, PMIX_BOOL));
    } else if (me.rank == 1) {
        wait_for("signals", &signals, 1);
        wait_for("checkpoints by event", &checkpoints, 1);
        wait_for("checkpoints by signal", &written, 1);
    }
    if (me.rank != 1 && checkpoints)
        complain("asked for a checkpoint of another process");
    if (me.rank == size - 1)
        pause();
    wait_for("ends that are told", &ends, 1);
}

/* ---- clearing up ----------------------------------------------------------------------------- */

static void make_file(const char *dir, const char *name, char *path)
{
    int fd;

    snprintf(path, 512, "%s/%s", dir, name);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0)
        complain("cannot make %s", path);
    close(fd);
}

static void check_cleanup(const char *dir)
{
    char path[600], own[512], below[600];
    pmix_proc_t self = process(me.rank);
    pmix_info_t infos[2];
    bool yes = true;

    snprintf(own, sizeof own, "%s/dir%u", dir, me.rank);
    mkdir(own, 0700);
    snprintf(below, sizeof below, "%s/below", own);
    mkdir(below, 0700);
    make_file(below, "file", path);
    PMIX_INFO_LOAD(&infos[0], PMIX_REGISTER_CLEANUP_DIR, own, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    must("register directory", PMIx_Job_control(&self, 1, infos, 2, NULL, NULL));
    snprintf(own, sizeof own, "file%u", me.rank);
    make_file(dir, own, path);
    PMIX_INFO_LOAD(&infos[0], PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
    must("register file", PMIx_Job_control(NULL, 0, infos, 1, NULL, NULL));
    PMIX_INFO_LOAD(&infos[0], PMIX_REGISTER_CLEANUP, "no/absolute/path", PMIX_STRING);
    if (PMIx_Job_control(NULL, 0, infos, 1, NULL, NULL) == PMIX_SUCCESS)
        complain("a relative path is registered");
    /* A link to somewhere else is no way to remove what lies there. */
    snprintf(path, sizeof path, "%s/link/precious", dir);
    PMIX_INFO_LOAD(&infos[0], PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
    must("register", PMIx_Job_control(NULL, 0, infos, 1, NULL, NULL));
    fence();
    snprintf(path, sizeof path, "%s/file%u", dir, (me.rank + 1) % size);
    if (access(path, F_OK) != 0)
        complain("a file goes too early");
    fence();
}

/* ---- logs ------------------------------------------------------------------------------------ */

static void check_log(void)
{
    pmix_info_t data[2], once;
    bool yes = true;
    char text[64];

    snprintf(text, sizeof text, "rank %u says hello", me.rank);
    PMIX_INFO_LOAD(&data[0], PMIX_LOG_STDERR, text, PMIX_STRING);
    must("log", PMIx_Log(data, 1, NULL, 0));
    PMIX_INFO_LOAD(&data[0], PMIX_LOG_STDOUT, "once\n", PMIX_STRING);
    PMIX_INFO_LOAD(&data[1], PMIX_LOG_STDERR, "never", PMIX_STRING);
    PMIX_INFO_LOAD(&once, PMIX_LOG_ONCE, &yes, PMIX_BOOL);
    if (me.rank == 0)
        must("log once", PMIx_Log(data, 2, &once, 1));
    PMIX_INFO_LOAD(&data[0], PMIX_LOG_EMAIL, "nobody", PMIX_STRING);
    if (PMIx_Log(data, 1, NULL, 0) == PMIX_SUCCESS)
        complain("mail is sent");
    fence();
}

static pmix_status_t log_as(const char *key, const void *value, pmix_data_type_t type,
                            pmix_info_t *words, size_t nwords)
{
    pmix_info_t data;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&data, key, value, type);
    rc = PMIx_Log(&data, 1, words, nwords);
    PMIX_INFO_DESTRUCT(&data);
    return rc;
}

/* A page of Open MPI 4's: counts of one, lengths with the final NUL, a flag. */
static const char packed[] = "\0\0\0\1\0\0\0\7four.t\0"
                             "\0\0\0\1\0\0\0\6topic\0"
                             "\0\0\0\1\1"
                             "\0\0\0\1\0\0\0\16page of four\n";

static void check_help(void)
{
    pmix_byte_object_t four = { .bytes = (char *)(uintptr_t)packed, .size = sizeof packed };
    pmix_info_t words[3];
    bool yes = true, no = false;

    PMIX_INFO_LOAD(&words[0], PMIX_LOG_AGG, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&words[1], PMIX_LOG_KEY, "five.txt", PMIX_STRING);
    PMIX_INFO_LOAD(&words[2], PMIX_LOG_VAL, "topic", PMIX_STRING);
    must("help of five", log_as(PMIX_LOG_STDERR, "page of five\n", PMIX_STRING, words, 3));
    must("once more", log_as(PMIX_LOG_STDERR, "page of five\n", PMIX_STRING, words, 3));
    must("help of four", log_as(PMIX_LOG_MSG, &four, PMIX_BYTE_OBJECT, NULL, 0));
    PMIX_INFO_LOAD(&words[0], PMIX_LOG_AGG, &no, PMIX_BOOL);
    must("not counted", log_as(PMIX_LOG_STDERR, "each page\n", PMIX_STRING, words, 3));
    four.size--;
    if (log_as(PMIX_LOG_MSG, &four, PMIX_BYTE_OBJECT, NULL, 0) == PMIX_SUCCESS)
        complain("half a help message is shown");
    PMIX_INFO_LOAD(&words[0], PMIX_LOG_EMAIL_SUBJECT, "none", PMIX_STRING);
    PMIX_INFO_REQUIRED(&words[0]);
    if (log_as(PMIX_LOG_STDERR, "", PMIX_STRING, words, 1) == PMIX_SUCCESS)
        complain("what must be done and is not is said to be done");
    fence();
}

/* ---- output ---------------------------------------------------------------------------------- */

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *payload, pmix_info_t *info, size_t ninfo)
{
    (void)id;
    (void)channel;
    (void)source;
    (void)info;
    (void)ninfo;
    if (!payload || !payload->bytes || (size_t)bytes + payload->size >= sizeof output)
        return;
    memcpy(output + bytes, payload->bytes, payload->size);
    bytes += (int)payload->size;
}

static size_t listen_to(const pmix_proc_t *who)
{
    pmix_status_t rc =
        PMIx_IOF_pull(who, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);

    if (rc < 0)
        complain("pull: %s", PMIx_Error_string(rc));
    return rc < 0 ? 0 : (size_t)rc;
}

static void on_unheard(pmix_status_t status, void *arg)
{
    must("deregister", status);
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* With a callback, because without one OpenPMIx's client (4.2) frees the request twice, once in
 * each of its threads, and on a busy machine it stands still. */
static void stop_listening(size_t id)
{
    static atomic_int unheard;

    must("deregister", PMIx_IOF_deregister(id, NULL, 0, on_unheard, &unheard));
    wait_for("deregistered", &unheard, 1);
}

static void check_listen(void)
{
    pmix_proc_t second = process(1), nobody = second;
    size_t id = 0;

    if (me.rank == 0) {
        id = listen_to(&second);
        PMIX_LOAD_NSPACE(nobody.nspace, "nobody");
        if (PMIx_IOF_pull(&nobody, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL) >= 0)
            complain("nobody is listened to");
    }
    fence();
    if (me.rank == 1) {
        printf("said by rank 1\n");
        fflush(stdout);
    }
    if (me.rank == 0) {
        wait_for("bytes", &bytes, 15);
        if (strcmp(output, "said by rank 1\n") != 0)
            complain("heard '%s'", output);
        stop_listening(id);
    }
    fence();
    if (me.rank == 1) {
        printf("unheard\n");
        fflush(stdout);
    }
    fence();
    if (me.rank == 0 && bytes != 15)
        complain("heard more: %s", output);
}

/* ---- children -------------------------------------------------------------------------------- */

static void check_child(void)
{
    char *argv[] = { "sh", "-c", "echo a child; exit 0", NULL };
    pmix_nspace_t name;
    pmix_proc_t children;
    pmix_app_t app;

    register_event(PMIX_EVENT_JOB_END, on_end);
    register_event(PMIX_EVENT_PROC_TERMINATED, on_end);
    if (me.rank == 0) {
        PMIX_APP_CONSTRUCT(&app);
        app.cmd = "/bin/sh";
        app.argv = argv;
        app.maxprocs = 2;
        must("spawn", PMIx_Spawn(NULL, 0, &app, 1, name));
        PMIX_LOAD_PROCID(&children, name, PMIX_RANK_WILDCARD);
        listen_to(&children);
        wait_for("bytes of children", &bytes, 16);
        if (strcmp(output, "a child\na child\n") != 0)
            complain("heard '%s'", output);
        wait_for("ends of children", &ends, 2);
        wait_for("the end of their job", &job_ends, 1);
    }
    fence();
}

static void check_placed(const char *map, const char *rank)
{
    char shell[] = "sh", option[] = "-c", script[] = "echo $PMIX_RANK $(hostname)";
    char *argv[] = { shell, option, script, NULL };
    pmix_nspace_t name;
    pmix_info_t info[2];
    pmix_app_t app;

    if (me.rank != 0)
        return;
    register_event(PMIX_EVENT_JOB_END, on_end);
    PMIX_INFO_LOAD(&info[0], PMIX_MAPBY, map, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_RANKBY, rank, PMIX_STRING);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = "/bin/sh";
    app.argv = argv;
    app.maxprocs = 4;
    must("spawn", PMIx_Spawn(info, 2, &app, 1, name));
    if (!wrong)
        wait_for("the end of their job", &job_ends, 1);
}

/* A program by this name, in that directory (NULL: ours). */
static void check_start(char *name, const char *wdir)
{
    char *argv[] = { name, NULL };
    pmix_nspace_t nspace;
    pmix_info_t info;
    pmix_app_t app;

    if (me.rank != 0)
        return;
    register_event(PMIX_EVENT_JOB_END, on_end);
    PMIX_APP_CONSTRUCT(&app);
    PMIX_INFO_LOAD(&info, PMIX_WDIR, wdir, PMIX_STRING);
    app.cmd = name;
    app.argv = argv;
    app.maxprocs = 2;
    app.info = &info;
    app.ninfo = wdir != NULL;
    must("spawn", PMIx_Spawn(NULL, 0, &app, 1, nspace));
    if (!wrong)
        wait_for("the end of their job", &job_ends, 1);
}

/* One of the children ends badly; the other one speaks only after that. */
static void check_recover(const char *go, bool is)
{
    char script[4096], shell[] = "sh", option[] = "-c", *argv[] = { shell, option, script, NULL };
    pmix_nspace_t name;
    pmix_proc_t children;
    pmix_info_t info;
    pmix_app_t app;

    register_event(PMIX_ERR_PROC_ABORTED_BY_SIG, on_end);
    if (me.rank == 0) {
        snprintf(
            script, sizeof script,
            "[ $PMIX_RANK = 0 ] || kill -9 $$; until [ -e '%s' ]; do sleep 0.02; done; echo there",
            go);
        PMIX_APP_CONSTRUCT(&app);
        app.cmd = "/bin/sh";
        app.argv = argv;
        app.maxprocs = 2;
        PMIX_INFO_LOAD(&info, PMIX_JOB_RECOVERABLE, &is, PMIX_BOOL);
        must("spawn", PMIx_Spawn(&info, 1, &app, 1, name));
        PMIX_LOAD_PROCID(&children, name, PMIX_RANK_WILDCARD);
        listen_to(&children);
        wait_for("the end of a child", &ends, 1);
        fclose(fopen(go, "w"));
        wait_for("bytes of the other", &bytes, 6);
    }
    fence();
}

/* ---- who has connected ---- */

static atomic_int unbound, strays, gone;

static void on_unbound(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                       size_t ninfo, pmix_info_t *results, size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const pmix_proc_t *p = NULL;

    (void)id;
    (void)source;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC))
            p = info[i].value.data.proc;
    }
    unbound += code == PMIX_ERR_PROC_TERM_WO_SYNC;
    gone += code == PMIX_EVENT_JOB_END;
    strays += !p || !strcmp(p->nspace, me.nspace);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void spawn_connected(const char *self, const char *how, pmix_value_t *name_p)
{
    char mode_word[] = "connected",
         *argv[] = { (char *)(uintptr_t)self, mode_word, (char *)(uintptr_t)how, me.nspace, NULL };
    pmix_nspace_t name;
    pmix_info_t go_on;
    pmix_app_t app;
    bool yes = true;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = argv[0];
    app.argv = argv;
    app.maxprocs = 2;
    PMIX_INFO_LOAD(&go_on, PMIX_JOB_RECOVERABLE, &yes, PMIX_BOOL);
    must("spawn", PMIx_Spawn(&go_on, 1, &app, 1, name));
    PMIX_VALUE_LOAD(name_p, name, PMIX_STRING);
}

static void all_of(pmix_proc_t both[2], const char *a, const char *b)
{
    PMIX_LOAD_PROCID(&both[0], a, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], b, PMIX_RANK_WILDCARD);
}

/* Their end comes behind what is said of them. */
static void check_connected(const char *self, const char *how)
{
    bool part = !strcmp(how, "part");
    pmix_proc_t root = process(0), both[2];
    pmix_value_t name, *v = NULL;

    register_event(PMIX_ERR_PROC_TERM_WO_SYNC, on_unbound);
    register_event(PMIX_EVENT_JOB_END, on_unbound);
    fence();
    if (me.rank == 0) {
        spawn_connected(self, how, &name);
        must("put", PMIx_Put(PMIX_GLOBAL, "children", &name));
        must("commit", PMIx_Commit());
    }
    fence();
    must("get", PMIx_Get(&root, "children", NULL, 0, &v));
    if (!v)
        return;
    all_of(both, me.nspace, v->data.string);
    must("connect", PMIx_Connect(both, 2, NULL, 0));
    if (part)
        must("disconnect", PMIx_Disconnect(both, 2, NULL, 0));
    wait_for("the children's end", &gone, 1);
    if (unbound != (part ? 0 : 2) || strays)
        complain("%d went without disconnecting, %d of them ours", (int)unbound, (int)strays);
    fence();
}

static void run_connected(const char *how, const char *parents)
{
    pmix_proc_t both[2];

    all_of(both, parents, me.nspace);
    must("connect", PMIx_Connect(both, 2, NULL, 0));
    if (!strcmp(how, "part"))
        must("disconnect", PMIx_Disconnect(both, 2, NULL, 0));
    else if (!strcmp(how, "exit"))
        _exit(0);
    else if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
}

/* ---- heartbeats and ranges ------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)code;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    if (code == PMIX_MONITOR_HEARTBEAT_ALERT)
        alerts += source->rank == size - 1;
    else /* what we have said ourselves comes at a time of its own */
        events += source->rank != me.rank;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void check_beats(void)
{
    pmix_info_t what, how[3];
    uint32_t period = 1, drops = 1;
    bool yes = true;

    register_event(PMIX_MONITOR_HEARTBEAT_ALERT, on_event);
    fence();
    if (me.rank == size - 1) {
        PMIX_INFO_LOAD(&what, PMIX_MONITOR_HEARTBEAT, &yes, PMIX_BOOL);
        PMIX_INFO_LOAD(&how[0], PMIX_MONITOR_HEARTBEAT_TIME, &period, PMIX_UINT32);
        PMIX_INFO_LOAD(&how[1], PMIX_MONITOR_HEARTBEAT_DROPS, &drops, PMIX_UINT32);
        PMIX_INFO_LOAD(&how[2], PMIX_MONITOR_APP_CONTROL, &yes, PMIX_BOOL);
        PMIX_INFO_REQUIRED(&how[2]);
        must("monitor",
             PMIx_Process_monitor(&what, PMIX_MONITOR_HEARTBEAT_ALERT, how, 3, NULL, NULL));
        for (int i = 0; i < 3; i++) {
            PMIX_INFO_LOAD(&what, PMIX_SEND_HEARTBEAT, NULL, PMIX_BOOL); /* as PMIx_Heartbeat() */
            must("beat", PMIx_Process_monitor_nb(&what, PMIX_SUCCESS, NULL, 0, NULL, NULL));
            usleep(500000);
        }
    } else {
        wait_for("alerts", &alerts, 1);
    }
    fence();
}

enum { MY_EVENT = -5001 };

static void notify(pmix_data_range_t range, const pmix_proc_t *only)
{
    pmix_info_t info[2];
    bool yes = true;
    size_t n = 0;

    if (only)
        PMIX_INFO_LOAD(&info[n++], PMIX_EVENT_CUSTOM_RANGE, only, PMIX_PROC);
    PMIX_INFO_LOAD(&info[n++], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    must("notify", PMIx_Notify_event(MY_EVENT, &me, range, info, n, NULL, NULL));
}

/* Whether that rank is on our node. */
static bool is_near(uint32_t rank)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *here = NULL, *there = NULL;
    bool same;

    must("our host", PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &here));
    must("its host", PMIx_Get(&p, PMIX_HOSTNAME, NULL, 0, &there));
    same = here && there && !strcmp(here->data.string, there->data.string);
    PMIX_VALUE_RELEASE(here);
    PMIX_VALUE_RELEASE(there);
    return same;
}

/* Who has said them hears none of them. */
static void expect_events(const char *what, uint32_t from, int n)
{
    if (me.rank != from)
        wait_for(what, &events, n);
    fence(); /* nothing that was said before it comes behind it */
    if (me.rank != from && events != n)
        complain("%s: %d, not %d", what, (int)events, n);
    fence();
    events = 0;
    fence();
}

/* The last one is said to all, so that each hears it behind what it should not have heard. */
static void check_ranges_of(uint32_t from)
{
    static const pmix_data_range_t wide[] = { PMIX_RANGE_LOCAL, PMIX_RANGE_NAMESPACE,
                                              PMIX_RANGE_SESSION, PMIX_RANGE_GLOBAL };
    uint32_t to = (from + 1) % size;
    pmix_proc_t next = process(to);
    int all = is_near(from) ? 4 : 3;

    if (me.rank == from) {
        notify(PMIX_RANGE_CUSTOM, &next);
        notify(PMIX_RANGE_PROC_LOCAL, NULL);
        notify(PMIX_RANGE_RM, NULL);
        notify(PMIX_RANGE_GLOBAL, NULL);
    }
    expect_events("events for one", from, me.rank == to ? 2 : 1);
    for (size_t i = 0; i < sizeof wide / sizeof *wide && me.rank == from; i++)
        notify(wide[i], NULL);
    expect_events("events", from, all);
}

static void check_ranges(void)
{
    register_event(MY_EVENT, on_event);
    fence();
    check_ranges_of(0);
    check_ranges_of(size - 1);
}

/* ---- process numbers ---- */

static void check_pids(bool lie)
{
    pmix_value_t mine = { .type = PMIX_PID, .data.pid = getpid() }, *v, *output_v;
    pmix_info_t patient;

    /* Before anybody else has said anything, and perhaps before it runs. */
    timed(&patient, 600);
    for (uint32_t i = 1; i <= size; i++) {
        pmix_proc_t p = process((me.rank + i) % size);
        must("its pid", PMIx_Get(&p, PMIX_PROC_PID, &patient, 1, &v));
    }
    if (lie && me.rank == size - 1)
        mine.data.pid++;
    must("put", PMIx_Put(PMIX_GLOBAL, "own pid", &mine));
    must("commit", PMIx_Commit());
    fence();
    for (uint32_t r = 0; r < size; r++) {
        pmix_proc_t p = process(r);
        must("pid", PMIx_Get(&p, PMIX_PROC_PID, NULL, 0, &v));
        must("own pid", PMIx_Get(&p, "own pid", NULL, 0, &output_v));
        if (!wrong && (v->type != PMIX_PID || v->data.pid != output_v->data.pid))
            complain("rank %u is %d, not %d", r, (int)v->data.pid, (int)output_v->data.pid);
    }
    fence();
}

/* ---- credentials ----------------------------------------------------------------------------- */

static void check_credential(void)
{
    pmix_byte_object_t credential = { NULL, 0 }, forged = { "MUNGE:xx:", 10 };
    pmix_info_t *results = NULL;
    size_t n = 0;
    uint32_t uid = UINT32_MAX;
    pmix_status_t rc = PMIx_Get_credential(NULL, 0, &credential);

    if (rc == PMIX_ERR_NOT_SUPPORTED) {
        if (me.rank == 0)
            printf("pmixctl credential none\n");
        return;
    }
    must("get credential", rc);
    must("validate", PMIx_Validate_credential(&credential, NULL, 0, &results, &n));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(results[i].key, PMIX_USERID))
            uid = results[i].value.data.uint32;
    }
    if (uid != getuid())
        complain("it is user %u's", uid);
    if (PMIx_Validate_credential(&forged, NULL, 0, &results, &n) == PMIX_SUCCESS)
        complain("a forged one is good");
}

/* ---- questions ------------------------------------------------------------------------------- */

static pmix_status_t ask(const char *key, const char *qualifier, const void *value,
                         pmix_data_type_t type, pmix_info_t **found_p)
{
    pmix_status_t rc;
    pmix_query_t q;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    if (qualifier) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], qualifier, value, type);
    }
    *found_p = NULL;
    rc = PMIx_Query_info(&q, 1, found_p, &n);
    if (rc == PMIX_SUCCESS && n != 1)
        complain("%s: %zu answers", key, n);
    return rc;
}

/* All have met in the construction of the group: nobody is still to be started. */
static void check_states(void)
{
    pmix_info_t *found;
    pmix_proc_info_t *rows;

    if (ask(PMIX_QUERY_PROC_TABLE, NULL, NULL, PMIX_UNDEF, &found) != PMIX_SUCCESS)
        return complain("no table of processes");
    rows = found->value.data.darray->array;
    for (size_t i = 0; i < found->value.data.darray->size; i++) {
        if (rows[i].state == PMIX_PROC_STATE_PREPPED)
            complain("rank %u has not been started", rows[i].proc.rank);
    }
}

static void check_query(void)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
    } keys[] = {
        { PMIX_QUERY_NAMESPACES, PMIX_STRING },
        { PMIX_QUERY_NAMESPACE_INFO, PMIX_DATA_ARRAY },
        { PMIX_QUERY_JOB_STATUS, PMIX_STATUS },
        { PMIX_QUERY_PROC_TABLE, PMIX_DATA_ARRAY },
        { PMIX_QUERY_LOCAL_PROC_TABLE, PMIX_DATA_ARRAY },
        { PMIX_JOB_SIZE, PMIX_UINT32 },
        { "pmix.qry.aslots", PMIX_UINT32 },
        { PMIX_QUERY_MEMORY_USAGE, PMIX_DATA_ARRAY },
        { PMIX_QUERY_NUM_PSETS, PMIX_SIZE },
        { PMIX_QUERY_NUM_GROUPS, PMIX_SIZE },
        { PMIX_QUERY_GROUP_NAMES, PMIX_STRING },
        { PMIX_QUERY_SPAWN_SUPPORT, PMIX_STRING },
        { PMIX_QUERY_AUTHORIZATIONS, PMIX_DATA_ARRAY },
        { PMIX_QUERY_SUPPORTED_KEYS, PMIX_STRING },
    };
    static const char *const none[] = { PMIX_QUERY_QUEUE_LIST, PMIX_QUERY_ALLOC_STATUS,
                                        "pmix.qry.nonsense" };
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_info_t *found;
    bool yes = true;
    pmix_status_t rc;

    must("construct", PMIx_Group_construct("some", &all, 1, NULL, 0, &found, &(size_t){ 0 }));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        rc = ask(keys[i].key, i % 2 ? PMIX_NSPACE : PMIX_QUERY_REFRESH_CACHE,
                 i % 2 ? (const void *)me.nspace : &yes, i % 2 ? PMIX_STRING : PMIX_BOOL, &found);
        if (rc != PMIX_SUCCESS || !found || found->value.type != keys[i].type)
            complain("%s: %s", keys[i].key, PMIx_Error_string(rc));
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        rc = ask(none[i], NULL, NULL, PMIX_UNDEF, &found);
        if (rc == PMIX_SUCCESS)
            complain("%s is known", none[i]);
    }
    rc = ask(PMIX_QUERY_PROC_TABLE, PMIX_PROCID, &me, PMIX_PROC, &found);
    if (rc != PMIX_SUCCESS || found->value.data.darray->size != 1)
        complain("its own line of the table: %s", PMIx_Error_string(rc));
    rc = ask(PMIX_QUERY_GROUP_MEMBERSHIP, PMIX_GROUP_ID, "some", PMIX_STRING, &found);
    if (rc != PMIX_SUCCESS || found->value.data.darray->size != size)
        complain("members of the group: %s", PMIx_Error_string(rc));
    check_states();
    if (ask(PMIX_QUERY_JOB_STATUS, PMIX_NSPACE, "nobody", PMIX_STRING, &found) == PMIX_SUCCESS)
        complain("the status of no job");
    must("destruct", PMIx_Group_destruct("some", NULL, 0));
}

/* ---- reserved keys --------------------------------------------------------------------------- */

enum about { ABOUT_JOB, ABOUT_SESSION, ABOUT_NODE, ABOUT_APP, ABOUT_RANK, ABOUT_OWN };

/* The Standard's tables of reserved keys, as far as a launcher that makes no directories, has no
 * fabric and binds nobody can know them. */
static const struct {
    const char *key;
    enum about about;
} reserved[] = {
    { PMIX_UNIV_SIZE, ABOUT_SESSION },
    { PMIX_MAX_PROCS, ABOUT_SESSION },
    { PMIX_NUM_SLOTS, ABOUT_SESSION },
    { PMIX_NUM_NODES, ABOUT_SESSION },
    { PMIX_NODE_LIST, ABOUT_SESSION },
    { PMIX_ALLOCATED_NODELIST, ABOUT_SESSION },
    { PMIX_NUM_ALLOCATED_NODES, ABOUT_SESSION },
    { PMIX_RM_NAME, ABOUT_SESSION },
    { PMIX_RM_VERSION, ABOUT_SESSION },
    { PMIX_JOBID, ABOUT_JOB },
    { PMIX_NSPACE, ABOUT_JOB },
    { PMIX_JOB_SIZE, ABOUT_JOB },
    { PMIX_JOB_NUM_APPS, ABOUT_JOB },
    { PMIX_UNIV_SIZE, ABOUT_JOB },
    { PMIX_MAX_PROCS, ABOUT_JOB },
    { PMIX_NUM_NODES, ABOUT_JOB },
    { PMIX_NUM_SLOTS, ABOUT_JOB },
    { PMIX_NODE_LIST, ABOUT_JOB },
    { PMIX_NPROC_OFFSET, ABOUT_JOB },
    { PMIX_ANL_MAP, ABOUT_JOB },
    { PMIX_APP_SIZE, ABOUT_APP },
    { PMIX_APPLDR, ABOUT_APP },
    { PMIX_WDIR, ABOUT_APP },
    { PMIX_APP_ARGV, ABOUT_APP },
    { PMIX_MAX_PROCS, ABOUT_APP },
    { PMIX_NODE_LIST, ABOUT_APP },
    { PMIX_LOCAL_PEERS, ABOUT_NODE },
    { PMIX_LOCAL_SIZE, ABOUT_NODE },
    { PMIX_LOCALLDR, ABOUT_NODE },
    { PMIX_NODE_SIZE, ABOUT_NODE },
    { PMIX_NUM_SLOTS, ABOUT_NODE },
    { PMIX_MAX_PROCS, ABOUT_NODE },
    { PMIX_RANK, ABOUT_RANK },
    { PMIX_GLOBAL_RANK, ABOUT_RANK },
    { PMIX_APP_RANK, ABOUT_RANK },
    { PMIX_APPNUM, ABOUT_RANK },
    { PMIX_LOCAL_RANK, ABOUT_RANK },
    { PMIX_NODE_RANK, ABOUT_RANK },
    { PMIX_HOSTNAME, ABOUT_RANK },
    { PMIX_NODEID, ABOUT_RANK },
    { PMIX_REINCARNATION, ABOUT_RANK },
    { PMIX_PROC_PID, ABOUT_RANK },
    { PMIX_LOCAL_SIZE, ABOUT_OWN },
    { PMIX_LOCAL_PEERS, ABOUT_OWN },
};

static void get_reserved(const char *nspace, const char *key, enum about about)
{
    static const char *const words[] = { [ABOUT_SESSION] = PMIX_SESSION_INFO,
                                         [ABOUT_NODE] = PMIX_NODE_INFO,
                                         [ABOUT_APP] = PMIX_APP_INFO };
    static uint32_t zero;
    bool yes = true;
    pmix_value_t *v = NULL;
    pmix_info_t infos[2];
    pmix_proc_t p;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_LOAD_PROCID(&p, nspace, about == ABOUT_RANK ? 0 : PMIX_RANK_WILDCARD);
    if (about == ABOUT_SESSION || about == ABOUT_NODE || about == ABOUT_APP)
        PMIX_INFO_LOAD(&infos[n++], words[about], &yes, PMIX_BOOL);
    if (about == ABOUT_NODE)
        PMIX_INFO_LOAD(&infos[n++], PMIX_NODEID, &zero, PMIX_UINT32);
    if (about == ABOUT_APP)
        PMIX_INFO_LOAD(&infos[n++], PMIX_APPNUM, &zero, PMIX_UINT32);
    rc = PMIx_Get(&p, key, infos, n, &v);
    if (rc != PMIX_SUCCESS)
        complain("%s of %s (%d): %s", key, nspace, (int)about, PMIx_Error_string(rc));
}

static void check_reserved(void)
{
    char *argv[] = { "sh", "-c", "exec sleep 600", NULL };
    pmix_proc_t children;
    pmix_nspace_t name;
    pmix_value_t *v;
    pmix_info_t kill;
    pmix_app_t app;
    bool yes = true;

    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        get_reserved(me.nspace, reserved[i].key, reserved[i].about);
    if (PMIx_Get(&me, "pmix.nonsense", NULL, 0, &v) == PMIX_SUCCESS)
        complain("nonsense is known");
    if (me.rank != 0)
        return;
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = "/bin/sh";
    app.argv = argv;
    app.maxprocs = 1;
    must("spawn", PMIx_Spawn(NULL, 0, &app, 1, name));
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (reserved[i].about == ABOUT_JOB || reserved[i].about == ABOUT_RANK)
            get_reserved(name, reserved[i].key, reserved[i].about);
    }
    PMIX_LOAD_PROCID(&children, name, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&kill, PMIX_JOB_CTRL_TERMINATE, &yes, PMIX_BOOL);
    must("terminate", PMIx_Job_control(&children, 1, &kill, 1, NULL, NULL));
}

int main(int argc, char **argv)
{
    pmix_proc_t all;
    pmix_value_t *v;
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    mode = argc > 1 ? argv[1] : "";
    if (rc != PMIX_SUCCESS) {
        printf("pmixctl WRONG init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    all = process(PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v->data.uint32;
    if (!strcmp(mode, "timeout"))
        check_timeouts();
    else if (!strcmp(mode, "signal"))
        check_signals();
    else if (!strcmp(mode, "cleanup"))
        check_cleanup(argv[2]);
    else if (!strcmp(mode, "log"))
        check_log();
    else if (!strcmp(mode, "help"))
        check_help();
    else if (!strcmp(mode, "listen"))
        check_listen();
    else if (!strcmp(mode, "child"))
        check_child();
    else if (!strcmp(mode, "placed"))
        check_placed(argv[2], argv[3]);
    else if (!strcmp(mode, "start"))
        check_start(argv[2], argv[3]);
    else if (!strcmp(mode, "recover"))
        check_recover(argv[2], argc < 4);
    else if (!strcmp(mode, "bond"))
        check_connected(argv[0], argv[2]);
    else if (!strcmp(mode, "connected"))
        run_connected(argv[2], argv[3]);
    else if (!strcmp(mode, "beat"))
        check_beats();
    else if (!strcmp(mode, "ranges"))
        check_ranges();
    else if (!strcmp(mode, "pids"))
        check_pids(argc > 2);
    else if (!strcmp(mode, "credential"))
        check_credential();
    else if (!strcmp(mode, "query"))
        check_query();
    else if (!strcmp(mode, "reserved"))
        check_reserved();
    else
        complain("what?");
    if (!wrong && me.rank == 0 && strcmp(mode, "connected") != 0)
        printf("pmixctl %s good\n", mode);
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}
