/* state_table.h - makes the types and functions of a state table from its rows.
 *
 * The rows are in a .def file:
 *
 *   STATE(state, "name")   EVENT(event, "name")   ROW(state, event, next state, action)
 *
 * A pair without a row is impossible, or changes nothing: the table says which.  The header of a
 * table lists the actions, of which the first one stands for the missing row, and then includes
 * this file, here for a table named `own`:
 *
 *   #define TABLE         own
 *   #define TABLE_UPPER   OWN
 *   #define TABLE_ROWS    "daemon/own_state.def"
 *   #define TABLE_SUBJECT "this daemon"
 *   #include "base/state_table.h"
 *
 * That declares the enums own_state (OWN_STATE_JOINING ... OWN_STATES) and own_event, and these
 * functions; the source of the table defines STATE_TABLE_CODE before it includes its header, and
 * so defines them.  Without TABLE_SUBJECT there is no own_state_event.
 *
 *   own_state_step    looks the row up: the action, and the next state in *state_p; without a row
 *                     the state stays
 *   own_state_event   the same; an event that has no row is logged as an internal error
 *   own_state_name    "serving"
 *   own_event_name    "quit"
 */
#include "base/log.h"

#ifndef STATE_TABLE_JOIN
#define STATE_TABLE_JOIN_(a, b, c)   a##b##c
#define STATE_TABLE_JOIN(a, b, c)    STATE_TABLE_JOIN_(a, b, c)
#define STATE_TABLE_LOWER(suffix)    STATE_TABLE_JOIN(TABLE, suffix, )
#define STATE_TABLE_UPPER(kind, one) STATE_TABLE_JOIN(TABLE_UPPER, kind, one)
#endif

#define STATE(state, name) STATE_TABLE_UPPER(_STATE_, state),
#define EVENT(event, name)
#define ROW(from, event, to, act)
enum STATE_TABLE_LOWER(_state) {
#include TABLE_ROWS
    STATE_TABLE_UPPER(_STATES, )
};
#undef STATE
#undef EVENT

#define STATE(state, name)
#define EVENT(event, name) STATE_TABLE_UPPER(_EVENT_, event),
enum STATE_TABLE_LOWER(_event) {
#include TABLE_ROWS
    STATE_TABLE_UPPER(_EVENTS, )
};
#undef STATE
#undef EVENT
#undef ROW

enum STATE_TABLE_LOWER(_action)
    STATE_TABLE_LOWER(_state_step)(enum STATE_TABLE_LOWER(_state) * state_p,
                                   enum STATE_TABLE_LOWER(_event) event);
#ifdef TABLE_SUBJECT
enum STATE_TABLE_LOWER(_action)
    STATE_TABLE_LOWER(_state_event)(enum STATE_TABLE_LOWER(_state) * state_p,
                                    enum STATE_TABLE_LOWER(_event) event, const struct log *log);
#endif
const char *STATE_TABLE_LOWER(_state_name)(enum STATE_TABLE_LOWER(_state) state);
const char *STATE_TABLE_LOWER(_event_name)(enum STATE_TABLE_LOWER(_event) event);

#ifdef STATE_TABLE_CODE
static const struct {
    enum STATE_TABLE_LOWER(_action) action;
    enum STATE_TABLE_LOWER(_state) next;
} STATE_TABLE_LOWER(_cells)[STATE_TABLE_UPPER(_STATES, )][STATE_TABLE_UPPER(_EVENTS, )] = {
#define STATE(state, name)
#define EVENT(event, name)
#define ROW(from, event, to, act)                                                                  \
    [STATE_TABLE_UPPER(_STATE_, from)][STATE_TABLE_UPPER(_EVENT_, event)] = {                      \
        STATE_TABLE_UPPER(_ACTION_, act), STATE_TABLE_UPPER(_STATE_, to)                           \
    },
#include TABLE_ROWS
#undef STATE
#undef EVENT
#undef ROW
};

enum STATE_TABLE_LOWER(_action)
    STATE_TABLE_LOWER(_state_step)(enum STATE_TABLE_LOWER(_state) * state_p,
                                   enum STATE_TABLE_LOWER(_event) event)
{
    enum STATE_TABLE_LOWER(_action) action = STATE_TABLE_LOWER(_cells)[*state_p][event].action;

    if (action)
        *state_p = STATE_TABLE_LOWER(_cells)[*state_p][event].next;
    return action;
}

#ifdef TABLE_SUBJECT
enum STATE_TABLE_LOWER(_action)
    STATE_TABLE_LOWER(_state_event)(enum STATE_TABLE_LOWER(_state) * state_p,
                                    enum STATE_TABLE_LOWER(_event) event, const struct log *log)
{
    enum STATE_TABLE_LOWER(_state) before = *state_p;
    enum STATE_TABLE_LOWER(_action) action = STATE_TABLE_LOWER(_state_step)(state_p, event);

    if (!action)
        log_error(log, "internal error: event '%s' for " TABLE_SUBJECT " in state '%s'",
                  STATE_TABLE_LOWER(_event_name)(event), STATE_TABLE_LOWER(_state_name)(before));
    return action;
}
#endif

const char *STATE_TABLE_LOWER(_state_name)(enum STATE_TABLE_LOWER(_state) state)
{
    static const char *const names[] = {
#define STATE(state, name) [STATE_TABLE_UPPER(_STATE_, state)] = name,
#define EVENT(event, name)
#define ROW(from, event, to, act)
#include TABLE_ROWS
#undef STATE
#undef EVENT
    };

    return names[state];
}

const char *STATE_TABLE_LOWER(_event_name)(enum STATE_TABLE_LOWER(_event) event)
{
    static const char *const names[] = {
#define STATE(state, name)
#define EVENT(event, name) [STATE_TABLE_UPPER(_EVENT_, event)] = name,
#include TABLE_ROWS
#undef STATE
#undef EVENT
#undef ROW
    };

    return names[event];
}
#undef STATE_TABLE_CODE
#endif

#undef TABLE
#undef TABLE_UPPER
#undef TABLE_ROWS
#undef TABLE_SUBJECT
