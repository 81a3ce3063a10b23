/* psets.h - named sets of processes, defined by the host, or by who starts them; clients query
 * their members. */
#ifndef WIREUP_CORE_PSETS_H
#define WIREUP_CORE_PSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct pset_member {
    char nspace[256];
    uint32_t rank;
};

struct pset {
    struct list link;
    struct pset_member *members;
    size_t n;
    char name[];
};

/* Replaces a set of the same name.  Members are copied.  0 or -ENOMEM. */
int psets_define(struct list *sets, const char *name, const struct pset_member *members, size_t n);
struct pset *psets_find(const struct list *sets, const char *name); /* NULL: there is none */
/* Adds members, none of which is in it, to the set of that name, or makes it.  0 or -ENOMEM. */
int psets_add(struct list *sets, const char *name, const struct pset_member *members, size_t n);
bool psets_delete(struct list *sets, const char *name);
/* Takes the processes of that job out of the set.  False: there was none. */
bool pset_leave(struct pset *p, const char *nspace);
/* They leave all sets; those without members are deleted. */
void psets_job_ended(struct list *sets, const char *nspace);
void psets_free(struct list *sets);

#endif
