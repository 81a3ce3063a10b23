/* client_iof.h - input and output of other processes, on its way through this one. */
#ifndef WIREUP_LIB_PMIX_CLIENT_IOF_H
#define WIREUP_LIB_PMIX_CLIENT_IOF_H

#include <stddef.h>

#include "base/list.h"
#include "base/slice.h"

struct client;
struct server_link;

struct outputs {
    struct list sinks;
    size_t last_ref; /* 0 is everybody's: our own standard output and error */
};

void outputs_init(struct outputs *o);
void outputs_free(struct outputs *o);

/* A message with output.  What cannot be read is dropped. */
void output_arrived(struct client *c, struct server_link *s, struct slice bytes);

#endif
