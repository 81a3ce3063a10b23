/* hop_where.h - addresses of daemons: as text, ours, and in which order to try theirs. */
#ifndef WIREUP_IO_HOP_WHERE_H
#define WIREUP_IO_HOP_WHERE_H

#include <sys/socket.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

struct hop_where {
    struct sockaddr_storage at;
    socklen_t len;
};

enum { HOP_WHERE_TEXT = 80 };

/* "10.0.0.7:4711", "[2001:db8::7]:4711"; for messages too. */
void hop_where_text(const struct hop_where *w, char text[HOP_WHERE_TEXT]);

/* Reads a list, blanks or commas between.  How many; 0: none, or one is bad (sentence in err);
 * what is beyond `room` is left out. */
size_t hop_where_read(struct slice text, struct hop_where *list, size_t room, struct errmsg *err);

/* Those that share a network with us first, our own last: they may be another machine's as well. */
void hop_where_sort(struct hop_where *list, size_t n);

/* Ours with that port, of one interface (a name, one of our addresses, or the network of one as
 * 10.1.0.0/16) or of all (NULL).
 * Loopback only when there is nothing else.  0, or -errno with the sentence. */
int hop_where_ours(const char *interface, uint16_t port, struct buf *text, struct errmsg *err);

/* What other nodes know our interface by: an address of ours is none of theirs, its network is
 * theirs as well.  In text, NUL-terminated; false: it stays as it is (or there is no room). */
bool hop_where_network(const char *interface, char *text, size_t room);

/* The name of the interface for SO_BINDTODEVICE, when it was given by address.  0 or -ENODEV. */
int hop_where_device(const char *interface, char *name, size_t room);

#endif
