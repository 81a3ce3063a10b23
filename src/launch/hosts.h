/* hosts.h - lists of nodes: `-hosts a:2,b` and host files, in both formats.
 *
 *   MPICH      name[:slots] [binding=B] [user=U]
 *   Open MPI   name [slots=N] [max_slots=N]       ("max-slots" too)
 *   both       user@name, and [port=N] in files: for ssh
 *
 * `#` begins a comment, at the start of a line or after a blank; blank lines are skipped.  A name
 * with several colons is an IPv6 address; with slots it is written [address]:slots.  A name that
 * repeats the one before it adds its slots to it.
 *
 * Pure: takes text, gives a list in an arena.  Every refusal is one sentence that names file and
 * line, or the piece of the list.
 */
#ifndef WIREUP_LAUNCH_HOSTS_H
#define WIREUP_LAUNCH_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

struct host {
    const char *name;
    uint32_t slots;      /* at least 1 */
    uint32_t max_slots;  /* 0: no limit */
    const char *binding; /* or NULL */
    const char *user;    /* or NULL */
    uint32_t port;       /* of its sshd; 0: the default */
};

struct host_list {
    struct host *items; /* in the arena */
    uint32_t count, room;
};

enum { HOSTS_BAD = 1 };

/* Both append to the list.  0, HOSTS_BAD with the sentence, or -ENOMEM. */
int hosts_parse_list(struct arena *a, struct host_list *list, struct slice text,
                     struct errmsg *err);
int hosts_parse_file(struct arena *a, struct host_list *list, const char *file, struct slice text,
                     struct errmsg *err);

/* Appends one host (or adds its slots to the last one if that has the same name). */
int hosts_add(struct arena *a, struct host_list *list, struct host h);

bool hosts_has(const struct host_list *list, const char *name);

/* Sorts by slots; equal ones keep their order.  0, -ENOMEM. */
int hosts_sort(struct host_list *list, bool descending);

#endif
