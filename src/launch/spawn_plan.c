/* spawn_plan.c - see spawn_plan.h. */
#include "launch/spawn_plan.h"

#include <errno.h>
#include <string.h>

#include "launch/localhost.h"
#include "launch/map_policy.h"
#include "launch/placement_words.h"
#include "launch/plan_builder.h"
#include "launch/plan_hardware.h"
#include "launch/plan_print.h"
#include "launch/spawn_env.h"
#include "launch/spawn_hosts.h"
#include "launch/spawn_output.h"
#include "launch/spawn_stops.h"
#include "launch/spawn_words.h"
#include "launch/staging_list.h"
#include "daemon/path_search.h"
#include "base/env.h"

enum { INFO_FILE_MAX = 1 << 24, REPORT_MAX = 1 << 24 };

struct spawn_plan {
    const struct launch_options *opt;
    const struct job_map *like;
    const struct spawn_request *rq;
    struct spawn_command *commands; /* those of the request, with the infos of their files */
    struct job_map *plan;
    struct localhost machine;
    struct host_list *hosts;      /* one list per command */
    struct mapping_block *blocks; /* likewise */
    struct map_policies where;
    struct errmsg *err;
    int *codes;
};

static int both(struct spawn_plan *r, const char *first, const char *second)
{
    return errmsg_set(r->err, SPAWN_BAD_REQUEST, "use either %s or %s", first, second);
}

/* ---- number of processes -------------------------------------------------------------------- */

/* One item of a soft list: "n", "a:b" or "a:b:step". */
static uint32_t soft_item(struct slice item, uint32_t most)
{
    uint32_t first, last, step = 1, best = 0;
    struct slice rest = item;

    if (!slice_u32(slice_trim(slice_cut(&rest, ':')), &first))
        return 0;
    last = first;
    if (rest.len && !slice_u32(slice_trim(slice_cut(&rest, ':')), &last))
        return 0;
    if (rest.len && (!slice_u32(slice_trim(rest), &step) || step == 0))
        return 0;
    if (last > most)
        last = most;
    if (first <= last)
        best = first + (last - first) / step * step;
    return best;
}

uint32_t spawn_plan_soft(struct slice soft, uint32_t most)
{
    uint32_t best = 0;

    while (soft.len) {
        uint32_t n = soft_item(slice_cut(&soft, ','), most);
        best = n > best ? n : best;
    }
    return best;
}

/* ---- more infos, from files ------------------------------------------------------------------ */

static struct slice without_comment(struct slice line)
{
    return slice_trim(slice_head(line, slice_find(line, '#')));
}

