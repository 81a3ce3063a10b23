/* cleanup_effect.h - the clean-up that EFFECT_cleanup describes. */
#ifndef WIREUP_IO_CLEANUP_EFFECT_H
#define WIREUP_IO_CLEANUP_EFFECT_H

#include "io/cleanup.h"

struct op_cleanup;

/* In our own root, of entries of our own user; the slices are the effect's. */
struct cleanup_order cleanup_of(const struct op_cleanup *e);

#endif
