/* options.h - the launcher's command line, from one table (options.def).
 *
 * A row of the table is an option: its names, the kind of its value, where that is stored, its
 * default as text, the environment variable that also sets it, and the sentence that explains it.
 * The parser, `--help`, the option list of the man page and the bash completion are all derived
 * from the same rows (the last three in options_doc.h).
 *
 * Parsing does no I/O: files that options name (-configfile, -hostfile) are read by the caller
 * (plan_builder.c), which hands their text to options_parse_config() and hosts_parse_file(); files
 * of settings are read before (settings.h), and their texts are in the options when the parser
 * begins.
 *
 * Command line:   wireup [run] OPTIONS PROGRAM ARGS [: OPTIONS PROGRAM ARGS]...
 * Any number of leading dashes; `-opt value` and `-opt=value`; `--` ends the options of a block.
 * An option of the whole job may stand in any block; the last one given overrides earlier ones, and
 * the command line overrides the environment, which overrides files of settings.  How processes are
 * mapped, ranked and bound, and their nodes, the first block says for all, and a later one for its
 * own program.
 */
#ifndef WIREUP_LAUNCH_OPTIONS_H
#define WIREUP_LAUNCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "core/spawn.h"
#include "launch/environ.h"
#include "launch/hosts.h"
#include "launch/node_range.h"
#include "daemon/dvm_limits.h"
#include "daemon/launch_methods.h"

/* The documented results of everything before the first process exists.  For each but the first
 * two, the errmsg holds the sentence for the user. */
enum launch_result {
    LAUNCH_GO = 0,         /* run the plan (or, with opt.singleton.port, serve the singleton) */
    LAUNCH_SHOW,           /* print opt.answer on standard output and exit 0 */
    LAUNCH_USAGE,          /* the command line or a file it names is wrong */
    LAUNCH_NOT_FOUND,      /* a program does not exist */
    LAUNCH_NOT_EXECUTABLE, /* it exists but cannot be run; or its directory cannot be entered */
    LAUNCH_REFUSED,        /* understood, but this machine or version cannot do it */
};

/* The exit code of `wireup` for such a result: 0, 0, 2, 127, 126, 125.  Negative (-errno): 125. */
int launch_exit_code(int rc);

enum launch_stdin { LAUNCH_STDIN_RANK = 0, LAUNCH_STDIN_ALL, LAUNCH_STDIN_NONE };

/* The words of -launcher: auto, then the methods. */
enum {
    LAUNCHER_AUTO = 0,
#define X(kind, ...) LAUNCHER_##kind,
    LAUNCH_METHODS(X)
#undef X
};
#define LAUNCHER_WORD(kind, name, ...) "|" name

/* Of any word but auto. */
static inline enum agent_kind launcher_kind(uint32_t launcher)
{
    return (enum agent_kind)(launcher - LAUNCHER_SSH + AGENT_SSH);
}

/* In the order of the words in options.def. */
enum { ORDER_GIVEN = 0, ORDER_ASCENDING, ORDER_UP, ORDER_DESCENDING, ORDER_DOWN };

/* Where the value of an option comes from, the weakest first. */
enum option_source {
    OPTION_DEFAULT = 0,
    OPTION_SYSTEM,
    OPTION_USER,
    OPTION_PROJECT,
    OPTION_ENVIRONMENT,
    OPTION_TYPED,
};

/* Options of one decision (.set in options.def). */
enum option_set {
    SET_NONE = 0,
    SET_NODES,
    SET_PLACES,
    SET_ROOM,
    SET_FORWARD,
    SET_OUTPUT,
    SET_LIMIT,
    OPTION_SETS
};

/* A file of settings, one option per line: `bind-to core`, `bind-to = core`, `prepend-rank`,
 * `prepend-rank no`; quotes and comments as in mpmd.h. */
struct settings_file {
    struct settings_file *next; /* stronger */
    enum option_source source;
    bool found;      /* nobody has named it: only rows with .project */
    bool parameters; /* of -tune: parameter_file.h */
    const char *name;
    struct slice text;
};

/* One setting of a file or of the environment, as it was read. */
struct option_setting {
    struct option_setting *next;
    size_t row; /* option_row_at() */
    enum option_source source;
    const char *value; /* several are joined by blanks */
    const char *where; /* "/etc/wireup.conf:3", "the variable HYDRA_RMK" */
};

