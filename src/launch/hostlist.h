/* hostlist.h - the formats in which resource managers write their nodes.  Pure; all functions
 * append to a list in an arena, and refuse with one sentence that begins with `where` (a variable
 * or a file).
 */
#ifndef WIREUP_LAUNCH_HOSTLIST_H
#define WIREUP_LAUNCH_HOSTLIST_H

#include "launch/hosts.h"

/* "n[001-003,7],gpu1,rack[1-2]n[01-16]": ranges with leading zeros, several brackets in a name, the
 * last changing fastest.  Each node gets 1 slot. */
int hostlist_nodes(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* "4(x2),3": slots of the nodes of the list from `first` on, in order; their number must match
 * exactly. */
int hostlist_counts(struct host_list *list, uint32_t first, struct slice text, const char *where,
                    struct errmsg *err);

/* A name for each slot, separated by newlines or blanks; repeated names, also later ones, add up.
 */
int hostlist_slots(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* "a 4 b 2": alternating names and slots. */
int hostlist_pairs(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* Lines "name slots ...", as in Grid Engine; the rest of a line is ignored. */
int hostlist_table(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* Lines "nodes N CORES": N nodes with CORES cores in total, as Flux prints them. */
int hostlist_groups(struct arena *a, struct host_list *list, struct slice text, const char *where,
                    struct errmsg *err);

#endif
