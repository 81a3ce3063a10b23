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
#include "launch/join_wish.h"
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

/* What the job asks of a DVM. */
struct dvm_wish {
    bool named;             /* the user has named nodes: opt->hosts has them */
    enum mapping_over over; /* OVER_NO: only slots that are free */
};

/* If a DVM is used, sets *used_p and the command that starts daemons there, and adds its nodes to
 * opt->hosts if the user has named none.  0; LAUNCH_REFUSED with a sentence; -errno. */
typedef int dvm_fn(void *arg, struct launch_options *opt, const struct dvm_wish *wish, bool *used_p,
                   struct errmsg *err);

/* Callbacks of the caller; each may be NULL. */
struct launch_hooks {
    dvm_fn *dvm; /* asked before the resource manager */
    void *dvm_arg;
    bool no_join;                  /* -join is refused: this is no launch of one job */
    const struct node_names *lost; /* in an earlier start: with -nnodes they are left out */
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

/* With -join the plan of launch_prepare() is for the launcher's node only, and opt->scouting says
 * whether ranks depend on hardware; this is what has to come before the job is planned. */
const struct join_wish *launch_wish(const struct launch_options *opt);

/* ... and this makes the plan, over those nodes: in the order of the list, unless -order-nodes says
 * another one.  remote_machine: NULL without opt->scouting.  Results as above. */
int launch_prepare_joined(struct launch_options *opt, struct job_map *plan,
                          const struct host_list *nodes,
                          struct bind_machine *(*remote_machine)(void *arg, const char *node),
                          void *arg, struct errmsg *err);

/* For the jobs that come later: which machine is which, and the hardware that others have reported
 * (remote_machine stays NULL if they have not). */
void launch_known_hardware(const struct launch_options *opt, struct binding_machines *known);

#endif
