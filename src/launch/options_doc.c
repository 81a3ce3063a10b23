/* options_doc.c - see options_doc.h. */
#include "launch/options_doc.h"

#include <string.h>

#include "tools/command.h"
#include "tools/doc_text.h"

enum { HELP_INDENT = 26, HELP_WIDTH = DOC_WIDTH };

/* "-n, -np, -c N" */
static size_t put_names(struct buf *out, const struct option_row *row)
{
    size_t before = buf_len(out);
    struct slice rest, name;
    size_t at = 0;
    const char *comma = "";

    while (option_each_name(row, &at, &rest, &name)) {
        buf_printf(out, "%s-" SLICE_FMT, comma, SLICE_ARG(name));
        comma = ", ";
    }
    if (row->arg)
        buf_printf(out, " %s", row->arg);
    return buf_len(out) - before;
}

static void put_value(struct buf *out, struct slice text, const char *arg)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '%')
            buf_str(out, arg ? arg : "");
        else
            buf_byte(out, text.ptr[i]);
    }
}

void options_put_as(struct buf *out, const char *options, const char *arg)
{
    struct slice rest = slice_str(options);
    const char *between = "";

    for (; rest.len; between = " ") {
        struct slice word = slice_cut(&rest, ' ');
        struct slice name = word.ptr[0] == '-' ? slice_skip(word, 1) : word;
        struct option_row row;
        uint32_t n = option_find(name, &row) ? option_values(&row) : 0;
        buf_printf(out, "%s-" SLICE_FMT, between, SLICE_ARG(name));
        for (uint32_t i = 0; i < n && rest.len; i++) {
            buf_byte(out, ' ');
            put_value(out, slice_cut(&rest, ' '), arg);
        }
    }
}

static bool is_effective(const struct synonym *s)
{
    return (s->kind == SYNONYM_AS || s->kind == SYNONYM_AS_IF) && *s->means;
}

static bool is_idle(const struct synonym *s)
{
    return s->kind == SYNONYM_AS && !*s->means;
}

static bool is_refused(const struct synonym *s)
{
    return s->kind == SYNONYM_REFUSED;
}

/* "map, map-devel (-display-map); ..." of those words of a list. */
static void put_words(struct buf *out, enum synonym_mode list, const char *title,
                      bool (*wanted)(const struct synonym *s))
{
    const char *between = title;
    const char *colon = list == SYNONYM_map || list == SYNONYM_bind ? ":" : "";

    for (size_t i = 0; i < synonym_count; i++) {
        const struct synonym here = synonym_at(i), *s = &here;
        struct slice rest = slice_str(s->names), name;
        if (s->mode != list || !wanted(s))
            continue;
        for (; option_next_name(&rest, &name); between = ", ")
            buf_printf(out, "%s%s" SLICE_FMT, between, colon, SLICE_ARG(name));
        if (is_effective(s)) {
            buf_str(out, " (");
            options_put_as(out, s->means, "VALUE");
            buf_byte(out, ')');
        }
    }
    if (between != title)
        buf_byte(out, '.');
}

static void put_list(struct buf *out, enum synonym_mode list)
{
    put_words(out, list, " Words: ", is_effective);
    put_words(out, list, " Without effect: ", is_idle);
    put_words(out, list, " Refused: ", is_refused);
}

/* The sentence of a row. */
void options_help_sentence(struct buf *out, const struct option_row *row)
{
    switch (row->take) {
    case TAKE_AS:
        buf_str(out, "The same as ");
        options_put_as(out, row->as, row->arg);
        buf_byte(out, '.');
        break;
    case TAKE_NOTHING: buf_printf(out, "Without effect: %s.", row->help); break;
    case TAKE_REFUSED: /* a clause, made into a sentence */
        if (row->called)
            buf_printf(out, "When called as mpirun or prterun: %s.", row->help);
        else
            buf_printf(out, "%c%s.", row->help[0] - ('a' - 'A'), row->help + 1);
        break;
    default: buf_str(out, row->help); break;
    }
    if (row->list != SYNONYM_OPTION)
        put_list(out, row->list);
}

static void help_row(struct buf *out, const struct option_row *row)
{
    struct buf text = BUF_NULL(4096);
    size_t n;

    buf_str(out, "  ");
    n = put_names(out, row) + 2;
    if (n + 2 > HELP_INDENT) {
        buf_byte(out, '\n');
        n = 0;
    }
    doc_spaces(out, HELP_INDENT - n);
    options_help_sentence(&text, row);
    doc_wrap(out, buf_cstr(&text) ? buf_cstr(&text) : "", HELP_INDENT);
    buf_free(&text);
}

