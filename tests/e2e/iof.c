/* iof.c - what a subscription to output (PMIx_IOF_pull) and a push of input ask for.  Rank 0 spawns
 * children on all nodes, and others wait for it.
 *
 *   iof NODES ours|theirs      prints `iof NODES good`, or `iof NODES WRONG ...`
 *   iof own DIRECTORY HOST     our library alone: its own input goes to a child on HOST, and output
 *                              to files of DIRECTORY; prints `iof own good`
 *   iof wrong                  expects what is not so */
#define PROGRAM "iof"
#include <pmix_tool.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pmix_rank.h"

enum { CHILDREN = 3, MOST = 4096 };

static struct received {
    pthread_mutex_t lock;
    char text[MOST];
    size_t n;
    atomic_int bytes, pieces, ends;
} got = { .lock = PTHREAD_MUTEX_INITIALIZER }, other = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_int registered, answered, ended;
static size_t last_ref;

static void note(struct received *h, const pmix_byte_object_t *bytes, const pmix_info_t *infos,
                 size_t n)
{
    pthread_mutex_lock(&h->lock);
    if (bytes && bytes->size && h->n + bytes->size < sizeof h->text) {
        memcpy(h->text + h->n, bytes->bytes, bytes->size);
        h->n += bytes->size;
        h->bytes += (int)bytes->size;
        h->pieces++;
    }
    pthread_mutex_unlock(&h->lock);
    for (size_t i = 0; i < n; i++)
        h->ends += PMIX_CHECK_KEY(&infos[i], PMIX_IOF_COMPLETE) && PMIX_INFO_TRUE(&infos[i]);
}

static void on_output(size_t ref, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t infos[], size_t n)
{
    (void)ref, (void)channel, (void)source;
    note(&got, bytes, infos, n);
}

static void on_other_output(size_t ref, pmix_iof_channel_t channel, pmix_proc_t *source,
                            pmix_byte_object_t *bytes, pmix_info_t infos[], size_t n)
{
    (void)ref, (void)channel, (void)source;
    note(&other, bytes, infos, n);
}

static void forget_all(struct received *h)
{
    pthread_mutex_lock(&h->lock);
    memset(h->text, 0, sizeof h->text);
    h->n = 0;
    h->bytes = h->pieces = h->ends = 0;
    pthread_mutex_unlock(&h->lock);
}

static void on_registered(pmix_status_t status, size_t ref, void *arg)
{
    (void)arg;
    must("registration", status);
    last_ref = ref;
    registered++;
}

static void on_answer(pmix_status_t status, void *arg)
{
    (void)arg;
    must("answer", status);
    answered++;
}

static void on_end(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                   pmix_info_t info[], size_t n, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler, (void)status, (void)source, (void)info, (void)n, (void)results, (void)nresults;
    ended++;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

/* ---- what the checks are made of ------------------------------------------------------------- */

static size_t pull(const char *nspace, pmix_info_t *infos, size_t n, pmix_iof_cbfunc_t handler)
{
    int before = registered;
    pmix_proc_t procs[2];

    /* (Named twice: it is one.) */
    PMIX_LOAD_PROCID(&procs[0], nspace, 0);
    PMIX_LOAD_PROCID(&procs[1], nspace, PMIX_RANK_WILDCARD);
    must("pull",
         PMIx_IOF_pull(procs, 2, infos, n, PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL,
                       handler, on_registered, NULL));
    wait_for("registrations", &registered, before + 1);
    return last_ref;
}

/* Of what does not fit, the newest is kept in any case, and others get the output, too. */
static size_t pull_by(const char *nspace, const char *key, uint32_t number)
{
    pmix_info_t info[3];

    forget_all(&got);
    if (number)
        PMIX_INFO_LOAD(&info[0], key, &number, PMIX_UINT32);
    else
        PMIX_INFO_LOAD(&info[0], key, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_IOF_DROP_OLDEST, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], PMIX_IOF_COPY, NULL, PMIX_BOOL);
    for (size_t i = 0; i < 3; i++)
        PMIX_INFO_REQUIRED(&info[i]);
    return pull(nspace, info, 3, on_output);
}

static void stop(size_t ref)
{
    int before = answered;

    must("deregister", PMIx_IOF_deregister(ref, NULL, 0, on_answer, NULL));
    wait_for("answers", &answered, before + 1);
}

static void push(const pmix_proc_t *to, size_t n, const char *text, bool complete)
{
    int before = answered;
    pmix_byte_object_t bytes = { (char *)(uintptr_t)text, strlen(text) };
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], PMIX_IOF_COMPLETE, &complete, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[1], PMIX_IOF_DROP_OLDEST, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info[1]);
    must("push", PMIx_IOF_push(to, n, &bytes, info, 2, on_answer, NULL));
    wait_for("answers to a push", &answered, before + 1);
}

