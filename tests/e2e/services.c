/* services.c - what the process manager does for processes at their request, over PMIx, on one node
 * and on several: monitored files, credentials, logs, process sets.
 *
 *   services DIR         all of it; files are made in DIR
 *   services DIR lie     the control: the last rank expects an alert that does not come from it
 *
 * Prints `services all good` from rank 0, and `services all WRONG rank R: what` from whoever finds
 * something wrong.
 */
#include <fcntl.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "keeps.h"
#define PROGRAM "services"
#include "pmix_rank.h"

#ifndef PMIX_JOB_CTRL_DEFINE_PSET /* OpenPMIx 4.2 */
#define PMIX_JOB_CTRL_DEFINE_PSET "pmix.jctrl.defpset"
#endif

enum { TO_ALL = -5001, TO_ITSELF = -5002, UNREAD = -5003 };

static const char *dir;

/* ---- events ---------------------------------------------------------------------------------- */

static atomic_int alerts, own_alerts, unread_alerts, strange_alerts;
static uint32_t expected_rank;

static const char *text_in(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(info[i].key, key) && info[i].value.type == PMIX_STRING)
            return info[i].value.data.string;
    }
    return "";
}

static void on_alert(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    const char *name = text_in(info, ninfo, PMIX_MONITOR_ID);

    (void)id;
    (void)results;
    (void)nresults;
    if (source->rank != expected_rank)
        strange_alerts++;
    else if (code == PMIX_MONITOR_FILE_ALERT && !strcmp(name, "still"))
        alerts++;
    else if (code == TO_ITSELF && !strcmp(name, "own"))
        own_alerts++;
    else if (code == UNREAD && !strcmp(name, "unread"))
        unread_alerts++;
    else
        strange_alerts++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void register_event(pmix_status_t code, pmix_notification_fn_t fn)
{
    pmix_status_t rc = PMIx_Register_event_handler(&code, 1, NULL, 0, fn, NULL, NULL);

    if (rc < 0)
        complain("register: %s", PMIx_Error_string(rc));
}

/* ---- files ----------------------------------------------------------------------------------- */

static void path_of(char *path, size_t room, const char *name)
{
    snprintf(path, room, "%s/%s", dir, name);
}

struct file_monitor {
    const char *file, *name;
    pmix_status_t code;
    pmix_data_range_t range;
    uint32_t seconds;
    bool watches, for_access;
};

static pmix_status_t monitor(const struct file_monitor *m)
{
    pmix_info_t what, how[7];
    uint32_t drops = 1;
    bool yes = true;
    size_t n = 0;

    PMIX_INFO_LOAD(&what, PMIX_MONITOR_FILE, m->file, PMIX_STRING);
    PMIX_INFO_LOAD(&how[n++], PMIX_MONITOR_FILE_CHECK_TIME, &m->seconds, PMIX_UINT32);
    PMIX_INFO_LOAD(&how[n++], PMIX_MONITOR_FILE_DROPS, &drops, PMIX_UINT32);
    PMIX_INFO_LOAD(&how[n++], PMIX_MONITOR_ID, m->name, PMIX_STRING);
    PMIX_INFO_LOAD(&how[n++], PMIX_RANGE, &m->range, PMIX_DATA_RANGE);
    if (m->watches) {
        PMIX_INFO_LOAD(&how[n++], PMIX_MONITOR_FILE_SIZE, &yes, PMIX_BOOL);
        PMIX_INFO_LOAD(&how[n++], PMIX_MONITOR_FILE_MODIFY, "mtime", PMIX_STRING);
    }
    if (m->for_access)
        PMIX_INFO_LOAD(&how[n++], PMIX_MONITOR_FILE_ACCESS, &yes, PMIX_BOOL);
    return PMIx_Process_monitor(&what, m->code, how, n, NULL, NULL);
}

static void expect(const char *what, pmix_status_t rc, pmix_status_t wanted)
{
    if (rc != wanted)
        complain("%s: %s, not %s", what, PMIx_Error_string(rc), PMIx_Error_string(wanted));
}

static pmix_status_t cancel(const char *name)
{
    pmix_info_t what;

    PMIX_INFO_LOAD(&what, PMIX_MONITOR_CANCEL, name, PMIX_STRING);
    return PMIx_Process_monitor(&what, PMIX_SUCCESS, NULL, 0, NULL, NULL);
}

static void begin_monitors(void)
{
    char still[256], none[256];

    path_of(still, sizeof still, "still");
    path_of(none, sizeof none, "none");
    close(open(still, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    expect("no period", monitor(&(struct file_monitor){ still, "bad", 0, 0, 0, true }),
           PMIX_ERR_BAD_PARAM);
    expect("nothing to watch", monitor(&(struct file_monitor){ still, "bad", 0, 0, 1, false }),
           PMIX_ERR_BAD_PARAM);
    expect("no absolute path", monitor(&(struct file_monitor){ "still", "bad", 0, 0, 1, true }),
           PMIX_ERR_BAD_PARAM);
    expect("no such range",
           monitor(&(struct file_monitor){ still, "bad", 0, PMIX_RANGE_CUSTOM, 1, true }),
           PMIX_ERR_BAD_PARAM);
    must("monitor what is not there",
         monitor(&(struct file_monitor){ none, "none", 0, PMIX_RANGE_SESSION, 1, true }));
    must("monitor", monitor(&(struct file_monitor){ still, "gone", 0, 0, 1, true }));
    must("cancel", cancel("gone"));
    expect("cancel again", cancel("gone"), PMIX_ERR_NOT_FOUND);
    must("monitor for all",
         monitor(&(struct file_monitor){ still, "still", 0, PMIX_RANGE_SESSION, 1, true }));
    must("monitor the reading", monitor(&(struct file_monitor){ .file = still,
                                                                .name = "unread",
                                                                .code = UNREAD,
                                                                .range = PMIX_RANGE_PROC_LOCAL,
                                                                .seconds = 1,
                                                                .for_access = true }));
    must("monitor for itself", monitor(&(struct file_monitor){ still, "own", TO_ITSELF,
                                                               PMIX_RANGE_PROC_LOCAL, 1, true }));
}

static void check_files(bool lie)
{
    expected_rank = lie ? size : size - 1;
    register_event(PMIX_MONITOR_FILE_ALERT, on_alert);
    register_event(TO_ITSELF, on_alert);
    register_event(UNREAD, on_alert);
    fence();
    if (me.rank == size - 1) {
        begin_monitors();
        wait_for("its own alerts", lie ? &strange_alerts : &own_alerts, lie ? 3 : 1);
        wait_for("alerts for what nobody reads", lie ? &strange_alerts : &unread_alerts,
                 lie ? 3 : 1);
    }
    wait_for("alerts", lie ? &strange_alerts : &alerts, me.rank == size - 1 && lie ? 3 : 1);
    fence();
    if (strange_alerts || (me.rank != size - 1 && own_alerts))
        complain("alerts of others: %d, %d", (int)strange_alerts, (int)own_alerts);
    if (me.rank == size - 1)
        must("cancel all", cancel(NULL));
    fence();
}

/* ---- credentials ----------------------------------------------------------------------------- */

static pmix_status_t check_token(const char *text, const char *type)
{
    pmix_byte_object_t credential = { (char *)(uintptr_t)text, strlen(text) + 1 };
    pmix_info_t wanted, *found = NULL;
    uint32_t uid = UINT32_MAX, gid = UINT32_MAX;
    pmix_status_t rc;
    size_t n = 0;

    PMIX_INFO_LOAD(&wanted, PMIX_CRED_TYPE, type, PMIX_STRING);
    rc = PMIx_Validate_credential(&credential, &wanted, 1, &found, &n);
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(found[i].key, PMIX_USERID))
            uid = found[i].value.data.uint32;
        else if (!strcmp(found[i].key, PMIX_GRPID))
            gid = found[i].value.data.uint32;
    }
    if (rc == PMIX_SUCCESS &&
        (uid != getuid() || gid != getgid() || strcmp(text_in(found, n, PMIX_CRED_TYPE), "wireup")))
        complain("a token of user %u, group %u", uid, gid);
    return rc;
}

static pmix_status_t get_token(const char *type, char *text, size_t room)
{
    pmix_byte_object_t credential = { NULL, 0 };
    pmix_info_t wanted;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&wanted, PMIX_CRED_TYPE, type, PMIX_STRING);
    rc = PMIx_Get_credential(&wanted, 1, &credential);
    if (rc == PMIX_SUCCESS)
        snprintf(text, room, "%.*s", (int)credential.size, credential.bytes);
    return rc;
}