static void refused_names(struct buf *out)
{
    struct buf list = BUF_NULL(65536);
    const char *comma = "";

    for (size_t i = 0; i < option_row_count; i++) {
        struct option_row row = option_row_at(i);
        struct slice rest = slice_str(row.names), name;
        if (row.take != TAKE_REFUSED || row.called)
            continue;
        while (option_next_name(&rest, &name)) {
            buf_printf(&list, "%s-" SLICE_FMT, comma, SLICE_ARG(name));
            comma = ", ";
        }
    }
    doc_spaces(out, 2);
    if (buf_cstr(&list))
        doc_wrap(out, buf_cstr(&list), 2);
    buf_free(&list);
}

/* The first sentence is the purpose of a command. */
static void help_commands(struct buf *out)
{
    buf_str(out, "\nOther commands (more: wireup COMMAND --help, man wireup):\n");
    for (int i = 0; i < COMMANDS; i++) {
        const struct command_row *row = &command_rows[i];
        struct slice first = slice_str(row->help);
        const char *end = strpbrk(row->help, ".:");
        struct buf text = BUF_NULL(4096);
        if (end)
            first.len = (size_t)(end - row->help);
        buf_printf(&text, "wireup %s %s", row->name, row->operands);
        buf_printf(out, "  %-*s", HELP_INDENT - 2, buf_cstr(&text) ? buf_cstr(&text) : "");
        if (buf_len(&text) > HELP_INDENT - 3) {
            buf_byte(out, '\n');
            doc_spaces(out, HELP_INDENT);
        }
        buf_clear(&text);
        buf_printf(&text, SLICE_FMT ".", SLICE_ARG(first));
        doc_wrap(out, buf_cstr(&text) ? buf_cstr(&text) : "", HELP_INDENT);
        buf_free(&text);
    }
}

void options_help_command(struct buf *out, const struct command_row *row)
{
    buf_str(out, "Usage: wireup ");
    command_usage(row, out);
    buf_str(out, "\n\n");
    doc_wrap(out, row->help, 0);
    if (row->nchoices)
        buf_byte(out, '\n');
    for (uint32_t i = 0; i < row->nchoices; i++) {
        const struct command_choice *c = &row->choices[i];
        struct buf name = BUF_NULL(256);
        buf_printf(&name, "--" SLICE_FMT " %s", SLICE_ARG(command_choice_name(c)), c->arg);
        buf_printf(out, "  %-*s", HELP_INDENT - 2, buf_cstr(&name) ? buf_cstr(&name) : "");
        doc_wrap(out, c->help, HELP_INDENT);
        buf_free(&name);
    }
}

void options_help(struct buf *out)
{
    buf_str(out, "Usage: wireup [run] OPTIONS PROGRAM ARGS [: OPTIONS PROGRAM ARGS]...\n"
                 "       wireup ");
    for (int i = 0; i < COMMANDS; i++)
        buf_printf(out, "%s%s", i ? "|" : "", command_rows[i].name);
    buf_str(
        out,
        " ...\n"
        "Starts parallel programs and serves them the process management interfaces\n"
        "PMI-1, PMI-2 and PMIx.\n\n"
        "Examples:\n"
        "  wireup -n 4 ./hello                   four processes on this machine\n"
        "  wireup -n 64 -l ./ring                output lines labelled by rank\n"
        "  wireup -n 1 ./master : -n 8 ./worker  two programs in one job\n"
        "  wireup -n 8 -bind-to core ./solver    each process on its own core\n"
        "  wireup -n 4 -genv OMP_NUM_THREADS 2 ./solver\n"
        "  wireup -n 8 -map-by numa -bind-to core --dry-run ./solver\n"
        "\nOptions begin with one or more dashes; their value is the next word or follows '='.\n");
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        if (row->take == TAKE_GROUP)
            buf_printf(out, "\n%s:\n", row->help);
        else if (row->take != TAKE_REFUSED && row->take != TAKE_ALIAS && !row->hidden)
            help_row(out, row);
    }
    refused_names(out);
    help_commands(out);
    buf_str(out,
            "\nExit status: 0 if all processes ended with 0, else the status of the first process\n"
            "that failed (128 + signal); 2 wrong usage, 124 time limit, 125 refused,\n"
            "126 not executable, 127 not found.\n");
}

