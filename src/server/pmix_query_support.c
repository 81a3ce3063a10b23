/* pmix_query_support.c - see pmix_findings.h: this server, its abilities, and the attributes of its
 * functions. */
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "server/pmix_calls.h"
#include "server/pmix_findings.h"

enum { TEXT_MAX = 1 << 24 };

void pmix_find_uri(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const char *uri = f->s->base.peer->core->uri;

    (void)about;
    if (uri)
        info_array_text(&f->list, key, uri);
    else
        f->missed++;
}

/* This one: others are found by tools themselves. */
void pmix_find_servers(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const struct core *c = f->s->base.peer->core;
    struct info_array one = { .items = NULL }, all = { .items = NULL };

    (void)about;
    if (!c->uri || !c->name) {
        f->missed++;
        return;
    }
    info_array_text(&one, PMIX_SERVER_NSPACE, c->name);
    info_array_add(&one, PMIX_SERVER_RANK,
                   (pmix_value_t){ .type = PMIX_PROC_RANK, .data.rank = c->name_rank });
    info_array_text(&one, PMIX_SERVER_URI, c->uri);
    info_array_infos(&all, PMIX_SERVER_INFO_ARRAY, &one);
    info_array_infos(&f->list, key, &all);
}

void pmix_find_abi_version(struct pmix_findings *f, const char *key,
                           const struct query_subject *about)
{
    (void)about;
    info_array_text(&f->list, key, PMIX_ABI_VERSION);
}

/* The attributes of the call to spawn. */
void pmix_find_spawn_support(struct pmix_findings *f, const char *key,
                             const struct query_subject *about)
{
    const struct pmix_call *spawn = &pmix_calls[PMIX_CALL_SPAWN];
    struct buf words = BUF_NULL(TEXT_MAX);

    (void)about;
    for (size_t i = 0; i < spawn->nattrs; i++)
        buf_printf(&words, "%s%s", i ? "," : "", spawn->attrs[i].key);
    pmix_found_text(f, key, &words);
}

/* ---- attributes of functions ----------------------------------------------------------------- */

static bool describe_attr(pmix_regattr_t *to, const struct pmix_call_attr *a)
{
    to->name = strdup(a->name);
    strncpy(to->string, a->key, PMIX_MAX_KEYLEN);
    to->type = a->type;
    to->description = calloc(2, sizeof *to->description);
    if (to->description)
        to->description[0] = strdup("as in the PMIx Standard");
    return to->name && to->description && to->description[0];
}

static void add_call(struct info_array *l, const struct pmix_call *call)
{
    pmix_regattr_t *attrs = calloc(call->nattrs + 1, sizeof *attrs);

    for (size_t i = 0; attrs && i < call->nattrs; i++) {
        if (!describe_attr(&attrs[i], &call->attrs[i]))
            l->no_memory = true;
    }
    info_array_items(l, call->name, PMIX_REGATTR, attrs, call->nattrs);
}

static bool is_listed(struct slice names, const char *name)
{
    while (names.len) {
        if (slice_is(slice_trim(slice_cut(&names, ',')), name))
            return true;
    }
    return false;
}

/* Those that the value of the qualifier names, separated by commas; all: "all", or no text. */
static void found_attributes(struct pmix_findings *f, const char *key, const pmix_value_t *which)
{
    struct slice names =
        which && which->type == PMIX_STRING ? slice_str(which->data.string) : SLICE_NULL;
    struct info_array calls = { .items = NULL };

    if (slice_is(names, "all"))
        names = SLICE_NULL;
    for (size_t i = 0; i < PMIX_CALLS; i++) {
        if (pmix_calls[i].nattrs && (!names.len || is_listed(names, pmix_calls[i].name)))
            add_call(&calls, &pmix_calls[i]);
    }
    if (calls.n || calls.no_memory)
        info_array_infos(&f->list, key, &calls);
    else
        f->missed++;
}

static void found_functions(struct pmix_findings *f, const char *key)
{
    struct buf names = BUF_NULL(TEXT_MAX);

    for (size_t i = 0; i < PMIX_CALLS; i++)
        buf_printf(&names, "%s%s", i ? "," : "", pmix_calls[i].name);
    pmix_found_text(f, key, &names);
}

/* The launcher is server and host in one; clients and tools know their own libraries.  Without a
 * qualifier: the host's. */
void pmix_find_support(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    const pmix_query_t *q = about->query;
    size_t levels = 0;

    for (size_t i = 0; i < q->nqual; i++) {
        const char *level = q->qualifiers[i].key;
        bool functions =
            !strcmp(level, PMIX_HOST_FUNCTIONS) || !strcmp(level, PMIX_SERVER_FUNCTIONS);
        bool attributes =
            !strcmp(level, PMIX_HOST_ATTRIBUTES) || !strcmp(level, PMIX_SERVER_ATTRIBUTES);
        levels += functions || attributes;
        if (functions)
            found_functions(f, level);
        else if (attributes)
            found_attributes(f, level, &q->qualifiers[i].value);
    }
    if (levels == 0)
        found_attributes(f, key, NULL);
}
