/* pmix_get.h - modex values and information of processes, as clients get them. */
#ifndef WIREUP_SERVER_PMIX_GET_H
#define WIREUP_SERVER_PMIX_GET_H

#include "server/pmix_session.h"

pmix_reader pmix_read_get, pmix_read_refresh;
pmix_replier pmix_reply_get, pmix_reply_refresh;

/* A fence has begun: values that the client already has are sent again. */
void pmix_forget_given(struct pmix_session *s);

#endif
