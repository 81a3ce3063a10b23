/* pmix_spawn.h - jobs that clients spawn. */
#ifndef WIREUP_SESSION_PMIX_SPAWN_H
#define WIREUP_SESSION_PMIX_SPAWN_H

#include "session/pmix_session.h"

pmix_reader pmix_read_spawn;
pmix_replier pmix_reply_spawn;

#endif
