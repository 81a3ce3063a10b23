/* who_part.h - one node's part of the report on pending operations (who.h), as bytes; and the parts
 * of all nodes merged.
 *
 * A part has the node's own processes of each wanted job, and the requests that they wait for.  The
 * reporting node begins a picture with its own core, adds the parts of the others, and reports on
 * that: a rank that has arrived on any node has arrived, any other is missing, with the details
 * that its own node knows of it.  Parts are not trusted beyond their form.
 */
#ifndef WIREUP_REPORT_WHO_PART_H
#define WIREUP_REPORT_WHO_PART_H

#include "report/who.h"

/* Appends this node's part.  Running out of memory poisons the buffer. */
void who_part(const struct core *c, const struct who_options *o, struct buf *out);

struct who_picture;

/* The jobs known to c, which outlives the picture and does not change meanwhile.  NULL: no memory.
 */
struct who_picture *who_picture_new(const struct core *c, uint64_t now_ns);
struct who_picture *who_picture_free(struct who_picture *p); /* returns NULL; NULL is harmless */

/* 0; 1: the bytes are malformed (the valid ones among them count); -ENOMEM. */
int who_picture_add(struct who_picture *p, struct slice part);

/* Adds the stack of one process to its part's look at it (stack_tree.h); kept.  -ENOMEM, or 0, also
 * if there is no such process in the picture. */
int who_picture_stack(struct who_picture *p, uint32_t job, uint32_t rank, struct slice stack);

/* Its jobs and processes, as long as the picture lives. */
const struct core *who_picture_core(const struct who_picture *p);

/* As who_report(). */
int who_picture_report(const struct who_picture *p, const struct who_options *o, struct buf *out);

#endif
