/* pmix_spawn.c - see pmix_spawn.h. */
#include "server/pmix_spawn.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "server/pmix_alloc.h"
#include "server/pmix_iof.h"
#include "server/pmix_runtime_options.h"
#include "server/pmix_value.h"
#include "wireup_client.h"

/* What the value of an attribute is, and so how it becomes an info. */
enum word_kind {
    WORD_TEXT,
    WORD_NUMBER,
    WORD_TIME,   /* seconds, as a number or a text */
    WORD_FLAG,   /* "1", or no info */
    WORD_NOT,    /* likewise, of a flag that is false */
    WORD_ENVAR,  /* NAME=VALUE */
    WORD_SPLICE, /* the separator, then NAME=VALUE */
    WORD_PREFIX, /* a directory of programs and libraries */
    WORD_RANKS,  /* "all" of a flag, or ranks with commas */
    WORD_PROCS,  /* "RANKS:NAMESPACE", RANKS as above */
    WORD_TARGET, /* likewise, and what the job debugs */
    WORD_JOB,    /* likewise, of a namespace */
    WORD_NODES,  /* nodes with commas; empty: "all" */
    WORD_OPTIONS /* of pmix_runtime_options.h: up to OPTIONS_EACH infos */
};

/* The PMIx attributes for the infos of a spawn request. */
static const struct spawn_word {
    const char *pmix, *ours;
    enum word_kind kind;
} spawn_words[] = {
    { PMIX_WDIR, "wdir", WORD_TEXT },
    { PMIX_HOST, "host", WORD_TEXT },
    { PMIX_HOSTFILE, "hostfile", WORD_TEXT },
    { PMIX_ADD_HOST, "add-host", WORD_TEXT },
    { PMIX_ADD_HOSTFILE, "add-hostfile", WORD_TEXT },
    { PMIX_MAPBY, "map-by", WORD_TEXT },
    { PMIX_RANKBY, "rank-by", WORD_TEXT },
    { PMIX_BINDTO, "bind-to", WORD_TEXT },
    { PMIX_PPR, "ppr", WORD_TEXT },
    { PMIX_ALLOC_ID, SPAWN_ALLOC, WORD_TEXT },
    { PMIX_ALLOC_REQ_ID, SPAWN_ALLOC_REQ, WORD_TEXT },
    { PMIX_SESSION_ID, SPAWN_ALLOC_SESSION, WORD_NUMBER },
    { PMIX_ALLOC_NUM_NODES, SPAWN_ALLOC_NODES, WORD_NUMBER },
    { PMIX_ALLOC_NUM_CPUS, SPAWN_ALLOC_CPUS, WORD_NUMBER },
    { PMIX_ALLOC_NODE_LIST, SPAWN_ALLOC_LIST, WORD_TEXT },
    { PMIX_ALLOC_EXCLUDE, SPAWN_ALLOC_EXCLUDE, WORD_TEXT },
    { PMIX_ALLOC_TIME, SPAWN_ALLOC_TIME, WORD_TIME },
    { PMIX_CPUS_PER_PROC, SPAWN_PE, WORD_NUMBER },
    { PMIX_CPU_LIST, SPAWN_CPU_LIST, WORD_TEXT },
    { PMIX_NO_OVERSUBSCRIBE, SPAWN_NOT_OVER, WORD_FLAG },
    { WIREUP_CONNECTIVITY, SPAWN_CONNECTIVITY, WORD_TEXT },
    { PMIX_JOB_RECOVERABLE, SPAWN_RECOVERABLE, WORD_FLAG },
    { PMIX_JOB_CONTINUOUS, SPAWN_RECOVERABLE, WORD_FLAG },
    { PMIX_TAG_OUTPUT, SPAWN_OUT_TAG, WORD_FLAG },
    { PMIX_IOF_TAG_OUTPUT, SPAWN_OUT_TAG, WORD_FLAG },
    { PMIX_TIMESTAMP_OUTPUT, SPAWN_OUT_TIME, WORD_FLAG },
    { PMIX_IOF_TIMESTAMP_OUTPUT, SPAWN_OUT_TIME, WORD_FLAG },
    { PMIX_IOF_RANK_OUTPUT, SPAWN_OUT_RANK, WORD_FLAG },
    { PMIX_IOF_TAG_FULLNAME_OUTPUT, SPAWN_OUT_NAME, WORD_FLAG },
    { PMIX_IOF_TAG_DETAILED_OUTPUT, SPAWN_OUT_NODE, WORD_FLAG },
    { PMIX_MERGE_STDERR_STDOUT, SPAWN_OUT_MERGE, WORD_FLAG },
    { PMIX_IOF_MERGE_STDERR_STDOUT, SPAWN_OUT_MERGE, WORD_FLAG },
    { PMIX_IOF_OUTPUT_RAW, SPAWN_OUT_RAW, WORD_FLAG },
    { PMIX_IOF_XML_OUTPUT, SPAWN_OUT_XML, WORD_FLAG },
    { PMIX_OUTPUT_TO_FILE, SPAWN_OUT_EACH, WORD_TEXT },
    { PMIX_IOF_OUTPUT_TO_FILE, SPAWN_OUT_FILE, WORD_TEXT },
    { PMIX_IOF_FILE_PATTERN, SPAWN_OUT_PATTERN, WORD_FLAG },
    { PMIX_OUTPUT_TO_DIRECTORY, SPAWN_OUT_DIRECTORY, WORD_TEXT },
    { PMIX_IOF_OUTPUT_TO_DIRECTORY, SPAWN_OUT_DIRECTORY, WORD_TEXT },
    { PMIX_NO_PROCS_ON_HEAD, SPAWN_NOT_ON_HEAD, WORD_FLAG },
    { PMIX_DISPLAY_MAP, SPAWN_SHOW_MAP, WORD_FLAG },
    { PMIX_DISPLAY_MAP_DETAILED, SPAWN_SHOW_MAP, WORD_FLAG },
    { PMIX_DISPLAY_ALLOCATION, SPAWN_SHOW_NODES, WORD_FLAG },
    { PMIX_REPORT_BINDINGS, SPAWN_SHOW_BINDINGS, WORD_FLAG },
    { PMIX_DISPLAY_TOPOLOGY, SPAWN_SHOW_OBJECTS, WORD_NODES },
    { PMIX_DISPLAY_PROCESSORS, SPAWN_SHOW_CPUS, WORD_NODES },
    { PMIX_DISPLAY_PARSEABLE_OUTPUT, SPAWN_SHOW_JSON, WORD_FLAG },
    { PMIX_AGGREGATE_HELP, SPAWN_EACH_HELP, WORD_NOT },
    { PMIX_RUNTIME_OPTIONS, NULL, WORD_OPTIONS },
    { PMIX_DO_NOT_LAUNCH, SPAWN_NO_LAUNCH, WORD_FLAG },
    { PMIX_ABORT_NON_ZERO_TERM, SPAWN_STRICT, WORD_FLAG },
    { PMIX_EVENT_SILENT_TERMINATION, SPAWN_SILENT, WORD_FLAG },
    { PMIX_SPAWN_CHILD_SEP, SPAWN_APART, WORD_FLAG },
    { PMIX_REPORT_CHILD_SEP, SPAWN_JOINT, WORD_NOT },
    { PMIX_LOG_JOB_EVENTS, SPAWN_LOG_EVENTS, WORD_FLAG },
    { PMIX_LOG_COMPLETION, SPAWN_LOG_END, WORD_FLAG },
    { PMIX_LOG_PROC_TERMINATION, SPAWN_LOG_EXITS, WORD_FLAG },
    { PMIX_LOG_PROC_ABNORMAL_TERMINATION, SPAWN_LOG_FAILURES, WORD_FLAG },
    { PMIX_SHOW_LAUNCH_PROGRESS, SPAWN_LOG_PROGRESS, WORD_FLAG },
    { PMIX_EXEC_AGENT, SPAWN_EXEC_AGENT, WORD_TEXT },
    { PMIX_FORKEXEC_AGENT, SPAWN_EXEC_AGENT, WORD_TEXT },
    { PMIX_JOB_TIMEOUT, SPAWN_JOB_LIMIT, WORD_NUMBER },
    { PMIX_TIMEOUT_REPORT_STATE, SPAWN_LATE_STATE, WORD_FLAG },
    { PMIX_TIMEOUT_STACKTRACES, SPAWN_LATE_STACKS, WORD_FLAG },
    { PMIX_SPAWN_TIMEOUT, SPAWN_LIMIT, WORD_NUMBER },
    { PMIX_TIMEOUT, SPAWN_LIMIT, WORD_NUMBER },
    { PMIX_SET_SESSION_CWD, SPAWN_SESSION, WORD_FLAG },
    { PMIX_INDEX_ARGV, SPAWN_INDEX, WORD_FLAG },
    { PMIX_MAX_RESTARTS, SPAWN_RESTARTS, WORD_NUMBER },
    { PMIX_PRELOAD_BIN, SPAWN_PRELOAD_BIN, WORD_FLAG },
    { PMIX_PRELOAD_FILES, SPAWN_PRELOAD_FILES, WORD_TEXT },
    { PMIX_COSPAWN_APP, SPAWN_BESIDE, WORD_FLAG },
    { PMIX_PSET_NAME, SPAWN_PSET, WORD_TEXT },
    { PMIX_DEBUG_STOP_ON_EXEC, SPAWN_STOP_ON_EXEC, WORD_RANKS },
    { PMIX_DEBUG_STOP_IN_INIT, SPAWN_STOP_IN_INIT, WORD_RANKS },
    { PMIX_DEBUG_STOP_IN_APP, SPAWN_STOP_IN_APP, WORD_RANKS },
    { PMIX_BREAKPOINT, SPAWN_BREAKPOINT, WORD_TEXT },
    { PMIX_DEBUG_TARGET, SPAWN_COLOCATE, WORD_TARGET },
    { PMIX_DEBUG_JOB, SPAWN_COLOCATE, WORD_JOB },
    { PMIX_COLOCATE_PROCS, SPAWN_COLOCATE, WORD_PROCS },
    { PMIX_DEBUG_DAEMONS_PER_NODE, SPAWN_PER_NODE, WORD_NUMBER },
    { PMIX_COLOCATE_NPERNODE, SPAWN_PER_NODE, WORD_NUMBER },
    { PMIX_DEBUG_DAEMONS_PER_PROC, SPAWN_PER_PROC, WORD_NUMBER },
    { PMIX_COLOCATE_NPERPROC, SPAWN_PER_PROC, WORD_NUMBER },
};

