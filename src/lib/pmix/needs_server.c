/* needs_server.c - the calls that need a server: what each answers before any init.
 *
 * The Standard gives one answer for all of them, PMIX_ERR_INIT; starting a client or a tool where
 * no server can be found is PMIX_ERR_UNREACH.
 */
#include "pmix_tool.h"

/* Every parameter is the Standard's, and nothing is to be done with it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define ANSWERS(status, name, ...)                                                                 \
    pmix_status_t name(__VA_ARGS__)                                                                \
    {                                                                                              \
        return (status);                                                                           \
    }
#define NEEDS_INIT(name, ...) ANSWERS(PMIX_ERR_INIT, name, __VA_ARGS__)

/* ---- Clients -------------------------------------------------------------------------------- */

void PMIx_Progress_thread_stop(const pmix_info_t *info, size_t ninfo)
{
}

/* ---- Tools ---------------------------------------------------------------------------------- */

NEEDS_INIT(PMIx_tool_set_server_module, pmix_server_module_t *module)
