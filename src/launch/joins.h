/* joins.h - nodes that come by themselves (`wireupd --join`): the launcher's side.
 *
 * A node calls the port of the launcher's daemons and proves that it has the token, not the job's
 * key (daemon_link_admit()).  It says its name and its slots (daemon/join_request.h), and gets the
 * record that a command like ssh would have brought it; then it links as every daemon does.  It
 * waits, on its link, until there is a place for it.
 */
#ifndef WIREUP_LAUNCH_JOINS_H
#define WIREUP_LAUNCH_JOINS_H

#include "daemon/join_request.h"
#include "launch/remote.h"

enum { JOINS_REFUSED = 1, JOINS_LATER = 2 };

struct joins_config {
    struct remote *remote;
    /* Gives a node that comes a position.  0; JOINS_REFUSED with a sentence; JOINS_LATER:
     * joins_go() asks again. */
    int (*place)(void *arg, const struct join_request *q, uint32_t *position_p, struct errmsg *err);
    /* It has not linked in time; harmless if it has. */
    void (*failed)(void *arg, uint32_t position, struct slice why);
    void *arg;
};

struct joins {
    struct joins_config config;
    unsigned char *key; /* of the token (io/secret.h) */
    int no_variable;    /* why the environment has no token: as join_token_read() */
    struct errmsg why;
    struct list all; /* nodes that have not linked yet */
    bool open;
    bool going, again; /* joins_go() runs; … is wanted once more */
    const char *file;  /* that has our addresses; NULL: none was made */
};

/* Whether the options want nodes that come by themselves. */
bool joins_wanted(const struct launch_options *o);

/* Whether the launcher may itself ask for nodes that join, once it stands: its resource manager can
 * be asked, and the tree of its daemons has one level without a change for the first ones. */
bool joins_possible(const struct launch_options *o, const struct job_map *plan);

/* Before remote_open().  Nodes that join only dial out: all are children of the launcher, and no
 * daemon calls another one.  With -join-only the plan has no node. */
void joins_expect(struct launch_options *o, struct job_map *plan);

/* Before the environment is passed on to anybody: takes the token out of it, if it has one. */
void joins_take_variable(struct joins *j);

/* Before remote_open(), where nodes may come: the token.  kept: its key, which is known (of a DVM
 * that outlives its launcher), or NULL.  made: without a token one is made, which nobody else
 * knows. 0; else a sentence in err. */
int joins_find_token(struct joins *j, const struct launch_options *o, const unsigned char *kept,
                     bool made, struct errmsg *err);

/* After remote_open() and joins_find_token(): nodes may come.  0; else a sentence in err. */
int joins_open(struct joins *j, const struct joins_config *config, struct errmsg *err);
/* The same, where nobody has wanted it so far; harmless if it is open.  A token is made, unless
 * there is one. */
int joins_open_late(struct joins *j, const struct joins_config *config, struct errmsg *err);
void joins_close(struct joins *j); /* harmless twice, and on zeroed memory */

/* There may be places now. */
void joins_go(struct joins *j);

/* Our addresses, for people. */
int joins_addresses(const struct joins *j, struct buf *out, struct errmsg *err);

#endif
