/* post.h - where the processes of a job tell us something: a local socket without a place in the
 * file system, for processes of this user on this machine, each of which sends one message.
 */
#ifndef WIREUP_TOOLS_CONFORM_POST_H
#define WIREUP_TOOLS_CONFORM_POST_H

#include <stddef.h>

enum { POST_NAME = 48, POST_ROOM = 1 << 16 };

/* A listening descriptor, and its new name; -1 with errno. */
int post_listen(char name[POST_NAME]);

/* The next connection, or -1: it has failed, or was another user's. */
int post_accept(int listener);

/* -1 with errno. */
int post_connect(const char *name);

#endif
