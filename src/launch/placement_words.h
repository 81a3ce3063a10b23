/* placement_words.h - how a job was placed, in words: what its processes are told (PMIX_MAPBY …).
 *
 * The words are those of -map-by, -rank-by and -bind-to; an option that was not given has the word
 * that means the same. */
#ifndef WIREUP_LAUNCH_PLACEMENT_WORDS_H
#define WIREUP_LAUNCH_PLACEMENT_WORDS_H

#include "base/err.h"
#include "core/job_map.h"
#include "launch/hosts.h"

/* The options' texts; NULL: not given. */
struct placement_words {
    const char *map_by, *rank_by, *bind_to;
    const char *cluster;
    const char *connectivity;
    const char *allocated; /* (JOB_ALLOCATED) */
};

/* 1, with one sentence: it is none of the texts of -connectivity, or a grid of another size than
 * the job. */
int placement_words_check(const struct job_map *plan, const char *connectivity, struct errmsg *err);

/* Those of a job whose programs are placed differently: the words of each, joined as on the command
 * line ("node : core"); one word where all have the same.  Sets map_by, rank_by and bind_to of
 * *all. 0 or -ENOMEM. */
int placement_words_join(struct arena *a, const struct placement_words *of_app, uint32_t n,
                         struct placement_words *all);

/* Sets the words of the plan, copied.  0 or -ENOMEM. */
int placement_words_set(struct job_map *plan, const struct placement_words *words);

/* The names of the plan's nodes and of others, with commas.  In the arena; NULL: no memory. */
const char *placement_words_nodes(struct arena *a, const struct job_map *plan,
                                  const struct host_list *others);

/* The cluster of the allocation that we run in, by its resource manager's environment; else this
 * machine's name.  In the arena; NULL: no memory. */
const char *placement_words_cluster(struct arena *a, char *const *envp);

#endif
