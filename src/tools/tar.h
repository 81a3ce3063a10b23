/* tar.h - writes an archive that tar reads (ustar), file by file, to a descriptor. */
#ifndef WIREUP_TOOLS_TAR_H
#define WIREUP_TOOLS_TAR_H

#include <stdint.h>

#include "base/slice.h"

/* A file of mode 0600 with these bytes; names of at most 99 bytes.  0 or -errno. */
int tar_bytes(int fd, const char *name, uint64_t time_s, struct slice bytes);

/* The same from a regular file, as long as it is now.  *size_p: its length. */
int tar_copy(int fd, const char *name, uint64_t time_s, const char *path, uint64_t *size_p);

/* The end of the archive. */
int tar_end(int fd);

#endif
