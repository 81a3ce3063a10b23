/* quota.h - what strangers may take of us, counted by who they are and not by connection.
 *
 * A source is a user of this machine (where the kernel names the owner of the other end) or an
 * address of the network; an IPv6 source is its network of 64 bits, since a host owns all of it.
 * Whoever has proved that it belongs here leaves the table: daemons and processes of a job are
 * never charged for strangers.
 *
 *  - Connections that have not proved themselves: at most so many at once.  While there is room for
 *    everybody, everybody comes in.  From `begin` on, a source that already holds more than its
 *    equal share is turned away at random, the likelier the fuller it is (as OpenSSH's MaxStartups
 *    does), and always from half way to `most` on; one below its share is turned away only when all
 *    places are taken, and then quota_greediest() says who has to make room.
 *  - Lines in the log: each source has a few at once and then one in a while, all sources together
 *    likewise.  What is not written is counted, and told with the next line that is.
 *
 * Sans I/O: the time is an argument, in milliseconds of any clock that does not go back.
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
    uint32_t lines; /* in the log at once, of one source; all sources together: four times that */
    uint32_t lines_ms; /* ... and one more after so long; of all together: after a quarter */
};

enum { QUOTA_SOURCES = 128 };

struct quota_bucket {
    uint32_t level; /* lines that may still be written */
    uint64_t at_ms; /* when the last one was added */
};

struct quota_account {
    struct quota_source who;
    uint32_t open;
    uint64_t used_ms; /* for the one that is forgotten first */
    struct quota_bucket lines;
};

struct quota {
    struct quota_rules rules;
    uint64_t random;
    uint32_t open; /* connections of all */
    uint32_t naccounts;
    struct quota_bucket lines;
    uint64_t unsaid;      /* lines that were not written, and not told of */
    uint64_t turned_away; /* connections, so far */
    struct quota_account accounts[QUOTA_SOURCES];
};

/* For doors where those inside can be made to go: everybody comes in until all places are taken. */
extern const struct quota_rules quota_evicts;
/* For doors where they cannot: newcomers are turned away before that. */
extern const struct quota_rules quota_declines;

struct quota_source quota_user(uid_t uid);
/* An address of IPv4, also as IPv6 writes it, or of IPv6; others are one source. */
struct quota_source quota_address(const struct sockaddr_storage *from);

void quota_init(struct quota *q, const struct quota_rules *rules, uint64_t seed);

enum quota_entry {
    QUOTA_IN,   /* counted, until quota_leave() */
    QUOTA_AWAY, /* turned away: it has its share already */
    QUOTA_FULL, /* all places are taken: one of quota_greediest() has to go first */
};

/* A connection that has not proved itself. */
enum quota_entry quota_enter(struct quota *q, const struct quota_source *who, uint64_t now_ms);
/* It has proved itself, or is gone. */
void quota_leave(struct quota *q, const struct quota_source *who);
/* Who holds most; only where a connection is open. */
struct quota_source quota_greediest(const struct quota *q);
bool quota_same(const struct quota_source *a, const struct quota_source *b);

/* A line about that source, as log_warn(); or it is counted. */
void quota_warn(struct quota *q, const struct quota_source *who, uint64_t now_ms,
                const struct log *log, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* What was not written and not told of yet is told now: before the end. */
void quota_tell(struct quota *q, const struct log *log);

#endif
