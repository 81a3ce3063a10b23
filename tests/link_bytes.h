/* link_bytes.h - bytes as they come from a link's socket, for tests without one. */
#ifndef WIREUP_TESTS_LINK_BYTES_H
#define WIREUP_TESTS_LINK_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "io/daemon_link_crypto.h"

/* Gives it as many of the bytes as there is room for; the rest comes back. */
static inline struct slice link_bytes_put(struct daemon_link_crypto *c, struct slice bytes)
{
    size_t n;
    char *room = daemon_link_crypto_room(c, &n);

    if (!room)
        abort();
    if (n > bytes.len)
        n = bytes.len;
    memcpy(room, bytes.ptr, n);
    daemon_link_crypto_came(c, n);
    return slice_skip(bytes, n);
}

#endif
