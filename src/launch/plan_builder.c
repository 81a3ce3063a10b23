/* plan_builder.c - see plan_builder.h. */
#include "launch/plan_builder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/env.h"
#include "base/limit.h"
#include "launch/localhost.h"
#include "launch/map_picture.h"
#include "launch/plan_hardware.h"
#include "launch/map_policy.h"
#include "launch/rankfile.h"
#include "launch/staging_list.h"
#include "launch/settings.h"
#include "launch/placement_words.h"
#include "launch/allocation.h"
#include "launch/plan_print.h"
#include "launch/program_style.h"
#include "launch/spawn_output.h"
#include "launch/spawn_stops.h"
#include "daemon/environment_style.h"
#include "daemon/path_search.h"

/* Larger host and configuration files are a mistake. */
enum { FILE_MAX_BYTES = 64 << 20 };

/* How long a resource manager's program may take to print the nodes. */
enum { RM_MS = 10000 };

/* The state that the steps pass on. */
struct plan_builder {
    struct launch_options *opt;
    struct job_map *plan;
    char *const *envp;
    struct localhost machine;
    struct map_policies where;
    struct mapping_block *blocks;
    struct host_list here; /* this machine: if no node is named */
    struct rankfile ranks; /* name NULL: there is none */
    struct join_wish wish; /* with -join */
    const struct host *const *node_hosts;
    struct env_rules manager_env;
    char **first_env; /* of the first program, before its style was noted */
    const struct launch_hooks *hooks;
    struct errmsg *err;
};

static int read_named_file(struct plan_builder *p, const char *what, const char *path,
                           struct buf *text)
{
    int rc = localhost_read_file(path, text);

    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return errmsg_set(p->err, LAUNCH_USAGE, "%s %.500s: %s", what, path, err_text(rc));
    return 0;
}

static int read_config(struct plan_builder *p)
{
    struct buf text = BUF_NULL(FILE_MAX_BYTES);
    const char *file = p->opt->configfile;
    int rc;

    if (!file || p->opt->nblocks)
        return 0;
    rc = read_named_file(p, "configuration file", file, &text);
    if (rc == 0)
        rc = options_parse_config(p->opt, file, buf_slice(&text), p->err);
    buf_free(&text);
    return rc;
}

/* ---- nodes ---- */

static int add_here(struct plan_builder *p, struct host_list *list, uint32_t slots)
{
    struct host h = { .name = p->machine.name, .slots = slots };

    return hosts_add(&p->opt->arena, list, h);
}

static int read_hosts(struct plan_builder *p, struct host_list *list, const char *file)
{
    struct buf text = BUF_NULL(FILE_MAX_BYTES);
    int rc;

    if (!file)
        return 0;
    if (list->count)
        return errmsg_set(p->err, LAUNCH_USAGE, "use either -hosts or -hostfile");
    if (strcmp(file, "HYDRA_USE_LOCALHOST") == 0)
        return add_here(p, list, 1);
    rc = read_named_file(p, "host file", file, &text);
    if (rc == 0)
        rc = hosts_parse_file(&p->opt->arena, list, file, buf_slice(&text), p->err);
    buf_free(&text);
    return rc == HOSTS_BAD ? LAUNCH_USAGE : rc;
}

/* All names of this machine become one: the first that the user gave. */
static void find_remote(struct plan_builder *p, const struct host_list *list)
{
    if (p->opt->launcher == LAUNCHER_FORK)
        return;
    for (uint32_t i = 0; i < list->count; i++) {
        struct host *h = &list->items[i];
        if (!localhost_is_here(&p->machine, h->name)) {
            p->opt->remote = true;
            continue;
        }
        if (!p->opt->here)
            p->opt->here = h->name;
        h->name = p->opt->here;
    }
}

static int only_here(struct plan_builder *p)
{
    return errmsg_set(p->err, LAUNCH_USAGE,
                      "-nolocal leaves no node: name others than this one by -hosts or -hostfile");
}

/* -nolocal: this machine is not in the list. */
static int leave_here(struct plan_builder *p, struct host_list *list)
{
    uint32_t n = 0, before = list->count;

    for (uint32_t i = 0; i < before; i++) {
        if (p->opt->launcher != LAUNCHER_FORK &&
            !localhost_is_here(&p->machine, list->items[i].name))
            list->items[n++] = list->items[i];
    }
    list->count = n;
    return before && n == 0 ? only_here(p) : 0;
}

static int order_nodes(const struct launch_options *o, struct host_list *list)
{
    if (o->order_nodes == ORDER_GIVEN)
        return 0;
    return hosts_sort(list, o->order_nodes == ORDER_DESCENDING || o->order_nodes == ORDER_DOWN);
}

static int finish_hosts(struct plan_builder *p, struct host_list *list, const char *file)
{
    int rc = read_hosts(p, list, file);

    if (rc == 0 && p->opt->no_local)
        rc = leave_here(p, list);
    if (rc == 0)
        find_remote(p, list);
    return rc == 0 ? order_nodes(p->opt, list) : rc;
}

static int rm_file(void *arg, const char *path, struct buf *out)
{
    (void)arg;
    return localhost_read_file(path, out);
}

static int rm_run(void *arg, const char *const *argv, struct buf *out)
{
    struct plan_builder *p = arg;

    return localhost_run(argv, p->envp, out, RM_MS);
}

