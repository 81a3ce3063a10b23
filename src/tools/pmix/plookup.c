/* plookup.c - the tool plookup: looks up what processes have published. */
#include <stdlib.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_infos.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

static void print_one(struct tool_out *o, const pmix_pdata_t *d)
{
    bool found = d->value.type != PMIX_UNDEF;

    if (o->is_json) {
        json_object(&o->json, NULL);
        json_str(&o->json, "key", d->key);
        json_bool(&o->json, "found", found);
        if (found) {
            json_str(&o->json, "namespace", d->proc.nspace);
            json_u64(&o->json, "rank", d->proc.rank);
            tool_json_value(&o->json, &d->value);
        }
        json_object_end(&o->json);
    } else if (found) {
        buf_printf(&o->text, "%s:\n", d->key);
        tool_print_value(&o->text, &d->value, 4);
    }
}

static int print(const struct tool_line *l, const pmix_pdata_t *data, size_t n)
{
    struct tool_out o;
    int status = TOOL_FINE;

    tool_out_begin(&o, l);
    if (o.is_json)
        json_array(&o.json, "results");
    for (size_t i = 0; i < n; i++) {
        print_one(&o, &data[i]);
        if (data[i].value.type != PMIX_UNDEF)
            continue;
        log_error(&l->log, "%s: nobody has published it", data[i].key);
        status = TOOL_FAILED;
    }
    if (o.is_json)
        json_array_end(&o.json);
    return tool_out_end(&o, status);
}

static int read_infos(const struct tool_line *l, struct tool_infos *i)
{
    uint64_t seconds = 0;
    int timeout;

    if (!tool_number(l, OPTION_timeout, INT32_MAX, &seconds))
        return TOOL_USAGE;
    timeout = (int)seconds;
    if (l->values[OPTION_timeout])
        tool_infos_add(i, PMIX_TIMEOUT, &timeout, PMIX_INT);
    if (l->values[OPTION_wait] || l->values[OPTION_timeout]) {
        int all = 0;
        tool_infos_add(i, PMIX_WAIT, &all, PMIX_INT);
    }
    return TOOL_GO_ON;
}

/* All at once; servers that have some of them only may answer without these: then one by one. */
static pmix_status_t look_up_data(pmix_pdata_t *data, size_t n, const struct tool_infos *i)
{
    pmix_status_t rc = PMIx_Lookup(data, n, i->items, i->n);

    if (rc != PMIX_ERR_PARTIAL_SUCCESS && rc != PMIX_QUERY_PARTIAL_SUCCESS)
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    rc = PMIX_SUCCESS;
    for (size_t k = 0; k < n && rc == PMIX_SUCCESS; k++) {
        if (data[k].value.type == PMIX_UNDEF)
            rc = PMIx_Lookup(&data[k], 1, i->items, i->n);
        if (rc == PMIX_ERR_NOT_FOUND)
            rc = PMIX_SUCCESS;
    }
    return rc;
}

struct plookup_request {
    const struct tool_line *line;
    const struct tool_infos *infos;
};

static int look_up(void *arg)
{
    const struct plookup_request *r = arg;
    const struct tool_line *l = r->line;
    struct tool_limit limit = { .line = l };
    char **keys = PMIx_Argv_split(l->operands[0], ',');
    size_t n = (size_t)PMIx_Argv_count(keys);
    pmix_pdata_t *data = n ? PMIx_Pdata_create(n) : NULL;
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;
    int status = TOOL_FAILED;

    for (size_t k = 0; data && k < n; k++)
        PMIx_Load_key(data[k].key, keys[k]);
    tool_limit_begin(&limit);
    if (data)
        rc = look_up_data(data, n, r->infos);
    tool_limit_end(&limit);
    if (data && rc == PMIX_SUCCESS)
        status = print(l, data, n);
    else
        log_error(&l->log, "%s: %s", l->operands[0], PMIx_Error_string(rc));
    PMIx_Pdata_free(data, n);
    PMIx_Argv_free(keys);
    return status;
}

int main(int argc, char **argv)
{
    struct tool_infos infos = { .n = 0 };
    struct tool_line l;
    int rc = tool_line_read(&l, TOOL_plookup, argc, argv);

    if (rc == TOOL_GO_ON)
        rc = read_infos(&l, &infos);
    if (rc == TOOL_GO_ON)
        rc = tool_server_run(&l, true, look_up, &(struct plookup_request){ &l, &infos });
    tool_infos_free(&infos);
    return rc;
}
