/* spawn_pack.h - a spawn request as bytes, for the daemon that plans (the launcher). */
#ifndef WIREUP_CORE_SPAWN_PACK_H
#define WIREUP_CORE_SPAWN_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "core/spawn.h"

/* Appends; running out of memory poisons the buffer. */
void spawn_pack(const struct spawn_request *rq, struct buf *out);

/* The request (spawn_free() it), or NULL: malformed bytes, or no memory; err tells which. */
struct spawn_request *spawn_unpack(struct slice bytes, struct errmsg *err);

#endif
