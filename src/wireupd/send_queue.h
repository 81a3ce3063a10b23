/* send_queue.h - what this node sends to others: messages, and batched process-state updates. */
#ifndef WIREUP_WIREUPD_SEND_QUEUE_H
#define WIREUP_WIREUPD_SEND_QUEUE_H

#include "wireupd/multinode.h"

struct effect_proc_state;

void send_queue_open(struct multinode *s);
void send_queue_close(struct multinode *s); /* harmless twice */

/* To a position, or to all; after the batched updates. */
void send_queue_to(struct multinode *s, struct msg *m, uint32_t to);

/* Updates of one job are batched; any other message is sent after them. */
void send_queue_news(struct multinode *s, const struct effect_proc_state *e);

/* The end of every event: the batch is sent. */
void send_queue_settle(struct multinode *s);

#endif
