/* data.h - puts, fences and gets of a PMI-2 client, and its node and job attributes. */
#ifndef WIREUP_LIB_PMI2_DATA_H
#define WIREUP_LIB_PMI2_DATA_H

#include "lib/pmi2/member.h"

/* 0, MEMBER_BAD_KEY, MEMBER_LONG_KEY, MEMBER_BAD_VALUE, MEMBER_LONG_VALUE, MEMBER_REFUSED,
 * MEMBER_FAILED, -ENOMEM. */
int data_put(struct pmi2_client *m, const char *key, const char *value, struct errmsg *err);

/* 0; MEMBER_BAD_VALUE: the server would truncate the text (`what` names it) or crash;
 * MEMBER_FAILED; -ENOMEM. */
int data_can_send(struct pmi2_client *m, const char *what, struct slice text, struct errmsg *err);

/* Sends the unsent puts and waits for all processes.  0; a refusal of a put (the fence took
 * place); MEMBER_REFUSED; MEMBER_FAILED; -ENOMEM. */
int data_fence(struct pmi2_client *m, struct errmsg *err);

/* Passes the value to `use`, in place (valid only during the call, which must not call this
 * library).  Returns the result of `use`. */
typedef int data_use(void *arg, struct slice value, struct errmsg *err);

/* The value of key in the KVS of job (NULL or "": this job); source: the rank that put it,
 * negative: any.  MEMBER_BAD_KEY: not found. */
int data_get(struct pmi2_client *m, const char *job, int source, const char *key, data_use *use,
             void *arg, struct errmsg *err);

int data_put_node(struct pmi2_client *m, const char *key, const char *value, struct errmsg *err);

/* *found_p: whether it is there; with wait, waits until it is. */
int data_get_node(struct pmi2_client *m, const char *key, bool wait, bool *found_p, data_use *use,
                  void *arg, struct errmsg *err);
int data_get_job(struct pmi2_client *m, const char *key, bool *found_p, data_use *use, void *arg,
                 struct errmsg *err);

#endif
