/* simulate.c - see simulate.h. */
#include "tools/simulate.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/json.h"
#include "cluster/sim.h"
#include "core/connectivity.h"
#include "tools/sim_stacks.h"

enum { NODES_MAX = 1 << 20, RESULT_MAX = 64 << 10, COST_MAX = 2000000000 };

/* ---- the command line ------------------------------------------------------------------------ */

static bool number(const struct command_line *l, int choice, uint64_t most, uint64_t *value_p)
{
    uint64_t v;

    if (!l->choices[choice])
        return true;
    if (!slice_u64(slice_str(l->choices[choice]), &v) || v > most) {
        log_error(l->log, "sim: --" SLICE_FMT " must be a number up to %" PRIu64,
                  SLICE_ARG(command_choice_name(&command_rows[COMMAND_sim].choices[choice])), most);
        return false;
    }
    *value_p = v;
    return true;
}

static bool small(const struct command_line *l, int choice, uint32_t most, uint32_t *value_p)
{
    uint64_t v = *value_p;
    bool good = number(l, choice, most, &v);

    *value_p = (uint32_t)v;
    return good;
}

static bool read_flags(const struct command_line *l, struct sim_config *c)
{
    struct slice rest = slice_str(l->choices[CHOICE_sim_flags]);

    while (rest.len) {
        struct slice word = slice_cut(&rest, ',');
        if (slice_is(word, "barrier"))
            c->barrier_first = true;
        else if (slice_is(word, "relayed"))
            c->through_tree = true;
        else if (slice_is(word, "dial-in"))
            c->dial_in = true;
        else if (slice_is(word, "real") || slice_is(word, "encoded"))
            c->modelled = false;
        else {
            log_error(l->log,
                      "sim: --flags: '" SLICE_FMT
                      "' is unknown; it must be barrier, relayed, dial-in, real or encoded",
                      SLICE_ARG(word));
            return false;
        }
    }
    return true;
}

/* A word of --costs. */
static bool read_cost(struct sim_config *c, struct slice name, uint64_t ns)
{
    const struct {
        const char *name;
        uint64_t *ns;
    } costs[] = { { "prepare", &c->costs.prepare }, { "agent", &c->costs.agent },
                  { "shell", &c->costs.shell },     { "daemon", &c->costs.daemon },
                  { "rank", &c->costs.rank },       { "call", &c->costs.call },
                  { "event", &c->costs.event },     { "leave", &c->costs.leave },
                  { "joined", &c->costs.joined },   { "close", &c->costs.close },
                  { "end", &c->costs.end },         { "finish", &c->costs.finish } };

    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; i++) {
        if (!slice_is(name, costs[i].name))
            continue;
        *costs[i].ns = ns;
        return true;
    }
    if (!slice_is(name, "byte"))
        return false;
    c->work_ps = (uint32_t)ns; /* of 1000 bytes, in ns */
    return true;
}

static bool read_costs(const struct command_line *l, struct sim_config *c)
{
    struct slice rest = slice_str(l->choices[CHOICE_sim_costs]);
    uint64_t ns;

    while (rest.len) {
        struct slice word = slice_cut(&rest, ','), whole = word, name = slice_cut(&word, '=');
        if (slice_u64(word, &ns) && ns <= COST_MAX && read_cost(c, name, ns))
            continue;
        log_error(l->log,
                  "sim: --costs: '" SLICE_FMT
                  "' is not NAME=NS: the names are prepare, agent, shell, "
                  "daemon, rank, call, event, leave, joined, close, end, finish and byte",
                  SLICE_ARG(whole));
        return false;
    }
    return true;
}

static bool read_schedule(const struct command_line *l, struct sim_config *c)
{
    const char *word = l->choices[CHOICE_sim_schedule];

    if (!word || overlay_schedule_named(slice_str(word), &c->schedule))
        return true;
    log_error(l->log, "sim: --schedule must be auto, tree or exchange, not '%s'", word);
    return false;
}

static bool read_connectivity(const struct command_line *l, struct sim_config *c)
{
    struct errmsg err = { "" };
    struct connectivity parsed;

    c->connectivity = l->choices[CHOICE_sim_connectivity];
    if (!c->connectivity || (connectivity_parse(slice_str(c->connectivity), &parsed, &err) == 0 &&
                             connectivity_fits(&parsed, c->nodes * c->ranks, &err) == 0))
        return true;
    log_error(l->log, "sim: %s", err.text);
    return false;
}

/* These have the launcher as one node more. */
static bool read_phases(const struct command_line *l, struct sim_config *c)
{
    c->phases = l->choices[CHOICE_sim_phases] != NULL;
    if (!c->phases) {
        if (!l->choices[CHOICE_sim_costs] && !l->choices[CHOICE_sim_processors])
            return true;
        log_error(l->log, "sim: --costs and --processors are of --phases, which is not given");
        return false;
    }
    if (sim_only_phases(c)) {
        c->rounds = 3;
        c->barrier_first = true;
        c->nodes += c->nodes != 0;
        return true;
    }
    log_error(l->log,
              "sim: --phases runs one job alone: it cannot be given with failures, sets, joins, "
              "leaves, other messages, jitter or --rounds");
    return false;
}

