/* doctor_report.c - fuzzes the lines that a node tells `wireup doctor`: whatever is taken is
 * compared and printed, without control characters.  Bytes are shared among three nodes, line by
 * line. */
#include <stdint.h>
#include <stdlib.h>

#include "report/doctor_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(struct buf *out)
{
    struct slice s = buf_slice(out);

    if (!buf_ok(out))
        abort();
    for (size_t i = 0; i < s.len; i++) {
        if (((unsigned char)s.ptr[i] < ' ' && s.ptr[i] != '\n') || s.ptr[i] == 0x7f)
            abort();
    }
    buf_clear(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "a", "b", "c" };
    struct slice rest = slice_mem(data, size);
    struct buf out = BUF_NULL(64 << 20);
    struct doctor_report r;

    if (doctor_report_open(&r, names, 3) == 0) {
        for (uint32_t i = 0; rest.len; i++)
            doctor_report_line(&r, i % 3, slice_cut(&rest, '\n'));
        doctor_report_compare(&r);
        doctor_report_text(&r, false, &out);
        check_text(&out);
        doctor_report_json(&r, &out);
        check_text(&out);
    }
    buf_free(&out);
    doctor_report_close(&r);
    return 0;
}
