/* pmix_session.h - the state of a PMIx session, and functions that the modules of its commands
 * share.
 *
 * A command is read by one function and replied to by another (pmix.c has the table).  The first
 * makes requests of it, or replies at once; the second makes the reply of an answer. */
#ifndef WIREUP_SERVER_PMIX_SESSION_H
#define WIREUP_SERVER_PMIX_SESSION_H

#include "base/arena.h"
#include "core/job.h"
#include "core/request.h"
#include "pmix_common.h"
#include "server/session.h"
#include "wire/pmix_command.h"
#include "wire/pmix_mem.h"
#include "wire/pmix_message.h"
#include "wire/pmix_pack.h"
#include "wire/pmix_types.h"
#include "wire/pmix_unpack.h"

struct pmix_batch;

/* Bytes before each message, the first included. */
enum { PMIX_HEADER = 16 };

struct pmix_group;
struct pmix_pending;
struct pmix_session;

/* Makes the reply of an answer. */
typedef void pmix_replier(struct pmix_session *s, struct pmix_pending *p, const struct answer *a);

struct pmix_pending {
    uint32_t token, tag; /* token 0: answered */
    uint32_t serial;     /* the token for ever */
    enum pmix_command cmd;
    uint32_t rank; /* GET: the rank asked about */
    char *nspace;  /* GET: the job asked about; CONNECT: NULL */
    char *key;     /* LOOKUP; SESSION_CONTROL: the requester's id of the request */
    struct pmix_batch *batch;
    char **others; /* CONNECT: namespaces besides the requester's own */
    uint32_t nothers;
    struct pmix_group *group; /* GROUP_CONSTRUCT, GROUP_DESTRUCT */
    pmix_query_t *queries;    /* QUERY */
    size_t nqueries;
    pmix_info_t *infos; /* FENCE, CONNECT, DISCONNECT, groups: of a host that is not `wireup` */
    size_t ninfos;
    uint16_t channels;   /* SPAWN: output channels that the requester wants */
    uint32_t fabric;     /* FABRIC_REGISTER, FABRIC_UPDATE: its index */
    pmix_replier *reply; /* NULL: the status of the answer */
};

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
    struct arena arena;   /* memory that the requests of the message borrow */
    struct buf scratch;   /* a part of a reply */
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
    size_t output_held; /* bytes that wait in their queues */
    bool monitored;     /* heartbeats are counted */
    struct list groups;
    uint32_t ngroups;
    struct list invitations; /* open ones (pmix_invite.h) */
    uint32_t ninvitations;
    size_t recall_from;          /* codes from here on are those of the last registration */
    bool recall_all;             /* it was for a default handler */
    struct fabric_part *fabrics; /* that the client has registered (pmix_fabric.c) */
    uint32_t nfabrics;
};

static inline struct pmix_session *pmix_session_of(struct session *base)
{
    return (struct pmix_session *)(void *)base;
}

/* A command being read: its source and its result. */
struct command {
    struct pmix_session *s;
    struct punpack r;
    uint32_t tag;
    enum pmix_command cmd;
    pmix_replier *reply; /* of the requests that are made of it */
    struct errmsg *err;
    bool no_memory;
};

/* Reads the command's items and makes a request, or replies at once. */
typedef void pmix_reader(struct command *c);

/* ---- requests ---- */

/* Appends a request to the backlog; the pending entry is the caller's to complete until the next.
 * NULL: no memory, which is recorded in c. */
struct pmix_pending *pmix_ask(struct command *c, struct request rq);

/* The infos of a collective are kept with its request, for the host's function; `wireup` needs no
 * more than it has read.  p: NULL is harmless. */
void pmix_keep_infos(struct command *c, struct pmix_pending *p, pmix_info_t **infos_p, size_t *n_p);

/* NULL: it is answered. */
const struct pmix_pending *pmix_find_pending(const struct pmix_session *s, uint32_t token);

/* Moves the entry out; false: there is none. */
bool pmix_take_pending(struct pmix_session *s, uint32_t token, struct pmix_pending *p_p);
void pmix_pending_free(struct pmix_pending *p);
void pmix_drop_pending(struct pmix_session *s); /* all: their answers are ignored */
void pmix_drop_backlog(struct pmix_session *s); /* and the memory that they borrow */

/* Copies that last until the command is done. */
struct slice pmix_keep(struct command *c, struct slice text);
struct slice pmix_keep_value(struct command *c, const pmix_value_t *v); /* canonical bytes */
/* Infos in Wireup's own encoding, for clients of any other. */
struct slice pmix_keep_packed(struct command *c, pmix_info_t *infos, size_t n);
const struct member *pmix_keep_members(struct command *c, const pmix_proc_t *procs, size_t n);

/* The job of that name; without a name the requester's own.  NULL: unknown. */
struct job *pmix_job_of(const struct command *c, struct slice nspace);
/* The same, also if it is another launcher's. */
struct job *pmix_known_job_of(const struct command *c, struct slice nspace);

/* ---- replies ---- */

/* Begins a message in the client's encoding. */
struct ppack pmix_writer(struct pmix_session *s);
void pmix_send(struct pmix_session *s, uint32_t tag); /* the message of the writer */
void pmix_send_or_fail(struct pmix_session *s, uint32_t tag, const struct ppack *w);
void pmix_reply_status(struct pmix_session *s, uint32_t tag, pmix_status_t status);
pmix_status_t pmix_status_of(enum answer_status status);

#endif