static uint32_t count_lines(struct slice text)
{
    uint32_t n = 1;

    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

static int read_infos(struct spawn_plan *r, struct spawn_command *c, const char *path,
                      struct slice text)
{
    struct arena *a = &r->plan->arena;
    struct spawn_pair *all = arena_array(a, c->ninfos + (size_t)count_lines(text), sizeof *all);
    unsigned number = 0;

    if (!all)
        return -ENOMEM;
    if (c->ninfos)
        memcpy(all, c->infos, c->ninfos * sizeof *all);
    c->infos = all;
    while (text.len) {
        struct slice value = without_comment(slice_cut(&text, '\n'));
        bool empty = value.len == 0, pair = slice_find(value, '=') < value.len;
        struct slice key = slice_trim(slice_cut(&value, '='));
        number++;
        if (!empty && (!pair || key.len == 0))
            return errmsg_set(r->err, SPAWN_BAD_REQUEST, "%s, line %u: expected KEY = VALUE", path,
                              number);
        if (!empty)
            all[c->ninfos++] =
                (struct spawn_pair){ arena_copy(a, key), arena_copy(a, slice_trim(value)) };
    }
    return arena_ok(a) ? 0 : -ENOMEM;
}

/* The command's info `file`, if it has one. */
static int add_infos(struct spawn_plan *r, struct spawn_command *c)
{
    struct slice name = spawn_info(c, "file");
    const char *path = arena_str(&r->plan->arena, name);
    struct buf text = BUF_NULL(INFO_FILE_MAX);
    int rc = path ? 0 : -ENOMEM;

    if (name.len == 0)
        return rc;
    if (rc == 0)
        rc = localhost_read_file(path, &text);
    if (rc < 0)
        rc = errmsg_set(r->err, SPAWN_BAD_REQUEST, "info file " SLICE_FMT ": %s", SLICE_ARG(name),
                        err_text(rc));
    else
        rc = read_infos(r, c, path, buf_slice(&text));
    buf_free(&text);
    return rc;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static bool is_lost(const struct launch_options *o, const char *node)
{
    for (uint32_t i = 0; i < o->nlost; i++) {
        if (!strcmp(o->lost[i], node))
            return true;
    }
    return false;
}

static int add_usual(struct spawn_plan *r, struct host_list *list, const char *name, uint32_t slots)
{
    if (is_lost(r->opt, name) || hosts_has(list, name))
        return 0;
    return hosts_add(&r->plan->arena, list, (struct host){ .name = name, .slots = slots });
}

/* As far as they are still up: those of the requester's job; with -all-nodes all others, too. */
static int usual_hosts(struct spawn_plan *r, struct host_list *list)
{
    const struct job_map *p = r->like;
    const struct launch_options *o = r->opt;
    int rc = 0;

    if (!p->nnodes)
        return errmsg_set(
            r->err, SPAWN_NO_RESOURCES,
            "no slot of the DVM is free, and the job may not share any (" SPAWN_NOT_OVER ")");
    for (uint32_t i = 0; i < p->nnodes && rc == 0; i++)
        rc = add_usual(r, list, p->nodes[i].name, p->nodes[i].slots);
    for (uint32_t i = 0; o->all_nodes && i < o->first_nodes.count && rc == 0; i++)
        rc = add_usual(r, list, o->first_nodes.items[i].name, o->first_nodes.items[i].slots);
    for (uint32_t i = 0; o->all_nodes && i < o->spares.count && rc == 0; i++)
        rc = add_usual(r, list, o->spares.items[i].name, o->spares.items[i].slots);
    return rc;
}

static bool is_head(const struct spawn_plan *r, const char *node)
{
    return !r->opt->remote || (r->opt->here && !strcmp(node, r->opt->here));
}

static int leave_head(struct spawn_plan *r, struct host_list *list)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        if (!is_head(r, list->items[i].name))
            list->items[n++] = list->items[i];
    }
    list->count = n;
    return n ? 0
             : errmsg_set(r->err, SPAWN_NO_NODES,
                          SPAWN_NOT_ON_HEAD ": there is no other node than the launcher's");
}

static int choose_hosts(struct spawn_plan *r, uint32_t at)
{
    struct host_list *list = &r->hosts[at];
    int rc = spawn_hosts_named(&r->plan->arena, &r->commands[at], list, r->err);

    if (rc == 0 && list->count == 0)
        rc = usual_hosts(r, list);
    /* (With several nodes, node_map_of_plan() checks the names against the daemons.) */
    for (uint32_t i = 0; rc == 0 && i < list->count && r->opt->remote; i++) {
        if (r->opt->here && localhost_is_here(&r->machine, list->items[i].name))
            list->items[i].name = r->opt->here;
    }
    for (uint32_t i = 0;
         rc == 0 && i < list->count && !r->opt->remote && r->opt->launcher != LAUNCHER_FORK; i++) {
        if (!localhost_is_here(&r->machine, list->items[i].name) &&
            strcmp(list->items[i].name, r->like->nodes[0].name) != 0)
            rc = errmsg_set(r->err, SPAWN_NO_NODES, "node %s cannot be reached from this launcher",
                            list->items[i].name);
    }
    if (rc == 0 && spawn_info(&r->commands[at], SPAWN_NOT_ON_HEAD).len)
        rc = leave_head(r, list);
    return rc;
}

/* ---- programs ------------------------------------------------------------------------------ */

static int find_program(struct spawn_plan *r, const char *name, struct slice dirs,
                        struct job_map_app *app)
{
    struct arena *a = &r->plan->arena;
    int rc;

