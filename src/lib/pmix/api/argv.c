/* argv.c - NULL-terminated vectors of strings, and environments made of them.
 *
 * Every vector and every string in it is malloc'ed on its own, because programs free and replace
 * entries themselves.
 */
#include "pmix.h"

int PMIx_Argv_count(char **a)
{
    int n = 0;

    while (a != NULL && a[n] != NULL)
        n++;
    return n;
}

void PMIx_Argv_free(char **argv)
{
    if (argv == NULL)
        return;
    for (char **p = argv; *p != NULL; p++)
        free(*p);
    free(argv);
}

/* Inserts a copy of arg at index `at`. */
static pmix_status_t insert(char ***argv, size_t at, size_t count, const char *arg)
{
    char *text = strdup(arg);
    char **grown = text != NULL ? realloc(*argv, (count + 2) * sizeof(char *)) : NULL;

    if (grown == NULL) {
        free(text);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memmove(grown + at + 1, grown + at, (count - at) * sizeof(char *));
    grown[at] = text;
    grown[count + 1] = NULL;
    *argv = grown;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Argv_append_nosize(char ***argv, const char *arg)
{
    size_t count = (size_t)PMIx_Argv_count(*argv);

    return insert(argv, count, count, arg);
}

pmix_status_t PMIx_Argv_prepend_nosize(char ***argv, const char *arg)
{
    return insert(argv, 0, (size_t)PMIx_Argv_count(*argv), arg);
}

pmix_status_t PMIx_Argv_append_unique_nosize(char ***argv, const char *arg)
{
    for (char **p = *argv; p != NULL && *p != NULL; p++)
        if (strcmp(*p, arg) == 0)
            return PMIX_SUCCESS;
    return PMIx_Argv_append_nosize(argv, arg);
}

char **PMIx_Argv_copy(char **argv)
{
    size_t count = (size_t)PMIx_Argv_count(argv);
    char **copy = argv != NULL ? calloc(count + 1, sizeof(char *)) : NULL;

    for (size_t i = 0; copy != NULL && i < count; i++)
        if ((copy[i] = strdup(argv[i])) == NULL) {
            PMIx_Argv_free(copy);
            return NULL;
        }
    return copy;
}

/* Where a part ends: at the next delimiter, or with the string. */
static const char *part_end(const char *s, char delimiter)
{
    while (*s != '\0' && *s != delimiter)
        s++;
    return s;
}

char **PMIx_Argv_split_inter(const char *src_string, int delimiter, bool include_empty)
{
    char d = (char)delimiter;
    size_t count = 0;
    char **argv;

    /* A string that ends with a delimiter has no part after it. */
    for (const char *s = src_string, *e; s != NULL && *s != '\0'; s = *e ? e + 1 : e) {
        e = part_end(s, d);
        count += include_empty || e > s;
    }
    if (count == 0 || (argv = calloc(count + 1, sizeof(char *))) == NULL)
        return NULL;
    count = 0;
    for (const char *s = src_string, *e; *s != '\0'; s = *e ? e + 1 : e) {
        e = part_end(s, d);
        if (!include_empty && e == s)
            continue;
        if ((argv[count++] = strndup(s, (size_t)(e - s))) == NULL) {
            PMIx_Argv_free(argv);
            return NULL;
        }
    }
    return argv;
}

char **PMIx_Argv_split(const char *src_string, int delimiter)
{
    return PMIx_Argv_split_inter(src_string, delimiter, false);
}

char **PMIx_Argv_split_with_empty(const char *src_string, int delimiter)
{
    return PMIx_Argv_split_inter(src_string, delimiter, true);
}

char *PMIx_Argv_join(char **argv, int delimiter)
{
    size_t total = 0;
    char *joined, *at;

    for (char **p = argv; p != NULL && *p != NULL; p++)
        total += strlen(*p) + 1;
    joined = malloc(total + 1);
    if (joined == NULL)
        return NULL;
    at = joined;
    for (char **p = argv; p != NULL && *p != NULL; p++) {
        size_t n = strlen(*p);
        if (p != argv)
            *at++ = (char)delimiter;
        memcpy(at, *p, n);
        at += n;
    }
    *at = '\0';
    return joined;
}

/* ---- Environments --------------------------------------------------------------------------- */

static char *assignment(const char *name, const char *value)
{
    size_t n = strlen(name), v = value != NULL ? strlen(value) : 0;
    char *text = malloc(n + v + 2);

    if (text == NULL)
        return NULL;
    memcpy(text, name, n);
    text[n] = '=';
    if (v > 0)
        memcpy(text + n + 1, value, v);
    text[n + 1 + v] = '\0';
    return text;
}

static char **find(char **env, const char *name)
{
    size_t n = strlen(name);

    for (; env != NULL && *env != NULL; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return env;
    return NULL;
}

pmix_status_t PMIx_Setenv(const char *name, const char *value, bool overwrite, char ***env)
{
    char **place, *text;
    pmix_status_t rc;

    if (env == NULL || name == NULL)
        return PMIX_ERR_BAD_PARAM;
    if (*env == environ && environ != NULL) { /* the C library's own: only it may change it */
        int failed = value != NULL ? setenv(name, value, overwrite) : unsetenv(name);
        return failed ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    place = find(*env, name);
    if (place != NULL && !overwrite)
        return PMIX_ERR_EXISTS;
    text = assignment(name, value);
    if (text == NULL)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (place != NULL) {
        free(*place);
        *place = text;
        return PMIX_SUCCESS;
    }
    rc = PMIx_Argv_append_nosize(env, text);
    free(text);
    return rc;
}
