/* staging_child.h - the two ends of staged files (docs/design/staging.md) as programs of their own:
 * this program again, with words that its main() gives to staging_child_main().
 */
#ifndef WIREUP_DAEMON_STAGING_CHILD_H
#define WIREUP_DAEMON_STAGING_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "core/job_map.h"

/* Whether these are such words; then *code_p is the exit code, when all is done. */
bool staging_child_main(int argc, char **argv, int *code_p);

struct staging_child {
    pid_t pid; /* 0: it has ended, or was never started */
    int fd;    /* the stream: non-blocking; the user's to close */
    int words; /* its standard error: one sentence, when it fails */
};

#define STAGING_CHILD_NULL ((struct staging_child){ 0, -1, -1 })

/* The reader of these files, and the writer into that directory.  0 or -errno with a sentence. */
int staging_child_pack(struct staging_child *c, const struct job_map_staged *stage,
                       struct errmsg *err);
int staging_child_unpack(struct staging_child *c, const char *dir, struct errmsg *err);

/* It has ended so (waitpid).  0, or not with its sentence. */
int staging_child_ended(struct staging_child *c, int status, struct errmsg *err);

/* Kills it, and waits for its end: after that it makes no file any more.  Harmless twice. */
void staging_child_close(struct staging_child *c);

#endif
