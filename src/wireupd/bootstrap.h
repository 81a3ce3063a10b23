/* bootstrap.h - what a new daemon is told on its standard input, and what it answers.
 *
 * The record says who the daemon is, where its parent waits, the job's key, which daemons are below
 * it and how to start them.  It is text, so that it passes every remote shell: a line for each
 * fact, "word value", the first names this format and the version, the last is "end".  What follows
 * it, and whether standard input stays open, is of no account: some agents close it.
 *
 * The daemon answers with lines on standard output.  What else comes there, or on standard error,
 * is somebody's login message, or for the user.
 *
 * Pure: text to struct and back.
 */
#ifndef WIREUP_WIREUPD_BOOTSTRAP_H
#define WIREUP_WIREUPD_BOOTSTRAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

enum {
    BOOTSTRAP_BAD = 1,
    BOOTSTRAP_KEY = 32,
    BOOTSTRAP_ABOVE = 1 << 16, /* at most: of a tree of width 1 */
};
#define BOOTSTRAP_BY_NAME UINT32_MAX /* a position: the daemon finds its own by its node's name */

struct bootstrap_node {
    uint32_t position;
    const char *name;
    const char *user; /* or NULL */
    uint32_t port;    /* of its sshd; 0: as the agent's spec says */
};

/* A daemon above ours, and where it waits. */
struct bootstrap_above {
    uint32_t position;
    const char *addresses;
};

struct bootstrap_pair {
    const char *name, *value;
};

struct bootstrap {
    uint32_t position; /* or BOOTSTRAP_BY_NAME */
    uint32_t count;    /* daemons of the job, the launcher included */
    uint32_t width;    /* of the tree */
    unsigned char
        *key;        /* BOOTSTRAP_KEY bytes (io/secret.h); all copies of a record point to them */
    uint32_t parent; /* the position of who waits ... */
    const char *addresses;         /* ... here (daemon_link.h) */
    struct bootstrap_above *above; /* those above the parent: where to go when it is lost */
    uint32_t nabove;
    const char *interface; /* or NULL: all */
    uint32_t port_low, port_high;
    uint64_t wall_ms; /* the launcher's clock when this was written */
    bool verbose;
    /* All below this daemon when it starts them; all of the job when it is to find itself. */
    struct bootstrap_node *nodes;
    uint32_t nnodes;
    struct bootstrap_pair *options; /* of agents and of the cluster, by name */
    uint32_t noptions;
};

/* 0, or -ENOMEM. */
int bootstrap_write(const struct bootstrap *b, struct buf *out);

/* How many bytes of the text are the record; 0: its end has not come yet. */
size_t bootstrap_length(struct slice text);

/* The strings land in the arena, the key in memory of its own: bootstrap_wipe(), also when this
 * fails. 0; BOOTSTRAP_BAD with one sentence; -ENOMEM. */
int bootstrap_read(struct bootstrap *b, struct arena *a, struct slice text, struct errmsg *err);
int bootstrap_make_key(struct bootstrap *b); /* room for one.  0 or -ENOMEM */
void bootstrap_wipe(struct bootstrap *b);    /* forgets the key; harmless twice */

/* One more, in the arena; a value NULL: none.  0 or -ENOMEM. */
int bootstrap_put_option(struct arena *a, struct bootstrap *b, const char *name, const char *value);

const char *bootstrap_option(const struct bootstrap *b, const char *name); /* or NULL */

/* The first option of that name behind *at (0 at first); NULL: no more. */
const char *bootstrap_next_option(const struct bootstrap *b, const char *name, uint32_t *at);

/* Finds this node in the list, by the names it goes under: exactly, then up to the first dot.
 * False: it is not there. */
bool bootstrap_find(const struct bootstrap *b, const char *const *names, size_t nnames,
                    uint32_t *position_p);

/* ---- answers ---- */

enum bootstrap_answer {
    BOOTSTRAP_NOISE,   /* a line that is none of ours */
    BOOTSTRAP_STARTED, /* the program runs; it has not read its record yet */
    BOOTSTRAP_READY,   /* the link to the parent is up */
    BOOTSTRAP_TROUBLE, /* one sentence, and the end of that daemon */
    BOOTSTRAP_REMARK,  /* one sentence for the user; it goes on */
};

/* One line, its newline included. */
void bootstrap_answer_write(struct buf *out, enum bootstrap_answer what, uint32_t position,
                            const char *text);
/* Of one line without its newline; BOOTSTRAP_BY_NAME: it does not know its position yet. */
enum bootstrap_answer bootstrap_answer_read(struct slice line, uint32_t *position_p,
                                            struct slice *text);

#endif
