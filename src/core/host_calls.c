/* host_calls.c - see host_calls.h. */
#include "core/host_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void host_call_free(struct host_call *c)
{
    for (size_t i = 0; c->attrs && i < c->nattrs; i++) {
        free((char *)(uintptr_t)c->attrs[i].name);
        free((char *)(uintptr_t)c->attrs[i].key);
    }
    free(c->attrs);
    free(c->function);
    free(c);
}

/* False: no memory; the caller frees what there is. */
static bool fill(struct host_call *c, const char *function, const struct host_attr *attrs)
{
    bool good;

    c->function = strdup(function);
    good = c->function && c->attrs;
    for (size_t i = 0; c->attrs && i < c->nattrs; i++) {
        c->attrs[i] =
            (struct host_attr){ strdup(attrs[i].name), strdup(attrs[i].key), attrs[i].type };
        good = good && c->attrs[i].name && c->attrs[i].key;
    }
    return good;
}

int host_calls_add(struct list *calls, const char *function, const struct host_attr *attrs,
                   size_t n)
{
    struct host_call *c;

    LIST_EACH(l, calls)
    {
        if (strcmp(LIST_OF(l, struct host_call, link)->function, function) == 0)
            return HOST_CALLS_TWICE;
    }
    c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    c->nattrs = n;
    c->attrs = calloc(n + 1, sizeof *c->attrs);
    if (!fill(c, function, attrs)) {
        host_call_free(c);
        return -ENOMEM;
    }
    list_append(calls, &c->link);
    return 0;
}

void host_calls_free(struct list *calls)
{
    LIST_EACH(l, calls)
    {
        list_unlink(l);
        host_call_free(LIST_OF(l, struct host_call, link));
    }
}
