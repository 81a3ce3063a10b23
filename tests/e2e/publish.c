/* publish.c - names over PMIx, as a table: a row for each case, executed by one rank while the
 * others wait, on one node or several.
 *
 *   publish            the table, with three ranks; every row tells what it got
 *   publish hold       publishes on every range, says so, and waits for a line of its input
 *   publish seek       tells which of these another job finds
 *   publish await      waits for two of three keys, that others publish later
 *   publish late KEY   publishes the key `late KEY` for the session, says so, and waits for a line
 *   publish outlive    rank 0 publishes for as long as it runs, its application does, and the
 *                      session, and ends; rank 1 then prints what it finds of that
 *
 * Prints a line for each row that is not as expected, and at last `publish N good` or
 * `publish N WRONG`.  With PUBLISH_SHOW in the environment it prints each row. */
#include <pmix.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pmix_proc_t me;
static uint32_t size;
static bool one_node;
static int wrong;

/* OpenPMIx's client drops what is found when not all is. */
#ifdef OPENPMIX
enum { keeps_some = false };
#else
enum { keeps_some = true };
#endif

enum action { PUBLISH, LOOKUP, UNPUBLISH };

/* What a range lets through depends on whether the ranks share a node. */
enum { LIKE_ONE = 1 };

enum { NO_RANGE = 255, NO_PERSISTENCE = 255 };

struct row {
    const char *what;
    uint32_t rank;
    enum action action;
    const char *key; /* NULL: all */
    const char *value;
    pmix_data_range_t range;
    pmix_persistence_t persistence;
    pmix_status_t status;       /* on one node */
    pmix_status_t status_apart; /* on several nodes; LIKE_ONE */
    const char *also;           /* a second key of a look-up, or NULL */
    uint32_t enough;            /* it waits for so many of them; 0: it does not wait */
    bool together;              /* the next row begins meanwhile */
    enum {
        EVERYBODY,
        OUR_USER,
        OTHER_USER,
        OUR_GROUP,
        OTHER_GROUP,
        ODD_LIST,
        ODD_RIGHT,
        LAST_RIGHT = ODD_RIGHT,
        TEXT_RANGE,
        TEXT_PERSISTENCE,
        TEXT_WAIT,
        TEXT_TIMEOUT,
        TEXT_USER,
        ONE_SECOND,
        UNKNOWN,
        UNKNOWN_REQUIRED,
        MISPLACED,
        MISPLACED_REQUIRED,
        PREFERRED /* the range is not marked as required */
    } access;
};

#define NOWHERE PMIX_ERR_NOT_FOUND
#define TWICE   PMIX_ERR_DUPLICATE_KEY
#define PUB(what, rank, key, value, range, status)                                                 \
    { what,   rank,     PUBLISH, key, value, range,    NO_PERSISTENCE,                             \
      status, LIKE_ONE, NULL,    0,   false, EVERYBODY },
#define PUB_FOR(what, rank, key, value, persistence, status)                                       \
    { what,   rank,     PUBLISH, key, value, NO_RANGE, persistence,                                \
      status, LIKE_ONE, NULL,    0,   false, EVERYBODY },
#define GET(what, rank, key, value, range, status)                                                 \
    { what,   rank,     LOOKUP, key, value, range,    NO_PERSISTENCE,                              \
      status, LIKE_ONE, NULL,   0,   false, EVERYBODY },
#define GET_APART(what, rank, key, value, range, status, apart)                                    \
    { what,   rank,  LOOKUP, key, value, range,    NO_PERSISTENCE,                                 \
      status, apart, NULL,   0,   false, EVERYBODY },
#define DEL(what, rank, key, range, status)                                                        \
    { what,   rank,     UNPUBLISH, key, NULL,  range,    NO_PERSISTENCE,                           \
      status, LIKE_ONE, NULL,      0,   false, EVERYBODY },

#define WAIT(what, rank, key, also, enough, value, status, together)                               \
    { what,   rank,     LOOKUP, key,    value,    NO_RANGE, NO_PERSISTENCE,                        \
      status, LIKE_ONE, also,   enough, together, EVERYBODY },

