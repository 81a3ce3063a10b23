/* staging_list.c - see staging_list.h. */
#include "launch/staging_list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/staging_stream.h"

/* It is this one, or in it. */
static bool is_in(const char *name, const char *dir)
{
    size_t n = strlen(dir);

    return !strncmp(name, dir, n) && (name[n] == '\0' || name[n] == '/');
}

/* What is in a directory that is staged comes with it. */
static int add(struct job_map *plan, const char *name, const char *path, struct errmsg *err)
{
    struct job_map_staged **at = &plan->stage, *s;

    while (*at) {
        if (!strcmp((*at)->name, name) && strcmp((*at)->path, path) != 0)
            return errmsg_set(err, STAGING_LIST_BAD,
                              "-stage: %.400s and %.400s would have one name on the nodes",
                              (*at)->path, path);
        if (is_in(name, (*at)->name))
            return 0;
        if (is_in((*at)->name, name))
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
    s = *at = arena_alloc(&plan->arena, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct job_map_staged){ .name = arena_str(&plan->arena, slice_str(name)),
                                  .path = arena_str(&plan->arena, slice_str(path)) };
    plan->staged = true;
    return arena_ok(&plan->arena) ? 0 : -ENOMEM;
}

static int cannot(struct errmsg *err, const char *path, int rc)
{
    return errmsg_set(err, STAGING_LIST_BAD, "-stage: %.700s cannot be read: %s", path,
                      err_text(rc));
}

/* A path with ".." is found under the one that it means. */
static int add_path(struct job_map *plan, const char *path, struct errmsg *err)
{
    char name[STAGING_NAME + 1];
    char *real;
    int rc;

    if (access(path, R_OK) < 0)
        return cannot(err, path, -errno);
    if (staging_name_of(path, name))
        return add(plan, name, path, err);
    real = realpath(path, NULL);
    if (real && staging_name_of(real, name))
        rc = add(plan, name, real, err);
    else
        rc = errmsg_set(err, STAGING_LIST_BAD,
                        "-stage: %.700s has no name that nodes could give it", path);
    free(real);
    return rc;
}

int staging_list_add(struct job_map *plan, struct slice path, struct errmsg *err)
{
    const char *text = arena_str(&plan->arena, path);

    if (!text)
        return -ENOMEM;
    return text[0] ? add_path(plan, text, err)
                   : errmsg_set(err, STAGING_LIST_BAD, "-stage names no file");
}

int staging_list_add_all(struct job_map *plan, struct slice paths, struct errmsg *err)
{
    int rc = 0;

    while (paths.len && rc == 0) {
        struct slice path = slice_trim(slice_cut(&paths, ','));
        rc = path.len ? staging_list_add(plan, path, err) : 0;
    }
    return rc;
}

int staging_list_add_program(struct job_map *plan, const struct job_map_app *app, const char *path,
                             struct errmsg *err)
{
    char name[STAGING_NAME + 1];

    if (!staging_name_of(app->argv[0], name))
        return errmsg_set(err, STAGING_LIST_BAD,
                          "-preload-binary: write the absolute path of %.700s", app->argv[0]);
    return access(path, R_OK) < 0 ? cannot(err, path, -errno) : add(plan, name, path, err);
}
