/* pmi2.h - PMI-2 on one connection (see session.h).
 *
 * It begins with a PMI-1 line, which the PMI-1 session hands over; then come frames.  A PMI-1 line
 * that does not start PMI-2 is handed back.  Any number of requests may be pending at once; each
 * answer repeats the thrid of its request.
 *
 * The dialect: `thrid` and `rc` first, `errmsg` whenever rc is not 0, all key names that any known
 * client reads.  Clients of MPICH 4.1 and later cannot read an empty value nor one with a `;`: they
 * are answered that there is none, rather than half of it.
 */
#ifndef WIREUP_SERVER_PMI2_H
#define WIREUP_SERVER_PMI2_H

#include "server/session.h"

extern const struct session_ops pmi2_ops;

#endif
