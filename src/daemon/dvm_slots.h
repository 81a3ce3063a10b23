/* dvm_slots.h - which nodes of a DVM the next job gets: those with the least load, and on each so
 * many slots that all nodes are equally full.
 *
 * The slots of a node are one layer.  A job gets what is free in the first layer if it fits there;
 * else as many layers are opened as it needs, and each node offers its slots in all of them without
 * those that are in use.  So jobs share processors only when the DVM is full, and then evenly.
 *
 * Pure.
 */
#ifndef WIREUP_DAEMON_DVM_SLOTS_H
#define WIREUP_DAEMON_DVM_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct dvm_slots_node {
    const char *name;
    uint32_t slots, used; /* used: processes of jobs; may be more than slots */
    bool usable;          /* it is up, and nobody has reserved it */
    bool lost;
    bool draining;  /* it gets no new jobs, and leaves when its last one ends */
    bool up;        /* it has joined, and has neither left nor been lost */
    bool reserved;  /* an allocation has it */
    uint32_t index; /* the caller's */
};

/* Slots of all usable nodes, and those of them that no process uses. */
struct dvm_slots_sum {
    uint64_t slots, free;
};

struct dvm_slots_sum dvm_slots_sum(const struct dvm_slots_node *nodes, uint32_t n);

/* The number of layers for a job of so many processes (0: it takes what it gets, at least one
 * slot).  1: it fits.  0: no node is usable. */
uint32_t dvm_slots_layers(const struct dvm_slots_node *nodes, uint32_t n, uint32_t wanted);

/* What a node offers in so many layers. */
uint32_t dvm_slots_offer(const struct dvm_slots_node *node, uint32_t layers);

/* Keeps so many usable nodes, those with the most free slots, and all that are not usable; in their
 * order.  Returns the number that stays. */
uint32_t dvm_slots_freest(struct dvm_slots_node *nodes, uint32_t n, uint32_t most);

/* Slots of so many usable nodes, those that have the most. */
uint64_t dvm_slots_largest(const struct dvm_slots_node *nodes, uint32_t n, uint32_t most);

/* The least loaded first; equal ones keep their order. */
void dvm_slots_sort(struct dvm_slots_node *nodes, uint32_t n);

#endif
