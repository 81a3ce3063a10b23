/* job.c - see job.h: creation, store and end of a job.  Its fences are in job_fence.c. */
#include "core/job.h"

#include "core/control.h"
#include "core/effect.h"
#include "core/modex.h"
#include "core/exchange_data.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limit.h"

enum { JOB_NAME_MAX = 128, JOB_SPACE_NAME = 100 /* this much of it is the job's name */ };

/* ---- creation -------------------------------------------------------------------------------- */

/* A job of one node stays on that node, wherever it is. */
static bool find_mine(struct job *j, const struct job_map *p)
{
    uint32_t n = 0;

    j->spread = false;
    for (uint32_t r = 0; j->here != JOB_ALL_HERE && r < p->nprocs; r++) {
        n += p->procs[r].node == j->here;
        j->spread = j->spread || p->procs[r].node != j->here;
    }
    if (!j->spread)
        return true;
    j->mine = calloc(n + (size_t)1, sizeof *j->mine);
    for (uint32_t r = 0; j->mine && r < p->nprocs; r++) {
        if (p->procs[r].node == j->here)
            j->mine[j->nmine++] = r;
    }
    return j->mine != NULL;
}

static int make_world(struct job *j, const struct job_map *p)
{
    struct slice name = SLICE("WORLD:0");

    return j->spread ? collective_group_get_spread(&j->colls, name, j->mine, j->nmine, NULL,
                                                   p->nprocs, true, &j->world)
                     : collective_group_get(&j->colls, name, NULL, p->nprocs, true, &j->world);
}

static bool job_fill(struct job *j, const struct job_params *p)
{
    uint64_t entries = p->plan->nprocs * (uint64_t)2;

    j->nspace = strdup(p->nspace);
    j->parent_name = p->parent_name ? strdup(p->parent_name) : NULL;
    j->procs = calloc(p->plan->nprocs ? p->plan->nprocs : 1, sizeof *j->procs);
    if (!j->nspace || !j->procs || (p->parent_name && !j->parent_name))
        return false;
    if (!find_mine(j, p->plan) || make_world(j, p->plan) < 0)
        return false;
    return seg_create(&j->store, p->region, p->seed, entries) == 0;
}

struct job *job_new(const struct job_params *p)
{
    struct job *j = calloc(1, sizeof *j);

    if (!j)
        return NULL;
    j->id = p->id;
    j->parent = p->parent;
    j->culprit = JOB_NO_RANK;
    j->blames = JOB_NO_RANK;
    j->region = p->region;
    j->keep_going = p->keep_going;
    j->effects = p->effects;
    j->meetings = p->meetings;
    list_init(&j->link);
    list_init(&j->waits);
    list_init(&j->cleanups);
    j->waits_due = UINT64_MAX;
    for (int i = 0; i < 4; i++)
        buf_init(&j->wire_info[i], 0);
    buf_init(&j->topology, LIMIT_CLIENT_STORE);
    j->base = p->base;
    j->here = p->here;
    j->follows = p->follows;
    job_map_init(&j->plan);
    collective_set_init(&j->colls, p->seed);
    map_init(&j->spaces, p->seed);
    map_init(&j->gone_spaces, p->seed);
    nodeattrs_init(&j->waiting, p->seed);
    host_info_init(&j->facts, p->seed);
    if (!job_fill(j, p))
        return job_free(j);
    j->plan = *p->plan;
    job_map_init(p->plan);
    return j;
}

struct job *job_free(struct job *j)
{
    size_t at = 0;
    char *name;

    if (!j)
        return NULL;
    list_unlink(&j->link);
    while ((name = map_next(&j->spaces, &at)))
        free(name);
    map_free(&j->spaces);
    at = 0;
    while ((name = map_next(&j->gone_spaces, &at)))
        free(name);
    map_free(&j->gone_spaces);
    collective_set_free(&j->colls);
    modex_free(j);
    control_free(j);
    nodeattrs_free(&j->waiting);
    free(j->partners);
    free(j->mine);
    for (int i = 0; i < 4; i++)
        buf_free(&j->wire_info[i]);
    buf_free(&j->topology);
    free(j->parent_nspace);
    host_info_free(&j->facts);
    job_map_free(&j->plan);
    free(j->procs);
    free(j->nspace);
    free(j->parent_name);
    free(j);
    return NULL;
}