/* One block: the part of the command line between two `:`, one line of a configuration file. */
struct launch_block {
    struct launch_block *next;
    const char *where; /* "jobs.cfg:3", or NULL for the command line */
    char **argv;       /* program and arguments, NULL-terminated */
    uint32_t argc;
    uint32_t nprocs;             /* 0: not given */
    const char *wdir;            /* as given, or NULL */
    const char *pset;            /* likewise */
    bool in_session, index_argv; /* JOB_MAP_APP_SESSION, JOB_MAP_APP_INDEX */
    bool prefork;                /* JOB_MAP_APP_PREFORK */
    bool staged;                 /* the program is brought to the nodes */
    uint32_t pmi;                /* enum job_map_pmi */
    uint32_t restarts;
    const char *map_by, *rank_by, *bind_to; /* of a later program alone; NULL: those of the job */
    uint32_t cpus_per_rank;                 /* likewise; 0: not given */
    struct env_rules env;
    struct host_list hosts; /* its own nodes; empty and NULL: those of the job */
    const char *hostfile;
};

/* Internal call by a client that started alone and now needs a process manager: -pmi_args PORT
 * INTERFACE KEY PID. */
struct launch_singleton {
    uint32_t port; /* 0: not such a call */
    const char *interface, *key;
    uint32_t pid;
};

/* One of -stage, or several of -preload-files, separated by commas. */
struct launch_staged {
    struct launch_staged *next;
    struct slice paths;
    bool several;
};

struct launch_options {
    struct arena arena;          /* strings and blocks */
    const char *config;          /* of -config */
    const char *tune;            /* "FILE,...", of -tune; NULL: none */
    struct settings_file *files; /* set before options_parse() */
    struct option_setting *settings, *last_setting;
    enum option_source set_by[OPTION_SETS];   /* who has last made that decision */
    struct buf remarks;                       /* lines, for standard error */
    struct launch_block *blocks, *last_block; /* all with a program */
    uint32_t nblocks;                         /* 0 with -configfile, until that is read */
    const char *configfile;

    struct launch_block common; /* -n and -wdir in front of -configfile */

    /* Where.  The nodes of the first block hold for all blocks without their own.  The texts are
     * parsed by mapping.h and topo/bind.h; NULL: not given. */
    struct host_list hosts;
    struct node_range nnodes; /* of these nodes */
    const char *hostfile, *default_hostfile;
    uint32_t ppn;                             /* 0: not given */
    uint32_t cpus_per_rank;                   /* 0: not given; becomes a part of map_by */
    uint32_t gpus_per_rank, ranks_per_device; /* likewise */
    const char *topology;                     /* file with the machine of a dry run; or NULL */
    const char *rankmap, *rankfile;
    const char *map_by, *rank_by, *bind_to;
    uint32_t membind; /* both words mean the kernel's default */
    bool oversubscribe, no_oversubscribe;
    bool no_local;        /* not on the launcher's node */
    const char *dvm;      /* the DVM that is used; NULL: not given */
    bool wait;            /* ... when the job fits into it */
    uint32_t order_nodes; /* ORDER_... */
    const char *here;     /* the name of this machine in the node lists; NULL: it is in none */
    bool remote;          /* other machines take part */
    bool scouting;        /* ... and must report their hardware before ranks can be placed */
    struct plan_builder *prepared; /* of plan_builder.c, for that second pass */
    uint32_t launcher;         /* LAUNCHER_FORK: all nodes are this machine; else only real ones */
    const char *launcher_exec; /* or NULL */
    const char *launcher_args, *wireupd;  /* likewise */
    const char *own_wireupd;              /* beside this program; NULL: not looked for yet */
    const char *launcher_user;            /* for nodes without their own user; or NULL */
    uint32_t launcher_port;               /* likewise; 0: the default */
    const struct host *const *node_hosts; /* by the plan's nodes: the entry of the node list */
    struct host_list first_nodes;         /* of the first job, with -all-nodes */
    struct host_list spares; /* entries without a rank, with -on-failure replace or -all-nodes */
    const char *rmk;         /* which resource manager is queried */
    const char *rm;          /* the one whose allocation we are in (allocation.h), or NULL */
    const char *interface;   /* towards other nodes; NULL: any */
    uint32_t port_low, port_high; /* where daemons listen; 0, 0: any port */
    const char *const *lost;      /* nodes that are lost, nlost of them */
    uint32_t nlost;
    uint32_t tree_width;      /* children of each daemon; 0: the launcher starts all */
    uint32_t collective;      /* enum overlay_schedule */
    const char *connectivity; /* core/connectivity.h; NULL: all */
    const char *localhost;
    bool path_only; /* called as mpiexec.hydra, which takes no bare name from the working directory
                     */
    const char *usize; /* "SYSTEM", "INFINITE" or a number; NULL: the slots, if they are known */

    /* Environment. */
    struct env_rules env;
    enum env_forward env_default; /* HYDRA_ENV */

