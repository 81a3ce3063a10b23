/* pmix_data.c - our codec beside another's, in one process: every type, random content.
 *
 *   pmix_data ENCODING FORM ROUNDS
 *
 * For each item: both pack it to the same bytes; what one packed, the other unpacks, and packs
 * again to the same bytes.
 */
#include "tests/interop/pmix_differ.h"
#include "tests/tap.h"

static void test_type(const struct ptype *t, unsigned rounds)
{
    struct fill f = {
        .state = t->number * 1000003u, .depth = 3, .as = as, .skip = skip, .no_types = true
    };
    const char *what = NULL;
    unsigned i;

    for (i = 0; i < rounds && !what; i++)
        what = compare_random(&f, t, (int32_t)(1 + i % 2));
    OK_F(!what, "%s: %u times %s%s%s", as->name, i, t->name, what ? ": " : "", what ? what : "");
}

/* The other one in its encoding and we in another: the comparison must tell. */
static void test_the_test(void)
{
    const struct ptype_flavour *right = as;
    uint32_t v = 300;

    as = ptype_flavour(right->fixed ? SLICE("v41") : SLICE("v3"));
    OK(compare(ptype_find(PMIX_UINT32), &v, 1) != NULL);
    as = right;
    OK(compare(ptype_find(PMIX_UINT32), &v, 1) == NULL);
}

int main(int argc, char **argv)
{
    size_t types = 0;

    if (argc != 4)
        return 2;
    as = ptype_flavour(slice_str(argv[1]));
    described = argv[2][0] == '2';
    if (!as || !peer_open(&peer, argv[1], argv[2])) {
        printf("1..0 # SKIP no other libpmix here\n");
        return 0;
    }
    for (size_t number = 0; number < PTYPE_NUMBERS; number++) {
        const struct ptype *t = &ptype_table[number];
        if (!compared(t))
            continue;
        test_type(t, (unsigned)strtoul(argv[3], NULL, 10));
        types++;
    }
    test_the_test();
    OK_F(types >= 38, "%zu types compared", types);
    peer_close(&peer);
    return tap_done();
}
