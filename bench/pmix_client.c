/* pmix_client.c - the PMIx exchange, phase by phase, with whichever libpmix.so.2 the library path
 * names.  It uses only what every release since 4.2 has, and no macro that hides more.
 *
 *   bench-pmix-client [REPEATS]
 *
 * Every rank puts a card of 128 bytes, all meet in a fence that collects, every rank gets
 * everybody's card and compares it, and then the same cards REPEATS times more.  Prints from rank
 * 0, in microseconds, the medians over the ranks, then what the processes keep for themselves, and
 * that with their parts of what they share:
 *
 *   pmix N good init=… commit=… fence=… first=… again=… finalize=… private_kb=… pss_kb=…
 *               begins=… joined=…
 *
 * begins: from the first rank's begin of init to the last one's; joined: to the last one's end.
 * They tell a launcher that starts all ranks at once, so that each waits for a processor, from one
 * that starts them one by one. */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CARD = 128, LOOK = 16, NOT_LOOKED = -1 };
enum phase { INIT, COMMIT, FENCE, FIRST, AGAIN, PRIVATE, SHARED, BEGIN, END, PHASES };

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(const char *what, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        return;
    printf("pmix WRONG %s: %d\n", what, rc);
    exit(1);
}

static pmix_proc_t me;
static uint32_t size;

static void make_card(uint32_t rank, char *card)
{
    memset(card, 'a' + (int)(rank % 26), CARD - 1);
    card[CARD - 1] = '\0';
    snprintf(card, CARD, "%u", rank);
    card[strlen(card)] = ' ';
}

static void put_text(const char *key, char *text)
{
    pmix_value_t v;

    memset(&v, 0, sizeof v);
    v.type = PMIX_STRING;
    v.data.string = text;
    must("put", PMIx_Put(PMIX_GLOBAL, key, &v));
    must("commit", PMIx_Commit());
}

static void fence(void)
{
    pmix_info_t info;

    memset(&info, 0, sizeof info);
    strcpy(info.key, PMIX_COLLECT_DATA);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    must("fence", PMIx_Fence(NULL, 0, &info, 1));
}

static pmix_value_t *get(uint32_t rank, const char *key)
{
    pmix_proc_t p = me;
    pmix_value_t *v = NULL;

    p.rank = rank;
    must(key, PMIx_Get(&p, key, NULL, 0, &v));
    return v;
}

static void release(pmix_value_t *v)
{
    if (v->type == PMIX_STRING)
        free(v->data.string);
    free(v);
}

static void get_all(void)
{
    char card[CARD];

    for (uint32_t i = 0; i < size; i++) {
        uint32_t rank = (me.rank + i) % size;
        pmix_value_t *v = get(rank, "card");
        make_card(rank, card);
        if (v->type != PMIX_STRING || strcmp(v->data.string, card) != 0)
            must("card", PMIX_ERROR);
        release(v);
    }
}

/* A few of many processes look, since to look costs as much as the rest of the exchange. */
static void read_memory(double *private_kb, double *pss_kb)
{
    bool looks = me.rank % ((size + LOOK - 1) / LOOK) == 0;
    FILE *f = looks ? fopen("/proc/self/smaps_rollup", "r") : NULL;
    char line[256];

    *private_kb = *pss_kb = NOT_LOOKED;
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "Private_Dirty: %lf", private_kb);
        sscanf(line, "Pss: %lf", pss_kb);
    }
    if (f)
        fclose(f);
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* BEGIN and END become what they are after the first rank's begin; the others medians. */
static void read_medians(double medians[PHASES])
{
    double *all = calloc((size_t)size * PHASES, sizeof *all);

    for (uint32_t r = 0; r < size && all; r++) {
        pmix_value_t *v = get(r, "times");
        char *at = v->data.string;
        for (int p = 0; p < PHASES; p++)
            all[(size_t)p * size + r] = strtod(at, &at);
        release(v);
    }
    for (int p = 0; p < PHASES && all; p++) {
        double *of = all + (size_t)p * size;
        uint32_t none = 0;
        qsort(of, size, sizeof *of, by_number);
        while (none + 1 < size && of[none] == NOT_LOOKED)
            none++;
        medians[p] = of[none + (size - none) / 2];
    }
    if (all) {
        double first = all[(size_t)BEGIN * size];
        medians[BEGIN] = all[(size_t)BEGIN * size + size - 1] - first;
        medians[END] = all[(size_t)END * size + size - 1] - first;
    }
    free(all);
}

int main(int argc, char **argv)
{
    int repeats = argc > 1 ? atoi(argv[1]) : 10;
    double at[PHASES], medians[PHASES] = { 0 }, from = now_us();
    char card[CARD], text[PHASES * 32];
    pmix_value_t *v;

    must("init", PMIx_Init(&me, NULL, 0));
    at[BEGIN] = from;
    at[END] = now_us();
    at[INIT] = at[END] - from;
    v = get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    size = v->data.uint32;
    release(v);
    make_card(me.rank, card);
    from = now_us();
    put_text("card", card);
    at[COMMIT] = now_us() - from;
    from = now_us();
    fence();
    at[FENCE] = now_us() - from;
    from = now_us();
    get_all();
    at[FIRST] = now_us() - from;
    from = now_us();
    for (int i = 0; i < repeats; i++)
        get_all();
    at[AGAIN] = (now_us() - from) / (repeats ? repeats : 1);
    read_memory(&at[PRIVATE], &at[SHARED]);
    for (size_t p = 0, used = 0; p < PHASES; p++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.1f ", at[p]);
    put_text("times", text);
    fence();
    if (me.rank == 0)
        read_medians(medians);
    from = now_us();
    must("finalize", PMIx_Finalize(NULL, 0));
    if (me.rank == 0)
        printf("pmix %u good init=%.1f commit=%.1f fence=%.1f first=%.1f again=%.1f finalize=%.1f "
               "private_kb=%.0f pss_kb=%.0f begins=%.1f joined=%.1f\n",
               size, medians[INIT], medians[COMMIT], medians[FENCE], medians[FIRST], medians[AGAIN],
               now_us() - from, medians[PRIVATE], medians[SHARED], medians[BEGIN], medians[END]);
    return 0;
}
