/* launcher_file.h - what a launcher tells the others in its file in the directory of
 * -launchers-dir: its addresses, and the boot of its machine.
 *
 * Two lines.  A launcher holds a lock on its file as long as it lives.  Locks are believed within
 * one boot of one machine only: not every shared file system has them between machines.
 */
#ifndef WIREUP_DAEMON_LAUNCHER_FILE_H
#define WIREUP_DAEMON_LAUNCHER_FILE_H

#include <stdbool.h>

#include "base/buf.h"

enum { LAUNCHER_FILE_MOST = 4096, LAUNCHER_FILE_BOOT = 64 };

/* Of this boot of this machine; empty where the kernel does not tell. */
void launcher_file_boot(char boot_p[LAUNCHER_FILE_BOOT]);

/* Appends the second line behind the addresses. */
void launcher_file_end(struct buf *addresses, const char *boot);

struct launcher_file {
    struct slice addresses, boot; /* boot may be empty */
};

/* Any bytes; false: there are no addresses. */
bool launcher_file_read(struct slice text, struct launcher_file *f_p);

/* The launcher of this file of the directory has ended, and could not remove it: its lock, of the
 * same boot, is free.  False if that cannot be told. */
bool launcher_file_is_left(int dir, const char *name, const char *boot);

#endif