/* The strictest counts. */
static enum mapping_over over_of_all(const struct plan_builder *p)
{
    enum mapping_over over = p->where.items[0].map.over;

    for (uint32_t i = 1; i < p->where.count; i++) {
        if (p->where.items[i].map.over == OVER_NO)
            over = OVER_NO;
    }
    return over;
}

/* The allocation that we are in: how daemons start there and, if the user has named no nodes, its
 * nodes.  If all nodes are to be this machine, no resource manager is queried. */
static int read_allocation(struct plan_builder *p, bool named)
{
    struct launch_options *opt = p->opt;
    struct allocation_world w = { p->envp, rm_file, rm_run, p };
    const struct dvm_wish wish = { named, over_of_all(p) };
    bool used = false;
    int rc = 0;

    if (opt->launcher == LAUNCHER_FORK)
        return 0;
    opt->rm = allocation_detect(&w, opt->rmk);
    if (p->hooks->dvm)
        rc = p->hooks->dvm(p->hooks->dvm_arg, opt, &wish, &used, p->err);
    if (rc || used || named)
        return rc;
    rc = allocation_read(&w, opt->rmk, &opt->arena, &opt->hosts, &opt->rm, p->err);
    return rc == ALLOCATION_NONE ? 0 : rc == HOSTS_BAD ? LAUNCH_USAGE : rc;
}

static int read_rankfile(struct plan_builder *p)
{
    struct buf text = BUF_NULL(FILE_MAX_BYTES);
    const char *file = p->opt->rankfile;
    int rc;

    if (!file)
        return 0;
    rc = read_named_file(p, "rank file", file, &text);
    if (rc == 0)
        rc = rankfile_parse(&p->opt->arena, file, buf_slice(&text), &p->ranks, p->err);
    buf_free(&text);
    if (rc == 0)
        p->where.items[0].binding.ranks = &p->ranks;
    return rc == RANKFILE_BAD ? LAUNCH_USAGE : rc;
}

/* A rank file also names nodes: they are used if no others are named. */
static int nodes_of_rankfile(struct plan_builder *p)
{
    int rc = 0;

    if (p->ranks.name && p->opt->hosts.count == 0)
        rc = rankfile_hosts(&p->ranks, &p->opt->arena, &p->opt->hosts, p->err);
    return rc == RANKFILE_BAD ? LAUNCH_USAGE : rc;
}

/* A command that works only inside an allocation would fail there with its own message, on some
 * node.  No check if the user gives more words for the command, or another command. */
static int check_launcher(struct plan_builder *p)
{
    static const char *const names[] = {
#define X(kind, name, ...) [LAUNCHER_##kind] = name,
        LAUNCH_METHODS(X)
#undef X
    };
    const struct launch_options *opt = p->opt;
    struct allocation_world w = { p->envp, rm_file, rm_run, p };
    const char *name = names[opt->launcher], *inside;

    if (opt->launcher == LAUNCHER_AUTO || !opt->remote || opt->launcher_exec || opt->launcher_args)
        return 0;
    inside = allocation_needed(&w, name);
    if (!inside)
        return 0;
    return errmsg_set(
        p->err, LAUNCH_REFUSED,
        "-launcher %s works only inside an allocation: run wireup by %s, or use -launcher ssh",
        name, inside);
}

static bool have_own_nodes(const struct launch_options *opt)
{
    for (const struct launch_block *b = opt->blocks; b; b = b->next) {
        if (b->hosts.count || b->hostfile)
            return true;
    }
    return false;
}

/* torchrun's restarts are those of all processes; a process of such a program that starts again
 * alone finds nobody. */
static int check_range(const struct plan_builder *p)
{
    for (const struct launch_block *b = p->opt->blocks; b; b = b->next) {
        if (b->restarts)
            return errmsg_set(p->err, LAUNCH_USAGE,
                              "use either -nnodes or -max-restarts: to start all processes again "
                              "on the nodes that are left, use -restart-job %u",
                              b->restarts);
    }
    if (have_own_nodes(p->opt))
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "with -nnodes all programs of the command line use the same nodes: name "
                          "them once, by -hosts or -hostfile");
    return 0;
}

/* -nnodes: some of the nodes. */
static int choose_range(struct plan_builder *p)
{
    struct launch_options *opt = p->opt;
    struct host_list *list = opt->hosts.count ? &opt->hosts : &p->here;
    int rc = opt->nnodes.max ? check_range(p) : 0;

    if (rc == 0)
        rc = node_range_choose(&opt->nnodes, p->hooks->lost, list, p->err);
    return rc == NODE_RANGE_CANNOT ? LAUNCH_REFUSED : rc;
}

/* -map-by ppr: the hardware, or a number of its own, says how many ranks a node gets. */
static bool counts_objects(const struct plan_builder *p)
{
    for (uint32_t i = 0; i < p->where.count; i++) {
        if (p->where.items[i].map.how == MAP_PPR)
            return true;
    }
    return false;
}

static void use_nodes(struct plan_builder *p, const struct host_list *list)
{
    uint32_t i = 0;

    for (const struct launch_block *b = p->opt->blocks; b; b = b->next)
        p->blocks[i++] = (struct mapping_block){ b->nprocs, list, 0 };
}

