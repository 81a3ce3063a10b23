/* bundles.h - small messages to one daemon that go as one: queries of the job's store and their
 * answers, of which each process of a node has some at about the same time.
 *
 * Those that one turn of the loop brings together go at its end, in their order (send_queue.h).  A
 * message alone goes as it is.  Without memory a message goes by itself, after those before it.
 */
#ifndef WIREUP_CLUSTER_BUNDLES_H
#define WIREUP_CLUSTER_BUNDLES_H

#include "base/buf.h"
#include "base/list.h"
#include "base/number_map.h"

struct msg;

/* Sends a message. */
typedef void bundles_send(void *arg, struct msg *m, uint32_t to);

struct bundles {
    struct number_map by_position; /* struct bundle */
    struct list in_order;          /* of their first messages */
    struct buf scratch;
    bundles_send *send;
    void *arg;
};

void bundles_open(struct bundles *b, bundles_send *send, void *arg);
void bundles_close(struct bundles *b); /* harmless twice, and on zeroed memory */

/* MSG_store_query or MSG_answer. */
void bundles_add(struct bundles *b, struct msg *m, uint32_t to);
/* Sends all. */
void bundles_flush(struct bundles *b);

/* A message of a bundle has been read. */
typedef void bundles_receive(void *arg, const struct msg *m);

/* Reads MSG_bundle; its messages are from that one's sender.  False: it is invalid; what stands
 * before has been received. */
bool bundles_read(const struct msg *m, bundles_receive *receive, void *arg);

#endif