static void put_variables(struct buf *out, const struct option_row *row, const char *between)
{
    struct slice rest = slice_str(row->env), one;

    for (bool first = true; option_next_name(&rest, &one); first = false)
        buf_printf(out, "%s" SLICE_FMT, first ? "" : between, SLICE_ARG(one));
}

void options_help_one(struct buf *out, const struct option_row *row)
{
    help_row(out, row);
    if (row->words)
        buf_printf(out, "%*sOne of: %s\n", HELP_INDENT, "", row->words);
    if (row->fallback)
        buf_printf(out, "%*sDefault: %s\n", HELP_INDENT, "", row->fallback);
    if (row->env) {
        buf_printf(out, "%*sVariable: ", HELP_INDENT, "");
        put_variables(out, row, ", ");
        buf_byte(out, '\n');
    }
}

/* ---- manual ---- */

static void man_item(struct buf *out, const struct option_row *row)
{
    struct slice rest, name;
    size_t at = 0;
    struct buf text = BUF_NULL(4096);
    const char *comma = ".It ";

    while (option_each_name(row, &at, &rest, &name)) {
        buf_printf(out, "%sFl %s" SLICE_FMT, comma, slice_is(name, "?") ? "\\&" : "",
                   SLICE_ARG(name));
        comma = " , ";
    }
    if (row->arg)
        buf_printf(out, " Ar %s", row->arg);
    buf_byte(out, '\n');
    options_help_sentence(&text, row);
    if (buf_cstr(&text))
        doc_man(out, buf_cstr(&text));
    buf_free(&text);
    if (row->words) {
        struct slice words = slice_str(row->words), word;
        const char *between = "One of ";
        while (option_next_name(&words, &word)) {
            buf_printf(out, "%s" SLICE_FMT, between, SLICE_ARG(word));
            between = ", ";
        }
        buf_printf(out, "; default: %s.\n", row->fallback);
    }
}

/* "FILE" or "[JOB]" */
static void man_operands(struct buf *out, const char *operands)
{
    struct slice name = slice_str(operands);
    bool optional = name.ptr[0] == '[';

    if (optional)
        name = slice_mem(name.ptr + 1, name.len - 2);
    buf_printf(out, optional ? ".Op Ar " SLICE_FMT "\n" : ".Ar " SLICE_FMT "\n", SLICE_ARG(name));
}

void options_man(struct buf *out)
{
    bool open = false;

    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        if (row->take == TAKE_GROUP)
            buf_printf(out, "%s.Ss %s\n.Bl -tag -width Ds\n", open ? ".El\n" : "", row->help);
        else if (!row->hidden && row->take != TAKE_ALIAS)
            man_item(out, row);
        open = true;
    }
    buf_str(out, ".El\n");
}

/* ".It Fl Fl rank Ar LIST" */
static void man_choice(struct buf *out, const char *macro, const struct command_choice *c)
{
    buf_printf(out, ".%s Fl Fl " SLICE_FMT "%s%s\n", macro, SLICE_ARG(command_choice_name(c)),
               c->arg[0] ? " Ar " : "", c->arg);
}

void options_man_synopsis(struct buf *out)
{
    buf_str(out, ".Nm\n.Cm ");
    for (int i = 0; i < COMMANDS; i++)
        buf_printf(out, "%s%s", i ? " | " : "", command_rows[i].name);
    buf_str(out, "\n.Op Ar arguments\n");
}

void options_man_commands(struct buf *out)
{
    for (int i = 0; i < COMMANDS; i++) {
        const struct command_row *row = &command_rows[i];
        buf_printf(out, ".Ss wireup %s\n", row->name);
        buf_printf(out, ".Bd -ragged -compact\n.Nm\n.Cm %s\n", row->name);
        for (uint32_t k = 0; k < row->nchoices; k++) {
            const struct command_choice *c = &row->choices[k];
            man_choice(out, "Op", c);
        }
        if (row->operands[0])
            man_operands(out, row->operands);
        buf_str(out, ".Ed\n.Pp\n");
        doc_man(out, row->help);
        if (row->nchoices)
            buf_str(out, ".Bl -tag -width Ds\n");
        for (uint32_t k = 0; k < row->nchoices; k++) {
            const struct command_choice *c = &row->choices[k];
            man_choice(out, "It", c);
            doc_man(out, c->help);
        }
        if (row->nchoices)
            buf_str(out, ".El\n");
    }
}

