/* client_stdin.c - see client_stdin.h. */
#include "lib/pmix/client/client_stdin.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/pmix/client/client.h"
#include "lib/pmix/client/client_progress.h"
#include "lib/pmix/values/value.h"

enum { PIECE = 16 * 1024 };

void client_stdin_init(struct client_stdin *i)
{
    *i = (struct client_stdin){ .answered = PTHREAD_COND_INITIALIZER, .stop_fd = -1 };
}

static void clear(struct client_stdin *i)
{
    if (i->stop_fd >= 0)
        close(i->stop_fd);
    free(i->procs);
    client_stdin_init(i);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void piece_answered(struct op *op)
{
    struct client *c = op->cbdata;

    client_lock(c);
    c->input.awaited = false;
    c->input.status = op->status;
    pthread_cond_signal(&c->input.answered);
    client_unlock(c);
}

static const struct op_kind piece_kind = { .deliver = piece_answered };

/* No bytes: the end. */
static pmix_status_t begin_piece(struct client *c, struct message *m, struct slice bytes)
{
    pmix_info_t end = { .value = { .type = PMIX_BOOL, .data.flag = true } };
    pmix_status_t rc = message_begin(c, m, CMD_IOF_PUSH);

    if (rc != PMIX_SUCCESS)
        return rc;
    PMIx_Load_key(end.key, PMIX_IOF_COMPLETE);
    message_put(m, iof_push,
                { .has = PMSG_BIT(iof_push, bytes),
                  .procs = PMSG_LENT(c->input.procs, c->input.nprocs),
                  .infos = PMSG_LENT(&end, bytes.len == 0),
                  .bytes = bytes });
    return PMIX_SUCCESS;
}

/* Returns when the piece has been taken; false: nobody takes more. */
static bool send_piece(struct client *c, struct slice bytes)
{
    struct client_stdin *i = &c->input;
    struct op *op = op_new(&piece_kind, c);
    struct message m;

    if (!op || begin_piece(c, &m, bytes) != PMIX_SUCCESS) {
        op_free(op);
        return false;
    }
    i->awaited = true;
    if (progress_send(&m, op) != PMIX_SUCCESS)
        return false;
    while (i->awaited && !i->ending)
        pthread_cond_wait(&i->answered, &c->gate->mutex);
    return !i->ending && i->status == PMIX_SUCCESS;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* 0: the end, a failure, or the stop. */
static size_t read_piece(int stop_fd, char *bytes)
{
    struct pollfd p[] = { { STDIN_FILENO, POLLIN, 0 }, { stop_fd, POLLIN, 0 } };
    ssize_t n;

    do {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return 0;
        if (p[1].revents)
            return 0;
        n = read(STDIN_FILENO, bytes, PIECE);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    return n > 0 ? (size_t)n : 0;
}

static void *forward(void *arg)
{
    struct client *c = arg;
    int stop_fd = c->input.stop_fd; /* as long as this thread lives */
    char bytes[PIECE];
    bool more = true;

    while (more) {
        size_t n = read_piece(stop_fd, bytes);
        client_lock(c);
        more = !c->input.ending && send_piece(c, slice_mem(bytes, n)) && n;
        c->input.done = !more;
        client_unlock(c);
    }
    return NULL;
}

/* ---- beginning and ending -------------------------------------------------------------------- */

/* Signals are the program's business: only its own threads get them. */
static bool start_thread(struct client *c)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&c->input.thread, NULL, forward, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0;
}

static void join(struct client *c, pthread_t thread)
{
    client_unlock(c);
    pthread_join(thread, NULL);
    client_lock(c);
}

/* The thread has done all that it does.  It is forgotten first: other threads may come meanwhile.
 */
static void forget_thread(struct client *c)
{
    pthread_t thread = c->input.thread;

    clear(&c->input);
    join(c, thread);
}

pmix_status_t client_stdin_start(struct client *c, const pmix_proc_t *procs, size_t nprocs)
{
    struct client_stdin *i = &c->input;
    pmix_status_t rc = progress_need(c);

    if (rc != PMIX_SUCCESS)
        return rc;
    if (i->started && i->done)
        forget_thread(c);
    if (i->started)
        return PMIX_ERR_RESOURCE_BUSY;
    i->procs = malloc(nprocs * sizeof *procs);
    i->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (i->procs && i->stop_fd >= 0) {
        memcpy(i->procs, procs, nprocs * sizeof *procs);
        i->nprocs = nprocs;
        i->started = start_thread(c);
    }
    if (i->started)
        return PMIX_SUCCESS;
    clear(i);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

static void wake(const struct client_stdin *i)
{
    const uint64_t one = 1;

    if (write(i->stop_fd, &one, sizeof one) < 0)
        return; /* it is readable already */
}

bool client_stdin_close(struct client *c)
{
    bool reads = c->input.started && !c->input.done;

    if (reads)
        wake(&c->input);
    return reads;
}

void client_stdin_stop(struct client *c)
{
    if (!c->input.started)
        return;
    c->input.ending = true;
    pthread_cond_signal(&c->input.answered);
    wake(&c->input);
    join(c, c->input.thread);
    clear(&c->input);
}

void client_stdin_abandon(struct client_stdin *i)
{
    clear(i);
}
