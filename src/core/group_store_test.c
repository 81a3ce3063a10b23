/* group_store_test.c - records of groups: written, read, malformed; and how long they are kept. */
#include "core/group_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "core/group_record.h"
#include "tests/tap.h"

static void test_records(void)
{
    struct buf b = BUF_NULL(1 << 16);
    struct group_record r;
    struct slice rest;
    uint64_t number = 0;

    group_record_put(&b, &(struct group_record){ .kind = GROUP_NUMBER, .number = 1ULL << 40 });
    group_record_put(&b, &(struct group_record){ .kind = GROUP_ABSENT, .job = 2, .rank = 300 });
    group_record_put(&b, &(struct group_record){
                             .kind = GROUP_DATA, .job = 1, .rank = 7, .data = SLICE("values") });
    group_record_put(&b, &(struct group_record){ .kind = GROUP_MEMBER, .job = 4, .rank = 200 });
    rest = buf_slice(&b);
    OK(group_record_number(rest, &number));
    EQ(number, 1ULL << 40);
    OK(group_record_is_absent(rest, 2, 300));
    OK(!group_record_is_absent(rest, 1, 7));
    OK(group_record_next(&rest, &r) && r.kind == GROUP_NUMBER);
    OK(group_record_next(&rest, &r) && r.kind == GROUP_ABSENT && r.job == 2 && r.rank == 300);
    OK(group_record_next(&rest, &r) && r.kind == GROUP_DATA && slice_is(r.data, "values"));
    OK(group_record_next(&rest, &r) && r.kind == GROUP_MEMBER && r.job == 4 && r.rank == 200);
    OK(!group_record_next(&rest, &r) && rest.len == 0);
    for (size_t n = 1; n < buf_len(&b); n++) { /* cut anywhere, nothing is read past the end */
        struct slice cut = slice_head(buf_slice(&b), n);
        while (group_record_next(&cut, &r))
            ;
    }
    rest = SLICE("X");
    OK(!group_record_next(&rest, &r) && rest.len == 1);
    buf_free(&b);
}

static void test_store(void)
{
    size_t half = LIMIT_GROUP_RECORDS / 2;
    char *large = malloc(half + 1);
    struct group_store s;

    memset(large, 'x', half + 1);
    group_store_init(&s);
    EQ(group_store_keep(&s, 1, 0, SLICE("g"), SLICE("first")), 0);
    EQ(group_store_keep(&s, 2, 5, SLICE("g"), SLICE("second")), 0);
    EQ(group_store_keep(&s, 3, 0, SLICE("h"), SLICE_NULL), 0);
    OK(slice_is(group_store_find(&s, 1), "first"));
    OK(slice_is(group_store_named(&s, SLICE("g")), "second"));
    EQ(group_store_find(&s, 3).len, 0);
    group_store_job_ended(&s, 5);
    OK(slice_is(group_store_named(&s, SLICE("g")), "first"));
    EQ(group_store_keep(&s, 4, 0, SLICE("l"), slice_mem(large, half)), 0);
    OK(slice_is(group_store_find(&s, 1), "first"));
    EQ(group_store_keep(&s, 5, 0, SLICE("l"), slice_mem(large, half)), 0);
    EQ(group_store_find(&s, 1).len, 0); /* the oldest made room */
    EQ(group_store_find(&s, 4).len, half);
    EQ(group_store_keep(&s, 6, 0, SLICE("l"), slice_mem(large, half + 1)), 0);
    EQ(s.bytes, half + 1);
    group_store_free(&s);
    EQ(s.bytes, 0);
    free(large);
}

/* They outlive the jobs of some members. */
static void test_jobs(void)
{
    struct group_store s;

    group_store_init(&s);
    EQ(group_store_keep(&s, 1, 3, SLICE("g"), SLICE("records")), 0);
    EQ(group_store_keep(&s, 1, 4, SLICE("g"), SLICE("records")), 0);
    EQ(group_store_keep(&s, 1, 3, SLICE("g"), SLICE("records")), 0);
    EQ(s.bytes, strlen("records"));
    group_store_job_ended(&s, 3);
    OK(slice_is(group_store_find(&s, 1), "records"));
    group_store_job_ended(&s, 5);
    OK(slice_is(group_store_find(&s, 1), "records"));
    group_store_job_ended(&s, 4);
    EQ(group_store_find(&s, 1).len, 0);
    EQ(s.bytes, 0);
    group_store_free(&s);
}

int main(void)
{
    test_records();
    test_store();
    test_jobs();
    return tap_done();
}
