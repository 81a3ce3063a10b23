/* output.h - a node's output: our own standard output and error, and the files of ranks' output.
 *
 * Every sink is opened once, here; other modules get the sink of a file by its name.
 */
#ifndef WIREUP_DAEMON_OUTPUT_H
#define WIREUP_DAEMON_OUTPUT_H

#include "base/err.h"
#include "core/job.h"
#include "io/log_sink.h"

struct output {
    struct loop *loop; /* NULL: not open */
    struct log *log;
    char *scratch; /* STDIO_CHUNK bytes */
    struct sink out, err;
    bool one_stream; /* both go to the same file */
    struct log_sink log_sink;
    struct list files;
    bool failed; /* something could not be written where it should be, which has been reported */
};

/* diverted: standard output and error are pipes to ourselves (streams_divert()).  The log is
 * written among the output from now on.  on_idle(arg): all is written for now.  0 or -ENOMEM. */
int output_open(struct output *o, struct loop *l, struct log *log, bool diverted, loop_fn *on_idle,
                void *arg);
void output_close(struct output *o); /* harmless twice, and on zeroed memory */
void output_drop(struct output *o);  /* nothing more is written, to any sink */

/* Standard output and error lead nowhere from now on; files stay. */
void output_detach(struct output *o);

/* Launcher: a job shows its output as it comes; what other nodes send may be its. */
void output_relay_raw(struct output *o);

/* Where text for standard error goes: to standard output if both are the same file, so that lines
 * stay whole. */
struct sink *output_err(struct output *o);

/* All of standard output and error is written for now; and their end. */
bool output_is_idle(const struct output *o);
void output_end(struct output *o);

struct node_config;

/* How the output of a job is shown: as it asks itself, or else as that of all jobs. */
struct job_map_output output_ways(const struct node_config *c, const struct job *job);

/* Creates the output files of the job's processes here, before any of them is started; out, err:
 * the patterns of their names, or NULL.  0; OUTPUT_BAD with a sentence: one cannot be created. */
enum { OUTPUT_BAD = 1 };
int output_prepare(struct output *o, const char *out, const char *err_file, const struct job *job,
                   struct errmsg *err);

/* The sink of one process: its file, or `standard` if there is no pattern. */
struct sink *output_of(struct output *o, const char *pattern, const struct job *job, uint32_t rank,
                       struct sink *standard);

/* Reports output that could not be written: lost output is an error. */
void output_report_lost(struct output *o);

#endif
