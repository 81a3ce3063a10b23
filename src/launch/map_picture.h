/* map_picture.h - a plan as a picture: nodes with their packages and cores, and in each core the
 * ranks that are bound to it.
 *
 * The hardware is that of each node where it is known, else this machine's: other nodes are assumed
 * to be like it, and the picture says so.  Pure: the machines are an argument.
 */
#ifndef WIREUP_LAUNCH_MAP_PICTURE_H
#define WIREUP_LAUNCH_MAP_PICTURE_H

#include "base/buf.h"
#include "core/job_map.h"
#include "topo/plan_bind.h"

struct map_picture {
    const struct job_map *plan;
    const struct bind_machine *machine; /* whose view is known */
    bool assumed;                       /* there are nodes that are not this machine */
    const struct bind_machine *const
        *machines; /* of each node; equal ones are one; NULL: as machine */
};

/* For a terminal of that many columns (0: any). */
void map_picture_text(const struct map_picture *m, uint32_t columns, struct buf *out);

void map_picture_svg(const struct map_picture *m, struct buf *out);

#endif
