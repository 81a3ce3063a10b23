/* pmix_priv.h - declarations shared by the files of the PMIx session. */
#ifndef WIREUP_SESSION_PMIX_PRIV_H
#define WIREUP_SESSION_PMIX_PRIV_H

#include "base/arena.h"
#include "core/job.h"
#include "pmix_common.h"
#include "session/pmix.h"
#include "wire/pmix_command.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_types.h"
#include "wire/pmix_unpack.h"

struct request;

/* Several requests of one message (names), answered by one reply. */
struct pmix_batch {
    uint32_t left;
    bool refused; /* part of it was refused */
    enum answer_status worst;
    uint32_t found;
    struct buf results; /* PDATA items, packed without their count */
};

struct pmix_pending {
    uint32_t token, tag; /* token 0: answered */
    uint32_t serial;     /* the token for ever */
    enum pmix_command cmd;
    uint32_t rank; /* GET: the rank asked about */
    char *nspace;  /* GET: the job asked about; CONNECT: NULL */
    char *key;     /* LOOKUP */
    struct pmix_batch *batch;
    char **others; /* CONNECT: namespaces besides the requester's own */
    uint32_t nothers;
    pmix_proc_t *procs; /* GROUP_CONSTRUCT: the members */
    size_t nprocs;
    bool wants_context; /* GROUP_CONSTRUCT: a number for the group */
    uint16_t channels;  /* SPAWN: output channels that the requester wants */
    bool host;          /* the answer brings the complete reply */
};

/* A group that this process has constructed; its destruct message has only the name. */
struct pmix_group {
    struct list link;
    pmix_proc_t *procs;
    size_t nprocs;
    char *id;
};

/* The kind of a client, from its first message.  Tools of both kinds may bring a name, need one, or
 * have got one from the server that started them. */
enum pmix_kind {
    KIND_CLIENT = 0,
    KIND_OLD_TOOL = 1,
    KIND_OLD_LAUNCHER = 2,
    KIND_TOOL_UNNAMED = 3,
    KIND_TOOL_NAMED = 4,
    KIND_TOOL_STARTED = 5,
    KIND_LAUNCHER_UNNAMED = 6,
    KIND_LAUNCHER_NAMED = 7,
    KIND_LAUNCHER_STARTED = 8,
    KIND_SINGLETON = 9,
    KIND_SCHEDULER = 10
};

/* A subscription to output. */
struct pmix_pull {
    struct list link;
    size_t id, theirs; /* our id of it, and the client's */
    uint64_t ear;      /* that of other nodes */
    uint16_t channels;
    bool is_new; /* the kept output has not been sent yet */
    size_t n;
    pmix_proc_t procs[];
};

/* Messages of forwarded output have this tag. */
enum { OUTPUT_TAG = 2 };

enum pmix_state { PMIX_HELLO, PMIX_ASKED, PMIX_WELCOME, PMIX_TALKING };

struct pmix_session {
    struct session base;
    enum pmix_state state;
    uint32_t hello_token; /* of the request to be identified */
    uint8_t kind;         /* enum pmix_kind */
    bool reads_store;     /* the client reads the job's store itself */
    struct buf in;
    size_t consumed;
    const struct ptype_flavour *as;
    bool described;
    char version[64];
    uint32_t release; /* of the version, as pmsg_release() */
    struct pmix_pending *pending;
    uint32_t npending, nanswered, pending_room; /* sorted; the first nanswered are answered */
    struct request *backlog;                    /* of the message being read */
    uint32_t nbacklog, backlog_at;
    struct arena arena;   /* what the requests of the message borrow */
    struct buf scratch;   /* canonical values of a commit */
    pmix_value_t *values; /* likewise */
    size_t nvalues;
    struct buf reply;
    bool every_event; /* a default handler is registered */
    pmix_status_t *codes;
    size_t ncodes;
    /* Processes whose modex entries the client has been given since its last fence. */
    uint64_t *given; /* bits, by rank; NULL: none */
    uint32_t nasked, window;
    struct list pulls;
    uint32_t npulls;
    size_t last_pull;
    bool monitored; /* heartbeats are counted */
    struct list groups;
    uint32_t ngroups;
    size_t recall_from; /* codes from here on are those of the last registration */
    bool recall_all;    /* it was for a default handler */
};

/* A command being read: its source and its result. */
struct command {
    struct pmix_session *s;
    struct punpack r;
    uint32_t tag;
    enum pmix_command cmd;
    struct errmsg *err;
    bool no_memory;
};

/* Reads the command's items and makes a request, or replies at once. */
typedef void pmix_reader(struct command *c);

