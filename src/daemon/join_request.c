/* join_request.c - see join_request.h. */
#include "daemon/join_request.h"

#include <string.h>

bool join_request_is_name(struct slice name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

    for (size_t i = 0; i < name.len; i++) {
        if (!memchr(allowed, name.ptr[i], sizeof allowed - 1))
            return false;
    }
    return name.len > 0 && name.len <= JOIN_REQUEST_NAME && name.ptr[0] != '-';
}

void join_request_write(const struct join_request *q, struct buf *out)
{
    buf_printf(out, "wireup-join 1 %s %u\n", q->name, q->slots);
}

bool join_request_read(struct slice text, struct join_request *q_p)
{
    struct slice line = slice_cut(&text, '\n');
    struct slice word = slice_cut(&line, ' '), format = slice_cut(&line, ' ');
    struct slice name = slice_cut(&line, ' ');
    uint32_t slots;

    if (!slice_is(word, "wireup-join") || !slice_is(format, "1") || !join_request_is_name(name) ||
        !slice_u32(line, &slots) || slots == 0 || slots > JOIN_REQUEST_SLOTS || text.len)
        return false;
    *q_p = (struct join_request){ .slots = slots };
    memcpy(q_p->name, name.ptr, name.len);
    return true;
}
