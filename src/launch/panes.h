/* panes.h - commands in panes of tmux: those of the session that we run in, or of a server of our
 * own, so that no session of the user's is touched.
 *
 * A command that fails leaves its pane until Enter is typed, or nobody could read why.
 */
#ifndef WIREUP_LAUNCH_PANES_H
#define WIREUP_LAUNCH_PANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct panes {
    struct arena *arena;
    const char *tmux;   /* its path */
    const char *server; /* its name (tmux -L); NULL: that of the session that we run in */
    const char *title;
    char window[32]; /* the last one, as tmux names it */
    uint32_t count;
};

/* False: tmux is not installed.  arena and title outlive the panes. */
bool panes_open(struct panes *p, struct arena *a, const char *title);

/* One more, for a shell's command line.  0, or 1 with a sentence. */
int panes_add(struct panes *p, const char *title, const char *command, struct errmsg *err);

/* What the user types to see them; NULL: nothing, they are in the session that we run in. */
const char *panes_how(const struct panes *p);

/* Shows them on this terminal, in place of this program; returns only on error. */
void panes_show(const struct panes *p);

/* Ends all of a server of our own. */
void panes_end(const struct panes *p);

#endif
