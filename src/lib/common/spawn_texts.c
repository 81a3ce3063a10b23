/* spawn_texts.c - see spawn_texts.h. */
#include "lib/common/spawn_texts.h"

void spawn_texts_pairs(struct arena *a, const struct spawn_pair_text *pairs, uint32_t n,
                       struct text_list *keys, struct text_list *values)
{
    keys->items = arena_array(a, n, sizeof *keys->items);
    values->items = arena_array(a, n, sizeof *values->items);
    if (!arena_ok(a))
        return;
    for (uint32_t i = 0; i < n; i++) {
        keys->items[i] = slice_str(pairs[i].key);
        values->items[i] = slice_str(pairs[i].value ? pairs[i].value : "");
    }
    keys->n = values->n = n;
}

void spawn_texts_errors(struct slice codes, int *errors, uint32_t nprocs, int otherwise)
{
    for (uint32_t i = 0; errors && i < nprocs; i++) {
        struct slice word = slice_cut(&codes, ',');
        if (!slice_int(word, &errors[i]))
            errors[i] = otherwise;
    }
}
