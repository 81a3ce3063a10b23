/* own_libraries.c - see own_libraries.h.  Reading order: places, names, Open MPI, the proof. */
#include "daemon/own_libraries.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/env.h"
#include "daemon/pmi_offer.h"
#include "io/elf_symbols.h"

enum { WALK_ROOM = 64 << 20, NOT_PROVEN = 1 };

enum own_kind { PMI, PMI2, PMIX, KINDS };

static const struct own_library {
    const char *name, *folder;
} libraries[KINDS] = { { "libpmi.so.0", "pmi" },
                       { "libpmi2.so.0", "pmi2" },
                       { "libpmix.so.2", "pmix" } };

/* What is found out about one program. */
struct proof {
    struct elf_cache *files;
    struct arena *arena;
    const char *program;
    char *const *env;
    struct errmsg *why;
    const struct elf_object *first;
    const char *found[KINDS]; /* what it would load; NULL: none, or ours already */
    const char *ours[KINDS];
    const char *const *plugins; /* of Open MPI; NULL-terminated */
    const char *asks;           /* the first of them that needs libpmix */
    bool has_rpath;
};

/* ---- places ---- */

const char *own_libraries_base(struct arena *a, const char *file)
{
    static const char *const bases[] = { WIREUP_LIBRARIES_FOLDER, "../lib" };
    char self[PATH_MAX], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;

    if (n <= 0)
        return NULL;
    self[n] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        const char *base = arena_printf(a, "%s/%s", self, bases[i]);
        const char *one = base ? arena_printf(a, "%s/%s", base, file) : NULL;
        if (one && access(one, R_OK) == 0 && realpath(base, real))
            return arena_str(a, slice_str(real));
    }
    return NULL;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool own_libraries_has_rights(const char *program)
{
    struct stat st;

    return stat(program, &st) != 0 || (st.st_mode & (S_ISUID | S_ISGID)) ||
           getxattr(program, "security.capability", NULL, 0) >= 0;
}

/* ---- names ---- */

struct names {
    struct arena *arena;
    const char **all;
    size_t n, room;
    const struct names *but; /* these are not taken */
    bool lost;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_have(const struct names *names, const char *name)
{
    return names->n && bsearch(&name, names->all, names->n, sizeof *names->all, compare);
}

static bool names_add(void *arg, const char *name, bool defined)
{
    struct names *names = arg;

    if (!defined || (names->but && names_have(names->but, name)))
        return true;
    if (names->n == names->room) {
        size_t room = names->room ? names->room * 2 : 1024;
        const char **more = arena_array(names->arena, room, sizeof *more);
        if (more && names->n)
            memcpy(more, names->all, names->n * sizeof *more);
        names->all = more ? more : names->all;
        names->room = more ? room : names->room;
    }
    if (names->n < names->room)
        names->all[names->n++] = arena_str(names->arena, slice_str(name));
    names->lost |= !arena_ok(names->arena);
    return !names->lost;
}

static int names_read(struct names *names, const char *path)
{
    int rc = elf_symbols_each(path, names_add, names);

    if (rc == 0 && names->n)
        qsort(names->all, names->n, sizeof *names->all, compare);
    return names->lost ? -ENOMEM : rc;
}

/* A name that a file takes, and that it must not take. */
struct taken {
    const struct names *missing;
    const char *const *forbidden;
    struct arena *arena;
    const char *name;
};

static bool find_taken(void *arg, const char *name, bool defined)
{
    struct taken *t = arg;
    bool bad = !defined && names_have(t->missing, name);

    for (size_t i = 0; !defined && t->forbidden && t->forbidden[i]; i++)
        bad = bad || !strcmp(name, t->forbidden[i]);
    if (bad)
        t->name = arena_str(t->arena, slice_str(name));
    return !bad;
}

static int check_file(struct proof *p, const char *path, const struct names *missing,
                      const char *const *forbidden, const char *library)
{
    struct taken t = { missing, forbidden, p->arena, NULL };
    int rc = elf_symbols_each(path, find_taken, &t);

    if (rc == ELF_FILE_OTHER)
        return errmsg_set(p->why, NOT_PROVEN, "%s has no readable table of names", path);
    if (rc == 0 && t.name)
        return errmsg_set(p->why, NOT_PROVEN,
                          "%s takes %s from %s, which a client does not do, or ours does not have",
                          path, t.name, library);
    return rc;
}

/* Everything that the process will load takes only names that ours has. */
static int check_names(struct proof *p, enum own_kind k)
{
    static const char *const not_clients[] = { "PMIx_server_init", "PMIx_tool_init", NULL };
    struct names ours = { .arena = p->arena }, missing = { .arena = p->arena, .but = &ours };
    int rc = names_read(&ours, p->ours[k]);

    if (rc > 0)
        return errmsg_set(p->why, NOT_PROVEN, "%s cannot be read", p->ours[k]);
    if (rc == 0)
        rc = names_read(&missing, p->found[k]);
    if (rc > 0 || elf_symbols_versioned(p->found[k]))
        return errmsg_set(p->why, NOT_PROVEN, "the names of %s have versions, or cannot be read",
                          p->found[k]);
    for (const struct elf_object *o = p->first; o && rc == 0; o = o->next) {
        if (o->path && !same_file(o->path, p->found[k]))
            rc = check_file(p, o->path, &missing, k == PMIX ? not_clients : NULL, p->found[k]);
    }
    for (size_t i = 0; rc == 0 && p->plugins && p->plugins[i]; i++)
        rc = check_file(p, p->plugins[i], &missing, NULL, p->found[k]);
    return rc;
}

/* ---- Open MPI opens its components by itself ---- */

static const struct elf_object *find_object(const struct elf_object *first, const char *head)
{
    for (; first; first = first->next) {
        if (first->path && !strncmp(first->name, head, strlen(head)))
            return first;
    }
    return NULL;
}

/* Whether a file says where components are, besides the usual folder. */
static bool is_redirected(struct proof *p, const char *home)
{
    const char *path = arena_printf(p->arena, "%s/.openmpi/mca-params.conf", home);
    FILE *f = path ? fopen(path, "re") : NULL;
    char line[1024];
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = strstr(line, "component_path");
    if (f)
        fclose(f);
    return found;
}

static int check_openmpi(struct proof *p)
{
    static const char *const names[] = { "OMPI_MCA_mca_base_component_path",
                                         "OMPI_MCA_mca_component_path", "OPAL_PREFIX",
                                         "OPAL_LIBDIR", "OPAL_PKGLIBDIR" };
    const char *home = env_value(p->env, "HOME"), *folder;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (env_value(p->env, names[i]))
            return errmsg_set(p->why, NOT_PROVEN, "%s says where Open MPI finds its components",
                              names[i]);
    }
    folder = home ? arena_printf(p->arena, "%s/.openmpi/components", home) : NULL;
    if (folder && (access(folder, F_OK) == 0 || is_redirected(p, home)))
        return errmsg_set(p->why, NOT_PROVEN,
                          "%s/.openmpi brings components of the user to Open MPI", home);
    return 0;
}

