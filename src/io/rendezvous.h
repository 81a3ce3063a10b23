/* rendezvous.h - how the launchers of one user on one machine find each other: each listens on a
 * socket that the others can list.
 *
 * The socket is in a directory that nobody else may enter (runtime_dir.h), under a name made of pid
 * namespace, pid and random digits.  It gets that name only once its owner listens, so a socket
 * that refuses a connection was left by a killed launcher, and the process that finds it removes
 * it.  Without such a directory, the name is in the abstract namespace of sockets.  Anybody can
 * take names there, so both sides ask the kernel which process is at the other end, and a listing
 * skips sockets of others (socket_names.h).
 *
 * In a directory a launcher may have an alias, by which it is found without asking all others: a
 * symbolic link whose text is its name, which is read and never followed.
 *
 * The directory of a user is removed when the user logs out, while a launcher may go on: one that
 * watches its socket is notified (`watch`), and opens another rendezvous.
 */
#ifndef WIREUP_IO_RENDEZVOUS_H
#define WIREUP_IO_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/limit.h"

enum {
    RENDEZVOUS_NAME = 56,
    RENDEZVOUS_ALIAS = 22 + LIMIT_JOB_NAME /* with its pid namespace */
};

struct rendezvous {
    int fd;    /* listening, non-blocking; may be taken over: then -1.  -1: closed */
    int dir;   /* -1: the name is abstract */
    int watch; /* readable when the socket's name may have gone; -1: no notification */
    char name[RENDEZVOUS_NAME];
    char alias[RENDEZVOUS_ALIAS]; /* empty: none */
};

/* The address of a launcher. */
struct launcher_name {
    pid_t pid;
    int where; /* the number of its directory; -1: the name is abstract */
    char name[RENDEZVOUS_NAME];
};

struct rendezvous_search;

#define RENDEZVOUS_CLOSED ((struct rendezvous){ .fd = -1, .dir = -1, .watch = -1 })

/* 0 or -errno. */
int rendezvous_open(struct rendezvous *r);
void rendezvous_close(struct rendezvous *r); /* harmless twice, and on RENDEZVOUS_CLOSED */
/* Until it is closed, it is found by this alias too, which begins with a letter and has no '/'.  0;
 * -EEXIST: another launcher has it; -ENOENT: our name is abstract; -errno. */
int rendezvous_set_alias(struct rendezvous *r, const char *alias);
/* From now on `watch` tells.  For those that stay a while: to end it takes the kernel up to
 * milliseconds.  0 or -errno. */
int rendezvous_watch(struct rendezvous *r);
/* To be asked after rendezvous_watch(), and when `watch` is readable: others cannot find us any
 * more; close, and open again. */
bool rendezvous_is_lost(struct rendezvous *r);

/* The other end of an accepted connection belongs to our own user. */
bool rendezvous_is_ours(int fd);

/* Our user's launchers except this process: their number; *list_p is for free().  -errno.
 *
 * The list is bounded: by LIMIT_LAUNCHERS, and one name for each process that there is. Names
 * of others count for nothing: in a directory there are none, and of the abstract ones each costs a
 * comparison. */
int rendezvous_list(struct launcher_name **list_p);

/* The same of those alone that have a name in a directory, as nearly all have: neither abstract
 * names are read nor those of killed launchers removed. */
int rendezvous_list_in_dirs(struct launcher_name **list_p);

/* The same in pieces, for callers with other work: others may have taken very many names.  Looks
 * into the directories at once.  NULL: no memory. */
struct rendezvous_search *rendezvous_search_begin(void);
/* The next piece, of some hundred abstract names.  True: more follow. */
bool rendezvous_search_more(struct rendezvous_search *s);
/* The result of all pieces so far, as rendezvous_list(); frees it. */
int rendezvous_search_end(struct rendezvous_search *s, struct launcher_name **list_p);

/* The launcher with this alias, which may have been killed meanwhile.  0, or -ENOENT: there is
 * none. */
int rendezvous_find_alias(const char *alias, struct launcher_name *l);

/* A non-blocking connection to that launcher. -errno; -ECONNREFUSED: it has gone; -EACCES: it is
 * not our user's, or not that process; -EAGAIN: its backlog is full. */
int rendezvous_connect(const struct launcher_name *l);

/* The same for the launcher with that pid; -ESRCH: there is none, or not on this machine.  Abstract
 * names, of which there may be very many, are read only if no directory has it. */
int rendezvous_connect_pid(pid_t pid);

/* Removes the sockets of killed launchers. */
void rendezvous_tidy(void);

#endif
