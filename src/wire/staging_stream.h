/* staging_stream.h - files and directories as a stream of bytes, for other nodes.
 *
 *   begin    the sum of all sizes, and how many entries there are
 *   dir      mode, name                         each before what is in it
 *   file     mode, size, time of its last change, name; then its bytes; then their hash
 *   link     name, target                       a symbolic link
 *   end      the hash of all items but contents
 *
 * Names are relative: components are separated by single slashes, and none is empty, "." or "..".
 * docs/design/staging.md.
 */
#ifndef WIREUP_WIRE_STAGING_STREAM_H
#define WIREUP_WIRE_STAGING_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { STAGING_HASH = 32, STAGING_NAME = 4095 };

enum staging_kind {
    STAGING_BEGIN = 1,
    STAGING_DIR,
    STAGING_FILE,
    STAGING_LINK,
    STAGING_END,
    STAGING_BYTES, /* of the last file */
    STAGING_SUM    /* its hash */
};

struct staging_item {
    enum staging_kind kind;
    uint32_t mode;      /* DIR, FILE: permissions, at most 0777 */
    uint64_t size;      /* BEGIN, FILE */
    int64_t seconds;    /* FILE: when its content changed last, since 1970 */
    uint32_t ns;        /* ... and nanoseconds, less than 1e9 */
    uint32_t entries;   /* BEGIN */
    struct slice name;  /* DIR, FILE, LINK */
    struct slice bytes; /* LINK: the target; BYTES; SUM and END: the hash */
};

/* Appends an item, other than BYTES, which follow a FILE as they are. */
void staging_stream_put(const struct staging_item *item, struct buf *out);

/* Where the reader of a stream is. */
struct staging_stream {
    uint64_t left; /* bytes of the last file that are still to come */
    bool begun, in_file, ended;
};

#define STAGING_STREAM_NULL ((struct staging_stream){ .left = 0 })

enum { STAGING_MORE = 1, STAGING_BAD };

/* Reads the next item from the front of the bytes, in which its slices are; *used_p: its length.
 * 0; STAGING_MORE: it is not complete; STAGING_BAD with a sentence. */
int staging_stream_read(struct staging_stream *s, struct slice in, struct staging_item *item_p,
                        size_t *used_p, struct errmsg *err);

/* The name of a path: without a slash in front, "." and double slashes.  False: it has "..", or is
 * too long, or is none. */
bool staging_name_of(const char *path, char name[STAGING_NAME + 1]);

/* Whether a name has the form above. */
bool staging_name_is_good(struct slice name);

#endif
