/* client_iof.h - stdio forwarding (IOF): input and output of other processes through this one. */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_IOF_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_IOF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/slice.h"

struct client;
struct server_link;

struct outputs {
    struct list sinks;
    bool shows;      /* what handlers get is shown, too */
    size_t last_ref; /* 0 is the default handler: our own standard output and error */
};

void outputs_init(struct outputs *o);
void outputs_free(struct outputs *o);

/* Handles a message with output.  Unreadable ones are dropped. */
void output_arrived(struct client *c, struct server_link *s, struct slice bytes);

#endif
