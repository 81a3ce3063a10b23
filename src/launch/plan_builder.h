/* plan_builder.h - everything between the command line and the first process.
 *
 * A pipeline of named steps: options, files they name, nodes, placement of ranks, environment,
 * programs, processors, room on this machine.  It starts nothing and leaves nothing open.
 */
#ifndef WIREUP_LAUNCH_PLAN_BUILDER_H
#define WIREUP_LAUNCH_PLAN_BUILDER_H

#include "base/err.h"
#include "core/job_map.h"
#include "launch/binding.h"
#include "launch/options.h"

/* Fills *opt and *plan (both may be uninitialised before; free both afterwards, whatever is
 * returned; argv and envp must outlive opt).
 *
 *   LAUNCH_GO    run the plan; print opt->answer on standard error first when it is not empty.
 *                With opt->singleton.port set there is no plan: serve that process.
 *   LAUNCH_SHOW  print opt->answer on standard output (help, version, dry run), exit 0
 *   others       print the sentence; exit launch_exit_code(rc); negative codes have one too */
int launch_prepare(int argc, char **argv, char **envp, struct launch_options *opt,
                   struct job_map *plan, struct errmsg *err);

/* The nodes of the DVM that nobody has reserved, and the command that starts daemons there. */
enum standing { STANDING_NONE, STANDING_FOUND, STANDING_FULL /* no node is left */ };
typedef enum standing standing_fn(struct arena *a, struct host_list *list, const char **exec_p);

/* Callbacks of the caller; each may be NULL. */
struct launch_hooks {
    standing_fn *standing; /* used first if the user has named no nodes */
    /* Only the options have been read; seconds: the time limit (0: none). */
    void (*limited)(void *arg, uint32_t seconds);
    void *arg;
};

/* The same with hooks. */
int launch_prepare_with(int argc, char **argv, char **envp, const struct launch_hooks *hooks,
                        struct launch_options *opt, struct job_map *plan, struct errmsg *err);

/* The placement of ranks may depend on the hardware of other machines (-map-by ppr:N:OBJECT,
 * -rank-by OBJECT).  Then opt->scouting is set, and the plan of launch_prepare() is only good for
 * its nodes: all that may be used, each with some rank.  When they have reported their hardware,
 * this makes the real plan in its place, on a subset of those nodes.  far: as in binding.h.
 * Results as above. */
int launch_prepare_again(struct launch_options *opt, struct job_map *plan,
                         struct bind_machine *(*remote_machine)(void *arg, const char *node),
                         void *arg, struct errmsg *err);

/* For the jobs that come later: which machine is which, and the hardware that others have reported
 * (remote_machine stays NULL if they have not). */
void launch_known_hardware(const struct launch_options *opt, struct binding *b);

#endif
