/* nameservice.c - see nameservice.h.  Copies first, then ranges, then the entries. */
#include "core/nameservice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *nameservice_op_name(enum nameservice_op op)
{
    static const char *const names[] = { [NAMESERVICE_LOOKUP] = "lookup",
                                         [NAMESERVICE_PUBLISH] = "publish",
                                         [NAMESERVICE_UNPUBLISH] = "unpublish" };

    return names[op];
}

/* ---- copies: a struct, then its lists, then its bytes, in one piece -------------------------- */

static size_t scope_bytes(const struct name_scope *s)
{
    size_t n = s->nspaces.n * sizeof *s->nspaces.items + s->ranks.n * sizeof *s->ranks.items;

    for (uint32_t i = 0; i < s->nspaces.n; i++)
        n += s->nspaces.items[i].len;
    return n;
}

static size_t access_bytes(const struct name_access *a)
{
    return (a->uids.n + a->gids.n) * sizeof *a->uids.items;
}

static struct slice move_text(char **at, struct slice s)
{
    char *to = *at;

    if (s.len)
        memcpy(to, s.ptr, s.len);
    *at += s.len;
    return slice_mem(to, s.len);
}

static void move_numbers(char **at, struct part_uints *p)
{
    uint32_t *to = (uint32_t *)(void *)*at;

    if (p->n)
        memcpy(to, p->items, p->n * sizeof *to);
    *at = (char *)(to + p->n);
    p->items = to;
}

/* The lists now lie at *at, which is aligned for them. */
static void move_lists(char **at, struct name_scope *s, struct name_access *a)
{
    struct slice *nspaces = (struct slice *)(void *)*at;

    *at = (char *)(nspaces + s->nspaces.n);
    move_numbers(at, &s->ranks);
    move_numbers(at, &a->uids);
    move_numbers(at, &a->gids);
    for (uint32_t i = 0; i < s->nspaces.n; i++)
        nspaces[i] = move_text(at, s->nspaces.items[i]);
    s->nspaces.items = nspaces;
}

struct nameservice_query *nameservice_query_new(const struct nameservice_query *like)
{
    struct nameservice_query *q =
        malloc(sizeof *q + scope_bytes(&like->scope) + access_bytes(&like->access) +
               like->service.len + like->port.len);
    char *at = (char *)(q + 1);

    if (!q)
        return NULL;
    *q = *like;
    move_lists(&at, &q->scope, &q->access);
    q->service = move_text(&at, like->service);
    q->port = move_text(&at, like->port);
    return q;
}

static struct name_entry *entry_new(const struct name_entry *like)
{
    size_t n = scope_bytes(&like->scope) + access_bytes(&like->access) + like->service.len +
               like->port.len + like->owner.nspace.len + like->owner.node.len;
    struct name_entry *e = malloc(sizeof *e + n);
    char *at = (char *)(e + 1);

    if (!e)
        return NULL;
    *e = *like;
    move_lists(&at, &e->scope, &e->access);
    e->service = move_text(&at, like->service);
    e->port = move_text(&at, like->port);
    e->owner.nspace = move_text(&at, like->owner.nspace);
    e->owner.node = move_text(&at, like->owner.node);
    list_init(&e->link);
    list_init(&e->same);
    return e;
}

void nameservice_wait_free(struct nameservice_wait *w)
{
    list_unlink(&w->link);
    free(w->query);
    free(w);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool is_listed(const struct name_scope *s, const struct name_proc *who)
{
    for (uint32_t i = 0; i < s->nspaces.n && i < s->ranks.n; i++) {
        if (slice_eq(s->nspaces.items[i], who->nspace) &&
            (s->ranks.items[i] == who->rank || s->ranks.items[i] == REQUEST_ALL_RANKS))
            return true;
    }
    return false;
}

static bool is_same_proc(const struct name_proc *a, const struct name_proc *b)
{
    return a->rank == b->rank && slice_eq(a->nspace, b->nspace);
}

/* Whether who is one of the processes that the scope means, as seen from `from`. */
static bool is_in(const struct name_scope *scope, const struct name_proc *from,
                  const struct name_proc *who)
{
    switch (scope->range) {
    case NAME_RANGE_PROC: return is_same_proc(from, who);
    case NAME_RANGE_NAMESPACE: return slice_eq(from->nspace, who->nspace);
    case NAME_RANGE_LOCAL: return slice_eq(from->node, who->node);
    case NAME_RANGE_CUSTOM: return is_listed(scope, who);
    case NAME_RANGE_DEFAULT:
    case NAME_RANGE_SESSION:
    case NAME_RANGE_GLOBAL: return true;
    case NAME_RANGE_RM:
    case NAME_RANGES: break;
    }
    return false;
}

static bool admits(const struct part_uints *list, uint32_t id)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i] == id)
            return true;
    }
    return list->n == 0;
}

static bool may_read(const struct name_entry *e, const struct name_proc *who)
{
    return admits(&e->access.uids, who->uid) && admits(&e->access.gids, who->gid);
}

