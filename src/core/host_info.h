/* host_info.h - facts about a job from another source: a resource manager that knows more of it
 * than its plan does.
 *
 * A fact is about the job, its session, one of its nodes, applications or processes; its value is
 * canonical like a modex value (core/modex.h). A given fact takes precedence over a computed one.
 */
#ifndef WIREUP_CORE_HOST_INFO_H
#define WIREUP_CORE_HOST_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/slice.h"

enum fact_about { FACT_JOB, FACT_SESSION, FACT_NODE, FACT_APP, FACT_RANK };

struct fact {
    struct fact *next; /* about the same subject, in the order in which they were set */
    struct slice key, value;
    uint16_t type;
    bool is_default; /* not about this subject alone: it gives way to an own value */
};

struct host_info {
    struct arena arena;
    struct map subjects; /* (about, index) -> struct fact_subject */
    uint32_t count;
};

void host_info_init(struct host_info *f, uint64_t seed);
void host_info_free(struct host_info *f); /* harmless twice, and on zeroed memory */

/* Keeps copies; replaces an earlier value of this key.  0 or -ENOMEM. */
int host_info_add(struct host_info *f, enum fact_about about, uint32_t index, struct slice key,
                  uint16_t type, struct slice value);

/* The same, unless there is a value of this key. */
int host_info_add_default(struct host_info *f, enum fact_about about, uint32_t index,
                          struct slice key, uint16_t type, struct slice value);

/* Takes such a value away again; its memory stays.  False: there is none. */
bool host_info_drop_default(struct host_info *f, enum fact_about about, uint32_t index,
                            struct slice key);

/* NULL: nothing is known. */
const struct fact *host_info_about(const struct host_info *f, enum fact_about about,
                                   uint32_t index);
const struct fact *host_info_find(const struct host_info *f, enum fact_about about, uint32_t index,
                                  struct slice key);

#endif
