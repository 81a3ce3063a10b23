/* tools.h - PMIx tools: how they find a launcher, and how they are let in.
 *
 * A tool is let in at any time when the kernel says that it is our own user's (listener.c asks). It
 * finds us by our address, which `wireup tools` tells; our library also by asking the launchers
 * that are running (io/rendezvous.h).  OpenPMIx's tools look for files (io/tool_files.h): these are
 * written when the user wants them, from the start (-tools) or later (`wireup tools`), so that who
 * does not want them has none.
 */
#ifndef WIREUP_WIREUPD_TOOLS_H
#define WIREUP_WIREUPD_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/effect.h"
#include "io/tool_files.h"

struct node;

struct tools {
    struct tool_file_list contacts;
    bool written;
    uint32_t last; /* number of the last one that had no name */
    char name[32], uri[96];
};

/* Names the server. */
void tools_open(struct tools *t, struct node *n);
/* Writes the files that the config asks for.  0; TOOLS_BAD with a sentence. */
enum { TOOLS_BAD = 1 };
int tools_begin(struct tools *t, struct node *n, struct errmsg *err);
void tools_close(struct tools *t); /* harmless twice, and on zeroed memory */

/* The files are there from now on.  0, or -errno with a sentence. */
int tools_write(struct tools *t, struct node *n, struct errmsg *err);

/* EFFECT_TOOL; the effect is dropped. */
void tools_admit(struct node *n, struct effect *e);

/* The directory where tools look for files. */
const char *tools_dir(void);

#endif
