/* daemon_link_address.h - addresses of daemons: as text, ours, and in which order to try theirs. */
#ifndef WIREUP_IO_DAEMON_LINK_ADDRESS_H
#define WIREUP_IO_DAEMON_LINK_ADDRESS_H

#include <sys/socket.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct daemon_link_address {
    struct sockaddr_storage at;
    socklen_t len;
};

enum { DAEMON_LINK_ADDRESS_TEXT = 80 };

/* "10.0.0.7:4711", "[2001:db8::7]:4711"; for messages too. */
void daemon_link_address_text(const struct daemon_link_address *w,
                              char text[DAEMON_LINK_ADDRESS_TEXT]);

/* Reads a list, blanks or commas between.  How many; 0: none, or one is bad (sentence in err);
 * what is beyond `room` is left out. */
size_t daemon_link_address_read(struct slice text, struct daemon_link_address *list, size_t room,
                                struct errmsg *err);

/* Those that share a network with us first, our own last: they may be another machine's as well. */
void daemon_link_address_sort(struct daemon_link_address *list, size_t n);

/* Ours with that port, of one interface (a name, one of our addresses, or the network of one as
 * 10.1.0.0/16) or of all (NULL).
 * Loopback only when there is nothing else.  0, or -errno with the sentence. */
int daemon_link_address_ours(const char *interface, uint16_t port, struct buf *text,
                             struct errmsg *err);

/* What other nodes know our interface by: an address of ours is none of theirs, its network is
 * theirs as well.  In text, NUL-terminated; false: it stays as it is (or there is no room). */
bool daemon_link_address_network(const char *interface, char *text, size_t room);

/* The name of the interface for SO_BINDTODEVICE, when it was given by address.  0 or -ENODEV. */
int daemon_link_address_device(const char *interface, char *name, size_t room);

#endif
