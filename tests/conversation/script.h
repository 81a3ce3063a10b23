/* script.h - conversations written down: tests/scripts/THEME-NUMBER-name.wut.
 *
 * One step per line; `#` begins a comment.  A word may be "quoted", with \n \t \\ \" \xHH inside;
 * %r is the rank of the client that the line is about (%% a per cent sign).
 *
 *   test "what it shows"
 *   job [n=2] [name=kvs_test] [clients=c] [nodes=1] [universe=-1] [parent=NAME] [keep-going] [fds]
 *       [port]             a job of n processes that run; its connections are called c0, c1, ...;
 *                          fds: descriptors can travel on them; port: there are none
 *   stranger NAME          a connection that has to say who it is (PMI_ID is 1000 + rank)
 *
 *   c0 speaks pmi2                     from here on (names of messages that only the other protocol
 *                                      has mean that one's all the same)
 *   c0 tx put key=a value="b c"        sends a message; names come from the protocol's table
 *   c0 raw "any bytes"                 sends just that
 *   c0 flood 1000 "bytes"              sends them so often
 *   c0 rx get_result rc=0 !msg value=* receives one message: this field has this value, this one is
 *                                      absent, this one is there; others do not matter
 *   c0 rx get_result rc!=0             this field has another value
 *   c0 bytes "any bytes"               receives just that
 *   c0 nothing                         has received nothing more
 *   c0 rest                            whatever else it has received does not matter
 *   c0 store                           has received the descriptor of the store
 *   c0 closed                          its connection is closed
 *   c0 deaf | c0 hears                 stops reading; reads again
 *   c0 hangup | c0 exit 3 | c0 dies 9  closes its connection; its process ends
 *   c0 reaped 3                        its process ends, and something of it keeps the connection
 *   c0 is attached                     the state of its process (see core/proc_state.def)
 *
 *   expect kill [JOB] | expect ended [JOB]     the next effect
 *   expect spawn PROGRAM [N]                   the next effect: the first command, all processes
 *   expect running [JOB]                       nobody asked for its end
 *   expect code N [JOB]                        the exit code of the job, as it is now
 *   expect reason "part of the sentence" [JOB]
 *   expect key K V [JOB] | expect no-key K [JOB]
 *   expect logged "part of a line"
 *   host spawned [NAME] | host refused CODE,CODE,...     answers the spawn request
 *   host preset K V [JOB]
 *
 * For c0 may stand `all` (every client of the first job) or a range `c1-c3`: one step each.  At the
 * end nothing may be left over: no effect and no message that the script does not name.
 *
 * A script is read once and played often (see play.h), so reading turns every line into the bytes
 * and numbers that it stands for.
 */
#ifndef WIREUP_TESTS_CONVERSATION_SCRIPT_H
#define WIREUP_TESTS_CONVERSATION_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/slice.h"
#include "tests/conversation/world.h"
#include "wire/text.h"

enum step_kind {
    STEP_SPEAKS, /* of interest to the reader only */
    STEP_JOB,
    STEP_STRANGER,
    STEP_SEND,
    STEP_FLOOD,
    STEP_RECEIVE,
    STEP_BYTES,
    STEP_NOTHING,
    STEP_REST,
    STEP_STORE,
    STEP_CLOSED,
    STEP_DEAF,
    STEP_RECEIVES,
    STEP_HANGUP,
    STEP_EXIT,
    STEP_REAPED,
    STEP_DIES,
    STEP_IS,
    STEP_KILL,
    STEP_ENDED,
    STEP_SPAWN,
    STEP_RUNNING,
    STEP_CODE,
    STEP_REASON,
    STEP_KEY,
    STEP_NO_KEY,
    STEP_LOGGED,
    STEP_SPAWNED,
    STEP_REFUSED,
    STEP_PRESET
};

enum want_kind {
    WANT_VALUE,
    WANT_OTHER, /* any but this one */
    WANT_ANY,
    WANT_ABSENT,
    WANT_MAP /* a process mapping that means the same */
};

/* What is expected of one field of a message. */
struct want {
    enum want_kind kind;
    unsigned field;
    uint32_t item; /* of a list */
    struct slice value;
};

struct step {
    enum step_kind kind;
    unsigned line;
    uint32_t client; /* in the order of their birth */
    uint32_t job;
    struct slice text, more;
    int64_t number;
    const struct text_msg *msg; /* STEP_RECEIVE; STEP_SEND when it is a message */
    bool framed;                /* it is one of PMI-2 */
    struct want *wants;
    uint32_t nwants;
    struct world_job_params *params;
};

struct script {
    struct arena arena;
    const char *title;
    struct step *steps;
    uint32_t nsteps, room;
};

/* Reads a script from text.  0; or -1 with the line and the reason in err. */
int script_read(struct script *s, struct slice text, struct errmsg *err);
/* The same from a file. */
int script_load(struct script *s, const char *path, struct errmsg *err);
void script_free(struct script *s);

/* Line by line, for those who want to skip what is wrong: a line that is refused leaves no step.
 * free() the reader. */
struct script_reader;
struct script_reader *script_begin(struct script *s, struct errmsg *err);
int script_line(struct script_reader *r, struct slice line);

/* Appends one step; NULL: no memory.  For those who make scripts out of something else. */
struct step *script_add(struct script *s, enum step_kind kind, unsigned line);

/* The field that a tuple's name means, with the position of a list's item; -1: none. */
int script_field(const struct text_msg *m, struct slice name, uint32_t *item_p);

#endif
