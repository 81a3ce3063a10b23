/* names.h - functions by their name, of this process. */
#ifndef WIREUP_LIB_ZYGOTE_NAMES_H
#define WIREUP_LIB_ZYGOTE_NAMES_H

#include <stdbool.h>

typedef void any_function(void);

/* The one that ours of the same name hides; NULL: there is none. */
any_function *names_hidden(const char *name);

/* Whether anything in the process has the name. */
bool names_exist(const char *name);

/* Whether it belongs to a library that is loaded still. */
bool names_are_loaded(any_function *f);

#endif
