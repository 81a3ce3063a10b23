/* spawn_stops.c - see spawn_stops.h. */
#include "launch/spawn_stops.h"

#include <errno.h>

#include "core/rank_ranges.h"
#include "launch/options.h"

static const char *const keys[JOB_MAP_STOPS] = { [JOB_MAP_STOP_ON_EXEC] = SPAWN_STOP_ON_EXEC,
                                                 [JOB_MAP_STOP_IN_INIT] = SPAWN_STOP_IN_INIT,
                                                 [JOB_MAP_STOP_IN_APP] = SPAWN_STOP_IN_APP };

static void stop_app(struct job_map *plan, uint32_t app, uint8_t bit)
{
    for (uint32_t r = 0; r < plan->nprocs; r++) {
        if (plan->procs[r].app == app)
            plan->procs[r].stops |= bit;
    }
}

static int stop_ranks(struct job_map *plan, const char *key, struct slice ranks, uint8_t bit,
                      struct errmsg *err)
{
    while (ranks.len) {
        struct slice one = slice_cut(&ranks, ',');
        uint32_t rank;
        if (!slice_u32(one, &rank) || rank >= plan->nprocs)
            return errmsg_set(err, SPAWN_BAD_REQUEST, "%s: the job has no rank " SLICE_FMT, key,
                              SLICE_ARG(slice_head(one, 20)));
        plan->procs[rank].stops |= bit;
    }
    return 0;
}

int spawn_stops_read(struct job_map *plan, const struct spawn_command *commands, uint32_t n,
                     struct errmsg *err)
{
    struct slice name = spawn_info_of_all(commands, n, SPAWN_BREAKPOINT);
    struct slice target = spawn_info_of_all(commands, n, SPAWN_DEBUG_TARGET);
    int rc = 0;

    for (uint32_t i = 0; i < n; i++) {
        for (int k = 0; k < JOB_MAP_STOPS && rc == 0; k++) {
            uint8_t bit = job_map_stop_bit((enum job_map_stop)k);
            struct slice who = spawn_info(&commands[i], keys[k]);
            if (slice_is(who, "all"))
                stop_app(plan, i, bit);
            else
                rc = stop_ranks(plan, keys[k], who, bit, err);
        }
    }
    if (name.len)
        plan->breakpoint = arena_str(&plan->arena, name);
    if (target.len)
        plan->target = arena_str(&plan->arena, target);
    return arena_ok(&plan->arena) ? rc : -ENOMEM;
}

/* A debugger's processes wait for it. */
static int stop_for_debugger(struct job_map *plan, const struct launch_options *opt,
                             struct errmsg *err)
{
    const uint8_t bit = job_map_stop_bit(JOB_MAP_STOP_ON_EXEC);
    struct slice list = slice_str(opt->debugger_ranks);
    uint32_t first = 0, last = plan->nprocs ? plan->nprocs - 1 : 0;

    do {
        if (opt->debugger_ranks && !rank_range_cut(&list, &first, &last))
            return errmsg_set(err, LAUNCH_USAGE,
                              "-debugger-ranks must be ranks such as 0,2-5, not '%.100s'",
                              opt->debugger_ranks);
        if (last >= plan->nprocs)
            return errmsg_set(err, LAUNCH_USAGE, "-debugger-ranks: the job has no rank %u", last);
        for (uint32_t r = first; r <= last; r++)
            plan->procs[r].stops |= bit;
    } while (opt->debugger_ranks && list.len);
    return 0;
}

int spawn_stops_options(struct job_map *plan, const struct launch_options *opt, struct errmsg *err)
{
    const bool wanted[JOB_MAP_STOPS] = { [JOB_MAP_STOP_ON_EXEC] = opt->stop_on_exec,
                                         [JOB_MAP_STOP_IN_INIT] = opt->stop_in_init,
                                         [JOB_MAP_STOP_IN_APP] =
                                             opt->stop_in_app || opt->breakpoint };
    uint8_t bits = 0;

    for (int k = 0; k < JOB_MAP_STOPS; k++)
        bits |= wanted[k] ? job_map_stop_bit((enum job_map_stop)k) : 0;
    for (uint32_t r = 0; bits && r < plan->nprocs; r++)
        plan->procs[r].stops = bits;
    if (opt->breakpoint)
        plan->breakpoint = arena_str(&plan->arena, slice_str(opt->breakpoint));
    if (opt->breakpoint && !plan->breakpoint)
        return -ENOMEM;
    if (opt->debugger_ranks && !opt->debugger)
        return errmsg_set(err, LAUNCH_USAGE, "-debugger-ranks needs -debugger");
    return opt->debugger ? stop_for_debugger(plan, opt, err) : 0;
}
