/* dvm_zygote.c - see dvm_zygote.h. */
#include "daemon/dvm_zygote.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "daemon/prefork.h"

bool dvm_zygote_own_path(char *path, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", path, room);

    if (n <= 0 || (size_t)n >= room)
        return false;
    path[n] = '\0';
    return true;
}

bool dvm_zygote_is_own(struct slice command)
{
    char self[PATH_MAX];

    /* The kernel adds a word to the path of a file that has been removed or replaced. */
    return dvm_zygote_own_path(self, sizeof self) && slice_is(command, self);
}

bool dvm_zygote_is_ready(const struct dvm_zygote *z)
{
    return z->state == DVM_ZYGOTE_READY;
}

static void on_decided(void *arg, const char *why)
{
    struct dvm_zygote *z = arg;

    z->state = why ? DVM_ZYGOTE_FAILED : DVM_ZYGOTE_READY;
    if (!why)
        return;
    log_info(z->log, "daemons of jobs are started by exec: %s", why);
    zygote_close(&z->zygote);
}

static void load(struct dvm_zygote *z, struct loop *loop, const struct child_plan *like)
{
    struct arena a = ARENA_NULL(1 << 20);
    const char *library = prefork_library(&a);
    struct errmsg err = { "libwireup-prefork.so is not installed beside Wireup" };
    int rc = -1;

    if (library)
        rc = zygote_open(&z->zygote, loop, like, library, false, on_decided, z, &err);
    z->state = rc == 0 ? DVM_ZYGOTE_LOADING : DVM_ZYGOTE_FAILED;
    if (rc)
        log_info(z->log, "daemons of jobs are started by exec: %s", err.text);
    arena_free(&a);
}

int dvm_zygote_start(struct dvm_zygote *z, struct loop *loop, const struct log *log,
                     const struct child_plan *plan, pid_t *pid_p)
{
    z->log = log;
    if (z->state == DVM_ZYGOTE_NONE)
        load(z, loop, plan);
    if (z->state != DVM_ZYGOTE_READY)
        return DVM_ZYGOTE_NOT;
    if (zygote_child(&z->zygote, plan, pid_p) == 0)
        return 0;
    on_decided(z, "the process that is forked for them has ended or does not answer");
    return DVM_ZYGOTE_NOT;
}

bool dvm_zygote_reaped(struct dvm_zygote *z, pid_t pid)
{
    return z->state != DVM_ZYGOTE_NONE && zygote_reaped(&z->zygote, pid);
}

void dvm_zygote_close(struct dvm_zygote *z)
{
    if (z->state == DVM_ZYGOTE_LOADING || z->state == DVM_ZYGOTE_READY)
        zygote_close(&z->zygote);
    *z = (struct dvm_zygote){ .state = DVM_ZYGOTE_NONE };
}
