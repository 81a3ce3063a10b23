/* control_socket.h - the control socket: launchers and commands of the same user send requests to a
 * running launcher; so do other launchers (name_query.h).
 *
 * One request line, one answer, and the connection ends:
 *     who [json] [stacks] [JOB]   the pending report (report/who.h) of all nodes (pending_query.h)
 *     names [json] [JOB]    the published names
 *     ranks JOB             for debuggers, a line for each process that has started and not ended:
 *                           `RANK PID NODE`, a tab, and how its node is reached (node_config.reach;
 *                           empty: it is this machine), or ! and why it is not
 *     enter JOB RANK FORM   what a process must have that becomes this rank (`-`: any) of a job of
 *                           `wireup serve` (served_vars.h); FORM: shell, json, vars
 *     read PROC SERVICE     look-up for a process of another launcher: `found` and a newline, then
 *                           the port, unescaped; `typed TYPE` instead if that is no text (a PMIx
 *                           data type, and its payload of v41); or `none`; removes a read-once
 *                           name.  PROC is the range (enum name_range), its rank, user, group,
 *                           node, namespace
 *     taken PROC SERVICE    `found` if such a process cannot publish that on this range, or `none`
 *     published SERVICE     a process of another launcher has published it: look-ups that wait for
 *                           it ask again; `ok`
 *     unpublish SERVICE     `found` or `none`
 *     trace                 the absolute path of the launcher's trace, written up to now; or `none`
 *     link VERSION NSPACE   from another launcher (launcher_search.h): `link`, and the connection
 *                           goes on as a launcher_link.h; or `none`: that is no job of this
 *                           launcher, or the other one has other messages
 *     standing              of a DVM: `standing PID NAME`, and a line for each node:
 *                           `NODE SLOTS USED STATE`, STATE: up, coming, reserved (by an
 *                           allocation), draining or lost; else `none`
 *     lease ...             slots of a DVM (dvm_leases.h); the connection goes on as the lease
 *     on NODE WORDS         runs the words on a node of a DVM (dvm_request.h); the client sends
 *                           nothing more until it has the answer
 *     down                  ends a DVM
 *     jobs                  the lines of report/job_row.h, at once
 *     usage                 the same with what the processes use on all nodes (pending_query.h)
 *     signal SIGNAL JOB     to all processes of that job; numbers; `ok`, or `none`: no such job
 *     uri                   for PMIx tools: the pid that users see, a tab, our address
 *     tools                 the same, and writes the rendezvous files of PMIx tools
 *     pmix                  the connection goes on as one of a PMIx client or tool (listener.h),
 *                           which sends nothing more until it has the answer, the same word
 *
 * Anything else is answered with a line that begins with `error:`.
 */
#ifndef WIREUP_DAEMON_CONTROL_SOCKET_H
#define WIREUP_DAEMON_CONTROL_SOCKET_H

#include "base/buf.h"
#include "core/core.h"
#include "io/acceptor.h"
#include "io/greeting_timer.h"
#include "io/rendezvous.h"

struct launcher_links;
struct listener;
struct local_jobs;
struct pending_queries;
struct processes;
struct quota;
struct shutdown;
struct tools;
struct trace_writer;

struct control_socket_config {
    struct local_jobs *jobs;
    struct tools *tools;
    struct pending_queries *pending_queries;
    struct listener *listener; /* takes the connections of PMIx clients and tools */
    struct shutdown *shutdown; /* of a DVM, by request */
    struct quota *quota;       /* of unauthenticated connections */
    struct name_queries *name_queries;
    struct processes *processes;
    struct trace_writer *trace_writer;
    struct launcher_links *launcher_links;
};

struct control_socket {
    struct control_socket_config config; /* jobs NULL: not open */
    struct rendezvous rendezvous;
    const char *alias;        /* by which it is found, too; or NULL */
    struct acceptor acceptor; /* closed: others cannot reach us; the launcher works without it */
    bool listens;             /* or has tried to */
    struct timer soon;        /* until it listens */
    struct timer unwatched;   /* until the presence of its name is watched: most jobs end before */
    struct watch presence;
    struct greeting_timer greetings; /* of visitors that have not asked yet */
    struct list visitors;
};

void control_socket_open(struct control_socket *d, const struct control_socket_config *config);
/* Then it listens, at once or in the loop's next turn.  Harmless twice. */
void control_socket_listen(struct control_socket *d);
void control_socket_listen_soon(struct control_socket *d);
/* A launcher on another machine has called (distant_launchers.h): it may ask what launchers ask
 * each other, and nothing else.  Takes the connection over. */
void control_socket_take(struct control_socket *d, int fd);
/* Launchers and commands find it by this alias, too (io/rendezvous.h); it must outlive the socket. */
void control_socket_set_alias(struct control_socket *d, const char *alias);
bool control_socket_is_open(const struct control_socket *d); /* others can reach us */
void control_socket_close(struct control_socket *d); /* harmless twice, and on zeroed memory */

#endif
