/* who_part.h - one node's part of the report on who is missing (who.h), as bytes; and the parts of
 * all nodes as one picture.
 *
 * A part has the node's own processes of each wanted job, and what they wait for.  The node that
 * reports begins a picture with its own core, adds the parts of the others, and makes the report of
 * that: who has arrived anywhere has arrived, who has not is missing, with what its own node knows
 * of it.  Parts are not trusted beyond their form.
 */
#ifndef WIREUP_CORE_WHO_PART_H
#define WIREUP_CORE_WHO_PART_H

#include "core/who.h"

/* Appends this node's part.  Running out of memory poisons the buffer. */
void who_part(const struct core *c, const struct who_options *o, struct buf *out);

struct who_picture;

/* The jobs that c knows; it outlives the picture, and does not change meanwhile.  NULL: no memory.
 */
struct who_picture *who_picture_new(const struct core *c, uint64_t now_ns);
struct who_picture *who_picture_free(struct who_picture *p); /* returns NULL; NULL is harmless */

/* 0; 1: these bytes are no part (what was good of them counts); -ENOMEM. */
int who_picture_add(struct who_picture *p, struct slice part);

/* As who_report() (o's machine_state is not asked: the parts have it). */
int who_picture_report(const struct who_picture *p, const struct who_options *o, struct buf *out);

#endif
