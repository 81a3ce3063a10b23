/* tool_callback.h - a tool that has started the launcher is called back (PMIX_LAUNCHER_RNDZ_URI).
 *
 * The launcher connects to the tool's server as a client, before it places its job, and asks what
 * that knows of it.  PMIX_LAUNCH_DIRECTIVES in the answer say where the processes of the job stop
 * for a debugger; PMIX_DEBUG_STOP_IN_INIT of the launcher itself makes it wait here for the tool's
 * PMIX_DEBUGGER_RELEASE.  Then the same connection is the tool's session (tool_relay.h).
 *
 * The calls wait: at most LIMIT_PMIX_GREETING_MS for an answer, without a limit for the release.
 * They are made before the worker takes signals, which end it until then.
 */
#ifndef WIREUP_DAEMON_TOOL_CALLBACK_H
#define WIREUP_DAEMON_TOOL_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "core/job_map.h"

enum { TOOL_CALLBACK_HEADER = 16, TOOL_CALLBACK_NAME = 256 };

struct tool_callback {
    int fd;                          /* -1: there is no tool, or it has been given away */
    bool stops[JOB_MAP_STOPS];       /* of all processes */
    char nspace[TOOL_CALLBACK_NAME]; /* the tool's name */
    uint32_t rank;
    char version[64], encoding[8]; /* that both sides speak */
    struct buf early;              /* what it has sent for its session */
};

/* Without the variable there is no tool: 0.  TOOL_CALLBACK_FAILED with a sentence: nothing is to be
 * started. */
enum { TOOL_CALLBACK_FAILED = 1 };
int tool_callback_open(struct tool_callback *c, const struct log *log, struct errmsg *err);
void tool_callback_close(struct tool_callback *c); /* harmless twice, and with fd -1 */

/* The event PMIX_LAUNCHER_READY, with the address of our server, for the tool alone. */
int tool_callback_ready(struct tool_callback *c, const char *uri, struct errmsg *err);

/* Whether a message of the tool with this tag belongs to its session: not an answer to us, an event
 * for us as its client, or output. */
bool tool_callback_is_request(uint32_t tag);

#endif
