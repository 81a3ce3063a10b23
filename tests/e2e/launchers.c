/* launchers.c - two jobs of two launchers that connect (launchers.sh).
 *
 *   launchers MODE ME OTHER N    rank 0 publishes the namespace under ME and looks up OTHER, a job
 *                                of N
 *
 *   meet      connects, reads the other job's data, disconnects; and once more
 *   later     connects, puts, and reads what the other job has put since; disconnects
 *   loop      connects and disconnects until that fails: `over STATUS`
 *   outlive   connects, says `connected`, and waits for the events that the other's processes have
 *             ended without a disconnect; then a disconnect fails
 *   patient   connects with a time-out that passes: the other is late
 *   late      connects when that has passed
 *
 *   launchers nobody             connects to a job that no launcher has
 *   launchers hold NAME          publishes it, says `holding`, and waits until `NAME done` is
 *                                published
 *   launchers look NAME          says whether it is published
 *   launchers done NAME          publishes `NAME done`, and stays until its input ends
 */
#define PROGRAM "launchers"
#include "pmix_rank.h"

#include <stdlib.h>
#include <string.h>

static char other[PMIX_MAX_NSLEN + 1];
static uint32_t nothers;
static atomic_int ends;

/* Also bytes under another name: their type goes along. */
static void publish(const char *name)
{
    char text[64], bytes[] = "by\0tes";
    pmix_byte_object_t some = { bytes, sizeof bytes };
    pmix_info_t infos[2];

    snprintf(text, sizeof text, "%s bytes", name);
    PMIX_INFO_LOAD(&infos[0], name, me.nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], text, &some, PMIX_BYTE_OBJECT);
    must("publish", PMIx_Publish(infos, 2));
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
}

static void look_up_bytes(const char *name)
{
    pmix_pdata_t data;
    pmix_info_t wait;
    bool yes = true;

    PMIX_PDATA_CONSTRUCT(&data);
    snprintf(data.key, sizeof data.key, "%s bytes", name);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &yes, PMIX_BOOL);
    must("lookup of bytes", PMIx_Lookup(&data, 1, &wait, 1));
    PMIX_INFO_DESTRUCT(&wait);
    if (data.value.type != PMIX_BYTE_OBJECT || data.value.data.bo.size != 7)
        complain("bytes have become type %d", data.value.type);
    PMIX_PDATA_DESTRUCT(&data);
}

static void look_up(const char *name)
{
    pmix_pdata_t data;
    pmix_info_t wait;
    bool yes = true;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, name);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &yes, PMIX_BOOL);
    must("lookup", PMIx_Lookup(&data, 1, &wait, 1));
    if (data.value.type == PMIX_STRING && data.value.data.string)
        snprintf(other, sizeof other, "%s", data.value.data.string);
    PMIX_PDATA_DESTRUCT(&data);
    PMIX_INFO_DESTRUCT(&wait);
}

static void put(const char *key, const char *text)
{
    pmix_value_t v = { .type = PMIX_STRING };

    v.data.string = (char *)text;
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
}

static bool get_with(const char *nspace, uint32_t rank, const char *key, pmix_info_t *infos,
                     size_t ninfos, char *room, size_t n)
{
    pmix_value_t *v = NULL;
    pmix_proc_t p;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&p, nspace, rank);
    rc = PMIx_Get(&p, key, infos, ninfos, &v);
    if (rc != PMIX_SUCCESS || v->type != PMIX_STRING) {
        complain("get %s of %u: %s", key, rank, PMIx_Error_string(rc));
        return false;
    }
    snprintf(room, n, "%s", v->data.string);
    PMIX_VALUE_RELEASE(v);
    return true;
}

static bool get_text(const char *nspace, uint32_t rank, const char *key, char *room, size_t n)
{
    return get_with(nspace, rank, key, NULL, 0, room, n);
}

