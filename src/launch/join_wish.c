/* join_wish.c - see join_wish.h. */
#include "launch/join_wish.h"

#include <stddef.h>

/* ---- options that do not go together --------------------------------------------------------- */

/* Lists of settings and variables give way to -join. */
static bool names_nodes(const struct launch_options *o)
{
    bool named = o->rankfile || o->set_by[SET_NODES] == OPTION_TYPED;

    for (const struct launch_block *b = o->blocks; b; b = b->next)
        named = named || b->hosts.count || b->hostfile;
    return named;
}

static int check_words(const struct launch_options *o, struct errmsg *err)
{
    const struct {
        bool given;
        const char *sentence;
    } rows[] = {
        { o->dry_run, "-join: which nodes will come is not known; name some by -hosts to see where "
                      "ranks would run" },
        { o->dvm, "use either -join or -dvm: -join starts one job without a DVM; nodes join a DVM "
                  "by wireup up -join-port" },
        { o->wait, "use either -join or -wait: -wait waits for slots of a DVM, which -join does "
                   "not use" },
        { names_nodes(o), "use either -join, where nodes come by themselves, or a list of nodes "
                          "(-hosts, -hostfile, -rankfile)" },
        { o->restart_job, "use either -join or -restart-job: nodes that have joined end with the "
                          "first start" },
        { o->launcher == LAUNCHER_FORK,
          "use either -join or -launcher fork, which runs everything on this machine" },
        { o->nnodes.min != o->nnodes.max,
          "-join needs one number of nodes: -nnodes N, not MIN:MAX" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].given)
            return errmsg_set(err, LAUNCH_USAGE, "%s", rows[i].sentence);
    }
    return 0;
}

/* ---- how much is enough ---------------------------------------------------------------------- */

/* 0: a program has no number. */
static uint64_t ranks_of(const struct launch_options *o)
{
    uint64_t ranks = 0;

    for (const struct launch_block *b = o->blocks; b; b = b->next) {
        if (!b->nprocs)
            return 0;
        ranks += b->nprocs;
    }
    return ranks;
}

static int check_enough(const struct join_wish *w, uint32_t here, struct errmsg *err)
{
    struct join_count c = { 0, 0 };

    join_wish_count(w, &c, here);
    if (!join_wish_met(w, &c))
        return 0;
    if (w->nodes)
        return errmsg_set(err, LAUNCH_USAGE,
                          "-join: -nnodes 1 is this node alone, and no other would be awaited; "
                          "name more, or leave this one out by -join-only");
    return errmsg_set(err, LAUNCH_USAGE,
                      "-join: this node has %llu slot%s, enough for %llu rank%s, and no other "
                      "would be awaited; say how many nodes by -nnodes, how many ranks each gets "
                      "by -ppn, or leave this node out by -join-only",
                      (unsigned long long)c.slots, c.slots == 1 ? "" : "s",
                      (unsigned long long)w->slots, w->slots == 1 ? "" : "s");
}

int join_wish_make(struct join_wish *w, const struct launch_options *o, bool by_hardware,
                   uint32_t here, struct errmsg *err)
{
    int rc = check_words(o, err);

    if (rc)
        return rc;
    *w = (struct join_wish){ .nodes = o->nnodes.max, .slots = ranks_of(o), .per_node = o->ppn };
    if (!w->nodes && (by_hardware || o->rankmap))
        return errmsg_set(err, LAUNCH_USAGE, "-join with %s needs the number of nodes: -nnodes N",
                          o->rankmap ? "-rankmap" : "-map-by ppr");
    if (!w->nodes && !w->slots)
        return errmsg_set(err, LAUNCH_USAGE,
                          "-join must know what to wait for: give each program its number of "
                          "processes (-n), or the number of nodes (-nnodes)");
    return o->join_only || o->no_local ? 0 : check_enough(w, here, err);
}

void join_wish_count(const struct join_wish *w, struct join_count *c, uint32_t slots)
{
    c->nodes++;
    c->slots += w->per_node ? w->per_node : slots;
}

bool join_wish_met(const struct join_wish *w, const struct join_count *c)
{
    return w->nodes ? c->nodes >= w->nodes : c->slots >= w->slots;
}