/* -join: the others are not known yet. */
static int await_nodes(struct plan_builder *p)
{
    struct launch_options *opt = p->opt;
    uint32_t slots = localhost_processors();
    int rc = p->hooks->no_join
                 ? errmsg_set(p->err, LAUNCH_USAGE,
                              "-join is for one job; a DVM lets nodes join by -join-token-file, "
                              "-join-port or -join-file")
                 : join_wish_make(&p->wish, opt, counts_objects(p), slots, p->err);

    if (rc == 0)
        rc = add_here(p, &p->here, slots);
    p->blocks = arena_array(&opt->arena, opt->nblocks, sizeof *p->blocks);
    if (rc || !p->blocks)
        return rc ? rc : -ENOMEM;
    opt->join_only |= opt->no_local;
    opt->remote = true;
    opt->here = p->machine.name;
    use_nodes(p, &p->here);
    return 0;
}

/* The node list of each block. */
static int choose_nodes(struct plan_builder *p)
{
    struct launch_options *opt = p->opt;
    const char *file = opt->hostfile || opt->hosts.count ? opt->hostfile : opt->default_hostfile;
    int rc = read_hosts(p, &opt->hosts, file);
    uint32_t i = 0;

    if (rc == 0)
        rc = read_allocation(p, file || opt->hosts.count);
    if (rc == 0 && !file)
        rc = nodes_of_rankfile(p);
    if (rc == 0)
        rc = finish_hosts(p, &opt->hosts, NULL);

    p->blocks = arena_array(&opt->arena, opt->nblocks, sizeof *p->blocks);
    if (!p->blocks)
        return -ENOMEM;
    if (rc == 0 && opt->hosts.count == 0)
        rc = add_here(p, &p->here, localhost_processors());
    if (rc == 0)
        rc = choose_range(p);
    for (struct launch_block *b = opt->blocks; b && rc == 0; b = b->next, i++) {
        rc = finish_hosts(p, &b->hosts, b->hostfile);
        p->blocks[i].hosts = b->hosts.count ? &b->hosts : opt->hosts.count ? &opt->hosts : &p->here;
        p->blocks[i].nprocs = b->nprocs;
        if (rc == 0 && opt->no_local && p->blocks[i].hosts == &p->here)
            rc = only_here(p);
        if (b->nprocs == 0 && p->blocks[i].hosts == &p->here &&
            map_policy_of(&p->where, i)->map.how != MAP_PPR && !p->ranks.name)
            p->blocks[i].nprocs = opt->ppn ? opt->ppn : 1; /* as users of mpiexec expect it */
    }
    return rc;
}

/* Maps map_policy.h's results to ours. */
static int to_launch_code(int rc)
{
    return rc == MAP_POLICY_BAD ? LAUNCH_USAGE : rc == MAP_POLICY_CANNOT ? LAUNCH_REFUSED : rc;
}

static bool name_is_here(void *arg, const char *name)
{
    struct plan_builder *p = arg;

    return p->opt->launcher != LAUNCHER_FORK && localhost_is_here(&p->machine, name);
}

static int place_ranks(struct plan_builder *p, struct mapping_request *req)
{
    int rc = 0;

    if (p->ranks.name)
        rc = rankfile_entries(&p->ranks, p->blocks[0].hosts, &p->opt->arena, name_is_here, p,
                              p->opt->here, &req->entries, p->err);
    req->nentries = p->ranks.count;
    return rc == RANKFILE_BAD ? LAUNCH_USAGE : rc;
}

static int new_apps(struct plan_builder *p)
{
    p->plan->napps = p->opt->nblocks;
    p->plan->apps = arena_array(&p->plan->arena, p->opt->nblocks, sizeof *p->plan->apps);
    return p->plan->apps ? 0 : -ENOMEM;
}

static int place(struct plan_builder *p)
{
    struct launch_options *opt = p->opt;
    struct mapping_request req = {
        .per_node = opt->ppn,
        .rankmap = opt->rankmap,
        .one_node = opt->launcher != LAUNCHER_FORK && !opt->remote,
        .blocks = p->blocks,
    };
    int rc;

    rc = map_policies_request(&p->where, p->blocks, &req);
    if (rc == 0)
        rc = place_ranks(p, &req);
    if (rc)
        return rc;
    /* Several names of this machine are one node; it keeps the first name that the user gave. */
    req.one_node_name = p->blocks[0].hosts->items[0].name;
    rc = new_apps(p);
    if (rc)
        return rc;
    map_policies_note(&p->where, p->plan);
    rc = mapping_place(p->plan, &req, &p->node_hosts, p->err);
    opt->node_hosts = p->node_hosts;
    return rc == MAPPING_BAD ? LAUNCH_USAGE : rc == MAPPING_CANNOT ? LAUNCH_REFUSED : rc;
}

/* ---- programs ---- */

static int copy_argv(struct arena *a, const struct launch_block *b, struct job_map_app *app)
{
    app->argc = b->argc;
    app->argv = arena_array(a, (size_t)b->argc + 1, sizeof *app->argv);
    if (!app->argv)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->argc; i++) {
        app->argv[i] = arena_str(a, slice_str(b->argv[i]));
        if (!app->argv[i])
            return -ENOMEM;
    }
    return 0;
}