    /* Standard streams. */
    uint32_t env_style; /* 0: chosen by the program; else 1 + enum environment_style */
    bool prepend_rank, prepend_time;
    bool merge_output;                          /* standard error goes to standard output */
    bool raw_output;                            /* as it comes, not line by line */
    bool xml_output;                            /* each line is an element; server/iof_xml.h */
    const char *output_file, *output_directory; /* spawn_output.h; or NULL */
    const char *prepend_pattern; /* %r rank, %g job, %p node, %h host, %t seconds, %% */
    const char *outfile_pattern, *errfile_pattern;
    int stdin_to; /* enum launch_stdin */
    int tools;    /* as the words of -tools */
    uint32_t stdin_rank;
    bool output_from_given;
    uint32_t output_from;

    /* Running. */
    bool auto_cleanup;
    uint32_t restarts;         /* of processes whose program has no number of its own */
    bool replace;              /* lost nodes, by those of the list that have no rank */
    uint32_t replace_wait_s;   /* ... or that come within so long */
    bool all_nodes;            /* ... are for spawned jobs, too */
    bool hostname_propagation; /* set PMI_HOSTNAME */
    bool print_all_exitcodes;
    bool pmi_port;        /* PMI_PORT and PMI_ID instead of an inherited descriptor */
    uint32_t timeout_s;   /* 0: none */
    uint32_t restart_job; /* so often, when it has failed */
    int warning;          /* the signal that says that it will end; 0: none */
    uint32_t warning_s;   /* before that end */
    bool stacks_when_late;
    uint32_t exit_wait_s; /* from the end of the first process; 0: nothing happens then */
    bool exit_warns;      /* then there is a warning, and not the end of the job */
    bool stop_on_exec, stop_in_init, stop_in_app;
    const char *breakpoint;     /* in the program; or NULL */
    const char *debugger;       /* a command line; or NULL */
    const char *debugger_ranks; /* NULL: all */
    const char *memory_alloc_kinds;
    struct launch_staged *stage; /* files and directories that are brought to the nodes */
    const char *job_name;        /* for people; NULL: none */
    bool on_dvm;                 /* the job is on a DVM (dvm_lease.h) ... */
    bool any_node;               /* ... and names none of its nodes */
    const pid_t *dvm_launcher;   /* ... whose daemons start those of the job; NULL: none */
    struct dvm_asked *dvm_asked; /* ... and what it has been asked for already; or NULL */
    const char *dvm_name;        /* of `wireup up`; NULL: not given */
    const char *spare_hosts;     /* ... that replace lost ones; NULL: none */
    struct dvm_limits limits;    /* ... of its jobs; of a job on a DVM: what it was told */
    uint32_t in_use;             /* processes of the job, for a spawn */
    /* Nodes that come by themselves (launch/joins.h); NULL or 0: not given. */
    const char *join_token_file, *join_file;
    const char *launchers_dir; /* NULL: only launchers of this machine are found */
    uint32_t join_port;
    bool join;      /* one job waits for them (launch/join_start.h) */
    bool join_only; /* this node gets no processes */
    /* A DVM that outlives its launcher (launch/dvm_keep.h); NULL: not given. */
    const char *keep, *takeover;
    uint32_t keep_time;
    const unsigned char *keep_token; /* of its daemons; NULL: they end with the launcher */
    struct spawn_pair *job_attrs;
    uint32_t njob_attrs, job_attrs_room;
    struct launch_singleton singleton;

    /* Reports. */
    bool verbose;
    bool very_verbose; /* processes, too */
    bool quiet;
    bool report_bindings;
    bool display_map, display_allocation;
    bool report_startup;
    bool dry_run;
    bool picture, picture_svg; /* ... as a picture */
    bool ask_nodes;            /* ... of the nodes' real hardware */
    const char *trace_file;    /* NULL: no trace */
    bool json;

    struct buf answer; /* LAUNCH_SHOW: for standard output; LAUNCH_GO: for standard error */

    uint32_t ignored_word; /* target of options that are accepted and have no effect */
};

/* The text of --version. */
void options_version(struct buf *out);
void options_version_json(struct json *j); /* members */

void launch_options_init(struct launch_options *opt);
void launch_options_free(struct launch_options *opt); /* harmless twice */

/* Fills opt (which is initialised) from defaults, opt->files, environment and command line.  argv
 * and envp must outlive it.  LAUNCH_GO, LAUNCH_SHOW or LAUNCH_USAGE; negative: no memory. */
int options_parse(struct launch_options *opt, int argc, char *const *argv, char *const *envp,
                  struct errmsg *err);

/* The text of the file that -configfile names: each line is a block.  Same results. */
int options_parse_config(struct launch_options *opt, const char *name, struct slice text,
                         struct errmsg *err);

/* Files that each process's output goes to, besides our own standard streams. */
static inline uint32_t launch_files_each(const struct launch_options *o)
{
    if (o->output_file || o->output_directory)
        return o->merge_output ? 1 : 2;
    return (o->outfile_pattern ? 1u : 0u) + (o->errfile_pattern ? 1u : 0u);
}

#endif
