/* openmpi_help_test.c - help messages of Open MPI 4, valid and invalid ones. */
#include "wire/openmpi_help.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* As sent by a process of Open MPI 4.1.4, shortened. */
#define ONE "\0\0\0\1"
#define REAL                                                                                       \
    ONE "\0\0\0\6"                                                                                 \
        "a.txt\0" ONE "\0\0\0\6"                                                                   \
        "topic\0" ONE "\1" ONE "\0\0\0\4"                                                          \
        "hi\n\0"
#define TYPED                                                                                      \
    "\11" ONE "\3"                                                                                 \
    "\0\0\0\6"                                                                                     \
    "a.txt\0"                                                                                      \
    "\11" ONE "\3"                                                                                 \
    "\0\0\0\6"                                                                                     \
    "topic\0"                                                                                      \
    "\11" ONE "\7"                                                                                 \
    "\1"                                                                                           \
    "\11" ONE "\3"                                                                                 \
    "\0\0\0\4"                                                                                     \
    "hi\n\0"
#define SILENT                                                                                     \
    ONE "\0\0\0\6"                                                                                 \
        "a.txt\0" ONE "\0\0\0\6"                                                                   \
        "topic\0" ONE "\0"

#define READ(bytes, help) openmpi_help_read(slice_mem(bytes, sizeof(bytes) - 1), help)

static void test_messages(void)
{
    struct openmpi_help h;

    OK(READ(REAL, &h) && slice_is(h.file, "a.txt") && slice_is(h.topic, "topic") &&
       slice_is(h.text, "hi\n"));
    OK_F(READ(TYPED, &h) && slice_is(h.file, "a.txt") && slice_is(h.topic, "topic") &&
             slice_is(h.text, "hi\n"),
         "with types, as debug builds have them");
    OK_F(READ(SILENT, &h) && slice_is(h.topic, "topic") && h.text.len == 0, "without a text");
}

/* Cut, made longer, and with each byte changed: read or refused, and nothing beyond is touched
 * (which the sanitizers check). */
static void test_nonsense(void)
{
    static const char *const wholes[] = { REAL, TYPED, SILENT };
    static const size_t lengths[] = { sizeof REAL - 1, sizeof TYPED - 1, sizeof SILENT - 1 };
    struct openmpi_help h;
    unsigned cut = 0, all = 0;
    char bytes[128];

    for (size_t i = 0; i < 3; i++) {
        for (size_t n = 0; n < lengths[i]; n++, all++) {
            char *copy = n ? malloc(n) : NULL;
            if (n)
                memcpy(copy, wholes[i], n);
            cut += !openmpi_help_read(slice_mem(copy, n), &h);
            free(copy);
        }
        memcpy(bytes, wholes[i], lengths[i]);
        bytes[lengths[i]] = '\0';
        OK_F(!openmpi_help_read(slice_mem(bytes, lengths[i] + 1), &h), "a byte too many");
        for (size_t at = 0; at < lengths[i]; at++) {
            bytes[at] = (char)0xff;
            if (openmpi_help_read(slice_mem(bytes, lengths[i]), &h) && h.text.len > lengths[i])
                OK_F(false, "a text longer than all of it");
            bytes[at] = wholes[i][at];
        }
    }
    EQ(cut, all);
    OK(!openmpi_help_read(SLICE_NULL, &h));
    OK_F(!READ(ONE "\0\0\0\0" ONE "\0\0\0\6"
                   "topic\0" ONE "\0",
               &h),
         "no file");
    OK_F(!READ(ONE "\0\0\0\3"
                   "a\0\0" ONE "\0\0\0\6"
                   "topic\0" ONE "\0",
               &h),
         "a NUL in a text");
}

int main(void)
{
    test_messages();
    test_nonsense();
    return tap_done();
}
