/* spawn_plan.h - a spawn request of a running job becomes a plan.
 *
 * The same steps as for the command line (nodes, placing, environment, programs), with the
 * request instead of options.  Info keys, per command:
 *   wdir             directory to start in; a relative one is taken from ours
 *   session-wdir     start in the session directory of the job; of this and wdir the first counts
 *   pset             name of the set of its processes
 *   preload-binary   each node starts a copy of the program that is here
 *   preload-files    files and directories (`,` between them) that are brought to the nodes
 *   index-argv       argv[0] ends with "-" and the rank
 *   max-restarts     N: a process that fails before it has joined the job is started again, so
 *                    often
 *   path             directories (`:` between them) that are searched first for the program
 *   env, env-...     the environment: launch/spawn_env.h; may come several times
 *   host, hosts, add-host, add-hosts, hostfile, add-hostfile
 *                    nodes (launch/spawn_hosts.h); default: the nodes of `like`.  Those of add-...
 *                    that a DVM does not have join it before (daemon/spawn_growth.h)
 *   alloc-...        nodes are reserved for the job, or have been: daemon/allocations.h
 *   no-procs-on-head not on the launcher's node
 *   map-by, rank-by, bind-to    as the options of the command line, with the words behind a ':'
 *                    (launch/spawn_words.h); but no rank file
 *   ppr              N:OBJECT: as map-by ppr:N:OBJECT
 *   cpus-per-proc    N: as map-by ...:pe=N
 *   cpu-list         processors, as in 0-3,8: all processes of a node share them
 *   no-oversubscribe more processes than slots are refused
 *   connectivity     as the option of the command line
 *                    These are for the whole job: two programs cannot have different ones
 *   output-..., tag-output and the like    launch/spawn_output.h
 *   display-map, report-bindings    as -dry-run and -report-bindings show them
 *   display-topology, display-processors    nodes (or "all"): launch/plan_hardware.h
 *   display-parseable    the map and the hardware as JSON
 *   each-help        help messages of Open MPI are not counted, but shown each time
 *   do-not-launch    only planned: the answer names a job that does not exist
 *   spawn-timeout, job-timeout      seconds, for the start and from then on for the job
 *   stop-..., breakpoint    launch/spawn_stops.h
 *   exec-agent       a command that gets the program and its arguments, and executes it
 *   abort-non-zero, silent-termination, apart, joint-exit-code, log-..., show-progress
 *                    the ways of core/job_map.h
 *   soft             "3", "1:5", "2:10:4", lists of these: numbers of processes that are also
 *                    accepted if the full number is impossible
 *   file             a file with more of these, a line each: KEY = VALUE; # begins a comment.  The
 *                    request itself has priority
 * Others are for other process managers and are skipped, as the MPI standard requires.
 */
#ifndef WIREUP_LAUNCH_SPAWN_PLAN_H
#define WIREUP_LAUNCH_SPAWN_PLAN_H

#include "core/job.h"
#include "core/spawn.h"
#include "launch/options.h"

/* The job gets nodes, environment, directory and -prefork of the plan `like` (the requester's, or
 * that of the launcher's first job), unless the request says otherwise.  Fills *plan_p (which it
 * initialises). codes has one entry per requested process (spawn_nprocs). 0; enum spawn_failure,
 * with one sentence (about the first command that is impossible) and the codes of its processes. */
int spawn_plan_build(const struct launch_options *opt, const struct job_map *like,
                     const struct spawn_request *rq, struct job_map *plan_p, int *codes,
                     struct errmsg *err);

/* The largest number that `soft` accepts among 1..most; 0: none (or the text is wrong). */
uint32_t spawn_plan_soft(struct slice soft, uint32_t most);

#endif
