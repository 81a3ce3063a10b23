/* side_thread.h - a thread beside the one that has the signals: for what may block, such as files and
 * drivers.
 */
#ifndef WIREUP_IO_SIDE_THREAD_H
#define WIREUP_IO_SIDE_THREAD_H

/* Nobody joins it, and it takes no signals.  0 or -errno. */
int side_thread_start(void *(*run)(void *arg), void *arg);

#endif
