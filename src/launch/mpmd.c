/* mpmd.c - see mpmd.h. */
#include "launch/mpmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct mpmd_words mpmd_cut(struct mpmd_words *rest, bool *more_p)
{
    struct mpmd_words block = *rest;
    uint32_t n = 0;

    while (n < rest->count && strcmp(rest->items[n], ":") != 0)
        n++;
    *more_p = n < rest->count;
    block.count = n;
    rest->items += n + *more_p;
    rest->count -= n + *more_p;
    return block;
}

/* A word being read.  The text of a word is never longer than its spelling, so one buffer of the
 * rest of the line's length suffices; lists of words grow in the arena. */
struct line {
    struct arena *arena;
    char **items;
    uint32_t count, room;
};

static int add_word(struct line *l, const char *text, size_t len)
{
    char *word = arena_str(l->arena, slice_mem(text, len));

    if (!word)
        return -ENOMEM;
    if (l->count + 1 >= l->room) { /* one stays free for the final NULL */
        uint32_t room = l->room ? l->room * 2 : 8;
        char **items = arena_array(l->arena, room, sizeof *items);
        if (!items)
            return -ENOMEM;
        if (l->count)
            memcpy(items, l->items, l->count * sizeof *items);
        l->items = items;
        l->room = room;
    }
    l->items[l->count++] = word;
    l->items[l->count] = NULL;
    return 0;
}

static char take(struct config_reader *in)
{
    char c = in->text.ptr[0];

    in->text = slice_skip(in->text, 1);
    if (c == '\n')
        in->line++;
    return c;
}

static bool at_blank(const struct config_reader *in)
{
    return in->text.len &&
           (in->text.ptr[0] == ' ' || in->text.ptr[0] == '\t' || in->text.ptr[0] == '\r');
}

/* A backslash before the end of a line joins the next line (CR LF ends a line too). */
static bool at_join(const struct config_reader *in)
{
    return slice_starts(in->text, SLICE("\\\n")) || slice_starts(in->text, SLICE("\\\r\n"));
}

static void skip_join(struct config_reader *in)
{
    while (take(in) != '\n')
        ;
}

static void skip_blanks(struct config_reader *in)
{
    for (;;) {
        if (at_join(in))
            skip_join(in);
        else if (at_blank(in))
            take(in);
        else
            return;
    }
}

/* Copies one word into out (room for the rest of the text); its length, or -1 for an open quote. */
static long read_word(struct config_reader *in, char *out)
{
    char quote = '\0';
    size_t n = 0;

    while (in->text.len && (quote || (!at_blank(in) && in->text.ptr[0] != '\n'))) {
        char c;
        if (quote != '\'' && at_join(in)) {
            skip_join(in);
            if (!quote)
                break;
            continue;
        }
        c = take(in);
        if (quote ? c == quote : c == '\'' || c == '"')
            quote = quote ? '\0' : c;
        else if (c == '\\' && quote != '\'' && in->text.len)
            out[n++] = take(in);
        else
            out[n++] = c;
    }
    return quote ? -1 : (long)n;
}

static void skip_line(struct config_reader *in)
{
    while (in->text.len && in->text.ptr[0] != '\n')
        take(in);
}

/* Words up to the end of the line, the newline included. */
static int read_line(struct line *l, struct config_reader *in, char *scratch, struct errmsg *err)
{
    unsigned began = in->line;

    for (;;) {
        long n;
        int rc;

        skip_blanks(in);
        if (in->text.len && in->text.ptr[0] == '#')
            skip_line(in);
        if (in->text.len == 0)
            return 0;
        if (in->text.ptr[0] == '\n') {
            take(in);
            return 0;
        }
        n = read_word(in, scratch);
        if (n < 0)
            return errmsg_set(err, MPMD_BAD, "%s:%u: a quote is not closed", in->name, began);
        if (memchr(scratch, 0, (size_t)n))
            return errmsg_set(err, MPMD_BAD, "%s:%u: the configuration file contains a NUL byte",
                              in->name, began);
        rc = add_word(l, scratch, (size_t)n);
        if (rc)
            return rc;
    }
}

int mpmd_config_next(struct arena *a, struct config_reader *in, struct mpmd_words *block_p,
                     unsigned *line_p, struct errmsg *err)
{
    struct line l = { a, NULL, 0, 0 };
    char *scratch;
    int rc = 0;

    if (in->text.len == 0)
        return MPMD_END;
    scratch = malloc(in->text.len);
    if (!scratch)
        return -ENOMEM;
    while (rc == 0 && l.count == 0 && in->text.len) {
        *line_p = in->line;
        rc = read_line(&l, in, scratch, err);
    }
    free(scratch);
    if (rc)
        return rc;
    block_p->items = l.items;
    block_p->count = l.count;
    return l.count ? 0 : MPMD_END;
}
