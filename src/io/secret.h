/* secret.h - memory for keys.
 *
 * Pages of their own, which no core file shows, no child copies, and (as far as the limit of locked
 * memory allows) no swap keeps; wiped before they are given back.  A key lies there once, and all
 * who need it point to it.
 *
 * Not sodium_malloc(): its guard pages cost eight system calls for each link, and what could run
 * over a key is fixed in size here.  Not PR_SET_DUMPABLE either: whoever may trace a daemon may
 * trace the user's programs as well, and without it a debugger and the daemon's own /proc would be
 * lost to its user.
 */
#ifndef WIREUP_IO_SECRET_H
#define WIREUP_IO_SECRET_H

#include <stddef.h>

/* n bytes, zeroed; NULL: no memory. */
void *secret_new(size_t n);
/* Wipes them.  Returns NULL; NULL is harmless. */
void *secret_free(void *p, size_t n);

#endif
