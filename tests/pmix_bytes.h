/* pmix_bytes.h - messages of PMIx clients as text, for tests: hexadecimal numbers, and 'words' with
 * their NUL.  The length in the header is filled in.
 */
#ifndef WIREUP_TESTS_PMIX_BYTES_H
#define WIREUP_TESTS_PMIX_BYTES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"

/* The header of a request. */
#define PMIX_HEAD "00000000 00000066 00000000 00000000 "

/* The bytes of a text, as many as have room; aborts when one is wrong. */
static size_t pmix_bytes_put(unsigned char *at, size_t room, const char *text)
{
    size_t n = 0;
    unsigned value;
    bool word = false;

    for (; *text; text++) {
        if (*text == '\'') {
            word = !word;
            if (word)
                continue;
            value = 0;
        } else if (word) {
            value = (unsigned char)*text;
        } else if (*text == ' ') {
            continue;
        } else if (sscanf(text++, "%2x", &value) != 1) {
            abort();
        }
        if (n == room)
            abort();
        at[n++] = (unsigned char)value;
    }
    return n;
}

/* A whole message, its length filled in.  The next call overwrites it. */
static inline struct slice pmix_bytes(const char *text)
{
    static unsigned char at[1024];
    size_t n = pmix_bytes_put(at, sizeof at, text);

    if (at[0] == 0xff) {
        at[8] = (unsigned char)(n - 16);
    } else {
        at[10] = (unsigned char)((n - 16) >> 8);
        at[11] = (unsigned char)(n - 16);
    }
    return slice_mem(at, n);
}

#endif
