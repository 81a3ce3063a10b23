/* member.h - one process's membership in its job, as PMI-2 sees it.
 *
 * Holds all state between PMI2_Init and PMI2_Finalize.  Functions of this directory take it as
 * their first argument and are called with its lock held; while they wait for the server they
 * release the lock (pmi2_rpc.h).  The ABI (pmi2.c) holds the only pointer to one; a test holds
 * many.
 *
 * Three modes:
 *   alone    no process manager: the KVS is a store in our own memory
 *   legacy   any server that speaks PMI-2: each call that needs it is a message, one at a time
 *   ours     Wireup: job attributes come with the first reply, puts are batched, gets read the
 *            job's shared store, and requests of many threads are under way side by side
 */
#ifndef WIREUP_LIB_PMI2_MEMBER_H
#define WIREUP_LIB_PMI2_MEMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "lib/common/attach.h"
#include "lib/common/batch.h"
#include "lib/common/env.h"
#include "lib/common/lock.h"
#include "lib/common/link.h"
#include "store/store_write.h"

/* Result codes; pmi2.c maps them to PMI-2's numbers.  err always has the reason. */
enum member_rc {
    MEMBER_OK = 0,
    MEMBER_FAILED,     /* the connection is lost, or the server's reply is invalid */
    MEMBER_REFUSED,    /* the server refused */
    MEMBER_BAD_ARG,    /* an invalid argument */
    MEMBER_BAD_KEY,    /* empty, put before, or not found */
    MEMBER_LONG_KEY,   /* PMI2_MAX_KEYLEN characters or more */
    MEMBER_BAD_VALUE,  /* cannot be sent to this server, or not of the expected form */
    MEMBER_LONG_VALUE, /* more than PMI2_MAX_VALLEN characters */
    MEMBER_CODES
};

enum pmi2_server_kind { MEMBER_ALONE, MEMBER_LEGACY, MEMBER_OURS };

/* A property of the server that is found out when first needed. */
enum member_semicolons { SEMICOLONS_UNKNOWN, SEMICOLONS_GOOD, SEMICOLONS_BAD };

struct pmi2_client {
    struct lock *gate;
    enum pmi2_server_kind kind;
    uint32_t rank, size, node;
    int64_t appnum;
    bool spawned, restarted;
    bool whole;       /* ours: a key that is not in the store does not exist */
    bool knows_ring;  /* the server supports ring (others end the job at that command) */
    uint32_t rings;   /* rings so far without the server's help */
    bool reads_empty; /* legacy: the server accepts empty values */
    enum member_semicolons semicolons; /* legacy: the server reads a doubled `;` as one */
    char *jobid;                       /* NULL: not asked for yet */

    struct link link;
    struct buf out;     /* for the sending thread */
    struct arena arena; /* for the reading thread: the reply in the link's buffer */
    bool sending;       /* a thread is sending; wait for the lock's change */
    bool reading;       /* a thread reads for all waiters */
    struct list asks;   /* requests under way that wait for their replies (ours) */
    uint32_t next_ask;
    int lost; /* why the connection is lost (-errno): no more replies will come */
    struct errmsg lost_why;

    struct batch batch;      /* ours: puts not acknowledged */
    uint32_t unacknowledged; /* blocks of puts sent whose reply was not read yet */
    int put_rc;              /* the first refusal of these that was not reported yet */
    struct errmsg put_why;

    struct attachment store; /* ours */
    pid_t promoter;          /* the launcher we started ourselves; 0: none */
    struct seg_region region;
    struct seg_writer writer;    /* alone */
    const struct seg_view *view; /* of either; never NULL */
};

/* Joins the job that env describes.  Called with the lock held (it may be released meanwhile).
 * 0, MEMBER_FAILED, MEMBER_REFUSED or -ENOMEM; *m_p is NULL then. */
int member_start(const struct client_env *env, struct lock *gate, struct pmi2_client **m_p,
                 struct errmsg *err);

/* Flushes the puts and finalizes.  0, a result code or -ENOMEM; m is freed in any case. */
int member_stop(struct pmi2_client *m, struct errmsg *err);

/* Starts a process manager for a singleton (lib/common/singleton_promote.h) and hands its puts
 * over.  Does nothing for others.  0, MEMBER_FAILED or -errno: still alone. */
int member_promote(struct pmi2_client *m, struct errmsg *err);

/* Frees without sending anything.  NULL is fine; returns NULL. */
struct pmi2_client *member_free(struct pmi2_client *m);

/* Reports that this process (or the whole job) aborts, even while others wait for the server. */
void member_abort(struct pmi2_client *m, bool whole_job, int exit_code, const char *message);

/* The name of the job. */
int member_jobid(struct pmi2_client *m, struct slice *id_p, struct errmsg *err);

#endif
