/* buffers.c - data in PMIx's own encoding: packed by one process, unpacked by another one, whatever
 * machine and release each of them has.  Without a launcher the encoding is this library's.
 *
 *   wireup -n 1 ./buffers */
#define EXAMPLE "buffers"
#include "../pmix/example.h"

/* Two numbers and a text go in, and come out in the same order.  Unpacking says how many there
 * were. */
static void pack(void)
{
    pmix_data_buffer_t *b = PMIx_Data_buffer_create();
    uint32_t numbers[2] = { 7, 8 }, again[2] = { 0, 0 };
    char *text = (char[]){ "seven" }, *back = NULL;
    int32_t n = 2;

    must("pack", PMIx_Data_pack(NULL, b, numbers, 2, PMIX_UINT32));
    must("pack", PMIx_Data_pack(NULL, b, &text, 1, PMIX_STRING));
    must("unpack", PMIx_Data_unpack(NULL, b, again, &n, PMIX_UINT32));
    if (n != 2 || again[1] != 8)
        fail("%d numbers, the last one %u", n, again[1]);
    n = 1;
    must("unpack", PMIx_Data_unpack(NULL, b, &back, &n, PMIX_STRING));
    if (strcmp(back, text) != 0)
        fail("%s came back", back);
    free(back);
    PMIx_Data_buffer_release(b);
}

/* The bytes of a buffer leave it for a network, and come into another one at the other end. */
static void unload_and_load(void)
{
    pmix_data_buffer_t *from = PMIx_Data_buffer_create(), *to = PMIx_Data_buffer_create();
    uint32_t n = 7, again = 0;
    int32_t one = 1;
    char *bytes;
    size_t len;

    must("pack", PMIx_Data_pack(NULL, from, &n, 1, PMIX_UINT32));
    PMIx_Data_buffer_unload(from, &bytes, &len); /* empty now; the bytes are ours */
    PMIx_Data_buffer_load(to, bytes, len);       /* the bytes are the buffer's */
    must("unpack", PMIx_Data_unpack(NULL, to, &again, &one, PMIX_UINT32));
    if (again != n)
        fail("%u came back", again);
    PMIx_Data_buffer_release(from);
    PMIx_Data_buffer_release(to);
}

/* The same with bytes that know their length; embedding copies them behind what is there. */
static void payloads(void)
{
    pmix_data_buffer_t *from = PMIx_Data_buffer_create(), *to = PMIx_Data_buffer_create();
    pmix_byte_object_t bytes;
    uint32_t n = 7, again = 0;
    int32_t one = 1;

    must("pack", PMIx_Data_pack(NULL, from, &n, 1, PMIX_UINT32));
    must("copy", PMIx_Data_copy_payload(to, from));
    must("unload", PMIx_Data_unload(from, &bytes));
    must("embed", PMIx_Data_embed(to, &bytes));
    must("load", PMIx_Data_load(from, &bytes));
    must("unpack", PMIx_Data_unpack(NULL, to, &again, &one, PMIX_UINT32));
    if (again != n)
        fail("%u came back", again);
    PMIx_Data_buffer_release(from);
    PMIx_Data_buffer_release(to);
}

/* A copy, and a text, of a value of any type. */
static void copy_and_print(void)
{
    pmix_proc_t *copy = NULL;
    char *text = NULL;

    must("copy", PMIx_Data_copy((void **)&copy, &me, PMIX_PROC));
    must("print", PMIx_Data_print(&text, (char[]){ "peer: " }, copy, PMIX_PROC));
    if (!strstr(text, me.nspace))
        fail("'%s' does not name the job", text);
    free(text);
    PMIx_Proc_free(copy, 1);
}

/* Long data is worth compressing; false: it would not become shorter. */
static void compress(void)
{
    enum { LENGTH = 1 << 16 };
    uint8_t *data = calloc(1, LENGTH), *small = NULL, *again = NULL;
    size_t n = 0, m = 0;

    if (!PMIx_Data_compress(data, LENGTH, &small, &n) || n >= LENGTH)
        fail("zeros are not compressed");
    if (!PMIx_Data_decompress(small, n, &again, &m) || m != LENGTH)
        fail("%zu bytes came back", m);
    free(data);
    free(small);
    free(again);
}

int main(void)
{
    begin();
    pack();
    unload_and_load();
    payloads();
    copy_and_print();
    compress();
    return end();
}
