/* join_request.c - fuzzes the message by which a node joins: whatever is read can be written, and
 * read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/join_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf text = BUF_NULL(4096);
    struct join_request q, again;

    if (!join_request_read(slice_mem(data, size), &q))
        return 0;
    if (!join_request_is_name(slice_str(q.name)) || q.slots == 0)
        abort();
    join_request_write(&q, &text);
    if (!join_request_read(buf_slice(&text), &again) || strcmp(q.name, again.name) != 0 ||
        q.slots != again.slots)
        abort();
    buf_free(&text);
    return 0;
}
