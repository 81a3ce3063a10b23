/* pmi1.h - PMI-1 on one connection (see session.h).
 *
 * The session itself answers questions about limits, names and sizes. Framing is the only
 * incremental part; handlers see whole messages.
 *
 * The dialect is the one that all known clients accept: `rc` first, never an empty value, no blanks
 * in `msg`, version 1.1 unless the client itself asks for more.
 */
#ifndef WIREUP_SERVER_PMI1_H
#define WIREUP_SERVER_PMI1_H

#include "server/session.h"

extern const struct session_ops pmi1_ops;

/* Everything that Wireup's own library needs at the start, in one reply; the store is attached when
 * the connection can carry its file descriptor. */
struct pmi1_response_to_init;
void pmi1_facts(struct peer *p, struct pmi1_response_to_init *r);

/* The server sends the first message, to a program that was started by hand and waits for it
 * (singleton promotion). */
void pmi1_greet_singleton(struct session *s);

#endif
