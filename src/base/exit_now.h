/* exit_now.h - ends a process as _exit does: without the handlers of exit() and without writing
 * what stdio buffers, which may belong to the process that this one was forked from.
 *
 * LeakSanitizer looks for leaks at exit() only; here it is asked to look before.  If it finds one,
 * it reports it and ends the process with a status of its own.  Other builds contain _exit alone.
 */
#ifndef WIREUP_BASE_EXIT_NOW_H
#define WIREUP_BASE_EXIT_NOW_H

#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EXIT_NOW_CHECKS_LEAKS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define EXIT_NOW_CHECKS_LEAKS 1
#endif

#ifdef EXIT_NOW_CHECKS_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

__attribute__((noreturn)) static inline void exit_now(int code)
{
#ifdef EXIT_NOW_CHECKS_LEAKS
    __lsan_do_leak_check();
#endif
    _exit(code);
}

#endif
