/* pmixcalls.c - a PMIx program that judges a host and its server (pmixhost.c): what is carried
 * between nodes, and every call that only a host can answer.
 *
 *   pmixcalls exchange       cards of all ranks after a fence, before one, and of parts of the job
 *   pmixcalls cards          the same under any host: without what pmixhost alone tells
 *   pmixcalls fenced         cards, but only after fences
 *   pmixcalls hold UP GO     the same as exchange, once the file GO exists; all are connected when
 *                            UP does
 *   pmixcalls spoil          the same, but expects what nobody has put
 *   pmixcalls calls          rank 0 calls everything that a host has a function for
 *   pmixcalls some           rank 0 looks up two names, of which there is one
 *   pmixcalls bare           as calls, of a host that has next to none: refused, and nothing hangs
 *   pmixcalls abort [CODE]   rank 0 aborts, the others wait in a fence
 *
 * Prints `pmixcalls N good` from rank 0, or `pmixcalls N WRONG rank R: what`. */
#include <pmix_tool.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t me;
static uint32_t size;
static int wrong;
static bool bare, strangers, fenced;
static atomic_int nevents, outputs, pushed, done;

static void complain(const char *format, ...)
{
    va_list args;

    wrong++;
    printf("pmixcalls %u WRONG rank %u: ", size, me.rank);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        complain("%s: %s (%d)", what, PMIx_Error_string(rc), rc);
}

/* What a host without the function refuses. */
static void host_must(const char *what, pmix_status_t rc)
{
    if (!bare)
        must(what, rc);
    else if (rc != PMIX_ERR_NOT_SUPPORTED)
        complain("%s of a bare host: %s (%d)", what, PMIx_Error_string(rc), rc);
}

static pmix_proc_t process(uint32_t rank)
{
    pmix_proc_t p;

    PMIX_LOAD_PROCID(&p, me.nspace, rank);
    return p;
}

static uint32_t number(uint32_t rank, const char *key)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    uint32_t n = 0;

    if (PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS) {
        n = v->type == PMIX_UINT16 ? v->data.uint16 : v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    }
    return n;
}

static void put(pmix_scope_t scope, const char *key, const char *text)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, text, PMIX_STRING);
    must("put", PMIx_Put(scope, key, &v));
    PMIX_VALUE_DESTRUCT(&v);
}

static void expect_by(uint32_t rank, const char *key, const char *text, const pmix_info_t *infos,
                      size_t ninfos)
{
    pmix_proc_t p = process(rank);
    pmix_value_t *v = NULL;
    pmix_status_t rc = PMIx_Get(&p, key, infos, ninfos, &v);

    if (rc != PMIX_SUCCESS)
        complain("get %s of %u: %s", key, rank, PMIx_Error_string(rc));
    else if (v->type != PMIX_STRING || strcmp(v->data.string, text) != 0)
        complain("%s of %u is '%s'", key, rank, v->type == PMIX_STRING ? v->data.string : "?");
    if (v)
        PMIX_VALUE_RELEASE(v);
}

static void expect(uint32_t rank, const char *key, const char *text)
{
    expect_by(rank, key, text, NULL, 0);
}

static void fence(const pmix_proc_t *procs, size_t n, bool collect)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    must("fence", PMIx_Fence(procs, n, &info, 1));
    PMIX_INFO_DESTRUCT(&info);
}

/* ---- what is carried ------------------------------------------------------------------------- */

/* Before any fence: asked for where it lies.  Servers wait two seconds for what nobody has put yet,
 * unless they are told; the other may not even run by then. */
static void early(void)
{
    pmix_info_t patient;
    char text[64];
    int seconds = 600;

    snprintf(text, sizeof text, "early %u", me.rank);
    put(PMIX_GLOBAL, "early", text);
    must("commit", PMIx_Commit());
    snprintf(text, sizeof text, "early %u", (me.rank + size - 1) % size);
    PMIX_INFO_LOAD(&patient, PMIX_TIMEOUT, &seconds, PMIX_INT);
    expect_by((me.rank + size - 1) % size, "early", text, &patient, 1);
    PMIX_INFO_DESTRUCT(&patient);
}

