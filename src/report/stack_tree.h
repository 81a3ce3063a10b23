/* stack_tree.h - the stacks of many processes as one tree of calls with sets of ranks, and the
 * groups of ranks that are in the same call.
 *
 * A stack is text: a line for each call, innermost first; "NAME" for a function of the program
 * itself, "NAME@LIBRARY" for one of a library, without NAME where its symbols are not known.  What
 * lies outside of main is left out.  For people a stack ends at the call of a communication library
 * (MPI, PMIx, PMI, OpenSHMEM): what that does inside changes from moment to moment.
 */
#ifndef WIREUP_REPORT_STACK_TREE_H
#define WIREUP_REPORT_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum { STACK_CALLS_MAX = 64 };

struct stack_node {
    struct slice call;
    struct stack_node *children, *next;
    uint32_t *ranks; /* ascending */
    uint32_t n, room;
};

/* Where a stack is: the call of a communication library, or the innermost function of the program
 * with the call that it has made. */
struct stack_place {
    struct slice call, caller; /* caller empty: not known, or the call is the program's own */
    bool communicates;
};

struct stack_group {
    struct stack_place place;
    uint32_t *ranks; /* ascending */
    uint32_t n, room;
};

struct stack_tree {
    struct arena arena; /* failed: not all ranks are in it */
    struct stack_node top;
    struct stack_group *groups; /* after stack_tree_sort(): the smallest first */
    uint32_t ngroups, groups_room;
};

void stack_tree_init(struct stack_tree *t);
void stack_tree_free(struct stack_tree *t);

/* Ranks come in ascending order; the text is borrowed. */
void stack_tree_add(struct stack_tree *t, uint32_t rank, const char *stack);

/* Everywhere the few before the many, and among as many those that do not communicate first. */
void stack_tree_sort(struct stack_tree *t);

/* Lines that begin with `indent` blanks; and an array of {call, library, ranks, calls}. */
void stack_tree_text(const struct stack_tree *t, uint32_t indent, struct buf *out);
void stack_tree_json(const struct stack_tree *t, struct json *j, struct buf *scratch);

/* "0-2,5" */
void stack_ranks(const uint32_t *ranks, uint32_t n, struct buf *out);

#endif
