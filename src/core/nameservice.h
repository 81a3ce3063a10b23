/* nameservice.h - the name service: service name -> port and publisher.
 *
 * Names belong to one user and launcher, across its jobs.  An entry goes with its publisher unless
 * it was published to stay; one that may be read once goes with the first look-up
 * (nameservice_read).
 */
#ifndef WIREUP_CORE_NAMESERVICE_H
#define WIREUP_CORE_NAMESERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"
#include "core/answer.h"

struct name_entry {
    struct list link;
    char *service; /* NUL-terminated; its bytes are the map's key */
    struct slice port;
    uint32_t job, rank; /* the publisher */
    enum name_life life;
    uint16_t type; /* PMIx data type of the port; 0: characters */
};

struct nameservice {
    struct map by_service;
    struct list all;
    struct name_entry *read; /* the last entry that was read once: its bytes are in use */
};

/* A look-up that waits for its name. */
struct nameservice_wait {
    struct list link;
    uint64_t ticket;
    struct nameservice_query *query;
};

void nameservice_wait_free(struct nameservice_wait *w);

enum { NAMESERVICE_OK = 0, NAMESERVICE_TAKEN, NAMESERVICE_UNKNOWN, NAMESERVICE_FOREIGN };

/* A query about a name that this launcher alone cannot answer: the host asks its neighbours (other
 * launchers of the same user on this machine). */
enum nameservice_op { NAMESERVICE_LOOKUP, NAMESERVICE_PUBLISH, NAMESERVICE_UNPUBLISH };

const char *nameservice_op_name(enum nameservice_op op); /* "lookup" */

struct nameservice_query {
    enum nameservice_op op;
    uint32_t job, rank; /* the requester */
    bool wait;
    bool found; /* a look-up's answer is filled in: port, type, and the publisher's job and rank */
    enum name_life life;
    uint64_t deadline_ns; /* UINT64_MAX: none */
    uint64_t timeout_ns;  /* the same, relative to the query; 0: none */
    uint16_t type;
    struct slice service, port;
    char text[]; /* both of them */
};

/* NULL: no memory.  free() it. */
struct nameservice_query *nameservice_query_new(enum nameservice_op op, struct slice service,
                                                struct slice port);

void nameservice_init(struct nameservice *n, uint64_t seed);
void nameservice_free(struct nameservice *n);

/* 0, NAMESERVICE_TAKEN or -ENOMEM. */
int nameservice_publish(struct nameservice *n, struct slice service, struct slice port,
                        uint32_t job, uint32_t rank, enum name_life life, uint16_t type);
/* The entry, or NULL. */
const struct name_entry *nameservice_lookup(const struct nameservice *n, struct slice service);
/* The same for a reader that gets the value: a name that may be read once is removed.  The entry is
 * valid until the next call. */
const struct name_entry *nameservice_read(struct nameservice *n, struct slice service);
/* 0 or NAMESERVICE_UNKNOWN.  Any process of the user may withdraw a name, as under other launchers.
 */
int nameservice_unpublish(struct nameservice *n, struct slice service);
/* The publisher has ended: its names are removed, except those that stay.  Returns how many. */
uint32_t nameservice_drop_job(struct nameservice *n, uint32_t job);

#endif