    if (!name)
        return -ENOMEM;
    if (!*name)
        return errmsg_set(r->err, SPAWN_NO_COMMAND, "the request names no program");
    if (dirs.len && !strchr(name, '/')) {
        const char *search = arena_str(a, dirs);
        struct errmsg unused;
        if (!search)
            return -ENOMEM;
        if (path_search_program(a, name, app->wdir, search, true, &app->path, &unused) == 0)
            return 0;
    }
    if (r->opt->remote) { /* other nodes may have other programs: each searches itself */
        app->path = app->argv[0];
        return 0;
    }
    rc = path_search_program(a, name, app->wdir, env_value(app->env, "PATH"), r->opt->path_only,
                             &app->path, r->err);
    return rc == PATH_SEARCH_NOT_FOUND        ? SPAWN_NO_PROGRAM
           : rc == PATH_SEARCH_NOT_EXECUTABLE ? SPAWN_NOT_EXECUTABLE
                                              : rc;
}

/* The plan outlives the request: everything in it is a copy. */
static int copy_words(struct arena *a, const struct spawn_command *c, struct job_map_app *app)
{
    app->argc = c->nargs + 1;
    app->argv = arena_array(a, (size_t)app->argc + 1, sizeof *app->argv);
    if (!app->argv)
        return -ENOMEM;
    app->argv[0] = arena_str(a, slice_str(c->program));
    for (uint32_t i = 0; i < c->nargs; i++)
        app->argv[i + 1] = arena_str(a, slice_str(c->args[i]));
    return arena_ok(a) ? 0 : -ENOMEM;
}

static int choose_wdir(struct spawn_plan *r, const struct spawn_command *c, struct job_map_app *app)
{
    struct arena *a = &r->plan->arena;
    const char *usual = r->like->apps[0].wdir, *given;
    struct slice wdir = spawn_info(c, "wdir");
    int rc;

    if (wdir.len == 0) {
        app->wdir = usual ? arena_str(a, slice_str(usual)) : NULL;
        return 0;
    }
    given = arena_str(a, wdir);
    if (!given)
        return -ENOMEM;
    if (given[0] == '/' && r->opt->remote) { /* a directory of the other nodes */
        app->wdir = given;
        return 0;
    }
    rc = path_search_wdir(a, given, &app->wdir, r->err);
    return rc == -ENOMEM ? rc : rc ? SPAWN_NO_DIRECTORY : 0;
}

/* Of a directory and the session's, the first counts. */
static bool starts_in_session(const struct spawn_command *c)
{
    for (uint32_t i = 0; i < c->ninfos; i++) {
        if (slice_is(c->infos[i].key, SPAWN_SESSION))
            return true;
        if (slice_is(c->infos[i].key, "wdir"))
            return false;
    }
    return false;
}

static uint32_t flags_of(const struct spawn_command *c, const struct job_map *like)
{
    return (starts_in_session(c) ? JOB_MAP_APP_SESSION : 0u) |
           (spawn_info(c, SPAWN_INDEX).len ? JOB_MAP_APP_INDEX : 0u) |
           (like->apps[0].flags & JOB_MAP_APP_PREFORK);
}

static uint32_t count_words(struct slice text)
{
    uint32_t n = 0;

    for (text = slice_trim(text); text.len; text = slice_trim(text), n++)
        slice_cut(&text, ' ');
    return n;
}

/* The agent's words come first; the program is passed on as it was found. */
static int put_agent(struct spawn_plan *r, struct slice agent, struct job_map_app *app)
{
    struct arena *a = &r->plan->arena;
    uint32_t n = count_words(agent);
    char **argv = arena_array(a, (size_t)app->argc + n + 1, sizeof *argv);

    if (!n || app->flags & JOB_MAP_APP_INDEX)
        return n ? both(r, SPAWN_EXEC_AGENT, SPAWN_INDEX)
                 : errmsg_set(r->err, SPAWN_BAD_REQUEST, SPAWN_EXEC_AGENT " names no program");
    if (!argv)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        agent = slice_trim(agent);
        argv[i] = arena_str(a, slice_cut(&agent, ' '));
    }
    argv[n] = arena_str(a, slice_str(app->path));
    for (uint32_t i = 1; i < app->argc; i++)
        argv[n + i] = app->argv[i];
    app->argv = argv;
    app->argc += n;
    return find_program(r, argv[0], SLICE_NULL, app);
}

static int read_restarts(struct spawn_plan *r, const struct spawn_command *c,
                         struct job_map_app *app)
{
    struct slice word = spawn_info(c, SPAWN_RESTARTS);

