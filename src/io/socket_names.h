/* socket_names.h - abstract names on which somebody listens in this network namespace.
 *
 * Anybody may take any name there, as many as memory holds.  The kernel tells whose each socket is
 * (sock_diag), and names of others cost one comparison; where it does not, a name has to be that of
 * a process which we may signal, of which others cannot make up many.
 */
#ifndef WIREUP_IO_SOCKET_NAMES_H
#define WIREUP_IO_SOCKET_NAMES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/slice.h"

/* Each name (without its NUL in front) that begins with the prefix and is of a socket of our own
 * user, or of one whose user is not known (then `known` is false).  False ends the listing. */
typedef bool socket_name_fn(void *arg, struct slice name, bool known);

/* 0 or -errno. */
int socket_names_list(struct slice prefix, socket_name_fn *fn, void *arg);

#endif
