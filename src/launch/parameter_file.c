/* parameter_file.c - see parameter_file.h. */
#include "launch/parameter_file.h"

#include <errno.h>
#include <string.h>

static const struct {
    const char *name;
    enum parameter_kind kind;
} options[] = {
    { "mca", PARAMETER_MCA },         { "gmca", PARAMETER_MCA },
    { "omca", PARAMETER_MCA },        { "gomca", PARAMETER_MCA },
    { "prtemca", PARAMETER_PRTEMCA }, { "gprtemca", PARAMETER_PRTEMCA },
    { "pmixmca", PARAMETER_PMIXMCA }, { "gpmixmca", PARAMETER_PMIXMCA },
    { "x", PARAMETER_VARIABLE },
};

static int is_none(const char *word, struct errmsg *err)
{
    return errmsg_set(err, PARAMETER_BAD,
                      "'%.100s' is no parameter: write KEY = VALUE, -mca KEY VALUE or "
                      "-x NAME=VALUE",
                      word);
}

/* The words with a blank between them; NULL: no memory. */
static const char *joined(struct arena *a, const struct mpmd_words *w)
{
    size_t len = 0, at = 0;
    char *text;

    for (uint32_t i = 0; i < w->count; i++)
        len += strlen(w->items[i]) + 1;
    text = arena_alloc(a, len);
    for (uint32_t i = 0; i < w->count && text; i++) {
        size_t n = strlen(w->items[i]);
        memcpy(text + at, w->items[i], n);
        at += n;
        text[at++] = i + 1 < w->count ? ' ' : '\0';
    }
    return text;
}

/* KEY = VALUE, which is all of the line. */
static int assignment(struct arena *a, struct mpmd_words *line, struct parameter *p_p,
                      struct errmsg *err)
{
    const char *text = joined(a, line);
    struct slice value = slice_str(text ? text : ""), key;

    if (!text)
        return -ENOMEM;
    if (!strchr(text, '='))
        return is_none(text, err);
    key = slice_trim(slice_cut(&value, '='));
    if (!key.len)
        return is_none(text, err);
    line->count = 0;
    p_p->kind = PARAMETER_MCA;
    p_p->key = arena_str(a, key);
    p_p->value = arena_str(a, slice_trim(value));
    return p_p->key && p_p->value ? 0 : -ENOMEM;
}

/* NAME=VALUE, or NAME. */
static int variable(struct arena *a, const char *word, struct parameter *p_p)
{
    struct slice value = slice_str(word), name = slice_cut(&value, '=');

    p_p->key = arena_str(a, name);
    p_p->value = strchr(word, '=') ? word + name.len + 1 : NULL;
    return p_p->key ? 0 : -ENOMEM;
}

static int option(struct arena *a, struct mpmd_words *line, struct parameter *p_p,
                  struct errmsg *err)
{
    const char *word = line->items[0], *name = word + strspn(word, "-");
    uint32_t n = 0, need;

    while (n < sizeof options / sizeof *options && strcmp(options[n].name, name) != 0)
        n++;
    if (n == sizeof options / sizeof *options)
        return is_none(word, err);
    p_p->kind = options[n].kind;
    need = p_p->kind == PARAMETER_VARIABLE ? 2 : 3;
    if (line->count < need)
        return errmsg_set(err, PARAMETER_BAD, "%.100s needs %s", word,
                          need == 2 ? "a value: NAME=VALUE" : "two values: KEY VALUE");
    p_p->key = line->items[1];
    p_p->value = need == 3 ? line->items[2] : NULL;
    line->items += need;
    line->count -= need;
    return need == 3 ? 0 : variable(a, p_p->key, p_p);
}

int parameter_next(struct arena *a, struct mpmd_words *line, struct parameter *p_p,
                   struct errmsg *err)
{
    if (line->count == 0)
        return PARAMETER_END;
    return line->items[0][0] == '-' ? option(a, line, p_p, err) : assignment(a, line, p_p, err);
}
