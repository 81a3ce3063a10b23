/* hwloc_dl.c - see hwloc_dl.h. */
#include "topo/hwloc_dl.h"

#include <string.h>

#include "base/dynlib.h"
#include "base/privilege.h"

DYNLIB_NOTE(SONAME_HWLOC, "hwloc", "Binding to cores, and topologies");

static const struct dynlib_function functions[] = {
#define HWLOC_FN(result, name, parameters) { "hwloc_" #name, offsetof(struct hwloc_dl, name) },
#include "topo/hwloc_dl.def"
#undef HWLOC_FN
};

static int missing(struct hwloc_dl *h, struct errmsg *err, const char *why)
{
    int rc = errmsg_set(err, HWLOC_DL_MISSING, "the library hwloc cannot be used: %.900s", why);

    hwloc_dl_close(h);
    return rc;
}

int hwloc_dl_open(struct hwloc_dl *h, struct errmsg *err)
{
    struct errmsg why;

    memset(h, 0, sizeof *h);
    if (privilege_is_lent()) /* hwloc loads plugins from paths in the environment */
        return missing(h, err, "this program has rights that its user has not");
    if (dynlib_open(SONAME_HWLOC, functions, sizeof functions / sizeof *functions, h, &h->library,
                    &why))
        return missing(h, err, why.text);
    if (h->get_api_version() >> 16 != HWLOC_API_VERSION >> 16)
        return missing(h, err, "it is of another generation than the one this was built for");
    return 0;
}

void hwloc_dl_close(struct hwloc_dl *h)
{
    dynlib_close(&h->library);
    memset(h, 0, sizeof *h);
}