void options_man_environment(struct buf *out)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        if (!row->env)
            continue;
        buf_str(out, ".It Ev ");
        put_variables(out, row, " , ");
        buf_byte(out, '\n');
        if (row->hidden)
            doc_man(out, row->help);
        else
            buf_printf(out, "Sets\n.Fl " SLICE_FMT " .\n", SLICE_ARG(option_name(row)));
    }
}

/* ---- completion ---- */

/* "a|b|c" of a row. */
static void names_pattern(struct buf *out, const struct option_row *row)
{
    struct slice rest, name;
    size_t at = 0;
    const char *between = "";

    for (; option_each_name(row, &at, &rest, &name); between = "|")
        buf_printf(out, "%s" SLICE_FMT, between, SLICE_ARG(name));
}

/* Is it an option that can be given? */
static bool is_given(const struct option_row *row)
{
    return row->take != TAKE_GROUP && row->take != TAKE_REFUSED && row->take != TAKE_ALIAS;
}

/* "a|b|c" of all rows that `wanted` selects, as one pattern of a case. */
static void pattern(struct buf *out, bool (*wanted)(const struct option_row *, uint32_t),
                    uint32_t n)
{
    const char *between = "";

    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        if (!is_given(row) || !wanted(row, n))
            continue;
        buf_str(out, between);
        names_pattern(out, row);
        between = "|";
    }
}

static bool takes(const struct option_row *row, uint32_t n)
{
    return option_values(row) == n;
}

static bool completes(const struct option_row *row, uint32_t how)
{
    return row->complete == (enum option_complete)how;
}

static void complete_case(struct buf *out, enum option_complete how, const char *with)
{
    buf_str(out, "    ");
    pattern(out, completes, how);
    buf_printf(out, ") COMPREPLY=($(compgen %s -- \"$cur\")) ;;\n", with);
}

static void all_names(struct buf *out)
{
    size_t column = 0;

    for (size_t i = 0; i < option_row_count; i++) {
        struct option_row row = option_row_at(i);
        struct slice rest, name;
        size_t at = 0;
        if (!is_given(&row) || row.hidden)
            continue;
        while (option_each_name(&row, &at, &rest, &name)) {
            if (slice_is(name, "?"))
                continue;
            buf_printf(out, "%s" SLICE_FMT, column ? " " : "", SLICE_ARG(name));
            column += name.len + 1;
            if (column > HELP_WIDTH) {
                buf_byte(out, '\n');
                column = 0;
            }
        }
    }
}

static void complete_words(struct buf *out)
{
    for (size_t i = 0; i < option_row_count; i++) {
        const struct option_row here = option_row_at(i), *row = &here;
        struct slice words, word;
        if (!row->words || row->hidden)
            continue;
        buf_str(out, "    ");
        names_pattern(out, row);
        buf_str(out, ") COMPREPLY=($(compgen -W \"");
        words = slice_str(row->words);
        for (const char *between = ""; option_next_name(&words, &word); between = " ")
            buf_printf(out, "%s" SLICE_FMT, between, SLICE_ARG(word));
        buf_str(out, "\" -- \"$cur\")) ;;\n");
    }
}

static const char completion_head[] =
    "# Completion of wireup's command line for bash.  Written from the option table; see\n"
    "# tests/check-docs.\n"
    "\n"
    "# How many words follow the option $1 as its values, when $2 is the next word.\n"
    "_wireup_values()\n"
    "{\n"
    "    case $1 in\n"
    "    env|genv) [[ $2 == *=* ]] && echo 1 || echo 2 ;;\n";

static const char completion_middle[] =
    "    *) echo 0 ;;\n"
    "    esac\n"
    "}\n"
    "\n"
    "# Where the cursor is: at an option's value ($option), among the options, after a program.\n"
    "# Read from the line itself, because bash cuts its words at '=' and ':' too.\n"
    "_wireup_place()\n"
    "{\n"
    "    local words word i skip=0\n"
    "    read -ra words <<<\"${COMP_LINE:0:COMP_POINT}\"\n"
    "    [[ ${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')\n"
    "    place=options option=\n"
    "    for ((i = 1; i < ${#words[@]} - 1; i++)); do\n"
    "        word=${words[i]}\n"
    "        if ((skip > 0)); then\n"
    "            ((skip--))\n"
    "        elif [[ $word == : ]]; then\n"
    "            place=options\n"
    "        elif [[ $place == arguments ]]; then\n"
    "            continue\n"
    "        elif [[ $word == -* ]]; then\n"
    "            option=${word#\"${word%%[!-]*}\"}\n"
    "            [[ $word == *=* ]] || skip=$(_wireup_values \"$option\" \"${words[i + 1]}\")\n"
    "        elif [[ $i != 1 || $word != run ]]; then\n"
    "            place=arguments\n"
    "        fi\n"
    "    done\n"
    "    word=${words[i]}\n"
    "    if ((skip > 0)); then\n"
    "        place=value\n"
    "    elif [[ $place == options && $word == -*=* ]]; then\n"
    "        option=${word#\"${word%%[!-]*}\"}\n"
    "        option=${option%%=*}\n"
    "        place=value\n"
    "    fi\n"
    "}\n"
    "\n"
    "_wireup_value()\n"
    "{\n"
    "    case $option in\n";

