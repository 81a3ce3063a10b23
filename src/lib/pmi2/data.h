/* data.h - puts, fences and gets of a PMI-2 client, and the attributes of its node and job. */
#ifndef WIREUP_LIB_PMI2_DATA_H
#define WIREUP_LIB_PMI2_DATA_H

#include "lib/pmi2/member.h"

/* 0, MEMBER_BAD_KEY, MEMBER_LONG_KEY, MEMBER_BAD_VALUE, MEMBER_LONG_VALUE, MEMBER_REFUSED,
 * MEMBER_FAILED, -ENOMEM. */
int data_put(struct membership *m, const char *key, const char *value, struct errmsg *err);

/* 0; MEMBER_BAD_VALUE: the server would cut the text (`what` names it), or die of it;
 * MEMBER_FAILED; -ENOMEM. */
int data_can_say(struct membership *m, const char *what, struct slice text, struct errmsg *err);

/* Hands over what was put and waits for everybody.  0; a refusal of a put (the fence took place);
 * MEMBER_REFUSED; MEMBER_FAILED; -ENOMEM. */
int data_fence(struct membership *m, struct errmsg *err);

/* Gives what was found to `use`, wherever it lies (it stays there only for the call; nothing of
 * this library may be called meanwhile).  Returns what `use` returns. */
typedef int data_use(void *arg, struct slice value, struct errmsg *err);

/* The value under key in the space of job (NULL or "": the own one); source: the rank that put it,
 * negative: whoever did.  MEMBER_BAD_KEY: not there. */
int data_get(struct membership *m, const char *job, int source, const char *key, data_use *use,
             void *arg, struct errmsg *err);

int data_put_node(struct membership *m, const char *key, const char *value, struct errmsg *err);

/* *found_p says whether it is there; with wait it will be. */
int data_get_node(struct membership *m, const char *key, bool wait, bool *found_p, data_use *use,
                  void *arg, struct errmsg *err);
int data_get_job(struct membership *m, const char *key, bool *found_p, data_use *use, void *arg,
                 struct errmsg *err);

#endif
