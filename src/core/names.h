/* names.h - the name service: service name -> port, and who published it.
 *
 * Names are per user and launcher, across its jobs.  An entry goes with its publisher unless it is
 * asked to stay; one that may be read once goes with the first look-up (names_read).
 */
#ifndef WIREUP_CORE_NAMES_H
#define WIREUP_CORE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"
#include "core/request.h"

struct name_entry {
    struct list link;
    char *service; /* NUL-terminated; its bytes are the map's key */
    struct slice port;
    uint32_t job, rank; /* the publisher */
    enum name_life life;
    uint16_t type; /* PMIx data type of the port; 0: characters */
};

struct names {
    struct map by_service;
    struct list all;
    struct name_entry *read; /* the last one that was read once: its bytes are in use */
};

/* A look-up that waits for its name. */
struct names_wait {
    struct list link;
    uint64_t ticket;
    struct names_query *query;
};

enum { NAMES_OK = 0, NAMES_TAKEN, NAMES_UNKNOWN, NAMES_FOREIGN };

/* A question about a name that this launcher alone cannot answer: its neighbours (other launchers
 * of the same user on this machine) are asked by the host. */
enum names_op { NAMES_LOOKUP, NAMES_PUBLISH, NAMES_UNPUBLISH };

struct names_query {
    enum names_op op;
    uint32_t job, rank; /* who asks */
    bool wait;
    bool found; /* a look-up's answer stands in it: port, type, and the publisher's job and rank */
    enum name_life life;
    uint64_t deadline_ns; /* UINT64_MAX: none */
    uint64_t timeout_ns;  /* the same from the question on; 0: none */
    uint16_t type;
    struct slice service, port;
    char text[]; /* both of them */
};

/* NULL: no memory.  free() it. */
struct names_query *names_query_new(enum names_op op, struct slice service, struct slice port);

void names_init(struct names *n, uint64_t seed);
void names_free(struct names *n);

/* 0, NAMES_TAKEN or -ENOMEM. */
int names_publish(struct names *n, struct slice service, struct slice port, uint32_t job,
                  uint32_t rank, enum name_life life, uint16_t type);
/* The entry, or NULL. */
const struct name_entry *names_lookup(const struct names *n, struct slice service);
/* The same for who gets it: a name that may be read once is gone then.  The entry is there until
 * the next call. */
const struct name_entry *names_read(struct names *n, struct slice service);
/* 0 or NAMES_UNKNOWN.  Any process of the user may withdraw a name, as under other launchers. */
int names_unpublish(struct names *n, struct slice service);
/* The publisher has gone: its names that do not stay go too.  Returns how many. */
uint32_t names_drop_job(struct names *n, uint32_t job);

#endif
