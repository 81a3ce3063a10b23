/* data_test.c - PMIx_Data_*: counts, positions, ownership, errors.  The bytes themselves are tested
 * beside the codec. */
#include <stdlib.h>
#include <string.h>

#include "pmix.h"
#include "tests/tap.h"

static pmix_data_buffer_t packed(const void *src, int32_t n, pmix_data_type_t type)
{
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;

    EQ(PMIx_Data_pack(NULL, &b, (void *)(uintptr_t)src, n, type), PMIX_SUCCESS);
    return b;
}

static void test_counts(void)
{
    uint32_t in[4] = { 1, 2, 3, 300 }, out[8] = { 0 };
    pmix_data_buffer_t b = packed(in, 4, PMIX_UINT32);
    int32_t n = 2;

    EQ(b.bytes_used, 6);
    EQ(b.pack_ptr - b.base_ptr, 6);
    OK(b.bytes_allocated >= b.bytes_used && b.unpack_ptr == b.base_ptr);
    EQ(PMIx_Data_unpack(NULL, &b, out, &n, PMIX_UINT32), PMIX_ERR_UNPACK_INADEQUATE_SPACE);
    EQ(n, 2);
    OK(out[0] == 1 && out[1] == 2 && out[2] == 0);
    OK(b.unpack_ptr == b.base_ptr); /* so the call can be repeated with more room */
    n = 0;
    EQ(PMIx_Data_unpack(NULL, &b, out, &n, PMIX_UINT32), PMIX_ERR_UNPACK_INADEQUATE_SPACE);
    n = 8;
    EQ(PMIx_Data_unpack(NULL, &b, out, &n, PMIX_UINT32), PMIX_SUCCESS);
    OK(n == 4 && out[3] == 300);
    n = 1;
    EQ(PMIx_Data_unpack(NULL, &b, out, &n, PMIX_UINT32), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EQ(n, 0);
    PMIx_Data_buffer_destruct(&b);

    b = packed(in, 0, PMIX_UINT32);
    n = 5;
    EQ(PMIx_Data_unpack(NULL, &b, out, &n, PMIX_UINT32), PMIX_SUCCESS);
    EQ(n, 0);
    PMIx_Data_buffer_destruct(&b);
}

static void test_arguments(void)
{
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    uint32_t v = 0;
    int32_t n = 1;
    void *copy = &v;
    char *text;
    pmix_byte_object_t bo;

    EQ(PMIx_Data_pack(NULL, NULL, &v, 1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_pack(NULL, &b, NULL, 1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_pack(NULL, &b, &v, -1, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_pack(NULL, &b, &v, 1, 99), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EQ(PMIx_Data_pack(NULL, &b, &v, 1, PMIX_UNDEF), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EQ(b.bytes_used, 0);
    EQ(PMIx_Data_unpack(NULL, &b, &v, &n, PMIX_UINT32), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EQ(PMIx_Data_unpack(NULL, NULL, &v, &n, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_unpack(NULL, &b, NULL, &n, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_unpack(NULL, &b, &v, NULL, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_copy(NULL, &v, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_copy(&copy, NULL, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_copy(&copy, &v, 99), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EQ(PMIx_Data_print(NULL, NULL, &v, PMIX_UINT32), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_print(&text, NULL, &v, 99), PMIX_ERR_UNKNOWN_DATA_TYPE);
    EQ(PMIx_Data_load(NULL, &bo), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_unload(NULL, &bo), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_unload(&b, NULL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_embed(NULL, &bo), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_copy_payload(NULL, &b), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_copy_payload(&b, NULL), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_copy_payload(&b, &b), PMIX_SUCCESS); /* empty buffers */
    PMIx_Data_buffer_destruct(&b);
}

/* A call that fails leaves the buffer where it was, and dest without anything to release. */
static void test_failures(void)
{
    pmix_value_t bad = { .type = PMIX_PROC };
    pmix_app_t app;
    char text[] = "text", *s = text;
    pmix_data_buffer_t b = packed(&s, 1, PMIX_STRING);
    size_t used = b.bytes_used;
    int32_t n = 1;

    EQ(PMIx_Data_pack(NULL, &b, &bad, 1, PMIX_VALUE), PMIX_ERR_BAD_PARAM);
    EQ(b.bytes_used, used);
    EQ(PMIx_Data_unpack(NULL, &b, &app, &n, PMIX_APP), PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
    EQ(n, 0);
    OK(app.cmd == NULL); /* it had been read already */
    EQ(b.unpack_ptr - b.base_ptr, 0);
    n = 1;
    EQ(PMIx_Data_unpack(NULL, &b, &s, &n, PMIX_STRING), PMIX_SUCCESS);
    OK(strcmp(s, "text") == 0 && s != text);
    free(s);
    PMIx_Data_buffer_destruct(&b);
}

/* Many small ones: growth keeps the packed bytes and the read position. */
static void test_growth(void)
{
    pmix_data_buffer_t b = PMIX_DATA_BUFFER_STATIC_INIT;
    size_t good = 0, failed = 0;
    uint64_t v;
    int32_t n;

    for (uint64_t i = 0; i < 5000; i++) {
        v = i * i;
        failed += PMIx_Data_pack(NULL, &b, &v, 1, PMIX_UINT64) != PMIX_SUCCESS;
        if (i % 2)
            continue;
        n = 1;
        if (PMIx_Data_unpack(NULL, &b, &v, &n, PMIX_UINT64) == PMIX_SUCCESS && v == i / 2 * (i / 2))
            good++;
    }
    EQ(good, 2500);
    EQ(failed, 0);
    PMIx_Data_buffer_destruct(&b);
}

static void test_load_unload(void)
{
    uint32_t v[4] = { 1, 2, 3, 300 };
    pmix_data_buffer_t b = packed(v, 1, PMIX_UINT32), c = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_byte_object_t bo;
    int32_t n = 1;

    PMIx_Data_pack(NULL, &b, v, 4, PMIX_UINT32);
    PMIx_Data_unpack(NULL, &b, v, &n, PMIX_UINT32);
    EQ(PMIx_Data_copy_payload(&c, &b), PMIX_SUCCESS); /* the second unit */
    EQ(c.bytes_used, 6);
    EQ(PMIx_Data_copy_payload(&c, &b), PMIX_SUCCESS);
    EQ(c.bytes_used, 12);
    EQ(PMIx_Data_copy_payload(&c, &c), PMIX_ERR_BAD_PARAM);
    EQ(PMIx_Data_unload(&b, &bo), PMIX_SUCCESS); /* only the unread bytes */
    OK(bo.size == 6 && bo.bytes[0] == 8);
    OK(b.base_ptr == NULL && b.bytes_used == 0);

    EQ(PMIx_Data_embed(&c, &bo), PMIX_SUCCESS); /* replaces, and copies */
    EQ(c.bytes_used, 6);
    OK(bo.bytes && c.base_ptr != bo.bytes);
    EQ(PMIx_Data_embed(&c, NULL), PMIX_SUCCESS);
    OK(c.base_ptr == NULL);

    EQ(PMIx_Data_load(&c, &bo), PMIX_SUCCESS); /* takes over */
    OK(bo.bytes == NULL && bo.size == 0);
    n = 4;
    EQ(PMIx_Data_unpack(NULL, &c, v, &n, PMIX_UINT32), PMIX_SUCCESS);
    EQ(n, 4);
    EQ(PMIx_Data_pack(NULL, &c, v, 1, PMIX_UINT32), PMIX_SUCCESS); /* continues after them */
    n = 1;
    EQ(PMIx_Data_unpack(NULL, &c, v, &n, PMIX_UINT32), PMIX_SUCCESS);
    EQ(PMIx_Data_load(&c, NULL), PMIX_SUCCESS);
    OK(c.base_ptr == NULL);
    EQ(PMIx_Data_unload(&c, &bo), PMIX_SUCCESS);
    OK(bo.bytes == NULL && bo.size == 0);
}

static void test_copy(void)
{
    uint32_t v = 7, *v_copy;
    char regex[] = "blob:\0component=zlib:\0size=3:\0ab\0", *text, *argv[] = { regex, NULL };
    void *copy;
    pmix_app_t app = { .cmd = regex, .argv = argv, .maxprocs = 3 }, *app_copy;
    pmix_nspace_t *nspace;

    EQ(PMIx_Data_copy(&copy, &v, PMIX_UINT32), PMIX_SUCCESS);
    v_copy = copy;
    EQ(*v_copy, 7);
    free(copy);
    EQ(PMIx_Data_copy(&copy, regex, PMIX_STRING), PMIX_SUCCESS);
    OK(strcmp(copy, "blob:") == 0);
    free(copy);
    EQ(PMIx_Data_copy(&copy, regex, PMIX_REGEX), PMIX_SUCCESS);
    OK(memcmp(copy, regex, sizeof regex - 1) == 0);
    free(copy);
    text = strdup("ns");
    EQ(PMIx_Data_copy(&copy, text, PMIX_PROC_NSPACE), PMIX_SUCCESS);
    nspace = copy;
    OK(strcmp(*nspace, "ns") == 0);
    free(copy);
    free(text);
    EQ(PMIx_Data_copy(&copy, &app, PMIX_APP), PMIX_SUCCESS);
    app_copy = copy;
    OK(app_copy->maxprocs == 3 && strcmp(app_copy->argv[0], "blob:") == 0 &&
       app_copy->argv[0] != regex && !app_copy->argv[1]);
    PMIx_App_free(app_copy, 1);
}

static void test_print(void)
{
    int v = 5;
    char *text = NULL, prefix[] = "> ";

    EQ(PMIx_Data_print(&text, prefix, &v, PMIX_INT), PMIX_SUCCESS);
    OK(text && strcmp(text, "> Data type: PMIX_INT\tValue: 5") == 0);
    free(text);
    for (size_t i = 0; i < 2; i++) { /* the string itself, not its address */
        EQ(PMIx_Data_print(&text, NULL, prefix, i ? PMIX_REGEX : PMIX_STRING), PMIX_SUCCESS);
        OK(text && strstr(text, ": > "));
        free(text);
    }
    EQ(PMIx_Data_print(&text, NULL, NULL, PMIX_INT), PMIX_ERR_BAD_PARAM);
}

static void test_compress(void)
{
    static uint8_t in[100000];
    uint8_t *small, *big;
    size_t n, m;
    uint32_t lie;

    memset(in, 'a', sizeof in);
    OK(!PMIx_Data_compress(in, 4095, &small, &n) && !small && !n);
    OK(PMIx_Data_compress(in, sizeof in, &small, &n) && n < 1000);
    OK(PMIx_Data_decompress(small, n, &big, &m) && m == sizeof in && memcmp(in, big, m) == 0);
    free(big);
    for (size_t cut = 0; cut < n; cut++)
        if (PMIx_Data_decompress(small, cut, &big, &m) || big || m)
            OK_F(false, "a stream cut at %zu is refused", cut);
    for (int i = -1; i < 2; i += 2) { /* the length in front of them is wrong */
        lie = (uint32_t)((int)sizeof in + i);
        memcpy(small, &lie, sizeof lie);
        OK(!PMIx_Data_decompress(small, n, &big, &m));
    }
    lie = UINT32_MAX;
    memcpy(small, &lie, sizeof lie);
    OK(!PMIx_Data_decompress(small, n, &big, &m));
    free(small);
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * i * 2654435761u >> 13);
    srand(1);
    for (size_t i = 0; i < 10000; i++)
        in[i] = (uint8_t)(rand() >> 7);
    OK(!PMIx_Data_compress(in, 10000, &small, &n) && !small); /* would not shrink */
    OK(!PMIx_Data_compress(NULL, 10000, &small, &n));
    OK(!PMIx_Data_decompress(NULL, 10000, &small, &n));
}

int main(void)
{
    test_counts();
    test_arguments();
    test_failures();
    test_growth();
    test_load_unload();
    test_copy();
    test_print();
    test_compress();
    return tap_done();
}
