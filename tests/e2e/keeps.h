/* keeps.h - for test programs that keep what PMIx gives them until they end: that is no leak. */
#ifndef WIREUP_TESTS_KEEPS_H
#define WIREUP_TESTS_KEEPS_H

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

#endif
