/* tcpstore.h - the session of a TCPStore's client (proto/tcpstore.def): a process of PyTorch, whose
 * library connects to the store of its job.
 *
 * Its process is known by the connection (io/peer_conn.h) and takes part in its job by others, if
 * at all: what a client does wrong here ends the connection, and nothing else.
 */
#ifndef WIREUP_SERVER_TCPSTORE_H
#define WIREUP_SERVER_TCPSTORE_H

#include "server/session.h"

extern const struct session_ops tcpstore_ops;

#endif