#define WAIT_SECOND(what, rank, key, also, enough, value, status)                                  \
    { what,   rank,     LOOKUP, key,    value, NO_RANGE,  NO_PERSISTENCE,                          \
      status, LIKE_ONE, also,   enough, false, ONE_SECOND },

#define PUB_TO(what, rank, key, access, status)                                                    \
    { what,   rank,     PUBLISH, key, "v",   NO_RANGE, NO_PERSISTENCE,                             \
      status, LIKE_ONE, NULL,    0,   false, access },

#define GET_WITH(what, rank, key, access, status)                                                  \
    { what,   rank,     LOOKUP, key, "v",   NO_RANGE, NO_PERSISTENCE,                              \
      status, LIKE_ONE, NULL,   0,   false, access },
#define GET_PREFERRED(what, rank, key, value, range, status)                                       \
    { what,   rank,     LOOKUP, key, value, range,    NO_PERSISTENCE,                              \
      status, LIKE_ONE, NULL,   0,   false, PREFERRED },
#define DEL_PREFERRED(what, rank, key, range, status)                                              \
    { what,   rank,     UNPUBLISH, key, NULL,  range,    NO_PERSISTENCE,                           \
      status, LIKE_ONE, NULL,      0,   false, PREFERRED },
#define DEL_WITH(what, rank, key, access, status)                                                  \
    { what,   rank,     UNPUBLISH, key, NULL,  NO_RANGE, NO_PERSISTENCE,                           \
      status, LIKE_ONE, NULL,      0,   false, access },

