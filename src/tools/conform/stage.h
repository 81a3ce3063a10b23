/* stage.h - a job of some launcher whose connections are ours.
 *
 * The launcher starts this program again, as each rank (rank.h).  A rank hands its connection to
 * the process manager over to us, with its environment, and waits for the word to leave.
 */
#ifndef WIREUP_TOOLS_CONFORM_STAGE_H
#define WIREUP_TOOLS_CONFORM_STAGE_H

#include <sys/types.h>

#include "base/err.h"
#include "tools/conform/post.h"
#include "tools/conform/transcript.h"

struct stage_seat {
    int control;    /* to the rank */
    int server;     /* to the process manager; -1: none */
    bool connected; /* by us */
    char *env;      /* NAME=VALUE, each with its NUL */
    size_t env_len;
};

struct stage {
    char name[POST_NAME];
    int listener, pidfd;
    pid_t launcher;
    uint32_t n;
    struct stage_seat seats[TRANSCRIPT_RANKS];
};

struct stage_config {
    char *const *launcher; /* words, ended by NULL */
    const char *self;      /* this program */
    int timeout_ms;
};

/* Starts n ranks.  0; or -1 with a sentence in err: they have not all come.  Close it in either
 * case. */
int stage_begin(struct stage *s, const struct stage_config *c, uint32_t n, struct errmsg *err);

/* The value of a variable of a rank; NULL: it has none of this name. */
const char *stage_env(const struct stage *s, uint32_t rank, const char *name);

/* Whether the process manager serves a rank this way. */
bool stage_offers(const struct stage *s, uint32_t rank, enum transcript_way way);

/* The rank's connection, made at the first call unless the rank has inherited it; -1: it cannot be
 * made. */
int stage_connection(struct stage *s, uint32_t rank, enum transcript_way way);

/* Lets the ranks leave and waits for the launcher.  *status_p: its exit status, 128 + the signal,
 * or -1: it had to be killed. */
void stage_end(struct stage *s, int timeout_ms, int *status_p);

#endif
