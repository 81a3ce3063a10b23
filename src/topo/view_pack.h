/* view_pack.h - a machine (its view, and the processors that may be used) as bytes, for the
 * launcher on another node.
 */
#ifndef WIREUP_TOPO_VIEW_PACK_H
#define WIREUP_TOPO_VIEW_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "topo/plan_bind.h"

/* Appends a machine that was examined (bind_look); running out of memory poisons the buffer. */
void view_pack(const struct bind_machine *m, struct buf *out);

/* Memory from the arena.  0; 1: malformed bytes, with the sentence; -ENOMEM. */
int view_unpack(struct arena *a, struct slice bytes, struct bind_machine *m_p, struct errmsg *err);

#endif
