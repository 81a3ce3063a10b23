/* env.h - looks up a variable in an environment that is not this process's own. */
#ifndef WIREUP_BASE_ENV_H
#define WIREUP_BASE_ENV_H

#include <string.h>

/* The value of a name in a NULL-terminated list of NAME=VALUE, or NULL.  env may be NULL. */
static inline const char *env_value(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; env && *env; env++) {
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    }
    return NULL;
}

#endif
