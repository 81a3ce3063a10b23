/* daemon_link_address.h - addresses of daemons: their text, our own, and the order of attempts. */
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

/* Reads a list separated by blanks or commas.  Its length; 0: empty, or one entry is bad (sentence
 * in err); entries beyond `room` are left out. */
size_t daemon_link_address_read(struct slice text, struct daemon_link_address *list, size_t room,
                                struct errmsg *err);

/* Addresses on a network of ours first, our own addresses last: another machine may have them too.
 */
void daemon_link_address_sort(struct daemon_link_address *list, size_t n);

/* Our addresses with that port, of one interface (a name, one of our addresses, or its network as
 * 10.1.0.0/16) or of all (NULL).  Loopback only if there is nothing else.  0, or -errno with the
 * sentence. */
int daemon_link_address_ours(const char *interface, uint16_t port, struct buf *text,
                             struct errmsg *err);

/* The form of our interface that other nodes can use: they do not have our address, but they share
 * its network.  In text, NUL-terminated; false: unchanged (or there is no room). */
bool daemon_link_address_network(const char *interface, char *text, size_t room);

/* The name of the interface for SO_BINDTODEVICE, also if it was given by address.  0 or -ENODEV. */
int daemon_link_address_device(const char *interface, char *name, size_t room);

#endif
