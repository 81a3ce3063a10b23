/* ubsan_log.h - lets what UndefinedBehaviorSanitizer finds be read where the other sanitizers' reports are.
 *
 * gcc's run-time library of that sanitizer ignores log_path where AddressSanitizer's is loaded, too: its call that sets the
 * path reaches the function of the same name in the other library.  So it is set here, when a program or a library of ours
 * is loaded (src/base/meson.build includes this file).  Nobody reads what most daemons write to standard error.
 */
#ifdef __SANITIZE_ADDRESS__
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last one holds, written as tests/e2e/lib.sh does. */
static const char *ubsan_log_option(void)
{
    const char *options = getenv("UBSAN_OPTIONS"), *last = NULL;

    while (options && (options = strstr(options, "log_path='")))
        last = options++;
    return last;
}

/* Other compilers have one library for both. */
__attribute__((constructor)) static void ubsan_log_set_path(void)
{
    const char *option = ubsan_log_option();
    void *library = option ? dlopen("libubsan.so.1", RTLD_NOLOAD | RTLD_LAZY) : NULL;
    void (*set)(const char *path) = NULL;
    char path[4096];

    if (!library)
        return;
    *(void **)&set = dlsym(library, "__sanitizer_set_report_path");
    if (set && sscanf(option, "log_path='%4095[^']", path) == 1)
        set(path);
    dlclose(library);
}
#endif
