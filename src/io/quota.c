/* quota.c - see quota.h.  The table is short and searched linearly: a flood costs a few hundred
 * comparisons, and cannot make it grow.
 */
#include "io/quota.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "base/limit.h"
#include "base/rand.h"

enum { ALL_TOGETHER = 4 };

/* The same limits for all listeners, except where random refusals begin. */
#define RULES_WITH(begins_at)                                                                      \
    {                                                                                              \
        .begin = (begins_at), .most = LIMIT_UNAUTHENTICATED, .calls = LIMIT_SOURCE_CONNECTIONS,    \
        .calls_ms = LIMIT_SOURCE_CONNECTION_MS, .bytes = LIMIT_GREETING_BYTES,                     \
        .lines = LIMIT_REFUSAL_LINES, .lines_ms = LIMIT_REFUSAL_LINE_MS                            \
    }

const struct quota_rules quota_evicts = RULES_WITH(LIMIT_UNAUTHENTICATED);
const struct quota_rules quota_declines = RULES_WITH(LIMIT_UNAUTHENTICATED / 4);

/* ---- sources ---- */

struct quota_source quota_user(uid_t uid)
{
    struct quota_source s = { .kind = 0 };

    memcpy(s.id, &uid, sizeof uid);
    return s;
}

struct quota_source quota_address(const struct sockaddr_storage *from)
{
    const struct sockaddr_in *four = (const void *)from;
    const struct sockaddr_in6 *six = (const void *)from;
    struct quota_source s = { .kind = AF_INET };

    if (from->ss_family == AF_INET) {
        memcpy(s.id, &four->sin_addr, 4);
    } else if (from->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
        memcpy(s.id, six->sin6_addr.s6_addr + 12, 4);
    } else {
        s.kind = AF_INET6;
        if (from->ss_family == AF_INET6)
            memcpy(s.id, six->sin6_addr.s6_addr, 8);
    }
    return s;
}

