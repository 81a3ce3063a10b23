/* option_words.c - see option_words.h. */
#include "launch/option_words.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "daemon/own_libraries.h"
#include "launch/options.h"

/* ---- the table ------------------------------------------------------------------------------- */

enum word_list { LIST_display, LIST_output, LIST_mca };

struct word {
    enum word_list list;
    const char *names;
    const char *as;  /* NULL: refused */
    const char *why; /* it is refused */
    bool flag;       /* only if its value is not false */
};

static const struct word words[] = {
#define SAME(list, names, as)   { LIST_##list, names, as, NULL, false },
#define FLAG(list, names, as)   { LIST_##list, names, as, NULL, true },
#define OTHER(list, names, why) { LIST_##list, names, NULL, why, false },
#include "launch/option_words.def"
#undef SAME
#undef FLAG
#undef OTHER
};

static bool has_name(const char *names, struct slice wanted)
{
    struct slice rest = slice_str(names), name;

    while (option_next_name(&rest, &name)) {
        if (name.len == wanted.len && strncasecmp(name.ptr, wanted.ptr, name.len) == 0)
            return true;
    }
    return false;
}

static const struct word *find(enum word_list list, struct slice name)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].list == list && has_name(words[i].names, name))
            return &words[i];
    }
    return NULL;
}

bool option_words_is_false(const char *text)
{
    static const char *const no[] = { "", "0", "no", "off", "false" };

    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        if (strcasecmp(text, no[i]) == 0)
            return true;
    }
    return false;
}

/* ---- lists of words -------------------------------------------------------------------------- */

/* Every word of a list. */
static const char *known(struct option_parse *p, enum word_list list)
{
    const char *all = "";

    for (size_t i = 0; i < sizeof words / sizeof *words && all; i++) {
        if (words[i].list == list && words[i].as)
            all = arena_printf(option_arena(p), "%s%s%s", all, *all ? " " : "", words[i].names);
    }
    return all ? all : "";
}

/* "dir=PATH" */
static int apply_word(struct option_parse *p, enum word_list list, struct slice text)
{
    struct slice value = text, name = slice_cut(&value, '=');
    const struct word *w = find(list, name);
    const char *given = value.len ? arena_str(option_arena(p), value) : NULL;

    if (!w)
        return option_wrong(p, "'" SLICE_FMT "' is not known; known are %s",
                            SLICE_ARG(slice_head(name, 100)), known(p, list));
    if (!w->as)
        return option_wrong(p, SLICE_FMT " is not supported: %s", SLICE_ARG(name), w->why);
    if (strchr(w->as, '%') && !given)
        return option_wrong(p, SLICE_FMT " needs a value: " SLICE_FMT "=PATH", SLICE_ARG(name),
                            SLICE_ARG(name));
    return option_apply(p, w->as, given);
}

static int apply_list(struct option_parse *p, enum word_list list, const char *text)
{
    struct slice rest = slice_str(text);
    int rc = 0;

    if (!rest.len)
        return option_wrong(p, "at least one word is needed; known are %s", known(p, list));
    while (rest.len && rc == 0)
        rc = apply_word(p, list, slice_cut(&rest, ','));
    return rc;
}

int option_words_display(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    (void)row;
    return apply_list(p, LIST_display, values[0]);
}

int option_words_output(struct option_parse *p, const struct option_row *row,
                        const char *const *values)
{
    (void)row;
    return apply_list(p, LIST_output, values[0]);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int set_parameter(struct option_parse *p, const char *prefix, const char *const *values)
{
    const char *name = arena_printf(option_arena(p), "%s%s", prefix, values[0]);

    return name ? option_set_variable(p, name, values[0], values[1]) : -ENOMEM;
}

static int apply_parameter(struct option_parse *p, const struct word *w, const char *value)
{
    return w->flag && option_words_is_false(value) ? 0 : option_apply(p, w->as, value);
}

int option_words_mca(struct option_parse *p, const struct option_row *row,
                     const char *const *values)
{
    const struct word *w = find(LIST_mca, slice_str(values[0]));
    int rc = set_parameter(p, "OMPI_MCA_", values);

    (void)row;
    return rc || !w ? rc : apply_parameter(p, w, values[1]);
}

int option_words_prtemca(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    const struct word *w = find(LIST_mca, slice_str(values[0]));

    (void)row;
    if (!w)
        return option_wrong(p, "the parameter '%.100s' has no meaning here; known are %s",
                            values[0], known(p, LIST_mca));
    return apply_parameter(p, w, values[1]);
}

int option_words_pmixmca(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    (void)row;
    return set_parameter(p, "PMIX_MCA_", values);
}

int option_words_with_ft(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    static const char *const on[] = { "ulfm", "mpi", "yes", "true", "1" };
    int rc;

    (void)row;
    if (option_words_is_false(values[0]) || strcasecmp(values[0], "none") == 0)
        return 0;
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        if (strcasecmp(values[0], on[i]) != 0)
            continue;
        rc = option_set_variable(p, "OMPI_MCA_mpi_ft_enable", "mpi_ft_enable", "true");
        return rc ? rc : option_apply(p, "disable-auto-cleanup", NULL);
    }
    return option_wrong(p, "must be ulfm, mpi or none, not '%.100s'", values[0]);
}

int option_words_cpu_list(struct option_parse *p, const struct option_row *row,
                          const char *const *values)
{
    char *list = arena_str(option_arena(p), slice_str(values[0]));

    (void)row;
    if (!list)
        return -ENOMEM;
    for (char *at = list; *at; at++)
        *at = *at == ',' ? '+' : *at; /* one place, which all share */
    return option_apply(p, "bind-to user:%", list);
}

int option_words_own_libraries(struct option_parse *p, const struct option_row *row,
                               const char *const *values)
{
    static const char *const known_words[] = { "auto", "yes", "no" };

    (void)row;
    for (size_t i = 0; i < sizeof known_words / sizeof *known_words; i++) {
        if (!strcasecmp(values[0], known_words[i]))
            return option_set_variable(p, OWN_LIBRARIES_VARIABLE, OWN_LIBRARIES_VARIABLE,
                                       known_words[i]);
    }
    return option_wrong(p, "must be auto, yes or no, not '%.100s'", values[0]);
}