/* ---- the store ------------------------------------------------------------------------------- */

static enum answer_status from_seg(int rc)
{
    switch (rc) {
    case 0: return ANSWER_OK;
    case SEG_DUPLICATE: return ANSWER_DUPLICATE;
    case SEG_TOO_LONG: return ANSWER_BAD_VALUE;
    default: return ANSWER_NO_MEMORY;
    }
}

/* The key under which an entry of a further space is stored: the space's name, a NUL, the key.
 * Keys of clients hold no NUL, so the two kinds never meet. */
struct store_key {
    char text[JOB_NAME_MAX + 1 + LIMIT_PMI_KEY];
    struct slice key;
};

static bool is_main_space(const struct job *j, struct slice space)
{
    return space.len == 0 || slice_is(space, j->nspace);
}

/* A space made by another node: its name shows that, and nothing else of it is known here. */
static bool is_space_elsewhere(const struct job *j, struct slice space)
{
    struct slice rest = space, name = slice_head(slice_str(j->nspace), JOB_SPACE_NAME);
    uint32_t node, number;

    if (!j->spread || !slice_starts(space, name) || space.len > JOB_NAME_MAX)
        return false;
    rest = slice_skip(rest, name.len);
    if (rest.len == 0 || rest.ptr[0] != '.')
        return false;
    rest = slice_skip(rest, 1);
    return slice_u32(slice_cut(&rest, '.'), &node) && slice_u32(rest, &number) && number > 0 &&
           node < j->plan.nnodes && node != j->here;
}

static bool is_space(const struct job *j, struct slice space)
{
    return !map_get(&j->gone_spaces, space) &&
           (map_get(&j->spaces, space) || is_space_elsewhere(j, space));
}

static enum answer_status make_key(const struct job *j, struct slice space, struct slice key,
                                   struct store_key *k)
{
    if (key.len == 0 || key.len >= LIMIT_PMI_KEY || slice_find(key, '\0') < key.len)
        return ANSWER_BAD_KEY;
    k->key = key;
    if (is_main_space(j, space))
        return ANSWER_OK;
    if (!is_space(j, space) || space.len > JOB_NAME_MAX)
        return ANSWER_NOT_FOUND;
    memcpy(k->text, space.ptr, space.len);
    k->text[space.len] = '\0';
    memcpy(k->text + space.len + 1, key.ptr, key.len);
    k->key = slice_mem(k->text, space.len + 1 + key.len);
    return ANSWER_OK;
}

/* A PMI put is a modex entry too: PMIx processes of the job may get it, or wait for it. */
static enum answer_status note_card(struct job *j, uint32_t rank, struct slice key)
{
    struct seg_item item;

    if (!seg_find(&j->store.view, rank, key, &item) ||
        modex_note_key(&j->procs[rank], item.key) < 0)
        return ANSWER_NO_MEMORY;
    return list_empty(&j->waits) ? ANSWER_OK : modex_commit(j, rank, NULL, 0);
}

bool proc_can_keep(const struct proc *p, size_t bytes)
{
    return bytes <= LIMIT_CLIENT_STORE &&
           p->stored + bytes + LIMIT_STORE_ENTRY <= LIMIT_CLIENT_STORE;
}

void proc_keeps(struct proc *p, size_t bytes)
{
    p->stored += bytes + LIMIT_STORE_ENTRY;
}

void proc_drops(struct proc *p, size_t bytes)
{
    uint64_t less = bytes + LIMIT_STORE_ENTRY;

    p->stored -= less < p->stored ? less : p->stored;
}

enum answer_status job_put(struct job *j, uint32_t rank, struct slice space, struct slice key,
                           struct slice value)
{
    struct proc *p = &j->procs[rank];
    struct store_key k;
    enum answer_status st = make_key(j, space, key, &k);

