/* socket_names.h - lists the abstract socket names with listeners in this network namespace.
 *
 * Anybody may take any name there, as many as memory holds.  The kernel reports the owner of each
 * socket (sock_diag), and names of others cost one comparison; where it does not, a name has to
 * belong to a process that we may signal, and others cannot make up many of those.
 */
#ifndef WIREUP_IO_SOCKET_NAMES_H
#define WIREUP_IO_SOCKET_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/slice.h"

/* Called for each name (without its leading NUL) that begins with the prefix and whose socket
 * belongs to our own user, or to an unknown one (then `known` is false).  Returning false ends the
 * listing. */
typedef bool socket_name_fn(void *arg, struct slice name, bool known);

/* 0 or -errno. */
int socket_names_list(struct slice prefix, socket_name_fn *fn, void *arg);

#endif