static const struct row rows[] = {
    /* who may read */
    PUB("publish for itself", 0, "self", "0", PMIX_RANGE_PROC_LOCAL,
        0) GET("it reads it", 0, "self", "0", NO_RANGE, 0) GET("another does not", 1, "self", NULL,
                                                               NO_RANGE, NOWHERE)
        PUB("another publishes the same for itself", 1, "self", "1", PMIX_RANGE_PROC_LOCAL,
            0) GET("each reads its own", 1, "self", "1", NO_RANGE,
                   0) GET("the first one, too", 0, "self", "0", NO_RANGE,
                          0) PUB("publish for the node", 0, "node", "n", PMIX_RANGE_LOCAL, 0)
            GET_APART("read on its node", 1, "node", "n", NO_RANGE, 0,
                      NOWHERE) PUB("publish for the job", 0, "job", "j", PMIX_RANGE_NAMESPACE,
                                   0) GET("read in the job", 2, "job", "j", NO_RANGE, 0)
                PUB("publish for the session", 0, "session", "s", PMIX_RANGE_SESSION,
                    0) GET("read in the session", 2, "session", "s", NO_RANGE,
                           0) PUB("publish for all", 0, "all", "a", PMIX_RANGE_GLOBAL,
                                  0) GET("read by all", 1, "all", "a", NO_RANGE, 0)
                    PUB("publish for the host", 0, "host", "h", PMIX_RANGE_RM,
                        0) GET("read by none", 0, "host", NULL, NO_RANGE, NOWHERE)
                        PUB("publish for one that it lists", 0, "list", "2", PMIX_RANGE_CUSTOM,
                            0) GET("read by that one", 2, "list", "2", NO_RANGE, 0)
                            GET("not by another", 1, "list", NULL, NO_RANGE, NOWHERE)
                                PUB("a range that is none", 0, "odd", "o", 77, PMIX_ERR_BAD_PARAM)
                                    GET("is none for a look-up", 1, "all", "a", 77, 0)
                                        PUB("a list without processes", 0, "odd", "o",
                                            PMIX_RANGE_CUSTOM, PMIX_ERR_BAD_PARAM)
    /* whose names a look-up considers */
    GET("of itself: it has published it", 0, "all", "a", PMIX_RANGE_PROC_LOCAL, 0)
        GET("of itself: it has not", 1, "all", NULL, PMIX_RANGE_PROC_LOCAL, NOWHERE)
            GET_APART("of its node", 1, "all", "a", PMIX_RANGE_LOCAL, 0, NOWHERE)
                GET("of its job", 1, "all", "a", PMIX_RANGE_NAMESPACE, 0)
                    GET("of all", 1, "job", "j", PMIX_RANGE_GLOBAL, 0)
                        GET("of the host", 1, "all", NULL, PMIX_RANGE_RM, NOWHERE)
    /* a range that is only preferred, as that of Open MPI 5, which may be any */
    GET_PREFERRED("preferred: itself, which has not", 1, "all", "a", PMIX_RANGE_PROC_LOCAL, 0)
        GET_PREFERRED("preferred: its node", 1, "all", "a", PMIX_RANGE_LOCAL, 0)
            GET_PREFERRED("preferred: the host", 1, "all", "a", PMIX_RANGE_RM, 0) GET_PREFERRED(
                "preferred: a list without processes", 1, "all", "a", PMIX_RANGE_CUSTOM, 0)
                GET_PREFERRED("preferred: what none may read", 1, "host", NULL, PMIX_RANGE_GLOBAL,
                              NOWHERE)
    /* the same key on two ranges */
    PUB("a key on the session", 0, "two", "wide", PMIX_RANGE_SESSION, 0)
        PUB("the same again", 1, "two", "x", PMIX_RANGE_SESSION, TWICE)
            PUB("the same without a range", 1, "two", "x", NO_RANGE, TWICE)
                PUB("the same on another range", 1, "two", "narrow", PMIX_RANGE_NAMESPACE, 0)
                    PUB("on a third one", 2, "two", "widest", PMIX_RANGE_GLOBAL, 0)
                        GET("the narrowest is found", 2, "two", "narrow", NO_RANGE, 0)
                            GET("or the own one", 0, "two", "wide", PMIX_RANGE_PROC_LOCAL, 0)
                                GET_PREFERRED("or a preferred one", 0, "two", "wide",
                                              PMIX_RANGE_PROC_LOCAL, 0)
    /* who withdraws */
    DEL("not another process", 2, "job", NO_RANGE,
        NOWHERE) GET("which changes nothing", 1, "job", "j", NO_RANGE,
                     0) DEL("not on another range", 0, "job", PMIX_RANGE_GLOBAL, NOWHERE)
        DEL("but its publisher", 0, "job", PMIX_RANGE_NAMESPACE,
            0) GET("it is gone", 1, "job", NULL, NO_RANGE,
                   NOWHERE) DEL("a key on one of its ranges", 1, "two", NO_RANGE,
                                0) GET("the others are left", 1, "two", "wide", NO_RANGE,
                                       0) DEL("all of a process", 0, NULL, NO_RANGE, 0)
            GET("nothing is left", 0, "self", NULL, NO_RANGE,
                NOWHERE) GET("nothing at all", 0, "all", NULL, NO_RANGE,
                             NOWHERE) GET("of others all is left", 1, "two", "widest", NO_RANGE, 0)
                DEL("all of another", 2, NULL, NO_RANGE,
                    0) DEL("all of one that has none", 2, NULL, NO_RANGE, 0)
                    DEL("all on a range", 1, NULL, PMIX_RANGE_GLOBAL, 0)
                        GET("the other ranges are left", 1, "self", "1", NO_RANGE, 0)
                            PUB("a key to withdraw", 1, "loose", "l", PMIX_RANGE_NAMESPACE, 0)
                                DEL_PREFERRED("not another process, on a preferred range", 2,
                                              "loose", PMIX_RANGE_NAMESPACE, NOWHERE)
                                    DEL_PREFERRED("its publisher, though it is on another range", 1,
                                                  "loose", PMIX_RANGE_CUSTOM, 0)
                                        GET("so it is gone", 1, "loose", NULL, NO_RANGE, NOWHERE)
    /* how long */
    PUB_FOR("until it is read", 0, "once", "1", PMIX_PERSIST_FIRST_READ, 0)
        GET("the first reads it", 1, "once", "1", NO_RANGE, 0)
            GET("the second does not", 2, "once", NULL, NO_RANGE, NOWHERE)
                PUB_FOR("for ever", 0, "ever", "e", PMIX_PERSIST_INDEF, 0)
                    GET("read", 1, "ever", "e", NO_RANGE, 0) GET("and read again", 2, "ever", "e",
                                                                 NO_RANGE, 0)
                        PUB_FOR("a persistence that is none", 0, "odd", "o", 9, PMIX_ERR_BAD_PARAM)
    /* permissions */
    PUB_TO("for our user", 0, "user", OUR_USER, 0) GET("who reads it", 1, "user", "v", NO_RANGE, 0)
        PUB_TO("for our group", 0, "group", OUR_GROUP,
               0) GET("which reads it", 1, "group", "v", NO_RANGE,
                      0) PUB_TO("for another user", 0, "no user", OTHER_USER, 0)
            GET("who we are not", 1, "no user", NULL, NO_RANGE, PMIX_ERR_NO_PERMISSIONS) PUB_TO(
                "for another group", 0, "no group", OTHER_GROUP,
                0) GET("which is not ours", 1, "no group", NULL, NO_RANGE, PMIX_ERR_NO_PERMISSIONS)
                WAIT("nor both", 1, "no group", "no user", 0, NULL, PMIX_ERR_NO_PERMISSIONS, false)
                    WAIT("one of them", 1, "user", "no user", 0, "v", PMIX_ERR_PARTIAL_SUCCESS,
                         false) WAIT("none, of two reasons", 1, "nowhere", "no user", 0, NULL,
                                     NOWHERE, false)
                        PUB_TO("a list of texts", 0, "odd", ODD_LIST, PMIX_ERR_BAD_PARAM)
                            PUB_TO("a permission that nobody checks", 0, "odd", ODD_RIGHT,
                                   PMIX_ERR_NOT_SUPPORTED)
                                DEL("not even by its publisher read, but withdrawn", 0, "no user",
                                    NO_RANGE, 0) DEL("all of these", 0, NULL, NO_RANGE, 0)
    /* attributes of a wrong type, unknown ones, and those of other calls */
    PUB_TO("a range as text", 0, "odd", TEXT_RANGE, PMIX_ERR_BAD_PARAM) PUB_TO(
        "a persistence as text", 0, "odd", TEXT_PERSISTENCE,
        PMIX_ERR_BAD_PARAM) PUB_TO("a time-out as text", 0, "odd", TEXT_TIMEOUT, PMIX_ERR_BAD_PARAM)
        PUB_TO("a user as text", 0, "odd", TEXT_USER, PMIX_ERR_BAD_PARAM) PUB_TO(
            "an unknown attribute", 0, "plain", UNKNOWN,
            0) GET("which is no data", 0, "pmix.no.such", NULL, NO_RANGE, NOWHERE)
            PUB_TO("one that is required", 0, "odd", UNKNOWN_REQUIRED, PMIX_ERR_NOT_SUPPORTED)
                GET_WITH("a range as text", 0, "plain", TEXT_RANGE, PMIX_ERR_BAD_PARAM) GET_WITH(
                    "a number of keys as text", 0, "plain", TEXT_WAIT, PMIX_ERR_BAD_PARAM)
                    GET_WITH("a time-out as text", 0, "plain", TEXT_TIMEOUT, PMIX_ERR_BAD_PARAM)
                        GET_WITH("an unknown attribute", 0, "plain", UNKNOWN, 0) GET_WITH(
                            "a required one", 0, "plain", UNKNOWN_REQUIRED, PMIX_ERR_NOT_SUPPORTED)
                            GET_WITH("one of publish", 0, "plain", MISPLACED, 0)
                                GET_WITH("a required one of publish", 0, "plain",
                                         MISPLACED_REQUIRED, PMIX_ERR_NOT_SUPPORTED)
                                    DEL_WITH("a range as text", 0, "plain", TEXT_RANGE,
                                             PMIX_ERR_BAD_PARAM)
                                        DEL_WITH("a required one of publish", 0, "plain",
                                                 MISPLACED_REQUIRED, PMIX_ERR_NOT_SUPPORTED)
                                            DEL_WITH("a required unknown one", 0, "plain",
                                                     UNKNOWN_REQUIRED, PMIX_ERR_NOT_SUPPORTED)
                                                DEL_WITH("an unknown one", 0, "plain", UNKNOWN, 0)
    /* waiting for some of several */
    PUB("one of two", 0, "one", "1", NO_RANGE, 0) WAIT("one is enough", 1, "one", "two", 1, "1",
                                                       PMIX_ERR_PARTIAL_SUCCESS, false)
        WAIT("whichever it is", 1, "two", "one", 1, "", PMIX_ERR_PARTIAL_SUCCESS, false)
            WAIT("both are needed", 1, "one", "two", 2, "1", 0, true) PUB("the second of two", 2,
                                                                          "two", "2", NO_RANGE, 0)
                DEL("of the third", 2, NULL, NO_RANGE, 0) DEL("of the first", 0, NULL, NO_RANGE, 0)
                    WAIT("one that comes", 1, "one", "two", 1, "", PMIX_ERR_PARTIAL_SUCCESS, true)
                        PUB("it comes", 2, "two", "2", NO_RANGE, 0) WAIT_SECOND(
                            "what does not come", 1, "never", NULL, 1, NULL, PMIX_ERR_TIMEOUT)
                            WAIT_SECOND("one that is there, one that does not come", 1, "two",
                                        "never", 2, "2", PMIX_ERR_PARTIAL_SUCCESS)
                                DEL("so that nothing is left", 0, NULL, NO_RANGE, 0)
                                    DEL("of the third, again", 2, NULL, NO_RANGE, 0)
                                        DEL("of nobody", 1, NULL, NO_RANGE, 0)
};

