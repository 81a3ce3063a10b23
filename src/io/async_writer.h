/* async_writer.h - a buffered file that nobody has to wait for.
 *
 * Bytes gather in memory; they are written when there are many, after a short delay, and on
 * request.  For traces: written to the page cache in large pieces they cost the loop next to
 * nothing, and the file of a job that hangs shows all but the last moment.
 */
#ifndef WIREUP_IO_ASYNC_WRITER_H
#define WIREUP_IO_ASYNC_WRITER_H

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"

struct async_writer {
    int fd;         /* -1: closed */
    struct buf out; /* append here, then async_writer_kick() */
    struct timer moment;
    int error; /* the first error of a write, -errno */
};

/* Creates or truncates the file (create_named()); others may not read a new one.  0, or -errno with
 * a sentence. */
int async_writer_open(struct async_writer *s, struct loop *l, const char *path, struct errmsg *err);

/* To be called after an append.  0 or -errno (also of an earlier write); -ENOMEM: the data was
 * lost. */
int async_writer_kick(struct async_writer *s);

/* Writes everything now.  0 or -errno. */
int async_writer_flush(struct async_writer *s);

/* Writes the rest first.  Harmless twice, and on zeroed memory with fd -1.  0 or -errno. */
int async_writer_close(struct async_writer *s);

#endif
