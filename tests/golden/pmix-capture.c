/* pmix-capture.c - records how another libpmix packs the items of tests/pmix_items.h.
 *
 *   cc -Iinclude -Itests tests/golden/pmix-capture.c -o /tmp/pmix-capture -ldl
 *   /tmp/pmix-capture /usr/lib/x86_64-linux-gnu/libpmix.so.2 v41 1
 *
 * Arguments: the library, the encoding that it shall use, 1 or 2 for plain or described buffers.
 * Writes rows for tests/golden/pmix-types-*.def: GOLDEN(encoding, form, status, item, bytes).  Used
 * by hand, when a new release is to be recorded.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmix_items.h"

typedef pmix_status_t init_fn(void *, pmix_info_t *, size_t);
typedef pmix_status_t pack_fn(const pmix_proc_t *, pmix_data_buffer_t *, void *, int32_t,
                              pmix_data_type_t);

static void capture(pack_fn *pack, const char *encoding, int form, struct item *it)
{
    pmix_data_buffer_t b = { 0 };
    pmix_status_t rc = pack(NULL, &b, (void *)(uintptr_t)it->src, it->n, it->type);

    printf("GOLDEN(\"%s\", %d, %d, \"%s\", \"", encoding, form, rc, it->name);
    for (size_t i = 0; rc == PMIX_SUCCESS && i < b.bytes_used; i++)
        printf("%02x", (unsigned char)b.base_ptr[i]);
    printf("\")\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    void *lib, *module[64] = { NULL };
    init_fn *init;
    pack_fn *pack;

    if (argc != 4)
        return 2;
    setenv("PMIX_MCA_bfrops", argv[2], 1);
    setenv("PMIX_MCA_bfrops_base_default_type", argv[3], 1);
    lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&init = dlsym(lib, "PMIx_server_init");
    *(void **)&pack = dlsym(lib, "PMIx_Data_pack");
    if (!init || !pack || init(module, NULL, 0) != PMIX_SUCCESS)
        return 1;
    items_make();
    for (size_t i = 0; i < items_count; i++) {
        pid_t child = fork(); /* what this library cannot pack may end it */
        if (child == 0) {
            capture(pack, argv[2], atoi(argv[3]), &items[i]);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    *(void **)&init = dlsym(lib, "PMIx_server_finalize");
    return init(NULL, NULL, 0) != PMIX_SUCCESS;
}