/* The value is the rank that a list has; other values make none. */
static size_t list_rank(const struct row *r, pmix_info_t *info)
{
    pmix_data_array_t list;
    pmix_proc_t proc = me;
    char *end;

    if (r->range != PMIX_RANGE_CUSTOM || !r->value)
        return 0;
    proc.rank = (uint32_t)strtoul(r->value, &end, 10);
    if (end == r->value)
        return 0;
    list = (pmix_data_array_t){ .type = PMIX_PROC, .size = 1, .array = &proc };
    PMIX_INFO_LOAD(info, PMIX_EVENT_CUSTOM_RANGE, &list, PMIX_DATA_ARRAY);
    return 1;
}

/* The permissions: an array of infos, each with an array of ids. */
static size_t permissions(const struct row *r, pmix_info_t *info)
{
    bool group = r->access == OUR_GROUP || r->access == OTHER_GROUP;
    uint32_t id = group ? getegid() : geteuid();
    pmix_data_array_t ids = { .type = PMIX_UINT32, .size = 1, .array = &id };
    pmix_info_t right;
    pmix_data_array_t rights = { .type = PMIX_INFO, .size = 1, .array = &right };
    static const char *const text = "text";

    if (r->access == EVERYBODY || r->access > LAST_RIGHT)
        return 0;
    if (r->access == OTHER_USER || r->access == OTHER_GROUP)
        id += 4242;
    if (r->access == ODD_LIST)
        ids = (pmix_data_array_t){ .type = PMIX_STRING,
                                   .size = 1,
                                   .array = (void *)(uintptr_t)&text };
    PMIX_INFO_LOAD(&right,
                   r->access == ODD_RIGHT ? "no such right"
                   : group                ? PMIX_ACCESS_GRPIDS
                                          : PMIX_ACCESS_USERIDS,
                   &ids, PMIX_DATA_ARRAY);
    PMIX_INFO_LOAD(info, PMIX_ACCESS_PERMISSIONS, &rights, PMIX_DATA_ARRAY);
    PMIX_INFO_DESTRUCT(&right);
    return 1;
}

