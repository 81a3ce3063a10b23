/* program_style.c - see program_style.h. */
#include "launch/program_style.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/starter_program.h"

/* ---- modules --------------------------------------------------------------------------------- */

static const struct python_module {
    enum environment_style style;
    const char *name;
} modules[] = {
#define MODULE(id, name) { ENVIRONMENT_STYLE_##id, name },
#include "proto/environment_styles.def"
};

enum { MODULES = sizeof modules / sizeof *modules };

/* Its row, or MODULES: "jax" and "jax.numpy" are "jax". */
static size_t row_of(struct slice name)
{
    for (size_t i = 0; i < MODULES; i++) {
        size_t len = strlen(modules[i].name);
        if (slice_starts(name, slice_str(modules[i].name)) &&
            (name.len == len || name.ptr[len] == '.'))
            return i;
    }
    return MODULES;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void note(struct slice name, size_t *row)
{
    size_t found = row_of(slice_trim(name));

    if (found < *row)
        *row = found;
}

static bool take_word(struct slice *rest, const char *word)
{
    size_t len = strlen(word);

    if (!slice_starts(*rest, slice_str(word)) || rest->len == len ||
        !isspace((unsigned char)rest->ptr[len]))
        return false;
    *rest = slice_trim(slice_skip(*rest, len));
    return true;
}

/* "import a.b as c, d"; "from a.b import c" */
static void read_statement(struct slice s, size_t *row)
{
    s = slice_trim(s);
    if (take_word(&s, "from")) {
        note(slice_cut(&s, ' '), row);
    } else if (take_word(&s, "import")) {
        while (s.len) {
            struct slice one = slice_trim(slice_cut(&s, ','));
            note(slice_cut(&one, ' '), row);
        }
    }
}

static const char *find_quotes(struct slice s, const char *quotes)
{
    return s.len ? memmem(s.ptr, s.len, quotes, 3) : NULL;
}

/* Goes on to where a text in three quotes ends that is open behind this line. */
static void pass_quotes(struct slice line, struct slice *rest)
{
    static const char *const kinds[] = { "\"\"\"", "'''" };

    while (line.len) {
        const char *begin = NULL, *end, *quotes = NULL;
        for (size_t i = 0; i < 2; i++) {
            const char *at = find_quotes(line, kinds[i]);
            if (at && (!begin || at < begin)) {
                begin = at;
                quotes = kinds[i];
            }
        }
        if (!begin)
            return;
        line = slice_skip(line, (size_t)(begin - line.ptr) + 3);
        end = find_quotes(line, quotes);
        if (!end) {
            end = find_quotes(*rest, quotes);
            *rest = slice_skip(*rest, end ? (size_t)(end - rest->ptr) + 3 : rest->len);
            return;
        }
        line = slice_skip(line, (size_t)(end - line.ptr) + 3);
    }
}

enum environment_style program_style_of_text(struct slice text)
{
    size_t row = MODULES;

    while (text.len) {
        struct slice line = slice_cut(&text, '\n'), parts = line;
        if (slice_starts(slice_trim(line), SLICE("#")))
            continue;
        while (parts.len)
            read_statement(slice_cut(&parts, ';'), &row);
        pass_quotes(line, &text);
    }
    return row < MODULES ? modules[row].style : ENVIRONMENT_STYLE_torch;
}

/* ---- files ----------------------------------------------------------------------------------- */

static enum environment_style style_of_file(const char *path, const char *wdir)
{
    enum environment_style style = ENVIRONMENT_STYLE_torch;
    int dir = wdir && path[0] != '/' ? open(wdir, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = fd >= 0 ? malloc(PROGRAM_STYLE_TEXT) : NULL;
    ssize_t n = text ? read(fd, text, PROGRAM_STYLE_TEXT) : -1;

    if (n > 0)
        style = program_style_of_text(slice_mem(text, (size_t)n));
    free(text);
    if (fd >= 0)
        close(fd);
    if (dir >= 0)
        close(dir);
    return style;
}

/* "a.b" is a module of the table, or a/b.py or a/b/__main__.py. */
static enum environment_style style_of_module(const char *name, const char *wdir)
{
    static const char *const ends[] = { ".py", "/__main__.py" };
    size_t row = row_of(slice_str(name)), len = strlen(name);
    enum environment_style style = ENVIRONMENT_STYLE_torch;
    char path[512];

    if (row < MODULES)
        return modules[row].style;
    for (size_t i = 0; i < 2 && style == ENVIRONMENT_STYLE_torch; i++) {
        if (len + strlen(ends[i]) >= sizeof path)
            break;
        for (size_t c = 0; c < len; c++)
            path[c] = name[c] == '.' ? '/' : name[c];
        memcpy(path + len, ends[i], strlen(ends[i]) + 1);
        style = style_of_file(path, wdir);
    }
    return style;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* "python", "python3.11", "pypy3", with or without directories. */
static bool is_interpreter(struct slice path)
{
    static const char *const names[] = { "python", "pypy" };

    while (slice_find(path, '/') < path.len)
        slice_cut(&path, '/');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct slice rest = slice_skip(path, strlen(names[i]));
        if (!slice_starts(path, slice_str(names[i])))
            continue;
        while (rest.len && (isdigit((unsigned char)*rest.ptr) || *rest.ptr == '.'))
            rest = slice_skip(rest, 1);
        return rest.len == 0;
    }
    return false;
}

/* A word of short options of the interpreter.  True: it, or the next word, says what is run. */
static bool style_of_options(const struct job_map_app *app, uint32_t *at,
                             enum environment_style *style_p)
{
    const char *letter = app->argv[*at] + 1;
    const char *value;

    while (*letter && !strchr("cmWX", *letter))
        letter++;
    if (!*letter)
        return false;
    value = letter[1] ? letter + 1 : *at + 1 < app->argc ? app->argv[++*at] : "";
    if (*letter == 'c')
        *style_p = program_style_of_text(slice_str(value));
    else if (*letter == 'm')
        *style_p = style_of_module(value, app->wdir);
    return *letter == 'c' || *letter == 'm';
}

/* What the interpreter before this word runs. */
static enum environment_style style_behind(const struct job_map_app *app, uint32_t at)
{
    enum environment_style style = ENVIRONMENT_STYLE_torch;

    for (; at < app->argc; at++) {
        const char *word = app->argv[at];
        if (word[0] != '-')
            return style_of_file(word, app->wdir);
        if (!word[1])
            break; /* standard input */
        if (!strcmp(word, "--check-hash-based-pycs"))
            at++;
        else if (word[1] != '-' && style_of_options(app, &at, &style))
            break;
    }
    return style;
}

static bool is_python_script(const char *path)
{
    char line[STARTER_LINE_MAX];

    return is_interpreter(starter_program_interpreter(path, line));
}

/* Behind `env` and its like. */
static enum environment_style style_of_words(const struct job_map_app *app)
{
    enum { WORDS_MAX = 16 };

    for (uint32_t i = 1; i < app->argc && i < WORDS_MAX; i++) {
        const char *word = app->argv[i];
        if (word[0] == '-' || strchr(word, '='))
            continue;
        if (is_interpreter(slice_str(word)))
            return style_behind(app, i + 1);
        if (is_python_script(word))
            return style_of_file(word, app->wdir);
    }
    return ENVIRONMENT_STYLE_NONE;
}

enum environment_style program_style_of(const struct job_map_app *app)
{
    if (is_interpreter(slice_str(app->path)))
        return style_behind(app, 1);
    if (starter_program_is(slice_str(app->path)))
        return style_of_words(app);
    return is_python_script(app->path) ? style_of_file(app->path, NULL) : ENVIRONMENT_STYLE_NONE;
}
