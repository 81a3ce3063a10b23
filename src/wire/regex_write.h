/* regex_write.h - lists of nodes, and of ranks on nodes, as short texts ("regular expressions").
 *
 *   pmix[node[4:1-3,7],login]    names in their order; width 4, numbers 1 2 3 7
 *   pmix[0-3;4-7]                ranks of each node
 *   raw:a,b,c   raw:0,1;2,3      as given: what the other forms cannot express
 *
 * Writing takes time in proportion to the text; nothing is sorted, nothing is lost.
 */
#ifndef WIREUP_WIRE_REGEX_WRITE_H
#define WIREUP_WIRE_REGEX_WRITE_H

#include "base/buf.h"

/* Appends the short form of "a,b,c" and of "0,1;2,3", without a NUL.  A poisoned buffer: no
 * memory. */
void regex_write_nodes(struct buf *out, struct slice input);
void regex_write_ranks(struct buf *out, struct slice input);

#endif
