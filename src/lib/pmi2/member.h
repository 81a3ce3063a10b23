/* member.h - one process's membership in its job, as PMI-2 sees it.
 *
 * Everything the library knows between PMI2_Init and PMI2_Finalize.  Functions of this folder take
 * it as their first argument and are called with its gate locked; while they wait for the server
 * they let the gate go (ask.h).  The ABI (pmi2.c) holds the only pointer to one; a test holds many.
 *
 * Three ways of being:
 *   alone    no process manager: the key-value space is a store in our own memory
 *   legacy   any server that speaks PMI-2: each call that needs it is a message, one at a time
 *   ours     Wireup: facts come with the first answer, puts gather in a batch, gets look into the
 *            job's shared store, and the requests of many threads are under way side by side
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
#include "shm/store_write.h"

/* Conditions; pmi2.c has the table of PMI-2's own numbers.  err always says why. */
enum member_rc {
    MEMBER_OK = 0,
    MEMBER_FAILED,     /* the connection is lost, or the server makes no sense */
    MEMBER_REFUSED,    /* the server said no */
    MEMBER_BAD_ARG,    /* an argument that makes no sense */
    MEMBER_BAD_KEY,    /* empty, put before, or not there */
    MEMBER_LONG_KEY,   /* PMI2_MAX_KEYLEN characters or more */
    MEMBER_BAD_VALUE,  /* cannot be said to this server, or is not what was expected */
    MEMBER_LONG_VALUE, /* more than PMI2_MAX_VALLEN characters */
    MEMBER_CODES
};

enum member_kind { MEMBER_ALONE, MEMBER_LEGACY, MEMBER_OURS };

/* Something about the server that is found out when first needed. */
enum member_semicolons { SEMICOLONS_UNKNOWN, SEMICOLONS_GOOD, SEMICOLONS_BAD };

struct membership {
    struct lock *gate;
    enum member_kind kind;
    uint32_t rank, size, node;
    int64_t appnum;
    bool spawned;
    bool whole;                        /* ours: what is not in the store is nowhere */
    bool knows_ring;                   /* the server does (others end the job at the word) */
    uint32_t rings;                    /* so many have been without its help */
    bool reads_empty;                  /* legacy: the server takes empty values */
    enum member_semicolons semicolons; /* legacy: the server takes a doubled `;` for one */
    char *jobid;                       /* NULL: not asked for yet */

    struct link link;
    struct buf out;     /* for who is sending */
    struct arena arena; /* for who is reading: the answer in the link's buffer */
    bool sending;       /* somebody is; wait for the gate to change */
    bool reading;       /* somebody reads for all who wait */
    struct list asks;   /* requests under way that wait for their answers (ours) */
    uint32_t next_ask;
    int lost; /* the connection is: why (-errno); no answer will come any more */
    struct errmsg lost_why;

    struct batch batch;      /* ours: puts not acknowledged */
    uint32_t unacknowledged; /* blocks of puts sent whose answer was not read yet */
    int put_rc;              /* the first refusal of these that nobody was told of */
    struct errmsg put_why;

    struct attachment store; /* ours */
    pid_t promoter;          /* the launcher we started ourselves; 0: none */
    struct seg_region region;
    struct seg_writer writer;    /* alone */
    const struct seg_view *view; /* of either; never NULL */
};

/* Joins the job that env describes.  Called with the gate locked (it may be open meanwhile).
 * 0, MEMBER_FAILED, MEMBER_REFUSED or -ENOMEM; *m_p is NULL then. */
int member_start(const struct client_env *env, struct lock *gate, struct membership **m_p,
                 struct errmsg *err);

/* Hands over what was put, says goodbye.  0, a condition or -ENOMEM; m is gone in any case. */
int member_stop(struct membership *m, struct errmsg *err);

/* Somebody who is alone gets a process manager (lib/common/singleton_promote.h), and what it has
 * put goes along. Nothing to do for others.  0, MEMBER_FAILED or -errno: still alone. */
int member_promote(struct membership *m, struct errmsg *err);

/* Frees without a word.  NULL is fine; returns NULL. */
struct membership *member_free(struct membership *m);

/* Says that this process (or the whole job) gives up; even while others wait for the server. */
void member_abort(struct membership *m, bool whole_job, int exit_code, const char *message);

/* The name of the job. */
int member_jobid(struct membership *m, struct slice *id_p, struct errmsg *err);

#endif
