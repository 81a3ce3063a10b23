/* spawn_texts.h - texts of spawn requests and of their answers, as PMI-1 and PMI-2 have them. */
#ifndef WIREUP_LIB_COMMON_SPAWN_TEXTS_H
#define WIREUP_LIB_COMMON_SPAWN_TEXTS_H

#include "base/arena.h"
#include "wire/text.h"

/* Key and value; the strings are the caller's.  A value may be NULL: it is empty. */
struct spawn_pair_text {
    const char *key, *value;
};

/* As a message has them: two lists in the arena, which point to the caller's strings. */
void spawn_texts_pairs(struct arena *a, const struct spawn_pair_text *pairs, uint32_t n,
                       struct text_list *keys, struct text_list *values);

/* Reads `1,0,...`, one number per process, into errors (NULL: nothing); missing ones get the value
 * of `otherwise`. */
void spawn_texts_errors(struct slice codes, int *errors, uint32_t nprocs, int otherwise);

#endif
