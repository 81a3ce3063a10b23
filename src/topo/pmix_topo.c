/* pmix_topo.c - see pmix_topo.h: shared parts, and cpusets.  The handle of the library and the
 * machine's topology are the only state: static, because PMIx's calls have no context and because a
 * process has one machine; created under a lock, constant afterwards.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "topo/cpus.h"
#include "topo/pmix_machine.h"
#include "topo/pmix_topo.h"

static struct {
    pthread_mutex_t lock;
    bool tried, loaded;
    struct hwloc_dl hwloc;
    hwloc_topology_t topology; /* NULL: not loaded */
} machine = { .lock = PTHREAD_MUTEX_INITIALIZER };

const struct hwloc_dl *ptopo_hwloc(void)
{
    pthread_mutex_lock(&machine.lock);
    if (!machine.tried)
        hwloc_dl_open(&machine.hwloc, NULL);
    machine.tried = true;
    pthread_mutex_unlock(&machine.lock);
    return machine.hwloc.library ? &machine.hwloc : NULL;
}

static hwloc_topology_t discover(const struct hwloc_dl *h)
{
    hwloc_topology_t t;

    if (h->topology_init(&t) != 0)
        return NULL;
    if (h->topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
        h->topology_load(t) == 0)
        return t;
    h->topology_destroy(t);
    return NULL;
}

hwloc_topology_t ptopo_machine(const struct hwloc_dl *h)
{
    pthread_mutex_lock(&machine.lock);
    if (!machine.loaded)
        machine.topology = discover(h);
    machine.loaded = true;
    pthread_mutex_unlock(&machine.lock);
    return machine.topology;
}

bool ptopo_is_hwloc(const char *source)
{
    return source && strncasecmp(source, "hwloc", 5) == 0;
}

/* --- cpusets --- */

/* hwloc's parser accepts any text, and allocates memory for any number in it: only lists of "a",
 * "a-b" or "a-", separated by commas, with processors that a machine may have, are passed to it. */
static bool list_is_sane(struct slice list)
{
    while (list.len) {
        struct slice one = slice_cut(&list, ',');
        size_t dash = slice_find(one, '-');
        uint32_t first, last = 0;
        if (!slice_u32(slice_head(one, dash), &first) || first >= CPUS_MAX)
            return false;
        if (dash + 1 < one.len &&
            (!slice_u32(slice_skip(one, dash + 1), &last) || last < first || last >= CPUS_MAX))
            return false;
    }
    return true;
}

static int list_parse(const char *list, pmix_cpuset_t *set_p)
{
    const struct hwloc_dl *h = ptopo_hwloc();
    hwloc_bitmap_t bitmap;
    char *source;

    if (!h)
        return PTOPO_MISSING;
    if (!list_is_sane(slice_str(list)))
        return PTOPO_MALFORMED;
    bitmap = h->bitmap_alloc();
    source = strdup("hwloc");
    if (!bitmap || !source || h->bitmap_list_sscanf(bitmap, list) != 0) {
        if (bitmap)
            h->bitmap_free(bitmap);
        free(source);
        return -ENOMEM;
    }
    *set_p = (pmix_cpuset_t){ .source = source, .bitmap = bitmap };
    return 0;
}

static int list_text(const pmix_cpuset_t *set, const char *prefix, char **text_p)
{
    const struct hwloc_dl *h = ptopo_hwloc();
    size_t head = strlen(prefix), size;
    int n;

    if (!h)
        return PTOPO_MISSING;
    n = h->bitmap_list_snprintf(NULL, 0, set->bitmap);
    if (n < 0)
        return -ENOMEM;
    size = head + (size_t)n + 1;
    *text_p = malloc(size);
    if (!*text_p)
        return -ENOMEM;
    memcpy(*text_p, prefix, head);
    h->bitmap_list_snprintf(*text_p + head, size - head, set->bitmap);
    return 0;
}

