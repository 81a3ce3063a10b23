/* rawpmix.c - a PMIx program on OpenPMIx's own client library, where it judges the server, and on
 * ours, where it judges both.
 *
 *   rawpmix exchange            cards of all scopes, job information, names, connect, events
 *   rawpmix bare                cards alone, which every server has
 *   rawpmix foreign             what other servers can do too
 *   rawpmix prrte               what PRRTE can do too: all but that a name is published only once
 *   rawpmix spoil               the same, but expects what nobody has put: the control
 *   rawpmix mixed WORD...       one of several programs of one job; WORD is PMI-1, PMI-2, PMIx ...,
 *                               the protocol of each rank (see mixed.c)
 *   rawpmix sweep FILE          makes the file and asks that it go when the process has gone
 *   rawpmix leave               the last rank ends without finalize, after a fence
 *   rawpmix hold UP GO          all is well; rank 0 makes the file UP and everybody waits for the
 *                               file GO; then all of `exchange`
 *   rawpmix team N              the first N ranks of a larger job do what they can do without the
 *                               others
 *   rawpmix clone               starts itself once more: a child that attaches by itself
 *
 * Prints `rawpmix N good` from rank 0 when every rank has found everything right, and
 * `rawpmix N WRONG rank R: what` from whoever did not.
 */
#include <pmix.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pmix_proc_t me;
static char *near;                 /* by rank: is it on our node? */
static uint32_t nnear, size, team; /* team: who fences; 0: everybody */
static int wrong;
static bool foreign, prrte;
static bool bare;
static atomic_int nevents;
static const char *expected = "card";

static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    printf("rawpmix %u WRONG rank %u: ", size, me.rank);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        complain("%s: %s", what, PMIx_Error_string(rc));
}

static pmix_proc_t process(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

static void put_text(pmix_scope_t scope, const char *key, const char *text)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, text, PMIX_STRING);
    must(key, PMIx_Put(scope, key, &v));
    PMIX_VALUE_DESTRUCT(&v);
}

static void put_cards(void)
{
    char text[64], bytes[300];
    pmix_value_t v;
    pmix_byte_object_t bo = { bytes, sizeof bytes };
    uint32_t number = 1000 + me.rank;

    snprintf(text, sizeof text, "card of %u", me.rank);
    put_text(PMIX_GLOBAL, "g", text);
    put_text(PMIX_LOCAL, "l", text);
    put_text(PMIX_REMOTE, "r", text);
    PMIX_VALUE_LOAD(&v, &number, PMIX_UINT32);
    must("put number", PMIx_Put(PMIX_GLOBAL, "number", &v));
    memset(bytes, (int)me.rank, sizeof bytes);
    PMIX_VALUE_LOAD(&v, &bo, PMIX_BYTE_OBJECT);
    must("put bytes", PMIx_Put(PMIX_GLOBAL, "bytes", &v));
    PMIX_VALUE_DESTRUCT(&v);
    must("commit", PMIx_Commit());
}

static void fence(bool collect)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD), some[64];
    pmix_info_t info;

    for (uint32_t r = 0; r < team; r++)
        some[r] = process(r);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must("fence", PMIx_Fence(team ? some : &all, team ? team : 1, &info, 1));
}

static void check_text(uint32_t rank, const char *key)
{
    char want[64];
    pmix_proc_t p = process(rank);
    pmix_value_t *v;
    pmix_status_t rc = PMIx_Get(&p, key, NULL, 0, &v);

    snprintf(want, sizeof want, "%s of %u", expected, rank);
    if (rc != PMIX_SUCCESS) {
        complain("get %s of %u: %s", key, rank, PMIx_Error_string(rc));
        return;
    }
    if (v->type != PMIX_STRING || strcmp(v->data.string, want) != 0)
        complain("%s of %u is '%s'", key, rank, v->type == PMIX_STRING ? v->data.string : "?");
    PMIX_VALUE_RELEASE(v);
}

