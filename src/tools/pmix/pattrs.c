/* pattrs.c - the tool pattrs: lists supported functions and attributes. */
#include <string.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

static const struct support_level {
    enum tool_option functions, attributes;
    const char *functions_key, *attributes_key, *head, *name;
    bool server; /* must be asked for it */
} levels[] = {
    { OPTION_client_fns, OPTION_client, PMIX_CLIENT_FUNCTIONS, PMIX_CLIENT_ATTRIBUTES, "CLIENT",
      "client", false },
    { OPTION_server_fns, OPTION_server, PMIX_SERVER_FUNCTIONS, PMIX_SERVER_ATTRIBUTES, "SERVER",
      "server", true },
    { OPTION_tool_fns, OPTION_tool, PMIX_TOOL_FUNCTIONS, PMIX_TOOL_ATTRIBUTES, "TOOL", "tool",
      false },
    { OPTION_host_fns, OPTION_host, PMIX_HOST_FUNCTIONS, PMIX_HOST_ATTRIBUTES, "HOST", "host",
      true },
};

enum { LEVELS = sizeof levels / sizeof *levels };

/* The answer about one level: which is the value of the qualifier, NULL: a flag. */
static pmix_status_t ask(const struct tool_line *l, const char *key, const char *which,
                         pmix_info_t **infos_p, size_t *n_p)
{
    struct tool_limit limit = { .line = l };
    pmix_query_t q;
    pmix_status_t rc;

    PMIx_Query_construct(&q);
    PMIx_Argv_append_nosize(&q.keys, PMIX_QUERY_ATTRIBUTE_SUPPORT);
    PMIx_Query_qualifiers_create(&q, 1);
    PMIx_Info_load(q.qualifiers, key, which, which ? PMIX_STRING : PMIX_BOOL);
    tool_limit_begin(&limit);
    rc = PMIx_Query_info(&q, 1, infos_p, n_p);
    tool_limit_end(&limit);
    PMIx_Query_destruct(&q);
    return rc == PMIX_SUCCESS && !*n_p ? PMIX_ERR_NOT_FOUND : rc;
}

/* ---- functions ------------------------------------------------------------------------------- */

