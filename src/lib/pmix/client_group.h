/* client_group.h - what a client remembers of its groups. */
#ifndef WIREUP_LIB_PMIX_CLIENT_GROUP_H
#define WIREUP_LIB_PMIX_CLIENT_GROUP_H

struct client;

/* All of them, at the client's end. */
void groups_free(struct client *c);

#endif
