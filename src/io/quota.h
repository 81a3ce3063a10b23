/* quota.h - limits unauthenticated connections, by source and not by connection.
 *
 * A source is a user of this machine (if the kernel names the owner of the other end) or a network
 * address; an IPv6 source is its 64-bit network, since a host owns all of it.  An authenticated
 * connection leaves the table: daemons and processes of a job are never charged for others.
 *
 *  - Unauthenticated connections: bounded.  While there is room for everybody, all are admitted.
 *    From `begin` on, a source that already holds more than its equal share is turned away at
 *    random, with a probability that grows with its connections (as OpenSSH's MaxStartups does),
 *    and always from half way to `most` on; a source below its share is turned away only when all
 *    places are taken, and then quota_greediest() names the source that has to make room.
 *  - Their rate: each source has many at once and then one per interval; the others are closed
 * unread. A connection that is authenticated gives its place back, so only failed ones count.
 *  - Bytes that were read from unauthenticated connections and are kept: bounded for each source.
 *  - Lines in the log: each source has a few at once and then one per interval, and so have all
 *    sources together.  Suppressed lines are counted; the next line that is written reports them.
 *
 * Sans I/O: the time is an argument, in milliseconds of any clock that never goes back.
 */
#ifndef WIREUP_IO_QUOTA_H
#define WIREUP_IO_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"

struct sockaddr_storage;

struct quota_source {
    unsigned char kind; /* 0: a user; else the family of an address */
    unsigned char id[15];
};

struct quota_rules {
    uint32_t begin; /* connections at which sources above their share are turned away at random */
    uint32_t most;  /* connections at once */
    uint32_t calls; /* connections of one source at once */
    uint32_t calls_ms; /* ... and one more per this interval */
    uint64_t bytes;    /* of one source */
    uint32_t lines; /* in the log at once, for one source; all sources together: four times that */
    uint32_t lines_ms; /* ... and one more per this interval; all together: per a quarter of it */
};

enum { QUOTA_SOURCES = 128 };

struct quota_bucket {
    uint32_t level; /* the units that may still be taken */
    uint64_t at_ms; /* when the last one was added */
};

struct quota_account {
    struct quota_source who;
    uint32_t open;
    uint64_t bytes;
    uint64_t used_ms; /* the least recently used is evicted first */
    struct quota_bucket calls, lines;
};

struct quota {
    struct quota_rules rules;
    uint64_t random;
    uint32_t open; /* connections of all */
    uint32_t naccounts;
    struct quota_bucket lines;
    uint64_t suppressed;  /* lines that were suppressed and not reported yet */
    uint64_t turned_away; /* connections, so far */
    struct quota_account accounts[QUOTA_SOURCES];
};

/* For listeners that can evict connections: all are admitted until all places are taken. */
extern const struct quota_rules quota_evicts;
/* For listeners that cannot: new connections are turned away before that. */
extern const struct quota_rules quota_declines;

struct quota_source quota_user(uid_t uid);
/* An IPv4 address (also IPv4-mapped) or an IPv6 address; all other families are one source. */
struct quota_source quota_address(const struct sockaddr_storage *from);

void quota_init(struct quota *q, const struct quota_rules *rules, uint64_t seed);

enum quota_entry {
    QUOTA_IN,   /* counted, until quota_leave() */
    QUOTA_AWAY, /* turned away: it has its share already */
    QUOTA_FULL, /* all places are taken: evict one of quota_greediest() first */
};

/* A new connection, before anything is spent on it.  False: that source calls too often; close it.
 */
bool quota_count_connection(struct quota *q, const struct quota_source *who, uint64_t now_ms);
/* That connection has been authenticated: it does not count. */
void quota_uncount_connection(struct quota *q, const struct quota_source *who);

/* An unauthenticated connection. */
enum quota_entry quota_enter(struct quota *q, const struct quota_source *who, uint64_t now_ms);
/* The connection is authenticated, or gone. */
void quota_leave(struct quota *q, const struct quota_source *who);
/* The source with the most connections; at least one must be open. */
struct quota_source quota_greediest(const struct quota *q);
bool quota_same(const struct quota_source *a, const struct quota_source *b);

/* So many more bytes of that source are about to be kept.  False, and not counted: it has its
 * share, or the table is full of others. */
bool quota_charge(struct quota *q, const struct quota_source *who, uint64_t bytes, uint64_t now_ms);
/* They are kept no longer, or their connection is authenticated. */
void quota_discharge(struct quota *q, const struct quota_source *who, uint64_t bytes);

/* Logs a line about that source, as log_warn(), or counts it as suppressed. */
void quota_warn(struct quota *q, const struct quota_source *who, uint64_t now_ms,
                const struct log *log, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Reports the suppressed lines now; to be called before the end. */
void quota_report(struct quota *q, const struct log *log);

#endif