static void exchange(const char *word)
{
    char text[64], longer[9000];
    pmix_proc_t some[2];

    if (!fenced)
        early();
    /* with a fence: brought */
    snprintf(text, sizeof text, "card %u", me.rank);
    put(PMIX_GLOBAL, "card", text);
    memset(longer, 'a' + (int)(me.rank % 26), sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    put(PMIX_GLOBAL, "long", longer);
    must("commit", PMIx_Commit());
    fence(NULL, 0, true);
    for (uint32_t r = 0; r < size; r++) {
        snprintf(text, sizeof text, "%s %u", word, r);
        expect(r, "card", text);
        memset(longer, 'a' + (int)(r % 26), sizeof longer - 1);
        expect(r, "long", longer);
    }
    /* again, and nothing new */
    fence(NULL, 0, true);
    fence(NULL, 0, false);
    /* the first and the last */
    some[0] = process(0);
    some[1] = process(size - 1);
    if (size > 1 && (me.rank == 0 || me.rank == size - 1)) {
        put(PMIX_GLOBAL, "pair", me.rank ? "last" : "first");
        must("commit", PMIx_Commit());
        fence(some, 2, true);
        expect(0, "pair", "first");
        expect(size - 1, "pair", "last");
    }
    some[0] = process(PMIX_RANK_WILDCARD);
    must("connect", PMIx_Connect(some, 1, NULL, 0));
    must("disconnect", PMIx_Disconnect(some, 1, NULL, 0));
    if (number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE) != size)
        complain("the job's size");
    if (number(me.rank, PMIX_LOCAL_RANK) >= number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE))
        complain("local rank %u of %u", number(me.rank, PMIX_LOCAL_RANK),
                 number(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE));
    if (!strangers)
        expect(PMIX_RANK_WILDCARD, "test.told", "by the host");
}

/* ---- what only a host can answer ------------------------------------------------------------- */

static void infos_of(const char *what, const char *name, pmix_status_t rc, pmix_info_t *results,
                     size_t n)
{
    host_must(what, rc);
    if (!bare && (n != 1 || strcmp(results[0].value.data.string, name) != 0))
        complain("%s: the host's answer is lost", what);
    if (results)
        PMIX_INFO_FREE(results, n);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    nevents++;
    if (cbfunc)
        cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *payload, pmix_info_t info[], size_t ninfo)
{
    (void)id;
    (void)source;
    (void)info;
    (void)ninfo;
    if (channel == PMIX_FWD_STDOUT_CHANNEL && payload->size == 7 &&
        !memcmp(payload->bytes, "output\n", 7))
        outputs++;
}

static void on_pushed(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    must("pushed", status);
    pushed++;
}

static void on_done(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    must("done", status);
    done++;
}

static bool comes(atomic_int *what)
{
    for (int i = 0; i < 30000 && !*what; i++)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    return *what > 0;
}

static void names(void)
{
    pmix_pdata_t pdata;
    pmix_info_t info;
    char key[] = "a name", *keys[] = { key, NULL };

    PMIX_INFO_LOAD(&info, "a name", "a port", PMIX_STRING);
    must("publish", PMIx_Publish(&info, 1));
    if (PMIx_Publish(&info, 1) != PMIX_ERR_DUPLICATE_KEY)
        complain("publish again");
    PMIX_INFO_DESTRUCT(&info);
    PMIX_PDATA_CONSTRUCT(&pdata);
    PMIX_LOAD_KEY(pdata.key, "a name");
    must("lookup", PMIx_Lookup(&pdata, 1, NULL, 0));
    if (pdata.value.type != PMIX_STRING || strcmp(pdata.value.data.string, "a port") != 0)
        complain("what was looked up");
    PMIX_PDATA_DESTRUCT(&pdata);
    must("unpublish", PMIx_Unpublish(keys, NULL, 0));
    PMIX_PDATA_CONSTRUCT(&pdata);
    PMIX_LOAD_KEY(pdata.key, "a name");
    if (PMIx_Lookup(&pdata, 1, NULL, 0) != PMIX_ERR_NOT_FOUND)
        complain("lookup of nothing");
}

