/* singleton3.c - a PMIx program that is started by hand and needs others.
 *
 *   singleton3            commits, publishes, spawns two of itself, asks which jobs there are,
 *                         connects with them, has a group with them, and prints in one line what
 *                         came of each; CHILD in the environment: the program that it spawns
 *                         instead of itself, with the same argument
 *   singleton3 child      what it spawns: reads what its parent had committed
 */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "keeps.h"

static pmix_proc_t me;

static void put(const char *key, const char *text)
{
    pmix_value_t v;

    PMIX_VALUE_LOAD(&v, text, PMIX_STRING);
    PMIx_Put(PMIX_GLOBAL, key, &v);
    PMIX_VALUE_DESTRUCT(&v);
}

/* The value of a key, or the status. */
static const char *got(const pmix_proc_t *of, const char *key)
{
    static char text[300];
    pmix_info_t at_once;
    pmix_value_t *v = NULL;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&at_once, PMIX_IMMEDIATE, NULL, PMIX_BOOL);
    rc = PMIx_Get(of, key, &at_once, 1, &v);
    if (rc != PMIX_SUCCESS)
        return PMIx_Error_string(rc);
    snprintf(text, sizeof text, "%s", v->type == PMIX_STRING ? v->data.string : "other type");
    PMIX_VALUE_RELEASE(v);
    return text;
}

static pmix_status_t publish(const char *key, const char *text)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, key, text, PMIX_STRING);
    return PMIx_Publish(&info, 1);
}

/* How many jobs there are, by the names that a query finds; or the status. */
static const char *jobs(void)
{
    static char text[64];
    pmix_info_t *found = NULL;
    pmix_query_t q;
    pmix_status_t rc;
    size_t n = 0;
    int count = 1;

    PMIX_QUERY_CONSTRUCT(&q);
    PMIX_ARGV_APPEND(rc, q.keys, PMIX_QUERY_NAMESPACES);
    rc = PMIx_Query_info(&q, 1, &found, &n);
    if (rc == PMIX_SUCCESS && n == 1 && found[0].value.type == PMIX_STRING) {
        for (const char *at = found[0].value.data.string; *at; at++)
            count += *at == ',';
        snprintf(text, sizeof text, "%d", count);
    } else {
        snprintf(text, sizeof text, "%s", PMIx_Error_string(rc));
    }
    PMIX_INFO_FREE(found, n);
    PMIX_QUERY_DESTRUCT(&q);
    return text;
}

static const char *looked_up(const char *key)
{
    static char text[64];
    pmix_pdata_t p;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&p);
    snprintf(p.key, sizeof p.key, "%s", key);
    rc = PMIx_Lookup(&p, 1, NULL, 0);
    snprintf(text, sizeof text, "%s",
             rc == PMIX_SUCCESS ? p.value.data.string : PMIx_Error_string(rc));
    PMIX_PDATA_DESTRUCT(&p);
    return text;
}

static pmix_status_t meet(const char *ours, const char *theirs)
{
    pmix_proc_t both[2];

    PMIX_LOAD_PROCID(&both[0], ours, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&both[1], theirs, PMIX_RANK_WILDCARD);
    return PMIx_Connect(both, 2, NULL, 0);
}

static pmix_status_t group(const char *parent, const char *children)
{
    pmix_proc_t all[3];
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc;

    PMIX_LOAD_PROCID(&all[0], parent, 0);
    PMIX_LOAD_PROCID(&all[1], children, 0);
    PMIX_LOAD_PROCID(&all[2], children, 1);
    rc = PMIx_Group_construct("family", all, 3, NULL, 0, &results, &n);
    PMIX_INFO_FREE(results, n);
    return rc == PMIX_SUCCESS ? PMIx_Group_destruct("family", NULL, 0) : rc;
}

static int child(void)
{
    pmix_value_t *v = NULL;
    pmix_proc_t parent, wild;
    pmix_nspace_t name;

    PMIX_LOAD_PROCID(&wild, me.nspace, PMIX_RANK_WILDCARD);
    if (PMIx_Get(&me, PMIX_PARENT_ID, NULL, 0, &v) != PMIX_SUCCESS &&
        PMIx_Get(&wild, PMIX_PARENT_ID, NULL, 0, &v) != PMIX_SUCCESS)
        return 4;
    parent = *v->data.proc;
    PMIX_VALUE_RELEASE(v);
    snprintf(name, sizeof name, "%s", parent.nspace);
    if (meet(name, me.nspace) != PMIX_SUCCESS)
        return 5;
    printf("child %u: committed %s, later %s, name %s\n", me.rank, got(&parent, "before"),
           got(&parent, "later"), looked_up("port"));
    fflush(stdout);
    if (group(name, me.nspace) != PMIX_SUCCESS)
        return 6;
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 7;
}

int main(int argc, char **argv)
{
    pmix_app_t app;
    pmix_nspace_t children = "", before;
    pmix_status_t init = PMIx_Init(&me, NULL, 0), published, spawned;

    if (argc > 1)
        return init == PMIX_SUCCESS ? child() : 3;
    snprintf(before, sizeof before, "%s", me.nspace);
    put("before", "was committed");
    PMIx_Commit();
    put("later", "was not");
    published = publish("port", "4711");
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup(getenv("CHILD") ? getenv("CHILD") : argv[0]);
    app.maxprocs = 2;
    PMIX_ARGV_APPEND(spawned, app.argv, argv[0]);
    PMIX_ARGV_APPEND(spawned, app.argv, "child");
    spawned = PMIx_Spawn(NULL, 0, &app, 1, children);
    PMIX_APP_DESTRUCT(&app);
    printf("init %s, publish %s, spawn %s", PMIx_Error_string(init), PMIx_Error_string(published),
           PMIx_Error_string(spawned));
    if (spawned == PMIX_SUCCESS) {
        printf(", jobs %s", jobs());
        printf(", connect %s", PMIx_Error_string(meet(me.nspace, children)));
        printf(", group %s", PMIx_Error_string(group(me.nspace, children)));
    }
    printf(", own value %s, same name %d", got(&me, "before"), !strcmp(before, me.nspace));
    printf(", finalize %s\n", PMIx_Error_string(PMIx_Finalize(NULL, 0)));
    return 0;
}
