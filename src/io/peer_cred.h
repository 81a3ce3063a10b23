/* peer_cred.h - the credentials of the other end of a connection, as the kernel reports them.
 *
 * Every connection that Wireup accepts is checked here before a byte of it is believed.  Unix
 * sockets carry the credentials of the process that connected.  A loopback TCP connection does not,
 * but its other end is a socket of this machine too, and the kernel's socket tables name its owner.
 *
 * Those tables list sockets without an owner as well: for a peer that has closed, or a connection
 * that is not accepted yet, they report user 0 and inode 0.  So a socket counts only if it is
 * ESTABLISHED, has an inode, has exactly the two addresses of the query, and if our own end is
 * still connected after the answer (otherwise the two addresses may belong to another connection by
 * now).
 *
 * A user id that our user namespace cannot express is reported as the overflow id: it is nobody's,
 * and never equal to any user's.
 */
#ifndef WIREUP_IO_PEER_CRED_H
#define WIREUP_IO_PEER_CRED_H

#include <stdbool.h>
#include <sys/types.h>

struct peer_cred {
    uid_t uid;    /* the owner of the other end */
    gid_t gid;    /* ... and its group, if has_gid; else unknown */
    pid_t pid;    /* 0: not known (TCP: see peer_cred_find_process()) */
    ino_t socket; /* TCP: inode of the other end; 0: a unix socket */
    bool has_gid;
};

/* One query to the kernel.  0; -ENOENT: the other end is no open socket of this machine (any more,
 * or yet); -ENOTUNIQ: its user cannot be expressed here; -errno. */
int peer_cred_read(int fd, struct peer_cred *c_p);

/* The other end of a UNIX socket is of that user and, unless pid is 0, that process. */
bool peer_cred_is_process(int fd, uid_t uid, pid_t pid);

/* Queries again: 0 if user and open socket are still those of c, an earlier result.  To be called
 * when the first message has arrived: it was sent by the owner at that time.  -EPERM: they are not;
 * else as peer_cred_read(). */
int peer_cred_check(int fd, const struct peer_cred *c);

/* TCP: searches root and its descendants (0: all processes) for the process that holds the other
 * end, and fills in its pid and gid.  Nothing changes if none is found, if it runs under another
 * user than the socket's, or if several processes with different groups hold it: then has_gid stays
 * false. */
void peer_cred_find_process(struct peer_cred *c, pid_t root);

/* The id stands for every id that our user namespace cannot express. */
bool peer_cred_is_overflow(uid_t uid);

/* Text for a sentence: "refused a connection: ...". */
const char *peer_cred_text(int rc);

/* ---- messages -------------------------------------------------------------------------------- */

/* An inherited unix socket has the credentials of its creator, not of the process that writes to
 * it.  The kernel can attach the writer's credentials to every piece. */

/* From now on each write of the other end carries the user of its writer.  0 or -errno. */
int peer_cred_mark(int fd);

/* It was marked already, by its creator. */
bool peer_cred_is_marked(int fd);

/* As recv(MSG_DONTWAIT) on a marked socket; *uid_p: the real user id of the writer of the bytes,
 * (uid_t)-1 if unknown.  Bytes of two users are never returned together. */
ssize_t peer_cred_recv(int fd, void *bytes, size_t room, uid_t *uid_p);

#endif
