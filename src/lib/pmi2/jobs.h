/* jobs.h - functions of a PMI-2 client that concern other processes: name service, other jobs,
 * spawning, ring.
 */
#ifndef WIREUP_LIB_PMI2_JOBS_H
#define WIREUP_LIB_PMI2_JOBS_H

#include "lib/common/spawn_texts.h"
#include "lib/pmi2/data.h"

int jobs_publish(struct pmi2_client *m, const char *name, const char *port, struct errmsg *err);
int jobs_unpublish(struct pmi2_client *m, const char *name, struct errmsg *err);
int jobs_lookup(struct pmi2_client *m, const char *name, data_use *use, void *arg,
                struct errmsg *err);

int jobs_connect(struct pmi2_client *m, const char *job, struct errmsg *err);
int jobs_disconnect(struct pmi2_client *m, const char *job, struct errmsg *err);

struct jobs_command {
    const char *program;
    const char **args; /* without the program; NULL: none */
    uint32_t nargs;
    uint32_t nprocs;
    const struct spawn_pair_text *infos;
    uint32_t ninfos;
};

struct jobs_spawn {
    const struct jobs_command *commands;
    uint32_t count;
    const struct spawn_pair_text *preputs;
    uint32_t npreputs;
    int *errors;     /* one per process, or NULL */
    uint32_t nprocs; /* of all of them */
    data_use *use;   /* gets the name of the new job; may be NULL */
    void *arg;
};

/* 0; MEMBER_REFUSED: nothing, or not all, was started; MEMBER_FAILED; MEMBER_BAD_VALUE: an
 * argument cannot be sent; -ENOMEM. */
int jobs_spawn(struct pmi2_client *m, const struct jobs_spawn *s, struct errmsg *err);

struct jobs_ring {
    int place, size;
    data_use *use;
    void *left, *right; /* use's arg for either neighbour's value */
};

/* Collective over the job.  Returns the result of `use` for the values. */
int jobs_ring(struct pmi2_client *m, const char *value, struct jobs_ring *r, struct errmsg *err);

#endif