/* All ranks learn the other namespace from rank 0. */
static void find_other(const char *mine, const char *theirs)
{
    char text[64];

    if (me.rank == 0) {
        publish(mine);
        look_up(theirs);
        look_up_bytes(theirs);
        put("other", other);
    }
    snprintf(text, sizeof text, "value of %s.%u", mine, me.rank);
    put("where", text);
    must("commit", PMIx_Commit());
    fence();
    if (me.rank != 0)
        get_text(me.nspace, 0, "other", other, sizeof other);
}

static pmix_status_t call(bool on)
{
    pmix_proc_t procs[2];

    PMIX_LOAD_PROCID(&procs[0], me.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&procs[1], other, PMIX_RANK_WILDCARD);
    return on ? PMIx_Connect(procs, 2, NULL, 0) : PMIx_Disconnect(procs, 2, NULL, 0);
}

static uint32_t get_size(void)
{
    pmix_value_t *v = NULL;
    pmix_proc_t p;
    pmix_status_t rc;
    uint32_t n = 0;

    PMIX_LOAD_PROCID(&p, other, PMIX_RANK_WILDCARD);
    rc = PMIx_Get(&p, PMIX_JOB_SIZE, NULL, 0, &v);
    must("get the size of the other job", rc);
    if (rc == PMIX_SUCCESS) {
        n = v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    }
    return n;
}

static void read_other(const char *theirs)
{
    char text[300], want[64];

    if (get_size() != nothers)
        complain("the other job has %u processes", get_size());
    for (uint32_t r = 0; r < nothers; r++) {
        snprintf(want, sizeof want, "value of %s.%u", theirs, r);
        if (get_text(other, r, "where", text, sizeof text) && strcmp(text, want) != 0)
            complain("rank %u there: %s", r, text);
        get_text(other, r, PMIX_HOSTNAME, text, sizeof text);
    }
}

static void read_unknown(void)
{
    pmix_value_t *v = NULL;
    pmix_info_t now;
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, other, 0);
    PMIX_INFO_LOAD(&now, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    if (PMIx_Get(&p, "nothing", &now, 1, &v) == PMIX_SUCCESS)
        complain("a value that nobody has put");
}

static void meet(const char *theirs)
{
    for (int i = 0; i < 2; i++) {
        must("connect", call(true));
        read_other(theirs);
        read_unknown();
        must("disconnect", call(false));
    }
}

static void put_text(const char *key, const char *mine, const char *what)
{
    char text[64];

    snprintf(text, sizeof text, "%s of %s.%u", what, mine, me.rank);
    put(key, text);
}

/* Waits for it if it is not there yet. */
static void expect(uint32_t r, const char *key, const char *theirs, const char *what)
{
    char text[300], want[64];
    pmix_info_t infos[2];
    int seconds = 60;
    bool again = !strcmp(what, "new");

    PMIX_INFO_LOAD(&infos[0], PMIX_TIMEOUT, &seconds, PMIX_INT);
    PMIX_INFO_LOAD(&infos[1], PMIX_GET_REFRESH_CACHE, &again, PMIX_BOOL);
    snprintf(want, sizeof want, "%s of %s.%u", what, theirs, r);
    if (get_with(other, r, key, infos, 2, text, sizeof text) && strcmp(text, want) != 0)
        complain("%s of rank %u there: %s", key, r, text);
}

/* The second commit has another value of a key that the first one has put. */
static void later(const char *mine, const char *theirs)
{
    must("connect", call(true));
    put_text("later", mine, "later");
    put_text("twice", mine, "old");
    must("commit", PMIx_Commit());
    for (uint32_t r = 0; r < nothers; r++)
        expect(r, "later", theirs, "later");
    put_text("twice", mine, "new");
    put_text("last", mine, "last");
    must("commit", PMIx_Commit());
    for (uint32_t r = 0; r < nothers; r++) {
        expect(r, "last", theirs, "last");
        expect(r, "twice", theirs, "new");
    }
    read_unknown();
    must("disconnect", call(false));
}

static void loop(void)
{
    pmix_status_t rc = PMIX_SUCCESS;
    long n = 0;

    for (; rc == PMIX_SUCCESS; n++) {
        if (n == 1) {
            printf(PROGRAM " connected\n");
            fflush(stdout);
        }
        rc = call(n % 2 == 0);
    }
    printf(PROGRAM " over %s\n", PMIx_Error_string(rc));
    fflush(stdout);
}