    if (st != ANSWER_OK)
        return st;
    if (slice_starts(key, SLICE("PMI_")))
        return ANSWER_RESERVED;
    if (!proc_can_keep(p, key.len + value.len))
        return ANSWER_OVER_QUOTA;
    st = from_seg(seg_put(&j->store, rank, k.key, value, SEG_FLAT));
    if (st != ANSWER_OK)
        return st;
    proc_keeps(p, key.len + value.len);
    if (j->spread && exchange_data_note(j, rank, k.key) < 0)
        return ANSWER_NO_MEMORY;
    return is_main_space(j, space) ? note_card(j, rank, k.key) : ANSWER_OK;
}

enum answer_status job_preset(struct job *j, struct slice key, struct slice value)
{
    return from_seg(seg_put(&j->store, SEG_ANY_RANK, key, value, SEG_FLAT | SEG_REPLACE));
}

enum answer_status job_tell(struct job *j, struct slice key, struct slice value)
{
    return from_seg(seg_put(&j->store, JOB_ALL_RANKS, key, value, SEG_UNLISTED | SEG_REPLACE));
}

enum answer_status job_get(const struct job *j, struct slice space, struct slice key,
                           struct slice *value_p)
{
    struct store_key k;
    enum answer_status st = make_key(j, space, key, &k);

    if (st != ANSWER_OK)
        return st;
    return seg_get(&j->store.view, SEG_ANY_RANK, k.key, value_p) ? ANSWER_OK : ANSWER_NOT_FOUND;
}

/* The client's part of a stored key, if it belongs to the space and a client has put it. */
static bool key_in_space(const struct job *j, struct slice space, const struct seg_item *item,
                         struct slice *key_p)
{
    size_t nul = slice_find(item->key, '\0');

    if (is_main_space(j, space)) {
        *key_p = item->key;
        return nul == item->key.len && item->rank != SEG_ANY_RANK;
    }
    *key_p = slice_skip(item->key, nul + 1);
    return slice_eq(slice_head(item->key, nul), space);
}

enum answer_status job_get_of(const struct job *j, struct slice space, uint32_t rank,
                              struct slice key, struct slice *value_p)
{
    struct store_key k;
    enum answer_status st = make_key(j, space, key, &k);

    if (st != ANSWER_OK)
        return st;
    return seg_get(&j->store.view, rank, k.key, value_p) ||
                   seg_get(&j->store.view, SEG_ANY_RANK, k.key, value_p)
               ? ANSWER_OK
               : ANSWER_NOT_FOUND;
}

enum answer_status job_attr(const struct job *j, struct slice key, struct slice *value_p)
{
    struct seg_item item;

    if (key.len == 0 || slice_find(key, '\0') < key.len ||
        !seg_find(&j->store.view, SEG_ANY_RANK, key, &item) || item.rank != SEG_ANY_RANK)
        return ANSWER_NOT_FOUND;
    *value_p = item.value;
    return ANSWER_OK;
}

enum answer_status job_get_index(const struct job *j, struct slice space, uint64_t index,
                                 struct slice *key_p, struct slice *value_p)
{
    uint64_t cursor = 0;
    struct seg_item item;

    while (seg_next(&j->store.view, &cursor, &item)) {
        if (key_in_space(j, space, &item, key_p) && index-- == 0) {
            *value_p = item.value;
            return ANSWER_OK;
        }
    }
    return ANSWER_NOT_FOUND;
}

enum answer_status job_space_new(struct job *j, struct slice *name_p)
{
    char *name = NULL;

    if (j->spaces.count >= LIMIT_CLIENT_NAMES)
        return ANSWER_OVER_QUOTA;
    /* Two nodes must not make the same name. */
    if (j->spread
            ? asprintf(&name, "%.*s.%u.%u", JOB_SPACE_NAME, j->nspace, j->here, ++j->next_space) < 0
            : asprintf(&name, "%.*s.%u", JOB_SPACE_NAME, j->nspace, ++j->next_space) < 0)
        return ANSWER_NO_MEMORY;
    if (map_put(&j->spaces, slice_str(name), name, NULL) < 0) {
        free(name);
        return ANSWER_NO_MEMORY;
    }
    *name_p = slice_str(name);
    return ANSWER_OK;
}

/* A name of another node is known by its form, so its destruction must be recorded.  It is never
 * made again. */
