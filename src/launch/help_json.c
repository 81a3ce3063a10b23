/* help_json.c - see help_json.h. */
#include "launch/help_json.h"

#include <string.h>

#include "launch/options_doc.h"
#include "launch/options_table.h"
#include "tools/command_json.h"

/* "new|old": the first is shown in texts. */
static void put_names(struct json *j, const char *names)
{
    struct slice rest = slice_str(names), name;

    json_array(j, "names");
    while (option_next_name(&rest, &name))
        json_text(j, NULL, name);
    json_array_end(j);
}

static void put_command(struct json *j, const struct command_row *row)
{
    json_object(j, NULL);
    json_str(j, "name", row->name);
    json_str(j, "operands", row->operands);
    json_str(j, "help", row->help);
    json_array(j, "options");
    for (uint32_t i = 0; i < row->nchoices; i++) {
        json_object(j, NULL);
        put_names(j, row->choices[i].names);
        json_str(j, "argument", row->choices[i].arg);
        json_str(j, "help", row->choices[i].help);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void put_option(struct json *j, const struct option_row *row)
{
    struct buf help = BUF_NULL(1 << 16);

    options_help_sentence(&help, row);
    json_object(j, NULL);
    put_names(j, row->names);
    json_str(j, "argument", row->arg ? row->arg : "");
    json_text(j, "help", buf_slice(&help));
    json_str(j, "words", row->words);
    json_str(j, "default", row->fallback);
    json_str(j, "variable", row->env);
    json_bool(j, "refused", row->take == TAKE_REFUSED);
    json_object_end(j);
    buf_free(&help);
}

static const struct command_row *find_command(const char *name)
{
    for (int i = 0; i < COMMANDS; i++) {
        if (!strcmp(command_rows[i].name, name))
            return &command_rows[i];
    }
    return NULL;
}

static void put_commands(struct json *j, const struct command_row *only, bool all)
{
    json_array(j, "commands");
    for (int i = 0; i < COMMANDS; i++) {
        if (all || &command_rows[i] == only)
            put_command(j, &command_rows[i]);
    }
    json_array_end(j);
}

static void put_options(struct json *j, const struct option_row *only, bool all)
{
    json_array(j, "options");
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        if ((only && row->at == only->at) ||
            (all && row->take != TAKE_GROUP && row->take != TAKE_ALIAS && !row->hidden))
            put_option(j, row);
    }
    json_array_end(j);
}

int help_json(const struct command_line *l)
{
    const struct command_row *command = l->operand ? find_command(l->operand) : NULL;
    struct option_row row;
    const struct option_row *option =
        l->operand && option_find(slice_str(l->operand), &row) ? &row : NULL;
    struct command_json o;

    if (l->operand && !command && !option) {
        log_error(l->log, "help: '%s' is neither a command nor an option; --help lists all",
                  l->operand);
        return 2;
    }
    command_json_begin(&o, "wireup-help-1");
    put_commands(&o.json, command, !l->operand);
    put_options(&o.json, option, !l->operand);
    return command_json_end(&o, 0);
}
