/* dynlib_test.c - opening libraries: one that exists, one that does not, and a missing function. */
#include "base/dynlib.h"

#include <string.h>

#include "tests/tap.h"

struct calls {
    void *library;
    size_t (*length)(const char *text);
    void (*absent)(void);
};

static const struct dynlib_function functions[] = {
    { "strlen", offsetof(struct calls, length) },
    { "no_library_has_this", offsetof(struct calls, absent) },
};

int main(void)
{
    struct calls c = { NULL, NULL, NULL };
    struct errmsg err = { "" };

    EQ(dynlib_open("libc.so.6", functions, 1, &c, &c.library, &err), 0);
    OK(c.library && c.length && c.length("four") == 4);
    dynlib_close(&c.library);
    OK(!c.library);
    dynlib_close(&c.library);

    EQ(dynlib_open("libno-such.so.1", functions, 1, &c, &c.library, &err), DYNLIB_MISSING);
    OK(!c.library && strstr(err.text, "libno-such.so.1"));
    EQ(dynlib_open("libc.so.6", functions, 2, &c, &c.library, &err), DYNLIB_MISSING);
    OK(!c.library && strstr(err.text, "libc.so.6 has no function no_library_has_this"));
    EQ(dynlib_open("libno-such.so.1", functions, 1, &c, &c.library, NULL), DYNLIB_MISSING);

    c.length = NULL;
    EQ(dynlib_find(functions, 1, &c), 0);
    OK(c.length && c.length("four") == 4);
    EQ(dynlib_find(functions, 2, &c), DYNLIB_MISSING);
    return tap_done();
}
