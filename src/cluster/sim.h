/* sim.h - runs the daemons' part in the cluster for many nodes in one process, under virtual time.
 *
 * Every node is a struct membership with its router and dispatcher, as in a daemon; the simulator
 * is the network between them (sim_net.h) and a program on each: rounds of collectives on
 * overlapping sets, groups, messages from node to node, broadcasts, requests and their handling by
 * a core (sim_calls.h).  All random choices follow from a seed.  The network is the usual model: a
 * message costs each end `overhead`, its bytes `byte` on the way out and on the way in (a daemon
 * sends and receives one message at a time), and `latency` in between.  Links between daemons that
 * are not neighbours in the tree come up when an exchange begins that needs them, one after the
 * other.
 *
 * With `window` links are TCP connections on a network of packets (sim_tcp.h).
 *
 * Invariants (struct sim_result): each collective that a living node has contributed to ends there,
 * with the blocks of that generation of exactly its participants, or with the name of a lost one,
 * and so for all participants that live, groups too (sim_groups.h);
 * a node that joins receives each broadcast from some moment on, and from its welcome at the
 * latest; when the top is lost, all others end, no two of them with different outcomes of a
 * collective, and those that have ended begin anew under another top (up -takeover), with the same
 * invariants; nothing goes on for ever; one that is asked to leave is gone, and no collective has
 * failed by it; no message between living nodes and no broadcast is lost, duplicated, or out of
 * order; and no message arrives before a broadcast that its sender had received.  Those of
 * requests, and of values for neighbours, are in sim_calls.h, those of the store in sim_store.h.
 */
#ifndef WIREUP_CLUSTER_SIM_H
#define WIREUP_CLUSTER_SIM_H

#include "base/buf.h"
#include "cluster/overlay.h"

/* The launcher asks all nodes, and each answers after its own work, as for the stacks of its
 * processes. */
struct sim_inquiry {
    uint64_t work_ns;                                           /* of each node */
    void (*answer)(void *arg, uint32_t node, struct buf *part); /* appends the node's answer */
    void (*part)(void *arg, uint32_t node, struct slice part);  /* it is at the launcher */
    void *arg;
};

/* The phases of a job, one after the other (sim_phases.h). */
enum sim_phase {
    SIM_PHASE_START, /* from the launcher's begin until all processes run */
    SIM_PHASE_BARRIER,
    SIM_PHASE_FENCE,     /* the first one with data */
    SIM_PHASE_AGAIN,     /* another one: links are up */
    SIM_PHASE_BROADCAST, /* an event that rank 0 raises is known to all */
    SIM_PHASE_GET,       /* rank 0 has got a value of the last rank */
    SIM_PHASE_END,       /* from the processes' end until the launcher's */
    SIM_PHASES
};

/* Processor time in ns. */
struct sim_costs {
    uint64_t prepare; /* the launcher, before it starts the first daemon */
    uint64_t agent;   /* a daemon or the launcher, for each daemon that it starts */
    uint64_t shell;   /* no work, but time until that one runs: that of ssh */
    uint64_t daemon;  /* a daemon, until it connects */
    uint64_t rank;    /* the start of a process */
    uint64_t call;  /* a process and its daemon: entry into a collective, and the same again for its
                     * end */
    uint64_t event; /* a process and its daemon: an event that comes */
    uint64_t leave; /* the end of a process */
    uint64_t joined; /* a message that is written or read together with one before it (sim_tcp.h) */
    uint64_t close;  /* a daemon: the end of a link beside the tree; 0: that of its messages */
    uint64_t end;    /* a daemon, before it closes its link */
    uint64_t finish; /* the launcher, when all daemons have ended */
};