static void check_number(uint32_t rank)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v;
    pmix_status_t rc = PMIx_Get(&p, "number", NULL, 0, &v);

    if (rc != PMIX_SUCCESS || v->type != PMIX_UINT32 || v->data.uint32 != 1000 + rank)
        complain("number of %u: %s", rank, PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS)
        PMIX_VALUE_RELEASE(v);
    rc = PMIx_Get(&p, "bytes", NULL, 0, &v);
    if (rc != PMIX_SUCCESS || v->type != PMIX_BYTE_OBJECT || v->data.bo.size != 300 ||
        v->data.bo.bytes[299] != (char)rank)
        complain("bytes of %u: %s", rank, PMIx_Error_string(rc));
    if (rc == PMIX_SUCCESS)
        PMIX_VALUE_RELEASE(v);
}

static uint32_t job_number(const char *key)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v;
    uint32_t number = 0;
    pmix_status_t rc = PMIx_Get(&all, key, NULL, 0, &v);

    if (rc != PMIX_SUCCESS) {
        complain("%s: %s", key, PMIx_Error_string(rc));
        return 0;
    }
    PMIX_VALUE_GET_NUMBER(rc, v, number, uint32_t);
    PMIX_VALUE_RELEASE(v);
    return number;
}

static void find_neighbours(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_value_t *v;
    pmix_status_t rc = PMIx_Get(&all, PMIX_LOCAL_PEERS, NULL, 0, &v);

    near = calloc(size + 1, 1);
    if (rc != PMIX_SUCCESS || v->type != PMIX_STRING || !near) {
        complain("the ranks of this node: %s", PMIx_Error_string(rc));
        exit(1);
    }
    for (const char *s = v->data.string; *s; s += strcspn(s, ","), s += *s == ',') {
        uint32_t r = (uint32_t)atoi(s);
        if (r >= size || near[r])
            complain("rank %u on this node", r);
        else
            near[r] = 1;
        nnear++;
    }
    if (!near[me.rank])
        complain("it is not on its own node");
    PMIX_VALUE_RELEASE(v);
}

/* What is not there, and what nobody may see. */
static void check_absent(const char *key, uint32_t rank)
{
    pmix_proc_t p = process(rank);
    pmix_info_t now;
    pmix_value_t *v;
    bool yes = true;

    PMIX_INFO_LOAD(&now, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    if (PMIx_Get(&p, key, &now, 1, &v) == PMIX_SUCCESS)
        complain("%s of %u is there", key, rank);
}

static void check_cards(void)
{
    uint32_t step = size > 16 ? size / 16 : 1; /* the others are the same again */

    for (uint32_t r = 0; r < size; r += step) {
        check_text(r, "g");
        if (r != me.rank) { /* it has both of its own */
            check_text(r, near[r] ? "l" : "r");
            check_absent(near[r] ? "r" : "l", r);
        }
        check_number(r);
    }
    check_absent("nobody has put this", 0);
    if (!team && (job_number(PMIX_JOB_SIZE) != size || job_number(PMIX_LOCAL_SIZE) != nnear))
        complain("the job's size");
}

/* ---- names ----------------------------------------------------------------------------------- */

static void check_names(void)
{
    pmix_info_t info;
    pmix_pdata_t found;
    char service[] = "rawpmix service", *keys[] = { service, NULL };
    char port[] = "a port; with = and \\";

    if (me.rank == 0) {
        PMIX_INFO_LOAD(&info, keys[0], port, PMIX_STRING);
        must("publish", PMIx_Publish(&info, 1));
        if (!foreign && !prrte && PMIx_Publish(&info, 1) == PMIX_SUCCESS)
            complain("a name can be published twice");
        PMIX_INFO_DESTRUCT(&info);
    }
    fence(false);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, keys[0]);
    must("lookup", PMIx_Lookup(&found, 1, NULL, 0));
    if (found.value.type != PMIX_STRING || strcmp(found.value.data.string, port) != 0)
        complain("what was looked up");
    if (found.proc.rank != 0 || strcmp(found.proc.nspace, me.nspace) != 0)
        complain("who published");
    PMIX_PDATA_DESTRUCT(&found);
    fence(false);
    if (me.rank == 0)
        must("unpublish", PMIx_Unpublish(keys, NULL, 0));
    fence(false);
    PMIX_PDATA_CONSTRUCT(&found);
    PMIX_LOAD_KEY(found.key, keys[0]);
    if (PMIx_Lookup(&found, 1, NULL, 0) == PMIX_SUCCESS)
        complain("a name outlives its unpublish");
}

