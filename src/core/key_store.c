/* key_store.c - see key_store.h.  Reading order: entries; attempts; waiting; the queries, in the
 * order of proto/tcpstore.def; the table of these; the ends of attempts. */
#include "core/key_store.h"
#include "core/store_counters.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limit.h"
#include "wire/tcpstore.h"

/* Bytes that lie there, charged to the process that has put them. */
struct kept {
    struct list link; /* in a queue */
    uint32_t rank;
    size_t len;
    char bytes[];
};

/* A key: it has a value, or a queue, or it is waited for. */
struct entry {
    struct slice key; /* its own text */
    struct kept *value;
    struct list queue; /* struct kept, the oldest first */
    int64_t queued;
    struct list waits; /* for this key */
    struct list over;  /* among those of an attempt that is over */
    char text[];
};

struct wait {
    struct list link; /* in entry.waits */
    uint64_t who;     /* key in key_store.waits */
    uint64_t ticket;
    uint32_t rank;
    size_t charge;
    struct slice rest; /* the keys after the one that it waits for now */
    struct entry *of;
    char keys[];
};

struct key_store {
    struct map entries; /* struct entry by key */
    struct map waits;   /* struct wait by connection */
    int64_t count;      /* entries with a value */
    struct buf reply;
};

/* A query while it is carried out. */
struct call {
    struct key_store *s;
    struct core *core;
    struct job *job;
    uint32_t rank;
    uint64_t ticket, who, now_ns;
    struct slice args;
};

typedef enum answer_status handler(const struct call *k);

/* ---- entries --------------------------------------------------------------------------------- */

static struct entry *find(const struct key_store *s, struct slice key)
{
    return map_get(&s->entries, key);
}

static bool exists(const struct entry *e)
{
    return e && (e->value || !list_empty(&e->queue));
}

static struct entry *find_or_make(struct key_store *s, struct slice key)
{
    struct entry *e = find(s, key);

    if (e)
        return e;
    e = calloc(1, sizeof *e + key.len);
    if (!e)
        return NULL;
    if (key.len)
        memcpy(e->text, key.ptr, key.len);
    e->key = slice_mem(e->text, key.len);
    list_init(&e->queue);
    list_init(&e->waits);
    list_init(&e->over);
    if (map_put(&s->entries, e->key, e, NULL) < 0) {
        free(e);
        return NULL;
    }
    return e;
}

/* Nothing is left of it. */
static void tidy(struct key_store *s, struct entry *e)
{
    if (!e || exists(e) || !list_empty(&e->waits))
        return;
    map_del(&s->entries, e->key);
    free(e);
}

static void release(const struct call *k, const struct entry *e, struct kept *v)
{
    if (v)
        proc_drops(&k->job->procs[v->rank], e->key.len + v->len);
    free(v);
}

/* A copy of the two runs of bytes, charged to the caller; instead: what it takes the place of, or
 * NULL, whose charge does not count any more. */
static enum answer_status keep(const struct call *k, const struct entry *e,
                               const struct kept *instead, struct slice a, struct slice b,
                               struct kept **v_p)
{
    struct proc *p = &k->job->procs[k->rank];
    size_t len = a.len + b.len;
    struct proc would = *p;
    struct kept *v;

    if (instead && instead->rank == k->rank)
        proc_drops(&would, e->key.len + instead->len);
    if (len > LIMIT_TCPSTORE_VALUE)
        return ANSWER_BAD_VALUE;
    if (!proc_can_keep(&would, e->key.len + len))
        return ANSWER_OVER_QUOTA;
    v = malloc(sizeof *v + len);
    if (!v)
        return ANSWER_NO_MEMORY;
    *v = (struct kept){ .rank = k->rank, .len = len };
    list_init(&v->link);
    if (a.len)
        memcpy(v->bytes, a.ptr, a.len);
    if (b.len)
        memcpy(v->bytes + a.len, b.ptr, b.len);
    proc_keeps(p, e->key.len + len);
    *v_p = v;
    return ANSWER_OK;
}

static struct slice value_of(const struct entry *e)
{
    return e && e->value ? slice_mem(e->value->bytes, e->value->len) : SLICE_NULL;
}

/* ---- attempts -------------------------------------------------------------------------------- */