static void bury_space(struct job *j, struct slice name)
{
    char *copy;

    if (!is_space_elsewhere(j, name) || map_get(&j->gone_spaces, name) ||
        j->gone_spaces.count >= LIMIT_CLIENT_NAMES)
        return;
    copy = strndup(name.ptr, name.len);
    if (copy && map_put(&j->gone_spaces, slice_str(copy), copy, NULL) < 0)
        free(copy);
}

enum answer_status job_space_delete(struct job *j, struct slice name)
{
    char *known;

    if (!is_space(j, name))
        return ANSWER_NOT_FOUND;
    bury_space(j, name);
    known = map_del(&j->spaces, name); /* the name may be that one's */
    free(known);
    return ANSWER_OK;
}

/* ---- other jobs ------------------------------------------------------------------------------ */

static struct job_partner *partner(const struct job *j, uint32_t other)
{
    for (uint32_t i = 0; i < j->npartners; i++) {
        if (j->partners[i].job == other)
            return &j->partners[i];
    }
    return NULL;
}

bool job_is_connected(const struct job *j, uint32_t other)
{
    return partner(j, other) != NULL;
}

enum answer_status job_connect(struct job *j, uint32_t other)
{
    struct job_partner *p = partner(j, other), *more;

    if (p) {
        p->count += p->count < UINT32_MAX;
        return ANSWER_OK;
    }
    more = realloc(j->partners, (j->npartners + (size_t)1) * sizeof *more);
    if (!more)
        return ANSWER_NO_MEMORY;
    j->partners = more;
    more[j->npartners++] = (struct job_partner){ other, 1 };
    return ANSWER_OK;
}

void job_forget(struct job *j, uint32_t other)
{
    struct job_partner *p = partner(j, other);

    if (p)
        *p = j->partners[--j->npartners];
}

enum answer_status job_disconnect(struct job *j, uint32_t other)
{
    struct job_partner *p = partner(j, other);

    if (!p)
        return ANSWER_NOT_FOUND;
    if (--p->count == 0)
        job_forget(j, other);
    return ANSWER_OK;
}

/* ---- the end of processes -------------------------------------------------------------------- */

static struct slice why_failed(const struct job *j)
{
    return j->failed ? slice_str(j->reason.text) : SLICE_NULL;
}

static bool push_kill(struct job *j)
{
    return effects_push(j->effects, EFFECT_WITH(kill, .job = j->id, .code = job_exit_code(j),
                                                .reason = why_failed(j)));
}

static bool push_ended(struct job *j)
{
    return effects_push(j->effects, EFFECT_WITH(job_ended, .job = j->id, .code = job_exit_code(j),
                                                .reason = why_failed(j)));
}

bool job_settle(struct job *j)
{
    j->owes_kill = j->owes_kill && !push_kill(j);
    if (!j->owes_kill)
        j->owes_end = j->owes_end && !push_ended(j);
    return !j->owes_kill && !j->owes_end;
}

/* The code as a shell sees it: an abort with 0 stays 0, and no other code becomes 0 for want of
 * bits. */
static int status_of(int exit_code)
{
    int status = exit_code & 0xff;

    return exit_code && !status ? 1 : status;
}

void job_end(struct job *j, uint32_t culprit, int exit_code, const char *reason)
{
    if (j->phase != JOB_RUNNING)
        return;
    j->phase = JOB_ENDING;
    if (!j->failed) {
        j->failed = true;
        j->culprit = culprit;
        j->exit_code = status_of(exit_code);
        if (reason != j->reason.text)
            snprintf(j->reason.text, sizeof j->reason.text, "%s", reason);
    } else if (culprit == j->culprit && culprit != JOB_NO_RANK && reason != j->reason.text) {
        /* Its exit code counted already; only now is it known that the others cannot go on. */
        snprintf(j->reason.text, sizeof j->reason.text, "%s", reason);
    }
    j->owes_kill = true;
    job_settle(j);
}

void job_blame(struct job *j, int exit_code, const char *reason)
{
    if (j->failed || j->phase != JOB_RUNNING)
        return;
    j->failed = true;
    j->culprit = JOB_NO_RANK;
    j->exit_code = status_of(exit_code);
    snprintf(j->reason.text, sizeof j->reason.text, "%s", reason);
}

