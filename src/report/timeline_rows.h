/* timeline_rows.h - the rows of a timeline's pictures: which processes share one, in which order,
 * and what they did, as runs of one kind.
 */
#ifndef WIREUP_REPORT_TIMELINE_ROWS_H
#define WIREUP_REPORT_TIMELINE_ROWS_H

#include "report/timeline.h"

/* A row: `count` processes of rows.order from `first` on. */
struct timeline_row {
    uint32_t first, count;
    uint32_t node, nnodes; /* the first node; nnodes 0: a row of one rank */
};

/* A time in which a row does one thing; in columns, 0 to columns. */
struct timeline_run {
    enum timeline_kind kind;
    uint32_t begin, end;
};

struct timeline_rows {
    const struct timeline *t;
    uint32_t *order; /* of all processes: by row */
    struct timeline_row *rows;
    uint32_t nrows;
    bool folded;     /* rows are of nodes */
    double *weights; /* of one row: columns x kinds */
    struct timeline_run *runs;
    uint32_t nruns, columns;
};

/* For pictures of that many columns and at most that many rows of ranks, of nodes.  0 or -ENOMEM.
 */
int timeline_rows_open(struct timeline_rows *r, const struct timeline *t, uint32_t columns,
                       uint32_t most_ranks, uint32_t most_nodes);
void timeline_rows_close(struct timeline_rows *r); /* harmless twice */

/* What this row does: r->runs, until the next call. */
void timeline_rows_paint(struct timeline_rows *r, const struct timeline_row *row);

/* The seconds that the processes of a row spend with each kind, together. */
void timeline_rows_sum(const struct timeline_rows *r, const struct timeline_row *row,
                       double seconds[TIMELINE_KINDS]);

/* The row of a rank. */
uint32_t timeline_rows_of(const struct timeline_rows *r, uint32_t rank);

#endif
