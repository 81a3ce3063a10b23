/* pmix_spawn.h - jobs that clients spawn. */
#ifndef WIREUP_SERVER_PMIX_SPAWN_H
#define WIREUP_SERVER_PMIX_SPAWN_H

#include "server/pmix_session.h"

pmix_reader pmix_read_spawn;
pmix_replier pmix_reply_spawn;

#endif
