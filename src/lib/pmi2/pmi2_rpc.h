/* pmi2_rpc.h - requests of a PMI-2 client and their replies.
 *
 * To Wireup's server any number of threads send requests at once: each request carries a number
 * that the reply repeats (thrid).  A waiting thread that finds no reader becomes the reader for
 * all: it hands replies to the requests they belong to, and when its own has come it leaves the
 * reading to another waiter.  So no helper thread is needed, and no thread waits for another's
 * reply.
 *
 * To other servers the requests go one after another.
 *
 * The reply is the caller's from pmi2_rpc() to pmi2_rpc_end(); the lock must not be released in
 * between.
 */
#ifndef WIREUP_LIB_PMI2_PMI2_RPC_H
#define WIREUP_LIB_PMI2_PMI2_RPC_H

#include <pthread.h>

#include "lib/pmi2/member.h"
#include "wire/pmi2.h"

struct pmi2_rpc {
    union pmi2_any answer; /* slices in it belong to the ask */
    struct slice raw;      /* the bytes after a get-wireup-response */

    struct list link;
    uint32_t id;
    enum pmi2_msg want;
    bool done;
    bool holds_wire;
    bool no_memory;
    pthread_cond_t wake;
    struct arena arena;
    struct buf kept; /* a reply that another thread has read */
};

/* Sends the request (its thrid is set here) and waits for the reply `want`. 0; MEMBER_REFUSED:
 * rc was not 0; MEMBER_FAILED; MEMBER_BAD_VALUE: it cannot be encoded; -ENOMEM. Must be followed
 * by pmi2_rpc_end() in any case. */
int pmi2_rpc(struct pmi2_client *m, struct pmi2_rpc *a, enum pmi2_msg msg, void *request,
             enum pmi2_msg want, struct errmsg *err);
void pmi2_rpc_end(struct pmi2_client *m, struct pmi2_rpc *a);

/* Sends the unsent puts without waiting.  0, MEMBER_FAILED or -ENOMEM. */
int ask_send_puts(struct pmi2_client *m, struct errmsg *err);

/* The refusal of an earlier put that was not reported yet, or 0. */
int ask_put_verdict(struct pmi2_client *m, struct errmsg *err);

/* Sends a final message even while another thread waits for a reply; its result is ignored. */
void ask_nothing(struct pmi2_client *m, enum pmi2_msg msg, const void *request);

/* A PMI-1 line and the line that replies to it (before frames begin).  The slice lives until the
 * next use of the link.  0, MEMBER_FAILED or -ENOMEM. */
int ask_line(struct pmi2_client *m, struct slice line, struct slice *answer_p, struct errmsg *err);

#endif
