/* command_table.c - the rows of commands.def. */
#include "tools/command.h"

/* An extra, unused choice keeps commands without any from being empty arrays. */
#define COMMAND(id, operands, least, most, help)                                                   \
    static const struct command_choice choices_##id[] = {
#define CHOICE(id, option, names, arg, help) { names, arg, help },
#define DONE(id)                                                                                   \
    {                                                                                              \
        0                                                                                          \
    }                                                                                              \
    }                                                                                              \
    ;
#include "tools/commands.def"
#undef COMMAND
#undef CHOICE
#undef DONE

/* No identifier has a hyphen. */
#define NAME(id) (COMMAND_##id == COMMAND_bug_report ? "bug-report" : #id)

const struct command_row command_rows[COMMANDS] = {
#define COMMAND(id, operands, least, most, help)                                                   \
    { NAME(id), operands, least, most, help, choices_##id, CHOICES_##id },
#define CHOICE(id, option, names, arg, help)
#define DONE(id)
#include "tools/commands.def"
#undef COMMAND
#undef CHOICE
#undef DONE
};

void command_usage(const struct command_row *row, struct buf *out)
{
    buf_str(out, row->name);
    for (uint32_t i = 0; i < row->nchoices; i++) {
        const struct command_choice *c = &row->choices[i];
        buf_printf(out, " [--" SLICE_FMT "%s%s]", SLICE_ARG(command_choice_name(c)),
                   c->arg[0] ? " " : "", c->arg);
    }
    buf_printf(out, "%s%s", row->operands[0] ? " " : "", row->operands);
}
