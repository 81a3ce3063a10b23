/* secret.h - memory for keys.
 *
 * Pages with keys only, which no core file shows, no child inherits, and (as far as the limit of
 * locked memory allows) no swap keeps; wiped before they are freed.  There is one copy of a key,
 * and all its users point to it.
 *
 * Not sodium_malloc(): its guard pages cost eight system calls for each link, and everything that
 * could overrun a key has a fixed size here.  Keys share pages for the same reason, so one thread
 * of a process makes and frees them.  Not PR_SET_DUMPABLE either: a process that may trace a daemon
 * may trace the user's programs as well, and the user would lose the use of a debugger and of the
 * daemon's own /proc.
 */
#ifndef WIREUP_IO_SECRET_H
#define WIREUP_IO_SECRET_H

#include <stddef.h>

/* Makes the page of the first keys, which takes five system calls: for who has time now. */
void secret_prepare(void);

/* n bytes, zeroed; NULL: no memory. */
void *secret_new(size_t n);
/* Wipes them; n as they were made.  Returns NULL; NULL is harmless. */
void *secret_free(void *p, size_t n);

#endif
