/* pmi1.h - PMI-1 on one connection (see session.h).
 *
 * What the session knows by itself (limits, names, sizes) it answers without asking anybody.
 * Framing is the only incremental part; handlers see whole messages.
 *
 * The dialect is the one all known clients accept: `rc` first, never an empty value, no blanks in
 * `msg`, version 1.1 unless the client itself asks for more.
 */
#ifndef WIREUP_SESSION_PMI1_H
#define WIREUP_SESSION_PMI1_H

#include "session/session.h"

extern const struct session_ops pmi1_ops;

/* Everything our own library wants to know at the start, in one reply; the store goes along when
 * the connection can carry its descriptor. */
struct pmi1_response_to_init;
void pmi1_facts(struct peer *p, struct pmi1_response_to_init *r);

/* We speak first, to a program that was started by hand and listens (singleton promotion). */
void pmi1_greet_singleton(struct session *s);

#endif
