/* tool_options.h - the command lines of the PMIx tools (pmix_tools.def).
 *
 * Options are written as those of GNU programs: `--name VALUE`, `--name=VALUE`, `-n VALUE`,
 * `-nVALUE`; those of pmixcc have one dash or two.  Operands may stand anywhere; after `--` all
 * words are operands.
 */
#ifndef WIREUP_TOOLS_PMIX_TOOL_OPTIONS_H
#define WIREUP_TOOLS_PMIX_TOOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"

enum tool_id {
#define TOOL(id, operands, least, most, help) TOOL_##id,
#define OPTION(id, tools, names, arg, help)
#include "tools/pmix/pmix_tools.def"
#undef TOOL
#undef OPTION
    TOOLS
};

enum tool_option {
#define TOOL(id, operands, least, most, help)
#define OPTION(id, tools, names, arg, help) OPTION_##id,
#include "tools/pmix/pmix_tools.def"
#undef TOOL
#undef OPTION
    TOOL_OPTIONS
};

struct tool_row {
    const char *name, *operands;
    int least, most;
    const char *help;
};

struct tool_option_row {
    uint32_t tools; /* one bit for each */
    const char *names, *arg, *help;
};

extern const struct tool_row tool_rows[TOOLS];
extern const struct tool_option_row tool_option_rows[TOOL_OPTIONS];

static inline bool tool_has(enum tool_id tool, enum tool_option o)
{
    return tool_option_rows[o].tools >> tool & 1;
}

/* "--name" or "-n": the first name of a row. */
struct slice tool_option_name(const struct tool_option_row *row);

struct tool_line {
    enum tool_id tool;
    const char *values[TOOL_OPTIONS]; /* NULL: not given; a flag, or no value: "" */
    char **operands;                  /* in argv, which is reordered */
    int noperands;
    struct log log;
};

enum { TOOL_GO_ON = -1, TOOL_FINE = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

/* TOOL_GO_ON, or the exit status: help or version were printed, or a sentence says what is wrong.
 */
int tool_line_read(struct tool_line *l, enum tool_id tool, int argc, char **argv);

/* The number of that option; absent: *value_p stays.  False: it is none up to most, a sentence says
 * so. */
bool tool_number(const struct tool_line *l, enum tool_option o, uint64_t most, uint64_t *value_p);

/* "pps: --uri: no such option" as a status. */
int tool_wrong(const struct tool_line *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
