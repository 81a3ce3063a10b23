/* reply.h - what a server says, as its clients read it.
 *
 * Cuts a stream of replies into messages (PMI-1 lines, PMI-2 frames: which it is shows in the first
 * byte), and knows the manners that all known clients together ask for.
 *   PMI-1: begins with `cmd=`, one blank between tuples, no tuple without a value, only messages of
 *          a server.  Our own library takes blanks in a last value.
 *   PMI-2: rc is there, before everything but thrid; errmsg is there if it is not 0.
 */
#ifndef WIREUP_TESTS_CONVERSATION_REPLY_H
#define WIREUP_TESTS_CONVERSATION_REPLY_H

#include "base/arena.h"
#include "wire/pmi1.h"
#include "wire/pmi2.h"

struct reply {
    struct slice line; /* without its newline or its length */
    struct slice raw;  /* the bytes behind it, for the messages that have some */
    const struct text_proto *proto;
    const struct text_msg *msg; /* NULL: get_ranks2hosts' answer, which is no row */
    union {
        struct text_head head;
        union pmi1_any pmi1;
        union pmi2_any pmi2;
    } m;
};

/* Cuts the next message off *rest.  NULL, or what is wrong with it.  *whole_p false: the stream
 * ends in the middle of a message (or there is none), *rest is as it was.  Lists live in the arena.
 */
const char *reply_cut(struct slice *rest, bool ours, struct arena *arena, struct reply *r,
                      bool *whole_p);

/* It says that something failed. */
bool reply_refuses(const struct reply *r);

/* It says that the client speaks to Wireup. */
bool reply_is_ours(const struct reply *r);

#endif