static void ask_for_end(struct job *j, uint32_t culprit, int exit_code, const char *reason)
{
    if (j->phase != JOB_RUNNING || j->asked_abort)
        return;
    j->asked_abort =
        effects_push(j->effects, EFFECT_WITH(abort, .job = j->id, .culprit = culprit,
                                             .code = exit_code, .reason = slice_str(reason)));
}

void job_abort(struct job *j, uint32_t culprit, int exit_code, const char *format, ...)
{
    struct errmsg reason;
    va_list args;

    va_start(args, format);
    vsnprintf(reason.text, sizeof reason.text, format, args);
    va_end(args);
    if (j->follows)
        ask_for_end(j, culprit, exit_code, reason.text);
    else
        job_end(j, culprit, exit_code, reason.text);
}

static const char *host_of(const struct job *j, uint32_t rank)
{
    return j->plan.nodes[j->plan.procs[rank].node].name;
}

static void describe_end(struct job *j, uint32_t rank, enum proc_state before)
{
    const struct proc *p = &j->procs[rank];

    if (p->signalled) {
        const char *abbrev = sigabbrev_np(p->code);
        /* When its connection closed it may have been ended by this server: report what came first.
         */
        bool by_us = before == PROC_STATE_LOST && p->code == SIGTERM && j->phase != JOB_RUNNING;
        errmsg_set(&j->reason, 0, "rank %u on %s (pid %d) %swas killed by signal %d (SIG%s)", rank,
                   host_of(j, rank), p->pid,
                   by_us ? "closed its connection without calling finalize, and " : "", p->code,
                   abbrev ? abbrev : "?");
    } else {
        errmsg_set(&j->reason, 0, "rank %u on %s (pid %d) exited with code %d%s", rank,
                   host_of(j, rank), p->pid, p->code,
                   before == PROC_STATE_LEAVING || before == PROC_STATE_RUNNING
                       ? ""
                       : " without calling finalize: the job is ended");
    }
}

/* The first failure that was not caused on purpose decides code and reason. */
static void note_failure(struct job *j, uint32_t rank, enum proc_state before)
{
    const struct proc *p = &j->procs[rank];
    bool decides = !j->failed || (j->code_pending && j->culprit == rank);

    if (j->follows || !decides || (j->phase == JOB_ENDING && !j->code_pending))
        return;
    j->failed = true;
    j->code_pending = false;
    j->culprit = rank;
    j->exit_code = p->signalled ? 128 + p->code : p->code ? p->code : 1;
    describe_end(j, rank, before);
}

static void list_the_dead(struct job *j)
{
    struct buf text = BUF_NULL(LIMIT_STORE_VALUE);

    for (uint32_t r = 0; r < j->plan.nprocs; r++) {
        if (j->procs[r].unreachable && !j->procs[r].left) {
            if (buf_len(&text))
                buf_byte(&text, ',');
            buf_u64(&text, r);
        }
    }
    if (buf_ok(&text))
        job_preset(j, SLICE("PMI_dead_processes"), buf_slice(&text));
    buf_free(&text);
}

/* Answers every wait for a process that will not come. */
static void give_up(struct job *j, uint32_t rank)
{
    struct collective *c;

    if (j->procs[rank].unreachable)
        return;
    j->procs[rank].unreachable = true;
    j->lost++;
    if (!j->procs[rank].left)
        list_the_dead(j);
    if (!job_rank_is_here(j, rank)) {
        if (j->keep_going || j->procs[rank].left) /* otherwise the job ends anyway */
            job_fence_ask(j, rank);
        return;
    }
    while ((c = collective_take_broken(&j->colls, rank))) {
        job_answer_round(j, c, ANSWER_FAILED);
        collective_free(&j->colls, c);
    }
}

/* The same for members of other jobs. */
static void break_meetings(struct job *j, uint32_t rank)
{
    struct collective *c;

    if (!j->meetings || (j->procs[rank].state != PROC_STATE_GONE && !j->procs[rank].unreachable))
        return;
    while ((c = collective_take_broken(j->meetings, j->base + rank))) {
        for (uint32_t i = 0; i < c->group->count; i++) {
            if (collective_is_here(c, i))
                effects_push(j->effects,
                             EFFECT_WITH(answer, .status = ANSWER_FAILED, .ticket = c->tickets[i]));
        }
        collective_free(j->meetings, c);
    }
}