/* Waits for that number of bytes; the text may come in any order of its lines. */
static void expect(const char *what, struct received *h, const char *text)
{
    wait_for(what, &h->bytes, (int)strlen(text));
    if (strcmp(h->text, text) != 0)
        complain("%s: '%s', not '%s'", what, h->text, text);
}

/* Every other time, what is said of the input is the application's and not the job's: that is the
 * same. */
static void spawn(char *script, int n, const char *host, char *name)
{
    static bool by_app;
    char shell[] = "/bin/sh", option[] = "-c", *argv[] = { shell, option, script, NULL };
    pmix_rank_t all = PMIX_RANK_WILDCARD;
    pmix_info_t infos[4];
    size_t ninfos = 3;
    pmix_app_t app;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = shell;
    app.argv = argv;
    app.maxprocs = n;
    PMIX_INFO_LOAD(&infos[0], PMIX_FWD_STDIN, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&infos[1], PMIX_STDIN_TGT, &all, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&infos[2], PMIX_MAPBY, "node", PMIX_STRING);
    if (host)
        PMIX_INFO_LOAD(&infos[ninfos++], PMIX_HOST, host, PMIX_STRING);
    by_app = !by_app;
    app.info = by_app ? infos : NULL;
    app.ninfo = by_app ? 2 : 0;
    must("spawn", PMIx_Spawn(infos + app.ninfo, ninfos - app.ninfo, &app, 1, name));
    for (size_t i = 0; i < ninfos; i++)
        PMIX_INFO_DESTRUCT(&infos[i]);
}

/* ---- the checks ------------------------------------------------------------------------------ */

static char print_all[] = "printf 0123456789; printf abc >&2", copy[] = "exec cat";

/* All that was written before anybody subscribed, and each end once. */
static void check_late(void)
{
    pmix_nspace_t name;

    spawn(print_all, CHILDREN, NULL, name);
    wait_for("ends of jobs", &ended, 1);
    forget_all(&got);
    pull(name, NULL, 0, on_output);
    wait_for("bytes of a late subscription", &got.bytes, CHILDREN * 13);
    wait_for("ends of streams", &got.ends, CHILDREN * 2);
}

/* … or what fits into the cache that is asked for, on the node of the subscriber. */
static void check_cache(const char *host)
{
    pmix_info_t infos[2];
    uint32_t four = 4;
    pmix_nspace_t name;

    spawn(print_all, 1, host, name);
    wait_for("ends of jobs", &ended, 2);
    pull_by(name, PMIX_IOF_CACHE_SIZE, four);
    wait_for("ends of streams", &got.ends, 2);
    if (got.bytes != 7 || !strstr(got.text, "6789") || !strstr(got.text, "abc"))
        complain("the newest four of a channel: '%s'", got.text);
    forget_all(&got);
    PMIX_INFO_LOAD(&infos[0], PMIX_IOF_CACHE_SIZE, &four, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_IOF_DROP_NEWEST, NULL, PMIX_BOOL);
    pull(name, infos, 2, on_output);
    wait_for("ends of streams", &got.ends, 2);
    if (got.bytes != 7 || !strstr(got.text, "0123") || !strstr(got.text, "abc"))
        complain("the oldest four of a channel: '%s'", got.text);
}

/* A child whose output is what it is given, and a subscription to it. */
static struct copier {
    pmix_proc_t proc;
    size_t ref;
} begin(const char *key, uint32_t number)
{
    struct copier c;
    pmix_nspace_t name;

    spawn(copy, 1, NULL, name);
    PMIX_LOAD_PROCID(&c.proc, name, 0);
    c.ref = pull_by(name, key, number);
    return c;
}

static void end(const struct copier *c)
{
    int before = ended;

    push(&c->proc, 1, "", true);
    wait_for("ends of jobs", &ended, before + 1);
}

static void check_size(void)
{
    struct copier c = begin(PMIX_IOF_BUFFERING_SIZE, 4);

    push(&c.proc, 1, "ab", false);
    push(&c.proc, 1, "cdef", false);
    expect("gathered bytes", &got, "abcdef");
    wait_for("pieces", &got.pieces, 1);
    end(&c);
}