/* The key that is there from the n-th start on. */
static bool is_of_start(struct slice key, uint32_t *n_p)
{
    struct slice prefix = SLICE("wireup/attempt/"), name = tcpstore_name(key);

    return slice_starts(name, prefix) && slice_u32(slice_skip(name, prefix.len), n_p);
}

/* OK: it may be asked for. */
static enum answer_status judge(const struct job *j, struct slice key)
{
    uint32_t n;

    if (is_of_start(key, &n)) {
        if (!job_restarts(j))
            return ANSWER_UNSUPPORTED;
        return n > j->epoch && n >= j->attempts ? ANSWER_RESTARTED : ANSWER_OK;
    }
    if (!job_restarts(j) || !tcpstore_attempt(key, &n))
        return ANSWER_OK;
    return n < j->epoch || n >= j->attempts ? ANSWER_RESTARTED : ANSWER_OK;
}

static bool has_started(const struct call *k, struct slice key)
{
    uint32_t n;

    return is_of_start(key, &n) && n <= k->job->epoch;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static struct slice who_key(const uint64_t *who)
{
    return slice_mem(who, sizeof *who);
}

static void stop_waiting(const struct call *k, struct wait *w, enum answer_status status)
{
    static const char ready = TCPSTORE_READY;
    struct answer a = { .status = status, .parts.value = slice_mem(&ready, 1) };

    proc_drops(&k->job->procs[w->rank], w->charge);
    list_unlink(&w->link);
    map_del(&k->s->waits, who_key(&w->who));
    effects_answer(&k->core->effects, w->ticket, a);
    free(w);
}

/* The next of the keys that is not there, cut off with those before it. */
static bool next_absent(const struct call *k, struct slice *rest, struct slice *key_p)
{
    while (tcpstore_get_bytes(rest, key_p)) {
        if (!exists(find(k->s, *key_p)) && !has_started(k, *key_p))
            return true;
    }
    return false;
}

/* "...default_pg/0/0/2", "...default_pg/0/0/rank_2": what rank 2 sets while PyTorch's group of all
 * processes is made. */
static bool is_of_rank(struct slice key, uint32_t *rank_p)
{
    const char *text = "default_pg/0/";
    const char *group = key.len ? memmem(key.ptr, key.len, text, strlen(text)) : NULL;
    const char *slash = group ? memrchr(key.ptr, '/', key.len) : NULL;
    struct slice last = slash ? slice_skip(key, (size_t)(slash + 1 - key.ptr)) : SLICE_NULL;

    if (slice_starts(last, SLICE("rank_")))
        last = slice_skip(last, 5);
    return slice_u32(last, rank_p);
}

static void describe(const struct job *j, uint32_t waiting, struct slice key, struct pending *w)
{
    uint32_t rank;

    w->name = key;
    if (!is_of_rank(key, &rank) || rank >= j->plan.nprocs || rank == waiting)
        return;
    w->owner_job = j->id;
    w->owner_rank = rank;
}

/* It waits for the next key that is not there, or is answered. */
static void wait_on(const struct call *k, struct wait *w)
{
    struct pending what = { .owner_job = PENDING_NOBODY, .owner_rank = PENDING_NOBODY };
    struct slice key;
    struct entry *e;

    list_unlink(&w->link);
    if (!next_absent(k, &w->rest, &key)) {
        stop_waiting(k, w, ANSWER_OK);
        return;
    }
    e = find_or_make(k->s, key);
    if (!e) {
        stop_waiting(k, w, ANSWER_NO_MEMORY);
        return;
    }
    w->of = e;
    list_append(&e->waits, &w->link);
    describe(k->job, w->rank, key, &what);
    pendings_change(&k->core->waits, w->ticket, &what);
}

/* The key has got a value. */
static void wake_all(const struct call *k, struct entry *e)
{
    struct list woken;

    list_init(&woken);
    list_move_all(&e->waits, &woken);
    LIST_EACH(l, &woken)
    wait_on(k, LIST_OF(l, struct wait, link));
}

/* An element has been added to the queue: it is for one. */
static void wake_one(const struct call *k, struct entry *e)
{
    struct list *l = list_first(&e->waits);

    if (l)
        wait_on(k, LIST_OF(l, struct wait, link));
}

static struct wait *new_wait(const struct call *k, struct slice keys)
{
    struct wait *w = calloc(1, sizeof *w + keys.len);

    if (!w)
        return NULL;
    w->who = k->who;
    w->ticket = k->ticket;
    w->rank = k->rank;
    w->charge = sizeof *w + 2 * keys.len;
    list_init(&w->link);
    if (keys.len)
        memcpy(w->keys, keys.ptr, keys.len);
    w->rest = slice_mem(w->keys, keys.len);
    if (map_put(&k->s->waits, who_key(&w->who), w, NULL) < 0) {
        free(w);
        return NULL;
    }
    return w;
}

static void cancel(const struct call *k)
{
    struct wait *w = map_get(&k->s->waits, who_key(&k->who));
    struct entry *e = w ? w->of : NULL;

    if (!w)
        return;
    pendings_done(&k->core->waits, w->ticket);
    stop_waiting(k, w, ANSWER_NOT_FOUND);
    tidy(k->s, e);
}

/* ---- the queries ----------------------------------------------------------------------------- */

static bool take(struct slice *rest, struct slice *s_p)
{
    return tcpstore_get_bytes(rest, s_p);
}

static enum answer_status set(const struct call *k, struct slice key, struct slice head,
                              struct slice tail)
{
    struct entry *e = find_or_make(k->s, key);
    struct kept *v = NULL;
    enum answer_status st;

    if (!e)
        return ANSWER_NO_MEMORY;
    st = keep(k, e, e->value, head, tail, &v);
    if (st == ANSWER_OK) {
        k->s->count += e->value == NULL;
        release(k, e, e->value);
        e->value = v;
        wake_all(k, e);
    }
    tidy(k->s, e);
    return st;
}

static enum answer_status on_set(const struct call *k)
{
    struct slice rest = k->args, key, value;

    if (!take(&rest, &key) || !take(&rest, &value))
        return ANSWER_BAD_KEY;
    return set(k, key, value, SLICE_NULL);
}

/* A key that is not there is as one with an empty value; but then what was expected is replied. */
static enum answer_status on_compare_set(const struct call *k)
{
    struct slice rest = k->args, key, expected, desired;
    const struct entry *e;
    enum answer_status st = ANSWER_OK;
    bool absent;

    if (!take(&rest, &key) || !take(&rest, &expected) || !take(&rest, &desired))
        return ANSWER_BAD_KEY;
    e = find(k->s, key);
    absent = !e || !e->value;
    if (slice_eq(value_of(e), expected))
        st = set(k, key, desired, SLICE_NULL);
    else if (absent)
        tcpstore_put_bytes(&k->s->reply, expected);
    if (buf_len(&k->s->reply) == 0)
        tcpstore_put_bytes(&k->s->reply, value_of(find(k->s, key)));
    return st;
}

static enum answer_status on_get(const struct call *k)
{
    struct slice rest = k->args, key;
    char digits[SLICE_DIGITS_MAX];

    if (!take(&rest, &key))
        return ANSWER_BAD_KEY;
    tcpstore_put_bytes(&k->s->reply, has_started(k, key) ? slice_digits(digits, k->job->epoch)
                                                         : value_of(find(k->s, key)));
    return ANSWER_OK;
}

static enum answer_status on_add(const struct call *k)
{
    struct slice rest = k->args, key;
    const struct entry *e;
    int64_t more, sum = 0;
    enum answer_status st;
    char digits[24];

    if (!take(&rest, &key) || !tcpstore_get_number(&rest, &more))
        return ANSWER_BAD_KEY;
    e = find(k->s, key);
    if ((e && e->value && !slice_i64(value_of(e), &sum)) || __builtin_add_overflow(sum, more, &sum))
        return ANSWER_BAD_VALUE;
    snprintf(digits, sizeof digits, "%lld", (long long)sum);
    st = set(k, key, slice_str(digits), SLICE_NULL);
    if (st == ANSWER_OK)
        store_counters_add(&k->job->counters, key, k->rank, k->job->plan.nprocs, more, k->now_ns);
    tcpstore_put_number(&k->s->reply, sum);
    return st;
}

/* Cuts the number of repetitions off, which each take 8 bytes at least. */
static bool take_count(struct slice *rest, int64_t *n_p)
{
    return tcpstore_get_number(rest, n_p) && *n_p >= 0 && (uint64_t)*n_p <= rest->len / 8;
}

static bool are_keys(struct slice rest, int64_t n)
{
    struct slice key;

    while (n-- > 0) {
        if (!take(&rest, &key))
            return false;
    }
    return rest.len == 0;
}

static void reply_state(const struct call *k, bool ready)
{
    buf_byte(&k->s->reply, ready ? TCPSTORE_READY : TCPSTORE_NOT_READY);
}

static enum answer_status on_check(const struct call *k)
{
    struct slice rest = k->args, key;
    int64_t n;

    if (!take_count(&rest, &n) || !are_keys(rest, n))
        return ANSWER_BAD_KEY;
    reply_state(k, !next_absent(k, &rest, &key));
    return ANSWER_OK;
}

static enum answer_status on_wait(const struct call *k)
{
    struct slice rest = k->args, keys, key;
    struct wait *w;
    int64_t n;

    if (!take_count(&rest, &n) || !are_keys(rest, n))
        return ANSWER_BAD_KEY;
    keys = rest;
    if (!next_absent(k, &rest, &key)) {
        reply_state(k, true);
        return ANSWER_OK;
    }
    if (map_get(&k->s->waits, who_key(&k->who)))
        return ANSWER_DUPLICATE;
    if (!proc_can_keep(&k->job->procs[k->rank], sizeof *w + 2 * keys.len))
        return ANSWER_OVER_QUOTA;
    w = new_wait(k, keys);
    if (!w)
        return ANSWER_NO_MEMORY;
    proc_keeps(&k->job->procs[k->rank], w->charge);
    wait_on(k, w);
    return ANSWER_LATER;
}

static enum answer_status on_getnumkeys(const struct call *k)
{
    tcpstore_put_number(&k->s->reply, k->s->count);
    return ANSWER_OK;
}

static void drop_value(const struct call *k, struct entry *e)
{
    release(k, e, e->value);
    e->value = NULL;
    k->s->count--;
}

static enum answer_status on_delete_key(const struct call *k)
{
    struct slice rest = k->args, key;
    struct entry *e;
    bool there;

    if (!take(&rest, &key))
        return ANSWER_BAD_KEY;
    e = find(k->s, key);
    there = e && e->value;
    if (there) {
        drop_value(k, e);
        tidy(k->s, e);
    }
    tcpstore_put_number(&k->s->reply, there);
    return ANSWER_OK;
}

static enum answer_status on_append(const struct call *k)
{
    struct slice rest = k->args, key, value;

    if (!take(&rest, &key) || !take(&rest, &value))
        return ANSWER_BAD_KEY;
    return set(k, key, value_of(find(k->s, key)), value);
}

static enum answer_status on_multi_get(const struct call *k)
{
    struct slice rest = k->args, key;
    int64_t n;

    if (!take_count(&rest, &n) || !are_keys(rest, n))
        return ANSWER_BAD_KEY;
    while (take(&rest, &key) && buf_ok(&k->s->reply))
        tcpstore_put_bytes(&k->s->reply, value_of(find(k->s, key)));
    return ANSWER_OK;
}

static enum answer_status on_multi_set(const struct call *k)
{
    struct slice rest = k->args, key, value;
    enum answer_status st = ANSWER_OK;
    int64_t n;

    if (!take_count(&rest, &n))
        return ANSWER_BAD_KEY;
    while (n-- > 0 && st == ANSWER_OK) {
        if (!take(&rest, &key) || !take(&rest, &value))
            return ANSWER_BAD_KEY;
        st = set(k, key, value, SLICE_NULL);
    }
    return st;
}

static enum answer_status on_cancel_wait(const struct call *k)
{
    cancel(k);
    return ANSWER_OK;
}

static enum answer_status on_queue_push(const struct call *k)
{
    struct slice rest = k->args, key, value;
    struct kept *v = NULL;
    enum answer_status st;
    struct entry *e;

    if (!take(&rest, &key) || !take(&rest, &value))
        return ANSWER_BAD_KEY;
    e = find_or_make(k->s, key);
    if (!e)
        return ANSWER_NO_MEMORY;
    st = keep(k, e, NULL, value, SLICE_NULL, &v);
    if (st == ANSWER_OK) {
        list_append(&e->queue, &v->link);
        e->queued++;
        wake_one(k, e);
    }
    tidy(k->s, e);
    return st;
}

static enum answer_status on_queue_pop(const struct call *k)
{
    struct slice rest = k->args, key;
    struct entry *e;
    struct list *l;
    struct kept *v;

    if (!take(&rest, &key))
        return ANSWER_BAD_KEY;
    e = find(k->s, key);
    tcpstore_put_number(&k->s->reply, e ? e->queued : 0);
    l = e ? list_first(&e->queue) : NULL;
    if (!l)
        return ANSWER_OK;
    v = LIST_OF(l, struct kept, link);
    tcpstore_put_bytes(&k->s->reply, slice_mem(v->bytes, v->len));
    list_unlink(l);
    e->queued--;
    release(k, e, v);
    tidy(k->s, e);
    return ANSWER_OK;
}

static enum answer_status on_queue_len(const struct call *k)
{
    struct slice rest = k->args, key;
    const struct entry *e;

    if (!take(&rest, &key))
        return ANSWER_BAD_KEY;
    e = find(k->s, key);
    tcpstore_put_number(&k->s->reply, e ? e->queued : 0);
    return ANSWER_OK;
}

/* Those that are not here are the session's own, or are refused there. */
static handler *const handlers[TCPSTORE_QUERIES] = {
    [TCPSTORE_SET] = on_set,
    [TCPSTORE_COMPARE_SET] = on_compare_set,
    [TCPSTORE_GET] = on_get,
    [TCPSTORE_ADD] = on_add,
    [TCPSTORE_CHECK] = on_check,
    [TCPSTORE_WAIT] = on_wait,
    [TCPSTORE_GETNUMKEYS] = on_getnumkeys,
    [TCPSTORE_DELETE_KEY] = on_delete_key,
    [TCPSTORE_APPEND] = on_append,
    [TCPSTORE_MULTI_GET] = on_multi_get,
    [TCPSTORE_MULTI_SET] = on_multi_set,
    [TCPSTORE_CANCEL_WAIT] = on_cancel_wait,
    [TCPSTORE_QUEUE_PUSH] = on_queue_push,
    [TCPSTORE_QUEUE_POP] = on_queue_pop,
    [TCPSTORE_QUEUE_LEN] = on_queue_len,
};

/* ---- the ends of attempts -------------------------------------------------------------------- */

/* Those that wait for a key of that kind; several may wait for one. */
static void take_waits(const struct call *k, bool has_kind(const struct call *, struct slice),
                       struct list *taken)
{
    struct wait *w;
    size_t at = 0;

    list_init(taken);
    while ((w = map_next(&k->s->waits, &at))) {
        if (has_kind(k, w->of->key)) {
            list_unlink(&w->link);
            list_append(taken, &w->link);
        }
    }
}

static void wake_started(const struct call *k)
{
    struct list woken;

    take_waits(k, has_started, &woken);
    LIST_EACH(l, &woken)
    wait_on(k, LIST_OF(l, struct wait, link));
}

static bool is_over(const struct call *k, struct slice key)
{
    return judge(k->job, key) != ANSWER_OK;
}

static void end_waits(const struct call *k)
{
    struct list ended;

    take_waits(k, is_over, &ended);
    LIST_EACH(l, &ended)
    {
        struct wait *w = LIST_OF(l, struct wait, link);
        pendings_done(&k->core->waits, w->ticket);
        stop_waiting(k, w, ANSWER_RESTARTED);
    }
}

/* Nobody waits for it. */
static void drop_all(const struct call *k, struct entry *e)
{
    if (e->value)
        drop_value(k, e);
    LIST_EACH(l, &e->queue)
    {
        list_unlink(l);
        release(k, e, LIST_OF(l, struct kept, link));
    }
    tidy(k->s, e);
}

/* Also the keys that are there without a value, from a start on: nobody waits for them any more. */
static void drop_keys(const struct call *k)
{
    struct list over;
    struct entry *e;
    size_t at = 0;

    list_init(&over);
    while ((e = map_next(&k->s->entries, &at))) {
        if (is_over(k, e->key) || has_started(k, e->key))
            list_append(&over, &e->over);
    }
    LIST_EACH(l, &over)
    {
        list_unlink(l);
        drop_all(k, LIST_OF(l, struct entry, over));
    }
}

static void end_attempts(const struct call *k)
{
    end_waits(k);
    drop_keys(k);
}

void key_store_restarted(struct job *j)
{
    struct call one = { .s = j->key_store, .core = j->core, .job = j };

    if (!one.s)
        return;
    wake_started(&one);
    end_attempts(&one);
}

void key_store_ended(struct job *j, uint32_t rank)
{
    struct call one = { .s = j->key_store, .core = j->core, .job = j };
    bool well = !j->procs[rank].signalled && !j->procs[rank].code;

    /* (Else there is nothing to look for among the keys: all processes end.) */
    if (j->epoch + well >= j->attempts || !job_restarts(j))
        return;
    j->attempts = j->epoch + well;
    if (one.s)
        end_attempts(&one);
}

/* ---- the store ------------------------------------------------------------------------------- */

static struct key_store *store_of(const struct core *c, struct job *j)
{
    if (j->key_store)
        return j->key_store;
    j->key_store = calloc(1, sizeof *j->key_store);
    if (!j->key_store)
        return NULL;
    map_init(&j->key_store->entries, c->seed);
    map_init(&j->key_store->waits, c->seed);
    buf_init(&j->key_store->reply, LIMIT_CLIENT_QUEUE / 2);
    return j->key_store;
}

static void free_queue(struct entry *e)
{
    LIST_EACH(l, &e->queue)
    free(LIST_OF(l, struct kept, link));
}

struct key_store *key_store_free(struct key_store *s)
{
    struct entry *e;
    struct wait *w;
    size_t at = 0;

    if (!s)
        return NULL;
    while ((w = map_next(&s->waits, &at)))
        free(w);
    at = 0;
    while ((e = map_next(&s->entries, &at))) {
        free_queue(e);
        free(e->value);
        free(e);
    }
    map_free(&s->waits);
    map_free(&s->entries);
    buf_free(&s->reply);
    free(s);
    return NULL;
}

/* Connections are numbered by their node. */
static uint64_t who_of(const struct job *j, uint32_t rank, uint32_t connection)
{
    return (uint64_t)j->plan.procs[rank].node << 32 | connection;
}

/* Of several they belong together, as those of one process do. */
static bool first_key(const struct request_store *rq, struct slice *key_p)
{
    struct slice rest = rq->args;
    int64_t n;

    return (tcpstore_args(rq->query)[0] != '*' || tcpstore_get_number(&rest, &n)) &&
           tcpstore_get_bytes(&rest, key_p);
}

static enum answer_status carry_out(const struct call *k, const struct request_store *rq)
{
    enum answer_status st = ANSWER_OK;
    struct slice key;

    if (first_key(rq, &key))
        st = judge(k->job, key);
    if (st == ANSWER_OK)
        st = handlers[rq->query](k);
    if (st == ANSWER_OK && !buf_ok(&k->s->reply))
        st = k->s->reply.error == BUF_NO_MEMORY ? ANSWER_NO_MEMORY : ANSWER_BAD_VALUE;
    return st;
}

enum answer_status key_store_request(const struct core_call *k)
{
    const struct request_store *rq = &k->rq->u.store;
    struct call one = { .core = k->core, .job = k->job, .rank = k->rank, .ticket = k->ticket };
    enum answer_status st;

    if (rq->query >= TCPSTORE_QUERIES || !handlers[rq->query])
        return ANSWER_NOT_FOUND;
    one.s = store_of(k->core, k->job);
    if (!one.s)
        return ANSWER_NO_MEMORY;
    one.who = who_of(k->job, k->rank, rq->connection);
    one.args = rq->args;
    one.now_ns = k->now_ns;
    buf_clear(&one.s->reply);
    if (rq->query != TCPSTORE_CANCEL_WAIT) /* which comes when a connection closes, too */
        k->job->procs[k->rank].uses_store = true;
    st = carry_out(&one, rq);
    if (st != ANSWER_LATER)
        *k->a = ANSWER_TO(store, st, .reply = buf_slice(&one.s->reply));
    return st;
}

void key_store_describe(const struct core_call *k, struct pending *w)
{
    const struct request_store *rq = &k->rq->u.store;
    uint64_t who = who_of(k->job, k->rank, rq->connection);
    const struct key_store *s = k->job->key_store;
    const struct wait *mine = s ? map_get(&s->waits, who_key(&who)) : NULL;
    struct slice key;

    if (mine && mine->ticket == k->ticket)
        describe(k->job, k->rank, mine->of->key, w);
    else if (first_key(rq, &key))
        describe(k->job, k->rank, key, w);
}

void key_store_leave(struct core *c, struct job *j, uint32_t rank, uint32_t connection)
{
    struct call one = { .s = j->key_store, .core = c, .job = j, .rank = rank };

    one.who = who_of(j, rank, connection);
    if (one.s)
        cancel(&one);
}
