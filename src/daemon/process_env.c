/* process_env.c - see process_env.h. */
#include "daemon/process_env.h"

#include <string.h>

#include "core/job.h"
#include "daemon/environment_style.h"
#include "daemon/listener.h"
#include "daemon/local_job.h"
#include "daemon/process.h"
#include "daemon/staging.h"

/* Each process needs some forty variables, and starting it waits for them: they are put together by
 * hand, which costs a tenth of what printf does. */
struct env_writer {
    struct arena *arena;
    char **vars;
    size_t n;
};

static void env_slice(struct env_writer *w, const char *name, struct slice value)
{
    size_t len = strlen(name);
    char *text = arena_alloc(w->arena, len + 1 + value.len + 1);

    w->vars[w->n++] = text;
    if (!text)
        return;
    memcpy(text, name, len);
    text[len] = '=';
    if (value.len > 0)
        memcpy(text + len + 1, value.ptr, value.len);
}

static void env_text(struct env_writer *w, const char *name, const char *value)
{
    env_slice(w, name, slice_str(value));
}

static void env_number(struct env_writer *w, const char *name, uint64_t value)
{
    char memory[SLICE_DIGITS_MAX];

    env_slice(w, name, slice_digits(memory, value));
}

/* The place of the last variable of that name, or NULL. */
static char **find_name(const struct env_writer *w, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = w->n; i-- > 0;) {
        const char *var = w->vars[i];
        if (var && var[0] == name[0] && !strncmp(var, name, len) && var[len] == '=')
            return &w->vars[i];
    }
    return NULL;
}

enum { ENV_OURS_MAX = 80 };

/* By which a process finds its connection, whichever protocol it speaks on it. */
static void env_connection(struct env_writer *w, const struct processes *p, const struct job *job)
{
    if (!(p->config.context->config->pmi_port && job->id == p->config.jobs->first))
        env_number(w, "WIREUP_FD", PROCESS_ENV_FD);
}

static void env_pmi(struct env_writer *w, const struct processes *p, const struct job *job,
                    uint32_t rank)
{
    if (p->config.context->config->pmi_port && job->id == p->config.jobs->first) {
        w->vars[w->n++] =
            arena_printf(w->arena, "PMI_PORT=127.0.0.1:%u", p->config.listener->conns.port);
        env_number(w, "PMI_ID", p->config.listener->port_ids[rank]);
    } else {
        env_number(w, "PMI_FD", PROCESS_ENV_FD);
    }
    env_number(w, "PMI_RANK", rank);
    env_number(w, "PMI_SIZE", job->plan.nprocs);
    if (job->parent != JOB_NO_RANK)
        env_number(w, "PMI_SPAWNED", 1);
    if (job->procs[rank].restarts)
        env_number(w, "WIREUP_RESTARTS", job->procs[rank].restarts);
}

/* Every release of OpenPMIx has its own name for the same address.  `hash` keeps its clients off
 * stores that only its own servers have. */
static void env_pmix(struct env_writer *w, const struct processes *p, const struct job *job,
                     uint32_t rank)
{
    static const char *const names[] = { "PMIX_SERVER_URI61", "PMIX_SERVER_URI51",
                                         "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                         "PMIX_SERVER_URI3",  "PMIX_SERVER_URI2",
                                         "PMIX_SERVER_URI21" };
    const struct job_map_proc *proc = &job->plan.procs[rank];
    const char *uri = p->config.uri;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        env_text(w, names[i], uri);
    env_text(w, "PMIX_NAMESPACE", job->nspace);
    env_number(w, "PMIX_RANK", rank);
    env_text(w, "PMIX_SECURITY_MODE", "native");
    env_text(w, "PMIX_GDS_MODULE", "hash");
    env_text(w, "PMIX_BFROP_BUFFER_TYPE", "PMIX_BFROP_BUFFER_NON_DESC");
    env_text(w, "PMIX_HOSTNAME", job->plan.nodes[proc->node].name);
    env_text(w, "PMIX_VERSION", "5.0.3");
    /* Open MPI 4 takes itself for a singleton unless it has a daemon's URI; it never connects to
     * it. */
    env_text(w, "OMPI_MCA_orte_local_daemon_uri", uri);
}