static void on_end(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t n, pmix_info_t *results, size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)id, (void)info, (void)n, (void)results, (void)nresults;
    if (status == PMIX_ERR_PROC_TERM_WO_SYNC && !strcmp(source->nspace, other))
        ends++;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void outlive(void)
{
    pmix_status_t code = PMIX_ERR_PROC_TERM_WO_SYNC;

    if (PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL) < 0)
        complain("register");
    must("connect", call(true));
    fence();
    printf(PROGRAM " connected\n");
    fflush(stdout);
    wait_for("ends of the other job", &ends, (int)nothers);
    if (call(false) == PMIX_SUCCESS)
        complain("a disconnect from nobody");
}

/* The other one comes when the time-out has passed: a name tells it. */
static void be_patient(const char *mine)
{
    pmix_proc_t procs[2];
    pmix_info_t info;
    int seconds = 1;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&procs[0], me.nspace, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&procs[1], other, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    rc = PMIx_Connect(procs, 2, &info, 1);
    if (rc != PMIX_ERR_TIMEOUT)
        complain("a connect that nobody answers: %s", PMIx_Error_string(rc));
    fence();
    if (me.rank == 0) {
        char name[64];
        snprintf(name, sizeof name, "%s passed", mine);
        publish(name);
    }
    must("connect", call(true));
    must("disconnect", call(false));
}

static void be_late(const char *theirs)
{
    char name[64], own[sizeof other];

    snprintf(own, sizeof own, "%s", other);
    snprintf(name, sizeof name, "%s passed", theirs);
    if (me.rank == 0)
        look_up(name);
    snprintf(other, sizeof other, "%s", own);
    fence();
    must("connect", call(true));
    must("disconnect", call(false));
}

static void nobody(void)
{
    pmix_status_t rc;

    snprintf(other, sizeof other, "nowhere");
    rc = call(true);
    if (rc != PMIX_ERR_NOT_FOUND)
        complain("a connect to nobody: %s", PMIx_Error_string(rc));
}

static void hold(const char *name)
{
    char text[64];

    snprintf(text, sizeof text, "%s done", name);
    publish(name);
    printf(PROGRAM " holding\n");
    fflush(stdout);
    look_up(text);
}

static void look(const char *name)
{
    pmix_pdata_t data;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, name);
    printf(PROGRAM " %s\n", PMIx_Lookup(&data, 1, NULL, 0) == PMIX_SUCCESS ? "found" : "none");
    PMIX_PDATA_DESTRUCT(&data);
}

static void done(const char *name)
{
    char text[64];

    snprintf(text, sizeof text, "%s done", name);
    publish(text);
    while (getchar() != EOF)
        continue;
}

static void one_job(const char *name)
{
    if (!strcmp(mode, "hold"))
        hold(name);
    else if (!strcmp(mode, "look"))
        look(name);
    else if (!strcmp(mode, "done"))
        done(name);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    mode = argv[1];
    nothers = argc > 4 ? (uint32_t)atoi(argv[4]) : 0;
    must("init", PMIx_Init(&me, NULL, 0));
    if (argc > 4)
        find_other(argv[2], argv[3]);
    else if (argc > 2)
        one_job(argv[2]);
    else
        nobody();
    if (!strcmp(mode, "meet"))
        meet(argv[3]);
    else if (!strcmp(mode, "later"))
        later(argv[2], argv[3]);
    else if (!strcmp(mode, "loop"))
        loop();
    else if (!strcmp(mode, "outlive"))
        outlive();
    else if (!strcmp(mode, "patient"))
        be_patient(argv[2]);
    else if (!strcmp(mode, "late"))
        be_late(argv[3]);
    must("finalize", PMIx_Finalize(NULL, 0));
    if (!wrong)
        printf(PROGRAM " %s good\n", mode);
    return wrong != 0;
}
