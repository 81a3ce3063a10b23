/* act_as.h - file work with the rights of another user, and with no others.
 *
 * A server that serves other users removes files in their name.  With its own rights it would be
 * the tool of whoever names the files.  So a thread of its own takes the file system identity of
 * that user: its user and group, no further groups, no capabilities.  The kernel keeps all of these
 * per thread; the rest of the process stays what it is.
 *
 * Not a child, because: what shares our memory and runs under the user's id could be traced and
 * stopped by that user, and with it our memory; a copy of our memory is not made of a process that
 * serves; a program of its own would have to be found, and would appear among the host's children.
 * The thread's real and effective ids stay ours, so nobody else may trace it or send it a signal,
 * and the file system asks for neither.
 */
#ifndef WIREUP_IO_ACT_AS_H
#define WIREUP_IO_ACT_AS_H

#include <stdbool.h>
#include <sys/types.h>

/* These rights are what this process has: no other identity is needed. */
bool act_as_is_self(uid_t uid, gid_t gid);

/* The calling thread, which must have been made for that, and cannot go back.  0 once it is proven;
 * or -EPERM: it is not, and may do nothing more. */
int act_as(uid_t uid, gid_t gid);

/* Whether a thread of this process can: 0, -EPERM or -errno.  Tries it. */
int act_as_try(uid_t uid, gid_t gid);

#endif