#define MPICH_CHOICE "MPIR_CVAR_PMI_VERSION"

/* MPICH reads these, and the last one counts. */
static bool user_has_chosen(const struct env_writer *w)
{
    static const char *const names[] = { MPICH_CHOICE, "MPIR_PARAM_PMI_VERSION",
                                         "MPICH_PMI_VERSION" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char **var = find_name(w, names[i]);
        if (var)
            return strcmp(strchr(*var, '=') + 1, "auto") != 0;
    }
    return false;
}

/* MPICH 5 chooses by what it finds, and refuses to choose between two; a choice that it was not
 * built for it replaces by the one that it was built for. */
static void env_choice(struct env_writer *w, enum job_map_pmi asked, enum job_map_pmi offer)
{
    static const char *const choices[] = {
        [JOB_MAP_PMI_1] = "1", [JOB_MAP_PMI_2] = "2", [JOB_MAP_PMI_X] = "x", [JOB_MAP_PMI_ALL] = "1"
    };
    bool ordered = asked != JOB_MAP_PMI_AUTO && asked != JOB_MAP_PMI_ALL;
    char **var = find_name(w, MPICH_CHOICE);

    if (!ordered && (offer != JOB_MAP_PMI_ALL || user_has_chosen(w)))
        return;
    if (var)
        *var = w->vars[--w->n];
    env_text(w, MPICH_CHOICE, choices[offer]);
}

/* Variables that programs of other families read to choose a device or a file name by themselves.
 */
static void env_places(struct env_writer *w, const struct job *job, const struct job_map_proc *p)
{
    const struct job_map_node *node = &job->plan.nodes[p->node];

    env_number(w, "MPI_LOCALRANKID", p->local_rank);
    env_number(w, "MPI_LOCALNRANKS", node->nprocs);
    env_number(w, "MV2_COMM_WORLD_RANK", p->rank);
    env_number(w, "MV2_COMM_WORLD_SIZE", job->plan.nprocs);
    env_number(w, "MV2_COMM_WORLD_LOCAL_RANK", p->local_rank);
    env_number(w, "MV2_COMM_WORLD_LOCAL_SIZE", node->nprocs);
    env_number(w, "OMPI_COMM_WORLD_RANK", p->rank);
    env_number(w, "OMPI_COMM_WORLD_SIZE", job->plan.nprocs);
    env_number(w, "OMPI_COMM_WORLD_LOCAL_RANK", p->local_rank);
    env_number(w, "OMPI_COMM_WORLD_LOCAL_SIZE", node->nprocs);
    /* By it ranks of Open MPI 4 know to leave their processor to others while they wait; Open MPI 5
     * asks by PMIx. */
    if (node->slots)
        env_number(w, "OMPI_MCA_mpi_oversubscribe", node->nprocs > node->slots);
}

static bool style_has(void *arg, const char *name)
{
    return find_name(arg, name);
}

static void style_put(void *arg, const char *name, struct slice value)
{
    env_slice(arg, name, value);
}

/* The launcher's note of the program's style. */
static enum environment_style style_noted(char *const *env)
{
    static const char note[] = ENVIRONMENT_STYLE_NOTE "=";

    for (; env && *env; env++) {
        if (!strncmp(*env, note, sizeof note - 1))
            return environment_style_named(slice_str(*env + sizeof note - 1));
    }
    return ENVIRONMENT_STYLE_NONE;
}

/* On one node any address of it would do; the loopback address needs no look-up. */
static const char *head_of(const struct job *job)
{
    const struct job_map *plan = &job->plan;

    return plan->nnodes == 1 ? "127.0.0.1" : plan->nodes[plan->procs[0].node].name;
}

