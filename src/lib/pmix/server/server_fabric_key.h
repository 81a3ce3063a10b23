/* server_fabric_key.h - what a host asks of a fabric for an application: a key that all its
 * processes share, and that no other has.
 *
 * The request is the array PMIX_ALLOC_FABRIC, or its attributes by themselves.  The answer is that
 * array as the Standard describes it: first the request's PMIX_ALLOC_FABRIC_ID with what has been
 * allocated, a text, which is empty because no endpoints are; then what the request said of its
 * type and plane; and the key, if it was asked for.  Processes get the array by that id. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_FABRIC_KEY_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_FABRIC_KEY_H

#include <stdbool.h>

#include "pmix_common.h"

/* The length of a key, in bytes. */
enum { FABRIC_KEY_SIZE = 16 };

/* Checks the requests among the infos of PMIx_server_setup_application.  PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM: an array of something else than infos, a request without its id, or a wrong
 * type; PMIX_ERR_NOT_SUPPORTED. */
pmix_status_t fabric_key_check(const pmix_info_t *infos, size_t n);

/* Appends the answers to a list of ask_add_info (server_ask.h); `variable`: and the key as the
 * variable in which Open MPI's libraries look for it.  Checked before.  PMIX_SUCCESS;
 * PMIX_ERR_NOMEM; PMIX_ERROR: the system has no random bytes. */
pmix_status_t fabric_key_answer(const pmix_info_t *infos, size_t n, bool variable,
                                pmix_info_t **list_p, size_t *n_p);

/* What a process gets by the id of an answer: that id, and the array, of which *i_p is no copy.
 * False: the info is no answer. */
bool fabric_key_read(const pmix_info_t *answer, pmix_info_t *i_p);

#endif
