/* dynlib.c - see dynlib.h. */
#include "base/dynlib.h"

#include <dlfcn.h>
#include <string.h>

/* The first function that is not there, or NULL. */
static const char *look_up(void *library, const struct dynlib_function *functions, size_t n,
                           void *calls)
{
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(library, functions[i].name);
        if (!address)
            return functions[i].name;
        memcpy((char *)calls + functions[i].offset, &address, sizeof address);
    }
    return NULL;
}

int dynlib_open(const char *soname, const struct dynlib_function *functions, size_t n, void *calls,
                void **library_p, struct errmsg *err)
{
    const char *missing;

    *library_p = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
    if (!*library_p) {
        const char *why = dlerror();
        return errmsg_set(err, DYNLIB_MISSING, "%.500s", why ? why : soname);
    }
    missing = look_up(*library_p, functions, n, calls);
    if (!missing)
        return 0;
    dynlib_close(library_p);
    return errmsg_set(err, DYNLIB_MISSING, "%s has no function %s", soname, missing);
}

void dynlib_close(void **library)
{
    if (*library)
        dlclose(*library);
    *library = NULL;
}

int dynlib_find(const struct dynlib_function *functions, size_t n, void *calls)
{
    return look_up(RTLD_DEFAULT, functions, n, calls) ? DYNLIB_MISSING : 0;
}
