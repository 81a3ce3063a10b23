/* server_rows.h - examines a server: plays the clients' side of every transcript to it. */
#ifndef WIREUP_TOOLS_CONFORM_SERVER_ROWS_H
#define WIREUP_TOOLS_CONFORM_SERVER_ROWS_H

#include "tools/conform/stage.h"
#include "tools/conform/verdicts.h"

/* transcripts: as transcripts_begin() takes them.  only: rows whose names begin so; NULL: all.
 * False: the launcher starts nothing at all; err says why. */
bool server_rows(const struct stage_config *c, struct slice transcripts, const char *only,
                 struct verdicts *v, struct errmsg *err);

#endif
