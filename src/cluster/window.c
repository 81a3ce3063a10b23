/* window.c - see window.h. */
#include "cluster/window.h"

#include "base/limit.h"

size_t window_room(const struct window *w)
{
    return (size_t)(LIMIT_CHANNEL_WINDOW - w->in_flight);
}

bool window_take(struct window *w, uint64_t bytes)
{
    if (bytes > window_room(w))
        return false;
    w->in_flight += bytes;
    return true;
}

bool window_give(struct window *w, uint64_t bytes)
{
    if (bytes > w->in_flight)
        return false;
    w->in_flight -= bytes;
    return true;
}