static size_t odd_attribute(const struct row *r, pmix_info_t *info)
{
    static const int second = 1;
    static const char *const keys[] = { [TEXT_RANGE] = PMIX_RANGE,
                                        [TEXT_PERSISTENCE] = PMIX_PERSISTENCE,
                                        [TEXT_WAIT] = PMIX_WAIT,
                                        [TEXT_TIMEOUT] = PMIX_TIMEOUT,
                                        [TEXT_USER] = PMIX_USERID,
                                        [UNKNOWN] = "pmix.no.such",
                                        [UNKNOWN_REQUIRED] = "pmix.no.such",
                                        [MISPLACED] = PMIX_PERSISTENCE,
                                        [MISPLACED_REQUIRED] = PMIX_PERSISTENCE };

    if (r->access <= LAST_RIGHT || r->access == PREFERRED)
        return 0;
    if (r->access == ONE_SECOND) {
        PMIX_INFO_LOAD(info, PMIX_TIMEOUT, &second, PMIX_INT);
        return 1;
    }
    PMIX_INFO_LOAD(info, keys[r->access], "text", PMIX_STRING);
    if (r->access == UNKNOWN_REQUIRED || r->access == MISPLACED_REQUIRED)
        PMIX_INFO_REQUIRED(info);
    return 1;
}

