/* verdicts.h - what was found, row by row, and how it is printed. */
#ifndef WIREUP_TOOLS_CONFORM_VERDICTS_H
#define WIREUP_TOOLS_CONFORM_VERDICTS_H

#include "base/arena.h"
#include "base/slice.h"

enum conformance { VERDICT_CONFORMS, VERDICT_DIFFERS, VERDICT_NOT_OFFERED };

struct verdict_row {
    const char *name;
    enum conformance verdict;
    const char *why; /* empty: nothing to say */
};

struct verdicts {
    struct arena arena;
    struct verdict_row *rows;
    uint32_t n, room;
};

void verdicts_init(struct verdicts *v);
void verdicts_free(struct verdicts *v);

/* Adds a row, or to the row of this name, unless it differs already: the worst of all counts. */
void verdicts_add(struct verdicts *v, const char *name, enum conformance verdict, const char *why);

/* Prints them to standard output.  The exit status: 0, or 1: a row differs, or there is none that
 * conforms. */
int verdicts_print(const struct verdicts *v, const char *role, const char *subject, bool json);

#endif
