/* story.h - a recording told in order: messages, decoded, and everything else that happened.
 *
 * Reads the records, keeps the connections apart, knows whose they are, and lets what is told be
 * written by whomever: as text, as JSON, as a script.  Sans-IO.
 */
#ifndef WIREUP_WIREUP_STORY_H
#define WIREUP_WIREUP_STORY_H

#include "base/list.h"
#include "base/map.h"
#include "session/decode.h"
#include "session/record.h"

/* A connection. */
struct story_line {
    struct list link;
    uint32_t number;
    int64_t job; /* -1: not known yet */
    uint32_t rank;
    bool hung_up;
    bool dialled; /* it had to say whose it is */
    struct decode decode;
};

struct story_teller {
    /* Line NULL: it is about no connection.  Records of bytes come before their messages. */
    void (*record)(void *arg, const struct story_line *l, const struct record *r);
    void (*message)(void *arg, const struct story_line *l, enum decode_way way,
                    const struct decoded *m, uint64_t time_ns);
    void *arg;
};

struct story {
    struct story_teller teller;
    struct record_reader reader;
    struct list lines;
    struct map by_number;
    /* The words of a connection that says who it is: known with the next record. */
    struct story_line *asked;
    struct buf words;
    uint64_t words_ns;
    bool begun, ended; /* the first, the last record was there */
};

void story_init(struct story *s, struct story_teller teller);
void story_free(struct story *s);

enum { STORY_BAD = 1 };

/* The next bytes of the recording.  0; STORY_BAD with a sentence; -ENOMEM. */
int story_feed(struct story *s, struct slice bytes, struct errmsg *err);

/* No more bytes: what was kept back is told.  The same results. */
int story_end(struct story *s, struct errmsg *err);

#endif
