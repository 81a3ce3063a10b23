/* manner.c - see manner.h. */
#include "tools/conform/manner.h"

#include <string.h>

const char *const manner_names[MANNERS] = { [MANNER_PLAIN] = "runs",
                                            [MANNER_PIECES] = "pieces",
                                            [MANNER_UNKNOWN] = "unknown-tuples",
                                            [MANNER_ORDER] = "other-order" };

const char *const judgement_names[JUDGEMENTS] = { [JUDGEMENT_READABLE] = "readable",
                                                  [JUDGEMENT_BEGINS] = "begins",
                                                  [JUDGEMENT_ENDS] = "ends",
                                                  [JUDGEMENT_LIMITS] = "limits" };

enum manner manner_named(const char *name)
{
    for (int i = 0; i < MANNERS; i++) {
        if (!strcmp(manner_names[i], name))
            return (enum manner)i;
    }
    return MANNER_PLAIN;
}