static void env_style(struct env_writer *w, const struct processes *all, const struct job *job,
                      const struct job_map_proc *p)
{
    enum environment_style style = style_noted(job->plan.apps[p->app].env);
    const struct environment_style_calls calls = { style_has, style_put, w };
    struct environment_place place = {
        .values = { [ENVIRONMENT_VALUE_RANK] = p->rank,
                    [ENVIRONMENT_VALUE_SIZE] = job->plan.nprocs,
                    [ENVIRONMENT_VALUE_LOCAL_RANK] = p->local_rank,
                    [ENVIRONMENT_VALUE_LOCAL_SIZE] = job->plan.nodes[p->node].nprocs,
                    [ENVIRONMENT_VALUE_NODE] = p->node,
                    [ENVIRONMENT_VALUE_NODES] = job->plan.nnodes,
                    [ENVIRONMENT_VALUE_ATTEMPT] = job->epoch },
        .nspace = job->nspace,
        .head = head_of(job),
        .has_devices = p->device_env && *p->device_env,
    };

    if (environment_style_needs_store(style, &calls))
        place.store_port = listener_store_port(all->config.listener);
    environment_style_put(style, &place, &calls);
}

/* Which devices it shall use: whoever asks for devices asks for these variables. */
static void env_devices(struct env_writer *w, const struct job_map_proc *p)
{
    for (const char *const *env = p->device_env; env && *env; env++) {
        struct slice value = slice_str(*env), name = slice_cut(&value, '=');
        const char *text = arena_str(w->arena, name);
        char **var = text ? find_name(w, text) : NULL;
        if (var)
            *var = w->vars[--w->n];
        if (text)
            env_text(w, text, value.ptr);
    }
}

/* With our libraries in front. */
static void env_libraries(struct env_writer *w, const struct job_map_app *app)
{
    char **var = app->library_path ? find_name(w, "LD_LIBRARY_PATH") : NULL;

    if (var)
        *var = w->vars[--w->n];
    if (app->library_path)
        env_text(w, "LD_LIBRARY_PATH", app->library_path);
}

/* Where the files are that were brought here. */
static void env_staged(struct env_writer *w, const struct processes *p, const struct job *job)
{
    const char *dir = staging_dir(p->config.context->config, job, w->arena);

    if (dir)
        env_text(w, "WIREUP_STAGE_DIR", dir);
}

static enum job_map_pmi offer_of(const struct job_map_app *app)
{
    uint32_t offer = app->pmi ? app->pmi : app->offer;

    return offer ? (enum job_map_pmi)offer : JOB_MAP_PMI_ALL;
}

static struct env_writer env_of_app(struct arena *arena, const struct job_map_app *app)
{
    struct env_writer w = { arena, NULL, 0 };
    size_t base = 0;

    while (app->env && app->env[base])
        base++;
    w.vars = arena_array(w.arena, base + ENV_OURS_MAX, sizeof *w.vars);
    if (!w.vars)
        return w;
    if (base)
        memcpy(w.vars, app->env, base * sizeof *w.vars);
    w.n = base;
    env_libraries(&w, app);
    return w;
}

char **process_env_common(struct processes *p, const struct job_map_app *app)
{
    struct env_writer w = env_of_app(&p->env_arena, app);

    return w.vars && arena_ok(w.arena) ? w.vars : NULL;
}

char **process_env(struct processes *p, const struct job *job, uint32_t rank)
{
    const struct job_map_proc *proc = &job->plan.procs[rank];
    const struct job_map_app *app = &job->plan.apps[proc->app];
    struct env_writer w = env_of_app(&p->env_arena, app);
    enum job_map_pmi offer;

    if (!w.vars)
        return NULL;
    offer = offer_of(app);
    env_devices(&w, proc);
    env_connection(&w, p, job);
    if (offer != JOB_MAP_PMI_X)
        env_pmi(&w, p, job, rank);
    if (offer == JOB_MAP_PMI_X || offer == JOB_MAP_PMI_ALL)
        env_pmix(&w, p, job, rank);
    env_choice(&w, app->pmi, offer);
    env_places(&w, job, proc);
    env_style(&w, p, job, proc);
    if (job->plan.staged)
        env_staged(&w, p, job);
    if (job->plan.breakpoint)
        env_text(&w, "PMIX_BREAKPOINT", job->plan.breakpoint);
    if (p->config.context->config->hostname) {
        env_text(&w, "PMI_HOSTNAME", job->plan.nodes[proc->node].name);
        env_text(&w, "MPIR_CVAR_CH3_INTERFACE_HOSTNAME", job->plan.nodes[proc->node].name);
    }
    return arena_ok(w.arena) ? w.vars : NULL;
}
