/* tool_limit.h - a time limit for calls of the library, which wait for ever on a server that is
 * stopped.
 *
 * When it is over the tool ends, with a sentence: the call cannot be taken back.
 */
#ifndef WIREUP_TOOLS_PMIX_TOOL_LIMIT_H
#define WIREUP_TOOLS_PMIX_TOOL_LIMIT_H

#include <pthread.h>

#include "tools/pmix/tool_options.h"

struct tool_limit {
    const struct tool_line *line;
    void (*late)(void *arg); /* before the end of the tool, in a thread of its own; NULL: nothing */
    void *arg;
    const char *server; /* its name; NULL: not known */
    uint64_t seconds;
    int wake;
    bool over; /* the call has returned */
    pthread_mutex_t lock;
    pthread_t thread;
};

/* Around the call: --give-up, or 30 s.  line, late, arg and server are set. */
void tool_limit_begin(struct tool_limit *t);
void tool_limit_end(struct tool_limit *t);

/* --give-up is a number, if it is given.  TOOL_GO_ON, or the exit status after a sentence. */
int tool_limit_check(const struct tool_line *l);

#endif
