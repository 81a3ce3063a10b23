/* staging_unpack.h - makes the files of a stream (wire/staging_stream.h) in a directory of ours.
 *
 * It waits for the bytes and for the disk: for a process of its own.
 */
#ifndef WIREUP_IO_STAGING_UNPACK_H
#define WIREUP_IO_STAGING_UNPACK_H

#include "base/err.h"

/* Makes the directory, of mode 0700, and in it all that comes from `in`, to its end.  0, or not
 * with a sentence: no space, a hash that differs, a damaged stream or one that breaks off.  What
 * was made stays, but a file whose hash differs. */
int staging_unpack(int in, const char *dir, struct errmsg *err);

#endif
