/* server_collective.h - fences and direct modex: the exchange with other nodes. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_COLLECTIVE_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_COLLECTIVE_H

#include "lib/pmix/server/server.h"

/* EFFECT_contribute, _modex_request, _modex_reply or _collective_query. */
void meet_effect(struct pserver *s, const struct effect *e);
pmix_status_t meet_request(struct pserver *s, const pmix_proc_t *proc,
                           pmix_dmodex_response_fn_t cbfunc, void *cbdata);
void meet_free(struct pserver *s);

#endif
