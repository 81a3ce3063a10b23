/* inherited_fds.h - the descriptors that a process has from who started it, besides 0, 1 and 2.
 *
 * Who goes on in the background closes them then: a reader of a pipe among them would otherwise wait
 * until that process has ended.  Until then they may be named by the words of the command line
 * (/dev/fd/63, which `<(...)` of a shell becomes).
 */
#ifndef WIREUP_IO_INHERITED_FDS_H
#define WIREUP_IO_INHERITED_FDS_H

#include <stddef.h>

/* Zeroed memory has none. */
struct inherited_fds {
    int *fds;
    size_t n;
};

/* For the main function, before it opens anything.  Where there is no /proc or memory, none. */
void inherited_fds_note(struct inherited_fds *f);
void inherited_fds_close(struct inherited_fds *f); /* harmless twice */

#endif
