/* launch_methods.h - how a daemon is started on another node: the command line of each launch
 * method, and a sentence for the user when it fails.  Pure.
 *
 *   one command for each node:   ssh, rsh, blaunch (LSF), qrsh (Grid Engine), pbs_tmrsh (PBS), any
 *                                program with ssh's calling convention, or any command in which
 *                                {node} and {command} say where these belong
 *   one command for all nodes:   srun (Slurm), flux exec
 *   a connection for each node:  a DVM, which is asked to run them (dvm_request.h)
 *   here:                        fork starts the daemons on this machine, whatever the names
 *   by hand:                     manual prints the commands to type
 */
#ifndef WIREUP_DAEMON_LAUNCH_METHODS_H
#define WIREUP_DAEMON_LAUNCH_METHODS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "daemon/bootstrap.h"

/* One row for each launch method; `-launcher` and its manual know them from here.
 *
 * X(kind, name, command, options, user, properties):
 * - command: the program; NULL: one that is given
 * - options: always passed to it
 * - user: its option for a user name; NULL: it has none
 * - properties: AT_ONCE: one command starts all daemons; FILE: the daemon gets no standard input
 *   through it, its record is a file; TREE: daemons start the daemons below them
 * - reach: options for one command of the user there, on our terminal; NULL: it cannot do that
 */
#define LAUNCH_METHODS(X)                                                                          \
    X(FORK, "fork", "", "", NULL, METHOD_TREE, "")                                                 \
    X(SSH, "ssh", "ssh", "-x -T -o BatchMode=yes -o ConnectTimeout=15", "-l", METHOD_TREE,         \
      "-x -t -o LogLevel=ERROR -o ConnectTimeout=15")                                              \
    X(RSH, "rsh", "rsh", "", "-l", METHOD_TREE, "")                                                \
    X(SLURM, "slurm", "srun",                                                                      \
      "--ntasks-per-node=1 --kill-on-bad-exit=0 --mpi=none --cpu-bind=none --unbuffered", NULL,    \
      METHOD_AT_ONCE | METHOD_TREE, "--overlap --mpi=none --cpu-bind=none --unbuffered")           \
    X(LSF, "lsf", "blaunch", "", NULL, 0, "")                                                      \
    X(SGE, "sge", "qrsh", "-inherit", NULL, 0, "-inherit")                                         \
    X(PBS, "pbs", "pbs_tmrsh", "", NULL, METHOD_FILE, "")                                          \
    X(FLUX, "flux", "flux", "exec -r all", NULL, METHOD_AT_ONCE, NULL)                             \
    X(MANUAL, "manual", "", "", NULL, METHOD_FILE, NULL)

enum { METHOD_AT_ONCE = 1, METHOD_FILE = 2, METHOD_TREE = 4 };

enum agent_kind {
#define X(kind, ...) AGENT_##kind,
    LAUNCH_METHODS(X)
#undef X
        AGENT_EXEC, /* the words of `exec`, called as ssh is */
    AGENT_TEMPLATE, /* the same, with {node} and {command} in them */
    AGENT_DVM,      /* the launcher of a DVM; exec: the command that asks it, for users */
    AGENT_KINDS,
};

struct dvm_asked;

struct agent_spec {
    enum agent_kind kind;
    const char *exec;    /* in place of ssh, srun ...; words, blanks between, and 'one with blanks';
                            NULL: the default */
    const char *args;    /* more words for it, before the node's name; or NULL */
    const char *user;    /* for nodes that name none; or NULL */
    uint32_t port;       /* ssh's; 0: the default */
    const char *wireupd; /* path of wireupd on the nodes */
    bool wireupd_given;  /* given by the user: no other path is tried */
    const pid_t *dvm;    /* AGENT_DVM: the DVM's launcher, which may become another one */
    struct dvm_asked *asked; /* ... and what it has been asked for already; or NULL */
};

/* "ssh", "rsh", "fork", "slurm", "pbs", "lsf", "flux", "sge", "manual", "exec", "template",
 * "dvm". */
const char *agent_kind_name(enum agent_kind kind);
bool agent_kind_read(const char *name, enum agent_kind *kind_p);

/* The kind of a command that the user has given without a launch method: by its placeholders, or
 * because its program is ssh or rsh. */
enum agent_kind agent_kind_of(const char *exec);

/* One command starts all daemons; each finds its own position. */
bool agent_at_once(enum agent_kind kind);
/* The daemon gets no standard input through it: its record is a file. */
bool agent_needs_file(enum agent_kind kind);
/* Daemons start the daemons below them. */
bool agent_by_tree(enum agent_kind kind);

/* Stores the spec as options of a record, for the daemons below, and reads it back.  0,
 * BOOTSTRAP_BAD, -ENOMEM.
 */
int agent_spec_put(const struct agent_spec *s, struct arena *a, struct bootstrap *b);
int agent_spec_get(struct agent_spec *s, const struct bootstrap *b, struct errmsg *err);

/* argv, NULL-terminated, in the arena: for one node, or (agent_at_once) for all n; for a DVM, the
 * words of the request.  `wireupd`: the program to run there; file: the record, or NULL.  0,
 * BOOTSTRAP_BAD with the sentence, -ENOMEM. */
int agent_argv(const struct agent_spec *s, const struct bootstrap_node *nodes, uint32_t n,
               const char *wireupd, const char *file, struct arena *a, char ***argv_p,
               struct errmsg *err);

/* How a command of the user is run on that node, on our terminal: words for a shell, to which one
 * more is added, the command line as one word (agent_word).  Empty: the node is this machine.  As
 * agent_argv(); BOOTSTRAP_BAD also when the method cannot do that. */
int agent_reach(const struct agent_spec *s, const struct bootstrap_node *node, struct arena *a,
                const char **words_p, struct errmsg *err);

/* The result of a command that has ended or was given up. */
struct agent_seen {
    int status;   /* as from waitpid(); -1: it did not end in time */
    bool started; /* the daemon has reported that it runs */
    uint32_t seconds;
    struct slice trouble; /* the daemon's own error, or empty */
    struct slice output;  /* the last output on standard error and output */
};

/* More words may follow the command line of agent_argv(): they are the command's. */
bool agent_command_is_last(const struct agent_spec *s);

/* A text as one word of `exec` and `args`, or of a shell's command line; NULL: no memory. */
char *agent_word(struct arena *a, const char *text);

/* The name of the program that reaches a node, for messages: "ssh", "kubectl". */
void agent_program(const struct agent_spec *s, const char *wireupd, char *name, size_t n);

/* The remote side has no such program: another path may be tried. */
bool agent_not_found(const struct agent_seen *seen);

/* sshd closed the connection before it said who it is, as it does at random when many have not
 * logged in yet (MaxStartups): the same may be tried a little later. */
bool agent_refused(const struct agent_seen *seen);

/* One sentence: "node n9: ...", with the remedy. */
void agent_diagnose(const struct agent_spec *s, const char *node, const char *wireupd,
                    const struct agent_seen *seen, struct errmsg *out);

#endif