/* Maps path_search.h's results to ours. */
static int found(int rc)
{
    return rc == PATH_SEARCH_NOT_FOUND        ? LAUNCH_NOT_FOUND
           : rc == PATH_SEARCH_NOT_EXECUTABLE ? LAUNCH_NOT_EXECUTABLE
                                              : rc;
}

/* The program's path on this machine. */
static int look_up(struct plan_builder *p, const struct launch_block *b, struct job_map_app *app)
{
    struct arena *a = &p->plan->arena;
    const char *wdir = b->wdir;
    int rc = 0;

    app->pset = b->pset;
    app->pmi = b->pmi;
    app->restarts = b->restarts ? b->restarts : p->opt->restarts;
    app->flags = (b->in_session ? JOB_MAP_APP_SESSION : 0u) |
                 (b->index_argv ? JOB_MAP_APP_INDEX : 0u) | (b->prefork ? JOB_MAP_APP_PREFORK : 0u);
    if (!wdir && p->opt->remote)
        wdir = "."; /* there is no other way to pass it to other nodes */
    if (wdir)
        rc = path_search_wdir(a, wdir, &app->wdir, p->err);
    if (wdir && !app->wdir) /* ours was removed: there is nothing to pass on */
        return found(rc);
    if (rc == 0)
        rc = path_search_program(a, app->argv[0], app->wdir, env_value(app->env, "PATH"),
                                 p->opt->path_only, &app->path, p->err);
    if (rc == 0 && b->staged) {
        rc = staging_list_add_program(p->plan, app, app->path, p->err);
        if (rc > 0)
            return LAUNCH_USAGE;
    }
    /* Other nodes may have programs that we have not, or elsewhere: each searches again. */
    if (rc >= 0 && p->opt->remote) {
        app->path = app->argv[0];
        return 0;
    }
    return found(rc);
}

static enum environment_style style_of(const struct plan_builder *p, const struct job_map_app *app)
{
    uint32_t wanted = p->opt->env_style;

    if (wanted)
        return (enum environment_style)(wanted - 1);
    return program_style_of(app);
}

/* The daemons add the variables of each process by it. */
static int note_style(struct plan_builder *p, struct job_map_app *app)
{
    struct arena *a = &p->plan->arena;
    enum environment_style style = style_of(p, app);
    size_t n = 0;
    char **env;

    if (style == ENVIRONMENT_STYLE_NONE)
        return 0;
    while (app->env[n])
        n++;
    env = arena_array(a, n + 2, sizeof *env);
    if (!env)
        return -ENOMEM;
    memcpy(env, app->env, n * sizeof *env);
    env[n] = arena_printf(a, ENVIRONMENT_STYLE_NOTE "=%s", environment_style_word(style));
    app->env = env;
    return env[n] ? 0 : -ENOMEM;
}

static int plan_builder_app(struct plan_builder *p, const struct launch_block *b,
                            struct job_map_app *app)
{
    struct arena *a = &p->plan->arena;
    int rc = copy_argv(a, b, app);

    if (rc == 0 && env_rules_empty(&b->env) && app > p->plan->apps &&
        env_rules_empty(&p->opt->blocks->env))
        app->env = p->first_env; /* most programs of a job have the same */
    else if (rc == 0)
        rc = environ_build(a, p->envp, &p->opt->env, &b->env, &p->manager_env, &app->env);
    if (app == p->plan->apps)
        p->first_env = app->env;
    if (rc == 0)
        rc = look_up(p, b, app);
    if (rc == 0)
        rc = note_style(p, app);
    if (rc > 0 && b->where) {
        struct errmsg why = *p->err;
        errmsg_set(p->err, rc, "%.200s: %.800s", b->where, why.text);
    }
    return rc;
}

/* Variables that we set for all; the spawner sets those of each rank. */
static int common_environment(struct plan_builder *p)
{
    struct arena *a = &p->opt->arena;
    bool bound = false;
    int rc = 0;

    for (uint32_t r = 0; r < p->plan->nprocs && !bound; r++)
        bound = p->plan->procs[r].binding != NULL;
    if (bound)
        rc = environ_set(a, &p->manager_env, SLICE("HYDRA_USER_PROVIDED_BINDING"), SLICE("1"));
    /* Fortran's output would stay in a buffer until the end; the user's own setting has priority.
     */
    if (rc == 0 && !env_value(p->envp, "GFORTRAN_UNBUFFERED_PRECONNECTED")) {
        struct env_rules ours = { 0 };
        rc = environ_set(a, &ours, SLICE("GFORTRAN_UNBUFFERED_PRECONNECTED"), SLICE("y"));
        if (rc == 0)
            environ_defaults(&p->opt->env, &ours);
    }
    if (p->opt->env.forward == ENV_UNSAID)
        p->opt->env.forward = p->opt->env_default;
    return rc;
}

static int add_staged(struct plan_builder *p)
{
    int rc = 0;

    for (const struct launch_staged *s = p->opt->stage; s && rc == 0; s = s->next)
        rc = (s->several ? staging_list_add_all : staging_list_add)(p->plan, s->paths, p->err);
    return rc > 0 ? LAUNCH_USAGE : rc;
}

