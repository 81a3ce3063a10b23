/* phase.c - see phase.h and phase.def. */
#include "wireupd/phase.h"

#include <signal.h>

struct cell {
    enum phase_action action;
    enum phase next;
};

static const struct cell table[PHASES][PHASE_EVENTS] = {
#define ROW(from, event, to, act) [PHASE_##from][PHASE_##event] = { PHASE_##act, PHASE_##to },
#include "wireupd/phase.def"
#undef ROW
};

enum phase_action phase_step(enum phase *phase_p, enum phase_event event)
{
    const struct cell *c = &table[*phase_p][event];

    if (c->action != PHASE_none)
        *phase_p = c->next;
    return c->action;
}

bool phase_is_end(int sig)
{
    return sig == SIGINT || sig == SIGTERM || sig == SIGHUP;
}

const char *phase_name(enum phase phase)
{
    static const char *const names[PHASES] = {
        [PHASE_PREPARING] = "preparing", [PHASE_RISING] = "rising",
        [PHASE_STARTING] = "starting",   [PHASE_RUNNING] = "running",
        [PHASE_STANDING] = "standing",   [PHASE_ASKED] = "asked",
        [PHASE_ENDING] = "ending",       [PHASE_KILLING] = "killing",
        [PHASE_GIVING_UP] = "giving up", [PHASE_LEAVING] = "leaving",
        [PHASE_CLOSING] = "closing",     [PHASE_CUT] = "cut",
    };

    return names[phase];
}

const char *phase_event_name(enum phase_event event)
{
    static const char *const names[PHASE_EVENTS] = {
        [PHASE_LISTENING] = "listening", [PHASE_UP] = "up",
        [PHASE_STARTED] = "started",     [PHASE_STAND] = "stand",
        [PHASE_ENDED] = "ended",         [PHASE_SIGNAL] = "signal",
        [PHASE_LATE] = "late",           [PHASE_PATIENCE] = "patience",
    };

    return names[event];
}