bool quota_same(const struct quota_source *a, const struct quota_source *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* ---- accounts ---- */

void quota_init(struct quota *q, const struct quota_rules *rules, uint64_t seed)
{
    memset(q, 0, sizeof *q);
    q->rules = *rules;
    q->random = seed;
    q->lines.level = rules->lines * ALL_TOGETHER;
}

/* One piece of a bucket that is filled up by one each interval. */
static bool take(struct quota_bucket *b, uint32_t burst, uint32_t every_ms, uint64_t now_ms)
{
    uint64_t more = every_ms ? (now_ms - b->at_ms) / every_ms : burst;

    if (more >= burst - b->level) {
        b->level = burst;
        b->at_ms = now_ms;
    } else {
        b->level += (uint32_t)more;
        b->at_ms += more * every_ms;
    }
    if (b->level == 0)
        return false;
    b->level--;
    return true;
}

static struct quota_account *find(struct quota *q, const struct quota_source *who)
{
    for (uint32_t i = 0; i < q->naccounts; i++) {
        if (quota_same(&q->accounts[i].who, who))
            return &q->accounts[i];
    }
    return NULL;
}

/* A place in the table: a free one, or that of the source that was unused longest.  NULL: all have
 * connections open, or bytes kept. */
static struct quota_account *place(struct quota *q)
{
    struct quota_account *oldest = NULL;

    if (q->naccounts < QUOTA_SOURCES)
        return &q->accounts[q->naccounts++];
    for (uint32_t i = 0; i < QUOTA_SOURCES; i++) {
        struct quota_account *a = &q->accounts[i];
        if (a->open == 0 && a->bytes == 0 && (!oldest || a->used_ms < oldest->used_ms))
            oldest = a;
    }
    return oldest;
}

static struct quota_account *account(struct quota *q, const struct quota_source *who,
                                     uint64_t now_ms)
{
    struct quota_account *a = find(q, who);

    if (!a && (a = place(q)))
        *a = (struct quota_account){ .who = *who,
                                     .calls = { q->rules.calls, now_ms },
                                     .lines = { q->rules.lines, now_ms } };
    if (a)
        a->used_ms = now_ms;
    return a;
}

/* ---- connections ---- */

bool quota_count_connection(struct quota *q, const struct quota_source *who, uint64_t now_ms)
{
    struct quota_account *a = account(q, who, now_ms);

    return !a || take(&a->calls, q->rules.calls, q->rules.calls_ms, now_ms);
}

void quota_uncount_connection(struct quota *q, const struct quota_source *who)
{
    struct quota_account *a = find(q, who);

    if (a && a->calls.level < q->rules.calls)
        a->calls.level++;
}

/* The share of each source if all places were divided equally, a new source included. */
static uint32_t equal_share(const struct quota *q, const struct quota_account *newcomer)
{
    uint32_t sources = newcomer->open == 0;

    for (uint32_t i = 0; i < q->naccounts; i++)
        sources += q->accounts[i].open > 0;
    return q->rules.most / sources;
}

/* No source at `begin`, every one half way to `most`: the remaining places are for sources below
 * their share. */
static bool has_bad_luck(struct quota *q)
{
    uint32_t steps = q->rules.most - q->rules.begin;

    return rand_below(&q->random, steps ? steps : 1) < 2 * (uint64_t)(q->open - q->rules.begin);
}

enum quota_entry quota_enter(struct quota *q, const struct quota_source *who, uint64_t now_ms)
{
    struct quota_account *a = account(q, who, now_ms);

    if (!a)
        return QUOTA_FULL;
    if (q->open >= q->rules.begin && a->open >= equal_share(q, a) && has_bad_luck(q)) {
        q->turned_away++;
        return QUOTA_AWAY;
    }
    if (q->open >= q->rules.most)
        return QUOTA_FULL;
    a->open++;
    q->open++;
    return QUOTA_IN;
}

void quota_leave(struct quota *q, const struct quota_source *who)
{
    struct quota_account *a = find(q, who);

    if (a && a->open) {
        a->open--;
        q->open--;
    }
}

struct quota_source quota_greediest(const struct quota *q)
{
    const struct quota_account *most = &q->accounts[0];

    for (uint32_t i = 1; i < q->naccounts; i++) {
        if (q->accounts[i].open > most->open)
            most = &q->accounts[i];
    }
    return most->who;
}

/* ---- bytes ---- */

bool quota_charge(struct quota *q, const struct quota_source *who, uint64_t bytes, uint64_t now_ms)
{
    struct quota_account *a = account(q, who, now_ms);

    if (!a || bytes > q->rules.bytes - a->bytes)
        return false;
    a->bytes += bytes;
    return true;
}

void quota_discharge(struct quota *q, const struct quota_source *who, uint64_t bytes)
{
    struct quota_account *a = bytes ? find(q, who) : NULL;

    if (a)
        a->bytes -= bytes < a->bytes ? bytes : a->bytes;
}

/* ---- lines in the log ---- */

static bool may_log(struct quota *q, const struct quota_source *who, uint64_t now_ms)
{
    const struct quota_rules *r = &q->rules;
    struct quota_account *a = account(q, who, now_ms);

    return (!a || take(&a->lines, r->lines, r->lines_ms, now_ms)) &&
           take(&q->lines, r->lines * ALL_TOGETHER, r->lines_ms / ALL_TOGETHER, now_ms);
}

void quota_report(struct quota *q, const struct log *log)
{
    if (q->suppressed)
        log_warn(log, "%llu more message%s about refused connections %s suppressed",
                 (unsigned long long)q->suppressed, q->suppressed > 1 ? "s" : "",
                 q->suppressed > 1 ? "were" : "was");
    q->suppressed = 0;
}

void quota_warn(struct quota *q, const struct quota_source *who, uint64_t now_ms,
                const struct log *log, const char *format, ...)
{
    va_list args;

    if (!may_log(q, who, now_ms)) {
        q->suppressed++;
        return;
    }
    quota_report(q, log);
    va_start(args, format);
    log_vline(log, LOG_WARN, format, args);
    va_end(args);
}
