/* iof_forward.h - forwards output of processes (IOF) to subscribers on other nodes. */
#ifndef WIREUP_CLUSTER_IOF_FORWARD_H
#define WIREUP_CLUSTER_IOF_FORWARD_H

#include "cluster/core_calls.h"
#include "cluster/iof_subscribers.h"

struct op_iof_subscribe;

struct iof_forward {
    const struct core_context *context;
    struct iof_subscribers subscribers; /* on other nodes */
};

void iof_forward_open(struct iof_forward *f, const struct core_context *x);
void iof_forward_close(struct iof_forward *f); /* harmless twice, and on zeroed memory */

/* EFFECT_iof_subscribe: a client here subscribes. */
void iof_forward_effect(struct iof_forward *f, const struct effect *e);

/* MSG_iof_subscribe or _iof_data. */
void iof_forward_receive(struct iof_forward *f, uint32_t from, const struct op_iof_subscribe *m);

/* Whether a subscriber on another node wants that process's output. */
bool iof_forward_wanted(const struct iof_forward *f, const struct job *j, uint32_t rank);
/* Whether one of them wants it for itself. */
bool iof_forward_redirects(const struct iof_forward *f, const struct job *j, uint32_t rank,
                           uint16_t channel);
/* Sends output of a local process to its subscribers on other nodes.  True: there is one. */
bool iof_forward_output(struct iof_forward *f, const struct job *j, uint32_t rank, uint16_t channel,
                        struct slice bytes);

/* That daemon is lost, and its subscribers are. */
void iof_forward_lost(struct iof_forward *f, uint32_t position);

#endif