static int plan_builder_apps(struct plan_builder *p)
{
    struct job_map_app *app = p->plan->apps;
    int rc = common_environment(p);

    p->plan->path_only = p->opt->path_only;
    for (struct launch_block *b = p->opt->blocks; b && rc == 0; b = b->next)
        rc = plan_builder_app(p, b, app++);
    return rc ? rc : add_staged(p);
}

/* ---- the rest ---- */

/* seq:file= and rankfile:file= are another form of an option; a later program's own seq:file= is
 * its own node list. */
static int take_map_file(struct plan_builder *p, struct launch_block *own, uint32_t app)
{
    const struct map_policy *policy = map_policy_of(&p->where, app);
    bool seq = policy->map.how == MAP_SEQ;
    const char **option_p = !seq          ? &p->opt->rankfile
                            : own->map_by ? &own->hostfile
                                          : &p->opt->hostfile;

    if (own->map_by && policy->map.how == MAP_RANKFILE)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "-map-by %.200s: a rank file places the processes of all programs: give "
                          "it for the first one",
                          own->map_by);
    if (policy->map.file && *option_p && *option_p != policy->map.file)
        return errmsg_set(p->err, LAUNCH_USAGE, "-map-by %.200s: %s already names the file",
                          policy->words.map_by, seq ? "-hostfile" : "-rankfile");
    if (policy->map.file)
        *option_p = policy->map.file;
    if (policy->map.how == MAP_RANKFILE && !p->opt->rankfile)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "-map-by rankfile needs a file: rankfile:file=FILE, or -rankfile FILE");
    return 0;
}

static int both_given(struct plan_builder *p, const char *a, const char *b)
{
    return errmsg_set(p->err, LAUNCH_USAGE, "use either %s or %s", a, b);
}

/* An option that places every rank excludes other placement options. */
static int check_placement(struct plan_builder *p, const struct map_policy *policy)
{
    const struct launch_options *opt = p->opt;
    const char *first = opt->rankfile                ? "-rankfile"
                        : policy->map.how == MAP_PPR ? "-map-by ppr"
                        : policy->map.how == MAP_SEQ ? "-map-by seq"
                                                     : NULL;
    const char *second = opt->ppn       ? "-ppn"
                         : opt->rankmap ? "-rankmap"
                         : opt->rankfile && policy->words.map_by && policy->map.how != MAP_RANKFILE
                             ? "-map-by"
                             : NULL;

    if (first && second)
        return both_given(p, second, first);
    if (policy->words.rank_by && (opt->rankfile || opt->rankmap))
        return both_given(p, "-rank-by", opt->rankfile ? "-rankfile" : "-rankmap");
    return 0;
}

static int check_placements(struct plan_builder *p)
{
    struct launch_block *b = p->opt->blocks;
    int rc = 0;

    for (uint32_t i = 0; b && rc == 0; b = b->next, i++)
        rc = take_map_file(p, b, i);
    for (uint32_t i = 0; i < p->where.count && rc == 0; i++)
        rc = check_placement(p, &p->where.items[i]);
    if (rc == 0 && p->where.count > 1 && (p->opt->rankfile || p->opt->rankmap))
        rc = errmsg_set(p->err, LAUNCH_USAGE,
                        "%s places the processes of all programs: none may have options of its own "
                        "for that",
                        p->opt->rankfile ? "-rankfile" : "-rankmap");
    return rc;
}

/* What a program says of its own places, else what the job says. */
static struct map_policy_words words_of(const struct launch_options *opt,
                                        const struct launch_block *b)
{
    return (struct map_policy_words){
        .map_by = b->map_by ? b->map_by : opt->map_by,
        .rank_by = b->rank_by ? b->rank_by : opt->rank_by,
        .bind_to = b->bind_to ? b->bind_to : opt->bind_to,
        .over = opt->oversubscribe      ? OVER_YES
                : opt->no_oversubscribe ? OVER_NO
                                        : OVER_UNSAID,
    };
}

static int check_options(struct plan_builder *p)
{
    const struct launch_options *opt = p->opt;
    struct map_policy_words *words =
        arena_array(&p->opt->arena, (size_t)opt->nblocks + 1, sizeof *words);
    uint32_t n = 0;
    int rc;

    if (!words)
        return -ENOMEM;
    for (const struct launch_block *b = opt->blocks; b; b = b->next)
        words[n++] = words_of(opt, b);
    rc = map_policies_parse(&p->where, words, n, &p->opt->arena, p->err);
    if (rc)
        return to_launch_code(rc);
    if (opt->topology)
        rc = bind_look_file(&p->where.machines.own, &p->opt->arena, opt->topology, p->err);
    return rc == BIND_BAD ? LAUNCH_USAGE : rc ? rc : check_placements(p);
}

/* The words of the placement: a rank file, or :pe=N of the mapping, binds without -bind-to. */
static int note_placement(struct plan_builder *p)
{
    const struct launch_options *opt = p->opt;
    struct placement_words w = { .connectivity = opt->connectivity };
    int rc = map_policies_words(&p->where, &w);

    if (placement_words_check(p->plan, opt->connectivity, p->err))
        return LAUNCH_USAGE;
    if (opt->rankfile)
        w.map_by = "rankfile";
    if (p->ranks.binds)
        w.bind_to = "rankfile";
    w.cluster = placement_words_cluster(&p->plan->arena, p->envp);
    if (opt->all_nodes)
        w.allocated = placement_words_nodes(&p->plan->arena, p->plan, &opt->spares);
    if (rc == 0 && (!w.cluster || (opt->all_nodes && !w.allocated)))
        rc = -ENOMEM;
    return rc ? rc : placement_words_set(p->plan, &w);
}

