/* launcher_search.h - which launcher of this user has a job: all are asked at once, at their
 * control sockets, and the one that has it keeps the connection (launcher_link.h).
 *
 * No answer within LIMIT_CONTROL_REPLY_MS counts as no.  The launchers are searched for in pieces,
 * one per turn of the loop.
 */
#ifndef WIREUP_DAEMON_LAUNCHER_SEARCH_H
#define WIREUP_DAEMON_LAUNCHER_SEARCH_H

#include "base/list.h"
#include "base/slice.h"
#include "io/loop.h"

struct launcher_search;
struct node_context;
struct rendezvous_search;

/* What follows `link` in the question: launchers with other messages do not connect. */
#define LAUNCHER_LINK_VERSION "2"
/* The answers, of the same length. */
#define LAUNCHER_LINK_YES "link\n"
#define LAUNCHER_LINK_NO  "none\n"

struct launcher_search_calls {
    /* The connection is the callee's; or -1: no launcher has the job.  The search is over, and may
     * be freed. */
    void (*over)(void *arg, struct launcher_search *s, int fd);
};

struct asked_launcher {
    struct launcher_search *of;
    int fd; /* -1: has answered or is closed */
    struct watch watch;
    char answer[sizeof LAUNCHER_LINK_YES];
    size_t got;
};

struct launcher_search {
    struct list link; /* the owner's */
    const struct node_context *context;
    const struct launcher_search_calls *calls;
    void *arg;
    struct rendezvous_search *names; /* NULL: they are found */
    struct timer timer;              /* the next piece; then: no answer comes any more */
    struct asked_launcher *all;
    int count, open;
    uint32_t found; /* the owner's: the number of the link; 0: none yet */
    char nspace[];
};

/* Begins a search; `over` is called in a later turn of the loop.  NULL: no memory. */
struct launcher_search *launcher_search_new(const struct node_context *c, struct slice nspace,
                                            const struct launcher_search_calls *calls, void *arg);
void launcher_search_free(struct launcher_search *s);

#endif
