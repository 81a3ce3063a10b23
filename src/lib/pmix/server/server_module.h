/* server_module.h - the host's functions, whatever the size of its module struct. */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_MODULE_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_MODULE_H

#include "lib/pmix/server/server.h"

void smodule_take(struct pserver *s, const pmix_server_module_t *m, size_t members);
/* The number of members the struct surely has; caller: an address in the code that has called
 * us. */
size_t smodule_members(const void *module, const void *caller);

#endif