    if (word.len && !slice_u32(word, &app->restarts))
        return errmsg_set(r->err, SPAWN_BAD_REQUEST,
                          SPAWN_RESTARTS " must be a number, not " SLICE_FMT, SLICE_ARG(word));
    return 0;
}

/* The program is one of this machine, and so are its files. */
static int stage(struct spawn_plan *r, const struct spawn_command *c, const struct job_map_app *app)
{
    const char *path = app->path;
    int rc = 0;

    if (spawn_info(c, SPAWN_PRELOAD_BIN).len) {
        if (path[0] != '/')
            rc = path_search_program(&r->plan->arena, app->argv[0], app->wdir,
                                     env_value(app->env, "PATH"), r->opt->path_only, &path, r->err);
        if (rc > 0)
            return SPAWN_NO_PROGRAM;
        if (rc == 0)
            rc = staging_list_add_program(r->plan, app, path, r->err);
    }
    if (rc == 0)
        rc = staging_list_add_all(r->plan, spawn_info(c, SPAWN_PRELOAD_FILES), r->err);
    return rc > 0 ? SPAWN_NO_FILES : rc;
}

static int make_app(struct spawn_plan *r, uint32_t at)
{
    const struct spawn_command *c = &r->commands[at];
    struct job_map_app *app = &r->plan->apps[at];
    struct arena *a = &r->plan->arena;
    int rc = copy_words(a, c, app);

    if (rc == 0)
        rc = spawn_env_build(a, r->like->apps[0].env, c, &app->env, r->err);
    app->flags = flags_of(c, r->like);
    app->pmi = r->like->apps[0].pmi;
    if (spawn_info(c, SPAWN_PSET).len)
        app->pset = arena_str(a, spawn_info(c, SPAWN_PSET));
    if (rc == 0)
        rc = read_restarts(r, c, app);
    if (rc == 0)
        rc = choose_wdir(r, c, app);
    if (rc == 0)
        rc = find_program(r, app->argv[0], spawn_info(c, "path"), app);
    if (rc == 0)
        rc = stage(r, c, app);
    if (rc == 0 && spawn_info(c, SPAWN_EXEC_AGENT).len)
        rc = put_agent(r, spawn_info(c, SPAWN_EXEC_AGENT), app);
    return arena_ok(a) ? rc : -ENOMEM;
}

/* Sets the code of the processes of one command. */
static void blame(struct spawn_plan *r, uint32_t at, int code)
{
    uint64_t first = 0;

    for (uint32_t i = 0; i < at; i++)
        first += r->rq->commands[i].nprocs;
    for (uint32_t i = 0; i < r->rq->commands[at].nprocs; i++)
        r->codes[first + i] = code;
}

static int make_apps(struct spawn_plan *r)
{
    struct errmsg why;
    int first = 0;

    for (uint32_t i = 0; i < r->rq->ncommands; i++) {
        int rc = add_infos(r, &r->commands[i]);
        if (rc == 0)
            rc = spawn_words_take(&r->plan->arena, &r->commands[i], r->err);
        if (rc == 0)
            rc = choose_hosts(r, i);
        if (rc == 0)
            rc = make_app(r, i);
        if (rc < 0)
            return rc;
        if (rc > 0)
            blame(r, i, -1);
        if (first == 0 && rc > 0) {
            first = rc;
            why = *r->err;
        }
        r->blocks[i] = (struct mapping_block){ r->rq->commands[i].nprocs, &r->hosts[i], 0 };
    }
    if (first)
        *r->err = why;
    return first;
}

/* Of a job on a DVM, or of one that a tool has given to it. */
static int check_limits(struct spawn_plan *r, uint64_t nodes)
{
    const char *dvm = r->opt->dvm_name ? r->opt->dvm_name : "";
    uint64_t all = (uint64_t)r->opt->in_use + spawn_nprocs(r->rq);

    return dvm_limits_check(&r->opt->limits, dvm, all, nodes, r->err) ? SPAWN_NO_RESOURCES : 0;
}

