/* send_queue.h - what this node tells the others: messages, and news of its processes, which
 * gather. */
#ifndef WIREUP_WIREUPD_SEND_QUEUE_H
#define WIREUP_WIREUPD_SEND_QUEUE_H

#include "wireupd/multinode.h"

void send_queue_open(struct multinode *s);
void send_queue_close(struct multinode *s); /* harmless twice */

/* To a position, or to everybody; behind the news that have gathered. */
void send_queue_to(struct multinode *s, struct msg *m, uint32_t to);

/* News of one job gather; anything else that is said comes after them. */
void send_queue_news(struct multinode *s, const struct effect *e);

/* The end of every door: what has gathered is sent. */
void send_queue_settle(struct multinode *s);

#endif