/* The token of an earlier job, which left it in DIR; and ours for the next one. */
static void exchange_tokens(const char *ours)
{
    char path[256], theirs[4096] = "";
    FILE *f;

    path_of(path, sizeof path, "token");
    f = fopen(path, "r");
    if (f && fgets(theirs, sizeof theirs, f))
        expect("another job's token", check_token(theirs, "wireup"), PMIX_ERR_INVALID_CRED);
    if (f)
        fclose(f);
    f = fopen(path, "w");
    if (f) {
        fputs(ours, f);
        fclose(f);
    }
}

static void check_credentials(void)
{
    char text[4096] = "", forged[4096];
    pmix_proc_t last = process(size - 1);
    pmix_value_t value, *got = NULL;

    expect("no such type", get_token("none,such", text, sizeof text), PMIX_ERR_NOT_SUPPORTED);
    if (me.rank == size - 1) {
        must("token", get_token("none,wireup", text, sizeof text));
        PMIX_VALUE_LOAD(&value, text, PMIX_STRING);
        must("put", PMIx_Put(PMIX_GLOBAL, "token", &value));
        must("commit", PMIx_Commit());
    }
    fence();
    must("get", PMIx_Get(&last, "token", NULL, 0, &got));
    if (!got)
        return;
    snprintf(text, sizeof text, "%s", got->data.string);
    must("validate", check_token(text, "wireup"));
    expect("not of that type", check_token(text, "munge"), PMIX_ERR_INVALID_CRED);
    memcpy(forged, text, sizeof forged);
    forged[strlen(forged) / 2] ^= 1;
    expect("a forged one", check_token(forged, "wireup"), PMIX_ERR_INVALID_CRED);
    fence();
    if (me.rank == 0)
        exchange_tokens(text);
    fence();
}