static int fit(struct spawn_plan *r)
{
    struct errmsg full;

    if (localhost_has_room(spawn_nprocs(r->rq), launch_files_each(r->opt), &full) == 0)
        return 0;
    for (uint32_t i = 0; i < r->rq->ncommands; i++) {
        struct slice soft = spawn_info(&r->commands[i], "soft");
        uint32_t most = r->blocks[i].nprocs, n;
        for (n = most; n && soft.len && localhost_has_room(n, launch_files_each(r->opt), &full);
             n = n ? n - 1 : 0)
            n = spawn_plan_soft(soft, n);
        if (soft.len && n)
            r->blocks[i].nprocs = n;
        else
            return errmsg_set(r->err, SPAWN_NO_RESOURCES, "%s", full.text);
    }
    return 0;
}

/* ---- where each process runs --------------------------------------------------------------- */

/* The value of a key that is the job's; NULL: none of its commands has it.  It may come with any
 * command. */
static int word_of_all(struct spawn_plan *r, const char *key, const char **word_p)
{
    struct slice word = SLICE_NULL;

    for (uint32_t i = 0; i < r->rq->ncommands; i++) {
        struct slice own = spawn_info(&r->commands[i], key);
        if (own.len && word.len && !slice_eq(own, word))
            return errmsg_set(r->err, SPAWN_NO_PLACE,
                              "%s: the programs of one job cannot have different ones", key);
        word = own.len ? own : word;
    }
    *word_p = word.len ? arena_str(&r->plan->arena, word) : NULL;
    return word.len && !*word_p ? -ENOMEM : 0;
}

/* What a command says, by key. */
enum { WORD_MAP_BY, WORD_RANK_BY, WORD_BIND_TO, WORD_PPR, WORD_PE, WORD_CPUS, WORD_FULL, WORDS };

/* All processes on the processors of a list: one seat of -bind-to user. */
static const char *one_seat(struct arena *a, const char *list)
{
    char *text = arena_printf(a, "user:%s", list);

    for (char *at = text; at && *at; at++)
        *at = *at == ',' ? '+' : *at;
    return text;
}

/* As the options of the command line would say it, in front of this program. */
static int to_options(struct spawn_plan *r, const struct spawn_command *c,
                      struct map_policy_words *to)
{
    static const char *const keys[WORDS] = { "map-by", "rank-by",      "bind-to",     "ppr",
                                             SPAWN_PE, SPAWN_CPU_LIST, SPAWN_NOT_OVER };
    struct arena *a = &r->plan->arena;
    const char *words[WORDS];

    for (size_t i = 0; i < WORDS; i++) {
        struct slice word = spawn_info(c, keys[i]);
        words[i] = word.len ? arena_str(a, word) : NULL;
    }
    *to = (struct map_policy_words){ .map_by = words[WORD_MAP_BY],
                                     .rank_by = words[WORD_RANK_BY],
                                     .bind_to = words[WORD_BIND_TO],
                                     .over = words[WORD_FULL] ? OVER_NO : OVER_UNSAID };
    if (words[WORD_PPR] && to->map_by)
        return both(r, "ppr", "map-by");
    if (words[WORD_CPUS] && to->bind_to)
        return both(r, "cpu-list", "bind-to");
    if (words[WORD_PPR])
        to->map_by = arena_printf(a, "ppr:%s", words[WORD_PPR]);
    if (words[WORD_PE])
        to->map_by = arena_printf(a, "%s:pe=%s", to->map_by ? to->map_by : "", words[WORD_PE]);
    if (words[WORD_CPUS])
        to->bind_to = one_seat(a, words[WORD_CPUS]);
    return arena_ok(a) ? 0 : -ENOMEM;
}

static int placed(int rc)
{
    return rc == MAP_POLICY_BAD ? SPAWN_BAD_REQUEST : rc == MAP_POLICY_CANNOT ? SPAWN_NO_PLACE : rc;
}

static int check_placement(struct spawn_plan *r)
{
    for (uint32_t i = 0; i < r->where.count; i++) {
        if (r->where.items[i].map.how == MAP_RANKFILE)
            return errmsg_set(r->err, SPAWN_NO_PLACE,
                              "-map-by %.200s: not supported for spawned jobs",
                              r->where.items[i].words.map_by);
    }
    if (r->opt->remote && !r->where.machines.remote_machine &&
        map_policies_need_hardware(&r->where))
        return errmsg_set(
            r->err, SPAWN_NO_PLACE,
            "the mapping or ranking depends on the hardware of other nodes, which they "
            "report only to a launcher whose own -map-by or -rank-by needs it");
    return 0;
}

