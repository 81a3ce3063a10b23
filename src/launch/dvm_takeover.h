/* dvm_takeover.h - a DVM that outlives its launcher, as its launchers see it (`up -keep`,
 * `up -takeover`).
 *
 * The launcher keeps the file of dvm_keep.h up to date.  When it is lost, the daemons keep the
 * programs of jobs, and call until another launcher is there.  That one listens where the lost one
 * did, or tells its address by the file of -join-file; it has the token, so the daemons join it as
 * nodes do that come by themselves (joins.h), under new positions.  It is up when all of the file
 * have come, or have had their time.  Then the launchers of jobs are told (control_socket.h), and
 * say anew what they use (dvm_leases.h).
 */
#ifndef WIREUP_LAUNCH_DVM_TAKEOVER_H
#define WIREUP_LAUNCH_DVM_TAKEOVER_H

#include "launch/dvm_keep.h"
#include "launch/joins.h"
#include "launch/remote.h"

struct dvm_takeover {
    const struct launch_options *options;
    struct remote *remote;
    const char *name;     /* of the DVM */
    int fd;               /* of the file; -1: the DVM ends with its launcher */
    unsigned char *token; /* of the DVM that is taken over; NULL: it is a new one */
    struct dvm_keep lost; /* ... what its file says */
    struct arena arena;
    bool up;                /* our nodes are: from now on the file is ours */
    bool over;              /* nobody is awaited any more */
    uint32_t serving, gone; /* when the file was written */
    struct timer patience;
    void (*done)(void *arg);
    void *arg;
};

/* Before anything is started: opens the file, and completes the options.  0; LAUNCH_USAGE or
 * LAUNCH_REFUSED with a sentence. */
int dvm_takeover_prepare(struct dvm_takeover *t, struct launch_options *o, struct errmsg *err);

/* done: nobody is awaited any more. */
void dvm_takeover_open(struct dvm_takeover *t, struct remote *f, const char *name,
                       void (*done)(void *arg), void *arg);
/* The DVM is up, but for those that come: done() follows, perhaps at once. */
void dvm_takeover_up(struct dvm_takeover *t);
/* Writes the file if nodes have come or gone: before anybody is told of them. */
void dvm_takeover_renew(struct dvm_takeover *t);
/* Nodes may have come or gone. */
void dvm_takeover_changed(struct dvm_takeover *t);
/* A job of a tool has begun or ended. */
void dvm_takeover_jobs(struct dvm_takeover *t);
/* Removes the file if the DVM was up.  Harmless without dvm_takeover_open(), and twice. */
void dvm_takeover_close(struct dvm_takeover *t);

/* The slots of a node that the DVM has or had; 0: it does not know it. */
uint32_t dvm_takeover_slots(const struct dvm_takeover *t, const char *name);
/* How many nodes have come, and the names of those that have not, with commas. */
uint32_t dvm_takeover_here(const struct dvm_takeover *t);
void dvm_takeover_missing(const struct dvm_takeover *t, struct buf *out);
/* The jobs of tools that have ended with the launcher before, with commas. */
void dvm_takeover_ended(const struct dvm_takeover *t, struct buf *out);

/* Tells all launchers of the user on this machine that this process leads the DVM. */
void dvm_takeover_announce(const struct dvm_takeover *t);

#endif
