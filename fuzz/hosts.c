/* hosts.c - fuzzes host files, node lists and rank files: whatever is accepted must be usable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "topo/slots.h"
#include "launch/hosts.h"
#include "launch/rankfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_ranks(struct arena *a, struct slice text)
{
    struct host_list list = { 0 };
    struct rankfile f;
    struct errmsg err;
    int rc = rankfile_parse(a, "ranks", text, &f, &err);

    if (rc > 0 && strnlen(err.text, ERRMSG_MAX) == ERRMSG_MAX)
        abort();
    for (uint32_t i = 0; rc == 0 && i < f.count; i++) {
        if (f.ranks[i].slots && slots_check(slice_str(f.ranks[i].slots), &err) != 0)
            abort();
    }
    if (rc == 0 && (f.count == 0 || (rankfile_hosts(&f, a, &list, &err) == 0 && list.count == 0)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_mem(data, size);
    struct arena arena = ARENA_NULL(64u << 20);

    for (int file = 0; file < 2; file++) {
        struct host_list list = { 0 };
        struct errmsg err;
        int rc = file ? hosts_parse_file(&arena, &list, "nodes", text, &err)
                      : hosts_parse_list(&arena, &list, text, &err);

        if (rc > 0 && strnlen(err.text, ERRMSG_MAX) == ERRMSG_MAX)
            abort();
        if (rc == 0 && list.count == 0)
            abort();
        for (uint32_t i = 0; i < list.count; i++) {
            if (list.items[i].slots == 0 || list.items[i].name[0] == '\0')
                abort();
        }
        if (rc == 0 && hosts_sort(&list, file) < 0)
            abort();
    }
    try_ranks(&arena, text);
    arena_free(&arena);
    return 0;
}
