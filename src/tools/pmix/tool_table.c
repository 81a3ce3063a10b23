/* tool_table.c - the rows of pmix_tools.def. */
#include "tools/pmix/tool_options.h"

#define FOR(id) (1u << TOOL_##id)
#define ALL     (~FOR(pmixcc))
#define SERVER  (ALL & ~FOR(pmix_info))

const struct tool_row tool_rows[TOOLS] = {
#define TOOL(id, operands, least, most, help) { #id, operands, least, most, help },
#define OPTION(id, tools, names, arg, help)
#include "tools/pmix/pmix_tools.def"
#undef TOOL
#undef OPTION
};

const struct tool_option_row tool_option_rows[TOOL_OPTIONS] = {
#define TOOL(id, operands, least, most, help)
#define OPTION(id, tools, names, arg, help) { tools, names, arg, help },
#include "tools/pmix/pmix_tools.def"
#undef TOOL
#undef OPTION
};

struct slice tool_option_name(const struct tool_option_row *row)
{
    struct slice rest = slice_str(row->names);

    return slice_cut(&rest, '|');
}
