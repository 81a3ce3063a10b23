/* pmix_control.c - job control, logs and credentials of a client.
 *
 * One command may contain several requests; the worst answer is the reply.  An attribute that is
 * not understood is refused if it is marked as required, or if the command has no other.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/request.h"
#include "session/pmix_priv.h"
#include "wire/openmpi_help.h"

/* One more request of the command. */
static void ask_more(struct command *c, struct pmix_batch *b, struct request rq)
{
    struct pmix_pending *p = b ? pmix_ask(c, rq) : NULL;

    if (!p)
        return;
    b->left++;
    p->batch = b;
}

/* Without any request, this is the reply. */
static void end_asking(struct command *c, struct pmix_batch *b, pmix_status_t if_none)
{
    if (!b || b->left)
        return;
    free(b);
    if (punpack_ok(&c->r) && !c->no_memory)
        pmix_reply_status(c->s, c->tag, if_none);
}

void pmix_reply_many(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct pmix_batch *b = p->batch;

    if (a->status != ANSWER_OK)
        b->worst = a->status;
    if (--b->left)
        return;
    pmix_reply_status(s, p->tag,
                      b->worst != ANSWER_OK ? pmix_status_of(b->worst)
                      : b->refused          ? PMIX_ERR_PARTIAL_SUCCESS
                                            : PMIX_SUCCESS);
    buf_free(&b->results);
    free(b);
}

/* ---- job control ----------------------------------------------------------------------------- */

struct control {
    struct command *c;
    struct pmix_batch *batch;
    const struct member *members;
    uint32_t nmembers;
    uint32_t cleanup;  /* how, without CLEANUP_DIRECTORY */
    struct slice stay; /* names that are kept */
    bool refused;      /* a required attribute cannot be satisfied */
};

static void ask_signal(struct control *k, int sig, bool is_end)
{
    ask_more(k->c, k->batch,
             REQUEST_WITH(signal, .members = k->members, .count = k->nmembers, .signal = sig,
                          .meant = is_end));
}

/* Files separated by commas. */
static void ask_cleanups(struct control *k, const char *paths, bool directory)
{
    struct slice rest = pmix_keep(k->c, slice_str(paths ? paths : ""));

    while (rest.len)
        ask_more(k->c, k->batch,
                 REQUEST_WITH(register_cleanup, .members = k->members, .count = k->nmembers,
                              .flags = directory ? k->cleanup | CLEANUP_DIRECTORY : 0,
                              .path = slice_trim(slice_cut(&rest, ',')),
                              .keep = directory ? k->stay : SLICE_NULL));
}

static const char *text_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_STRING ? info->value.data.string : NULL;
}

static void read_cleanup_words(struct control *k, const pmix_info_t *infos, size_t n)
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
        if (!strcmp(infos[i].key, PMIX_CLEANUP_IGNORE) && text_of(&infos[i]))
            k->stay = pmix_keep(k->c, slice_str(text_of(&infos[i])));
    }
}

static bool is_cleanup_word(const char *key)
{
    return !strcmp(key, PMIX_CLEANUP_RECURSIVE) || !strcmp(key, PMIX_CLEANUP_EMPTY) ||
           !strcmp(key, PMIX_CLEANUP_LEAVE_TOPDIR) || !strcmp(key, PMIX_CLEANUP_IGNORE) ||
           !strcmp(key, PMIX_JOB_CTRL_ID);
}

static void do_directive(struct control *k, const pmix_info_t *info)
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
        ask_cleanups(k, text_of(info), false);
    } else if (!strcmp(info->key, PMIX_REGISTER_CLEANUP_DIR)) {
        ask_cleanups(k, text_of(info), true);
    } else if (!is_cleanup_word(info->key) && info->flags & PMIX_INFO_REQD) {
        k->refused = true;
    }
}

static const struct member *keep_members(struct command *c, const pmix_proc_t *procs, size_t n)
{
    struct member *m = arena_array(&c->s->arena, n ? n : 1, sizeof *m);

    for (size_t i = 0; m && i < n; i++)
        m[i] = (struct member){ pmix_keep(c, slice_str(procs[i].nspace)), procs[i].rank };
    return m;
}