static int bind_ranks(struct plan_builder *p)
{
    if (p->ranks.binds && p->where.items[0].words.bind_to)
        return errmsg_set(p->err, LAUNCH_USAGE, "use either -bind-to or slot= in the rank file");
    p->where.machines.remote = p->opt->remote;
    p->where.machines.here = p->opt->here;
    return to_launch_code(map_policies_apply(&p->where, p->plan, p->node_hosts, p->err));
}

static bool binds(const struct plan_builder *p)
{
    bool wanted = p->ranks.binds;

    for (uint32_t i = 0; i < p->where.count && !wanted; i++)
        wanted = p->where.items[i].words.bind_to || p->where.items[i].map.pe;
    for (uint32_t b = 0; b < p->opt->nblocks && !wanted; b++) {
        for (uint32_t i = 0; i < p->blocks[b].hosts->count && !wanted; i++)
            wanted = p->blocks[b].hosts->items[i].binding != NULL;
    }
    return wanted;
}

/* Whether the hardware of other machines affects ranks, or is to be shown. */
static bool needs_hardware(const struct plan_builder *p)
{
    if (!p->opt->remote || p->opt->dry_run)
        return p->opt->remote && p->opt->ask_nodes;
    return map_policies_need_hardware(&p->where) || (p->opt->report_bindings && binds(p));
}

/* A rank on each entry of the node lists: a plan for the daemons only. */
static int place_scouts(struct plan_builder *p)
{
    struct launch_options *opt = p->opt;
    struct mapping_block *blocks = arena_array(&opt->arena, opt->nblocks, sizeof *blocks);
    static const struct mapping_way everywhere = { .how = MAP_BY_NODE, .over = OVER_YES };
    struct mapping_request req = {
        .ways = &everywhere, .nways = 1, .per_node = opt->ppn, .blocks = blocks
    };
    int rc = blocks ? new_apps(p) : -ENOMEM;

    for (uint32_t i = 0; i < opt->nblocks && rc == 0; i++)
        blocks[i] = (struct mapping_block){ p->blocks[i].hosts->count, p->blocks[i].hosts, 0 };
    if (rc == 0)
        rc = mapping_place(p->plan, &req, &p->node_hosts, p->err);
    opt->node_hosts = p->node_hosts;
    return rc == MAPPING_BAD ? LAUNCH_USAGE : rc;
}

static bool has_rank(const struct job_map *plan, const char *node)
{
    for (uint32_t n = 0; n < plan->nnodes; n++) {
        if (!strcmp(plan->nodes[n].name, node))
            return true;
    }
    return false;
}

/* Not this machine: with the launcher the whole job would be lost. */
static bool is_spare(const struct plan_builder *p, const char *node)
{
    const struct host_list *known = &p->opt->spares;

    for (uint32_t i = 0; i < known->count; i++) {
        if (!strcmp(known->items[i].name, node))
            return false;
    }
    return !has_rank(p->plan, node) && !(p->opt->here && !strcmp(p->opt->here, node));
}

/* They outlive the plan. */
static int list_nodes(struct plan_builder *p)
{
    struct host_list *list = &p->opt->first_nodes;
    const struct job_map *plan = p->plan;
    int rc = 0;

    *list = (struct host_list){ NULL, 0, 0 };
    for (uint32_t n = 0; p->opt->all_nodes && n < plan->nnodes && rc == 0; n++) {
        const char *name = arena_str(&p->opt->arena, slice_str(plan->nodes[n].name));
        rc = !name ? -ENOMEM
                   : hosts_add(&p->opt->arena, list,
                               (struct host){ .name = name, .slots = plan->nodes[n].slots });
    }
    return rc;
}

/* -on-failure replace, -all-nodes: the nodes of the lists that have no rank. */
static int list_spares(struct plan_builder *p)
{
    struct host_list *spares = &p->opt->spares;
    bool wanted = p->opt->replace || p->opt->all_nodes;

    *spares = (struct host_list){ NULL, 0, 0 };
    for (uint32_t b = 0; b < p->opt->nblocks && wanted; b++)
        spares->room += p->blocks[b].hosts->count;
    spares->items = arena_array(&p->opt->arena, spares->room + (size_t)1, sizeof *spares->items);
    if (!spares->items)
        return -ENOMEM;
    for (uint32_t b = 0; b < p->opt->nblocks && wanted; b++) {
        for (uint32_t i = 0; i < p->blocks[b].hosts->count; i++) {
            const struct host *h = &p->blocks[b].hosts->items[i];
            if (is_spare(p, h->name))
                spares->items[spares->count++] = *h;
        }
    }
    if (p->opt->replace && !spares->count && !p->opt->on_dvm && !p->opt->join)
        return errmsg_set(
            p->err, LAUNCH_USAGE,
            "-on-failure replace needs a node without ranks, besides this machine, to "
            "take the place of a lost one: name more nodes than the job fills");
    return 0;
}

