/* server_sets.c - process sets: the public functions by which a host defines and deletes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pmix/server/server_instance.h"
#include "lib/pmix/server/server_turn.h"
#include "pmix.h"

static pmix_status_t notify_pset(pmix_status_t event, const char *name, const pmix_proc_t *members,
                                 size_t nmembers)
{
    pmix_data_array_t list = { .type = PMIX_PROC,
                               .size = nmembers,
                               .array = (void *)(uintptr_t)members };
    pmix_info_t infos[2];
    size_t n = 1;
    pmix_status_t rc;

    PMIx_Info_load(&infos[0], PMIX_PSET_NAME, name, PMIX_STRING);
    if (members) {
        PMIx_Info_load(&infos[1], PMIX_PSET_MEMBERS, &list, PMIX_DATA_ARRAY);
        n = 2;
    }
    rc = PMIx_Notify_event(event, NULL, PMIX_RANGE_SESSION, infos, n, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        PMIx_Info_destruct(&infos[i]);
    return rc;
}

static int define_set(struct pserver *s, const char *name, const pmix_proc_t *members, size_t n)
{
    struct pset_member *list = calloc(n, sizeof *list);
    int rc;

    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        strncpy(list[i].nspace, members[i].nspace, sizeof list[i].nspace - 1);
        list[i].rank = members[i].rank;
    }
    rc = psets_define(&s->server.core.sets, name, list, n);
    free(list);
    return rc;
}

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members, size_t nmembers,
                                             const char *pset_name)
{
    struct pserver *s = instance_enter();
    bool good = members && nmembers && pset_name && *pset_name;
    int rc;

    if (!s)
        return PMIX_ERR_INIT;
    rc = good ? define_set(s, pset_name, members, nmembers) : 0;
    pserver_unlock(s);
    if (!good)
        return PMIX_ERR_BAD_PARAM;
    return rc == 0 ? notify_pset(PMIX_PROCESS_SET_DEFINE, pset_name, members, nmembers)
                   : PMIX_ERR_NOMEM;
}

pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    struct pserver *s = instance_enter();
    bool was;

    if (!s)
        return PMIX_ERR_INIT;
    was = pset_name && psets_delete(&s->server.core.sets, pset_name);
    pserver_unlock(s);
    if (!pset_name)
        return PMIX_ERR_BAD_PARAM;
    return was ? notify_pset(PMIX_PROCESS_SET_DELETE, pset_name, NULL, 0) : PMIX_ERR_NOT_FOUND;
}
