/* job_map_pack.c - see job_map_pack.h. */
#include "core/job_map_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "wire/parts.h"

/* The plan as Wireup's tables write it.  The words of all apps are in one list. */
struct flat_map {
    struct part_texts words;                 /* argv of each app */
    struct part_uints counts;                /* of words, for each app */
    struct part_texts paths, wdirs;          /* an empty wdir: the daemon's own */
    struct part_texts env;                   /* variables of each app that has its own */
    struct part_uints env_counts, app_flags; /* plus 1; 0: those of the app before */
    struct part_texts nodes;
    struct part_uints slots;
    struct part_uints placements; /* of each app */
    struct part_uints bound; /* of each node, for each placement: 0, or the number of its binding,
                                from 1 */
    struct part_uints bindings; /* BINDING numbers each */
    struct part_texts lists;    /* and the list of each; empty: none */
    struct part_uints turns;    /* of all bindings, concatenated */
    struct part_uints runs;     /* four numbers each: how many ranks, app, node, first local rank */
    struct part_uints stops;    /* runs of ranks that stop: the first, how many, where */
    struct slice breakpoint, target;
    struct part_texts psets; /* of each app; empty: none */
    struct part_uints restarts;
    int64_t universe;
    uint64_t path_only, nplacements;
    struct part_texts policy; /* enum job_map_word; empty: not known */
    struct part_texts output; /* label, outfile, errfile; empty: none */
    uint64_t merged, raw, staged, xml;
};

static const struct part parts[] = {
    { "words", PART_TEXTS, offsetof(struct flat_map, words) },
    { "counts", PART_UINTS, offsetof(struct flat_map, counts) },
    { "paths", PART_TEXTS, offsetof(struct flat_map, paths) },
    { "wdirs", PART_TEXTS, offsetof(struct flat_map, wdirs) },
    { "env", PART_TEXTS, offsetof(struct flat_map, env) },
    { "env_counts", PART_UINTS, offsetof(struct flat_map, env_counts) },
    { "nodes", PART_TEXTS, offsetof(struct flat_map, nodes) },
    { "slots", PART_UINTS, offsetof(struct flat_map, slots) },
    { "bound", PART_UINTS, offsetof(struct flat_map, bound) },
    { "bindings", PART_UINTS, offsetof(struct flat_map, bindings) },
    { "lists", PART_TEXTS, offsetof(struct flat_map, lists) },
    { "turns", PART_UINTS, offsetof(struct flat_map, turns) },
    { "runs", PART_UINTS, offsetof(struct flat_map, runs) },
    { "universe", PART_INT, offsetof(struct flat_map, universe) },
    { "path_only", PART_UINT, offsetof(struct flat_map, path_only) },
    { "app_flags", PART_UINTS, offsetof(struct flat_map, app_flags) },
    { "policy", PART_TEXTS, offsetof(struct flat_map, policy) },
    { "output", PART_TEXTS, offsetof(struct flat_map, output) },
    { "merged", PART_UINT, offsetof(struct flat_map, merged) },
    { "raw", PART_UINT, offsetof(struct flat_map, raw) },
    { "xml", PART_UINT, offsetof(struct flat_map, xml) },
    { "stops", PART_UINTS, offsetof(struct flat_map, stops) },
    { "breakpoint", PART_BYTES, offsetof(struct flat_map, breakpoint) },
    { "target", PART_BYTES, offsetof(struct flat_map, target) },
    { "psets", PART_TEXTS, offsetof(struct flat_map, psets) },
    { "restarts", PART_UINTS, offsetof(struct flat_map, restarts) },
    { "staged", PART_UINT, offsetof(struct flat_map, staged) },
    { "placements", PART_UINTS, offsetof(struct flat_map, placements) },
    { "nplacements", PART_UINT, offsetof(struct flat_map, nplacements) },
};

enum { NPARTS = sizeof parts / sizeof *parts, RUN = 4, BINDING = 8, OUTPUT = 3, STOP = 3 };

/* Of the flags of an app: above them is what the user says of its protocols. */
enum { APP_FLAGS = 0xff, APP_PMI_SHIFT = 8 };