/* A list with other nodes, of which the job needs none: nothing is started there. */
static int leave_others(struct plan_builder *p)
{
    const struct launch_options *o = p->opt;
    bool others = o->join || o->scouting || o->spares.count || !o->here ||
                  (o->on_dvm && o->any_node && o->all_nodes);

    for (uint32_t n = 0; n < p->plan->nnodes && !others; n++)
        others = strcmp(p->plan->nodes[n].name, o->here) != 0;
    p->opt->remote = p->opt->remote && others;
    return 0;
}

static int check_ranks(struct plan_builder *p)
{
    const struct launch_options *opt = p->opt;
    uint32_t n = p->plan->nprocs;

    if (opt->stdin_to == LAUNCH_STDIN_RANK && opt->stdin_rank >= n)
        return errmsg_set(p->err, LAUNCH_USAGE, "-stdin %u: the job has only %u ranks",
                          opt->stdin_rank, n);
    if (opt->output_from_given && opt->output_from >= n)
        return errmsg_set(p->err, LAUNCH_USAGE, "-output-from %u: the job has only %u ranks",
                          opt->output_from, n);
    return 0;
}

/* The slots of all nodes, which the mapping has counted: as a node list, a resource manager or the
 * DVM gives them, else the processors.  A job that has more processes has taken the slots that it
 * needs.  A number, because RFC 13 has no word for "unlimited". */
static void count_universe(struct job_map *plan)
{
    if (plan->universe < plan->nprocs)
        plan->universe = plan->nprocs;
}

static int set_universe(struct plan_builder *p)
{
    const char *usize = p->opt->usize;
    uint32_t n;

    if (!usize) {
        count_universe(p->plan);
        return 0;
    }
    if (strcasecmp(usize, "SYSTEM") == 0)
        return 0; /* the mapping has counted the slots */
    p->plan->universe = -1;
    if (strcasecmp(usize, "INFINITE") == 0 || strcmp(usize, "-1") == 0)
        return 0;
    if (!slice_u32(slice_str(usize), &n) || n == 0 || n > INT32_MAX)
        return errmsg_set(p->err, LAUNCH_USAGE,
                          "-usize must be a number, SYSTEM or INFINITE, not '%.100s'", usize);
    p->plan->universe = n;
    return 0;
}

static int mark_stops(struct plan_builder *p)
{
    return spawn_stops_options(p->plan, p->opt, p->err);
}

/* Before the placement, which takes memory for each rank; blocks without a number have as many
 * ranks as slots were given. */
static int check_room(struct plan_builder *p)
{
    uint64_t total = 0;
    int rc;

    if (p->opt->remote) /* other machines have their own limits */
        return 0;
    for (uint32_t i = 0; i < p->opt->nblocks; i++)
        total += p->blocks[i].nprocs;
    rc = localhost_has_room(total, launch_files_each(p->opt), p->err);
    return rc == LOCALHOST_FULL ? LAUNCH_REFUSED : rc;
}

/* The same for a job over several nodes, for our part of it. */
static int check_room_here(struct plan_builder *p)
{
    uint32_t here = 0;
    int rc;

    for (uint32_t n = 0; n < p->plan->nnodes && p->opt->remote && p->opt->here; n++) {
        if (strcmp(p->plan->nodes[n].name, p->opt->here) == 0)
            here = p->plan->nodes[n].nprocs;
    }
    rc = localhost_has_room(here, launch_files_each(p->opt), p->err);
    return rc == LOCALHOST_FULL ? LAUNCH_REFUSED : rc;
}

/* -output-file and -output-directory: other nodes get an absolute path. */
static int name_outputs(struct plan_builder *p)
{
    const struct launch_options *o = p->opt;
    const char *path = o->output_file ? o->output_file : o->output_directory;
    char here[PATH_MAX];

    p->plan->output.merged = o->merge_output;
    p->plan->output.raw = o->raw_output;
    p->plan->output.xml = o->xml_output;
    p->plan->output.timed = o->prepend_time;
    if (!path)
        return 0;
    if (!getcwd(here, sizeof here))
        here[0] = '\0';
    return spawn_output_files(p->plan, here, slice_str(path),
                              o->output_file ? &spawn_output_file : &spawn_output_directory);
}

/* The nodes have told what they are. */
static int add_machines(struct plan_builder *p, struct map_picture *m)
{
    const struct bind_machine **all =
        arena_array(&p->opt->arena, (size_t)p->plan->nnodes + 1, sizeof *all);

    for (uint32_t i = 0; all && i < p->plan->nnodes; i++) {
        const struct bind_machine *its =
            plan_hardware_of(&p->where.machines, p->plan->nodes[i].name);
        all[i] = its ? its : m->machine;
    }
    m->machines = all;
    m->assumed = false;
    return all ? 0 : -ENOMEM;
}

static int show_picture(struct plan_builder *p)
{
    struct bind_machine *machine = &p->where.machines.own;
    struct map_picture m = { p->plan, machine, p->opt->remote, NULL };
    int rc = bind_look(machine, &p->opt->arena, true, p->err);

    if (rc == 0 && p->where.machines.remote_machine)
        rc = add_machines(p, &m);
    if (rc)
        return rc < 0 ? rc : LAUNCH_REFUSED;
    if (p->opt->picture_svg)
        map_picture_svg(&m, &p->opt->answer);
    else
        map_picture_text(&m, 0, &p->opt->answer);
    return buf_ok(&p->opt->answer) ? LAUNCH_SHOW : -ENOMEM;
}

