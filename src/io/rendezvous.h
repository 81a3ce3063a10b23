/* rendezvous.h - how the launchers of one user on one machine find each other: each listens on a
 * socket that the others can list.
 *
 * The socket stands in a directory that nobody else may enter (runtime_dir.h), under a name of pid
 * namespace, pid and chance; it has that name only once somebody listens, so one that refuses a
 * connection is what a killed launcher has left, and whoever finds it removes it.  Where there is
 * no such directory, the name is taken in the abstract namespace of sockets.  Anybody can take
 * names there, so both sides ask the kernel whose process is at the other end, and a listing passes
 * over what is not ours (socket_names.h).
 *
 * The directory of a user goes when the user has logged out, and a launcher may stay: it is told
 * (`watch`), and opens another rendezvous.
 */
#ifndef WIREUP_IO_RENDEZVOUS_H
#define WIREUP_IO_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { RENDEZVOUS_NAME = 56 };

struct rendezvous {
    int fd;    /* listening, does not block; may be taken over: then -1.  -1: closed */
    int dir;   /* -1: the name is abstract */
    int watch; /* readable when something has changed in the directory; -1: nobody tells */
    char name[RENDEZVOUS_NAME];
};

/* Where a launcher is to be found. */
struct launcher_name {
    pid_t pid;
    int where; /* the number of its directory; -1: the name is abstract */
    char name[RENDEZVOUS_NAME];
};

#define RENDEZVOUS_CLOSED ((struct rendezvous){ .fd = -1, .dir = -1, .watch = -1 })

/* 0 or -errno. */
int rendezvous_open(struct rendezvous *r);
void rendezvous_close(struct rendezvous *r); /* harmless twice, and on RENDEZVOUS_CLOSED */
/* After `watch` was readable: others cannot find us any more; close, and open again. */
bool rendezvous_is_lost(struct rendezvous *r);

/* Who is at the other end of an accepted connection is our own user. */
bool rendezvous_is_ours(int fd);

/* Our user's launchers, this process left out: how many, in memory for free().  -errno. */
int rendezvous_list(struct launcher_name **list_p);

/* A non-blocking connection to that launcher.  -errno; -ECONNREFUSED: it has gone; -EACCES: it is
 * not our user's, or not that process; -EAGAIN: too many wait at its door already. */
int rendezvous_connect(const struct launcher_name *l);

/* Removes what launchers that were killed have left. */
void rendezvous_tidy(void);

#endif
