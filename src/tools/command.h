/* command.h - the launcher's other commands (commands.def): `wireup who`, `wireup trace` ...
 *
 * The table is data from which the documents are made too (options_doc.c); only run_command() knows
 * the functions of the rows.
 */
#ifndef WIREUP_TOOLS_COMMAND_H
#define WIREUP_TOOLS_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/slice.h"

struct command_choice {
    const char *names; /* "new|old": the first is shown in texts */
    const char *arg;   /* "": a flag */
    const char *help;
};

struct command_row {
    const char *name;
    const char *operands;
    int least, most;
    const char *help;
    const struct command_choice *choices;
    uint32_t nchoices;
};

enum command_id {
#define COMMAND(id, operands, least, most, help) COMMAND_##id,
#define CHOICE(id, option, names, arg, help)
#define DONE(id)
#include "tools/commands.def"
#undef COMMAND
#undef CHOICE
#undef DONE
    COMMANDS
};

/* Positions in command_line.choices: CHOICE_trace_json ... */
#define COMMAND(id, operands, least, most, help)                                                   \
    enum choice_of_##id                                                                            \
    {
#define CHOICE(id, option, names, arg, help) CHOICE_##id##_##option,
#define DONE(id)                                                                                   \
    CHOICES_##id                                                                                   \
    }                                                                                              \
    ;
#include "tools/commands.def"
#undef COMMAND
#undef CHOICE
#undef DONE

enum { CHOICES_MAX = 32 };

#define COMMAND(id, operands, least, most, help)                                                   \
    _Static_assert((int)CHOICES_##id <= (int)CHOICES_MAX, "struct command_line has room");
#define CHOICE(id, option, names, arg, help)
#define DONE(id)
#include "tools/commands.def"
#undef COMMAND
#undef CHOICE
#undef DONE

extern const struct command_row command_rows[COMMANDS];

static inline struct slice command_choice_name(const struct command_choice *c)
{
    struct slice rest = slice_str(c->names);

    return slice_cut(&rest, '|');
}

/* "who [--json] [JOB]" */
void command_usage(const struct command_row *row, struct buf *out);

/* The parsed command line of a command. */
struct command_line {
    const char *operand;              /* the last one; NULL: none */
    const char *operands[2];          /* those that there are; NULL: the others */
    const char *choices[CHOICES_MAX]; /* NULL: not given; a flag: "" */
    const struct log *log;            /* for messages */
};

#endif
