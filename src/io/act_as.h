/* act_as.h - file work with the rights of another user, and with no others.
 *
 * A server that serves other users removes files for them.  With its own rights it would remove
 * whatever files they name.  So a dedicated thread takes the file system identity of that user: its
 * user and group, no supplementary groups, no capabilities.  The kernel keeps all of these per
 * thread; the rest of the process is unchanged.
 *
 * Why not a child process: one that shares our memory and runs under the user's id could be traced
 * and stopped by that user, and our memory with it; forking would copy the memory of a running
 * server; a separate program would have to be found, and would appear among the host's children.
 * The thread's real and effective ids stay ours, so no other user may trace it or send it a signal,
 * and the file system checks neither.
 */
#ifndef WIREUP_IO_ACT_AS_H
#define WIREUP_IO_ACT_AS_H

#include <stdbool.h>
#include <sys/types.h>

/* This process has exactly these rights: no other identity is needed. */
bool act_as_is_self(uid_t uid, gid_t gid);

/* Switches the calling thread, which must have been created for this purpose and cannot switch
 * back.  0 once it is verified; -EPERM: it is not, and the thread may do nothing more. */
int act_as(uid_t uid, gid_t gid);

/* Whether a thread of this process can act as that user: 0, -EPERM or -errno.  It tries. */
int act_as_try(uid_t uid, gid_t gid);

#endif
