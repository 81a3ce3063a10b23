/* client.h - one process's membership in its job, as PMI-1 sees it.
 *
 * Holds all state between PMI_Init and PMI_Finalize.  Functions of this directory take it as their
 * first argument and are called with its lock held; while they wait for the server they release the
 * lock (pmi1_rpc.h).  The ABI (pmi.c) holds the only pointer to one; a test holds many.
 *
 * Four modes:
 *   alone    no process manager: the KVS is a store in our own memory
 *   legacy   any server that speaks PMI 1.x: each call that needs it is a message
 *   ours     Wireup: job attributes come with the first reply, puts are batched, gets read the
 *            job's shared store, and messages carry any bytes
 *   service  no process manager: a shared object that the environment names keeps the KVS
 */
#ifndef WIREUP_LIB_PMI_CLIENT_H
#define WIREUP_LIB_PMI_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "base/slice.h"
#include "lib/common/attach.h"
#include "lib/common/batch.h"
#include "lib/common/env.h"
#include "lib/common/lock.h"
#include "lib/common/link.h"
#include "store/store_write.h"
#include "wire/pmi1.h"

/* Result codes; pmi.c maps them to PMI's numbers.  err always has the reason. */
enum client_rc {
    CLIENT_OK = 0,
    CLIENT_FAILED,     /* refused, not available, or a reply that cannot be parsed */
    CLIENT_BAD_ARG,    /* an invalid argument */
    CLIENT_BAD_SPACE,  /* no such KVS */
    CLIENT_BAD_KEY,    /* empty, reserved, cannot be sent, put before, or not found */
    CLIENT_LONG_KEY,   /* over the server's limit */
    CLIENT_BAD_VALUE,  /* cannot be sent */
    CLIENT_LONG_VALUE, /* over the server's limit */
    CLIENT_SHORT_ROOM, /* the caller's buffer is too small */
    CLIENT_CODES
};

enum pmi1_client_kind { CLIENT_ALONE, CLIENT_LEGACY, CLIENT_OURS, CLIENT_SERVICE };

struct kvs_service;

/* Whether the server leaves backslashes alone (some un-escape them): found out when first
 * needed. */
enum client_trait { TRAIT_UNKNOWN, TRAIT_UNDER_TEST, TRAIT_GOOD, TRAIT_BAD };

/* An iteration over the pairs of a KVS (PMI_KVS_Iter_*). */
struct client_walk {
    char *space; /* NULL: none under way */
    uint64_t cursor;
};

struct pmi1_client {
    struct lock *gate;
    enum pmi1_client_kind kind;
    uint32_t rank, size;
    bool spawned, restarted;
    bool groups;                           /* the server supports barriers of groups */
    bool has_appnum, has_universe;         /* known without asking */
    int64_t appnum, universe;              /* universe -1: no limit */
    char *kvsname;                         /* NULL: not asked for yet */
    uint32_t name_max, key_max, value_max; /* all with the final NUL */
    enum client_trait backslash;           /* the value of test_key will tell */
    char *test_key;

    struct link link; /* link, out, arena, reply: for the holder of the wire */
    struct buf out;
    struct arena arena;
    union pmi1_any reply;
    bool sending;
    bool saying_puts;   /* out holds the unsent puts */
    struct list tagged; /* of struct pmi1_rpc_tagged: barriers whose ends other threads may read */

    struct batch batch; /* puts not yet acknowledged (ours) or not yet visible to all (legacy) */
    uint32_t unacknowledged; /* blocks of puts sent whose reply was not read yet */
    int put_rc;              /* the first refusal of these that was not reported yet */
    struct errmsg put_err;

    struct attachment store; /* ours */
    struct seg_region region;
    struct seg_writer writer;    /* alone */
    const struct seg_view *view; /* of either; never NULL */

    struct kvs_service *service; /* or NULL */

    pid_t promoter;    /* the launcher we started ourselves; 0: none */
    struct map spaces; /* further KVSs that this process has created or destroyed (space.c) */
    uint32_t next_space;
    struct client_walk walk;
};

/* Joins the job that env describes.  Called with the lock held (it may be released meanwhile).
 * 0, CLIENT_FAILED, or -errno; *c_p is NULL then. */
int client_start(const struct client_env *env, struct lock *gate, struct pmi1_client **c_p,
                 struct errmsg *err);

/* Flushes the puts and finalizes.  0, CLIENT_FAILED or -errno; c is freed in any case. */
int client_stop(struct pmi1_client *c, struct errmsg *err);

/* Starts a process manager for a singleton (lib/common/singleton_promote.h) and hands its puts
 * over.  Does nothing for others.  0, CLIENT_FAILED or -errno: still alone. */
int client_promote(struct pmi1_client *c, struct errmsg *err);

/* Frees without sending anything.  NULL is fine; returns NULL. */
struct pmi1_client *client_free(struct pmi1_client *c);

/* Aborts the job; sends the message even while another thread waits for the server. */
void client_abort(struct pmi1_client *c, int exit_code, const char *message);

/* Job attributes that a legacy server must be asked for.  0, CLIENT_FAILED, or -ENOMEM. */
int client_appnum(struct pmi1_client *c, int *appnum_p, struct errmsg *err);
int client_universe(struct pmi1_client *c, int *size_p, struct errmsg *err);
int client_kvsname(struct pmi1_client *c, struct slice *name_p, struct errmsg *err);

#endif
