/* peer_cred.h - who is at the other end of a connection: proven by the kernel, or nobody.
 *
 * Every connection that Wireup accepts passes here before a byte of it is believed.  Unix sockets
 * carry the credentials of who connected.  A loopback TCP connection does not, but its other end is
 * a socket of this machine too, and the kernel's socket tables tell who made it.
 *
 * Those tables tell of sockets that nobody owns as well: of a peer that has closed, or that nobody
 * has accepted yet, they report user 0 and inode 0.  So only an ESTABLISHED socket with an inode
 * counts, whose two ends are those that were asked about, while our own end is still connected
 * after the answer (before that, the two addresses may have become somebody else's).
 *
 * A user id that our user namespace cannot express is reported as the overflow id: it is nobody's,
 * and never equal to anybody's.
 */
#ifndef WIREUP_IO_PEER_CRED_H
#define WIREUP_IO_PEER_CRED_H

#include <stdbool.h>
#include <sys/types.h>

struct peer_cred {
    uid_t uid;    /* who made the other end */
    gid_t gid;    /* ... and as which group, if has_gid: else nobody can tell */
    pid_t pid;    /* 0: not known (TCP: see peer_cred_find_process()) */
    ino_t socket; /* TCP: inode of the other end; 0: a unix socket */
    bool has_gid;
};

/* One question to the kernel.  0; -ENOENT: the other end is no open socket of this machine (any
 * more, or yet); -ENOTUNIQ: its user cannot be expressed here; -errno. */
int peer_cred_read(int fd, struct peer_cred *c_p);

/* Asks again: 0 when it is the same user and the same open socket as c says, which was read before.
 * To be asked once the first message is there: what came is from who was there then.  -EPERM: it is
 * not; else as peer_cred_read(). */
int peer_cred_check(int fd, const struct peer_cred *c);

/* TCP: looks for the process that holds the other end, among root and its descendants (0: among all
 * processes), and completes pid and gid by it.  Nothing changes when none is found, when it runs
 * under another user than the socket's, or when several hold it that differ in their groups: then
 * has_gid stays false. */
void peer_cred_find_process(struct peer_cred *c, pid_t root);

/* The id stands for every id that our user namespace has no number for. */
bool peer_cred_is_overflow(uid_t uid);

/* Words for a sentence: "refused a connection: ...". */
const char *peer_cred_text(int rc);

/* ---- messages -------------------------------------------------------------------------------- */

/* An inherited unix socket has the credentials of who made it, not of who writes to it.  There the
 * kernel can add the writer's to every piece. */

/* The other end's writes carry their writer's user from now on.  0 or -errno. */
int peer_cred_mark(int fd);

/* It was marked already, by who has made it. */
bool peer_cred_is_marked(int fd);

/* As recv(MSG_DONTWAIT) on a socket that was marked; *uid_p: the real user id of who has written
 * the bytes, (uid_t)-1 when that is not known.  Bytes of two users never come together. */
ssize_t peer_cred_recv(int fd, void *bytes, size_t room, uid_t *uid_p);

#endif
