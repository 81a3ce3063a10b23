/* sim_tcp.h - the simulated network with TCP: what distance and rate do to the bytes of a link.
 * Internal to the simulator (sim.h).
 *
 * A message costs its sender work, and its bytes too.  As in a daemon (io/daemon_link.h), what is
 * sent back on the link whose message is being handled is written together, and what has come on a
 * link when it is read is read together: the first of these messages has the cost of the write or
 * the read, `overhead`, and each other one struct sim_costs.joined.  The end of a link beside the
 * tree costs each of its ends struct sim_costs.close, whoever says it first.  A daemon that has
 * ended reads nothing.
 *
 * Then a message waits for those before it on its link, and for the window: so many packets may be on their way until their acknowledgement comes
 * back.  The window begins with struct sim_config's, grows by each packet that is acknowledged
 * while it is what limits (slow start; no packet is lost), and is the first one again after a
 * pause.  A message has packets of its own unless it is written with others or has to wait; so many
 * small ones fill a window, too.  Its bytes, with headers, leave after those of the node's other links, byte by byte, and are
 * received likewise after the latency.  When the last byte is there, the receiver has its work.
 */
#ifndef WIREUP_CLUSTER_SIM_TCP_H
#define WIREUP_CLUSTER_SIM_TCP_H

#include "cluster/sim_net.h"

/* Takes the message. */
void sim_tcp_send(struct sim *s, struct router_link *l, struct sim_message *m);
/* The message that came last has been handled: what is sent back is written. */
void sim_tcp_flush(struct sim *s);
/* OUT, ACK, CHUNK and GOT. */
void sim_tcp_happen(struct sim *s, struct sim_event *e);
void sim_tcp_free(struct router_link *l);

#endif
