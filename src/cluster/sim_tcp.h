/* sim_tcp.h - the simulated network with TCP: what distance and rate do to the bytes of a link.
 * Internal to the simulator (sim.h).
 *
 * A message costs its sender work, and its bytes too; then it waits for those before it on its
 * link, and for the window: so many packets may be on their way until their acknowledgement comes
 * back.  The window begins with struct sim_config's, grows by each packet that is acknowledged
 * while it is what limits (slow start; no packet is lost), and is the first one again after a
 * pause.  A message has packets of its own unless it has to wait; so many small ones fill a window,
 * too.  Its bytes, with headers, leave after those of the node's other links, byte by byte, and are
 * received likewise after the latency.  When the last byte is there, the receiver has its work.
 */
#ifndef WIREUP_CLUSTER_SIM_TCP_H
#define WIREUP_CLUSTER_SIM_TCP_H

#include "cluster/sim_net.h"

/* Takes the message. */
void sim_tcp_send(struct sim *s, struct router_link *l, struct sim_message *m);
/* OUT, ACK, CHUNK and GOT. */
void sim_tcp_happen(struct sim *s, struct sim_event *e);
void sim_tcp_free(struct router_link *l);

#endif