int ptopo_cpuset_parse(const char *text, pmix_cpuset_t *set_p)
{
    const char *colon = strrchr(text, ':');

    if (!colon)
        return PTOPO_MALFORMED;
    if (!ptopo_is_hwloc(text))
        return PTOPO_OTHER;
    return list_parse(colon + 1, set_p);
}

int ptopo_cpuset_text(const pmix_cpuset_t *set, char **text_p)
{
    if (!set->bitmap)
        return PTOPO_MALFORMED;
    if (!ptopo_is_hwloc(set->source))
        return PTOPO_OTHER;
    return list_text(set, "hwloc:", text_p);
}

int ptopo_bound(bool thread, pmix_cpuset_t *set_p)
{
    const struct hwloc_dl *h = ptopo_hwloc();
    hwloc_topology_t t = h ? ptopo_machine(h) : NULL;
    pmix_cpuset_t set = { 0 };
    int rc;

    if (!t)
        return PTOPO_MISSING;
    rc = list_parse("", &set);
    if (rc)
        return rc;
    if (h->get_cpubind(t, set.bitmap, thread ? HWLOC_CPUBIND_THREAD : HWLOC_CPUBIND_PROCESS) != 0) {
        ptopo_foreign.cpuset_free(&set);
        return PTOPO_NOTHING;
    }
    *set_p = set;
    return 0;
}

/* --- for the codec --- */

static int error_of(int rc)
{
    switch (rc) {
    case 0: return PTYPE_FINE;
    case PTOPO_MISSING:
    case PTOPO_OTHER: return PTYPE_NOT_SUPPORTED;
    case PTOPO_MALFORMED: return PTYPE_MALFORMED;
    default: return PTYPE_NO_MEMORY;
    }
}

static int wire_text(const pmix_cpuset_t *set, char **text_p)
{
    return ptopo_is_hwloc(set->source) ? error_of(list_text(set, "", text_p)) : PTYPE_NOT_SUPPORTED;
}

static int wire_parse(const char *text, pmix_cpuset_t *set_p)
{
    return error_of(list_parse(text, set_p));
}

static int copy_set(const pmix_cpuset_t *from, pmix_cpuset_t *to_p)
{
    const struct hwloc_dl *h = from->bitmap ? ptopo_hwloc() : NULL;
    pmix_cpuset_t to = { 0 };

    if (from->bitmap && (!h || !ptopo_is_hwloc(from->source)))
        return PTYPE_NOT_SUPPORTED;
    if (from->bitmap)
        to.bitmap = h->bitmap_dup(from->bitmap);
    if (from->source)
        to.source = strdup(from->source);
    if ((from->bitmap && !to.bitmap) || (from->source && !to.source)) {
        ptopo_foreign.cpuset_free(&to);
        return PTYPE_NO_MEMORY;
    }
    *to_p = to;
    return PTYPE_FINE;
}

static void free_set(pmix_cpuset_t *set)
{
    const struct hwloc_dl *h = set->bitmap ? ptopo_hwloc() : NULL;

    if (h)
        h->bitmap_free(set->bitmap);
    free(set->source);
    *set = (pmix_cpuset_t){ 0 };
}

static bool equal_sets(const pmix_cpuset_t *a, const pmix_cpuset_t *b)
{
    const struct hwloc_dl *h = ptopo_hwloc();

    return h && a->bitmap && b->bitmap && h->bitmap_isequal(a->bitmap, b->bitmap);
}

const struct ptype_foreign ptopo_foreign = {
    .cpuset_text = wire_text,
    .cpuset_parse = wire_parse,
    .cpuset_copy = copy_set,
    .cpuset_free = free_set,
    .cpuset_equal = equal_sets,
    .support_size = ptopo_support_size,
    .topo_text = ptopo_wire_text,
    .topo_parse = ptopo_wire_parse,
    .topo_copy = ptopo_copy,
    .topo_free = ptopo_free,
};
