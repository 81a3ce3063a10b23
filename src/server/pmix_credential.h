/* pmix_credential.h - credentials that a client gets, or has validated. */
#ifndef WIREUP_SERVER_PMIX_CREDENTIAL_H
#define WIREUP_SERVER_PMIX_CREDENTIAL_H

#include "server/pmix_session.h"

pmix_reader pmix_read_get_credential, pmix_read_validate;
pmix_replier pmix_reply_credential, pmix_reply_validated;

#endif
