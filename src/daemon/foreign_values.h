/* foreign_values.h - what processes of other launchers put after they have connected: a get asks
 * their launcher, over the link by which their job is known.
 *
 * Daemons ask their launcher (EFFECT_modex_request of a foreign job), which asks the other one
 * (MSG_foreign_get); that one asks the process's node, if it is another one.  Every request is
 * answered; a link that breaks is an answer, because the jobs that are known by it are forgotten
 * (core/modex.h: modex_job_gone()).
 */
#ifndef WIREUP_DAEMON_FOREIGN_VALUES_H
#define WIREUP_DAEMON_FOREIGN_VALUES_H

#include "daemon/launcher_links.h"

struct op_answer;
struct op_foreign_get;
struct op_modex_reply;
struct op_modex_request;

struct foreign_values {
    const struct node_context *context; /* NULL: not open */
    const struct launcher_links *links;
    struct list asked;     /* other launchers, by this one */
    struct list questions; /* of other launchers */
    /* The last ticket: they begin at MODEX_LAUNCHERS (core/modex.h), so that no answer to a connect
     * is taken for one of these. */
    uint64_t last;
};

void foreign_values_open(struct foreign_values *v, const struct node_context *c,
                         const struct launcher_links *links);
void foreign_values_close(struct foreign_values *v); /* harmless twice, and on zeroed memory */

/* A get of this launcher, or of one of its daemons; INPUT_modex_reply follows, now or later. */
void foreign_values_get(struct foreign_values *v, const struct op_modex_request *q);
/* The answer of another launcher.  False: it answers no get. */
bool foreign_values_answer(struct foreign_values *v, const struct launcher_link *k,
                           const struct op_answer *m);

/* Another launcher asks for values of a process of this one. */
void foreign_values_serve(struct foreign_values *v, struct launcher_link *k,
                          const struct op_foreign_get *m);
/* EFFECT_modex_reply, to that launcher. */
void foreign_values_reply(struct foreign_values *v, const struct op_modex_reply *e);

/* That link is closed. */
void foreign_values_lost(struct foreign_values *v, uint32_t number);

#endif
