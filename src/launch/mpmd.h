/* mpmd.h - splits a command line, or a configuration file, into blocks of words.
 *
 * A block is one program of the job with its options.  On the command line blocks are separated by
 * a word `:`; in a configuration file each line is one.  In the file, words are separated by
 * blanks; '...' and "..." keep blanks together; \ takes the next character literally, and at the
 * end of a line joins the next one; `#` at the start of a word begins a comment.
 *
 * Pure: no files, and no knowledge of the meaning of words.
 */
#ifndef WIREUP_LAUNCH_MPMD_H
#define WIREUP_LAUNCH_MPMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"

struct mpmd_words {
    char *const *items;
    uint32_t count;
};

/* Removes the next block from *rest, with its `:`; *more_p is set if there was a `:`, so another
 * block (maybe an empty one) follows. */
struct mpmd_words mpmd_cut(struct mpmd_words *rest, bool *more_p);

struct config_reader {
    const char *name;  /* of the file, for messages */
    struct slice text; /* the part that is not yet read */
    unsigned line;     /* line number of the start of `text`; start with 1 */
};

enum { MPMD_END = 1, MPMD_BAD };

/* The next line that has words: *block_p (in the arena, NULL-terminated) and its line number.  0;
 * MPMD_END; MPMD_BAD with the sentence; -ENOMEM. */
int mpmd_config_next(struct arena *a, struct config_reader *in, struct mpmd_words *block_p,
                     unsigned *line_p, struct errmsg *err);

#endif
