/* hwloc_dl.c - see hwloc_dl.h. */
#include "topo/hwloc_dl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/privilege.h"

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define HWLOC_FN(result, name, parameters) { "hwloc_" #name, offsetof(struct hwloc_dl, name) },
#include "topo/hwloc_dl.def"
#undef HWLOC_FN
};

static int missing(struct hwloc_dl *h, struct errmsg *err, const char *why)
{
    int rc = errmsg_set(err, HWLOC_DL_MISSING, "the library hwloc cannot be used: %s", why);

    hwloc_dl_close(h);
    return rc;
}

int hwloc_dl_open(struct hwloc_dl *h, struct errmsg *err)
{
    memset(h, 0, sizeof *h);
    if (privilege_is_lent()) /* hwloc loads plugins from paths in the environment */
        return missing(h, err, "this program has rights that its user has not");
    h->library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (!h->library) {
        const char *why = dlerror();
        return missing(h, err, why ? why : "libhwloc.so.15 is not there");
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(h->library, functions[i].name);
        if (!address)
            return missing(h, err, functions[i].name);
        memcpy((char *)h + functions[i].offset, &address, sizeof address);
    }
    if (h->get_api_version() >> 16 != HWLOC_API_VERSION >> 16)
        return missing(h, err, "it is of another generation than the one this was built for");
    return 0;
}

void hwloc_dl_close(struct hwloc_dl *h)
{
    if (h->library)
        dlclose(h->library);
    memset(h, 0, sizeof *h);
}
