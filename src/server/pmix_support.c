/* pmix_support.c - see pmix_support.h. */
#include "server/pmix_support.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/host_calls.h"
#include "server/pmix_calls.h"

enum { TEXT_MAX = 1 << 24 };

const struct pmix_level_key *pmix_level_of(const char *key)
{
    static const struct pmix_level_key keys[] = {
        { PMIX_CLIENT_FUNCTIONS, PMIX_LEVEL_CLIENT, false },
        { PMIX_CLIENT_ATTRIBUTES, PMIX_LEVEL_CLIENT, true },
        { PMIX_SERVER_FUNCTIONS, PMIX_LEVEL_SERVER, false },
        { PMIX_SERVER_ATTRIBUTES, PMIX_LEVEL_SERVER, true },
        { PMIX_TOOL_FUNCTIONS, PMIX_LEVEL_TOOL, false },
        { PMIX_TOOL_ATTRIBUTES, PMIX_LEVEL_TOOL, true },
        { PMIX_HOST_FUNCTIONS, PMIX_LEVEL_HOST, false },
        { PMIX_HOST_ATTRIBUTES, PMIX_LEVEL_HOST, true },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!strcmp(key, keys[i].key))
            return &keys[i];
    }
    return NULL;
}

/* One function of either list. */
struct function {
    const char *name;
    const struct pmix_call *call; /* or */
    const struct host_call *host_call;
    size_t nattrs;
};

typedef void function_fn(void *arg, const struct function *f);

static void each_function(const struct pmix_offer *o, function_fn *fn, void *arg)
{
    for (size_t i = 0; !o->host && i < PMIX_CALLS; i++) {
        const struct pmix_call *c = &pmix_calls[i];
        if (c->nattrs && (!o->offers || o->offers(o->arg, c)))
            fn(arg, &(struct function){ c->name, c, NULL, c->nattrs });
    }
    if (!o->host)
        return;
    LIST_EACH(l, o->host)
    {
        const struct host_call *c = LIST_OF(l, struct host_call, link);
        fn(arg, &(struct function){ c->function, NULL, c, c->nattrs });
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

static void add_name(void *arg, const struct function *f)
{
    struct buf *names = arg;

    buf_printf(names, "%s%s", buf_len(names) ? "," : "", f->name);
}

static bool add_names(struct info_array *l, const char *key, const struct pmix_offer *o)
{
    struct buf names = BUF_NULL(TEXT_MAX);
    bool some;

    each_function(o, add_name, &names);
    some = buf_len(&names) > 0;
    if (!buf_ok(&names))
        l->no_memory = true;
    else if (some)
        info_array_text(l, key, buf_cstr(&names));
    buf_free(&names);
    return some;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool describe(pmix_regattr_t *to, const char *name, const char *key, uint16_t type)
{
    to->name = strdup(name);
    strncpy(to->string, key, PMIX_MAX_KEYLEN);
    to->type = type;
    to->description = calloc(2, sizeof *to->description);
    if (to->description)
        to->description[0] = strdup("as in the PMIx Standard");
    return to->name && to->description && to->description[0];
}

static bool describe_attr(pmix_regattr_t *to, const struct function *f, size_t i)
{
    if (f->call)
        return describe(to, f->call->attrs[i].name, f->call->attrs[i].key, f->call->attrs[i].type);
    return describe(to, f->host_call->attrs[i].name, f->host_call->attrs[i].key,
                    f->host_call->attrs[i].type);
}

struct wanted_functions {
    struct info_array *functions;
    struct slice names; /* empty: all */
};

static bool is_listed(struct slice names, const char *name)
{
    while (names.len) {
        if (slice_is(slice_trim(slice_cut(&names, ',')), name))
            return true;
    }
    return false;
}

static void add_function(void *arg, const struct function *f)
{
    const struct wanted_functions *w = arg;
    pmix_regattr_t *attrs;

    if (w->names.len && !is_listed(w->names, f->name))
        return;
    attrs = calloc(f->nattrs + 1, sizeof *attrs);
    for (size_t i = 0; attrs && i < f->nattrs; i++) {
        if (!describe_attr(&attrs[i], f, i))
            w->functions->no_memory = true;
    }
    info_array_items(w->functions, f->name, PMIX_REGATTR, attrs, f->nattrs);
}

static bool add_attributes(struct info_array *l, const char *key, const pmix_value_t *which,
                           const struct pmix_offer *o)
{
    struct info_array functions = { .items = NULL };
    struct wanted_functions w = { .functions = &functions };
    bool some;

    if (which && which->type == PMIX_STRING && which->data.string &&
        strcmp(which->data.string, "all") != 0)
        w.names = slice_str(which->data.string);
    each_function(o, add_function, &w);
    some = functions.n > 0 || functions.no_memory;
    if (some)
        info_array_infos(l, key, &functions);
    return some;
}

const char *pmix_support_key(const pmix_query_t *q, const struct pmix_level_key *level)
{
    size_t levels = 0;

    for (size_t i = 0; i < q->nqual; i++)
        levels += pmix_level_of(q->qualifiers[i].key) != NULL;
    return levels == 1 ? PMIX_QUERY_ATTRIBUTE_SUPPORT : level->key;
}

bool pmix_support(struct info_array *l, const struct pmix_level_key *level, const char *key,
                  const pmix_value_t *which, const struct pmix_offer *o)
{
    return level->attributes ? add_attributes(l, key, which, o) : add_names(l, key, o);
}
