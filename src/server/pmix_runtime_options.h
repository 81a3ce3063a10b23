/* pmix_runtime_options.h - the value of PMIX_RUNTIME_OPTIONS: words of PRRTE's option of that name,
 * each with the info of a spawn request (core/spawn.h) that stands for it. */
#ifndef WIREUP_SERVER_PMIX_RUNTIME_OPTIONS_H
#define WIREUP_SERVER_PMIX_RUNTIME_OPTIONS_H

#include <stdbool.h>

#include "base/slice.h"

struct runtime_option {
    const char *key; /* of the info; NULL: none, it holds in any case */
    struct slice value;
};

/* Takes the next word from the list: "NAME" or "NAME=VALUE", in any case of letters.  False: it is
 * not known, its value is wrong, or it asks for what is not done. */
bool runtime_options_next(struct slice *list, struct runtime_option *o_p);

#endif