static void check_time(void)
{
    struct copier c = begin(PMIX_IOF_BUFFERING_SIZE, 1000);
    pmix_info_t infos[2];
    uint32_t much = 1000, second = 1;

    PMIX_INFO_LOAD(&infos[0], PMIX_IOF_BUFFERING_SIZE, &much, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[1], PMIX_IOF_BUFFERING_TIME, &second, PMIX_UINT32);
    forget_all(&other);
    pull(c.proc.nspace, infos, 2, on_other_output);
    push(&c.proc, 1, "in time", false);
    expect("bytes that have waited", &other, "in time");
    wait_for("pieces that are too small", &got.pieces, 0);
    end(&c);
    expect("what the end brings", &got, "in time");
}

/* (OpenPMIx's library has no handler for what comes after the call.) */
static void check_stop(void)
{
    struct copier c = begin(PMIX_IOF_BUFFERING_SIZE, 1000);

    forget_all(&other);
    pull(c.proc.nspace, NULL, 0, on_other_output);
    push(&c.proc, 1, "left", false);
    expect("bytes at once", &other, "left");
    stop(c.ref);
    expect("bytes that were left", &got, "left");
    end(&c);
    wait_for("ends of a stream that is not subscribed to", &got.ends, 0);
}

/* Only the subscriber gets it; the script sees that the launcher has not shown it. */
static void check_redirect(void)
{
    struct copier c = begin(PMIX_IOF_REDIRECT, 0);

    push(&c.proc, 1, "for me alone\n", false);
    expect("redirected output", &got, "for me alone\n");
    stop(c.ref);
    push(&c.proc, 1, "for all again\n", false);
    end(&c);
}

static void check_formats(void)
{
    struct copier c = begin(PMIX_IOF_TAG_OUTPUT, 0);
    char want[1024];

    push(&c.proc, 1, "two\nlines\n", false);
    snprintf(want, sizeof want, "[%.255s,0]<stdout>: two\n[%.255s,0]<stdout>: lines\n",
             c.proc.nspace, c.proc.nspace);
    expect("tagged lines", &got, want);
    end(&c);

    c = begin(PMIX_IOF_RANK_OUTPUT, 0);
    push(&c.proc, 1, "one\n", false);
    expect("lines with their rank", &got, "[0]<stdout>: one\n");
    end(&c);

    c = begin(PMIX_IOF_XML_OUTPUT, 0);
    push(&c.proc, 1, "a<b\n", false);
    snprintf(want, sizeof want, "<stdout nspace=\"%s\" rank=\"0\">a&lt;b&#010;</stdout>\n",
             c.proc.nspace);
    expect("XML", &got, want);
    end(&c);

    c = begin(PMIX_IOF_TIMESTAMP_OUTPUT, 0);
    push(&c.proc, 1, "now\n", false);
    wait_for("bytes with a time", &got.bytes, (int)strlen("2026-01-01T00:00:00.000Z now\n"));
    if (strncmp(got.text, "20", 2) != 0 || strcmp(got.text + 23, "Z now\n") != 0)
        complain("a time: '%s'", got.text);
    end(&c);
}

/* Input for two of them, and its end in the same call. */
static void check_push(void)
{
    pmix_nspace_t name;
    pmix_proc_t two[2];
    int before = ended;

    spawn(copy, CHILDREN, NULL, name);
    forget_all(&got);
    pull(name, NULL, 0, on_output);
    PMIX_LOAD_PROCID(&two[0], name, 0);
    PMIX_LOAD_PROCID(&two[1], name, CHILDREN - 1);
    push(two, 2, "in,", true);
    wait_for("ends of streams", &got.ends, 4);
    expect("what two print_all", &got, "in,in,");
    PMIX_LOAD_PROCID(&two[0], name, 1);
    push(two, 1, "", true);
    wait_for("ends of jobs", &ended, before + 1);
    wait_for("all ends of streams", &got.ends, 6);
}

/* ---- what the library does for this process -------------------------------------------------- */

static void push_own(const pmix_proc_t *to, size_t n, const char *key, pmix_status_t want)
{
    int before = answered;
    pmix_info_t info;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, key, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&info);
    rc = PMIx_IOF_push(to, n, NULL, &info, 1, on_answer, NULL);
    if (rc == PMIX_SUCCESS)
        wait_for("answers to a push", &answered, before + 1);
    if (rc != want && !(want == PMIX_SUCCESS && rc == PMIX_OPERATION_SUCCEEDED))
        complain("a push of %s: %s", key, PMIx_Error_string(rc));
}