/* Those that change the environment; they are carried out in their order. */
static const struct spawn_word env_words[] = {
    { PMIX_SET_ENVAR, SPAWN_ENV_SET, WORD_ENVAR },
    { PMIX_ADD_ENVAR, SPAWN_ENV_ADD, WORD_ENVAR },
    { PMIX_UNSET_ENVAR, SPAWN_ENV_UNSET, WORD_TEXT },
    { PMIX_FIRST_ENVAR, SPAWN_ENV_FIRST, WORD_SPLICE },
    { PMIX_PREPEND_ENVAR, SPAWN_ENV_PREPEND, WORD_SPLICE },
    { PMIX_APPEND_ENVAR, SPAWN_ENV_APPEND, WORD_SPLICE },
    { PMIX_PREFIX, SPAWN_ENV_PREPEND, WORD_PREFIX },
};

#define WORDS(list) (list), sizeof(list) / sizeof *(list)

static const struct spawn_word *spawn_word(const struct spawn_word *words, size_t n,
                                           const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(key, words[i].pmix))
            return &words[i];
    }
    return NULL;
}

struct spawn_infos {
    struct arena *a;
    struct spawn_command *cmd;
};

/* An attribute becomes at most so many infos. */
enum { INFOS_EACH = 2, OPTIONS_EACH = 32 };

