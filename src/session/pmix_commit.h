/* pmix_commit.h - the modex values that a client commits. */
#ifndef WIREUP_SESSION_PMIX_COMMIT_H
#define WIREUP_SESSION_PMIX_COMMIT_H

#include "session/pmix_session.h"

pmix_reader pmix_read_commit;

#endif
