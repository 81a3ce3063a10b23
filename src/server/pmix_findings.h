/* pmix_findings.h - the answer to a query while it is made, and the functions that make it: one for
 * each kind of key of proto/pmix_queries.def. */
#ifndef WIREUP_SERVER_PMIX_FINDINGS_H
#define WIREUP_SERVER_PMIX_FINDINGS_H

#include "base/slice.h"
#include "server/info_array.h"
#include "server/pmix_session.h"
#include "wireup_client.h"

/* The subject of a query, by its qualifiers. */
struct query_subject {
    struct job *job;                   /* NULL: unknown, or removed, or not for the requester */
    const struct ended_job *ended_job; /* it has been removed */
    bool names_job;                    /* and is not the requester's own by default */
    uint32_t rank;                     /* PMIX_RANK_WILDCARD: all */
    const char *group;                 /* or process set; NULL: none is named */
    const char *host;                  /* NULL: all */
    bool local, average, extremes;
    const pmix_query_t *query;
};

struct pmix_findings {
    struct pmix_session *s;
    struct info_array list;
    struct info_array parts; /* of the nodes: node_part.h */
    uint32_t missed;
};

/* Appends the answer, or counts it as missed. */
typedef void pmix_finder(struct pmix_findings *f, const char *key,
                         const struct query_subject *about);

#define QUERY(key, type, who, parts, finder, qualifiers) pmix_finder pmix_find_##finder;
#include "proto/pmix_queries.def"

/* For keys that are in no row: the information on the job. */
pmix_finder pmix_find_job_info;

/* The requester may know about it: any job, if it is of the same user as this process; else its own
 * job alone. */
bool pmix_sees_job(const struct pmix_session *s, const struct job *j);
bool pmix_sees_nspace(const struct pmix_session *s, const char *nspace);

/* Takes the text over. */
void pmix_found_text(struct pmix_findings *f, const char *key, struct buf *text);

/* Whether a list that is separated by commas has the word. */
bool pmix_has_word(struct slice words, struct slice word);

/* Appends the infos of all parts (node_part.h); from one that is malformed on the rest is ignored.
 */
void pmix_read_parts(struct slice parts, struct info_array *l);

/* The infos of all nodes with that key, one after the other; NULL: no more. */
const pmix_info_t *pmix_next_part(const struct pmix_findings *f, const char *key,
                                  const pmix_info_t *last);

#endif
