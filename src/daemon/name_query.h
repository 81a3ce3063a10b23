/* name_query.h - name service queries to the other launchers of the same user (EFFECT_names).
 *
 * A query goes to all of them at once, to their control sockets (control_socket.h); the first that
 * has the name decides, no answer within LIMIT_CONTROL_REPLY_MS counts as no.  The launchers are
 * searched for in pieces, one per turn of the loop.
 *
 * When a name has been published, the launchers that were asked about it are notified: look-ups
 * there that wait for it ask again.
 */
#ifndef WIREUP_DAEMON_NAME_QUERY_H
#define WIREUP_DAEMON_NAME_QUERY_H

#include "base/list.h"
#include "base/slice.h"
#include "io/loop.h"

struct node_context;
struct op_names;
struct rendezvous_search;

struct name_queries {
    const struct node_context *context; /* NULL: not open */
    struct list all;
    struct rendezvous_search *search; /* for the other launchers; NULL: none is under way */
    struct timer look;                /* its next piece */
    bool news;                        /* the core has effects, in the next turn */
};

void name_queries_open(struct name_queries *d, const struct node_context *c);
void name_queries_close(struct name_queries *d); /* harmless twice, and on zeroed memory */

/* Takes the query over; server_answer() answers it. */
void name_query_ask(struct name_queries *d, struct op_names *e);

/* Another launcher has published that name: look-ups that wait for it ask again, in the next turn
 * of the loop; so do queries that may have come there too early. */
void name_queries_published(struct name_queries *d, struct slice service);

#endif
