/* dvm_tasks.c - a tool that gives a DVM many jobs of one process, some at once.
 *
 *   bench-dvm-tasks ADDRESS TASKS AT_ONCE PROGRAM [WORDS...]
 *
 * Prints TASKS FAILED MICROSECONDS: from the first spawn to the end of the last job. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pmix.h"
#include "pmix_tool.h"

enum { NAMES = 4096 };

/* Jobs of which one thing is known: that they have been spawned, or that they have ended.  Ends of
 * jobs before us are told, too. */
struct names {
    pmix_nspace_t list[NAMES];
    unsigned n;
};

struct tasks {
    pthread_mutex_t gate;
    pthread_cond_t change;
    struct names spawned, ended;
    unsigned running, done, failed;
};

static struct tasks tasks = { .gate = PTHREAD_MUTEX_INITIALIZER,
                              .change = PTHREAD_COND_INITIALIZER };

static bool take(struct names *from, const char *nspace)
{
    for (unsigned i = from->n; i-- > 0;) {
        if (strcmp(from->list[i], nspace) != 0)
            continue;
        memcpy(from->list[i], from->list[--from->n], sizeof from->list[i]);
        return true;
    }
    return false;
}

static void put(struct names *to, const char *nspace)
{
    if (to->n == NAMES)
        abort();
    snprintf(to->list[to->n++], sizeof to->list[0], "%s", nspace);
}

/* The other half of what is known of it may come first. */
static void note(struct names *here, struct names *other, const char *nspace)
{
    pthread_mutex_lock(&tasks.gate);
    if (take(other, nspace)) {
        tasks.running--;
        tasks.done++;
        pthread_cond_signal(&tasks.change);
    } else {
        put(here, nspace);
    }
    pthread_mutex_unlock(&tasks.gate);
}

static void fail(void)
{
    pthread_mutex_lock(&tasks.gate);
    tasks.running--;
    tasks.done++;
    tasks.failed++;
    pthread_cond_signal(&tasks.change);
    pthread_mutex_unlock(&tasks.gate);
}

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t infos[],
                   size_t n, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t fn, void *arg)
{
    (void)id, (void)code, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < n; i++) {
        if (PMIX_CHECK_KEY(&infos[i], PMIX_NSPACE))
            note(&tasks.ended, &tasks.spawned, infos[i].value.data.string);
    }
    fn(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_spawned(pmix_status_t status, pmix_nspace_t nspace, void *arg)
{
    (void)arg;
    if (status == PMIX_SUCCESS)
        note(&tasks.spawned, &tasks.ended, nspace);
    else
        fail();
}

static pmix_status_t start(char **words)
{
    char here[] = "/";
    pmix_app_t app;
    pmix_info_t info;

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = words[0];
    app.argv = words;
    app.cwd = here;
    app.maxprocs = 1;
    PMIX_INFO_LOAD(&info, PMIX_NOTIFY_COMPLETION, NULL, PMIX_BOOL);
    return PMIx_Spawn_nb(&info, 1, &app, 1, on_spawned, NULL);
}

static void wait_for_room(unsigned at_once)
{
    pthread_mutex_lock(&tasks.gate);
    while (tasks.running >= at_once)
        pthread_cond_wait(&tasks.change, &tasks.gate);
    tasks.running++;
    pthread_mutex_unlock(&tasks.gate);
}

static void wait_for_all(unsigned count)
{
    pthread_mutex_lock(&tasks.gate);
    while (tasks.done < count)
        pthread_cond_wait(&tasks.change, &tasks.gate);
    pthread_mutex_unlock(&tasks.gate);
}

static long now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    pmix_status_t code = PMIX_EVENT_JOB_END, rc;
    unsigned count = argc > 4 ? (unsigned)atoi(argv[2]) : 0;
    pmix_proc_t me;
    pmix_info_t info;
    long begun;

    if (count == 0)
        return 2;
    PMIX_INFO_LOAD(&info, PMIX_SERVER_URI, argv[1], PMIX_STRING);
    rc = PMIx_tool_init(&me, &info, 1);
    if (rc != PMIX_SUCCESS ||
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_end, NULL, NULL) < 0) {
        fprintf(stderr, "no DVM at %s: %s\n", argv[1], PMIx_Error_string(rc));
        return 1;
    }
    begun = now_us();
    for (unsigned i = 0; i < count; i++) {
        wait_for_room((unsigned)atoi(argv[3]));
        rc = start(argv + 4);
        if (rc != PMIX_SUCCESS)
            fail();
    }
    wait_for_all(count);
    printf("%u %u %ld\n", count, tasks.failed, now_us() - begun);
    PMIx_tool_finalize();
    return tasks.failed ? 1 : 0;
}
