/* doctor_report.h - what `wireup doctor` has found on the nodes: collects, compares and prints it.
 *
 * A node tells its findings in lines (launch/probe.h): the number of the check, its state and a
 * text, with tabs between them; for each library of the program its name, path and build id.  The
 * lines come from another machine, so nothing in them is trusted.
 */
#ifndef WIREUP_REPORT_DOCTOR_REPORT_H
#define WIREUP_REPORT_DOCTOR_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum doctor_check {
#define CHECK(id, name, compare) DOCTOR_##id,
#include "report/doctor_checks.def"
#undef CHECK
    DOCTOR_CHECKS
};

enum doctor_state { DOCTOR_OK, DOCTOR_WARN, DOCTOR_BAD, DOCTOR_STATES };

struct doctor_finding {
    enum doctor_state state;
    const char *text; /* NULL: nothing is known */
};

struct doctor_library {
    const char *name, *path, *id; /* path empty: not found; id empty: it has none */
};

struct doctor_node {
    const char *name;
    struct doctor_finding checks[DOCTOR_CHECKS];
    struct doctor_library *libraries;
    uint32_t nlibraries, room;
};

struct doctor_report {
    struct arena arena;
    struct doctor_node *nodes;
    uint32_t nnodes;
};

/* 0 or -ENOMEM; the names are copied. */
int doctor_report_open(struct doctor_report *r, const char *const *names, uint32_t n);
void doctor_report_close(struct doctor_report *r); /* harmless twice */

void doctor_report_set(struct doctor_report *r, uint32_t node, enum doctor_check check,
                       enum doctor_state state, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The lines that a node writes. */
void doctor_line_put(struct buf *out, enum doctor_check check, enum doctor_state state,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
void doctor_line_library(struct buf *out, const char *name, const char *path, const char *id);

/* One of them, without its newline.  False: it is none. */
bool doctor_report_line(struct doctor_report *r, uint32_t node, struct slice line);

/* Nothing more comes: what must be the same on all nodes is compared. */
void doctor_report_compare(struct doctor_report *r);

uint32_t doctor_report_count(const struct doctor_report *r, enum doctor_state state);

/* colour: for a terminal. */
void doctor_report_text(const struct doctor_report *r, bool colour, struct buf *out);
void doctor_report_json(const struct doctor_report *r, struct buf *out);

#endif
