/* daemon_link_delay.h - says why a connection makes no progress, for the log: what lies unread or is
 * not acknowledged, and what this process did meanwhile.  With the same from the other end it tells
 * a network that loses packets from a process that got no processor, or waited for a disk. */
#ifndef WIREUP_IO_DAEMON_LINK_DELAY_H
#define WIREUP_IO_DAEMON_LINK_DELAY_H

#include <stdint.h>

enum { DAEMON_LINK_DELAY_TEXT = 320 };

struct daemon_link_delay {
    uint64_t since_ns, ran_ns, read_disk; /* the time, and what this process had used until then */
};

void daemon_link_delay_begin(struct daemon_link_delay *d);
/* fd: the connection, with TCP or without.  A part of a sentence. */
void daemon_link_delay_text(const struct daemon_link_delay *d, int fd,
                            char text[DAEMON_LINK_DELAY_TEXT]);

#endif
