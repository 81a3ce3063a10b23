/* kills.c - a rank for kills.py, on our libpmix: says what it does in the pipe that KILLS_TELL
 * names, a line "RANK WORD" for each step, and stays where it is to be found when somebody is
 * killed.
 *
 *   kills stay            a fence (`born`, `up`, `met`), then nothing
 *   kills held RANK       everybody but that rank is in a fence (`in`)
 *   kills fences          one fence with data after the other (`in` before the first), and output
 *   kills until FILE CODE the same until FILE exists (`in` before the first); the last rank ends
 *                         with CODE
 *   kills leave           a fence, then the end (`out`)
 *   kills spawn           rank 0 spawns one process after the other (`in` before the first)
 *   kills survive node|ranks LOST...   the ranks in LOST are to be lost, alone or with their node
 *                                      (`met` after a fence): everybody else is told so, sees
 *                                      fences with them fail, meets without them, leaves with 0
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix.h"

static pmix_proc_t me;
static uint32_t size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t one_received = PTHREAD_COND_INITIALIZER;
static bool end_received[64];
static unsigned down_received, offline_received;
static bool with_node;
static bool judging; /* what fails is nobody's death */

static void write_state(const char *word)
{
    const char *path = getenv("KILLS_TELL");
    int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    char line[100];
    int n = snprintf(line, sizeof line, "%d %s\n",
                     getenv("PMIX_RANK") ? atoi(getenv("PMIX_RANK")) : -1, word);

    if (fd < 0 || write(fd, line, (size_t)n) != n)
        exit(9);
    close(fd);
}

static void must(const char *what, pmix_status_t rc)
{
    char text[200];

    if (rc == PMIX_SUCCESS)
        return;
    snprintf(text, sizeof text, "wrong %s: %s", what, PMIx_Error_string(rc));
    if (judging)
        write_state(text);
    exit(8);
}

static _Noreturn void stay(void)
{
    for (;;)
        pause();
}

static void fences(void)
{
    static char card[2000];
    pmix_info_t info;
    bool collect = true;

    memset(card, 'x', sizeof card - 1);
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    write_state("in");
    for (unsigned i = 0;; i++) {
        pmix_value_t v = { .type = PMIX_STRING, .data.string = card };
        char key[32];
        snprintf(key, sizeof key, "card-%u", i % 4);
        must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
        must("commit", PMIx_Commit());
        must("fence", PMIx_Fence(NULL, 0, &info, 1));
        if (i % 16 == 0)
            printf("rank %u at %u\n", me.rank, i);
    }
}

/* Rank 0 says in each fence whether it is the last one. */
static bool is_last(unsigned i, const char *path)
{
    pmix_value_t v = { .type = PMIX_BOOL, .data.flag = access(path, F_OK) == 0 }, *got;
    pmix_proc_t first = me;
    pmix_info_t info;
    bool collect = true, last;
    char key[32];

    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    snprintf(key, sizeof key, "last-%u", i);
    first.rank = 0;
    if (me.rank == 0)
        must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
    must("commit", PMIx_Commit());
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
    must("get", PMIx_Get(&first, key, NULL, 0, &got));
    last = got->data.flag;
    PMIX_VALUE_RELEASE(got);
    return last;
}

static int until(const char *path, int code)
{
    unsigned i = 0;

    write_state("in");
    while (!is_last(i, path)) {
        i++;
        usleep(3000);
    }
    printf("rank %u has met all\n", me.rank);
    must("finalize", PMIx_Finalize(NULL, 0));
    return me.rank == size - 1 ? code : 0;
}

static void spawn(const char *program)
{
    char *argv[] = { (char *)(uintptr_t)program, (char *)(uintptr_t) "child", NULL };
    pmix_app_t app = { .cmd = (char *)(uintptr_t)program, .argv = argv, .maxprocs = 3 };

    if (me.rank != 0)
        stay();
    write_state("in");
    for (;;) {
        char name[PMIX_MAX_NSLEN + 1];
        must("spawn", PMIx_Spawn(NULL, 0, &app, 1, name));
    }
}

