/* control_socket.h - where others of the same user ask a running launcher, and where it asks them.
 *
 * One line in, an answer out, and the connection ends:
 *     who [json] [JOB]      the report of core/who.h on all nodes (pending_query.h)
 *     names [json]          the published names
 *     lookup SERVICE        `found` and a newline, then the port as it is; or `none`
 *     unpublish SERVICE     `found` or `none`
 *     standing              of a standing system: `standing PID DAEMONS` and a line for each node;
 *                           `none`
 *     on NODE WORDS         a standing system runs this for who asks (dvm_exec.h); nothing may
 * stand behind the line until it has answered down                  a standing system ends ps a
 * line for each job uri                   for PMIx tools: the pid that people know, a tab, our
 * address tools                 the same, and files are written by which they find us Anything else
 * is answered with a line that begins with `error:`.
 *
 * Questions to the other launchers (EFFECT_NAMES) go to all of them at once; the first that has the
 * name decides, silence for LIMIT_DESK_MS counts as no.
 */
#ifndef WIREUP_WIREUPD_CONTROL_SOCKET_H
#define WIREUP_WIREUPD_CONTROL_SOCKET_H

#include "base/buf.h"
#include "core/core.h"
#include "io/door.h"
#include "io/rendezvous.h"

struct node;

struct control_socket {
    struct node *node;
    struct rendezvous rendezvous;
    struct door door; /* closed: nobody finds us, and the launcher works all the same */
    struct watch directory;
    struct list visitors;
    struct list inquiries;
};

void control_socket_open(struct control_socket *d, struct node *n);
bool control_socket_is_open(const struct control_socket *d); /* others can find us */
void control_socket_close(struct control_socket *d); /* harmless twice, and on zeroed memory */

/* Asks the neighbours; the query is taken over and answered by server_answer(). */
void control_socket_ask(struct control_socket *d, uint64_t ticket, struct nameservice_query *q);

#endif
