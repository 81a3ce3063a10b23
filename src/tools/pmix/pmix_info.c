/* pmix_info.c - the tool pmix_info: describes this library. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "pmix.h"
#include "pmix_version.h"
#include "tools/pmix/install_paths.h"
#include "tools/pmix/tool_print.h"

enum { LABEL = 24 };

/* As a member, the key has _ for each colon. */
static void put_member(struct json *j, const char *key, const char *value)
{
    char name[64];

    snprintf(name, sizeof name, "%s", key);
    for (char *at = name; *at; at++) {
        if (*at == ':')
            *at = '_';
    }
    json_key(j, slice_str(name));
    json_str(j, NULL, value);
}

/* One line: "            PMIx version: 5.0.11", "pmix:version:full:5.0.11", or a member. */
static void put(struct tool_out *o, const char *label, const char *key, const char *value)
{
    if (o->is_json)
        put_member(&o->json, key, value);
    else if (o->line->values[OPTION_parsable])
        buf_printf(&o->text, "%s:%s\n", key, value);
    else
        buf_printf(&o->text, "%*s: %s\n", LABEL, label, value);
}

static const char *number(char text[16], unsigned value)
{
    snprintf(text, 16, "%u", value);
    return text;
}

static const char *full_version(char text[48])
{
    snprintf(text, 48, "%u.%u.%u", (unsigned)PMIX_VERSION_MAJOR, (unsigned)PMIX_VERSION_MINOR,
             (unsigned)PMIX_VERSION_RELEASE);
    return text;
}

static int put_version(struct tool_out *o, const char *part)
{
    char text[48];

    if (!strcmp(part, "full"))
        put(o, "PMIx version", "pmix:version:full", full_version(text));
    else if (!strcmp(part, "major"))
        put(o, "PMIx version", "pmix:version:major", number(text, PMIX_VERSION_MAJOR));
    else if (!strcmp(part, "minor"))
        put(o, "PMIx version", "pmix:version:minor", number(text, PMIX_VERSION_MINOR));
    else if (!strcmp(part, "release"))
        put(o, "PMIx version", "pmix:version:release", number(text, PMIX_VERSION_RELEASE));
    else if (!strcmp(part, "greek"))
        put(o, "PMIx version", "pmix:version:greek", "");
    else if (!strcmp(part, "svn"))
        put(o, "PMIx version", "pmix:version:repo", "");
    else
        return tool_wrong(o->line,
                          "--show-version: '%s' is none of full, major, minor, release, greek, svn",
                          part);
    return TOOL_FINE;
}

/* "all:full", "pmix:major"; a framework or component is none of ours. */
static int show_version(struct tool_out *o, const char *which)
{
    struct slice part = slice_str(which), whose = slice_cut(&part, ':');

    if (!slice_is(whose, "all") && !slice_is(whose, "pmix"))
        return tool_wrong(o->line, "--show-version: this library has no framework '" SLICE_FMT "'",
                          SLICE_ARG(whose));
    return put_version(o, part.len ? part.ptr : "full");
}

static int show_path(struct tool_out *o, const char *which)
{
    bool all = !strcmp(which, "all"), some = false;
    struct install_paths p;
    char key[64];

    install_paths_find(&p);
    for (size_t i = 0; i < INSTALL_FOLDERS; i++) {
        if (!all && strcmp(which, install_folder_names[i]) != 0)
            continue;
        snprintf(key, sizeof key, "path:%s", install_folder_names[i]);
        put(o, install_folder_names[i], key, p.paths[i]);
        some = true;
    }
    if (some)
        return TOOL_FINE;
    return tool_wrong(o->line,
                      "--path: '%s' is none of prefix, bindir, libdir, incdir, mandir, "
                      "pkglibdir, sysconfdir, all",
                      which);
}

static void show_arch(struct tool_out *o)
{
    struct utsname u;

    put(o, "Architecture", "config:arch", uname(&u) == 0 ? u.machine : "?");
}

static void show_config(struct tool_out *o)
{
    put(o, "C compiler", "compiler:c:command", CONFIG_CC);
    put(o, "C compiler version", "compiler:c:version", __VERSION__);
    put(o, "Build", "config:build", CONFIG_BUILD);
    put(o, "Encodings", "config:encodings", "v20, v21, v3, v4, v41");
    put(o, "Components", "config:components", "none: the library is one piece");
}

static void show_all(struct tool_out *o)
{
    put(o, "Package", "package", "Wireup " WIREUP_VERSION);
    put_version(o, "full");
    show_path(o, "all");
    show_arch(o);
}

static int show(struct tool_out *o)
{
    const struct tool_line *l = o->line;
    bool all = l->values[OPTION_all] != NULL, some = all;
    int rc = TOOL_FINE;

    if (l->values[OPTION_show_version] && !all)
        rc = show_version(o, l->values[OPTION_show_version]);
    if (rc == TOOL_FINE && !all && l->values[OPTION_path])
        rc = show_path(o, l->values[OPTION_path]);
    some = some || l->values[OPTION_show_version] || l->values[OPTION_path];
    for (enum tool_option w = OPTION_arch; w <= OPTION_param; w++)
        some = some || l->values[w];
    if (all || !some)
        show_all(o);
    if (l->values[OPTION_arch] && !all)
        show_arch(o);
    if (all || l->values[OPTION_config])
        show_config(o);
    if (l->values[OPTION_hostname])
        put(o, "Built on", "config:host", "not recorded");
    if (all || l->values[OPTION_param])
        put(o, "MCA parameters", "mca:parameters", "none");
    if (l->values[OPTION_show_failed])
        put(o, "Failed components", "mca:failed", "none");
    return rc;
}

int main(int argc, char **argv)
{
    struct tool_line l;
    struct tool_out o;
    int rc = tool_line_read(&l, TOOL_pmix_info, argc, argv);

    if (rc != TOOL_GO_ON)
        return rc;
    tool_out_begin(&o, &l);
    return tool_out_end(&o, show(&o));
}
