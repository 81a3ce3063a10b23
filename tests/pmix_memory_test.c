/* pmix_memory_test.c - PMIx data when memory is short, and when the bytes lie about how much they
 * need.
 *
 *   pmix_memory_test TOPOLOGY.XML
 *
 * Everything that takes memory runs with its first, second, … request refused until it runs
 * through: each time it tells PMIX_ERR_NOMEM, keeps nothing, and leaves what it was given as it
 * was.
 */
#include "tests/alloc.h"
#include "tests/pmix_fill.h"
#include "tests/pmix_items.h"
#include "tests/tap.h"

#include "base/limit.h"
#include "lib/pmix/values/data.h"
#include "lib/pmix/api/regex.h"
#include "lib/pmix/values/value.h"
#include "pmix_server.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_unpack.h"

/* A scenario tells its status; whatever it took, it has given back when it returns. */
typedef pmix_status_t scenario(const void *with);

/* With every request refused once.  True when each run told that memory was short, or did not need
 * it, and the last one succeeded. */
static bool each_fails(scenario *run, const void *with, unsigned *places_p)
{
    int64_t live = alloc_live();
    bool good = true;

    for (uint64_t nth = 1;; nth++) {
        pmix_status_t rc;
        uint64_t asked;
        alloc_fail(nth, false);
        rc = run(with);
        asked = alloc_count();
        alloc_fail(0, false);
        if (alloc_live() != live || (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOMEM))
            good = false;
        if (asked < nth || !good || nth > 10000) {
            *places_p = (unsigned)nth - 1;
            return good && rc == PMIX_SUCCESS;
        }
    }
}

static void check(const char *name, scenario *run, const void *with)
{
    unsigned places;

    /* once before: what is found once per process is not the scenario's */
    if (run(with) != PMIX_SUCCESS)
        OK_F(false, "%s runs at all", name);
    else if (each_fails(run, with, &places))
        OK_F(true, "%s: refused at each of %u places", name, places);
    else
        OK_F(false, "%s: refused at place %u", name, places);
}

/* --- items --- */

static pmix_status_t run_pack(const void *with)
{
    const struct item *it = with;
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_status_t rc = PMIx_Data_pack(NULL, &b, (void *)(uintptr_t)it->src, it->n, it->type);
    size_t used = b.bytes_used;

    if (rc == PMIX_SUCCESS) /* again, behind it */
        rc = PMIx_Data_pack(NULL, &b, (void *)(uintptr_t)it->src, it->n, it->type);
    if (rc != PMIX_SUCCESS && b.bytes_used != used)
        rc = PMIX_ERROR;
    PMIx_Data_buffer_destruct(&b);
    return rc;
}

static pmix_data_buffer_t packed;

static pmix_status_t run_unpack(const void *with)
{
    static char out[1 << 14];
    const struct item *it = with;
    const struct ptype *t = ptype_find(it->type);
    int32_t n = it->n;
    pmix_status_t rc;

    packed.unpack_ptr = packed.base_ptr;
    if ((size_t)n * t->size > sizeof out)
        return PMIX_ERROR;
    rc = PMIx_Data_unpack(NULL, &packed, out, &n, it->type);
    if (rc != PMIX_SUCCESS && (n != 0 || packed.unpack_ptr != packed.base_ptr))
        rc = PMIX_ERROR;
    pmem_free(t, out, (size_t)n, foreign_objects());
    return rc;
}

static pmix_status_t run_copy(const void *with)
{
    const struct item *it = with;
    const struct ptype *t = ptype_find(it->type);
    char *const *text = it->src;
    bool is_text = it->type == PMIX_STRING || it->type == PMIX_REGEX;
    void *copy = NULL;
    pmix_status_t rc =
        PMIx_Data_copy(&copy, is_text ? *text : (void *)(uintptr_t)it->src, it->type);

    if (rc != PMIX_SUCCESS)
        return copy ? PMIX_ERROR : rc;
    if (!is_text)
        pmem_free(t, copy, 1, foreign_objects());
    free(copy);
    return rc;
}

/* All items through one scenario, told as one point. */
static void check_items(const char *name, scenario *run, bool unpacks)
{
    unsigned places = 0, all = 0;
    const char *bad = NULL;

    for (size_t i = 0; i < items_count && !bad; i++) {
        const struct item *it = &items[i];
        if (it->n == 0)
            continue;
        if (unpacks && PMIx_Data_pack(NULL, &packed, (void *)(uintptr_t)it->src, it->n, it->type) !=
                           PMIX_SUCCESS)
            bad = it->name;
        if (!bad && !each_fails(run, it, &places))
            bad = it->name;
        all += places;
        PMIx_Data_buffer_destruct(&packed);
    }
    OK_F(!bad && all > 90, "%s: refused at each of %u places%s%s", name, all, bad ? ": " : "",
         bad ? bad : "");
}

