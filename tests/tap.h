/* tap.h - the few lines a TAP test needs.  Include once, in the file that holds main().
 *
 *   OK(cond)             one test point, named by its own text
 *   OK_F(cond, fmt, …)   one test point with a name of your own
 *   EQ(a, b)             integers; prints both when they differ
 *   return tap_done();   the plan; non-zero when anything failed or nothing ran
 */
#ifndef WIREUP_TESTS_TAP_H
#define WIREUP_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 4, 5), unused)) static bool
tap_point(bool good, const char *file, int line, const char *format, ...)
{
    char name[512];
    va_list args;

    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    for (char *c = name; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == '#') /* a newline would end the point, # its name */
            *c = '.';
    }
    printf("%sok %d - %s\n", good ? "" : "not ", ++tap_count, name);
    if (!good) {
        tap_failed++;
        printf("# failed at %s:%d\n", file, line);
    }
    fflush(stdout);
    return good;
}

__attribute__((unused)) static bool tap_equal(int64_t a, int64_t b, const char *what,
                                              const char *file, int line)
{
    bool good = tap_point(a == b, file, line, "%s", what);

    if (!good)
        printf("# left %lld, right %lld\n", (long long)a, (long long)b);
    return good;
}

#define OK(cond)        tap_point((cond), __FILE__, __LINE__, "%s", #cond)
#define OK_F(cond, ...) tap_point((cond), __FILE__, __LINE__, __VA_ARGS__)
#define EQ(a, b)        tap_equal((int64_t)(a), (int64_t)(b), #a " == " #b, __FILE__, __LINE__)

__attribute__((unused)) static int tap_done(void)
{
    printf("1..%d\n", tap_count);
    return tap_failed || tap_count == 0;
}

#endif
