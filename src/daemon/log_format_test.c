/* log_format_test.c - each way in which a logged text may look. */
#include "daemon/log_format.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/control.h"
#include "tests/tap.h"

static void looks(unsigned format, const char *text, const char *wanted)
{
    struct log_format f = {
        .format = format, .time_s = 86400, .channel = SLICE("stderr"), .nspace = "a\"b", .rank = 3
    };
    struct buf out = BUF_NULL(4096);

    log_format_write(&f, slice_str(text), &out);
    if (!slice_is(buf_slice(&out), wanted))
        OK_F(false, "'%s' is '%s'", wanted, buf_cstr(&out));
    else
        OK(true);
    buf_free(&out);
}

int main(void)
{
    setenv("TZ", "UTC0", 1);
    tzset();
    looks(0, "a\nb", "a\nb");
    looks(0, "", "");
    looks(CONTROL_LOG_TAG, "", "<stderr>: ");
    looks(CONTROL_LOG_TAG, "a\nb\n", "<stderr>: a\n<stderr>: b\n");
    looks(CONTROL_LOG_TIME, "a", "[1970-01-02T00:00:00+0000] a");
    looks(CONTROL_LOG_TIME | CONTROL_LOG_TAG, "a\n", "[1970-01-02T00:00:00+0000] <stderr>: a\n");
    looks(CONTROL_LOG_XML, "a<b>&\"c\"\x01\n",
          "<stderr nspace=\"a&quot;b\" rank=\"3\">a&lt;b&gt;&amp;&quot;c&quot;\n</stderr>\n");
    looks(CONTROL_LOG_XML | CONTROL_LOG_TIME | CONTROL_LOG_TAG, "a",
          "<stderr nspace=\"a&quot;b\" rank=\"3\" time=\"1970-01-02T00:00:00+0000\">a</stderr>\n");
    return tap_done();
}