void pmix_read_control(struct command *c)
{
    struct control k = { .c = c };
    struct pmsg_procs_infos m;

    if (pmsg_read_procs_infos(&c->r, c->s->release, &m) == PTYPE_FINE) {
        k.batch = pmix_new_batch(c);
        k.members = keep_members(c, m.procs.items, m.procs.n);
        k.nmembers = k.members ? (uint32_t)m.procs.n : 0;
        read_cleanup_words(&k, m.infos.items, m.infos.n);
        for (size_t i = 0; i < m.infos.n && k.members; i++)
            do_directive(&k, &m.infos.items[i]);
        if (k.refused && k.batch)
            k.batch->refused = true;
        end_asking(c, k.batch, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_procs_infos(&m, NULL);
}

/* ---- logs ------------------------------------------------------------------------------------ */

enum { PRIORITY_INFO = 6 }; /* of syslog */

struct logging {
    struct command *c;
    struct pmix_batch *batch;
    int64_t priority;
    bool once;               /* only the first channel that works */
    bool counted;            /* copies of the same message are counted */
    const char *file, *name; /* by these two: Open MPI's file of help texts, and the topic in it */
    bool refused;
};

static const char *channel_of(const char *key)
{
    static const struct {
        const char *key, *channel;
    } channels[] = { { PMIX_LOG_STDERR, "stderr" },
                     { PMIX_LOG_STDOUT, "stdout" },
                     { PMIX_LOG_SYSLOG, "syslog" },
                     { PMIX_LOG_LOCAL_SYSLOG, "syslog" },
                     { PMIX_LOG_GLOBAL_SYSLOG, "syslog" } };

    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        if (!strcmp(key, channels[i].key))
            return channels[i].channel;
    }
    return NULL;
}

/* An attribute that a library adds by itself, or one that only affects how a text looks. */
static bool is_idle_log_word(const pmix_info_t *info)
{
    return !strcmp(info->key, PMIX_LOG_SOURCE) || !strcmp(info->key, PMIX_LOG_TIMESTAMP) ||
           !(info->flags & PMIX_INFO_REQD);
}

static void read_log_words(struct logging *g, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(infos[i].key, PMIX_LOG_ONCE))
            g->once = pmix_flag_of(&infos[i].value);
        else if (!strcmp(infos[i].key, PMIX_LOG_SYSLOG_PRI))
            g->priority = (int64_t)pmix_number_of(&infos[i].value);
        else if (!strcmp(infos[i].key, PMIX_LOG_AGG))
            g->counted = pmix_flag_of(&infos[i].value);
        else if (!strcmp(infos[i].key, PMIX_LOG_KEY))
            g->file = text_of(&infos[i]);
        else if (!strcmp(infos[i].key, PMIX_LOG_VAL))
            g->name = text_of(&infos[i]);
        else
            g->refused = g->refused || !is_idle_log_word(&infos[i]);
    }
}

/* "FILE / NAME", as shown to people; empty: unusable. */
static struct slice topic_of(struct command *c, struct slice file, struct slice name)
{
    char text[LIMIT_HELP_TOPIC];
    int len =
        snprintf(text, sizeof text, SLICE_FMT " / " SLICE_FMT, SLICE_ARG(file), SLICE_ARG(name));

    if (len < 0 || len >= (int)sizeof text || file.len == 0 || name.len == 0)
        return SLICE_NULL;
    for (int i = 0; i < len; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return SLICE_NULL;
    }
    return pmix_keep(c, slice_mem(text, (size_t)len));
}

/* Open MPI 4's help messages: false, it is not one. */
static bool log_help(struct logging *g, const pmix_info_t *info)
{
    const pmix_byte_object_t *bo = &info->value.data.bo;
    struct openmpi_help h;
    struct slice topic;

    if (strcmp(info->key, PMIX_LOG_MSG) != 0 || info->value.type != PMIX_BYTE_OBJECT ||
        !openmpi_help_read(slice_mem(bo->bytes, bo->size), &h))
        return false;
    topic = topic_of(g->c, h.file, h.topic);
    ask_more(g->c, g->batch,
             REQUEST_WITH(log, .channel = SLICE("stderr"), .topic = topic,
                          .text = pmix_keep(g->c, h.text)));
    return true;
}

static struct slice topic_for(const struct logging *g, const char *channel)
{
    if (!g->counted || !g->file || !g->name || strcmp(channel, "stderr") != 0)
        return SLICE_NULL;
    return topic_of(g->c, slice_str(g->file), slice_str(g->name));
}

