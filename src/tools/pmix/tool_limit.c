/* tool_limit.c - see tool_limit.h. */
#include "tools/pmix/tool_limit.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/exit_now.h"

enum { SECONDS = 30, SECONDS_MAX = 1000000 };

static bool waits_by_wish(const struct tool_line *l)
{
    return l->values[OPTION_wait] || l->values[OPTION_timeout];
}

static uint64_t seconds_of(const struct tool_line *l)
{
    uint64_t seconds = waits_by_wish(l) ? 0 : SECONDS;

    tool_number(l, OPTION_give_up, SECONDS_MAX, &seconds);
    return seconds;
}

int tool_limit_check(const struct tool_line *l)
{
    uint64_t seconds = 0;

    return tool_number(l, OPTION_give_up, SECONDS_MAX, &seconds) ? TOOL_GO_ON : TOOL_USAGE;
}

static void *watch(void *arg)
{
    struct tool_limit *t = arg;
    struct pollfd p = { t->wake, POLLIN, 0 };
    int rc;

    do {
        rc = poll(&p, 1, (int)(t->seconds * 1000));
    } while (rc < 0 && errno == EINTR);
    pthread_mutex_lock(&t->lock);
    if (rc == 0 && !t->over) {
        log_error(&t->line->log, "the server%s%s has not answered for %llu s", t->server ? " " : "",
                  t->server ? t->server : "", (unsigned long long)t->seconds);
        if (t->late)
            t->late(t->arg);
        exit_now(TOOL_FAILED);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void tool_limit_begin(struct tool_limit *t)
{
    t->seconds = seconds_of(t->line);
    t->over = false;
    t->wake = t->seconds ? eventfd(0, EFD_CLOEXEC) : -1;
    pthread_mutex_init(&t->lock, NULL);
    if (t->wake >= 0 && pthread_create(&t->thread, NULL, watch, t) != 0) {
        close(t->wake); /* then there is no limit */
        t->wake = -1;
    }
}

void tool_limit_end(struct tool_limit *t)
{
    pthread_mutex_lock(&t->lock);
    t->over = true;
    pthread_mutex_unlock(&t->lock);
    if (t->wake >= 0) {
        eventfd_write(t->wake, 1);
        pthread_join(t->thread, NULL);
        close(t->wake);
    }
    pthread_mutex_destroy(&t->lock);
}