static int read_placement(struct spawn_plan *r)
{
    uint32_t n = r->rq->ncommands;
    struct map_policy_words *words = arena_array(&r->plan->arena, (size_t)n + 1, sizeof *words);
    int rc = words ? 0 : -ENOMEM;

    for (uint32_t i = 0; i < n && rc == 0; i++)
        rc = to_options(r, &r->commands[i], &words[i]);
    if (rc)
        return rc;
    launch_known_hardware(r->opt, &r->where.machines);
    rc = placed(map_policies_parse(&r->where, words, n, &r->plan->arena, r->err));
    return rc ? rc : check_placement(r);
}

/* Every process gets its node, its number, and its processors. */
static int place(struct spawn_plan *r)
{
    struct mapping_request req = { .one_node = r->opt->launcher != LAUNCHER_FORK && !r->opt->remote,
                                   .one_node_name = r->like->nodes[0].name,
                                   .blocks = r->blocks };
    const struct host *const *node_hosts;
    int rc;

    rc = map_policies_request(&r->where, r->blocks, &req);
    map_policies_note(&r->where, r->plan);
    if (rc == 0)
        rc = mapping_place(r->plan, &req, &node_hosts, r->err);
    if (rc)
        return rc == MAPPING_BAD ? SPAWN_NO_RESOURCES : rc == MAPPING_CANNOT ? SPAWN_NO_PLACE : rc;
    return placed(map_policies_apply(&r->where, r->plan, node_hosts, r->err));
}

/* Of the whole request: every command is to blame. */
static int of_all(struct spawn_plan *r, int rc)
{
    for (uint32_t i = 0; i < r->rq->ncommands && rc > 0; i++)
        blame(r, i, -1);
    return rc;
}

static int note_placement(struct spawn_plan *r)
{
    const char *const *words = r->like->words;
    const char *connectivity = NULL;
    int rc = word_of_all(r, SPAWN_CONNECTIVITY, &connectivity);
    struct placement_words w = { .cluster = words[JOB_CLUSTER],
                                 .connectivity = connectivity,
                                 .allocated = words[JOB_ALLOCATED] };

    if (rc == 0)
        rc = map_policies_words(&r->where, &w);

    if (rc == 0 && placement_words_check(r->plan, connectivity, r->err))
        rc = SPAWN_BAD_REQUEST;
    return rc ? rc : placement_words_set(r->plan, &w);
}

/* The hardware of the nodes that the key names. */
static int report_hardware(struct spawn_plan *r, const char *key, bool json, struct buf *text)
{
    struct slice nodes = spawn_info_of_all(r->commands, r->rq->ncommands, key);
    struct plan_hardware what = { .nodes = slice_is(nodes, "all") ? SLICE_NULL : nodes,
                                  .processors = !strcmp(key, SPAWN_SHOW_CPUS),
                                  .json = json };
    int rc = 0;

    if (nodes.len)
        rc = plan_hardware_print(&what, &r->where.machines, r->plan, text, r->err);
    return rc == BINDING_CANNOT ? SPAWN_NO_PLACE : rc;
}

static void report_map(struct spawn_plan *r, bool json, struct buf *text)
{
    if (json)
        plan_print_json(r->plan, text);
    else
        plan_print_table(r->plan, text);
}

static int make_report(struct spawn_plan *r)
{
    bool json = spawn_info_of_all(r->commands, r->rq->ncommands, SPAWN_SHOW_JSON).len > 0;
    struct buf text = BUF_NULL(REPORT_MAX);
    int rc;

    if (spawn_info_of_all(r->commands, r->rq->ncommands, SPAWN_SHOW_NODES).len)
        plan_print_allocation(r->plan, &text);
    if (spawn_info_of_all(r->commands, r->rq->ncommands, SPAWN_SHOW_MAP).len)
        report_map(r, json, &text);
    if (spawn_info_of_all(r->commands, r->rq->ncommands, SPAWN_SHOW_BINDINGS).len)
        plan_print_bindings(r->plan, &text);
    rc = report_hardware(r, SPAWN_SHOW_OBJECTS, json, &text);
    if (rc == 0)
        rc = report_hardware(r, SPAWN_SHOW_CPUS, json, &text);
    if (buf_len(&text))
        r->plan->report = arena_str(&r->plan->arena, buf_slice(&text));
    buf_free(&text);
    return arena_ok(&r->plan->arena) ? rc : -ENOMEM;
}

