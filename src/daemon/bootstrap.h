/* bootstrap.h - the record that a new daemon reads on its standard input, and its answers.
 *
 * The record holds the daemon's position, the addresses of its parent, the job's key, the daemons
 * below it and how to start them.  It is text, so that it passes every remote shell: one line per
 * fact, "word value"; the first line names this format and the version, the last is "end".
 * Whatever follows the record, and whether standard input stays open, is ignored: some launch
 * methods close it.
 *
 * The daemon answers with lines on standard output.  Any other line there, or on standard error, is
 * a login message or meant for the user.
 *
 * Pure: text to struct and back.
 */
#ifndef WIREUP_DAEMON_BOOTSTRAP_H
#define WIREUP_DAEMON_BOOTSTRAP_H

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
/* Set for a daemon whose job has not begun (dvm_warm.h): it waits, without a time limit, for this
 * byte, behind which comes the record. */
#define BOOTSTRAP_WAITS_VARIABLE "WIREUP_WAITS_FOR_JOB"
#define BOOTSTRAP_BEGIN          "\n"

struct bootstrap_node {
    uint32_t position;
    const char *name;
    const char *user; /* or NULL */
    uint32_t port;    /* of its sshd; 0: the port of the agent spec */
};

/* A daemon above ours, and its listening addresses. */
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
        *key; /* BOOTSTRAP_KEY bytes (io/secret.h); all copies of a record point to them */
    /* Of a DVM that outlives its launcher: BOOTSTRAP_KEY bytes, the token with which another one is
     * joined; NULL: none.  As the key. */
    unsigned char *token;
    uint32_t parent;               /* position of the parent ... */
    const char *addresses;         /* ... and its addresses (daemon_link.h) */
    struct bootstrap_above *above; /* those above the parent: to reconnect to when it is lost */
    uint32_t nabove;
    const char *interface; /* or NULL: all */
    uint32_t port_low, port_high;
    uint64_t wall_ms; /* the launcher's clock when this was written */
    bool verbose;
    /* All nodes below this daemon if it starts them; all of the job if it has to find itself. */
    struct bootstrap_node *nodes;
    uint32_t nnodes;
    struct bootstrap_pair *options; /* of launch methods and of the router, by name */
    uint32_t noptions;
};

/* 0, or -ENOMEM. */
int bootstrap_write(const struct bootstrap *b, struct buf *out);

/* Length in bytes of the record in the text; 0: it is not complete yet. */
size_t bootstrap_length(struct slice text);

/* The strings are allocated in the arena, the key in its own memory: call bootstrap_wipe(), also
 * after a failure.  0; BOOTSTRAP_BAD with one sentence; -ENOMEM. */
int bootstrap_read(struct bootstrap *b, struct arena *a, struct slice text, struct errmsg *err);
int bootstrap_make_key(struct bootstrap *b);   /* allocates the key.  0 or -ENOMEM */
int bootstrap_make_token(struct bootstrap *b); /* the same */
void bootstrap_wipe(struct bootstrap *b);      /* erases and frees both; harmless twice */

/* Adds an option, in the arena; value NULL: adds nothing.  0 or -ENOMEM. */
int bootstrap_put_option(struct arena *a, struct bootstrap *b, const char *name, const char *value);

const char *bootstrap_option(const struct bootstrap *b, const char *name); /* or NULL */

/* The first option of that name after *at (0 at first); NULL: no more. */
const char *bootstrap_next_option(const struct bootstrap *b, const char *name, uint32_t *at);

/* Finds this node in the list by its own names: an exact match first, then up to the first dot.
 * False: it is not listed. */
bool bootstrap_find(const struct bootstrap *b, const char *const *names, size_t nnames,
                    uint32_t *position_p);

/* ---- answers ---- */

enum bootstrap_answer {
    BOOTSTRAP_NOISE,   /* not a line of this protocol */
    BOOTSTRAP_STARTED, /* the program runs; it has not read its record yet */
    BOOTSTRAP_READY,   /* the link to the parent is up */
    BOOTSTRAP_TROUBLE, /* one sentence; the daemon ends */
    BOOTSTRAP_REMARK,  /* one sentence for the user; the daemon goes on */
};

/* Writes one line, with its newline. */
void bootstrap_answer_write(struct buf *out, enum bootstrap_answer what, uint32_t position,
                            const char *text);
/* Reads one line without its newline; BOOTSTRAP_BY_NAME: the daemon does not know its position. */
enum bootstrap_answer bootstrap_answer_read(struct slice line, uint32_t *position_p,
                                            struct slice *text);

#endif
