/* list.h - intrusive doubly linked list.
 *
 * A struct list is both the head and the link inside an element.  A head made by list_init points
 * at itself; an unlinked element also does, so unlinking twice is harmless.
 */
#ifndef WIREUP_BASE_LIST_H
#define WIREUP_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *prev, *next;
};

#define LIST_OF(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Walks all elements; the current one may be unlinked, but not the one after it. */
#define LIST_EACH(link, head)                                                                      \
    for (struct list *link = (head)->next, *link##_next = link->next; link != (head);              \
         link = link##_next, link##_next = link->next)

static inline void list_init(struct list *l)
{
    l->prev = l->next = l;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_append(struct list *head, struct list *item)
{
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}

static inline void list_prepend(struct list *head, struct list *item)
{
    list_append(head->next, item);
}

static inline void list_unlink(struct list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    list_init(item);
}

/* All of the first list go behind the second one's. */
static inline void list_move_all(struct list *from, struct list *to)
{
    LIST_EACH(l, from)
    {
        list_unlink(l);
        list_append(to, l);
    }
}

static inline struct list *list_first(const struct list *head)
{
    return list_empty(head) ? NULL : head->next;
}

#endif