static void add_info(struct spawn_infos *to, const char *key, const char *value)
{
    to->cmd->infos[to->cmd->ninfos++] =
        (struct spawn_pair){ slice_str(arena_str(to->a, slice_str(key))),
                             slice_str(arena_str(to->a, slice_str(value))) };
}

/* The text may be NULL, for want of memory, which the arena remembers. */
static void add_made(struct spawn_infos *to, const char *key, const char *value)
{
    if (value)
        add_info(to, key, value);
}

static void add_envar(struct spawn_infos *to, const struct spawn_word *w, const pmix_envar_t *e)
{
    char separator[2] = { w->kind == WORD_SPLICE ? e->separator : '\0', '\0' };

    add_made(to, w->ours,
             arena_printf(to->a, "%s%s=%s", separator, e->envar, e->value ? e->value : ""));
}

/* Programs are in its directory `bin`, or in itself. */
static void add_prefix(struct spawn_infos *to, const struct spawn_word *w, const char *dir)
{
    add_made(to, w->ours, arena_printf(to->a, ":PATH=%s/bin:%s", dir, dir));
    add_made(to, w->ours, arena_printf(to->a, ":LD_LIBRARY_PATH=%s/lib", dir));
}

/* A rank, a list of them, or a flag for all. */
static bool are_ranks(const pmix_value_t *v)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    if (v->type == PMIX_DATA_ARRAY)
        return a && a->array && a->size && a->size <= LIMIT_JOB_PROCS &&
               (a->type == PMIX_PROC_RANK || a->type == PMIX_UINT32);
    return v->type == PMIX_BOOL || v->type == PMIX_UNDEF || v->type == PMIX_PROC_RANK ||
           v->type == PMIX_UINT32;
}

