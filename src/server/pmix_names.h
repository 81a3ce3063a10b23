/* pmix_names.h - names that clients publish and look up: a message has several, each is a request
 * of its own, and one reply has all results. */
#ifndef WIREUP_SERVER_PMIX_NAMES_H
#define WIREUP_SERVER_PMIX_NAMES_H

#include "server/pmix_session.h"

pmix_reader pmix_read_publish, pmix_read_keys;
pmix_replier pmix_reply_names;

#endif
