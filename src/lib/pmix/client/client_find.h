/* client_find.h - a tool's own name, the server that it asks for, and finding that server.
 *
 * A server is named by its address, by a file that has it, by its pid or its name.  The last two
 * are found by the names of files below the system's temporary directory and, for a Wireup
 * launcher, by asking the running ones (io/rendezvous.h).  Files of other users are not trusted.
 * When several servers match, none is chosen.
 */
#ifndef WIREUP_LIB_PMIX_CLIENT_CLIENT_FIND_H
#define WIREUP_LIB_PMIX_CLIENT_CLIENT_FIND_H

#include "lib/pmix/client/client_env.h"
#include "pmix_common.h"

struct wish {
    const char *uri, *file, *tmpdir, *nspace;
    long pid; /* of the server; 0: not known */
    uint32_t retries, delay_s;
    bool system, scheduler, controller; /* the one server of this machine that has that role */
    bool system_first, alone, named, optional, primary, launcher;
    bool schedules;   /* the tool is the scheduler */
    pmix_proc_t name; /* of the tool */
};

void wish_read(struct wish *w, const pmix_info_t *infos, size_t n);

enum { FOUND_MAX = 1024 };

struct found_server {
    char uri[FOUND_MAX], version[64]; /* of its library; empty: not known */
};

bool server_find(const struct wish *w, const struct pmix_env *env, struct found_server *f_p);

/* One server of this machine; texts are lent. */
struct server_seen {
    const char *uri, *version; /* version empty: not known */
    long pid;                  /* 0: not known */
};

/* Every server of our own user that can be found below the temporary directory that w names, and
 * the running launchers: each address once. */
void servers_each(const struct wish *w, void (*fn)(void *arg, const struct server_seen *s),
                  void *arg);

/* A connection to the launcher of that name by its control socket, where the kernel proves each
 * side to the other; it goes on with the hello.  -1: there is none, or it cannot be reached so. */
int launcher_dial(struct slice name);

#endif
