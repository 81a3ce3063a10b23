/* pmix_regex.c - fuzzes the readers of maps.  Input: nodes or ranks, then the map.
 *
 * What can be read is written short and read to the same again; any text is, too. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/api/regex.h"
#include "wire/pmix_types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY = 16 << 20 };

/* The long form of a map; false when it cannot be read. */
static bool long_form(struct slice regex, bool nodes, struct buf *out)
{
    struct arena a = ARENA_NULL(MEMORY);
    struct regex_nodes names;
    struct regex_ranks ranks;
    int rc = nodes ? regex_read_nodes(&a, regex, &names) : regex_read_ranks(&a, regex, &ranks);

    if (rc == 0 && nodes)
        regex_nodes_text(out, &names);
    else if (rc == 0 && ranks.ranks < 1 << 20)
        regex_ranks_text(out, &ranks);
    else
        rc = 1;
    arena_free(&a);
    return rc == 0 && buf_ok(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf text = BUF_NULL(MEMORY), regex = BUF_NULL(MEMORY), again = BUF_NULL(MEMORY);
    struct slice input = slice_mem(data + 1, size ? size - 1 : 0);
    bool nodes = size && data[0] % 2;
    size_t n = ptype_regex_len(input);

    if (n > input.len)
        abort();
    if (size && long_form(input, nodes, &text) &&
        slice_find(buf_slice(&text), '\0') == buf_len(&text)) {
        if (nodes)
            regex_write_nodes(&regex, buf_slice(&text));
        else
            regex_write_ranks(&regex, buf_slice(&text));
        if (buf_ok(&regex) && buf_len(&regex) < MEMORY / 4 &&
            (!long_form(buf_slice(&regex), nodes, &again) ||
             !slice_eq(buf_slice(&text), buf_slice(&again))))
            abort();
    }
    buf_free(&text);
    buf_free(&regex);
    buf_free(&again);
    return 0;
}
