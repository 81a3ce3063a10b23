/* transcript_files.c - see transcript_files.h.  Reading order: one file; a folder; all that was
 * read. */
#include "tools/conform/transcript_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/conform/transcript.h"

enum { READ_AT_ONCE = 1 << 16 };

/* 0, or -errno. */
static int read_file(const char *path, struct buf *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 1;
    int rc;

    while (fd >= 0 && n > 0) {
        char *room = buf_room(text, READ_AT_ONCE);
        n = room ? read(fd, room, READ_AT_ONCE) : 0;
        buf_commit(text, n > 0 ? (size_t)n : 0);
    }
    rc = n < 0 ? -errno : buf_ok(text) ? 0 : -EFBIG;
    buf_byte(text, '\n');
    if (fd >= 0)
        close(fd);
    return rc;
}

static int is_transcript(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);

    return n > 4 && !strcmp(entry->d_name + n - 4, ".txt");
}

static bool read_named(const char *folder, const char *protocol, const char *name, struct buf *text,
                       struct errmsg *err)
{
    char path[PATH_MAX];
    int rc;

    buf_printf(text, "=== %s/%.*s\n", protocol, (int)strlen(name) - 4, name);
    snprintf(path, sizeof path, "%s/%s/%s", folder, protocol, name);
    rc = read_file(path, text);
    return rc == 0 || errmsg_set(err, 0, "cannot read %s: %s", path, err_text(rc));
}

/* A folder that is not there has no transcripts. */
static bool read_protocol(const char *folder, const char *protocol, struct buf *text,
                          struct errmsg *err)
{
    char path[PATH_MAX];
    struct dirent **names;
    bool good = true;
    int n;

    snprintf(path, sizeof path, "%s/%s", folder, protocol);
    n = scandir(path, &names, is_transcript, alphasort);
    for (int i = 0; i < n; i++) {
        good = good && read_named(folder, protocol, names[i]->d_name, text, err);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return good;
}

static bool check_all(const char *folder, struct slice text, struct errmsg *err)
{
    struct transcripts all = transcripts_begin(text);
    struct transcript t;
    struct errmsg why;

    if (text.len == 0)
        return errmsg_set(err, 0, "%s has no transcripts: no pmi1/NAME.txt, pmi2 or pmix", folder);
    while (transcripts_next(&all, &t)) {
        if (!transcript_check(&t, &why))
            return errmsg_set(err, 0, "%s/" SLICE_FMT ".txt: %s", folder, SLICE_ARG(t.name),
                              why.text);
    }
    return true;
}

bool transcript_files_read(const char *folder, struct buf *text, struct errmsg *err)
{
    static const char *const protocols[] = { "pmi1", "pmi2", "pmix" };

    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++) {
        if (!read_protocol(folder, protocols[i], text, err))
            return false;
    }
    return check_all(folder, buf_slice(text), err);
}