static void print_functions(struct tool_out *o, const struct support_level *level,
                            const pmix_value_t *v)
{
    char **names = v->type == PMIX_STRING ? PMIx_Argv_split(v->data.string, ',') : NULL;

    if (o->is_json) {
        json_object(&o->json, NULL);
        json_str(&o->json, "level", level->name);
        json_array(&o->json, "names");
    } else {
        buf_printf(&o->text, "%s SUPPORTED FUNCTIONS:\n", level->head);
    }
    for (char **at = names; at && *at; at++) {
        if (o->is_json)
            json_str(&o->json, NULL, *at);
        else
            buf_printf(&o->text, "    %s\n", *at);
    }
    if (o->is_json) {
        json_array_end(&o->json);
        json_object_end(&o->json);
    }
    PMIx_Argv_free(names);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void json_attributes(struct json *j, const char *function, const pmix_data_array_t *a)
{
    const pmix_regattr_t *attrs = a->array;

    json_object(j, NULL);
    json_str(j, "function", function);
    json_array(j, "attributes");
    for (size_t i = 0; i < a->size; i++) {
        json_object(j, NULL);
        json_str(j, "name", attrs[i].name);
        json_str(j, "key", attrs[i].string);
        json_str(j, "type", PMIx_Data_type_string(attrs[i].type));
        json_str(j, "description", attrs[i].description ? attrs[i].description[0] : NULL);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void text_attributes(struct buf *out, const char *function, const pmix_data_array_t *a)
{
    struct tool_table t = { .heads = { "NAME", "STRING", "TYPE", "DESCRIPTION" } };
    const pmix_regattr_t *attrs = a->array;

    buf_printf(out, "%s:\n", function);
    for (size_t i = 0; i < a->size; i++) {
        char **lines = attrs[i].description;
        tool_table_cell(&t, "%s", attrs[i].name ? attrs[i].name : "");
        tool_table_cell(&t, "%s", attrs[i].string);
        tool_table_cell(&t, "%s", PMIx_Data_type_string(attrs[i].type));
        tool_table_cell(&t, "%s", lines && lines[0] ? lines[0] : "");
    }
    if (a->size)
        tool_table_print(&t, out, 4);
}

static void print_function(struct tool_out *o, const pmix_info_t *info)
{
    const pmix_data_array_t *a =
        info->value.type == PMIX_DATA_ARRAY ? info->value.data.darray : NULL;

    if (!a || a->type != PMIX_REGATTR)
        return;
    if (o->is_json)
        json_attributes(&o->json, info->key, a);
    else
        text_attributes(&o->text, info->key, a);
}

static void print_attributes(struct tool_out *o, const struct support_level *level,
                             const pmix_value_t *v)
{
    const pmix_data_array_t *a = v->type == PMIX_DATA_ARRAY ? v->data.darray : NULL;

    if (o->is_json) {
        json_object(&o->json, NULL);
        json_str(&o->json, "level", level->name);
        json_array(&o->json, "functions");
    } else {
        buf_printf(&o->text, "%s SUPPORTED ATTRIBUTES:\n", level->head);
    }
    for (size_t i = 0; a && a->type == PMIX_INFO && i < a->size; i++)
        print_function(o, (pmix_info_t *)a->array + i);
    if (o->is_json) {
        json_array_end(&o->json);
        json_object_end(&o->json);
    }
}

/* ---- the tool -------------------------------------------------------------------------------- */

typedef void print_fn(struct tool_out *o, const struct support_level *level, const pmix_value_t *v);

static int list_one(struct tool_out *o, const struct support_level *level, const char *key,
                    const char *which, print_fn *print)
{
    pmix_info_t *infos = NULL;
    size_t n = 0;
    pmix_status_t rc = ask(o->line, key, which, &infos, &n);

    if (rc == PMIX_SUCCESS)
        print(o, level, &infos[0].value);
    else
        log_error(&o->line->log, "%s%s%s: %s", level->name, which ? " " : "", which ? which : "",
                  PMIx_Error_string(rc));
    PMIx_Info_free(infos, n);
    return rc == PMIX_SUCCESS ? TOOL_FINE : TOOL_FAILED;
}

static int list(struct tool_out *o, bool functions)
{
    const char *const *values = o->line->values;
    int status = TOOL_FINE;

    for (size_t i = 0; i < LEVELS; i++) {
        const struct support_level *level = &levels[i];
        const char *which = values[level->attributes];
        if (functions && values[level->functions] &&
            list_one(o, level, level->functions_key, NULL, print_functions) != TOOL_FINE)
            status = TOOL_FAILED;
        if (!functions && which &&
            list_one(o, level, level->attributes_key, which, print_attributes) != TOOL_FINE)
            status = TOOL_FAILED;
    }
    return status;
}

static int list_all(void *arg)
{
    const struct tool_line *l = arg;
    struct tool_out o;
    int first, second;

    tool_out_begin(&o, l);
    if (o.is_json)
        json_array(&o.json, "functions");
    first = list(&o, true);
    if (o.is_json) {
        json_array_end(&o.json);
        json_array(&o.json, "attributes");
    }
    second = list(&o, false);
    if (o.is_json)
        json_array_end(&o.json);
    return tool_out_end(&o, first != TOOL_FINE ? first : second);
}

int main(int argc, char **argv)
{
    struct tool_line l;
    bool some = false, server = false;
    int rc = tool_line_read(&l, TOOL_pattrs, argc, argv);

    if (rc != TOOL_GO_ON)
        return rc;
    for (size_t i = 0; i < LEVELS; i++) {
        bool wanted = l.values[levels[i].functions] || l.values[levels[i].attributes];
        some = some || wanted;
        server = server || (wanted && levels[i].server);
    }
    if (!some)
        return tool_wrong(&l, "nothing is asked for: name --client-fns, --server-fns, --tool-fns, "
                              "--host-fns, --client, --server, --tool or --host");
    if (server && l.values[OPTION_do_not_connect])
        return tool_wrong(&l, "--do-not-connect: functions of servers and hosts need a server");
    return tool_server_run(&l, server, list_all, &l);
}
