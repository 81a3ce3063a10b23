/* pctrl.c - the tool pctrl: pauses, signals and ends processes. */
#include <stdlib.h>

#include "pmix_tool.h"
#include "tools/pmix/tool_infos.h"
#include "tools/pmix/tool_limit.h"
#include "tools/pmix/tool_print.h"
#include "tools/pmix/tool_server.h"

struct targets {
    pmix_proc_t *procs;
    size_t n;
};

static int read_targets(const struct tool_line *l, struct targets *t)
{
    struct slice rest = slice_str(l->values[OPTION_targets]);
    size_t room = 1;

    for (size_t i = 0; i < rest.len; i++)
        room += rest.ptr[i] == ',';
    t->procs = calloc(room, sizeof *t->procs);
    while (t->procs && rest.len) {
        struct slice word = slice_cut(&rest, ',');
        if (!tool_proc_read(word, &t->procs[t->n++]))
            return tool_wrong(l, "--targets: '" SLICE_FMT "' is not NAMESPACE:RANK",
                              SLICE_ARG(word));
    }
    if (t->n || l->values[OPTION_cancel] || l->values[OPTION_restart])
        return TOOL_GO_ON;
    return tool_wrong(l, "name the processes with --targets; pps lists them");
}

static int read_directives(const struct tool_line *l, struct tool_infos *i)
{
    const char *signal = l->values[OPTION_signal];
    int number = signal ? tool_signal_read(signal) : 0;

    if (signal && !number)
        return tool_wrong(l, "--signal: there is no signal '%s'", signal);
    if (signal)
        tool_infos_add(i, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
    tool_infos_flag(i, l, OPTION_pause, PMIX_JOB_CTRL_PAUSE);
    tool_infos_flag(i, l, OPTION_resume, PMIX_JOB_CTRL_RESUME);
    tool_infos_flag(i, l, OPTION_terminate, PMIX_JOB_CTRL_TERMINATE);
    tool_infos_flag(i, l, OPTION_kill, PMIX_JOB_CTRL_KILL);
    tool_infos_text(i, l, OPTION_pset, PMIX_JOB_CTRL_DEFINE_PSET);
    tool_infos_text(i, l, OPTION_cancel, PMIX_JOB_CTRL_CANCEL);
    tool_infos_text(i, l, OPTION_checkpoint, PMIX_JOB_CTRL_CHECKPOINT);
    tool_infos_text(i, l, OPTION_restart, PMIX_JOB_CTRL_RESTART);
    if (!i->n)
        return tool_wrong(l, "name what is to be done: --pause, --resume, --signal, --terminate, "
                             "--kill, --pset, --cancel, --checkpoint or --restart");
    tool_infos_text(i, l, OPTION_request_id, PMIX_JOB_CTRL_ID);
    return TOOL_GO_ON;
}

static int print(const struct tool_line *l, const pmix_info_t *infos, size_t n)
{
    const char *id = l->values[OPTION_request_id];
    struct tool_out o;

    tool_out_begin(&o, l);
    if (o.is_json) {
        json_str(&o.json, "request_id", id);
        json_array(&o.json, "results");
        for (size_t i = 0; i < n; i++)
            tool_json_info(&o.json, &infos[i]);
        json_array_end(&o.json);
    } else {
        buf_printf(&o.text, "request%s%s granted\n", id ? " " : "", id ? id : "");
    }
    return tool_out_end(&o, TOOL_FINE);
}

struct pctrl_request {
    const struct tool_line *line;
    struct targets *targets;
    struct tool_infos *infos;
};

static int control(void *arg)
{
    const struct pctrl_request *r = arg;
    struct tool_limit limit = { .line = r->line };
    struct tool_infos *i = r->infos;
    pmix_status_t status;
    pmix_info_t *infos = NULL;
    size_t n = 0;

    tool_limit_begin(&limit);
    status = PMIx_Job_control(r->targets->procs, r->targets->n, i->items, i->n, &infos, &n);
    tool_limit_end(&limit);
    if (status == PMIX_OPERATION_SUCCEEDED)
        status = PMIX_SUCCESS;
    return tool_results(r->line, status, infos, n, print);
}

int main(int argc, char **argv)
{
    struct tool_infos infos = { .n = 0 };
    struct targets targets = { .n = 0 };
    struct tool_line l;
    int rc = tool_line_read(&l, TOOL_pctrl, argc, argv);

    if (rc == TOOL_GO_ON)
        rc = read_directives(&l, &infos);
    if (rc == TOOL_GO_ON)
        rc = read_targets(&l, &targets);
    if (rc == TOOL_GO_ON)
        rc = tool_server_run(&l, true, control, &(struct pctrl_request){ &l, &targets, &infos });
    tool_infos_free(&infos);
    free(targets.procs);
    return rc;
}
