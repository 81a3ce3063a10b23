/* pmix_commit.h - the modex values that a client commits. */
#ifndef WIREUP_SERVER_PMIX_COMMIT_H
#define WIREUP_SERVER_PMIX_COMMIT_H

#include "server/pmix_session.h"

pmix_reader pmix_read_commit;

#endif
