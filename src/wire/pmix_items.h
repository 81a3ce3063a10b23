/* pmix_items.h - reading items of any type: functions made from the tables for variable width,
 * descriptors for fixed width; runs of n items of one encoding.
 *
 * Every item lands in zeroed memory, so that items read before an error can be released by the same
 * descriptors.
 */
#ifndef WIREUP_WIRE_PMIX_ITEMS_H
#define WIREUP_WIRE_PMIX_ITEMS_H

#include <stdlib.h>

#include "wire/pmix_reader.h"

/* n items to their places. */
const uint8_t *pitem_get(struct punpack *r, const uint8_t *p, const struct ptype *t, char *at,
                         size_t n);

/* n items in new memory; NULL when there are none, or in error. */
const uint8_t *pitem_list(struct punpack *r, const uint8_t *p, const struct ptype *t, size_t n,
                          void **items_p);

/* The item that a value points to, in new memory. */
const uint8_t *pitem_pointed(struct punpack *r, const uint8_t *p, const struct ptype *t,
                             pmix_value_t *v);

/* A copy with a NUL behind it; NULL: no memory, an error. */
static inline char *pitem_copy(struct punpack *r, const void *from, size_t n)
{
    char *copy = malloc(n + 1);

    if (!copy) {
        preader_fail(r, PTYPE_NO_MEMORY);
        return NULL;
    }
    memcpy(copy, from, n);
    copy[n] = '\0';
    return copy;
}

/* One item of variable width, by its type. */
typedef const uint8_t *pitem_reader(struct punpack *r, const uint8_t *p, char *at);
extern pitem_reader *const pitem_variable[PTYPE_NUMBERS];

PREADER_INLINE const uint8_t *pitem_str(struct punpack *r, bool fixed, const uint8_t *p,
                                        char **str_p)
{
    struct slice text;

    p = preader_text(r, fixed, p, &text);
    if (!text.ptr)
        return p;
    *str_p = pitem_copy(r, text.ptr, text.len);
    return *str_p ? p : NULL;
}

PREADER_INLINE const uint8_t *pitem_value_of(struct punpack *r, bool fixed, const uint8_t *p,
                                             uint16_t type, pmix_value_t *v)
{
    const struct ptype *t = ptype_find(type);
    const uint8_t *before = p;

    if (type == PMIX_UNDEF)
        return p;
    if (type == PMIX_STRING &&
        r->depth < LIMIT_PMIX_DEPTH) { /* most of the values that are not numbers */
        v->type = type;
        return pitem_str(r, fixed, p, &v->data.string);
    }
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(r->as, t))
        return preader_fail(r, PTYPE_UNKNOWN);
    v->type = type;
    if (t->run)
        return pitem_get(r, p, t, (char *)&v->data, 1);
    if (!preader_deeper(r))
        p = NULL;
    else if (t->place == PTYPE_INLINE)
        p = pitem_get(r, p, t, (char *)&v->data, 1);
    else
        p = pitem_pointed(r, p, t, v);
    r->depth--;
    if (type == PMIX_REGEX && p)
        v->data.bo.size = (size_t)(p - before); /* a value has it as a byte object */
    return p;
}

PREADER_INLINE const uint8_t *pitem_value(struct punpack *r, bool fixed, const uint8_t *p,
                                          pmix_value_t *v)
{
    uint16_t type;

    p = preader_type(r, fixed, p, &type);
    return p ? pitem_value_of(r, fixed, p, type, v) : NULL;
}

#endif
