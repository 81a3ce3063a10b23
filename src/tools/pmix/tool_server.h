/* tool_server.h - finds PMIx servers and connects to one of them, by the options that all tools
 * share.
 *
 * A tool that names no server gets the one of its environment, or else the only one that runs here;
 * when there are several, it is told which.
 */
#ifndef WIREUP_TOOLS_PMIX_TOOL_SERVER_H
#define WIREUP_TOOLS_PMIX_TOOL_SERVER_H

#include <stddef.h>

#include "tools/pmix/tool_options.h"

struct tool_server {
    char *name, *uri, *version; /* version NULL: not known */
    long pid;                   /* 0: not known */
};

struct tool_servers {
    struct tool_server *items;
    size_t n;
};

/* All functions return TOOL_GO_ON, or the exit status after a sentence. */

/* The user's servers that can be found on this machine, by name; none is no error. */
int tool_servers_find(const struct tool_line *l, struct tool_servers *found_p);
void tool_servers_free(struct tool_servers *s);

/* The options or the environment name a server. */
bool tool_server_is_named(const struct tool_line *l);

/* The options are good; nothing is connected. */
int tool_server_check(const struct tool_line *l);

/* Connects to the server that is named, or to the only one. */
int tool_server_connect(const struct tool_line *l);

/* Connects (or, server false, begins without a server), does the work, and leaves the server.
 * Returns the status of what failed, else that of the work. */
int tool_server_run(const struct tool_line *l, bool server, int (*work)(void *arg), void *arg);

/* Connects to that one. */
int tool_server_open(const struct tool_line *l, const struct tool_server *s);

#endif
