/* rankfile.h - files with the node and the cores of each rank.
 *
 *   rank 0=node1 slot=1:0-2        cores 0 to 2 of package 1
 *   rank 1=+n1 slot=0:0,1:3        the second node of the node list (+n0 is the first)
 *   rank 2 = node1                 not bound, or bound by -bind-to
 *
 * In any order, each rank once and none left out; `#` begins a comment.  The syntax after slot=
 * is in topo/slots.h.
 *
 * Pure: takes text, gives a list in an arena.  Every refusal is one sentence that names file and
 * line.
 */
#ifndef WIREUP_LAUNCH_RANKFILE_H
#define WIREUP_LAUNCH_RANKFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "launch/hosts.h"

struct rankfile_rank {
    const char *host;  /* NULL: the node of this number in the node list */
    const char *slots; /* NULL: not given */
    uint32_t number;
    uint32_t line;
};

struct rankfile {
    const char *name;
    const struct rankfile_rank *ranks;
    uint32_t count;
    bool binds; /* slot= is given for some rank */
};

enum { RANKFILE_BAD = 1 };

/* 0, RANKFILE_BAD with the sentence, or -ENOMEM. */
int rankfile_parse(struct arena *a, const char *name, struct slice text, struct rankfile *file_p,
                   struct errmsg *err);

/* The nodes that it names, each with as many slots as it has ranks: used if no other nodes are
 * named.  Same results; RANKFILE_BAD also if nodes are given by number. */
int rankfile_hosts(const struct rankfile *file, struct arena *a, struct host_list *list,
                   struct errmsg *err);

/* The node list entry of each rank.  rankfile_here_fn tells whether a name that is not in the list
 * is this machine, which the list calls here_name (NULL: it is not in the list). */
typedef bool rankfile_here_fn(void *arg, const char *name);
int rankfile_entries(const struct rankfile *file, const struct host_list *list, struct arena *a,
                     rankfile_here_fn *here, void *arg, const char *here_name,
                     const uint32_t **entries_p, struct errmsg *err);

#endif
