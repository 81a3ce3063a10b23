/* pmix_query_alloc.c - see pmix_findings.h: queries about allocations, which the launcher's part
 * tells of (node_part.h), and about the queues of the resource manager.
 *
 * The qualifiers name one by its id, its session, or the word that its owner has given it;
 * otherwise it is that of the session of the job that is asked about.  */
#include <string.h>

#include "core/core.h"
#include "server/node_part.h"
#include "server/pmix_findings.h"
#include "server/pmix_value.h"

/* The qualifier, if there is one, is what the allocation says. */
static bool fits(const struct query_subject *about, const pmix_info_t *allocation, const char *key)
{
    const pmix_value_t *wanted = info_find(about->query->qualifiers, about->query->nqual, key);
    const pmix_value_t *is = info_inside(allocation, key);

    if (!wanted)
        return true;
    if (wanted->type == PMIX_STRING)
        return is && is->type == PMIX_STRING && wanted->data.string &&
               !strcmp(wanted->data.string, is->data.string);
    return is && pmix_is_number(wanted) && pmix_number_of(wanted) == pmix_number_of(is);
}

static bool is_named(const struct query_subject *about, const char *key)
{
    return info_find(about->query->qualifiers, about->query->nqual, key) != NULL;
}

static bool names_one(const struct query_subject *about)
{
    return is_named(about, PMIX_ALLOC_ID) || is_named(about, PMIX_ALLOC_REQ_ID) ||
           is_named(about, PMIX_SESSION_ID);
}

static bool is_meant(const struct query_subject *about, const pmix_info_t *allocation)
{
    const pmix_value_t *number = info_inside(allocation, PMIX_SESSION_ID);

    if (!names_one(about))
        return about->job && about->job->session && number &&
               pmix_number_of(number) == about->job->session;
    return fits(about, allocation, PMIX_ALLOC_ID) && fits(about, allocation, PMIX_ALLOC_REQ_ID) &&
           fits(about, allocation, PMIX_SESSION_ID);
}

/* NULL: there is none. */
static const pmix_info_t *allocation_of(const struct pmix_findings *f,
                                        const struct query_subject *about)
{
    const pmix_info_t *at = NULL;

    while ((at = pmix_next_part(f, NODE_PART_OF_ALLOCATION, at)) && !is_meant(about, at))
        ;
    return at;
}

/* All that is known of one allocation; of all, if none is named and the job is in none. */
void pmix_find_alloc_status(struct pmix_findings *f, const char *key,
                            const struct query_subject *about)
{
    bool all = !names_one(about) && !(about->job && about->job->session);
    uint32_t count = 0;

    for (const pmix_info_t *at = NULL; (at = pmix_next_part(f, NODE_PART_OF_ALLOCATION, at));) {
        if (!all && !is_meant(about, at))
            continue;
        info_array_copy(&f->list, key, &at->value);
        count++;
    }
    f->missed += count == 0;
}

void pmix_find_time_remaining(struct pmix_findings *f, const char *key,
                              const struct query_subject *about)
{
    const pmix_info_t *at = allocation_of(f, about);
    const pmix_value_t *v = at ? info_inside(at, PMIX_TIME_REMAINING) : NULL;

    if (v)
        info_array_copy(&f->list, key, v);
    else
        f->missed++;
}

/* ---- queues ---------------------------------------------------------------------------------- */

/* The next queue whose name and state are told. */
static const pmix_info_t *next_queue(const struct pmix_findings *f, const pmix_info_t *at,
                                     const char **name_p, const char **state_p)
{
    while ((at = pmix_next_part(f, NODE_PART_OF_QUEUE, at))) {
        *name_p = info_inside_text(at, PMIX_ALLOC_QUEUE);
        *state_p = info_inside_text(at, PMIX_QUERY_QUEUE_STATUS);
        if (*name_p && *state_p)
            break;
    }
    return at;
}

static void found_or_missed(struct pmix_findings *f, const char *key, struct buf *text)
{
    if (buf_len(text))
        pmix_found_text(f, key, text);
    else
        f->missed++;
    buf_free(text);
}

void pmix_find_queues(struct pmix_findings *f, const char *key, const struct query_subject *about)
{
    struct buf names = BUF_NULL(1 << 20);
    const char *name, *state;

    (void)about;
    for (const pmix_info_t *at = NULL; (at = next_queue(f, at, &name, &state));)
        buf_printf(&names, "%s%s", buf_len(&names) ? "," : "", name);
    found_or_missed(f, key, &names);
}

/* The state of the one that is named; of all, `NAME=STATE` with commas. */
void pmix_find_queue_status(struct pmix_findings *f, const char *key,
                            const struct query_subject *about)
{
    const char *name, *state,
        *wanted = info_find_text(about->query->qualifiers, about->query->nqual, PMIX_ALLOC_QUEUE);
    struct buf text = BUF_NULL(1 << 20);

    for (const pmix_info_t *at = NULL; (at = next_queue(f, at, &name, &state));) {
        if (!wanted)
            buf_printf(&text, "%s%s=%s", buf_len(&text) ? "," : "", name, state);
        else if (!strcmp(wanted, name) && !buf_len(&text))
            buf_str(&text, state);
    }
    found_or_missed(f, key, &text);
}
