/* pmixcc.c - the tool pmixcc: runs the compiler with the flags of this library.
 *
 * All words are the compiler's but those of the family -showme; the exit status is the compiler's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/pmix/install_paths.h"
#include "tools/pmix/tool_doc.h"
#include "tools/pmix/tool_print.h"

enum { FLAG = sizeof(struct install_paths) / INSTALL_FOLDERS + 32 };

/* All words that are added, and those that -showme asks for. */
struct flags {
    struct install_paths paths;
    char include[FLAG], library[FLAG], rpath[FLAG];
    const char *compile[2], *link[5], *incdirs[2], *libdirs[2], *libs[2];
};

static void make_flags(struct flags *f)
{
    const char *include, *library;

    *f = (struct flags){ .libs = { "pmix" } };
    install_paths_find(&f->paths);
    include = f->paths.paths[INSTALL_INCLUDE];
    library = f->paths.paths[INSTALL_LIB];
    snprintf(f->include, sizeof f->include, "-I%s", include);
    snprintf(f->library, sizeof f->library, "-L%s", library);
    snprintf(f->rpath, sizeof f->rpath, "-Wl,-rpath,%s", library);
    f->compile[0] = f->include;
    f->link[0] = f->library;
    f->link[1] = f->rpath;
    f->link[2] = "-Wl,--enable-new-dtags";
    f->link[3] = "-lpmix";
    f->incdirs[0] = include;
    f->libdirs[0] = library;
}

static const char *compiler(void)
{
    const char *given = getenv("PMIXCC_CC");

    return given && *given ? given : "cc";
}

/* Whether the compiler stops before it links. */
static bool does_link(int argc, char **argv)
{
    static const char *const stops[] = { "-c", "-S", "-E", "-M", "-MM", NULL };

    for (int i = 1; i < argc; i++) {
        for (const char *const *s = stops; *s; s++) {
            if (!strcmp(argv[i], *s))
                return false;
        }
    }
    return true;
}

static void put_words(struct buf *out, const char *const *words)
{
    for (; *words; words++)
        buf_printf(out, "%s%s", buf_len(out) ? " " : "", *words);
}

static void put_list(struct json *j, const char *key, const char *const *words)
{
    json_array(j, key);
    for (; *words; words++)
        json_str(j, NULL, *words);
    json_array_end(j);
}

static void put_json(struct json *j, const struct flags *f)
{
    json_str(j, "command", compiler());
    put_list(j, "compile", f->compile);
    put_list(j, "link", f->link);
    put_list(j, "incdirs", f->incdirs);
    put_list(j, "libdirs", f->libdirs);
    put_list(j, "libs", f->libs);
    json_str(j, "version", WIREUP_VERSION);
}

/* The option of a word "-showme:compile"; TOOL_OPTIONS: it is none of ours. */
static enum tool_option option_of(const char *word)
{
    if (word[0] != '-')
        return TOOL_OPTIONS;
    word += word[1] == '-' ? 2 : 1;
    for (enum tool_option o = OPTION_showme; o < TOOL_OPTIONS; o++) {
        struct slice rest = slice_str(tool_option_rows[o].names);
        while (rest.len) {
            if (slice_is(slice_cut(&rest, '|'), word))
                return o;
        }
    }
    return TOOL_OPTIONS;
}

/* The whole command, without the words of our own. */
static void put_command(struct buf *out, const struct flags *f, int argc, char **argv)
{
    buf_str(out, compiler());
    for (int i = 1; i < argc; i++) {
        if (option_of(argv[i]) == TOOL_OPTIONS)
            buf_printf(out, " %s", argv[i]);
    }
    put_words(out, f->compile);
    if (does_link(argc, argv))
        put_words(out, f->link);
}

static int show(struct tool_line *l, enum tool_option what, int argc, char **argv)
{
    struct tool_out o;
    struct flags f;

    make_flags(&f);
    l->values[OPTION_json] = what == OPTION_showme_json ? "" : NULL;
    tool_out_begin(&o, l);
    switch (what) {
    case OPTION_showme_json: put_json(&o.json, &f); return tool_out_end(&o, TOOL_FINE);
    case OPTION_showme_command: buf_str(&o.text, compiler()); break;
    case OPTION_showme_compile: put_words(&o.text, f.compile); break;
    case OPTION_showme_link: put_words(&o.text, f.link); break;
    case OPTION_showme_incdirs: put_words(&o.text, f.incdirs); break;
    case OPTION_showme_libdirs: put_words(&o.text, f.libdirs); break;
    case OPTION_showme_libs: put_words(&o.text, f.libs); break;
    case OPTION_showme_version:
        buf_str(&o.text, "pmixcc: Wireup " WIREUP_VERSION " (Language: C)");
        break;
    case OPTION_showme_help:
        tool_doc_help(&o.text, TOOL_pmixcc);
        return tool_out_end(&o, TOOL_FINE);
    default: put_command(&o.text, &f, argc, argv); break;
    }
    buf_byte(&o.text, '\n');
    return tool_out_end(&o, TOOL_FINE);
}

static int run(const struct tool_line *l, int argc, char **argv)
{
    const char **words = calloc((size_t)argc + 8, sizeof *words);
    struct flags f;
    size_t n = 0;

    if (!words)
        return TOOL_FAILED;
    make_flags(&f);
    words[n++] = compiler();
    for (int i = 1; i < argc; i++)
        words[n++] = argv[i];
    for (const char *const *w = f.compile; argc > 1 && *w; w++)
        words[n++] = *w;
    for (const char *const *w = f.link; argc > 1 && *w && does_link(argc, argv); w++)
        words[n++] = *w;
    execvp(words[0], (char *const *)words);
    log_error(&l->log, "the compiler %s cannot be run: %s; PMIXCC_CC names another", words[0],
              strerror(errno));
    free(words);
    return 127;
}

int main(int argc, char **argv)
{
    struct tool_line l = { .tool = TOOL_pmixcc, .log = { 2, LOG_INFO, "pmixcc", NULL } };

    for (int i = 1; i < argc; i++) {
        enum tool_option o = option_of(argv[i]);
        if (o != TOOL_OPTIONS)
            return show(&l, o, argc, argv);
    }
    return run(&l, argc, argv);
}
