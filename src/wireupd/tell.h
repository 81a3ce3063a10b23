/* tell.h - what this node tells the others: messages, and news of its processes, which gather. */
#ifndef WIREUP_WIREUPD_TELL_H
#define WIREUP_WIREUPD_TELL_H

#include "wireupd/share.h"

void tell_open(struct share *s);
void tell_close(struct share *s); /* harmless twice */

/* To a position, or to everybody; behind the news that have gathered. */
void tell_to(struct share *s, struct msg *m, uint32_t to);

/* News of one job gather; anything else that is said comes after them. */
void tell_news(struct share *s, const struct effect *e);

/* The end of every door: what has gathered is sent. */
void tell_settle(struct share *s);

#endif
