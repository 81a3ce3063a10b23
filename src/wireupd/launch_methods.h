/* launch_methods.h - how a daemon is started on another node, in words: the command line for each
 * way that a site has, and what its failure means to a person.  Pure.
 *
 *   one command for each node:   ssh, rsh, blaunch (LSF), qrsh (Grid Engine), pbs_tmrsh (PBS), any
 *                                program that is called as ssh is
 *   one command for all nodes:   srun (Slurm), flux exec
 *   here:                        fork starts the daemons on this machine, whatever the names
 *   by hand:                     manual prints what is to be typed
 */
#ifndef WIREUP_WIREUPD_LAUNCH_METHODS_H
#define WIREUP_WIREUPD_LAUNCH_METHODS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "wireupd/bootstrap.h"

enum agent_kind {
    AGENT_SSH,
    AGENT_RSH,
    AGENT_FORK,
    AGENT_SLURM,
    AGENT_PBS,
    AGENT_LSF,
    AGENT_FLUX,
    AGENT_SGE,
    AGENT_MANUAL,
    AGENT_EXEC, /* the words of `exec`, called as ssh is */
    AGENT_KINDS,
};

struct agent_spec {
    enum agent_kind kind;
    const char *exec;    /* in place of ssh, srun ...; words, blanks between, and 'one with blanks';
                            NULL: the usual */
    const char *args;    /* more words for it, before the node's name; or NULL */
    const char *user;    /* for nodes that name none; or NULL */
    uint32_t port;       /* ssh's; 0: the usual */
    const char *wireupd; /* the daemon's program on the nodes */
    bool wireupd_said;   /* by the user: no other is tried */
};

/* "ssh", "rsh", "fork", "slurm", "pbs", "lsf", "flux", "sge", "manual", "exec". */
const char *agent_kind_name(enum agent_kind kind);
bool agent_kind_read(const char *name, enum agent_kind *kind_p);

/* One command starts all daemons, which find their positions themselves. */
bool agent_at_once(enum agent_kind kind);
/* The daemon gets no standard input from it: its record is a file. */
bool agent_needs_file(enum agent_kind kind);
/* A daemon starts those below it itself. */
bool agent_by_tree(enum agent_kind kind);

/* As options of a record, by which the next daemons learn it, and back.  0, BOOTSTRAP_BAD, -ENOMEM.
 */
int agent_spec_put(const struct agent_spec *s, struct arena *a, struct bootstrap *b);
int agent_spec_get(struct agent_spec *s, const struct bootstrap *b, struct errmsg *err);

/* argv, NULL-terminated, in the arena: for one node, or (agent_at_once) for all n.  `wireupd`: what
 * to run there; file: the record, or NULL.  0, BOOTSTRAP_BAD with the sentence, -ENOMEM. */
int agent_argv(const struct agent_spec *s, const struct bootstrap_node *nodes, uint32_t n,
               const char *wireupd, const char *file, struct arena *a, char ***argv_p,
               struct errmsg *err);

/* What was seen of a command that has ended, or was given up. */
struct agent_seen {
    int status;   /* as waitpid() says it; -1: it did not end in time */
    bool started; /* the daemon has said that it runs */
    uint32_t seconds;
    struct slice trouble; /* its own sentence, or empty */
    struct slice said;    /* the end of what came on standard error and output */
};

/* A text as one word of `exec` and `args`, or of a shell's command line; NULL: no memory. */
char *agent_word(struct arena *a, const char *text);

/* What is run to reach a node, for people: "ssh", "kubectl". */
void agent_program(const struct agent_spec *s, const char *wireupd, char *name, size_t n);

/* The remote side has no such program: another place may be tried. */
bool agent_not_found(const struct agent_seen *seen);

/* One sentence: "node n9: ..." and what to do. */
void agent_diagnose(const struct agent_spec *s, const char *node, const char *wireupd,
                    const struct agent_seen *seen, struct errmsg *out);

#endif
