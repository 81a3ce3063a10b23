/* settings.c - see settings.h. */
#include "launch/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"

/* Larger files are a mistake. */
#define SETTINGS_MAX ((size_t)1 << 20)

struct candidate {
    enum option_source source;
    const char *path;
    bool named, found;
    bool parameters; /* of -tune */
};

/* ---- where they are ---- */

static bool is_option(const char *word, const char *name)
{
    const char *text = word + strspn(word, "-");
    size_t len = strlen(name);

    return text != word && !strncmp(text, name, len) && (!text[len] || text[len] == '=');
}

/* Whether a word may be -config or -tune, or a variable is set: only then the command line is read
 * twice. */
static bool may_name(int argc, char *const *argv, char *const *envp)
{
    static const char *const names[] = { "config", "tune", "am", "amca" };
    const char *variable = env_value(envp, "WIREUP_CONFIG");

    if (variable && *variable)
        return true;
    for (int i = 1; i < argc; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (is_option(argv[i], names[k]))
                return true;
        }
    }
    return false;
}

/* The files that are named, in the arena; NULL: none, or no memory (which the arena remembers).
 * Mistakes are told when the command line is read in earnest. */
struct named_settings {
    const char *config, *tune;
};

static struct named_settings named_files(struct arena *a, int argc, char *const *argv,
                                         char *const *envp)
{
    struct launch_options opt;
    struct named_settings n = { NULL, NULL };
    struct errmsg err;

    if (!may_name(argc, argv, envp))
        return n;
    launch_options_init(&opt);
    (void)options_parse(&opt, argc, argv, envp, &err);
    if (opt.config)
        n.config = arena_str(a, slice_str(opt.config));
    if (opt.tune)
        n.tune = arena_str(a, slice_str(opt.tune));
    launch_options_free(&opt);
    return n;
}

/* NULL: none, or no memory (which the arena remembers). */
static const char *user_file(struct arena *a, char *const *envp)
{
    const char *config = env_value(envp, "XDG_CONFIG_HOME"), *home = env_value(envp, "HOME");

    if (config && config[0] == '/')
        return arena_printf(a, "%s/wireup/config", config);
    return home && home[0] == '/' ? arena_printf(a, "%s/.config/wireup/config", home) : NULL;
}

/* ---- whether they are used ---- */

/* NULL, or why others could have written it. */
static const char *distrust(const struct candidate *place, const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "it is not a file";
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return "others may write it; chmod go-w is needed";
    if (place->source != OPTION_SYSTEM && st->st_uid != geteuid() && st->st_uid != 0)
        return "it belongs to another user";
    if (place->found && st->st_nlink != 1)
        return "it has several names (hard links)";
    return NULL;
}

/* A remark for a file that was only found; else a mistake. */
static int turn_down(struct launch_options *opt, const struct candidate *place, const char *why,
                     struct errmsg *err)
{
    if (!place->found)
        return errmsg_set(err, LAUNCH_USAGE, "the %s in %.300s cannot be used: %s",
                          place->parameters ? "parameters" : "settings", place->path, why);
    buf_printf(&opt->remarks, "the settings in %s are not used: %s\n", place->path, why);
    return 0;
}

static int read_all(int fd, struct buf *out)
{
    ssize_t n = 1;

    while (n > 0) {
        char *room = buf_room(out, 4096);
        if (!room)
            return out->error == BUF_TOO_LONG ? -EFBIG : -ENOMEM;
        n = read(fd, room, 4096);
        if (n > 0)
            buf_commit(out, (size_t)n);
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    return n < 0 ? -errno : 0;
}

static int add_file(struct launch_options *opt, const struct candidate *place, struct slice text)
{
    struct settings_file *f = arena_alloc(&opt->arena, sizeof *f), **last = &opt->files;

    while (*last)
        last = &(*last)->next;
    if (!f)
        return -ENOMEM;
    *f = (struct settings_file){ .source = place->source,
                                 .found = place->found,
                                 .parameters = place->parameters,
                                 .name = place->path,
                                 .text = arena_copy(&opt->arena, text) };
    *last = f;
    return arena_ok(&opt->arena) ? 0 : -ENOMEM;
}

static int read_opened(struct launch_options *opt, const struct candidate *place, int fd,
                       struct errmsg *err)
{
    struct buf text = BUF_NULL(SETTINGS_MAX);
    struct stat st;
    const char *why = NULL;
    int rc = fstat(fd, &st) < 0 ? -errno : 0;

    if (rc == 0 && !place->named)
        why = distrust(place, &st);
    if (rc == 0 && !why)
        rc = read_all(fd, &text);
    if (rc < 0 && rc != -ENOMEM)
        why = err_text(rc);
    if (why)
        rc = turn_down(opt, place, why, err);
    else if (rc == 0)
        rc = add_file(opt, place, buf_slice(&text));
    buf_free(&text);
    return rc;
}

/* O_NONBLOCK: a named pipe that was put there must not stop us; one that is named may. */
static int read_place(struct launch_options *opt, const struct candidate *place, struct errmsg *err)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (place->named ? 0 : O_NONBLOCK) |
                (place->found ? O_NOFOLLOW : 0);
    int fd, rc;

    if (!place->path)
        return 0;
    fd = open(place->path, flags);
    if (fd < 0 && !place->named && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 && place->found && errno == ELOOP)
        return turn_down(opt, place, "it is a symbolic link", err);
    if (fd < 0)
        return turn_down(opt, place, err_text(-errno), err);
    rc = read_opened(opt, place, fd, err);
    close(fd);
    return rc;
}

static int read_tuned(struct launch_options *opt, const char *files, struct errmsg *err)
{
    struct slice rest = slice_str(files ? files : "");
    int rc = 0;

    while (rest.len && rc == 0) {
        struct slice file = slice_cut(&rest, ',');
        const struct candidate place = { OPTION_PROJECT, arena_str(&opt->arena, file), true, false,
                                         true };
        rc = place.path ? read_place(opt, &place, err) : -ENOMEM;
    }
    return rc;
}

int settings_read(struct launch_options *opt, int argc, char *const *argv, char *const *envp,
                  struct settings_paths *paths_p, struct errmsg *err)
{
    struct named_settings n = named_files(&opt->arena, argc, argv, envp);
    const struct candidate places[SETTINGS_FILES] = {
        { OPTION_SYSTEM, SETTINGS_SYSTEM, false, false, false },
        { OPTION_USER, user_file(&opt->arena, envp), false, false, false },
        { OPTION_PROJECT, n.config ? n.config : SETTINGS_FOUND, n.config != NULL, n.config == NULL,
          false },
    };
    bool none = n.config && !strcmp(n.config, "none");
    int rc = 0;

    for (int i = 0; i < SETTINGS_FILES && rc == 0 && !none; i++) {
        if (paths_p)
            paths_p->path[i] = places[i].path;
        rc = read_place(opt, &places[i], err);
    }
    return rc ? rc : read_tuned(opt, n.tune, err);
}
