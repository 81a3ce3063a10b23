/* plan_hardware.h - the hardware of a job's nodes for people, or as JSON. */
#ifndef WIREUP_LAUNCH_PLAN_HARDWARE_H
#define WIREUP_LAUNCH_PLAN_HARDWARE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"
#include "core/job_map.h"
#include "launch/binding.h"

struct plan_hardware {
    struct slice nodes; /* names, separated by commas; empty: all of the job */
    bool processors;    /* the processors that may be used, not the objects */
    bool json;          /* one line for each node, for programs */
};

/* "node4: 2 packages, 8 cores, 16 hwthreads", or "node4: processors 0-15".  Memory comes from the
 * plan's arena.  0; BINDING_CANNOT with the sentence: a node that has not reported its hardware to
 * this launcher, or is none of the job; -errno. */
int plan_hardware_print(const struct plan_hardware *what, struct binding_machines *known,
                        struct job_map *plan, struct buf *out, struct errmsg *err);

/* The machine of a node; NULL: not known here. */
struct bind_machine *plan_hardware_of(struct binding_machines *known, const char *node);

#endif