static size_t directives(const struct row *r, pmix_info_t *infos)
{
    size_t n = 0;

    if (r->range != NO_RANGE)
        PMIX_INFO_LOAD(&infos[n++], PMIX_RANGE, &r->range, PMIX_DATA_RANGE);
    if (n && r->access != PREFERRED)
        PMIX_INFO_REQUIRED(&infos[0]);
    if (r->persistence != NO_PERSISTENCE)
        PMIX_INFO_LOAD(&infos[n++], PMIX_PERSISTENCE, &r->persistence, PMIX_PERSIST);
    if (r->enough)
        PMIX_INFO_LOAD(&infos[n++], PMIX_WAIT, &r->enough, PMIX_UINT32);
    n += permissions(r, &infos[n]);
    n += odd_attribute(r, &infos[n]);
    return n + list_rank(r, &infos[n]);
}

/* The value of the first key. */
static pmix_status_t look_up(const struct row *r, const pmix_info_t *infos, size_t n, char *value,
                             size_t room)
{
    pmix_pdata_t found[2];
    pmix_status_t rc;

    for (int i = 0; i < 2; i++)
        PMIX_PDATA_CONSTRUCT(&found[i]);
    PMIX_LOAD_KEY(found[0].key, r->key);
    PMIX_LOAD_KEY(found[1].key, r->also ? r->also : "");
    rc = PMIx_Lookup(found, r->also ? 2 : 1, infos, n);
    if (found[0].value.type == PMIX_STRING)
        snprintf(value, room, "%s", found[0].value.data.string);
    for (int i = 0; i < 2; i++)
        PMIX_PDATA_DESTRUCT(&found[i]);
    return rc;
}

static pmix_status_t execute(const struct row *r, char *value, size_t room)
{
    char key[PMIX_MAX_KEYLEN + 1] = "", *keys[] = { key, NULL };
    pmix_info_t infos[8];
    size_t n = directives(r, infos);
    pmix_status_t rc = PMIX_ERROR;

    if (r->key)
        PMIX_LOAD_KEY(key, r->key);
    switch (r->action) {
    case PUBLISH:
        PMIX_INFO_LOAD(&infos[n], r->key, r->value, PMIX_STRING);
        rc = PMIx_Publish(infos, ++n);
        break;
    case LOOKUP: rc = look_up(r, infos, n, value, room); break;
    case UNPUBLISH: rc = PMIx_Unpublish(r->key ? keys : NULL, infos, n); break;
    }
    while (n > 0) {
        n--; /* (a macro of OpenPMIx uses its argument several times) */
        PMIX_INFO_DESTRUCT(&infos[n]);
    }
    return rc;
}

