/* topology.c - see topology.h. */
#include "daemon/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "io/write_all.h"
#include "topo/xml.h"

enum { XML_MAX = 256 << 20 };

/* A sealed file: it cannot be changed under a reader. */
static int make_file(struct slice text, int *fd_p)
{
    int fd = memfd_create("wireup-topology", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int rc = fd < 0 ? -errno : write_all_slice(fd, text);

    if (rc == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
        rc = -errno;
    if (rc < 0 && fd >= 0)
        close(fd);
    if (rc == 0)
        *fd_p = fd;
    return rc;
}

static int make(struct topology *t, struct errmsg *err)
{
    struct buf text = BUF_NULL(XML_MAX);
    int rc = topo_xml(&text, err);

    if (rc == 0) {
        rc = make_file(buf_slice(&text), &t->fd);
        if (rc < 0)
            errmsg_set(err, rc, "cannot make a memory file for the topology: %s", err_text(rc));
    }
    buf_free(&text);
    return rc;
}

const char *topology_path(struct topology *t, struct errmsg *err)
{
    const char *given = getenv("HWLOC_XMLFILE");

    err->text[0] = '\0';
    if (given && *given) /* the user's choice has precedence */
        return given;
    if (!t->tried) {
        t->tried = true;
        if (make(t, err) == 0)
            snprintf(t->path, sizeof t->path, "/proc/%d/fd/%d", (int)getpid(), t->fd);
    }
    return t->fd >= 0 ? t->path : NULL;
}

struct slice topology_text(struct topology *t)
{
    struct errmsg err;
    struct stat st;
    void *at;

    if (!topology_path(t, &err) || t->fd < 0 || t->text.len)
        return t->text;
    if (fstat(t->fd, &st) < 0 || st.st_size <= 0)
        return SLICE_NULL;
    at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, t->fd, 0);
    if (at != MAP_FAILED)
        t->text = slice_mem(at, (size_t)st.st_size);
    return t->text;
}

void topology_close(struct topology *t)
{
    if (t->text.len)
        munmap((void *)(uintptr_t)t->text.ptr, t->text.len);
    if (t->fd >= 0)
        close(t->fd);
    *t = TOPOLOGY_NULL;
}