/* It ends with the input of this process (`end` below), or is closed. */
static void check_own_input(const char *host)
{
    pmix_nspace_t name;
    pmix_proc_t child;
    int before = ended;

    spawn(copy, 1, host, name);
    PMIX_LOAD_PROCID(&child, name, 0);
    forget_all(&got);
    pull(name, NULL, 0, on_output);
    push_own(&child, 1, PMIX_IOF_PUSH_STDIN, PMIX_SUCCESS);
    expect("the input of this process", &got, "line 1\nline 2\n");
    wait_for("ends of streams before it ends", &got.ends, 0);
    push_own(&child, 1, PMIX_IOF_PUSH_STDIN, PMIX_ERR_RESOURCE_BUSY);
    push_own(NULL, 0, PMIX_IOF_COMPLETE, PMIX_SUCCESS);
    wait_for("ends of streams", &got.ends, 2);
    wait_for("ends of jobs", &ended, before + 1);
}

static void expect_file(const char *directory, const char *rest, const char *text)
{
    char path[512], found[64] = "";
    FILE *f;

    snprintf(path, sizeof path, "%s%s", directory, rest);
    f = fopen(path, "r");
    if (!f || fread(found, 1, sizeof found - 1, f) != strlen(text) || strcmp(found, text) != 0)
        complain("%s: '%s', not '%s'", path, f ? found : "(none)", text);
    if (f)
        fclose(f);
}

/* In files before the handler is called; and on its own standard output and error, once. */
static void check_files(const char *directory)
{
    char rest[PMIX_MAX_NSLEN + 40], path[512];
    pmix_info_t infos[2];
    pmix_nspace_t name;
    int before = ended;

    spawn(print_all, 1, NULL, name);
    wait_for("ends of jobs", &ended, before + 1);
    forget_all(&got);
    PMIX_INFO_LOAD(&infos[0], PMIX_IOF_OUTPUT_TO_DIRECTORY, directory, PMIX_STRING);
    PMIX_INFO_LOAD(&infos[1], PMIX_IOF_LOCAL_OUTPUT, NULL, PMIX_BOOL);
    PMIX_INFO_REQUIRED(&infos[0]);
    PMIX_INFO_REQUIRED(&infos[1]);
    pull(name, infos, 2, on_output);
    wait_for("ends of streams", &got.ends, 2);
    snprintf(rest, sizeof rest, "/%s/rank.0/stdout", name);
    expect_file(directory, rest, "0123456789");
    snprintf(rest, sizeof rest, "/%s/rank.0/stderr", name);
    expect_file(directory, rest, "abc");
    PMIX_INFO_DESTRUCT(&infos[0]);

    snprintf(path, sizeof path, "%s/file", directory);
    PMIX_INFO_LOAD(&infos[0], PMIX_IOF_OUTPUT_TO_FILE, path, PMIX_STRING);
    forget_all(&got);
    pull(name, infos, 1, on_output);
    wait_for("ends of streams", &got.ends, 2);
    snprintf(rest, sizeof rest, ".%s.0.stdout", name);
    expect_file(path, rest, "0123456789");
    PMIX_INFO_LOAD(&infos[1], PMIX_IOF_OUTPUT_TO_DIRECTORY, directory, PMIX_STRING);
    if (PMIx_IOF_pull(&me, 1, infos, 2, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL) !=
        PMIX_ERR_BAD_PARAM)
        complain("both kinds of files");
    PMIX_INFO_DESTRUCT(&infos[0]);
    PMIX_INFO_DESTRUCT(&infos[1]);
}

static void listen_for_ends(void)
{
    pmix_status_t code = PMIX_EVENT_JOB_END;

    PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, on_registered, NULL);
    wait_for("registrations", &registered, 1);
}

static void check_all(const char *host, bool ours)
{
    listen_for_ends();
    check_late();
    check_cache(host);
    check_size();
    check_time();
    if (ours)
        check_stop();
    check_formats();
    check_redirect();
    check_push();
}

int main(int argc, char **argv)
{
    char host[256] = "";
    pmix_value_t *v = NULL;

    mode = argc > 1 ? argv[1] : "";
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    if (PMIx_Get(&me, PMIX_HOSTNAME, NULL, 0, &v) == PMIX_SUCCESS) {
        snprintf(host, sizeof host, "%s", v->data.string);
        PMIX_VALUE_RELEASE(v);
    }
    if (!strcmp(mode, "wrong"))
        expect("nothing", &got, "");
    if (!strcmp(mode, "wrong"))
        complain("as it should be");
    else if (!strcmp(mode, "own") && argc > 3 && me.rank == 0) {
        listen_for_ends();
        check_own_input(argv[3]);
        check_files(argv[2]);
    } else if (me.rank == 0 && strcmp(mode, "own") != 0)
        check_all(host, argc > 2 && !strcmp(argv[2], "ours"));
    fence();
    if (me.rank == 0 && !wrong)
        printf("\niof %s good\n", mode);
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return wrong != 0;
}
