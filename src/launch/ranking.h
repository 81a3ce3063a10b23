/* ranking.h - how the processes that have been placed are numbered (`-rank-by`).
 *
 * The mapping has distributed ranks in its own order.  Ranking leaves every process where it is and
 * renumbers those of each program:
 *
 *   slot          node after node, on each in the order of the mapping
 *   node          one of each node in turn
 *   fill          node after node, on each object after object
 *   span          one of each object in turn, over the objects of all nodes; then again
 *   OBJECT        node after node, on each one of every OBJECT in turn
 *   OBJECT:fill, OBJECT:span    as fill and span, with that OBJECT
 *
 * The objects of fill and span are those of the mapping; without any, each node counts as one.
 *
 * Pure; sorts, so a little more than linear in ranks.
 */
#ifndef WIREUP_LAUNCH_RANKING_H
#define WIREUP_LAUNCH_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/job_map.h"
#include "topo/kind.h"

enum ranking_how {
    RANK_AS_MAPPED = 0,
    RANK_BY_SLOT,
    RANK_BY_NODE,
    RANK_BY_OBJECT,
    RANK_FILL,
    RANK_SPAN
};

struct ranking_spec {
    enum ranking_how how;
    bool object_given;
    enum topo_kind object;
};

enum { RANKING_BAD = 1 };

/* NULL text: as mapped.  0, or RANKING_BAD with the sentence. */
int ranking_parse(const char *text, struct ranking_spec *spec_p, struct errmsg *err);

/* Whether it depends on the object on which a process is. */
static inline bool ranking_needs_places(const struct ranking_spec *spec)
{
    return spec->how >= RANK_BY_OBJECT;
}

/* plan: the result of the mapping.  how: by placement.  places: by its ranks, the object on the
 * node; NULL: one for all.  *turns_p, by new rank, in the plan's arena: the process's seat
 * (job_map_seats()) in the mapping; NULL: nothing has changed.  0 or -ENOMEM. */
int ranking_apply(struct job_map *plan, const enum ranking_how *how, const uint32_t *places,
                  const uint32_t **turns_p);

#endif
