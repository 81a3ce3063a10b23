/* transcript.h - golden transcripts: what real clients and servers said to each other, as text
 * (tests/golden/README.md has the format).
 *
 *   struct transcripts all = transcripts_begin(transcripts_built_in());
 *   while (transcripts_next(&all, &t))
 *       while (transcript_line(&t.body, &line))
 *           ...
 */
#ifndef WIREUP_TOOLS_CONFORM_TRANSCRIPT_H
#define WIREUP_TOOLS_CONFORM_TRANSCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

enum { TRANSCRIPT_RANKS = 8 };

/* How the ranks reach their server: by an inherited connection, a port, PMIx's address, or PMIx on
 * the inherited connection, as Wireup's library does it. */
enum transcript_way { WAY_PMI, WAY_PORT, WAY_PMIX, WAY_PMIX_INHERITED, TRANSCRIPT_WAYS };

static inline bool transcript_way_is_pmix(enum transcript_way way)
{
    return way == WAY_PMIX || way == WAY_PMIX_INHERITED;
}

static inline bool transcript_way_is_inherited(enum transcript_way way)
{
    return way == WAY_PMI || way == WAY_PMIX_INHERITED;
}

/* A transcript may be played as several releases of a client, which differ in their first message
 * alone. */
struct transcript {
    struct slice name, title; /* "pmi1/hello-2" */
    struct slice releases;    /* "3 3.2.5 v3, ..."; empty: as it is */
    struct slice body;
    uint32_t ranks;
    enum transcript_way way;
    bool fails; /* the job's exit status is not 0 */
};

struct transcripts {
    struct slice rest;
};

/* The files that are built in; transcript_files.h reads others. */
struct slice transcripts_built_in(void);

/* text: files, each behind a line "=== FOLDER/NAME". */
struct transcripts transcripts_begin(struct slice text);
bool transcripts_next(struct transcripts *all, struct transcript *t_p);

/* Takes the next release from t->releases: its words.  False: there are no more. */
struct transcript_release {
    struct slice name, version, encoding;
};
bool transcript_release(struct slice *releases, struct transcript_release *r_p);

enum transcript_kind {
    LINE_SECTION, /* what comes next has this name */
    LINE_SENT,    /* by the client */
    LINE_RECEIVED,
    LINE_HOLDS /* received, and it may have more in it */
};

struct transcript_line {
    enum transcript_kind kind;
    uint32_t rank;
    struct slice text;
};

/* False: the transcript ends. */
bool transcript_line(struct slice *body, struct transcript_line *line_p);

/* What stands for the names of the recording. */
struct transcript_names {
    struct slice golden, live;
    struct transcript_release release;
};

/* The bytes of a line: of the recording (live: false), or with this job's names, and lengths that
 * fit these. False: the line is wrong. */
bool transcript_bytes(enum transcript_way way, struct slice text,
                      const struct transcript_names *names, bool live, struct buf *out);

/* Whether it can be played: its ranks are those of its head, and each line is bytes. */
bool transcript_check(const struct transcript *t, struct errmsg *err);

#endif
