/* option_words.c - see option_words.h. */
#include "launch/option_words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "daemon/own_libraries.h"
#include "launch/options.h"

/* ---- the table ------------------------------------------------------------------------------- */

enum word_list { LIST_display, LIST_output, LIST_mca, LIST_map, LIST_bind, LIST_runtime };

struct word {
    enum word_list list;
    const char *names;
    const char *as;  /* NULL: refused */
    const char *why; /* it is refused */
    enum { PLAIN, ONLY_IF_TRUE, FIRST_OF_SEVERAL } value;
};

static const struct word words[] = {
#define WORD_AS(list, whose, names, as)       { LIST_##list, names, as, NULL, PLAIN },
#define WORD_IF(list, whose, names, as)       { LIST_##list, names, as, NULL, ONLY_IF_TRUE },
#define WORD_FIRST(list, whose, names, as)    { LIST_##list, names, as, NULL, FIRST_OF_SEVERAL },
#define WORD_REFUSED(list, whose, names, why) { LIST_##list, names, NULL, why, PLAIN },
#include "launch/synonyms.def"
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
    return w->value == ONLY_IF_TRUE && given && option_words_is_false(given)
               ? 0
               : option_apply(p, w->as, given);
}

/* "core:if-supported:2" without the words behind a ':' that the table has; they are applied. */
static int take_words(struct option_parse *p, enum word_list list, const char *text,
                      const char **left_p)
{
    struct slice rest = slice_str(text);
    const char *left = arena_str(option_arena(p), slice_cut(&rest, ':'));
    int rc = 0;

    while (left && rest.len && rc == 0) {
        struct slice word = slice_cut(&rest, ':');
        if (find(list, word))
            rc = apply_word(p, list, word);
        else
            left = arena_printf(option_arena(p), "%s:" SLICE_FMT, left, SLICE_ARG(word));
    }
    *left_p = left && *left ? left : NULL;
    return left ? rc : -ENOMEM;
}

/* One of a list: "dir=PATH:nocopy" */
static int apply_item(struct option_parse *p, enum word_list list, struct slice item)
{
    const char *text = arena_str(option_arena(p), item), *left = NULL;
    int rc = text ? take_words(p, list, text, &left) : -ENOMEM;

    return rc == 0 && left ? apply_word(p, list, slice_str(left)) : rc;
}

