/* spawn_output.h - how the output of a spawned job is shown, as infos of its commands:
 *   tag-output, timestamp-output, rank-output   each line begins with job and rank; seconds; rank
 *   name-output, node-output   with namespace and rank; with job, rank, node and process id
 *   merge-output       standard error goes to standard output
 *   raw-output         pieces of lines are shown as they come
 *   xml-output         each line is an element (server/iof_xml.h), with timestamp-output one with
 *                      the time of day
 *   output-rank        a file PATH.RANK for both
 *   output-file        files PATH.NAMESPACE.RANK.stdout and .stderr
 *   output-pattern     with output-file: PATH is a pattern, and nothing is added to it
 *   output-directory   files PATH/NAMESPACE/rank.RANK/stdout and stderr
 * A relative PATH is taken from the directory of the first program.  Files are written instead of
 * the launcher's own output.
 */
#ifndef WIREUP_LAUNCH_SPAWN_OUTPUT_H
#define WIREUP_LAUNCH_SPAWN_OUTPUT_H

#include "base/err.h"
#include "core/job_map.h"
#include "core/spawn.h"

/* What follows the path in the names of the files of both streams. */
struct spawn_output_names {
    const char *out, *err;
};
extern const struct spawn_output_names spawn_output_file, spawn_output_directory;

/* The files of the job's output, under a path that means itself (no pattern); wdir: what a relative
 * one is taken from, or NULL.  plan->output.merged is known.  0 or -ENOMEM. */
int spawn_output_files(struct job_map *plan, const char *wdir, struct slice path,
                       const struct spawn_output_names *names);

/* From those of all commands into plan->output; the programs' directories are known.
 * 0; SPAWN_BAD_REQUEST with the sentence; -ENOMEM. */
int spawn_output_read(struct job_map *plan, const struct spawn_command *commands, uint32_t n,
                      struct errmsg *err);

#endif
