/* pmix_skip.c - see pmix_skip.h. */
#include "wire/pmix_skip.h"

#include "wire/pmix_reader.h"

static const uint8_t *skip_items(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                 size_t n);

static const uint8_t *skip_text(struct punpack *r, const uint8_t *p)
{
    struct slice text;

    return preader_text(r, r->as->fixed, p, &text);
}

static const uint8_t *skip_list(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                size_t n)
{
    if (t->number == PMIX_BYTE)
        return preader_pass(r, p, n);
    if (n > preader_left(r, p) / ptype_least(r->as, t))
        return preader_fail(r, PTYPE_CUT);
    return skip_items(r, p, t, n);
}

static const uint8_t *skip_counted(struct punpack *r, const uint8_t *p, uint16_t elem)
{
    size_t n;

    p = preader_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    return p ? skip_list(r, p, ptype_find(elem), n) : NULL;
}

static const uint8_t *skip_argv(struct punpack *r, const uint8_t *p, uint8_t op)
{
    size_t n;

    p = preader_count(r, r->as->fixed, p, op == PTYPE_ARGC ? PTYPE_INT : PTYPE_I32, &n);
    while (p && n--)
        p = skip_text(r, p);
    return p;
}

static const uint8_t *skip_array(struct punpack *r, const uint8_t *p, bool in_value)
{
    const struct ptype *t;
    uint16_t type;
    size_t n;

    p = preader_type(r, r->as->fixed, p, &type);
    if (!p || (in_value && type == PMIX_UNDEF && r->as->short_null))
        return p;
    t = ptype_find(type);
    if (type != PMIX_UNDEF && (!t || !ptype_known(r->as, t)))
        return preader_fail(r, PTYPE_UNKNOWN);
    p = preader_count(r, r->as->fixed, p, PTYPE_SIZE, &n);
    if (!p || !t)
        return p;
    p = preader_deeper(r) ? skip_list(r, p, t, n) : NULL;
    r->depth--;
    return p;
}

const uint8_t *pskip_value_of(struct punpack *r, const uint8_t *p, uint16_t type)
{
    const struct ptype *t = ptype_find(type);

    if (type == PMIX_UNDEF)
        return p;
    if (!t || t->place == PTYPE_NOWHERE || !ptype_known(r->as, t))
        return preader_fail(r, PTYPE_UNKNOWN);
    if (!preader_deeper(r))
        p = NULL;
    else if (type == PMIX_DATA_ARRAY)
        p = skip_array(r, p, true);
    else
        p = skip_items(r, p, t, 1);
    r->depth--;
    return p;
}

static const uint8_t *skip_value(struct punpack *r, const uint8_t *p)
{
    uint16_t type;

    p = preader_type(r, r->as->fixed, p, &type);
    return p ? pskip_value_of(r, p, type) : NULL;
}

static const uint8_t *skip_regex(struct punpack *r, const uint8_t *p)
{
    size_t n = ptype_regex_len(slice_mem(p, preader_left(r, p)));

    return n ? preader_pass(r, p, n) : preader_fail(r, PTYPE_CUT);
}

static const uint8_t *skip_topo(struct punpack *r, const uint8_t *p)
{
    struct slice xml;

    p = preader_text(r, r->as->fixed, p, &xml);
    if (!xml.ptr)
        return p;
    return r->foreign ? preader_pass(r, p, r->foreign->support_size())
                      : preader_fail(r, PTYPE_NOT_SUPPORTED);
}

static const uint8_t *skip_one(struct punpack *r, const uint8_t *p, const struct ptype_field *f)
{
    char number[sizeof(struct timeval)];

    switch (f->op) {
    case PTYPE_STR:
    case PTYPE_TEXT:
    case PTYPE_FLT:
    case PTYPE_DBL:
    case PTYPE_CPUSET: return skip_text(r, p);
    case PTYPE_ARGV:
    case PTYPE_ARGC: return skip_argv(r, p, f->op);
    case PTYPE_LIST: return skip_counted(r, p, f->elem);
    case PTYPE_NEST: return skip_items(r, p, ptype_find(f->elem), 1);
    case PTYPE_VALUE: return skip_value(r, p);
    case PTYPE_ARRAY: return skip_array(r, p, false);
    case PTYPE_REGEX: return skip_regex(r, p);
    case PTYPE_TOPO: return skip_topo(r, p);
    case PTYPE_DBUF: return skip_counted(r, p, PMIX_BYTE);
    case PTYPE_NONE: return p;
    default: return preader_numbers(r, p, f->op, number, 0, 1);
    }
}

static const uint8_t *skip_items(struct punpack *r, const uint8_t *p, const struct ptype *t,
                                 size_t n)
{
    const struct ptype_field *f, *end = t->fields + t->nfields;
    char number[sizeof(struct timeval)];

    if (t->run == PTYPE_PTR) /* one byte, however many */
        return preader_pass(r, p, 1);
    if (t->run)
        return preader_numbers(r, p, t->run, number, 0, n);
    for (; n && p; n--)
        for (f = t->fields; f < end && p; f++)
            if (!f->local)
                p = skip_one(r, p, f);
    return p;
}
