/* services.h - the name service and spawning: the second half of PMI-1. */
#ifndef WIREUP_LIB_PMI_SERVICES_H
#define WIREUP_LIB_PMI_SERVICES_H

#include "lib/common/spawn_texts.h"
#include "lib/pmi/client.h"

/* 0; CLIENT_BAD_ARG: empty, too long, cannot be sent; CLIENT_FAILED; -ENOMEM. */
int services_publish(struct pmi1_client *c, const char *name, const char *port, struct errmsg *err);
int services_unpublish(struct pmi1_client *c, const char *name, struct errmsg *err);
/* port has `room` bytes. */
int services_lookup(struct pmi1_client *c, const char *name, char *port, size_t room,
                    struct errmsg *err);

/* One command of a spawn request. */
struct services_command {
    const char *program;
    const char **argv; /* without the program's name, ends with NULL; may be NULL */
    uint32_t nprocs;
    uint32_t ninfos;
    const struct spawn_pair_text *infos;
};

struct services_spawn {
    uint32_t count;
    const struct services_command *commands;
    uint32_t npreputs;
    const struct spawn_pair_text *preputs;
    uint32_t nprocs; /* of all commands */
    int *errors;     /* room for that many, or NULL */
};

/* 0; CLIENT_BAD_ARG: a string with a newline; CLIENT_FAILED; -ENOMEM. */
int services_spawn(struct pmi1_client *c, const struct services_spawn *s, struct errmsg *err);

#endif