static bool read_config(const struct command_line *l, struct sim_config *c)
{
    sim_defaults(c);
    c->modelled = true;
    return small(l, CHOICE_sim_nodes, NODES_MAX, &c->nodes) &&
           small(l, CHOICE_sim_ranks, 4096, &c->ranks) &&
           number(l, CHOICE_sim_bytes_per_rank, 1 << 30, &c->card) &&
           small(l, CHOICE_sim_width, 4096, &c->width) &&
           number(l, CHOICE_sim_seed, UINT64_MAX, &c->seed) &&
           small(l, CHOICE_sim_rounds, 1 << 20, &c->rounds) &&
           small(l, CHOICE_sim_sets, 8, &c->sets) &&
           small(l, CHOICE_sim_node_failures, 4096, &c->kills) &&
           small(l, CHOICE_sim_link_failures, 4096, &c->cuts) &&
           small(l, CHOICE_sim_slow, 4096, &c->slow) &&
           small(l, CHOICE_sim_joins, 4096, &c->grows) &&
           small(l, CHOICE_sim_leaves, 4096, &c->leaves) &&
           small(l, CHOICE_sim_takeovers, 16, &c->takeovers) &&
           small(l, CHOICE_sim_reports, 1 << 16, &c->reports) &&
           small(l, CHOICE_sim_broadcasts, 1 << 16, &c->broadcasts) &&
           small(l, CHOICE_sim_requests, 60, &c->requests) &&
           small(l, CHOICE_sim_groups, 4, &c->groups) &&
           small(l, CHOICE_sim_store, 1000, &c->store) &&
           number(l, CHOICE_sim_jitter, 1000000000, &c->jitter_ns) &&
           number(l, CHOICE_sim_latency, 1000000000, &c->latency_ns) &&
           number(l, CHOICE_sim_overhead, 1000000000, &c->overhead_ns) &&
           small(l, CHOICE_sim_ps_per_byte, 1000000, &c->byte_ps) &&
           small(l, CHOICE_sim_link, 1000000000, &c->link_ns) &&
           small(l, CHOICE_sim_processors, 4096, &c->processors) &&
           small(l, CHOICE_sim_window, 1 << 30, &c->window) && read_costs(l, c) &&
           read_schedule(l, c) && read_flags(l, c) && read_connectivity(l, c) && read_phases(l, c);
}

/* ---- the report ------------------------------------------------------------------------------ */

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static double ratio(const struct sim_result *r)
{
    return r->bound_ns ? (double)r->last_ns / (double)r->bound_ns : 1;
}

/* The stacks are at the launcher after virtual time, and merged in real time. */
static void stacks_text(const struct sim_result *r, const struct sim_stacks *t)
{
    printf("stacks:      of %u ranks, at the launcher after %.3f ms, merged there in %.3f ms; %u "
           "groups, the "
           "smallest has rank %u\n",
           t->merged, ms(r->answered_ns), ms(t->merge_ns), t->groups, t->odd);
}

static void stacks_json(struct json *j, const struct sim_result *r, const struct sim_stacks *t)
{
    json_object(j, "stacks");
    json_u64(j, "ranks", t->merged);
    json_u64(j, "gathered_ns", r->answered_ns);
    json_u64(j, "merge_ns", t->merge_ns);
    json_u64(j, "groups", t->groups);
    json_u64(j, "odd_rank", t->odd);
    json_object_end(j);
}

static const char *const phase_names[SIM_PHASES] = {
    [SIM_PHASE_START] = "start",
    [SIM_PHASE_BARRIER] = "barrier",
    [SIM_PHASE_FENCE] = "fence",
    [SIM_PHASE_AGAIN] = "fence_again",
    [SIM_PHASE_BROADCAST] = "broadcast",
    [SIM_PHASE_GET] = "get",
    [SIM_PHASE_END] = "end",
};

static void phases_text(const struct sim_result *r)
{
    printf("phases:     ");
    for (int i = 0; i < SIM_PHASES; i++)
        printf(" %s %.3f ms%s", phase_names[i], ms(r->phase_ns[i]),
               i + 1 < SIM_PHASES ? "," : "\n");
}

static void phases_json(struct json *j, const struct sim_result *r)
{
    json_object(j, "phases_ns");
    for (int i = 0; i < SIM_PHASES; i++)
        json_u64(j, phase_names[i], r->phase_ns[i]);
    json_object_end(j);
}

static void fence_text(const struct sim_config *c, const struct sim_result *r)
{
    printf("first fence: gathered at the top after %.3f ms, everywhere after %.3f ms (%s)\n",
           ms(r->gathered_ns), ms(r->last_ns), r->exchanged ? "exchange" : "tree");
    printf("lower bound: %.3f ms; ratio %.2f\n", ms(r->bound_ns), ratio(r));
    if (c->store)
        printf("store:       %u times met, all by %.3f ms\n", c->store, ms(r->stored_ns));
}

/* With phases the launcher is a node, too, but none of the job. */
static uint32_t nodes_of(const struct sim_config *c)
{
    return c->nodes - c->phases;
}