/* A core that does not control the job reports when all processes here have ended. */
static void count_end(struct job *j, uint32_t rank)
{
    uint32_t all = j->follows && j->spread ? j->nmine : j->plan.nprocs;

    if (j->follows && !job_rank_is_here(j, rank))
        return;
    if (++j->ended == all && j->phase != JOB_ENDED) {
        j->phase = JOB_ENDED;
        j->owes_end = true;
        job_settle(j);
    }
}

static void fail_or_go_on(struct job *j, uint32_t rank)
{
    if ((j->keep_going || j->procs[rank].commanded) && j->phase == JOB_RUNNING)
        give_up(j, rank);
    else if (!j->follows) /* the controlling node draws the same conclusion itself */
        job_end(j, rank, j->exit_code, j->reason.text);
}

/* It ended without harm to a program that does not need it; no collective will include it any more.
 */
static void leave(struct job *j, uint32_t rank)
{
    struct proc *p = &j->procs[rank];

    if (p->state != PROC_STATE_GONE || p->unreachable || j->phase != JOB_RUNNING)
        return;
    p->left = p->joined || p->code == 0 || !j->keep_going;
    job_fence_forget(j, rank);
    if (job_rank_is_here(j, rank) && collective_is_awaited(&j->colls, rank))
        job_miss(j, rank);
    give_up(j, rank);
}

static void end_badly(struct job *j, uint32_t rank, enum proc_state before)
{
    note_failure(j, rank, before);
    fail_or_go_on(j, rank);
    count_end(j, rank);
}

/* Its exit will bring the code; until then this is what is known. */
static void lose(struct job *j, uint32_t rank)
{
    if (!j->failed && !j->follows) {
        j->failed = true;
        j->code_pending = true;
        j->culprit = rank;
        j->exit_code = 1;
        errmsg_set(&j->reason, 0,
                   "rank %u on %s (pid %d) closed its connection without calling finalize", rank,
                   host_of(j, rank), j->procs[rank].pid);
    }
    fail_or_go_on(j, rank);
}

static void break_rules(struct job *j, uint32_t rank)
{
    if (j->keep_going && j->phase == JOB_RUNNING)
        give_up(j, rank);
    else if (!j->follows)
        job_abort(j, rank, 1, "rank %u on %s (pid %d) broke the protocol", rank, host_of(j, rank),
                  j->procs[rank].pid);
}

static void note_end(struct proc *p, enum proc_event event, int code)
{
    if (event == PROC_EVENT_EXIT || event == PROC_EVENT_DEATH) {
        p->signalled = event == PROC_EVENT_DEATH;
        p->code = code;
    }
}

static void report_state(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    effects_push(j->effects, EFFECT_WITH(proc_state, .job = j->id, .rank = rank, .event = event,
                                         .code = code, .pid = j->procs[rank].pid));
}

/* The controlling node reports exits to the other nodes: they may wait for that process. */
static void tell_end(struct job *j, uint32_t rank, enum proc_state before, enum proc_event event,
                     int code)
{
    const struct proc *p = &j->procs[rank];

    if (j->follows || !j->spread || j->phase != JOB_RUNNING || before == PROC_STATE_GONE ||
        !(p->state == PROC_STATE_GONE ||
          (p->state == PROC_STATE_LOST && before != PROC_STATE_LOST)))
        return;
    if (before == PROC_STATE_ATTACHED || before == PROC_STATE_LOST)
        report_state(j, rank, PROC_EVENT_ATTACH, 0); /* it took part, which they did not know */
    report_state(j, rank, event, code);
}

