/* names.c - see names.h. */
#include "lib/zygote/names.h"

#include <dlfcn.h>

any_function *names_hidden(const char *name)
{
    return (any_function *)dlsym(RTLD_NEXT, name);
}

bool names_exist(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool names_are_loaded(any_function *f)
{
    Dl_info info;

    return dladdr((void *)f, &info);
}
