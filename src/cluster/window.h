/* window.h - flow control of one direction of a stream between two daemons.
 *
 * At most LIMIT_CHANNEL_WINDOW bytes are in flight: sent, and not yet passed on by the other end.
 * Both ends count them alike.  The sending end takes bytes when it sends them and gives them back
 * when the other end credits them (`window_update`); the receiving end takes bytes when they
 * arrive, and gives back those that it has passed on, for which it sends credit.
 */
#ifndef WIREUP_CLUSTER_WINDOW_H
#define WIREUP_CLUSTER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory is an empty one. */
struct window {
    uint64_t in_flight;
};

/* The bytes that may still be sent. */
size_t window_room(const struct window *w);

/* False: that is more than the window allows, and nothing is taken. */
bool window_take(struct window *w, uint64_t bytes);
/* False: so many are not in flight, and nothing is given back. */
bool window_give(struct window *w, uint64_t bytes);

#endif
