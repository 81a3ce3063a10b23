/* environment_style.c - see environment_style.h. */
#include "daemon/environment_style.h"

#include <stdio.h>
#include <string.h>

enum row_kind {
    ROW_PLACE,
    ROW_TEXT,
    ROW_NAMESPACE,
    ROW_MEETING,
    ROW_MEETING_URI,
    ROW_STORE_TEXT,
    ROW_STORE_ADDRESS, /* this and what follows: all, or none */
    ROW_STORE_PORT,
    ROW_STORE_CLIENT
};

static const struct row {
    enum environment_style style;
    enum row_kind kind;
    const char *name;
    const char *text;
    enum environment_value value;
} rows[] = {
#define ROW(id, kind_, ...)        { ENVIRONMENT_STYLE_##id, ROW_##kind_, __VA_ARGS__ },
#define PLACE(id, name, VALUE)     ROW(id, PLACE, name, NULL, ENVIRONMENT_VALUE_##VALUE)
#define TEXT(id, name, text)       ROW(id, TEXT, name, text, ENVIRONMENT_VALUES)
#define NAMESPACE(id, name)        ROW(id, NAMESPACE, name, NULL, ENVIRONMENT_VALUES)
#define STORE_ADDRESS(id, name)    ROW(id, STORE_ADDRESS, name, "127.0.0.1", ENVIRONMENT_VALUES)
#define STORE_PORT(id, name)       ROW(id, STORE_PORT, name, NULL, ENVIRONMENT_VALUES)
#define STORE_CLIENT(id, name)     ROW(id, STORE_CLIENT, name, "True", ENVIRONMENT_VALUES)
#define STORE_TEXT(id, name, text) ROW(id, STORE_TEXT, name, text, ENVIRONMENT_VALUES)
#define MEETING(id, name)          ROW(id, MEETING, name, NULL, ENVIRONMENT_VALUES)
#define MEETING_URI(id, name)      ROW(id, MEETING_URI, name, NULL, ENVIRONMENT_VALUES)
#include "proto/environment_styles.def"
#undef ROW
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char *const words[ENVIRONMENT_STYLES] = {
    [ENVIRONMENT_STYLE_NONE] = "none",
#define STYLE(id, word) [ENVIRONMENT_STYLE_##id] = word,
#include "proto/environment_styles.def"
};

const char *environment_style_word(enum environment_style style)
{
    return words[style];
}

enum environment_style environment_style_named(struct slice word)
{
    for (int s = 0; s < ENVIRONMENT_STYLES; s++) {
        if (slice_is(word, words[s]))
            return (enum environment_style)s;
    }
    return ENVIRONMENT_STYLE_NONE;
}

/* ---- variables ------------------------------------------------------------------------------- */

bool environment_style_has(struct slice name)
{
    for (int i = 0; i < ROWS; i++) {
        if (slice_is(name, rows[i].name))
            return true;
    }
    return false;
}

bool environment_style_needs_store(enum environment_style style,
                                   const struct environment_style_calls *calls)
{
    bool needs = false;

    for (int i = 0; i < ROWS; i++) {
        if (rows[i].style != style || rows[i].kind < ROW_STORE_ADDRESS)
            continue;
        if (calls->has(calls->arg, rows[i].name))
            return false;
        needs = true;
    }
    return needs;
}

/* All daemons choose the same port without asking: above those that the kernel gives away (up to
 * 60999 unless it is told otherwise), another one for most jobs, as JAX chooses it from the number
 * of a job. */
enum { MEETING_PORTS = 1 << 12, MEETING_PORT = (1 << 16) - MEETING_PORTS };

static uint32_t meeting_number(const char *nspace)
{
    return (uint32_t)(slice_hash(slice_str(nspace), 0) % MEETING_PORTS);
}

/* uri: the number of the job stands in front, from which the same port is calculated. */
static struct slice meeting(const struct environment_place *place, bool uri, char *text,
                            size_t size)
{
    uint32_t number = meeting_number(place->nspace);

    if (uri)
        snprintf(text, size, "%u.0;tcp://%s:%u", number * MEETING_PORTS, place->head,
                 MEETING_PORT + number);
    else
        snprintf(text, size, "%s:%u", place->head, MEETING_PORT + number);
    return slice_str(text);
}

void environment_style_put(enum environment_style style, const struct environment_place *place,
                           const struct environment_style_calls *calls)
{
    bool store = place->store_port && environment_style_needs_store(style, calls);
    char digits[SLICE_DIGITS_MAX], text[512];

    for (int i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        struct slice value = slice_str(r->text);
        if (r->style != style || calls->has(calls->arg, r->name) ||
            (r->kind >= ROW_STORE_TEXT && !store) ||
            (r->kind == ROW_MEETING_URI && place->has_devices))
            continue;
        if (r->kind == ROW_PLACE)
            value = slice_digits(digits, place->values[r->value]);
        else if (r->kind == ROW_STORE_PORT)
            value = slice_digits(digits, place->store_port);
        else if (r->kind == ROW_NAMESPACE)
            value = slice_str(place->nspace);
        else if (r->kind == ROW_MEETING || r->kind == ROW_MEETING_URI)
            value = meeting(place, r->kind == ROW_MEETING_URI, text, sizeof text);
        calls->put(calls->arg, r->name, value);
    }
}
