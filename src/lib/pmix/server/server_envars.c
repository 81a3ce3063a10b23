/* server_envars.c - see server_envars.h. */
#include "lib/pmix/server/server_envars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/server/server_infos.h"
#include "pmix.h"
#include "base/env.h"

typedef pmix_status_t change_fn(const pmix_envar_t *v, char ***env);

void envars_unset(char **env, const char *name)
{
    size_t len = strlen(name), at = 0;

    if (!env)
        return;
    for (char **v = env; *v; v++) {
        if (!strncmp(*v, name, len) && (*v)[len] == '=')
            free(*v);
        else
            env[at++] = *v;
    }
    env[at] = NULL;
}

static pmix_status_t set(const pmix_envar_t *v, char ***env)
{
    return PMIx_Setenv(v->envar, v->value ? v->value : "", true, env);
}

static pmix_status_t add(const pmix_envar_t *v, char ***env)
{
    return env_value(*env, v->envar) ? PMIX_SUCCESS : set(v, env);
}

static pmix_status_t unset(const pmix_envar_t *v, char ***env)
{
    envars_unset(*env, v->envar);
    return PMIX_SUCCESS;
}

/* An empty list has no separator. */
static pmix_status_t join(const pmix_envar_t *v, const char *first, const char *last, char ***env)
{
    pmix_status_t rc;
    char *text;

    if (asprintf(&text, "%s%.*s%s", first, *first && *last ? 1 : 0, &v->separator, last) < 0)
        return PMIX_ERR_NOMEM;
    rc = PMIx_Setenv(v->envar, text, true, env);
    free(text);
    return rc;
}

static pmix_status_t prepend(const pmix_envar_t *v, char ***env)
{
    const char *old = env_value(*env, v->envar);

    return join(v, v->value ? v->value : "", old ? old : "", env);
}

static pmix_status_t append(const pmix_envar_t *v, char ***env)
{
    const char *old = env_value(*env, v->envar);

    return join(v, old ? old : "", v->value ? v->value : "", env);
}

/* The words of the list but this one. */
static char *without(const char *list, const char *word, char separator)
{
    char *rest = malloc(strlen(list) + 1), *end = rest;
    size_t len = strlen(word);

    for (const char *at = list; rest && *at;) {
        size_t n = (size_t)(strchrnul(at, separator) - at);
        if (n != len || strncmp(at, word, len) != 0) {
            if (end != rest)
                *end++ = separator;
            end = mempcpy(end, at, n);
        }
        at += n + (at[n] != '\0');
    }
    if (rest)
        *end = '\0';
    return rest;
}

static pmix_status_t put_first(const pmix_envar_t *v, char ***env)
{
    const char *old = env_value(*env, v->envar), *value = v->value ? v->value : "";
    char *rest = without(old ? old : "", value, v->separator);
    pmix_status_t rc = rest ? join(v, value, rest, env) : PMIX_ERR_NOMEM;

    free(rest);
    return rc;
}

static const struct {
    const char *key;
    change_fn *fn;
} changes[] = { { PMIX_SET_ENVAR, set },       { PMIX_ADD_ENVAR, add },
                { PMIX_UNSET_ENVAR, unset },   { PMIX_PREPEND_ENVAR, prepend },
                { PMIX_APPEND_ENVAR, append }, { PMIX_FIRST_ENVAR, put_first } };

static change_fn *change_of(const char *key)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (PMIx_Check_key(key, changes[i].key))
            return changes[i].fn;
    }
    return NULL;
}

/* The variable to be removed is a text. */
static pmix_envar_t envar_of(const pmix_info_t *info)
{
    return info->value.type == PMIX_ENVAR    ? info->value.data.envar
           : info->value.type == PMIX_STRING ? (pmix_envar_t){ .envar = info->value.data.string }
                                             : (pmix_envar_t){ .envar = NULL };
}

bool envars_is_change(const pmix_info_t *info)
{
    pmix_envar_t v = envar_of(info);

    return change_of(info->key) && v.envar && *v.envar;
}

static pmix_status_t change(const pmix_info_t *info, char ***env)
{
    pmix_envar_t v = envar_of(info);

    return change_of(info->key)(&v, env);
}

pmix_status_t envars_keep(struct list *list, const pmix_info_t *infos, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (envars_is_change(&infos[i]) && !registered_add(list, &infos[i]))
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

pmix_status_t envars_apply(const struct list *list, char ***env)
{
    pmix_status_t rc = PMIX_SUCCESS;

    LIST_EACH(l, (struct list *)(uintptr_t)list)
    {
        if (rc == PMIX_SUCCESS)
            rc = change(&LIST_OF(l, struct registered_info, link)->info, env);
    }
    return rc;
}
