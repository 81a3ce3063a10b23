/* client_tcp.h - which servers may be reached by TCP: PMIX_TCP_IF_INCLUDE and the like, of the
 * calls that connect to one. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_TCP_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_TCP_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"
#include "pmix_common.h"

/* The texts are the caller's; NULL: all interfaces.  A list has names of interfaces and networks
 * ("eth0,10.1.0.0/16"). */
struct client_tcp {
    const char *include, *exclude;
    bool no_ipv4, no_ipv6;
};

struct client_tcp client_tcp_read(const pmix_info_t *infos, size_t n);

/* Whether a connection to that address is allowed: it belongs to the interface of this machine
 * whose network it is in.  0; -ENETUNREACH with a sentence. */
int client_tcp_check(const struct client_tcp *t, const struct sockaddr_storage *to,
                     struct errmsg *err);

#endif
