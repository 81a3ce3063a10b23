/* spawn_words.h - the words behind a ':' of map-by and bind-to in a spawn request.
 *
 * Some of them are options by themselves, as on the command line (option_words.h): they become
 * infos of their own, and the rest stays.  pe-list=LIST is cpu-list.
 */
#ifndef WIREUP_LAUNCH_SPAWN_WORDS_H
#define WIREUP_LAUNCH_SPAWN_WORDS_H

#include "base/err.h"
#include "core/spawn.h"

/* The infos of the command are replaced, in the arena.  0; SPAWN_BAD_REQUEST with a sentence: a
 * word is refused; -ENOMEM. */
int spawn_words_take(struct arena *a, struct spawn_command *c, struct errmsg *err);

#endif
