/* spawn_wish_test.c - which nodes a spawn request reserves, and which requests are wrong. */
#include "daemon/spawn_wish.h"

#include <string.h>

#include "base/duration.h"
#include "tap.h"

enum { PAIRS = 4, PROCS = 3 };

/* `KEY=VALUE` words, separated by blanks. */
static int read_words(const char *words, struct reservation_wish *w, bool *wanted)
{
    struct spawn_pair pairs[PAIRS];
    struct spawn_command command = { .nprocs = PROCS, .infos = pairs };
    struct spawn_request rq = { .commands = &command, .ncommands = 1 };
    struct slice rest = slice_str(words);
    struct errmsg err = { "" };
    int rc;

    while (rest.len) {
        struct slice value = slice_cut(&rest, ' '), key = slice_cut(&value, '=');
        pairs[command.ninfos++] = (struct spawn_pair){ key, value };
    }
    rc = spawn_wish_read(&rq, w, wanted, &err);
    OK_F((rc != 0) == (err.text[0] != '\0'), "'%s': a sentence exactly if it is refused: %s", words,
         err.text);
    return rc;
}

static void test_wanted(void)
{
    static const struct {
        const char *words, *nodes, *exclude, *req_id;
        uint64_t num_nodes, num_cpus, seconds;
    } rows[] = {
        { "alloc-nodes=2", "", "", "", 2, 0, 0 },
        { "alloc-cpus=9 alloc-exclude=n1,n2", "", "n1,n2", "", 0, 9, 0 },
        { "alloc-node-list=n1,n3 alloc-req-id=mine", "n1,n3", "", "mine", 0, 0, 0 },
        { "alloc-time=60", "", "", "", 0, PROCS, 60 },
        { "alloc-exclude=n2", "", "n2", "", 0, PROCS, 0 },
        { "alloc-time=4294967294 alloc-nodes=1", "", "", "", 1, 0, 4294967294 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reservation_wish w;
        bool wanted;
        OK_F(read_words(rows[i].words, &w, &wanted) == 0 && wanted, "'%s' is wanted",
             rows[i].words);
        OK_F(w.num_nodes == rows[i].num_nodes && w.num_cpus == rows[i].num_cpus &&
                 w.duration_ns == rows[i].seconds * NS_PER_S && slice_is(w.nodes, rows[i].nodes) &&
                 slice_is(w.exclude, rows[i].exclude) && slice_is(w.req_id, rows[i].req_id),
             "'%s': the wish", rows[i].words);
    }
}

static void test_not_wanted(void)
{
    static const char *const rows[] = { "", "alloc-id=a", "alloc-session=3", "alloc-req-id=mine",
                                        "colocate=all:job" };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reservation_wish w;
        bool wanted;
        OK_F(read_words(rows[i], &w, &wanted) == 0 && !wanted, "'%s' wants none", rows[i]);
    }
}

static void test_refused(void)
{
    static const char *const rows[] = {
        "alloc-nodes=0",
        "alloc-nodes=many",
        "alloc-cpus=-1",
        "alloc-time=4294967295",
        "alloc-time=soon",
        "alloc-nodes=1 alloc-id=a",
        "alloc-time=1 alloc-session=3",
        "alloc-cpus=1 colocate=all:job",
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct reservation_wish w;
        bool wanted;
        OK_F(read_words(rows[i], &w, &wanted) == SPAWN_BAD_REQUEST, "'%s' is refused", rows[i]);
    }
}

int main(void)
{
    test_wanted();
    test_not_wanted();
    test_refused();
    return tap_done();
}
