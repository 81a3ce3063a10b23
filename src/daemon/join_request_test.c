/* join_request_test.c - the message by which a node joins, written and read; damaged ones. */
#include "daemon/join_request.h"

#include <string.h>

#include "tests/tap.h"

int main(void)
{
    static const char *const bad[] = {
        "",
        "wireup-join",
        "wireup-join 1 n1",
        "wireup-join 3 n1 4\n", /* another release */
        "wireup-join 2 n1 4\n", /* no request */
        "wireup-join 2 n1 4 \n",
        "wireup-join 2 n1 4 0\n",
        "wireup-join 2 n1 4 x\n",
        "wireup-join 2 n1 4 4294967296\n",
        "wireup-join 2 n1 4 5 6\n",
        "wireup-join 1 n1 4 5\n",     /* an older form, with one */
        "wireup-join 1 n1 0\n",       /* no slots */
        "wireup-join 1 n1 1048577\n", /* too many */
        "wireup-join 1  4\n",         /* no name */
        "wireup-join 1 a,b 4\n",      /* two */
        "wireup-join 1 -x 4\n",       /* an option */
        "wireup-join 1 n\1 4\n",
        "wireup-join 1 n1 4\nmore",
        "wireup-boot 1 n1 4\n",
    };
    struct join_request q = { "pod-7.site", 12, 0 }, r = { "", 0, 1 };
    struct buf text = BUF_NULL(4096);
    char longest[JOIN_REQUEST_NAME + 2];

    join_request_write(&q, &text);
    OK(slice_is(buf_slice(&text), "wireup-join 1 pod-7.site 12\n")); /* older launchers do, too */
    OK(join_request_read(buf_slice(&text), &r) && !strcmp(r.name, q.name) && r.slots == 12 &&
       r.request == 0);
    q.request = UINT32_MAX;
    buf_clear(&text);
    join_request_write(&q, &text);
    OK(join_request_read(buf_slice(&text), &r) && !strcmp(r.name, q.name) && r.slots == 12 &&
       r.request == UINT32_MAX);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK_F(!join_request_read(slice_str(bad[i]), &r), "refused: %s", bad[i]);
    memset(longest, 'a', sizeof longest);
    OK(join_request_is_name(slice_mem(longest, JOIN_REQUEST_NAME)));
    OK(!join_request_is_name(slice_mem(longest, JOIN_REQUEST_NAME + 1)));
    buf_free(&text);
    return tap_done();
}
