/* dvm_slots.c - see dvm_slots.h. */
#include "daemon/dvm_slots.h"

#include <stdlib.h>

struct dvm_slots_sum dvm_slots_sum(const struct dvm_slots_node *nodes, uint32_t n)
{
    struct dvm_slots_sum sum = { 0, 0 };

    for (uint32_t i = 0; i < n; i++) {
        sum.slots += nodes[i].usable ? nodes[i].slots : 0;
        sum.free += dvm_slots_offer(&nodes[i], 1);
    }
    return sum;
}

uint32_t dvm_slots_offer(const struct dvm_slots_node *node, uint32_t layers)
{
    uint64_t all = (uint64_t)node->slots * layers, left;

    if (!node->usable || all <= node->used)
        return 0;
    left = all - node->used;
    return left > UINT32_MAX ? UINT32_MAX : (uint32_t)left;
}

static bool fits(const struct dvm_slots_node *nodes, uint32_t n, uint32_t layers, uint32_t wanted)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n && sum < wanted; i++)
        sum += dvm_slots_offer(&nodes[i], layers);
    return sum >= wanted;
}

uint32_t dvm_slots_layers(const struct dvm_slots_node *nodes, uint32_t n, uint32_t wanted)
{
    uint64_t low = 1, high = 1;

    if (dvm_slots_sum(nodes, n).slots == 0)
        return 0;
    wanted = wanted ? wanted : 1;
    while (high < UINT32_MAX && !fits(nodes, n, (uint32_t)high, wanted)) {
        low = high + 1;
        high = high * 2 > UINT32_MAX ? UINT32_MAX : high * 2;
    }
    while (low < high) { /* it fits in high */
        uint64_t middle = low + (high - low) / 2;
        if (fits(nodes, n, (uint32_t)middle, wanted))
            high = middle;
        else
            low = middle + 1;
    }
    return (uint32_t)high;
}

/* By the part of its slots that is in use. */
static bool is_fuller(const struct dvm_slots_node *a, const struct dvm_slots_node *b)
{
    return (uint64_t)a->used * b->slots > (uint64_t)b->used * a->slots;
}

static void merge(const struct dvm_slots_node *from, uint32_t half, uint32_t n,
                  struct dvm_slots_node *to)
{
    uint32_t left = 0, right = half;

    for (uint32_t i = 0; i < n; i++) {
        bool second = left == half || (right < n && is_fuller(&from[left], &from[right]));
        to[i] = from[second ? right++ : left++];
    }
}

static void sort(struct dvm_slots_node *nodes, struct dvm_slots_node *room, uint32_t n)
{
    uint32_t half = n / 2;

    if (n < 2)
        return;
    sort(nodes, room, half);
    sort(nodes + half, room + half, n - half);
    for (uint32_t i = 0; i < n; i++)
        room[i] = nodes[i];
    merge(room, half, n, nodes);
}

void dvm_slots_sort(struct dvm_slots_node *nodes, uint32_t n)
{
    struct dvm_slots_node *room = calloc(n ? n : 1, sizeof *room);

    if (room) /* else they stay as they are, which is good, too */
        sort(nodes, room, n);
    free(room);
}