/* Of `xml`. */
enum { OUTPUT_XML = 1, OUTPUT_TIMED = 2 };

/* ---- writing --------------------------------------------------------------------------------- */

static uint32_t count_words(char *const *words)
{
    uint32_t n = 0;

    while (words && words[n])
        n++;
    return n;
}

static void add_words(struct slice *items, uint32_t *n, char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        items[(*n)++] = slice_str(words[i]);
}

static bool has_env_of_last(const struct job_map *p, uint32_t i)
{
    return i > 0 && p->apps[i].env == p->apps[i - 1].env;
}

static void flatten_apps(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    size_t words = 0, vars = 0;
    struct slice *word, *var, *path, *wdir;
    uint32_t *count, *env_count, *flags, *restarts, *placement;

    for (uint32_t i = 0; i < p->napps; i++) {
        words += p->apps[i].argc;
        vars += has_env_of_last(p, i) ? 0 : count_words(p->apps[i].env);
    }
    word = arena_array(a, words + 1, sizeof *word);
    var = arena_array(a, vars + 1, sizeof *var);
    path = arena_array(a, p->napps + 1, sizeof *path);
    wdir = arena_array(a, p->napps + 1, sizeof *wdir);
    count = arena_array(a, p->napps + 1, sizeof *count);
    env_count = arena_array(a, p->napps + 1, sizeof *env_count);
    flags = arena_array(a, p->napps + 1, sizeof *flags);
    restarts = arena_array(a, p->napps + 1, sizeof *restarts);
    placement = arena_array(a, p->napps + 1, sizeof *placement);
    if (!arena_ok(a))
        return;
    for (uint32_t i = 0; i < p->napps; i++) {
        const struct job_map_app *app = &p->apps[i];
        uint32_t nvars = has_env_of_last(p, i) ? 0 : count_words(app->env);
        count[i] = app->argc;
        flags[i] = (app->flags & APP_FLAGS) | app->pmi << APP_PMI_SHIFT;
        restarts[i] = app->restarts;
        placement[i] = app->placement;
        env_count[i] = has_env_of_last(p, i) ? 0 : nvars + 1;
        path[i] = slice_str(app->path);
        wdir[i] = app->wdir ? slice_str(app->wdir) : SLICE("");
        add_words(word, &f->words.n, app->argv, app->argc);
        add_words(var, &f->env.n, app->env, nvars);
    }
    f->words.items = word;
    f->env.items = var;
    f->counts = (struct part_uints){ count, p->napps };
    f->env_counts = (struct part_uints){ env_count, p->napps };
    f->app_flags = (struct part_uints){ flags, p->napps };
    f->restarts = (struct part_uints){ restarts, p->napps };
    f->placements = (struct part_uints){ placement, p->napps };
    f->paths = (struct part_texts){ path, p->napps };
    f->wdirs = (struct part_texts){ wdir, p->napps };
}

static void flatten_binding(const struct job_map_binding *b, uint32_t *number, struct slice *list)
{
    number[0] = b->how;
    number[1] = b->kind;
    number[2] = b->width;
    number[3] = b->ordered;
    number[4] = b->order_kind;
    number[5] = b->order_width;
    number[6] = b->order_block;
    number[7] = b->nturns;
    *list = b->list ? slice_str(b->list) : SLICE("");
}

/* Node after node, on each by placement. */
static const struct job_map_binding *bound_at(const struct job_map *p, uint32_t i)
{
    return job_map_bound(p, i / p->nplacements, i % p->nplacements);
}

static void flatten_turns(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    const uint32_t *bound = f->bound.items;
    size_t count = 0;
    uint32_t *turn, last = 0;

    for (uint32_t i = 0; i < f->bound.n; i++) {
        count += bound[i] > last ? bound_at(p, i)->nturns : 0;
        last = bound[i] > last ? bound[i] : last;
    }
    turn = arena_array(a, count + 1, sizeof *turn);
    if (!turn)
        return;
    f->turns = (struct part_uints){ turn, (uint32_t)count };
    last = 0;
    for (uint32_t i = 0; i < f->bound.n; i++) {
        const struct job_map_binding *b = bound_at(p, i);
        if (bound[i] <= last)
            continue;
        last = bound[i];
        if (b->nturns)
            memcpy(turn, b->turns, b->nturns * sizeof *turn);
        turn += b->nturns;
    }
}

