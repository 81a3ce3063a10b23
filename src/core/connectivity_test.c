/* connectivity_test.c - the patterns: which ranks are neighbours, and which texts are none. */
#include "core/connectivity.h"

#include <string.h>

#include "tests/tap.h"

static void neighbours_are(const char *text, uint32_t nprocs, uint32_t rank, const char *want)
{
    uint32_t of[CONNECTIVITY_NEIGHBOURS];
    struct connectivity c;
    char got[300] = "";
    uint32_t n;

    EQ(connectivity_parse(slice_str(text), &c, NULL), 0);
    n = connectivity_neighbours(&c, nprocs, rank, of);
    for (uint32_t i = 0; i < n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", i ? " " : "", of[i]);
    OK_F(!strcmp(got, want), "%s: the neighbours of %u of %u are '%s', got '%s'", text, rank,
         nprocs, want, got);
}

static void is_refused(const char *text)
{
    struct errmsg err = { "" };
    struct connectivity c;

    OK_F(connectivity_parse(slice_str(text), &c, &err) == 1 && c.kind == CONNECTIVITY_ALL &&
             strstr(err.text, "must be ring, hypercube"),
         "'%s' is refused: %s", text, err.text);
}

/* Who is a neighbour of another has it as a neighbour. */
static void is_mutual(const char *text, uint32_t nprocs)
{
    uint32_t of[CONNECTIVITY_NEIGHBOURS], back[CONNECTIVITY_NEIGHBOURS];
    struct connectivity c;
    bool good = true;

    connectivity_parse(slice_str(text), &c, NULL);
    for (uint32_t r = 0; r < nprocs; r++) {
        uint32_t n = connectivity_neighbours(&c, nprocs, r, of);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t m = connectivity_neighbours(&c, nprocs, of[i], back), at = 0;
            while (at < m && back[at] != r)
                at++;
            good = good && of[i] < nprocs && of[i] != r && at < m;
        }
    }
    OK_F(good, "%s of %u is mutual", text, nprocs);
}

static void test_sizes(void)
{
    struct errmsg err = { "" };
    struct connectivity c;

    connectivity_parse(SLICE("cartesian:2x3"), &c, NULL);
    EQ(connectivity_fits(&c, 6, &err), 0);
    EQ(connectivity_fits(&c, 7, &err), 1);
    OK(!strcmp(err.text, "connectivity: the grid has 6 places, and the job 7 processes"));
    connectivity_parse(SLICE("ring"), &c, NULL);
    EQ(connectivity_fits(&c, 7, &err), 0);
}

int main(void)
{
    neighbours_are("ring", 5, 0, "4 1");
    neighbours_are("ring", 5, 4, "3 0");
    neighbours_are("ring", 2, 0, "1");
    neighbours_are("ring", 1, 0, "");
    neighbours_are("ring", 5, 5, "");
    neighbours_are("hypercube", 8, 5, "4 7 1");
    neighbours_are("hypercube", 6, 5, "4 1");
    neighbours_are("hypercube", 1, 0, "");
    neighbours_are("cartesian:2x3", 6, 4, "3 5 1");
    neighbours_are("cartesian:3x3", 9, 0, "2 1 6 3");
    neighbours_are("cartesian:4x4x4", 64, 0, "3 1 12 4 48 16");
    neighbours_are("sparse", 8, 3, "");
    neighbours_are("all", 8, 3, "");
    is_mutual("ring", 7);
    is_mutual("hypercube", 13);
    is_mutual("cartesian:2x3x5", 30);
    is_mutual("cartesian:1x2x3x4x1x2x1x1", 48);
    is_refused("");
    is_refused("rings");
    is_refused("cartesian");
    is_refused("cartesian:");
    is_refused("cartesian:0x2");
    is_refused("cartesian:2x");
    is_refused("cartesian:x2");
    is_refused("cartesian:2xa");
    is_refused("cartesian:65536x65536");
    is_refused("cartesian:1x1x1x1x1x1x1x1x1");
    test_sizes();
    return tap_done();
}