static void list_ranks(struct buf *out, const pmix_rank_t *ranks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ranks[i] == PMIX_RANK_WILDCARD) {
            buf_clear(out);
            buf_str(out, "all");
            return;
        }
        buf_printf(out, "%s%u", i ? "," : "", ranks[i]);
    }
}

static void add_ranks(struct spawn_infos *to, const struct spawn_word *w, const pmix_value_t *v)
{
    struct buf text = BUF_NULL(LIMIT_PMI_SPAWN);

    if (v->type == PMIX_DATA_ARRAY)
        list_ranks(&text, v->data.darray->array, v->data.darray->size);
    else if (v->type == PMIX_PROC_RANK || v->type == PMIX_UINT32)
        list_ranks(&text, &v->data.rank, 1);
    else if (pmix_flag_of(v))
        buf_str(&text, "all");
    if (!buf_ok(&text))
        to->a->failed = true;
    else if (buf_len(&text))
        add_info(to, w->ours, buf_cstr(&text));
    buf_free(&text);
}

static void put_rank(struct buf *out, pmix_rank_t rank)
{
    if (rank == PMIX_RANK_WILDCARD)
        buf_str(out, "all");
    else
        buf_u64(out, rank);
}

/* Processes of one job. */
static void add_procs(struct spawn_infos *to, const struct spawn_word *w, const pmix_proc_t *procs,
                      size_t n)
{
    struct buf text = BUF_NULL(LIMIT_PMI_SPAWN);

    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(&text, ',');
        put_rank(&text, procs[i].rank);
    }
    buf_printf(&text, ":%s", procs[0].nspace);
    if (buf_cstr(&text)) {
        add_info(to, w->ours, buf_cstr(&text));
        if (w->kind == WORD_TARGET)
            add_info(to, SPAWN_DEBUG_TARGET, buf_cstr(&text));
    } else {
        to->a->failed = true;
    }
    buf_free(&text);
}

static void add_job(struct spawn_infos *to, const struct spawn_word *w, const char *nspace)
{
    add_made(to, w->ours, arena_printf(to->a, "all:%s", nspace));
    add_made(to, SPAWN_DEBUG_TARGET, arena_printf(to->a, "all:%s", nspace));
}

static void add_options(struct spawn_infos *to, struct slice list)
{
    struct runtime_option o;

    while (list.len && runtime_options_next(&list, &o)) {
        if (o.key)
            add_made(to, o.key, arena_str(to->a, o.value));
    }
}

static bool are_options(const pmix_value_t *v)
{
    struct slice list = v->type == PMIX_STRING ? slice_str(v->data.string) : SLICE_NULL;
    struct runtime_option o;
    size_t n = 0;

    while (list.len) {
        if (++n > OPTIONS_EACH || !runtime_options_next(&list, &o))
            return false;
    }
    return n > 0;
}

