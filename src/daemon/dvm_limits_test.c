/* dvm_limits_test.c - limits of jobs, and how they are told. */
#include "daemon/dvm_limits.h"

#include <string.h>

#include "tap.h"

static void test_words(void)
{
    const struct dvm_limits all = { 3, 4, 2, 60 }, none = { 0, 0, 0, 0 };
    struct buf text = BUF_NULL(100);
    struct dvm_limits l;

    OK(dvm_limits_any(&all) && !dvm_limits_any(&none));
    dvm_limits_write(&all, &text);
    OK(slice_is(buf_slice(&text), "3 4 2 60"));
    OK(dvm_limits_read(buf_slice(&text), &l));
    OK(l.jobs == 3 && l.slots == 4 && l.nodes == 2 && l.seconds == 60);
    OK(!dvm_limits_read(SLICE("3 4 2"), &l) && !dvm_limits_read(SLICE("3 4 2 x"), &l) &&
       !dvm_limits_read(SLICE("3 4 2 6 7"), &l));
    buf_free(&text);
}

static void test_check(void)
{
    const struct dvm_limits l = { 0, 4, 1, 0 }, none = { 0, 0, 0, 0 };
    struct errmsg err;

    EQ(dvm_limits_check(&none, "d", 1000000, 1000, &err), 0);
    EQ(dvm_limits_check(&l, "d", 4, 1, &err), 0);
    EQ(dvm_limits_check(&l, "d", 5, 1, &err), 1);
    OK_F(!strcmp(err.text, "the job has 5 processes, and DVM d allows a job 4 (-job-slots)"), "%s",
         err.text);
    EQ(dvm_limits_check(&l, "d", 4, 2, &err), 1);
    OK_F(!strcmp(err.text, "the job has 2 nodes, and DVM d allows a job 1 (-job-nodes)"), "%s",
         err.text);
}

int main(void)
{
    test_words();
    test_check();
    return tap_done();
}
