/* pmix_bytes.h - messages of PMIx clients as text, for tests: hexadecimal numbers, and 'words' with
 * their NUL.  The length in the header is filled in.
 */
#ifndef WIREUP_TESTS_PMIX_BYTES_H
#define WIREUP_TESTS_PMIX_BYTES_H

#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"

/* The header of a request. */
#define PMIX_HEAD "00000000 00000066 00000000 00000000 "

/* The next call overwrites it. */
static struct slice pmix_bytes(const char *text)
{
    static char at[1024];
    size_t n = 0;
    unsigned value;

    while (*text) {
        if (*text == ' ') {
            text++;
        } else if (*text == '\'') {
            for (text++; *text != '\''; text++)
                at[n++] = *text;
            text++;
            at[n++] = '\0';
        } else {
            if (sscanf(text, "%2x", &value) != 1 || n + 1 >= sizeof at)
                abort();
            at[n++] = (char)value;
            text += 2;
        }
    }
    if (at[0] == '\xff') {
        at[8] = (char)(n - 16);
    } else {
        at[10] = (char)((n - 16) >> 8);
        at[11] = (char)(n - 16);
    }
    return slice_mem(at, n);
}

#endif
