/* inquest.h - who is missing, over all nodes: the launcher asks each daemon for its part
 * (core/who_part.h), waits a moment for those that answer, and reports what all of them say.
 *
 * Alone, and where nobody answers, it is the report on the own core.  A daemon reports nothing by
 * itself: its launcher does.
 */
#ifndef WIREUP_WIREUPD_INQUEST_H
#define WIREUP_WIREUPD_INQUEST_H

#include "base/list.h"
#include "base/slice.h"
#include "overlay/msg.h"

struct node;

struct inquests {
    struct node *node;
    struct list all;
    uint64_t next; /* ticket */
};

/* The report, for people or programs, or a line that begins with `error:`. */
typedef void inquest_fn(void *arg, struct slice report);

void inquests_open(struct inquests *q, struct node *n);
void inquests_close(
    struct inquests *q); /* nobody is called; harmless twice, and on zeroed memory */

/* words: `[json] [JOB]`.  done is called once: soon, or at once. */
void inquest_begin(struct inquests *q, struct slice words, inquest_fn *done, void *arg);

/* Who waits under this arg has gone. */
void inquest_forget(struct inquests *q, const void *arg);

/* A daemon is asked; appends its part. */
void inquest_part(const struct node *n, struct slice job, struct buf *out);

/* Launcher: the part of a daemon. */
void inquest_heard(struct inquests *q, uint32_t position, uint64_t ticket, struct slice part);

#endif
