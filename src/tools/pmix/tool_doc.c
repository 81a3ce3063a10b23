/* tool_doc.c - see tool_doc.h. */
#include "tools/pmix/tool_doc.h"

#include "tools/doc_text.h"

enum { INDENT = 30 };

/* Options that all tools with a server have: before the first one of a single tool. */
static bool is_common(enum tool_option o)
{
    return o < OPTION_nodes;
}

/* pmixcc's have one dash, as everywhere in its family. */
static const char *dashes(const struct tool_option_row *row, struct slice name)
{
    return name.len == 1 || slice_starts(slice_str(row->names), SLICE("showme")) ? "-" : "--";
}

/* "--help, -h [OPTION]" */
static size_t put_names(struct buf *out, const struct tool_option_row *row)
{
    size_t before = buf_len(out);
    struct slice rest = slice_str(row->names);

    for (const char *comma = ""; rest.len; comma = ", ") {
        struct slice name = slice_cut(&rest, '|');
        buf_printf(out, "%s%s" SLICE_FMT, comma, dashes(row, name), SLICE_ARG(name));
    }
    if (row->arg[0])
        buf_printf(out, " %s", row->arg);
    return buf_len(out) - before;
}

void tool_doc_help_option(struct buf *out, enum tool_id tool, enum tool_option o)
{
    const struct tool_option_row *row = &tool_option_rows[o];
    size_t n;

    (void)tool;
    buf_str(out, "  ");
    n = put_names(out, row) + 2;
    if (n + 2 > INDENT) {
        buf_byte(out, '\n');
        n = 0;
    }
    doc_spaces(out, INDENT - n);
    doc_wrap(out, row->help, INDENT);
}

void tool_doc_help(struct buf *out, enum tool_id tool)
{
    const struct tool_row *row = &tool_rows[tool];

    buf_printf(out, "%s (Wireup) " WIREUP_VERSION "\n\nUsage: %s [OPTION]...%s%s\n", row->name,
               row->name, row->operands[0] ? " " : "", row->operands);
    doc_wrap(out, row->help, 0);
    buf_byte(out, '\n');
    for (enum tool_option o = 0; o < TOOL_OPTIONS; o++) {
        if (tool_has(tool, o))
            tool_doc_help_option(out, tool, o);
    }
    buf_str(out, "\nExit status: 0 done, 1 not done, 2 wrong usage.\n");
}

/* ---- manual ---------------------------------------------------------------------------------- */

static void man_option(struct buf *out, enum tool_option o)
{
    const struct tool_option_row *row = &tool_option_rows[o];
    struct slice rest = slice_str(row->names);

    for (const char *comma = ".It"; rest.len; comma = " ,") {
        struct slice name = slice_cut(&rest, '|');
        buf_printf(out, "%s Fl %s" SLICE_FMT, comma, dashes(row, name)[1] ? "Fl " : "",
                   SLICE_ARG(name));
    }
    if (row->arg[0] == '[')
        buf_printf(out, " Op Ar %.*s", (int)strlen(row->arg) - 2, row->arg + 1);
    else if (row->arg[0])
        buf_printf(out, " Ar %s", row->arg);
    buf_byte(out, '\n');
    doc_man(out, row->help);
}

static void man_list(struct buf *out, enum tool_id tool, bool common)
{
    bool open = false;

    for (enum tool_option o = 0; o < TOOL_OPTIONS; o++) {
        if (!tool_has(tool, o) || is_common(o) != common)
            continue;
        if (!open)
            buf_str(out, ".Bl -tag -width Ds\n");
        open = true;
        man_option(out, o);
    }
    if (open)
        buf_str(out, ".El\n");
}

void tool_doc_man(struct buf *out)
{
    for (enum tool_id t = 0; t < TOOLS; t++) {
        buf_printf(out, ".Ss %s\n", tool_rows[t].name);
        doc_man(out, tool_rows[t].help);
        man_list(out, t, false);
    }
}

void tool_doc_man_common(struct buf *out)
{
    man_list(out, TOOL_pps, true);
}

void tool_doc_man_synopsis(struct buf *out)
{
    for (enum tool_id t = 0; t < TOOLS; t++) {
        buf_printf(out, ".Nm %s\n.Op Ar options\n", tool_rows[t].name);
        if (tool_rows[t].operands[0])
            buf_printf(out, ".Ar %s\n", tool_rows[t].operands);
    }
}

/* ---- completion ------------------------------------------------------------------------------ */

void tool_doc_completion(struct buf *out)
{
    buf_str(
        out,
        "# Completion of the PMIx tools' command lines for bash.  Written from their table; see\n"
        "# tests/check-docs.\n"
        "\n"
        "_wireup_pmix_tools()\n"
        "{\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} options\n"
        "    case ${1##*/} in\n");
    for (enum tool_id t = 0; t < TOOLS; t++) {
        const char *between = "";
        buf_printf(out, "    %s) options=\"", tool_rows[t].name);
        for (enum tool_option o = 0; o < TOOL_OPTIONS; o++) {
            struct slice name = tool_option_name(&tool_option_rows[o]);
            if (!tool_has(t, o))
                continue;
            buf_printf(out, "%s%s" SLICE_FMT, between, dashes(&tool_option_rows[o], name),
                       SLICE_ARG(name));
            between = " ";
        }
        buf_str(out, "\" ;;\n");
    }
    buf_str(out, "    esac\n"
                 "    COMPREPLY=()\n"
                 "    [[ $cur != -* ]] || COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
                 "}\n"
                 "\n"
                 "complete -o default -F _wireup_pmix_tools");
    for (enum tool_id t = 0; t < TOOLS; t++)
        buf_printf(out, " %s", tool_rows[t].name);
    buf_byte(out, '\n');
}
