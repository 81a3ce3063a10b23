/* regex.h - reads lists of nodes, and of ranks on nodes, written as short texts.
 *
 * The forms are those of wire/regex_write.h, and `blob:…`: as given, compressed (not written: 4.2's
 * readers fail on it).  Reading takes time in proportion to the text.
 */
#ifndef WIREUP_LIB_PMIX_API_REGEX_H
#define WIREUP_LIB_PMIX_API_REGEX_H

#include "base/arena.h"
#include "base/buf.h"
#include "wire/regex_write.h"

enum {
    REGEX_MALFORMED = 1,
    REGEX_TOO_LONG, /* more nodes, longer names or more memory than limit.h allows */
};

struct regex_nodes {
    const char **names;
    uint32_t count;
};

/* Runs of consecutive ranks, node after node: those of node i are runs[at[i]] up to runs[at[i+1]].
 */
struct regex_run {
    uint32_t first, count;
};

struct regex_ranks {
    uint32_t nodes;
    uint32_t *at; /* nodes + 1 */
    struct regex_run *runs;
    uint64_t ranks; /* all together */
};

/* Read any form; a text without one of the prefixes is taken as given.  The arena owns the
 * memory (limit.h: LIMIT_MAP_MEMORY). 0, REGEX_MALFORMED, REGEX_TOO_LONG, -ENOMEM. */
int regex_read_nodes(struct arena *a, struct slice regex, struct regex_nodes *nodes_p);
int regex_read_ranks(struct arena *a, struct slice regex, struct regex_ranks *ranks_p);

/* The long forms again: "a,b,c" and "0,1;2,3". */
void regex_nodes_text(struct buf *out, const struct regex_nodes *nodes);
void regex_ranks_text(struct buf *out, const struct regex_ranks *ranks);

#endif
