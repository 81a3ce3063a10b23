/* dvm_keep.h - the file of a DVM that outlives its launcher (`wireup up -keep FILE`): what the next
 * launcher (`-takeover FILE`) has to know, and the lock of the one that leads it.
 *
 * Text, one line per fact; the file is the user's alone (mode 0600), as it has the token:
 *
 *     wireup-keep 1
 *     name NAME              of the DVM
 *     launcher PID HOST      who leads it, for people
 *     token HEX              the key by which daemons and launchers know each other
 *     time SECONDS           so long do the daemons wait
 *     port PORT              where they call; the addresses are theirs
 *     join FILE              where they read the address instead; may be missing
 *     limits JOBS SLOTS NODES SECONDS   of its jobs; may be missing
 *     node NAME SLOTS        each node but the launcher's
 *     job NAMESPACE          each job of a tool: it ends with the launcher
 *     end                    what follows counts for nothing
 *
 * It is written anew when nodes, or jobs of tools, come or go, and removed when the DVM ends.
 */
#ifndef WIREUP_LAUNCH_DVM_KEEP_H
#define WIREUP_LAUNCH_DVM_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "daemon/dvm_limits.h"

enum { DVM_KEEP_TOKEN = 32, DVM_KEEP_BAD = 1, DVM_KEEP_TEXT = 64 << 20 };

struct dvm_keep_node {
    const char *name;
    uint32_t slots;
};

struct dvm_keep {
    const char *name;
    const char *host; /* of the launcher */
    uint32_t pid;
    unsigned char *token; /* DVM_KEEP_TOKEN bytes, of the owner's */
    uint32_t time_s, port;
    const char *join; /* NULL: none */
    struct dvm_limits limits;
    struct dvm_keep_node *nodes;
    uint32_t nnodes;
    const char **jobs;
    uint32_t njobs;
};

/* ---- text ---- */

void dvm_keep_write(const struct dvm_keep *k, struct buf *out);
/* token: room for it.  The rest is in the arena.  0; DVM_KEEP_BAD; -ENOMEM. */
int dvm_keep_read(struct dvm_keep *k, struct arena *a, struct slice text,
                  unsigned char token[DVM_KEEP_TOKEN]);

/* ---- the file: a descriptor, which holds the lock as long as it is open ---- */

/* One for a new DVM.  The descriptor; -EBUSY: a launcher leads the one that has it; -errno; each
 * with a sentence. */
int dvm_keep_make(const char *path, struct errmsg *err);
/* That of a DVM without launcher, and what is in it.  The descriptor; -EBUSY: a launcher leads it;
 * -errno, with a sentence. */
int dvm_keep_take(const char *path, struct dvm_keep *k, struct arena *a,
                  unsigned char token[DVM_KEEP_TOKEN], struct errmsg *err);
/* 0 or -errno. */
int dvm_keep_save(int fd, const struct dvm_keep *k);

#endif
