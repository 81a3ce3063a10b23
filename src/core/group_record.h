/* group_record.h - data that a collective across jobs brings to its members: records one after the
 * other, as each node contributes them and as the members' sessions read them.
 *
 *   'M' NUMBER           the number of the collective: of its first node, or (of a flexible kind)
 *                        one that each node proposes, the least of which counts
 *   'A' JOB RANK         this process has ended without taking part, or its node is lost, and it
 *                        is left out
 *   'D' JOB RANK BYTES   what this process has given for the others
 *   'P' JOB RANK         this process is a member (of a group_bootstrap.h: all are listed, in
 *                        order)
 *
 * Numbers and bytes are as in wire/parts.h.
 */
#ifndef WIREUP_CORE_GROUP_RECORD_H
#define WIREUP_CORE_GROUP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/slice.h"

enum group_record_kind {
    GROUP_NUMBER = 'M',
    GROUP_ABSENT = 'A',
    GROUP_DATA = 'D',
    GROUP_MEMBER = 'P'
};

struct group_record {
    enum group_record_kind kind;
    uint64_t number;
    uint32_t job, rank;
    struct slice data; /* borrowed */
};

/* Running out of memory poisons the buffer. */
void group_record_put(struct buf *out, const struct group_record *r);
/* Cuts one off; false: there is none, or it is malformed (then something is left). */
bool group_record_next(struct slice *rest, struct group_record *r_p);

/* The number in the records; false: there is none. */
bool group_record_number(struct slice records, uint64_t *number_p);
bool group_record_is_absent(struct slice records, uint32_t job, uint32_t rank);

#endif