static bool are_procs(const pmix_value_t *v)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;
    const pmix_proc_t *procs = a ? a->array : NULL;

    if (!procs || a->type != PMIX_PROC || !a->size || a->size > LIMIT_JOB_PROCS)
        return false;
    for (size_t i = 1; i < a->size; i++) {
        if (strcmp(procs[i].nspace, procs[0].nspace) != 0)
            return false;
    }
    return true;
}

static void add_time(struct spawn_infos *to, const struct spawn_word *w, const pmix_value_t *v)
{
    uint32_t seconds = 0;

    pmix_alloc_time(v, &seconds);
    add_made(to, w->ours, arena_printf(to->a, "%u", seconds));
}

static void add_word(struct spawn_infos *to, const struct spawn_word *w, const pmix_value_t *v)
{
    switch (w->kind) {
    case WORD_TEXT: add_info(to, w->ours, v->data.string); break;
    case WORD_NUMBER:
        add_made(to, w->ours, arena_printf(to->a, "%llu", (unsigned long long)pmix_number_of(v)));
        break;
    case WORD_TIME: add_time(to, w, v); break;
    case WORD_FLAG:
    case WORD_NOT:
        if (pmix_flag_of(v) == (w->kind == WORD_FLAG))
            add_info(to, w->ours, "1");
        break;
    case WORD_ENVAR:
    case WORD_SPLICE: add_envar(to, w, &v->data.envar); break;
    case WORD_PREFIX: add_prefix(to, w, v->data.string); break;
    case WORD_RANKS: add_ranks(to, w, v); break;
    case WORD_PROCS: add_procs(to, w, v->data.darray->array, v->data.darray->size); break;
    case WORD_TARGET: add_procs(to, w, v->data.proc, 1); break;
    case WORD_JOB: add_job(to, w, v->data.string); break;
    case WORD_NODES: add_info(to, w->ours, *v->data.string ? v->data.string : "all"); break;
    case WORD_OPTIONS: add_options(to, slice_str(v->data.string)); break;
    }
}

static bool fits(const struct spawn_word *w, const pmix_value_t *v)
{
    switch (w->kind) {
    case WORD_TEXT:
    case WORD_JOB:
    case WORD_NODES:
    case WORD_PREFIX: return v->type == PMIX_STRING && v->data.string;
    case WORD_ENVAR: return v->type == PMIX_ENVAR && v->data.envar.envar;
    case WORD_SPLICE:
        return v->type == PMIX_ENVAR && v->data.envar.envar && v->data.envar.separator;
    case WORD_NUMBER: return pmix_is_number(v);
    case WORD_TIME: return pmix_alloc_time(v, &(uint32_t){ 0 }) == PMIX_SUCCESS;
    case WORD_RANKS: return are_ranks(v);
    case WORD_PROCS: return are_procs(v);
    case WORD_OPTIONS: return are_options(v);
    case WORD_TARGET: return v->type == PMIX_PROC && v->data.proc;
    case WORD_FLAG:
    case WORD_NOT: break;
    }
    return true;
}

static void add_words(struct spawn_infos *to, const struct spawn_word *words, size_t nwords,
                      const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct spawn_word *w = spawn_word(words, nwords, infos[i].key);
        if (w && fits(w, &infos[i].value))
            add_word(to, w, &infos[i].value);
    }
}

/* The output channels that the spawner wants. */
static uint16_t channels_of(const pmix_info_t *infos, size_t n)
{
    static const struct {
        const char *key;
        uint16_t channel;
    } words[] = { { PMIX_FWD_STDOUT, PMIX_FWD_STDOUT_CHANNEL },
                  { PMIX_FWD_STDERR, PMIX_FWD_STDERR_CHANNEL } };
    uint16_t channels = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            if (!strcmp(infos[i].key, words[w].key) && pmix_flag_of(&infos[i].value))
                channels |= words[w].channel;
        }
    }
    return channels;
}

/* The rank whose standard input the spawner feeds; NULL: none. */
static const char *stdin_of(struct arena *a, const pmix_info_t *infos, size_t n)
{
    const char *who = NULL;

    for (size_t i = 0; i < n; i++) {
        const pmix_value_t *v = &infos[i].value;
        if (!strcmp(infos[i].key, PMIX_FWD_STDIN) && pmix_flag_of(v) && !who)
            who = "0";
        else if (!strcmp(infos[i].key, PMIX_STDIN_TGT) &&
                 (v->type == PMIX_PROC_RANK || v->type == PMIX_UINT32))
            who = v->data.uint32 == PMIX_RANK_WILDCARD ? "all"
                                                       : arena_printf(a, "%u", v->data.uint32);
    }
    return who;
}

