/* tool_relay.h - the connection on which the tool was called back (tool_callback.h) becomes its
 * session: the relay greets the launcher's server as that tool would, and then carries whole
 * messages from one to the other, so that the server has a tool as any other, and its trace too.
 *
 * What the tool's server sends to us as its client is not for the session, and is left out.
 */
#ifndef WIREUP_DAEMON_TOOL_RELAY_H
#define WIREUP_DAEMON_TOOL_RELAY_H

#include "daemon/tool_callback.h"
#include "io/loop.h"

struct listener;

/* One direction. */
struct tool_relay_way {
    int fd; /* it is written to; -1: closed */
    struct watch watch;
    struct buf out;
};

struct tool_relay {
    struct tool_relay_way tool, server;
    struct buf greeting;             /* of the server, as far as it has come */
    char head[TOOL_CALLBACK_HEADER]; /* of the tool's message, as far as it has come */
    size_t nhead, left;              /* ... and how much of its body is to come */
    bool wanted;                     /* ... which is carried on */
    bool open, greeted;
};

/* Takes the connection over.  0, or -errno. */
int tool_relay_open(struct tool_relay *r, struct tool_callback *c, struct listener *l,
                    struct loop *loop);
/* What the server has written is sent before; harmless twice, and on zeroed memory. */
void tool_relay_close(struct tool_relay *r);

#endif
