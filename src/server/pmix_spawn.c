/* pmix_spawn.c - see pmix_spawn.h. */
#include "server/pmix_spawn.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/request.h"
#include "server/pmix_calls.h"
#include "server/pmix_iof.h"
#include "server/pmix_value.h"

/* The PMIx attributes for the infos of a spawn request. */
static const struct {
    const char *pmix, *ours;
} spawn_words[] = {
    { PMIX_WDIR, "wdir" },
    { PMIX_HOST, "host" },
    { PMIX_HOSTFILE, "hostfile" },
    { PMIX_ADD_HOST, "add-host" },
    { PMIX_ADD_HOSTFILE, "add-hostfile" },
    { PMIX_MAPBY, "map-by" },
    { PMIX_RANKBY, "rank-by" },
    { PMIX_JOB_RECOVERABLE, SPAWN_RECOVERABLE },
    { PMIX_JOB_CONTINUOUS, SPAWN_RECOVERABLE }, /* a flag */
};

static const char *spawn_word(const char *key)
{
    for (size_t i = 0; i < sizeof spawn_words / sizeof *spawn_words; i++) {
        if (!strcmp(key, spawn_words[i].pmix))
            return spawn_words[i].ours;
    }
    return NULL;
}

struct spawn_infos {
    struct arena *a;
    struct spawn_command *cmd;
};

static void add_info(struct spawn_infos *to, const char *key, const char *value)
{
    to->cmd->infos[to->cmd->ninfos++] =
        (struct spawn_pair){ slice_str(arena_str(to->a, slice_str(key))),
                             slice_str(arena_str(to->a, slice_str(value))) };
}

static void add_infos(struct spawn_infos *to, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *word = spawn_word(infos[i].key);
        if (word && !strcmp(word, SPAWN_RECOVERABLE)) {
            if (pmix_flag_of(&infos[i].value))
                add_info(to, word, "1");
        } else if (word && infos[i].value.type == PMIX_STRING && infos[i].value.data.string)
            add_info(to, word, infos[i].value.data.string);
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

static void copy_app(struct arena *a, const pmix_app_t *app, const pmix_info_t *job, size_t njob,
                     struct spawn_command *cmd)
{
    size_t argc = count_words(app->argv), nenv = count_words(app->env);
    struct spawn_infos to = { a, cmd };
    const char *who;

    cmd->program = arena_str(a, slice_str(app->cmd ? app->cmd : argc ? app->argv[0] : ""));
    cmd->nprocs = app->maxprocs > 0 ? (uint32_t)app->maxprocs : 1;
    cmd->args = arena_array(a, argc + 1, sizeof *cmd->args);
    cmd->infos = arena_array(a, nenv + app->ninfo + njob + 2, sizeof *cmd->infos);
    if (!arena_ok(a))
        return;
    for (size_t i = 1; i < argc; i++)
        cmd->args[cmd->nargs++] = arena_str(a, slice_str(app->argv[i]));
    for (size_t i = 0; i < nenv; i++)
        add_info(&to, "env", app->env[i]);
    add_infos(&to, app->info, app->ninfo);
    if (app->cwd && *app->cwd)
        add_info(&to, "wdir", app->cwd);
    add_infos(&to, job, njob);
    who = stdin_of(a, job, njob);
    if (who)
        add_info(&to, "stdin", who);
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

static void ask_spawn(struct command *c, const struct pmsg_spawn *m)
{
    struct spawn_request *rq = spawn_of(m);
    struct pmix_pending *p = rq ? pmix_ask(c, REQUEST_WITH(spawn, .request = rq)) : NULL;

    if (p) {
        p->channels = channels_of(m->infos.items, m->infos.n);
    } else {
        c->no_memory = true;
        spawn_free(rq);
    }
}

static pmix_status_t check(const struct pmsg_spawn *m)
{
    pmix_status_t status = PMIX_ERR_BAD_PARAM;

    if (m->apps.n && m->apps.n <= LIMIT_SPAWN_COMMANDS)
        status = pmix_call_check(PMIX_CALL_SPAWN, m->infos.items, m->infos.n);
    for (size_t i = 0; i < m->apps.n && status == PMIX_SUCCESS; i++)
        status = pmix_call_check(PMIX_CALL_SPAWN, m->apps.items[i].info, m->apps.items[i].ninfo);
    return status;
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
        pmix_reply_status(s, p->tag, PMIX_ERR_JOB_FAILED_TO_LAUNCH);
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
