/* pmix_truth.c - see pmix_truth.h. */
#include "wire/pmix_truth.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The accepted words are those in OpenPMIx's documentation; a number is true unless it is 0. */
static pmix_boolean_t text_truth(const char *text)
{
    static const char *const yes[] = { "true", "yes", "t", "y", "enable" };
    static const char *const no[] = { "false", "no", "f", "n", "disable" };
    char *end;
    size_t n;

    while (isspace((unsigned char)*text))
        text++;
    n = strlen(text);
    while (n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    if (n == 0)
        return PMIX_BOOL_TRUE;
    if (isdigit((unsigned char)*text) ||
        ((*text == '-' || *text == '+') && n > 1 && isdigit((unsigned char)text[1])))
        return strtoll(text, &end, 10) != 0 ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strlen(yes[i]) == n && strncasecmp(yes[i], text, n) == 0)
            return PMIX_BOOL_TRUE;
        if (strlen(no[i]) == n && strncasecmp(no[i], text, n) == 0)
            return PMIX_BOOL_FALSE;
    }
    return PMIX_NON_BOOL;
}

pmix_boolean_t pmix_truth(const pmix_value_t *v)
{
    if (v->type == PMIX_UNDEF) /* the key alone means true */
        return PMIX_BOOL_TRUE;
    if (v->type == PMIX_BOOL)
        return v->data.flag ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    if (v->type == PMIX_STRING)
        return v->data.string != NULL ? text_truth(v->data.string) : PMIX_BOOL_TRUE;
    return PMIX_NON_BOOL;
}
