/* server_priv.h - what server.c and server_host.c share. */
#ifndef WIREUP_SESSION_SERVER_PRIV_H
#define WIREUP_SESSION_SERVER_PRIV_H

#include "session/server.h"

/* To the recorder, which is there. */
void server_tell(const struct server *s, struct record *r);

/* One branch when nobody records. */
#define TELL(s, id, ...)                                                                           \
    do {                                                                                           \
        if ((s)->recorder)                                                                         \
            server_tell(s, &(struct record){ .kind = RECORD_##id, .u.id = { __VA_ARGS__ } });      \
    } while (0)

void server_tell_effect(const struct server *s, const struct effect *e);

/* Tickets of requests that the host has brought from another node: it gets their answers. */
#define TICKET_OF_HOST (UINT64_C(1) << 63)

/* The next effect of any kind, recorded; and the delivery of one that is an answer. */
bool server_effect_next(struct server *s, struct effect *e_p);
void server_effect_answer(struct server *s, struct effect *e);

/* The answer to a request, from whomever. */
void server_deliver(struct server *s, uint64_t ticket, const struct answer *a);

/* The answer to one of those: it becomes an effect. */
void server_reply(struct server *s, uint64_t ticket, const struct answer *a);
/* An answer that was waited for, as an effect for the host. */
void server_turn_to_reply(const struct server *s, struct effect *e);

/* An event to everybody whom it concerns, but its source. */
void server_spread(struct server *s, const struct notice *n);

#endif
