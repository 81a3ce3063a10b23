/* pmix_log.c - see pmix_log.h. */
#include "server/pmix_log.h"

#include <stdio.h>
#include <string.h>

#include "base/limit.h"
#include "core/control.h"
#include "core/request.h"
#include "server/pmix_batch.h"
#include "server/pmix_value.h"
#include "wire/openmpi_help.h"

enum { PRIORITY_INFO = 6 }; /* of syslog */

struct logging {
    struct command *c;
    struct pmix_batch *batch;
    int64_t priority, time_s;
    uint8_t format;          /* CONTROL_LOG_... */
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
                     { PMIX_LOG_SYSLOG, "global syslog" },
                     { PMIX_LOG_LOCAL_SYSLOG, "syslog" },
                     { PMIX_LOG_GLOBAL_SYSLOG, "global syslog" } };

    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        if (!strcmp(key, channels[i].key))
            return channels[i].channel;
    }
    return NULL;
}

/* An attribute that a library adds by itself. */
static bool is_idle_log_word(const pmix_info_t *info)
{
    return !strcmp(info->key, PMIX_LOG_SOURCE) || !(info->flags & PMIX_INFO_REQD);
}

/* How texts are to look; false: it is another word. */
static bool read_look(struct logging *g, const pmix_info_t *info)
{
    static const struct {
        const char *key;
        uint8_t format;
    } looks[] = { { PMIX_LOG_GENERATE_TIMESTAMP, CONTROL_LOG_TIME },
                  { PMIX_LOG_TIMESTAMP_OUTPUT, CONTROL_LOG_TIME },
                  { PMIX_LOG_TAG_OUTPUT, CONTROL_LOG_TAG },
                  { PMIX_LOG_XML_OUTPUT, CONTROL_LOG_XML } };

    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        if (strcmp(info->key, looks[i].key) != 0)
            continue;
        g->format |= pmix_flag_of(&info->value) ? looks[i].format : 0;
        return true;
    }
    if (strcmp(info->key, PMIX_LOG_TIMESTAMP) != 0)
        return false;
    g->time_s = (int64_t)info->value.data.time;
    g->format |= CONTROL_LOG_TIME;
    return true;
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
            g->file = pmix_text_of(&infos[i]);
        else if (!strcmp(infos[i].key, PMIX_LOG_VAL))
            g->name = pmix_text_of(&infos[i]);
        else if (!read_look(g, &infos[i]))
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
    pmix_batch_ask(g->c, g->batch,
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
    const char *channel = channel_of(info->key), *text = pmix_text_of(info);

    if (!(g->once && g->batch->left) && log_help(g, info))
        return;
    if (channel && text && !(g->once && g->batch->left))
        pmix_batch_ask(
            g->c, g->batch,
            REQUEST_WITH(log, .channel = slice_str(channel), .topic = topic_for(g, channel),
                         .text = pmix_keep(g->c, slice_str(text)), .priority = (int)g->priority,
                         .format = g->format, .time_s = g->time_s));
    else if (!channel || !text)
        g->refused = g->refused || !g->once;
}

void pmix_read_log(struct command *c)
{
    struct logging g = { .c = c, .priority = PRIORITY_INFO };
    struct pmsg_log m;

    if (pmsg_read_log(&c->r, c->s->release, &m) == PTYPE_FINE) {
        g.batch = pmix_batch_new(c);
        read_log_words(&g, m.directives.items, m.directives.n);
        for (size_t i = 0; g.batch && i < m.data.n; i++)
            log_one(&g, &m.data.items[i]);
        if (g.batch && g.refused)
            g.batch->refused = true;
        pmix_batch_end(c, g.batch, PMIX_ERR_NOT_SUPPORTED);
    }
    pmsg_free_log(&m, NULL);
}
