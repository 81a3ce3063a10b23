/* group_record.c - see group_record.h. */
#include "core/group_record.h"

#include "wire/parts.h"

void group_record_put(struct buf *out, const struct group_record *r)
{
    buf_byte(out, (char)r->kind);
    if (r->kind == GROUP_NUMBER) {
        parts_put_uint(out, r->number);
        return;
    }
    parts_put_uint(out, r->job);
    parts_put_uint(out, r->rank);
    if (r->kind != GROUP_DATA)
        return;
    parts_put_uint(out, r->data.len);
    buf_slice_put(out, r->data);
}

bool group_record_next(struct slice *rest, struct group_record *r_p)
{
    struct slice in = slice_skip(*rest, 1);
    bool good;

    if (rest->len == 0)
        return false;
    *r_p = (struct group_record){ .kind = (enum group_record_kind)rest->ptr[0] };
    switch (rest->ptr[0]) {
    case GROUP_NUMBER: good = parts_get_uint(&in, &r_p->number); break;
    case GROUP_ABSENT:
    case GROUP_MEMBER:
        good = parts_get_u32(&in, &r_p->job) && parts_get_u32(&in, &r_p->rank);
        break;
    case GROUP_DATA:
        good = parts_get_u32(&in, &r_p->job) && parts_get_u32(&in, &r_p->rank) &&
               parts_get_bytes(&in, &r_p->data);
        break;
    default: good = false;
    }
    if (good)
        *rest = in;
    return good;
}

bool group_record_number(struct slice records, uint64_t *number_p)
{
    struct group_record r;

    while (group_record_next(&records, &r)) {
        if (r.kind != GROUP_NUMBER)
            continue;
        *number_p = r.number;
        return true;
    }
    return false;
}

bool group_record_is_absent(struct slice records, uint32_t job, uint32_t rank)
{
    struct group_record r;

    while (group_record_next(&records, &r)) {
        if (r.kind == GROUP_ABSENT && r.job == job && r.rank == rank)
            return true;
    }
    return false;
}