static void on_some(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    if (status != PMIX_ERR_PARTIAL_SUCCESS || n != 1 || strcmp(data[0].key, "some") != 0 ||
        data[0].value.type != PMIX_STRING || strcmp(data[0].value.data.string, "here") != 0)
        complain("lookup_nb of one that is there: %s, %zu values", PMIx_Error_string(status), n);
    *(_Atomic bool *)arg = true;
}

/* One of two names is published: its value is got. */
static void some_of_two(void)
{
    _Atomic bool called = false;
    char none[] = "none", some[] = "some", *keys[] = { none, some, NULL };
    pmix_pdata_t two[2];
    pmix_info_t name, wait;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&name, "some", "here", PMIX_STRING);
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &(int){ 1 }, PMIX_INT);
    must("publish", PMIx_Publish(&name, 1));
    for (int i = 0; i < 2; i++) {
        PMIX_PDATA_CONSTRUCT(&two[i]);
        PMIX_LOAD_KEY(two[i].key, keys[i]);
    }
    rc = PMIx_Lookup(two, 2, &wait, 1);
    if (rc != PMIX_ERR_PARTIAL_SUCCESS || two[0].value.type != PMIX_UNDEF ||
        two[1].value.type != PMIX_STRING || strcmp(two[1].value.data.string, "here") != 0)
        complain("lookup of one that is there: %s", PMIx_Error_string(rc));
    must("lookup_nb", PMIx_Lookup_nb(keys, &wait, 1, on_some, &called));
    while (!called)
        usleep(1000);
    must("unpublish", PMIx_Unpublish(&keys[1], NULL, 0));
    PMIX_INFO_DESTRUCT(&name);
    for (int i = 0; i < 2; i++)
        PMIX_PDATA_DESTRUCT(&two[i]);
}

static void questions(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_info_t info, *results = NULL;
    pmix_query_t query;
    uint64_t nodes_wanted = 1;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&query);
    PMIX_ARGV_APPEND(rc, query.keys, "test.question");
    rc = PMIx_Query_info(&query, 1, &results, &n);
    if (!bare)
        infos_of("query", "query", rc, results, n);
    else if (rc == PMIX_SUCCESS)
        complain("a bare host answers a query");
    PMIX_QUERY_DESTRUCT(&query);
    results = NULL;
    n = 0;
    PMIX_INFO_LOAD(&info, PMIX_ALLOC_NUM_NODES, &nodes_wanted, PMIX_UINT64);
    rc = PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, &results, &n);
    infos_of("allocate", "allocate", rc, results, n);
    PMIX_INFO_DESTRUCT(&info);
    results = NULL;
    n = 0;
    PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_PAUSE, NULL, PMIX_BOOL);
    rc = PMIx_Job_control(&all, 1, &info, 1, &results, &n);
    infos_of("job control", "job_control", rc, results, n);
    results = NULL;
    n = 0;
    PMIX_INFO_LOAD(&info, PMIX_MONITOR_FILE, "/nowhere", PMIX_STRING);
    rc = PMIx_Process_monitor(&info, PMIX_MONITOR_FILE_ALERT, NULL, 0, &results, &n);
    infos_of("monitor", "monitor", rc, results, n);
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_LOAD(&info, "test.log", "words", PMIX_STRING);
    host_must("log", PMIx_Log(&info, 1, NULL, 0));
    PMIX_INFO_DESTRUCT(&info);
}