static bool are_rivals(const struct name_entry *a, const struct name_entry *b)
{
    if (a->scope.range != b->scope.range)
        return false;
    if (a->scope.range == NAME_RANGE_CUSTOM) /* their lists may differ */
        return is_same_proc(&a->owner, &b->owner);
    return a->scope.range == NAME_RANGE_RM || is_in(&a->scope, &a->owner, &b->owner);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* All entries of one service. */
struct name_service {
    struct list entries;
    struct slice name;
};

void nameservice_init(struct nameservice *n, uint64_t seed)
{
    map_init(&n->by_service, seed);
    list_init(&n->all);
    n->read = NULL;
}

/* Adds a service without entries. */
static struct name_service *service_new(struct nameservice *n, struct slice name)
{
    struct name_service *s = malloc(sizeof *s + name.len);
    char *at = (char *)(s + 1);

    if (!s)
        return NULL;
    s->name = move_text(&at, name);
    list_init(&s->entries);
    if (map_put(&n->by_service, s->name, s, NULL) == 0)
        return s;
    free(s);
    return NULL;
}

static struct name_entry *entry_of(struct list *same)
{
    return LIST_OF(same, struct name_entry, same);
}

/* The entry keeps its memory. */
static void take_out(struct nameservice *n, struct name_entry *e)
{
    struct name_service *s = map_get(&n->by_service, e->service);

    list_unlink(&e->link);
    list_unlink(&e->same);
    if (!list_empty(&s->entries))
        return;
    map_del(&n->by_service, s->name);
    free(s);
}

void nameservice_remove(struct nameservice *n, struct name_entry *e)
{
    take_out(n, e);
    free(e);
}

void nameservice_read(struct nameservice *n, struct name_entry *e)
{
    if (e->persistence != NAME_READ_ONCE)
        return;
    take_out(n, e);
    free(n->read);
    n->read = e;
}

void nameservice_free(struct nameservice *n)
{
    LIST_EACH(l, &n->all)
    nameservice_remove(n, LIST_OF(l, struct name_entry, link));
    map_free(&n->by_service);
    free(n->read);
}

const struct name_entry *nameservice_rival(const struct nameservice *n,
                                           const struct name_entry *like)
{
    const struct name_service *s = map_get(&n->by_service, like->service);

    if (!s)
        return NULL;
    LIST_EACH(l, &s->entries)
    {
        if (are_rivals(entry_of(l), like))
            return entry_of(l);
    }
    return NULL;
}

int nameservice_publish(struct nameservice *n, const struct name_entry *like)
{
    struct name_entry *e = entry_new(like);
    struct name_service *s = e ? map_get(&n->by_service, like->service) : NULL;

    if (e && !s)
        s = service_new(n, like->service);
    if (!s) {
        free(e);
        return -ENOMEM;
    }
    list_append(&s->entries, &e->same);
    list_append(&n->all, &e->link);
    return 0;
}

static struct name_entry *find_in(const struct name_service *s, const struct name_proc *who,
                                  const struct name_scope *scope, bool *denied_p)
{
    struct name_entry *best = NULL;

    LIST_EACH(l, &s->entries)
    {
        struct name_entry *e = entry_of(l);
        if (!is_in(scope, who, &e->owner) || !is_in(&e->scope, &e->owner, who))
            continue;
        if (!may_read(e, who))
            *denied_p = true;
        else if (!best || e->scope.range < best->scope.range)
            best = e;
    }
    return best;
}

struct name_entry *nameservice_find(const struct nameservice *n, struct slice service,
                                    const struct name_proc *who, const struct name_scope *scope,
                                    bool *denied_p)
{
    static const struct name_scope any = { .range = NAME_RANGE_DEFAULT };
    const struct name_service *s = map_get(&n->by_service, service);
    bool denied = false;
    struct name_entry *e = s ? find_in(s, who, scope, &denied) : NULL;

    if (s && !e && scope->preferred)
        e = find_in(s, who, &any, &denied);
    if (denied_p)
        *denied_p = denied && !e;
    return e;
}

bool nameservice_is_used(const struct nameservice *n, struct slice service)
{
    return map_get(&n->by_service, service) != NULL;
}

struct name_entry *nameservice_find_own(const struct nameservice *n, struct slice service,
                                        const struct name_proc *owner,
                                        const struct name_scope *scope)
{
    const struct name_service *s = map_get(&n->by_service, service);
    bool any = scope->preferred || scope->range == NAME_RANGE_DEFAULT;
    struct name_entry *first = NULL, *of_session = NULL;

    if (!s)
        return NULL;
    LIST_EACH(l, &s->entries)
    {
        struct name_entry *e = entry_of(l);
        if (!is_same_proc(&e->owner, owner))
            continue;
        if (e->scope.range == scope->range)
            return e;
        if (e->scope.range == NAME_RANGE_SESSION)
            of_session = e;
        first = first ? first : e;
    }
    return !any ? NULL : of_session ? of_session : first;
}
