/* pmix_control.c - see pmix_control.h. */
#include "server/pmix_control.h"

#include <signal.h>
#include <string.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/request.h"
#include "server/pmix_batch.h"
#include "server/pmix_value.h"

struct control_request {
    struct command *c;
    struct pmix_batch *batch;
    const struct member *members;
    uint32_t nmembers;
    const pmix_proc_t *procs; /* the same, as the client names them */
    size_t nprocs;
    uint32_t cleanup;       /* how, without CLEANUP_DIRECTORY */
    struct slice stay;      /* names that are kept */
    struct slice id;        /* of the request */
    const char *checkpoint; /* its id; NULL: none is to be made */
    bool by_event;          /* the processes are told to make it by an event */
    int by_signal;          /* or by a signal; 0: not */
    bool refused;           /* a required attribute cannot be satisfied */
};

static void ask_signal(struct control_request *k, int sig, bool is_end)
{
    pmix_batch_ask(k->c, k->batch,
                   REQUEST_WITH(signal, .members = k->members, .count = k->nmembers, .signal = sig,
                                .ends_procs = is_end));
}

/* Files separated by commas. */
static void ask_cleanups(struct control_request *k, const char *paths, bool directory)
{
    struct slice rest = pmix_keep(k->c, slice_str(paths ? paths : ""));

    while (rest.len)
        pmix_batch_ask(k->c, k->batch,
                       REQUEST_WITH(register_cleanup, .members = k->members, .count = k->nmembers,
                                    .flags = directory ? k->cleanup | CLEANUP_DIRECTORY : 0,
                                    .path = slice_trim(slice_cut(&rest, ',')),
                                    .keep = directory ? k->stay : SLICE_NULL, .id = k->id));
}

/* What has been registered under that id; all other requests have been carried out. */
static void ask_cancel(struct control_request *k, const char *id)
{
    pmix_batch_ask(k->c, k->batch,
                   REQUEST_WITH(cancel_cleanup, .id = pmix_keep(k->c, slice_str(id ? id : ""))));
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void read_checkpoint_words(struct control_request *k, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_JOB_CTRL_CHECKPOINT))
            k->checkpoint = pmix_text_of(&infos[i]);
        else if (!strcmp(infos[i].key, PMIX_JOB_CTRL_CHECKPOINT_EVENT))
            k->by_event = pmix_flag_of(&infos[i].value);
        else if (!strcmp(infos[i].key, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL))
            k->by_signal = (int)(pmix_number_of(&infos[i].value) & 0xff);
    }
}

static bool is_checkpoint_word(const char *key)
{
    return !strcmp(key, PMIX_JOB_CTRL_CHECKPOINT) || !strcmp(key, PMIX_JOB_CTRL_CHECKPOINT_EVENT) ||
           !strcmp(key, PMIX_JOB_CTRL_CHECKPOINT_SIGNAL);
}

/* The targets learn the id with it; who registers for it later does not. */
static void notify_checkpoint(struct control_request *k)
{
    pmix_proc_t all;
    pmix_data_array_t procs = { .type = PMIX_PROC,
                                .size = k->nprocs,
                                .array = (void *)(uintptr_t)k->procs };
    pmix_info_t infos[2] = { { .key = PMIX_EVENT_CUSTOM_RANGE,
                               .value = { .type = PMIX_DATA_ARRAY, .data.darray = &procs } },
                             { .key = PMIX_JOB_CTRL_CHECKPOINT,
                               .value = { .type = PMIX_STRING,
                                          .data.string = (char *)(uintptr_t)k->checkpoint } } };

    if (k->nprocs == 0) { /* the whole own job */
        pmix_set_proc(&all, k->c->s->base.peer->job->nspace, PMIX_RANK_WILDCARD);
        procs.size = 1;
        procs.array = &all;
    }
    pmix_batch_ask(k->c, k->batch,
                   REQUEST_WITH(notify, .code = PMIX_JCTRL_CHECKPOINT, .range = PMIX_RANGE_CUSTOM,
                                .flags = EVENT_BY_CODE | EVENT_NOT_KEPT,
                                .infos = pmix_keep_packed(k->c, infos, 2)));
}

/* Programs write their checkpoints themselves.  The key of the signal is that of a time-out, too:
 * beside an event that may be meant, and nobody would wait so long. */
static void ask_checkpoint(struct control_request *k)
{
    if (k->checkpoint && k->by_event && !k->by_signal)
        notify_checkpoint(k);
    else if (k->checkpoint && k->by_signal && !k->by_event)
        ask_signal(k, k->by_signal, false);
    else
        k->refused = k->refused || k->checkpoint || k->by_event || k->by_signal;
}

/* ---- process sets ---------------------------------------------------------------------------- */

static bool write_set(const pmix_proc_t *procs, size_t n, const pmix_info_t *name,
                      struct buf *bytes)
{
    pmix_data_array_t list = { .type = PMIX_PROC, .size = n, .array = (void *)(uintptr_t)procs };
    pmix_info_t infos[2] = { { .key = PMIX_PSET_NAME, .value = name->value },
                             { .key = PMIX_PSET_MEMBERS,
                               .value = { .type = PMIX_DATA_ARRAY, .data.darray = &list } } };
    struct ppack w;

    ppack_init(&w, bytes, &ptype_own);
    pmsg_write_infos(&w, 0, &(struct pmsg_infos){ .infos = { 2, infos } });
    return ppack_ok(&w);
}