static bool is_plugin(const char *name)
{
    size_t len = strlen(name);

    return len > 7 && !strncmp(name, "mca_", 4) && !strcmp(name + len - 3, ".so");
}

/* All in one folder; the list is in the arena, NULL: none. */
static const char *const *list_plugins(struct arena *a, const char *folder)
{
    DIR *dir = opendir(folder);
    const char **all = dir ? arena_array(a, 1025, sizeof *all) : NULL;
    const struct dirent *e;
    size_t n = 0;

    while (all && n < 1024 && (e = readdir(dir))) {
        if (is_plugin(e->d_name))
            all[n++] = arena_printf(a, "%s/%s", folder, e->d_name);
    }
    if (dir)
        closedir(dir);
    return n ? all : NULL;
}

static void find_plugins(struct proof *p, const struct elf_object *pal)
{
    static const char *const below[] = { "openmpi", "openmpi/lib/openmpi3", "openmpi/lib/openmpi" };
    char real[PATH_MAX], *slash;

    if (!realpath(pal->path, real) || !(slash = strrchr(real, '/')))
        return;
    *slash = '\0';
    for (size_t i = 0; !p->plugins && i < sizeof below / sizeof *below; i++) {
        const char *folder = arena_printf(p->arena, "%s/%s", real, below[i]);
        if (folder)
            p->plugins = list_plugins(p->arena, folder);
    }
}

/* What a file and its libraries load under that name; NULL: none. */
static const char *loaded_by(struct proof *p, const char *path, char *const *env, const char *name)
{
    struct elf_object *first = NULL;
    const struct elf_object *o;

    if (elf_walk(p->files, path, env, &pmi_offer_marks, p->arena, &first) != 0)
        return NULL;
    o = find_object(first, name);
    return o ? o->path : NULL;
}

/* The library of the component that speaks PMIx. */
static void ask_plugins(struct proof *p)
{
    for (size_t i = 0; p->plugins && p->plugins[i] && !p->asks; i++) {
        if (!strstr(p->plugins[i], "/mca_pmix_"))
            continue;
        p->found[PMIX] = loaded_by(p, p->plugins[i], p->env, libraries[PMIX].name);
        if (p->found[PMIX])
            p->asks = p->plugins[i];
    }
}

static int look_at_openmpi(struct proof *p)
{
    const struct elf_object *pal = find_object(p->first, "libopen-pal");
    int rc = pal ? check_openmpi(p) : 0;

    if (!pal || rc)
        return rc;
    find_plugins(p, pal);
    if (!p->found[PMIX])
        ask_plugins(p);
    return p->asks && p->has_rpath
               ? errmsg_set(p->why, NOT_PROVEN,
                            "the program names its libraries' folder (DT_RPATH)")
               : 0;
}

/* ---- the proof ---- */

static void look_at_objects(struct proof *p)
{
    for (const struct elf_object *o = p->first; o; o = o->next) {
        for (enum own_kind k = PMI; k < KINDS; k++) {
            if (o->path && !strcmp(o->name, libraries[k].name))
                p->found[k] = o->path;
        }
        p->has_rpath |= o->file && o->file->rpath && !o->file->runpath;
    }
}