static void log_one(struct logging *g, const pmix_info_t *info)
{
    const char *channel = channel_of(info->key), *text = text_of(info);

    if (!(g->once && g->batch->left) && log_help(g, info))
        return;
    if (channel && text && !(g->once && g->batch->left))
        ask_more(g->c, g->batch,
                 REQUEST_WITH(log, .channel = slice_str(channel), .topic = topic_for(g, channel),
                              .text = pmix_keep(g->c, slice_str(text)),
                              .priority = (int)g->priority));
    else if (!channel || !text)
        g->refused = g->refused || !g->once;
}

void pmix_read_log(struct command *c)
{
    struct logging g = { .c = c, .priority = PRIORITY_INFO };
    struct pmsg_log m;

    if (pmsg_read_log(&c->r, c->s->release, &m) == PTYPE_FINE) {
        g.batch = pmix_new_batch(c);
        read_log_words(&g, m.directives.items, m.directives.n);
        for (size_t i = 0; g.batch && i < m.data.n; i++)
            log_one(&g, &m.data.items[i]);
        if (g.batch && g.refused)
            g.batch->refused = true;
        end_asking(c, g.batch, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_log(&m, NULL);
}

/* ---- credentials ----------------------------------------------------------------------------- */

void pmix_read_get_credential(struct command *c)
{
    struct pmsg_infos m;

    if (pmsg_read_infos(&c->r, c->s->release, &m) == PTYPE_FINE)
        pmix_ask(c, REQUEST_WITH(credential, .validate = false));
    pmsg_free_infos(&m, NULL);
}

/* Its length may include a final NUL. */
void pmix_read_validate(struct command *c)
{
    struct pmsg_validate m;

    if (pmsg_read_validate(&c->r, c->s->release, &m) == PTYPE_FINE) {
        struct slice text = m.credential;
        if (text.len && text.ptr[text.len - 1] == '\0')
            text.len--;
        pmix_ask(c, REQUEST_WITH(credential, .validate = true, .credential = pmix_keep(c, text)));
    }
    pmsg_free_validate(&m, NULL);
}

static pmix_status_t credential_status(enum answer_status status)
{
    switch (status) {
    case ANSWER_OK: return PMIX_SUCCESS;
    case ANSWER_NOT_FOUND: return PMIX_ERR_NOT_SUPPORTED; /* no such service here */
    case ANSWER_FAILED: return PMIX_ERR_INVALID_CRED;
    default: return pmix_status_of(status);
    }
}

static void load(pmix_info_t *info, const char *key, pmix_value_t v)
{
    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value = v;
}

void pmix_reply_credential(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    struct buf text = BUF_NULL(LIMIT_CREDENTIAL + 1);
    char kind[] = "munge";
    pmix_info_t info;
    struct pmsg_credential m = { .has =
                                     PMSG_BIT(credential, credential) | PMSG_BIT(credential, infos),
                                 .infos = { 1, &info } };
    struct ppack w;

    if (a->status != ANSWER_OK) {
        pmix_reply_status(s, p->tag, credential_status(a->status));
        return;
    }
    buf_slice_put(&text, a->value);
    buf_byte(&text, '\0'); /* its length includes the final NUL */
    load(&info, PMIX_CRED_TYPE, (pmix_value_t){ .type = PMIX_STRING, .data.string = kind });
    m.credential = buf_slice(&text);
    w = pmix_writer(s);
    pmsg_write_credential(&w, s->release, &m);
    if (!buf_ok(&text))
        w.error = PTYPE_NO_MEMORY;
    pmix_send_or_fail(s, p->tag, &w);
    buf_free(&text);
}

void pmix_reply_validated(struct pmix_session *s, struct pmix_pending *p, const struct answer *a)
{
    pmix_info_t infos[2];
    struct pmsg_status_infos m = { .has = PMSG_BIT(status_infos, infos), .infos = { 2, infos } };
    uint32_t ids[2];
    struct ppack w;

    if (a->status != ANSWER_OK || a->value.len != sizeof ids) {
        pmix_reply_status(s, p->tag, credential_status(a->status));
        return;
    }
    memcpy(ids, a->value.ptr, sizeof ids);
    load(&infos[0], PMIX_USERID, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = ids[0] });
    load(&infos[1], PMIX_GRPID, (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = ids[1] });
    w = pmix_writer(s);
    pmsg_write_status_infos(&w, s->release, &m);
    pmix_send_or_fail(s, p->tag, &w);
}
