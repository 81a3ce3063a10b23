/* iof_subscribers_test.c - which subscriptions of other nodes a process's output matches. */
#include "cluster/iof_subscribers.h"

#include "base/buf.h"
#include "core/job.h"
#include "tests/tap.h"

/* The subscriptions to a process, "position:id ..." */
static bool receives(const struct iof_subscribers *e, const char *nspace, uint32_t rank,
                     const char *want)
{
    struct buf text = BUF_NULL(1024);
    bool same;

    for (const struct iof_subscription *r = NULL; (r = iof_subscribers_next(e, r, nspace, rank));)
        buf_printf(&text, "%u:%u ", r->position, (unsigned)r->id);
    same = slice_is(buf_slice(&text), want);
    if (!same)
        printf("# got '%s'\n", buf_len(&text) ? buf_cstr(&text) : "");
    buf_free(&text);
    return same;
}

int main(void)
{
    struct iof_subscribers e = { { 0 } };

    iof_subscribers_free(&e);
    iof_subscribers_init(&e);
    OK(receives(&e, "job", 1, ""));
    OK(iof_subscribers_add(&e, 2, 7, SLICE("job"), 1, 2) &&
       iof_subscribers_add(&e, 2, 7, SLICE("job"), JOB_NO_RANK, 2));
    OK(iof_subscribers_add(&e, 2, 8, SLICE("job"), 0, 2) &&
       iof_subscribers_add(&e, 3, 7, SLICE("jo"), 1, 2));
    OK(iof_subscribers_add(&e, 3, 8, SLICE("job"), 1, 6));
    OK_F(receives(&e, "job", 1, "2:7 3:8 "), "a demand that names it twice comes once");
    OK(receives(&e, "job", 0, "2:7 2:8 ") && receives(&e, "job", 5, "2:7 ") &&
       receives(&e, "jo", 1, "3:7 "));
    iof_subscribers_drop(&e, 2, 8);
    iof_subscribers_drop(&e, 4, 7);
    OK(receives(&e, "job", 0, "2:7 "));
    iof_subscribers_lost(&e, 3);
    OK(receives(&e, "job", 1, "2:7 ") && receives(&e, "jo", 1, ""));
    iof_subscribers_free(&e);
    return tap_done();
}
