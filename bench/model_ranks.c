/* model_ranks.c - the job whose phases are compared with `wireup sim` (bench/model).
 *
 *   bench-model-ranks FILE RANKS BYTES
 *
 * All hosts are on this machine, so all processes map FILE: it has their times, by the one clock,
 * and a meeting place that needs no network.  Before each phase all meet there, and begin together
 * at a moment a little later; so a phase lasts from that moment to the last one's end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PHASES = 7, PAUSE_MS = 1000, CODE = -4711 };

/* FILE: bench/model reads it, as numbers of 64 bits. */
struct meeting {
    _Atomic uint64_t here[PHASES]; /* how many have come */
    _Atomic uint64_t begin[PHASES];
    _Atomic uint64_t end[PHASES];  /* the last one's */
    _Atomic uint32_t open[PHASES]; /* all have come, and begin is there: a futex */
};

static struct meeting *meeting;
static pmix_proc_t me;
static uint32_t ranks;
static _Atomic uint32_t notified; /* a futex */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
    struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        return;
    fprintf(stderr, "model_ranks: rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    exit(1);
}

/* Processes that wait do not run: the others are measured meanwhile. */
static void wait_for(_Atomic uint32_t *open)
{
    while (atomic_load(open) == 0)
        syscall(SYS_futex, (void *)open, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void let_go_on(_Atomic uint32_t *open)
{
    atomic_store(open, 1);
    syscall(SYS_futex, (void *)open, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void meet(unsigned phase)
{
    if (atomic_fetch_add(&meeting->here[phase], 1) + 1 == ranks) {
        atomic_store(&meeting->begin[phase], now_ns() + PAUSE_MS * UINT64_C(1000000));
        let_go_on(&meeting->open[phase]);
    }
    wait_for(&meeting->open[phase]);
    sleep_until(atomic_load(&meeting->begin[phase]));
}

static void over(unsigned phase)
{
    uint64_t now = now_ns(), last = atomic_load(&meeting->end[phase]);

    while (last < now && !atomic_compare_exchange_weak(&meeting->end[phase], &last, now))
        ;
}

static void fence(bool collect)
{
    pmix_info_t info = { .key = PMIX_COLLECT_DATA,
                         .value = { .type = PMIX_BOOL, .data.flag = true } };

    must("fence", PMIx_Fence(NULL, 0, &info, collect));
}

/* Bytes that no other rank has, so that nothing is sent once for several. */
static void put(char *bytes, size_t n, unsigned round)
{
    pmix_value_t v = { .type = PMIX_BYTE_OBJECT, .data.bo = { bytes, n } };
    uint64_t x = (uint64_t)me.rank << 32 | (round + 1);
    char key[32];

    for (size_t i = 0; i < n; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407u;
        bytes[i] = (char)(x >> 56);
    }
    snprintf(key, sizeof key, "card.%u", round);
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
    must("commit", PMIx_Commit());
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t *info,
                     size_t ninfo, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    over(4);
    let_go_on(&notified);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void broadcast(void)
{
    pmix_status_t code = CODE;

    must("register", PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL) < 0
                         ? PMIX_ERROR
                         : PMIX_SUCCESS);
    meet(4);
    if (me.rank == 0)
        must("notify", PMIx_Notify_event(CODE, &me, PMIX_RANGE_SESSION, NULL, 0, NULL, NULL));
    if (me.rank)
        wait_for(&notified);
}

/* Rank 0 asks for a value that no fence has brought. */
static void get(void)
{
    pmix_value_t v = { .type = PMIX_UINT32, .data.uint32 = me.rank }, *got = NULL;
    pmix_proc_t last = me;

    must("put", PMIx_Put(PMIX_GLOBAL, "late", &v));
    must("commit", PMIx_Commit());
    meet(5);
    if (me.rank)
        return;
    last.rank = ranks - 1;
    must("get", PMIx_Get(&last, "late", NULL, 0, &got));
    over(5);
}

int main(int argc, char **argv)
{
    int fd = argc == 4 ? open(argv[1], O_RDWR) : -1;
    size_t n = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    char *bytes = calloc(1, n + 1);

    meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (argc != 4 || meeting == MAP_FAILED || !bytes) {
        fprintf(stderr, "usage: bench-model-ranks FILE RANKS BYTES\n");
        return 2;
    }
    ranks = (uint32_t)strtoul(argv[2], NULL, 10);
    over(0);
    meet(0); /* what the first ones go on to do is no part of the others' start */
    must("init", PMIx_Init(&me, NULL, 0));
    for (unsigned phase = 1; phase <= 3; phase++) {
        if (phase > 1)
            put(bytes, n, phase);
        meet(phase);
        fence(phase > 1);
        over(phase);
    }
    broadcast();
    get();
    meet(6);
    PMIx_Finalize(NULL, 0);
    over(6);
    free(bytes);
    return 0;
}
