/* dvm_request_test.c - requests to a DVM, written and read; damaged ones. */
#include "daemon/dvm_request.h"

#include <string.h>

#include "tests/tap.h"

static void test_both_ways(void)
{
    static char node[] = "n1", program[] = "/opt/two words", word[] = "100%\n\xc3\xa9";
    char *const words[] = { node, program, word, NULL };
    struct buf line = BUF_NULL(4096);
    struct arena a = ARENA_NULL(1 << 16);
    struct slice read[64], text;
    uint32_t n = 0;

    dvm_request_write(words, &line);
    OK(slice_is(buf_slice(&line), "on n1 /opt/two%20words 100%25%0a%c3%a9\n"));
    text = slice_skip(slice_head(buf_slice(&line), buf_len(&line) - 1), 3);
    OK(dvm_request_read(text, &a, read, &n) && n == 3);
    OK(slice_is(read[0], node) && slice_is(read[1], program) && slice_is(read[2], word));
    arena_free(&a);
    buf_free(&line);
}

static void test_damaged(void)
{
    static const char *const bad[] = { "",       "n1",     "n1 ",    " n1",      "n1 %", "n1 %2",
                                       "n1 a%2", "n1 %zz", "n1 %-1", "n1 a%00b", "%",    "n1 % 2" };
    struct slice read[64];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct arena a = ARENA_NULL(1 << 16);
        uint32_t n = 0;
        OK_F(!dvm_request_read(slice_str(bad[i]), &a, read, &n), "'%s' is refused", bad[i]);
        arena_free(&a);
    }
}

/* What the line may not hold as it is: NUL too, which would end the word there. */
static void test_raw(void)
{
    for (int c = 0; c < 256; c++) {
        char line[] = { 'n', '1', ' ', 'a', (char)c, 'b' };
        bool plain = c >= ' ' && c < 0x7f && c != '%'; /* (a blank: two words) */
        struct arena a = ARENA_NULL(1 << 16);
        struct slice read[8];
        uint32_t n = 0;
        OK_F(dvm_request_read(slice_mem(line, sizeof line), &a, read, &n) == plain, "byte %d", c);
        arena_free(&a);
    }
}

static void test_end(void)
{
    static const char *const bad[] = { "",         "exit",       "exit ",  "exit 256",
                                       "exit -1",  "exit 1 ",    "error",  "error ",
                                       "signal 0", "signal 128", "signal", "signal KILL",
                                       "status 1" };
    struct buf line = BUF_NULL(4096);
    struct errmsg err = { "" };
    struct slice text;
    int code = -1;

    for (int status = 0; status < 0x100; status++) {
        buf_clear(&line);
        dvm_request_end_write(status << 8, SLICE_NULL, &line);
        text = buf_slice(&line);
        OK_F(dvm_request_end_read(slice_cut(&text, '\n'), &code, &err) == 0 && code == status,
             "exit code %d", status);
    }
    buf_clear(&line);
    dvm_request_end_write(9, SLICE_NULL, &line);
    OK(slice_is(buf_slice(&line), "signal 9\n"));
    OK(dvm_request_end_read(SLICE("signal 9"), &code, &err) == 0 && code == 137);
    buf_clear(&line);
    dvm_request_end_write(0, SLICE("no memory"), &line);
    OK(slice_is(buf_slice(&line), "error no memory\n"));
    EQ(dvm_request_end_read(SLICE("error no memory"), &code, &err), DVM_REQUEST_NOT_STARTED);
    OK_F(!strcmp(err.text, "no memory"), "%s", err.text);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK_F(dvm_request_end_read(slice_str(bad[i]), &code, &err) == DVM_REQUEST_BAD,
             "'%s' is no end", bad[i]);
    buf_free(&line);
}

int main(void)
{
    test_both_ways();
    test_damaged();
    test_raw();
    test_end();
    return tap_done();
}