/* ---- connect and fences of some -------------------------------------------------------------- */

static void check_meetings(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD), pair[2];

    must("connect", PMIx_Connect(&all, 1, NULL, 0));
    must("disconnect", PMIx_Disconnect(&all, 1, NULL, 0));
    if (size < 2 || me.rank >= size / 2 * 2)
        return;
    pair[0] = process(me.rank / 2 * 2);
    pair[1] = process(me.rank / 2 * 2 + 1);
    must("fence of two", PMIx_Fence(pair, 2, NULL, 0));
}

/* ---- groups and questions -------------------------------------------------------------------- */

static void check_group(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_info_t info, *results = NULL;
    size_t n = 0, context = 0;
    bool yes = true;

    PMIX_INFO_LOAD(&info, PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    must("construct", PMIx_Group_construct("everybody", &all, 1, &info, 1, &results, &n));
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(results[i].key, PMIX_GROUP_CONTEXT_ID))
            context = results[i].value.data.size;
    }
    if (context == 0 || context == SIZE_MAX)
        complain("the group has no number");
    PMIX_INFO_FREE(results, n);
    must("destruct", PMIx_Group_destruct("everybody", NULL, 0));
}

static void check_questions(void)
{
    pmix_query_t q;
    pmix_info_t *found = NULL;
    size_t n = 0;
    const pmix_proc_info_t *table;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, PMIX_QUERY_PROC_TABLE);
    must("a key", rc);
    PMIX_ARGV_APPEND(rc, q.keys, PMIX_QUERY_NAMESPACES);
    must("a key", rc);
    PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
    PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_NSPACE, me.nspace, PMIX_STRING);
    must("query", PMIx_Query_info(&q, 1, &found, &n));
    if (n != 2 || found[0].value.type != PMIX_DATA_ARRAY ||
        found[0].value.data.darray->size != size || found[1].value.type != PMIX_STRING ||
        !strstr(found[1].value.data.string, me.nspace)) {
        complain("%zu answers", n);
    } else {
        table = found[0].value.data.darray->array;
        if (table[me.rank].pid != getpid() || table[me.rank].proc.rank != me.rank)
            complain("its line of the process table");
    }
    PMIX_INFO_FREE(found, n);
    PMIX_QUERY_DESTRUCT(&q);
}

/* ---- events ---------------------------------------------------------------------------------- */

enum { MY_EVENT = -5000, LATE_EVENT = -5001 };

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)results;
    (void)nresults;
    for (size_t i = 0; i < ninfo; i++) {
        if (!strcmp(info[i].key, "rawpmix.number") && info[i].value.data.uint32 == 77 &&
            (code == MY_EVENT || code == LATE_EVENT) && source->rank == size - 1)
            nevents++;
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void notify(pmix_status_t code)
{
    uint32_t number = 77;
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, "rawpmix.number", &number, PMIX_UINT32);
    must("notify", PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, &info, 1, NULL, NULL));
}

static void expect_event(pmix_status_t code, const char *what)
{
    for (int i = 0; i < 150000 && !nevents; i++)
        usleep(2000);
    if (nevents != 1)
        complain("%d %s %d", (int)nevents, what, code);
    fence(false);
    nevents = 0;
}

static void check_events(void)
{
    pmix_status_t code = MY_EVENT, late = LATE_EVENT;

    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
    fence(false);
    if (me.rank == size - 1) {
        notify(LATE_EVENT);
        notify(MY_EVENT);
    }
    expect_event(MY_EVENT, "events");
    /* Who registers late hears of it too (the source from its own library). */
    PMIx_Register_event_handler(&late, 1, NULL, 0, on_event, NULL, NULL);
    expect_event(LATE_EVENT, "late events");
}

/* ---- one job of several protocols ------------------------------------------------------------ */

