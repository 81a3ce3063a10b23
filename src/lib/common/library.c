/* library.c - see library.h. */
#include "lib/common/library.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "lib/common/launcher.h"

bool library_enter(struct library *l, struct errmsg *err)
{
    lock_lock(&l->gate);
    if (l->member && !l->forked) {
        l->users++;
        return true;
    }
    errmsg_set(
        err, 0, "%s",
        l->forked
            ? "this process was forked from a process that uses PMI, and cannot use its connection"
            : "the library was not initialized, or is finalized");
    lock_unlock(&l->gate);
    return false;
}

void library_leave(struct library *l)
{
    if (--l->users == 0)
        lock_wake(&l->gate);
    lock_unlock(&l->gate);
}

bool library_is_there(struct library *l)
{
    bool is;

    lock_lock(&l->gate);
    is = l->member && !l->forked;
    lock_unlock(&l->gate);
    return is;
}

enum library_state library_begin(struct library *l, struct errmsg *err)
{
    lock_lock(&l->gate);
    while (l->moving)
        lock_wait(&l->gate);
    if (l->forked) {
        errmsg_set(
            err, 0,
            "this process was forked from a process that uses PMI, and cannot use its connection");
        return LIBRARY_FORKED;
    }
    if (l->member)
        return LIBRARY_READY;
    l->moving = true;
    return LIBRARY_ABSENT;
}

void library_begun(struct library *l, void *member)
{
    l->member = member;
    if (l->moving) {
        l->moving = false;
        lock_wake(&l->gate);
    }
    lock_unlock(&l->gate);
}

static void set_debug(struct library *l, bool on)
{
    __atomic_store_n(&l->debug, on, __ATOMIC_RELAXED);
}

/* Registers the fork handler, once.  Locked, while ABSENT.  0 or -ENOMEM. */
static int watch_forks(struct library *l, void (*after)(void), struct errmsg *err)
{
    if (!l->watched)
        l->watched = pthread_atfork(NULL, NULL, after) == 0;
    return l->watched ? 0 : errmsg_set(err, -ENOMEM, "out of memory");
}

int library_prepare(struct library *l, struct client_env *env, void (*after)(void),
                    struct errmsg *err)
{
    int rc = client_env_read(env, err);

    set_debug(l, env->debug);
    if (rc == 0)
        rc = watch_forks(l, after, err);
    if (rc || l->unmanaged || env->fd >= 0 || env->port || !launcher_found_here(LAUNCHER_PMI, err))
        return rc;
    set_debug(l, true); /* otherwise the reason would be invisible */
    return 1;
}

/* No other thread exists here, so a thread that held the lock does not either. */
void library_forked(struct library *l)
{
    lock_reset(&l->gate);
    l->users = 0;
    l->moving = false;
    l->forked = l->member != NULL;
}

void *library_end(struct library *l)
{
    void *member;

    lock_lock(&l->gate);
    while (l->moving)
        lock_wait(&l->gate);
    if (!l->member || l->forked)
        return NULL;
    member = l->member;
    l->member = NULL; /* no new calls */
    l->moving = true;
    while (l->users)
        lock_wait(&l->gate);
    return member;
}

void library_ended(struct library *l)
{
    if (l->moving) {
        l->moving = false;
        lock_wake(&l->gate);
    }
    lock_unlock(&l->gate);
}

int library_refuse(struct library *l, const char *function, int code, const char *why)
{
    const struct log log = { STDERR_FILENO, LOG_ERROR, l->name, NULL };

    if (__atomic_load_n(&l->debug, __ATOMIC_RELAXED))
        log_error(&log, "%s: %s", function, why);
    return code;
}

void library_print(const char *text)
{
    size_t len = strlen(text);
    bool ends = len && text[len - 1] == '\n';

    while (len) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n < 0 && errno != EINTR)
            return;
        text += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    if (!ends && write(STDERR_FILENO, "\n", 1) < 0)
        return;
}
