/* batch_file.h - the jobs of `wireup run -batch FILE OPTIONS`, one for each line of the file, and
 * what becomes of them: they are told where they fail, and counted.
 */
#ifndef WIREUP_LAUNCH_BATCH_FILE_H
#define WIREUP_LAUNCH_BATCH_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "launch/mpmd.h"
#include "launch/options.h"

struct batch_job {
    struct mpmd_words words;
    unsigned line;
    uint64_t begun_ns;
    pid_t pid;                      /* of its launcher; 0: it does not run, or not so */
    uint32_t job;                   /* its number in our launcher */
    struct launch_options *options; /* those of its plan; NULL: it has no plan */
};

struct batch_file {
    const struct log *log;
    const char *file;
    char **options; /* NULL-terminated */
    uint32_t noptions;
    bool json, stops; /* of the options */
    struct arena arena;
    struct buf text;
    struct batch_job *jobs;
    uint32_t njobs, room, next; /* the first that has not been started */
    uint32_t most;              /* at once */
    uint32_t nfailed;
    unsigned first_failed; /* line */
    int code, signal;      /* of that one; that has interrupted us, or 0 */
};

/* Is it such a command line? */
bool batch_file_meant(int argc, char **argv);

/* 0, or the exit code: the sentence has been printed.  Close it in any case. */
int batch_file_open(struct batch_file *b, int argc, char **argv, const struct log *log);
void batch_file_close(struct batch_file *b);

/* `wireup run FIRST OPTIONS LINE`, in the arena; first: an option, or NULL.  NULL: no memory. */
char **batch_file_command(struct batch_file *b, const char *first, const struct mpmd_words *line,
                          int *argc_p);

/* A job can be started. */
bool batch_file_goes_on(const struct batch_file *b);

/* A job has ended.  why: NULL, or the sentence why it was not started. */
void batch_file_ended(struct batch_file *b, const struct batch_job *j, const char *why, int code);

/* The last words, and the exit code. */
int batch_file_report(const struct batch_file *b);

/* One launcher can run all lines: they say how many processes of which programs there are, with
 * which variables and directories, and nothing that is a launcher's; the options likewise, and on
 * which nodes, and how output is shown. */
bool batch_file_is_plain(const struct batch_file *b);

/* The processes of all lines, at most; and those of the largest one. */
uint32_t batch_file_processes(const struct batch_file *b, uint32_t *largest_p);

#endif