/* ---- surviving ------------------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *done_arg)
{
    (void)id;
    (void)source;
    (void)results;
    (void)nresults;
    pthread_mutex_lock(&lock);
    down_received += code == PMIX_EVENT_NODE_DOWN;
    offline_received += code == PMIX_EVENT_NODE_OFFLINE;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && code != PMIX_EVENT_NODE_DOWN &&
            info[i].value.type == PMIX_PROC && info[i].value.data.proc->rank < 64)
            end_received[info[i].value.data.proc->rank] = true;
    }
    pthread_cond_broadcast(&one_received);
    pthread_mutex_unlock(&lock);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_arg);
}

static bool is_lost(uint32_t rank, int n, char **lost)
{
    for (int i = 0; i < n; i++) {
        if (rank == (uint32_t)atoi(lost[i]))
            return true;
    }
    return false;
}

static bool all_received(int n, char **lost)
{
    for (int i = 0; i < n; i++) {
        if (!end_received[atoi(lost[i]) & 63])
            return false;
    }
    return (down_received > 0 && offline_received > 0) || !with_node;
}

static void survive(int n, char **lost)
{
    pmix_status_t codes[] = { PMIX_ERR_PROC_ABORTED_BY_SIG, PMIX_EVENT_NODE_DOWN,
                              PMIX_EVENT_NODE_OFFLINE };
    pmix_proc_t others[64];
    size_t count = 0;
    pmix_status_t rc;

    must("handler", PMIx_Register_event_handler(codes, 3, NULL, 0, on_event, NULL, NULL));
    must("fence", PMIx_Fence(NULL, 0, NULL, 0));
    write_state("met");
    if (is_lost(me.rank, n, lost))
        stay();
    rc = PMIx_Fence(NULL, 0, NULL, 0);
    if (rc == PMIX_SUCCESS)
        must("success of a fence with a lost rank", PMIX_ERROR);
    pthread_mutex_lock(&lock);
    while (!all_received(n, lost))
        pthread_cond_wait(&one_received, &lock);
    pthread_mutex_unlock(&lock);
    rc = PMIx_Fence(NULL, 0, NULL, 0);
    if (rc == PMIX_SUCCESS)
        must("success of a second fence with a lost rank", PMIX_ERROR);
    for (uint32_t r = 0; r < size && r < 64; r++) {
        if (!is_lost(r, n, lost))
            PMIX_LOAD_PROCID(&others[count++], me.nspace, r);
    }
    must("fence without the lost", PMIx_Fence(others, count, NULL, 0));
    write_state("survived");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    pmix_proc_t all;
    pmix_value_t *v;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(mode, "child")) {
        must("init", PMIx_Init(&me, NULL, 0));
        return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
    }
    write_state("born");
    must("init", PMIx_Init(&me, NULL, 0));
    write_state("up");
    PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
    must("size", PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &v));
    size = v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    if (!strcmp(mode, "survive")) {
        judging = true;
        with_node = argc > 2 && !strcmp(argv[2], "node");
        survive(argc - 3, argv + 3);
    } else {
        must("fence", PMIx_Fence(NULL, 0, NULL, 0));
        write_state("met");
    }
    if (!strcmp(mode, "stay"))
        stay();
    if (!strcmp(mode, "held")) {
        if (argc > 2 && me.rank == (uint32_t)atoi(argv[2]))
            stay();
        write_state("in");
        must("fence", PMIx_Fence(NULL, 0, NULL, 0));
    }
    if (!strcmp(mode, "fences"))
        fences();
    if (!strcmp(mode, "until") && argc > 3)
        return until(argv[2], atoi(argv[3]));
    if (!strcmp(mode, "spawn"))
        spawn(argv[0]);
    write_state("out");
    must("finalize", PMIx_Finalize(NULL, 0));
    return 0;
}
