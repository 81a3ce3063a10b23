/* pmix_iof.h - a client's subscriptions to output, and the input that it sends. */
#ifndef WIREUP_SERVER_PMIX_IOF_H
#define WIREUP_SERVER_PMIX_IOF_H

#include "server/pmix_session.h"

pmix_reader pmix_read_pull, pmix_read_dereg, pmix_read_push;
pmix_replier pmix_reply_push;

/* Sends the output if the client has subscribed to it; false: it has not. */
bool pmix_output(struct session *base, const struct spoken *o);
void pmix_pulls_caught_up(struct session *base); /* the kept output has been sent */
void pmix_pulls_drain(struct session *base);     /* the client reads */
uint64_t pmix_pulls_tick(struct session *base, uint64_t now_ns);

/* The output of a job that the client spawned goes to it, without a subscription of its own. */
void pmix_forward(struct pmix_session *s, const char *nspace, uint16_t channels);
void pmix_pulls_free(struct pmix_session *s);

/* Sends output of a process, for the subscription that has this number at the client. */
void pmix_put_output(struct pmix_session *s, const pmix_proc_t *source, uint16_t channel,
                     size_t ref, const pmix_info_t *infos, size_t ninfos, struct slice bytes);

#endif
