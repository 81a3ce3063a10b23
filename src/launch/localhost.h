/* localhost.h - properties of the machine on which the launcher runs.
 *
 * Each is looked up only when a decision needs it: a plain `wireup -n 64 prog` costs one
 * gethostname and two getrlimits.
 */
#ifndef WIREUP_LAUNCH_LOCALHOST_H
#define WIREUP_LAUNCH_LOCALHOST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct localhost {
    char name[256]; /* of this machine, from -localhost or the system */
    char system_name[256];
    struct buf hosts_file;     /* read at the first name that is no plain match */
    struct ifaddrs *addresses; /* read at the first address to be compared */
    bool read, asked;
};

void localhost_init(struct localhost *m, const char *localhost);
void localhost_free(struct localhost *m); /* harmless twice */

/* Whether a node name means this machine: localhost, a loopback address, our name (with or without
 * its domain), one of our addresses, or a name that /etc/hosts gives such an address.  Never uses
 * the network: a name server that does not answer must not delay the refusal of a name. */
bool localhost_is_here(struct localhost *m, const char *name);

/* Processors this process may use; at least 1. */
uint32_t localhost_processors(void);

/* Whether that many processes can be started here at once; files: how many files each writes to,
 * besides our own standard streams.  0, or LOCALHOST_FULL with the sentence that names the limit.
 * Small jobs are not checked against files in /proc. */
enum { LOCALHOST_FULL = 1 };
int localhost_has_room(uint64_t nprocs, uint32_t files, struct errmsg *err);

/* Runs a program found on PATH, with empty input, and collects its output, for at most ms
 * milliseconds.  0 or -errno: -ETIMEDOUT, -EIO (its exit code is not 0). */
int localhost_run(const char *const *argv, char *const *envp, struct buf *out, unsigned ms);

/* The whole of a file.  0, -errno (-EFBIG: larger than the buffer's maximum). */
int localhost_read_file(const char *path, struct buf *out);
/* Likewise, but never waits for a writer; -EINVAL: it is no plain file. */
int localhost_read_plain_file(const char *path, struct buf *out);

#endif
