/* play.h - carries a script out in a world of its own.
 *
 * play_run() compares what happens with what the script says.  play_cut() plays a script up to some
 * byte of some step, hangs that client up there, ends everybody, and looks only at what must hold
 * after any such end: nobody waits for ever, every job ends, and ends badly exactly if it should.
 */
#ifndef WIREUP_TESTS_CONVERSATION_PLAY_H
#define WIREUP_TESTS_CONVERSATION_PLAY_H

#include "tests/conversation/script.h"

enum play_mode { PLAY_WHOLE, PLAY_BYTEWISE };

struct play {
    struct world world;
    const struct script *script;
    enum play_mode mode;
    int log_fd; /* a file, or -1 */
    struct log log;
    struct errmsg *err;
};

/* In pieces, for those who make steps as they go.  play_do() carries a step out unless it only
 * looks.  play_replies() takes what the clients have received: NULL, or what is wrong with it.
 * play_close() ends everybody: 0, or -1 with what does not hold (see play_cut). */
void play_open(struct play *p, const struct script *s, int log_fd, struct errmsg *err);
void play_do(struct play *p, const struct step *st);
const char *play_replies(struct play *p);
int play_close(struct play *p);

/* 0; or -1 with the line and the reason in err. */
int play_run(const struct script *s, enum play_mode mode, int log_fd, struct errmsg *err);

/* The client of step `at` sends only the first `bytes` bytes of it, then its connection and its
 * process end.  0, or -1 with what does not hold. */
int play_cut(const struct script *s, uint32_t at, size_t bytes, struct errmsg *err);

/* What remains of a conversation when memory runs out somewhere: every step is done, nothing is
 * expected of it.  Then: a job goes on with as many answers as `answers` says (one number per
 * client), or a client was told of a failure, or the job has ended with a reason.
 * answers NULL: stores the numbers of this run in *answers_p (WORLD_CLIENTS of them) instead. */
int play_blind(const struct script *s, const uint32_t *answers, uint32_t *answers_p,
               struct errmsg *err);

#endif
