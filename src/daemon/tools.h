/* tools.h - PMIx tools: how they find a launcher, and how they are admitted.
 *
 * A tool is admitted at any time if the kernel reports that it belongs to our own user (listener.c
 * checks). It finds us by our address, which `wireup tools` prints; our library also by asking the
 * running launchers (io/rendezvous.h).  OpenPMIx's tools look for files (io/tool_files.h): these
 * are written on request only, from the start (-tool-files) or later (`wireup tools`).
 */
#ifndef WIREUP_DAEMON_TOOLS_H
#define WIREUP_DAEMON_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "io/tool_files.h"

struct op_tool_connect;

struct local_jobs;

struct tools {
    struct local_jobs *jobs;
    const char *dir; /* where tools look for files */
    struct tool_file_list contacts;
    bool written;
    uint32_t last; /* number of the last tool without a name */
    char name[32], uri[96];
};

/* Names the server, which listens on that port. */
void tools_open(struct tools *t, struct local_jobs *jobs, uint16_t port);
/* Writes the files that the config asks for.  0; TOOLS_BAD with a sentence. */
enum { TOOLS_BAD = 1 };
int tools_begin(struct tools *t, struct errmsg *err);
void tools_close(struct tools *t); /* harmless twice, and on zeroed memory */

/* Writes the files now.  0, or -errno with a sentence. */
int tools_write(struct tools *t, struct errmsg *err);

/* EFFECT_tool_connect. */
void tools_admit(struct tools *t, const struct op_tool_connect *e);

/* The directory where tools look for files. */
const char *tools_dir(void);

#endif
