/* staging_walk.h - what is to be staged: all that is below some files and directories.
 *
 * Several threads ask for names and sizes at once (askers.h); what they find is sorted, so the same
 * files are listed in the same order, each directory before what is in it.
 */
#ifndef WIREUP_IO_STAGING_WALK_H
#define WIREUP_IO_STAGING_WALK_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/err.h"
#include "wire/staging_stream.h"

struct staging_source {
    const char *name; /* in the stream */
    const char *path; /* here; followed if it is a link */
};

struct staging_entry {
    const struct staging_source *source;
    const char *below;      /* behind the name and the path of the source: "", or "/a/b" */
    enum staging_kind kind; /* DIR, FILE or LINK */
    mode_t mode;            /* DIR, FILE */
    uint64_t size;          /* FILE */
    struct timespec changed;
    struct staging_entry *next, *next_unseen; /* the walk's own */
};

struct staging_walk {
    struct staging_entry **entries;
    uint32_t n;
    uint64_t size; /* of all files */
    struct arena arena;
};

enum { STAGING_PATH = 4096 };

/* 0, or not with a sentence: something cannot be read, or is neither file, directory nor link; or
 * it is too much.  To be freed in any case. */
int staging_walk(struct staging_walk *w, const struct staging_source *sources, uint32_t n,
                 struct errmsg *err);
void staging_walk_free(struct staging_walk *w);

/* Its name in the stream, and its path here, which may be too long: -ENAMETOOLONG. */
int staging_entry_name(const struct staging_entry *e, char name[STAGING_NAME + 1]);
int staging_entry_path(const struct staging_entry *e, char path[STAGING_PATH]);

/* A sentence with its path: it cannot be read. */
int staging_entry_cannot(const struct staging_entry *e, int rc, struct errmsg *err);

#endif
