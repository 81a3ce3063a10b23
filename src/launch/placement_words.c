/* placement_words.c - see placement_words.h. */
#include "launch/placement_words.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/connectivity.h"
#include "launch/environ.h"
#include "base/env.h"

/* Of all programs. */
enum { WORDS_MAX = 1 << 22 };

/* Without -rank-by, processes are numbered as they were mapped: only mapping by node deals them to
 * the nodes in turn. */
static const char *rank_word(const struct placement_words *w)
{
    if (w->rank_by)
        return w->rank_by;
    return w->map_by && strncmp(w->map_by, "node", 4) == 0 ? "node" : "slot";
}

static const char *word_of(const struct placement_words *w, enum job_map_word which)
{
    switch (which) {
    case JOB_MAP_BY: return w->map_by ? w->map_by : "slot";
    case JOB_RANK_BY: return rank_word(w);
    case JOB_BIND_TO: return w->bind_to ? w->bind_to : "none";
    case JOB_CLUSTER: return w->cluster;
    case JOB_CONNECTIVITY: return w->connectivity;
    case JOB_ALLOCATED: return w->allocated;
    case JOB_MAP_WORDS: break;
    }
    return NULL;
}

static const char *join(struct arena *a, const struct placement_words *of_app, uint32_t n,
                        enum job_map_word which)
{
    struct buf text = BUF_NULL(WORDS_MAX);
    const char *joined;
    bool same = true;

    for (uint32_t i = 0; i < n; i++) {
        const char *word = word_of(&of_app[i], which);
        same = same && !strcmp(word, word_of(&of_app[0], which));
        buf_printf(&text, "%s%s", i ? " : " : "", word);
    }
    joined = same            ? word_of(&of_app[0], which)
             : buf_ok(&text) ? arena_str(a, buf_slice(&text))
                             : NULL;
    buf_free(&text);
    return joined;
}

int placement_words_join(struct arena *a, const struct placement_words *of_app, uint32_t n,
                         struct placement_words *all)
{
    all->map_by = join(a, of_app, n, JOB_MAP_BY);
    all->rank_by = join(a, of_app, n, JOB_RANK_BY);
    all->bind_to = join(a, of_app, n, JOB_BIND_TO);
    return all->map_by && all->rank_by && all->bind_to ? 0 : -ENOMEM;
}

int placement_words_set(struct job_map *plan, const struct placement_words *w)
{
    for (int i = 0; i < JOB_MAP_WORDS; i++) {
        const char *word = word_of(w, (enum job_map_word)i);
        plan->words[i] = word ? arena_str(&plan->arena, slice_str(word)) : NULL;
    }
    return arena_ok(&plan->arena) ? 0 : -ENOMEM;
}

int placement_words_check(const struct job_map *plan, const char *connectivity, struct errmsg *err)
{
    struct connectivity c;
    int rc = connectivity ? connectivity_parse(slice_str(connectivity), &c, err) : 0;

    return connectivity && rc == 0 ? connectivity_fits(&c, plan->nprocs, err) : rc;
}

const char *placement_words_nodes(struct arena *a, const struct job_map *plan,
                                  const struct host_list *others)
{
    struct buf names = BUF_NULL(WORDS_MAX);
    const char *all;

    for (uint32_t n = 0; n < plan->nnodes; n++)
        buf_printf(&names, "%s%s", n ? "," : "", plan->nodes[n].name);
    for (size_t n = 0; n < others->count; n++)
        buf_printf(&names, ",%s", others->items[n].name);
    all = buf_ok(&names) ? arena_str(a, buf_slice(&names)) : NULL;
    buf_free(&names);
    return all;
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