/* Adjacent nodes mostly share theirs. */
static void flatten_bindings(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    uint32_t all = p->nnodes * p->nplacements, each = p->nplacements, n = 0;
    uint32_t *bound = arena_array(a, (size_t)all + 1, sizeof *bound), *number;
    struct slice *list;

    for (uint32_t i = 0; i < all && bound; i++) {
        const struct job_map_binding *b = bound_at(p, i);
        bool again = b && i >= each && b == bound_at(p, i - each);
        bound[i] = !b ? 0 : again ? bound[i - each] : ++n;
    }
    number = arena_array(a, (size_t)n * BINDING + 1, sizeof *number);
    list = arena_array(a, (size_t)n + 1, sizeof *list);
    if (!arena_ok(a))
        return;
    for (uint32_t i = 0; i < all; i++) {
        if (bound[i])
            flatten_binding(bound_at(p, i), &number[(size_t)(bound[i] - 1) * BINDING],
                            &list[bound[i] - 1]);
    }
    f->bound = (struct part_uints){ bound, all };
    f->nplacements = each;
    f->bindings = (struct part_uints){ number, n * BINDING };
    f->lists = (struct part_texts){ list, n };
    flatten_turns(p, a, f);
}

static void flatten_nodes(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    struct slice *name = arena_array(a, p->nnodes + 1, sizeof *name);
    uint32_t *slots = arena_array(a, p->nnodes + 1, sizeof *slots);

    for (uint32_t i = 0; i < p->nnodes && arena_ok(a); i++) {
        name[i] = slice_str(p->nodes[i].name);
        slots[i] = p->nodes[i].slots;
    }
    f->nodes = (struct part_texts){ name, p->nnodes };
    f->slots = (struct part_uints){ slots, p->nnodes };
}

static bool goes_on(const struct job_map_proc *last, const struct job_map_proc *q)
{
    return q->app == last->app && q->node == last->node && q->local_rank == last->local_rank + 1;
}

static void flatten_ranks(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    size_t count = 0;
    uint32_t *run;

    for (uint32_t r = 0; r < p->nprocs; r++)
        count += r == 0 || !goes_on(&p->procs[r - 1], &p->procs[r]);
    run = arena_array(a, count * RUN + 1, sizeof *run);
    if (!run)
        return;
    f->runs.items = run;
    run -= RUN;
    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        if (r && goes_on(q - 1, q)) {
            run[0]++;
            continue;
        }
        run += RUN;
        run[0] = 1;
        run[1] = q->app;
        run[2] = q->node;
        run[3] = q->local_rank;
        f->runs.n += RUN;
    }
}

static void flatten_words(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    struct slice *word = arena_array(a, JOB_MAP_WORDS, sizeof *word);

    for (uint32_t i = 0; word && i < JOB_MAP_WORDS; i++)
        word[i] = p->words[i] ? slice_str(p->words[i]) : SLICE("");
    f->policy = (struct part_texts){ word, word ? JOB_MAP_WORDS : 0 };
}

static struct slice text_or_none(const char *text)
{
    return text ? slice_str(text) : SLICE("");
}

static void flatten_output(const struct job_map_output *o, struct arena *a, struct flat_map *f)
{
    struct slice *text = arena_array(a, OUTPUT, sizeof *text);

    if (!text)
        return;
    text[0] = text_or_none(o->label);
    text[1] = text_or_none(o->outfile);
    text[2] = text_or_none(o->errfile);
    f->output = (struct part_texts){ text, OUTPUT };
    f->merged = o->merged;
    f->raw = o->raw;
    f->xml = (o->xml ? OUTPUT_XML : 0u) | (o->timed ? OUTPUT_TIMED : 0u);
}

static bool stops_begin(const struct job_map_proc *q)
{
    return q->stops && (q->rank == 0 || q[-1].stops != q->stops);
}