static size_t count_words(char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* Of two infos the first counts, so an application's own come before those of the job; of two
 * changes of the environment the last. */
static void copy_infos(struct spawn_infos *to, const pmix_app_t *app, const pmix_info_t *job,
                       size_t njob)
{
    const char *who = stdin_of(to->a, app->info, app->ninfo);

    if (!who)
        who = stdin_of(to->a, job, njob);
    for (size_t i = 0; app->env && app->env[i]; i++)
        add_info(to, SPAWN_ENV_VALUE, app->env[i]);
    add_words(to, WORDS(env_words), job, njob);
    add_words(to, WORDS(env_words), app->info, app->ninfo);
    add_words(to, WORDS(spawn_words), app->info, app->ninfo);
    add_words(to, WORDS(spawn_words), job, njob);
    if (app->cwd && *app->cwd) /* clients fill it in if the program has not */
        add_info(to, "wdir", app->cwd);
    if (who)
        add_info(to, "stdin", who);
}

/* How many infos the attributes become at most. */
static size_t count_infos(const pmix_info_t *infos, size_t n)
{
    size_t count = INFOS_EACH * n;

    for (size_t i = 0; i < n; i++)
        count += strcmp(infos[i].key, PMIX_RUNTIME_OPTIONS) == 0 ? OPTIONS_EACH : 0;
    return count;
}

static void copy_app(struct arena *a, const pmix_app_t *app, const pmix_info_t *job, size_t njob,
                     struct spawn_command *cmd)
{
    size_t argc = count_words(app->argv), nenv = count_words(app->env);
    struct spawn_infos to = { a, cmd };

    cmd->program = arena_str(a, slice_str(app->cmd ? app->cmd : argc ? app->argv[0] : ""));
    cmd->nprocs = app->maxprocs > 0 ? (uint32_t)app->maxprocs : 1;
    cmd->args = arena_array(a, argc + 1, sizeof *cmd->args);
    cmd->infos =
        arena_array(a, nenv + count_infos(app->info, app->ninfo) + count_infos(job, njob) + 2,
                    sizeof *cmd->infos);
    if (!arena_ok(a))
        return;
    for (size_t i = 1; i < argc; i++)
        cmd->args[cmd->nargs++] = arena_str(a, slice_str(app->argv[i]));
    copy_infos(&to, app, job, njob);
}

static struct spawn_request *spawn_of(const struct pmsg_spawn *m)
{
    size_t n = m->apps.n;
    struct spawn_request *rq = spawn_new();

    if (!rq)
        return NULL;
    rq->commands = arena_array(&rq->arena, n, sizeof *rq->commands);
    rq->ncommands = (uint32_t)n;
    for (size_t i = 0; rq->commands && i < n; i++)
        copy_app(&rq->arena, &m->apps.items[i], m->infos.items, m->infos.n, &rq->commands[i]);
    if (arena_ok(&rq->arena))
        return rq;
    spawn_free(rq);
    return NULL;
}

/* Of the job and of each application. */
static uint16_t all_channels(const struct pmsg_spawn *m)
{
    uint16_t channels = channels_of(m->infos.items, m->infos.n);

    for (size_t i = 0; i < m->apps.n; i++)
        channels |= channels_of(m->apps.items[i].info, m->apps.items[i].ninfo);
    return channels;
}

static void ask_spawn(struct command *c, const struct pmsg_spawn *m)
{
    struct spawn_request *rq = spawn_of(m);
    struct pmix_pending *p = rq ? pmix_ask(c, REQUEST_WITH(spawn, .request = rq)) : NULL;

    if (p) {
        p->channels = all_channels(m);
    } else {
        c->no_memory = true;
        spawn_free(rq);
    }
}

/* Those of PRRTE and of the launchers that we stand for.  Processes find the variables of each
 * programming model in any case, so that one that is known needs nothing else. */
static bool is_personality(struct slice word)
{
    static const char *const known[] = { "ompi", "ompi5", "oshmem", "shmem", "prte", "prrte",
                                         "pmix", "pmi",   "mpich",  "hydra", "slurm" };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (slice_is(word, known[i]))
            return true;
    }
    return false;
}

