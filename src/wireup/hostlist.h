/* hostlist.h - the texts in which resource managers write down their nodes.  Pure; all append to a
 * list in an arena, and refuse with one sentence that begins with `where` (a variable or a file).
 */
#ifndef WIREUP_WIREUP_HOSTLIST_H
#define WIREUP_WIREUP_HOSTLIST_H

#include "wireup/hosts.h"

/* "n[001-003,7],gpu1,rack[1-2]n[01-16]": ranges with leading zeros, several brackets in a name, the
 * last changing fastest.  Each node gets 1 slot. */
int hostlist_nodes(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* "4(x2),3": slots of the nodes of the list from `first` on, in their order; exactly as many. */
int hostlist_counts(struct host_list *list, uint32_t first, struct slice text, const char *where,
                    struct errmsg *err);

/* A name for each slot, lines or blanks between; names that repeat, also later, add up. */
int hostlist_slots(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* "a 4 b 2": names and slots in turn. */
int hostlist_pairs(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* Lines "name slots ...", as Grid Engine's; what follows is not ours. */
int hostlist_table(struct arena *a, struct host_list *list, struct slice text, const char *where,
                   struct errmsg *err);

/* Lines "nodes N CORES": so many nodes with so many cores together, as Flux prints them. */
int hostlist_groups(struct arena *a, struct host_list *list, struct slice text, const char *where,
                    struct errmsg *err);

#endif
