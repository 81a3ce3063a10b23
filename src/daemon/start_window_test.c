/* start_window_test.c - how many commands may be under way, by what the machine has to do. */
#include "daemon/start_window.h"

#include "base/limit.h"
#include "tests/tap.h"

enum { USUAL = LIMIT_AGENT_AT_ONCE, MOST = LIMIT_AGENT_MOST };

static const struct row {
    uint32_t under_way;
    const char *loadavg;
    uint32_t processors;
    bool allows;
} rows[] = {
    { 0, "99.00 99.00 99.00 500/900 7\n", 2, true },
    { USUAL - 1, "99.00 99.00 99.00 500/900 7\n", 2, true },
    { USUAL, "0.00 0.00 0.00 1/900 7\n", 2, true },
    { USUAL, "99.00 99.00 99.00 2/900 7\n", 2, true }, /* what was does not count */
    { USUAL, "0.00 0.00 0.00 3/900 7\n", 2, false },
    { USUAL, "0.00 0.00 0.00 3/900 7\n", 64, true },
    { MOST - 1, "0.00 0.00 0.00 1/900 7\n", 64, true },
    { MOST, "0.00 0.00 0.00 1/900 7\n", 64, false },
    { USUAL, "", 2, false },
    { USUAL, "0.00 0.00 0.00", 2, false },
    { USUAL, "0.00 0.00 0.00 -1/900 7\n", 2, false },
    { USUAL, "0.00 0.00 0.00 99999999999/900 7\n", 2, false },
    { USUAL - 1, "", 2, true },
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        OK_F(start_window_fits(r->under_way, slice_str(r->loadavg), r->processors) == r->allows,
             "%u under way, %u processors, %s: %s", r->under_way, r->processors, r->loadavg,
             r->allows ? "one more" : "no more");
    }
    OK(start_window_allows(0) && start_window_allows(USUAL - 1) && !start_window_allows(MOST));
    return tap_done();
}
