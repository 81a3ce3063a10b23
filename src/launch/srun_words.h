/* srun_words.h - `wireup srun OPTIONS PROGRAM ARGS`, and wireup under the name srun: the words of
 * Slurm's srun.  The command line is translated into our own words (synonyms.def) before anything
 * else reads it; what only a scheduler could do is refused in a sentence.
 *
 * Pure but for the files of --multi-prog and --nodefile, which the caller reads.
 */
#ifndef WIREUP_LAUNCH_SRUN_WORDS_H
#define WIREUP_LAUNCH_SRUN_WORDS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* Is this such a command line? */
bool srun_words_meant(int argc, char *const *argv);

/* What it becomes, in the arena. */
struct srun_words {
    const char *wait; /* the caller's: the variable SLURM_WAIT, a default of --wait; or NULL */
    int argc;
    char **argv;        /* argv[0] as it was; NULL-terminated */
    struct buf answer;  /* LAUNCH_SHOW: for standard output */
    struct buf remarks; /* LAUNCH_GO: lines about words without effect */
};

/* The text of a file: 0 or -errno. */
typedef int srun_words_file(const char *path, struct buf *out);

/* LAUNCH_GO, LAUNCH_SHOW, LAUNCH_USAGE with the sentence (launch/options.h); -ENOMEM. */
int srun_words_translate(struct arena *a, int argc, char *const *argv, srun_words_file *file,
                         struct srun_words *w, struct errmsg *err);

#endif
