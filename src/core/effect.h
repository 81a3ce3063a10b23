/* effect.h - what the core asks the host, which has the file descriptors, to do.
 *
 * Effects come out in the order in which they are to be carried out.  One record serves as a test's
 * expectation, a trace's line and the replay's format, so it holds no pointer into the core: the
 * spawn request, the query and the bytes of an answer are handed over.
 */
#ifndef WIREUP_CORE_EFFECT_H
#define WIREUP_CORE_EFFECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/proc_state.h"
#include "core/nameservice.h"
#include "core/request.h"

enum effect_kind {
    EFFECT_ANSWER,  /* a pending request is complete: ticket, status, its results */
    EFFECT_ATTR,    /* find out an attribute of the job: ticket; key names it */
    EFFECT_SPAWN,   /* start these commands for the job: ticket, spawn */
    EFFECT_NAMES,   /* ask the neighbours about a name: ticket, names; then core_names_heard() */
    EFFECT_SIGNAL,  /* number: the signal, for rank or (JOB_NO_RANK) all of the job; code 1: it is
                       meant to end them (then server_commanded() on the other nodes) */
    EFFECT_ROOT,    /* record the root directory of a process: job, rank; it has registered an
                       EFFECT_CLEANUP that may come after its end */
    EFFECT_CLEANUP, /* key: a path to clean up, value: names to keep, number: SWEEP_..., code: the
                       rank whose root it is relative to */
    EFFECT_PLACE, /* make the session directory of a job, and of rank (or JOB_NO_RANK): a client is
                     given its path */
    EFFECT_LOG,   /* key: the channel, value: the text, number: the priority; rank sends it */
    EFFECT_HELP,  /* value: a help message (empty: it has been shown), key: its topic, by which
                     copies from several processes are recognized; rank sends it */
    EFFECT_CREDENTIAL, /* create one (number 0), or validate value (1): ticket; then server_answer()
                        */
    EFFECT_INPUT,      /* value: bytes for the standard input of rank (JOB_NO_RANK: all of the job);
                          number 1: end of input; ticket (0: none), then server_answer() */
    EFFECT_TOOL, /* a tool asks to connect: ticket, key: the name that it brings (empty: it needs
                    one), rank; then server_admit() */
    EFFECT_KILL, /* end all processes of the job: SIGTERM first, SIGKILL after a grace period */
    EFFECT_JOB_ENDED, /* every process of the job has ended (of this node's, when another node
                         controls it) */

    /* For the other nodes of a job (docs/design/nodes.md). */
    EFFECT_CONTRIBUTE,    /* a collective is complete here: contribution; then server_completed() */
    EFFECT_MODEX_REQUEST, /* get a process's modex entries from its node: job, rank, the awaited key
                             (empty: any), timeout_ns; then server_fetched() */
    EFFECT_MODEX_REPLY,   /* the modex entries that server_fetch() asked for: ticket, job, rank,
                             status, the block in value; pid, or 0 */
    EFFECT_REPLY, /* the answer to server_ask(): ticket, status, and the results of an answer; job
                     and rank: the process concerned (or JOB_NO_RANK) */
    EFFECT_PROC_STATE, /* report to the node that controls the job: rank, event, code, pid; it
                          reports exits to the others */
    EFFECT_ABORT,  /* ask the node that controls the job to end it: rank (the culprit), code, why in
                      value */
    EFFECT_EVENT,  /* notify other nodes of an event: job (which may have ended), its name in key,
                      rank (its source), notice in event_*, infos in value; then server_notify()
                      there. code 1: an exit, which only goes to subscribed nodes
                      (EFFECT_SUBSCRIBE_EXITS) */
    EFFECT_LISTEN, /* a client subscribes (number: a mask of channels; 0: unsubscribes) to the
                      output of rank, or all, of the job named key on other nodes: ticket, its
                      subscription id; then server_overheard() */
    EFFECT_SUBSCRIBE_EXITS, /* the first client here has registered for events by code: the
                               controlling node sends this node exit events from now on, and those
                               that it has kept (server_kept_ends() there) */
    EFFECT_TIE, /* notify other nodes that the job has connected to the one of that number (code 1),
                   or disconnected (0); then server_tied() */
    EFFECT_BOND,  /* report to the node that controls jobs that processes here have connected (code
                     1) or disconnected (0): value; then server_bonded() */
    EFFECT_SPACE, /* notify other nodes that a key-value space of the job (key) is destroyed; then
                     server_space_gone() */
    EFFECT_COLLECTIVE_QUERY /* ask the node of rank whether it has contributed, or still can, to the
                    collective identity (key), generation (number); then server_round_heard() */
};

/* A participant of a collective: a process, or (rank REQUEST_ALL_RANKS) a whole job. */
struct party {
    uint32_t job, rank;
};

/* One node of a job, by its index in the job's plan. */
struct place {
    uint32_t job, node;
};

/* This node's contribution to a collective of several nodes.  The same collective has the same
 * identity (coll_id.h) and generation on all of its nodes. */
struct contribution {
    char *identity;
    uint64_t generation;
    bool collect;  /* a participant wants the others' data: a fence with data */
    char ways[64]; /* exchange methods, separated by commas; empty: the nodes choose */
    struct party *parties;
    uint32_t nparties;
    struct buf block; /* empty: an arrival without data */
};

struct contribution *contribution_new(struct slice identity, uint64_t generation, bool collect,
                                      uint32_t nparties);       /* NULL: no memory */
struct contribution *contribution_free(struct contribution *c); /* returns NULL; NULL is harmless */

struct effect {
    enum effect_kind kind;
    enum answer_status status;
    uint32_t job;
    uint64_t ticket;
    struct spawn_request *spawn;
    struct nameservice_query *names;
    struct contribution *contribution;
    uint32_t rank;
    enum proc_event event;
    int code, pid;
    uint64_t timeout_ns; /* 0: none */
    uint16_t type;       /* EFFECT_REPLY: as in struct answer */
    uint8_t event_range, event_flags;
    int64_t number; /* EFFECT_ANSWER: as in struct answer; EFFECT_EVENT: its code */
    char *bytes;    /* malloc'ed: a key followed by a value; NULL: both empty */
    uint32_t key_len, value_len;
};

/* Gives the effect copies of a key and a value.  False: no memory (nothing is changed). */
bool effect_carry(struct effect *e, struct slice key, struct slice value);
struct slice effect_key(const struct effect *e);
struct slice effect_value(const struct effect *e);

/* Frees what an effect holds; harmless twice. */
void effect_drop(struct effect *e);

enum { EFFECTS_FIRST = 16 };

/* A queue of effects.  It has room for a few without any memory, so that "out of memory" can still
 * be carried out.  Zeroed memory is an empty queue; it stays where it is. */
struct effects {
    struct effect first[EFFECTS_FIRST];
    struct effect *ring; /* NULL: `first` */
    size_t head, count, cap;
    bool lost; /* there was no memory for one: a requester would wait for ever (see core_effect) */
};

void effects_free(struct effects *q);

/* False: no memory; the effect is lost (and dropped). */
bool effects_push(struct effects *q, struct effect e);
bool effects_pop(struct effects *q, struct effect *e_p);

#endif
