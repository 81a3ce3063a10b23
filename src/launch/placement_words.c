/* placement_words.c - see placement_words.h. */
#include "launch/placement_words.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/connectivity.h"
#include "launch/environ.h"
#include "base/env.h"

/* Without -rank-by, processes are numbered as they were mapped: only mapping by node deals them to
 * the nodes in turn. */
static const char *rank_word(const struct placement_words *w)
{
    if (w->rank_by)
        return w->rank_by;
    return w->map_by && strncmp(w->map_by, "node", 4) == 0 ? "node" : "slot";
}

int placement_words_set(struct job_map *plan, const struct placement_words *w)
{
    const char *texts[JOB_MAP_WORDS] = { [JOB_MAP_BY] = w->map_by ? w->map_by : "slot",
                                         [JOB_RANK_BY] = rank_word(w),
                                         [JOB_BIND_TO] = w->bind_to ? w->bind_to : "none",
                                         [JOB_CLUSTER] = w->cluster,
                                         [JOB_CONNECTIVITY] = w->connectivity };

    for (int i = 0; i < JOB_MAP_WORDS; i++)
        plan->words[i] = texts[i] ? arena_str(&plan->arena, slice_str(texts[i])) : NULL;
    return arena_ok(&plan->arena) ? 0 : -ENOMEM;
}

int placement_words_check(const struct job_map *plan, const char *connectivity, struct errmsg *err)
{
    struct connectivity c;
    int rc = connectivity ? connectivity_parse(slice_str(connectivity), &c, err) : 0;

    return connectivity && rc == 0 ? connectivity_fits(&c, plan->nprocs, err) : rc;
}

const char *placement_words_cluster(struct arena *a, char *const *envp)
{
    static const char *const names[] = { "SLURM_CLUSTER_NAME", "SGE_CLUSTER_NAME" };
    char host[256] = "localhost";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = env_value(envp, names[i]);
        if (name && *name)
            return arena_str(a, slice_str(name));
    }
    if (gethostname(host, sizeof host - 1) != 0)
        host[0] = '\0';
    return arena_str(a, slice_str(*host ? host : "localhost"));
}
