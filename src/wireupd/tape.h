/* tape.h - the recording of one node: what its server is told and says, with the time, to a file
 * (--trace; the format is session/record.h).
 *
 * A recording that cannot go on (no memory, a full disk) ends with a warning; the job does not.
 */
#ifndef WIREUP_WIREUPD_TAPE_H
#define WIREUP_WIREUPD_TAPE_H

#include "base/err.h"
#include "base/log.h"
#include "io/spool.h"
#include "session/server.h"

struct tape {
    struct spool file;
    struct record_writer writer;
    struct server *server; /* NULL: nothing is recorded */
    const struct log *log;
    const char *path;
};

#define TAPE_NULL ((struct tape){ .file = { .fd = -1 } })

/* Starts recording the server.  0; TAPE_BAD with a sentence: the file cannot be made. */
enum { TAPE_BAD = 1 };
int tape_open(struct tape *t, struct server *s, struct loop *l, const char *path, const char *node,
              const struct log *log, struct errmsg *err);

/* What there is stands in the file now. */
void tape_flush(struct tape *t);

/* The recording is complete; harmless twice. */
void tape_close(struct tape *t);

#endif
