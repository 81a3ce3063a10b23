/* pquery.c - the tool pquery: asks a PMIx server. */
#include <stdlib.h>
#include <string.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_infos.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

/* "QUALIFIER=VALUE;..."; the words are written into. */
static int read_qualifiers(const struct tool_line *l, char *words, pmix_query_t *q)
{
    char **list = PMIx_Argv_split(words, ';');
    size_t n = (size_t)PMIx_Argv_count(list);
    int rc = TOOL_GO_ON;

    PMIx_Query_qualifiers_create(q, n);
    for (size_t i = 0; i < n && rc == TOOL_GO_ON; i++) {
        char *value = list[i], *name = strsep(&value, "=");
        if (!tool_info_read(&q->qualifiers[i], tool_key(name), value ? value : ""))
            rc = tool_wrong(l, "'%s' is no value for %s", value ? value : "", name);
    }
    PMIx_Argv_free(list);
    return rc;
}

static int read_query(const struct tool_line *l, char *word, pmix_query_t *q)
{
    char *bracket = strchr(word, '['), *end = word + strlen(word) - 1;

    PMIx_Query_construct(q);
    if (bracket && *end != ']')
        return tool_wrong(l, "'%s': the ']' is missing", word);
    if (bracket) {
        *bracket = '\0';
        *end = '\0';
    }
    if (!*word)
        return tool_wrong(l, "a key is missing");
    PMIx_Argv_append_nosize(&q->keys, tool_key(word));
    return bracket ? read_qualifiers(l, bracket + 1, q) : TOOL_GO_ON;
}

static void print_answer(struct tool_out *o, const pmix_info_t *info)
{
    if (o->is_json) {
        tool_json_info(&o->json, info);
        return;
    }
    buf_printf(&o->text, "%s:\n", tool_key_name(info->key));
    tool_print_value(&o->text, &info->value, 4);
}

static int ask(struct tool_out *o, pmix_query_t *q)
{
    pmix_info_t *answers = NULL;
    struct tool_limit limit = { .line = o->line };
    pmix_status_t rc;
    size_t n = 0;

    tool_limit_begin(&limit);
    rc = PMIx_Query_info(q, 1, &answers, &n);
    tool_limit_end(&limit);

    for (size_t i = 0; i < n; i++)
        print_answer(o, &answers[i]);
    if (rc == PMIX_SUCCESS && !n)
        rc = PMIX_ERR_NOT_FOUND;
    PMIx_Info_free(answers, n);
    if (rc == PMIX_SUCCESS)
        return TOOL_FINE;
    log_error(&o->line->log, "%s: %s", tool_key_name(q->keys[0]), PMIx_Error_string(rc));
    return TOOL_FAILED;
}

struct pquery_request {
    const struct tool_line *line;
    pmix_query_t *queries;
    size_t n;
};

static int ask_all(void *arg)
{
    const struct pquery_request *a = arg;
    struct tool_out o;
    int status = TOOL_FINE;

    tool_out_begin(&o, a->line);
    if (o.is_json)
        json_array(&o.json, "results");
    for (size_t i = 0; i < a->n; i++) {
        if (ask(&o, &a->queries[i]) != TOOL_FINE)
            status = TOOL_FAILED;
    }
    if (o.is_json)
        json_array_end(&o.json);
    return tool_out_end(&o, status);
}

/* What the library knows by itself: then a server need not be there. */
static bool needs_server(const pmix_query_t *queries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!PMIx_Check_key(queries[i].keys[0], PMIX_QUERY_AVAIL_SERVERS) &&
            !PMIx_Check_key(queries[i].keys[0], PMIX_QUERY_STABLE_ABI_VERSION) &&
            !PMIx_Check_key(queries[i].keys[0], PMIX_QUERY_PROVISIONAL_ABI_VERSION))
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct tool_line l;
    pmix_query_t *queries;
    size_t n;
    int rc = tool_line_read(&l, TOOL_pquery, argc, argv);

    if (rc != TOOL_GO_ON)
        return rc;
    n = (size_t)l.noperands;
    queries = calloc(n, sizeof *queries);
    for (size_t i = 0; queries && i < n && rc == TOOL_GO_ON; i++)
        rc = read_query(&l, l.operands[i], &queries[i]);
    if (rc == TOOL_GO_ON)
        rc = tool_server_run(&l, queries && needs_server(queries, n), ask_all,
                             &(struct pquery_request){ &l, queries, queries ? n : 0 });
    for (size_t i = 0; queries && i < n; i++)
        PMIx_Query_destruct(&queries[i]);
    free(queries);
    return rc;
}
