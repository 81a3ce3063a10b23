/* screen.h - a terminal of one's own: keys come one by one, nothing that is typed is shown, and
 * what was on the screen before comes back.  A few sequences that every terminal of today
 * understands; where TERM says "dumb", or there is no terminal, screen_open() fails.
 */
#ifndef WIREUP_LAUNCH_SCREEN_H
#define WIREUP_LAUNCH_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <termios.h>

#include "base/buf.h"

struct screen {
    bool open;
    struct termios before;
    uint32_t rows, columns;
};

enum screen_key {
    SCREEN_KEY_NONE = 256, /* a sequence that is no key here */
    SCREEN_KEY_UP,
    SCREEN_KEY_DOWN,
    SCREEN_KEY_END /* the terminal is gone */
};

/* Standard input and output are one terminal that can be used. */
bool screen_is_possible(void);

/* 0 or -errno. */
int screen_open(struct screen *s);
void screen_close(struct screen *s); /* harmless twice, and on zeroed memory */

/* Its size may have changed. */
void screen_measure(struct screen *s);

/* A character, or enum screen_key; to be called when standard input is readable. */
int screen_key(void);

/* Shows the text instead of what is there: lines beyond the last row are left out.  mark: this
 * line is shown reversed; UINT32_MAX: none.  0 or -errno. */
int screen_show(const struct screen *s, struct slice text, uint32_t mark);

#endif
