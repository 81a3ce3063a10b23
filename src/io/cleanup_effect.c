/* cleanup_effect.c - see cleanup_effect.h. */
#include "io/cleanup_effect.h"

#include "core/control.h"
#include "core/effect.h"

struct cleanup_order cleanup_of(const struct op_cleanup *e)
{
    return (struct cleanup_order){ .path = e->path,
                                   .stay = e->keep,
                                   .uid = geteuid(),
                                   .directory = e->flags & CLEANUP_DIRECTORY,
                                   .recursive = e->flags & CLEANUP_RECURSIVE,
                                   .empty_only = e->flags & CLEANUP_EMPTY_ONLY,
                                   .leave_top = e->flags & CLEANUP_LEAVE_TOP };
}
