/* pmix_uri.h - the address of a PMIx server, as its variables, files and tools have it. */
#ifndef WIREUP_IO_PMIX_URI_H
#define WIREUP_IO_PMIX_URI_H

#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/slice.h"

struct pmix_uri {
    struct slice nspace; /* of the server; lent from the text */
    uint32_t rank;
    struct sockaddr_storage address;
    socklen_t address_len;
};

/* "<nspace>.<rank>;tcp4://<address>:<port>".  0, or -EINVAL with a sentence. */
int pmix_uri_read(const char *text, struct pmix_uri *u_p, struct errmsg *err);

#endif