/* ---- logs ------------------------------------------------------------------------------------ */

static pmix_status_t log_text(const char *channel, const char *text, const pmix_info_t *how,
                              size_t n)
{
    pmix_info_t data;

    PMIX_INFO_LOAD(&data, channel, text, PMIX_STRING);
    return PMIx_Log(&data, 1, how, n);
}

/* The script reads them. */
static void check_logs(void)
{
    pmix_info_t how[2], mark, priority;
    time_t day = 86400;
    int alert = 1;
    bool yes = true;

    if (me.rank != size - 1)
        return;
    PMIX_INFO_LOAD(&how[0], PMIX_LOG_TIMESTAMP, &day, PMIX_TIME);
    PMIX_INFO_LOAD(&how[1], PMIX_LOG_TAG_OUTPUT, &yes, PMIX_BOOL);
    must("tag", log_text(PMIX_LOG_STDERR, "one\ntwo\n", how, 2));
    PMIX_INFO_LOAD(&how[1], PMIX_LOG_XML_OUTPUT, &yes, PMIX_BOOL);
    must("XML", log_text(PMIX_LOG_STDERR, "a < b", how, 2));
    PMIX_INFO_LOAD(&mark, PMIX_LOG_GENERATE_TIMESTAMP, &yes, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&mark);
    must("now", log_text(PMIX_LOG_STDERR, "three\n", &mark, 1));
    PMIX_INFO_LOAD(&mark, PMIX_LOG_TIMESTAMP_OUTPUT, &yes, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&mark);
    must("with its time", log_text(PMIX_LOG_STDERR, "four\n", &mark, 1));
    PMIX_INFO_LOAD(&priority, PMIX_LOG_SYSLOG_PRI, &alert, PMIX_INT);
    must("local syslog", log_text(PMIX_LOG_LOCAL_SYSLOG, "for the node", &priority, 1));
    must("global syslog", log_text(PMIX_LOG_GLOBAL_SYSLOG, "for the launcher's", &priority, 1));
    must("syslog", log_text(PMIX_LOG_SYSLOG, "timed", how, 1));
}

/* ---- files that go with the job -------------------------------------------------------------- */

static void make(const char *name, bool directory)
{
    char path[256];

    path_of(path, sizeof path, name);
    if (directory)
        must(name, mkdir(path, 0700) ? PMIX_ERROR : PMIX_SUCCESS);
    else
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* The directory goes when the job ends, in the way that the infos tell; the request has a name. */
static void clean(const char *name, pmix_info_t *how)
{
    pmix_info_t infos[4], *results = NULL;
    char path[256];
    size_t nresults = 0;
    bool yes = true;

    path_of(path, sizeof path, name);
    PMIX_INFO_LOAD(&infos[0], PMIX_REGISTER_CLEANUP_DIR, path, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[2], PMIX_JOB_CTRL_ID, name, PMIX_STRING);
    infos[3] = *how;
    for (size_t i = 0; i < 4; i++)
        PMIX_INFO_REQUIRED(&infos[i]);
    must(name, PMIx_Job_control(NULL, 0, infos, 4, &results, &nresults));
    if (results)
        PMIX_INFO_FREE(results, nresults);
}

static pmix_status_t cancel_cleanup(const char *name)
{
    pmix_info_t info, *results = NULL;
    size_t nresults = 0;

    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_CANCEL, name, PMIX_STRING);
    PMIX_INFO_REQUIRED(&info);
    return PMIx_Job_control(NULL, 0, &info, 1, &results, &nresults);
}

