/* launcher_link.h - a connection between two launchers of one user on one machine.
 *
 * It comes from a question at the control socket (control_socket.h), where the kernel has named the
 * user of the other end.  Both ends send messages of proto/operations.def, each after its length
 * (four bytes, least first).  Its end is the end of all that was learned through it.  (Two
 * launchers that search for each other at once have two links; what is known by one is known.)
 */
#ifndef WIREUP_DAEMON_LAUNCHER_LINK_H
#define WIREUP_DAEMON_LAUNCHER_LINK_H

#include "base/buf.h"
#include "base/list.h"
#include "io/loop.h"

struct launcher_link;
struct msg;

struct launcher_link_calls {
    /* False: it is none that a launcher sends; the link is closed. */
    bool (*on_message)(void *arg, struct launcher_link *k, const struct msg *m);
    /* It is over; to be followed by launcher_link_free(). */
    void (*on_closed)(void *arg, struct launcher_link *k);
};

struct launcher_link {
    struct list link;
    uint32_t number; /* the owner's; from 1 */
    int fd;
    struct watch watch;
    struct buf in, out;
    struct list announced; /* own jobs that the other end knows: struct announced_job */
    const struct launcher_link_calls *calls;
    void *arg;
};

/* Takes the connection over, and sends `greeting` first.  NULL: no memory; it stays the caller's.
 */
struct launcher_link *launcher_link_new(struct loop *loop, int fd, struct slice greeting,
                                        const struct launcher_link_calls *calls, void *arg);
void launcher_link_free(struct launcher_link *k);

/* Without memory for it the link is closed, in a later turn of the loop. */
void launcher_link_send(struct launcher_link *k, const struct msg *m);

/* The other end knows that own job, by its number. */
bool launcher_link_knows(const struct launcher_link *k, uint32_t job);
/* False: no memory. */
bool launcher_link_note(struct launcher_link *k, uint32_t job);
void launcher_link_forget(struct launcher_link *k, uint32_t job);

#endif
