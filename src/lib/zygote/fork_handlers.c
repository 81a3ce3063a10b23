/* fork_handlers.c - see fork_handlers.h.
 *
 * pthread_atfork() is linked into each library, and calls __register_atfork() of the C library;
 * ours comes first, notes the handlers, and passes them on.
 */
#include "lib/zygote/fork_handlers.h"

#include <errno.h>
#include <stddef.h>

#include "lib/zygote/names.h"

#define EXPORT __attribute__((visibility("default")))

typedef void handler(void);
typedef int register_fn(handler *prepare, handler *parent, handler *child, void *library);

enum { HANDLERS_MAX = 64 };

static struct {
    bool noting, lost;
    unsigned n;
    struct {
        handler *prepare, *parent, *child;
    } all[HANDLERS_MAX];
} state;

EXPORT register_fn __register_atfork;

EXPORT int __register_atfork(handler *prepare, handler *parent, handler *child, void *library)
{
    static register_fn *next;

    if (!next)
        next = (register_fn *)names_hidden("__register_atfork");
    if (!next)
        return ENOMEM;
    if (state.noting && state.n < HANDLERS_MAX) {
        state.all[state.n].prepare = prepare;
        state.all[state.n].parent = parent;
        state.all[state.n++].child = child;
    } else {
        state.lost |= state.noting;
    }
    return next(prepare, parent, child, library);
}

void fork_handlers_begin(void)
{
    state.noting = true;
}

bool fork_handlers_end(void)
{
    state.noting = false;
    return !state.lost;
}

/* Its library may have been unloaded again. */
static void call(handler *h)
{
    if (h && names_are_loaded(h))
        h();
}

void fork_handlers_prepare(void)
{
    for (unsigned i = state.n; i-- > 0;)
        call(state.all[i].prepare);
}

void fork_handlers_parent(void)
{
    for (unsigned i = 0; i < state.n; i++)
        call(state.all[i].parent);
}

void fork_handlers_child(void)
{
    for (unsigned i = 0; i < state.n; i++)
        call(state.all[i].child);
}
