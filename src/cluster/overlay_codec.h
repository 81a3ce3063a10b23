/* overlay_codec.h - converts messages of the overlay to messages between daemons, and back
 * (proto/operations.def).
 *
 * Equal blocks of one message are written once.  The reader accepts only positions below `count`.
 */
#ifndef WIREUP_CLUSTER_OVERLAY_CODEC_H
#define WIREUP_CLUSTER_OVERLAY_CODEC_H

#include "base/arena.h"
#include "cluster/msg_address.h"
#include "cluster/overlay.h"

/* Fills m; its lists live in the arena, bytes borrow from `from`.  False: no memory. */
bool overlay_codec_out(const struct overlay_msg *from, struct arena *a, struct msg *m_p);

/* NULL: invalid (or no memory). */
struct overlay_msg *overlay_codec_in(const struct msg *m, uint32_t count);

#endif