static void flatten_stops(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    size_t count = 0;
    uint32_t *stop;

    for (uint32_t r = 0; r < p->nprocs; r++)
        count += stops_begin(&p->procs[r]);
    stop = arena_array(a, count * STOP + 1, sizeof *stop);
    if (!stop)
        return;
    f->stops = (struct part_uints){ stop, (uint32_t)count * STOP };
    stop -= STOP;
    for (uint32_t r = 0; r < p->nprocs; r++) {
        const struct job_map_proc *q = &p->procs[r];
        if (stops_begin(q)) {
            stop += STOP;
            stop[0] = r;
            stop[1] = 0;
            stop[2] = q->stops;
        }
        if (q->stops)
            stop[1]++;
    }
}

static void flatten_psets(const struct job_map *p, struct arena *a, struct flat_map *f)
{
    struct slice *name = arena_array(a, p->napps + (size_t)1, sizeof *name);

    for (uint32_t i = 0; name && i < p->napps; i++)
        name[i] = text_or_none(p->apps[i].pset);
    f->psets = (struct part_texts){ name, name ? p->napps : 0 };
}

void job_map_pack(const struct job_map *p, struct buf *out)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct flat_map f = { .universe = p->universe, .path_only = p->path_only, .staged = p->staged };

    flatten_apps(p, &a, &f);
    flatten_nodes(p, &a, &f);
    flatten_bindings(p, &a, &f);
    flatten_ranks(p, &a, &f);
    flatten_stops(p, &a, &f);
    flatten_psets(p, &a, &f);
    f.breakpoint = text_or_none(p->breakpoint);
    f.target = text_or_none(p->target);
    flatten_words(p, &a, &f);
    flatten_output(&p->output, &a, &f);
    if (arena_ok(&a))
        parts_write(parts, NPARTS, &f, out);
    else
        out->error = BUF_NO_MEMORY;
    arena_free(&a);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int bad(struct errmsg *err, const char *what)
{
    return errmsg_set(err, 1, "another daemon has sent an invalid job map: %s", what);
}

static char **take_words(struct arena *a, const struct part_texts *from, uint32_t *at, uint32_t n)
{
    char **words = arena_array(a, (size_t)n + 1, sizeof *words);

    for (uint32_t i = 0; words && i < n; i++)
        words[i] = arena_str(a, from->items[(*at)++]);
    return words;
}

static const char *take_text(struct arena *a, struct slice text)
{
    return text.len ? arena_str(a, text) : NULL;
}

