/* psets.c - see psets.h. */
#include "core/psets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_free(struct pset *p)
{
    list_unlink(&p->link);
    free(p->members);
    free(p);
}

struct pset *psets_find(const struct list *sets, const char *name)
{
    LIST_EACH(l, sets)
    {
        struct pset *p = LIST_OF(l, struct pset, link);
        if (!strcmp(p->name, name))
            return p;
    }
    return NULL;
}

int psets_define(struct list *sets, const char *name, const struct pset_member *members, size_t n)
{
    struct pset *p = calloc(1, sizeof *p + strlen(name) + 1);

    if (p)
        p->members = calloc(n + 1, sizeof *p->members);
    if (!p || !p->members) {
        free(p);
        return -ENOMEM;
    }
    if (n)
        memcpy(p->members, members, n * sizeof *members);
    p->n = n;
    memcpy(p->name, name, strlen(name) + 1);
    psets_delete(sets, name);
    list_append(sets, &p->link);
    return 0;
}

bool psets_delete(struct list *sets, const char *name)
{
    struct pset *p = psets_find(sets, name);

    if (p)
        set_free(p);
    return p != NULL;
}

int psets_add(struct list *sets, const char *name, const struct pset_member *members, size_t n)
{
    struct pset *p = psets_find(sets, name);
    struct pset_member *more = p ? realloc(p->members, (p->n + n + 1) * sizeof *more) : NULL;

    if (!p)
        return psets_define(sets, name, members, n);
    if (!more)
        return -ENOMEM;
    if (n)
        memcpy(more + p->n, members, n * sizeof *members);
    p->members = more;
    p->n += n;
    return 0;
}

bool pset_leave(struct pset *p, const char *nspace)
{
    size_t left = 0, before = p->n;

    for (size_t i = 0; i < before; i++) {
        if (strcmp(p->members[i].nspace, nspace) != 0)
            p->members[left++] = p->members[i];
    }
    p->n = left;
    return left < before;
}

void psets_job_ended(struct list *sets, const char *nspace)
{
    LIST_EACH(l, sets)
    {
        struct pset *p = LIST_OF(l, struct pset, link);
        if (pset_leave(p, nspace) && p->n == 0)
            set_free(p);
    }
}

void psets_free(struct list *sets)
{
    LIST_EACH(l, sets)
    set_free(LIST_OF(l, struct pset, link));
}