struct crowd {
    pmix_proc_t *procs;
    size_t n;
    uint64_t timeout_ns; /* 0: none */
    bool collect;        /* a fence with data */
    struct slice ways;   /* exchange methods */
    bool ways_required;  /* and only those */
};

/* ---- pmix.c ---- */

/* For the kinds of first messages: whether one has a name; and whether it is answered as a client's
 * or as a tool's. */
bool pmix_brings_name(uint8_t kind);
bool pmix_is_client(uint8_t kind, const char *version);

struct pmix_batch *pmix_new_batch(struct command *c);
uint64_t pmix_number_of(const pmix_value_t *v);

/* Appends a request to the backlog; the pending entry is the caller's to complete until the next.
 * NULL: no memory, which is recorded in c. */
struct pmix_pending *pmix_ask(struct command *c, struct request rq);
struct pmix_pending *pmix_meet(struct command *c, const struct crowd *w, const char *purpose);
struct slice pmix_keep(struct command *c, struct slice text); /* until the command is done */
void pmix_drop_infos(pmix_info_t *infos, size_t n);
bool pmix_flag_of(const pmix_value_t *v);
uint64_t pmix_timeout_of(const pmix_info_t *infos, size_t n); /* 0: for ever */

/* ---- pmix_ask.c ---- */

pmix_reader pmix_read_group, pmix_read_ungroup, pmix_read_refresh, pmix_read_resolve_peers,
    pmix_read_resolve_node;
void pmix_groups_free(struct pmix_session *s);
void pmix_reply_group(struct pmix_session *s, struct pmix_pending *p, const struct answer *a);

/* The job of that name; without a name the requester's own.  NULL: unknown. */
struct job *pmix_job_of(const struct command *c, struct slice nspace);
void pmix_set_proc(pmix_proc_t *p, const char *nspace, uint32_t rank);

/* ---- pmix_query.c ---- */

pmix_reader pmix_read_query;
bool pmix_asks_for_sets(const struct command *c); /* and some are defined */

void pmix_forget_given(struct pmix_session *s);

/* ---- pmix_control.c ---- */

pmix_reader pmix_read_log, pmix_read_control, pmix_read_get_credential, pmix_read_validate;
void pmix_reply_many(struct pmix_session *s, struct pmix_pending *p, const struct answer *a);
void pmix_reply_credential(struct pmix_session *s, struct pmix_pending *p, const struct answer *a);
void pmix_reply_validated(struct pmix_session *s, struct pmix_pending *p, const struct answer *a);

/* ---- pmix_iof.c ---- */

pmix_reader pmix_read_pull, pmix_read_dereg, pmix_read_push, pmix_read_monitor;
bool pmix_is_heartbeat(const struct command *c);
bool pmix_output(struct session *base, const struct spoken *o);
void pmix_pulls_caught_up(struct session *base); /* the kept output has been sent */
/* The output of a job that the client spawned goes to it, without a subscription of its own. */
void pmix_forward(struct pmix_session *s, const char *nspace, uint16_t channels);
void pmix_pulls_free(struct pmix_session *s);

/* ---- pmix_info.c ---- */

/* KVALs of one process of it. */
void pmix_put_rank_info(struct ppack *w, const struct job *j, uint32_t rank);

/* Puts it into the job's store too, once, where Wireup's own clients look for it.  False: there is
 * no room for it. */
bool pmix_tell_job_info(struct job *j);
void pmix_put_places(struct ppack *w, const struct job *j, uint32_t rank);

/* ---- pmix_reply.c ---- */

struct ppack pmix_writer(struct pmix_session *s);
void pmix_send(struct pmix_session *s, uint32_t tag); /* what the writer has collected */
void pmix_send_or_fail(struct pmix_session *s, uint32_t tag, const struct ppack *w);
void pmix_reply_status(struct pmix_session *s, uint32_t tag, pmix_status_t status);
void pmix_reply(struct pmix_session *s, struct pmix_pending *p, const struct answer *a);
pmix_status_t pmix_status_of(enum answer_status status);

/* All modex entries of a process that this client may see. */
void pmix_put_cards(struct pmix_session *s, struct ppack *w, struct job *owner, uint32_t rank);

/* The value of canonical bytes; false: no memory, or malformed. */
bool pmix_value_of(uint16_t type, struct slice bytes, pmix_value_t *v_p);

/* Answers a get of an attribute of a process of another job, or one that changes while it runs: its
 * pid, its exit code.  False: it is not one of these, or not known yet. */
/* It is not known here yet, and will be: the get waits for it. */
bool pmix_comes_later(const struct pmix_session *s, const struct job *j, uint32_t rank,
                      struct slice key);
bool pmix_reply_known(struct command *c, struct slice nspace, uint32_t rank, struct slice key);

#endif