static int show(struct plan_builder *p)
{
    if (!p->opt->dry_run) {
        if (p->opt->display_allocation)
            plan_print_allocation(p->plan, &p->opt->answer);
        if (p->opt->display_map)
            plan_print_table(p->plan, &p->opt->answer);
        if (p->opt->report_bindings)
            plan_print_bindings(p->plan, &p->opt->answer);
        return buf_ok(&p->opt->answer) ? 0 : -ENOMEM;
    }
    if (p->opt->picture || p->opt->picture_svg)
        return show_picture(p);
    if (p->opt->json)
        plan_print_json(p->plan, &p->opt->answer);
    else
        plan_print_table(p->plan, &p->opt->answer);
    return buf_ok(&p->opt->answer) ? LAUNCH_SHOW : -ENOMEM;
}

static int run(struct plan_builder *p, int (*const *steps)(struct plan_builder *))
{
    int rc = 0;

    while (*steps && rc == 0)
        rc = (*steps++)(p);
    return rc;
}

/* Everything after the node lists. */
static int plan_job(struct plan_builder *p)
{
    static int (*const steps[])(struct plan_builder *) = {
        place,       list_nodes, list_spares, check_room_here, leave_others,      set_universe,
        check_ranks, bind_ranks, mark_stops,  note_placement,  plan_builder_apps, name_outputs,
        show,        NULL,
    };

    return run(p, steps);
}

static int plan_scouts(struct plan_builder *p)
{
    static int (*const steps[])(struct plan_builder *) = { place_scouts, plan_builder_apps, NULL };

    p->opt->scouting = needs_hardware(p);
    return run(p, steps);
}

static int run_steps(struct plan_builder *p)
{
    static int (*const steps[])(struct plan_builder *) = {
        read_config, check_options, read_rankfile, choose_nodes, check_launcher, check_room, NULL,
    };
    static int (*const joins[])(struct plan_builder *) = {
        read_config, check_options, await_nodes, plan_scouts, NULL,
    };
    int rc = run(p, p->opt->join ? joins : steps);

    if (rc || p->opt->join)
        return rc;
    return needs_hardware(p) ? plan_scouts(p) : plan_job(p);
}

static int explain_errno(int rc, struct errmsg *err)
{
    if (rc < 0)
        errmsg_set(err, rc, "%s", err_text(rc));
    return rc;
}

int launch_prepare(int argc, char **argv, char **envp, struct launch_options *opt,
                   struct job_map *plan, struct errmsg *err)
{
    const struct launch_hooks none = { .dvm = NULL };

    return launch_prepare_with(argc, argv, envp, &none, opt, plan, err);
}

int launch_prepare_with(int argc, char **argv, char **envp, const struct launch_hooks *hooks,
                        struct launch_options *opt, struct job_map *plan, struct errmsg *err)
{
    struct plan_builder *p;
    int rc;

    launch_options_init(opt);
    job_map_init(plan);
    rc = settings_read(opt, argc, argv, envp, NULL, err);
    if (rc == 0)
        rc = options_parse(opt, argc, argv, envp, err);
    if (rc == 0 && hooks->limited)
        hooks->limited(hooks->arg, opt->timeout_s);
    if (rc == 0 && !opt->singleton.port) {
        opt->prepared = p = arena_array(&opt->arena, 1, sizeof *p);
        if (!p)
            return explain_errno(-ENOMEM, err);
        *p = (struct plan_builder){
            .opt = opt, .plan = plan, .envp = envp, .hooks = hooks, .err = err
        };
        localhost_init(&p->machine, opt->localhost);
        rc = run_steps(p);
        localhost_free(&p->machine);
    }
    return explain_errno(rc, err);
}

int launch_prepare_again(struct launch_options *opt, struct job_map *plan,
                         struct bind_machine *(*remote_machine)(void *arg, const char *node),
                         void *arg, struct errmsg *err)
{
    struct plan_builder *p = opt->prepared;
    int rc;

    job_map_free(plan);
    p->plan = plan;
    p->err = err;
    p->where.machines.remote_machine = remote_machine;
    p->where.machines.arg = arg;
    localhost_init(&p->machine, opt->localhost);
    rc = plan_job(p);
    localhost_free(&p->machine);
    return explain_errno(rc, err);
}

const struct join_wish *launch_wish(const struct launch_options *opt)
{
    return &opt->prepared->wish;
}

int launch_prepare_joined(struct launch_options *opt, struct job_map *plan,
                          const struct host_list *nodes,
                          struct bind_machine *(*remote_machine)(void *arg, const char *node),
                          void *arg, struct errmsg *err)
{
    int rc;

    opt->hosts = *nodes;
    rc = order_nodes(opt, &opt->hosts);
    if (rc < 0)
        return explain_errno(rc, err);
    use_nodes(opt->prepared, &opt->hosts);
    return launch_prepare_again(opt, plan, remote_machine, arg, err);
}

void launch_known_hardware(const struct launch_options *opt, struct binding_machines *known)
{
    const struct plan_builder *p = opt->prepared;

    known->remote = opt->remote;
    known->here = opt->here;
    known->remote_machine = p ? p->where.machines.remote_machine : NULL;
    known->arg = p ? p->where.machines.arg : NULL;
}
