/* job_number.h - the short number by which people name a launcher and its job: 1, 2, 3, ...; the
 * smallest that no other launcher of this user has now.
 *
 * A number is an abstract socket name, so the kernel gives each to one process alone, and takes it
 * back when that process ends, however it ends.  Anybody may take such names: then the next one is
 * tried, and after JOB_NUMBER_TRIES of them the pid is the number, which nobody else may have
 * either, but then nothing but the listing of all launchers shows that.
 */
#ifndef WIREUP_IO_JOB_NUMBER_H
#define WIREUP_IO_JOB_NUMBER_H

#include <stdint.h>

enum { JOB_NUMBER_TRIES = 256 };

struct job_number {
    int fd;         /* -1: none was taken */
    uint32_t value; /* 0: none */
};

#define JOB_NUMBER_NONE ((struct job_number){ .fd = -1 })

/* Takes one, unless one is taken already. */
void job_number_take(struct job_number *n);
void job_number_drop(struct job_number *n); /* harmless twice, and on JOB_NUMBER_NONE */

#endif