static void check_mixed(uint32_t n, char **words)
{
    char key[64], want[64];
    pmix_value_t *v;

    snprintf(key, sizeof key, "card-%u", me.rank);
    snprintf(want, sizeof want, "%s says %u", words[me.rank], me.rank);
    put_text(PMIX_GLOBAL, key, want);
    must("commit", PMIx_Commit());
    fence(true);
    for (uint32_t r = 0; r < n; r++) {
        pmix_proc_t p = process(r);
        pmix_status_t rc;
        snprintf(key, sizeof key, "card-%u", r);
        snprintf(want, sizeof want, "%s says %u", words[r], r);
        rc = PMIx_Get(&p, key, NULL, 0, &v);
        if (rc != PMIX_SUCCESS || v->type != PMIX_STRING || strcmp(v->data.string, want) != 0)
            complain("%s: %s", key, PMIx_Error_string(rc));
        if (rc == PMIX_SUCCESS)
            PMIX_VALUE_RELEASE(v);
    }
    fence(false);
    if (!wrong)
        printf("mixed %s %u good\n", words[me.rank], me.rank);
}

/* Everybody's verdict, told by rank 0. */
static void share_verdict(void)
{
    char text[16];
    uint32_t bad = 0;

    snprintf(text, sizeof text, "%d", wrong);
    put_text(PMIX_GLOBAL, "verdict", text);
    must("commit", PMIx_Commit());
    fence(true);
    for (uint32_t r = 0; me.rank == 0 && r < size; r++) {
        pmix_proc_t p = process(r);
        pmix_value_t *v;
        if (PMIx_Get(&p, "verdict", NULL, 0, &v) != PMIX_SUCCESS) {
            bad++;
            continue;
        }
        bad += strcmp(v->data.string, "0") != 0;
        PMIX_VALUE_RELEASE(v);
    }
    if (me.rank == 0 && !wrong && bad == 0)
        printf("rawpmix %u good\n", size);
    fence(false);
}

static void hold(const char *up, const char *go)
{
    FILE *f;

    fence(true);
    if (me.rank == 0) {
        f = fopen(up, "w");
        if (!f || fclose(f) != 0)
            complain("cannot write %s", up);
    }
    while (access(go, F_OK) != 0)
        usleep(20000);
}

/* A child of ours attaches by itself, under our name, and leaves; nobody minds. */
static void run_clone(const char *program)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        execl(program, program, "child", (char *)NULL);
        _exit(1);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        complain("its child ended with %d", status);
    fence(true);
}

static int be_child(void)
{
    if (size == 0)
        complain("a child knows nothing of the job");
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong;
}

static void leave_file(const char *path)
{
    FILE *f = fopen(path, "w");
    pmix_info_t info, *results = NULL;
    size_t n = 0;

    if (f)
        fclose(f);
    else
        complain("cannot make %s", path);
    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
    must("job control", PMIx_Job_control(&me, 1, &info, 1, &results, &n));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "exchange";
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    if (rc != PMIX_SUCCESS) {
        printf("rawpmix WRONG init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    prrte = !strcmp(mode, "prrte") || !strcmp(mode, "prrte-spoil");
    bare = !strncmp(mode, "bare", 4);
    foreign = bare || !strncmp(mode, "foreign", 7);
    size = job_number(PMIX_JOB_SIZE);
    if (strstr(mode, "spoil") && me.rank == size - 1)
        expected = "no card";
    if (!strcmp(mode, "child"))
        return be_child();
    find_neighbours();
    if (!strcmp(mode, "team"))
        size = team = (uint32_t)atoi(argv[2]);
    if (!strcmp(mode, "mixed")) {
        check_mixed((uint32_t)argc - 2, argv + 2);
    } else if (!strcmp(mode, "sweep")) {
        leave_file(argv[2]);
        share_verdict();
    } else {
        put_cards();
        fence(true);
        if (!strcmp(mode, "hold"))
            hold(argv[2], argv[3]);
        if (!strcmp(mode, "clone"))
            run_clone("/proc/self/exe");
        if (!strcmp(mode, "leave") && me.rank == size - 1)
            _exit(0);
        check_cards();
        if (!bare)
            check_names();
        if (!team && !bare)
            check_meetings();
        if (!team && !foreign) {
            check_group();
            check_questions();
            check_events();
        }
        share_verdict();
    }
    must("finalize", PMIx_Finalize(NULL, 0));
    return 0;
}
