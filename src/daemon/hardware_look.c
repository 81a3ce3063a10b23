/* hardware_look.c - see hardware_look.h.  What is found is the thread's until its address has been
 * received. */
#include "daemon/hardware_look.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limit.h"
#include "io/side_thread.h"
#include "topo/view_pack.h"

struct hardware_found {
    struct buf view;
    struct errmsg err;
};

static struct hardware_found look(void)
{
    struct hardware_found f = { .view = BUF_NULL(LIMIT_DAEMON_LINK_MESSAGE / 2),
                                .err = { "out of memory" } };
    struct bind_machine machine = { .looked = false };
    struct arena a = ARENA_NULL(1U << 30);

    if (bind_look_devices(&machine, &a, &f.err) == 0)
        view_pack(&machine, &f.view);
    arena_free(&a);
    return f;
}

static void report(const struct hardware_look *k, const struct hardware_found *f)
{
    k->fn(k->arg, buf_ok(&f->view) ? buf_slice(&f->view) : SLICE_NULL, f->err.text);
}

static void found_free(struct hardware_found *f)
{
    if (f)
        buf_free(&f->view);
    free(f);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *run(void *arg)
{
    int fd = (int)(intptr_t)arg;
    struct hardware_found *f = malloc(sizeof *f);

    if (f)
        *f = look();
    if (send(fd, &f, sizeof f, MSG_NOSIGNAL) < 0)
        found_free(f);
    close(fd);
    return NULL;
}

/* ---- the loop's side ------------------------------------------------------------------------- */

static struct hardware_found *receive(const struct hardware_look *k)
{
    struct hardware_found *f = NULL;

    return recv(k->fd, &f, sizeof f, MSG_DONTWAIT) == (ssize_t)sizeof f ? f : NULL;
}

static void on_found(void *arg)
{
    static const struct hardware_found none = { .view = { .error = BUF_NO_MEMORY },
                                                .err = { "out of memory" } };
    struct hardware_look *k = arg;
    struct hardware_found *f = receive(k);

    hardware_look_close(k);
    report(k, f ? f : &none);
    found_free(f);
}

static bool begin(struct hardware_look *k, struct loop *l)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
        return false;
    k->fd = fds[0];
    watch_open(&k->watch, l, k->fd, on_found, NULL, k);
    if (watch_want(&k->watch, LOOP_READ) == 0 &&
        side_thread_start(run, (void *)(intptr_t)fds[1]) == 0)
        return true;
    close(fds[1]);
    hardware_look_close(k);
    return false;
}

void hardware_look_begin(struct hardware_look *k, struct loop *l, hardware_look_fn *fn, void *arg)
{
    struct hardware_found f;

    *k = (struct hardware_look){ .fn = fn, .arg = arg };
    if (begin(k, l))
        return;
    f = look();
    report(k, &f);
    buf_free(&f.view);
}

void hardware_look_close(struct hardware_look *k)
{
    if (!k->watch.loop)
        return;
    watch_close(&k->watch);
    shutdown(k->fd, SHUT_RD); /* from here on the thread keeps what it finds */
    found_free(receive(k));
    close(k->fd);
}
