/* hostlist.c - fuzzes the node lists of resource managers: whatever is accepted must be usable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "launch/hostlist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int text_fn(struct arena *a, struct host_list *list, struct slice text, const char *where,
                    struct errmsg *err);

static void check(int rc, const struct host_list *list, const struct errmsg *err)
{
    if (rc > 0 && (err->text[0] == '\0' || strnlen(err->text, ERRMSG_MAX) == ERRMSG_MAX))
        abort();
    if (rc == 0 && list->count == 0)
        abort();
    for (uint32_t i = 0; rc == 0 && i < list->count; i++) {
        if (list->items[i].slots == 0 || list->items[i].slots > LIMIT_JOB_PROCS ||
            list->items[i].name[0] == '\0' || list->items[i].name[0] == '-')
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static text_fn *const all[] = { hostlist_nodes, hostlist_slots, hostlist_pairs, hostlist_table,
                                    hostlist_groups };
    struct arena arena = ARENA_NULL(256u << 20);
    struct host_list list = { 0 };
    struct errmsg err = { "" };
    struct slice text = slice_skip(slice_mem(data, size), 1), nodes;
    int rc;

    if (size == 0)
        return 0;
    if (data[0] % 6 < 5) {
        rc = all[data[0] % 6](&arena, &list, text, "VAR", &err);
    } else { /* counts for a list: before and behind the first newline */
        nodes = slice_cut(&text, '\n');
        rc = hostlist_nodes(&arena, &list, nodes, "VAR", &err);
        if (rc == 0)
            rc = hostlist_counts(&list, 0, text, "COUNTS", &err);
    }
    check(rc, &list, &err);
    arena_free(&arena);
    return 0;
}