/* The sets that the host has defined: the server knows them by itself. */
static void sets(void)
{
    pmix_info_t *results = NULL;
    pmix_query_t q;
    size_t n = 0;
    const pmix_data_array_t *a;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, PMIX_QUERY_PSET_NAMES);
    PMIX_ARGV_APPEND(rc, q.keys, PMIX_QUERY_PSET_MEMBERSHIP);
    PMIX_INFO_CREATE(q.qualifiers, 1);
    q.nqual = 1;
    PMIX_INFO_LOAD(&q.qualifiers[0], PMIX_PSET_NAME, "testset", PMIX_STRING);
    rc = PMIx_Query_info(&q, 1, &results, &n);
    must("query sets", rc);
    if (n != 2 || results[0].value.type != PMIX_STRING ||
        strcmp(results[0].value.data.string, "testset") != 0 ||
        results[1].value.type != PMIX_DATA_ARRAY)
        complain("the sets of the host");
    else if ((a = results[1].value.data.darray)->type != PMIX_PROC || a->size != 1 ||
             strcmp(((const pmix_proc_t *)a->array)->nspace, me.nspace) != 0)
        complain("who is in the set");
    if (results)
        PMIX_INFO_FREE(results, n);
    PMIX_QUERY_DESTRUCT(&q);
}

static pmix_status_t support(const char *level, pmix_info_t **results_p, size_t *n_p)
{
    pmix_query_t q;
    pmix_status_t rc;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIX_QUERY_QUALIFIERS_CREATE(&q, 1);
    PMIX_INFO_LOAD(&q.qualifiers[0], level, "all", PMIX_STRING);
    *results_p = NULL;
    *n_p = 0;
    rc = PMIx_Query_info(&q, 1, results_p, n_p);
    PMIX_QUERY_DESTRUCT(&q);
    return rc;
}

/* What the host has registered, and nothing of the launcher that this library belongs to. */
static void attributes(void)
{
    pmix_info_t *results;
    const pmix_info_t *call;
    const pmix_data_array_t *a;
    const pmix_regattr_t *attr;
    size_t n;

    must("query functions", support(PMIX_HOST_FUNCTIONS, &results, &n));
    if (n != 1 || results[0].value.type != PMIX_STRING ||
        strcmp(results[0].value.data.string, "test_spawn") != 0)
        complain("the functions of the host");
    PMIX_INFO_FREE(results, n);
    must("query attributes", support(PMIX_HOST_ATTRIBUTES, &results, &n));
    if (n != 1 || results[0].value.type != PMIX_DATA_ARRAY ||
        results[0].value.data.darray->type != PMIX_INFO || results[0].value.data.darray->size != 1)
        return complain("the host has one function");
    call = results[0].value.data.darray->array;
    a = call->value.data.darray;
    attr = a->array;
    if (strcmp(call->key, "test_spawn") != 0 || a->type != PMIX_REGATTR || a->size != 2 ||
        strcmp(attr[0].name, "PMIX_TIMEOUT") != 0 || strcmp(attr[0].string, PMIX_TIMEOUT) != 0 ||
        strcmp(attr[1].name, "test.own") != 0)
        complain("the attributes of the host");
    PMIX_INFO_FREE(results, n);
}

static void credentials(void)
{
    pmix_byte_object_t bo = { NULL, 0 };
    pmix_info_t *results = NULL;
    size_t n = 0;

    host_must("get credential", PMIx_Get_credential(NULL, 0, &bo));
    if (bare)
        return;
    must("validate credential", PMIx_Validate_credential(&bo, NULL, 0, &results, &n));
    if (bo.bytes)
        bo.bytes[0] ^= 1;
    if (PMIx_Validate_credential(&bo, NULL, 0, &results, &n) == PMIX_SUCCESS)
        complain("a false credential");
    free(bo.bytes);
}