static int apply_list(struct option_parse *p, enum word_list list, const char *text)
{
    struct slice rest = slice_str(text);
    int rc = 0;

    if (!rest.len)
        return option_wrong(p, "at least one word is needed; known are %s", known(p, list));
    while (rest.len && rc == 0)
        rc = apply_item(p, list, slice_cut(&rest, ','));
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

int option_words_runtime(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    (void)row;
    return apply_list(p, LIST_runtime, values[0]);
}

int option_words_map_by(struct option_parse *p, const struct option_row *row,
                        const char *const *values)
{
    const char *list = "pe-list=";

    (void)row;
    if (!strncasecmp(values[0], list, strlen(list)))
        return option_apply(p, "cpu-list %", values[0] + strlen(list));
    return take_words(p, LIST_map, values[0], option_map_by(p));
}

int option_words_bind_to(struct option_parse *p, const struct option_row *row,
                         const char *const *values)
{
    (void)row;
    return take_words(p, LIST_bind, values[0], option_bind_to(p));
}

bool option_words_modifier(enum option_modifiers of, struct slice word, struct option_modifier *m_p)
{
    const struct word *w = find(of == OPTION_MODIFIERS_MAP ? LIST_map : LIST_bind, word);

    if (w)
        *m_p = (struct option_modifier){ w->as, w->why };
    return w != NULL;
}

/* ---- search paths ---- */

/* NAME=DIR:VALUE for all programs. */
static int put_before(struct option_parse *p, const char *name, const char *dir)
{
    const char *old = getenv(name);
    const char *value = old && *old ? arena_printf(option_arena(p), "%s:%s", dir, old) : dir;

    return value ? option_set_variable(p, name, name, value) : -ENOMEM;
}

int option_words_path(struct option_parse *p, const struct option_row *row,
                      const char *const *values)
{
    (void)row;
    return put_before(p, "PATH", values[0]);
}

int option_words_prefix(struct option_parse *p, const struct option_row *row,
                        const char *const *values)
{
    const char *bin = arena_printf(option_arena(p), "%s/bin", values[0]);
    const char *lib = arena_printf(option_arena(p), "%s/lib", values[0]);
    int rc = bin && lib ? put_before(p, "PATH", bin) : -ENOMEM;

    (void)row;
    return rc ? rc : put_before(p, "LD_LIBRARY_PATH", lib);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static int set_parameter(struct option_parse *p, const char *prefix, const char *const *values)
{
    const char *name = arena_printf(option_arena(p), "%s%s", prefix, values[0]);

    return name ? option_set_variable(p, name, values[0], values[1]) : -ENOMEM;
}

/* "ssh : rsh": the first; what is not there is found out when it is called. */
static const char *first_of(struct option_parse *p, const char *value)
{
    const char *end = strstr(value, " :");

    return end ? arena_str(option_arena(p), (struct slice){ value, (size_t)(end - value) }) : value;
}

static int apply_parameter(struct option_parse *p, const struct word *w, const char *value)
{
    if (w->value == ONLY_IF_TRUE && option_words_is_false(value))
        return 0;
    if (w->value == FIRST_OF_SEVERAL)
        value = first_of(p, value);
    return value ? option_apply(p, w->as, value) : -ENOMEM;
}

int option_words_mca(struct option_parse *p, const struct option_row *row,
                     const char *const *values)
{
    const struct word *w = find(LIST_mca, slice_str(values[0]));
    int rc = set_parameter(p, "OMPI_MCA_", values);

    (void)row;
    return rc || !w ? rc : apply_parameter(p, w, values[1]);
}

int option_words_environment(struct option_parse *p, char *const *envp)
{
    int rc = 0;

    for (; *envp && rc == 0; envp++) {
        struct slice value = slice_str(*envp), name = slice_cut(&value, '=');
        bool ours =
            slice_starts(name, SLICE("OMPI_MCA_")) || slice_starts(name, SLICE("PRTE_MCA_"));
        const struct word *w = ours ? find(LIST_mca, slice_skip(name, 9)) : NULL;
        if (!w || !value.len)
            continue;
        option_name_variable(p, name);
        rc = apply_parameter(p, w, value.ptr);
    }
    return rc;
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

/* ---- -on-failure ----------------------------------------------------------------------------- */

enum { RESTARTS = 3, RESTARTS_MAX = 1000000 };

struct policy {
    const char *word;
    const char *as; /* the option that lets the others continue, or not */
    bool restarts;  /* a number may follow, after a colon */
    bool replaces;  /* lost nodes */
};

static const struct policy policies[] = {
    { "abort", "enable-auto-cleanup", false, false },
    { "continue", "disable-auto-cleanup", false, false },
    { "restart", "disable-auto-cleanup", true, false },
    { "replace", "disable-auto-cleanup", true, true },
};

static const struct policy *find_policy(struct slice word)
{
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        if (slice_is(word, policies[i].word))
            return &policies[i];
    }
    return NULL;
}

/* The number after the colon; false: it is none. */
static bool read_restarts(const struct policy *k, struct slice number, bool given, uint32_t *n_p)
{
    *n_p = k->restarts ? RESTARTS : 0;
    return !given || (k->restarts && slice_u32(number, n_p) && *n_p > 0 && *n_p <= RESTARTS_MAX);
}

int option_words_on_failure(struct option_parse *p, const struct option_row *row,
                            const char *const *values)
{
    struct slice rest = slice_str(values[0]), word = slice_head(rest, slice_find(rest, ':'));
    const struct policy *k = find_policy(word);
    bool given = word.len < rest.len;
    uint32_t n;

    (void)row;
    if (!k || !read_restarts(k, slice_skip(rest, word.len + given), given, &n))
        return option_wrong(
            p, "must be abort, continue, restart, restart:N, replace or replace:N, not '%.100s'",
            values[0]);
    option_set_restarts(p, n, k->replaces);
    return option_apply(p, k->as, NULL);
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
