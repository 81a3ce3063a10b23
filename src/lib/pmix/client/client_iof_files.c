/* client_iof_files.c - see client_iof_files.h. */
#include "lib/pmix/client/client_iof_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/create.h"
#include "io/write_all.h"
#include "lib/pmix/client/client_api.h"
#include "lib/pmix/values/value.h"

enum { NAME_MAX_BYTES = 4096 };

struct iof_file {
    struct list link;
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    int fd; /* -1: nothing can be written to it */
};

/* ---- all files of a pull --------------------------------------------------------------------- */

static const char *path_in(const pmix_info_t *infos, size_t n, const char *key, bool *given_p)
{
    const char *path = NULL;

    *given_p = false;
    for (size_t i = 0; infos && i < n; i++) {
        if (!PMIx_Check_key(infos[i].key, key))
            continue;
        *given_p = true;
        path = infos[i].value.type == PMIX_STRING ? infos[i].value.data.string : NULL;
    }
    return path && *path ? path : NULL;
}

pmix_status_t iof_files_new(const pmix_info_t *infos, size_t n, struct iof_files **f_p)
{
    bool to_file, to_directory;
    const char *file = path_in(infos, n, PMIX_IOF_OUTPUT_TO_FILE, &to_file);
    const char *directory = path_in(infos, n, PMIX_IOF_OUTPUT_TO_DIRECTORY, &to_directory);
    const char *path = to_file ? file : directory;
    struct iof_files *f;

    *f_p = NULL;
    if (!to_file && !to_directory)
        return PMIX_SUCCESS;
    if ((to_file && to_directory) || !path)
        return PMIX_ERR_BAD_PARAM;
    f = malloc(sizeof *f + strlen(path) + 1);
    if (!f)
        return PMIX_ERR_NOMEM;
    atomic_init(&f->users, 1);
    list_init(&f->files);
    f->directory = to_directory;
    memcpy(f->path, path, strlen(path) + 1);
    *f_p = f;
    return PMIX_SUCCESS;
}

static void close_file(struct iof_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    list_unlink(&file->link);
    free(file);
}

struct iof_files *iof_files_use(struct iof_files *f)
{
    if (f)
        atomic_fetch_add(&f->users, 1);
    return f;
}

void iof_files_drop(struct iof_files *f)
{
    if (!f || atomic_fetch_sub(&f->users, 1) != 1)
        return;
    LIST_EACH(l, &f->files)
    close_file(LIST_OF(l, struct iof_file, link));
    free(f);
}

/* ---- one of them ----------------------------------------------------------------------------- */

static struct iof_file *find(struct iof_files *f, const pmix_proc_t *source,
                             pmix_iof_channel_t channel)
{
    LIST_EACH(l, &f->files)
    {
        struct iof_file *file = LIST_OF(l, struct iof_file, link);
        if (file->channel == channel && PMIx_Check_procid(&file->source, source))
            return file;
    }
    return NULL;
}

static int open_file(const struct iof_files *f, const pmix_proc_t *source,
                     pmix_iof_channel_t channel, struct errmsg *err)
{
    const char *stream = channel & PMIX_FWD_STDOUT_CHANNEL ? "stdout" : "stderr";
    char name[NAME_MAX_BYTES];
    int n = snprintf(name, sizeof name, f->directory ? "%s/%s/rank.%u/%s" : "%s.%s.%u.%s", f->path,
                     source->nspace, source->rank, stream);

    if (n < 0 || n >= (int)sizeof name)
        return errmsg_set(err, -1, "the path %.40s... of output files is too long", f->path);
    if (f->directory && create_parents(name, err) < 0)
        return -1;
    return create_named(name, 0666, err);
}

static struct iof_file *add(struct iof_files *f, const pmix_proc_t *source,
                            pmix_iof_channel_t channel)
{
    struct iof_file *file = malloc(sizeof *file);
    struct errmsg err = { "" };

    if (!file)
        return NULL;
    *file = (struct iof_file){ .source = *source, .channel = channel };
    list_init(&file->link);
    file->fd = open_file(f, source, channel, &err);
    if (file->fd < 0)
        api_print_error(&err);
    list_append(&f->files, &file->link);
    return file;
}

static void put(struct iof_file *file, struct slice bytes)
{
    struct errmsg err = { "" };
    int rc = file->fd < 0 ? 0 : write_all_slice(file->fd, bytes);

    if (rc == 0)
        return;
    errmsg_set(&err, rc, "the output of rank %u of %s cannot be written to its file: %s",
               file->source.rank, file->source.nspace, strerror(-rc));
    api_print_error(&err);
    close(file->fd);
    file->fd = -1;
}

void iof_files_write(struct iof_files *f, const pmix_proc_t *source, pmix_iof_channel_t channel,
                     struct slice bytes)
{
    struct iof_file *file = find(f, source, channel);

    if (bytes.len == 0) {
        if (file)
            close_file(file);
        return;
    }
    if (!file)
        file = add(f, source, channel);
    if (file)
        put(file, bytes);
}
