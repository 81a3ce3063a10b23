/* socket_names.h - lists the abstract socket names with listeners in this network namespace.
 *
 * Anybody may take any name there, as many as memory holds.  The kernel reports the owner of each
 * socket (sock_diag), and names of others cost one comparison; where it does not, a name has to
 * belong to a process that we may signal, and others cannot make up many of those.
 *
 * A listing is made in pieces of some hundred sockets: among very many names, a caller with other
 * work does it between two pieces.
 */
#ifndef WIREUP_IO_SOCKET_NAMES_H
#define WIREUP_IO_SOCKET_NAMES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/slice.h"

/* Called for each name (without its leading NUL) that begins with the prefix and whose socket
 * belongs to our own user, or to an unknown one (then `known` is false).  Returning false ends the
 * listing. */
typedef bool socket_name_fn(void *arg, struct slice name, bool known);

struct socket_names {
    struct slice prefix;
    socket_name_fn *fn;
    void *arg;
    bool over;
    int fd;      /* of the kernel's answer; -1: there is none */
    FILE *table; /* /proc/net/unix, in its place */
};

#define SOCKET_NAMES_CLOSED ((struct socket_names){ .fd = -1 })

/* The prefix must stay.  0 or -errno. */
int socket_names_open(struct socket_names *l, struct slice prefix, socket_name_fn *fn, void *arg);
/* The next piece.  True: more follow. */
bool socket_names_more(struct socket_names *l);
void socket_names_close(struct socket_names *l); /* harmless twice, and on SOCKET_NAMES_CLOSED */

#endif
