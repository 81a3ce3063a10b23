/* compare.h - does a reply say what the golden one says, as far as clients look?
 *
 * Both have been decoded by the same tables.  needed.def lists what counts of PMI-1 and PMI-2; of
 * PMIx, each value of the golden reply has to be in the other one.
 */
#ifndef WIREUP_TOOLS_CONFORM_COMPARE_H
#define WIREUP_TOOLS_CONFORM_COMPARE_H

#include "base/err.h"
#include "tools/conform/transcript.h"
#include "trace/decode.h"

struct compare {
    const struct decoded *golden, *live;
    bool holds;    /* the golden reply is only a part: of the job's information */
    bool any_tail; /* what comes behind need not be readable: releases of OpenPMIx differ there */
    bool is_map;   /* it answers a question for the process mapping */
};

/* False: it differs, and err says how.  *name_p: the name of the job, when the reply tells it; lent
 * from c->live. */
bool compare_replies(const struct compare *c, const struct transcript_names *names,
                     struct slice *golden_name_p, struct slice *name_p, struct errmsg *err);

#endif
