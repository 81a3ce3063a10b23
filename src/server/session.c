/* session.c - see session.h. */
#include "server/session.h"

#include <string.h>

#include "core/core.h"

bool session_is_host(const struct peer *p)
{
    return p->core->name && !strcmp(p->job->nspace, p->core->name);
}