static int unflatten_app(const struct flat_map *f, struct job_map *p, uint32_t i, uint32_t *word,
                         uint32_t *var, struct errmsg *err)
{
    struct job_map_app *app = &p->apps[i];
    uint32_t nvars = f->env_counts.items[i];

    if (f->counts.items[i] == 0 || f->counts.items[i] > f->words.n - *word)
        return bad(err, "the words of a program");
    if (nvars > f->env.n - *var + 1 || (nvars == 0 && i == 0))
        return bad(err, "the environment of a program");
    if (f->app_flags.items[i] >> APP_PMI_SHIFT > JOB_MAP_PMI_ALL)
        return bad(err, "the protocols of a program");
    if (f->placements.items[i] >= p->nplacements)
        return bad(err, "the placement of a program");
    app->argc = f->counts.items[i];
    app->argv = take_words(&p->arena, &f->words, word, app->argc);
    app->path = arena_str(&p->arena, f->paths.items[i]);
    app->wdir = f->wdirs.items[i].len ? arena_str(&p->arena, f->wdirs.items[i]) : NULL;
    app->env = nvars ? take_words(&p->arena, &f->env, var, nvars - 1) : p->apps[i - 1].env;
    app->flags = f->app_flags.items[i] & APP_FLAGS;
    app->pmi = f->app_flags.items[i] >> APP_PMI_SHIFT;
    app->restarts = f->restarts.items[i];
    app->placement = f->placements.items[i];
    app->pset = take_text(&p->arena, f->psets.items[i]);
    app->first_rank = UINT32_MAX;
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

static int unflatten_apps(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    uint32_t word = 0, var = 0;
    int rc = 0;

    p->napps = f->counts.n;
    if (f->paths.n != p->napps || f->wdirs.n != p->napps || f->env_counts.n != p->napps ||
        f->app_flags.n != p->napps || f->psets.n != p->napps || f->restarts.n != p->napps ||
        f->placements.n != p->napps)
        return bad(err, "the number of programs");
    p->apps = arena_array(&p->arena, (size_t)p->napps + 1, sizeof *p->apps);
    if (!p->apps)
        return -ENOMEM;
    memset(p->apps, 0, ((size_t)p->napps + 1) * sizeof *p->apps);
    for (uint32_t i = 0; i < p->napps && rc == 0; i++)
        rc = unflatten_app(f, p, i, &word, &var, err);
    return rc;
}

static int unflatten_nodes(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    p->nnodes = f->nodes.n;
    if (f->slots.n != p->nnodes)
        return bad(err, "the number of nodes");
    p->nodes = arena_array(&p->arena, (size_t)p->nnodes + 1, sizeof *p->nodes);
    for (uint32_t i = 0; p->nodes && i < p->nnodes; i++)
        p->nodes[i] = (struct job_map_node){ .name = arena_str(&p->arena, f->nodes.items[i]),
                                             .slots = f->slots.items[i] };
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

static void unflatten_binding(const struct flat_map *f, uint32_t i, struct arena *a,
                              struct job_map_binding *b)
{
    const uint32_t *number = &f->bindings.items[(size_t)i * BINDING];

    *b = (struct job_map_binding){ .how = number[0],
                                   .kind = number[1],
                                   .width = number[2],
                                   .ordered = number[3] != 0,
                                   .order_kind = number[4],
                                   .order_width = number[5],
                                   .order_block = number[6] };
    if (f->lists.items[i].len)
        b->list = arena_str(a, f->lists.items[i]);
}

/* The numbers are copied: the bytes read are released. */
static bool unflatten_turns(const struct flat_map *f, struct arena *a, struct job_map_binding *all)
{
    uint32_t *turn = arena_array(a, (size_t)f->turns.n + 1, sizeof *turn), left = f->turns.n;

    if (turn && left)
        memcpy(turn, f->turns.items, left * sizeof *turn);
    for (uint32_t i = 0; turn && i < f->lists.n; i++) {
        uint32_t n = f->bindings.items[(size_t)i * BINDING + 7];
        if (n > left)
            return false;
        all[i].turns = n ? turn : NULL;
        all[i].nturns = n;
        turn += n;
        left -= n;
    }
    return left == 0 || !arena_ok(a);
}

static int unflatten_bindings(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    uint32_t n = f->lists.n;
    struct job_map_binding *all;
    const struct job_map_binding **bindings;

    if (f->bound.n != (uint64_t)p->nnodes * p->nplacements ||
        f->bindings.n != (uint64_t)n * BINDING)
        return bad(err, "the bindings");
    all = arena_array(&p->arena, (size_t)n + 1, sizeof *all);
    bindings = arena_array(&p->arena, (size_t)f->bound.n + 1, sizeof *bindings);
    if (!all || !bindings)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        unflatten_binding(f, i, &p->arena, &all[i]);
    if (!unflatten_turns(f, &p->arena, all))
        return bad(err, "the turns of a binding");
    for (uint32_t i = 0; i < f->bound.n; i++) {
        uint32_t k = f->bound.items[i];
        if (k > n)
            return bad(err, "the binding of a node");
        bindings[i] = k ? &all[k - 1] : NULL;
    }
    for (uint32_t i = 0; i < p->nnodes; i++)
        p->nodes[i].bindings = &bindings[(size_t)i * p->nplacements];
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

static int unflatten_run(struct job_map *p, const uint32_t *run, uint32_t *rank, struct errmsg *err)
{
    struct job_map_app *app = &p->apps[run[1]];

    if (app->first_rank == UINT32_MAX)
        app->first_rank = *rank;
    if (*rank != app->first_rank + app->nprocs)
        return bad(err, "the ranks of a program do not follow each other");
    app->nprocs += run[0];
    p->nodes[run[2]].nprocs += run[0];
    for (uint32_t i = 0; i < run[0]; i++, (*rank)++)
        p->procs[*rank] = (struct job_map_proc){
            .rank = *rank, .app = run[1], .node = run[2], .local_rank = run[3] + i
        };
    return 0;
}

static int unflatten_ranks(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    uint64_t total = 0;
    uint32_t rank = 0;
    int rc = 0;

    if (f->runs.n % RUN)
        return bad(err, "the runs of ranks");
    for (uint32_t i = 0; i < f->runs.n; i += RUN) {
        const uint32_t *run = &f->runs.items[i];
        total += run[0];
        if (run[0] == 0 || run[0] > LIMIT_JOB_PROCS || total > LIMIT_JOB_PROCS ||
            run[1] >= p->napps || run[2] >= p->nnodes || run[3] > LIMIT_JOB_PROCS)
            return bad(err, "a run of ranks");
    }
    p->nprocs = (uint32_t)total;
    p->procs = arena_array(&p->arena, total + 1, sizeof *p->procs);
    if (!p->procs)
        return -ENOMEM;
    for (uint32_t i = 0; i < f->runs.n && rc == 0; i += RUN)
        rc = unflatten_run(p, &f->runs.items[i], &rank, err);
    return rc;
}

static int unflatten_words(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    if (f->policy.n != JOB_MAP_WORDS)
        return bad(err, "the words of its placement");
    for (uint32_t i = 0; i < JOB_MAP_WORDS; i++) {
        if (f->policy.items[i].len)
            p->words[i] = arena_str(&p->arena, f->policy.items[i]);
    }
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

static int unflatten_output(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    struct job_map_output *o = &p->output;

    if (f->output.n != OUTPUT)
        return bad(err, "its output");
    o->label = take_text(&p->arena, f->output.items[0]);
    o->outfile = take_text(&p->arena, f->output.items[1]);
    o->errfile = take_text(&p->arena, f->output.items[2]);
    o->merged = f->merged != 0;
    o->raw = f->raw != 0;
    o->xml = (f->xml & OUTPUT_XML) != 0;
    o->timed = (f->xml & OUTPUT_TIMED) != 0;
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

static int unflatten_stops(const struct flat_map *f, struct job_map *p, struct errmsg *err)
{
    if (f->stops.n % STOP)
        return bad(err, "its stops");
    for (uint32_t i = 0; i < f->stops.n; i += STOP) {
        const uint32_t *stop = &f->stops.items[i];
        if (stop[0] > p->nprocs || stop[1] > p->nprocs - stop[0] || stop[2] >> JOB_MAP_STOPS)
            return bad(err, "a stop");
        for (uint32_t r = stop[0]; r < stop[0] + stop[1]; r++)
            p->procs[r].stops = (uint8_t)stop[2];
    }
    p->breakpoint = take_text(&p->arena, f->breakpoint);
    p->target = take_text(&p->arena, f->target);
    return arena_ok(&p->arena) ? 0 : -ENOMEM;
}

int job_map_unpack(struct slice bytes, struct job_map *p_p, struct errmsg *err)
{
    struct arena a = ARENA_NULL((size_t)1 << 30);
    struct flat_map f = { .universe = 0 };
    int rc = 0;

    job_map_init(p_p);
    if (!parts_read(parts, NPARTS, bytes, &a, &f))
        rc = arena_ok(&a) ? bad(err, "its parts do not fit its length") : -ENOMEM;
    p_p->universe = f.universe;
    p_p->path_only = f.path_only != 0;
    p_p->staged = f.staged != 0;
    if (rc == 0 && (f.nplacements == 0 || (f.nplacements > 1 && f.nplacements > f.counts.n)))
        rc = bad(err, "the number of placements");
    p_p->nplacements = rc ? 1 : (uint32_t)f.nplacements;
    if (rc == 0)
        rc = unflatten_apps(&f, p_p, err);
    if (rc == 0)
        rc = unflatten_nodes(&f, p_p, err);
    if (rc == 0)
        rc = unflatten_bindings(&f, p_p, err);
    if (rc == 0)
        rc = unflatten_ranks(&f, p_p, err);
    if (rc == 0)
        rc = unflatten_words(&f, p_p, err);
    if (rc == 0)
        rc = unflatten_output(&f, p_p, err);
    if (rc == 0)
        rc = unflatten_stops(&f, p_p, err);
    arena_free(&a);
    return rc;
}