/* --- buffers, compression, maps --- */

static pmix_status_t run_buffers(const void *with)
{
    pmix_data_buffer_t a = PMIX_DATA_BUFFER_STATIC_INIT, b = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_byte_object_t bytes = { (char *)(uintptr_t)with, 3 }, out = { 0 };
    pmix_status_t rc = PMIx_Data_embed(&a, &bytes);

    if (rc == PMIX_SUCCESS)
        rc = PMIx_Data_copy_payload(&b, &a);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Data_unload(&b, &out);
    PMIx_Byte_object_destruct(&out);
    PMIx_Data_buffer_destruct(&a);
    PMIx_Data_buffer_destruct(&b);
    return rc;
}

static uint8_t same[10000];

static pmix_status_t run_compress(const void *with)
{
    uint8_t *small = NULL, *big = NULL;
    size_t n, m;
    bool good;

    (void)with;
    good = PMIx_Data_compress(same, sizeof same, &small, &n) &&
           PMIx_Data_decompress(small, n, &big, &m) && m == sizeof same;
    free(small);
    free(big);
    return good ? PMIX_SUCCESS : PMIX_ERR_NOMEM; /* they only have a bool */
}

static pmix_status_t run_nodes(const void *with)
{
    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    struct regex_nodes nodes;
    char *regex = NULL;
    pmix_status_t rc = PMIx_generate_regex(with, &regex);

    if (rc == PMIX_SUCCESS && regex_read_nodes(&a, slice_str(regex), &nodes) != 0)
        rc = PMIX_ERR_NOMEM;
    arena_free(&a);
    free(regex);
    return rc;
}

static pmix_status_t run_ranks(const void *with)
{
    struct arena a = ARENA_NULL(LIMIT_MAP_MEMORY);
    struct regex_ranks ranks;
    char *regex = NULL;
    pmix_status_t rc = PMIx_generate_ppn(with, &regex);

    if (rc == PMIX_SUCCESS && regex_read_ranks(&a, slice_str(regex), &ranks) != 0)
        rc = PMIX_ERR_NOMEM;
    arena_free(&a);
    free(regex);
    return rc;
}

/* --- topology --- */

static pmix_status_t run_cpusets(const void *with)
{
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT, bound = PMIX_CPUSET_STATIC_INIT;
    pmix_value_t value = { .type = PMIX_PROC_CPUSET, .data.cpuset = &set }, copy;
    char *text = NULL, *where = NULL;
    pmix_status_t rc = PMIx_Parse_cpuset_string(with, &set);

    PMIx_Value_construct(&copy);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_server_generate_cpuset_string(&set, &text);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_server_generate_locality_string(&set, &where);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Get_cpuset(&bound, PMIX_CPUBIND_PROCESS);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Value_xfer(&copy, &value);
    PMIx_Value_destruct(&copy);
    PMIx_Cpuset_destruct(&bound);
    PMIx_Cpuset_destruct(&set);
    free(text);
    free(where);
    return rc;
}

static pmix_status_t run_topologies(const void *with)
{
    pmix_topology_t t = PMIX_TOPOLOGY_STATIC_INIT, u = PMIX_TOPOLOGY_STATIC_INIT;
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_cpuset_t set = PMIX_CPUSET_STATIC_INIT;
    pmix_device_distance_t *distances = NULL;
    size_t n = 0;
    int32_t one = 1;
    pmix_status_t rc = PMIx_Load_topology(&t);

    if (rc == PMIX_SUCCESS)
        rc = PMIx_Parse_cpuset_string(with, &set);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Compute_distances(&t, &set, NULL, 0, &distances, &n);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Data_pack(NULL, &b, &t, 1, PMIX_TOPO);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_Data_unpack(NULL, &b, &u, &one, PMIX_TOPO);
    PMIx_Device_distance_free(distances, n);
    PMIx_Cpuset_destruct(&set);
    PMIx_Topology_destruct(&t);
    PMIx_Topology_destruct(&u);
    PMIx_Data_buffer_destruct(&b);
    return rc;
}

/* --- bytes that lie --- */

/* Unpacks bytes and tells the most memory that it took, and the error. */
static size_t cost(struct slice bytes, uint16_t type, enum ptype_error *error_p)
{
    static char out[1 << 12];
    size_t before = alloc_bytes();
    struct punpack r;
    int32_t n = 1;

    alloc_peak_reset();
    punpack_init(&r, bytes, &ptype_own);
    *error_p = punpack(&r, out, &n, type);
    pmem_free(ptype_find(type), out, (size_t)n, NULL);
    return alloc_peak() - before;
}

/* An array of each type that says it has very many items, with very few behind it: never more than
 * what is given on trust, at every depth. */
