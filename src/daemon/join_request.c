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
    if (q->request)
        buf_printf(out, "wireup-join 2 %s %u %u\n", q->name, q->slots, q->request);
    else
        buf_printf(out, "wireup-join 1 %s %u\n", q->name, q->slots);
}

static bool read_numbers(struct slice text, bool of_request, struct join_request *q)
{
    struct slice slots = of_request ? slice_cut(&text, ' ') : text;

    q->request = 0;
    return slice_u32(slots, &q->slots) && q->slots > 0 && q->slots <= JOIN_REQUEST_SLOTS &&
           (!of_request || (slice_u32(text, &q->request) && q->request > 0));
}

bool join_request_read(struct slice text, struct join_request *q_p)
{
    struct slice line = slice_cut(&text, '\n');
    struct slice word = slice_cut(&line, ' '), format = slice_cut(&line, ' ');
    struct slice name = slice_cut(&line, ' ');
    bool of_request = slice_is(format, "2");
    struct join_request q = { .slots = 0 };

    if (!slice_is(word, "wireup-join") || (!slice_is(format, "1") && !of_request) ||
        !join_request_is_name(name) || !read_numbers(line, of_request, &q) || text.len)
        return false;
    memcpy(q.name, name.ptr, name.len);
    *q_p = q;
    return true;
}