static const char completion_tail[] =
    "    esac\n"
    "}\n"
    "\n"
    "# Completes the words of a command other than run; false: the line has no such command.\n"
    "_wireup_command()\n"
    "{\n"
    "    local options\n"
    "    if ((COMP_CWORD == 1)); then\n"
    "        [[ $cur == -* ]] && return 1\n"
    "        COMPREPLY=($(compgen -W \"$_wireup_commands\" -- \"$cur\") $(compgen -c -- "
    "\"$cur\"))\n"
    "        return 0\n"
    "    fi\n"
    "    options=$(_wireup_choices \"${COMP_WORDS[1]}\") || return 1\n"
    "    if [[ $cur == -* ]]; then\n"
    "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
    "    else\n"
    "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
    "    fi\n"
    "}\n"
    "\n"
    "_wireup()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} place option dashes\n"
    "    [[ $cur == = ]] && cur=\n"
    "    COMPREPLY=()\n"
    "    _wireup_place\n"
    "    if _wireup_command; then\n"
    "        return\n"
    "    elif [[ $place == value ]]; then\n"
    "        _wireup_value\n"
    "    elif [[ $place == options && $cur == -* ]]; then\n"
    "        dashes=${cur%%[!-]*}\n"
    "        COMPREPLY=($(compgen -P \"$dashes\" -W \"$_wireup_options\" -- "
    "\"${cur#\"$dashes\"}\"))\n"
    "    elif [[ $place == options ]]; then\n"
    "        COMPREPLY=($(compgen -c -- \"$cur\"))\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -o default -F _wireup wireup\n";

static void complete_commands(struct buf *out)
{
    buf_str(out, "_wireup_commands=\"");
    for (int i = 0; i < COMMANDS; i++)
        buf_printf(out, "%s%s", i ? " " : "", command_rows[i].name);
    buf_str(out, "\"\n\n# The options of the command $1.\n_wireup_choices()\n{\n    case $1 in\n");
    for (int i = 0; i < COMMANDS; i++) {
        const struct command_row *row = &command_rows[i];
        buf_printf(out, "    %s) echo \"", row->name);
        for (uint32_t k = 0; k < row->nchoices; k++)
            buf_printf(out, "%s--" SLICE_FMT, k ? " " : "",
                       SLICE_ARG(command_choice_name(&row->choices[k])));
        buf_str(out, "\" ;;\n");
    }
    buf_str(out, "    *) return 1 ;;\n    esac\n}\n");
}

void options_completion(struct buf *out)
{
    buf_str(out, completion_head);
    for (uint32_t n = 1; n <= 4; n++) {
        struct buf names = BUF_NULL(65536);
        pattern(&names, takes, n);
        if (buf_len(&names))
            buf_printf(out, "    %s) echo %u ;;\n", buf_cstr(&names), n);
        buf_free(&names);
    }
    buf_str(out, completion_middle);
    complete_words(out);
    complete_case(out, COMPLETE_FILE, "-f");
    complete_case(out, COMPLETE_DIR, "-d");
    complete_case(out, COMPLETE_BIND,
                  "-W \"none hwthread core l1cache l2cache l3cache numa socket machine rr user:\"");
    complete_case(
        out, COMPLETE_MAP,
        "-W \"slot node hwthread core l1cache l2cache l3cache numa socket machine ppr:\"");
    complete_case(
        out, COMPLETE_RANK,
        "-W \"slot node fill span hwthread core l1cache l2cache l3cache numa socket machine\"");
    buf_str(out, completion_tail);
    buf_str(out, "\n_wireup_options=\"\n");
    all_names(out);
    buf_str(out, "\"\n");
    complete_commands(out);
}