struct sim_config {
    uint32_t nodes, ranks, width;
    uint64_t seed;
    enum overlay_schedule schedule;
    uint32_t rounds;          /* rounds of collectives of each set */
    uint32_t sets;            /* the first is all nodes, the others are chosen by the seed */
    uint64_t card;            /* bytes of each rank in each round; 0: a barrier */
    const char *connectivity; /* of the ranks (core/connectivity.h), in the first set: its fences
                               * leave the bytes on their nodes, but for neighbours; NULL: all */
    bool modelled;            /* blocks have a length but no bytes */
    bool barrier_first;       /* of each set, the first round has no data */
    uint32_t kills;           /* nodes that die, at times chosen by the seed */
    uint32_t cuts;            /* links that break though both ends live */
    uint32_t slow;            /* nodes that are a hundred times slower */
    uint32_t grows;           /* of the nodes, the last ones join one by one, at times chosen by the
                               * seed; each then has collectives with some of the others */
    bool dial_in;             /* these are started by nobody: the top tells each what it knows when
                               * it asks, and they link to the top later, in any order */
    uint32_t leaves;          /* nodes that are asked to leave; these have no collectives */
    uint32_t takeovers;  /* so often the top is lost, at a time chosen by the seed; the others begin
                          * anew under another one, as with dial_in */
    bool stays;          /* nobody ends who has lost the top: shows that the checks fail */
    uint32_t forgets;    /* broadcasts that a joining node misses: shows that the checks fail */
    uint32_t reports;    /* messages of each node to others, one after each collective; about eight
                          * nodes also broadcast as many */
    uint32_t broadcasts; /* broadcasts of the top */
    uint32_t requests;   /* of each node: modex, names, events, output (sim_calls.h) */
    uint32_t store;      /* how often all processes meet at the store (sim_store.h) */
    uint64_t latency_ns, overhead_ns, jitter_ns;
    uint32_t byte_ps;
    uint32_t link_ns;   /* a daemon's cost of each link outside the tree; 0: all are up */
    uint64_t notice_ns; /* time until a neighbour notices that a link is down */
    bool through_tree;  /* only links of the tree: exchanges are relayed */
    bool phases; /* nothing of the above but the phases of one job: position 0 is the launcher,
                  * and has no processes */
    struct sim_costs costs;
    uint32_t work_ps;    /* processor time of each byte, at each end; with window */
    uint32_t processors; /* that all nodes share, as on one machine; 0: each has its own */
    uint32_t window; /* bytes: the first window of a TCP connection (sim_tcp.h); 0: links without
                      * windows and headers */
    const struct sim_inquiry *inquiry; /* NULL: there is none */
    uint32_t groups;  /* at most 4; as many groups are formed by invitation (sim_groups.h) */
    bool disagree;    /* each node judges by itself what a loss means for its collectives, which
                       * none may: shows that the checks fail */
    uint32_t swallow; /* every n-th message vanishes, which links never do: shows that the
                       * checks fail */
};

void sim_defaults(struct sim_config *c);
/* Nothing is wanted that a run of phases does not have. */
bool sim_only_phases(const struct sim_config *c);

enum { SIM_TEXT = 300 };

struct sim_result {
    uint64_t gathered_ns, last_ns; /* the first collective: the top has all; every node has all */
    uint64_t end_ns;
    uint64_t messages, bytes, collectives, failed, survivors;
    uint64_t joined, left; /* nodes */
    uint64_t held;         /* nodes that have lost the top, and could begin anew */
    uint64_t node_messages, node_bytes, node_held; /* the maximum of any node */
    uint64_t bound_ns;  /* lower bound for any algorithm in this model (one collective) */
    uint64_t exchanged; /* messages of exchanges */
    uint64_t requests;
    uint64_t stored_ns; /* the last process has met the others at the store for the last time */
    uint64_t answers, answered_ns; /* to the inquiry; the time from the question to the last */
    uint64_t phase_ns[SIM_PHASES];
    char violation[SIM_TEXT]; /* empty: all is well */
};

/* 0, or -ENOMEM. */
int sim_run(const struct sim_config *c, struct sim_result *r_p);

/* The options with which `wireup sim` reproduces the run, for a person who looks at a failing seed.
 */
void sim_command(const struct sim_config *c, struct buf *out);

#endif