static void run(const struct row *r)
{
    char value[64] = "";
    pmix_status_t rc = execute(r, value, sizeof value);
    pmix_status_t due = one_node || r->status_apart == LIKE_ONE ? r->status : r->status_apart;
    bool found = rc == PMIX_SUCCESS || (rc == PMIX_ERR_PARTIAL_SUCCESS && keeps_some);
    bool good = rc == due && (r->action != LOOKUP || !found || !strcmp(value, r->value));

    wrong += !good;
    if (good && !getenv("PUBLISH_SHOW"))
        return;
    printf("publish %s rank %u: %s: %s%s%s\n", good ? "got" : "WRONG", me.rank, r->what,
           PMIx_Error_string(rc), *value ? " " : "", value);
    fflush(stdout);
}

static uint32_t number(const char *key)
{
    pmix_proc_t job = me;
    pmix_value_t *v = NULL;
    uint32_t n = 0;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&job, key, NULL, 0, &v) == PMIX_SUCCESS) {
        n = v->data.uint32;
        PMIX_VALUE_RELEASE(v);
    }
    return n;
}

static void fence(void)
{
    pmix_proc_t job = me;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Fence(&job, 1, NULL, 0) != PMIX_SUCCESS) {
        printf("publish WRONG rank %u: a fence\n", me.rank);
        exit(1);
    }
}

/* ---- two jobs -------------------------------------------------------------------------------- */

static const struct row held[] = {
    PUB("for itself", 0, "held self", "0", PMIX_RANGE_PROC_LOCAL, 0)
        PUB("for the job", 0, "held job", "j", PMIX_RANGE_NAMESPACE, 0)
            PUB("for the node", 0, "held node", "n", PMIX_RANGE_LOCAL, 0)
                PUB("for the session", 0, "held session", "s", PMIX_RANGE_SESSION, 0)
                    PUB("for all", 0, "held all", "a", PMIX_RANGE_GLOBAL, 0)
                        PUB("for the host", 0, "held host", "h", PMIX_RANGE_RM, 0)
                            PUB("twice", 0, "held twice", "s", PMIX_RANGE_SESSION, 0)
                                PUB_FOR("once", 0, "held once", "o", PMIX_PERSIST_FIRST_READ, 0)
};

static const struct row sought[] = {
    GET("for itself", 0, "held self", NULL, NO_RANGE,
        NOWHERE) GET("for the job", 0, "held job", NULL, NO_RANGE,
                     NOWHERE) GET("for the node", 0, "held node", "n", NO_RANGE,
                                  0) GET("for the session", 0, "held session", "s", NO_RANGE,
                                         0) GET("for all", 0, "held all", "a", NO_RANGE, 0)
        GET("for all, of its own job", 0, "held all", NULL, PMIX_RANGE_NAMESPACE,
            NOWHERE) GET("for the host", 0, "held host", NULL, NO_RANGE, NOWHERE)
            PUB("the same on the same range", 0, "held twice", "x", NO_RANGE,
                TWICE) PUB("the same on another range", 0, "held twice", "g", PMIX_RANGE_GLOBAL, 0)
                PUB("for its own job", 0, "held job", "mine", PMIX_RANGE_NAMESPACE, 0)
                    GET("which it reads", 0, "held job", "mine", NO_RANGE, 0)
                        DEL("what another has published", 0, "held all", NO_RANGE, NOWHERE)
                            GET("which stays", 0, "held all", "a", NO_RANGE, 0)
                                GET("once", 0, "held once", "o", NO_RANGE, 0)
                                    GET("and not twice", 0, "held once", NULL, NO_RANGE, NOWHERE)
};

static void run_all(const struct row *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r[i].rank == me.rank)
            run(&r[i]);
        if (size > 1 && !r[i].together)
            fence();
    }
}