static bool are_personalities(const pmix_value_t *v)
{
    struct slice rest = slice_str(v->type == PMIX_STRING && v->data.string ? v->data.string : "");

    while (rest.len) {
        if (!is_personality(slice_trim(slice_cut(&rest, ','))))
            return false;
    }
    return true;
}

static pmix_status_t check_infos(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct spawn_word *w = spawn_word(WORDS(spawn_words), infos[i].key);
        if (!strcmp(infos[i].key, PMIX_PERSONALITY) && !are_personalities(&infos[i].value))
            return PMIX_ERR_NOT_SUPPORTED;
        if (!w)
            w = spawn_word(WORDS(env_words), infos[i].key);
        if (w && !fits(w, &infos[i].value))
            return PMIX_ERR_BAD_PARAM;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t check(const struct pmsg_spawn *m)
{
    pmix_status_t status = PMIX_ERR_BAD_PARAM;

    if (m->apps.n && m->apps.n <= LIMIT_SPAWN_COMMANDS)
        status = check_infos(m->infos.items, m->infos.n);
    for (size_t i = 0; i < m->apps.n && status == PMIX_SUCCESS; i++)
        status = check_infos(m->apps.items[i].info, m->apps.items[i].ninfo);
    return status;
}

/* A failure as this client knows it. */
static pmix_status_t status_of(const struct answer *a)
{
    static const pmix_status_t statuses[SPAWN_FAILURES] = {
        [SPAWN_NOT_STARTED] = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
        [SPAWN_BAD_REQUEST] = PMIX_ERR_BAD_PARAM,
        [SPAWN_NO_COMMAND] = PMIX_ERR_JOB_NO_EXE_SPECIFIED,
        [SPAWN_NO_PROGRAM] = PMIX_ERR_JOB_EXE_NOT_FOUND,
        [SPAWN_NOT_EXECUTABLE] = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
        [SPAWN_NO_DIRECTORY] = PMIX_ERR_JOB_WDIR_NOT_FOUND,
        [SPAWN_NO_NODES] = PMIX_ERR_JOB_ALLOC_FAILED,
        [SPAWN_NO_RESOURCES] = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
        [SPAWN_NO_PLACE] = PMIX_ERR_JOB_FAILED_TO_MAP,
        [SPAWN_NO_FILES] = PMIX_ERR_JOB_SYS_OP_FAILED,
        [SPAWN_LATE] = PMIX_ERR_TIMEOUT,
    };
    int64_t failure = answer_to_spawn(a).failure;

    if (a->status == ANSWER_NO_MEMORY)
        return PMIX_ERR_NOMEM;
    return failure > 0 && failure < SPAWN_FAILURES ? statuses[failure]
                                                   : PMIX_ERR_JOB_FAILED_TO_LAUNCH;
}

void pmix_read_spawn(struct command *c)
{
    struct pmsg_spawn m;

    if (pmsg_read_spawn(&c->r, c->s->release, &m) == PTYPE_FINE) {
        pmix_status_t status = check(&m);
        if (status == PMIX_SUCCESS)
            ask_spawn(c, &m);
        else
            pmix_reply_status(c->s, c->tag, status);
    }
    pmsg_free_spawn(&m, NULL);
}

void pmix_reply_spawn(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct slice nspace = answer_to_spawn(a).nspace;
    struct pmsg_spawned m = { .has = PMSG_BIT(spawned, nspace), .nspace = SLICE("") };
    struct buf name = BUF_NULL(PMIX_MAX_NSLEN);
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, status_of(a));
        return;
    }
    buf_slice_put(&name, nspace);
    if (buf_ok(&name) && nspace.len)
        m.nspace = buf_slice(&name);
    w = pmix_writer(s);
    pmsg_write_spawned(&w, s->release, &m);
    pmix_send(s, p->tag);
    if (p->channels && buf_ok(&name))
        pmix_forward(s, buf_cstr(&name), p->channels);
    buf_free(&name);
}
