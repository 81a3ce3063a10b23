/* pmix_invite.h - groups by invitation, which the clients make with events: what the server knows
 * of them, from the events that pass.
 *
 * An invitation is open from PMIX_GROUP_INVITED to PMIX_GROUP_CONSTRUCT_COMPLETE or _ABORT.  The
 * leader is told of invited processes that end meanwhile (PMIX_GROUP_INVITE_FAILED), the invited
 * ones of the end of their leader (PMIX_GROUP_LEADER_FAILED), whatever events they follow besides.
 * A group that is complete is kept for its members as if they had constructed it. */
#ifndef WIREUP_SERVER_PMIX_INVITE_H
#define WIREUP_SERVER_PMIX_INVITE_H

#include "server/pmix_session.h"

/* The client sends an event. */
void pmix_invite_sent(struct command *c, pmix_status_t code, pmix_info_t *infos, size_t n);

/* The client has ended, and its last bytes announce a group: too late, as those who are to hear of
 * it may have heard of its end. */
bool pmix_invite_is_late(const struct command *c, pmix_status_t code);

/* An event of another process passes, which may be for the client. */
void pmix_invite_passed(struct pmix_session *s, const struct notice *n);

/* A process has ended. */
void pmix_invite_ended(struct pmix_session *s, const char *nspace, uint32_t rank);

void pmix_invites_free(struct pmix_session *s);

#endif
