/* staging_list.h - the files that a job is to find on its nodes (docs/design/staging.md): from
 * options and spawn requests into the plan.
 */
#ifndef WIREUP_LAUNCH_STAGING_LIST_H
#define WIREUP_LAUNCH_STAGING_LIST_H

#include "base/err.h"
#include "base/slice.h"
#include "core/job_map.h"

enum { STAGING_LIST_BAD = 1 };

/* A file or directory on this machine; a relative path is below our working directory.  0;
 * STAGING_LIST_BAD with a sentence; -ENOMEM. */
int staging_list_add(struct job_map *plan, struct slice path, struct errmsg *err);
/* Several, separated by commas. */
int staging_list_add_all(struct job_map *plan, struct slice paths, struct errmsg *err);
/* The program of an application, which was found there. */
int staging_list_add_program(struct job_map *plan, const struct job_map_app *app, const char *path,
                             struct errmsg *err);

#endif
