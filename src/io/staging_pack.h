/* staging_pack.h - reads files and directories once, as a stream for other nodes
 * (wire/staging_stream.h).
 *
 * It waits for the file system and for the other end: for a process of its own.
 */
#ifndef WIREUP_IO_STAGING_PACK_H
#define WIREUP_IO_STAGING_PACK_H

#include <stdint.h>

#include "base/err.h"
#include "io/staging_walk.h"

/* Writes them to `out`.  0, or not with a sentence: something cannot be read, has changed meanwhile
 * or is neither file, directory nor link; it is too much; or nobody reads. */
int staging_pack(int out, const struct staging_source *sources, uint32_t n, struct errmsg *err);

#endif
