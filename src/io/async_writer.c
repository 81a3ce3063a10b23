/* async_writer.c - see async_writer.h. */
#include "io/async_writer.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/create.h"

enum { ASYNC_WRITER_PIECE = 256 << 10, ASYNC_WRITER_MOMENT_MS = 1000 };

static void moment_over(void *arg)
{
    async_writer_flush(arg);
}

int async_writer_open(struct async_writer *s, struct loop *l, const char *path, struct errmsg *err)
{
    struct stat st;

    s->error = 0;
    buf_init(&s->out, (size_t)LIMIT_TRACE_RECORD + ASYNC_WRITER_PIECE);
    timer_init(&s->moment, l, moment_over, s);
    s->fd = create_named(path, 0600, err);
    if (s->fd >= 0 && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) && fchmod(s->fd, 0600) < 0)
        s->error = -errno; /* others may read the file: then it is not written */
    return s->fd < 0 ? s->fd : 0;
}

int async_writer_flush(struct async_writer *s)
{
    timer_stop(&s->moment);
    while (s->error == 0 && buf_len(&s->out)) {
        struct slice all = buf_slice(&s->out);
        ssize_t n = write(s->fd, all.ptr, all.len);
        if (n >= 0)
            buf_take(&s->out, (size_t)n);
        else if (errno != EINTR)
            s->error = -errno;
    }
    return s->error;
}

int async_writer_kick(struct async_writer *s)
{
    if (!buf_ok(&s->out) && s->error == 0)
        s->error = -ENOMEM;
    if (s->error)
        return s->error;
    if (buf_len(&s->out) >= ASYNC_WRITER_PIECE)
        return async_writer_flush(s);
    if (!s->moment.set)
        timer_set(&s->moment, ASYNC_WRITER_MOMENT_MS);
    return 0;
}

int async_writer_close(struct async_writer *s)
{
    if (s->fd < 0)
        return 0;
    async_writer_flush(s);
    if (close(s->fd) < 0 && s->error == 0)
        s->error = -errno;
    s->fd = -1;
    buf_free(&s->out);
    return s->error;
}
