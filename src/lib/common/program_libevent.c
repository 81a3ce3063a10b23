/* program_libevent.c - see program_libevent.h. */
#include "lib/common/program_libevent.h"

#include "base/dynlib.h"

static const struct dynlib_function functions[] = {
    { "event_new", offsetof(struct program_libevent, event_new) },
    { "event_add", offsetof(struct program_libevent, event_add) },
    { "event_free", offsetof(struct program_libevent, event_free) },
};

bool program_libevent_find(struct program_libevent *l)
{
    return dynlib_find(functions, sizeof functions / sizeof *functions, l) == 0;
}
