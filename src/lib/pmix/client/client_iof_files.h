/* client_iof_files.h - output that is pulled (PMIx_IOF_pull) and goes to files of this process:
 *
 *   PMIX_IOF_OUTPUT_TO_FILE        PATH.NAMESPACE.RANK.stdout and .stderr
 *   PMIX_IOF_OUTPUT_TO_DIRECTORY   PATH/NAMESPACE/rank.RANK/stdout and stderr
 *
 * These are the names that a spawn with the same attributes gives.  A file is created with the
 * first bytes for it, and closed when its stream ends.  Used by one thread at a time.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_IOF_FILES_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_IOF_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/slice.h"
#include "pmix_common.h"

struct iof_files {
    atomic_uint users;
    struct list files; /* struct iof_file */
    bool directory;    /* the path is one */
    char path[];
};

/* What the infos ask for.  PMIX_SUCCESS: *f_p has one user, or is NULL: they ask for no files;
 * PMIX_ERR_BAD_PARAM: for both, or a path is missing; PMIX_ERR_NOMEM. */
pmix_status_t iof_files_new(const pmix_info_t *infos, size_t n, struct iof_files **f_p);

/* One user more; NULL is fine. */
struct iof_files *iof_files_use(struct iof_files *f);
/* One less; the last one closes the files. */
void iof_files_drop(struct iof_files *f);

/* Writes bytes, or (none) the end of the stream.  Where that fails, one sentence is printed, and
 * the rest of this stream is lost. */
void iof_files_write(struct iof_files *f, const pmix_proc_t *source, pmix_iof_channel_t channel,
                     struct slice bytes);

#endif
