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

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? 1 : -(x > y);
}

static uint32_t slots_of(const struct dvm_slots_node *node)
{
    return node->slots;
}

static uint32_t free_of(const struct dvm_slots_node *node)
{
    return dvm_slots_offer(node, 1);
}

/* Of the usable nodes, the largest first; their number.  *all_p is for free(); NULL: no memory. */
static uint32_t numbers(const struct dvm_slots_node *nodes, uint32_t n,
                        uint32_t (*number)(const struct dvm_slots_node *node), uint32_t **all_p)
{
    uint32_t *all = calloc(n ? n : 1, sizeof *all), count = 0;

    for (uint32_t i = 0; all && i < n; i++) {
        if (nodes[i].usable)
            all[count++] = number(&nodes[i]);
    }
    if (all)
        qsort(all, count, sizeof *all, by_number);
    *all_p = all;
    return count;
}

uint32_t dvm_slots_freest(struct dvm_slots_node *nodes, uint32_t n, uint32_t most)
{
    uint32_t *all, count = numbers(nodes, n, free_of, &all), kept = 0, least, ties = 0;

    if (count <= most || most == 0) {
        free(all);
        return n;
    }
    least = all[most - 1];
    for (uint32_t i = 0; i < most; i++)
        ties += all[i] == least;
    free(all);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t room = free_of(&nodes[i]);
        if (nodes[i].usable && (room < least || (room == least && ties == 0)))
            continue;
        ties -= nodes[i].usable && room == least;
        nodes[kept++] = nodes[i];
    }
    return kept;
}

uint64_t dvm_slots_largest(const struct dvm_slots_node *nodes, uint32_t n, uint32_t most)
{
    uint32_t *all, count = numbers(nodes, n, slots_of, &all);
    uint64_t sum = 0;

    for (uint32_t i = 0; all && i < count && i < most; i++)
        sum += all[i];
    free(all);
    return sum;
}
