/* crew.h - the daemons right below one in the tree: which they are, what each is told, and their
 * starting (agent.h).  The launcher and every daemon have one.
 *
 * Where daemons can start daemons (ssh, rsh, srun, fork, agents that are called as ssh is) the tree
 * of links is the tree of starts too.  Elsewhere the launcher starts all, and the tree is as wide
 * as the job: crew_width() says what the launcher has to write into the records.
 */
#ifndef WIREUP_WIREUPD_CREW_H
#define WIREUP_WIREUPD_CREW_H

#include "wireupd/agent.h"

struct crew_config {
    struct loop *loop;
    const struct boot *boot; /* what is the same for all daemons, and the nodes below us at least;
                                lives as long as the crew */
    struct agent_spec spec;
    uint32_t me;
    const char *addresses; /* ours; copied */
    char *const *envp;
    struct agent_calls calls; /* on_failed and on_remark */
    void *arg;
};

struct crew {
    struct crew_config c;
    struct arena arena;
    struct agent *agent; /* NULL: nobody is below us */
};

uint32_t crew_width(enum agent_kind kind, uint32_t count, uint32_t wanted);

/* Is anybody right below that position? */
bool crew_wanted(const struct boot *b, uint32_t me);

/* Starts those right below us.  0; BOOT_BAD or -errno with one sentence, and nobody was started. */
int crew_open(struct crew *w, const struct crew_config *config, struct errmsg *err);
void crew_close(struct crew *w); /* kills what runs; harmless twice, and on zeroed memory */

/* As in agent.h; harmless when nobody is below us. */
void crew_up(struct crew *w, uint32_t position);
bool crew_reaped(struct crew *w, pid_t pid, int status);
void crew_end(struct crew *w);
void crew_stop(struct crew *w);
bool crew_idle(const struct crew *w);

#endif
