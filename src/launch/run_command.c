/* run_command.c - see run_command.h. */
#include "launch/run_command.h"

#include <stdio.h>
#include <string.h>

#include "launch/attach.h"
#include "launch/config_command.h"
#include "launch/queries.h"
#include "tools/command.h"
#include "launch/options.h"
#include "launch/options_doc.h"
#include "launch/options_table.h"
#include "launch/doctor.h"
#include "launch/bug_report.h"
#include "launch/dvm.h"
#include "launch/dvm_resize.h"
#include "launch/enter.h"
#include "launch/fetch.h"
#include "launch/help_json.h"
#include "launch/serve.h"
#include "launch/top.h"
#include "tools/command_json.h"
#include "tools/simulate.h"
#include "tools/trace.h"

static int print(struct buf *text)
{
    struct slice s = buf_slice(text);
    bool done = buf_ok(text) && fwrite(s.ptr, 1, s.len, stdout) == s.len && fflush(stdout) == 0;

    buf_free(text);
    return done ? 0 : 1;
}

static int print_help(const struct command_row *row)
{
    struct buf text = BUF_NULL(1 << 16);

    options_help_command(&text, row);
    return print(&text);
}

/* `wireup help`, `wireup help who`, `wireup help bind-to`; `wireup help run` is about all options.
 */
static int help(const struct command_line *l)
{
    struct option_row option;
    struct buf text = BUF_NULL(1 << 20);
    struct command_line all = *l;

    all.operand = NULL;
    if (l->operand && !strcmp(l->operand, "run"))
        return help(&all);
    if (l->choices[CHOICE_help_json])
        return help_json(l);
    if (!l->operand) {
        options_help(&text);
        return print(&text);
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (!strcmp(command_rows[i].name, l->operand))
            return print_help(&command_rows[i]);
    }
    if (!option_find(slice_str(l->operand), &option)) {
        log_error(l->log, "help: '%s' is neither a command nor an option; --help lists all",
                  l->operand);
        return 2;
    }
    options_help_one(&text, &option);
    return print(&text);
}

static int version(const struct command_line *l)
{
    struct buf text = BUF_NULL(4096);
    struct command_json o;

    if (l->choices[CHOICE_version_json]) {
        command_json_begin(&o, "wireup-version-1");
        options_version_json(&o.json);
        return command_json_end(&o, 0);
    }
    options_version(&text);
    return print(&text);
}

static int (*const runners[COMMANDS])(const struct command_line *l) = {
    [COMMAND_who] = queries_who,
    [COMMAND_names] = queries_names,
    [COMMAND_trace] = trace_print,
    [COMMAND_replay] = trace_replay,
    [COMMAND_tools] = queries_tools,
    [COMMAND_ps] = queries_ps,
    [COMMAND_top] = top_command,
    [COMMAND_kill] = queries_kill,
    [COMMAND_attach] = attach_command,
    [COMMAND_down] = dvm_down,
    [COMMAND_grow] = dvm_grow,
    [COMMAND_shrink] = dvm_shrink,
    [COMMAND_up] = dvm_misused,
    [COMMAND_enter] = enter_misused,
    [COMMAND_on] = dvm_misused,
    [COMMAND_sim] = simulate,
    [COMMAND_config] = config_command,
    [COMMAND_fetch] = fetch_command,
    [COMMAND_help] = help,
    [COMMAND_version] = version,
    [COMMAND_serve] = serve_command,
    [COMMAND_srun] = dvm_misused,
    [COMMAND_map] = dvm_misused,
    [COMMAND_conform] = dvm_misused,
    [COMMAND_doctor] = doctor_command,
    [COMMAND_bug_report] = bug_report_command,
    [COMMAND_timeline] = queries_timeline,
};

static int usage(const struct log *log, const struct command_row *row)
{
    struct buf text = BUF_NULL(4096);

    command_usage(row, &text);
    log_error(log, "usage: wireup %s", buf_cstr(&text) ? buf_cstr(&text) : row->name);
    buf_free(&text);
    return 2;
}

/* `--name`, `--name=value`; the choice, with the text after `=` or NULL. */
static const struct command_choice *find_choice(const struct command_row *row, const char *word,
                                                const char **value_p)
{
    size_t dashes = strspn(word, "-"), len = strcspn(word + dashes, "=");
    struct slice given = slice_mem(word + dashes, len), name;

    *value_p = word[dashes + len] ? word + dashes + len + 1 : NULL;
    for (uint32_t i = 0; i < row->nchoices; i++) {
        struct slice names = slice_str(row->choices[i].names);
        while (option_next_name(&names, &name)) {
            if (slice_eq(name, given))
                return &row->choices[i];
        }
    }
    return NULL;
}

/* False: wrong usage. */
static bool read_line(const struct command_row *row, int argc, char **argv, struct command_line *l)
{
    int operands = 0;

    for (int i = 2; i < argc; i++) {
        const struct command_choice *c;
        const char *value;
        if (argv[i][0] != '-' || !argv[i][1]) {
            l->operand = argv[i];
            if (operands < 2)
                l->operands[operands] = argv[i];
            operands++;
            continue;
        }
        c = find_choice(row, argv[i], &value);
        if (!c || (value && !c->arg[0]))
            return false;
        if (!value && c->arg[0] && ++i < argc)
            value = argv[i];
        if (!value && c->arg[0])
            return false;
        l->choices[c - row->choices] = value ? value : "";
    }
    return operands >= row->least && operands <= row->most;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-help") || !strcmp(argv[i], "-h"))
            return true;
    }
    return false;
}

bool run_command(int argc, char **argv, const struct log *log, int *code_p)
{
    struct command_line l = { .log = log };

    for (int i = 0; argc > 1 && i < COMMANDS; i++) {
        const struct command_row *row = &command_rows[i];
        if (strcmp(argv[1], row->name))
            continue;
        if (wants_help(argc, argv))
            *code_p = print_help(row);
        else
            *code_p = read_line(row, argc, argv, &l) ? runners[i](&l) : usage(log, row);
        return true;
    }
    return false;
}

const char *run_command_near(const char *word)
{
    for (int i = 0; word && strlen(word) > 2 && i < COMMANDS; i++) {
        const char *name = command_rows[i].name;
        if (slice_distance(slice_str(word), slice_str(name)) == 1)
            return name;
    }
    return NULL;
}
