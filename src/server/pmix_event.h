/* pmix_event.h - events: those that a client raises, those that it registers for, and those that it
 * is sent. */
#ifndef WIREUP_SERVER_PMIX_EVENT_H
#define WIREUP_SERVER_PMIX_EVENT_H

#include "server/pmix_session.h"

pmix_reader pmix_read_notify, pmix_read_regevents, pmix_read_deregevents;

/* Sends the event if the client has registered for it (session_ops.notify). */
bool pmix_notify(struct session *base, const struct notice *n);

/* The flags of an event from its infos: EVENT_... (core/request.h). */
uint8_t pmix_event_flags(const pmix_info_t *infos, size_t n);

#endif