static void act(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    struct proc *p = &j->procs[rank];
    enum proc_state before = p->state;

    switch (proc_state_step(&p->state, event)) {
    case PROC_ACTION_count_start: j->started++; break;
    case PROC_ACTION_fail_start:
        if (!j->follows)
            job_abort(j, rank, code ? code : 1, "rank %u on %s could not be started", rank,
                      host_of(j, rank));
        count_end(j, rank);
        break;
    case PROC_ACTION_count_end:
        if (p->code)
            note_failure(j, rank, before);
        count_end(j, rank);
        break;
    case PROC_ACTION_end_badly: end_badly(j, rank, before); break;
    case PROC_ACTION_lose: lose(j, rank); break;
    case PROC_ACTION_break_rules: break_rules(j, rank); break;
    case PROC_ACTION_nothing: break;
    case PROC_ACTION_impossible:
        job_abort(j, rank, 1, "internal error: event '%s' for rank %u in state '%s'",
                  proc_event_name(event), rank, proc_state_name(before));
        break;
    }
}

/* Reports from the controlling node about a process elsewhere: not every change is reported, so
 * that a state may be reached from any other. */
static void follow(struct job *j, uint32_t rank, enum proc_event event)
{
    struct proc *p = &j->procs[rank];
    bool took_part = p->state == PROC_STATE_ATTACHED || p->state == PROC_STATE_LOST;

    switch (event) {
    case PROC_EVENT_STARTED: p->state = PROC_STATE_RUNNING; break;
    case PROC_EVENT_ATTACH: p->state = PROC_STATE_ATTACHED; break;
    case PROC_EVENT_FINALIZE: p->state = PROC_STATE_LEAVING; break;
    case PROC_EVENT_HANGUP:
    case PROC_EVENT_BREAK:
        if (p->state == PROC_STATE_ATTACHED)
            p->state = PROC_STATE_LOST;
        break;
    case PROC_EVENT_NOT_STARTED:
    case PROC_EVENT_EXIT:
    case PROC_EVENT_DEATH: p->state = PROC_STATE_GONE; break;
    case PROC_EVENTS: break;
    }
    if (p->state == PROC_STATE_LOST ||
        (p->state == PROC_STATE_GONE && (took_part || event != PROC_EVENT_EXIT)))
        give_up(j, rank);
}

/* A tool comes and goes as it likes: nothing fails with it. */
static void act_of_tool(struct job *j, uint32_t rank, enum proc_event event)
{
    struct proc *p = &j->procs[rank];

    switch (event) {
    case PROC_EVENT_STARTED: p->state = PROC_STATE_RUNNING; break;
    case PROC_EVENT_ATTACH: p->state = PROC_STATE_ATTACHED; break;
    case PROC_EVENT_FINALIZE: p->state = PROC_STATE_LEAVING; break;
    default: p->state = PROC_STATE_GONE; break;
    }
    if (p->state != PROC_STATE_GONE || j->phase == JOB_ENDED)
        return;
    p->unreachable = true;
    j->ended = j->plan.nprocs;
    j->phase = JOB_ENDED;
    j->owes_end = true;
    job_settle(j);
}

void job_event(struct job *j, uint32_t rank, enum proc_event event, int code)
{
    struct proc *p = &j->procs[rank];
    bool here = job_rank_is_here(j, rank), had_ended = j->phase == JOB_ENDED;
    enum proc_state before = p->state;

    note_end(p, event, code);
    p->joined = p->joined || (event == PROC_EVENT_ATTACH && before != PROC_STATE_GONE);
    if (here && !list_empty(&j->waits) && event != PROC_EVENT_ATTACH && event != PROC_EVENT_STARTED)
        modex_owner_gone(j, rank);
    if (here && !list_empty(&j->waits) && event == PROC_EVENT_STARTED)
        modex_wake(j, rank); /* its pid is known */
    if (j->follows && here)
        report_state(j, rank, event, code);
    if (j->is_tool)
        act_of_tool(j, rank, event);
    else if (j->follows && !here)
        follow(j, rank, event);
    else
        act(j, rank, event, code);
    tell_end(j, rank, before, event, code);
    leave(j, rank);
    break_meetings(j, rank);
    job_node_ended(j, rank);
    if (!list_empty(&j->waits))
        modex_any_gone(j);
    if (p->state == PROC_STATE_GONE && before != PROC_STATE_GONE)
        control_ended(j, rank);
    if (j->phase == JOB_ENDED && !had_ended)
        control_ended(j, JOB_NO_RANK);
}

int job_exit_code(const struct job *j)
{
    return j->failed ? j->exit_code : 0;
}