static bool loads_any(const struct proof *p)
{
    return p->found[PMI] || p->found[PMI2] || p->found[PMIX];
}

/* Ours, and which of them it needs.  0: some. */
static int find_ours(struct proof *p)
{
    const char *base;
    bool some = false;

    if (!loads_any(p))
        return errmsg_set(p->why, NOT_PROVEN,
                          "it is not seen to load libpmi.so.0, libpmi2.so.0 or libpmix.so.2");
    base = own_libraries_base(p->arena, "pmix/libpmix.so.2");
    if (!base)
        return errmsg_set(p->why, NOT_PROVEN, "Wireup's libraries are not installed beside it");
    for (enum own_kind k = PMI; k < KINDS; k++) {
        p->ours[k] =
            arena_printf(p->arena, "%s/%s/%s", base, libraries[k].folder, libraries[k].name);
        if (p->found[k] && p->ours[k] && same_file(p->found[k], p->ours[k]))
            p->found[k] = NULL;
        some |= p->found[k] != NULL;
    }
    if (some)
        return arena_ok(p->arena) ? 0 : -ENOMEM;
    return errmsg_set(p->why, NOT_PROVEN, "it has them already");
}

/* The folders of ours, and then those of the user. */
static const char *path_with_ours(struct proof *p)
{
    const char *all = "", *old = env_value(p->env, "LD_LIBRARY_PATH");

    for (enum own_kind k = PMI; k < KINDS && all; k++) {
        if (p->found[k])
            all = arena_printf(p->arena, "%s%s%.*s", all, *all ? ":" : "",
                               (int)(strrchr(p->ours[k], '/') - p->ours[k]), p->ours[k]);
    }
    return all && old && *old ? arena_printf(p->arena, "%s:%s", all, old) : all;
}

static char **env_with(struct proof *p, const char *path)
{
    size_t n = 0;
    char **env;

    while (p->env && p->env[n])
        n++;
    env = arena_array(p->arena, n + 2, sizeof *env);
    if (!env)
        return NULL;
    env[0] = arena_printf(p->arena, "LD_LIBRARY_PATH=%s", path); /* the first one counts */
    if (n)
        memcpy(env + 1, p->env, n * sizeof *env);
    return env[0] ? env : NULL;
}

/* The loader takes ours. */
static int check_path(struct proof *p, const char *path)
{
    char **env = env_with(p, path);

    for (enum own_kind k = PMI; env && k < KINDS; k++) {
        const char *from = k == PMIX && p->asks ? p->asks : p->program;
        const char *now = p->found[k] ? loaded_by(p, from, env, libraries[k].name) : NULL;
        if (p->found[k] && (!now || !same_file(now, p->ours[k])))
            return errmsg_set(p->why, NOT_PROVEN,
                              "%s is found before LD_LIBRARY_PATH (DT_RPATH or LD_PRELOAD)",
                              now ? now : libraries[k].name);
    }
    return env ? 0 : -ENOMEM;
}

static int prove(struct proof *p, const char **value_p)
{
    const char *path;
    int rc;

    if (!p->first)
        return errmsg_set(p->why, NOT_PROVEN, "it is no program of this machine");
    look_at_objects(p);
    rc = look_at_openmpi(p);
    if (rc == 0)
        rc = find_ours(p);
    if (rc == 0 && own_libraries_has_rights(p->program))
        rc = errmsg_set(p->why, NOT_PROVEN, "it is set-uid, set-gid or has capabilities");
    for (enum own_kind k = PMI; k < KINDS && rc == 0; k++)
        rc = p->found[k] ? check_names(p, k) : 0;
    path = rc == 0 ? path_with_ours(p) : NULL;
    if (rc == 0)
        rc = path ? check_path(p, path) : -ENOMEM;
    *value_p = rc == 0 ? path : NULL;
    return rc;
}

int own_libraries_choose(struct elf_cache *files, const char *program, char *const *env,
                         const struct elf_object *first, struct arena *a, const char **value_p,
                         struct errmsg *why)
{
    const char *asked = env_value(env, OWN_LIBRARIES_VARIABLE);
    struct arena work = ARENA_NULL(WALK_ROOM);
    struct errmsg reason = { "" };
    struct proof p = { files, &work, program, env, &reason, .first = first };
    const char *value = NULL;
    bool insists = asked && !strcmp(asked, "yes");
    int rc;

    *value_p = NULL;
    if (asked && !strcmp(asked, "no"))
        return 0;
    rc = prove(&p, &value);
    if (value)
        *value_p = arena_str(a, slice_str(value));
    arena_free(&work);
    if (value)
        return *value_p ? 0 : -ENOMEM;
    if (insists && strcmp(reason.text, "it has them already") == 0)
        insists = false;
    errmsg_set(why, 0, "-use-wireup-libraries: not for %.200s: %.600s", program,
               rc == NOT_PROVEN ? reason.text : err_text(rc));
    return insists ? OWN_LIBRARIES_REFUSED : 0;
}
