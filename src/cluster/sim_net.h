/* sim_net.h - the simulated network: time, links between daemons, and the node of the simulation.
 * Internal to the simulator (sim.h).
 *
 * It carries out the actions of each node's router (router_link.h) under virtual time.  A link has
 * two ends; messages sent on one arrive at the other, in order, until the link is cut or an end is
 * closed, which the other end notices later.
 */
#ifndef WIREUP_CLUSTER_SIM_NET_H
#define WIREUP_CLUSTER_SIM_NET_H

#include "cluster/dispatch.h"
#include "cluster/membership.h"
#include "cluster/sim.h"

enum { SETS_MAX = 16, SIM_ORIGINS = 17, SIM_GROUPS_MAX = 4 };

enum sim_kind {
    SIM_ARRIVE,  /* the first byte of a message */
    SIM_TAKEN,   /* the most urgent message has been read */
    SIM_MESSAGE, /* a message has been read */
    SIM_ENTER,
    SIM_KILL,
    SIM_CUT,
    SIM_UP,
    SIM_DOWN,
    SIM_WAKE,
    SIM_BROADCAST,
    SIM_OVERDUE,
    SIM_REQUEST,
    SIM_REPLY,
    SIM_BATCH,
    SIM_INQUIRE, /* the top asks all nodes */
    SIM_ANSWER,  /* a node has done the work */
    SIM_STORE,   /* the processes of a node use the store */
    SIM_GROUP,   /* a node enters a group, or invites others */
    SIM_GROW,    /* the top wants another node */
    SIM_START,   /* a node starts: its parent, `other`, tells it what it knows */
    SIM_DIAL,    /* a node that was started by nobody calls the top, which has told it */
    SIM_GIVE_UP, /* the top: that node should be ready by now */
    SIM_LEAVE,   /* the top asks a node to leave */
    SIM_OUT,     /* sim_tcp.h: a message is ready to be sent; `end` is the sending one, to CHUNK */
    SIM_ACK,     /* bytes are acknowledged */
    SIM_CHUNK,   /* the first byte of a part of a message arrives */
    SIM_GOT,     /* ... and its last one */
    SIM_PHASE,   /* sim_phases.h: a phase begins */
    SIM_DAEMON,  /* a daemon has been started; its step is `other` */
    SIM_PART,    /* a node has done the work of its part in a phase */
    SIM_OVER     /* ... and of its end */
};

struct sim;
struct sim_flow; /* sim_tcp.c */
struct sim_phases;

/* One end of a link. */
struct router_link {
    struct list link; /* of its node */
    struct sim_node *of;
    struct router_link *peer;
    uint64_t last;         /* arrival of the last message from here */
    uint64_t urgency;      /* of the messages that have arrived here */
    struct sim_flow *flow; /* what leaves here; NULL: nothing has */
    uint32_t other;        /* the node at the other end */
    bool up;
    bool ending; /* nothing more is sent */
    bool closed; /* its node has dropped it, or knows that it is down */
    bool cut;
    bool paid; /* for its end (sim_tcp.h) */
};

/* A message on a link. */
struct sim_message {
    uint64_t cost;            /* in bytes */
    uint64_t urgency;         /* see sim_net.c */
    struct sim_message *next; /* sim_tcp.c: one that waits behind it, or comes with it */
    uint64_t left;            /* ... bytes that have not left */
    bool bye;                 /* the sender has closed the link */
    bool closes;              /* it belongs to the end of a link beside the tree */
    size_t len;
    char bytes[];
};

struct sim_event {
    uint64_t at, number; /* the number keeps simultaneous events in order */
    union {
        uint64_t ticket;         /* REPLY */
        struct router_link *end; /* ARRIVE, MESSAGE: the receiving one; UP, DOWN */
    };
    struct sim_message *m;
    uint32_t node, other;
    enum sim_kind kind : 8;
    enum router_down how : 8;
};

/* A message that is being received. */
struct sim_intake {
    uint64_t number, left; /* ns that it still takes */
    uint64_t urgency;
    struct router_link *end;
    struct sim_message *m;
};

/* Requests of a node, and the messages it has received (sim_calls.c). */
struct sim_calls {
    uint32_t modex_of, modex;        /* whose modex is awaited, and its number */
    uint32_t round_of, rounds;       /* the same for queries about collectives */
    uint32_t names;                  /* asked for */
    uint64_t named;                  /* bits: answered */
    uint32_t waits;                  /* names that nobody publishes: asked for */
    uint32_t states;                 /* process states reported */
    uint32_t lines;                  /* of output written */
    uint32_t source, lines_received; /* whose output is subscribed to; lines */
    uint32_t ahead;                  /* fences before which values went to neighbours */
    uint32_t ahead_early;            /* that did not find them at their end */
    bool subscribed;                 /* to exits */
    uint32_t exits;
    bool answered; /* the inquiry, and the top has heard it */
};

/* A node in a group, and in the invitation of the same number (sim_groups.c). */
struct sim_part {
    uint32_t step;        /* the construct or destruct that is entered next, or waited for */
    bool inside, stopped; /* stopped: a construct has failed */
    bool inviting, over;  /* the leader has invited; the end of the invitation is known */
    uint32_t accepted;    /* leader: bits */
};

