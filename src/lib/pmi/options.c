/* options.c - see options.h. */
#include "lib/pmi/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "PMI_";

const char options_text[] =
    "Options for the process manager interface:\n"
    "  PMI_NAME=VALUE   a word of this form is taken out of the command line and becomes\n"
    "                   the pair (PMI_NAME, VALUE)\n";

bool options_is_one(const char *word)
{
    const char *name =
        word && strncmp(word, prefix, sizeof prefix - 1) == 0 ? word + sizeof prefix - 1 : NULL;
    const char *equals = name ? strchr(name, '=') : NULL;

    return equals && equals != name;
}

static int to_pair(const char *word, PMI_keyval_t *pair)
{
    const char *equals = strchr(word, '=');

    pair->key = strndup(word, (size_t)(equals - word));
    pair->val = strdup(equals + 1);
    return pair->key && pair->val ? 0 : -ENOMEM;
}

int options_to_pairs(char *const *words, int nwords, PMI_keyval_t **pairs_p, int *n_p)
{
    PMI_keyval_t *pairs = NULL;
    int n = 0, done = 0;

    for (int i = 0; i < nwords; i++)
        n += options_is_one(words[i]);
    if (n && !(pairs = calloc((size_t)n, sizeof *pairs)))
        return -ENOMEM;
    for (int i = 0; i < nwords; i++) {
        if (options_is_one(words[i]) && to_pair(words[i], &pairs[done++]) < 0) {
            options_free(pairs, n);
            return -ENOMEM;
        }
    }
    *pairs_p = pairs;
    *n_p = n;
    return 0;
}

void options_free(PMI_keyval_t *pairs, int n)
{
    for (int i = 0; i < n; i++) {
        free((void *)(uintptr_t)pairs[i].key);
        free(pairs[i].val);
    }
    free(pairs);
}
