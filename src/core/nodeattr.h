/* nodeattr.h - gets that wait for an attribute of a node.
 *
 * The values are in the job's store (job_node_put); this keeps the tickets of gets that came before
 * the put.  Names are the store's: node and key in one.
 */
#ifndef WIREUP_CORE_NODEATTR_H
#define WIREUP_CORE_NODEATTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/slice.h"

/* One name that gets wait for. */
struct nodeattr {
    char *name;
    size_t name_len;
    uint64_t since_ns; /* the first get */
    uint64_t *tickets; /* oldest first */
    uint32_t n, room;
};

struct nodeattrs {
    struct map by_name;
};

void nodeattrs_init(struct nodeattrs *a, uint64_t seed);
void nodeattrs_free(struct nodeattrs *a);

/* Keeps the ticket until the name is put.  0 or -ENOMEM. */
int nodeattrs_wait(struct nodeattrs *a, struct slice name, uint64_t ticket, uint64_t now_ns);

/* All waiting gets of the name, now the caller's (nodeattr_free); NULL: none. */
struct nodeattr *nodeattrs_take(struct nodeattrs *a, struct slice name);

struct nodeattr *nodeattr_free(struct nodeattr *n); /* returns NULL; NULL is harmless */

#endif
