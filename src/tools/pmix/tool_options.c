/* tool_options.c - see tool_options.h. */
#include "tools/pmix/tool_options.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/pmix/tool_doc.h"

int tool_wrong(const struct tool_line *l, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_vline(&l->log, LOG_ERROR, format, args);
    va_end(args);
    return TOOL_USAGE;
}

static bool has_name(const struct tool_option_row *row, struct slice name)
{
    struct slice rest = slice_str(row->names);

    while (rest.len) {
        if (slice_eq(slice_cut(&rest, '|'), name))
            return true;
    }
    return false;
}

/* TOOL_OPTIONS: there is none. */
static enum tool_option find(enum tool_id tool, struct slice name)
{
    for (enum tool_option o = 0; o < TOOL_OPTIONS; o++) {
        if (tool_has(tool, o) && has_name(&tool_option_rows[o], name))
            return o;
    }
    return TOOL_OPTIONS;
}

static int words_of(const struct tool_option_row *row)
{
    if (!row->arg[0] || row->arg[0] == '[')
        return 0;
    return strchr(row->arg, ' ') ? 2 : 1;
}

/* The nearest name, for who has mistyped one. */
static struct slice nearest(enum tool_id tool, struct slice name)
{
    struct slice best = SLICE_NULL;
    unsigned least = 3;

    for (enum tool_option o = 0; o < TOOL_OPTIONS; o++) {
        struct slice one = tool_option_name(&tool_option_rows[o]);
        if (tool_has(tool, o) && slice_distance(one, name) < least) {
            least = slice_distance(one, name);
            best = one;
        }
    }
    return best;
}

static int unknown(const struct tool_line *l, const char *word, struct slice name)
{
    struct slice near = nearest(l->tool, name);
    const char *tool = tool_rows[l->tool].name;

    if (near.len)
        return tool_wrong(l, "'%s' is no option of %s; did you mean --" SLICE_FMT "?", word, tool,
                          SLICE_ARG(near));
    return tool_wrong(l, "'%s' is no option of %s; %s --help lists them", word, tool, tool);
}

struct tool_words {
    char **at, **end;
};

/* Sets the option; value: what is in the same word, or NULL. */
static int take(struct tool_line *l, struct tool_words *w, const char *word, enum tool_option o,
                const char *value)
{
    const struct tool_option_row *row = &tool_option_rows[o];
    int words = words_of(row);

    if (value && !row->arg[0])
        return tool_wrong(l, "%s: this option has no value", word);
    if (o == OPTION_help && !value && w->at < w->end && **w->at != '-')
        value = *w->at++;
    for (; words > (value && words == 1); words--) {
        if (w->at == w->end)
            return tool_wrong(l, "%s: its value is missing (%s)", word, row->arg);
        value = *w->at++;
    }
    l->values[o] = value ? value : "";
    return TOOL_GO_ON;
}

static int read_long(struct tool_line *l, struct tool_words *w, const char *word, const char *name)
{
    const char *equals = strchr(name, '=');
    struct slice key = slice_str(name);
    enum tool_option o;

    if (equals)
        key.len = (size_t)(equals - name);
    o = key.len > 1 ? find(l->tool, key) : TOOL_OPTIONS;
    if (o == TOOL_OPTIONS)
        return unknown(l, word, key);
    return take(l, w, word, o, equals ? equals + 1 : NULL);
}

/* -v, -vV, -N3 */
static int read_short(struct tool_line *l, struct tool_words *w, const char *word)
{
    int rc = TOOL_GO_ON;

    for (const char *at = word + 1; *at && rc == TOOL_GO_ON; at++) {
        enum tool_option o = find(l->tool, slice_mem(at, 1));
        if (o == TOOL_OPTIONS)
            return unknown(l, word, slice_str(word + 1));
        if (tool_option_rows[o].arg[0])
            return take(l, w, word, o, at[1] ? at + 1 + (at[1] == '=') : NULL);
        rc = take(l, w, word, o, NULL);
    }
    return rc;
}

static int read_words(struct tool_line *l, struct tool_words *w)
{
    bool options = true;

    while (w->at < w->end) {
        const char *word = *w->at;
        int rc = TOOL_GO_ON;
        if (options && !strcmp(word, "--")) {
            options = false;
            w->at++;
        } else if (options && word[0] == '-' && word[1]) {
            w->at++;
            rc = word[1] == '-' ? read_long(l, w, word, word + 2) : read_short(l, w, word);
        } else {
            l->operands[l->noperands++] = *w->at++;
        }
        if (rc != TOOL_GO_ON)
            return rc;
    }
    return TOOL_GO_ON;
}

static int print(const struct tool_line *l, struct buf *text)
{
    bool good = buf_cstr(text) && fputs(buf_cstr(text), stdout) >= 0 && fflush(stdout) == 0;

    if (!good)
        log_error(&l->log, "standard output cannot be written");
    buf_free(text);
    return good ? TOOL_FINE : TOOL_FAILED;
}

static int help(const struct tool_line *l)
{
    struct buf text = BUF_NULL(1 << 20);
    const char *about = l->values[OPTION_help];
    enum tool_option o = TOOL_OPTIONS;

    while (about && *about == '-')
        about++;
    if (about && *about) {
        o = find(l->tool, slice_str(about));
        if (o == TOOL_OPTIONS)
            return unknown(l, about, slice_str(about));
    }
    if (o == TOOL_OPTIONS)
        tool_doc_help(&text, l->tool);
    else
        tool_doc_help_option(&text, l->tool, o);
    return print(l, &text);
}

static int check_operands(const struct tool_line *l)
{
    const struct tool_row *row = &tool_rows[l->tool];

    if (row->most >= 0 && l->noperands > row->most)
        return tool_wrong(l, "'%s' is one word too many; %s --help shows the usage",
                          l->operands[row->most], row->name);
    if (l->noperands < row->least)
        return tool_wrong(l, "%s is missing; %s --help shows the usage", row->operands, row->name);
    return TOOL_GO_ON;
}

int tool_line_read(struct tool_line *l, enum tool_id tool, int argc, char **argv)
{
    struct tool_words w = { argv + 1, argv + argc };
    struct buf text = BUF_NULL(1024);
    int rc;

    *l = (struct tool_line){ .tool = tool,
                             .operands = argv,
                             .log = { 2, LOG_INFO, tool_rows[tool].name, NULL } };
    rc = read_words(l, &w);
    if (rc != TOOL_GO_ON)
        return rc;
    if (l->values[OPTION_help])
        return help(l);
    if (l->values[OPTION_version]) {
        buf_printf(&text, "%s (Wireup) " WIREUP_VERSION "\n", tool_rows[tool].name);
        return print(l, &text);
    }
    return check_operands(l);
}

bool tool_number(const struct tool_line *l, enum tool_option o, uint64_t most, uint64_t *value_p)
{
    uint64_t v;

    if (!l->values[o])
        return true;
    if (!slice_u64(slice_str(l->values[o]), &v) || v > most) {
        log_error(&l->log, "--" SLICE_FMT " must be a number up to %llu, not '%s'",
                  SLICE_ARG(tool_option_name(&tool_option_rows[o])), (unsigned long long)most,
                  l->values[o]);
        return false;
    }
    *value_p = v;
    return true;
}