/* Without targets: the whole own job. */
static void ask_pset(struct control_request *k, const pmix_info_t *name)
{
    struct buf bytes = BUF_NULL(LIMIT_CLIENT_STORE);
    pmix_proc_t all;
    bool whole = k->nprocs == 0;

    pmix_set_proc(&all, k->c->s->base.peer->job->nspace, PMIX_RANK_WILDCARD);
    if (write_set(whole ? &all : k->procs, whole ? 1 : k->nprocs, name, &bytes))
        pmix_batch_ask(k->c, k->batch,
                       REQUEST_WITH(define_pset, .members = k->members, .count = k->nmembers,
                                    .infos = pmix_keep(k->c, buf_slice(&bytes))));
    else
        k->refused = true;
    buf_free(&bytes);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void read_cleanup_words(struct control_request *k, const pmix_info_t *infos, size_t n)
{
    static const struct {
        const char *key;
        uint32_t flag;
    } words[] = { { PMIX_CLEANUP_RECURSIVE, CLEANUP_RECURSIVE },
                  { PMIX_CLEANUP_EMPTY, CLEANUP_EMPTY_ONLY },
                  { PMIX_CLEANUP_LEAVE_TOPDIR, CLEANUP_LEAVE_TOP } };

    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
            if (!strcmp(infos[i].key, words[w].key) && pmix_flag_of(&infos[i].value))
                k->cleanup |= words[w].flag;
        }
        if (!strcmp(infos[i].key, PMIX_CLEANUP_IGNORE) && pmix_text_of(&infos[i]))
            k->stay = pmix_keep(k->c, slice_str(pmix_text_of(&infos[i])));
        if (!strcmp(infos[i].key, PMIX_JOB_CTRL_ID) && pmix_text_of(&infos[i]))
            k->id = pmix_keep(k->c, slice_str(pmix_text_of(&infos[i])));
    }
}

static bool is_cleanup_word(const char *key)
{
    return !strcmp(key, PMIX_CLEANUP_RECURSIVE) || !strcmp(key, PMIX_CLEANUP_EMPTY) ||
           !strcmp(key, PMIX_CLEANUP_LEAVE_TOPDIR) || !strcmp(key, PMIX_CLEANUP_IGNORE) ||
           !strcmp(key, PMIX_JOB_CTRL_ID);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void do_directive(struct control_request *k, const pmix_info_t *info)
{
    bool yes = pmix_flag_of(&info->value);

    if (!strcmp(info->key, PMIX_JOB_CTRL_KILL)) {
        if (yes)
            ask_signal(k, SIGKILL, true);
    } else if (!strcmp(info->key, PMIX_JOB_CTRL_TERMINATE)) {
        if (yes)
            ask_signal(k, SIGTERM, true);
    } else if (!strcmp(info->key, PMIX_JOB_CTRL_PAUSE)) {
        if (yes)
            ask_signal(k, SIGSTOP, false);
    } else if (!strcmp(info->key, PMIX_JOB_CTRL_RESUME)) {
        if (yes)
            ask_signal(k, SIGCONT, false);
    } else if (!strcmp(info->key, PMIX_JOB_CTRL_SIGNAL)) {
        ask_signal(k, (int)(pmix_number_of(&info->value) & 0xff), false);
    } else if (!strcmp(info->key, PMIX_REGISTER_CLEANUP)) {
        ask_cleanups(k, pmix_text_of(info), false);
    } else if (!strcmp(info->key, PMIX_REGISTER_CLEANUP_DIR)) {
        ask_cleanups(k, pmix_text_of(info), true);
    } else if (!strcmp(info->key, PMIX_JOB_CTRL_CANCEL)) {
        ask_cancel(k, pmix_text_of(info));
    } else if (!strcmp(info->key, PMIX_JOB_CTRL_DEFINE_PSET)) {
        ask_pset(k, info);
    } else if (!is_cleanup_word(info->key) && !is_checkpoint_word(info->key) &&
               info->flags & PMIX_INFO_REQD) {
        k->refused = true;
    }
}

void pmix_read_control(struct command *c)
{
    struct control_request k = { .c = c };
    struct pmsg_procs_infos m;

    if (pmsg_read_procs_infos(&c->r, c->s->release, &m) == PTYPE_FINE) {
        k.batch = pmix_batch_new(c);
        k.members = pmix_keep_members(c, m.procs.items, m.procs.n);
        k.procs = m.procs.items;
        k.nprocs = m.procs.n;
        k.nmembers = k.members ? (uint32_t)m.procs.n : 0;
        read_cleanup_words(&k, m.infos.items, m.infos.n);
        read_checkpoint_words(&k, m.infos.items, m.infos.n);
        for (size_t i = 0; i < m.infos.n && k.members; i++)
            do_directive(&k, &m.infos.items[i]);
        if (k.members)
            ask_checkpoint(&k);
        if (k.refused && k.batch)
            k.batch->refused = true;
        pmix_batch_end(c, k.batch, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_procs_infos(&m, NULL);
}

bool pmix_is_cleanup(const struct command *c)
{
    struct punpack r = c->r;
    struct pmsg_procs_infos m;
    bool is = false;

    pmsg_read_procs_infos(&r, c->s->release, &m);
    for (size_t i = 0; i < m.infos.n; i++)
        is = is || !strcmp(m.infos.items[i].key, PMIX_REGISTER_CLEANUP) ||
             !strcmp(m.infos.items[i].key, PMIX_REGISTER_CLEANUP_DIR);
    pmsg_free_procs_infos(&m, NULL);
    return is;
}