static void output(void)
{
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    pmix_byte_object_t bo = { (char *)"output\n", 7 };
    pmix_status_t rc;

    rc = PMIx_IOF_pull(&all, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);
    if (bare) {
        host_must("pull", rc);
        return;
    }
    if (rc < 0)
        complain("pull: %s", PMIx_Error_string(rc));
    /* with callbacks: 4.2.2's client never comes back without one */
    must("push", PMIx_IOF_push(&all, 1, &bo, NULL, 0, on_pushed, NULL));
    if (!comes(&pushed))
        complain("the push has not been answered");
    if (!comes(&outputs))
        complain("no output has come");
    if (rc >= 0)
        must("deregister output", PMIx_IOF_deregister((size_t)rc, NULL, 0, on_done, NULL));
    if (!comes(&done))
        complain("the end of a pull has not been answered");
}

static void spawns(const char *program)
{
    const char *const keys[] = { PMIX_JOB_RECOVERABLE, PMIX_FWD_STDIN, PMIX_FWD_STDOUT,
                                 PMIX_FWD_STDERR };
    pmix_nspace_t nspace = "";
    pmix_info_t wishes[4];
    pmix_app_t app;
    pmix_status_t rc;
    bool yes = true;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(program);
    PMIX_ARGV_APPEND(rc, app.argv, program);
    PMIX_ARGV_APPEND(rc, app.argv, "spawned");
    app.maxprocs = 1;
    for (int i = 0; i < 4; i++)
        PMIX_INFO_LOAD(&wishes[i], keys[i], &yes, PMIX_BOOL);
    rc = PMIx_Spawn(wishes, 4, &app, 1, nspace);
    host_must("spawn", rc);
    if (!bare && strncmp(nspace, "spawned", 7) != 0)
        complain("the spawned job's name");
    PMIX_APP_DESTRUCT(&app);
}

static void calls(const char *program)
{
    pmix_status_t code = -5000;
    pmix_info_t *results = NULL;
    pmix_proc_t all = process(PMIX_RANK_WILDCARD);
    size_t n = 0;

    must("register", PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL));
    fence(NULL, 0, false);
    if (me.rank == 0) {
        must("notify", PMIx_Notify_event(code, &me, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
        names();
        questions();
        sets();
        attributes();
        credentials();
        output();
        spawns(program);
    }
    if (!comes(&nevents))
        complain("the event has not come");
    must("group", PMIx_Group_construct("team", &all, 1, NULL, 0, &results, &n));
    if (results)
        PMIX_INFO_FREE(results, n);
    must("ungroup", PMIx_Group_destruct("team", NULL, 0));
    fence(NULL, 0, false);
}

static void hold(const char *up, const char *go)
{
    fence(NULL, 0, false);
    if (me.rank == 0)
        fclose(fopen(up, "w"));
    while (access(go, F_OK) < 0)
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    exchange("card");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exchange";
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);

    if (rc != PMIX_SUCCESS) {
        printf("pmixcalls WRONG: init: %s\n", PMIx_Error_string(rc));
        return 1;
    }
    size = number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    bare = !strcmp(what, "bare");
    fenced = !strcmp(what, "fenced");
    strangers = fenced || !strcmp(what, "cards");
    if (!strcmp(what, "exchange") || !strcmp(what, "spoil") || strangers)
        exchange(!strcmp(what, "spoil") ? "spoilt" : "card");
    else if (!strcmp(what, "hold") && argc > 3)
        hold(argv[2], argv[3]);
    else if (!strcmp(what, "calls") || bare)
        calls(argv[0]);
    else if (!strcmp(what, "some") && me.rank == 0)
        some_of_two();
    else if (!strcmp(what, "abort") && me.rank == 0)
        PMIx_Abort(argc > 2 ? atoi(argv[2]) : 3, "on purpose", NULL, 0);
    fence(NULL, 0, false);
    if (me.rank == 0 && !wrong && strcmp(what, "spawned") != 0)
        printf("pmixcalls %u good\n", size);
    fflush(stdout);
    must("finalize", PMIx_Finalize(NULL, 0));
    return wrong != 0;
}