/* Of the whole job, whichever program says it. */
static int read_ways(struct spawn_plan *r)
{
    static const struct {
        const char *key;
        uint32_t way;
    } ways[] = {
        { SPAWN_STRICT, JOB_MAP_STRICT },
        { SPAWN_SILENT, JOB_MAP_SILENT },
        { SPAWN_APART, JOB_MAP_APART },
        { SPAWN_JOINT, JOB_MAP_JOINT },
        { SPAWN_LOG_EVENTS, JOB_MAP_LOG_EVENTS },
        { SPAWN_LOG_END, JOB_MAP_LOG_END },
        { SPAWN_LOG_EXITS, JOB_MAP_LOG_EXITS },
        { SPAWN_LOG_FAILURES, JOB_MAP_LOG_FAILURES },
        { SPAWN_LOG_PROGRESS, JOB_MAP_LOG_PROGRESS },
        { SPAWN_EACH_HELP, JOB_MAP_EACH_HELP },
        { SPAWN_NO_LAUNCH, JOB_MAP_NO_LAUNCH },
    };
    uint32_t n = r->rq->ncommands;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (spawn_info_of_all(r->commands, n, ways[i].key).len)
            r->plan->ways |= ways[i].way;
    }
    if (r->plan->ways & JOB_MAP_STRICT && spawn_info_of_all(r->commands, n, SPAWN_RECOVERABLE).len)
        return both(r, SPAWN_STRICT, SPAWN_RECOVERABLE);
    return 0;
}

static int run_steps(struct spawn_plan *r)
{
    struct arena *a = &r->plan->arena;
    uint32_t n = r->rq->ncommands;
    int rc;

    r->plan->path_only = r->opt->path_only;
    r->plan->napps = n;
    r->plan->apps = arena_array(a, n, sizeof *r->plan->apps);
    r->commands = arena_array(a, n, sizeof *r->commands);
    r->hosts = arena_array(a, n, sizeof *r->hosts);
    r->blocks = arena_array(a, n, sizeof *r->blocks);
    if (!arena_ok(a))
        return -ENOMEM;
    if (n)
        memcpy(r->commands, r->rq->commands, n * sizeof *r->commands);
    rc = make_apps(r);
    if (rc == 0)
        rc = of_all(r, spawn_output_read(r->plan, r->commands, n, r->err));
    if (r->opt->xml_output) /* who reads it all, reads XML */
        r->plan->output.xml = true;
    if (rc == 0)
        rc = of_all(r, read_ways(r));
    if (rc == 0)
        rc = of_all(r, read_placement(r));
    if (rc == 0)
        rc = of_all(r, check_limits(r, 0));
    if (rc == 0)
        rc = fit(r);
    if (rc == 0)
        rc = of_all(r, place(r));
    if (rc == 0)
        rc = of_all(r, check_limits(r, r->plan->nnodes));
    if (rc == 0)
        rc = of_all(r, spawn_stops_read(r->plan, r->commands, n, r->err));
    r->plan->universe = r->like->universe;
    if (r->plan->universe >= 0 && r->plan->universe < r->plan->nprocs)
        r->plan->universe = r->plan->nprocs;
    if (rc == 0)
        rc = of_all(r, note_placement(r));
    return rc ? rc : of_all(r, make_report(r));
}

int spawn_plan_build(const struct launch_options *opt, const struct job_map *like,
                     const struct spawn_request *rq, struct job_map *plan_p, int *codes,
                     struct errmsg *err)
{
    struct spawn_plan r = {
        .opt = opt, .like = like, .rq = rq, .plan = plan_p, .err = err, .codes = codes
    };
    int rc;

    job_map_init(plan_p);
    localhost_init(&r.machine, opt->localhost);
    rc = run_steps(&r);
    localhost_free(&r.machine);
    if (rc < 0)
        rc = errmsg_set(err, SPAWN_NO_RESOURCES, "%s", err_text(rc));
    if (rc)
        job_map_free(plan_p);
    return rc;
}
