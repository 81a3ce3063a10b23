/* wireup_client.h - names of what Wireup's server tells a PMIx process besides the Standard.  Other
 * servers report them as not found. */
#ifndef WIREUP_CLIENT_H
#define WIREUP_CLIENT_H

/* A key of PMIx_Query_info: the signals that `wireup` passes on to the processes of the job, as a
 * string ("SIGINT,SIGTERM,..."); PMIX_NSPACE is a qualifier.  (PMI-1: a get of
 * PMI_signals_forwarded; PMI-2: the job attribute of that name.)  Not found where nothing is passed
 * on: under another resource manager, or under `wireup serve`. */
#define WIREUP_QUERY_SIGNALS "wireup.qry.signals"

#endif
