/* server_ask.h - one request that the host carries out: from a client's message to a call of the
 * host's function, and from the host's answer to a reply.
 *
 * An ask is made with the lock held, called without it, and answered once: by the function's return
 * value, or through the callback that it was given, from any thread, also before it returns.
 */
#ifndef WIREUP_LIB_PMIX_SERVER_SERVER_ASK_H
#define WIREUP_LIB_PMIX_SERVER_SERVER_ASK_H

#include "lib/pmix/server/server.h"
#include "wire/pmix_message.h"

struct ask;

struct ask_kind {
    /* Reads a client's message (in encoding a->as); the caller notices read errors. */
    void (*read)(struct ask *a, struct punpack *r);
    /* Calls the host, without the lock.  Returns the result of the host's function. */
    pmix_status_t (*call)(struct ask *a);
};

/* The arguments of a request; the kind decides which are used.  The ask owns all of them. */
struct ask {
    struct scall call;
    struct pserver *s;
    const struct ask_kind *kind;
    uint64_t ticket; /* 0: no reply is expected */
    uint32_t payer;  /* the connection that it counts against … */
    size_t cost;     /* … and its bytes; 0: none */
    uint8_t command;
    bool plain; /* a client of PMI-1 or PMI-2: its reply is a struct answer */
    bool
        spawns; /* ... to a spawn; else to another request, by the member `port` if it has a text */
    const struct ptype_flavour *as;
    bool described;
    uint32_t release; /* of the client */
    pmix_proc_t from;
    void *object; /* the host's object of the registered client */
    pmix_proc_t *procs;
    size_t nprocs;
    pmix_info_t *infos, *directives;
    size_t ninfos, ndirectives;
    pmix_app_t *apps;
    size_t napps;
    pmix_query_t *queries;
    size_t nqueries;
    pmix_resource_unit_t *units;
    size_t nunits;
    char **keys;
    char *text;
    pmix_byte_object_t bytes;
    bool has_bytes;
    bool all_here;               /* a collective: all members are on this node */
    pmix_iof_channel_t channels; /* a spawn: output that the requester gets */
    pmix_status_t status;
    uint64_t number;
    struct coll_id coll; /* of a contribution; its group is text */
    pmix_status_t *codes;
    size_t ncodes;
    /* Its state. */
    bool returned, answered;
    struct buf tail;                                   /* of the reply, after the status */
    void (*then)(struct ask *a, pmix_status_t status); /* instead of a reply; with the lock */
    pmix_proc_t name; /* the name that the host has assigned: a tool, a job */
    pmix_info_t *results;
    size_t nresults;
    void *user[3]; /* of `then` */
};

struct ask *ask_new(struct pserver *s, const struct ask_kind *kind, uint64_t ticket);
/* Queues it for the thread that turns the loop. */
void ask_go(struct ask *a);
void ask_free(struct ask *a); /* one that was not queued */
void ask_from(struct ask *a, const struct peer *p);
/* Counts against the client until it is complete (LIMIT_CLIENT_UPCALLS). */
void ask_charge(struct ask *a, const struct peer *p, size_t bytes);

/* With the lock: the answer, from any source; the tail is packed already. */
void ask_answer(struct ask *a, pmix_status_t status);

/* With the lock: packs the fields of the reply after its status. */
void ask_pack(struct ask *a, const struct pmsg *row, const void *m);

/* The same with the struct's members. */
#define ASK_PACK(a, id, ...) ask_pack(a, &pmsg_rows[PMSG_##id], &(struct pmsg_##id){ __VA_ARGS__ })

/* Appends one info, with room for it. */
bool ask_add_info(pmix_info_t **list, size_t *n, const char *key, const void *data,
                  pmix_data_type_t type);

/* ---- the callbacks that hosts get; cbdata is the ask ----------------------------------------- */
void ask_on_op(pmix_status_t status, void *cbdata);
void ask_on_infos(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                  pmix_release_cbfunc_t release_fn, void *release_cbdata);
void ask_on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata);
void ask_on_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata);
void ask_on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t info[],
                       size_t ninfo, void *cbdata);
void ask_on_validation(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata);
void ask_on_tool(pmix_status_t status, pmix_proc_t *proc, void *cbdata);
void ask_on_modex(pmix_status_t status, const char *data, size_t ndata, void *cbdata,
                  pmix_release_cbfunc_t release_fn, void *release_cbdata);

#endif