/* What stays is looked at by the script. */
static void check_cleanups(void)
{
    static const char *const dirs[] = { "clean.all",  "clean.empty", "clean.empty/hollow",
                                        "clean.kept", "clean.not",   "clean.top" };
    static const char *const names[] = { "clean.all/a",      "clean.empty/a", "clean.kept/a",
                                         "clean.kept/stays", "clean.not/a",   "clean.top/a" };
    pmix_info_t how;

    if (me.rank != size - 1)
        return;
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
        make(dirs[i], true);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        make(names[i], false);
    PMIX_INFO_LOAD(&how, PMIX_CLEANUP_EMPTY, NULL, PMIX_BOOL);
    clean("clean.empty", &how);
    how.value.data.flag = false;
    clean("clean.not", &how);
    must("cancel", cancel_cleanup("clean.not"));
    expect("cancel again", cancel_cleanup("clean.not"), PMIX_ERR_NOT_FOUND);
    clean("clean.all", &how);
    PMIX_INFO_LOAD(&how, PMIX_CLEANUP_IGNORE, "none,stays", PMIX_STRING);
    clean("clean.kept", &how);
    PMIX_INFO_LOAD(&how, PMIX_CLEANUP_LEAVE_TOPDIR, NULL, PMIX_BOOL);
    clean("clean.top", &how);
}

/* ---- process sets ---------------------------------------------------------------------------- */

static atomic_int sets, strange_sets;

static void on_set(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                   size_t ninfo, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)code;
    (void)results;
    (void)nresults;
    if (source->rank == size - 1 && !strcmp(text_in(info, ninfo, PMIX_PSET_NAME), "ends"))
        sets++;
    else
        strange_sets++;
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static pmix_status_t define_set(const char *name, const pmix_proc_t *members, size_t n)
{
    pmix_info_t info, *results = NULL;
    size_t nresults = 0;

    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_DEFINE_PSET, name, PMIX_STRING);
    return PMIx_Job_control(members, n, &info, 1, &results, &nresults);
}

static pmix_info_t *query_set(const char *key, const char *name)
{
    pmix_info_t *found = NULL;
    pmix_status_t rc;
    pmix_query_t q;
    size_t n = 0;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, key);
    if (name) {
        PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
        PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_PSET_NAME, name, PMIX_STRING);
    }
    rc = PMIx_Query_info(&q, 1, &found, &n);
    if (rc != PMIX_SUCCESS || n != 1) {
        complain("%s: %s", key, PMIx_Error_string(rc));
        return NULL;
    }
    return found;
}

static void check_members(void)
{
    const pmix_info_t *names = query_set(PMIX_QUERY_PSET_NAMES, NULL);
    const pmix_info_t *members = query_set(PMIX_QUERY_PSET_MEMBERSHIP, "ends");
    const pmix_data_array_t *a = members ? members->value.data.darray : NULL;

    if (!names || names->value.type != PMIX_STRING || strcmp(names->value.data.string, "ends"))
        complain("names of sets: %s", names ? names->value.data.string : "none");
    if (!a || a->size != 2 || ((pmix_proc_t *)a->array)[0].rank != 0 ||
        ((pmix_proc_t *)a->array)[1].rank != size - 1 ||
        strcmp(((pmix_proc_t *)a->array)[1].nspace, me.nspace))
        complain("%zu members of the set", a ? a->size : 0);
}

static void check_sets(void)
{
    pmix_proc_t ends[2] = { process(0), process(size - 1) }, beyond = process(size);

    register_event(PMIX_PROCESS_SET_DEFINE, on_set);
    fence();
    if (me.rank == size - 1) {
        expect("a set of nobody", define_set("void", &beyond, 1), PMIX_ERR_NOT_FOUND);
        expect("a set without a name", define_set("", ends, 2), PMIX_ERR_BAD_PARAM);
        must("define", define_set("ends", ends, 2));
    }
    wait_for("sets", &sets, 1);
    check_members();
    fence();
    if (strange_sets || sets != 1)
        complain("told of %d sets, and %d others", (int)sets, (int)strange_sets);
}

/* ---- all ------------------------------------------------------------------------------------- */

static uint32_t job_size(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v = NULL;

    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    return v ? v->data.uint32 : 0;
}

int main(int argc, char **argv)
{
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    mode = "all";
    if (rc != PMIX_SUCCESS || argc < 2) {
        printf("services WRONG: init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    dir = argv[1];
    size = job_size();
    check_logs();
    check_sets();
    check_cleanups();
    check_credentials();
    check_files(argc > 2);
    must("finalize", PMIx_Finalize(NULL, 0));
    if (me.rank == 0 && !wrong)
        printf("services all good\n");
    return wrong ? 1 : 0;
}
