/* pmix_differ.c - fuzzes our codec against another libpmix (that of OpenPMIx, where it is
 * installed).
 *
 * Input: data type, how many items, then what decides their content, eight bytes a decision.
 * Both pack the items to the same bytes; what one packed, the other unpacks, and packs again to the
 * same bytes.  What the other is known to get wrong is left out (tests/interop/pmix_differ.h).
 */
#include <stdint.h>

#include "tests/interop/pmix_differ.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the other library never releases is not ours to mend, and looking for it takes the time. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static void end(void)
{
    peer_close(&peer);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    enum { SKIP = 77 };

    (void)argc;
    (void)argv;
    as = ptype_flavour(SLICE("v41"));
    if (!peer_open(&peer, "v41", "1")) {
        fprintf(stderr, "no other libpmix here\n");
        exit(SKIP);
    }
    atexit(end);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ptype *t = size > 2 ? ptype_find(data[0]) : NULL;
    struct fill f = { .depth = 3, .as = as, .skip = skip, .no_types = true };
    const char *what;

    if (!t || !compared(t))
        return 0;
    f.input = slice_mem(data + 2, size - 2);
    what = compare_random(&f, t, 1 + data[1] % 4);
    if (what) {
        fprintf(stderr, "%s: %s\n", t->name, what);
        abort();
    }
    return 0;
}