static void print_text(const struct sim_config *c, const struct sim_result *r)
{
    uint64_t node = c->card * c->ranks;

    printf("%u nodes x %u ranks, %" PRIu64 " bytes each (%" PRIu64 " per node, %.3f MB in all); "
           "width %u, seed %" PRIu64 "\n",
           nodes_of(c), c->ranks, c->card, node, (double)node * nodes_of(c) / 1e6, c->width,
           c->seed);
    if (c->phases)
        phases_text(r);
    else
        fence_text(c, r);
    printf("messages:    %" PRIu64 " (%" PRIu64 " of exchanges), of one node at most %" PRIu64 "\n",
           r->messages, r->exchanged, r->node_messages);
    printf("bytes:       %.3f MB, of one node at most %.3f MB\n", (double)r->bytes / 1e6,
           (double)r->node_bytes / 1e6);
    printf("memory:      blocks of others, at one node at most %.3f MB\n",
           (double)r->node_held / 1e6);
    printf("end:         after %.3f ms; %" PRIu64 " nodes live; %" PRIu64
           " parts in collectives, %" PRIu64 " of them failed for a lost node\n",
           ms(r->end_ns), r->survivors, r->collectives, r->failed);
}

static void print_json(const struct log *log, const struct sim_config *c,
                       const struct sim_result *r, const struct sim_stacks *t)
{
    struct buf out = BUF_NULL(RESULT_MAX);
    struct json j;

    json_init(&j, &out);
    json_object(&j, NULL);
    json_str(&j, "schema", "wireup-sim-1");
    json_u64(&j, "nodes", nodes_of(c));
    json_u64(&j, "ranks", c->ranks);
    json_u64(&j, "card", c->card);
    json_u64(&j, "width", c->width);
    json_u64(&j, "seed", c->seed);
    json_u64(&j, "gathered_ns", r->gathered_ns);
    json_u64(&j, "everywhere_ns", r->last_ns);
    json_u64(&j, "bound_ns", r->bound_ns);
    json_decimal(&j, "ratio", ratio(r), 4);
    json_u64(&j, "messages", r->messages);
    json_u64(&j, "exchange_messages", r->exchanged);
    json_u64(&j, "bytes", r->bytes);
    json_u64(&j, "node_messages", r->node_messages);
    json_u64(&j, "node_bytes", r->node_bytes);
    json_u64(&j, "node_memory", r->node_held);
    json_u64(&j, "end_ns", r->end_ns);
    json_u64(&j, "living", r->survivors);
    json_u64(&j, "parts", r->collectives);
    json_u64(&j, "failed", r->failed);
    if (c->store)
        json_u64(&j, "store_ns", r->stored_ns);
    if (c->phases)
        phases_json(&j, r);
    if (t)
        stacks_json(&j, r, t);
    json_object_end(&j);
    json_done(&j);
    if (buf_ok(&out))
        printf(SLICE_FMT "\n", SLICE_ARG(buf_slice(&out)));
    else
        log_error(log, "sim: out of memory");
    buf_free(&out);
}

static void print_result(const struct command_line *l, const struct sim_config *c,
                         const struct sim_result *r, const struct sim_stacks *stacks)
{
    if (l->choices[CHOICE_sim_json]) {
        print_json(l->log, c, r, stacks);
        return;
    }
    print_text(c, r);
    if (stacks)
        stacks_text(r, stacks);
}

static int report(const struct command_line *l, const struct sim_config *c,
                  const struct sim_result *r, const struct sim_stacks *stacks)
{
    struct buf again = BUF_NULL(4096);

    print_result(l, c, r, stacks);
    if (!r->violation[0])
        return 0;
    sim_command(c, &again);
    log_error(l->log, "sim: %s; to reproduce: %s", r->violation,
              buf_cstr(&again) ? buf_cstr(&again) : "the same command");
    buf_free(&again);
    return 1;
}

/* With stacks, if they are wanted (NULL: they are not). */
static int run(const struct command_line *l, struct sim_config *c, struct sim_stacks *stacks)
{
    struct sim_inquiry inquiry;
    struct sim_result r;
    bool good = true;

    if (stacks) {
        good = sim_stacks_init(stacks, c->nodes, c->ranks);
        inquiry = sim_stacks_inquiry(stacks);
        c->inquiry = &inquiry;
    }
    good = good && sim_run(c, &r) == 0 && (!stacks || sim_stacks_merge(stacks));
    if (good)
        return report(l, c, &r, stacks);
    log_error(l->log, "sim: out of memory");
    return 2;
}

int simulate(const struct command_line *l)
{
    struct sim_stacks stacks = { .nodes = 0 };
    struct sim_config c;
    int code;

    if (!read_config(l, &c))
        return 2;
    if (c.nodes == 0 || c.width == 0) {
        log_error(l->log, "sim: --nodes and --width must be at least 1");
        return 2;
    }
    code = run(l, &c, l->choices[CHOICE_sim_stacks] ? &stacks : NULL);
    sim_stacks_free(&stacks);
    return code;
}