struct sim_node {
    struct sim *sim;
    uint32_t me;
    struct router router;
    struct membership member;
    struct dispatch dispatch;
    struct sim_calls calls;
    struct sim_part parts[SIM_GROUPS_MAX];
    struct list links; /* open ends */
    struct sim_intake *intakes;
    uint32_t nintakes, intakes_room, intake_version, wake_version, overdue_version;
    uint64_t intake_at;
    bool dead, freed, slow;
    uint64_t out_free, in_free, link_free, work_free;
    uint64_t messages, bytes;
    uint32_t round[SETS_MAX]; /* the round that is entered next, or waited for */
    bool inside[SETS_MAX], stopped[SETS_MAX];
    uint32_t reported;                /* messages to others */
    uint32_t broadcasts[SIM_ORIGINS]; /* broadcasts received, by origin */
    bool grown;                       /* it has joined later */
    size_t due;      /* grown: of the top's log, the next broadcast that must come; 0: none came */
    size_t welcomed; /* grown: the length of that log when the top announced it */
    bool held;       /* it has lost the top, and ended */
    bool lost;       /* when the top was lost, that had lost it */
    bool leaves, asked_to;
    bool exited; /* sim_phases.c: the daemon has ended, or is ending: it reads nothing any more */
};

/* A broadcast, as the top has sent it. */
struct sim_broadcast {
    uint32_t from, number;
};

struct sim {
    struct sim_config c;
    struct sim_node *nodes;
    struct rank_set sets[SETS_MAX];
    struct sim_group *groups;         /* sim_groups.c */
    struct sim_store *store;          /* sim_store.c; NULL: it is not used */
    struct sim_phases *phases;        /* sim_phases.c; NULL: there are none */
    uint64_t *processors;             /* c.processors: when each is free */
    struct router_link *reading;      /* sim_tcp.h: its message is being handled ... */
    struct sim_message *held, **last; /* ... and what is sent back */
    struct sim_event *heap;
    size_t nevents, room;
    uint64_t now, number, rand;
    uint64_t begin;    /* when the program starts, after all links are up */
    struct log errors; /* of all nodes: an error is a violation */
    struct log_out log_out;
    struct router_link **pairs; /* all links; two ends each */
    size_t npairs, pairs_room;
    struct block_set **blocks; /* that have no bytes and are passed by number */
    size_t nblocks, blocks_room;
    uint16_t *sent, *got; /* of each pair of nodes, messages; NULL: there are none */
    struct connectivity connectivity;
    uint16_t *ahead; /* of each pair of nodes, how often values came for neighbours; NULL: never */
    struct sim_result *r;
    uint32_t nbroadcasts;      /* broadcasts of the top */
    struct sim_broadcast *log; /* all broadcasts, in the order of the top; only if nodes join */
    size_t nlog, log_room;
    uint32_t first, next;    /* nodes of the beginning; the position of the next one that joins */
    uint32_t all_sets;       /* c.sets, and one of each node that joins */
    struct rank_set members; /* of the beginning */
    struct core core;        /* knows one job, with one process on each node */
    struct job job;
    char nspace[8];
    uint32_t *positions;  /* of its nodes */
    uint32_t *states;     /* the top: process states heard, by node */
    uint8_t *parts;       /* the top: pending operations heard, by node */
    uint32_t exits;       /* that the top has raised */
    uint64_t inquired_at; /* the inquiry; 0: not yet */
    bool asked;           /* for pending operations */
    bool begun;
    bool no_memory;
};

/* Reports a violated invariant; only the first one is kept. */
void sim_violated(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Grows an array to hold one more.  False: no memory, which is noted. */
bool sim_room(struct sim *s, void *array_p, size_t used, size_t *room_p, size_t each);

/* With those that come with it; NULL is fine. */
void sim_messages_free(struct sim_message *m);

void sim_push(struct sim *s, struct sim_event e);
bool sim_pop(struct sim *s, struct sim_event *e_p);

/* The actions for a node's router. */
struct router_actions sim_net_actions(struct sim_node *n);
/* Two nodes get a link that is not up yet; the first one's end.  NULL: no memory, which is noted.
 */
struct router_link *sim_net_link(struct sim *s, uint32_t a, uint32_t b);
/* A node connects to another one, which may be dead. */
struct router_link *sim_net_connect(struct sim_node *n, uint32_t to);
/* A link of that node breaks: the one to its parent, or any. */
void sim_net_cut(struct sim_node *n, bool any);
/* The node is dead: all its links break. */
void sim_net_die(struct sim_node *n);

/* When work that a node has now begins: after what it does already, and when a processor is free. */
uint64_t sim_work_begins(const struct sim *s, const struct sim_node *n);
/* When that much work of a node is done. */
uint64_t sim_work(struct sim *s, struct sim_node *n, uint64_t ns);

/* ARRIVE, TAKEN, MESSAGE, UP, DOWN and WAKE, and those of sim_tcp.h. */
void sim_net_happen(struct sim *s, struct sim_event *e);
void sim_net_free(struct sim *s);

#endif
