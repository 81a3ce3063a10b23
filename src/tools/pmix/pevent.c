/* pevent.c - the tool pevent: raises an event. */
#include <string.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

/* By its number, or by its name: that of the code that the name has. */
static bool read_event(const char *text, pmix_status_t *code_p)
{
    int number;

    if (slice_int(slice_str(text), &number)) {
        *code_p = number;
        return true;
    }
    *code_p = PMIx_Error_code(text);
    return !strcmp(PMIx_Error_string(*code_p), text);
}

static bool read_range(const char *text, pmix_data_range_t *range_p)
{
    static const struct {
        const char *name;
        pmix_data_range_t range;
    } ranges[] = {
        { "session", PMIX_RANGE_SESSION }, { "namespace", PMIX_RANGE_NAMESPACE },
        { "local", PMIX_RANGE_LOCAL },     { "global", PMIX_RANGE_GLOBAL },
        { "rm", PMIX_RANGE_RM },
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (!text || !strcasecmp(text, ranges[i].name)) {
            *range_p = ranges[i].range;
            return true;
        }
    }
    return false;
}

/* NULL: it has none. */
static const char *name_of(pmix_status_t code)
{
    const char *name = PMIx_Error_string(code);

    return PMIx_Error_code(name) == code ? name : NULL;
}

static int print(const struct tool_line *l, pmix_status_t code, pmix_data_range_t range)
{
    struct tool_out o;

    tool_out_begin(&o, l);
    if (o.is_json) {
        json_i64(&o.json, "code", code);
        json_str(&o.json, "event", name_of(code));
        json_str(&o.json, "range", PMIx_Data_range_string(range));
    }
    return tool_out_end(&o, TOOL_FINE);
}

struct pevent_request {
    const struct tool_line *line;
    pmix_status_t code;
    pmix_data_range_t range;
};

static int raise_event(void *arg)
{
    const struct pevent_request *r = arg;
    struct tool_limit limit = { .line = r->line };
    pmix_status_t rc;

    tool_limit_begin(&limit);
    rc = PMIx_Notify_event(r->code, NULL, r->range, NULL, 0, NULL, NULL);
    tool_limit_end(&limit);
    if (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED)
        return print(r->line, r->code, r->range);
    log_error(&r->line->log, "the server refuses the event: %s", PMIx_Error_string(rc));
    return TOOL_FAILED;
}

int main(int argc, char **argv)
{
    pmix_data_range_t range;
    pmix_status_t code;
    const char *event;
    struct tool_line l;
    int rc = tool_line_read(&l, TOOL_pevent, argc, argv);

    if (rc != TOOL_GO_ON)
        return rc;
    event = l.noperands ? l.operands[0] : l.values[OPTION_event];
    if (!event)
        return tool_wrong(&l, "name the event, as PMIX_EVENT_NODE_DOWN or by its number");
    if (!read_event(event, &code))
        return tool_wrong(&l, "there is no event '%s'", event);
    if (!read_range(l.values[OPTION_range], &range))
        return tool_wrong(&l, "--range: '%s' is none of namespace, session, global, local, rm",
                          l.values[OPTION_range]);
    return tool_server_run(&l, true, raise_event, &(struct pevent_request){ &l, code, range });
}
