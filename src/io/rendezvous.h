/* rendezvous.h - how the launchers of one user on one machine find each other, without a file.
 *
 * Each listens on a socket in the abstract namespace, named by user, pid namespace and pid; the
 * kernel's list of sockets is the directory.  Names there can be taken by anybody, so both sides
 * ask the kernel whose process is at the other end.
 */
#ifndef WIREUP_IO_RENDEZVOUS_H
#define WIREUP_IO_RENDEZVOUS_H

#include <stddef.h>
#include <sys/types.h>

/* A listening, non-blocking socket of this process, or -errno. */
int rendezvous_listen(void);

/* The next waiting connection of our own user; those of others are closed unheard.  -EAGAIN: none.
 */
int rendezvous_accept(int listener);

/* The pids of our user's launchers, this process left out.  Fills at most room of them and returns
 * how many there are; -errno. */
int rendezvous_list(pid_t *pids, int room);

/* A non-blocking connection to the launcher with this pid.  -errno; -EACCES: it is not our user's;
 * -EAGAIN: too many wait at its door already. */
int rendezvous_connect(pid_t pid);

#endif