static void test_liars(void)
{
    struct fill f = { .state = 5, .depth = 1, .as = &ptype_own };
    size_t most = 0, types = 0;

    for (size_t number = 0; number < PTYPE_NUMBERS; number++) {
        const struct ptype *t = &ptype_table[number];
        if (!fill_allowed(&f, t, false))
            continue;
        types++;
        for (uint64_t claim = 4; claim < UINT64_C(1) << 60; claim *= 16) {
            struct buf b = BUF_NULL(1 << 20);
            pmix_data_array_t empty = { .type = (uint16_t)number };
            struct ppack w;
            enum ptype_error error;
            size_t taken;
            ppack_init(&w, &b, &ptype_own);
            ppack(&w, &empty, 1, PMIX_DATA_ARRAY);
            b.end--; /* the count that follows replaces its 0 */
            for (uint64_t v = claim; v; v >>= 7)
                buf_byte(&b, (char)(v >> 7 ? (v & 0x7f) | 0x80 : v));
            for (int i = 0; i < 40; i++)
                buf_byte(&b, 0);
            taken = cost(buf_slice(&b), PMIX_DATA_ARRAY, &error);
            if (taken > most)
                most = taken;
            buf_free(&b);
        }
    }
    OK_F(types > 55 && most <= 2 * LIMIT_PMIX_TRUST, "%zu types: a count alone gets %zu bytes",
         types, most);
}

/* What honest bytes cost: bounded by their number, for the most expanding items there are. */
static void test_expansion(void)
{
    static const struct {
        uint16_t type;
        uint8_t bytes[3];
        uint8_t n;
    } rows[] = {
        { PMIX_INFO, { 0, 0, 0 }, 3 },   { PMIX_PROC, { 0, 0, 0 }, 2 },
        { PMIX_VALUE, { 0, 0, 0 }, 1 },  { PMIX_DATA_ARRAY, { 0, 0, 0 }, 2 },
        { PMIX_STRING, { 0, 0, 0 }, 1 }, { PMIX_PROC_NSPACE, { 0, 0, 0 }, 1 },
        { PMIX_UINT64, { 0, 0, 0 }, 1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ptype *t = ptype_find(rows[i].type);
        struct buf b = BUF_NULL(1 << 24);
        enum ptype_error error;
        size_t taken, bound;
        buf_byte(&b, 2);
        buf_byte(&b, (char)rows[i].type);
        buf_put(&b, "\x80\x80\x04", 3); /* 65536 of them */
        for (size_t k = 0; k < 65536; k++)
            buf_put(&b, rows[i].bytes, rows[i].n);
        alloc_pause(true);
        taken = cost(buf_slice(&b), PMIX_DATA_ARRAY, &error);
        alloc_pause(false);
        bound = 3 * 65536 * t->size + LIMIT_PMIX_TRUST; /* growing takes the old with the new */
        OK_F(error == PTYPE_FINE && taken <= bound, "65536 x %s: %zu bytes for %zu", t->name, taken,
             buf_len(&b));
        buf_free(&b);
    }
}

/* A stream that says it is 4 GiB long, and 1 MiB that is one. */
static void test_bombs(void)
{
    static uint8_t big[1 << 20];
    uint8_t *small, *out;
    size_t n, m, before;
    uint32_t lie = UINT32_MAX;

    if (!OK(PMIx_Data_compress(big, sizeof big, &small, &n)))
        return;
    before = alloc_bytes();
    alloc_peak_reset();
    memcpy(small, &lie, 4);
    OK(!PMIx_Data_decompress(small, n, &out, &m));
    OK(alloc_peak() == before); /* impossible: refused at sight */
    lie = (uint32_t)(1000 * n);
    memcpy(small, &lie, 4);
    OK(!PMIx_Data_decompress(small, n, &out, &m));
    OK_F(alloc_peak() - before < 4 * sizeof big, "a lie that is possible takes %zu bytes",
         alloc_peak() - before);
    free(small);
}

int main(int argc, char **argv)
{
    struct buf nodes = BUF_NULL(1 << 20);

    if (argc < 2)
        return 2;
    setenv("HWLOC_XMLFILE", argv[1], 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    items_make();
    check_items("packing", run_pack, false);
    check_items("unpacking", run_unpack, true);
    check_items("copying", run_copy, false);
    check("buffers", run_buffers, "abc");
    check("compression", run_compress, NULL);
    for (int i = 0; i < 300; i++)
        buf_printf(&nodes, "%snode%d,login%d", i ? "," : "", i, i * 7);
    check("a map of nodes", run_nodes, buf_cstr(&nodes));
    buf_free(&nodes);
    check("a map of ranks", run_ranks, "0,1,2,3,4,5,6,7;8,9,10,11,12");
    check("cpusets", run_cpusets, "hwloc:0-3,8");
    check("topologies", run_topologies, "hwloc:0-3");
    test_liars();
    test_expansion();
    test_bombs();
    return tap_done();
}