/* Two are enough. */
static void await(void)
{
    static const char *const keys[] = { "late one", "late two", "late three" };
    pmix_pdata_t found[3];
    pmix_info_t wait;
    uint32_t two = 2, n = 0;
    pmix_status_t rc;

    for (int i = 0; i < 3; i++) {
        PMIX_PDATA_CONSTRUCT(&found[i]);
        PMIX_LOAD_KEY(found[i].key, keys[i]);
    }
    PMIX_INFO_LOAD(&wait, PMIX_WAIT, &two, PMIX_UINT32);
    rc = PMIx_Lookup(found, 3, &wait, 1);
    for (int i = 0; i < 3; i++)
        n += found[i].value.type == PMIX_STRING && !strcmp(found[i].value.data.string, "late");
    if (rc != PMIX_ERR_PARTIAL_SUCCESS || n != 2) {
        printf("publish WRONG await: %s, %u found\n", PMIx_Error_string(rc), n);
        wrong++;
    }
}

static void publish_late(const char *key)
{
    pmix_info_t info;
    char name[64];

    snprintf(name, sizeof name, "late %s", key);
    PMIX_INFO_LOAD(&info, name, "late", PMIX_STRING);
    if (PMIx_Publish(&info, 1) != PMIX_SUCCESS)
        wrong++;
    PMIX_INFO_DESTRUCT(&info);
}

/* ---- who ends -------------------------------------------------------------------------------- */

static sem_t gone;

static void on_end(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)code, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (source->rank == 0)
        sem_post(&gone);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static const struct {
    const char *key;
    pmix_persistence_t persistence;
} lives[] = {
    { "of proc", PMIX_PERSIST_PROC },
    { "of app", PMIX_PERSIST_APP },
    { "of session", PMIX_PERSIST_SESSION },
};

enum { LIVES = sizeof lives / sizeof *lives };

static void publish_lives(void)
{
    for (size_t i = 0; i < LIVES; i++) {
        pmix_info_t info[2];
        PMIX_INFO_LOAD(&info[0], lives[i].key, "v", PMIX_STRING);
        PMIX_INFO_LOAD(&info[1], PMIX_PERSISTENCE, &lives[i].persistence, PMIX_PERSIST);
        wrong += PMIx_Publish(info, 2) != PMIX_SUCCESS;
        PMIX_INFO_DESTRUCT(&info[0]);
    }
}

static bool is_found(const char *key)
{
    pmix_pdata_t data;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    rc = PMIx_Lookup(&data, 1, NULL, 0);
    PMIX_PDATA_DESTRUCT(&data);
    wrong += rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_FOUND;
    return rc == PMIX_SUCCESS;
}

static void outlive(void)
{
    pmix_status_t end = PMIX_EVENT_PROC_TERMINATED;

    sem_init(&gone, 0, 0);
    if (me.rank == 0)
        publish_lives();
    else
        PMIx_Register_event_handler(&end, 1, NULL, 0, on_end, NULL, NULL);
    fence();
    for (size_t i = 0; i < LIVES; i++)
        wrong += !is_found(lives[i].key);
    fence();
    if (me.rank == 0)
        return;
    sem_wait(&gone);
    printf("left:");
    for (size_t i = 0; i < LIVES; i++) {
        if (is_found(lives[i].key))
            printf(" %s", lives[i].key);
    }
    printf("\n");
}

#define RUN_ALL(rows) run_all(rows, sizeof rows / sizeof *rows)

int main(int argc, char **argv)
{
    char line[16];

    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        return 1;
    size = number(PMIX_JOB_SIZE);
    one_node = number(PMIX_NUM_NODES) == 1;
    if (argc < 2)
        RUN_ALL(rows);
    else if (!strcmp(argv[1], "seek"))
        RUN_ALL(sought);
    else if (!strcmp(argv[1], "await"))
        await();
    else if (!strcmp(argv[1], "late"))
        publish_late(argv[2]);
    else if (!strcmp(argv[1], "outlive"))
        outlive();
    else
        RUN_ALL(held);
    if (wrong || me.rank == 0)
        printf("publish %u %s\n", size, wrong ? "WRONG" : "good");
    fflush(stdout);
    if (argc > 1 && (!strcmp(argv[1], "hold") || !strcmp(argv[1], "late")) &&
        !fgets(line, sizeof line, stdin))
        wrong++;
    PMIx_Finalize(NULL, 0);
    return wrong != 0;
}
